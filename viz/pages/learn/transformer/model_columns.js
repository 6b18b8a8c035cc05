// The model with a sentence in it, as numbers: columns of tokens, weights between them, and in which order all of it is
// computed. Layers, heads, rows and keys count from 0, and rows and keys as the whole text does.
import { headLabel } from "../../../pictures/shared/head_label.js";
import { _ } from "../../../pictures/shared/messages.js";

/** @import { Place, Stack, WalkHeader } from "./walk.js" */
/** What is computed in one step of the film: a level of a stack, of one row or (-1) of all that are given; or an output. @typedef {{ stack: Stack["name"], level: number, row: number, isOutput: boolean }} Stage */
/** A weight with the head that has it; -1 for the mean of all. Under a change `before` is what it was. @typedef {{ weight: number, head: number, before?: number }} Line */

/** The parts in which the weights of a change travel. */
const WEIGHT_PARTS = 10_000;

export class ModelColumns {
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
    /** @type {Map<string, Float32Array>} */
    this.lengths = new Map();
    if (header.hasLengths) {
      for (const { name, layers, tokens } of header.stacks) this.lengths.set(name, take((layers + 1) * tokens.length));
    }
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

  /** The norm of the stream of a column after so many layers, as a share of the longest of its stack; 0.5 if unknown. @param {Stack} stack @param {number} level @param {number} column */
  share({ name, tokens }, level, column) {
    const lengths = this.lengths.get(name);
    if (!lengths) return 0.5;
    let most = 0;
    for (const length of lengths) most = Math.max(most, length);
    return lengths[level * tokens.length + column] / (most || 1);
  }

  /** @param {Stack} stack @param {number} level @param {number} column */
  length({ name, tokens }, level, column) {
    return this.lengths.get(name)?.[level * tokens.length + column];
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

  /** One head of a layer as rows of weights, for a tile. @param {string} site @param {number} layer @param {number} head */
  tile(site, layer, head) {
    const found = this.sites.get(site);
    if (!found) return null;
    const { heads, rows, keys, weights } = found;
    const size = rows.tokens.length * keys.tokens.length;
    const start = (layer * heads + head) * size;
    return { rows: rows.tokens.length, columns: keys.tokens.length, values: weights.subarray(start, start + size) };
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

/** A head as it is read, or what lines are the mean of. @param {number} layer @param {number} head */
export const lineName = (layer, head) =>
  head < 0 ? _("L{layer}, mean of all heads", { layer: layer + 1 }) : headLabel(layer, head);
