// @ts-check
// The seven pictures of the origin story, one a step.
import { colourAt } from "../../../components/shared/drawing.js";
import {
  drawBars,
  drawRange,
  drawStrip,
  exactNumber,
  GUTTER,
  largestSize,
  Picture,
  shortNumber,
  shortWeight,
  signedColour,
} from "./origin_pictures.js";

/** @import { InkedScale } from "../../../components/shared/drawing.js" */
/** @import { Columns, Range, Series } from "./origin_pictures.js" */

/**
 * One way from scores to weights: the model's, or the changed one. `rest` are the keys without a column.
 * @typedef {{
 *   scaled: number[], restScaled: Range | null, cut: boolean[], restCut: number, shares: number[], restShares: number,
 *   sharesSum: number, weights: number[], restWeight: number, weightsSum: number,
 * }} Path
 */
/**
 * What `pack_story` packs.
 * @typedef {{
 *   query: string, columns: { label: string, key: number, gap: boolean }[], restCount: number, note: string,
 *   followed: number, isScaled: boolean, q: number[], k: number[][], products: number[][], dots: number[],
 *   restDots: Range | null, real: Path, other: Path | null, ahead: boolean[], values: number[][], weighted: number[][],
 *   restWeighted: number[] | null, output: number[], part: number[], head: number, lengths: number[],
 *   otherLength: number | null, allLength: number, changed: string,
 *   summary: { name: string, cells: { token?: string, text: string }[] }[],
 *   steps: { title: string, formula: string, text: string }[],
 *   signed: InkedScale, sequential: InkedScale, realColour: string, otherColour: string, name: string, digest: string,
 * }} OriginHeader
 */

const BARS = 92;
const CELL_STANDING = 38;
const CELL_LYING = 24;
const PRODUCT_HEIGHT = 182;
const LINE = 18;

export class StepPictures {
  /** @param {OriginHeader} data @param {Columns} columns */
  constructor(data, columns) {
    this.data = data;
    this.columns = columns;
  }

  /** The picture of the step at `place`, from 0. @param {number} place */
  draw(place) {
    const all = ["product", "dots", "scaled", "mask", "softmax", "values", "part"];
    return this[/** @type {"product"} */ (all[place])]().root;
  }

  /** @param {number} height @param {number} place */
  begin(height, place) {
    return new Picture(this.columns, height, this.data.steps[place].title);
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
    /** @type {[string, number[], string][]} */
    const rows = [
      ["q", q, query],
      ["k", k[followed], columns[followed].label],
    ];
    rows.forEach(([name, values, token], row) => {
      const top = row * 42;
      picture.name(name, top + 18);
      drawStrip(picture, top, 36, values, bound, signed);
      picture.total(token, top + 18, { after: stripEnd });
    });
    const width = (stripEnd - GUTTER) / q.length;
    const values = products[followed];
    const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
    const scale = 84 / (high - low || 1);
    const zero = 94 + high * scale;
    picture.name("q × k", zero);
    values.forEach((value, i) => {
      const height = Math.max(Math.abs(value) * scale, 0.75);
      const place = { x: GUTTER + i * width, width: width - (width > 4 ? 1 : 0), height };
      const bar = picture.add("rect", { ...place, y: value < 0 ? zero : zero - height, style: `fill:${realColour}` });
      bar.dataset.note = `dimension ${i}: ${exactNumber(q[i])} × ${exactNumber(k[followed][i])} = ${exactNumber(value)}`;
    });
    picture.add("line", { class: "zero", x1: GUTTER, x2: stripEnd, y1: zero, y2: zero });
    picture.total(`Σ = ${shortNumber(dots[followed])}`, zero, { after: stripEnd });
    return picture;
  }

  /** @returns {Range} */
  get dotBounds() {
    const all = [...this.data.dots, ...(this.data.restDots ?? [])];
    return [Math.min(...all), Math.max(...all)];
  }

  dots() {
    const { dots, restDots, columns, realColour } = this.data;
    const picture = this.begin(BARS + 2 * this.columns.numberHeight, 1).grounds(columns);
    const series = [{ values: dots, colour: realColour, numbered: true }];
    drawRange(picture, restDots, drawBars(picture, 0, picture.height, series, this.dotBounds, shortNumber));
    return picture;
  }

  scaled() {
    const { dots, real, isScaled, columns, realColour } = this.data;
    const picture = this.begin(BARS + 2 * this.columns.numberHeight, 2).grounds(columns);
    const ghost = isScaled
      ? { values: dots, colour: "currentColor", outlined: true }
      : { values: real.scaled, colour: realColour, outlined: true };
    const series = [{ values: this.shown.scaled, colour: isScaled ? realColour : this.shownColour, numbered: true }];
    const y = drawBars(picture, 0, picture.height, [...series, ghost], this.dotBounds, shortNumber);
    drawRange(picture, this.shown.restScaled, y);
    return picture;
  }

