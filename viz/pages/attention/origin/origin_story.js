// @ts-check
// Seven pictures over the same keys, from q · k to a head's part of the output. Pointing at a key lights its column in
// all of them; a click, or Enter, follows it. The tokens on top are the keyboard's way in.
// Data: the payload of tab.py. Sends back the trigger `follow`: { key }.
import { consume, isCombination, reachByTab } from "../../../pictures/shared/items.js";
import { _, plural } from "../../../pictures/shared/messages.js";
import { mount, onResize, View } from "../../../pictures/shared/mount.js";
import { button, element, Tooltip, tokenElement, zoomOf } from "../../../pictures/shared/picture.js";
import { pictureButton } from "../../../pictures/shared/save_picture.js";
import { Columns, exactNumber, GUTTER } from "./origin_pictures.js";
import { StepPictures } from "./origin_steps.js";

/** @import { Range } from "./origin_pictures.js" */
/** @import { OriginHeader, Path } from "./origin_steps.js" */

class OriginStory extends View {
  /** @type {OriginHeader} */ data;
  /** @type {Columns} */ columns;
  /** The keys' buttons. @type {HTMLButtonElement[]} */ tokens = [];
  /** The width that is drawn. @type {number | null} */ drawn = null;
  /** The column that is lit. */
  lit = -1;

  summary = element("div", "summary");
  heads = element("div", { className: "keys", role: "toolbar" });
  /** The first step stands above the keys: its columns are dimensions. */
  first = element("ol", "steps first");
  list = element("ol", { className: "steps", start: 2 });
  status = element("p", { className: "status", role: "status", dataset: { notInPicture: "" } });
  tooltip = new Tooltip(this.root);

  start() {
    this.heads.ariaLabel = _("Keys: arrow keys move, Enter follows a key");
    const save = pictureButton(this.root, () => this.data.name);
    this.root.replaceChildren(this.first, this.heads, this.list, save, this.status, this.tooltip.box);
    this.root.addEventListener("pointermove", (event) => this.point(event));
    this.root.addEventListener("pointerleave", () => {
      this.light(-1);
      this.tooltip.hide();
    });
    this.list.addEventListener("click", (event) => this.follow(this.columnAt(event)));
    this.heads.addEventListener("focusin", (event) => this.visit(this.tokenAt(event)));
    this.heads.addEventListener("focusout", () => this.light(-1));
    this.heads.addEventListener("keydown", (event) => this.press(event));
    onResize(this, () => this.resize());
  }

  /** The column of the key whose button an event belongs to, or -1. @param {Event} event */
  tokenAt({ target }) {
    return this.tokens.findIndex((token) => token.contains(/** @type {Node} */ (target)));
  }

  /** @param {{ header: OriginHeader }} payload */
  receive({ header }) {
    const isSame = this.data?.digest === header.digest;
    const isMoved = this.data?.followed !== header.followed;
    this.data = header;
    if (!isSame) {
      this.tooltip.hide();
      this.drawSummary();
      this.drawn = null;
      this.resize();
    } else if (isMoved) this.drawFollowed();
    this.root.dataset.ready = "1";
  }

  resize() {
    const width = this.root.clientWidth;
    if (!this.data || !width || width === this.drawn) return;
    this.drawn = width;
    // Side by side, the words take their share; on a narrow page they stand above the picture.
    const isWide = width >= 860;
    this.root.classList.toggle("wide", isWide);
    this.columns = new Columns(isWide ? width - 268 : width, this.data.columns.length, this.data.restCount > 0);
    this.drawKeys();
    const [first, ...others] = this.data.steps.map((_, step) => this.buildStep(step));
    this.first.replaceChildren(first);
    this.list.replaceChildren(...others);
    // The keys stay in sight below the head of the page.
    const head = document.querySelector(".st-key-page-head")?.getBoundingClientRect().height ?? 0;
    this.root.style.setProperty("--page-head", `${head}px`);
    this.drawFollowed();
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
    this.summary.style.setProperty("--real", this.data.realColour);
    this.summary.style.setProperty("--other", this.data.otherColour);
  }

