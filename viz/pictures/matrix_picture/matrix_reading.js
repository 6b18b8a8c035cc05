// How a cell of a matrix is read out and walked to.

import { roleOf, rolesLooking } from "../shared/chat_roles.js";
import { _ } from "../shared/messages.js";
import { clamp, element } from "../shared/picture.js";
import { whyParts } from "../shared/why_link.js";
import { blockOf, extentOf } from "./matrix_view.js";

/** @import { Sizes } from "./matrix_axes.js" */
/** @import { ShadeScale, Span, Spans } from "./matrix_view.js" */
/** @import { RoleRun } from "../shared/chat_roles.js" */
/** @import { Axis } from "../shared/focus.js" */

/** The rows and columns of a preview that are not its tile's own. @typedef {{ rowTokens: string[], columnTokens: string[], rows: Axis, columns: Axis }} PreviewSides */

/**
 * What `pack_matrix` packs; a row or column that is null is not kept. `isPreview` is set here, of what was announced.
 * @typedef {ShadeScale & {
 *   rowTokens: string[], columnTokens: string[], axes: string | null, title: string, label: string, note: string,
 *   fileName: string, number: string, caption: string, sides: [string, string], stops: string[], marks: [number, string][],
 *   rowsWrite: boolean, kept: [number | null, number | null], keptColour: string, rowRoles: RoleRun[], columnRoles: RoleRun[],
 *   shows: [string, number, number] | null, previews: Record<string, PreviewSides | null>,
 *   deep: { address: string, block: [number, number], decimals: number } | null, isPreview?: true,
 *   focus?: { site: string, name: string, asks: boolean, rows: Axis, columns: Axis } | null,
 * }} MatrixHeader
 */

/** @typedef {{ values: Float32Array, rows: number, columns: number, block?: [number, number] }} StoredMatrix */

/**
 * The number of a cell: four decimals, three in a preview; what is not zero never reads as zero. Without its exact
 * number it is the largest of its block, and says so.
 * @param {StoredMatrix} matrix @param {MatrixHeader} header @param {number | null} exact
 * @param {number} row @param {number} column
 */
export function readCell({ rows, columns, values, block }, header, exact, row, column) {
  const { rowTokens, columnTokens, isPreview, low, deep } = header;
  const down = blockOf(row, rowTokens.length, rows, block?.[0]);
  const across = blockOf(column, columnTokens.length, columns, block?.[1]);
  const value = exact ?? values[down * columns + across];
  if (Number.isNaN(value)) return "–";
  const isBlock = rows < rowTokens.length || columns < columnTokens.length;
  const noted = (/** @type {string} */ number) =>
    isBlock && exact === null ? _("{number} (max of a block)", { number }) : number;
  const digits = isPreview ? 3 : (deep?.decimals ?? 4);
  const least = 10 ** -digits;
  if (value > 0 && value < least / 2) return noted(`< ${least}`);
  return noted(`${low < 0 && value > 0 ? "+" : ""}${value.toFixed(digits)}`);
}

/** Whose message looks at whose in a cell; "" of what is no chat. @param {MatrixHeader} header @param {number} row @param {number} column */
export const readRoles = ({ rowRoles, columnRoles }, row, column) =>
  rolesLooking(roleOf(rowRoles, row), roleOf(columnRoles, column));

/**
 * Where keys lead, in rows and columns; `aPage` rows are seen at once.
 * @param {number} aPage @param {number} lastColumn @returns {Record<string, [number, number]>}
 */
export const stepsOf = (aPage, lastColumn) => ({
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  Home: [0, -lastColumn],
  End: [0, lastColumn],
  PageUp: [-aPage, 0],
  PageDown: [aPage, 0],
});

/** Where a cell lies along the side, from 0 to 1. @param {Span} span @param {number} cell */
export const shareAt = ({ start, length }, cell) => clamp(0, (cell + 0.5 - start) / length, 1);

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

/** The number of the kept cell, printed where it stands, and after it what asks why. */
export class KeptNumber {
  element = element("div", { className: "kept-number", hidden: true });
  why = element("div", { className: "kept-why", hidden: true });

  /**
   * Print the number of a kept cell; nothing if only one side is kept, or the cell is not seen.
   * @param {Pick<MatrixHeader, "kept" | "focus">} header @param {Spans} spans @param {Sizes} sizes
   * @param {(row: number, column: number) => string} format
   */
  place({ kept: [row, column], focus }, spans, { left, above, width, height }, format) {
    const label = this.element;
    label.hidden = this.why.hidden = true;
    if (row === null || column === null) return;
    const [down, across] = [extentOf(spans.row, row, height), extentOf(spans.column, column, width)];
    if (!down || !across) return;
    label.hidden = false;
    label.textContent = format(row, column);
    const { offsetWidth, offsetHeight } = label;
    const begin = beginOf([across[0], across[1]], offsetWidth, width);
    label.style.left = `${left + begin}px`;
    label.style.top = this.why.style.top = `${above + down[0] + (down[1] - offsetHeight) / 2}px`;
    const parts = whyParts(focus, row, column);
    this.why.replaceChildren(...parts.slice(1));
    this.why.hidden = !parts.length;
    const [after, before] = [begin + offsetWidth + 1, begin - this.why.offsetWidth - 1];
    this.why.style.left = `${left + (after + this.why.offsetWidth <= width ? after : before)}px`;
  }
}
