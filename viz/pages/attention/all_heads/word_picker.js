// @ts-check
// The sentence in the head of the page, and what was written, as words. A click on a word says which one looks, the next
// click at which it looks; until the second one Python hears of nothing.
// Data: the payload of word_picker.py. Sends back the trigger `pair`: { looking, lookedAt }.
import { consume, hearItems, reachByTab, targetOf } from "../../../components/shared/items.js";
import { _, plural, said } from "../../../components/shared/messages.js";
import { mount, View } from "../../../components/shared/mount.js";
import { element, tokenElement } from "../../../components/shared/picture.js";
import { onChosen, tellLooking } from "./picked_words.js";

/** @import { RoleRun } from "../../../components/shared/chat_roles.js" */
/** @import { Chosen } from "./picked_words.js" */

/**
 * `pieces` counts those of a rare word and is 0 for others; `keptColour` is that of what is looked at.
 * @typedef {{ mark: string, language: string, words: string[], pieces: number[], roles: RoleRun[] }} WordLine
 * @typedef {{ lines: WordLine[], chosen: Chosen, keptColour: string, digest: string }} WordsHeader
 */

const HOW = said("Click two words, the one that looks and the one it looks at, for the heads that link them.");

/** What holds the words of a role: its name stands above the first. @param {RoleRun} run */
function roleElement([role, begin, end, colour]) {
  const className = end - begin < 3 ? "role few" : "role";
  const name = element("span", { className: "role-name", ariaHidden: "true" }, role);
  const held = element("span", { className, role: "group", ariaLabel: role }, name);
  held.style.setProperty("--role", colour);
  return held;
}

class WordPicker extends View {
  /** @type {Chosen} */ chosen = [null, null];
  /** The word that looks, while the other one is not clicked yet. @type {number | null} */ looking = null;
  /** @type {HTMLElement[]} */ words = [];
  digest = "";

  start() {
    hearItems(this.root, ".word", this);
    this.root.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || this.looking === null) return;
      this.look(null);
      consume(event);
    });
    onChosen((chosen) => this.show(chosen), this.ended.signal);
  }

  /** @param {{ header: WordsHeader }} payload */
  receive({ header }) {
    this.root.style.setProperty("--kept", header.keptColour);
    if (this.digest !== header.digest) this.build(header);
    this.show(header.chosen);
    this.root.dataset.ready = "1";
  }

  /** @param {WordsHeader} header */
  build({ digest, lines }) {
    this.digest = digest;
    this.words = [];
    const rows = lines.map(({ mark, language, words, pieces, roles }) => {
      const className = roles.length ? "words with-roles" : "words";
      const line = element("span", { className, dir: "auto", lang: language, role: "group", ariaLabel: mark });
      const starts = new Map(roles.map((run) => [run[1], run]));
      /** What the next word is put into. @type {HTMLElement} */ let into = line;
      let ends = -1;
      words.forEach((word, index) => {
        const shown = tokenElement(word, pieces[index] ? "word rare" : "word");
        shown.title = pieces[index]
          ? `${plural("{count} piece.", "{count} pieces.", pieces[index])} ${_(HOW)}`
          : _(HOW);
        shown.role = "button";
        this.words.push(shown);
        if (index === ends) into = line;
        if (index) into.append(" ");
        const run = starts.get(index);
        if (run) {
          into = roleElement(run);
          ends = run[2];
          line.append(into);
        }
        into.append(shown);
      });
      return [element("span", { className: "mark", ariaHidden: "true" }, mark), line];
    });
    this.root.replaceChildren(...rows.flat());
    if (this.words.length) reachByTab(this.words, this.words[0]);
  }

  /** @param {Chosen} chosen */
  show(chosen) {
    this.chosen = chosen;
    this.look(null);
  }

  /** A word that looks, or null, which leaves off. @param {number | null} looking */
  look(looking) {
    const wasLooking = this.looking !== null;
    this.looking = looking;
    const [from, to] = looking === null ? this.chosen : [looking, null];
    this.words.forEach((word, index) => {
      word.classList.toggle("from", index === from);
      word.classList.toggle("to", index === to);
      word.ariaPressed = String(index === from || index === to);
    });
    if (looking !== null || wasLooking) tellLooking(looking === null ? null : this.words[looking].textContent);
  }

  // ---- what a person does ----

  /** @param {HTMLElement} word */
  choose(word) {
    const index = this.words.indexOf(word);
    if (this.looking === null) {
      this.look(index);
      return;
    }
    const pair = { looking: this.looking, lookedAt: index };
    this.show([pair.looking, pair.lookedAt]);
    this.python.trigger("pair", pair);
  }

  /** Arrow keys lead from word to word. @param {HTMLElement} word @param {string} key */
  press(word, key) {
    const count = this.words.length;
    const target = targetOf(key, this.words.indexOf(word), count, count);
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
