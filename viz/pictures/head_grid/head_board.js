// The board of the grid: a transparent cell a head, the names beside them, and below all of it the canvas.
import { roleKeyParts } from "../shared/chat_roles.js";
import { headLabel } from "../shared/head_label.js";
import { _ } from "../shared/messages.js";
import { element } from "../shared/picture.js";

/** @import { RoleRun } from "../shared/chat_roles.js" */
/** @import { Head, TilesHeader } from "../shared/head_tiles.js" */

/** @typedef {{ name: string, unit: string, texts: string[], bars: number[] }} TileMetric a number under every tile */
/** @typedef {{ signs: string[], colours: string[], said: string[], intervals: string[] }} TileJobs what heads are for; "" for a head without a job */
/** @typedef {{ layers: number, heads: number, ranked: number[] | null, metric: TileMetric | null, jobs: TileJobs | null, framed?: number[], isMean?: boolean }} Order which heads stand where, and those to be framed; perhaps the mean of each layer's */
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
const ROOM_FOR_METRIC = 28;
const NAME_HEIGHT = 20;
const METRIC_HEIGHT = 26;
const JOB_HEIGHT = 20;
// So few ranked heads get large tiles, in lines of four.
const FEW = 16;
const FEW_ACROSS = 4;

export class HeadBoard {
  /** @type {HTMLElement[]} */ cells = [];
  /** @type {HTMLElement[]} */ layerNames = [];
  /** @type {HTMLElement[]} */ headNames = [];
  /** @type {Order} */ order;
  /** @type {HTMLElement | null} */ opened = null;
  arrangement = "";
  /** How many tiles stand beside one another. */
  across = 1;
  element = element("div", { className: "board", role: "grid" });
  canvas = element("canvas", { className: "tiles", ariaHidden: "true" });
  marker = element("div", { className: "marker", hidden: true });
  /** What is pointed at, in every tile; on the board only meanwhile. */
  marks = element("canvas", { className: "marks", ariaHidden: "true", dataset: { notInPicture: "" } });
  corner = element("span", "head-name");
  roles = new TileRoles();

  /** @param {HTMLElement} cell @returns {Head} */
  headOf(cell) {
    return [Number(cell.dataset.layer), Number(cell.dataset.head)];
  }

  /** @param {Head} head */
  cellOf([layer, head]) {
    return this.cells.find((cell) => cell.dataset.layer === String(layer) && cell.dataset.head === String(head));
  }

  // ---- cells ----

  /** Lines of cells in so much room; says whether any changed. A head keeps its focus. @param {Order} order @param {number} width */
  arrange(order, width) {
    const across = this.tilesAcross(order, width);
    const { layers, heads, ranked, metric, jobs, framed, isMean } = order;
    const arrangement = JSON.stringify([across, layers, heads, ranked, metric, jobs, framed, isMean]);
    if (arrangement === this.arrangement) return false;
    const focused = this.cells.find((cell) => cell.matches(":focus"));
    const last = this.cells.find((cell) => cell.tabIndex === 0);
    Object.assign(this, { arrangement, order, across, opened: null });
    this.build();
    const reached = (last && this.cellOf(this.headOf(last))) ?? this.cells[0];
    reached.tabIndex = 0;
    if (focused) reached.focus();
    return true;
  }

  build() {
    const { layers, heads, ranked, metric } = this.order;
    const shown = ranked ?? Array.from({ length: layers * heads }, (_each, index) => index);
    const sizes = { layers, heads };
    const label = _("Attention of {layers} layers of {heads} heads each. Arrow keys move, Enter opens a head.", sizes);
    this.cells = shown.map((index) => this.buildCell(index));
    this.layerNames = [...Array(ranked ? 0 : layers).keys()].map((layer) => {
      const name = _("Layer {number}", { number: layer + 1 });
      return element("span", { className: "layer-name", role: "rowheader" }, name);
    });
    const lines = Array.from({ length: Math.ceil(shown.length / this.across) }, (_each, line) => {
      const cells = this.cells.slice(line * this.across, (line + 1) * this.across);
      return element("div", { className: "line", role: "row" }, ...this.layerNames.slice(line, line + 1), ...cells);
    });
    this.headNames = [];
    const top = ranked ? [] : [this.buildHeadNames()];
    this.element.replaceChildren(...top, this.canvas, ...lines, this.roles.element, this.marker);
    this.element.classList.toggle("ranked", ranked !== null);
    const order = _("Ranked by {metric}.", { metric: metric?.name });
    this.element.ariaLabel = ranked ? `${label} ${order}` : label;
  }

