// Below the two strips, over the same columns: the chosen heads as lines between source and target, and the rows so far
// of the open head's self-attention. Knows nothing of Streamlit.

const FAN_HEIGHT = 128;
const NARROWEST_SPACING = 10;
/** Lines of so many rows before the current one stay, fainter with every row; of each only what is strong. */
const TRAIL = 16;
const TRAIL_STRENGTH = 0.3;
const TRAIL_FROM = 0.2;
const TALLEST_TRIANGLE = 240;
const [LOWEST_ROW, HIGHEST_ROW, LOWEST_NAMED_ROW] = [2, 15, 10];

class FilmFan {
  /** `tiles` are the weights of the cross-attention; `sides` are the tokens that rows are called by, { in, out }. */
  constructor(tiles, sides) {
    this.tiles = tiles;
    this.element = element("figure", "fan");
    this.title = element("figcaption", "strip-title");
    this.body = element("div", "fan-body");
    this.canvas = element("canvas", "fan-canvas");
    this.canvas.setAttribute("role", "img");
    this.labels = { in: columnLabels(sides.in, "below"), out: columnLabels(sides.out, "below") };
    this.body.append(this.canvas, ...Object.values(this.labels));
    this.element.append(this.title, this.body);
  }

  fit(cell) {
    const { rows, columns } = this.tiles.header;
    this.cell = cell;
    // Both sentences take the same room; where tokens would touch, only the current one is named.
    this.width = columns * cell;
    this.spacing = this.width / rows;
    this.body.classList.toggle("crowded", this.spacing < NARROWEST_SPACING);
    this.body.style.setProperty("--cell", `${this.spacing}px`);
    this.ratio = Math.min(window.devicePixelRatio || 1, 16_000 / this.width);
    sizeCanvas(this.canvas, Math.round(this.width * this.ratio), Math.round(FAN_HEIGHT * this.ratio), this.ratio);
  }

  /** The lines of step `step`, with a trail of those before; `colourOf`: head → colour, the open head first. */
  draw(step, layer, colourOf, whose) {
    for (const [side, labels] of Object.entries(this.labels)) {
      labels.hidden = side !== whose;
      [...labels.children].forEach((label, row) => {
        label.classList.toggle("future", row > step);
        label.classList.toggle("now", row === step);
      });
    }
    const context = this.canvas.getContext("2d");
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.width, FAN_HEIGHT);
    for (let row = Math.max(0, step - TRAIL); row <= step; row++) this.drawRow(context, row, step - row, layer, colourOf);
    context.globalAlpha = 1;
  }

  drawRow(context, row, age, layer, colourOf) {
    const { tiles, cell, spacing } = this;
    const count = tiles.header.columns;
    const [least, fade] = age ? [TRAIL_FROM, TRAIL_STRENGTH * (1 - age / (TRAIL + 1))] : [FAINTEST, 1];
    const heads = [...colourOf.keys()].reverse();
    heads.forEach((head, place) => {
      const base = tiles.baseOf([layer, head]) + row * count;
      const shift = (place - (heads.length - 1) / 2) * Math.min(3, (cell * 0.6) / heads.length);
      context.strokeStyle = colourOf.get(head);
      for (let key = 0; key < count; key++) {
        // The upper byte is √weight, as colours are.
        const weight = ((tiles.values[base + key] >> 8) / 255) ** 2;
        if (weight < least) continue;
        const { alpha, width } = strength(weight);
        context.globalAlpha = alpha * fade;
        context.lineWidth = age ? 1 : width;
        context.beginPath();
        context.moveTo((key + 0.5) * cell + shift, 2);
        context.lineTo((row + 0.5) * spacing + shift, FAN_HEIGHT - 2);
        context.stroke();
      }
    });
  }
}

class FilmTriangle {
  /** `tiles` are the weights of the self-attention; `act` as a strip's, with point(event, row, key) and leave(). */
  constructor(tiles, scale, sides, act) {
    Object.assign(this, { tiles, scale, count: tiles.header.rows });
    this.element = element("figure", "triangle");
    this.title = element("figcaption", "strip-title");
    this.body = element("div", "layer-block triangle-body");
    this.names = { in: this.buildNames(sides.in), out: this.buildNames(sides.out) };
    this.canvas = element("canvas", "strip-canvas");
    this.canvas.setAttribute("role", "img");
    this.body.append(...Object.values(this.names), this.canvas);
    this.element.append(this.title, this.body);
    this.canvas.addEventListener("pointermove", (event) => {
      const frame = this.canvas.getBoundingClientRect();
      const row = Math.floor(((event.clientY - frame.top) / frame.height) * this.count);
      const key = Math.floor(((event.clientX - frame.left) / frame.width) * this.count);
      if (row >= 0 && key >= 0 && row <= this.step && key <= row) act.point(event, row, key);
      else act.leave();
    });
    this.canvas.addEventListener("pointerleave", act.leave);
  }

  buildNames(tokens) {
    const names = element("div", "row-names");
    names.append(
      ...tokens.map((token) => {
        const name = element("span", "row-name");
        name.append(tokenElement(token));
        return name;
      }),
    );
    return names;
  }

  fit(cell) {
    const row = Math.max(LOWEST_ROW, Math.min(HIGHEST_ROW, cell, Math.floor(TALLEST_TRIANGLE / this.count)));
    this.body.style.setProperty("--row", `${row}px`);
    this.body.classList.toggle("unnamed", row < LOWEST_NAMED_ROW);
  }

  draw(step, layer, head, whose) {
    const { tiles, count } = this;
    this.step = step;
    for (const [side, names] of Object.entries(this.names)) {
      names.hidden = side !== whose;
      [...names.children].forEach((name, row) => {
        name.classList.toggle("future", row > step);
        name.classList.toggle("chosen", row === step);
      });
    }
    const base = tiles.baseOf([layer, head]);
    // What is not yet written is not yet there; what the causal mask hides never is.
    paintCells(this.canvas, this.scale, tiles.values, count, count, (row) => base + row * count, (row) => (row > step ? 0 : row + 1));
  }
}
