// One or several heads as lines between two columns of tokens. All heads of the layer are here, so switching heads,
// pointing, keeping a token and the threshold wait for nobody; Python hears of each of them at once and keeps the URL.
// Data: the payload of lines_component.py. Sends back the state `view`.

import { savedFrom } from "../../../pictures/shared/canvas_cells.js";
import { roleOf, rolesLooking } from "../../../pictures/shared/chat_roles.js";
import { closeHead, indicesOf, onTold, openHead, placeAt, pointAt } from "../../../pictures/shared/focus.js";
import { consume, isCombination } from "../../../pictures/shared/items.js";
import { _ } from "../../../pictures/shared/messages.js";
import { mount, View } from "../../../pictures/shared/mount.js";
import { weightOf } from "../../../pictures/shared/payload.js";
import { element, pixelRatio, roomFor, rowElement, Tooltip } from "../../../pictures/shared/picture.js";
import { pictureButton } from "../../../pictures/shared/save_picture.js";
import { countSentence, formatNumber, LineBar, partnerSentence } from "./line_bar.js";
import { LineCanvas, linesAsSvg } from "./line_canvas.js";
import { layoutOf, leastStored, leastVisible, rowsOf, storedAt } from "./line_scene.js";
import { isSameToken, OTHER, TokenColumns } from "./token_columns.js";

/** @import { Focus, OpenHead } from "../../../pictures/shared/focus.js" */
/** @import { Layout, LinesHeader, LinesView, Matrix } from "./line_scene.js" */
/** @import { Token } from "./token_columns.js" */

/** What each picture showed last, by what is drawn: one that is mounted again goes on from there. */
const lastViews = /** @type {Map<string, LinesView & { command: number }>} */ (new Map());

class HeadLines extends View {
  /** @type {LinesHeader} */ header;
  /** @type {Matrix} */ matrix;
  /** @type {LineBar} */ bar;
  /** @type {Layout} */ layout;
  /** The heads that are on. @type {Set<number>} */ on = new Set();
  threshold = 0;
  command = -1;
  /** What the page was told of. @type {OpenHead | null} */ offered = null;
  /** The token that a person keeps. @type {Token | null} */ kept = null;
  /** The one that they point at. @type {Token | null} */ pointed = null;
  /** The one that they have visited by keyboard. @type {Token | null} */ visited = null;
  /** By what the lines were painted last. @type {string | null} */ painted = null;
  width = 0;
  frame = 0;
  /** Of all lines: the lowest stored value, and how many. */
  least = 0;
  count = 0;

  columns = new TokenColumns();
  canvas = new LineCanvas();
  queries = [this.columns.roles.query.element, this.columns.query];
  keys = [this.columns.key, this.columns.roles.key.element];
  heading = element("div", "only-saved");
  names = [element("div", "only-saved of-query", _("query")), element("div", "only-saved of-key", _("key"))];
  around = [...this.queries, this.canvas.element, ...this.keys];
  board = element("div", "lines-board", ...this.around, this.heading, ...this.names);
  scroller = element("div", "lines-scroller", this.board);
  status = element("p", { className: "status muted", role: "status" });
  tooltip = new Tooltip(this.root);
  // The middle's width follows the page's, and also the text beside it.
  observer = new ResizeObserver(() => this.resize());

  start() {
    this.observer.observe(this.canvas.element);
    this.board.addEventListener("pointermove", (event) => this.point(event));
    this.board.addEventListener("pointerleave", (event) => this.point(event));
    this.board.addEventListener("click", (event) => this.keep(this.columns.at(event)));
    this.board.addEventListener("focusin", (event) => {
      const [target, from] = /** @type {HTMLElement[]} */ ([event.target, event.relatedTarget]);
      // Who passes the other column by Tab, on the way to what asks about the kept token, visits nothing.
      const isPassing = this.kept && target.parentElement !== from?.parentElement;
      this.visited = target.matches(":focus-visible") && !isPassing ? this.columns.at(event) : null;
      this.drawSoon();
    });
    this.board.addEventListener("focusout", () => {
      this.visited = null;
      this.drawSoon();
    });
    this.root.addEventListener("keydown", (event) => this.press(event));
    onTold("pointed", (focus) => this.showPointed(focus), this.ended.signal);
    // `top` is always visible, and has all that is saved.
    savedFrom(this.canvas.base, () => "");
    savedFrom(this.canvas.top, () => this.asSvg());
  }

  dispose() {
    super.dispose();
    this.observer.disconnect();
    cancelAnimationFrame(this.frame);
    closeHead(this.offered);
  }

  // ---- data ----

  /** @param {{ header: LinesHeader, arrays: Uint16Array[] }} payload */
  receive({ header, arrays }) {
    const isSame = this.header?.digest === header.digest;
    this.header = header;
    if (!isSame) {
      const { queryTokens, keyTokens, queryRoles, keyRoles } = header;
      this.matrix = { values: arrays[0], queries: queryTokens.length, keys: keyTokens.length };
      this.pointed = this.visited = null;
      this.bar = this.buildBar();
      this.columns.fill("query", queryTokens, queryRoles, this.writes);
      this.columns.fill("key", keyTokens, keyRoles, this.writes);
      this.tooltip.hide();
      this.root.replaceChildren(this.bar.element, this.scroller, this.status, this.tooltip.box);
      this.painted = null;
    }
    this.obey(header.command);
    this.offer();
    this.root.dataset.ready = "1";
  }

