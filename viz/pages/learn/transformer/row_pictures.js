// Pictures of one row of a head: each an SVG over the same columns, one a key. Here are the
// sizes of things, and how numbers become bars and cells.
import { cellsAsSvg } from "../../../pictures/shared/canvas_cells.js";
import { colourAt, svg } from "../../../pictures/shared/drawing.js";
import { closest } from "../../../pictures/shared/items.js";
import { _ } from "../../../pictures/shared/messages.js";
import { clamp, element } from "../../../pictures/shared/picture.js";
import { underWords, written } from "./shapes.js";

/** @import { Cell } from "../../../pictures/shared/canvas_cells.js" */
/** @import { Attributes, InkedScale } from "../../../pictures/shared/drawing.js" */
/** @import { Point } from "../../../pictures/shared/items.js" */
/** @import { Box } from "../../../pictures/shared/picture_svg.js" */
/** @import { RowData } from "./row_steps.js" */
/** @import { Placing } from "./shapes.js" */

/** @typedef {[number, number]} Range */
/** A scale with its colours as pixels. @typedef {InkedScale & { pixels: Uint32Array }} PaintedScale */
/** Where numbers lie side by side, or one below the other, and what is said of each. @typedef {Box & { count: number, isUpright: boolean, note(at: number): string }} Area */
/**
 * Numbers of one kind, a bar each; `outlined` ones lie around the others, `numbered` ones are written at their ends.
 * @typedef {{ values: number[], colour: string, outlined?: boolean, numbered?: boolean }} Series
 */

/** With less room behind the columns, totals stand below the names. */
const TOTAL = 66;
// Numbers lie in columns at least this wide; in narrower ones they stand, and in the narrowest there is no room.
const LYING = 33;
const STANDING = 11;
const NARROWEST_NUMBERED = 12.5;

/** Three digits, a real minus sign, never -0. @param {number} value */
export function shortNumber(value) {
  const size = Math.abs(value);
  if (size !== 0 && size < 0.005) return value < 0 ? "−0.00" : "0.00";
  return (size >= 100 ? value.toFixed(0) : size >= 10 ? value.toFixed(1) : value.toFixed(2)).replace("-", "−");
}

/** Five digits, for the hover. @param {number} value */
export function exactNumber(value) {
  const size = Math.abs(value);
  return (size !== 0 && size < 1e-4 ? value.toExponential(2) : value.toPrecision(5)).replace("-", "−");
}

/** A number that is known to a 63rd of its vector's largest one. @param {number} value @param {number} bound */
export function roughNumber(value, bound) {
  const digits = clamp(0, Math.ceil(-Math.log10(bound / 63 || 1)), 6);
  return `≈ ${value.toFixed(digits)}`.replace("-", "−");
}

/** A weight in two decimals; one that is not zero never reads as zero, nor one below 1 as 1. @param {number} weight */
export function shortWeight(weight) {
  if (weight === 0) return "0";
  if (weight < 0.005) return "<.01";
  return weight > 0.995 && weight < 1 ? ">.99" : weight.toFixed(2);
}

/** @param {InkedScale} scale @param {number} value @param {number} bound */
export const signedColour = (scale, value, bound) => colourAt(scale, 0.5 + (bound ? value / bound : 0) / 2);

/** @param {number[] | number[][]} values */
export const largestSize = (values) => Math.max(...values.flat().map(Math.abs), 0);

/** What is written beside a picture. @param {{ title: string, formula?: string, text: string }} step */
export const stepWords = ({ title, formula = "", text }) =>
  element("div", "words", element("h4", "", title), element("p", "formula", formula), element("p", "text", text));

/** What is said where. @type {WeakMap<Element, Area[]>} */
const AREAS = new WeakMap();

/** A point as a drawing counts pixels: it may be enlarged. @param {SVGSVGElement} drawing @param {Point} point */
export function placeIn(drawing, { clientX, clientY }) {
  const { left, top, width } = drawing.getBoundingClientRect();
  return [clientX - left, clientY - top].map((way) => (way * drawing.width.baseVal.value) / width);
}

/** What is said of the number that is pointed at; "" beside numbers. @param {PointerEvent} event */
export function noteAt(event) {
  const drawing = /** @type {SVGSVGElement | null} */ (/** @type {unknown} */ (closest(event, "svg")));
  const areas = drawing && AREAS.get(drawing);
  if (!areas) return "";
  const [across, down] = placeIn(drawing, event);
  for (const { x, y, width, height, count, isUpright, note } of areas) {
    const [along, aside] = [(across - x) / width, (down - y) / height];
    if (Math.min(along, aside) >= 0 && Math.max(along, aside) < 1)
      return note(Math.floor((isUpright ? aside : along) * count));
  }
  return "";
}

