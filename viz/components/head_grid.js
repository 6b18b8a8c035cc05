// The grid of all heads. One canvas holds every pixel; over it lies one transparent cell a head, which takes the
// pointer and the focus. So the picture is painted once, and opening or visiting a head only moves a frame.
// Data: the payload of head_grid.py. Sends back the trigger `head`: { layer, head }.

const LABEL_WIDTH = 60;
const GAP = 8;
const LARGEST_TILE = 164;
const SMALLEST_TILE = 20;
// Below this width "Head 12" does not fit over a tile, and the number stands alone.
const ROOM_FOR_HEAD_NAME = 46;

class HeadGrid {
  constructor(root) {
    this.root = root;
    this.board = element("div", "board");
    this.board.setAttribute("role", "grid");
    this.canvas = element("canvas", "tiles");
    this.canvas.setAttribute("aria-hidden", "true");
    this.marker = element("div", "marker");
    this.marker.hidden = true;
    this.status = element("p", "status");
    this.status.setAttribute("role", "status");
    this.foot = element("div", "foot muted");
    const scroller = element("div", "scroller");
    scroller.append(this.board);
    root.replaceChildren(scroller, this.foot);
    this.tooltip = new Tooltip(root);
    this.listen();
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(root);
  }

  listen() {
    this.board.addEventListener("pointermove", (event) => this.point(event));
    this.board.addEventListener("pointerleave", () => this.leave());
    this.board.addEventListener("click", (event) => {
      const cell = event.target.closest(".cell");
      if (cell) this.choose(cell);
    });
    this.board.addEventListener("keydown", (event) => this.press(event));
    this.board.addEventListener("focusin", (event) => this.visit(event.target.closest(".cell")));
  }

  dispose() {
    this.observer.disconnect();
  }

  // ---- data ----

  show({ header, arrays }) {
    const isSamePicture = this.header?.digest === header.digest;
    const isSameShape = this.header?.layers === header.layers && this.header?.heads === header.heads;
    this.header = header;
    if (!isSamePicture) {
      [this.values, this.offsets] = arrays;
      this.scale = pixelScale(header.stops);
      if (!isSameShape) this.buildBoard();
      this.buildFoot();
      this.tooltip.hide();
      this.painted = null;
      this.resize();
    }
    this.mark(header.selected);
    this.root.dataset.ready = "1";
  }

  buildBoard() {
    const { layers, heads } = this.header;
    const label = `Attention of ${layers} layers of ${heads} heads each. Arrow keys move, Enter opens a head.`;
    this.board.setAttribute("aria-label", label);
    this.cells = [];
    this.layerNames = [];
    this.corner = element("span", "layer-name muted");
    this.headNames = Array.from({ length: heads }, () => element("span", "head-name"));
    const top = element("div", "line heads");
    top.setAttribute("role", "row");
    top.append(this.corner, ...this.headNames);
    [...top.children].forEach((name) => name.setAttribute("role", "columnheader"));
    const lines = Array.from({ length: layers }, (_, layer) => this.buildLayer(layer));
    this.board.replaceChildren(top, this.canvas, ...lines, this.marker);
    this.cells[0].tabIndex = 0;
  }

  buildLayer(layer) {
    const line = element("div", "line");
    line.setAttribute("role", "row");
    const name = element("span", "layer-name", `Layer ${layer + 1}`);
    name.setAttribute("role", "rowheader");
    this.layerNames.push(name);
    line.append(name);
    for (let head = 0; head < this.header.heads; head++) {
      const cell = element("div", "cell");
      cell.setAttribute("role", "gridcell");
      cell.tabIndex = -1;
      cell.dataset.layer = layer;
      cell.dataset.head = head;
      this.cells.push(cell);
      line.append(cell);
    }
    return line;
  }

  buildFoot() {
    const { stops, ticks, blockQueries, blockKeys } = this.header;
    const isPooled = blockQueries * blockKeys > 1;
    const axes = element("span", "axes", "In each tile: queries run down ↓, keys run across →.");
    if (isPooled) axes.textContent += ` A pixel is the largest of ${blockQueries} × ${blockKeys} weights.`;
    const hint = element("span", "hint", "Click a tile, or press Enter, to open the head; arrow keys move.");
    const save = pictureButtons(this.root, () => this.header.name);
    hint.dataset.notInPicture = this.status.dataset.notInPicture = "";
    this.foot.replaceChildren(legendElement(stops, ticks), axes, hint, save, this.status);
    this.status.textContent = "";
  }

