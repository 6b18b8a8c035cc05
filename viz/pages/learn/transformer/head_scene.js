// The third depth: one row of a head, from query and keys below to what the head adds above, on the columns of its layer.
// Pointing at a key lights its column in all pictures; a click, or Enter, goes into it. The tokens at the foot are the
// keyboard's way in.
import { closest, reachByTab, walkAlong } from "../../../pictures/shared/items.js";
import { _, plural } from "../../../pictures/shared/messages.js";
import { button, element, tokenElement } from "../../../pictures/shared/picture.js";
import { LayerMachine } from "./layer_machine.js";
import { shortened } from "./lit_tokens.js";
import { BESIDE, BESIDE_FROM, LYING_FROM } from "./machine_layout.js";
import { exactNumber, KeyColumns, noteAt, placeIn, stepWords } from "./row_pictures.js";
import { StepPictures } from "./row_steps.js";
import { groupOf } from "./shapes.js";

/** @import { Point } from "../../../pictures/shared/items.js" */
/** @import { Range } from "./row_pictures.js" */
/** @import { Path, RowData } from "./row_steps.js" */
/** @import { Rows } from "./shapes.js" */
/** @typedef {import("./walk.js").Walk} Walk */

export class HeadScene {
  /** @type {KeyColumns} */ columns;
  /** The keys' buttons. @type {HTMLButtonElement[]} */ tokens = [];
  /** The column that is lit. */
  lit = -1;
  /** What of them is painted. @type {Rows | undefined} */ read;

  summary = element("div", "summary");
  heads = element("div", { className: "keys", role: "toolbar" });
  list = element("ol", "steps");
  ground = element("div", "rows-ground");
  into = element("div", "rows-stream");
  status = element("p", { className: "status", role: "status", dataset: { notInPicture: "" } });

  /** @param {Walk} walk @param {RowData} data */
  constructor(walk, data) {
    this.walk = walk;
    this.data = data;
    this.heads.ariaLabel = _("Keys: arrow keys move, Enter opens one");
    const rows = element("div", "head-rows", this.ground, this.into, this.list, this.heads);
    rows.style.setProperty("--page", `${walk.width}px`);
    this.machine = new LayerMachine(walk, rows);
    this.element = element("div", this.name, this.summary, this.machine.element, this.status);
    this.element.addEventListener("pointerleave", () => this.light(-1));
    this.list.addEventListener("click", (event) => this.choose(event));
    this.element.addEventListener("into", (event) => this.enter(event));
    this.heads.addEventListener("focusin", (event) => this.visit(this.tokenAt(event)));
    this.heads.addEventListener("focusout", () => this.light(-1));
    walkAlong(this.heads, () => this.tokens);
  }

  get name() {
    return "head-scene";
  }

  /** @param {MouseEvent} event */
  choose(event) {
    this.follow(this.columnAt(event));
  }

  /** A wheel leads into the key under it. @param {Event} event */
  enter(event) {
    const { x, width } = this.ground.getBoundingClientRect();
    const { clientX } = /** @type {CustomEvent<Point>} */ (event).detail;
    const column = Math.floor(((clientX - x) / width) * this.columns.count);
    if (!this.data.columns[column]) return;
    this.follow(column);
    event.preventDefault();
  }

  /** The column of the key whose button an event belongs to, or -1. @param {Event} event */
  tokenAt({ target }) {
    return this.tokens.findIndex((token) => token.contains(/** @type {Node} */ (target)));
  }

  /** Read what is painted of its rows on a way. */
  *ready() {
    const { pen } = this.walk.zoom.unfolding;
    const { list, heads, machine } = this;
    const rows = /** @type {HTMLElement} */ (machine.rows);
    const groups = { keys: groupOf([heads], rows, pen) };
    for (const [name, steps] of Object.entries(this.groups)) {
      yield;
      const parts = steps.map((step) => list.children[step]);
      Object.assign(groups, { [name]: groupOf(parts, rows, pen) });
    }
    this.read = { part: `${machine.place.site.split(".")[1]} ${machine.place.head}`, span: this.span, groups };
  }