/** Where the columns lie: over the tower that the layer has too; a column beyond the keys is that of the rest. */
export class KeyColumns {
  /** @param {{ left: number, pitch: number, columns: number }} tower @param {number} width @param {number} count @param {boolean} hasRest */
  constructor({ left, pitch, columns }, width, count, hasRest) {
    this.count = count + (hasRest ? 1 : 0);
    this.restAt = hasRest ? count : -1;
    this.start = left;
    this.step = (pitch * columns) / this.count;
    this.end = left + pitch * columns;
    this.width = width;
    this.isLying = this.step >= LYING;
    this.hasNumbers = this.step >= STANDING;
    // A number above a bar, or in a cell.
    this.numberHeight = !this.hasNumbers ? 4 : this.isLying ? 16 : 34;
  }

  /** @param {number} column */
  left(column) {
    return this.start + this.step * column;
  }

  /** @param {number} column */
  middle(column) {
    return this.left(column) + this.step / 2;
  }
}

export class Picture {
  /** What is said of numbers. @type {Area[]} */ areas = [];
  /** Numbers as cells, which are drawn together. @type {Cell[]} */ cells = [];
  /** @type {HTMLElement[]} */ words = [];
  grid = svg("g", {});

  /** @param {KeyColumns} columns @param {number} height @param {string} label */
  constructor(columns, height, label) {
    const { width } = columns;
    this.columns = columns;
    this.height = height;
    this.root = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
    AREAS.set(this.root, this.areas);
  }

  /** The drawing, once all is in it. */
  finished() {
    this.grid.innerHTML = cellsAsSvg(this.cells);
    return underWords(this.root, this.words);
  }

  /** @param {keyof SVGElementTagNameMap} tag @param {Attributes} attributes */
  add(tag, attributes) {
    this.root.append(svg(tag, attributes));
  }

  /** @param {string} className @param {Range} ends along x @param {Range} heights */
  line(className, [x1, x2], [y1, y2]) {
    this.add("line", { class: className, x1, x2, y1, y2 });
  }

  /** Text whose middle is at the height `y`. @param {string} text @param {number} x @param {number} y @param {string} className @param {Placing} [placing] */
  write(text, x, y, className, placing) {
    this.words.push(written(text, x, y, className, placing));
  }

  /** Grounds that light up with their key, beneath everything, and dotted lines where keys are left out. @param {RowData} row */
  grounds({ columns: keys, followed }) {
    const { columns, height } = this;
    for (let column = 0; column < columns.count; column++) {
      const x = columns.left(column);
      const look = { class: column === followed ? "ground followed" : "ground", "data-column": column };
      this.add("rect", { x, y: 0, width: columns.step, height, ...look });
      if (keys[column]?.gap) this.line("gap", [x, x], [0, height]);
    }
    return this;
  }

  /** @param {string} text @param {number} y */
  name(text, y) {
    this.write(text, this.columns.start - 6, y, "name", { anchor: "end" });
  }

  /** What a row adds up to. @param {string} text @param {number} y */
  total(text, y) {
    const { start, end, width } = this.columns;
    if (width - end < TOTAL) this.write(text, start - 6, y + 15, "total below", { anchor: "end" });
    else this.write(text, end + 10, y, "total");
  }

  /**
   * A number in the middle of a column, lying or standing; `edge` says whether `y` is its top, middle or bottom.
   * @param {number} column @param {number} y @param {string} text
   * @param {{ edge?: "top" | "middle" | "bottom", ink?: string }} [how]
   */
  number(column, y, text, { edge = "middle", ink } = {}) {
    const { columns } = this;
    if (!columns.hasNumbers) return;
    const x = columns.middle(column);
    if (columns.isLying) {
      const middle = y + { top: 7, middle: 0, bottom: -7 }[edge];
      return this.write(text, x, middle, "number", { ink, anchor: "middle" });
    }
    const anchor = /** @type {const} */ ({ top: "end", middle: "middle", bottom: "start" })[edge];
    this.write(text, x, y, "number", { ink, anchor, angle: -90 });
  }

  /**
   * A cell of a row, with its number.
   * @param {number} column @param {number} height @param {string} text
   * @param {{ fill?: string, ink?: string, className?: string }} look @param {number} [y]
   */
  cell(column, height, text, { fill, ink, className = "cell" }, y = 0) {
    const box = { x: this.columns.left(column) + 0.5, y, width: this.columns.step - 1, height, class: className };
    this.add("rect", fill ? { ...box, fill } : box);
    this.number(column, y + height / 2, text, { ink });
  }

