// A question about a score: its trail, the sentences tinted by what the chosen bar read, and the bars. A bar is chosen by
// pointer, focus or arrow keys; a click on it, or on a tinted word, asks Why? of it. What is chosen can be tested: what
// is left without it. Data: `Page` of payload.py.
import { closest, consume, isCombination, isTyped } from "../../../pictures/shared/items.js";
import { _, sentenceParts } from "../../../pictures/shared/messages.js";
import { mount, View } from "../../../pictures/shared/mount.js";
import { button, element, isPresented, tokenElement } from "../../../pictures/shared/picture.js";
import { hueOf, signed } from "./shares.js";

/** @typedef {{ line: number, token: number, share: number, trail: string, test: string }} Tint */
/**
 * @typedef {{
 *   name: string, share: number, trail: string, test: string, refused: string, tints: Tint[], heads: Row[],
 *   isChosen: boolean, stays: string,
 * }} Row
 */
/** @typedef {{ score: number, key: number, rival: number, odds: number | null, text: string }} Run */
/** @typedef {{ refused: string, predicted: number | null, product: number | null, run: Run | null }} Test */
/** @typedef {{ title: string, rows: Row[], shown: number, isMain: boolean, rest: Row | null }} Group */
/** @typedef {{ mark: string, tokens: string[], begins: boolean[], swapped: number[], query: number | null, writes: string }} Line */
/** @typedef {{ name: string, total: number, trail: string, isAhead: boolean }} Crumb */
/**
 * @typedef {{
 *   key: string, rival: string, rivalKey: number, rivals: { position: number, name: string, weight: number }[],
 *   asked: string, total: number, where: string, because: string, crumbs: Crumb[], exact: string, isExact: boolean,
 *   lines: Line[], gauges: { key: number, rival: number }[], twin: string, text: string, groups: Group[], note: string,
 *   scores: number[], how: string, tests: Record<string, Test>, intact: (Run | null)[], runs: boolean, pair: string[],
 *   warm: string, cold: string,
 * }} WhyHeader
 */

/** So many tinted words of a line have their number below them, where it has the room of so many characters. */
const [MOST_NUMBERS, NUMBER_WIDE] = [6, 5.5];
/** A pointer that rests so long on a bar chooses it. */
const REST_MS = 80;
/** A share below this part of the largest is not tinted. */
const LEAST = 0.02;

/** A number of its own, with its sign. @param {number} value */
const fixed = (value) => `${value < 0 ? "−" : ""}${Math.abs(value).toFixed(2)}`;
/** What a bar that has the focus is called. @param {Row} row */
const focusOf = ({ test, name }) => `bar ${test || name}`;

/** The largest shares of a line, as far as their numbers have room next to one another. @param {Tint[]} tints @param {Line} line */
function numberedOf(tints, { tokens, begins }) {
  let end = 0;
  const middles = tokens.map((token, at) => {
    const begin = end + (begins[at] ? 0.5 : 0);
    end = begin + [...token].reduce((sum, sign) => sum + (sign > "⺀" ? 2 : 1), 0);
    return (begin + end) / 2;
  });
  /** @type {Set<Tint>} */
  const kept = new Set();
  for (const tint of [...tints].sort((a, b) => Math.abs(b.share) - Math.abs(a.share))) {
    const hasRoom = [...kept].every(({ token }) => Math.abs(middles[token] - middles[tint.token]) >= NUMBER_WIDE);
    if (hasRoom && kept.size < MOST_NUMBERS) kept.add(tint);
  }
  return kept;
}

class Why extends View {
  /** @type {WhyHeader} */ header;
  /** @type {Row | null} */ chosen = null;
  /** A word that is chosen in the sentence. @type {Tint | null} */ word = null;
  /** The words of a text that are tested together; null while a click on a word asks why. @type {Set<string> | null} */
  together = null;
  /** @type {Map<HTMLElement, Row>} */ bars = new Map();
  /** @type {Map<HTMLElement, Tint>} */ words = new Map();
  /** Groups whose rest is shown, and bars whose heads are. @type {Set<string>} */ opened = new Set();
  shownTrail = /** @type {string | null} */ (null);
  lines = element("div", "lines");
  testing = element("section", "test");

