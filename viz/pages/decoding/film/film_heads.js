// Everything about heads in a film: the choice of layer and heads; beside each other the strips of
// cross- and self-attention, below them lines and triangle over the same columns, which scroll together.
import { headLabel, rowName } from "../../../pictures/shared/head_label.js";
import { reachByTab, walkSideways } from "../../../pictures/shared/items.js";
import { _, said, sentenceParts } from "../../../pictures/shared/messages.js";
import {
  button,
  clamp,
  element,
  isPresented,
  legendElement,
  pixelScale,
  rowElement,
} from "../../../pictures/shared/picture.js";
import { whyLink } from "../../../pictures/shared/why_link.js";
import { FilmFan, FilmTriangle, nameWidth } from "./film_rows.js";
import { rowsWrite } from "./film_sentence.js";
import { FilmStrip } from "./film_strip.js";

/** @import { Tiles } from "../../../pictures/shared/head_tiles.js" */
/** @import { Point } from "../../../pictures/shared/items.js" */
/** @import { Tooltip } from "../../../pictures/shared/picture.js" */
/** @import { PlayerHeader, PlayerState } from "./decode_player.js" */

const GUTTER = 64;
const BETWEEN_PANELS = 22;
const [NARROWEST_CELL, WIDEST_CELL] = [12, 34];
const [LOWEST_STRIP_ROW, HIGHEST_STRIP_ROW, HIGHEST_PRESENTED_ROW] = [12, 15, 40];
const ROOM_FOR_STRIP = 420;
const PANELS_STACKED_BELOW = 560;

const HOW_TO_READ = said(
  "Each row is the row that one head adds in this step; the lighter a column, the more weight on its token. Click a row to choose its head; several heads of one layer can be chosen. Lines lead from a row's token, below, to the source tokens, above; those of earlier rows are faint.",
);
const HOW_TO_READ_TRIANGLE = said(
  "{sentences} The triangle shows all rows up to this step for the most recently chosen head.",
);

// As viz/ui/token_labels.py says it.
const ROWS_WRITE = said(
  "A row is named after the word in bold, which the model writes there; the word before the arrow is the one it reads.",
);
const ROWS_READ = said(
  "A row is named after the word in bold, which the model reads there; after the arrow is what it writes.",
);

/**
 * The width of a column, the height of a row and that of the labels, for as much room as a panel has.
 * @param {number} room @param {number} columns @param {number} rows @param {number} longest label's characters
 */
export function sizesFor(room, columns, rows, longest) {
  return {
    cell: Math.floor(clamp(NARROWEST_CELL, room / columns, WIDEST_CELL)),
    row: clamp(LOWEST_STRIP_ROW, Math.floor(ROOM_FOR_STRIP / rows), HIGHEST_STRIP_ROW),
    "label-height": clamp(62, 12 + 7 * longest, 104),
  };
}

const SMALL_BUTTON = { className: "button small", dataset: { inPicture: "" } };

export class FilmHeads {
  /** @type {PlayerState} */ state;
  cell = 0;
  stripRow = 0;
  room = 0;
  isWide = false;
  /** Where the film has scrolled each panel to. @type {Map<HTMLElement, number>} */ lefts = new Map();
  row = element("span");
  named = element("span");
  /** What the strips mark: the layer and its heads. */ marked = "";

