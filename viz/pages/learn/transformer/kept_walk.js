// @ts-check
// A walk that is kept in a file: what Python tells of a place when a person goes there is found here, or multiplied out of
// queries, keys, values and weights. The other half of walk_file.py.

/** @import { PathData } from "./layer_scene.js" */
/** @import { RowData } from "./row_steps.js" */
/** @import { Place } from "./walk.js" */
/** @typedef {import("./model_columns.js").ModelColumns} ModelColumns */
/** @typedef {[head: number, token: number, width: number]} Shape */
/** A vector in the strips. @typedef {{ count: number, bound: number, start: number }} Strip */
/**
 * @typedef {{
 *   sites: Record<string, { query: Shape, key: Shape, value: Shape, scale: number }[]>,
 *   paths: Record<string, { stages: string[], parts: PathData["parts"], rows: (PathData["rows"][number] & Strip)[][] }[]>,
 *   rows: Record<string, (RowData & { heads: (Strip & Pick<RowData, "summary">)[] })[][]>,
 * }} Story
 * @typedef {Record<"query" | "key" | "value", number> & Record<"shapes", Record<"query" | "key" | "value", Shape>> & { scale: number }} Layer where its arrays begin
 */

const CODES = 63;

const sum = (/** @type {number[]} */ numbers) => numbers.reduce((all, number) => all + number, 0);

export class KeptWalk {
  /** @type {Map<string, Layer[]>} */ layers = new Map();

  /** @param {ModelColumns} columns @param {Uint8Array[]} parts story, strips and exact numbers, unpacked */
  constructor(columns, [story, strips, exact]) {
    this.columns = columns;
    /** @type {Story} */
    this.story = JSON.parse(new TextDecoder().decode(story));
    this.strips = new Int8Array(strips.buffer);
    this.exact = joined(exact);
    let start = 0;
    for (const [site, layers] of Object.entries(this.story.sites)) {
      const placed = layers.map(({ scale, ...shapes }) => {
        const starts = { query: 0, key: 0, value: 0 };
        for (const name of /** @type {const} */ (["query", "key", "value"])) {
          starts[name] = start;
          start += shapes[name].reduce((product, size) => product * size);
        }
        return { ...starts, shapes, scale };
      });
      this.layers.set(site, placed);
    }
    let first = 0;
    const steps = Object.values(this.story.paths).flatMap((all) => all.flatMap(({ rows }) => rows.flat()));
    const heads = Object.values(this.story.rows).flatMap((layers) => layers.flat().flatMap((row) => row.heads));
    for (const each of [...steps, ...heads]) {
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
  strip({ start, count, bound }) {
    return Array.from(this.strips.subarray(start, start + count), (code) => (code * bound) / CODES);
  }

  /** @param {Place} place @returns {RowData} */
  rowOf({ site, layer, head, row, key: followed }) {
    const found = /** @type {NonNullable<ReturnType<ModelColumns["sites"]["get"]>>} */ (this.columns.sites.get(site));
    const { header } = this.columns;
    const own = /** @type {Layer[]} */ (this.layers.get(site))[layer];
    const vector = (/** @type {"query" | "key" | "value"} */ name, /** @type {number} */ at) => {
      const [groups, tokens, width] = own.shapes[name];
      const group = Math.floor(head / (found.heads / groups));
      const start = own[name] + (group * tokens + at) * width;
      return Array.from(this.exact.subarray(start, start + width));
    };
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
    const real = {
      scaled,
      shares,
      weights,
      cut: stored.ahead,
      sharesSum: sum(shares),
      weightsSum: sum(weights),
      restScaled: null,
      restCut: 0,
      restShares: 0,
      restWeight: 0,
    };
    return {
      ...stored,
      ...{ q, k, products, dots, real, values, weighted, followed },
      columns: keys.map((key) => ({ label: found.keys.tokens[key], key, gap: false })),
      output: q.length ? values[0].map((_value, i) => sum(weighted.map((each) => each[i]))) : [],
      part: this.strip(part),
      isRough: true,
      head,
      summary,
      other: null,
      note: "",
      restCount: 0,
      restDots: null,
      restWeighted: null,
      signed: header.signed,
      sequential: header.sequential,
      realColour: header.realColour,
      otherColour: header.otherColour,
    };
  }
}

/** Numbers whose first bytes come first, then their second ones, … @param {Uint8Array} planes */
function joined(planes) {
  const count = planes.length / 4;
  const bytes = new Uint8Array(planes.length);
  for (let plane = 0; plane < 4; plane++)
    for (let i = 0; i < count; i++) bytes[4 * i + plane] = planes[plane * count + i];
  return new Float32Array(bytes.buffer);
}