  start() {
    const { signal } = this.ended;
    this.root.addEventListener("keydown", (event) => this.press(event), { signal });
    const choosing = (/** @type {Event} */ event) => {
      const [bar, word] = [closest(event, ".bar"), closest(event, ".word.on")];
      return () => {
        const [row, tint] = [bar && this.bars.get(bar), word && this.words.get(word)];
        if (row && (row !== this.chosen || this.word)) this.choose(row);
        if (tint && tint !== this.word && !this.together) this.chooseWord(tint);
      };
    };
    this.root.addEventListener("focusin", (event) => choosing(event)(), { signal });
    // A bar that is drawn below a resting pointer, or passed on the way to a word, is not chosen.
    let resting = 0;
    const point = (/** @type {PointerEvent} */ event) => {
      if (!event.movementX && !event.movementY) return;
      clearTimeout(resting);
      resting = setTimeout(choosing(event), REST_MS);
    };
    this.root.addEventListener("pointermove", point, { signal });
  }

  /** @param {{ header: WhyHeader }} payload */
  receive({ header }) {
    const trail = header.crumbs.findLast(({ isAhead }) => !isAhead)?.trail ?? "";
    const isStep = this.shownTrail !== null && this.shownTrail !== trail;
    if (isStep) this.opened.clear();
    const { chosen, word } = this;
    const focus = isStep ? null : this.focused();
    this.header = header;
    this.shownTrail = trail;
    for (const name of /** @type {const} */ (["warm", "cold"])) this.root.style.setProperty(`--${name}`, header[name]);
    const rows = header.groups.flatMap(({ rows, rest }) => [...rows, ...(rest ? [rest] : [])]);
    const all = rows.flatMap((row) => [row, ...row.heads]);
    const same = isStep ? undefined : all.find((row) => row.test === chosen?.test && row.name === chosen.name);
    this.chosen = same ?? header.groups.find(({ isMain }) => isMain)?.rows[0] ?? null;
    const isWord = (/** @type {Tint} */ tint) => tint.trail === word?.trail && tint.line === word.line;
    this.word = (same && this.chosen?.tints.find(isWord)) ?? null;
    if (!same) this.together = null;
    this.draw();
    if (focus) this.focus(focus);
    if (isStep) this.root.querySelector("h2")?.focus({ preventScroll: true });
    this.root.dataset.ready = trail || "question";
  }

  draw() {
    const { header } = this;
    this.bars.clear();
    this.root.classList.toggle("presented", isPresented(this.root));
    this.root.replaceChildren(
      this.trail(),
      this.question(),
      element("p", "where", header.where),
      element("p", "because", header.because),
      this.lines,
      element("p", "note", header.note),
      this.testing,
      element("div", "groups", ...header.groups.map((group) => this.group(group))),
    );
    this.drawLines();
    this.drawTest();
  }

  /** What has the focus, so that it has it again once all is drawn anew. */
  focused() {
    const root = /** @type {Document | ShadowRoot} */ (this.root.getRootNode());
    return root.activeElement instanceof HTMLElement ? (root.activeElement.dataset.focus ?? null) : null;
  }

  /** @param {string} name */
  focus(name) {
    /** @type {NodeListOf<HTMLElement>} */
    const all = this.root.querySelectorAll("[data-focus]");
    [...all].find(({ dataset }) => dataset.focus === name)?.focus({ preventScroll: true });
  }

  /** @param {string} trail */
  go(trail) {
    this.python.trigger("trail", { codes: trail });
  }

  trail() {
    const { crumbs, exact, isExact } = this.header;
    const now = crumbs.findLastIndex(({ isAhead }) => !isAhead);
    const steps = crumbs.map(({ name, total, trail, isAhead }, at) => {
      const number = element("span", "number", signed(total));
      const step = button(isAhead ? "crumb ahead" : "crumb", () => this.go(trail), name, " ", number);
      if (at === now) step.ariaCurrent = "step";
      if (isAhead) step.title = _("Not asked yet: what contributes most from here on");
      return [...(at ? [element("span", { className: "arrow", ariaHidden: "true" }, "←")] : []), step];
    });
    const badge = element("span", isExact ? "exact" : "inexact", `${isExact ? "✓" : "✗"} ${exact}`);
    badge.title = _(
      "The parts add up to the score. For every answer, the difference between their sum and the score is checked, as a share of the score.",
    );
    return element("nav", { className: "trail", ariaLabel: _("Trail") }, ...steps.flat(), badge);
  }

