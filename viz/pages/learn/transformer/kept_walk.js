// A walk that is kept in a file: what Python tells of a place when a person goes there is found here, or multiplied out of
// queries, keys, values and weights. The other half of walk_file.py.

/** @import { PathData } from "./layer_scene.js" */
/** @import { RowData } from "./row_steps.js" */
/** @import { Place } from "./walk.js" */
/** @typedef {import("./model_columns.js").ModelColumns} ModelColumns */
/** @typedef {[head: number, token: number, width: number]} Shape */
/** @typedef {"query" | "key" | "value"} Name */
/** A vector in the strips, or of one token. @typedef {{ count: number, bound: number, start: number, of?: [site: string, layer: number, name: Name, token: number] }} Strip */
/**
 * @typedef {{
 *   sites: Record<string, (Record<Name, Shape> & { scale: number, projection?: Shape, bounds: number[] })[]>,
 *   paths: Record<string, { stages: string[], parts: PathData["parts"], rows: (PathData["rows"][number] & Strip)[][] }[]>,
 *   rows: Record<string, (RowData & { heads: (Strip & Pick<RowData, "summary">)[] })[][]>,
 * }} Story
 * @typedef {Record<Name, number> & { shapes: Record<Name, Shape>, scale: number, projection?: Shape, bounds: number[], projected: number }} Layer where its arrays begin
 */

const [CODES, FINE_CODES] = [63, 127];
/** What stands for numbers in words. */
const MARKS = /[\ue000-\ue0ff]/g;

const sum = (/** @type {number[]} */ numbers) => numbers.reduce((all, number) => all + number, 0);

export class KeptWalk {
  /** @type {Map<string, Layer[]>} */ layers = new Map();

  /** @param {ModelColumns} columns @param {Uint8Array[]} parts story, strips, exact numbers, output matrices and words, unpacked */
  constructor(columns, [story, strips, exact, projections, words]) {
    this.columns = columns;
    /** @type {Story} */
    this.story = inWords(story, words);
    this.strips = new Int8Array(strips.buffer);
    this.exact = joined(exact);
    this.projections = new Int8Array(projections.buffer);
    let [start, projected] = [0, 0];
    for (const [site, layers] of Object.entries(this.story.sites)) {
      const placed = layers.map(({ scale, projection, bounds, ...shapes }) => {
        const starts = { query: 0, key: 0, value: 0 };
        for (const name of /** @type {const} */ (["query", "key", "value"])) {
          starts[name] = start;
          start += sizeOf(shapes[name]);
        }
        const layer = { ...starts, shapes, scale, projection, bounds, projected };
        if (projection) projected += sizeOf(projection);
        return layer;
      });
      this.layers.set(site, placed);
    }
    let first = 0;
    const steps = Object.values(this.story.paths).flatMap((all) => all.flatMap(({ rows }) => rows.flat()));
    const heads = Object.values(this.story.rows).flatMap((layers) => layers.flat().flatMap((row) => row.heads));
    for (const each of [...steps, ...heads].filter((strip) => strip.count && !strip.of)) {
      each.start = first;
      first += each.count;
    }
  }

  /** What Python would tell of a place. @param {Place} place */
  tell(place) {
    return { at: { ...place }, path: this.pathOf(place), row: this.rowOf(place) };
  }

  /** @param {Place} place @returns {PathData} */
  pathOf({ site, row, layer, end }) {
    const { rows, ...path } = this.story.paths[this.columns.stackOf(site).name][row];
    const last = path.stages.length - 1;
    const stage = end ? (end === "input" ? 0 : last) : Math.min(layer + 1, last - 1);
    return { ...path, stage, rows: rows[stage].map((step) => ({ ...step, values: this.strip(step) })) };
  }

  /** @param {Strip} strip */
  strip({ start, count, bound, of }) {
    if (!of) return Array.from(this.strips.subarray(start, start + count), (code) => (code * bound) / CODES);
    const [site, layer, name, token] = of;
    const [groups] = this.layerOf(site, layer).shapes[name];
    return Array.from({ length: groups }, (_each, group) => this.vector(site, layer, name, group, token)).flat();
  }

  /** @param {string} site @param {number} layer */
  layerOf(site, layer) {
    return /** @type {Layer[]} */ (this.layers.get(site))[layer];
  }

