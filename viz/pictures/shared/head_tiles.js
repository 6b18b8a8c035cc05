// The reading half of `viz/pictures/tiles/codes.py`: tiles as numbers again.
import { clamp, largestWithin } from "./picture.js";

/** @import { Axis } from "./focus.js" */
/** @import { Run } from "./picture.js" */
/** @import { SourcePicture } from "./source_picture.js" */

/**
 * What `viz/pictures/tiles/codes.py` says of a grid.
 * @typedef {{
 *   layers: number, heads: number, rows: number, columns: number, blockQueries: number, blockKeys: number,
 *   firstCell: number[], firstThousandth: number[], queryTokens: string[], keyTokens: string[],
 *   axes?: Axes | null, number?: string, top?: number, leftOut?: number[],
 * }} TilesHeader weights, unless `number` says what else, of which `top` is the largest
 * @typedef {[Axis, Axis]} Axes the tokens of queries and keys
 * @typedef {[number, number]} Head layer and head
 */

/** Numbers of 16 bits: from `start` on low bytes, then high bytes. @param {Uint8Array} planes @param {number} start @param {number} count */
function joinPlanes(planes, start, count) {
  const joined = new Uint16Array(count);
  for (let i = 0; i < count; i++) joined[i] = planes[start + i] | (planes[start + count + i] << 8);
  return joined;
}

/** All tiles, or those that have come: `missing` are layers that have not. `values` are ordered as the weights are, and their upper byte is the colour, as `paintMatrix` wants it. */
export class Tiles {
  /** That the keys are parts of. @type {SourcePicture | null} */ picture = null;
  thousandths = new Uint16Array(65536);
  valueOfCell = new Uint16Array(65536);

  /** @param {TilesHeader} header @param {Uint8Array | null} planes */
  constructor(header, planes) {
    this.header = header;
    const { layers, heads, rows, columns, firstCell, firstThousandth } = header;
    const count = layers * heads * rows * columns;
    firstCell.forEach((first, shade) => {
      const colour = Math.round((255 * shade) / (firstCell.length - 1));
      for (let within = 0; within < (firstCell[shade + 1] ?? first + 256) - first; within++) {
        this.valueOfCell[first + within] = (colour << 8) | within;
        this.thousandths[(colour << 8) | within] = shade === 0 ? 0 : firstThousandth[shade] + within;
      }
    });
    this.values = new Uint16Array(count);
    this.offsets = this.isPooled ? new Uint16Array(count) : null;
    this.missing = new Set(Array.from({ length: planes ? 0 : layers }, (_, layer) => layer));
    if (planes) this.put(0, count, planes);
  }

  /** The tiles of one layer have come. @param {number} layer @param {Uint8Array} planes */
  fill(layer, planes) {
    const { heads, rows, columns } = this.header;
    this.put(this.baseOf([layer, 0]), heads * rows * columns, planes);
    this.missing.delete(layer);
  }

  /** @param {number} base @param {number} count @param {Uint8Array} planes */
  put(base, count, planes) {
    this.values.set(
      joinPlanes(planes, 0, count).map((cell) => this.valueOfCell[cell]),
      base,
    );
    this.offsets?.set(joinPlanes(planes, 2 * count, count), base);
  }

  /** Some of the layers as tiles of their own, which share the numbers. @param {number} first @param {number} count @returns {Tiles} */
  layersFrom(first, count) {
    const header = { ...this.header, layers: count };
    const values = this.values.subarray(this.baseOf([first, 0]), this.baseOf([first + count, 0]));
    return Object.assign(Object.create(this), { header, values, missing: new Set() });
  }

  get isPooled() {
    return this.header.blockQueries * this.header.blockKeys > 1;
  }

  /** The index of the first stored weight of a head. @param {Head} head */
  baseOf([layer, head]) {
    return (layer * this.header.heads + head) * this.header.rows * this.header.columns;
  }

  /** The largest weight of a head within runs of rows and columns. @param {Head} head @param {Run} rowRun @param {Run} columnRun */
  largest(head, rowRun, columnRun) {
    return this.describe(largestWithin(this.values, this.baseOf(head), this.header.columns, rowRun, columnRun));
  }

  /** The stored entry `index` as its query, key and weight, and where these are among all; where tiles are pooled, those of the block's maximum. @param {number} index */
  describe(index) {
    const { rows, columns, blockKeys, queryTokens, keyTokens } = this.header;
    const offset = this.offsets ? this.offsets[index] : 0;
    const begin = (/** @type {number} */ block, /** @type {number} */ blocks, /** @type {string[]} */ tokens) =>
      Math.floor((block * tokens.length) / blocks);
    const query = begin(Math.floor(index / columns) % rows, rows, queryTokens) + Math.floor(offset / blockKeys);
    const key = begin(index % columns, columns, keyTokens) + (offset % blockKeys);
    const weight = this.header.leftOut?.includes(key) ? "–" : this.format(this.values[index]);
    return { query: queryTokens[query], key: keyTokens[key], weight, at: /** @type {const} */ ([query, key]) };
  }

  /** All weights of a head as numbers. @param {Head} head */
  weightsOf(head) {
    const { rows, columns } = this.header;
    return this.weightsFrom(this.baseOf(head), rows * columns);
  }

  /** The weights of one row of a head. @param {Head} head @param {number} row */
  rowOf(head, row) {
    const { columns } = this.header;
    return this.weightsFrom(this.baseOf(head) + row * columns, columns);
  }

  /**
   * What queries give to each key on average; where tiles are pooled, to the block of each.
   * @param {Head} head @param {number[]} queries
   */
  meanRow(head, queries) {
    const { rows, columns, queryTokens, keyTokens } = this.header;
    const blockOf = (/** @type {number} */ at, /** @type {number} */ blocks, /** @type {unknown[]} */ tokens) =>
      Math.ceil(((at + 1) * blocks) / tokens.length) - 1;
    const given = queries.map((query) => this.rowOf(head, blockOf(query, rows, queryTokens)));
    return keyTokens.map((_token, key) => {
      const column = blockOf(key, columns, keyTokens);
      return given.reduce((sum, row) => sum + row[column], 0) / given.length;
    });
  }

  /** Stored weights as numbers: exact to three decimals, and below the first of them by their shade. @param {number} base @param {number} count */
  weightsFrom(base, count) {
    const weights = new Float32Array(count);
    for (let index = 0; index < count; index++) {
      const value = this.values[base + index];
      weights[index] = this.thousandths[value] ? this.thousandths[value] / 1000 : ((value >> 8) / 255) ** 2;
    }
    return weights;
  }

  /** Exact to a thousandth of the top; what is not zero never reads as zero. @param {number} value */
  format(value) {
    const { top = 1 } = this.header;
    const digits = clamp(0, 3 - Math.ceil(Math.log10(top)), 6);
    if (value === 0) return (0).toFixed(digits);
    if (this.thousandths[value] === 0) return `< ${(10 ** -digits).toFixed(digits)}`;
    return ((this.thousandths[value] / 1000) * top).toFixed(digits);
  }
}