  question() {
    const { key, rival, rivals, rivalKey, asked, total } = this.header;
    const heading = (/** @type {string} */ sentence, /** @type {Record<string, Node>} */ values) =>
      element("h2", { tabIndex: -1 }, ...sentenceParts(sentence, values));
    const number = element("span", `chip ${hueOf(total)}`, signed(total));
    if (asked) return heading(_("Why does {name} contribute {total}?"), { name: tokenElement(asked), total: number });
    const options = rivals.map(({ position, name, weight }) =>
      Object.assign(new Option(name, String(position), false, position === rivalKey), { title: weight.toFixed(4) }),
    );
    const onchange = () => this.python.trigger("rival", { key: Number(list.value) });
    const ariaLabel = _("The key that it is compared with");
    const list = element("select", { className: "chip cold", ariaLabel, onchange }, ...options);
    const other = rivals.length > 1 ? list : tokenElement(rival, "chip cold");
    return heading(_("Why {key} and not {rival}?"), { key: tokenElement(key, "chip warm"), rival: other });
  }

  // ---- sentences ----

  drawLines() {
    const { lines, gauges, twin } = this.header;
    const tints = this.chosen?.tints ?? [];
    const most = Math.max(...tints.map(({ share }) => Math.abs(share)), 1e-9);
    this.words.clear();
    const each = Math.ceil(lines.length / gauges.length);
    const blocks = gauges.map((gauge, side) => {
      const words = lines.slice(side * each, (side + 1) * each).map((line, number) => {
        const own = tints.filter((tint) => tint.line === side * each + number);
        return this.line(line, own, most);
      });
      const tools = side || !twin ? this.twinTools(side) : [];
      return element("div", "block", element("div", "words", ...words, ...tools), this.gauge(gauge));
    });
    this.lines.replaceChildren(...blocks);
  }

  /** @param {Line} line @param {Tint[]} tints @param {number} most */
  line(line, tints, most) {
    const { mark, tokens, begins, swapped, query, writes } = line;
    const seen = tints.filter(({ share }) => Math.abs(share) >= LEAST * most);
    const numbered = numberedOf(seen, line);
    const words = tokens.map((token, at) => {
      const own = tints.find((each) => each.token === at);
      const tint = own && (seen.includes(own) || (this.together && own.test !== "")) ? own : undefined;
      const look = ["word", swapped.includes(at) && "swapped", at === query && "query"];
      if (!tint) return element("span", look.filter(Boolean).join(" "), tokenElement(token, ""));
      const number = signed(tint.share);
      const className = [...look, "on", hueOf(tint.share), tint === this.word && "chosen"].filter(Boolean).join(" ");
      const style = `--share:${Math.abs(tint.share) / most}`;
      const named = { className, style, dataset: { focus: `word ${tint.line} ${tint.token}` } };
      const word = button(named, () => this.pressWord(tint), tokenElement(token, ""));
      this.words.set(word, tint);
      if (this.together && tint.test !== "") {
        word.ariaPressed = String(this.together.has(tint.test));
        const named = this.sideOf(tint) ? _("{words} in the twin", { words: token }) : token;
        word.ariaLabel = _("{word}, {share}: test it with others", { word: named, share: number });
      } else {
        word.ariaLabel = _("{word}, {share}: why?", { word: token, share: number });
        word.disabled = !tint.trail || this.together !== null;
      }
      if (numbered.has(tint)) {
        const left = this.left(this.header.tests[tint.test], this.sideOf(tint));
        word.dataset.number = left ? `${number}\n${left}` : number;
      }
      return word;
    });
    // A space at the end of a line takes no room.
    const spaced = words.flatMap((word, at) => (at && begins[at] ? [" ", word] : [word]));
    if (writes) spaced.push(" ", element("span", "word writes", tokenElement(writes, "")));
    return element("p", "line", element("span", "mark", mark), element("span", "tokens", ...spaced));
  }