  drawKeys() {
    const { columns, data } = this;
    const longest = Math.max(...data.columns.map(({ label }) => [...label].length));
    this.heads.style.height = `${Math.min(120, 26 + (longest + (data.restCount ? 4 : 0)) * 7.2)}px`;
    this.tokens = data.columns.map(({ label, key }, column) => {
      const look = { className: "key", title: `${key + 1} · ${label}`, style: `left:${columns.middle(column)}px` };
      const number = data.restCount ? [element("span", "muted", `${key + 1} `)] : [];
      const dataset = { column, inPicture: "" };
      return button({ ...look, dataset }, () => this.follow(column), ...number, tokenElement(label));
    });
    const hadFocus = this.heads.matches(":focus-within");
    const style = `left:${columns.middle(columns.restAt)}px`;
    const rest = element(
      "span",
      { className: "key rest muted", style },
      plural("{count} other", "{count} others", data.restCount),
    );
    this.heads.replaceChildren(...this.tokens, ...(data.restCount ? [rest] : []));
    if (hadFocus) this.tokens[data.followed].focus();
  }

  /** @param {number} step */
  buildStep(step) {
    const { title, formula, text } = this.data.steps[step];
    const lines = [element("h4", "", title), element("p", "formula", formula), element("p", "text", text)];
    const picture = element("div", "picture", this.picture(step));
    const summary = step ? [] : [this.summary];
    return element("li", "step", element("div", "words", ...summary, ...lines), picture);
  }

  /** @param {number} step */
  picture(step) {
    return new StepPictures(this.data, this.columns).draw(step);
  }

  drawFollowed() {
    this.first.querySelector(".picture")?.replaceChildren(this.picture(0));
    const followed = this.tokens[this.data.followed];
    for (const token of this.tokens) token.ariaPressed = String(token === followed);
    reachByTab(this.tokens, followed);
    for (const ground of this.parts(".ground")) {
      ground.classList.toggle("followed", Number(ground.dataset.column) === this.data.followed);
    }
  }

  // ---- pointer and keyboard ----

  /** Whether the event is in the first picture, whose columns are dimensions and not keys; so are the last one's. @param {Event} event */
  isFirst(event) {
    return this.first.contains(/** @type {Node} */ (event.target));
  }

  /** @param {MouseEvent} event */
  columnAt(event) {
    const drawing = /** @type {Element} */ (event.target).closest(".picture svg");
    if (!drawing || this.isFirst(event) || this.list.lastElementChild?.contains(drawing)) return -1;
    const x = (event.clientX - drawing.getBoundingClientRect().left) / zoomOf(drawing);
    const column = Math.floor((x - GUTTER) / this.columns.step);
    return column >= 0 && column < this.columns.count ? column : -1;
  }

  /** @param {PointerEvent} event */
  point(event) {
    if (!this.columns) return;
    const token = this.tokenAt(event);
    const column = token < 0 ? this.columnAt(event) : token;
    this.light(column);
    const { query, columns, followed, restCount } = this.data;
    const { note } = /** @type {HTMLElement | SVGElement} */ (event.target).dataset;
    const key = columns[column];
    if (key || (column === this.columns.restAt && restCount)) {
      const [title, token] = key
        ? [_("key {number}", { number: key.key + 1 }), key.label]
        : [_("in total"), plural("{count} key", "{count} keys", restCount)];
      this.tooltip.show(event, title, query, token, [...this.describe(column), ...(note ? [note] : [])].join("\n"));
    } else if (note) {
      const shown = this.isFirst(event) ? columns[followed].label : _("output");
      this.tooltip.show(event, "", query, shown, note);
    } else this.tooltip.hide();
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

  /** @param {string} selector @returns {Iterable<HTMLElement | SVGElement>} */
  parts(selector) {
    return this.root.querySelectorAll(selector);
  }

  /** @param {number} column */
  light(column) {
    if (column === this.lit) return;
    this.lit = column;
    for (const part of this.parts("[data-column]")) {
      part.classList.toggle("lit", Number(part.dataset.column) === column);
    }
  }

  /** @param {number} column */
  visit(column) {
    if (column < 0) return;
    this.light(column);
    reachByTab(this.tokens, this.tokens[column]);
    this.status.replaceChildren(tokenElement(this.data.columns[column].label), `: ${this.describe(column).join(", ")}`);
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const column = this.tokenAt(event);
    const last = this.tokens.length - 1;
    const target = { ArrowLeft: column - 1, ArrowRight: column + 1, Home: 0, End: last }[event.key];
    if (target === undefined || isCombination(event)) return;
    this.tokens[target]?.focus();
    consume(event);
  }

  /** @param {number} column */
  follow(column) {
    const key = this.data.columns[column];
    if (!key) return;
    this.data.followed = column;
    this.drawFollowed();
    this.python.trigger("follow", { key: key.key });
  }
}

export default mount(".origin-story", OriginStory);
