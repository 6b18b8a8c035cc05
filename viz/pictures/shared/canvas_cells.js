// What a canvas or a drawing shows, as markup that stands on its own: a saved picture then stays sharp at any size.
import { contextOf, element } from "./picture.js";

/** @typedef {{ x: number, y: number, width: number, height: number, colour: number }} Cell in pixels; the colour as ABGR */
/** @typedef {{ width: number, height: number, pixels: Uint32Array }} Pixels */
/**
 * @typedef {{ kind: "drawing", markup: string } | { kind: "cells", cells: Cell[], columns: number, rows: number }
 *   | { kind: "image", canvas: HTMLCanvasElement }} Content
 */

/** With more rectangles than these a file is larger, and slower to draw, than its pixels. */
export const MOST_CELLS = 256 * 256;

/** @type {WeakMap<HTMLCanvasElement, () => HTMLCanvasElement | string | null>} */
const FINER = new WeakMap();

/**
 * Of this canvas there is something finer to be saved: another one of a pixel a cell, so that all cells are of one size,
 * or markup of SVG.
 * @param {HTMLCanvasElement} canvas @param {() => HTMLCanvasElement | string | null} make
 */
export const savedFrom = (canvas, make) => FINER.set(canvas, make);

/** What a saved picture has for a canvas: markup, cells and the size that they fill, or its pixels if there are too many. @param {HTMLCanvasElement} canvas @returns {Content} */
export function contentOf(canvas) {
  const source = FINER.get(canvas)?.() ?? canvas;
  if (typeof source === "string") return { kind: "drawing", markup: source };
  const cells = cellsOf(source);
  return cells ? { kind: "cells", cells, columns: source.width, rows: source.height } : { kind: "image", canvas };
}

/** The cells of a canvas; none if there are too many. @param {HTMLCanvasElement} canvas */
function cellsOf(canvas) {
  const { width, height } = canvas;
  const pixels = new Uint32Array(contextOf(canvas).getImageData(0, 0, width, height).data.buffer);
  return cellsIn({ width, height, pixels }, MOST_CELLS);
}

/**
 * Pixels as rectangles; null if there are more than `most`. What is transparent is left out.
 * @param {Pixels} image @param {number} most
 */
export function cellsIn({ width, height, pixels }, most) {
  /** @type {Cell[]} */
  const cells = [];
  /** Those that reach down to the line above, by where they begin. @type {Map<number, Cell>} */
  let open = new Map();
  for (let y = 0; y < height; y++) {
    const line = pixels.subarray(y * width, (y + 1) * width);
    if (y && isSame(line, pixels, (y - 1) * width)) {
      for (const cell of open.values()) cell.height++;
      continue;
    }
    /** @type {typeof open} */
    const reached = new Map();
    for (let x = 0; x < width; ) {
      const start = x;
      const colour = line[x];
      while (x < width && line[x] === colour) x++;
      if (!(colour >>> 24)) continue;
      const above = open.get(start);
      if (above?.colour === colour && above.width === x - start) {
        above.height++;
        reached.set(start, above);
        continue;
      }
      const cell = { x: start, y, width: x - start, height: 1, colour };
      if (cells.push(cell) > most) return null;
      reached.set(start, cell);
    }
    open = reached;
  }
  return cells;
}

/** @param {Uint32Array} line @param {Uint32Array} pixels @param {number} from */
function isSame(line, pixels, from) {
  for (let x = 0; x < line.length; x++) if (line[x] !== pixels[from + x]) return false;
  return true;
}

/** Cells as SVG: a path for each colour. @param {Cell[]} cells */
export function cellsAsSvg(cells) {
  /** @type {Map<number, string[]>} */
  const paths = new Map();
  for (const { x, y, width, height, colour } of cells) {
    const path = paths.get(colour) ?? [];
    path.push(`M${x} ${y}h${width}v${height}h${-width}z`);
    paths.set(colour, path);
  }
  return [...paths]
    .map(([colour, path]) => {
      const [red, green, blue, alpha] = [0, 8, 16, 24].map((shift) => (colour >>> shift) & 255);
      const opacity = alpha === 255 ? "" : ` fill-opacity="${(alpha / 255).toFixed(3)}"`;
      const hex = [red, green, blue].map((part) => part.toString(16).padStart(2, "0")).join("");
      return `<path fill="#${hex}"${opacity} d="${path.join("")}"/>`;
    })
    .join("");
}

const DRAWN_BY = (
  "fill fill-opacity stroke stroke-opacity stroke-width stroke-dasharray opacity font-size font-weight font-style " +
  "font-family image-rendering text-anchor dominant-baseline font-variant-numeric paint-order"
).split(" ");

/** An SVG element as markup that carries its own styles, for they stand in the component's style sheet. @param {Element} drawing */
export function drawingOf(drawing) {
  const copy = /** @type {Element} */ (drawing.cloneNode(true));
  const [originals, copies] = [drawing, copy].map((top) => [top, ...top.querySelectorAll("*")]);
  originals.forEach((original, i) => {
    const style = getComputedStyle(original);
    if (style.visibility === "hidden" || original.matches("[hidden]")) return copies[i].remove();
    copies[i].removeAttribute("class");
    copies[i].setAttribute("style", DRAWN_BY.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";"));
    if (original instanceof SVGTextElement && !original.childElementCount) {
      copies[i].setAttribute("textLength", original.getComputedTextLength().toFixed(2));
      copies[i].setAttribute("lengthAdjust", "spacingAndGlyphs");
    }
    if (original instanceof SVGImageElement) copies[i].replaceWith(asCells(original) ?? copies[i]);
  });
  copy.setAttribute("overflow", "visible");
  return new XMLSerializer().serializeToString(copy);
}

/** The pixels of a PNG in an address of data: plotly paints a pixel a cell. @param {string} address */
function sizeOfPng(address) {
  const begin = "data:image/png;base64,";
  if (!address.startsWith(begin)) return null;
  // After the signature and the first chunk's head: width and height, four bytes each.
  const head = atob(address.slice(begin.length, begin.length + 32));
  const numberAt = (/** @type {number} */ at) =>
    [0, 1, 2, 3].reduce((number, next) => number * 256 + head.charCodeAt(at + next), 0);
  return [numberAt(16), numberAt(20)];
}

/** A canvas of an image's own pixels. @param {HTMLImageElement | SVGImageElement} image @param {number} width @param {number} height */
export function paintedWith(image, width, height) {
  const canvas = element("canvas", { width, height });
  const context = contextOf(canvas);
  context.imageSmoothingEnabled = false;
  context.drawImage(image, 0, 0, width, height);
  return canvas;
}

/** A picture within a drawing as cells, as plotly paints a heatmap; null if there are too many. @param {SVGImageElement} image */
function asCells(image) {
  const [x, y, width, height] = [image.x, image.y, image.width, image.height].map(({ baseVal }) => baseVal.value);
  const [across, down] = sizeOfPng(image.href.baseVal) ?? [Math.round(width), Math.round(height)];
  if (!across || !down) return null;
  const canvas = paintedWith(image, across, down);
  const cells = cellsOf(canvas);
  if (!cells) return null;
  const group = document.createElementNS("http://www.w3.org/2000/svg", "g");
  group.setAttribute("transform", `translate(${x} ${y}) scale(${width / canvas.width} ${height / canvas.height})`);
  group.setAttribute("shape-rendering", "crispEdges");
  group.innerHTML = cellsAsSvg(cells);
  return group;
}
