// @ts-check
// The pictures of the origin story: each an SVG over the same columns, one a key. Here are the
// sizes of things, and how numbers become bars and cells.
import { colourAt, svg } from "../../../components/shared/drawing.js";
/** @import { Attributes, InkedScale } from "../../../components/shared/drawing.js" */
/** @import { OriginHeader } from "./origin_steps.js" */

/** @typedef {[number, number]} Range */
/**
 * Numbers of one kind, a bar each; `outlined` ones lie around the others, `numbered` ones are written at their ends.
 * @typedef {{ values: (number | null)[], colour: string, outlined?: boolean, numbered?: boolean }} Series
 */

export const GUTTER = 58;
const TOTAL = 74;
const WIDEST_COLUMN = 62;
// Numbers lie in columns at least this wide; in narrower ones they stand, and in the narrowest there is no room.
const LYING = 33;
const STANDING = 11;
const NARROWEST_NUMBERED = 9.5;
// Slanted tokens do not overlap in columns at least this wide; in narrower ones they stand upright.
const SLANTED = 20;

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

/** Where the columns lie for a picture of `width` pixels; a column beyond the keys is that of the rest. */
export class Columns {
  /** @param {number} width @param {number} count @param {boolean} hasRest */
  constructor(width, count, hasRest) {
    this.count = count + (hasRest ? 1 : 0);
    this.restAt = hasRest ? count : -1;
    this.step = Math.max(7, Math.min(WIDEST_COLUMN, (width - GUTTER - TOTAL) / this.count));
    this.end = GUTTER + this.step * this.count;
    // Strips have as many cells as they have; they take all the room there is.
    this.stripEnd = width - TOTAL;
    this.width = width;
    this.isLying = this.step >= LYING;
    this.isSlanted = this.step >= SLANTED;
    this.hasNumbers = this.step >= STANDING;
    // A number above a bar, or in a cell.
    this.numberHeight = !this.hasNumbers ? 4 : this.isLying ? 16 : 34;
  }

  /** @param {number} column */
  left(column) {
    return GUTTER + this.step * column;
  }

  /** @param {number} column */
  middle(column) {
    return this.left(column) + this.step / 2;
  }
}

export class Picture {
  /** @param {Columns} columns @param {number} height @param {string} label */
  constructor(columns, height, label) {
    this.columns = columns;
    this.height = height;
    this.root = svg("svg", { width: columns.width, height, viewBox: `0 0 ${columns.width} ${height}`, role: "img" });
    this.root.setAttribute("aria-label", label);
  }

  /**
   * @template {keyof SVGElementTagNameMap} Tag
   * @param {Tag} tag @param {Attributes} attributes @param {string} [text]
   */
  add(tag, attributes, text = "") {
    const created = svg(tag, attributes, text);
    this.root.append(created);
    return created;
  }

  /** Grounds that light up with their key, beneath everything, and dotted lines where keys are left out. @param {OriginHeader["columns"]} keys */
  grounds(keys) {
    const { columns, height } = this;
    for (let column = 0; column < columns.count; column++) {
      const ground = { x: columns.left(column), y: 0, width: columns.step, height, class: "ground" };
      this.add("rect", { ...ground, "data-column": column });
      if (keys[column]?.gap) this.add("line", { class: "gap", x1: ground.x, x2: ground.x, y1: 0, y2: height });
    }
    return this;
  }

  /** @param {string} text @param {number} y */
  name(text, y) {
    this.add("text", { x: GUTTER - 8, y, class: "name", "text-anchor": "end", "dominant-baseline": "central" }, text);
  }

  /** @param {string} text @param {number} y @param {{ className?: string, after?: number }} [how] */
  total(text, y, { className = "total", after = this.columns.end } = {}) {
    const place = { x: after + 10, y, class: className, "dominant-baseline": "central" };
    return this.add("text", place, text);
  }

  /**
   * A number in the middle of a column, lying or standing; `edge` says whether `y` is its top, middle or bottom.
   * @param {number} column @param {number} y @param {string} text
   * @param {{ edge?: "top" | "middle" | "bottom", ink?: string, className?: string }} [how]
   */
  number(column, y, text, { edge = "middle", ink, className = "" } = {}) {
    const { columns } = this;
    if (!columns.hasNumbers) return;
    const x = columns.middle(column);
    /** @type {Attributes} */
    const attributes = { x, y, class: `number ${className}`, "dominant-baseline": "central", "text-anchor": "middle" };
    if (ink) attributes.style = `fill:${ink}`;
    if (columns.isLying) {
      attributes.y = y + { top: 7, middle: 0, bottom: -7 }[edge];
    } else {
      attributes.transform = `rotate(-90 ${x} ${y})`;
      attributes["text-anchor"] = { top: "end", middle: "middle", bottom: "start" }[edge];
    }
    this.add("text", attributes, text);
  }

