// A question about a score: its trail, the sentences tinted by what the chosen bar read, and the bars. A bar is chosen by
// pointer, focus or arrow keys; a click on it, or on a tinted word, asks Why? of it. Data: `Page` of payload.py.
import { isTyped } from "../../../pictures/shared/items.js";
import { _, plural, sentenceParts } from "../../../pictures/shared/messages.js";
import { mount, View } from "../../../pictures/shared/mount.js";
import { button, element, tokenElement } from "../../../pictures/shared/picture.js";
import { hueOf, signed } from "./shares.js";

/** @typedef {{ line: number, token: number, share: number, trail: string }} Tint */
/** @typedef {{ name: string, share: number, trail: string, tints: Tint[], heads: Row[], isChosen: boolean }} Row */
/** @typedef {{ title: string, rows: Row[], shown: number, isMain: boolean }} Group */
/** @typedef {{ mark: string, tokens: string[], begins: boolean[], swapped: number[], query: number | null, writes: string }} Line */
/** @typedef {{ name: string, total: number, trail: string, isAhead: boolean }} Crumb */
/**
 * @typedef {{
 *   key: string, rival: string, rivalKey: number, rivals: { position: number, name: string, weight: number }[],
 *   asked: string, total: number, where: string, because: string, crumbs: Crumb[], exact: string, isExact: boolean,
 *   lines: Line[], gauges: { key: number, rival: number }[], twin: string, text: string, groups: Group[], note: string,
 *   warm: string, cold: string,
 * }} WhyHeader
 */

/** So many tinted words of a line have their number below them. */
const MOST_NUMBERS = 6;
/** A pointer that rests so long on a bar chooses it. */
const REST_MS = 80;
/** A share below this part of the largest is not tinted. */
const LEAST = 0.02;

/** @param {{ share: number }[]} rows */
const sumOf = (rows) => rows.reduce((sum, { share }) => sum + share, 0);

class Why extends View {
  /** @type {WhyHeader} */ header;
  /** @type {Row | null} */ chosen = null;
  /** @type {Map<HTMLElement, Row>} */ bars = new Map();
  /** Groups whose rest is shown, and bars whose heads are. @type {Set<string>} */ opened = new Set();
  shownTrail = /** @type {string | null} */ (null);
  lines = element("div", "lines");

  start() {
    this.root.addEventListener("keydown", (event) => this.press(event), { signal: this.ended.signal });
    const choose = (/** @type {EventTarget | null} */ target) => {
      const bar = target instanceof Element && /** @type {HTMLElement | null} */ (target.closest(".bar"));
      const row = bar && this.bars.get(bar);
      if (row && row !== this.chosen) this.choose(row);
    };
    this.root.addEventListener("focusin", ({ target }) => choose(target), { signal: this.ended.signal });
    // A bar that is drawn below a resting pointer, or passed on the way to a word, is not chosen.
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let resting;
    const point = (/** @type {PointerEvent} */ { target, movementX, movementY }) => {
      if (!movementX && !movementY) return;
      clearTimeout(resting);
      resting = setTimeout(() => choose(target), REST_MS);
    };
    this.root.addEventListener("pointermove", point, { signal: this.ended.signal });
  }

  /** @param {{ header: WhyHeader }} payload */
  receive({ header }) {
    const trail = header.crumbs.findLast(({ isAhead }) => !isAhead)?.trail ?? "";
    const isStep = this.shownTrail !== null && this.shownTrail !== trail;
    if (isStep) this.opened.clear();
    this.header = header;
    this.shownTrail = trail;
    for (const name of /** @type {const} */ (["warm", "cold"])) this.root.style.setProperty(`--${name}`, header[name]);
    this.chosen = header.groups.find(({ isMain }) => isMain)?.rows[0] ?? null;
    this.draw();
    if (isStep) this.root.querySelector("h2")?.focus({ preventScroll: true });
    this.root.dataset.ready = trail || "question";
  }

  draw() {
    const { header } = this;
    this.bars.clear();
    this.root.replaceChildren(
      this.trail(),
      this.question(),
      element("p", "where", header.where),
      element("p", "because", header.because),
      this.lines,
      element("p", "note", header.note),
      element("div", "groups", ...header.groups.map((group) => this.group(group))),
    );
    this.drawLines();
  }

  /** @param {string} trail */
  go(trail) {
    this.python.trigger("trail", { codes: trail });
  }

