// @ts-check
// What a canvas shows, as rectangles of one colour each: a saved picture then stays sharp at any size.
import { contextOf } from "./picture.js";

/** @typedef {{ x: number, y: number, width: number, height: number, colour: number }} Cell in pixels; the colour as ABGR */
/** @typedef {{ width: number, height: number, pixels: Uint32Array }} Pixels */

/** With more rectangles than these a file is larger, and slower to draw, than its pixels. */
export const MOST_CELLS = 256 * 256;

/** @type {WeakMap<HTMLCanvasElement, () => HTMLCanvasElement | null>} */
const FINER = new WeakMap();

/** Of this canvas there is another one to be saved, of a pixel a cell, so that all cells are of one size. @param {HTMLCanvasElement} canvas @param {() => HTMLCanvasElement | null} make */
export const savedFrom = (canvas, make) => FINER.set(canvas, make);

/** The cells of a canvas and the size that they fill; no cells if there are too many. @param {HTMLCanvasElement} canvas */
export function cellsOf(canvas) {
  const source = FINER.get(canvas)?.() ?? canvas;
  const { width, height } = source;
  const pixels = new Uint32Array(contextOf(source).getImageData(0, 0, width, height).data.buffer);
  return { width, height, cells: cellsIn({ width, height, pixels }, MOST_CELLS) };
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
