// @ts-check
// The board of the grid: a transparent cell a head, the names beside them, and below all of it the canvas.
import { element } from "../shared/picture.js";

/** @import { Head, TilesHeader } from "../shared/head_tiles.js" */

/** @typedef {{ name: string, unit: string, texts: string[], bars: number[] }} TileFigure a number under every tile */
/** @typedef {{ layers: number, heads: number, ranked: number[] | null, figure: TileFigure | null }} Order which heads stand where */
/** @typedef {{ width: number, height: number }} Size */

const LABEL_WIDTH = 60;
const GAP = 8;
const LARGEST_TILE = 164;
const SMALLEST_TILE = 20;
// With many layers tiles become smaller, down to a size at which they can still be read, rather than the page long.
const LARGEST_BOARD = 900;
const READABLE_TILE = 56;
// Below this width "Head 12" does not fit over a tile, and the number stands alone.
const ROOM_FOR_HEAD_NAME = 46;
// What the name of a ranked head ("L12 H16") and the number under a tile need.
const ROOM_FOR_RANKED = 50;
const ROOM_FOR_FIGURE = 28;
const NAME_HEIGHT = 20;
const FIGURE_HEIGHT = 26;
// So few ranked heads get large tiles, in lines of four.
const FEW = 16;
const FEW_ACROSS = 4;

/**
 * Where keys lead from the cell at `index`, by their names; beyond the first and last line there is nothing.
 * @param {number} index @param {number} across @param {number} count @returns {Record<string, number>}
 */
export function targetsOf(index, across, count) {
  const column = index % across;
  const end = Math.min(count, index - column + across) - 1;
  return {
    ArrowLeft: column > 0 ? index - 1 : index,
    ArrowRight: Math.min(end, index + 1),
    ArrowUp: index - across,
    ArrowDown: index + across,
    Home: index - column,
    End: end,
  };
}

export class HeadBoard {
  /** @type {HTMLElement[]} */
  cells = [];
  /** @type {HTMLElement[]} */
  layerNames = [];
  /** @type {HTMLElement[]} */
  headNames = [];
  /** @type {Order} */
  order;
  /** @type {HTMLElement | null} */
  opened = null;
  arrangement = "";
  /** How many tiles stand beside one another. */
  across = 1;

  constructor() {
    this.element = element("div", "board");
    this.element.setAttribute("role", "grid");
    this.canvas = element("canvas", "tiles");
    this.canvas.setAttribute("aria-hidden", "true");
    this.marker = element("div", "marker");
    this.marker.hidden = true;
    this.corner = element("span", "head-name");
  }

  /** @param {HTMLElement} cell @returns {Head} */
  headOf(cell) {
    return [Number(cell.dataset.layer), Number(cell.dataset.head)];
  }

  /** @param {Head} head */
  cellOf([layer, head]) {
    return this.cells.find((cell) => cell.dataset.layer === String(layer) && cell.dataset.head === String(head));
  }

  // ---- cells ----

  /**
   * Lines of cells in a place this wide. Returns whether anything has changed. The head that had the focus keeps it.
   * @param {Order} order @param {number} width
   */
  arrange(order, width) {
    const across = this.tilesAcross(order, width);
    const arrangement = JSON.stringify([across, order.layers, order.heads, order.ranked, order.figure]);
    if (arrangement === this.arrangement) return false;
    const focused = this.cells.find((cell) => cell.matches(":focus"));
    const last = this.cells.find((cell) => cell.tabIndex === 0);
    Object.assign(this, { arrangement, order, across, layerNames: [], headNames: [], opened: null });
    this.build();
    const again = last && this.cellOf(this.headOf(last));
    (again ?? this.cells[0]).tabIndex = 0;
    if (focused) (again ?? this.cells[0]).focus();
    return true;
  }

  build() {
    const { layers, heads, ranked, figure } = this.order;
    const shown = ranked ?? Array.from({ length: layers * heads }, (_, index) => index);
    const label = `Attention of ${layers} layers of ${heads} heads each. Arrow keys move, Enter opens a head.`;
    const lines = [];
    this.cells = shown.map((index) => this.buildCell(Math.floor(index / heads), index % heads));
    for (let start = 0; start < shown.length; start += this.across) {
      const line = element("div", "line");
      line.setAttribute("role", "row");
      if (!ranked) line.append(this.buildLayerName(lines.length));
      line.append(...this.cells.slice(start, start + this.across));
      lines.push(line);
    }
    this.element.replaceChildren(...(ranked ? [] : [this.buildHeadNames()]), this.canvas, ...lines, this.marker);
    this.element.classList.toggle("ranked", ranked !== null);
    this.element.setAttribute("aria-label", ranked ? `${label} Ranked by ${figure?.name}.` : label);
  }

  /** @param {number} layer @param {number} head */
  buildCell(layer, head) {
    const { ranked, figure, heads } = this.order;
    const cell = element("div", "cell");
    cell.setAttribute("role", "gridcell");
    cell.tabIndex = -1;
    cell.dataset.layer = String(layer);
    cell.dataset.head = String(head);
    if (ranked) cell.append(element("span", "cell-name", `L${layer + 1} H${head + 1}`));
    if (figure) {
      const bar = element("span", "bar");
      bar.style.setProperty("--part", String(figure.bars[layer * heads + head]));
      const caption = element("span", "cell-figure");
      caption.append(bar, element("span", "number", figure.texts[layer * heads + head]));
      cell.append(caption);
    }
    this.describe(cell, false);
    return cell;
  }