  /** @param {Tint} tint */
  pressWord(tint) {
    if (!this.together) return this.go(tint.trail);
    // Nothing runs that reads both sentences.
    const isOther = this.togetherTints().some((each) => this.sideOf(each) !== this.sideOf(tint));
    if (isOther) this.together.clear();
    if (!this.together.delete(tint.test)) this.together.add(tint.test);
    this.drawAgain();
  }

  // ---- tests ----

  /** Whether a word is the text's, 0, or the twin's, 1. @param {Tint} tint */
  sideOf({ line }) {
    return Math.floor((line * this.header.gauges.length) / this.header.lines.length);
  }

  /** By how much the score falls without it: by a run, else by one product. @param {Test | undefined} test */
  left(test, side = 0) {
    const after = test?.run?.score ?? test?.product ?? null;
    return after === null ? "" : `${test?.run ? "●" : "◇"} ${signed(this.header.scores[side] - after)}`;
  }

  togetherTints() {
    return this.chosen?.tints.filter(({ test }) => this.together?.has(test)) ?? [];
  }

  /** What would be tested now: its name, its codes, in which text, why it cannot be, and what of it stays. */
  subject() {
    const { chosen, word, together } = this;
    if (!together && !word) {
      const { name, test, refused, stays } = chosen ?? { name: "", test: "", refused: "", stays: "" };
      return { name, codes: test, side: 0, refused, stays };
    }
    const tints = together ? this.togetherTints() : word ? [word] : [];
    const [first, ...others] = tints;
    const codes = first ? [first.test, ...others.map(({ test }) => test.split(".").at(-1))].join("+") : "";
    const words = tints.map(({ line, token }) => `“${this.header.lines[line].tokens[token]}”`).join(" + ");
    const side = first ? this.sideOf(first) : 0;
    return { name: side ? _("{words} in the twin", { words }) : words, codes, side, refused: "", stays: "" };
  }

  test() {
    const { codes } = this.subject();
    if (this.header.runs && codes && !this.header.tests[codes]?.run) this.python.trigger("test", { codes });
  }

  drawTest() {
    const { header, together, chosen } = this;
    const { name, codes, side, refused, stays } = this.subject();
    const test = header.tests[codes];
    const why = refused || test?.refused || "";
    const heading = name
      ? sentenceParts(_("Without {name}"), { name: tokenElement(name, "") })
      : [_("Choose words of the text to test them together")];
    const disabled = !codes || why !== "" || Boolean(test?.run);
    const ofPress = { className: "do", disabled, hidden: !header.runs, title: _("Run the model without it. Key: T") };
    const named = test?.run ? _("✓ tested") : _("Test it");
    const press = button({ ...ofPress, dataset: { focus: "test" } }, () => this.test(), named);
    const hidden = !header.runs || !chosen?.tints.some((tint) => tint.test !== "");
    const title = _("Choose words in the text to remove together");
    const ofSeveral = { className: "tool", hidden, title, ariaPressed: String(together !== null) };
    const other = together ? _("One at a time") : _("Several words");
    const several = button({ ...ofSeveral, dataset: { focus: "several" } }, () => this.takeTogether(), other);
    this.testing.hidden = !header.runs && !Object.keys(header.tests).length;
    this.testing.ariaLabel = _("Test it");
    this.testing.dataset.test = codes;
    this.testing.replaceChildren(
      element("header", "", element("h3", "", ...heading), press, several),
      why ? element("p", { className: "refused", role: "status" }, why) : this.table(test, side),
      element("p", "note", stays && !why ? `${stays} ${header.how}` : header.how),
    );
  }

  takeTogether() {
    this.together = this.together ? null : new Set(this.word?.test ? [this.word.test] : []);
    this.drawAgain();
  }

  /** The sentences and the test anew, with the focus where it was. */
  drawAgain() {
    const focus = this.focused();
    this.drawLines();
    this.drawTest();
    if (focus) this.focus(focus);
  }