  trail() {
    const { crumbs, exact, isExact } = this.header;
    const now = crumbs.findLastIndex(({ isAhead }) => !isAhead);
    const steps = crumbs.map(({ name, total, trail, isAhead }, at) => {
      const step = button({ className: isAhead ? "crumb ahead" : "crumb" }, () => this.go(trail), name, " ");
      step.append(element("span", "number", signed(total)));
      if (at === now) step.setAttribute("aria-current", "step");
      if (isAhead) step.title = _("Not asked yet: what gives most from here on");
      return [...(at ? [element("span", { className: "arrow", ariaHidden: "true" }, "←")] : []), step];
    });
    const badge = element("span", isExact ? "exact" : "inexact", `${isExact ? "✓" : "✗"} ${exact}`);
    badge.title = _("The parts add up to the score; this is the difference, checked for every answer.");
    return element("nav", { className: "trail", ariaLabel: _("Trail") }, ...steps.flat(), badge);
  }

  question() {
    const { key, rival, rivals, rivalKey, asked, total } = this.header;
    const heading = element("h2", { tabIndex: -1 });
    if (asked) {
      const number = element("span", `chip ${hueOf(total)}`, signed(total));
      heading.append(
        ...sentenceParts(_("Why does {name} give {total}?"), { name: tokenElement(asked), total: number }),
      );
      return heading;
    }
    const list = element("select", { className: "chip cold", ariaLabel: _("The key that it is compared with") });
    for (const { position, name, weight } of rivals) {
      const option = element("option", { value: String(position), title: weight.toFixed(4) }, name);
      option.selected = position === rivalKey;
      list.append(option);
    }
    list.onchange = () => this.python.trigger("rival", { key: Number(list.value) });
    const other = rivals.length > 1 ? list : tokenElement(rival, "chip cold");
    const values = { key: tokenElement(key, "chip warm"), rival: other };
    heading.append(...sentenceParts(_("Why {key} and not {rival}?"), values));
    return heading;
  }

  // ---- sentences ----

  drawLines() {
    const { lines, gauges, twin } = this.header;
    const tints = this.chosen?.tints ?? [];
    const most = Math.max(...tints.map(({ share }) => Math.abs(share)), 1e-9);
    const each = Math.ceil(lines.length / gauges.length);
    const blocks = gauges.map((gauge, side) => {
      const words = lines.slice(side * each, (side + 1) * each).map((line, number) => {
        const at = side * each + number;
        return this.line(
          line,
          tints.filter((tint) => tint.line === at),
          most,
        );
      });
      const tools = side || !twin ? this.twinTools(side) : [];
      return element("div", "block", element("div", "words", ...words, ...tools), this.gauge(gauge));
    });
    this.lines.replaceChildren(...blocks);
  }

  /** @param {Line} line @param {Tint[]} tints @param {number} most */
  line({ mark, tokens, begins, swapped, query, writes }, tints, most) {
    const seen = tints.filter(({ share }) => Math.abs(share) >= LEAST * most);
    const numbered = new Set([...seen].sort((a, b) => Math.abs(b.share) - Math.abs(a.share)).slice(0, MOST_NUMBERS));
    const words = tokens.map((token, at) => {
      const tint = seen.find((each) => each.token === at);
      const look = ["word", begins[at] && "begins", swapped.includes(at) && "swapped", at === query && "query"];
      if (!tint) return element("span", look.filter(Boolean).join(" "), tokenElement(token, ""));
      const number = signed(tint.share);
      const word = button({ className: [...look, "on", hueOf(tint.share)].filter(Boolean).join(" ") }, () =>
        this.go(tint.trail),
      );
      word.append(tokenElement(token, ""));
      word.style.setProperty("--share", String(Math.abs(tint.share) / most));
      word.ariaLabel = _("{word}, {share}: why?", { word: token, share: number });
      word.disabled = !tint.trail;
      if (numbered.has(tint)) word.dataset.number = number;
      return word;
    });
    const written = writes ? [element("span", "word begins writes", tokenElement(writes, ""))] : [];
    return element("p", "line", element("span", "mark", mark), element("span", "tokens", ...words, ...written));
  }