  /** @param {HTMLElement} cell @param {boolean} isOpen */
  describe(cell, isOpen) {
    const { figure, heads } = this.order;
    const [layer, head] = this.headOf(cell);
    const said = figure ? `, ${figure.name} ${figure.texts[layer * heads + head]} ${figure.unit}`.trimEnd() : "";
    cell.classList.toggle("open", isOpen);
    cell.setAttribute("aria-selected", String(isOpen));
    cell.setAttribute("aria-label", `Layer ${layer + 1}, head ${head + 1}${said}${isOpen ? ", open" : ""}`);
  }

  /** @param {number} layer */
  buildLayerName(layer) {
    const name = element("span", "layer-name", `Layer ${layer + 1}`);
    name.setAttribute("role", "rowheader");
    this.layerNames.push(name);
    return name;
  }

  buildHeadNames() {
    this.corner = element("span", "layer-name muted");
    this.headNames = Array.from({ length: this.order.heads }, () => element("span", "head-name"));
    const top = element("div", "line heads");
    top.setAttribute("role", "row");
    top.append(this.corner, ...this.headNames);
    [...top.children].forEach((name) => name.setAttribute("role", "columnheader"));
    return top;
  }

  /** Frame the open head, and name its row and column in bold. @param {Head | null} selected */
  mark(selected) {
    const [openLayer, openHead] = selected ?? [-1, -1];
    const opened = (selected && this.cellOf(selected)) ?? null;
    if (this.opened && this.opened !== opened) this.describe(this.opened, false);
    if (opened) this.describe(opened, true);
    this.opened = opened;
    this.layerNames.forEach((name, layer) => name.classList.toggle("open", layer === openLayer));
    this.headNames.forEach((name, head) => name.classList.toggle("open", head === openHead));
  }

  // ---- sizes ----

  /** A layer's tiles, or, ranked, at most as many as their names leave room for. @param {Order} order @param {number} width */
  tilesAcross({ heads, ranked }, width) {
    if (!ranked) return heads;
    const most = Math.floor((width + GAP) / (ROOM_FOR_RANKED + GAP));
    const wanted = ranked.length > FEW ? heads : FEW_ACROSS;
    return Math.max(1, Math.min(wanted, ranked.length, most));
  }

  /**
   * Tile sides in device pixels: a whole number of pixels a weight where that costs little room. With few pixels a
   * weight more is given up for it, for there one pixel makes some rows look twice as thick as others.
   * @param {TilesHeader} tiles @param {number} available @param {number} ratio @returns {Size}
   */
  tileSides({ queryTokens, keyTokens, rows, columns }, available, ratio) {
    const { ranked, figure } = this.order;
    const room = (available - (ranked ? 0 : LABEL_WIDTH) - GAP * this.across) / this.across;
    // Tiles follow the sentence's shape, but never become a strip.
    const aspect = Math.min(2, Math.max(0.5, queryTokens.length / keyTokens.length));
    const height = Math.max(READABLE_TILE, LARGEST_BOARD / Math.ceil(this.cells.length / this.across) - GAP);
    const largest = Math.min(LARGEST_TILE, LARGEST_TILE / aspect, height / aspect);
    const width = Math.min(largest, Math.max(figure ? ROOM_FOR_FIGURE : SMALLEST_TILE, room));
    const snap = (/** @type {number} */ length, /** @type {number} */ count) => {
      const whole = Math.floor(length / count) * count;
      const least = length / count < 4 ? 0.8 : 0.94;
      return Math.max(1, whole >= least * length ? whole : Math.floor(length));
    };
    return { width: snap(width * ratio, columns), height: snap(width * aspect * ratio, rows) };
  }

  /** Give cells tiles of this size, in device pixels; returns how far tiles are apart. @param {Size} tile @param {number} ratio */
  setSizes({ width, height }, ratio) {
    const { ranked, figure } = this.order;
    const [gap, above, below] = [GAP, ranked ? NAME_HEIGHT : 0, figure ? FIGURE_HEIGHT : 0].map((length) =>
      Math.round(length * ratio),
    );
    const label = ranked ? 0 : LABEL_WIDTH * ratio;
    const lengths = { label, "tile-w": width, "tile-h": height, gap, above, below };
    for (const [name, length] of Object.entries(lengths))
      this.element.style.setProperty(`--${name}`, `${length / ratio}px`);
    const isRoomy = width / ratio >= ROOM_FOR_HEAD_NAME;
    this.headNames.forEach((name, head) => {
      name.textContent = isRoomy ? `Head ${head + 1}` : String(head + 1);
      name.setAttribute("aria-label", `Head ${head + 1}`);
    });
    if (this.headNames.length) this.corner.textContent = isRoomy ? "" : "Head";
    return { across: width + gap, down: height + gap + above + below };
  }
}