  /** @param {number} index */
  buildCell(index) {
    const { ranked, metric, jobs, framed, heads } = this.order;
    const [layer, head] = [Math.floor(index / heads), index % heads];
    const cell = element("div", { className: "cell", role: "gridcell", tabIndex: -1, dataset: { layer, head } });
    if (ranked) cell.append(element("span", "cell-name", this.nameOf([layer, head])));
    const rank = framed?.indexOf(index) ?? -1;
    if (rank >= 0) {
      cell.classList.add("best");
      cell.append(element("span", "cell-rank", String(rank + 1)));
    }
    if (metric) {
      const bar = element("span", { className: "bar", style: `--part:${metric.bars[index]}` });
      cell.append(element("span", "cell-metric", bar, element("span", "number", metric.texts[index])));
    }
    if (jobs?.signs[index]) {
      const sign = element("span", { style: `--job: ${jobs.colours[index]}` }, jobs.signs[index]);
      cell.append(element("span", "cell-job", sign));
    }
    this.describe(cell, false);
    return cell;
  }

  /** @param {Head} head */
  nameOf([layer, head]) {
    return this.order.isMean ? _("L{layer}, all heads", { layer: layer + 1 }) : headLabel(layer, head);
  }

  /** What a head is for, with its number; "" without a job. @param {Head} head */
  jobOf([layer, head]) {
    const { jobs, heads } = this.order;
    const index = layer * heads + head;
    return jobs?.said[index] ? `${jobs.said[index]}${jobs.intervals[index]}` : "";
  }

  /** @param {HTMLElement} cell @param {boolean} isOpen */
  describe(cell, isOpen) {
    const { metric, heads } = this.order;
    const [layer, head] = this.headOf(cell);
    const job = this.jobOf([layer, head]);
    const said = metric ? `, ${metric.name} ${metric.texts[layer * heads + head]} ${metric.unit}`.trimEnd() : "";
    cell.classList.toggle("open", isOpen);
    cell.ariaSelected = String(isOpen);
    const name = `${this.nameOf([layer, head])}${job ? `, ${job}` : ""}${said}`;
    cell.ariaLabel = isOpen ? _("{name}, open", { name }) : name;
  }

