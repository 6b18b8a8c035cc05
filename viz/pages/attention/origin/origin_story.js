// @ts-check
// Seven pictures over the same keys, from q · k to a head's part of the output. Pointing at a key lights its column in
// all of them; a click, or Enter, follows it. The tokens on top are the keyboard's way in.
// Data: the payload of component.py. Sends back the trigger `follow`: { key }.
import { mount } from "../../../components/shared/mount.js";
import { element, Tooltip, tokenElement } from "../../../components/shared/picture.js";
import { pictureButtons } from "../../../components/shared/save_picture.js";
import { Columns, exactNumber, GUTTER } from "./origin_pictures.js";
import { StepPictures } from "./origin_steps.js";

/** @import { Python } from "../../../components/shared/mount.js" */
/** @import { Range } from "./origin_pictures.js" */
/** @import { OriginHeader, Path } from "./origin_steps.js" */

class OriginStory {
  /** @type {OriginHeader} */
  data;
  /** @type {Columns} */
  columns;
  /** The keys' buttons. @type {HTMLButtonElement[]} */
  tokens = [];
  /** The width that is drawn. @type {number | null} */
  drawn = null;
  /** The column that is lit. */
  lit = -1;

  /** @param {HTMLElement} root @param {Python} python */
  constructor(root, python) {
    this.root = root;
    this.python = python;
    this.summary = element("div", "summary");
    this.heads = element("div", "keys");
    this.heads.setAttribute("role", "toolbar");
    this.heads.setAttribute("aria-label", "Keys: arrow keys move, Enter follows a key");
    this.list = element("ol", "steps");
    this.status = element("p", "status");
    this.status.setAttribute("role", "status");
    this.status.dataset.notInPicture = "";
    const save = pictureButtons(root, () => this.data.name);
    root.replaceChildren(this.summary, this.heads, this.list, save, this.status);
    this.tooltip = new Tooltip(root);
    this.listen();
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(root);
  }

  listen() {
    this.root.addEventListener("pointermove", (event) => this.point(event));
    this.root.addEventListener("pointerleave", () => {
      this.light(-1);
      this.tooltip.hide();
    });
    this.list.addEventListener("click", (event) => this.follow(this.columnAt(event)));
    this.heads.addEventListener("click", (event) => this.follow(this.tokenAt(event)));
    this.heads.addEventListener("focusin", (event) => this.visit(this.tokenAt(event)));
    this.heads.addEventListener("focusout", () => this.light(-1));
    this.heads.addEventListener("keydown", (event) => this.press(event));
  }

  /** The column of the key whose button an event belongs to, or -1. @param {Event} event */
  tokenAt({ target }) {
    return this.tokens.findIndex((button) => button.contains(/** @type {Node} */ (target)));
  }

  dispose() {
    this.observer.disconnect();
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
    this.list.replaceChildren(...this.data.steps.map((step, place) => this.buildStep(step, place)));
    this.drawFollowed();
  }

  // ---- around the pictures ----

  drawSummary() {
    const { summary, changed, note } = this.data;
    const table = element("table");
    if (changed) {
      const row = element("tr");
      row.append(element("td"), element("th", "real", "The model"), element("th", "other", changed));
      table.append(row);
    }
    for (const { name, cells } of summary) {
      const row = element("tr");
      const title = element("th", "muted", name);
      title.scope = "row";
      row.append(
        title,
        ...cells.map(({ token, text }) => {
          const cell = element("td");
          if (token !== undefined) cell.append(tokenElement(token), " ");
          cell.append(text);
          return cell;
        }),
      );
      table.append(row);
    }
    this.summary.replaceChildren(table, ...(note ? [element("p", "muted", note)] : []));
    this.summary.style.setProperty("--real", this.data.realColour);
    this.summary.style.setProperty("--other", this.data.otherColour);
  }

  drawKeys() {
    const { columns, data } = this;
    const longest = Math.max(...data.columns.map(({ label }) => [...label].length));
    const { isSlanted } = columns;
    const height = Math.min(isSlanted ? 104 : 120, 26 + (longest + (data.restCount ? 4 : 0)) * (isSlanted ? 5.9 : 7.2));
    this.heads.classList.toggle("upright", !isSlanted);
    this.heads.style.height = `${height}px`;
    this.tokens = data.columns.map(({ label, key }, column) => {
      const button = element("button", "key");
      button.type = "button";
      button.dataset.inPicture = "";
      if (data.restCount) button.append(element("span", "muted", `${key + 1} `));
      button.append(tokenElement(label));
      button.tabIndex = column === data.followed ? 0 : -1;
      button.dataset.column = String(column);
      button.title = `${key + 1} · ${label}`;
      button.style.left = `${columns.middle(column)}px`;
      return button;
    });
    const hadFocus = this.heads.matches(":focus-within");
    const rest = element("span", "key rest muted", `${data.restCount} others`);
    rest.style.left = `${columns.middle(columns.restAt)}px`;
    this.heads.replaceChildren(...this.tokens, ...(data.restCount ? [rest] : []));
    if (hadFocus) this.tokens[data.followed].focus();
  }

