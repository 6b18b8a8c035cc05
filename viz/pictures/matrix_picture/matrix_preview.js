// A head's tile as a matrix between words, or without special tokens: what `between` of model/trace/axes.py makes of it.
import { largestWithin } from "../shared/picture.js";
import { blockOf } from "./matrix_view.js";

/** @import { Preview } from "../head_grid/head_preview.js" */
/** @import { Axis } from "../shared/focus.js" */
/** @import { PreviewSides } from "./matrix_reading.js" */

/** The positions of each row or column. @param {Axis} axis @param {string[]} tokens @returns {number[][]} */
const positionsOf = ({ ahead, groups }, tokens) =>
  groups?.map((group) => group.map((token) => token - ahead)) ?? tokens.map((_token, index) => [index]);

/**
 * Of a tile that is pooled, the stored rows (or columns) of each run of two labels or more: a run has maxima only.
 * @param {number[][]} labels @param {number} stored @param {number} count @returns {[number, number][]}
 */
function storedRuns(labels, stored, count) {
  const runs = Math.min(stored, Math.ceil(labels.length / 2));
  return Array.from({ length: runs }, (_run, run) => {
    const [first, end] = [run, run + 1].map((edge) => Math.floor((edge * labels.length) / runs));
    const tokens = labels.slice(first, end).flat();
    return [blockOf(tokens[0], count, stored), blockOf(tokens[tokens.length - 1], count, stored) + 1];
  });
}

/**
 * A head between these rows and columns: averaged over the tokens of a row, summed over those of a column; of a pooled
 * tile, the largest weight of every block.
 * @param {Preview} head @param {PreviewSides} sides @returns {Preview}
 */
export function between(head, { rowTokens, columnTokens, rows, columns }) {
  const { rows: tall, columns: wide, values } = head;
  const [queries, keys] = [positionsOf(rows, rowTokens), positionsOf(columns, columnTokens)];
  const made = { ...head, rowTokens, columnTokens, axes: /** @type {[Axis, Axis]} */ ([rows, columns]) };
  if (tall < head.rowTokens.length || wide < head.columnTokens.length) {
    const [down, across] = [
      storedRuns(queries, tall, head.rowTokens.length),
      storedRuns(keys, wide, head.columnTokens.length),
    ];
    const maxima = down.flatMap((rowRun) =>
      across.map((columnRun) => values[largestWithin(values, 0, wide, rowRun, columnRun)]),
    );
    return { ...made, rows: down.length, columns: across.length, values: new Float32Array(maxima) };
  }
  const joined = queries.flatMap((group) =>
    keys.map((tokens) => {
      let sum = 0;
      for (const query of group) for (const key of tokens) sum += values[query * wide + key];
      return sum / group.length;
    }),
  );
  return { ...made, rows: queries.length, columns: keys.length, values: new Float32Array(joined) };
}
