// @ts-check
// The new row of every head of one attention: heads run down, layer by layer, key tokens run across. Each layer is a
// canvas of one pixel a weight, which the page enlarges.
import { closest } from "../../../components/shared/items.js";
import { contextOf, element, largestWithin, tokenElement } from "../../../components/shared/picture.js";

/** @import { Tiles } from "../../../components/shared/head_tiles.js" */
/** @import { Point } from "../../../components/shared/items.js" */
/** @typedef {{ layer: number, head: number, key: number | null }} Spot */
/**
 * What happens to a strip.
 * @typedef {{
 *   choose(layer: number, head: number): void,
 *   leaveAlone(layer: number, head: number): void,
 *   point(point: Point, layer: number, head: number, key: number): void,
 *   leave(): void,
 * }} StripActs
 */

/**
 * Labels that stand upright over columns (or below them), each in the middle of its column.
 * @param {string[]} tokens @param {string} className
 */
export function columnLabels(tokens, className) {
  const labels = element("div", `key-labels ${className}`);
  labels.append(
    ...tokens.map((token, at) => {
      const label = element("span", "key-label");
      label.style.setProperty("--at", String(at));
      label.title = token;
      label.append(tokenElement(token));
      return label;
    }),
  );
  return labels;
}

/**
 * The canvas of `rows` of stored weights, one pixel each: a row begins at index `baseOf(row)`, and its first
 * `visible(row)` columns are seen.
 * @param {HTMLCanvasElement} canvas @param {Uint32Array} scale @param {Uint16Array} values
 * @param {number} rows @param {number} columns
 * @param {(row: number) => number} baseOf @param {(row: number) => number} visible
 */
export function paintCells(canvas, scale, values, rows, columns, baseOf, visible) {
  if (canvas.width !== columns || canvas.height !== rows) Object.assign(canvas, { width: columns, height: rows });
  const image = new ImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  for (let row = 0; row < rows; row++) {
    const base = baseOf(row);
    for (let column = 0; column < visible(row); column++)
      pixels[row * columns + column] = scale[values[base + column] >> 8];
  }
  contextOf(canvas).putImageData(image, 0, 0);
}

/**
 * The row and the column of a grid, stretched over `frame`, at a point; they may lie outside.
 * @param {Point} point @param {DOMRect} frame @param {number} rows @param {number} columns
 */
export function cellAt({ clientX, clientY }, { left, top, width, height }, rows, columns) {
  return [Math.floor(((clientY - top) / height) * rows), Math.floor(((clientX - left) / width) * columns)];
}

export class FilmStrip {
  visible = -1;
  /** @type {Element | null} */ hovered = null;

  /**
   * @param {string} title @param {string[]} tokens @param {Tiles} tiles @param {Uint32Array} scale
   * @param {StripActs} act
   */
  constructor(title, tokens, tiles, scale, act) {
    const { layers, heads } = tiles.header;
    this.tiles = tiles;
    this.scale = scale;
    this.act = act;
    this.heads = heads;
    this.count = tokens.length;
    this.element = element("figure", "strip");
    this.caption = element("figcaption", "strip-title", title);
    this.labels = columnLabels(tokens, "above");
    this.labels.prepend(element("span", "corner muted", "layer · head"));
    this.blocks = Array.from({ length: layers }, (_, layer) => this.buildLayer(layer, heads));
    this.element.append(this.caption, this.labels, ...this.blocks.map(({ block }) => block));
    this.element.addEventListener("pointermove", (event) => this.point(event));
    this.element.addEventListener("pointerleave", () => this.leave());
    this.element.addEventListener("click", (event) => this.click(event, act.choose));
    this.element.addEventListener("dblclick", (event) => this.click(event, act.leaveAlone));
  }

