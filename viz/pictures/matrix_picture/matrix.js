// One matrix between two lists of tokens: numbers on hover, a row and a column that can be kept, zooming and moving.
// What another component already has of the next matrix, it announces (`preview` of focus.js); that is drawn at once and
// makes way for Python's exact numbers. One too large to be sent whole comes as maxima of blocks (matrix_tiles.js).
import { Awaited } from "../shared/awaited.js";
import { savedFrom } from "../shared/canvas_cells.js";
import { closeHead, indicesOf, onTold, openHead, placeAt, pointAt, pointed } from "../shared/focus.js";
import { headLabel } from "../shared/head_label.js";
import { _ } from "../shared/messages.js";
import { onResize, View } from "../shared/mount.js";
import { decimalsOf, inflate } from "../shared/payload.js";
import {
  clamp,
  colourBar,
  element,
  pixelRatio,
  pixelScale,
  roomFor,
  rowElement,
  sizeCanvas,
  Tooltip,
  toolButton,
} from "../shared/picture.js";
import { pictureButton } from "../shared/save_picture.js";
import { MatrixAxes, sidesOf } from "./matrix_axes.js";
import { MatrixGestures } from "./matrix_gestures.js";
import { MatrixKeys, STEP } from "./matrix_keys.js";
import { between } from "./matrix_preview.js";
import { KeptNumber, readCell, readRoles } from "./matrix_reading.js";
import { MatrixSearch } from "./matrix_search.js";
import { extentSentence, MatrixTiles } from "./matrix_tiles.js";
import { extentOf, isWhole, paintView, shadesOf, wholeSpan } from "./matrix_view.js";

/** @import { Preview } from "../head_grid/head_preview.js" */
/** @import { Focus, OpenHead } from "../shared/focus.js" */
/** @import { Sizes } from "./matrix_axes.js" */
/** @import { MatrixHeader, StoredMatrix } from "./matrix_reading.js" */
/** @import { ShadedMatrix, Spans } from "./matrix_view.js" */

const ROW_HEIGHT = 25;
const [LOWEST, HIGHEST] = [60, 720];
const WIDEST_CELL = 72;
/** Of the picture's height, what is room between its parts. */
const BESIDE_STAGE = 28;
const ABOUT_HALF_A_NAME = 9;

export class MatrixPicture extends View {
  /** What Python sent last. @type {MatrixHeader} */ received;
  /** What is drawn. @type {MatrixHeader} */ header;
  /** @type {StoredMatrix & ShadedMatrix} */ matrix;
  /** @type {Spans} */ spans;
  /** Of what is laid out; null while it has no width. @type {Sizes | null} */ sizes = null;
  /** @type {Uint32Array} */ scale;
  /** What the colour bar shows. */ legend = "";
  frameRequest = 0;

  awaited = new Awaited();
  axes = new MatrixAxes();
  tiles = new MatrixTiles(() => this.drawSoon(), this.ended.signal);
  bar = element("div", "matrix-bar");
  title = element("span", "matrix-title");
  note = element("span", { className: "matrix-preview muted", dataset: { notInPicture: "" } });
  out = toolButton("−", _("Zoom out"), () => this.gestures.zoom(1 / STEP));
  whole = toolButton(_("Whole"), _("Show the whole matrix"), () => this.showWhole());
  canvas = element("canvas", { ariaHidden: "true" });
  keptRow = element("div", { className: "kept-frame", hidden: true });
  keptColumn = element("div", { className: "kept-frame", hidden: true });
  keptNumber = new KeptNumber();
  pointedRow = element("div", { className: "pointed-frame", hidden: true, dataset: { notInPicture: "" } });
  pointedColumn = element("div", { className: "pointed-frame", hidden: true, dataset: { notInPicture: "" } });
  /** What is drawn again when a person no longer points at another head. @type {(() => void) | null} */ rest = null;
  /** The head that the page was told of. @type {OpenHead | null} */ offered = null;
  stage = element("div", { className: "stage", tabIndex: 0, role: "application", ariaRoleDescription: _("heatmap") });
  keys = new MatrixKeys(this);
  gestures = new MatrixGestures(this);
  search = new MatrixSearch(this);
  caption = element("div", "picture-caption only-saved");
  rowName = element("div", "row-name only-saved");
  columnName = element("div", "column-name only-saved");
  foot = element("div", "matrix-foot muted");
  extent = element("p", "extent");
  tooltip = new Tooltip(this.root);

