// Words over a drawing. They are HTML: the text of an SVG would be laid out anew in every frame of a zoom.
import { element } from "../../../pictures/shared/picture.js";

/** Whether words begin, are centred or end at their point, how far they are turned around it, and their colour. @typedef {{ anchor?: "start" | "middle" | "end", angle?: number, ink?: string }} Placing */

/** Words around the height `y`. @param {string | (Node | string)[]} words @param {number} x @param {number} y @param {string} className @param {Placing} [placing] */
export function written(words, x, y, className, { anchor = "start", angle = 0, ink } = {}) {
  const style = `left:${x}px;top:${y}px;${angle ? `--angle:${angle}deg;` : ""}${ink ? `color:${ink}` : ""}`;
  const look = `written ${anchor} ${angle ? "turned " : ""}${className}`;
  return element("span", { className: look, style, ariaHidden: "true" }, ...[words].flat());
}

/** A drawing under its words. @param {SVGElement} drawing @param {HTMLElement[]} words */
export const underWords = (drawing, words) =>
  element("div", "under-words", drawing, element("div", "all-words", ...words));
