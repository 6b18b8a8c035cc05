// The model with a sentence in it, as numbers: columns of tokens, weights between them, and in which order all of it is
// computed. Layers, heads, rows and keys count from 0, and rows and keys as the whole text does.
import { headLabel } from "../../../pictures/shared/head_label.js";
import { _ } from "../../../pictures/shared/messages.js";
import { clamp, indexOfLargest } from "../../../pictures/shared/picture.js";

/** @import { Place, Stack, WalkHeader } from "./walk.js" */
/** What is computed in one step of the film: a level of a stack, of one row or (-1) of all that are given; or an output. @typedef {{ stack: Stack["name"], level: number, row: number, isOutput: boolean }} Stage */
/** A weight with the head that has it; -1 for the mean of all. Under a change `before` is what it was. @typedef {{ weight: number, head: number, before?: number }} Line */

/** The parts in which the weights of a change travel. */
const WEIGHT_PARTS = 10_000;

/** The narrowest stream is so many times as short as the longest. */
const RANGE = 400;

/** What is known of a stack: norms of what it begins with, then of each sub-layer of what it adds, of the sum, of what goes on. @typedef {{ begin: Float32Array, sublayers: Float32Array, vectors: Float32Array, waves: Float32Array }} Norms */
/** What one sub-layer does to a token. @typedef {{ before: number, added: number, summed: number, after: number }} Added */

export class ModelColumns {
  /** @type {Map<string, Norms>} */ norms = new Map();
  /** Of each site the norm of what its heads add [layer, head, row]. @type {Map<string, Float32Array>} */ headNorms =
    new Map();
  /** The longest of all vectors. */ most = 0;

  /** @param {WalkHeader} header @param {Float32Array} numbers */
  constructor(header, numbers) {
    this.header = header;
    /** @type {Map<string, { layers: number, heads: number, rows: Stack, keys: Stack, weights: Float32Array }>} */
    this.sites = new Map();
    let start = 0;
    const take = (/** @type {number} */ count) => {
      start += count;
      return numbers.subarray(start - count, start);
    };
    for (const { site, layers, heads } of header.sites) {
      const rows = this.stackOf(site);
      const keys = site === "decoder.cross" ? this.stack("encoder") : rows;
      const count = layers * heads * rows.tokens.length * keys.tokens.length;
      this.sites.set(site, { layers, heads, rows, keys, weights: take(count) });
    }
    for (const stack of header.stacks) {
      const [columns, count] = [stack.tokens.length, stack.kinds.flat().length];
      if (!count) continue;
      const begin = take(columns);
      const sublayers = take(count * 3 * columns);
      const vectors = take(stack.shown * columns);
      this.norms.set(stack.name, { begin, sublayers, vectors, waves: take(stack.waves * columns) });
    }
    for (const { site, layers, heads, hasNorms } of header.sites) {
      const columns = this.stackOf(site).tokens.length;
      if (hasNorms) this.headNorms.set(site, take(layers * heads * columns));
    }
    const lengths = [...this.norms.values()].flatMap(({ begin, sublayers }) => [largest(begin), largest(sublayers)]);
    this.most = Math.max(...lengths, 0);
    this.stages = this.order();
    this.born = new Map(
      this.stages.map((stage, i) => [`${stage.stack} ${stage.isOutput ? "out" : stage.level} ${stage.row}`, i]),
    );
  }

  /** @param {string} name @returns {Stack} */
  stack(name) {
    return this.header.stacks.find((stack) => stack.name === name) ?? this.header.stacks[0];
  }

  /** Whose tokens ask in this attention. @param {string} site */
  stackOf(site) {
    return this.stack(site === "encoder.self" ? "encoder" : "decoder");
  }

  /** @param {string} stack @param {number} row */
  token(stack, row) {
    const { tokens, first } = this.stack(stack);
    return tokens[row - first] ?? "";
  }