  start() {
    const kept = [this.keptRow, this.keptColumn, this.keptNumber.element, this.keptNumber.why];
    const overlays = [...kept, this.pointedRow, this.pointedColumn, this.keys.cursor, this.gestures.rubber];
    this.stage.append(this.canvas, ...this.axes.elements, ...overlays);
    const tools = pictureButton(this.root, () => this.header.fileName);
    tools.classList.add("matrix-tools");
    const into = toolButton("+", _("Zoom in"), () => this.gestures.zoom(STEP));
    tools.prepend(this.search.element, this.whole, this.out, into);
    this.bar.append(this.title, this.note, tools);
    this.stage.append(this.rowName, this.columnName);
    this.root.replaceChildren(this.caption, this.bar, this.stage, this.foot, this.tooltip.box);
    savedFrom(this.canvas, () => this.aPixelACell());
    this.stage.addEventListener("dblclick", () => this.showWhole());
    onTold("preview", (announced) => this.preview(announced), this.ended.signal);
    onTold("pointed", (focus) => this.framePointed(focus), this.ended.signal);
    onResize(this, () => {
      if (this.root.clientWidth !== this.sizes?.available) this.layOut();
    });
  }

  dispose() {
    super.dispose();
    this.awaited.forget();
    closeHead(this.offered);
  }

  // ---- data ----

  /** What an answer of Python's is known by: whose numbers, and what is kept. @param {MatrixHeader} header */
  nameOf({ shows, kept }) {
    return JSON.stringify([shows, kept]);
  }

  /** @param {{ header: MatrixHeader, arrays: (Float32Array | Uint8Array<ArrayBuffer>)[] }} payload */
  async receive({ header, arrays: [numbers] }) {
    const { deep, rowTokens, columnTokens } = header;
    this.received = header;
    const values = deep && numbers instanceof Uint8Array ? decimalsOf(await inflate(numbers), deep.decimals) : numbers;
    if (this.pressed) await this.released();
    // Of several messages that follow fast, the last one counts.
    if (this.received !== header) return;
    if (JSON.stringify(this.header?.previews) !== JSON.stringify(header.previews)) this.awaited.forget();
    const [tall, wide] = deep?.block ?? [1, 1];
    const [rows, columns] = [Math.ceil(rowTokens.length / tall), Math.ceil(columnTokens.length / wide)];
    const matrix = { values: /** @type {Float32Array} */ (values), rows, columns, block: deep?.block };
    this.awaited.take(this.nameOf(header), () => {
      // While a person points at another head, that one stays in sight.
      if (this.rest) this.rest = () => this.show(header, matrix);
      else this.show(header, matrix);
    });
  }

  /**
   * Draw what is announced, if it is of the kind that Python will send: a head that a person has opened, or one that they
   * point at, until they leave it, which null says.
   * @param {Preview | null} announced
   */
  preview(announced) {
    const { rest } = this;
    if (!announced?.isPointed) this.rest = null;
    if (!announced) return rest?.();
    const { address, layer, head, isPointed } = announced;
    const sides = this.header?.previews[address];
    if (sides === undefined) return;
    const shown = sides ? between(announced, sides) : announced;
    const { title, rows, columns, values, rowTokens, columnTokens, axes } = shown;
    const isSame = this.header.shows?.[0] === address;
    const { header: before, matrix } = this;
    if (isPointed && !rest) this.rest = () => this.show(before, matrix);
    /** @type {MatrixHeader} */
    const header = { ...this.header, title, rowTokens, columnTokens, isPreview: true, deep: null };
    header.shows = [address, layer, head];
    if (axes) header.rowsWrite = axes[0].ahead > 0;
    if (header.focus && axes)
      header.focus = { ...header.focus, name: headLabel(layer, head), rows: axes[0], columns: axes[1] };
    if (!isSame) Object.assign(header, { kept: [null, null], axes: null });
    if (!isPointed) this.awaited.expect(this.nameOf(header));
    this.show(header, { values, rows, columns });
  }

