// The labels along both sides of a matrix, thinned out where they would touch.
import { element, rowElement, textWidth, WRITES } from "../shared/picture.js";
import { RoleBand, RoleKey } from "./matrix_roles.js";

/** @import { MatrixHeader } from "./matrix_reading.js" */
/** @import { Span, Spans } from "./matrix_view.js" */

/** @typedef {{ available: number, left: number, above: number, width: number, height: number }} Sizes in CSS pixels */
/** @typedef {"rows" | "columns"} Side */

const LABEL_SIZE = 13;
const SMALL_LABEL = 12;
const LONGEST_LABEL = 18;
/** Of a row's name so much at most is the word that it stands for. */
const LONGEST_NAME = 12;
const WIDEST_LABEL = 120;
const BETWEEN = 6;

/** How wide labels are. @param {string[]} labels @param {string} font */
function widthsOf(labels, font) {
  const width = (/** @type {string} */ label) => Math.min(WIDEST_LABEL, Math.ceil(textWidth(label, font)));
  // In thousands of tokens most come again.
  const widths = new Map([...new Set(labels)].map((label) => [label, width(label)]));
  return labels.map((label) => widths.get(label) ?? 0);
}

/** @param {string} label @param {number} longest */
const shortened = (label, longest = LONGEST_LABEL) =>
  [...label].length > longest ? `${[...label].slice(0, longest - 1).join("")}…` : label;

/** A row's name, of which the word that it stands for is cut last. @param {string} label @param {boolean} writes */
function shortenedRow(label, writes) {
  const parts = label.split(WRITES);
  if (parts.length !== 2 || [...label].length <= LONGEST_LABEL) return shortened(label);
  const own = shortened(parts[Number(writes)], LONGEST_NAME);
  const other = shortened(parts[1 - Number(writes)], Math.max(3, LONGEST_LABEL - WRITES.length - [...own].length));
  return (writes ? [other, own] : [own, other]).join(WRITES);
}

/** By what stands along both sides of a matrix. @param {MatrixHeader | undefined} header */
export const sidesOf = (header) =>
  JSON.stringify([header?.rowTokens, header?.columnTokens, header?.rowRoles, header?.columnRoles]);

export class MatrixAxes {
  rows = element("div", { className: "row-labels", ariaHidden: "true" });
  columns = element("div", { className: "column-labels", ariaHidden: "true" });
  roleKey = new RoleKey();
  roles = { rows: new RoleBand("rows"), columns: new RoleBand("columns") };
  /** @type {Record<Side, string[]>} */ labels;
  /** Whether rows stand for what they write. */ writes = false;
  /** @type {Record<Side, number[]>} */ widths;
  /** The labels of each side by their index. @type {Record<Side, Map<number, HTMLElement>>} */ standing;
  /** What is shown now. @type {string | null} */ shown = null;

  /** What lies along the sides. */
  get elements() {
    return [this.rows, this.columns, this.roles.rows.element, this.roles.columns.element];
  }

  /** Other labels. @param {MatrixHeader} header @param {string} family */
  fill({ rowTokens, columnTokens, rowRoles, columnRoles, rowsWrite }, family) {
    this.writes = rowsWrite;
    this.labels = {
      rows: rowTokens.map((label) => shortenedRow(label, this.writes)),
      columns: columnTokens.map((label) => shortened(label)),
    };
    this.roles.rows.fill(rowRoles);
    this.roles.columns.fill(columnRoles);
    const font = `${LABEL_SIZE}px ${family}`;
    this.widths = { rows: widthsOf(this.labels.rows, `600 ${font}`), columns: widthsOf(this.labels.columns, font) };
    this.shown = null;
    this.standing = { rows: new Map(), columns: new Map() };
    for (const side of [this.rows, this.columns]) side.replaceChildren();
  }

  /** The room that labels need: left of the cells and above them, where those of columns stand upright. */
  room() {
    const { rows, columns } = this.widths;
    const left = Math.max(...rows) + BETWEEN + this.roles.rows.room;
    return { left, above: Math.max(...columns) + BETWEEN + 2 + this.roles.columns.room };
  }

  /** Name the roles that the bands have no room to name while all is seen, which is so large. @param {number} width @param {number} height */
  nameRoles(width, height) {
    const { rows, columns } = this.roles;
    this.roleKey.fill([
      [rows.runs, this.labels.rows.length, height],
      [columns.runs, this.labels.columns.length, width],
    ]);
  }

  /**
   * Put labels beside the part that is seen; `kept` are the row and column in bold.
   * @param {Sizes} sizes @param {Spans} spans @param {(number | null)[]} kept
   */
  place(sizes, spans, kept) {
    const { left, above, width, height } = sizes;
    const signature = JSON.stringify([sizes, spans, kept]);
    if (signature === this.shown) return;
    this.shown = signature;
    this.roles.rows.place(spans.row, above, height);
    this.roles.columns.place(spans.column, left, width);
    const right = `calc(100% - ${left - BETWEEN}px)`;
    this.update("rows", spans.row, height, kept[0], "row-label", (at) => ({ top: `${above + at - 8}px`, right }));
    const top = `${above - BETWEEN - 8}px`;
    this.update("columns", spans.column, width, kept[1], "column-label", (at) => ({ left: `${left + at}px`, top }));
  }

  /**
   * Show the labels of a side that fit: every one, or every second, third …; and always the kept one. Labels that stay
   * only move: making them again in every frame would be most of the work of moving the matrix.
   * @param {Side} side @param {Span} span @param {number} length @param {number | null} kept @param {string} className
   * @param {(at: number) => Partial<CSSStyleDeclaration>} position
   */
  update(side, span, length, kept, className, position) {
    const cell = length / span.length;
    const size = cell >= LABEL_SIZE + 3 ? LABEL_SIZE : SMALL_LABEL;
    const stride = Math.max(1, Math.ceil((size + 2) / cell));
    const before = this.standing[side];
    /** @type {typeof before} */ const standing = new Map();
    /** @type {HTMLElement | undefined} */ let last;
    for (let index = Math.ceil(span.start - 0.5); index < span.start + span.length - 0.45; index++) {
      const isNear = kept !== null && Math.abs(index - kept) < stride;
      if (index !== kept && (index % stride || isNear)) continue;
      const label = before.get(index) ?? element("span", "", rowElement(this.labels[side][index], this.writes));
      if (!before.delete(index)) {
        if (last) last.after(label);
        else this[side].prepend(label);
      }
      last = label;
      const classes = index === kept ? `${className} kept` : className;
      if (label.className !== classes) label.className = classes;
      Object.assign(label.style, { fontSize: `${size}px` }, position((index + 0.5 - span.start) * cell));
      standing.set(index, label);
    }
    for (const label of before.values()) label.remove();
    this.standing[side] = standing;
  }
}
