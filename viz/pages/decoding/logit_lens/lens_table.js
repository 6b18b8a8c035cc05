// What each layer would have said at each step: a table of tokens on the colours of their probabilities, in as many
// parts, one below the other, as the steps need to be seen without scrolling sideways. Pointing at a cell, or moving there with the arrow keys, tells its five best; a click, or Enter, chooses its step.
// Data: the payload of tab.py. Sends back the trigger `step`: { step }.
import { colourAt } from "../../../pictures/shared/drawing.js";
import { indicesOf, onTold, placeOf, pointAt, tell } from "../../../pictures/shared/focus.js";
import { cornerOf, hearItems, reachByTab } from "../../../pictures/shared/items.js";
import { _, sentenceParts } from "../../../pictures/shared/messages.js";
import { mount, onResize, View } from "../../../pictures/shared/mount.js";
import { element, Tooltip, tokenElement } from "../../../pictures/shared/picture.js";
import { percent, probabilityLegend, timesLess } from "../../../pictures/shared/probability.js";
import { pictureButton } from "../../../pictures/shared/save_picture.js";

/** @import { InkedScale } from "../../../pictures/shared/drawing.js" */
/** @import { Axis, Focus } from "../../../pictures/shared/focus.js" */
/** @import { Point } from "../../../pictures/shared/items.js" */

/**
 * `tokens` are the likeliest of a level at a step; `chosen` and `rank` are those of the token that was written.
 * @typedef {{ tokens: string[], probabilities: number[], asWritten: boolean, chosen: number, rank: number }} LensCell
 * @typedef {{
 *   levels: string[], read: string[], written: string[], cells: LensCell[][], step: number, scale: InkedScale,
 *   name: string, digest: string, axis: Axis,
 * }} LensData
 */

const MARK = "✓ ";
/** About how many pixels the names of the layers take, a column without its token, and a letter of it. */
const [NAMES_WIDTH, COLUMN_WIDTH, LETTER_WIDTH] = [108, 14, 7.4];
const NARROWEST_COLUMN = 62;
/** @type {Record<string, [number, number]>} */
const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/**
 * Where columns of these widths are broken into parts that each fit into `room` and are about as wide as one another.
 * @param {number[]} widths @param {number} room @returns {[number, number][]} first and end of each part: [first, end)
 */
export function partsOf(widths, room) {
  const fill = (/** @type {number} */ limit) => {
    /** @type {[number, number][]} */
    const parts = [[0, 0]];
    let used = 0;
    widths.forEach((width, at) => {
      if (used + width > limit && used > 0) {
        parts.push([at, at]);
        used = 0;
      }
      parts[parts.length - 1][1] = at + 1;
      used += width;
    });
    return parts;
  };
  const total = widths.reduce((sum, width) => sum + width, 0);
  return fill(Math.min(room, total / fill(room).length + Math.max(...widths)));
}

class LensTable extends View {
  /** @type {LensData} */ data;
  /** @type {HTMLTableCellElement[][]} */ cells = [];
  bar = element("div", "lens-bar");
  scroller = element("div", "scroller");
  /** The parts that the table was laid out in, as text. */ parts = "";
  tooltip = new Tooltip(this.root);

  start() {
    this.root.replaceChildren(this.bar, this.scroller, this.tooltip.box);
    hearItems(this.scroller, "td[data-level]", this);
    onTold("pointed", (focus) => this.markPointed(focus), this.ended.signal);
    onResize(this, () => this.layOut());
  }

  /** @param {{ header: LensData }} payload */
  receive({ header }) {
    const isSame = this.data?.digest === header.digest;
    this.data = header;
    if (!isSame) {
      this.tooltip.hide();
      this.build();
      this.cells[0][header.step].tabIndex = 0;
    }
    this.markStep(header.step);
    this.root.dataset.ready = "1";
  }

  // ---- the table ----

  build() {
    const { scale, cells } = this.data;
    const key = [element("b", {}, MARK.trim()), element("span", {}, _("is what was written"))];
    const buttons = pictureButton(this.root, () => this.data.name);
    this.bar.replaceChildren(probabilityLegend(scale.stops), element("span", "lens-key", ...key), buttons);
    this.cells = cells.map((row, level) => row.map((cell, step) => this.cell(cell, level, step)));
    this.parts = "";
    this.layOut();
  }

  /** Break the steps into parts for the width there is; in a closed tab there is none, and one part. */
  layOut() {
    if (!this.data) return;
    const { read, written, cells, step } = this.data;
    const widths = read.map((token, at) => {
      const tokens = [token, written[at], ...cells.map((row) => (row[at].asWritten ? MARK : "") + row[at].tokens[0])];
      return Math.max(NARROWEST_COLUMN, COLUMN_WIDTH + LETTER_WIDTH * Math.max(...tokens.map(({ length }) => length)));
    });
    const parts = partsOf(widths, this.scroller.clientWidth - NAMES_WIDTH || Infinity);
    if (this.parts === String(parts)) return;
    this.parts = String(parts);
    const tables = parts.map(([first, end]) => {
      const range = { first: first + 1, last: end };
      const ariaLabel = _("Layers and steps {first} to {last}: arrow keys move, Enter chooses a step", range);
      const body = element("tbody", {}, ...this.rowsOf(first, end));
      const look = { className: "lens-grid", role: "grid", ariaLabel, style: `--steps: ${end - first}` };
      return element("table", look, body);
    });
    this.scroller.replaceChildren(...tables);
    this.markStep(step);
  }