  buildBar() {
    const { headNames, colours, fileName } = this.header;
    const nameOf = () => (headNames.length > 1 ? `${fileName}-head${this.heads().join("+")}` : fileName);
    const act = {
      switchHead: (/** @type {number} */ head) => this.switchHead(head),
      leaveAlone: (/** @type {number} */ head) => this.change({ on: new Set([head]) }),
      threshold: (/** @type {number} */ threshold, isFinal = true) => this.change({ threshold }, isFinal),
    };
    return new LineBar(headNames, colours, act, pictureButton(this.board, nameOf));
  }

  /** Do as Python says, once for each command: what a person did since then stays. @param {LinesHeader["command"]} command */
  obey(command) {
    if (this.command !== command.number) {
      const last = lastViews.get(this.header.digest);
      const view = last?.command === command.number ? last : command;
      this.command = command.number;
      this.on = new Set(view.heads);
      this.threshold = view.threshold;
      this.kept = null;
      if (view.key !== null) this.kept = { side: "key", index: view.key };
      if (view.query !== null) this.kept = { side: "query", index: view.query };
    }
    this.mark();
    this.resize();
  }

  /**
   * What a person has changed. Python hears nothing of a slider that still moves.
   * @param {Partial<Pick<HeadLines, "on" | "threshold" | "kept">>} changes
   */
  change(changes, isFinal = true) {
    Object.assign(this, changes);
    this.mark();
    this.drawSoon();
    this.offer();
    if (!isFinal) return;
    const { digest } = this.header;
    const { kept, threshold, command } = this;
    const query = kept?.side === "query" ? kept.index : null;
    const key = kept?.side === "key" ? kept.index : null;
    const view = { heads: this.heads(), query, key, threshold, command, digest };
    lastViews.set(digest, view);
    this.python.state("view", view);
  }

  /** Tell the page of what is drawn: the head that is on, or the mean of several. */
  offer() {
    const { focus, queryTokens: rowTokens, keyTokens: columnTokens, headNames, top } = this.header;
    if (!focus) return;
    const heads = this.heads();
    const sum = (/** @type {number} */ row, /** @type {number} */ column) =>
      heads.reduce((total, head) => total + weightOf(storedAt(this.matrix, head, row, column)) * top, 0);
    const valueAt = (/** @type {number} */ row, /** @type {number} */ column) => sum(row, column) / heads.length;
    const format = (/** @type {number} */ row, /** @type {number} */ column) => formatNumber(valueAt(row, column), 3);
    const name = heads.map((head) => headNames[head]).join(" + ");
    const keptOn = (/** @type {"query" | "key"} */ side) => (this.kept?.side === side ? this.kept.index : null);
    this.offered = { ...focus, name, rowTokens, columnTokens, kept: [keptOn("query"), keptOn("key")], valueAt, format };
    openHead(this.offered);
  }

  heads() {
    return [...this.on].sort((a, b) => a - b);
  }

  // ---- what a person does ----

  /** @param {PointerEvent} event */
  point(event) {
    const token = event.type === "pointerleave" ? null : this.columns.at(event);
    // While a token is kept, the other column tells of the pair, and the lines stay.
    const { kept } = this;
    const isPair = kept && token?.side === OTHER[kept.side];
    const pair = isPair ? { [kept.side]: kept.index, [token.side]: token.index } : null;
    if (pair) this.tell(event, pair.query, pair.key);
    else this.tooltip.hide();
    const pointed = pair ? null : token;
    if (!isSameToken(pointed, this.pointed)) {
      this.pointed = pointed;
      this.drawSoon();
    }
    const { focus } = this.header;
    if (!focus) return;
    const said = pair ?? (token ? { [token.side]: token.index } : {});
    pointAt({ query: placeAt(focus.rows, said.query), key: placeAt(focus.columns, said.key) });
  }

  /** What is pointed at elsewhere on the page has its lines here. @param {Focus | null} focus */
  showPointed(focus) {
    const { focus: own, queryTokens, keyTokens } = this.header ?? {};
    if (!own || this.board.matches(":hover")) return;
    const [row] = indicesOf(own.rows, queryTokens.length, focus?.query ?? null);
    const [column] = indicesOf(own.columns, keyTokens.length, focus?.key ?? null);
    this.pointed = column === undefined ? null : { side: "key", index: column };
    if (row !== undefined) this.pointed = { side: "query", index: row };
    this.drawSoon();
  }

  /** Whether rows stand for what they write. */
  get writes() {
    return Boolean(this.header.focus?.rows.ahead);
  }

