// The reading half of payload.py.

const ARRAY_TYPES = { uint8: Uint8Array, uint16: Uint16Array, int16: Int16Array, float32: Float32Array };
export const FULL = 65535;

/** A payload as header and arrays. The arrays are copies, so they need no alignment and outlive the message. @param {Uint8Array} bytes */
export function unpack(bytes) {
  const headerLength = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + headerLength)));
  let start = 4 + headerLength;
  const arrays = header.arrays.map((/** @type {[keyof typeof ARRAY_TYPES, number]} */ [type, length]) => {
    const ArrayType = ARRAY_TYPES[type];
    const end = start + length * ArrayType.BYTES_PER_ELEMENT;
    const array = new ArrayType(bytes.slice(start, end).buffer);
    start = end;
    return array;
  });
  return { header, arrays };
}

/** What payload.py's `deflate` compressed, as bytes again. @param {Uint8Array<ArrayBuffer>} deflated */
export async function inflate(deflated) {
  const bytes = new Blob([deflated]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(bytes).arrayBuffer());
}

/** The weight in [0, 1] behind a stored √ value. @param {number} stored */
export const weightOf = (stored) => (stored / FULL) ** 2;

/** Three decimals; a weight that is not zero never reads as zero. @param {number} weight */
export function formatWeight(weight) {
  return weight > 0 && weight < 0.0005 ? "< 0.001" : weight.toFixed(3);
}

/** Numbers from planes; what no decimal shows is between zero and what rounds to zero. @param {Uint8Array} planes @param {number} decimals */
export function decimalsOf(planes, decimals) {
  const count = planes.length / 2;
  const numbers = new Float32Array(count);
  const unit = 10 ** -decimals;
  for (let i = 0; i < count; i++) {
    const code = planes[i] | (planes[count + i] << 8);
    numbers[i] = code > 1 ? (code - 1) * unit : code * unit * 0.25;
  }
  return numbers;
}
