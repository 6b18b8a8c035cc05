// One row of attention for every head of a layer: heads run down, key tokens across. Draws what it is given.
// Knows nothing of steps, of the model's sites or of Streamlit.

const CELL_HEIGHT = 18;
const NARROWEST_CELL = 15;
const WIDEST_CELL = 40;
const HEAD_LABEL_WIDTH = 58;

class AttentionStrip {
  /** `tooltip` is shared; `describe(head, key)` gives [title, query, key token, note] for it. */
  constructor(title, keyTokens, heads, scale, tooltip, describe) {
    this.keyCount = keyTokens.length;
    this.heads = heads;
    this.scale = scale;
    this.element = element("figure", "strip");
    this.caption = element("figcaption", "strip-title", title);
    this.scroller = element("div", "strip-scroller");
    // Reachable by keyboard, because a long sentence scrolls sideways.
    this.scroller.tabIndex = 0;
    this.scroller.setAttribute("role", "group");
    this.scroller.setAttribute("aria-label", title);
    this.labels = keyTokens.map((token) => {
      const label = element("span", "key-label");
      label.title = token;
      label.append(tokenElement(token));
      return label;
    });
    this.canvas = element("canvas", "strip-canvas");
    this.canvas.setAttribute("role", "img");
    this.scroller.append(this.buildBody());
    this.element.append(this.caption, this.scroller);
    this.canvas.addEventListener("pointermove", (event) => {
      const frame = this.canvas.getBoundingClientRect();
      const key = Math.floor(((event.clientX - frame.left) / frame.width) * this.keyCount);
      const head = Math.floor(((event.clientY - frame.top) / frame.height) * this.heads);
      const isInside = key >= 0 && key < this.visible && head >= 0 && head < this.heads;
      if (isInside) tooltip.show(event, ...describe(head, key));
      else tooltip.hide();
    });
    this.canvas.addEventListener("pointerleave", () => tooltip.hide());
  }

  buildBody() {
    const body = element("div", "strip-body");
    const names = element("div", "head-names");
    for (let head = 0; head < this.heads; head++) names.append(element("span", "head-name", `Head ${head + 1}`));
    const keys = element("div", "key-labels");
    keys.append(...this.labels);
    const matrix = element("div", "strip-matrix");
    matrix.append(keys, this.canvas);
    body.append(names, matrix);
    return body;
  }

  /** Cells of which `count` fit into `width` CSS pixels; if they would be too narrow to read, the strip scrolls. */
  fit(width, count) {
    const room = (width - HEAD_LABEL_WIDTH) / count;
    const cell = Math.floor(Math.max(NARROWEST_CELL, Math.min(WIDEST_CELL, room)));
    this.cellWidth = cell;
    this.element.style.setProperty("--cell-width", `${cell}px`);
    this.element.style.setProperty("--cell-height", `${CELL_HEIGHT}px`);
    this.element.style.setProperty("--head-label-width", `${HEAD_LABEL_WIDTH}px`);
  }

  /** Paint the stored √ values of the first `visible` keys; `rowOf(head)` is the index of a head's first value. */
  draw(values, rowOf, visible) {
    this.visible = visible;
    this.labels.forEach((label, key) => label.classList.toggle("future", key >= visible));
    const ratio = window.devicePixelRatio || 1;
    const width = Math.round(this.cellWidth * ratio);
    const height = Math.round(CELL_HEIGHT * ratio);
    sizeCanvas(this.canvas, this.keyCount * width, this.heads * height, ratio);
    const context = this.canvas.getContext("2d");
    const image = context.createImageData(this.canvas.width, this.canvas.height);
    const line = Math.max(1, Math.round(ratio));
    const rowRuns = cellRuns(1, height - line);
    for (let head = 0; head < this.heads; head++) {
      for (let key = 0; key < visible; key++) {
        const place = { left: key * width, top: head * height };
        paintMatrix(image, this.scale, values, rowOf(head) + key, 1, place, rowRuns, cellRuns(1, width - line));
      }
    }
    context.putImageData(image, 0, 0);
  }

  summarise(text) {
    this.canvas.setAttribute("aria-label", text);
  }
}