  /** Prediction and outcome side by side. @param {Test | undefined} test @param {number} side */
  table(test, side) {
    const { header } = this;
    const { key, rival, pair } = header;
    const intact = header.intact[side] ?? header.gauges[side];
    const odds = pair.length ? _("log-odds {word} − {other}", { word: pair[0], other: pair[1] }) : _("log-odds");
    const cell = (/** @type {string} */ text, /** @type {string} */ label, more = "") =>
      element("td", { className: more, dataset: { label } }, text);
    const row = (
      /** @type {string} */ name,
      /** @type {number | null} */ score,
      /** @type {{ key: number, rival: number, odds?: number | null, text?: string } | null} */ run,
      /** @type {string} */ instead,
    ) => {
      const first = element("th", { scope: "row" }, name);
      const number = cell(score === null ? "…" : fixed(score), _("score difference"), "number");
      if (!run) return element("tr", "", first, number, element("td", { colSpan: 4, className: "none" }, instead));
      const word = run.odds === null || run.odds === undefined ? "–" : fixed(run.odds);
      const written = run.text === undefined ? instead : run.text && `“${run.text}”`;
      const text = element("td", run.text === undefined ? "none text" : "text", element("bdi", "", written || "–"));
      const weights = [cell(run.key.toFixed(4), key, "number"), cell(run.rival.toFixed(4), rival, "number")];
      return element("tr", "", first, number, ...weights, cell(word, odds, "number"), text);
    };
    const names = ["", _("score difference"), key, rival, odds, _("what is written from here on")];
    const head = element("tr", "", ...names.map((name) => element("th", { scope: "col" }, name)));
    const [predicted, only] = [_("without it, predicted from its share"), _("a share predicts only the score")];
    const [again, run] = [_("● run again"), test?.run ?? null];
    const rows = [
      row(_("as it is"), header.scores[side], intact, _("after a test")),
      row(predicted, test?.predicted ?? null, null, only),
      row(_("◇ one product recomputed"), test?.product ?? null, null, _("a product predicts only the score")),
      ...(header.runs || run ? [row(again, run?.score ?? null, run, _("not tested yet"))] : []),
    ];
    return element("table", "", element("thead", "", head), element("tbody", "", ...rows));
  }

  /** What makes, edits and removes the twin. @param {number} side */
  twinTools(side) {
    const { twin, text } = this.header;
    if (!text) return [];
    const title = _("The same sentence with one word changed; the change in the score is then explained");
    const look = { className: "tool", title };
    const edit = button(look, () => this.editTwin(edit), side ? _("Edit the twin") : _("Make a twin"));
    const tools = side ? [edit, button("tool", () => this.python.trigger("twin", { text }), _("Remove it"))] : [edit];
    return [element("p", { className: "tools", dataset: { twin } }, ...tools)];
  }

  /** @param {HTMLElement} tool */
  editTwin(tool) {
    const { twin, text } = this.header;
    const field = element("input", { className: "twin", value: twin || text, ariaLabel: _("The twin") });
    field.onkeydown = (event) => {
      event.stopPropagation();
      if (event.key === "Enter") this.python.trigger("twin", { text: field.value });
      if (event.key === "Escape") this.drawLines();
    };
    tool.parentElement?.replaceChildren(field);
    field.focus();
  }

  /** @param {{ key: number, rival: number }} weights */
  gauge({ key, rival }) {
    const row = (/** @type {string} */ name, /** @type {number} */ weight, /** @type {string} */ hue) => {
      const bar = element("i", { className: hue, style: `--weight:${weight}` });
      return [tokenElement(name, "gauge-name"), bar, element("span", "number", weight.toFixed(4))];
    };
    const rows = [...row(this.header.key, key, "warm"), ...row(this.header.rival, rival, "cold")];
    return element("div", { className: "gauge", role: "group", ariaLabel: _("Weights") }, ...rows);
  }

  // ---- bars ----

  /** @param {Group} group */
  group({ title, rows, shown, rest: others }) {
    const isOpen = this.opened.has(title);
    const rest = isOpen ? null : others;
    const seen = rest ? rows.slice(0, shown) : rows;
    const shares = [...rows, ...(rest ? [rest] : [])].map(({ share }) => share);
    const most = Math.max(...shares.map(Math.abs), 1e-9);
    const [low, high] = [Math.min(...shares, 0), Math.max(...shares, 0)];
    const span = Math.max(high - low, most * 1e-6);
    const items = seen.flatMap((row) => [
      element("li", "", this.bar(row, low, span)),
      ...(this.opened.has(row.trail) ? row.heads.map((head) => element("li", "head", this.bar(head, low, span))) : []),
    ]);
    const open = () => this.openRest(title, rows[shown]);
    if (rest) items.push(element("li", "", this.bar(rest, low, span, open)));
    const columns = [_("share"), _("score drop")].map((name) => element("span", "column", name));
    const heading = element("h3", { ariaLabel: title }, element("span", "", title), ...columns, element("span"));
    return element("section", "group", heading, element("ul", { ariaLabel: title }, ...items));
  }

