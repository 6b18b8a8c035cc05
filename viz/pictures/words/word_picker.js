// The sentence in the head of the page, and what was written, as words. Pointing at a word shows at once where the open
// head looks from it; a click keeps it, a click on a second word asks which heads link the two, Escape lets go. With Shift,
// or a long press, a word joins those of its side.
// Data: the payload of viz/ui/words.py. Sends back the trigger `chosen`: { looking, lookedAt, serial }, lists of words.
import {
  given,
  keepWords,
  meets,
  onceTold,
  onTold,
  openedHead,
  placeOf,
  placeOfAll,
  pointAt,
  pointed,
  pointedHead,
  tell,
} from "../shared/focus.js";
import { consume, hearItems, hearLongPress, isFreeEscape, reachByTab, targetOf } from "../shared/items.js";
import { _, plural } from "../shared/messages.js";
import { mount, onResize, View } from "../shared/mount.js";
import { button, directionOf, element, tokenElement } from "../shared/picture.js";
import { onTiles, tilesAt } from "../shared/tile_store.js";
import { WordLinks } from "../shared/word_links.js";

/** @import { RoleRun } from "../shared/chat_roles.js" */
/** @import { Axis, Chosen, Focus, Place, Weights } from "../shared/focus.js" */

/**
 * `pieces` counts those of a rare word and is 0 for others; `axis` has the tokens of each, and `twins` those of its twin in
 * a sentence beside this one; `heads` tint the words where the page has none open; `keptColour` is that of what is looked
 * at; `heard` is the last choice that Python knows of.
 * @typedef {{ word: number, name: string, colour: string, line: string, doubt: string }} WordMark
 * @typedef {{
 *   mark: string, language: string, words: string[], pieces: number[], axis: Axis, roles: RoleRun[], marks: WordMark[],
 *   twins: Axis | null,
 * }} WordLine
 * @typedef {{ address: string, site: string, layer: number, head: number }} WordHeads
 * @typedef {{
 *   lines: WordLine[], chosen: Chosen, resting: number[], heads: WordHeads | null, isSingle: boolean, how: string,
 *   isProposed: boolean, keptColour: string, digest: string, heard?: number,
 * }} WordsHeader
 */

/** What a word is called: with whose it is where both texts have one spelled so. @param {string} word @param {Axis} axis @param {WordLine[]} lines */
function nameOf(word, { side }, lines) {
  if (!lines.some((line) => line.axis.side !== side && line.words.includes(word))) return word;
  return side.endsWith("source") ? _("{word} (source)", { word }) : _("{word} (translation)", { word });
}

/** What holds the words of a role: its name stands above the first. @param {RoleRun} run */
function roleElement([role, begin, end, colour]) {
  const className = end - begin < 3 ? "role few" : "role";
  const name = element("span", { className: "role-name", ariaHidden: "true" }, role);
  return element("span", { className, role: "group", ariaLabel: role, style: `--role:${colour}` }, name);
}

/** Whether a word is among the lines of its text that are in sight. @param {HTMLElement} word */
function isInSight(word) {
  const line = /** @type {Element} */ (word.closest(".words")).getBoundingClientRect();
  const box = word.getBoundingClientRect();
  const middle = (box.top + box.bottom) / 2;
  return line.top < middle && middle < line.bottom;
}

class WordPicker extends View {
  /** The words of the selection; those looked at are none while they are awaited. @type {Chosen} */ chosen = [[], []];
  /** @type {HTMLElement[]} */ words = [];
  /** The tokens of each word. @type {Place[]} */ places = [];
  /** The tokens of its twin in the sentence beside this one, where there is one. @type {Place[]} */ twins = [];
  /** @type {WordsHeader} */ header;
  /** The head of the tiles that was asked for last, by its name. @type {[string, Weights] | null} */ weights = null;
  /** @type {(() => void) | undefined} */ stopWaiting;
  digest = "";
  width = 0;
  /** Whether the page has marked these words, and no person. */ isProposed = true;
  /** Whether a step chose the word: the next one that is clicked is then the first. */ isOfStep = false;
  /** Of the last choice among these words; one made later, here or on another page, has a larger one. */ serial = 0;
  tintSoon = onceTold(() => this.tint());
  links = new WordLinks();

  start() {
    const { signal } = this.ended;
    hearItems(this.root, ".word", this);
    hearLongPress(this.root, ".word", (word) => this.add(word));
    // Wherever the focus is, unless Escape means something there: it lets go of what is chosen.
    const letGo = (/** @type {KeyboardEvent} */ event) => {
      if (!this.chosen[0].length || this.isProposed || !isFreeEscape(event)) return;
      this.change([[], []]);
      consume(event);
    };
    document.addEventListener("keydown", letGo, { signal });
    onTold("chosen", (answer) => this.take(answer), signal);
    onTold("stepped", (place) => this.showStep(place), signal);
    onTold("pointed", this.tintSoon, signal);
    onTold("opened", () => this.tellWords(), signal);
    onTold("head", () => this.header?.heads && this.tintSoon(), signal);
    onResize(this, () => {
      // The sign that a text goes on takes room: then other lines have other words in sight.
      this.markCut();
      if (this.width !== this.root.clientWidth) this.bringIntoSight();
      this.width = this.root.clientWidth;
      this.tint();
    });
  }

