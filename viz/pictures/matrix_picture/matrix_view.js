// Which part of a matrix is seen, and its pixels.
import { clamp, contextOf } from "../shared/picture.js";

/** @typedef {{ start: number, length: number, count: number }} Span a run of cells along one side, in cells and fractions of them, of `count` */
/** @typedef {{ row: Span, column: Span }} Spans */
/** @typedef {{ low: number, high: number, exponent: number }} ShadeScale how numbers become shades */
/** @typedef {{ shades: Uint16Array, zero: number }} Shades numbers as 256 shades; `zero` is that of 0, 256 is no number */
/** @typedef {Shades & { rows: number, columns: number, block?: [number, number] }} ShadedMatrix as it is stored */

// Nobody needs fewer cells than these side by side.
const CLOSEST = 4;
// From this size on, in CSS pixels, cells are set apart.
const ROOM_FOR_GAPS = 9;

/** @param {number} count @returns {Span} */
export const wholeSpan = (count) => ({ start: 0, length: count, count });
/** @param {Spans} spans */
export const isWhole = ({ row, column }) => row.length >= row.count && column.length >= column.count;

/** @param {number} start @param {number} length @param {number} count @returns {Span} */
export function spanOf(start, length, count) {
  const kept = clamp(Math.min(CLOSEST, count), length, count);
  return { start: clamp(0, start, count - kept), length: kept, count };
}

/**
 * Zoomed by `factor` (below 1: closer) around the place `at`, from 0 to 1 along the side, which stays where it is.
 * @param {Span} span @param {number} factor @param {number} at
 */
export function zoomed({ start, length, count }, factor, at) {
  const next = clamp(Math.min(CLOSEST, count), length * factor, count);
  return spanOf(start + (length - next) * at, next, count);
}

/** Moved just so far that the cell is seen. @param {Span} span @param {number} cell */
export function showing(span, cell) {
  return spanOf(Math.max(Math.min(span.start, cell), cell + 1 - span.length), span.length, span.count);
}

/** The cell at a place from 0 to 1 along the side. @param {Span} span @param {number} at */
export const cellAt = ({ start, length, count }, at) => clamp(0, Math.floor(start + at * length), count - 1);

/**
 * Where a cell, or all from it to a last one, begin along the side and how long they are there, cut off at both ends of it;
 * null if nothing of them is seen.
 * @param {Span} span @param {number} cell @param {number} side @param {number} [last]
 */
export function extentOf({ start, length }, cell, side, last = cell) {
  const from = Math.max(0, ((cell - start) / length) * side);
  const to = Math.min(side, ((last + 1 - start) / length) * side);
  return to - from > 0.5 ? [from, to - from] : null;
}

/**
 * The stored row (or column) that holds a cell: `size` cells make a block, or, without it, `stored` blocks share `count`
 * cells (`tiles.edges`).
 * @param {number} cell @param {number} count @param {number} stored @param {number} [size]
 */
export function blockOf(cell, count, stored, size) {
  if (size) return Math.floor(cell / size);
  return stored === count ? cell : Math.ceil(((cell + 1) * stored) / count) - 1;
}

/**
 * For each of `pixels` places along the side, the stored run [first, end) that it shows: several if they are small.
 * @param {Span} span @param {number} pixels @param {number} stored @param {number} [size]
 */
export function runsOf(span, pixels, stored, size) {
  const step = span.length / pixels;
  return Array.from({ length: pixels }, (_, pixel) => {
    const from = span.start + pixel * step;
    const first = Math.min(span.count - 1, Math.floor(step > 1 ? from : from + step / 2));
    const last = step > 1 ? Math.max(first, Math.min(span.count, Math.ceil(from + step)) - 1) : first;
    return [blockOf(first, span.count, stored, size), blockOf(last, span.count, stored, size) + 1];
  });
}

/** @param {Float32Array} values @param {ShadeScale} scale @returns {Shades} */
export function shadesOf(values, { low, high, exponent }) {
  // Of a quarter of a million numbers, each costs: a root is quicker than a power, and a loop than `Uint16Array.from`.
  const bend = exponent === 0.5 ? Math.sqrt : (/** @type {number} */ share) => share ** exponent;
  const shade = (/** @type {number} */ value) => Math.round(255 * bend(clamp(0, (value - low) / (high - low), 1)));
  const shades = new Uint16Array(values.length);
  for (let i = 0; i < values.length; i++) shades[i] = Number.isNaN(values[i]) ? 256 : shade(values[i]);
  return { shades, zero: shade(0) };
}

/**
 * The shade farthest from zero within runs of rows and columns, so that nothing strong falls between two pixels.
 * @param {ShadedMatrix} matrix @param {number} top @param {number} bottom @param {number} left @param {number} right
 */
export function farthest({ shades, zero, columns }, top, bottom, left, right) {
  if (bottom - top === 1 && right - left === 1) return shades[top * columns + left];
  let best = 256;
  for (let row = top; row < bottom; row++) {
    for (let column = left; column < right; column++) {
      const shade = shades[row * columns + column];
      if (shade !== 256 && (best === 256 || Math.abs(shade - zero) > Math.abs(best - zero))) best = shade;
    }
  }
  return best;
}

/**
 * Paint what the spans show of a stored matrix into a canvas, at its own pixels. `scale` has a colour for each shade;
 * nothing is painted where there is no number.
 * @param {HTMLCanvasElement} canvas @param {ShadedMatrix} matrix @param {Uint32Array} scale @param {Spans} spans
 * @param {number} ratio
 */
export function paintView(canvas, matrix, scale, spans, ratio) {
  const context = contextOf(canvas);
  const { width, height } = canvas;
  const image = context.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const rowRuns = runsOf(spans.row, height, matrix.rows, matrix.block?.[0]);
  const columnRuns = runsOf(spans.column, width, matrix.columns, matrix.block?.[1]);
  for (let y = 0; y < height; y++) {
    const [top, bottom] = rowRuns[y];
    const line = y * width;
    if (y && rowRuns[y - 1][0] === top && rowRuns[y - 1][1] === bottom) pixels.copyWithin(line, line - width, line);
    else
      for (let x = 0; x < width; x++)
        pixels[line + x] = scale[farthest(matrix, top, bottom, columnRuns[x][0], columnRuns[x][1])];
  }
  context.putImageData(image, 0, 0);
  setApart(canvas, spans, ratio);
}

/** Clear a line between cells that are large. @param {HTMLCanvasElement} canvas @param {Spans} spans @param {number} ratio */
export function setApart(canvas, { row, column }, ratio) {
  const { width, height } = canvas;
  if (Math.min(height / row.length, width / column.length) < ROOM_FOR_GAPS * ratio) return;
  const context = contextOf(canvas);
  const gap = Math.max(1, Math.round(ratio));
  for (const edge of edgesOf(row, height)) context.clearRect(0, edge, width, gap);
  for (const edge of edgesOf(column, width)) context.clearRect(edge, 0, gap, height);
}

/** The pixels at which cells meet along a side. @param {Span} span @param {number} side */
function edgesOf({ start, length }, side) {
  const first = Math.floor(start) + 1;
  const count = Math.max(0, Math.ceil(start + length) - first);
  return Array.from({ length: count }, (_, i) => Math.round(((first + i - start) / length) * side));
}
