// The board of the grid: a transparent cell a head, the names beside them, and below all of it the canvas.
// Knows where heads stand, nothing of tiles, of the pointer or of Python.

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

class HeadBoard {
  constructor() {
    this.element = element("div", "board");
    this.element.setAttribute("role", "grid");
    this.canvas = element("canvas", "tiles");
    this.canvas.setAttribute("aria-hidden", "true");
    this.marker = element("div", "marker");
    this.marker.hidden = true;
    this.cells = [];
  }

  placeOf(cell) {
    return [Number(cell.dataset.layer), Number(cell.dataset.head)];
  }

  cellOf([layer, head]) {
    return this.cells.find((cell) => cell.dataset.layer === String(layer) && cell.dataset.head === String(head));
  }

  // ---- cells ----

  /**
   * Lines of cells in a place this wide; `order` is { layers, heads, ranked, figure }. Returns whether anything has
   * changed. Who held the focus keeps it, if the head is still there.
   */
  arrange(order, width) {
    const across = this.tilesAcross(order, width);
    const arrangement = JSON.stringify([across, order.layers, order.heads, order.ranked, order.figure]);
    if (arrangement === this.arrangement) return false;
    const focused = this.cells.find((cell) => cell.matches(":focus"));
    const last = this.cells.find((cell) => cell.tabIndex === 0);
    Object.assign(this, { arrangement, order, across, layerNames: [], headNames: [], opened: null });
    this.build();
    const again = last && this.cellOf(this.placeOf(last));
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
    this.element.setAttribute("aria-label", ranked ? `${label} Ranked by ${figure.name}.` : label);
  }

  buildCell(layer, head) {
    const { ranked, figure, heads } = this.order;
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
    this.describe(cell, false);
    return cell;
  }

  describe(cell, isOpen) {
    const { figure, heads } = this.order;
    const [layer, head] = this.placeOf(cell);
    const said = figure ? `, ${figure.name} ${figure.texts[layer * heads + head]} ${figure.unit}`.trimEnd() : "";
    cell.classList.toggle("open", isOpen);
    cell.setAttribute("aria-selected", String(isOpen));
    cell.setAttribute("aria-label", `Layer ${layer + 1}, head ${head + 1}${said}${isOpen ? ", open" : ""}`);
  }

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

  /** Frame the open head, and name its row and column in bold. */
  mark(selected) {
    const [openLayer, openHead] = selected ?? [-1, -1];
    const opened = selected && this.cellOf(selected);
    if (this.opened && this.opened !== opened) this.describe(this.opened, false);
    if (opened) this.describe(opened, true);
    this.opened = opened;
    this.layerNames.forEach((name, layer) => name.classList.toggle("open", layer === openLayer));
    this.headNames.forEach((name, head) => name.classList.toggle("open", head === openHead));
  }

  // ---- sizes ----

  /** How many tiles stand beside one another: a layer's, or, ranked, at most as many as their names leave room for. */
  tilesAcross({ heads, ranked }, width) {
    if (!ranked) return heads;
    const most = Math.floor((width + GAP) / (ROOM_FOR_RANKED + GAP));
    const wanted = ranked.length > FEW ? heads : FEW_ACROSS;
    return Math.max(1, Math.min(wanted, ranked.length, most));
  }

  /**
   * Tile sides in device pixels: a whole number of pixels a weight where that costs little room. With few pixels a
   * weight more is given up for it, for there one pixel makes some rows look twice as thick as others.
   */
  tileSides({ queryTokens, keyTokens, rows, columns }, available, ratio) {
    const { ranked, figure } = this.order;
    const room = (available - (ranked ? 0 : LABEL_WIDTH) - GAP * this.across) / this.across;
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

  /** Give cells tiles of this size, in device pixels; returns how far tiles are apart. */
  setSizes({ width, height }, ratio) {
    const { ranked, figure } = this.order;
    const [gap, above, below] = [GAP, ranked ? NAME_HEIGHT : 0, figure ? FIGURE_HEIGHT : 0].map((length) =>
      Math.round(length * ratio),
    );
    const label = ranked ? 0 : LABEL_WIDTH * ratio;
    const lengths = { label, "tile-w": width, "tile-h": height, gap, above, below };
    for (const [name, length] of Object.entries(lengths)) this.element.style.setProperty(`--${name}`, `${length / ratio}px`);
    const isRoomy = width / ratio >= ROOM_FOR_HEAD_NAME;
    this.headNames.forEach((name, head) => {
      name.textContent = isRoomy ? `Head ${head + 1}` : String(head + 1);
      name.setAttribute("aria-label", `Head ${head + 1}`);
    });
    if (this.headNames.length) this.corner.textContent = isRoomy ? "" : "Head";
    return { across: width + gap, down: height + gap + above + below };
  }
}
