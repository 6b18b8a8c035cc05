// The reading half of wire.py. Knows the form of a payload, nothing of what it means.

const ARRAY_TYPES = { uint8: Uint8Array, uint16: Uint16Array, float32: Float32Array };
const FULL = 65535;

/** A payload as { header, arrays }. The arrays are copies, so they need no alignment and outlive the message. */
function unpack(bytes) {
  const headerLength = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + headerLength)));
  let start = 4 + headerLength;
  const arrays = header.arrays.map(([type, length]) => {
    const ArrayType = ARRAY_TYPES[type];
    const end = start + length * ArrayType.BYTES_PER_ELEMENT;
    const array = new ArrayType(bytes.slice(start, end).buffer);
    start = end;
    return array;
  });
  return { header, arrays };
}

/** What wire.py's `deflate` compressed, as bytes again. */
async function inflate(deflated) {
  const bytes = new Blob([deflated]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(bytes).arrayBuffer());
}

/** The weight in [0, 1] behind a stored √ value. */
const weightOf = (stored) => (stored / FULL) ** 2;

/** Three decimals; a weight that is not zero never reads as zero. */
function formatWeight(weight) {
  return weight > 0 && weight < 0.0005 ? "< 0.001" : weight.toFixed(3);
}