  /**
   * @param {PlayerHeader} header @param {Tiles} cross @param {Tiles} self @param {Tooltip} tooltip
   * @param {{
   *   choose(layer: number, heads: number[]): void, preview(layer: number, head: number | null): void,
   *   point(row: number | null, key: number, isOverSource: boolean): void,
   * }} act `preview` is told of the head of cross-attention, and `point` of the row and the key, that a person points at
   */
  constructor(header, cross, self, tooltip, act) {
    this.header = header;
    this.cross = cross;
    this.self = self;
    this.tooltip = tooltip;
    this.act = act;
    const { targetTokens, steps, stops, ticks, titles } = header;
    this.rowNames = steps.map(({ token }, row) => rowName(targetTokens[row], token));
    this.writes = rowsWrite(header);
    const scale = pixelScale(stops);
    this.overSource = new FilmStrip(titles[0], cross, scale, this);
    this.overPrefix = new FilmStrip(titles[1], self, scale, this);
    this.fan = new FilmFan(cross, this);
    this.triangle = new FilmTriangle(self, scale, this);
    this.panels = [this.buildPanel(this.overSource, this.fan)];
    // A decoder without self-attention has no second title.
    if (titles[1]) this.panels.push(this.buildPanel(this.overPrefix, this.triangle));
    const layers = [...Array(header.layers).keys()].map((layer) => new Option(String(layer + 1), String(layer)));
    const onchange = () => act.choose(Number(this.layer.value), this.heads());
    this.layer = element("select", { className: "layer-choice", ariaLabel: _("Layer"), onchange }, ...layers);
    this.headButtons = Array.from({ length: header.heads }, (_head, head) => this.buildHead(head));
    const heads = this.buildGroup(_("Heads"), this.headButtons);
    heads.role = "toolbar";
    walkSideways(heads);
    reachByTab(this.headButtons, this.headButtons[0]);
    /** @type {HTMLElement[]} */
    const groups = [this.buildGroup(_("Layer"), [this.layer]), heads];
    const showAll = () => {
      all.ariaPressed = String(this.pair.classList.toggle("all"));
    };
    const look = { ...SMALL_BUTTON, className: "button small all-layers", ariaPressed: "false" };
    const all = button(look, showAll, _("All layers"));
    if (header.layers > 1) groups.push(all);
    this.pair = element("div", "pair", ...this.panels);
    const ofRows = _(HOW_TO_READ);
    const ofRow = sentenceParts(_("Row {number}: {name}."), { number: this.row, name: this.named });
    const ofAll = [_(this.writes ? ROWS_WRITE : ROWS_READ)];
    const owners = [ofRow, ofAll].map((said) => element("p", "owner muted", ...said));
    const how = element("p", "how muted", titles[1] ? _(HOW_TO_READ_TRIANGLE, { sentences: ofRows }) : ofRows);
    const parts = [element("div", "heads-bar", ...groups), ...owners, this.pair, legendElement(stops, ticks), how];
    this.element = element("section", "heads", ...parts);
  }

  /** @param {FilmStrip} strip @param {FilmFan | FilmTriangle} below */
  buildPanel(strip, below) {
    const body = element("div", "panel-body", strip.element, below.element);
    // Reachable by keyboard, because a long sentence scrolls sideways.
    const panel = element("div", { className: "panel", role: "group", ariaLabel: strip.title, tabIndex: 0 }, body);
    panel.addEventListener("scroll", () => this.scrollTogether(panel));
    return panel;
  }

  /** @param {number} head */
  buildHead(head) {
    const title = _("Click to add or remove this head; double-click to show only this head");
    const named = { title, ariaLabel: _("Head {number}", { number: head + 1 }), style: `--head:${this.colour(head)}` };
    const ondblclick = () => this.act.choose(this.state.layer, [head]);
    const look = { ...SMALL_BUTTON, ...named, className: "button small head", ondblclick };
    const choose = () => this.choose(this.state.layer, head);
    return button(look, choose, element("span", "swatch"), element("span", {}, String(head + 1)));
  }

  /** @param {string} name @param {HTMLElement[]} choices */
  buildGroup(name, choices) {
    const look = { className: "group", role: "group", ariaLabel: name };
    return element("div", look, element("span", "group-name", name), ...choices);
  }

  /** Mark keys of both attentions, and rows. @param {number[]} sources @param {number[]} own @param {number[]} rows */
  mark(sources, own, rows) {
    this.overSource.markKeys(sources);
    this.overPrefix.markKeys(own);
    this.fan.markRows(rows);
    this.triangle.markRows(rows);
  }

  // ---- choosing ----

  heads() {
    return [this.state.head, ...this.state.also];
  }

  /** @param {number} head */
  colour(head) {
    return this.header.colours[head % this.header.colours.length];
  }

  /** A click on a head: it joins those of its layer, or leaves them; the last one stays. @param {number} layer @param {number} head */
  choose(layer, head) {
    const heads = this.heads();
    const others = heads.filter((other) => other !== head);
    if (layer !== this.state.layer) this.act.choose(layer, [head]);
    else if (!heads.includes(head)) this.act.choose(layer, [head, ...heads]);
    else if (others.length) this.act.choose(layer, others);
  }

