// Metrics of all heads: each as a little map of layers × heads, the chosen one large, with its numbers.
// Data: the payload of tab.py. Sends back the triggers `map`: { key } and `head`: { layer, head }.

import { colourAt } from "../../../pictures/shared/drawing.js";
import { onTold, pointAtHead } from "../../../pictures/shared/focus.js";
import { headLabel } from "../../../pictures/shared/head_label.js";
import { hearItems, reachByTab, walkSideways, walkTo } from "../../../pictures/shared/items.js";
import { _ } from "../../../pictures/shared/messages.js";
import { mount, View } from "../../../pictures/shared/mount.js";
import { button, clamp, contextOf, element, Tooltip } from "../../../pictures/shared/picture.js";
import { pictureButton } from "../../../pictures/shared/save_picture.js";

/** @import { InkedScale } from "../../../pictures/shared/drawing.js" */
/** @import { HeadPlace } from "../../../pictures/shared/head_label.js" */
/** @import { Head } from "../../../pictures/shared/head_tiles.js" */
/** @import { Point } from "../../../pictures/shared/items.js" */

/**
 * `shades` are places on the scale, layer by layer; null where a head has none.
 * @typedef {{
 *   key: string, name: string, unit: string, texts: string[], shades: (number | null)[], low: string, high: string,
 *   isCentred: boolean,
 * }} HeadMap
 * @typedef {{
 *   site: string, layers: number, heads: number, maps: HeadMap[], chosen: string, selected: Head, name: string, scale: InkedScale, centred: InkedScale,
 *   digest: string,
 * }} HeadMapsData
 */

const CELL_HEIGHT = 34;
// With many layers the map would become longer than the page.
const LARGEST_HEIGHT = 420;
const SMALLEST_CELL = 16;
// Beyond so many heads numbers have no room; they are told on hover and to the keyboard.
const MOST_NUMBERS = 12;
const [LITTLE_WIDTH, LITTLE_HEIGHT] = [12, 8];

/** @param {number} layers */
export const cellHeight = (layers) => clamp(SMALLEST_CELL, LARGEST_HEIGHT / layers, CELL_HEIGHT);

class HeadMaps extends View {
  /** @type {HeadMapsData} */ data;
  /** @type {HTMLButtonElement[]} */ buttons = [];
  /** @type {HTMLElement[]} */ cells = [];
  /** @type {HTMLElement[]} */ headNames = [];
  /** @type {HTMLElement[]} */ layerNames = [];
  title = element("div", "large-title");
  board = element("div", { className: "large", role: "grid" });
  under = element("div", "under");
  little = element("div", { className: "little", role: "toolbar", ariaLabel: _("All maps") });
  tooltip = new Tooltip(this.root);

  start() {
    this.root.replaceChildren(this.title, this.board, this.under, this.little, this.tooltip.box);
    hearItems(this.board, ".cell", this);
    walkSideways(this.little);
    onTold("head", (head) => this.markPointed(head), this.ended.signal);
  }

  /** @param {{ header: HeadMapsData }} payload */
  receive({ header }) {
    const isSame = this.data?.digest === header.digest;
    const wasChosen = this.data?.chosen;
    this.data = header;
    this.tooltip.hide();
    if (!isSame) this.buildLittle();
    if (!isSame || wasChosen !== header.chosen) this.buildLarge();
    this.mark(header.selected);
    this.root.dataset.ready = "1";
    this.root.dataset.map = header.chosen;
  }

  get chosen() {
    return this.data.maps.find(({ key }) => key === this.data.chosen) ?? this.data.maps[0];
  }

  /** A metric that chance gives a number has a scale around that. @param {HeadMap} map */
  scaleOf({ isCentred }) {
    return isCentred ? this.data.centred : this.data.scale;
  }

  // ---- the little maps ----

  buildLittle() {
    this.buttons = this.data.maps.map((map) => this.littleMap(map));
    this.little.replaceChildren(...this.buttons);
    reachByTab(this.buttons, this.buttons.find(({ dataset }) => dataset.key === this.data.chosen) ?? this.buttons[0]);
  }

  /** @param {HeadMap} map */
  littleMap(map) {
    const { key, name, unit, shades, low, high } = map;
    const { layers, heads } = this.data;
    const scale = this.scaleOf(map);
    const [width, height] = [heads * LITTLE_WIDTH, layers * LITTLE_HEIGHT];
    const canvas = element("canvas", { width, height, ariaHidden: "true" });
    const context = contextOf(canvas);
    shades.forEach((shade, i) => {
      if (shade === null) return;
      const [layer, head] = this.headOf(i);
      context.fillStyle = colourAt(scale, shade).fill;
      context.fillRect(head * LITTLE_WIDTH, layer * LITTLE_HEIGHT, LITTLE_WIDTH, LITTLE_HEIGHT);
    });
    const range = _("{low} to {high}", { low, high: `${high} ${unit}`.trimEnd() });
    // Also the chosen one: another may have been asked for that has not come yet.
    const choose = () => this.python.trigger("map", { key });
    const look = { className: "little-map", dataset: { key, inPicture: "" } };
    const cells = element("span", "little-cells", canvas, element("span", { className: "little-frame", hidden: true }));
    return button(
      look,
      choose,
      element("span", "little-name", name),
      cells,
      element("span", "little-high muted", range),
    );
  }

  // ---- the large map ----