  // ---- layout and painting ----

  /**
   * Tile sides in device pixels: a whole number of pixels a weight where that costs little room. With few pixels a
   * weight more is given up for it, for there one pixel makes some rows look twice as thick as others.
   */
  tileSides(ratio) {
    const { heads, queryTokens, keyTokens, rows, columns } = this.header;
    const room = (this.root.clientWidth - LABEL_WIDTH - GAP * heads) / heads;
    const largest = Math.min(LARGEST_TILE, Math.max(SMALLEST_TILE, room));
    // Tiles follow the sentence's shape, but never become a strip.
    const aspect = Math.min(2, Math.max(0.5, queryTokens.length / keyTokens.length));
    const width = Math.min(largest, LARGEST_TILE / aspect);
    const snap = (length, count) => {
      const whole = Math.floor(length / count) * count;
      const least = length / count < 4 ? 0.8 : 0.94;
      return Math.max(1, whole >= least * length ? whole : Math.floor(length));
    };
    return { width: snap(width * ratio, columns), height: snap(width * aspect * ratio, rows) };
  }

  resize() {
    if (!this.header || !this.root.clientWidth) return;
    const ratio = window.devicePixelRatio || 1;
    const { width, height } = this.tileSides(ratio);
    const signature = `${width} ${height} ${ratio}`;
    if (signature === this.painted) return;
    this.painted = signature;
    const gap = Math.round(GAP * ratio);
    const lengths = { label: LABEL_WIDTH, "tile-w": width / ratio, "tile-h": height / ratio, gap: gap / ratio };
    for (const [name, length] of Object.entries(lengths)) this.board.style.setProperty(`--${name}`, `${length}px`);
    this.nameHeads(width / ratio >= ROOM_FOR_HEAD_NAME);
    this.paint(width, height, gap, ratio);
  }

  nameHeads(isRoomy) {
    this.corner.textContent = isRoomy ? "" : "Head";
    this.headNames.forEach((name, head) => {
      name.textContent = isRoomy ? `Head ${head + 1}` : String(head + 1);
      name.setAttribute("aria-label", `Head ${head + 1}`);
    });
  }

  paint(width, height, gap, ratio) {
    const { layers, heads, rows, columns } = this.header;
    this.rowRuns = cellRuns(rows, height);
    this.columnRuns = cellRuns(columns, width);
    sizeCanvas(this.canvas, heads * (width + gap) - gap, layers * (height + gap) - gap, ratio);
    const context = this.canvas.getContext("2d");
    const image = context.createImageData(this.canvas.width, this.canvas.height);
    for (let layer = 0; layer < layers; layer++) {
      for (let head = 0; head < heads; head++) {
        const base = (layer * heads + head) * rows * columns;
        const place = { left: head * (width + gap), top: layer * (height + gap) };
        paintMatrix(image, this.scale, this.values, base, columns, place, this.rowRuns, this.columnRuns);
      }
    }
    context.putImageData(image, 0, 0);
  }

  // ---- what a weight is ----

  /** The stored entry `index` as its query, key and weight; in a pooled grid the place of the block's maximum. */
  describe(index) {
    const { rows, columns, blockQueries, blockKeys, queryTokens, keyTokens } = this.header;
    const offset = this.offsets ? this.offsets[index] : 0;
    const query = (Math.floor(index / columns) % rows) * blockQueries + Math.floor(offset / blockKeys);
    const key = (index % columns) * blockKeys + (offset % blockKeys);
    return { query: queryTokens[query], key: keyTokens[key], weight: formatWeight(weightOf(this.values[index])) };
  }

  placeOf(cell) {
    return [Number(cell.dataset.layer), Number(cell.dataset.head)];
  }

  /** The index of the first stored weight of a cell's head. */
  baseOf(cell) {
    return this.cells.indexOf(cell) * this.header.rows * this.header.columns;
  }

  strongest(cell) {
    const { rows, columns } = this.header;
    return this.describe(largestWithin(this.values, this.baseOf(cell), columns, [0, rows], [0, columns]));
  }

