/** A payload as payload.py packs it. */
export function packed(header, ...arrays) {
  const listing = arrays.map((array) => [array.constructor.name.replace("Array", "").toLowerCase(), array.length]);
  const text = new TextEncoder().encode(JSON.stringify({ ...header, arrays: listing }));
  const length = new Uint8Array(new Uint32Array([text.length]).buffer);
  return new Uint8Array(Buffer.concat([length, text, ...arrays.map((array) => new Uint8Array(array.buffer))]));
}

/** Wait until something is so: however busy the machine is, it comes, or the test's time ends. */
export async function until(isSo) {
  while (!isSo()) await new Promise((done) => setTimeout(done, 1));
}