  /** @param {MatrixHeader} header @param {StoredMatrix} matrix */
  show(header, matrix) {
    const isNew = sidesOf(this.header) !== sidesOf(header);
    if (isNew || this.header.title !== header.title) this.tooltip.hide();
    this.header = header;
    this.matrix = { ...matrix, ...shadesOf(matrix.values, header) };
    if (isNew) {
      this.axes.fill(header, getComputedStyle(this.root).fontFamily);
      this.spans = { row: wholeSpan(header.rowTokens.length), column: wholeSpan(header.columnTokens.length) };
      this.keys.visited = null;
      this.sizes = null;
    }
    this.describe();
    this.search.show(header);
    if (isNew) this.search.begin();
    this.tiles.show(header, this.scale);
    if (isNew) this.layOut();
    else this.draw();
    this.offer();
    Object.assign(this.root.dataset, { ready: "1", title: header.title, exact: header.isPreview ? "0" : "1" });
  }

  /** Tell the page of the head that is open. */
  offer() {
    const { focus, rowTokens, columnTokens, kept } = this.header;
    if (!focus) return;
    const { values, columns } = this.matrix;
    const isWholly = this.matrix.rows === rowTokens.length && columns === columnTokens.length;
    const valueAt = (/** @type {number} */ row, /** @type {number} */ column) => values[row * columns + column];
    const format = (/** @type {number} */ row, /** @type {number} */ column) => this.format(row, column);
    this.offered = isWholly ? { ...focus, rowTokens, columnTokens, kept, valueAt, format } : null;
    openHead(this.offered);
  }

  describe() {
    const { title, label, stops, marks, number, rowTokens, isPreview, keptColour, caption, sides } = this.header;
    this.title.textContent = title;
    this.caption.textContent = caption;
    [this.rowName.textContent, this.columnName.textContent] = sides;
    const isPooled = isPreview && this.matrix.rows < rowTokens.length;
    this.note.textContent = isPooled ? _("preview: each point shows the largest value around it") : "";
    this.stage.ariaLabel = [label, _("Arrow keys move, Enter keeps row and column, plus and minus zoom.")].join(" ");
    this.extent.textContent = this.keys.status.textContent = "";
    this.keys.tell();
    const legend = JSON.stringify([stops, marks, number]);
    if (legend === this.legend) return;
    this.legend = legend;
    this.stage.style.setProperty("--kept", keptColour);
    this.scale = pixelScale(stops);
    const ends = { number, lowest: marks[0][1], highest: marks[marks.length - 1][1] };
    const bar = colourBar(number, _("Colour scale of {number}, from {lowest} to {highest}", ends), stops, marks);
    this.foot.replaceChildren(bar, this.axes.roleKey.element, this.extent, this.keys.status);
  }

  layOut() {
    const available = this.root.clientWidth;
    if (!this.header || !available) return;
    const { left, above } = this.axes.room();
    const { rowTokens, columnTokens } = this.header;
    const width = Math.max(40, Math.min(available - 12 - left, columnTokens.length * WIDEST_CELL));
    this.axes.nameRoles(width, Math.min(HIGHEST, rowTokens.length * ROW_HEIGHT));
    const beside = this.bar.offsetHeight + this.foot.offsetHeight + above + BESIDE_STAGE;
    const height = clamp(LOWEST, rowTokens.length * ROW_HEIGHT, Math.min(HIGHEST, roomFor(this.root, beside)));
    this.sizes = { available, left, above, width, height };
    this.stage.style.height = `${above + height}px`;
    this.draw();
  }

