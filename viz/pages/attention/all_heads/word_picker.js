// @ts-check
// The words of a text and of its translation. A click on a word says which one looks, the next click at which it looks;
// until the second one Python hears of nothing.
// Data: the payload of word_picker.py. Sends back the trigger `pair`: { looking, lookedAt }.
import { hearItems, reachByTab, targetOf } from "../../../components/shared/items.js";
import { mount, View } from "../../../components/shared/mount.js";
import { button, element, tokenElement } from "../../../components/shared/picture.js";

/**
 * `asked` is what the chosen two are called; a chosen one that is null is no word.
 * @typedef {{
 *   lines: [mark: string, words: string[]][], chosen: [number | null, number | null], asked: [string, string] | null,
 *   keptColour: string, digest: string,
 * }} WordsHeader
 */

const HOW = "Click two words: the one that looks, then the one it looks at.";
const THEN = "Now the word it looks at. Esc leaves off.";

class WordPicker extends View {
  /** @type {WordsHeader} */ header;
  /** The word that looks, while the other one is not clicked yet. @type {number | null} */ looking = null;
  /** @type {HTMLButtonElement[]} */ words = [];
  digest = "";
  question = element("p", { className: "question", role: "status" });
  lines = element("div", "lines");

  start() {
    this.root.replaceChildren(this.question, this.lines);
    hearItems(this.lines, ".word", this);
    this.root.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.leaveOff();
    });
  }

  /** @param {{ header: WordsHeader }} payload */
  receive({ header }) {
    this.header = header;
    this.looking = null;
    this.root.style.setProperty("--kept", header.keptColour);
    if (this.digest !== header.digest) this.build();
    this.draw();
    this.root.dataset.ready = "1";
  }

  build() {
    this.digest = this.header.digest;
    this.words = [];
    const rows = this.header.lines.map(([mark, words]) => {
      const line = element("div", { className: "words", dir: "auto", role: "group", ariaLabel: mark });
      for (const word of words) {
        const created = button({ className: "word", tabIndex: -1 }, () => {}, tokenElement(word, ""));
        this.words.push(created);
        line.append(created, " ");
      }
      return [element("span", "mark muted", mark), line];
    });
    this.lines.replaceChildren(...rows.flat());
    if (this.words.length) reachByTab(this.words, this.words[0]);
  }

  draw() {
    const { chosen, asked } = this.header;
    const [from, to] = this.looking === null ? chosen : [this.looking, null];
    this.words.forEach((word, index) => {
      word.classList.toggle("from", index === from);
      word.classList.toggle("to", index === to);
      word.ariaPressed = String(index === from || index === to);
    });
    const named = (/** @type {string} */ name, /** @type {string} */ part) =>
      element("b", part, tokenElement(name, ""));
    const how = element("span", "how muted", this.looking === null ? HOW : THEN);
    if (this.looking !== null) {
      const name = this.words[this.looking].textContent ?? "";
      this.question.replaceChildren("Which heads link ", named(name, "from"), " to …? ", how);
    } else if (asked) {
      const [first, second] = asked;
      this.question.replaceChildren("Which heads link ", named(first, "from"), " to ", named(second, "to"), "? ", how);
    } else this.question.replaceChildren("Which heads link one word to another? ", how);
  }

  leaveOff() {
    this.looking = null;
    this.draw();
  }

  // ---- what a person does ----

  /** @param {HTMLElement} word */
  choose(word) {
    const index = this.words.indexOf(/** @type {HTMLButtonElement} */ (word));
    if (this.looking === null) {
      this.looking = index;
    } else {
      const looking = this.looking;
      this.looking = null;
      this.header = { ...this.header, chosen: [looking, index] };
      this.header.asked = [this.words[looking].textContent ?? "", this.words[index].textContent ?? ""];
      this.python.trigger("pair", { looking, lookedAt: index });
    }
    this.draw();
  }

  /** Arrow keys lead from word to word. @param {HTMLElement} word @param {string} key */
  press(word, key) {
    const count = this.words.length;
    const target = targetOf(key, this.words.indexOf(/** @type {HTMLButtonElement} */ (word)), count, count);
    if (target === undefined || !this.words[target]) return false;
    this.words[target].focus();
    return true;
  }

  /** @param {HTMLElement} word */
  visit(word) {
    reachByTab(this.words, word);
  }

  point() {}

  leave() {}
}

export default mount(".word-picker", WordPicker);