  /** The rows of the steps from `first` to before `end`. @param {number} first @param {number} end */
  rowsOf(first, end) {
    const { levels, read, written, cells } = this.data;
    const tokens = (/** @type {string[]} */ of) => of.slice(first, end).map((token) => tokenElement(token));
    const numbers = read.slice(first, end).map((_token, at) => String(first + at + 1));
    const rows = levels.map((level, i) => {
      const right = cells[i].filter(({ asWritten }) => asWritten).length;
      const share = _("{count} of {all}", { count: right, all: read.length });
      const heading = this.levelHeading(level, element("small", {}, MARK + share));
      return element("tr", {}, heading, ...this.cells[i].slice(first, end));
    });
    return [
      this.headings("number", _("Step"), numbers, first),
      this.headings("read", _("Token read"), tokens(read), first),
      ...rows,
      this.headings("written", _("Written"), tokens(written), first),
    ];
  }

  /** @param {string} className @param {string} title @param {(string | Node)[]} contents @param {number} first */
  headings(className, title, contents, first) {
    const headings = contents.map((content, at) =>
      element("th", { className, dataset: { step: first + at } }, content),
    );
    return element("tr", className, this.levelHeading(title), ...headings);
  }

  /** @param {(string | Node)[]} contents */
  levelHeading(...contents) {
    return element("th", { className: "level", scope: "row" }, ...contents);
  }

  /** @param {LensCell} cell @param {number} level @param {number} step */
  cell({ tokens, probabilities, asWritten }, level, step) {
    const { fill, ink } = colourAt(this.data.scale, probabilities[0]);
    const className = asWritten ? "as-written" : "";
    const look = { className, tabIndex: -1, dataset: { level, step }, style: `background:${fill};color:${ink}` };
    const share = element("small", {}, percent(probabilities[0]));
    return element("td", look, asWritten ? MARK : "", tokenElement(tokens[0]), share);
  }

  /** @param {number} step */
  markStep(step) {
    /** @type {NodeListOf<HTMLElement>} */
    const headings = this.scroller.querySelectorAll("th[data-step]");
    for (const heading of headings) heading.classList.toggle("chosen", Number(heading.dataset.step) === step);
  }

  /** Mark the columns of the steps that write what is pointed at. @param {Focus | null} focus */
  markPointed(focus) {
    if (!this.data) return;
    const { axis, read } = this.data;
    const steps = [focus?.query, focus?.key].flatMap((place) => indicesOf(axis, read.length, place ?? null));
    /** @type {NodeListOf<HTMLElement>} */
    const parts = this.scroller.querySelectorAll("[data-step]");
    for (const part of parts) part.classList.toggle("pointed", steps.includes(Number(part.dataset.step)));
  }

  // ---- pointer and keyboard ----

  /** @param {HTMLElement} cell */
  positionOf(cell) {
    return [Number(cell.dataset.level), Number(cell.dataset.step)];
  }

  /** @param {HTMLElement} cell @param {Point} point */
  point(cell, point) {
    const [level, step] = this.positionOf(cell);
    const { tokens, probabilities, rank, chosen, asWritten } = this.data.cells[level][step];
    const rows = tokens.map((token, i) => {
      const parts = [tokenElement(token), percent(probabilities[i])].map((part) => element("td", {}, part));
      return element("tr", i === 0 && asWritten ? "as-written" : "", ...parts);
    });
    const ratio = timesLess(Math.log(chosen), Math.log(probabilities[0]));
    const token = tokenElement(this.data.written[step]);
    const values = { token, rank: rank.toLocaleString("en"), share: percent(chosen), ratio };
    const sentence = ratio
      ? _("Written: {token}, rank {rank} here, probability {share} (relative to the best: {ratio})")
      : _("Written: {token}, rank {rank} here, probability {share}");
    const note = element("div", "lens-note muted", ...sentenceParts(sentence, values));
    const title = _("{level} · step {step}", { level: this.data.levels[level], step: step + 1 });
    this.tooltip.showContent(point, title, element("table", "lens-top", ...rows), note);
    pointAt({ query: placeOf(this.data.axis, step), key: null });
  }

  leave() {
    this.tooltip.hide();
    pointAt(null);
  }

  /** @param {HTMLElement} cell */
  visit(cell) {
    reachByTab(this.cells.flat(), cell);
    this.point(cell, cornerOf(cell));
  }

  /** @param {HTMLElement} cell @param {string} key */
  press(cell, key) {
    const [level, step] = this.positionOf(cell);
    const [down, right] = MOVES[key] ?? [];
    /** @type {Record<string, HTMLTableCellElement | undefined>} */
    const ends = { Home: this.cells[level][0], End: this.cells[level].at(-1) };
    const target = ends[key] ?? this.cells[level + down]?.[step + right];
    target?.focus();
    return target !== undefined || key in MOVES;
  }

  /** @param {HTMLElement} cell */
  choose(cell) {
    const [, step] = this.positionOf(cell);
    this.markStep(step);
    tell("stepped", placeOf(this.data.axis, step));
    this.python.trigger("step", { step });
  }
}

export default mount(".lens-table", LensTable);
