// The grid of all heads. One canvas holds every pixel; over it lies one transparent cell a head, which takes the
// pointer and the focus. So the picture is painted once, and opening or visiting a head only moves a frame.
// Heads stand layer by layer, or ranked; then each cell says which head it is. The tiles come by another way
// (tile_store.js), and what a person turns to is drawn from them before Python answers. Tells the page of a head that is
// opened or pointed at, which matrix.js draws, and marks in every tile what is pointed at elsewhere (focus.js).

import { Awaited } from "../shared/awaited.js";
import { roleOf, rolesLooking, tokenWithRole } from "../shared/chat_roles.js";
import { indicesOf, onTold, placeOf, pointAt, pointed, tell } from "../shared/focus.js";
import { hearItems, reachByTab, walkTo } from "../shared/items.js";
import { _, sentenceParts } from "../shared/messages.js";
import { onResize, View } from "../shared/mount.js";
import { formatWeight } from "../shared/payload.js";
import {
  cellRuns,
  clamp,
  contextOf,
  element,
  legendElement,
  paintMatrix,
  pixelRatio,
  pixelScale,
  roomFor,
  rowElement,
  sizeCanvas,
  Tooltip,
} from "../shared/picture.js";
import { pictureButton } from "../shared/save_picture.js";
import { onTiles, tilesAt } from "../shared/tile_store.js";
import { whyLink } from "../shared/why_link.js";
import { HeadBoard } from "./head_board.js";
import { announceHead, followedChoice } from "./head_preview.js";
import { HeatTiles } from "./heat_tiles.js";

/** @import { Axis, Focus, Place } from "../shared/focus.js" */
/** @import { Tiles } from "../shared/head_tiles.js" */
/** @import { Run } from "../shared/picture.js" */
/** @import { Box } from "../shared/source_picture.js" */
/** @import { Size } from "./head_board.js" */
/** @import { GridHeader } from "./head_preview.js" */

/** What stands above and below the board, besides what is below it. */
const BESIDE_BOARD = 48;

export class HeadGrid extends View {
  /** @type {GridHeader} */ header;
  /** @type {Tiles} */ tiles;
  /** @type {Uint32Array} */ scale;
  /** @type {Run[]} */ rowRuns;
  /** @type {Run[]} */ columnRuns;
  /** By what the canvas was painted last. @type {string | null} */ painted = null;
  /** The tile that a person points at. @type {HTMLElement | null} */ pointedCell = null;
  /** How far tiles are apart, and how large they are, in device pixels. */ pitch = { across: 1, down: 1 };
  /** @type {Size} */ tile = { width: 1, height: 1 };
  said = "";
  /** @type {(() => void) | undefined} */ stopWaiting;
  board = new HeadBoard();
  awaited = new Awaited();
  status = element("p", { className: "status", role: "status", dataset: { notInPicture: "" } });
  caption = element("div", "picture-caption only-saved");
  foot = element("div", "foot muted");
  heat = new HeatTiles(() => this.markPointed(pointed()));
  tooltip = new Tooltip(this.root);

  start() {
    const scroller = element("div", "scroller", this.board.element);
    this.root.replaceChildren(this.caption, scroller, this.foot, this.tooltip.box);
    hearItems(this.board.element, ".cell", this);
    const { signal } = this.ended;
    document.addEventListener("click", (event) => this.follow(event), { capture: true, signal });
    onTold("pointed", (focus) => this.markPointed(focus), signal);
    onResize(this, () => this.layOut());
  }

  dispose() {
    super.dispose();
    this.leave();
    this.stopWaiting?.();
    this.awaited.forget();
  }

  // ---- data ----

  /** Python's message; it may be the answer to something older than what is shown. @param {{ header: GridHeader }} payload */
  receive({ header }) {
    this.awaited.take(`${header.address} ${header.selected}`, () => this.show(header));
  }

  /** Tiles that have not come yet, or not all of them, are waited for. @param {GridHeader} header */
  show(header) {
    this.stopWaiting?.();
    const tiles = tilesAt(header.address);
    if (tiles) this.draw(header, tiles);
    // Meanwhile a person may have opened another head.
    const again = () => this.show(this.header?.address === header.address ? this.header : header);
    if (!tiles || tiles.missing.size) this.stopWaiting = onTiles(header.address, again);
  }

