// The new row of every head of one attention: heads run down, layer by layer, key tokens run across. Each layer is a
// canvas of one pixel a weight, which the page enlarges. Knows nothing of steps, of chosen tokens or of Streamlit.

/** Labels that stand upright over columns (or below them), each in the middle of its column. */
function columnLabels(tokens, className) {
  const labels = element("div", `key-labels ${className}`);
  labels.append(
    ...tokens.map((token, at) => {
      const label = element("span", "key-label");
      label.style.setProperty("--at", at);
      label.title = token;
      label.append(tokenElement(token));
      return label;
    }),
  );
  return labels;
}

/** Paint stored weights, one pixel each, from index `base` on: rows × columns, of which `visible(row)` columns are seen. */
function paintCells(canvas, scale, values, rows, columns, baseOf, visible) {
  if (canvas.width !== columns || canvas.height !== rows) Object.assign(canvas, { width: columns, height: rows });
  const image = new ImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  for (let row = 0; row < rows; row++) {
    const base = baseOf(row);
    for (let column = 0; column < visible(row); column++) pixels[row * columns + column] = scale[values[base + column] >> 8];
  }
  canvas.getContext("2d").putImageData(image, 0, 0);
}

class FilmStrip {
  /**
   * `tiles` are the weights; `act` has what happens: choose(layer, head), leaveAlone(layer, head), point(event, layer,
   * head, key), leave().
   */
  constructor(title, tokens, tiles, scale, act) {
    const { layers, heads } = tiles.header;
    Object.assign(this, { tiles, scale, act, heads, count: tokens.length });
    this.element = element("figure", "strip");
    this.caption = element("figcaption", "strip-title", title);
    this.labels = columnLabels(tokens, "above");
    const corner = element("span", "corner muted", "layer · head");
    this.labels.prepend(corner);
    this.blocks = Array.from({ length: layers }, (_, layer) => this.buildLayer(layer, heads));
    this.element.append(this.caption, this.labels, ...this.blocks.map(({ block }) => block));
    this.element.addEventListener("pointermove", (event) => this.point(event));
    this.element.addEventListener("pointerleave", () => this.leave());
    this.element.addEventListener("click", (event) => this.click(event, act.choose));
    this.element.addEventListener("dblclick", (event) => this.click(event, act.leaveAlone));
  }

  buildLayer(layer, heads) {
    const block = element("div", "layer-block");
    const names = element("div", "row-names");
    names.append(...Array.from({ length: heads }, (_, head) => element("span", "row-name", `${layer + 1} · ${head + 1}`)));
    const canvas = element("canvas", "strip-canvas");
    canvas.setAttribute("role", "img");
    const frames = element("div", "row-frames");
    block.append(names, canvas, frames);
    return { block, names, canvas, frames };
  }

  /** Where the pointer is: { layer, head, key }, without a key beside the canvas; null if not on a row. */
  placeOf(event) {
    const layer = this.blocks.findIndex(({ block }) => block.contains(event.target));
    if (layer < 0) return null;
    const frame = this.blocks[layer].canvas.getBoundingClientRect();
    const head = Math.floor(((event.clientY - frame.top) / frame.height) * this.heads);
    const key = Math.floor(((event.clientX - frame.left) / frame.width) * this.count);
    if (head < 0 || head >= this.heads) return null;
    const isName = this.blocks[layer].names.contains(event.target);
    return { layer, head, key: !isName && key >= 0 && key < this.visible ? key : null };
  }

  point(event) {
    const place = this.placeOf(event);
    this.hover(place);
    if (place && place.key !== null) this.act.point(event, place.layer, place.head, place.key);
    else this.act.leave();
  }

  leave() {
    this.hover(null);
    this.act.leave();
  }

  click(event, act) {
    const place = this.placeOf(event);
    if (place) act(place.layer, place.head);
  }

  hover(place) {
    this.hovered?.classList.remove("hovered");
    this.hovered = place && this.blocks[place.layer].names.children[place.head];
    this.hovered?.classList.add("hovered");
  }

  /** Frame the chosen heads of a layer: `heads` → their colours. */
  mark(openLayer, colourOf) {
    this.blocks.forEach(({ names, frames }, layer) => {
      const chosen = layer === openLayer ? [...colourOf.keys()] : [];
      [...names.children].forEach((name, head) => {
        const isChosen = chosen.includes(head);
        name.classList.toggle("chosen", isChosen);
        if (isChosen) name.style.setProperty("--head", colourOf.get(head));
      });
      frames.replaceChildren(
        ...chosen.map((head) => {
          const frame = element("div", "row-frame");
          frame.style.setProperty("--at", head);
          frame.style.setProperty("--head", colourOf.get(head));
          return frame;
        }),
      );
    });
  }

  /** Show the row of step `step` of every head, of which the first `visible` keys are there to be seen. */
  draw(step, visible) {
    const { tiles, scale, heads, count } = this;
    if (this.visible !== visible) {
      // The first child is the corner.
      [...this.labels.children].slice(1).forEach((label, key) => label.classList.toggle("future", key >= visible));
    }
    this.visible = visible;
    this.blocks.forEach(({ canvas }, layer) => {
      const baseOf = (head) => tiles.baseOf([layer, head]) + step * count;
      paintCells(canvas, scale, tiles.values, heads, count, baseOf, () => visible);
    });
  }

  /** For those who cannot see it: the strongest weight of each head of a layer. */
  summarise(layer, step, tokens) {
    const { tiles, heads, count } = this;
    const strongest = Array.from({ length: heads }, (_, head) => {
      const base = tiles.baseOf([layer, head]) + step * count;
      const at = largestWithin(tiles.values, base, count, [0, 1], [0, this.visible]);
      return `head ${head + 1}: ${tokens[at - base]} ${tiles.format(tiles.values[at])}`;
    });
    this.blocks.forEach(({ canvas }, at) => {
      const text = at === layer ? `Layer ${layer + 1}, strongest weight of each head. ${strongest.join("; ")}` : `Layer ${at + 1}`;
      canvas.setAttribute("aria-label", text);
    });
  }
}
