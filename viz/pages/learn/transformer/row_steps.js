// The pictures of one row of a head, from query and keys to what the head adds.
import { colourAt } from "../../../pictures/shared/drawing.js";
import { _ } from "../../../pictures/shared/messages.js";
import { clamp } from "../../../pictures/shared/picture.js";
import { exactNumber, GUTTER, largestSize, Picture, shortNumber, shortWeight, signedColour } from "./row_pictures.js";

/** @import { InkedScale } from "../../../pictures/shared/drawing.js" */
/** @import { KeyColumns, PaintedScale, Range } from "./row_pictures.js" */

/**
 * One way from scores to weights: the model's, or the changed one. `rest` are the keys without a column.
 * @typedef {{
 *   scaled: number[], restScaled: Range | null, cut: boolean[], restCut: number, shares: number[], restShares: number,
 *   sharesSum: number, weights: number[], restWeight: number, weightsSum: number,
 * }} Path
 * @typedef {{
 *   query: string, writes: boolean, columns: { label: string, key: number, gap: boolean }[], restCount: number, note: string,
 *   followed: number, isScaled: boolean, score: string, q: number[], k: number[][], products: number[][],
 *   dots: number[], restDots: Range | null, real: Path, other: Path | null, ahead: boolean[], values: number[][],
 *   weighted: number[][], restWeighted: number[] | null, output: number[], part: number[], head: number, lengths: number[],
 *   otherLength: number | null, allLength: number, changed: string,
 *   summary: { name: string, cells: { token?: string, text: string }[] }[],
 *   steps: { title: string, formula: string, text: string }[],
 *   signed: PaintedScale, sequential: InkedScale, realColour: string, otherColour: string, isRough?: boolean,
 * }} RowData what `head_story.story` tells, with the colours of the picture; `isRough`: `part` is known to two digits
 */

const BARS = 92;
const CELL_STANDING = 38;
const CELL_LYING = 24;
const PRODUCT_HEIGHT = 182;
const LINE = 18;

export class StepPictures {
  /** @param {RowData} data @param {KeyColumns} columns */
  constructor(data, columns) {
    this.data = data;
    this.columns = columns;
  }

  /** The picture of a step. @param {number} step from 0 */
  draw(step) {
    const { product, dots, scaled, mask, softmax, values, part } = this;
    return [product, dots, scaled, mask, softmax, values, part][step].call(this).finished();
  }

  /** @param {number} height @param {number} step */
  begin(height, step) {
    return new Picture(this.columns, height, this.data.steps[step].title);
  }

  get cellHeight() {
    return this.columns.isLying ? CELL_LYING : this.columns.hasNumbers ? CELL_STANDING : 18;
  }

  /** The path that is drawn in full. */
  get shown() {
    return this.data.other ?? this.data.real;
  }

  get shownColour() {
    return this.data.other ? this.data.otherColour : this.data.realColour;
  }

  product() {
    const { q, k, products, dots, followed, columns, query, signed, realColour } = this.data;
    const { stripEnd } = this.columns;
    const picture = this.begin(PRODUCT_HEIGHT, 0);
    const bound = Math.max(largestSize(q), largestSize(k));
    const row = (/** @type {string} */ name, /** @type {string} */ token, top = 0, numbers = q) => {
      picture.name(name, top + 18);
      picture.strip(top, 36, numbers, bound, signed);
      picture.total(token, top + 18, stripEnd);
    };
    row("q", query);
    row("k", columns[followed].label, 42, k[followed]);
    const width = (stripEnd - GUTTER) / q.length;
    const values = products[followed];
    const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
    const scale = 84 / (high - low || 1);
    const zero = 94 + high * scale;
    picture.name("q × k", zero);
    values.forEach((value, i) => {
      const height = Math.max(Math.abs(value) * scale, 0.75);
      const corner = { x: GUTTER + i * width, y: value < 0 ? zero : zero - height };
      const size = { width: width - (width > 4 ? 1 : 0), height };
      picture.add("rect", { ...corner, ...size, style: `fill:${realColour}` });
      picture.add("rect", { x: corner.x, y: 84, width, height: 98, class: "product", "data-dimension": i });
    });
    const note = (/** @type {number} */ i) => {
      const product = `${exactNumber(q[i])} × ${exactNumber(k[followed][i])} = ${exactNumber(values[i])}`;
      return _("component {number}: {value}", { number: i + 1, value: product });
    };
    const box = { x: GUTTER, y: 84, width: stripEnd - GUTTER, height: 98 };
    picture.areas.push({ ...box, count: values.length, isUpright: false, note });
    picture.line("zero", [GUTTER, stripEnd], [zero, zero]);
    picture.total(`Σ = ${shortNumber(dots[followed])}`, zero, stripEnd);
    return picture;
  }