  /** @param {GridHeader} header @param {Tiles} tiles */
  draw(header, tiles) {
    if (this.header?.stops.join() !== header.stops.join()) this.scale = pixelScale(header.stops);
    if (this.tiles !== tiles) this.painted = null;
    this.header = header;
    this.tiles = tiles;
    this.caption.textContent = header.caption;
    this.tooltip.hide();
    this.board.marker.hidden = true;
    this.board.element.classList.toggle("unknown", Boolean(header.isPreview));
    this.buildFoot();
    this.layOut();
    this.board.mark(header.selected);
    if (this.painted) this.markPointed(pointed());
    const focused = this.board.cells.find((cell) => cell.matches(":focus"));
    if (focused) this.visit(focused);
    const [keys, waiting] = [tiles.header.keyTokens.length, tiles.missing.size];
    Object.assign(this.root.dataset, { ready: "1", shown: header.address, keys, waiting });
  }

  buildFoot() {
    const { stops, ticks, notes } = this.header;
    const { blockQueries, blockKeys, number, top } = this.tiles.header;
    const foot = JSON.stringify([stops, notes, blockQueries, blockKeys, number, top]);
    this.status.textContent = "";
    if (foot === this.said) return;
    this.said = foot;
    const block = { rows: blockQueries, columns: blockKeys };
    const pooled = _("Each pixel shows the largest of up to {rows} × {columns} numbers.", block);
    const how = _("Click a tile, or press Enter, to open the head; arrow keys move.");
    const hint = element("span", { className: "hint", dataset: { notInPicture: "" } }, how);
    const said = [this.board.roles.key, this.heat.note, this.tiles.isPooled ? pooled : "", hint];
    const above = [...notes.map((note) => element("p", "note", note)), legendElement(stops, ticks, number, top)];
    const save = pictureButton(this.root, () => this.header.name);
    this.foot.replaceChildren(...above, ...said, this.heat.toggle, save, this.status);
  }

  // ---- layout and painting ----

  layOut() {
    const { clientWidth } = this.root;
    if (!this.tiles || !clientWidth) return;
    const { layers, heads } = this.tiles.header;
    const { ranked, metric, jobs, framed, isMean, selected } = this.header;
    const ratio = pixelRatio(this.root);
    if (this.board.arrange({ layers, heads, ranked, metric, jobs, framed, isMean }, clientWidth)) {
      this.painted = null;
      this.board.mark(selected);
    }
    const image = this.tiles.picture?.image;
    const high = roomFor(this.root, this.foot.offsetHeight + BESIDE_BOARD);
    // Where rows are drawn over the picture, tiles have its shape.
    const shape = image && this.header.kept.length ? image.height / image.width : undefined;
    const sides = this.board.tileSides(this.tiles.header, clientWidth, ratio, high, shape);
    const signature = `${sides.width} ${sides.height} ${ratio} ${this.tiles.missing.size}`;
    if (signature === this.painted) return;
    this.painted = signature;
    this.heat.drawn = "";
    this.tile = sides;
    this.pitch = this.board.setSizes(sides, ratio);
    this.paint(sides, this.pitch, ratio);
    this.markPointed(pointed());
    const tile = { width: sides.width / ratio, height: sides.height / ratio };
    // Ranked heads have their names where bars would be.
    const runs = ranked ? [] : this.header.roles;
    this.board.roles.show(runs, this.tiles.header.keyTokens.length, { across: this.board.across, lines: layers }, tile);
  }

  /** @param {Size} tile @param {{ across: number, down: number }} pitch @param {number} ratio */
  paint({ width, height }, pitch, ratio) {
    const { rows, columns } = this.tiles.header;
    const { canvas, cells, across } = this.board;
    this.rowRuns = cellRuns(rows, height);
    this.columnRuns = cellRuns(columns, width);
    const lines = Math.ceil(cells.length / across);
    sizeCanvas(canvas, (across - 1) * pitch.across + width, (lines - 1) * pitch.down + height, ratio);
    const context = contextOf(canvas);
    const image = context.createImageData(canvas.width, canvas.height);
    cells.forEach((cell, index) => {
      cell.classList.toggle("waiting", this.isMissing(cell));
      if (this.isMissing(cell)) return;
      const left = (index % across) * pitch.across;
      const top = Math.floor(index / across) * pitch.down;
      const base = this.tiles.baseOf(this.board.headOf(cell));
      paintMatrix(image, this.scale, this.tiles.values, base, columns, { left, top }, this.rowRuns, this.columnRuns);
    });
    context.putImageData(image, 0, 0);
  }

