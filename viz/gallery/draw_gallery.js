// Draws the pictures of a page of the gallery, which the scripts before this one have left there; a walk when it is opened.

/** The data of pictures: of each payload, which file holds each of its pieces (site.py). @typedef {{ plan: string[][], shared: string[], data: string }} Own */
/** @typedef {{ own: Record<string, Own>, shared: Record<string, string>, scripts: Record<string, string> }} Gallery */

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";

/** @param {string} text in base 85 */
const decoded = (text) => {
  const values = new Map([...DIGITS].map((digit, value) => [digit.charCodeAt(0), value]));
  const view = new DataView(new ArrayBuffer(Math.ceil(text.length / 5) * 4));
  for (let i = 0; i < text.length; i += 5) {
    let number = 0;
    for (let j = i; j < i + 5; j++) number = number * 85 + (values.get(text.charCodeAt(j)) ?? 84);
    view.setUint32((i / 5) * 4, number);
  }
  return new Uint8Array(view.buffer, 0, Math.floor((text.length * 4) / 5));
};

/** What gives the pieces of a file, one after another. @param {string} text */
const piecesOf = async (text) => {
  const unpacked = new Blob([decoded(text)]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(unpacked).arrayBuffer());
  const view = new DataView(bytes.buffer);
  let end = 0;
  return () => {
    const start = end + 4;
    end = start + view.getUint32(end, true);
    return bytes.subarray(start, end);
  };
};

/** @param {Uint8Array<ArrayBuffer>[]} pieces */
const together = async (pieces) => new Uint8Array(await new Blob(pieces).arrayBuffer());

/** @typedef {(el: HTMLElement, plan: any, payloads: Uint8Array[], scripts: Record<string, string>) => Promise<unknown>} Draw of `draw_parts.js` */

/** @param {Draw} draw @param {string} group what the pictures are called on the page */
const drawGroup = async (draw, group) => {
  /** @type {Gallery} */
  const { own, shared, scripts } = /** @type {any} */ (globalThis).headlightGallery;
  const files = await Promise.all([own[group].data, ...own[group].shared.map((name) => shared[name])].map(piecesOf));
  for (const [number, payloads] of own[group].plan.entries()) {
    const pieces = payloads.map((places) => [...places].map((place) => files[+place]()));
    const [plan, ...drawn] = await Promise.all(pieces.map(together));
    const element = /** @type {HTMLElement} */ (document.getElementById(`${group}-${number}`));
    await draw(element, JSON.parse(new TextDecoder().decode(plan)), drawn, scripts);
  }
};

/** @param {string} address */
const loaded = (address) =>
  new Promise((resolve, reject) => {
    const onerror = () => reject(new Error(`${address} was not loaded`));
    document.head.append(Object.assign(document.createElement("script"), { src: address, onload: resolve, onerror }));
  });

/** Where pictures cannot be drawn, the page says so. @param {string} group @param {() => Promise<void>} act */
const drawOrSay = async (group, act) => {
  try {
    await act();
  } catch (error) {
    const sentence = /** @type {HTMLElement} */ (document.getElementById("not-loaded"));
    sentence.hidden = false;
    document.getElementById(`${group}-0`)?.before(sentence);
    throw error;
  }
};

/** @param {Draw} draw */
// biome-ignore lint/correctness/noUnusedVariables: the file that this text is put into calls it
const drawGallery = async (draw) => {
  const walk = /** @type {HTMLElement | null} */ (document.querySelector("details[data-scripts]"));
  const drawWalk = async () => {
    await Promise.all((walk?.dataset.scripts ?? "").split(" ").map(loaded));
    await drawGroup(draw, "walk");
  };
  walk?.addEventListener("toggle", () => drawOrSay("walk", drawWalk), { once: true });
  // What is drawn on a canvas is drawn once: its typefaces are there before. A browser may refuse them.
  await Promise.allSettled([...document.fonts].map((face) => face.load()));
  await drawOrSay("picture", () => drawGroup(draw, "picture"));
  // Below the words is the head that is most worth seeing: it is the open one.
  document.getElementById("picture-1")?.dispatchEvent(new Event("pointerenter"));
  document.body.dataset.ready = "1";
};
