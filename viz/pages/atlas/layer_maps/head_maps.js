// @ts-check
// Metrics of all heads: each as a little map of layers × heads, the chosen one large, with its numbers.
// Data: the payload of head_maps.py. Sends back the triggers `map`: { key } and `head`: { layer, head }.
import { colourAt } from "../../../components/shared/drawing.js";
import { button, hearItems, named } from "../../../components/shared/items.js";
import { mount } from "../../../components/shared/mount.js";
import { contextOf, element, Tooltip } from "../../../components/shared/picture.js";
import { pictureButtons } from "../../../components/shared/save_picture.js";

/** @import { Point } from "../../../components/shared/items.js" */
/** @import { Python } from "../../../components/shared/mount.js" */

/**
 * `shades` are parts of the highest number, layer by layer; null where a head has none.
 * @typedef {{ key: string, name: string, unit: string, texts: string[], shades: (number | null)[], high: string }} HeadMap
 * @typedef {{
 *   layers: number, heads: number, maps: HeadMap[], chosen: string, selected: [layer: number, head: number],
 *   name: string, scale: { stops: string[], dark: string, pale: string }, digest: string,
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
export const cellHeight = (layers) => Math.max(SMALLEST_CELL, Math.min(CELL_HEIGHT, LARGEST_HEIGHT / layers));

/**
 * Where a key leads from cell `index` of rows of `heads`; a row's ends are ends. Undefined: the key leads nowhere.
 * @param {string} key @param {number} index @param {number} heads
 */
export function targetOf(key, index, heads) {
  const start = index - (index % heads);
  const end = start + heads - 1;
  /** @type {Record<string, number>} */
  const targets = {
    ArrowLeft: Math.max(start, index - 1),
    ArrowRight: Math.min(end, index + 1),
    ArrowUp: index - heads,
    ArrowDown: index + heads,
    Home: start,
    End: end,
  };
  return targets[key];
}

/** @param {string} role @param {string} className @param {string} text */
function heading(role, className, text, label = text) {
  return named(element("span", className, text), role, label);
}

class HeadMaps {
  /** @type {HeadMapsData} */ data;
  /** @type {HTMLButtonElement[]} */ buttons = [];
  /** @type {HTMLElement[]} */ cells = [];
  /** @type {HTMLElement[]} */ headNames = [];
  /** @type {HTMLElement[]} */ layerNames = [];