  mask() {
    const { ahead, columns, signed, restCount } = this.data;
    const { scaled, cut, restCut } = this.shown;
    const height = this.cellHeight;
    const picture = this.begin(height + 14, 3).grounds(columns);
    const bound = largestSize(scaled);
    picture.name("s", height / 2);
    scaled.forEach((score, column) => {
      if (cut[column]) {
        picture.cell(column, 0, height, { className: "cell cut" });
        picture.number(column, height / 2, "−∞");
        return;
      }
      const { fill, ink } = signedColour(signed, score, bound);
      picture.cell(column, 0, height, { fill, className: ahead[column] ? "cell ahead" : "cell" });
      picture.number(column, height / 2, shortNumber(score), { ink });
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
    const { real, other, columns, sequential, realColour, otherColour, ahead, restCount } = this.data;
    const height = this.cellHeight;
    const bars = 84 + this.columns.numberHeight;
    const picture = this.begin(height + 10 + bars + 12, 4).grounds(columns);
    picture.name("exp(s − m)", height / 2);
    const { shares, cut, restShares, sharesSum, weightsSum } = this.shown;
    shares.forEach((share, column) => {
      const { fill, ink } = colourAt(sequential, Math.sqrt(share));
      picture.cell(column, 0, height, cut[column] ? { className: "cell cut" } : { fill });
      picture.number(column, height / 2, cut[column] ? "0" : shortWeight(share), cut[column] ? {} : { ink });
    });
    picture.total(`Σ = ${shortNumber(sharesSum)}`, height / 2);
    const top = height + 10;
    /** @type {Series[]} */
    const series = [{ values: real.weights, colour: realColour, numbered: !other }];
    if (other) series.push({ values: other.weights, colour: otherColour, numbered: true });
    const y = drawBars(
      picture,
      top,
      bars,
      series,
      [0, Math.max(...real.weights, ...(other?.weights ?? []))],
      shortWeight,
    );
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
    const { weighted, values, restWeighted, output, columns, signed } = this.data;
    const cell = Math.min(6, Math.max(2, Math.round(170 / output.length)));
    const top = this.columns.numberHeight + 4;
    const picture = this.begin(top + output.length * cell + 2, 5).grounds(columns);
    const bound = Math.max(largestSize(weighted), largestSize(output));
    const strips = restWeighted ? [...weighted, restWeighted] : weighted;
    /** @type {(numbers: number[], x: number, width: number, describe: (value: number, i: number) => string) => void} */
    const strip = (numbers, x, width, describe) =>
      numbers.forEach((value, i) => {
        const { fill } = signedColour(signed, value, bound);
        const part = picture.add("rect", { x, y: top + i * cell, width, height: cell, fill, class: "cell" });
        part.dataset.note = `dimension ${i}: ${describe(value, i)}`;
      });
    const { weights, restWeight } = this.shown;
    strips.forEach((numbers, column) => {
      const isRest = column === this.columns.restAt;
      const weight = isRest ? restWeight : weights[column];
      picture.number(column, top - 3, shortWeight(weight), { edge: "bottom" });
      strip(numbers, this.columns.left(column) + 0.5, this.columns.step - 1, (value, i) =>
        isRest
          ? exactNumber(value)
          : `${exactNumber(weight)} × ${exactNumber(values[column][i])} = ${exactNumber(value)}`,
      );
    });
    const middle = top + (output.length * cell) / 2;
    picture.name("α · v", middle);
    picture.total("=", middle);
    strip(output, this.columns.end + 26, 34, exactNumber);
    picture.add("text", { x: this.columns.end + 43, y: top - 9, class: "total", "text-anchor": "middle" }, "z");
    return picture;
  }

  part() {
    const { part, lengths, otherLength, allLength, head, signed, realColour, otherColour } = this.data;
    const picture = this.begin(46 + (lengths.length + 1) * LINE, 6);
    drawStrip(picture, 0, 26, part, largestSize(part), signed);
    const longest = Math.max(...lengths, otherLength ?? 0, allLength) || 1;
    const left = GUTTER + 14;
    const room = this.columns.stripEnd - left - 50;
    /** @type {(row: number, name: string, value: number, style: string, className?: string) => [number, number]} */
    const bar = (row, name, value, style, className = "") => {
      const y = 46 + row * LINE;
      const width = Math.max(1, (value / longest) * room);
      const label = {
        x: left - 8,
        y: y + 6,
        class: `name ${className}`,
        "text-anchor": "end",
        "dominant-baseline": "central",
      };
      picture.add("text", label, name);
      picture.add("rect", { x: left, y: y + 1, width, height: 11, style });
      return [y, width];
    };
    /** @type {(y: number, width: number, text: string, className: string) => void} */
    const write = (y, width, text, className) =>
      picture.add(
        "text",
        { x: left + width + 6, y: y + 6, class: `number ${className}`, "dominant-baseline": "central" },
        text,
      );
    lengths.forEach((length, i) => {
      const isThis = i === head;
      const [y, width] = bar(
        i,
        `Head ${i + 1}`,
        length,
        `fill:${realColour};opacity:${isThis ? 1 : 0.38}`,
        isThis ? "strong" : "",
      );
      let text = shortNumber(length);
      if (isThis && otherLength !== null) {
        const size = { x: left, y: y + 7, width: Math.max(1, (otherLength / longest) * room), height: 5 };
        picture.add("rect", { ...size, style: `fill:${otherColour}` });
        text += ` → ${shortNumber(otherLength)}`;
      }
      const end = isThis && otherLength !== null ? Math.max(width, (otherLength / longest) * room) : width;
      write(y, end, text, isThis ? "strong" : "");
    });
    const [y, width] = bar(lengths.length, "All heads", allLength, "fill:currentColor;opacity:0.3");
    write(y, width, shortNumber(allLength), "");
    return picture;
  }
}
