// @ts-check
// The sentence in the head of the page, and what was written, as words. Pointing at a word shows at once where the open
// head looks from it; a click keeps it, a click on a second word asks which heads link the two, Escape lets go. With Shift,
// or a long press, a word joins those of its side.
// Data: the payload of viz/ui/words.py. Sends back the trigger `chosen`: { looking, lookedAt }, lists of words.
import {
  given,
  keepWords,
  meets,
  onTold,
  openedHead,
  placeOf,
  placeOfAll,
  pointAt,
  pointed,
  tell,
} from "../shared/focus.js";
import { consume, hearItems, hearLongPress, reachByTab, targetOf } from "../shared/items.js";
import { _, plural, said } from "../shared/messages.js";
import { mount, onResize, View } from "../shared/mount.js";
import { element, tokenElement } from "../shared/picture.js";
import { WordLinks } from "../shared/word_links.js";

/** @import { RoleRun } from "../shared/chat_roles.js" */
/** @import { Axis, Chosen, Focus, Place } from "../shared/focus.js" */

/**
 * `pieces` counts those of a rare word and is 0 for others; `axis` has the tokens of each; `keptColour` is that of what is
 * looked at.
 * @typedef {{ mark: string, language: string, words: string[], pieces: number[], axis: Axis, roles: RoleRun[] }} WordLine
 * @typedef {{ lines: WordLine[], chosen: Chosen, keptColour: string, digest: string }} WordsHeader
 */

const HOW = said(
  "Point at a word to see what the open head attends to from it; click two words to find the heads that link them. Shift+click, or a long press, adds a word.",
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
  /** The words of the selection; those looked at are none while they are awaited. @type {Chosen} */ chosen = [[], []];
  /** @type {HTMLElement[]} */ words = [];
  /** The tokens of each word. @type {Place[]} */ places = [];
  digest = "";
  links = new WordLinks();

  start() {
    const { signal } = this.ended;
    hearItems(this.root, ".word", this);
    hearLongPress(this.root, ".word", (word) => this.add(word));
    this.root.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.chosen[0].length) return;
      this.change([[], []]);
      consume(event);
    });
    onTold("chosen", (chosen) => this.show(chosen), signal);
    onTold("pointed", () => this.tint(), signal);
    onTold("opened", () => this.tellWords(), signal);
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
      word.classList.toggle("from", from.includes(index));
      word.classList.toggle("to", to.includes(index));
      word.ariaPressed = String(from.includes(index) || to.includes(index));
    });
    tell("looking", from.length && !to.length ? this.names()[0] : null);
    this.tellWords();
  }

  /** What the words of both sides are called. */
  names() {
    return this.chosen.map((side) => side.map((index) => this.words[index].textContent).join(" + "));
  }

  /** Tell the page of several words. */
  tellWords() {
    const isSeveral = this.chosen.some((side) => side.length > 1);
    keepWords(isSeveral ? { ...this.focusOf(...this.chosenPlaces()), names: this.names() } : null);
    this.tint();
  }

  /** What is pointed at, or else what is chosen. @returns {Focus | null} */
  focus() {
    return pointed() ?? (this.chosen[0].length ? this.focusOf(...this.chosenPlaces()) : null);
  }

  chosenPlaces() {
    const [from, to] = this.chosen.map((side) => placeOfAll(side.map((index) => this.places[index])));
    return /** @type {const} */ ([/** @type {Place} */ (from), to]);
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

  /** @param {HTMLElement} word @param {{ shiftKey: boolean }} event */
  choose(word, { shiftKey }) {
    if (shiftKey) this.add(word);
    else this.keep(word);
  }

  /** The first word, the second, or, the first again, none. @param {HTMLElement} word */
  keep(word) {
    const index = this.words.indexOf(word);
    const [from, to] = this.chosen;
    tell("picked", this.places[index]);
    if (!from.length || to.length) this.change([[index], []]);
    else this.change(from.includes(index) ? [[], []] : [from, [index]]);
  }

  /** A word joins those of the side that was chosen last, or leaves them; one of another line begins the next side. @param {HTMLElement} word */
  add(word) {
    const index = this.words.indexOf(word);
    const [from, to] = this.chosen;
    const last = to.length ? to : from;
    if (!last.length || this.places[last[0]].side !== this.places[index].side) return this.keep(word);
    const now = last.includes(index) ? last.filter((other) => other !== index) : [...last, index];
    this.change(to.length ? [from, now] : [now, []]);
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