  /** @param {number} layer @param {number} heads */
  buildLayer(layer, heads) {
    const block = element("div", "layer-block");
    const column = element("div", "row-names");
    const names = Array.from({ length: heads }, (_, head) => element("span", "row-name", `${layer + 1} · ${head + 1}`));
    column.append(...names);
    const canvas = element("canvas", "strip-canvas");
    canvas.setAttribute("role", "img");
    const frames = element("div", "row-frames");
    block.append(column, canvas, frames);
    return { block, names, canvas, frames };
  }

  /**
   * Where the pointer is, without a key beside the canvas; null if not on a row.
   * @param {MouseEvent} event @returns {Spot | null}
   */
  spotOf(event) {
    const layer = this.blocks.findIndex(({ block }) => block === closest(event, ".layer-block"));
    if (layer < 0) return null;
    const frame = this.blocks[layer].canvas.getBoundingClientRect();
    const [head, key] = cellAt(event, frame, this.heads, this.count);
    if (head < 0 || head >= this.heads) return null;
    const isOnCanvas = !closest(event, ".row-names") && key >= 0 && key < this.visible;
    return { layer, head, key: isOnCanvas ? key : null };
  }

  /** @param {PointerEvent} event */
  point(event) {
    const spot = this.spotOf(event);
    this.hover(spot);
    if (spot && spot.key !== null) this.act.point(event, spot.layer, spot.head, spot.key);
    else this.act.leave();
  }

  leave() {
    this.hover(null);
    this.act.leave();
  }

  /** @param {MouseEvent} event @param {(layer: number, head: number) => void} act */
  click(event, act) {
    const spot = this.spotOf(event);
    if (spot) act(spot.layer, spot.head);
  }

  /** @param {Spot | null} spot */
  hover(spot) {
    this.hovered?.classList.remove("hovered");
    this.hovered = spot && this.blocks[spot.layer].names[spot.head];
    this.hovered?.classList.add("hovered");
  }

  /** Frame the chosen heads of a layer in their colours. @param {number} openLayer @param {Map<number, string>} colours */
  mark(openLayer, colours) {
    this.blocks.forEach(({ names, frames }, layer) => {
      const chosen = layer === openLayer ? colours : new Map();
      names.forEach((name, head) => {
        name.classList.toggle("chosen", chosen.has(head));
        name.style.setProperty("--head", chosen.get(head) ?? "");
      });
      frames.replaceChildren(
        ...[...chosen].map(([head, colour]) => {
          const frame = element("div", "row-frame");
          frame.style.setProperty("--at", head);
          frame.style.setProperty("--head", colour);
          return frame;
        }),
      );
    });
  }

  /** Show the row of a step of every head, of which the first `visible` keys are seen. @param {number} step @param {number} visible */
  draw(step, visible) {
    const { tiles, scale, heads, count } = this;
    if (this.visible !== visible) {
      // The first child is the corner.
      [...this.labels.children].slice(1).forEach((label, key) => label.classList.toggle("future", key >= visible));
    }
    this.visible = visible;
    this.blocks.forEach(({ canvas }, layer) => {
      const baseOf = (/** @type {number} */ head) => tiles.baseOf([layer, head]) + step * count;
      paintCells(canvas, scale, tiles.values, heads, count, baseOf, () => visible);
    });
  }

  /**
   * For those who cannot see it: the strongest weight of each head of a layer.
   * @param {number} layer @param {number} step @param {string[]} tokens
   */
  summarise(layer, step, tokens) {
    const { tiles, heads, count } = this;
    const strongest = Array.from({ length: heads }, (_, head) => {
      const base = tiles.baseOf([layer, head]) + step * count;
      const at = largestWithin(tiles.values, base, count, [0, 1], [0, this.visible]);
      return `head ${head + 1}: ${tokens[at - base]} ${tiles.format(tiles.values[at])}`;
    });
    this.blocks.forEach(({ canvas }, at) => {
      const weights = at === layer ? `, strongest weight of each head. ${strongest.join("; ")}` : "";
      canvas.setAttribute("aria-label", `Layer ${at + 1}${weights}`);
    });
  }
}
