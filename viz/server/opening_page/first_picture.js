// Draw the pictures of the first page in its cover, with the scripts and the payloads that will draw them in the page.
/** @import { Message } from "../../pictures/shared/mount.js" */
import { inflate, unpack } from "../../pictures/shared/payload.js";

/** Those with which pictures are drawn: with others, all would be laid out a second time. */
const TYPEFACES = ['16px "Source Sans"', '600 27px "Source Serif"'];
/** What says in a picture that it is drawn. */
const DRAWN = "[data-ready]";

/** @typedef {{ key: string, style: string, element: string }} Part */
/** @typedef {(message: Message) => undefined | (() => void)} Show */

/** Where a part is drawn; nothing of the page finds it in there. @param {Element} cover @param {Part} part */
function placeOf(cover, { key, style, element }) {
  const host = /** @type {HTMLElement} */ (cover.querySelector(`[data-part="${key}"]`));
  const root = host.attachShadow({ mode: "closed" });
  const rules = document.createElement("style");
  rules.textContent = style;
  const place = document.createElement("div");
  place.className = element;
  root.append(place, rules);
  return root;
}

/** Draws them, and is done once they are seen. @param {Show[]} shows those of the parts, in order */
export default async function paint(shows) {
  const written = document.getElementById("first-picture");
  if (!written || (written.dataset.locale && written.dataset.locale !== navigator.language)) return;
  const packed = Uint8Array.from(atob(written.textContent ?? ""), (sign) => sign.charCodeAt(0));
  const { header, arrays } = unpack(await inflate(packed));
  await Promise.all(TYPEFACES.map((face) => document.fonts.load(face)));
  const cover = document.getElementById("cover");
  if (!cover) return;
  const parts = /** @type {Part[]} */ (header.parts);
  const roots = parts.map((part) => placeOf(cover, part));
  // Nobody hears what is done in it.
  const silent = { setTriggerValue: () => {}, setStateValue: () => {}, isAhead: true };
  const ends = shows.map((show, i) => show({ data: arrays[i], parentElement: roots[i], ...silent }));
  const uncover = () => {
    for (const end of ends) end?.();
  };
  document.addEventListener("headlight-uncovered", uncover, { once: true });
  const pictures = roots.filter((_root, i) => parts[i].style);
  const frame = () => new Promise(requestAnimationFrame);
  while (cover.isConnected && !pictures.every((root) => root.querySelector(DRAWN))) await frame();
  if (!cover.isConnected) return;
  cover.classList.add("painted");
  await frame();
  performance.mark("headlight-picture");
}
