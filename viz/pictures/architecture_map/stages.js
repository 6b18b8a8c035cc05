// @ts-check
// The stages of one translation, as a film: the source through the encoder once, then every token that is written
// through the decoder, with the boxes that work; pure.

/** @import { Architecture } from "./layout.js" */
/**
 * The boxes that work, of which the first is the one that it is about; a layer counts from 0, -1 for none; `row` is the
 * token that the decoder reads, -1 while the encoder reads the whole source.
 * @typedef {{ boxes: string[], layer: number, row: number }} Stage
 */

/** @param {Architecture} of @param {number} rows how many tokens are written, or read by a decoder alone @returns {Stage[]} */
export function stagesOf(of, rows) {
  const stages = of.encoder ? stack("encoder", of, -1) : [];
  if (of.decoder) for (let row = 0; row < rows; row++) stages.push(...stack("decoder", of, row));
  return stages;
}

/** @param {"encoder" | "decoder"} name @param {Architecture} of @param {number} row @returns {Stage[]} */
function stack(name, of, row) {
  const shape = of[name];
  if (!shape) return [];
  /** @param {number} layer @param {string[]} kinds @returns {Stage} */
  const stage = (layer, ...kinds) => ({ boxes: kinds.map((kind) => `${name}.${kind}`), layer, row });
  const stages = [stage(-1, "embedding", "inputs")];
  if (shape.hasPositions) stages.push(stage(-1, "positions"));
  const kinds = shape.hasCross ? ["self", "cross", "feed_forward"] : ["self", "feed_forward"];
  for (let layer = 0; layer < shape.layers; layer++) {
    for (const kind of kinds) stages.push(stage(layer, kind, `${kind}_norm`, `${kind}_add`));
  }
  if (of.norm === "pre") stages.push(stage(-1, "final_norm"));
  if (shape.writes) stages.push(stage(-1, "linear"), stage(-1, "softmax"));
  return stages;
}

/** The stage at which the token `by` tokens further on begins; at the ends, the first and the last stage. @param {Stage[]} stages @param {number} at @param {number} by */
export function tokenAway(stages, at, by) {
  const row = stages[at].row;
  const begin = stages.findIndex((stage) => stage.row === row);
  if (by < 0 && at > begin) return begin;
  const target = stages.findIndex((stage) => stage.row === row + by);
  return target < 0 ? (by < 0 ? 0 : stages.length - 1) : target;
}
