// @ts-check
// What each layer would have said at each step: a table of tokens on the colours of their probabilities. Pointing at a
// cell, or moving there with the arrow keys, tells its five best; a click, or Enter, chooses its step.
// Data: the payload of lens_table.py. Sends back the trigger `step`: { step }.
import { colourAt } from "../../../components/shared/drawing.js";
import { cornerOf, hearItems, named } from "../../../components/shared/items.js";
import { mount } from "../../../components/shared/mount.js";
import { element, Tooltip, tokenElement } from "../../../components/shared/picture.js";
import { percent, probabilityLegend } from "../../../components/shared/probability.js";
import { pictureButtons } from "../../../components/shared/save_picture.js";

/** @import { Point } from "../../../components/shared/items.js" */
/** @import { Python } from "../../../components/shared/mount.js" */

/**
 * `tokens` are the likeliest of a level at a step; `chosen` and `rank` are those of the token that was written.
 * @typedef {{ tokens: string[], probabilities: number[], asWritten: boolean, chosen: number, rank: number }} LensCell
 * @typedef {{
 *   levels: string[], read: string[], written: string[], cells: LensCell[][], step: number,
 *   scale: { stops: string[], dark: string, pale: string }, name: string, digest: string,
 * }} LensData
 */

const MARK = "✓ ";
/** @type {Record<string, [number, number]>} */
const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

class LensTable {
  /** @type {LensData} */ data;
  /** @type {HTMLTableCellElement[][]} */ cells = [];

  /** @param {HTMLElement} root @param {Python} python */
  constructor(root, python) {
    this.root = root;
    this.python = python;
    this.bar = element("div", "lens-bar");
    this.scroller = element("div", "scroller");
    root.replaceChildren(this.bar, this.scroller);
    this.tooltip = new Tooltip(root);
    hearItems(this.scroller, "td[data-level]", {
      point: (cell, point) => this.tell(cell, point),
      leave: () => this.tooltip.hide(),
      visit: (cell) => this.visit(cell),
      choose: (cell) => this.choose(cell),
      press: (cell, key) => this.press(cell, key),
    });
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
    const { levels, read, written, scale } = this.data;
    const key = element("span", "lens-key");
    key.append(element("b", "", MARK.trim()), element("span", "", "is what was written"));
    const buttons = pictureButtons(this.root, () => this.data.name);
    this.bar.replaceChildren(probabilityLegend(scale.stops), key, buttons);
    const label = "Layers and steps: arrow keys move, Enter chooses a step";
    const table = named(element("table", "lens-grid"), "grid", label);
    const tokens = (/** @type {string[]} */ texts) => texts.map((token) => tokenElement(token));
    this.cells = levels.map((_, level) => read.map((__, step) => this.cell(level, step)));
    const body = element("tbody");
    body.append(
      this.headings(
        "number",
        "Step",
        read.map((_, step) => `${step + 1}`),
      ),
      this.headings("read", "Goes in", tokens(read)),
      ...levels.map((level, at) => this.row(level, at)),
      this.headings("written", "Written", tokens(written)),
    );
    table.append(body);
    this.scroller.replaceChildren(table);
  }

  /** @param {string} className @param {string} title @param {(string | Node)[]} contents */
  headings(className, title, contents) {
    const row = element("tr", className);
    const headings = contents.map((content, step) => {
      const heading = element("th", className);
      heading.dataset.step = String(step);
      heading.append(content);
      return heading;
    });
    row.append(this.levelHeading(title), ...headings);
    return row;
  }

  /** @param {string} title */
  levelHeading(title) {
    const heading = element("th", "level", title);
    heading.scope = "row";
    return heading;
  }

  /** @param {string} name @param {number} level */
  row(name, level) {
    const row = element("tr");
    const heading = this.levelHeading(name);
    const right = this.data.cells[level].filter(({ asWritten }) => asWritten).length;
    heading.append(element("small", "", `${MARK}${right} of ${this.data.read.length}`));
    row.append(heading, ...this.cells[level]);
    return row;
  }

  /** @param {number} level @param {number} step */
  cell(level, step) {
    const { tokens, probabilities, asWritten } = this.data.cells[level][step];
    const cell = element("td", asWritten ? "as-written" : "");
    const { fill, ink } = colourAt(this.data.scale, probabilities[0]);
    Object.assign(cell.style, { background: fill, color: ink });
    Object.assign(cell.dataset, { level, step });
    cell.tabIndex = -1;
    if (asWritten) cell.append(MARK);
    cell.append(tokenElement(tokens[0]), element("small", "", percent(probabilities[0])));
    return cell;
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
    const end = cell.offsetLeft + cell.offsetWidth;
    if (cell.offsetLeft < scroller.scrollLeft + names) scroller.scrollLeft = cell.offsetLeft - names;
    else if (end > scroller.scrollLeft + scroller.clientWidth) scroller.scrollLeft = end - scroller.clientWidth;
  }

  // ---- pointer and keyboard ----

  /** @param {HTMLElement} cell */
  positionOf(cell) {
    return [Number(cell.dataset.level), Number(cell.dataset.step)];
  }

  /** @param {HTMLElement} cell @param {Point} point */
  tell(cell, point) {
    const [level, step] = this.positionOf(cell);
    const { tokens, probabilities, rank, chosen, asWritten } = this.data.cells[level][step];
    const table = element("table", "lens-top");
    tokens.forEach((token, at) => {
      const row = element("tr", at === 0 && asWritten ? "as-written" : "");
      const name = element("td");
      name.append(tokenElement(token));
      row.append(name, element("td", "", percent(probabilities[at])));
      table.append(row);
    });
    const note = element("div", "lens-note muted");
    const written = tokenElement(this.data.written[step]);
    note.append("Written: ", written, `, rank ${rank.toLocaleString("en")} here, ${percent(chosen)}`);
    const title = element("div", "tooltip-title", `${this.data.levels[level]} · step ${step + 1}`);
    this.tooltip.showContent(point, title, table, note);
  }

  /** @param {HTMLElement} cell */
  visit(cell) {
    for (const other of this.cells.flat()) other.tabIndex = -1;
    cell.tabIndex = 0;
    this.reveal(cell);
    this.tell(cell, cornerOf(cell));
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