  /** @param {string} site @param {number} key */
  keyToken(site, key) {
    const { tokens, first } = this.sites.get(site)?.keys ?? this.stackOf(site);
    return tokens[key - first] ?? "";
  }

  /** How wide a vector is drawn, from 0 to 1: by the logarithm of its norm; 0.5 where that is unknown. @param {number | undefined} norm */
  share(norm) {
    if (norm === undefined) return 0.5;
    return 0.05 + 0.95 * clamp(0, Math.log((RANGE * norm) / (this.most || 1)) / Math.log(RANGE), 1);
  }

  /** What a sub-layer does to a token; null where that is unknown. @param {Stack} stack @param {number} layer @param {string} kind @param {number} column @returns {Added | null} */
  added({ name, kinds, tokens }, layer, kind, column) {
    const found = this.norms.get(name);
    const at = kinds[layer]?.indexOf(kind) ?? -1;
    if (!found || at < 0) return null;
    const first = kinds.slice(0, layer).flat().length + at;
    const of = (/** @type {number} */ sublayer, /** @type {number} */ which) =>
      found.sublayers[(sublayer * 3 + which) * tokens.length + column];
    const before = first ? of(first - 1, 2) : found.begin[column];
    return { before, added: of(first, 0), summed: of(first, 1), after: of(first, 2) };
  }

  /** The norm of a stream after so many layers. @param {Stack} stack @param {number} level @param {number} column */
  length(stack, level, column) {
    if (!level) return this.norms.get(stack.name)?.begin[column];
    return this.added(stack, level - 1, stack.kinds[level - 1]?.at(-1) ?? "", column)?.after;
  }

  /** The head that adds most to a row; where norms are unknown, the one with the largest weight. @param {string} site @param {number} layer @param {number} row */
  strongest(site, layer, row) {
    const found = this.sites.get(site);
    if (!found) return 0;
    const sizes = [...Array(found.heads).keys()].map(
      (head) => this.headNorm(site, layer, head, row) ?? largest(this.weights(site, layer, head, row)),
    );
    return indexOfLargest(sizes);
  }

  /** The norm of what a head adds. @param {string} site @param {number} layer @param {number} head @param {number} row */
  headNorm(site, layer, head, row) {
    const { heads = 0, rows } = this.sites.get(site) ?? {};
    return this.headNorms.get(site)?.[(layer * heads + head) * (rows?.tokens.length ?? 0) + row];
  }

  /** A row of a head, key by key; of the mean of all at -1. @param {string} site @param {number} layer @param {number} head @param {number} row */
  weights(site, layer, head, row) {
    const found = this.sites.get(site);
    if (!found) return new Float32Array();
    const { heads, rows, keys, weights } = found;
    const of = (/** @type {number} */ at) => {
      const start = ((layer * heads + at) * rows.tokens.length + row) * keys.tokens.length;
      return weights.subarray(start, start + keys.tokens.length);
    };
    if (head >= 0) return of(head);
    const mean = new Float32Array(keys.tokens.length);
    for (let at = 0; at < heads; at++) of(at).forEach((weight, key) => (mean[key] += weight / heads));
    return mean;
  }

  /** The head whose river is drawn into a row: -1 for the mean of all; null for none. @param {string} site @param {number} layer @param {number} row @param {Place} place */
  riverHead(site, layer, row, { lines, ...open }) {
    if (lines === "mean") return -1;
    if (lines === "strongest") return this.strongest(site, layer, row);
    return open.site === site && open.layer === layer ? open.head : null;
  }

  /** The source token that a row of the decoder reads most, in all layers together, or the row that reads a source token most. @param {number} column @param {boolean} isSource */
  partnerOf(column, isSource) {
    const site = "decoder.cross";
    const found = this.sites.get(site);
    if (!found) return -1;
    const read = (/** @type {number} */ row) => {
      const all = new Float32Array(found.keys.tokens.length);
      for (let layer = 0; layer < found.layers; layer++)
        this.weights(site, layer, this.strongest(site, layer, row), row).forEach((weight, key) => (all[key] += weight));
      return all;
    };
    if (!isSource) return indexOfLargest(read(column));
    return indexOfLargest(found.rows.tokens.map((_token, row) => read(row)[column]));
  }