  /**
   * @param {Row} row
   * @param {number} low
   * @param {number} span
   * @param {(() => void) | null} open Of a rest: shows the bars that it is of.
   */
  bar(row, low, span, open = null) {
    const { name, share, trail, test, refused, heads } = row;
    const ask = open ?? (trail ? () => this.go(trail) : () => {});
    const known = this.header.tests[test];
    const why = refused || known?.refused;
    const how = known?.run
      ? _("how much the score falls without it, when the model runs again")
      : _("how much the score falls without it, with one product recomputed");
    const look = { className: open ? "bar rest" : "bar", dataset: { focus: focusOf(row) } };
    const ofBar = { ariaCurrent: row.isChosen ? "true" : null, ariaDisabled: trail || open ? null : "true" };
    const bar = button(
      { ...look, ...ofBar },
      ask,
      tokenElement(name, "name"),
      this.plot(share, low, span),
      element("span", "number", signed(share)),
      element("span", { className: "number left", title: why || how }, this.left(known) || (why ? "–" : "…")),
      element("span", "go", trail ? _("Why?") : ""),
    );
    bar.classList.toggle("chosen", row === this.chosen);
    this.bars.set(bar, row);
    if (!heads.length) return bar;
    const isOpen = this.opened.has(trail);
    const ofHeads = { className: "heads", ariaExpanded: String(isOpen), ariaLabel: _("Heads of {name}", { name }) };
    const toggle = button(ofHeads, () => this.toggle(trail), isOpen ? "▾" : "▸");
    return element("div", "with-heads", bar, toggle);
  }

  /** @param {number} share @param {number} low @param {number} span */
  plot(share, low, span) {
    const [left, width] = [(100 * (Math.min(share, 0) - low)) / span, (100 * Math.abs(share)) / span];
    const mark = element("i", { className: hueOf(share), style: `left:${left}%;width:${width}%` });
    return element("span", { className: "plot", ariaHidden: "true", style: `--zero:${-low / span}` }, mark);
  }

  /** @param {string} what */
  toggle(what) {
    if (!this.opened.delete(what)) this.opened.add(what);
    this.draw();
  }

  /** Show the bars of a rest, and choose the first. @param {string} title @param {Row} first */
  openRest(title, first) {
    this.toggle(title);
    this.focus(focusOf(first));
  }

  /** @param {Row} row */
  choose(row) {
    this.chosen = row;
    this.word = this.together = null;
    for (const [bar, each] of this.bars) bar.classList.toggle("chosen", each === row);
    this.drawLines();
    this.drawTest();
  }

  /** @param {Tint} tint */
  chooseWord(tint) {
    this.word = tint;
    for (const [word, each] of this.words) word.classList.toggle("chosen", each === tint);
    this.drawTest();
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const { key } = event;
    if (isCombination(event) || isTyped(event)) return;
    const crumbs = this.header.crumbs.filter(({ isAhead }) => !isAhead);
    const move = { ArrowDown: 1, ArrowUp: -1, ArrowRight: 1, ArrowLeft: -1 }[key];
    if (key === "Escape" && this.together) this.takeTogether();
    else if (key === "t" || key === "T") this.test();
    else if (key === "Escape" && crumbs.length > 1) this.go(crumbs[crumbs.length - 2].trail);
    else if (move) {
      const isAcross = key === "ArrowRight" || key === "ArrowLeft";
      const set = /** @type {HTMLElement[]} */ ([...this.root.querySelectorAll(isAcross ? ".word.on" : ".bar")]);
      const [target] = event.composedPath();
      const at = set.indexOf(/** @type {HTMLElement} */ (target));
      set[at < 0 ? 0 : (at + move + set.length) % set.length]?.focus();
    } else return;
    consume(event);
  }
}

export default mount(".why", Why);
