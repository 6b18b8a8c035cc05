// @ts-check
// A band along a side of the matrix that says whose message of a chat its labels are of.
import { nameIn } from "../shared/chat_roles.js";
import { element } from "../shared/picture.js";

/** @import { RoleRun } from "../shared/chat_roles.js" */
/** @import { Side } from "./matrix_axes.js" */
/** @import { Span } from "./matrix_view.js" */

/** How thick the band is, with what sets it apart from the labels beside it, in CSS pixels. */
export const BAND = 26;

/**
 * Where a run lies along the cells that are seen; null if none of it is.
 * @param {Span} span @param {number} begin @param {number} end @param {number} side how long all that is seen is
 * @returns {[number, number] | null} where it begins, and its length
 */
export function stretchOf({ start, length }, begin, end, side) {
  const [from, to] = [begin, end].map((cell) => Math.min(Math.max(0, ((cell - start) / length) * side), side));
  return to - from > 0.5 ? [from, to - from] : null;
}

export class RoleBand {
  /** @type {RoleRun[]} */ runs = [];

  /** @param {Side} side */
  constructor(side) {
    this.side = side;
    this.element = element("div", `role-band of-${side}`);
  }

  /** What the band takes of the room beside the cells. */
  get room() {
    return this.runs.length ? BAND : 0;
  }

  /** @param {RoleRun[]} runs */
  fill(runs) {
    this.runs = runs;
    const parts = runs.map(([role, , , colour]) => {
      const bar = element("span", "role-bar");
      bar.style.backgroundColor = colour;
      return element("span", { className: "role-run", title: role }, element("span", "role-name"), bar);
    });
    this.element.replaceChildren(...parts);
  }

  /** Put the band along what is seen of its side. @param {Span} span @param {number} at where the cells begin @param {number} side */
  place(span, at, side) {
    const [begins, reach] = this.side === "rows" ? ["top", "height"] : ["left", "width"];
    this.runs.forEach(([role, begin, end], index) => {
      const part = /** @type {HTMLElement} */ (this.element.children[index]);
      const stretch = stretchOf(span, begin, end, side);
      part.hidden = !stretch;
      if (!stretch) return;
      Object.assign(part.style, { [begins]: `${at + stretch[0]}px`, [reach]: `${stretch[1]}px` });
      const name = /** @type {HTMLElement} */ (part.firstElementChild);
      name.textContent = nameIn(role, stretch[1]);
      name.classList.toggle("initial", name.textContent.length === 1);
    });
  }
}
