// A matrix too large to be sent whole: its overview, and exact tiles of what is seen, asked for as a person comes near.
// What has come stays, the least recently seen goes first; moving only copies pixels that are here already.
import { _ } from "../shared/messages.js";
import { contextOf } from "../shared/picture.js";
import { askForTiles, nameOfTile, onDeliveredTiles, TILE_SIDE } from "../shared/tile_store.js";
import { paintView, setApart, shadesOf } from "./matrix_view.js";

/** @import { ExactTile, TileName } from "../shared/tile_store.js" */
/** @import { MatrixHeader } from "./matrix_reading.js" */
/** @import { ShadedMatrix, Shades, Span, Spans } from "./matrix_view.js" */

/** 48 tiles are about 30 MB of numbers and pixels. */
const MOST_TILES = 48;
/** As in `viz/pictures/tiles/codes.py`. */
const MOST_ASKED = 6;
/** If an answer gets lost, its tiles may be asked for again. */
const TILE_PATIENCE = 4000;
/** What a view shows for less than this is not worth a question. */
const TILE_PAUSE = 60;

/**
 * A matrix of shades as pixels that do not change, so that the browser need not look whether they have.
 * @param {Shades & { rows: number, columns: number }} matrix @param {Uint32Array} scale
 */
function bitmapOf({ shades, rows, columns }, scale) {
  const bitmap = new OffscreenCanvas(columns, rows);
  const image = new ImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  for (let i = 0; i < pixels.length; i++) pixels[i] = scale[shades[i]];
  bitmap.getContext("2d")?.putImageData(image, 0, 0);
  return bitmap.transferToImageBitmap();
}

export class MatrixTiles {
  /** Whose tiles these are. @type {string | null} */ name = null;
  /** @type {MatrixHeader} */ header;
  /** @type {Uint32Array} */ scale;
  /** @type {ImageBitmap | null} */ overview = null;
  /** @type {TileName[]} */ wanted = [];
  /** @type {ReturnType<typeof setTimeout> | undefined} */ timer;
  /** When tiles were asked for. @type {number | null} */ asked = null;
  /** @type {Map<string, ExactTile & { bitmap: ImageBitmap }>} */ kept = new Map();

  /** @param {() => void} redraw is called when tiles have come @param {AbortSignal} signal */
  constructor(redraw, signal) {
    this.redraw = redraw;
    onDeliveredTiles((address, tiles) => this.take(address, tiles), signal);
    signal.addEventListener("abort", () => this.forgetQuestion());
  }

  /** What is shown now; of another matrix, or in other colours, nothing that has come is of use. @param {MatrixHeader} header @param {Uint32Array} scale */
  show(header, scale) {
    const name = header.deep ? `${header.deep.address} ${header.stops} ${header.high}` : null;
    if (name === this.name) return;
    this.forgetQuestion();
    Object.assign(this, { name, header, scale, overview: null });
    this.kept.clear();
  }

  /** @param {string} address @param {ExactTile[]} tiles */
  take(address, tiles) {
    if (address !== this.header?.deep?.address) return;
    this.forgetQuestion();
    for (const tile of tiles) {
      const bitmap = bitmapOf({ ...tile, ...shadesOf(tile.values, this.header) }, this.scale);
      this.kept.set(nameOfTile(tile), { ...tile, bitmap });
    }
    for (const name of this.kept.keys()) {
      if (this.kept.size <= MOST_TILES) break;
      this.kept.delete(name);
    }
    this.redraw();
  }

  /** The exact number of a cell, if its tile is here. @param {number} row @param {number} column */
  valueAt(row, column) {
    const name = { level: 0, row: Math.floor(row / TILE_SIDE), column: Math.floor(column / TILE_SIDE) };
    const tile = this.kept.get(nameOfTile(name));
    return tile ? tile.values[(row % TILE_SIDE) * tile.columns + (column % TILE_SIDE)] : null;
  }

  /**
   * The finest level whose blocks are no smaller than a pixel, in a view of so many pixels; null: the overview does.
   * @param {[number, number]} block @param {Spans} spans @param {number} height @param {number} width
   */
  levelOf(block, { row, column }, height, width) {
    const level = Math.max(0, Math.ceil(Math.log2(Math.max(row.length / height, column.length / width))));
    return 2 ** level < Math.max(...block) ? level : null;
  }

  /** The tiles of a level that a view shows, those in its middle first. @param {number} level @param {Spans} spans */
  seen(level, spans) {
    const side = TILE_SIDE * 2 ** level;
    const run = (/** @type {Span} */ { start, length, count }) => {
      const first = Math.floor(start / side);
      const end = Math.ceil(Math.min(count, start + length) / side);
      return Array.from({ length: end - first }, (_, i) => first + i);
    };
    const middle = (/** @type {Span} */ { start, length }) => (start + length / 2) / side - 0.5;
    const columns = run(spans.column);
    const seen = run(spans.row).flatMap((row) => columns.map((column) => ({ level, row, column })));
    const [down, across] = [middle(spans.row), middle(spans.column)];
    const off = (/** @type {TileName} */ { row, column }) => Math.hypot(row - down, column - across);
    return seen.sort((a, b) => off(a) - off(b));
  }

