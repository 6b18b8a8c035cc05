// @ts-check
// Beside the tokens of a chat, bars that say whose message they are of. Their names stay in sight while one scrolls.
import { nameIn } from "../../../pictures/shared/chat_roles.js";
import { element } from "../../../pictures/shared/picture.js";

/** @import { RoleRun } from "../../../pictures/shared/chat_roles.js" */
/** @import { Item } from "./line_export.js" */
/** @import { Side } from "./token_columns.js" */

/** How wide names with their bars are, and of that the names and the bars, in CSS pixels. */
export const [ROLES, NAME, BAR] = [24, 16, 4];
const NAME_SIZE = 12;
const ABOUT_A_THIRD = 4;

export class RoleColumn {
  /** @type {RoleRun[]} */ runs = [];

  /** @param {Side} side */
  constructor(side) {
    // Read out, a token says itself whose it is.
    this.element = element("div", { className: `roles ${side}`, ariaHidden: "true" });
  }

  /** How wide it is. */
  get width() {
    return this.runs.length ? ROLES : 0;
  }

  /** @param {RoleRun[]} runs */
  fill(runs) {
    this.runs = runs;
    this.element.style.width = `${this.width}px`;
    const parts = runs.map(([role, begin, end, colour]) => {
      const style = `--begin:${begin};--count:${end - begin};--role:${colour}`;
      return element("div", { className: "role-run", title: role, style }, element("span", "role-name"));
    });
    this.element.replaceChildren(...parts);
  }

  /** Name each run, as far as rows of this height have room. @param {number} row */
  name(row) {
    this.runs.forEach(([role, begin, end], index) => {
      const name = /** @type {HTMLElement} */ (this.element.children[index].firstElementChild);
      name.textContent = nameIn(role, (end - begin) * row);
      name.classList.toggle("initial", name.textContent.length === 1);
    });
  }
}

/**
 * Bars and names of a side in a saved picture.
 * @param {RoleRun[]} runs @param {Side} side @param {number} row how high a row is @param {number} x @param {number} y where they begin
 * @returns {Item[]}
 */
export function roleItems(runs, side, row, x, y) {
  const [nameAt, barAt] = side === "query" ? [x + NAME / 2, x + NAME] : [x + ROLES - NAME / 2, x + ROLES - NAME - BAR];
  return runs.flatMap(([role, begin, end, colour]) => {
    const height = (end - begin) * row;
    const [top, text] = [y + begin * row, nameIn(role, height)];
    /** @type {Item} */
    const bar = { kind: "box", x: barAt, y: top + 1, width: BAR, height: height - 2, colour, alpha: 1, text: "" };
    const isTurned = text.length > 1;
    // The baseline of letters, which stand around the middle.
    const [across, down] = isTurned ? [ABOUT_A_THIRD, 0] : [0, ABOUT_A_THIRD];
    const place = { x: nameAt + across, y: top + height / 2 + down, anchor: /** @type {const} */ ("middle") };
    return text ? [bar, { kind: "text", ...place, text, size: NAME_SIZE, weight: 400, isTurned }] : [bar];
  });
}
