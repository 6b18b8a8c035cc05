// One matrix between two lists of tokens: numbers on hover, a row and a column that can be kept, zooming and moving.
// The browser draws all of it. What another component already has of the next matrix, it announces by the event
// `headlight-preview` on the window; that is drawn at once and makes way for Python's exact numbers.
// A matrix too large to be sent whole comes as maxima of blocks (matrix_tiles.js).
// Data: the payload of matrix_picture.py. Sends back the trigger `kept`: { row, column, axes }.

const ROW_HEIGHT = 25;
const [LOWEST, HIGHEST] = [60, 720];
const WIDEST_CELL = 72;
// One press of + or −.
const STEP = 0.7;

class MatrixPicture {
  constructor(root) {
    this.root = root;
    this.axes = new MatrixAxes();
    this.awaited = new Awaited();
    this.tiles = new MatrixTiles(() => this.drawSoon());
    this.canvas = element("canvas");
    this.canvas.setAttribute("aria-hidden", "true");
    this.frames = { row: element("div", "kept-frame"), column: element("div", "kept-frame") };
    this.cursor = element("div", "cell-frame");
    this.stage = element("div", "stage");
    this.stage.tabIndex = 0;
    this.stage.setAttribute("role", "application");
    this.stage.setAttribute("aria-roledescription", "heatmap");
    const overlays = [...Object.values(this.frames), this.cursor];
    overlays.forEach((overlay) => (overlay.hidden = true));
    this.cursor.dataset.notInPicture = "";
    this.stage.append(this.canvas, this.axes.rows, this.axes.columns, ...overlays);
    this.gestures = new MatrixGestures(this);
    this.foot = element("div", "matrix-foot muted");
    this.extent = element("p", "extent");
    this.status = element("p", "status");
    this.status.setAttribute("role", "status");
    this.status.dataset.notInPicture = "";
    root.replaceChildren(this.buildBar(), this.stage, this.foot);
    this.tooltip = new Tooltip(root);
    this.ends = new AbortController();
    this.listen();
    this.observer = new ResizeObserver(() => this.root.clientWidth !== this.sizes?.available && this.layOut());
    this.observer.observe(root);
  }

  buildBar() {
    this.title = element("span", "matrix-title");
    this.note = element("span", "matrix-preview muted");
    this.note.dataset.notInPicture = "";
    this.tools = pictureButtons(this.root, () => this.header.fileName);
    this.tools.classList.add("matrix-tools");
    this.out = toolButton("−", "Zoom out", () => this.gestures.zoom(1 / STEP));
    this.whole = toolButton("Whole", "Show the whole matrix", () => this.showWhole());
    this.tools.prepend(this.out, toolButton("+", "Zoom in", () => this.gestures.zoom(STEP)), this.whole);
    const bar = element("div", "matrix-bar");
    bar.append(this.title, this.note, this.tools);
    return bar;
  }

  listen() {
    const { stage } = this;
    stage.addEventListener("dblclick", () => this.showWhole());
    stage.addEventListener("keydown", (event) => this.press(event));
    stage.addEventListener("blur", () => (this.cursor.hidden = true));
    window.addEventListener("headlight-preview", ({ detail }) => this.preview(detail), { signal: this.ends.signal });
  }

  dispose() {
    this.awaited.forget();
    this.tiles.dispose();
    this.ends.abort();
    this.observer.disconnect();
  }

  // ---- data ----

  /** What an answer of Python's is known by: whose numbers, and what is kept. */
  nameOf({ shows, kept }) {
    return JSON.stringify([shows, kept]);
  }

  async receive({ header, arrays }) {
    const { deep, rowTokens, columnTokens } = header;
    this.received = header;
    const values = deep ? decimalsOf(await inflate(arrays[0]), deep.decimals) : arrays[0];
    // Of several messages that follow fast, the last one counts.
    if (this.received !== header) return;
    if (this.header?.previews.join() !== header.previews.join()) this.awaited.forget();
    const [tall, wide] = deep?.block ?? [1, 1];
    const matrix = { values, rows: Math.ceil(rowTokens.length / tall), columns: Math.ceil(columnTokens.length / wide), block: deep?.block };
    this.awaited.take(this.nameOf(header), () => this.show(header, matrix));
  }