  /**
   * Paint what is seen, from the overview and from finer tiles as far as they are here; returns how exact it is.
   * @param {HTMLCanvasElement} canvas @param {ShadedMatrix} overview @param {Spans} spans @param {number} ratio
   */
  paint(canvas, overview, spans, ratio) {
    const { width, height } = canvas;
    const [tall, wide] = overview.block ?? [1, 1];
    const isSmall = spans.row.length / tall > height || spans.column.length / wide > width;
    const level = this.levelOf([tall, wide], spans, height, width);
    if (isSmall) paintView(canvas, overview, this.scale, spans, ratio);
    else {
      this.overview ??= bitmapOf(overview, this.scale);
      contextOf(canvas).imageSmoothingEnabled = false;
      copyBlocks(canvas, spans, this.overview, 0, 0, tall, wide);
      const finest = level ?? Infinity;
      const coarser = [...this.kept.values()].filter((tile) => tile.level >= finest).sort((a, b) => b.level - a.level);
      for (const { bitmap, level, row, column } of coarser) {
        const size = 2 ** level;
        copyBlocks(canvas, spans, bitmap, row * TILE_SIDE * size, column * TILE_SIDE * size, size, size);
      }
      setApart(canvas, spans, ratio);
    }
    const missing = level === null ? [] : this.missing(level, spans);
    this.askSoon(missing);
    const block = level === null || missing.length ? [tall, wide] : [2 ** level, 2 ** level];
    return { block, isLoading: missing.length > 0 };
  }

  /** @param {number} level @param {Spans} spans */
  missing(level, spans) {
    return this.seen(level, spans).filter((tile) => {
      const name = nameOfTile(tile);
      const kept = this.kept.get(name);
      if (!kept) return true;
      // The last in the map is the one seen last.
      this.kept.delete(name);
      this.kept.set(name, kept);
      return false;
    });
  }

  /** Ask for tiles after a moment, for those that are wanted then; one question at a time, so that no answer is lost. @param {TileName[]} missing */
  askSoon(missing) {
    this.wanted = missing;
    if (!missing.length || this.timer) return;
    const wait = this.asked ? Math.max(TILE_PAUSE, this.asked + TILE_PATIENCE - performance.now()) : TILE_PAUSE;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      if (!this.wanted.length || !this.header.deep) return;
      this.asked = performance.now();
      askForTiles(this.header.deep.address, this.wanted.slice(0, MOST_ASKED));
      this.askSoon(this.wanted);
    }, wait);
  }

  forgetQuestion() {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.asked = null;
  }
}

/**
 * Copy a bitmap whose pixels are blocks of so many cells, its first at (row, column), to where a canvas shows them.
 * @param {HTMLCanvasElement} canvas @param {Spans} spans @param {ImageBitmap} bitmap @param {number} row
 * @param {number} column @param {number} tall @param {number} wide
 */
function copyBlocks(canvas, spans, bitmap, row, column, tall, wide) {
  const down = shownBlocks(spans.row, canvas.height, row, tall, bitmap.height);
  const across = shownBlocks(spans.column, canvas.width, column, wide, bitmap.width);
  if (!down || !across) return;
  const { from: x, count: w, at: left, length } = across;
  contextOf(canvas).drawImage(bitmap, x, down.from, w, down.count, left, down.at, length, down.length);
}

/**
 * Which blocks along a side are seen, and where they lie there, in pixels.
 * @param {Span} span @param {number} side @param {number} first @param {number} size @param {number} count
 */
function shownBlocks({ start, length }, side, first, size, count) {
  const from = Math.max(0, Math.floor((start - first) / size));
  const to = Math.min(count, Math.ceil((start + length - first) / size));
  if (to <= from) return null;
  const pixel = (/** @type {number} */ block) => ((first + block * size - start) / length) * side;
  return { from, count: to - from, at: pixel(from), length: pixel(to) - pixel(from) };
}

/** What a view shows, in words; tokens count from 1. @param {Spans} spans @param {number[]} block */
export function extentSentence({ row, column }, [tall, wide]) {
  const run = (/** @type {Span} */ { start, length, count }) => {
    const ends = [Math.floor(start) + 1, Math.min(count, Math.ceil(start + length)), count];
    const [first, last, all] = ends.map((end) => end.toLocaleString("en"));
    return _("{first}–{last} of {all}", { first, last, all });
  };
  const shown = { rows: run(row), columns: run(column), tall, wide };
  if (tall * wide === 1) return _("Queries {rows}, keys {columns}; every number is exact.", shown);
  return _("Queries {rows}, keys {columns}; each point shows the largest of up to {tall} × {wide} values.", shown);
}