  /** A row's name, with the word in bold that it stands for. @param {number} row @param {string} [className] */
  nameOfRow(row, className) {
    return rowElement(this.rowNames[row], this.writes, className);
  }

  /** A head's title, as Python gives it where it knows more than the numbers. @param {Tiles} tiles @param {number} layer @param {number} head */
  nameOf(tiles, layer, head) {
    const { headNames, heads } = this.header;
    return headNames[tiles === this.cross ? 0 : 1][layer * heads + head] ?? headLabel(layer, head);
  }

  /** @param {Point} point @param {Tiles} tiles @param {number} layer @param {number} head @param {number} row @param {number} column */
  tell(point, tiles, layer, head, row, column) {
    const { key, weight } = tiles.largest([layer, head], [row, row + 1], [column, column + 1]);
    const [name, note] = [this.nameOf(tiles, layer, head), _("weight {weight}", { weight })];
    this.tooltip.show(point, name, this.nameOfRow(row), key, note);
  }

  // ---- layout ----

  /** Columns of one width in both panels, so that they compare; if too narrow, the panels scroll. @param {number} width */
  resize(width) {
    const { sourceTokens, targetTokens, layers, heads } = this.header;
    const isStacked = this.panels.length === 1 || width < PANELS_STACKED_BELOW;
    this.element.classList.toggle("stacked", isStacked);
    const widestName = nameWidth(this.rowNames, this.element);
    const counts = [sourceTokens.length, targetTokens.length].slice(0, this.panels.length);
    // Rows are named beside the triangle, which is in the last panel where there are two.
    const gutters = [GUTTER, Math.max(GUTTER, this.triangle.isNamed ? widestName + 12 : 0)].slice(0, counts.length);
    const longest = Math.max(...[...sourceTokens, ...targetTokens].map((token) => token.length));
    const sizesIn = (/** @type {number} */ room, /** @type {number} */ columns) =>
      sizesFor(room, columns, layers * heads, longest);
    const sizes = isStacked
      ? counts.map((count, i) => sizesIn(width - gutters[i], count)).sort((a, b) => a.cell - b.cell)[0]
      : sizesIn(width - BETWEEN_PANELS - gutters[0] - gutters[1], counts[0] + counts[1]);
    this.cell = sizes.cell;
    this.stripRow = sizes.row;
    const wanted = counts.map((count, i) => gutters[i] + count * this.cell);
    const both = width - BETWEEN_PANELS;
    // A panel has what it wants, up to half of the room, and at least that of its title: few columns are narrower.
    const strips = [this.overSource, this.overPrefix];
    const [least, other] = strips.map(({ caption }, i) =>
      Math.max(caption.scrollWidth, Math.min(wanted[i] ?? 0, both / 2)),
    );
    const first = clamp(least, (both * wanted[0]) / (wanted[0] + (wanted[1] ?? 0)), both - other);
    const given = isStacked ? counts.map(() => width) : [first, both - first];
    this.isWide = wanted.some((one, i) => one > given[i]);
    this.room = given[given.length - 1] - gutters[gutters.length - 1];
    this.element.classList.toggle("wide", this.isWide);
    this.element.style.setProperty("--panels", given.map((one) => `minmax(0, ${one}fr)`).join(" "));
    for (const [i, panel] of this.panels.entries()) panel.style.setProperty("--gutter", `${gutters[i]}px`);
    this.fan.body.style.setProperty("--label-height", `${Math.max(62, widestName + 12)}px`);
    const pixels = Object.entries(sizes).map(([name, size]) => [name, `${size}px`]);
    const numbers = Object.entries({ heads, sources: sourceTokens.length, targets: targetTokens.length });
    for (const [name, value] of [...pixels, ...numbers]) this.element.style.setProperty(`--${name}`, String(value));
    this.fan.fit(this.cell);
    this.triangle.fit(this.cell);
  }

  /** On a projector: below the strips what fits there, and rows as high as the rest allows. @param {() => number} left pixels of the screen that are free */
  fill(left) {
    const { classList, style } = this.element;
    const show = (/** @type {boolean} */ isTall) => classList.toggle("tall", isTall);
    if (!show(isPresented(this.element))) return;
    if (left() < 0) show(false);
    const row = Math.min(HIGHEST_PRESENTED_ROW, this.stripRow + Math.max(0, Math.floor(left() / this.header.heads)));
    style.setProperty("--row", `${row}px`);
    // Its pixels are known once it is shown.
    this.fan.fit(this.cell);
    this.draw(this.state);
  }

