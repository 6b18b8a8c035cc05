// The tree of translations: to the left each as a line over the steps, where it leaves another; beside it what was done
// and its text. A click, or Enter, shows one; arrow keys go from one to the next, Delete removes.
// Data: the payload of tab.py. Sends back the trigger `act`: { what, branch }.
import { svg } from "../../../pictures/shared/drawing.js";
import { closest, consume, isCombination } from "../../../pictures/shared/items.js";
import { _, sentenceParts } from "../../../pictures/shared/messages.js";
import { mount, onResize, View } from "../../../pictures/shared/mount.js";
import { button, clamp, element } from "../../../pictures/shared/picture.js";
import { pictureButton } from "../../../pictures/shared/save_picture.js";

/** @import { Look } from "../../../pictures/shared/picture.js" */

/**
 * @typedef {"show" | "compare" | "remove"} Act
 * @typedef {{
 *   number: number, parent: number | null, start: number, length: number, name: string, deed: string,
 *   words: [text: string, same: boolean][], isWritten: boolean, logProb: number | null,
 * }} BranchRow
 * @typedef {{
 *   rows: BranchRow[], shown: number, against: number | null, step: number, name: string, textLanguage: string,
 *   shownColour: string, againstColour: string,
 * }} BranchData
 */

/** The line stands beside the first line of a row's text; so far down. */
const LINE_AT = 19;
const SHARPEST_BEND = 6;

/** A line at height `y`, from one at height `from`. @param {number} left @param {number} right @param {number} y @param {number | null} from */
export function lanePath(left, right, y, from) {
  if (from === null) return `M${left} ${y}H${right}`;
  const bend = clamp(0, right - left, SHARPEST_BEND);
  return `M${left} ${from}V${y - bend}Q${left} ${y} ${left + bend} ${y}H${right}`;
}

/** In natural logarithm; null is that of a text with a token that the rules forbid. @param {number | null} logProb */
export const formatLogProb = (logProb) => logProb?.toFixed(2).replace("-", "−") ?? "−∞";

class BranchTree extends View {
  /** @type {BranchData} */ data;
  lanes = svg("svg", { class: "lanes", "aria-hidden": "true" });
  list = element("ol", {
    className: "branches",
    ariaLabel: _("Translations: arrow keys move, Enter shows one, Delete removes it"),
    onkeydown: (event) => this.press(event),
  });

  start() {
    const buttons = pictureButton(this.root, () => this.data.name);
    this.root.replaceChildren(this.lanes, this.list, buttons);
    this.list.addEventListener("focusin", (event) => this.visit(closest(event, ".branch")));
    onResize(this, () => this.drawLanes());
  }

  /** @param {{ header: BranchData }} payload */
  receive({ header }) {
    this.data = header;
    /** @type {HTMLElement | null} */
    const focused = this.list.querySelector("button:focus");
    const number = Number(focused?.closest(/** @type {"li"} */ (".branch"))?.dataset.number);
    this.root.style.setProperty("--shown", header.shownColour);
    this.root.style.setProperty("--against", header.againstColour);
    this.list.replaceChildren(...header.rows.map((row) => this.buildRow(row)));
    this.visit(this.rowOf(header.shown));
    const next = this.button(number, focused?.dataset.what) ?? this.button(header.shown, "show");
    if (focused) next?.focus({ preventScroll: true });
    this.drawLanes();
    this.root.dataset.ready = "1";
  }

  // ---- rows ----

  /** @param {number} number */
  markOf(number) {
    if (number === this.data.shown) return "shown";
    return number === this.data.against ? "against" : "";
  }

  /** @param {BranchRow} row */
  buildRow(row) {
    const mark = this.markOf(row.number);
    const own = element("span", "own", row.name);
    const deed = { name: own, step: String(row.start + 1), deed: element("bdi", "muted", row.deed) };
    const title = element(
      "span",
      "title",
      ...(row.deed ? sentenceParts(_("{name} · step {step}: {deed}"), deed) : [own]),
    );
    if (mark) title.append(element("span", "mark", mark === "shown" ? _("shown") : _("compared")));
    const text = element("span", { className: "text", dir: "auto", lang: this.data.textLanguage });
    for (const [words, same] of row.words) {
      const bare = words.trimStart();
      text.append(bare === words ? "" : " ", element("span", same ? "same" : "new", bare));
    }
    const instead = row.isWritten ? _("nothing") : _("not written yet: click to write it");
    if (!row.words.length) text.append(element("span", "muted", instead));
    const look = { className: "open", ariaPressed: String(mark === "shown") };
    const open = this.buildButton(look, "show", row.number, title, text);
    open.dataset.inPicture = "";
    const total = element("span", "total");
    if (row.isWritten) total.append(formatLogProb(row.logProb), element("small", "muted", "log p"));
    const parts = [element("span"), open, total, this.buildActs(row, mark)];
    return element("li", { className: `branch ${mark}`, dataset: { number: row.number } }, ...parts);
  }