  /** Where the layer of a machine lies, and its rows if they are of the same head. @param {LayerMachine} machine */
  lies(machine) {
    const lying = this.machine.lies(machine);
    const { site, head } = this.machine.place;
    const isSame = site === machine.place.site && head === machine.place.head;
    return lying && { ...lying, rows: isSame ? this.read : undefined };
  }

  /** Where the weight lies that is looked at. @returns {Range} */
  get span() {
    const left = this.columns.left(this.data.followed);
    return [left, left + this.columns.step];
  }

  /** Which of its rows are the score, the weight, and what that takes. @returns {Record<string, number[]>} */
  get groups() {
    return { score: [0, 1], weight: [2, 3, 4], value: [5, 6] };
  }

  get picture() {
    return this.machine.element;
  }

  arrive() {
    this.machine.arrive();
    this.ring();
  }

  /** The row that a stop is about is seen. */
  ring() {
    const { zoom, ringed } = this.walk;
    if (zoom.shown !== this.element) return;
    const step = this.list.children[ringed];
    step?.classList.add("ringed");
    // The way ends in the window in which it began.
    if (zoom.isAlone) step?.scrollIntoView({ block: "nearest" });
    else requestAnimationFrame(() => this.ring());
  }

  *draw() {
    const { width } = this.walk;
    this.machine.draw();
    const { placed, column } = this.machine;
    const { left, pitch, columns } = placed;
    // Side by side, the words take their share; on a narrow page they stand above the picture.
    const isWide = width >= BESIDE_FROM;
    this.element.classList.toggle("wide", isWide);
    if (placed.width > width && this.machine.rows) this.machine.rows.style.width = `${placed.width}px`;
    const across = isWide ? placed.width - BESIDE : placed.width;
    const { columns: keys, restCount } = this.data;
    this.columns = new KeyColumns(placed, across, keys.length, restCount > 0);
    this.ground.className = `rows-ground ${this.kind}`;
    Object.assign(this.ground.style, { left: `${left - 3}px`, width: `${pitch * columns + 6}px` });
    Object.assign(this.into.style, { left: `${this.machine.x(column) - pitch * 0.3}px`, width: `${pitch * 0.6}px` });
    this.drawSummary();
    this.drawKeys();
    yield this.element;
    for (const step of this.steps()) {
      const line = step();
      this.list.append(line);
      yield line;
    }
  }

  /** Of which attention it is a head. */
  get kind() {
    return this.walk.state.site.split(".")[1];
  }

  get pictures() {
    return new StepPictures(this.data, this.columns, this.machine.x(this.machine.column), this.kind);
  }

  // ---- around the pictures ----

  drawSummary() {
    const { summary, changed, note } = this.data;
    const rows = summary.map(({ name, cells }) => {
      const texts = cells.map(({ token, text }) =>
        element("td", "", ...(token === undefined ? [] : [tokenElement(token), " "]), text),
      );
      return element("tr", "", element("th", { className: "muted", scope: "row" }, name), ...texts);
    });
    const titles = [element("td"), element("th", "real", _("The model")), element("th", "other", changed)];
    const table = element("table", "", ...(changed ? [element("tr", "", ...titles)] : []), ...rows);
    this.summary.replaceChildren(table, ...(note ? [element("p", "muted", note)] : []));
    this.summary.classList.toggle("aside", !changed && !note);
    Object.assign(this.summary, { style: `--real:${this.data.realColour};--other:${this.data.otherColour}` });
  }

  drawKeys() {
    const { columns, data } = this;
    this.heads.classList.toggle("leaning", columns.step < LYING_FROM);
    this.heads.style.setProperty("--room", `${columns.step}px`);
    this.tokens = data.columns.map(({ label, key }, column) => {
      const look = { className: "key", title: `${key + 1} · ${label}`, style: `left:${columns.middle(column)}px` };
      const number = data.restCount ? [element("span", "muted", `${key + 1} `)] : [];
      const dataset = { column, inPicture: "" };
      return button({ ...look, dataset }, () => this.follow(column), ...number, tokenElement(shortened(label)));
    });
    const hadFocus = this.heads.matches(":focus-within");
    const look = { className: "key rest muted", style: `left:${columns.middle(columns.restAt)}px` };
    const rest = element("span", look, plural("{count} other", "{count} others", data.restCount));
    this.heads.replaceChildren(...this.tokens, ...(data.restCount ? [rest] : []));
    const followed = this.tokens[data.followed];
    for (const token of this.tokens) token.ariaPressed = String(token === followed);
    reachByTab(this.tokens, followed);
    if (hadFocus) followed.focus();
  }

