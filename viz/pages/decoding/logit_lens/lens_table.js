// @ts-check
// What each layer would have said at each step: a table of tokens on the colours of their probabilities. Pointing at a
// cell, or moving there with the arrow keys, tells its five best; a click, or Enter, chooses its step.
// Data: the payload of lens_table.py. Sends back the trigger `step`: { step }.
import { colourAt } from "../../../components/shared/drawing.js";
import { cornerOf, hearItems, reachByTab, scrolledTo } from "../../../components/shared/items.js";
import { mount, View } from "../../../components/shared/mount.js";
import { element, Tooltip, tokenElement } from "../../../components/shared/picture.js";
import { percent, probabilityLegend } from "../../../components/shared/probability.js";
import { pictureButtons } from "../../../components/shared/save_picture.js";

/** @import { InkedScale } from "../../../components/shared/drawing.js" */
/** @import { Point } from "../../../components/shared/items.js" */

/**
 * `tokens` are the likeliest of a level at a step; `chosen` and `rank` are those of the token that was written.
 * @typedef {{ tokens: string[], probabilities: number[], asWritten: boolean, chosen: number, rank: number }} LensCell
 * @typedef {{
 *   levels: string[], read: string[], written: string[], cells: LensCell[][], step: number, scale: InkedScale,
 *   name: string, digest: string,
 * }} LensData
 */

const MARK = "✓ ";
/** @type {Record<string, [number, number]>} */
const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

class LensTable extends View {
  /** @type {LensData} */ data;
  /** @type {HTMLTableCellElement[][]} */ cells = [];
  bar = element("div", "lens-bar");
  scroller = element("div", "scroller");
  tooltip = new Tooltip(this.root);

  start() {
    this.root.replaceChildren(this.bar, this.scroller, this.tooltip.box);
    hearItems(this.scroller, "td[data-level]", this);
  }

  /** @param {{ header: LensData }} payload */
  receive({ header }) {
    const isSame = this.data?.digest === header.digest;
    this.data = header;
    if (!isSame) {
      this.tooltip.hide();
      this.build();
      this.cells[0][header.step].tabIndex = 0;
      this.reveal(this.cells[0][header.step]);
    }
    this.markStep(header.step);
    this.root.dataset.ready = "1";
  }

  // ---- the table ----

  build() {
    const { levels, read, written, scale, cells } = this.data;
    const key = [element("b", {}, MARK.trim()), element("span", {}, "is what was written")];
    const buttons = pictureButtons(this.root, () => this.data.name);
    this.bar.replaceChildren(probabilityLegend(scale.stops), element("span", "lens-key", ...key), buttons);
    const numbers = read.map((_, step) => String(step + 1));
    const [goesIn, comesOut] = [read, written].map((tokens) => tokens.map((token) => tokenElement(token)));
    this.cells = cells.map((row, level) => row.map((cell, step) => this.cell(cell, level, step)));
    const rows = levels.map((level, i) => {
      const right = cells[i].filter(({ asWritten }) => asWritten).length;
      const heading = this.levelHeading(level, element("small", {}, `${MARK}${right} of ${read.length}`));
      return element("tr", {}, heading, ...this.cells[i]);
    });
    rows.unshift(this.headings("number", "Step", numbers), this.headings("read", "Goes in", goesIn));
    rows.push(this.headings("written", "Written", comesOut));
    const ariaLabel = "Layers and steps: arrow keys move, Enter chooses a step";
    this.scroller.replaceChildren(
      element("table", { className: "lens-grid", role: "grid", ariaLabel }, element("tbody", {}, ...rows)),
    );
  }

  /** @param {string} className @param {string} title @param {(string | Node)[]} contents */
  headings(className, title, contents) {
    const headings = contents.map((content, step) => element("th", { className, dataset: { step } }, content));
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

  /** Scroll the table, and not the page, until a cell is beside the names of the layers. @param {HTMLElement} cell */
  reveal(cell) {
    const { scroller } = this;
    const names = /** @type {HTMLElement} */ (scroller.querySelector("th.level")).offsetWidth;
    const [start, end] = [cell.offsetLeft - names, cell.offsetLeft + cell.offsetWidth];
    scroller.scrollLeft = scrolledTo(scroller.scrollLeft, scroller.clientWidth, start, end);
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
    const details = `, rank ${rank.toLocaleString("en")} here, ${percent(chosen)}`;
    const note = element("div", "lens-note muted", "Written: ", tokenElement(this.data.written[step]), details);
    const title = `${this.data.levels[level]} · step ${step + 1}`;
    this.tooltip.showContent(point, title, element("table", "lens-top", ...rows), note);
  }

  leave() {
    this.tooltip.hide();
  }

  /** @param {HTMLElement} cell */
  visit(cell) {
    reachByTab(this.cells.flat(), cell);
    this.reveal(cell);
    this.point(cell, cornerOf(cell));
  }

  /** @param {HTMLElement} cell @param {string} key */
  press(cell, key) {
    const [level, step] = this.positionOf(cell);
    const [down, right] = MOVES[key] ?? [];
    /** @type {Record<string, HTMLTableCellElement | undefined>} */
    const ends = { Home: this.cells[level][0], End: this.cells[level].at(-1) };
    const target = ends[key] ?? this.cells[level + down]?.[step + right];
    target?.focus({ preventScroll: true });
    return target !== undefined || key in MOVES;
  }

  /** @param {HTMLElement} cell */
  choose(cell) {
    const [, step] = this.positionOf(cell);
    this.markStep(step);
    this.python.trigger("step", { step });
  }
}

export default mount(".lens-table", LensTable);
