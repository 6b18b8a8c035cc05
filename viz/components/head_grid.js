// The grid of all heads. One canvas holds every pixel; over it lies one transparent cell a head, which takes the
// pointer and the focus. So the picture is painted once, and opening or visiting a head only moves a frame.
// Heads stand layer by layer, or ranked; then each cell says which head it is.
// Data: the payload of head_grid.py. Sends back the trigger `head`: { layer, head }.

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

/** Numbers of 16 bits from `count` low bytes, which begin at `start`, and as many high bytes after them. */
function joinPlanes(planes, start, count) {
  const joined = new Uint16Array(count);
  for (let i = 0; i < count; i++) joined[i] = planes[start + i] | (planes[start + count + i] << 8);
  return joined;
}

class HeadGrid {
  constructor(root) {
    this.root = root;
    this.turn = 0;
    this.board = element("div", "board");
    this.board.setAttribute("role", "grid");
    this.canvas = element("canvas", "tiles");
    this.canvas.setAttribute("aria-hidden", "true");
    this.marker = element("div", "marker");
    this.marker.hidden = true;
    this.status = element("p", "status");
    this.status.setAttribute("role", "status");
    this.foot = element("div", "foot muted");
    this.scroller = element("div", "scroller");
    this.scroller.append(this.board);
    root.replaceChildren(this.scroller, this.foot);
    this.tooltip = new Tooltip(root);
    this.listen();
    this.observer = new ResizeObserver(() => this.layOut());
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
    this.turn += 1;
    this.observer.disconnect();
  }

  // ---- data ----

  /** Tiles are unpacked only if they are news. Of several pictures that follow fast, the last one is shown. */
  async show({ header, arrays }) {
    const turn = ++this.turn;
    const isSamePicture = this.header?.digest === header.digest;
    const planes = isSamePicture ? null : await inflate(arrays[0]);
    if (turn !== this.turn) return;
    this.header = header;
    if (planes) this.readTiles(planes);
    this.tooltip.hide();
    this.marker.hidden = true;
    this.buildFoot();
    this.layOut();
    this.mark(header.selected);
    this.root.dataset.ready = "1";
  }

  /** Cells become numbers whose upper byte is the colour, as `paintMatrix` wants them; order is kept. */
  readTiles(planes) {
    const { layers, heads, rows, columns, firstCell, firstThousandth, stops } = this.header;
    const count = layers * heads * rows * columns;
    const valueOf = new Uint16Array(65536);
    this.thousandths = new Uint16Array(65536);
    firstCell.forEach((first, shade) => {
      const colour = Math.round((255 * shade) / (firstCell.length - 1));
      for (let within = 0; within < (firstCell[shade + 1] ?? first + 256) - first; within++) {
        valueOf[first + within] = (colour << 8) | within;
        this.thousandths[(colour << 8) | within] = shade === 0 ? 0 : firstThousandth[shade] + within;
      }
    });
    this.values = joinPlanes(planes, 0, count).map((cell) => valueOf[cell]);
    this.offsets = this.isPooled ? joinPlanes(planes, 2 * count, count) : null;
    this.scale = pixelScale(stops);
    this.painted = null;
  }

  buildFoot() {
    const { stops, ticks, blockQueries, blockKeys, notes } = this.header;
    const axes = element("span", "axes", "In each tile: queries run down ↓, keys run across →.");
    if (this.isPooled) axes.textContent += ` A pixel is the largest of up to ${blockQueries} × ${blockKeys} weights.`;
    const hint = element("span", "hint", "Click a tile, or press Enter, to open the head; arrow keys move.");
    const said = notes.map((note) => element("p", "note", note));
    const save = pictureButtons(this.root, () => this.header.name);
    hint.dataset.notInPicture = this.status.dataset.notInPicture = "";
    this.foot.replaceChildren(...said, legendElement(stops, ticks), axes, hint, save, this.status);
    this.status.textContent = "";
  }

  get isPooled() {
    return this.header.blockQueries * this.header.blockKeys > 1;
  }

  // ---- cells ----

  /** Lines of cells, `across` of them in each. Who held the focus keeps it, if the head is still there. */
  arrange(across) {
    const { layers, heads, ranked } = this.header;
    const focused = this.cells?.find((cell) => cell.matches(":focus"));
    const last = this.cells?.find((cell) => cell.tabIndex === 0);
    const shown = ranked ?? Array.from({ length: layers * heads }, (_, index) => index);
    const lines = [];
    this.across = across;
    this.cells = shown.map((index) => this.buildCell(Math.floor(index / heads), index % heads));
    this.layerNames = [];
    this.headNames = [];
    for (let start = 0; start < shown.length; start += across) {
      const line = element("div", "line");
      line.setAttribute("role", "row");
      if (!ranked) line.append(this.buildLayerName(lines.length));
      line.append(...this.cells.slice(start, start + across));
      lines.push(line);
    }
    this.board.replaceChildren(...(ranked ? [] : [this.buildHeadNames()]), this.canvas, ...lines, this.marker);
    this.board.classList.toggle("ranked", ranked !== null);
    const again = last && this.cellOf(this.placeOf(last));
    (again ?? this.cells[0]).tabIndex = 0;
    if (focused) (again ?? this.cells[0]).focus();
  }