  /** What makes its rows, from below. */
  steps() {
    const steps = this.data.steps.slice(1).map((_step, i) => () => this.buildStep(i + 1));
    return [() => this.firstStep(), ...steps];
  }

  firstStep() {
    const text = _(
      "The head computes a query for this row and a key for every column from the tokens' vectors. Each has {count} components, drawn from top to bottom.",
      { count: this.data.q.length },
    );
    return row({ title: _("Query and keys"), formula: "q = x W_Q, k = x W_K", text }, this.pictures.vectors());
  }

  /** @param {number} step */
  buildStep(step) {
    return row(this.data.steps[step], this.pictures.draw(step));
  }

  // ---- pointer and keyboard ----

  /** @param {MouseEvent} event */
  columnAt(event) {
    const drawing = /** @type {Element} */ (event.target).closest(".picture svg");
    if (!(drawing instanceof SVGSVGElement) || this.list.lastElementChild?.contains(drawing)) return -1;
    const [x] = placeIn(drawing, event);
    const column = Math.floor((x - this.columns.start) / this.columns.step);
    return column >= 0 && column < this.columns.count ? column : -1;
  }

  /** @param {PointerEvent} event */
  tell(event) {
    if (!this.columns) return;
    const token = this.tokenAt(event);
    const column = token < 0 ? this.columnAt(event) : token;
    this.light(column);
    const { query, columns, restCount } = this.data;
    const note = noteAt(event);
    const key = columns[column];
    if (key || (column === this.columns.restAt && restCount)) {
      const [title, token] = key
        ? [_("key {number}", { number: key.key + 1 }), key.label]
        : [_("in total"), plural("{count} key", "{count} keys", restCount)];
      const said = [...this.describe(column), ...(note ? [note] : [])].join("\n");
      this.walk.tooltip.show(event, title, query, token, said);
    } else if (note) {
      this.walk.tooltip.show(event, "", query, _("output"), note);
    } else if (!closest(event, ".stratum")) this.walk.tooltip.hide();
  }

  /** All numbers of one key, a line each; or what is known of the keys that have no column. @param {number} column */
  describe(column) {
    const { score, dots, restDots, real, other, changed } = this.data;
    const isRest = column === this.columns.restAt;
    const range = (/** @type {Range | null} */ ends) => (ends ?? []).map(exactNumber).join(" … ");
    const scaledScore = (/** @type {Path} */ { scaled, cut, restScaled }) => {
      if (isRest) return _("scores  {range}", { range: range(restScaled) });
      const number = exactNumber(scaled[column]);
      return cut[column] ? _("score  {number}, masked: −∞", { number }) : _("score  {number}", { number });
    };
    const path = (/** @type {Path} */ shown) => [
      scaledScore(shown),
      _("weight  {number}", { number: exactNumber(isRest ? shown.restWeight : shown.weights[column]) }),
    ];
    const lines = [`${score}  ${isRest ? range(restDots) : exactNumber(dots[column])}`, ...path(real)];
    return other ? [...lines, `${changed}:`, ...path(other)] : lines;
  }

  /** @param {number} column */
  light(column) {
    if (column === this.lit) return;
    this.lit = column;
    for (const part of this.element.querySelectorAll("[data-column]"))
      part.classList.toggle("lit", Number(part.getAttribute("data-column")) === column);
  }

  /** @param {number} column */
  visit(column) {
    if (column < 0) return;
    this.light(column);
    reachByTab(this.tokens, this.tokens[column]);
    this.status.replaceChildren(tokenElement(this.data.columns[column].label), `: ${this.describe(column).join(", ")}`);
  }

  /** @param {number} column */
  follow(column) {
    const key = this.data.columns[column];
    const { depth } = this.walk.state;
    if (key) this.walk.go({ depth: depth === "number" ? depth : "cell", key: key.key });
  }
}

/** A picture with what is said of it. @param {{ title: string, formula?: string, text: string }} words @param {HTMLElement} picture */
export const row = (words, picture) => element("li", "step", stepWords(words), element("div", "picture", picture));