  /** The vectors that are compared: a key below each column, and the query. */
  vectors() {
    const { k, q } = this.data;
    const cell = clamp(2, Math.round(120 / q.length), 6);
    const picture = new Picture(this.columns, q.length * cell + 24, _("Query and keys")).grounds(this.data);
    const bound = Math.max(largestSize(k), largestSize(q));
    k.forEach((key, column) =>
      this.upright(picture, key, this.columns.left(column) + 0.5, this.columns.step - 1, 22, cell, bound),
    );
    picture.name("k", 22 + (q.length * cell) / 2);
    this.upright(picture, q, this.columns.end + 26, 34, 22, cell, bound);
    picture.write("q", this.columns.end + 43, 8, "total", { anchor: "middle" });
    return picture.finished();
  }

  /**
   * A vector from top to bottom. `isOf(i)` is what a component is the product of.
   * @param {Picture} picture @param {number[]} numbers @param {number} x @param {number} width @param {number} top
   * @param {number} cell @param {number} bound @param {(component: number) => string} [isOf]
   */
  upright(picture, numbers, x, width, top, cell, bound, isOf = () => "") {
    const box = { x, y: top, width, height: numbers.length * cell };
    const say = (/** @type {number} */ value, /** @type {number} */ i) => isOf(i) + exactNumber(value);
    picture.vector(numbers, box, bound, this.data.signed, true, say);
  }

  /** What one key's value adds to the output: the value, and the same times its weight. @param {number} column */
  valueOf(column) {
    const { values, weighted, signed } = this.data;
    const picture = new Picture(this.columns, 70, _("The value, and the value times its weight"));
    const bound = largestSize(values[column]);
    const { stripEnd } = this.columns;
    for (const [name, numbers, top] of /** @type {[string, number[], number][]} */ ([
      ["v", values[column], 0],
      ["α · v", weighted[column], 36],
    ])) {
      picture.name(name, top + 15);
      picture.strip(top, 30, numbers, bound, signed);
      picture.total(shortNumber(Math.hypot(...numbers)), top + 15, stripEnd);
    }
    return picture.finished();
  }

  /** @returns {Range} */
  get dotBounds() {
    const all = [...this.data.dots, ...(this.data.restDots ?? [])];
    return [Math.min(...all), Math.max(...all)];
  }

  dots() {
    const { dots, restDots, realColour } = this.data;
    const picture = this.begin(BARS + 2 * this.columns.numberHeight, 1).grounds(this.data);
    const series = [{ values: dots, colour: realColour, numbered: true }];
    picture.range(restDots, picture.bars(0, picture.height, series, this.dotBounds, shortNumber));
    return picture;
  }

  scaled() {
    const { dots, real, isScaled, realColour } = this.data;
    const picture = this.begin(BARS + 2 * this.columns.numberHeight, 2).grounds(this.data);
    const before = isScaled ? { values: dots, colour: "currentColor" } : { values: real.scaled, colour: realColour };
    const series = [{ values: this.shown.scaled, colour: isScaled ? realColour : this.shownColour, numbered: true }];
    const all = [...series, { ...before, outlined: true }];
    picture.range(this.shown.restScaled, picture.bars(0, picture.height, all, this.dotBounds, shortNumber));
    return picture;
  }

  mask() {
    const { ahead, signed, restCount } = this.data;
    const { scaled, cut, restCut } = this.shown;
    const height = this.cellHeight;
    const picture = this.begin(height + 14, 3).grounds(this.data);
    const bound = largestSize(scaled);
    picture.name("s", height / 2);
    scaled.forEach((score, column) => {
      if (cut[column]) return picture.cell(column, height, "−∞", { className: "cell cut" });
      const className = ahead[column] ? "cell ahead" : "cell";
      picture.cell(column, height, shortNumber(score), { ...signedColour(signed, score, bound), className });
      if (ahead[column]) this.markAhead(picture, column, height + 8);
    });
    if (restCount) picture.number(this.columns.restAt, height / 2, restCut === restCount ? "−∞" : "…");
    return picture;
  }

  /** @param {Picture} picture @param {number} column @param {number} y */
  markAhead(picture, column, y) {
    const x = this.columns.middle(column);
    picture.add("path", { class: "mark", d: `M${x} ${y - 5}l5 9h-10z`, style: `fill:${this.data.otherColour}` });
  }