  /** @param {{ header: WordsHeader }} payload */
  receive({ header }) {
    this.root.style.setProperty("--kept", header.keptColour);
    this.header = header;
    if (this.digest !== header.digest) {
      this.build(header);
      this.markCut();
    }
    this.stopWaiting?.();
    if (header.heads) this.stopWaiting = onTiles(header.heads.address, () => this.tint());
    this.take(header);
    this.root.dataset.ready = "1";
  }

  dispose() {
    super.dispose();
    this.stopWaiting?.();
  }

  /** @param {WordsHeader} header */
  build({ digest, lines, how }) {
    this.digest = digest;
    this.serial = 0;
    this.chosen = [[], []];
    this.words = [];
    this.places = lines.flatMap(({ axis, words }) =>
      words.map((word, index) => ({ ...placeOf(axis, index), name: nameOf(word, axis, lines) })),
    );
    this.twins = lines.flatMap(({ twins, words }) => (twins ? words.map((_word, index) => placeOf(twins, index)) : []));
    const rows = lines.map(({ mark, language, words, pieces, roles, marks }) => {
      const className = roles.length ? "words with-roles" : "words";
      const line = element("span", { className, lang: language, role: "group", ariaLabel: mark });
      line.dir = directionOf(words);
      const starts = new Map(roles.map((run) => [run[1], run]));
      /** What the next word is put into. @type {HTMLElement} */ let into = line;
      let ends = -1;
      words.forEach((word, index) => {
        const shown = tokenElement(word, pieces[index] ? "word rare" : "word");
        if (pieces[index]) shown.title = plural("{count} token.", "{count} tokens.", pieces[index]);
        shown.ariaDescription = how;
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
        const own = marks.find(({ word }) => word === index);
        if (own) into.append(...this.markWord(shown, own));
      });
      line.addEventListener("scroll", () => this.tint());
      return [element("span", { className: "mark", ariaHidden: "true" }, mark), line, this.unfolding(line)];
    });
    // Two sentences beside a picture have less room.
    this.root.classList.toggle("small", this.twins.length > 0);
    this.root.replaceChildren(...rows.flat(), this.links.element);
    if (this.words.length) reachByTab(this.words, this.words[0]);
  }

  /** Behind a text that is cut: the sign that it goes on, which shows all of it, and two lines again. @param {HTMLElement} line */
  unfolding(line) {
    const act = () => {
      unfold.ariaExpanded = String(line.classList.toggle("whole"));
      this.bringIntoSight();
      this.tint();
    };
    const title = _("Show all of the text");
    const unfold = button({ className: "unfold", title, ariaLabel: title, ariaExpanded: "false" }, act, "…");
    return unfold;
  }

  /** Offer all of what is cut. */
  markCut() {
    for (const line of this.root.querySelectorAll(".words")) {
      const isCut = line.classList.contains("whole") || line.scrollHeight > line.clientHeight + 4;
      line.nextElementSibling?.classList.toggle("needed", isCut);
    }
  }

  /** What a word is, below it and behind it. @param {HTMLElement} word @param {WordMark} mark */
  markWord(word, { name, colour, line, doubt }) {
    word.classList.add("marked");
    Object.assign(word, { title: name, style: `--mark:${colour};--mark-line:${line}` });
    return doubt ? [element("sup", { title: doubt }, "?")] : [];
  }

  // ---- what is shown ----

  /** Show what is chosen, unless that answers to a choice before the last one. @param {{ chosen: Chosen, isProposed: boolean, heard?: number }} answer */
  take({ chosen, isProposed, heard = 0 }) {
    if (heard >= this.serial) this.isProposed = isProposed;
    this.show(heard < this.serial ? this.chosen : chosen);
  }

  /** Another part of the page is at the step that writes a token: its word is the one chosen. @param {Place} place */
  showStep(place) {
    const index = this.places.findIndex((own) => meets(place, own));
    this.isProposed = false;
    this.isOfStep = true;
    if (index < 0 || !this.chosen[0].includes(index)) this.show([index < 0 ? [] : [index], []]);
  }

  /** @param {Chosen} given */
  show(given) {
    // What is chosen in another text can be told before that text is here.
    const chosen = /** @type {Chosen} */ (given.map((side) => side.filter((index) => index in this.places)));
    const isOther = String(chosen) !== String(this.chosen) || !this.root.dataset.ready;
    this.chosen = chosen;
    const [from, to] = chosen;
    this.words.forEach((word, index) => {
      word.classList.toggle("from", from.includes(index));
      word.classList.toggle("to", to.includes(index));
      word.ariaPressed = String(from.includes(index) || to.includes(index));
    });
    tell("looking", from.length && !to.length ? placeOfAll(from.map((index) => this.places[index]))?.name : null);
    this.tellWords();
    if (isOther) this.bringIntoSight();
  }