  /** Draw what is announced, if it is of the kind that Python will send. */
  preview({ address, layer, head, title, rows, columns, values, rowTokens, columnTokens }) {
    if (!this.header?.previews.includes(address)) return;
    const shows = [address, layer, head];
    const isSame = this.header.shows?.[0] === address;
    const header = { ...this.header, shows, title, rowTokens, columnTokens, isPreview: true, deep: null };
    if (!isSame) Object.assign(header, { kept: [null, null], axes: null });
    this.awaited.expect(this.nameOf(header));
    this.show(header, { values, rows, columns });
  }

  show(header, matrix) {
    const before = this.header;
    const list = ({ rowTokens, columnTokens }) => JSON.stringify([rowTokens, columnTokens]);
    const isNew = !before || list(before) !== list(header);
    this.header = header;
    this.matrix = { ...matrix, ...shadesOf(matrix.values, header) };
    if (isNew) {
      this.axes.fill(header.rowTokens, header.columnTokens, getComputedStyle(this.root).fontFamily);
      this.spans = { row: wholeSpan(header.rowTokens.length), column: wholeSpan(header.columnTokens.length) };
      this.place = null;
      this.sizes = null;
    }
    this.describe();
    this.tiles.show(header, this.scale);
    if (isNew) this.layOut();
    else this.draw();
    Object.assign(this.root.dataset, { ready: "1", title: header.title, exact: header.isPreview ? "0" : "1" });
  }

  describe() {
    const { title, label, stops, marks, number, rowTokens, isPreview, keptColour } = this.header;
    this.title.textContent = title;
    this.extent.textContent = "";
    this.note.textContent = isPreview && this.matrix.rows < rowTokens.length ? "preview: each spot is the largest number around it" : "";
    this.stage.setAttribute("aria-label", `${label} Arrow keys move, Enter keeps row and column, plus and minus zoom.`);
    const said = JSON.stringify([stops, marks, number]);
    this.status.textContent = "";
    if (this.place) this.tell();
    if (said === this.said) return;
    this.said = said;
    this.stage.style.setProperty("--kept", keptColour);
    this.scale = pixelScale(stops);
    const legend = colourBar(number, `Colour scale of ${number}, from ${marks[0][1]} to ${marks.at(-1)[1]}`, stops, marks);
    this.foot.replaceChildren(legend, this.extent, this.status);
  }

  // ---- layout and drawing ----

  layOut() {
    const available = this.root.clientWidth;
    if (!this.header || !available) return;
    const { left, above, right } = this.axes.room(available - 6);
    const { rowTokens, columnTokens } = this.header;
    const width = Math.max(40, Math.min(available - 6 - left - right, columnTokens.length * WIDEST_CELL));
    const height = Math.min(HIGHEST, Math.max(LOWEST, rowTokens.length * ROW_HEIGHT));
    this.sizes = { available, left, above, width, height };
    this.stage.style.height = `${above + height}px`;
    this.draw();
  }