  buildLarge() {
    const { layers, heads, selected } = this.data;
    const { name, unit, texts, low, high, isCentred } = this.chosen;
    const hadFocus = this.cells.some((cell) => cell.matches(":focus"));
    const height = cellHeight(layers);
    const sizes = `--cell-height:${height}px;--number-size:${Math.min(13, height - 5)}px`;
    const said = { name, layers, heads };
    const ariaLabel = _("{name}: {layers} layers of {heads} heads. The arrow keys move, Enter opens a head.", said);
    Object.assign(this.board, { style: `--heads:${heads};--layers:${layers};${sizes}`, ariaLabel });
    const what = [unit, _("layers down, heads across")].filter(Boolean).join(" · ");
    this.title.replaceChildren(element("b", {}, name), element("span", "muted", what));
    const numbers = (/** @type {number} */ count) => Array.from({ length: count }, (_item, i) => String(i + 1));
    const column = { className: "head-name", role: "columnheader" };
    this.headNames = numbers(heads).map((n) =>
      element("span", { ...column, ariaLabel: _("Head {number}", { number: n }) }, n),
    );
    this.layerNames = numbers(layers).map((n) =>
      element("span", { className: "layer-name", role: "rowheader" }, _("Layer {number}", { number: n })),
    );
    this.cells = texts.map((text, index) => this.cell(text, index));
    const corner = element("span", { ...column, className: "muted head-name" }, _("Head"));
    const rows = this.layerNames.map((layer, i) => [layer, ...this.cells.slice(i * heads, (i + 1) * heads)]);
    const lines = [[corner, ...this.headNames], ...rows];
    this.board.replaceChildren(...lines.map((parts) => element("div", { className: "line", role: "row" }, ...parts)));
    const gradient = `background:linear-gradient(to right, ${this.scaleOf(this.chosen).stops})`;
    const scaleLabel = isCentred
      ? _("Colour scale from {low} (cold) through the chance level (dark) to {high} (warm)", { low, high })
      : _("Colour scale from 0 (dark) to {high} (light)", { high });
    const [bar, end] = [element("span", { className: "shade-bar", style: gradient }), `${high} ${unit}`.trimEnd()];
    const scale = element("span", { className: "shade-scale", role: "img", ariaLabel: scaleLabel }, low, bar, end);
    const save = pictureButton(this.root, () => this.data.name);
    this.under.replaceChildren(scale, save);
    if (hadFocus) this.cells[this.indexOf(selected)].focus();
  }

  /** @param {string} text @param {number} index */
  cell(text, index) {
    const shade = this.chosen.shades[index];
    const { fill, ink } = colourAt(this.scaleOf(this.chosen), shade ?? 0);
    const look =
      shade === null ? { className: "cell none" } : { className: "cell", style: `background:${fill};color:${ink}` };
    return element("div", { ...look, role: "gridcell", tabIndex: -1 }, this.data.heads > MOST_NUMBERS ? "" : text);
  }

  // ---- pointer, keyboard, choice ----

  /** @param {number} index @returns {Head} */
  headOf(index) {
    return [Math.floor(index / this.data.heads), index % this.data.heads];
  }

  /** @param {Head} head */
  indexOf([layer, head]) {
    return layer * this.data.heads + head;
  }

  /** @param {number} index */
  textOf(index) {
    const { name, unit, texts } = this.chosen;
    return `${name} ${texts[index]} ${unit}`.trimEnd();
  }

  /** @param {HTMLElement} cell @param {Point} point */
  point(cell, point) {
    const index = this.cells.indexOf(cell);
    const [layer, head] = this.headOf(index);
    const title = headLabel(layer, head);
    this.tooltip.showContent(point, title, this.textOf(index));
    pointAtHead({ site: this.data.site, layer, head });
  }

  leave() {
    this.tooltip.hide();
    pointAtHead(null);
  }

  /** @param {HTMLElement} cell */
  visit(cell) {
    reachByTab(this.cells, cell);
  }

  /** @param {HTMLElement} cell @param {string} key */
  press(cell, key) {
    return walkTo(key, this.cells, cell, this.data.heads);
  }

  /** @param {HTMLElement} cell */
  choose(cell) {
    const [layer, head] = this.headOf(this.cells.indexOf(cell));
    this.mark([layer, head]);
    this.python.trigger("head", { layer, head });
  }

  /** Frame a head that is pointed at in every map. @param {HeadPlace | null} head */
  markPointed(head) {
    if (!this.data) return;
    const { site, layers, heads } = this.data;
    const isHere = head?.site === site && head.layer < layers && head.head < heads;
    const index = isHere ? this.indexOf([head.layer, head.head]) : -1;
    this.cells.forEach((cell, at) => cell.classList.toggle("pointed", at === index));
    /** @type {NodeListOf<HTMLElement>} */
    const frames = this.little.querySelectorAll(".little-frame");
    for (const frame of frames) {
      frame.hidden = !isHere;
      if (!isHere) continue;
      const [left, top] = [head.head / heads, head.layer / layers].map((share) => `${100 * share}%`);
      Object.assign(frame.style, { left, top, width: `${100 / heads}%`, height: `${100 / layers}%` });
    }
  }

  /** @param {Head} selected */
  mark(selected) {
    this.data.selected = selected;
    const open = this.cells[this.indexOf(selected)];
    this.cells.forEach((cell, index) => {
      const [layer, head] = this.headOf(index);
      const isOpen = cell === open;
      cell.classList.toggle("open", isOpen);
      cell.ariaSelected = String(isOpen);
      const what = { head: headLabel(layer, head), value: this.textOf(index) };
      cell.ariaLabel = isOpen ? _("{head}, {value}, open", what) : _("{head}, {value}", what);
    });
    reachByTab(this.cells, this.cells.find((cell) => cell.matches(":focus")) ?? open);
    this.layerNames.forEach((name, layer) => name.classList.toggle("open", layer === selected[0]));
    this.headNames.forEach((name, head) => name.classList.toggle("open", head === selected[1]));
    for (const each of this.buttons) each.ariaPressed = String(each.dataset.key === this.data.chosen);
  }
}

export default mount(".head-maps", HeadMaps);