  /** Scroll each line to the words that are chosen in it; where not all can be in sight, to those that look. */
  bringIntoSight() {
    for (const word of this.chosen.toReversed().flatMap((side) => side.map((index) => this.words[index]))) {
      const line = word?.closest(".words");
      if (!line) continue;
      const [frame, box] = [line.getBoundingClientRect(), word.getBoundingClientRect()];
      // Browsers scroll by whole pixels.
      line.scrollTop +=
        Math.floor(Math.min(0, box.top - frame.top)) + Math.ceil(Math.max(0, box.bottom - frame.bottom));
    }
  }

  /** Tell the page of words with several tokens, and of several words. */
  tellWords() {
    const isSeveral = this.chosen.some((side) => side.flatMap((index) => this.places[index].tokens).length > 1);
    keepWords(isSeveral ? this.focusOf(...this.chosenPlaces()) : null);
    this.tintSoon();
  }

  /** What is pointed at, or else what is chosen, or else what looks at rest. @returns {Focus | null} */
  focus() {
    const focus = pointed();
    if (focus) return { query: this.own(focus.query), key: this.own(focus.key) };
    if (this.chosen[0].length) return this.focusOf(...this.chosenPlaces());
    const resting = placeOfAll(this.header.resting.map((index) => this.places[index]));
    return resting && this.focusOf(resting);
  }

  /** A place of the sentence beside this one stands for the twins of its words. @param {Place | null} place */
  own(place) {
    if (!place || !this.twins.length || this.places.some(({ side }) => side === place.side)) return place;
    return placeOfAll(this.places.filter((_own, index) => meets(place, this.twins[index])));
  }

  /** The head that tints the words: that of the page, or one of its own, pointed at or open. @returns {Weights | null} */
  head() {
    const { heads } = this.header ?? {};
    if (!heads) return openedHead();
    const tiles = tilesAt(heads.address);
    if (!tiles?.header.axes || tiles.isPooled) return null;
    const aimed = pointedHead();
    const { layer, head } = aimed?.site === heads.site ? aimed : heads;
    const name = `${heads.address} ${layer} ${head}`;
    if (this.weights?.[0] !== name) {
      const { columns: across, queryTokens: rowTokens, keyTokens: columnTokens } = tiles.header;
      const [rows, columns] = tiles.header.axes;
      const values = tiles.weightsOf([layer, head]);
      const valueAt = (/** @type {number} */ row, /** @type {number} */ column) => values[row * across + column];
      this.weights = [name, { rows, columns, rowTokens, columnTokens, valueAt }];
    }
    return this.weights[1];
  }

  chosenPlaces() {
    const [from, to] = this.chosen.map((side) => placeOfAll(side.map((index) => this.places[index])));
    return /** @type {const} */ ([/** @type {Place} */ (from), to]);
  }

  /** A word looks, where the open head has rows for it; else it is looked at. @param {Place} place @param {Place | null} [key] @returns {Focus} */
  focusOf(place, key = null) {
    const { rows, columns } = this.head() ?? {};
    if (!key && rows?.side !== place.side && columns?.side === place.side) return { query: null, key: place };
    return { query: place, key };
  }

  /** Tint each word by what the open head gives it from the word in focus, or it gives to that, and draw the lines. */
  tint() {
    if (!this.header) return;
    const [focus, head] = [this.focus(), this.head()];
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
    this.links.draw(this.root, from, this.words, shares, most, isInSight);
  }

  // ---- what a person does ----

  /** @param {Chosen} chosen */
  change(chosen) {
    this.isProposed = this.isOfStep = false;
    this.show(chosen);
    this.serial = Math.max(Date.now(), this.serial + 1);
    this.python.trigger("chosen", { looking: chosen[0], lookedAt: chosen[1], serial: this.serial });
  }

  /** @param {HTMLElement} word @param {{ shiftKey: boolean }} event */
  choose(word, { shiftKey }) {
    if (shiftKey) this.add(word);
    else this.keep(word);
  }

  /** The first word, the second, or, the first again, none. @param {HTMLElement} word */
  keep(word) {
    const index = this.words.indexOf(word);
    const [from, to] = this.isOfStep ? [[], []] : this.chosen;
    const isFirst = this.header.isSingle || !from.length || to.length > 0;
    const isAgain = from.includes(index) && (this.header.isSingle || !isFirst);
    if (isFirst && !isAgain) tell("picked", this.places[index]);
    this.change(isAgain ? [[], []] : isFirst ? [[index], []] : [from, [index]]);
  }

  /** A word joins those of the side that was chosen last, or leaves them; one of another line begins the next side. @param {HTMLElement} word */
  add(word) {
    const index = this.words.indexOf(word);
    const [from, to] = this.chosen;
    const last = to.length ? to : from;
    if (this.header.isSingle || !last.length || this.places[last[0]].side !== this.places[index].side)
      return this.keep(word);
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