  /** @param {BranchRow} row @param {string} mark */
  buildActs({ number, name }, mark) {
    const acts = element("span", "acts");
    if (mark !== "shown") {
      const ariaLabel = _("Compare with {name}", { name });
      const look = { className: "act", ariaPressed: String(mark === "against"), ariaLabel };
      acts.append(this.buildButton(look, "compare", number, _("Compare")));
    }
    if (number) {
      const ariaLabel = _("Remove {name} and the branches that start from it", { name });
      const title = _("Remove, with the branches that start from it");
      acts.append(this.buildButton({ className: "act", ariaLabel, title }, "remove", number, "✕"));
    }
    return acts;
  }

  /** @param {Look<HTMLButtonElement>} look @param {Act} what @param {number} branch @param {(Node | string)[]} contents */
  buildButton(look, what, branch, ...contents) {
    return button({ ...look, dataset: { what } }, () => this.act(what, branch), ...contents);
  }

  /** @param {number} number @returns {HTMLElement | null} */
  rowOf(number) {
    return this.list.querySelector(`.branch[data-number="${number}"]`);
  }

  /** @param {number} number @param {string} [what] @returns {HTMLElement | null | undefined} */
  button(number, what) {
    return this.rowOf(number)?.querySelector(`button[data-what="${what}"]`);
  }

  // ---- lines ----

  drawLanes() {
    const width = this.root.clientWidth;
    if (!this.data || !width) return;
    this.root.classList.toggle("narrow", width < 620);
    const across = Math.round(clamp(84, width * 0.2, 260));
    this.root.style.setProperty("--lanes", `${across}px`);
    this.lanes.setAttribute("width", String(across));
    this.lanes.setAttribute("height", String(this.list.offsetHeight));
    const { rows, step, shown } = this.data;
    const last = Math.max(1, ...rows.map(({ length }) => length - 1));
    const x = (/** @type {number} */ at) => 10 + (at / last) * (across - 24);
    const y = (/** @type {number} */ number) => (this.rowOf(number)?.offsetTop ?? 0) + LINE_AT;
    // What is shown lies on top.
    const rank = (/** @type {Element} */ shape) => Number(shape.classList.contains("shown"));
    const shapes = rows.flatMap((row) => this.shapesOf(row, x, y)).sort((a, b) => rank(a) - rank(b));
    this.lanes.replaceChildren(...shapes, svg("circle", { class: "here", cx: x(step), cy: y(shown), r: 6.5 }));
  }

  /** @param {BranchRow} row @param {(step: number) => number} x @param {(number: number) => number} y */
  shapesOf({ number, parent, start, length }, x, y) {
    const mark = this.markOf(number);
    const [left, right, from] = [x(start), x(length - 1), parent === null ? null : y(parent)];
    const line = svg("path", { class: `lane ${mark}`, d: lanePath(left, right, y(number), from) });
    const end = svg("circle", { class: `dot ${mark}`, cx: right, cy: y(number), r: 3.5 });
    return from === null ? [line, end] : [line, end, svg("circle", { class: "dot", cx: left, cy: from, r: 3 })];
  }

  // ---- keyboard ----

  /** Only the row that has the focus, or would get it, is reached by Tab. @param {Element | null} item */
  visit(item) {
    if (!item) return;
    for (const each of this.list.querySelectorAll("button")) each.tabIndex = item.contains(each) ? 0 : -1;
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const item = closest(event, ".branch");
    if (!item || isCombination(event)) return;
    /** @type {NodeListOf<HTMLElement>} */
    const buttons = this.list.querySelectorAll(".open");
    const at = [...this.list.children].indexOf(item);
    /** @type {Record<string, number>} */
    const targets = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: buttons.length - 1 };
    if (event.key === "Delete") this.act("remove", Number(item.dataset.number));
    else if (!(event.key in targets)) return;
    else buttons[targets[event.key]]?.focus();
    consume(event);
  }

  /** @param {Act} what @param {number} branch */
  act(what, branch) {
    if (what === "remove" && !branch) return;
    this.python.trigger("act", { what, branch });
  }
}

export default mount(".branch-tree", BranchTree);