  draw() {
    if (!this.sizes) return;
    const { left, above, width, height } = this.sizes;
    const { row, column } = this.spans;
    const ratio = window.devicePixelRatio || 1;
    const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== across || this.canvas.height !== down) sizeCanvas(this.canvas, across, down, ratio);
    Object.assign(this.canvas.style, { left: `${left}px`, top: `${above}px` });
    this.paint(row, column, ratio);
    const [keptRow, keptColumn] = this.header.kept;
    this.axes.place(this.sizes, row, column, { row: keptRow, column: keptColumn });
    this.frame(this.frames.row, keptRow, null);
    this.frame(this.frames.column, null, keptColumn);
    this.stage.classList.toggle("near", this.isNear());
    this.out.disabled = this.whole.disabled = !this.isNear();
  }

  paint(row, column, ratio) {
    if (!this.header.deep) return paintView(this.canvas, this.matrix, this.scale, row, column, ratio);
    const { block, isLoading } = this.tiles.paint(this.canvas, this.matrix, row, column, ratio);
    this.extent.textContent = extentSentence(row, column, block);
    Object.assign(this.root.dataset, { block: block.join(" "), loading: isLoading ? "1" : "0" });
    if (this.place) this.tell();
  }

  /** Lay a frame around a row, a column or, given both, a cell, as far as it is seen. */
  frame(frame, row, column) {
    const { left, above, width, height } = this.sizes;
    const down = row === null ? [0, height] : extentOf(this.spans.row, row, height);
    const across = column === null ? [0, width] : extentOf(this.spans.column, column, width);
    frame.hidden = (row === null && column === null) || !down || !across;
    if (frame.hidden) return;
    Object.assign(frame.style, { left: `${left + across[0]}px`, top: `${above + down[0]}px` });
    Object.assign(frame.style, { width: `${across[1]}px`, height: `${down[1]}px` });
  }

  // ---- what is seen and pointed at ----

  isNear() {
    return !isWhole(this.spans.row) || !isWhole(this.spans.column);
  }

  seeSpans(row, column) {
    this.spans = { row, column };
    this.hideCell();
    this.drawSoon();
  }

  showWhole() {
    this.seeSpans(wholeSpan(this.spans.row.count), wholeSpan(this.spans.column.count));
  }

  point(event) {
    const { row, column } = this.gestures.targetOf(event);
    if (row === null || column === null) return this.hideCell();
    const { rowTokens, columnTokens, title, note, number } = this.header;
    const said = `${number} ${this.format(row, column)}${note ? `\n${note}` : ""}`;
    this.tooltip.show(event, title, rowTokens[row], columnTokens[column], said);
    this.frame(this.cursor, row, column);
  }

  drawSoon() {
    cancelAnimationFrame(this.soon);
    this.soon = requestAnimationFrame(() => this.draw());
  }

  hideCell() {
    this.tooltip.hide();
    this.cursor.hidden = true;
  }

  // ---- keeping, keys and numbers ----

  keep({ row, column }) {
    if (row === null && column === null) return;
    const [keptRow, keptColumn] = this.header.kept;
    const kept = keptRow === row && keptColumn === column ? [null, null] : [row, column];
    this.header = { ...this.header, kept };
    this.draw();
    if (!this.header.axes) return;
    this.awaited.expect(this.nameOf(this.header));
    this.send({ row: kept[0], column: kept[1], axes: this.header.axes });
  }

  press(event) {
    if (event.altKey || event.metaKey || event.ctrlKey || !this.sizes) return;
    const { row, column } = this.place ?? { row: this.header.kept[0] ?? 0, column: this.header.kept[1] ?? 0 };
    const [lastRow, lastColumn] = [this.spans.row.count - 1, this.spans.column.count - 1];
    const steps = stepsOf(Math.max(1, Math.floor(this.spans.row.length)), lastColumn);
    const acts = {
      Enter: () => this.keep({ row, column }),
      " ": () => this.keep({ row, column }),
      Escape: () => this.header.kept.some((kept) => kept !== null) && this.keep({ row: this.header.kept[0], column: this.header.kept[1] }),
      "+": () => this.gestures.zoom(STEP, this.visited()),
      "-": () => this.gestures.zoom(1 / STEP, this.visited()),
      0: () => this.showWhole(),
    };
    if (event.key in steps) {
      // The first press only shows where one stands.
      const [down, across] = this.place ? steps[event.key] : [0, 0];
      const limited = (value, last) => Math.min(last, Math.max(0, value));
      this.visit(limited(row + down, lastRow), limited(column + across, lastColumn));
    } else if (event.key in acts) acts[event.key]();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  visit(row, column) {
    this.place = { row, column };
    this.spans = { row: showing(this.spans.row, row), column: showing(this.spans.column, column) };
    this.draw();
    this.tooltip.hide();
    this.frame(this.cursor, row, column);
    this.tell();
  }

  /** Where the cell that one stands on is seen, for zooming around it. */
  visited() {
    return this.place ? { down: placeIn(this.spans.row, this.place.row), across: placeIn(this.spans.column, this.place.column) } : undefined;
  }

  tell() {
    const { row, column } = this.place;
    const { rowTokens, columnTokens, number } = this.header;
    this.status.replaceChildren(tokenElement(rowTokens[row]), " → ", tokenElement(columnTokens[column]), `: ${number} ${this.format(row, column)}`);
  }

  format(row, column) {
    return readCell(this.matrix, this.header, this.header.deep && this.tiles.valueAt(row, column), row, column);
  }
}

const pictures = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".matrix-picture");
  if (!root || !(data instanceof Uint8Array)) return undefined;
  const picture = pictures.get(root) ?? new MatrixPicture(root);
  pictures.set(root, picture);
  picture.send = (kept) => setTriggerValue("kept", kept);
  picture.receive(unpack(data));
  return () => {
    picture.dispose();
    pictures.delete(root);
  };
}