  /** @param {OriginHeader["steps"][number]} step @param {number} place */
  buildStep({ title, formula, text }, place) {
    const item = element("li", "step");
    const words = element("div", "words");
    words.append(element("h4", "", title), element("p", "formula", formula), element("p", "text", text));
    const canvas = element("div", "picture");
    canvas.append(this.picture(place));
    item.append(words, canvas);
    return item;
  }

  /** @param {number} place */
  picture(place) {
    return new StepPictures(this.data, this.columns).draw(place);
  }

  drawFollowed() {
    const first = this.list.firstElementChild?.querySelector(".picture");
    first?.replaceChildren(this.picture(0));
    this.tokens.forEach((button, column) => {
      button.setAttribute("aria-pressed", String(column === this.data.followed));
      button.tabIndex = column === this.data.followed ? 0 : -1;
    });
    for (const ground of this.parts(".ground")) {
      ground.classList.toggle("followed", Number(ground.dataset.column) === this.data.followed);
    }
  }

  // ---- pointer and keyboard ----

  /** Whether the event is in the first picture, whose columns are dimensions and not keys; so are the last one's. @param {Event} event */
  isFirst(event) {
    return this.list.firstElementChild?.contains(/** @type {Node} */ (event.target)) ?? false;
  }

  /** @param {MouseEvent} event */
  columnAt(event) {
    const drawing = /** @type {Element} */ (event.target).closest(".picture svg");
    if (!drawing || this.isFirst(event) || this.list.lastElementChild?.contains(drawing)) return -1;
    const column = Math.floor((event.clientX - drawing.getBoundingClientRect().left - GUTTER) / this.columns.step);
    return column >= 0 && column < this.columns.count ? column : -1;
  }

  /** @param {PointerEvent} event */
  point(event) {
    if (!this.columns) return;
    const button = this.tokenAt(event);
    const column = button < 0 ? this.columnAt(event) : button;
    this.light(column);
    const { query, columns, followed, restCount } = this.data;
    const { note } = /** @type {HTMLElement | SVGElement} */ (event.target).dataset;
    const key = columns[column];
    if (key) {
      const lines = [...this.describe(column), ...(note ? [note] : [])];
      this.tooltip.show(event, `key ${key.key + 1}`, query, key.label, lines.join("\n"));
    } else if (column === this.columns.restAt && restCount) {
      const lines = [...this.describeRest(), ...(note ? [note] : [])];
      this.tooltip.show(event, "summed up", query, `${restCount} keys`, lines.join("\n"));
    } else if (note)
      this.tooltip.show(event, "", query, this.isFirst(event) ? columns[followed].label : "output", note);
    else this.tooltip.hide();
  }

  /** All numbers of one key, a line each. @param {number} column */
  describe(column) {
    const { dots, real, other, changed } = this.data;
    const path = (/** @type {Path} */ { scaled, cut, weights }) => [
      `score  ${exactNumber(scaled[column])}${cut[column] ? ", masked: −∞" : ""}`,
      `weight  ${exactNumber(weights[column])}`,
    ];
    const lines = [`q · k  ${exactNumber(dots[column])}`, ...path(real)];
    return other ? [...lines, `${changed}:`, ...path(other)] : lines;
  }

  /** What is known of the keys that have no column. */
  describeRest() {
    const { restDots, real, other, changed } = this.data;
    const range = (/** @type {Range | null} */ ends) => (ends ?? []).map(exactNumber).join(" … ");
    const path = (/** @type {Path} */ { restScaled, restWeight }) => [
      `scores  ${range(restScaled)}`,
      `weight  ${exactNumber(restWeight)}`,
    ];
    const lines = [`q · k  ${range(restDots)}`, ...path(real)];
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
    this.tokens.forEach((button, place) => {
      button.tabIndex = place === column ? 0 : -1;
    });
    this.status.replaceChildren(tokenElement(this.data.columns[column].label), `: ${this.describe(column).join(", ")}`);
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const column = this.tokenAt(event);
    /** @type {Record<string, number>} */
    const targets = { ArrowLeft: column - 1, ArrowRight: column + 1, Home: 0, End: this.tokens.length - 1 };
    const target = targets[event.key];
    if (target === undefined || event.altKey || event.metaKey || event.ctrlKey) return;
    this.tokens[target]?.focus();
    event.preventDefault();
    event.stopPropagation();
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
