// The new row of every head of one attention: heads run down, layer by layer, key tokens run across. Each layer is a
// canvas of one pixel a weight, which the page enlarges.
import { headLabel } from "../../../pictures/shared/head_label.js";
import { closest } from "../../../pictures/shared/items.js";
import { _ } from "../../../pictures/shared/messages.js";
import { contextOf, element, tokenElement } from "../../../pictures/shared/picture.js";

/** @import { Tiles } from "../../../pictures/shared/head_tiles.js" */
/** @import { Point } from "../../../pictures/shared/items.js" */
/** @import { FilmHeads } from "./film_heads.js" */
/** @typedef {{ layer: number, head: number, key: number | null }} Spot */

/** Upright labels over columns, or below them, each in the middle of its own. @param {string[]} tokens @param {string} className @param {(index: number) => HTMLElement} [shown] */
export function columnLabels(tokens, className, shown = (index) => tokenElement(tokens[index])) {
  const labels = tokens.map((title, i) =>
    element("span", { className: "key-label", style: `--at:${i}`, title }, shown(i)),
  );
  return element("div", `key-labels ${className}`, ...labels);
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
  step = 0;
  visible = -1;
  /** @type {Element | null} */ hovered = null;

  /** @param {string} title @param {Tiles} tiles @param {Uint32Array} scale @param {FilmHeads} owner */
  constructor(title, tiles, scale, owner) {
    this.title = title;
    this.tiles = tiles;
    this.scale = scale;
    this.owner = owner;
    this.labels = columnLabels(tiles.header.keyTokens, "above");
    this.labels.prepend(element("span", "corner muted", _("head")));
    this.blocks = Array.from({ length: tiles.header.layers }, (_layer, layer) => this.buildLayer(layer));
    this.caption = element("figcaption", "strip-title", title);
    this.element = element("figure", "strip", this.caption, this.labels, ...this.blocks.map(({ block }) => block));
    this.element.addEventListener("pointermove", (event) => this.point(event));
    this.element.addEventListener("pointerleave", () => this.leave());
    this.element.addEventListener("click", (event) => this.click(event, (layer, head) => owner.choose(layer, head)));
    this.element.addEventListener("dblclick", (event) =>
      this.click(event, (layer, head) => owner.act.choose(layer, [head])),
    );
  }

  /** @param {number} layer */
  buildLayer(layer) {
    const { heads } = this.tiles.header;
    const names = Array.from({ length: heads }, (_head, head) => element("span", "row-name", headLabel(layer, head)));
    const canvas = element("canvas", { className: "strip-canvas", role: "img" });
    const frames = element("div", "row-frames");
    const block = element("div", "layer-block", element("div", "row-names", ...names), canvas, frames);
    return { block, names, canvas, frames };
  }

  /** Where the pointer is, without a key beside the canvas; null if not on a row. @param {MouseEvent} event @returns {Spot | null} */
  spotOf(event) {
    const layer = this.blocks.findIndex(({ block }) => block === closest(event, ".layer-block"));
    if (layer < 0) return null;
    const { heads, columns } = this.tiles.header;
    const frame = this.blocks[layer].canvas.getBoundingClientRect();
    const [head, key] = cellAt(event, frame, heads, columns);
    if (head < 0 || head >= heads) return null;
    const isOnCanvas = !closest(event, ".row-names") && key >= 0 && key < this.visible;
    return { layer, head, key: isOnCanvas ? key : null };
  }

  /** @param {PointerEvent} event */
  point(event) {
    const spot = this.spotOf(event);
    this.hover(spot);
    const isOverSource = this === this.owner.overSource;
    if (isOverSource) this.owner.act.preview(spot?.layer ?? 0, spot?.head ?? null);
    const key = spot?.key ?? null;
    this.owner.act.point(key === null ? null : this.step, key ?? 0, isOverSource);
    if (!spot || spot.key === null) this.owner.tooltip.hide();
    else this.owner.tell(event, this.tiles, spot.layer, spot.head, this.step, spot.key);
  }

  leave() {
    this.hover(null);
    this.owner.tooltip.hide();
    this.owner.act.point(null, 0, false);
    if (this === this.owner.overSource) this.owner.act.preview(0, null);
  }

  /** Name columns in bold. @param {number[]} keys */
  markKeys(keys) {
    // The first child is the corner.
    [...this.labels.children].slice(1).forEach((label, index) => label.classList.toggle("now", keys.includes(index)));
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
    this.blocks.forEach(({ block, names, frames }, layer) => {
      block.classList.toggle("open", layer === openLayer);
      const chosen = layer === openLayer ? colours : new Map();
      names.forEach((name, head) => {
        name.classList.toggle("chosen", chosen.has(head));
        name.style.setProperty("--head", chosen.get(head) ?? "");
      });
      const marks = [...chosen].map(([head, colour]) =>
        element("div", { className: "row-frame", style: `--at:${head};--head:${colour}` }),
      );
      frames.replaceChildren(...marks);
    });
  }

  /** Show the row of a step of every head, of which the first `visible` keys are seen. @param {number} step @param {number} visible */
  draw(step, visible) {
    const { tiles, scale } = this;
    const { heads, columns } = tiles.header;
    if (this.visible !== visible) {
      // The first child is the corner.
      [...this.labels.children].slice(1).forEach((label, key) => label.classList.toggle("future", key >= visible));
    }
    Object.assign(this, { step, visible });
    this.blocks.forEach(({ canvas }, layer) => {
      const baseOf = (/** @type {number} */ head) => tiles.baseOf([layer, head]) + step * columns;
      paintCells(canvas, scale, tiles.values, heads, columns, baseOf, () => visible);
    });
  }

  /** For those who cannot see it: the strongest weight of each head of a layer. @param {number} layer */
  summarise(layer) {
    const { step, visible, tiles } = this;
    const strongest = Array.from({ length: tiles.header.heads }, (_head, head) => {
      const { key, weight } = tiles.largest([layer, head], [step, step + 1], [0, visible]);
      return `${headLabel(layer, head)}: ${key} ${weight}`;
    });
    this.blocks.forEach(({ canvas }, i) => {
      const number = i + 1;
      canvas.ariaLabel =
        i === layer
          ? _("Layer {number}, largest weight of each head. {weights}", { number, weights: strongest.join("; ") })
          : _("Layer {number}", { number });
    });
  }
}
