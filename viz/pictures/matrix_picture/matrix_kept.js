// @ts-check
// The number of the kept cell, printed where it stands.
import { element } from "../shared/picture.js";
import { extentOf } from "./matrix_view.js";

/** @import { Sizes } from "./matrix_axes.js" */
/** @import { Spans } from "./matrix_view.js" */

// So far from its cell, in CSS pixels.
const BESIDE = 4;

/**
 * Where a number so wide begins: in the middle of a cell that has room for it, else right of the cell, or left of it.
 * @param {[number, number]} cell where it begins and how wide it is @param {number} wide @param {number} width of all cells
 */
export function beginOf([start, length], wide, width) {
  if (length > wide + 2 * BESIDE) return start + (length - wide) / 2;
  const [right, left] = [start + length + BESIDE, start - BESIDE - wide];
  return right + wide <= width || left < 0 ? right : left;
}

export class KeptNumber {
  element = element("div", { className: "kept-number", hidden: true });

  /**
   * Print the number of a kept cell; nothing if only one side is kept, or the cell is not seen.
   * @param {(number | null)[]} kept @param {Spans} spans @param {Sizes} sizes @param {(row: number, column: number) => string} format
   */
  place([row, column], spans, { left, above, width, height }, format) {
    const label = this.element;
    label.hidden = true;
    if (row === null || column === null) return;
    const [down, across] = [extentOf(spans.row, row, height), extentOf(spans.column, column, width)];
    if (!down || !across) return;
    label.hidden = false;
    label.textContent = format(row, column);
    const { offsetWidth, offsetHeight } = label;
    label.style.left = `${left + beginOf([across[0], across[1]], offsetWidth, width)}px`;
    label.style.top = `${above + down[0] + (down[1] - offsetHeight) / 2}px`;
  }
}
