// @ts-check
// The sentence in the head of the page, and what was written, as words. Pointing at a word shows at once where the open
// head looks from it; a click keeps it, a click on a second word asks which heads link the two, Escape lets go.
// Data: the payload of word_picker.py. Sends back the trigger `chosen`: { looking, lookedAt }, of words or null.
import { given, meets, onTold, openedHead, placeOf, pointAt, pointed, tell } from "../../../pictures/shared/focus.js";
import { consume, hearItems, reachByTab, targetOf } from "../../../pictures/shared/items.js";
import { _, plural, said } from "../../../pictures/shared/messages.js";
import { mount, onResize, View } from "../../../pictures/shared/mount.js";
import { element, tokenElement } from "../../../pictures/shared/picture.js";
import { WordLinks } from "../../../pictures/shared/word_links.js";

/** @import { RoleRun } from "../../../pictures/shared/chat_roles.js" */
/** @import { Axis, Chosen, Focus, Place } from "../../../pictures/shared/focus.js" */

/**
 * `pieces` counts those of a rare word and is 0 for others; `axis` has the tokens of each; `keptColour` is that of what is
 * looked at.
 * @typedef {{ mark: string, language: string, words: string[], pieces: number[], axis: Axis, roles: RoleRun[] }} WordLine
 * @typedef {{ lines: WordLine[], chosen: Chosen, keptColour: string, digest: string }} WordsHeader
 */

const HOW = said(
  "Point at a word to see what the open head attends to from it; click two words to find the heads that link them.",
);

/** What holds the words of a role: its name stands above the first. @param {RoleRun} run */
function roleElement([role, begin, end, colour]) {
  const className = end - begin < 3 ? "role few" : "role";
  const name = element("span", { className: "role-name", ariaHidden: "true" }, role);
  const held = element("span", { className, role: "group", ariaLabel: role }, name);
  held.style.setProperty("--role", colour);
  return held;
}

class WordPicker extends View {
  /** The words of the selection; the second is null while it is awaited. @type {Chosen} */ chosen = [null, null];
  /** @type {HTMLElement[]} */ words = [];
  /** The tokens of each word. @type {Place[]} */ places = [];
  digest = "";
  links = new WordLinks();

  start() {
    const { signal } = this.ended;
    hearItems(this.root, ".word", this);
    this.root.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || this.chosen[0] === null) return;
      this.change([null, null]);
      consume(event);
    });
    onTold("chosen", (chosen) => this.show(chosen), signal);
    onTold("pointed", () => this.tint(), signal);
    onTold("opened", () => this.tint(), signal);
    onResize(this, () => this.tint());
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
    this.places = lines.flatMap(({ axis, words }) => words.map((_word, index) => placeOf(axis, index)));
    const rows = lines.map(({ mark, language, words, pieces, roles }) => {
      const className = roles.length ? "words with-roles" : "words";
      const line = element("span", { className, dir: "auto", lang: language, role: "group", ariaLabel: mark });
      const starts = new Map(roles.map((run) => [run[1], run]));
      /** What the next word is put into. @type {HTMLElement} */ let into = line;
      let ends = -1;
      words.forEach((word, index) => {
        const shown = tokenElement(word, pieces[index] ? "word rare" : "word");
        if (pieces[index]) shown.title = plural("{count} token.", "{count} tokens.", pieces[index]);
        shown.ariaDescription = _(HOW);
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
      line.addEventListener("scroll", () => this.tint());
      return [element("span", { className: "mark", ariaHidden: "true" }, mark), line];
    });
    this.root.replaceChildren(...rows.flat(), this.links.element);
    if (this.words.length) reachByTab(this.words, this.words[0]);
  }

  // ---- what is shown ----

  /** @param {Chosen} chosen */
  show(chosen) {
    this.chosen = chosen;
    const [from, to] = chosen;
    this.words.forEach((word, index) => {
      word.classList.toggle("from", index === from);
      word.classList.toggle("to", index === to);
      word.ariaPressed = String(index === from || index === to);
    });
    tell("looking", from !== null && to === null ? this.words[from].textContent : null);
    this.tint();
  }

  /** What is pointed at, or else what is chosen. @returns {Focus | null} */
  focus() {
    const [from, to] = this.chosen;
    if (pointed() || from === null) return pointed();
    return this.focusOf(this.places[from], to === null ? null : this.places[to]);
  }

  /** A word looks, where the open head has rows for it; else it is looked at. @param {Place} place @param {Place | null} [key] @returns {Focus} */
  focusOf(place, key = null) {
    const { rows, columns } = openedHead() ?? {};
    if (!key && rows?.side !== place.side && columns?.side === place.side) return { query: null, key: place };
    return { query: place, key };
  }

  /** Tint each word by what the open head gives it from the word in focus, or it gives to that, and draw the lines. */
  tint() {
    const [focus, head] = [this.focus(), openedHead()];
    const { query = null, key = null } = focus ?? {};
    const own = query ?? key;
    const shares = this.places.map((place) => {
      if (!head) return null;
      if (query) return given(head, query, place);
      return key && given(head, place, key);
    });
    const most = Math.max(1, ...shares.map((share) => share ?? 0));
    const isPointing = pointed() !== null;
    this.root.classList.toggle("pointing", isPointing);
    this.words.forEach((word, index) => {
      word.classList.toggle("looks", isPointing && meets(query, this.places[index]));
      word.classList.toggle("looked-at", isPointing && meets(key, this.places[index]));
      word.style.setProperty("--share", ((shares[index] ?? 0) / most).toFixed(3));
    });
    const from = this.words.filter((_word, index) => meets(own, this.places[index]));
    this.links.draw(this.root, from, this.words, shares, most);
  }

  // ---- what a person does ----

  /** @param {Chosen} chosen */
  change(chosen) {
    this.show(chosen);
    this.python.trigger("chosen", { looking: chosen[0], lookedAt: chosen[1] });
  }

  /** The first word, the second, or, the first again, none. @param {HTMLElement} word */
  choose(word) {
    const index = this.words.indexOf(word);
    const [from, to] = this.chosen;
    if (from === null || to !== null) this.change([index, null]);
    else this.change(index === from ? [null, null] : [from, index]);
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
    if (word.matches(":focus-visible")) this.point(word);
  }

  /** @param {HTMLElement} word */
  point(word) {
    pointAt(this.focusOf(this.places[this.words.indexOf(word)]));
  }

  leave() {
    pointAt(null);
  }
}

export default mount(".word-picker", WordPicker);
