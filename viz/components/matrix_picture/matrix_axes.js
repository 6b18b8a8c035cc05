// @ts-check
// The labels along both sides of a matrix, thinned out where they would touch.
import { element, tokenElement } from "../shared/picture.js";

/** @import { Span } from "./matrix_view.js" */

/** @typedef {{ available: number, left: number, above: number, width: number, height: number }} Sizes in CSS pixels */
/** @typedef {{ index: number, text: string, at: number, size: number, isKept: boolean }} Label */

const LABEL_SIZE = 13;
const SMALL_LABEL = 11;
// So few columns, this far apart, have slanted labels; others stand upright.
const MOST_SLANTED = 24;
const ROOM_FOR_SLANTED = 17;
const LONGEST_LABEL = 18;
const WIDEST_LABEL = 120;
const BETWEEN = 6;

/** @type {OffscreenCanvasRenderingContext2D | null} */
let measurer = null;

/** How wide labels are. @param {string[]} labels @param {string} font */
const inkOf = (labels, font) => {
  measurer ??= new OffscreenCanvas(1, 1).getContext("2d");
  const context = /** @type {OffscreenCanvasRenderingContext2D} */ (measurer);
  context.font = font;
  // In thousands of tokens most come again.
  /** @type {Map<string, number>} */
  const known = new Map();
  return labels.map((label) => {
    const ink = known.get(label) ?? Math.min(WIDEST_LABEL, Math.ceil(context.measureText(label).width));
    known.set(label, ink);
    return ink;
  });
};

/** @param {string} label */
const shortened = (label) =>
  [...label].length > LONGEST_LABEL ? `${[...label].slice(0, LONGEST_LABEL - 1).join("")}…` : label;

export class MatrixAxes {
  /** @type {{ rows: string[], columns: string[] }} */
  labels;
  /** @type {{ rows: number[], columns: number[] }} */
  inks;
  /** What is shown now. @type {string | null} */
  shown = null;
  isSlanted = false;
  /** The labels of each side by their index. @type {Map<HTMLElement, Map<number, HTMLElement>>} */
  standing = new Map();

  constructor() {
    this.rows = element("div", "row-labels");
    this.columns = element("div", "column-labels");
    for (const side of [this.rows, this.columns]) side.setAttribute("aria-hidden", "true");
  }

  /** Other labels. @param {string[]} rowLabels @param {string[]} columnLabels @param {string} family */
  fill(rowLabels, columnLabels, family) {
    this.labels = { rows: rowLabels.map(shortened), columns: columnLabels.map(shortened) };
    const font = `${LABEL_SIZE}px ${family}`;
    this.inks = { rows: inkOf(this.labels.rows, font), columns: inkOf(this.labels.columns, font) };
    this.shown = null;
    this.standing.clear();
    for (const side of [this.rows, this.columns]) side.replaceChildren();
  }

  /** The room that labels need: left of the cells, above them, and right of them where labels are slanted. @param {number} available */
  room(available) {
    const { rows, columns } = this.inks;
    const left = Math.max(...rows) + BETWEEN;
    const cell = (available - left) / columns.length;
    this.isSlanted = columns.length <= MOST_SLANTED && cell >= ROOM_FOR_SLANTED;
    const longest = Math.max(...columns);
    if (!this.isSlanted) return { left, above: longest + BETWEEN + 2, right: 6 };
    const right = Math.max(
      ...columns.map((ink, index) => ink * Math.SQRT1_2 + 12 - (columns.length - index - 0.5) * cell),
    );
    return { left, above: Math.ceil(longest * Math.SQRT1_2) + 14, right: Math.min(100, Math.max(6, Math.ceil(right))) };
  }

  /**
   * Put labels beside the part that is seen; `kept` are the row and column in bold.
   * @param {Sizes} sizes @param {Span} rowSpan @param {Span} columnSpan
   * @param {{ row: number | null, column: number | null }} kept
   */
  place(sizes, rowSpan, columnSpan, kept) {
    const { left, above, width, height } = sizes;
    const signature = JSON.stringify([sizes, rowSpan, columnSpan, kept]);
    if (signature === this.shown) return;
    this.shown = signature;
    const upright = this.isSlanted ? "slanted" : "upright";
    this.update(this.rows, this.spread("rows", rowSpan, height, kept.row), "row-label", (label, at) => {
      label.style.top = `${above + at - 8}px`;
      label.style.right = `calc(100% - ${left - BETWEEN}px)`;
    });
    this.update(
      this.columns,
      this.spread("columns", columnSpan, width, kept.column),
      `column-label ${upright}`,
      (label, at) => {
        label.style.left = `${left + at}px`;
        label.style.top = `${above - BETWEEN - 8}px`;
      },
    );
  }

  /**
   * Labels that stay only move: making them again in every frame would be most of the work of moving the matrix.
   * @param {HTMLElement} side @param {Label[]} labels @param {string} className
   * @param {(label: HTMLElement, at: number) => void} put
   */
  update(side, labels, className, put) {
    const before = this.standing.get(side) ?? new Map();
    /** @type {Map<number, HTMLElement>} */
    const standing = new Map();
    /** @type {HTMLElement | null} */
    let last = null;
    for (const { index, text, at, size, isKept } of labels) {
      const label = before.get(index) ?? element("span");
      if (!before.delete(index)) {
        label.append(tokenElement(text));
        if (last) last.after(label);
        else side.prepend(label);
      }
      last = label;
      const classes = `${className}${isKept ? " kept" : ""}`;
      if (label.className !== classes) label.className = classes;
      label.style.fontSize = `${size}px`;
      put(label, at);
      standing.set(index, label);
    }
    for (const label of before.values()) label.remove();
    this.standing.set(side, standing);
  }

  /**
   * The labels that fit, with their places: every one, or every second, third …; and always the kept one.
   * @param {"rows" | "columns"} side @param {Span} span @param {number} length @param {number | null} kept
   */
  spread(side, span, length, kept) {
    const cell = length / span.length;
    const size = cell >= LABEL_SIZE + 3 ? LABEL_SIZE : SMALL_LABEL;
    const stride = Math.max(1, Math.ceil((size + 2) / cell));
    const near = (/** @type {number} */ index) => kept !== null && index !== kept && Math.abs(index - kept) < stride;
    /** @type {Label[]} */
    const labels = [];
    for (let index = Math.ceil(span.start - 0.5); index < span.start + span.length - 0.45; index++) {
      const at = (index + 0.5 - span.start) * cell;
      if (index === kept || (index % stride === 0 && !near(index)))
        labels.push({ index, text: this.labels[side][index], at, size, isKept: index === kept });
    }
    return labels;
  }
}