  buildCell(layer, head) {
    const { ranked, figure, heads } = this.header;
    const cell = element("div", "cell");
    cell.setAttribute("role", "gridcell");
    cell.tabIndex = -1;
    cell.dataset.layer = layer;
    cell.dataset.head = head;
    if (ranked) cell.append(element("span", "cell-name", `L${layer + 1} H${head + 1}`));
    if (figure) {
      const bar = element("span", "bar");
      bar.style.setProperty("--part", figure.bars[layer * heads + head]);
      const caption = element("span", "cell-figure");
      caption.append(bar, element("span", "number", figure.texts[layer * heads + head]));
      cell.append(caption);
    }
    return cell;
  }

  buildLayerName(layer) {
    const name = element("span", "layer-name", `Layer ${layer + 1}`);
    name.setAttribute("role", "rowheader");
    this.layerNames.push(name);
    return name;
  }

  buildHeadNames() {
    this.corner = element("span", "layer-name muted");
    this.headNames = Array.from({ length: this.header.heads }, () => element("span", "head-name"));
    const top = element("div", "line heads");
    top.setAttribute("role", "row");
    top.append(this.corner, ...this.headNames);
    [...top.children].forEach((name) => name.setAttribute("role", "columnheader"));
    return top;
  }

  // ---- layout and painting ----

  /** How many tiles stand beside one another: a layer's, or, ranked, at most as many as their names leave room for. */
  tilesAcross() {
    const { heads, ranked } = this.header;
    if (!ranked) return heads;
    const most = Math.floor((this.root.clientWidth + GAP) / (ROOM_FOR_RANKED + GAP));
    const wanted = ranked.length > FEW ? heads : FEW_ACROSS;
    return Math.max(1, Math.min(wanted, ranked.length, most));
  }

  /**
   * Tile sides in device pixels: a whole number of pixels a weight where that costs little room. With few pixels a
   * weight more is given up for it, for there one pixel makes some rows look twice as thick as others.
   */
  tileSides(ratio, label) {
    const { queryTokens, keyTokens, rows, columns, figure } = this.header;
    const room = (this.root.clientWidth - label - GAP * this.across) / this.across;
    // Tiles follow the sentence's shape, but never become a strip.
    const aspect = Math.min(2, Math.max(0.5, queryTokens.length / keyTokens.length));
    const height = Math.max(READABLE_TILE, LARGEST_BOARD / Math.ceil(this.cells.length / this.across) - GAP);
    const largest = Math.min(LARGEST_TILE, LARGEST_TILE / aspect, height / aspect);
    const width = Math.min(largest, Math.max(figure ? ROOM_FOR_FIGURE : SMALLEST_TILE, room));
    const snap = (length, count) => {
      const whole = Math.floor(length / count) * count;
      const least = length / count < 4 ? 0.8 : 0.94;
      return Math.max(1, whole >= least * length ? whole : Math.floor(length));
    };
    return { width: snap(width * ratio, columns), height: snap(width * aspect * ratio, rows) };
  }

  layOut() {
    if (!this.header || !this.root.clientWidth) return;
    const { ranked, figure } = this.header;
    const arrangement = JSON.stringify([this.tilesAcross(), this.header.layers, ranked, figure]);
    if (arrangement !== this.arrangement) {
      this.arrangement = arrangement;
      this.painted = null;
      this.arrange(this.tilesAcross());
      this.mark(this.header.selected);
    }
    const ratio = window.devicePixelRatio || 1;
    const label = ranked ? 0 : LABEL_WIDTH;
    const { width, height } = this.tileSides(ratio, label);
    const signature = `${width} ${height} ${ratio}`;
    if (signature === this.painted) return;
    this.painted = signature;
    const [gap, above, below] = [GAP, ranked ? NAME_HEIGHT : 0, figure ? FIGURE_HEIGHT : 0].map((length) =>
      Math.round(length * ratio),
    );
    const lengths = { label: label * ratio, "tile-w": width, "tile-h": height, gap, above, below };
    for (const [name, length] of Object.entries(lengths)) this.board.style.setProperty(`--${name}`, `${length / ratio}px`);
    this.nameHeads(width / ratio >= ROOM_FOR_HEAD_NAME);
    this.paint(width, height, { across: width + gap, down: height + gap + above + below }, ratio);
  }

