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

/** @param {number} number */
const pictureAt = (number) => /** @type {HTMLElement} */ (document.getElementById(`picture-${number}`));

/** @param {(el: HTMLElement, plan: any, payloads: Uint8Array[], scripts: Record<string, string>) => Promise<unknown>} draw of `draw_parts.js` */
// biome-ignore lint/correctness/noUnusedVariables: the file that this text is put into calls it
const drawGallery = async (draw) => {
  /** @type {{ pictures: Packed[], scripts: Record<string, string> }} */
  const { pictures, scripts } = /** @type {any} */ (globalThis).headlightGallery;
  for (const [number, picture] of pictures.entries()) {
    const [plan, ...payloads] = await unpackPicture(picture);
    await draw(pictureAt(number), JSON.parse(new TextDecoder().decode(plan)), payloads, scripts);
  }
  // Below the words is the head that is most worth seeing: it is the open one.
  if (pictures.length > 1) pictureAt(1).dispatchEvent(new Event("pointerenter"));
  document.body.dataset.ready = "1";
};