  /** Mark what is pointed at in every tile: a row, a column or a cell; over a picture a row is drawn, a key is framed. @param {Focus | null} focus */
  markPointed(focus) {
    if (!this.painted) return;
    const { heat, tile, board } = this;
    const { axes, queryTokens, keyTokens } = this.tiles.header;
    heat.choose(this.tiles, tile, this.header.kept, focus?.query ?? null, this.pointedCell !== null);
    const drawn = heat.rows.length ? `${heat.rows} ${this.header.stops}` : "";
    if (!drawn) heat.canvas.remove();
    else if (drawn !== heat.drawn) this.drawHeats();
    heat.drawn = drawn;
    const rows = this.stretchOf(axes?.[0], queryTokens.length, focus?.query, tile.height);
    const columns = this.stretchOf(axes?.[1], keyTokens.length, focus?.key, tile.width);
    const [[y, height], [x, width]] = [rows ?? [0, tile.height], columns ?? [0, tile.width]];
    const cell = /** @type {Box[]} */ (rows || columns ? [[x, y, width, height]] : []);
    const boxes = heat.rows.length ? heat.boxesOf(focus?.key ?? null) : cell;
    if (!boxes.length) return board.marks.remove();
    const frames = new Path2D();
    board.cells.forEach((_cell, index) => {
      const [left, top] = this.cornerOf(index);
      for (const [x, y, width, height] of boxes) frames.rect(left + x, top + y, width, height);
    });
    const [context, ratio] = [this.layerOver(board.marks), pixelRatio(this.root)];
    for (const look of [
      { lineWidth: 3 * ratio, strokeStyle: "rgb(0 0 0 / 0.65)" },
      { lineWidth: ratio, strokeStyle: "#fff" },
    ]) {
      Object.assign(context, look);
      context.stroke(frames);
    }
  }

  /** Draw what the rows of every head give over the picture. */
  drawHeats() {
    const context = this.layerOver(this.heat.canvas);
    this.board.cells.forEach((cell, index) => {
      if (!this.isMissing(cell))
        this.heat.draw(context, this.board.headOf(cell), this.cornerOf(index), this.header.stops);
    });
  }

  /** Put a canvas as large as that of all tiles over it, empty. @param {HTMLCanvasElement} layer */
  layerOver(layer) {
    const { element, canvas } = this.board;
    element.append(layer);
    sizeCanvas(layer, canvas.width, canvas.height, pixelRatio(this.root));
    return contextOf(layer);
  }

  /** The left and upper edge of a tile, in device pixels. @param {number} index */
  cornerOf(index) {
    const { across } = this.board;
    return [(index % across) * this.pitch.across, Math.floor(index / across) * this.pitch.down];
  }

  /**
   * Where the tokens of a place begin along a side so long, and how long they are there; null where it has none.
   * @param {Axis | undefined} axis @param {number | undefined} count @param {Place | null | undefined} place @param {number} length
   */
  stretchOf(axis, count, place, length) {
    const found = axis && count && place ? indicesOf(axis, count, place) : [];
    if (!found.length || !count) return null;
    const [first, last] = [Math.min(...found), Math.max(...found)];
    return [(first / count) * length, ((last + 1 - first) / count) * length];
  }

  /** Whether the tiles of this cell's layer have not come yet. @param {HTMLElement} cell */
  isMissing(cell) {
    return this.tiles.missing.has(this.board.headOf(cell)[0]);
  }

  // ---- pointer ----

  /** @param {HTMLElement} cell @param {PointerEvent} event */
  point(cell, event) {
    if (!this.painted || this.isMissing(cell)) return this.leave();
    const frame = cell.getBoundingClientRect();
    // The name over a tile and the number under it are no weights.
    if (event.clientY < frame.top || event.clientY > frame.bottom) return this.leave();
    if (this.heat.rows.length) return this.pointPatch(cell, event, frame);
    const runAt = (/** @type {number} */ share, /** @type {Run[]} */ runs) =>
      runs[clamp(0, Math.floor(share * runs.length), runs.length - 1)];
    const rowRun = runAt((event.clientY - frame.top) / frame.height, this.rowRuns);
    const columnRun = runAt((event.clientX - frame.left) / frame.width, this.columnRuns);
    const [layer, head] = this.board.headOf(cell);
    const { query, key, weight, at } = this.tiles.largest([layer, head], rowRun, columnRun);
    const isBlock = this.tiles.isPooled || rowRun[1] - rowRun[0] > 1 || columnRun[1] - columnRun[0] > 1;
    const title = [this.board.nameOf([layer, head]), this.board.jobOf([layer, head])].filter(Boolean).join(" · ");
    const said = [isBlock ? _("{weight} (max of block)", { weight }) : weight, rolesLooking(...this.rolesAt(at))];
    this.tooltip.show(event, title, rowElement(query, this.writes), key, said.filter(Boolean).join("\n"));
    this.frameWeight(cell, rowRun, columnRun);
    // A finger points at nothing: it opens.
    if (event.pointerType !== "touch") this.tellPointed(cell, at);
  }