  /** What makes, edits and removes the twin. @param {number} side */
  twinTools(side) {
    const { twin, text } = this.header;
    const edit = button("tool", () => this.editTwin(edit), side ? _("Edit the twin") : _("Make a twin"));
    edit.title = _("The same sentence with a word changed: then the change of the score is explained");
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
      const bar = element("i", hue);
      bar.style.setProperty("--weight", String(weight));
      return [tokenElement(name, "gauge-name"), bar, element("span", "number", weight.toFixed(4))];
    };
    const rows = [...row(this.header.key, key, "warm"), ...row(this.header.rival, rival, "cold")];
    return element("div", { className: "gauge", role: "group", ariaLabel: _("Weights") }, ...rows);
  }

  // ---- bars ----

  /** @param {Group} group */
  group({ title, rows, shown }) {
    const isOpen = this.opened.has(title);
    const seen = isOpen ? rows : rows.slice(0, shown);
    const rest = rows.slice(seen.length);
    const most = Math.max(...rows.map(({ share }) => Math.abs(share)), Math.abs(sumOf(rest)), 1e-9);
    const [low, high] = [
      Math.min(...rows.map(({ share }) => share), sumOf(rest), 0),
      Math.max(...rows.map(({ share }) => share), sumOf(rest), 0),
    ];
    const span = Math.max(high - low, most * 1e-6);
    const items = seen.flatMap((row) => [
      element("li", "", this.bar(row, low, span)),
      ...(this.opened.has(row.trail) ? row.heads.map((head) => element("li", "head", this.bar(head, low, span))) : []),
    ]);
    if (rest.length) {
      const name = plural("the other {count}", "the other {count}", rest.length);
      const other = button("bar rest", () => this.toggle(title), element("span", "name", name));
      other.append(this.plot(sumOf(rest), low, span), element("span", "number", signed(sumOf(rest))));
      items.push(element("li", "", other));
    }
    const heading = element("h3", "", title);
    return element("section", "group", heading, element("ul", { ariaLabel: title }, ...items));
  }

  /** @param {Row} row @param {number} low @param {number} span */
  bar(row, low, span) {
    const { name, share, trail, heads } = row;
    const ask = trail ? () => this.go(trail) : () => {};
    const bar = button("bar", ask, tokenElement(name, "name"), this.plot(share, low, span));
    bar.append(element("span", "number", signed(share)), element("span", "go", trail ? _("Why?") : ""));
    bar.classList.toggle("chosen", row === this.chosen);
    if (row.isChosen) bar.setAttribute("aria-current", "true");
    if (!trail) bar.setAttribute("aria-disabled", "true");
    this.bars.set(bar, row);
    if (!heads.length) return bar;
    const isOpen = this.opened.has(trail);
    const open = button(
      { className: "heads", ariaExpanded: String(isOpen) },
      () => this.toggle(trail),
      isOpen ? "▾" : "▸",
    );
    open.ariaLabel = _("Heads of {name}", { name });
    return element("div", "with-heads", bar, open);
  }

  /** @param {number} share @param {number} low @param {number} span */
  plot(share, low, span) {
    const mark = element("i", hueOf(share));
    mark.style.left = `${(100 * (Math.min(share, 0) - low)) / span}%`;
    mark.style.width = `${(100 * Math.abs(share)) / span}%`;
    const plot = element("span", { className: "plot", ariaHidden: "true" }, mark);
    plot.style.setProperty("--zero", String(-low / span));
    return plot;
  }

  /** @param {string} what */
  toggle(what) {
    if (!this.opened.delete(what)) this.opened.add(what);
    this.draw();
  }

  /** @param {Row} row */
  choose(row) {
    this.chosen = row;
    for (const [bar, each] of this.bars) bar.classList.toggle("chosen", each === row);
    this.drawLines();
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const { key, altKey, ctrlKey, metaKey } = event;
    if (altKey || ctrlKey || metaKey || isTyped(event)) return;
    const crumbs = this.header.crumbs.filter(({ isAhead }) => !isAhead);
    const move = { ArrowDown: 1, ArrowUp: -1, ArrowRight: 1, ArrowLeft: -1 }[key];
    if (key === "Escape" && crumbs.length > 1) this.go(crumbs[crumbs.length - 2].trail);
    else if (move) {
      const isAcross = key === "ArrowRight" || key === "ArrowLeft";
      const set = /** @type {HTMLElement[]} */ ([...this.root.querySelectorAll(isAcross ? ".word.on" : ".bar")]);
      const [target] = event.composedPath();
      const at = set.indexOf(/** @type {HTMLElement} */ (target));
      set[at < 0 ? 0 : (at + move + set.length) % set.length]?.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

export default mount(".why", Why);