  /**
   * A cell of one row over the columns.
   * @param {number} column @param {number} y @param {number} height @param {{ fill?: string, className?: string }} look
   */
  cell(column, y, height, { fill, className = "cell" }) {
    const { columns } = this;
    const place = { x: columns.left(column) + 0.5, y, width: columns.step - 1, height, class: className };
    return this.add("rect", fill ? { ...place, fill } : place);
  }
}

/**
 * Bars from a common zero line; of several series that are filled, each takes its part of a column.
 * @param {Picture} picture @param {number} top @param {number} height @param {Series[]} series @param {Range} bounds
 * @param {(value: number) => string} format
 */
export function drawBars(picture, top, height, series, bounds, format) {
  const { columns } = picture;
  const [low, high] = [Math.min(0, bounds[0]), Math.max(0, bounds[1])];
  const room = columns.numberHeight;
  const above = high > 0 ? room : 0;
  const below = low < 0 ? room : 0;
  const scale = (height - above - below) / (high - low || 1);
  const y = (/** @type {number} */ value) => top + above + (high - value) * scale;
  const filled = series.filter(({ outlined }) => !outlined);
  const thick = Math.max(2, Math.min(30, columns.step * 0.66));
  for (const bars of series) {
    const { values, colour, outlined } = bars;
    const part = outlined ? thick : thick / filled.length;
    const shift = outlined ? 0 : filled.indexOf(bars) * part;
    values.forEach((value, column) => {
      if (value === null) return;
      const place = { x: columns.middle(column) - thick / 2 + shift, width: part };
      const size = { y: Math.min(y(0), y(value)), height: Math.max(Math.abs(y(value) - y(0)), value ? 0.75 : 0) };
      const style = outlined ? `stroke:${colour}` : `fill:${colour}`;
      picture.add("rect", { ...place, ...size, style, class: outlined ? "outlined bar" : "bar" });
    });
  }
  for (const { values } of series.filter(({ numbered }) => numbered)) {
    values.forEach((value, column) => {
      if (value === null) return;
      const ends = series.map((other) => other.values[column]).filter((end) => end !== null);
      const end = value < 0 ? Math.min(0, ...ends) : Math.max(0, ...ends);
      picture.number(column, y(end) + (value < 0 ? 3 : -3), format(value), { edge: value < 0 ? "top" : "bottom" });
    });
  }
  picture.add("line", { class: "zero", x1: GUTTER, x2: columns.end, y1: y(0), y2: y(0) });
  return y;
}

/**
 * A range, for the keys that are summed up: nobody's bar, but where all theirs end.
 * @param {Picture} picture @param {Range | null} range @param {(value: number) => number} y
 */
export function drawRange(picture, range, y) {
  if (!range || picture.columns.restAt < 0) return;
  const x = picture.columns.middle(picture.columns.restAt);
  picture.add("line", { class: "range", x1: x, x2: x, y1: y(range[1]), y2: y(range[0]) });
  for (const end of range) picture.add("line", { class: "range", x1: x - 5, x2: x + 5, y1: y(end), y2: y(end) });
}

/**
 * Numbers as cells side by side across the whole width, coloured by sign and size, written where there is room.
 * @param {Picture} picture @param {number} top @param {number} height @param {number[]} values @param {number} bound
 * @param {InkedScale} scale
 */
export function drawStrip(picture, top, height, values, bound, scale) {
  const width = (picture.columns.stripEnd - GUTTER) / values.length;
  values.forEach((value, i) => {
    const { fill, ink } = signedColour(scale, value, bound);
    const x = GUTTER + i * width;
    const gap = width > 6 ? 0.5 : 0;
    const cell = picture.add("rect", { x, y: top, width: width - gap, height, fill, class: "cell" });
    cell.dataset.note = `dimension ${i}: ${exactNumber(value)}`;
    if (width < NARROWEST_NUMBERED || height < 30) return;
    const [middle, line] = [x + width / 2, top + height / 2];
    const place = { x: middle, y: line, class: "number small", style: `fill:${ink}`, "text-anchor": "middle" };
    const turned = width < 28 ? { transform: `rotate(-90 ${middle} ${line})` } : {};
    picture.add("text", { ...place, ...turned, "dominant-baseline": "central" }, shortNumber(value));
  });
}
