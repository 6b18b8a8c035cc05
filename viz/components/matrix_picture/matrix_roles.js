// @ts-check
// A band above the columns that says whose message of a chat they are of.
import { element } from "../shared/picture.js";

/** @import { Span } from "./matrix_view.js" */
/** @typedef {[role: string, begin: number, end: number, colour: string]} RoleRun columns from `begin` to before `end` */

/** How tall the band is, with what sets it apart from the labels below it, in CSS pixels. */
export const BAND = 26;
// A letter of a name, about, and what a run has beside its name.
const [LETTER, BESIDE_NAME] = [7, 6];

/** As much of a role's name as has room: all, its first letter, or nothing. @param {string} role @param {number} width */
export function nameIn(role, width) {
  if (width >= role.length * LETTER + BESIDE_NAME) return role;
  return width >= LETTER + BESIDE_NAME ? role[0].toUpperCase() : "";
}

/**
 * Where a run lies along the columns that are seen; null if none of it is.
 * @param {Span} span @param {number} begin @param {number} end @param {number} width of all that is seen
 * @returns {[number, number] | null} where it begins, and its width
 */
export function stretchOf({ start, length }, begin, end, width) {
  const [from, to] = [begin, end].map((cell) => Math.min(Math.max(0, ((cell - start) / length) * width), width));
  return to - from > 0.5 ? [from, to - from] : null;
}

export class RoleBand {
  element = element("div", "role-band");
  /** @type {RoleRun[]} */ runs = [];

  /** What the band takes of the room above the cells. */
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

  /** Put the band over what is seen of the columns. @param {Span} span @param {number} left @param {number} width */
  place(span, left, width) {
    this.runs.forEach(([role, begin, end], index) => {
      const part = /** @type {HTMLElement} */ (this.element.children[index]);
      const stretch = stretchOf(span, begin, end, width);
      part.hidden = !stretch;
      if (!stretch) return;
      Object.assign(part.style, { left: `${left + stretch[0]}px`, width: `${stretch[1]}px` });
      /** @type {HTMLElement} */ (part.firstElementChild).textContent = nameIn(role, stretch[1]);
    });
  }
}