  /** A box with the numbers of a query and a key, of every head that is on. @param {PointerEvent} event @param {number} query @param {number} key */
  tell(event, query, key) {
    const { queryTokens, keyTokens, queryRoles, keyRoles, title, number, headNames } = this.header;
    const numberOf = (/** @type {number} */ head) => this.format(storedAt(this.matrix, head, query, key), 3);
    const numbers = this.heads().map((head) => `${headNames[head]}: ${number} ${numberOf(head)}`);
    const roles = rolesLooking(roleOf(queryRoles, query), roleOf(keyRoles, key));
    const said = [...numbers, roles].filter(Boolean).join("\n");
    this.tooltip.show(event, title, rowElement(queryTokens[query], this.writes), keyTokens[key], said);
  }

  /** @param {Token | null} token */
  keep(token) {
    if (token) this.change({ kept: isSameToken(token, this.kept) ? null : token });
  }

  /** @param {number} head */
  switchHead(head) {
    const on = new Set(this.on);
    if (!on.delete(head)) on.add(head);
    // The last head stays: without any there is no picture.
    if (on.size) this.change({ on });
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    if (isCombination(event)) return;
    const token = this.columns.at(event);
    const next = token && this.columns.next(token, event.key);
    if (event.key === "Escape" && (this.kept || this.visited)) {
      this.visited = null;
      this.change({ kept: null });
    } else if (next) this.columns.visit(next);
    else if (token && (event.key === "Enter" || event.key === " ")) this.keep(token);
    else return;
    // These keys neither scroll the page nor step a decode player beside this picture.
    consume(event);
  }

  // ---- layout ----

  resize() {
    const width = this.canvas.element.clientWidth;
    if (!this.header || !width) return;
    if (width !== this.width) this.painted = null;
    this.width = width;
    this.drawSoon();
  }

  mark() {
    const share = this.threshold / 100;
    const { top, title, headNames } = this.header;
    const names = this.heads().map((head) => headNames[head]);
    this.heading.textContent = `${title} · ${names.join(", ")}`;
    this.bar.mark(this.on, this.threshold, top === 1 ? share.toFixed(2) : formatNumber(share * top));
    this.columns.mark(this.kept);
  }

  drawSoon() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.draw());
  }

  draw() {
    // Without a width it lies in a closed tab; `resize` draws it when that opens.
    if (!this.width) return;
    const signature = `${this.heads()} ${this.threshold} ${pixelRatio(this.root)}`;
    if (signature !== this.painted) this.paintAll(signature);
    const focus = this.pointed ?? this.visited ?? this.kept;
    const { matrix, layout, header } = this;
    // Of one token all lines are drawn, also where the whole picture has to leave the weakest out.
    const least = leastVisible(this.threshold);
    const numberOf = (/** @type {number} */ stored) => this.format(stored);
    this.canvas.paintToken(matrix, this.heads(), least, focus, layout, header.colours, numberOf);
    this.columns.emphasise(focus);
    this.describe(focus);
  }

  /** @param {string} signature */
  paintAll(signature) {
    const { matrix, threshold } = this;
    this.painted = signature;
    const beside = this.bar.element.offsetHeight + this.status.offsetHeight + 20;
    const rows = rowsOf(matrix, roomFor(this.root, beside));
    // The columns are as wide as their text, so its size comes before any measuring.
    this.board.style.setProperty("--row", `${rows.row}px`);
    this.board.style.setProperty("--font", `${rows.font}px`);
    for (const roles of Object.values(this.columns.roles)) roles.name(rows.row);
    this.layout = layoutOf(rows, this.canvas.element.clientWidth, this.on.size);
    this.least = leastStored(matrix.values, matrix.queries * matrix.keys, this.heads(), threshold);
    this.count = this.canvas.paintAll(matrix, this.heads(), this.least, this.layout, this.header.colours);
    this.root.dataset.lines = String(this.count);
  }

  // ---- numbers ----

  /** @param {number} stored */
  format(stored, digits = 2) {
    return formatNumber(weightOf(stored) * this.header.top, digits);
  }

  /** The sentence below the picture. @param {Token | null} focus */
  describe(focus) {
    const { header, matrix, kept } = this;
    const sentence = focus
      ? partnerSentence(header, matrix, this.heads(), focus, isSameToken(focus, kept))
      : [countSentence(this.count, this.on.size * matrix.queries * matrix.keys)];
    const said = element("p", "", ...sentence);
    // What says the same is not replaced: a link in it may have the focus, or be pressed.
    if (said.innerHTML !== this.status.innerHTML) this.status.replaceChildren(...said.childNodes);
  }

  // ---- taking it along ----

  /** What is painted, with the token that is kept. */
  asSvg() {
    const { header, matrix, kept, layout } = this;
    const least = kept ? leastVisible(this.threshold) : this.least;
    const { color } = getComputedStyle(this.board);
    const numberOf = (/** @type {number} */ stored) => this.format(stored);
    return linesAsSvg(matrix, this.heads(), least, kept, layout, header.colours, numberOf, color);
  }
}

export default mount(".head-lines", HeadLines);
