// The pictures of one row of a head, from query and keys to what the head adds.
import { colourAt } from "../../../pictures/shared/drawing.js";
import { _ } from "../../../pictures/shared/messages.js";
import { clamp } from "../../../pictures/shared/picture.js";
import { shortened } from "./lit_tokens.js";
import { LEAST_WEIGHT, river } from "./machine_shapes.js";
import { exactNumber, largestSize, Picture, shortNumber, shortWeight, signedColour } from "./row_pictures.js";

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

const [BARS, VECTOR] = [52, 96];
const CELL_STANDING = 38;
const CELL_LYING = 22;
/** Of the values: how high the river is that they enter, and their sum, and how wide that is at most. */
const [RIVER, SUM, WIDEST_SUM] = [44, 16, 260];
/** Of what the head adds: its strip, and the bars of all heads above. */
const [FUNNEL, STRIP, PARTS] = [20, 24, 46];

export class StepPictures {
  /** @param {RowData} data @param {KeyColumns} columns @param {number} into where the row's own column is @param {string} kind of the attention */
  constructor(data, columns, into, kind) {
    this.data = data;
    this.columns = columns;
    this.into = into;
    this.kind = kind;
  }

  /** The picture of a step. @param {number} step from 1; 0 is of one key alone */
  draw(step) {
    const { dots, scaled, mask, softmax, values, part } = this;
    return [dots, scaled, mask, softmax, values, part][step - 1].call(this).finished();
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

  /** One score: products of two vectors, from the column of its key and back into it. @param {number} component that is looked at; -1 for none */
  product(component) {
    const { q, k, products, dots, followed, columns, query, realColour } = this.data;
    const { start, end } = this.columns;
    const [bars, high, strips] = [FUNNEL + 2, 84, FUNNEL + 98];
    const foot = strips + 82;
    const picture = this.begin(foot + FUNNEL, 0);
    const bound = Math.max(largestSize(q), largestSize(k));
    const width = (end - start) / q.length;
    const values = products[followed];
    const [low, most] = [Math.min(0, ...values), Math.max(0, ...values)];
    const scale = high / (most - low || 1);
    const zero = bars + most * scale;
    this.funnel(picture, this.columns.middle(followed), foot + FUNNEL, foot);
    if (component < 0) this.funnel(picture, this.columns.middle(followed), 0, FUNNEL);
    else this.funnel(picture, start + (component + 0.5) * width, bars, 0, width);
    picture.name("q × k", zero);
    values.forEach((value, i) => {
      const height = Math.max(Math.abs(value) * scale, 0.75);
      const corner = { x: start + i * width, y: value < 0 ? zero : zero - height };
      const size = { width: width - (width > 4 ? 1 : 0), height };
      const look = component < 0 || i === component ? "" : ";opacity:0.4";
      picture.add("rect", { ...corner, ...size, style: `fill:${realColour}${look}` });
      picture.add("rect", { x: corner.x, y: bars, width, height: high, class: "product", "data-dimension": i });
    });
    const note = (/** @type {number} */ i) => {
      const product = `${exactNumber(q[i])} × ${exactNumber(k[followed][i])} = ${exactNumber(values[i])}`;
      return _("component {number}: {value}", { number: i + 1, value: product });
    };
    const area = { x: start, y: bars, width: end - start, height: high };
    picture.areas.push({ ...area, count: values.length, isUpright: false, note });
    picture.line("zero", [start, end], [zero, zero]);
    picture.total(`Σ = ${shortNumber(dots[followed])}`, zero);
    const room = start < 100 ? 7 : 14;
    this.named(picture, "q", q, strips, bound, shortened(query, room));
    this.named(picture, "k", k[followed], strips + 42, bound, shortened(columns[followed].label, room));
    return picture;
  }

  /** From one column, at `narrow`, to all, at `wide`. @param {Picture} picture @param {number} x @param {number} narrow @param {number} wide @param {number} [width] */
  funnel(picture, x, narrow, wide, width = this.columns.step) {
    const { start, end } = this.columns;
    const d = `M${x - width / 2} ${narrow}L${start} ${wide}H${end}L${x + width / 2} ${narrow}Z`;
    picture.add("path", { class: `funnel ${this.kind}`, d });
  }

  /** The vectors that are compared: a key above each column, and the query beside them. */
  vectors() {
    const { k, q } = this.data;
    const cell = cellOf(q);
    const picture = new Picture(this.columns, q.length * cell + 4, _("Query and keys")).grounds(this.data);
    const bound = Math.max(largestSize(k), largestSize(q));
    k.forEach((key, column) => this.upright(picture, key, ...this.across(column), 2, cell, bound));
    const { start } = this.columns;
    this.upright(picture, q, start - 26, 18, 2, cell, bound);
    picture.write("q", start - 32, 2 + (q.length * cell) / 2, "name", { anchor: "end" });
    return picture.finished();
  }

  /** Where a vector stands in its column, and how wide it is. @param {number} column @returns {[number, number]} */
  across(column) {
    const width = Math.min(this.columns.step - 1, 34);
    return [this.columns.middle(column) - width / 2, width];
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
    const { values, weighted } = this.data;
    const [top, foot] = [FUNNEL, FUNNEL + 78];
    const picture = new Picture(this.columns, foot + FUNNEL, _("The value, and the value times its weight"));
    const bound = largestSize(values[column]);
    this.funnel(picture, this.columns.middle(column), foot + FUNNEL, foot);
    this.funnel(picture, this.into, 0, top);
    const norm = (/** @type {number[]} */ numbers) => `‖·‖ ${shortNumber(Math.hypot(...numbers))}`;
    this.named(picture, "α · v", weighted[column], top, bound, norm(weighted[column]));
    this.named(picture, "v", values[column], top + 42, bound, norm(values[column]));
    return picture.finished();
  }

  /** A vector that lies, between its name and what is said of it. @param {Picture} picture @param {string} name @param {number[]} numbers @param {number} top @param {number} bound @param {string} said */
  named(picture, name, numbers, top, bound, said) {
    picture.name(name, top + 12);
    picture.strip(top, 36, numbers, bound, this.data.signed);
    picture.total(said, top + 12);
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
    const bars = 46 + this.columns.numberHeight;
    const below = bars + 14;
    const picture = this.begin(below + this.cellHeight + 8, 4).grounds(this.data);
    const middle = below + this.cellHeight / 2;
    picture.name("exp(s−m)", middle);
    const { shares, cut, restShares, sharesSum, weightsSum } = this.shown;
    shares.forEach((share, column) => {
      const look = cut[column] ? { className: "cell cut" } : colourAt(sequential, Math.sqrt(share));
      picture.cell(column, this.cellHeight, cut[column] ? "0" : shortWeight(share), look, below);
    });
    picture.total(`Σ = ${shortNumber(sharesSum)}`, middle);
    const series = [{ values: real.weights, colour: realColour, numbered: !other }];
    if (other) series.push({ values: other.weights, colour: otherColour, numbered: true });
    const highest = Math.max(...series.flatMap(({ values }) => values));
    const y = picture.bars(0, bars, series, [0, highest], shortWeight);
    if (restCount) {
      // A bar of many keys together would dwarf those of single ones.
      picture.number(this.columns.restAt, middle, shortNumber(restShares));
      picture.number(this.columns.restAt, y(0) - 3, shortWeight(this.shown.restWeight), { edge: "bottom" });
    }
    picture.name("α", y(0) - 30);
    picture.total(`Σ = ${shortNumber(weightsSum)}`, y(0) - 30);
    if (other) ahead.forEach((isAhead, column) => isAhead && !cut[column] && this.markAhead(picture, column, y(0) + 7));
    return picture;
  }

  /** Where the sum of the values lies: over the row's own column. */
  get sum() {
    const { start, end } = this.columns;
    const width = Math.min(WIDEST_SUM, (end - start) * 0.4);
    return { x: clamp(start, this.into - width / 2, end - width), width };
  }

  values() {
    const { weighted, values, restWeighted, output, signed } = this.data;
    const cell = cellOf(output);
    const top = SUM + RIVER + this.columns.numberHeight + 4;
    const picture = this.begin(top + output.length * cell + 2, 5).grounds(this.data);
    const bound = Math.max(largestSize(weighted), largestSize(output), largestSize(restWeighted ?? []));
    const { weights, restWeight } = this.shown;
    const [strips, shares] = restWeighted
      ? [
          [...weighted, restWeighted],
          [...weights, restWeight],
        ]
      : [weighted, weights];
    strips.forEach((numbers, column) => {
      picture.number(column, top - 3, shortWeight(shares[column]), { edge: "bottom" });
      const from = values[column];
      const isOf = (/** @type {number} */ i) =>
        from ? `${exactNumber(shares[column])} × ${exactNumber(from[i])} = ` : "";
      this.upright(picture, numbers, ...this.across(column), top, cell, bound, isOf);
    });
    const from = (/** @type {number} */ column) => this.columns.middle(column);
    const thick = Math.min(RIVER * 0.4, this.columns.step * 0.6);
    const place = { x: this.into, top: SUM, foot: SUM + RIVER, thick, least: LEAST_WEIGHT, from };
    for (const { path, width } of river(shares, place)) {
      const look = { d: path, class: `model-line river most ${this.kind}`, style: `stroke-width:${width}` };
      picture.add("path", look);
    }
    picture.name("α · v", top + (output.length * cell) / 2);
    picture.name("z = Σ", SUM / 2);
    const say = exactNumber;
    picture.vector(output, { ...this.sum, y: 0, height: SUM }, bound, signed, false, say);
    return picture;
  }

  part() {
    const { part, lengths, otherLength, allLength, head, signed, realColour, otherColour } = this.data;
    const { start, end } = this.columns;
    const below = PARTS + 34;
    const picture = this.begin(below + STRIP + FUNNEL, 6);
    const longest = Math.max(...lengths, otherLength ?? 0, allLength) || 1;
    const step = (end - start) / (lengths.length + 1);
    const wide = clamp(2, step * 0.6, 30);
    const foot = PARTS + 16;
    const bar = (/** @type {number} */ at, /** @type {number} */ length, /** @type {string} */ style, width = wide) => {
      const [height, x] = [Math.max(1, (length / longest) * PARTS), start + (at + 0.5) * step - wide / 2];
      picture.add("rect", { x, y: foot - height, width, height, style });
      return foot - height;
    };
    const isLying = step >= 30;
    const all = [...lengths, allLength];
    all.forEach((length, at) => {
      const look = at === head ? "strong" : "";
      const top = bar(at, length, at < lengths.length ? `fill:${realColour};opacity:${at === head ? 1 : 0.5}` : ALL);
      const isOther = at === head && otherLength !== null;
      if (isOther) bar(at, otherLength, `fill:${otherColour}`, wide / 2);
      if (!isLying && at !== head) return;
      const middle = start + (at + 0.5) * step;
      const text = isOther ? `${shortNumber(length)} → ${shortNumber(otherLength)}` : shortNumber(length);
      picture.write(text, middle, top - 8, `number ${look}`, { anchor: "middle" });
      const name = at < lengths.length ? `H${at + 1}` : "Σ";
      picture.write(name, middle, foot + 9, `name ${look}`, { anchor: "middle" });
    });
    picture.name("‖ · ‖", foot - PARTS / 2);
    picture.name("z · W_O", below + STRIP / 2);
    picture.strip(below, STRIP, part, largestSize(part), signed, this.data.isRough);
    const { x, width } = this.sum;
    this.funnel(picture, x + width / 2, below + STRIP + FUNNEL, below + STRIP, width);
    return picture;
  }
}

const ALL = "fill:currentColor;opacity:0.3";

/** How high a component is in a vector that stands. @param {number[]} vector */
const cellOf = (vector) => clamp(0.5, Math.round((2 * VECTOR) / (vector.length || 1)) / 2, 6);