  buildHeadNames() {
    const role = "columnheader";
    this.corner = element("span", { className: "layer-name muted", role });
    this.headNames = [...Array(this.order.heads).keys()].map((head) => {
      const ariaLabel = this.order.isMean ? _("All heads") : _("Head {number}", { number: head + 1 });
      return element("span", { className: "head-name", role, ariaLabel });
    });
    return element("div", { className: "line heads", role: "row" }, this.corner, ...this.headNames);
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
   * @param {TilesHeader} tiles @param {number} available @param {number} ratio @param {number} [highest] the board may be
   * @param {number} [shape] the height of a tile for its width, where it is not that of the sentence @returns {Size}
   */
  tileSides({ queryTokens, keyTokens, rows, columns }, available, ratio, highest = Infinity, shape) {
    const { ranked, metric, jobs } = this.order;
    const room = (available - (ranked ? 0 : LABEL_WIDTH) - GAP * this.across) / this.across;
    // Tiles follow the sentence's shape, but never become a strip.
    const aspect = Math.min(2, Math.max(0.5, shape ?? queryTokens.length / keyTokens.length));
    const lines = Math.ceil(this.cells.length / this.across);
    const height = Math.max(READABLE_TILE, LARGEST_BOARD / lines - GAP);
    const around = GAP + (ranked ? NAME_HEIGHT : 0) + (metric ? METRIC_HEIGHT : 0) + (jobs ? JOB_HEIGHT : 0);
    const largest = Math.min(LARGEST_TILE, LARGEST_TILE / aspect, height / aspect, (highest / lines - around) / aspect);
    const width = Math.min(largest, Math.max(metric ? ROOM_FOR_METRIC : SMALLEST_TILE, room));
    const snap = (/** @type {number} */ length, /** @type {number} */ count) => {
      const whole = Math.floor(length / count) * count;
      const least = length / count < 4 ? 0.8 : 0.94;
      return Math.max(1, whole >= least * length ? whole : Math.floor(length));
    };
    return { width: snap(width * ratio, columns), height: snap(width * aspect * ratio, rows) };
  }

  /** Give cells tiles of this size, in device pixels; returns how far tiles are apart. @param {Size} tile @param {number} ratio */
  setSizes({ width, height }, ratio) {
    const { ranked, metric, jobs } = this.order;
    const under = (metric ? METRIC_HEIGHT : 0) + (jobs ? JOB_HEIGHT : 0);
    const [gap, above, below] = [GAP, ranked ? NAME_HEIGHT : 0, under].map((length) => Math.round(length * ratio));
    const label = ranked ? 0 : LABEL_WIDTH * ratio;
    const lengths = { label, "tile-w": width, "tile-h": height, gap, above, below };
    for (const [name, length] of Object.entries(lengths))
      this.element.style.setProperty(`--${name}`, `${length / ratio}px`);
    const isRoomy = width / ratio >= ROOM_FOR_HEAD_NAME;
    const isNamed = isRoomy || this.order.isMean;
    for (const [head, name] of this.headNames.entries()) name.textContent = isNamed ? name.ariaLabel : String(head + 1);
    if (this.headNames.length) this.corner.textContent = isNamed ? "" : _("Head");
    return { across: width + gap, down: height + gap + above + below };
  }
}

/** So long a run must be on average, in CSS pixels, to be told from those beside it. */
const LEAST_RUN = 5;

/** Whether tiles of this size have room for bars. @param {RoleRun[]} runs @param {Size} tile in CSS pixels */
export const haveRoom = (runs, { width, height }) =>
  runs.length > 0 && Math.min(width, height) >= runs.length * LEAST_RUN;

/** Thin bars over the columns of tiles, and beside their lines, that say whose message of a chat keys and queries are of. */
class TileRoles {
  element = element("div", { className: "tile-roles", ariaHidden: "true", hidden: true });
  /** What the colours stand for: there is no room for names. */
  key = element("span", { className: "role-key", hidden: true });
  built = "";

  /**
   * Bars for so many columns and lines of tiles, where there is room for them.
   * @param {RoleRun[]} runs of the tokens on either side @param {number} tokens how many there are
   * @param {{ across: number, lines: number }} board @param {Size} tile in CSS pixels
   */
  show(runs, tokens, { across, lines }, tile) {
    this.element.hidden = this.key.hidden = !haveRoom(runs, tile);
    const built = JSON.stringify([runs, tokens, across, lines]);
    if (this.element.hidden || built === this.built) return;
    this.built = built;
    const bars = () =>
      runs.map(([role, begin, end, colour]) => {
        const style = `--begin:${begin / tokens};--part:${(end - begin) / tokens};background-color:${colour}`;
        return element("span", { className: "tile-role", title: role, style });
      });
    const strips = (/** @type {string} */ className, /** @type {number} */ count) =>
      Array.from({ length: count }, (_each, at) => element("div", { className, style: `--at:${at}` }, ...bars()));
    this.element.replaceChildren(...strips("over", across), ...strips("beside", lines));
    this.key.replaceChildren(...roleKeyParts(new Map(runs.map(([role, , , colour]) => [role, colour]))));
  }
}