  draw() {
    if (!this.sizes) return;
    const { left, above, width, height } = this.sizes;
    const ratio = pixelRatio(this.root);
    const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== across || this.canvas.height !== down) sizeCanvas(this.canvas, across, down, ratio);
    Object.assign(this.canvas.style, { left: `${left}px`, top: `${above}px` });
    Object.assign(this.rowName.style, { top: `${above + height / 2 + ABOUT_HALF_A_NAME}px` });
    Object.assign(this.columnName.style, { left: `${left}px`, width: `${width}px` });
    this.paint(ratio);
    const { kept } = this.header;
    this.axes.place(this.sizes, this.spans, kept);
    this.frame(this.keptRow, kept[0], null);
    this.frame(this.keptColumn, null, kept[1]);
    this.framePointed(pointed());
    const format = (/** @type {number} */ row, /** @type {number} */ column) => this.format(row, column);
    this.keptNumber.place(this.header, this.spans, this.sizes, format);
    this.stage.classList.toggle("near", this.isNear);
    this.out.hidden = this.whole.hidden = !this.isNear;
  }

  /** The matrix for a saved picture, where all of it is seen and at hand: its cells are then of one size. */
  aPixelACell() {
    if (this.isNear || this.header.deep) return null;
    const canvas = element("canvas", { width: this.matrix.columns, height: this.matrix.rows });
    paintView(canvas, this.matrix, this.scale, this.spans, 1);
    return canvas;
  }

  /** @param {number} ratio */
  paint(ratio) {
    if (!this.header.deep) return paintView(this.canvas, this.matrix, this.scale, this.spans, ratio);
    const { block, isLoading } = this.tiles.paint(this.canvas, this.matrix, this.spans, ratio);
    this.extent.textContent = extentSentence(this.spans, block);
    Object.assign(this.root.dataset, { block: block.join(" "), loading: isLoading ? "1" : "0" });
    this.keys.tell();
  }

  /** Frame the rows and columns of what is pointed at, here or elsewhere on the page. @param {Focus | null} focus */
  framePointed(focus) {
    const { focus: own, rowTokens, columnTokens } = this.header ?? {};
    if (!own) return;
    const rows = indicesOf(own.rows, rowTokens.length, focus?.query ?? null);
    const columns = indicesOf(own.columns, columnTokens.length, focus?.key ?? null);
    this.frame(this.pointedRow, rows[0] ?? null, null, rows.at(-1));
    this.frame(this.pointedColumn, null, columns[0] ?? null, columns.at(-1));
  }

  /**
   * Lay a frame around a row, a column or, given both, a cell, as far as it is seen; or around all up to a last one.
   * @param {HTMLElement} frame @param {number | null} row @param {number | null} column @param {number | null} [last]
   */
  frame(frame, row, column, last = null) {
    frame.hidden = true;
    if (!this.sizes) return;
    const { left, above, width, height } = this.sizes;
    const down = row === null ? [0, height] : extentOf(this.spans.row, row, height, last ?? row);
    const across = column === null ? [0, width] : extentOf(this.spans.column, column, width, last ?? column);
    if ((row === null && column === null) || !down || !across) return;
    frame.hidden = false;
    Object.assign(frame.style, { left: `${left + across[0]}px`, top: `${above + down[0]}px` });
    Object.assign(frame.style, { width: `${across[1]}px`, height: `${down[1]}px` });
  }

  // ---- what is seen and pointed at ----

  get isNear() {
    return !isWhole(this.spans);
  }

  /** @param {Spans} spans */
  see(spans) {
    this.spans = spans;
    this.hideCell();
    this.drawSoon();
  }

  showWhole() {
    this.see({ row: wholeSpan(this.spans.row.count), column: wholeSpan(this.spans.column.count) });
  }

  /** @param {PointerEvent} event */
  point(event) {
    const { row, column } = this.gestures.targetOf(event);
    this.pointAt(row, column);
    if (row === null || column === null) return this.hideCell();
    const { rowTokens, columnTokens, rowsWrite, title, note, number } = this.header;
    const said = [`${number} ${this.format(row, column)}`, note, readRoles(this.header, row, column)];
    const query = rowElement(rowTokens[row], rowsWrite);
    this.tooltip.show(event, title, query, columnTokens[column], said.filter(Boolean).join("\n"));
    this.frame(this.keys.cursor, row, column);
  }

  /** Tell the page which row, column or cell a person points at. @param {number | null} row @param {number | null} column */
  pointAt(row, column) {
    const { focus } = this.header ?? {};
    if (focus) pointAt({ query: placeAt(focus.rows, row), key: placeAt(focus.columns, column) });
  }

  drawSoon() {
    cancelAnimationFrame(this.frameRequest);
    this.frameRequest = requestAnimationFrame(() => this.draw());
  }

  leave() {
    this.hideCell();
    this.pointAt(null, null);
  }

  hideCell() {
    this.tooltip.hide();
    this.keys.cursor.hidden = true;
  }

  /** @param {{ row: number | null, column: number | null }} target */
  keep({ row, column }) {
    if (row === null && column === null) return;
    const [keptRow, keptColumn] = this.header.kept;
    /** @type {MatrixHeader["kept"]} */
    const kept = keptRow === row && keptColumn === column ? [null, null] : [row, column];
    this.header = { ...this.header, kept };
    this.draw();
    this.offer();
    if (!this.header.axes) return;
    this.awaited.expect(this.nameOf(this.header));
    this.python.trigger("kept", { row: kept[0], column: kept[1], axes: this.header.axes });
  }

  /** @param {number} row @param {number} column */
  format(row, column) {
    const exact = this.header.deep && this.tiles.valueAt(row, column);
    return readCell(this.matrix, this.header, exact, row, column);
  }
}