  softmax() {
    const { real, other, sequential, realColour, otherColour, ahead, restCount } = this.data;
    const height = this.cellHeight;
    const bars = 84 + this.columns.numberHeight;
    const picture = this.begin(height + 10 + bars + 12, 4).grounds(this.data);
    picture.name("exp(s − m)", height / 2);
    const { shares, cut, restShares, sharesSum, weightsSum } = this.shown;
    shares.forEach((share, column) => {
      const look = cut[column] ? { className: "cell cut" } : colourAt(sequential, Math.sqrt(share));
      picture.cell(column, height, cut[column] ? "0" : shortWeight(share), look);
    });
    picture.total(`Σ = ${shortNumber(sharesSum)}`, height / 2);
    const series = [{ values: real.weights, colour: realColour, numbered: !other }];
    if (other) series.push({ values: other.weights, colour: otherColour, numbered: true });
    const highest = Math.max(...series.flatMap(({ values }) => values));
    const y = picture.bars(height + 10, bars, series, [0, highest], shortWeight);
    if (restCount) {
      // A bar of many keys together would dwarf those of single ones.
      picture.number(this.columns.restAt, height / 2, shortNumber(restShares));
      picture.number(this.columns.restAt, y(0) - 3, shortWeight(this.shown.restWeight), { edge: "bottom" });
    }
    picture.name("α", y(0) - 30);
    picture.total(`Σ = ${shortNumber(weightsSum)}`, y(0) - 30);
    if (other) ahead.forEach((isAhead, column) => isAhead && !cut[column] && this.markAhead(picture, column, y(0) + 7));
    return picture;
  }

  values() {
    const { weighted, values, restWeighted, output } = this.data;
    const cell = clamp(2, Math.round(170 / output.length), 6);
    const top = this.columns.numberHeight + 4;
    const picture = this.begin(top + output.length * cell + 2, 5).grounds(this.data);
    const bound = Math.max(largestSize(weighted), largestSize(output));
    const strips = restWeighted ? [...weighted, restWeighted] : weighted;
    const { weights, restWeight } = this.shown;
    strips.forEach((numbers, column) => {
      const weight = column === this.columns.restAt ? restWeight : weights[column];
      picture.number(column, top - 3, shortWeight(weight), { edge: "bottom" });
      const from = values[column];
      const isOf = (/** @type {number} */ i) => (from ? `${exactNumber(weight)} × ${exactNumber(from[i])} = ` : "");
      this.upright(picture, numbers, this.columns.left(column) + 0.5, this.columns.step - 1, top, cell, bound, isOf);
    });
    const middle = top + (output.length * cell) / 2;
    picture.name("α · v", middle);
    picture.total("=", middle);
    this.upright(picture, output, this.columns.end + 26, 34, top, cell, bound);
    picture.write("z", this.columns.end + 43, top - 13, "total", { anchor: "middle" });
    return picture;
  }

  part() {
    const { part, lengths, otherLength, allLength, head, signed, realColour, otherColour } = this.data;
    const picture = this.begin(46 + (lengths.length + 1) * LINE, 6);
    picture.strip(0, 26, part, largestSize(part), signed, this.data.isRough);
    const left = GUTTER + 14;
    const longest = Math.max(...lengths, otherLength ?? 0, allLength) || 1;
    const widthOf = (/** @type {number} */ length) =>
      Math.max(1, (length / longest) * (this.columns.stripEnd - left - 50));
    /** @type {(row: number, name: string, length: number, style: string, className?: string, other?: number | null) => void} */
    const bar = (row, name, length, style, className = "", other = null) => {
      const y = 46 + row * LINE;
      picture.write(name, left - 8, y + 6, `name ${className}`, { anchor: "end" });
      picture.add("rect", { x: left, y: y + 1, width: widthOf(length), height: 11, style });
      let text = shortNumber(length);
      if (other !== null) {
        picture.add("rect", { x: left, y: y + 7, width: widthOf(other), height: 5, style: `fill:${otherColour}` });
        text += ` → ${shortNumber(other)}`;
      }
      picture.write(text, left + widthOf(Math.max(length, other ?? 0)) + 6, y + 6, `number ${className}`);
    };
    lengths.forEach((length, i) => {
      const name = _("Head {number}", { number: i + 1 });
      if (i === head) bar(i, name, length, `fill:${realColour};opacity:1`, "strong", otherLength);
      else bar(i, name, length, `fill:${realColour};opacity:0.38`);
    });
    bar(lengths.length, _("All heads"), allLength, "fill:currentColor;opacity:0.3");
    return picture;
  }
}