  /** Scroll both panels so far that the current column is in the middle, where there is more than fits; over a sound, to the moment that is attended to. @param {number | null} moment a column of the source */
  follow(moment) {
    const { step } = this.state;
    const { targetTokens } = this.header;
    if (!this.isWide) return;
    const share = ((step + 0.5) * this.cell - this.room / 2) / Math.max(1, targetTokens.length * this.cell - this.room);
    this.scrollTo(clamp(0, share, 1));
    const [panel] = this.panels;
    if (moment !== null) this.put(panel, (moment + 0.5) * this.cell - (panel.clientWidth - GUTTER) / 2);
  }

  /** @param {HTMLElement} panel @param {number} left */
  put(panel, left) {
    panel.scrollLeft = Math.round(left);
    this.lefts.set(panel, panel.scrollLeft);
  }

  /** Both panels, to the same share of how far each can be scrolled. @param {number} share */
  scrollTo(share) {
    for (const panel of this.panels) this.put(panel, share * (panel.scrollWidth - panel.clientWidth));
  }

  /** @param {HTMLElement} panel */
  scrollTogether(panel) {
    const most = panel.scrollWidth - panel.clientWidth;
    // What `put` did comes back as an event; only a person's own scrolling moves the other panel.
    if (Math.abs(panel.scrollLeft - (this.lefts.get(panel) ?? 0)) > 2)
      this.scrollTo(most > 0 ? panel.scrollLeft / most : 0);
  }

  // ---- drawing ----

  /** @param {PlayerState} state */
  draw(state) {
    this.state = state;
    const { step, layer, head } = state;
    const colours = new Map(this.heads().map((each) => [each, this.colour(each)]));
    this.layer.value = String(layer);
    for (const [i, each] of this.headButtons.entries()) each.ariaPressed = String(colours.has(i));
    const marked = `${layer} ${this.heads()}`;
    this.overSource.draw(step, this.header.sourceTokens.length);
    // The causal mask: this row has seen itself and what came before it.
    this.overPrefix.draw(step, step + 1);
    for (const strip of [this.overSource, this.overPrefix]) {
      strip.summarise(layer);
      if (marked !== this.marked) strip.mark(layer, colours);
    }
    this.marked = marked;
    this.fan.draw(step, layer, colours);
    this.triangle.draw(step, layer, head);
    this.describe(state);
  }

  /** @param {PlayerState} state */
  describe({ step, layer, head, also }) {
    this.row.textContent = String(step + 1);
    this.named.replaceChildren(this.nameOfRow(step, "token chip"));
    const names = [head, ...also].sort((a, b) => a - b).map((each) => this.nameOf(this.cross, layer, each));
    const own = this.nameOf(this.self, layer, head);
    this.fan.title.textContent = _("Lines of {heads}", { heads: names.join(_(", ")) });
    this.triangle.title.textContent = _("Rows of {head} up to this step", { head: own });
    for (const { canvas, title } of [this.fan, this.triangle]) canvas.ariaLabel = title.textContent;
    if (this.header.asks) this.askWhy(layer, head);
  }

  /** Offer to ask why the open head looks where it looks most in the row of the step. @param {number} layer @param {number} head */
  askWhy(layer, head) {
    const { step } = this.state;
    const [, source, own] = this.header.axes;
    // A decoder alone looks at its text and at what it has written in one row.
    const isOne = source.side === own.side;
    const linkOver = (/** @type {string} */ site, /** @type {Tiles[]} */ parts) => {
      const row = parts.flatMap((tiles) => [...tiles.rowOf([layer, head], step)]);
      return whyLink({ site, layer, head }, [step + own.ahead, row.indexOf(Math.max(...row))]);
    };
    const text = isOne && own.ahead === 0 ? [] : [this.cross];
    const lines = isOne ? linkOver("decoder.self", [...text, this.self]) : linkOver("decoder.cross", text);
    this.fan.title.append(" ", lines);
    if (!isOne) this.triangle.title.append(" ", linkOver("decoder.self", [this.self]));
  }
}