  nameHeads(isRoomy) {
    this.headNames.forEach((name, head) => {
      name.textContent = isRoomy ? `Head ${head + 1}` : String(head + 1);
      name.setAttribute("aria-label", `Head ${head + 1}`);
    });
    if (this.headNames.length) this.corner.textContent = isRoomy ? "" : "Head";
  }

  paint(width, height, pitch, ratio) {
    const { rows, columns } = this.header;
    this.rowRuns = cellRuns(rows, height);
    this.columnRuns = cellRuns(columns, width);
    const lines = Math.ceil(this.cells.length / this.across);
    sizeCanvas(this.canvas, (this.across - 1) * pitch.across + width, (lines - 1) * pitch.down + height, ratio);
    const context = this.canvas.getContext("2d");
    const image = context.createImageData(this.canvas.width, this.canvas.height);
    this.cells.forEach((cell, index) => {
      const left = (index % this.across) * pitch.across;
      const top = Math.floor(index / this.across) * pitch.down;
      const base = this.baseOf(cell);
      paintMatrix(image, this.scale, this.values, base, columns, { left, top }, this.rowRuns, this.columnRuns);
    });
    context.putImageData(image, 0, 0);
  }

  // ---- what a weight is ----

  /** The stored entry `index` as its query, key and weight; in a pooled grid the place of the block's maximum. */
  describe(index) {
    const { rows, columns, blockKeys, queryTokens, keyTokens } = this.header;
    const offset = this.offsets ? this.offsets[index] : 0;
    const begin = (block, blocks, count) => Math.floor((block * count) / blocks);
    const query = begin(Math.floor(index / columns) % rows, rows, queryTokens.length) + Math.floor(offset / blockKeys);
    const key = begin(index % columns, columns, keyTokens.length) + (offset % blockKeys);
    return { query: queryTokens[query], key: keyTokens[key], weight: this.format(this.values[index]) };
  }

  /** Three decimals, exact; a weight that is not zero never reads as zero. */
  format(value) {
    if (value === 0) return "0.000";
    return this.thousandths[value] === 0 ? "< 0.001" : (this.thousandths[value] / 1000).toFixed(3);
  }

  placeOf(cell) {
    return [Number(cell.dataset.layer), Number(cell.dataset.head)];
  }

  cellOf([layer, head]) {
    return this.cells.find((cell) => cell.dataset.layer === String(layer) && cell.dataset.head === String(head));
  }

  /** The index of the first stored weight of a cell's head. */
  baseOf(cell) {
    const [layer, head] = this.placeOf(cell);
    return (layer * this.header.heads + head) * this.header.rows * this.header.columns;
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
    // The name over a tile and the number under it are no weights.
    if (event.clientY < frame.top || event.clientY > frame.bottom) return this.leave();
    const place = (at, start, length, runs) =>
      Math.min(runs.length - 1, Math.max(0, Math.floor(((at - start) / length) * runs.length)));
    const rowRun = this.rowRuns[place(event.clientY, frame.top, frame.height, this.rowRuns)];
    const columnRun = this.columnRuns[place(event.clientX, frame.left, frame.width, this.columnRuns)];
    const { columns, rows } = this.header;
    const index = largestWithin(this.values, this.baseOf(cell), columns, rowRun, columnRun);
    const { query, key, weight } = this.describe(index);
    const isBlock = this.isPooled || rowRun[1] - rowRun[0] > 1 || columnRun[1] - columnRun[0] > 1;
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
    const { across } = this;
    const column = index % across;
    const end = Math.min(this.cells.length, index - column + across) - 1;
    const targets = {
      ArrowLeft: column > 0 ? index - 1 : index,
      ArrowRight: Math.min(end, index + 1),
      ArrowUp: index - across,
      ArrowDown: index + across,
      Home: index - column,
      End: end,
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
    const { figure, heads, layers, ranked } = this.header;
    const [openLayer, openHead] = selected ?? [-1, -1];
    const label = `Attention of ${layers} layers of ${heads} heads each. Arrow keys move, Enter opens a head.`;
    this.board.setAttribute("aria-label", ranked ? `${label} Ranked by ${figure.name}.` : label);
    for (const cell of this.cells) {
      const [layer, head] = this.placeOf(cell);
      const isOpen = layer === openLayer && head === openHead;
      const said = figure ? `, ${figure.name} ${figure.texts[layer * heads + head]} ${figure.unit}`.trimEnd() : "";
      cell.classList.toggle("open", isOpen);
      cell.setAttribute("aria-selected", String(isOpen));
      cell.setAttribute("aria-label", `Layer ${layer + 1}, head ${head + 1}${said}${isOpen ? ", open" : ""}`);
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
