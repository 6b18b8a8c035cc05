// @ts-check
// Draws the pictures of a page of the gallery, which the scripts before this one have left there.

/** What a script leaves: the plan and the payloads of a picture, compressed one after another. @typedef {{ sizes: number[], data: string }} Packed */

/** @param {Packed} picture */
const unpackPicture = async ({ sizes, data }) => {
  const packed = Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(unpacked).arrayBuffer());
  let end = 0;
  return sizes.map((size) => {
    end += size;
    return bytes.subarray(end - size, end);
  });
};

(async () => {
  /** @type {{ pictures: Packed[], scripts: Record<string, string> }} */
  const { pictures, scripts } = /** @type {any} */ (globalThis).headlightGallery;
  for (const [number, picture] of pictures.entries()) {
    const [plan, ...payloads] = await unpackPicture(picture);
    const element = /** @type {HTMLElement} */ (document.getElementById(`picture-${number}`));
    await draw(element, JSON.parse(new TextDecoder().decode(plan)), payloads, scripts);
  }
  document.body.dataset.ready = "1";
})();