  /** A tile that shows the picture is pointed at: a patch, or what is around the picture. @param {HTMLElement} cell @param {PointerEvent} event @param {DOMRect} frame */
  pointPatch(cell, event, frame) {
    const found = this.heat.at(this.board.headOf(cell), [
      ((event.clientX - frame.left) / frame.width) * this.tile.width,
      ((event.clientY - frame.top) / frame.height) * this.tile.height,
    ]);
    if (!found) return this.leave();
    const { queryTokens, keyTokens } = this.tiles.header;
    const [[query], { key, weight }] = [this.heat.rows, found];
    const title = this.board.nameOf(this.board.headOf(cell));
    this.tooltip.show(event, title, rowElement(queryTokens[query], this.writes), keyTokens[key], formatWeight(weight));
    if (event.pointerType !== "touch") this.tellPointed(cell, [query, key]);
  }

  /** The page shows the head that a person points at, and marks the weight under the pointer. @param {HTMLElement} cell @param {readonly [number, number]} at */
  tellPointed(cell, [query, key]) {
    if (cell !== this.pointedCell) {
      this.pointedCell = cell;
      announceHead(this.header, this.board.headOf(cell), this.tiles, true);
    }
    const { axes } = this.tiles.header;
    if (axes) pointAt({ query: placeOf(axes[0], query), key: placeOf(axes[1], key) });
  }

  /** Whether rows stand for what they write. */
  get writes() {
    return Boolean(this.tiles.header.axes?.[0].ahead);
  }

  /** Whose message a query is of, and a key. @param {readonly [number, number]} at @returns {[string, string]} */
  rolesAt([query, key]) {
    return [roleOf(this.header.roles, query), roleOf(this.header.roles, key)];
  }

  /** A thin frame around the weight under the pointer. @param {HTMLElement} cell @param {Run} rowRun @param {Run} columnRun */
  frameWeight(cell, [top, bottom], [left, right]) {
    const height = cell.offsetHeight / this.tiles.header.rows;
    const width = cell.offsetWidth / this.tiles.header.columns;
    const { marker } = this.board;
    const place = `${cell.offsetLeft + left * width}px, ${cell.offsetTop + top * height}px`;
    const size = `width:${(right - left) * width}px;height:${(bottom - top) * height}px`;
    Object.assign(marker, { style: `transform:translate(${place});${size}`, hidden: false });
  }

  leave() {
    this.tooltip.hide();
    this.board.marker.hidden = true;
    if (!this.pointedCell) return;
    this.pointedCell = null;
    tell("preview", null);
    pointAt(null);
  }

  // ---- focus and choice ----

  /** @param {HTMLElement} cell */
  visit(cell) {
    reachByTab(this.board.cells, cell);
    const [layer, head] = this.board.headOf(cell);
    const { rows, columns } = this.tiles.header;
    const name = this.board.nameOf([layer, head]);
    if (this.isMissing(cell)) return this.status.replaceChildren(_("{head}: being computed", { head: name }));
    const { query, key, weight, at } = this.tiles.largest([layer, head], [0, rows], [0, columns]);
    const [ofQuery, ofKey] = this.rolesAt(at);
    const said = { query: tokenWithRole(rowElement(query, this.writes), ofQuery), key: tokenWithRole(key, ofKey) };
    const sentence = _("{head}: largest weight {weight}, from {query} to {key}");
    const strongest = sentenceParts(sentence, { head: name, weight, ...said });
    const { asks, isMean, isPreview } = this.header;
    const why = asks && !isMean && !isPreview ? [" ", whyLink({ site: asks, layer, head }, [at[0], at[1]])] : [];
    this.status.replaceChildren(...strongest, ...why);
  }

  /** @param {HTMLElement} cell @param {string} key */
  press(cell, key) {
    return walkTo(key, this.board.cells, cell, this.board.across);
  }

  /** @param {HTMLElement} cell */
  choose(cell) {
    const [layer, head] = this.board.headOf(cell);
    this.header = { ...this.header, selected: [layer, head] };
    this.board.mark([layer, head]);
    // What it was a preview of is now to stay.
    this.pointedCell = cell;
    this.announce();
    this.python.trigger("head", { layer, head });
  }

  /** The page's own switch was pressed: what it asks for is shown, if its tiles are here and heads keep their places. @param {Event} event */
  follow(event) {
    const chosen = this.header && followedChoice(this.header, event);
    const tiles = chosen && tilesAt(chosen.address);
    if (!tiles || this.header.ranked || chosen.address === this.header.address) return;
    this.stopWaiting?.();
    this.draw({ ...this.header, ...chosen, isPreview: true }, tiles);
    this.announce();
  }

  /** Show the selected head wherever it is shown in full, from its tile, until Python sends it. */
  announce() {
    const { address, selected } = this.header;
    this.awaited.expect(`${address} ${selected}`);
    if (selected && !this.tiles.missing.has(selected[0])) announceHead(this.header, selected, this.tiles);
  }
}
