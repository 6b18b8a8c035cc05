// A band along a side of the matrix that says whose message of a chat its labels are of.
import { nameIn, roleBar, roleKeyParts } from "../shared/chat_roles.js";
import { element } from "../shared/picture.js";

/** @import { RoleRun } from "../shared/chat_roles.js" */
/** @import { Side } from "./matrix_axes.js" */
/** @import { Span } from "./matrix_view.js" */

/** How thick the band is, with what sets it apart from the labels beside it, in CSS pixels. */
export const BAND = 26;
/** A run shorter than this has nothing to spare for a gap. */
const TINY = 8;

/**
 * Where a run lies along the cells that are seen; null if none of it is.
 * @param {Span} span @param {number} begin @param {number} end @param {number} side how long all that is seen is
 * @returns {[number, number] | null} where it begins, and its length
 */
export function stretchOf({ start, length }, begin, end, side) {
  const [from, to] = [begin, end].map((cell) => Math.min(Math.max(0, ((cell - start) / length) * side), side));
  return to - from > 0.5 ? [from, to - from] : null;
}

/** @typedef {[runs: RoleRun[], cells: number, side: number]} WholeSide the runs of a side, and how long all its cells are */

/** The roles that no side has room to name in full while all of it is seen, with their colours. @param {WholeSide[]} sides */
export function unnamedRoles(sides) {
  const colours = new Map(sides.flatMap(([runs]) => runs.map(([role, , , colour]) => [role, colour])));
  for (const [runs, cells, side] of sides) {
    for (const [role, begin, end] of runs) {
      if (nameIn(role, ((end - begin) / cells) * side) === role) colours.delete(role);
    }
  }
  return colours;
}

/** Bars with the names that the bands have no room for. */
export class RoleKey {
  element = element("span", { className: "role-key", hidden: true });

  /** @param {WholeSide[]} sides */
  fill(sides) {
    const colours = unnamedRoles(sides);
    this.element.hidden = !colours.size;
    this.element.replaceChildren(...roleKeyParts(colours));
  }
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
      return element("span", { className: "role-run", title: role }, element("span", "role-name"), roleBar(colour));
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
      part.classList.toggle("tiny", stretch[1] < TINY);
      Object.assign(part.style, { [begins]: `${at + stretch[0]}px`, [reach]: `${stretch[1]}px` });
      const name = /** @type {HTMLElement} */ (part.firstElementChild);
      name.textContent = nameIn(role, stretch[1]);
      name.classList.toggle("initial", name.textContent.length === 1);
    });
  }
}