  // ---- pointer ----

  point(event) {
    const cell = event.target.closest(".cell");
    if (!cell || !this.painted) return this.leave();
    const frame = cell.getBoundingClientRect();
    const place = (at, start, length, runs) =>
      Math.min(runs.length - 1, Math.max(0, Math.floor(((at - start) / length) * runs.length)));
    const rowRun = this.rowRuns[place(event.clientY, frame.top, frame.height, this.rowRuns)];
    const columnRun = this.columnRuns[place(event.clientX, frame.left, frame.width, this.columnRuns)];
    const { columns, rows, blockQueries, blockKeys } = this.header;
    const index = largestWithin(this.values, this.baseOf(cell), columns, rowRun, columnRun);
    const { query, key, weight } = this.describe(index);
    const isBlock = blockQueries * blockKeys > 1 || rowRun[1] - rowRun[0] > 1 || columnRun[1] - columnRun[0] > 1;
    const [layer, head] = this.placeOf(cell);
    const title = `Layer ${layer + 1} · Head ${head + 1}`;
    this.tooltip.show(event, title, query, key, isBlock ? `${weight} (max of block)` : weight);
    this.frameWeight(cell, rowRun, columnRun, rows, columns);
  }

  /** A thin frame around the weight under the pointer. */
  frameWeight(cell, [top, bottom], [left, right], rows, columns) {
    const height = cell.offsetHeight / rows;
    const width = cell.offsetWidth / columns;
    const style = this.marker.style;
    style.transform = `translate(${cell.offsetLeft + left * width}px, ${cell.offsetTop + top * height}px)`;
    style.width = `${(right - left) * width}px`;
    style.height = `${(bottom - top) * height}px`;
    this.marker.hidden = false;
  }

  leave() {
    this.tooltip.hide();
    this.marker.hidden = true;
  }

  // ---- focus and choice ----

  visit(cell) {
    if (!cell) return;
    this.cells.forEach((other) => (other.tabIndex = other === cell ? 0 : -1));
    const { query, key, weight } = this.strongest(cell);
    const [layer, head] = this.placeOf(cell);
    const title = `Layer ${layer + 1}, head ${head + 1}: strongest `;
    this.status.replaceChildren(title, tokenElement(query), " → ", tokenElement(key), `, ${weight}`);
  }

  press(event) {
    const index = this.cells.indexOf(event.target);
    if (index < 0 || event.altKey || event.metaKey || event.ctrlKey) return;
    const { heads } = this.header;
    const column = index % heads;
    const targets = {
      ArrowLeft: column > 0 ? index - 1 : index,
      ArrowRight: column < heads - 1 ? index + 1 : index,
      ArrowUp: index - heads,
      ArrowDown: index + heads,
      Home: index - column,
      End: index - column + heads - 1,
    };
    if (event.key === "Enter" || event.key === " ") this.choose(this.cells[index]);
    else if (event.key in targets) this.cells[targets[event.key]]?.focus();
    else return;
    // The grid's own keys neither scroll the page nor step a decode player beside it.
    event.preventDefault();
    event.stopPropagation();
  }

  choose(cell) {
    const [layer, head] = this.placeOf(cell);
    this.mark([layer, head]);
    this.send({ layer, head });
  }

  mark(selected) {
    const [openLayer, openHead] = selected ?? [-1, -1];
    for (const cell of this.cells) {
      const [layer, head] = this.placeOf(cell);
      const isOpen = layer === openLayer && head === openHead;
      cell.classList.toggle("open", isOpen);
      cell.setAttribute("aria-selected", String(isOpen));
      cell.setAttribute("aria-label", `Layer ${layer + 1}, head ${head + 1}${isOpen ? ", open" : ""}`);
    }
    this.layerNames.forEach((name, layer) => name.classList.toggle("open", layer === openLayer));
    this.headNames.forEach((name, head) => name.classList.toggle("open", head === openHead));
  }
}

const grids = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".head-grid");
  if (!root || !(data instanceof Uint8Array)) return undefined;
  const grid = grids.get(root) ?? new HeadGrid(root);
  grids.set(root, grid);
  grid.send = (choice) => setTriggerValue("head", choice);
  grid.show(unpack(data));
  return () => {
    grid.dispose();
    grids.delete(root);
  };
}