  /**
   * What a row takes from a key in a layer, both as columns, of the head that lines are of: under a change, of several
   * heads the one that changes most.
   * @param {string} site @param {number} layer @param {number} row @param {number} key @param {Place} place
   * @param {WalkHeader["changed"]} [changed] @returns {Line}
   */
  line(site, layer, row, key, { lines, ...open }, changed) {
    const found = this.sites.get(site);
    if (!found) return { weight: 0, head: -1 };
    const { heads, rows, keys, weights } = found;
    const after = changed?.weights[site];
    const index = (/** @type {number} */ head) =>
      ((layer * heads + head) * rows.tokens.length + row) * keys.tokens.length + key;
    const at = (/** @type {number} */ head) => (after ? after[index(head)] / WEIGHT_PARTS : weights[index(head)]);
    const told = (/** @type {number} */ head) =>
      after ? { weight: at(head), head, before: weights[index(head)] } : { weight: at(head), head };
    if (lines === "chosen" || lines === "token") {
      const isOpen = open.site === site && open.layer === layer;
      return isOpen ? told(open.head) : { weight: 0, head: open.head };
    }
    let [sum, before, best, most] = [0, 0, 0, -1];
    for (let head = 0; head < heads; head++) {
      sum += at(head);
      before += weights[index(head)];
      const size = after ? Math.abs(at(head) - weights[index(head)]) : at(head);
      if (size > most) [best, most] = [head, size];
    }
    if (lines !== "mean") return told(best);
    return { weight: sum / heads, head: -1, ...(after ? { before: before / heads } : {}) };
  }

  // ---- the film ----

  /** @returns {Stage[]} */
  order() {
    const { stacks, written } = this.header;
    /** @type {Stage[]} */
    const stages = [];
    for (const { name, layers, tokens, first, prompt } of stacks) {
      const levels = Array.from({ length: layers + 1 }, (_level, level) => level);
      if (first < prompt) for (const level of levels) stages.push({ stack: name, level, row: -1, isOutput: false });
      if (name === "encoder") continue;
      tokens.forEach((_token, column) => {
        const row = first + column;
        if (row >= prompt) for (const level of levels) stages.push({ stack: name, level, row, isOutput: false });
        if (written[column]?.length) stages.push({ stack: name, level: layers, row, isOutput: true });
      });
    }
    return stages;
  }

  /** When a node is computed. @param {Stack} stack @param {number} level @param {number} row @param {boolean} [isOutput] */
  bornAt({ name, prompt }, level, row, isOutput = false) {
    const own = row < prompt && !isOutput ? -1 : row;
    return this.born.get(`${name} ${isOutput ? "out" : level} ${own}`) ?? 0;
  }

  /** @param {number} step */
  nameOf(step) {
    const stage = this.stages[step];
    if (!stage || step === this.stages.length - 1) return _("Everything");
    const { stack, level, row, isOutput } = stage;
    const token = row < 0 ? "" : this.token(stack, row);
    if (isOutput) return _("Write after “{token}”", { token });
    const where = level ? _("Layer {number}", { number: level }) : _("Input");
    if (row < 0) return `${stack === "encoder" ? _("Encoder") : _("Decoder")} · ${where}`;
    return `“${token}” · ${where}`;
  }
}

/** @param {Float32Array} numbers */
const largest = (numbers) => numbers.reduce((most, value) => Math.max(most, value), 0);

/** A head as it is read, or what lines are the mean of. @param {number} layer @param {number} head */
export const lineName = (layer, head) =>
  head < 0 ? _("L{layer}, mean of all heads", { layer: layer + 1 }) : headLabel(layer, head);
