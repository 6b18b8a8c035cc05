// @ts-check
// The reading half of decimals.py.

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