  /** What a head has of a token. @param {string} site @param {number} layer @param {Name} name @param {number} group @param {number} token */
  vector(site, layer, name, group, token) {
    const own = this.layerOf(site, layer);
    const [, tokens, width] = own.shapes[name];
    const start = own[name] + (group * tokens + token) * width;
    return Array.from(this.exact.subarray(start, start + width));
  }

  /** What a head adds: its output times its rows of W_O. @param {Layer} layer @param {number} head @param {number[]} output */
  projected({ projection, bounds, projected }, head, output) {
    const [, rows, width] = /** @type {Shape} */ (projection);
    const start = projected + head * rows * width;
    const part = Array(width).fill(0);
    for (let row = 0; row < rows; row++)
      for (let i = 0; i < width; i++) part[i] += output[row] * this.projections[start + row * width + i];
    return part.map((value) => (value * bounds[head]) / FINE_CODES);
  }

  /** @param {Place} place @returns {RowData} */
  rowOf({ site, layer, head, row, key: followed }) {
    const found = /** @type {NonNullable<ReturnType<ModelColumns["sites"]["get"]>>} */ (this.columns.sites.get(site));
    const own = this.layerOf(site, layer);
    const vector = (/** @type {Name} */ name, /** @type {number} */ at) =>
      this.vector(site, layer, name, Math.floor(head / (found.heads / own.shapes[name][0])), at);
    const { heads, ...stored } = this.story.rows[site][layer][row];
    const { summary, ...part } = heads[head];
    const q = vector("query", row);
    const keys = found.keys.tokens.map((_token, key) => key);
    const [k, values] = [keys.map((key) => vector("key", key)), keys.map((key) => vector("value", key))];
    const products = k.map((each) => each.map((value, i) => q[i] * value));
    const dots = products.map(sum);
    const scaled = dots.map((dot) => dot * own.scale);
    const first = ((layer * found.heads + head) * found.rows.tokens.length + row) * keys.length;
    const weights = Array.from(found.weights.subarray(first, first + keys.length));
    const largest = Math.max(...scaled.filter((_score, key) => !stored.ahead[key]));
    const shares = scaled.map((score, key) => (stored.ahead[key] ? 0 : Math.exp(score - largest)));
    const weighted = values.map((value, key) => value.map((each) => each * weights[key]));
    const output = q.length ? values[0].map((_value, i) => sum(weighted.map((each) => each[i]))) : [];
    const real = {
      ...{ scaled, shares, weights, cut: stored.ahead, sharesSum: sum(shares), weightsSum: sum(weights) },
      ...{ restScaled: null, restCut: 0, restShares: 0, restWeight: 0 },
    };
    return {
      ...{ ...stored, q, k, products, dots, real, values, weighted, followed, output, head, summary },
      ...{ isRough: true, other: null, note: "", restCount: 0, restDots: null, restWeighted: null },
      columns: keys.map((key) => ({ label: found.keys.tokens[key], key, gap: false })),
      part: own.projection ? this.projected(own, head, output) : this.strip(part),
    };
  }
}

const sizeOf = (/** @type {Shape} */ shape) => shape.reduce((product, size) => product * size);

/** A story of JSON in the words of a language. @param {Uint8Array} story @param {Uint8Array} words */
function inWords(story, words) {
  const [plain, table] = [story, words].map((json) => new TextDecoder().decode(json));
  /** @type {string[]} */
  const texts = JSON.parse(table);
  const say = (/** @type {string} */ text) => {
    const [place, ...numbers] = text.split(" ");
    return texts[+place].replace(MARKS, (mark) => numbers[mark.charCodeAt(0) - 0xe000] ?? mark);
  };
  return JSON.parse(plain, (_key, value) => (typeof value === "string" ? say(value) : value));
}

/** Numbers whose first bytes come first, then their second ones, … @param {Uint8Array} planes */
function joined(planes) {
  const count = planes.length / 4;
  const bytes = new Uint8Array(planes.length);
  for (let plane = 0; plane < 4; plane++)
    for (let i = 0; i < count; i++) bytes[4 * i + plane] = planes[plane * count + i];
  return new Float32Array(bytes.buffer);
}