  /** @param {HTMLElement} root @param {Python} python */
  constructor(root, python) {
    this.root = root;
    this.python = python;
    this.title = element("div", "large-title");
    this.board = element("div", "large");
    this.board.setAttribute("role", "grid");
    this.under = element("div", "under");
    this.little = named(element("div", "little"), "group", "All figures");
    root.replaceChildren(this.title, this.board, this.under, this.little);
    this.tooltip = new Tooltip(root);
    hearItems(this.board, ".cell", {
      point: (cell, point) => this.tell(cell, point),
      leave: () => this.tooltip.hide(),
      visit: (cell) => this.visit(cell),
      choose: (cell) => this.choose(cell),
      press: (cell, key) => this.press(cell, key),
    });
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

  // ---- the little maps ----

  buildLittle() {
    this.buttons = this.data.maps.map((map) => this.littleMap(map));
    this.little.replaceChildren(...this.buttons);
  }

  /** @param {HeadMap} map */
  littleMap({ key, name, unit, shades, high }) {
    const { layers, heads, scale } = this.data;
    const created = button("little-map", "", () => {
      if (key !== this.data.chosen) this.python.trigger("map", { key });
    });
    Object.assign(created.dataset, { key, inPicture: "" });
    const canvas = element("canvas");
    Object.assign(canvas, { width: heads * LITTLE_WIDTH, height: layers * LITTLE_HEIGHT, ariaHidden: "true" });
    const context = contextOf(canvas);
    shades.forEach((shade, i) => {
      if (shade === null) return;
      const [x, y] = [(i % heads) * LITTLE_WIDTH, Math.floor(i / heads) * LITTLE_HEIGHT];
      context.fillStyle = colourAt(scale, shade).fill;
      context.fillRect(x, y, LITTLE_WIDTH, LITTLE_HEIGHT);
    });
    const range = element("span", "little-high muted", `0 to ${high} ${unit}`.trimEnd());
    created.append(element("span", "little-name", name), canvas, range);
    return created;
  }

  // ---- the large map ----

  buildLarge() {
    const { layers, heads, selected } = this.data;
    const { name, unit, texts } = this.chosen;
    const hadFocus = this.cells.some((cell) => cell.matches(":focus"));
    const height = cellHeight(layers);
    this.board.style.setProperty("--heads", String(heads));
    this.board.style.setProperty("--cell-height", `${height}px`);
    this.board.style.setProperty("--number-size", `${Math.min(13, height - 5)}px`);
    this.board.setAttribute(
      "aria-label",
      `${name} of ${layers} layers of ${heads} heads. Arrow keys move, Enter opens a head.`,
    );
    const what = [unit, "layers down, heads across"].filter(Boolean).join(" · ");
    this.title.replaceChildren(element("b", "", name), element("span", "muted", what));
    const numbers = (/** @type {number} */ count) => Array.from({ length: count }, (_, at) => String(at + 1));
    this.headNames = numbers(heads).map((number) => heading("columnheader", "head-name", number, `Head ${number}`));
    this.layerNames = numbers(layers).map((number) => heading("rowheader", "layer-name", `Layer ${number}`));
    this.cells = texts.map((text, index) => this.cell(text, index));
    const corner = heading("columnheader", "muted head-name", "Head");
    const rows = this.layerNames.map((layerName, layer) => [
      layerName,
      ...this.cells.slice(layer * heads, (layer + 1) * heads),
    ]);
    this.board.replaceChildren(...[[corner, ...this.headNames], ...rows].map((parts) => this.line(parts)));
    this.buildUnder();
    if (hadFocus) this.cells[this.indexOf(selected)].focus();
  }

  /** @param {HTMLElement[]} parts */
  line(parts) {
    const line = element("div", "line");
    line.setAttribute("role", "row");
    line.append(...parts);
    return line;
  }

  /** @param {string} text @param {number} index */
  cell(text, index) {
    const shade = this.chosen.shades[index];
    const cell = element("div", shade === null ? "cell none" : "cell", this.data.heads > MOST_NUMBERS ? "" : text);
    cell.setAttribute("role", "gridcell");
    cell.tabIndex = -1;
    if (shade !== null) {
      const { fill, ink } = colourAt(this.data.scale, shade);
      Object.assign(cell.style, { background: fill, color: ink });
    }
    return cell;
  }

  buildUnder() {
    const { high, unit } = this.chosen;
    const scale = named(element("span", "shade-scale"), "img", `Colour scale from 0, dark, to ${high}, light`);
    const bar = element("span", "shade-bar");
    bar.style.background = `linear-gradient(to right, ${this.data.scale.stops.join(",")})`;
    scale.append("0", bar, `${high} ${unit}`.trimEnd());
    this.under.replaceChildren(
      scale,
      pictureButtons(this.root, () => this.data.name),
    );
  }

  // ---- pointer, keyboard, choice ----

  /** @param {number} index @returns {[layer: number, head: number]} */
  headOf(index) {
    return [Math.floor(index / this.data.heads), index % this.data.heads];
  }

  /** @param {[layer: number, head: number]} head */
  indexOf([layer, head]) {
    return layer * this.data.heads + head;
  }

  /** @param {number} index */
  textOf(index) {
    const { name, unit, texts } = this.chosen;
    return `${name} ${texts[index]} ${unit}`.trimEnd();
  }

  /** @param {HTMLElement} cell @param {Point} point */
  tell(cell, point) {
    const index = this.cells.indexOf(cell);
    const [layer, head] = this.headOf(index);
    const title = element("div", "tooltip-title", `Layer ${layer + 1} · Head ${head + 1}`);
    this.tooltip.showContent(point, title, element("div", "tooltip-value", this.textOf(index)));
  }

  /** @param {HTMLElement} cell */
  visit(cell) {
    for (const other of this.cells) other.tabIndex = other === cell ? 0 : -1;
  }

  /** @param {HTMLElement} cell @param {string} key */
  press(cell, key) {
    const target = targetOf(key, this.cells.indexOf(cell), this.data.heads);
    if (target !== undefined) this.cells[target]?.focus();
    return target !== undefined;
  }

  /** @param {HTMLElement} cell */
  choose(cell) {
    const [layer, head] = this.headOf(this.cells.indexOf(cell));
    this.mark([layer, head]);
    this.python.trigger("head", { layer, head });
  }

  /** @param {[layer: number, head: number]} selected */
  mark(selected) {
    const open = this.indexOf(selected);
    this.data.selected = selected;
    const focused = this.cells.find((cell) => cell.matches(":focus"));
    this.cells.forEach((cell, index) => {
      const [layer, head] = this.headOf(index);
      const isOpen = index === open;
      cell.classList.toggle("open", isOpen);
      cell.setAttribute("aria-selected", String(isOpen));
      cell.setAttribute(
        "aria-label",
        `Layer ${layer + 1}, head ${head + 1}, ${this.textOf(index)}${isOpen ? ", open" : ""}`,
      );
      cell.tabIndex = (focused ? cell === focused : isOpen) ? 0 : -1;
    });
    this.layerNames.forEach((name, layer) => name.classList.toggle("open", layer === selected[0]));
    this.headNames.forEach((name, head) => name.classList.toggle("open", head === selected[1]));
    for (const each of this.buttons) each.setAttribute("aria-pressed", String(each.dataset.key === this.data.chosen));
  }
}

export default mount(".head-maps", HeadMaps);