  /**
   * Bars from a common zero line; of several series that are filled, each takes its part of a column.
   * @param {number} top @param {number} height @param {Series[]} series @param {Range} bounds
   * @param {(value: number) => string} format
   */
  bars(top, height, series, bounds, format) {
    const { columns } = this;
    const [low, high] = [Math.min(0, bounds[0]), Math.max(0, bounds[1])];
    const above = high > 0 ? columns.numberHeight : 0;
    const below = low < 0 ? columns.numberHeight : 0;
    const scale = (height - above - below) / (high - low || 1);
    const y = (/** @type {number} */ value) => top + above + (high - value) * scale;
    const filled = series.filter(({ outlined }) => !outlined);
    const thick = clamp(2, columns.step * 0.66, 30);
    for (const bars of series) {
      const { values, colour, outlined } = bars;
      const width = outlined ? thick : thick / filled.length;
      const shift = (outlined ? 0 : filled.indexOf(bars) * width) - thick / 2;
      const look = outlined
        ? { style: `stroke:${colour}`, class: "outlined bar" }
        : { style: `fill:${colour}`, class: "bar" };
      values.forEach((value, column) => {
        const size = Math.max(Math.abs(y(value) - y(0)), value ? 0.75 : 0);
        const box = { x: columns.middle(column) + shift, width, y: Math.min(y(0), y(value)), height: size };
        this.add("rect", { ...box, ...look });
      });
    }
    for (const { values } of series.filter(({ numbered }) => numbered)) {
      values.forEach((value, column) => {
        const ends = series.map((other) => other.values[column]);
        const end = value < 0 ? Math.min(0, ...ends) : Math.max(0, ...ends);
        this.number(column, y(end) + (value < 0 ? 3 : -3), format(value), { edge: value < 0 ? "top" : "bottom" });
      });
    }
    this.line("zero", [columns.start, columns.end], [y(0), y(0)]);
    return y;
  }

  /**
   * A range, for the keys that are summed up: nobody's bar, but where all theirs end.
   * @param {Range | null} range @param {(value: number) => number} y
   */
  range(range, y) {
    if (!range || this.columns.restAt < 0) return;
    const x = this.columns.middle(this.columns.restAt);
    this.line("range", [x, x], [y(range[1]), y(range[0])]);
    for (const end of range) this.line("range", [x - 5, x + 5], [y(end), y(end)]);
  }

  /**
   * A vector as cells in a box, coloured by sign and size; pointed at, each says its number.
   * @param {number[]} values @param {Box} box @param {number} bound @param {PaintedScale} scale
   * @param {boolean} isUpright @param {(value: number, at: number) => string} say
   */
  vector(values, { x, y, width, height }, bound, { pixels }, isUpright, say) {
    // Above all that is drawn so far, and below what follows.
    if (!this.cells.length) this.root.append(this.grid);
    const count = values.length;
    const size = isUpright ? height / count : width / count;
    const gap = !isUpright && size > 6 ? 0.5 : 0;
    values.forEach((value, i) => {
      const colour = pixels[Math.round(255 * (0.5 + (bound ? value / bound : 0) / 2))];
      const place = isUpright
        ? { x, y: y + i * size, width, height: size }
        : { x: x + i * size, y, width: size - gap, height };
      this.cells.push({ ...place, colour });
    });
    const note = (/** @type {number} */ at) =>
      _("component {number}: {value}", { number: at + 1, value: say(values[at], at) });
    this.areas.push({ x, y, width, height, count, isUpright, note });
  }

  /**
   * Numbers as cells side by side across the whole width, written where there is room.
   * @param {number} top @param {number} height @param {number[]} values @param {number} bound @param {PaintedScale} scale
   * @param {boolean} [isRough] whether they are known to two digits only
   */
  strip(top, height, values, bound, scale, isRough = false) {
    const { start, end } = this.columns;
    const box = { x: start, y: top, width: end - start, height };
    this.vector(values, box, bound, scale, false, (value) =>
      isRough ? roughNumber(value, bound) : exactNumber(value),
    );
    const width = box.width / values.length;
    if (isRough || width < NARROWEST_NUMBERED || height < 30) return;
    values.forEach((value, i) => {
      const { ink } = signedColour(scale, value, bound);
      const [middle, line] = [start + (i + 0.5) * width, top + height / 2];
      this.write(shortNumber(value), middle, line, "number", { ink, anchor: "middle", angle: width < LYING ? -90 : 0 });
    });
  }
}
