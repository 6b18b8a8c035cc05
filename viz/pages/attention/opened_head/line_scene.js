// Lines between two columns of tokens: which there are, how strong each is drawn, and the boxes beside them.

import { FULL, weightOf } from "../../../pictures/shared/payload.js";
import { clamp } from "../../../pictures/shared/picture.js";
import { FAINTEST } from "../../../pictures/shared/word_links.js";

/** @import { RoleRun } from "../../../pictures/shared/chat_roles.js" */
/** @import { Axis } from "../../../pictures/shared/focus.js" */
/** @import { Token } from "./token_columns.js" */

/**
 * @typedef {{ heads: number[], query: number | null, key: number | null, threshold: number }} LinesView what a picture shows
 * @typedef {{
 *   queryTokens: string[], keyTokens: string[], queryRoles: RoleRun[], keyRoles: RoleRun[], headNames: string[], top: number, number: string, title: string,
 *   fileName: string, colours: string[], digest: string, command: LinesView & { number: number },
 *   focus: { site: string, name: string, asks: boolean, rows: Axis, columns: Axis } | null,
 * }} LinesHeader what `pack_lines` packs
 */
/** @typedef {{ values: Uint16Array, queries: number, keys: number }} Matrix stored √ values, head by head and query by query */
/** @typedef {ReturnType<typeof rowsOf>} Rows */
/** @typedef {ReturnType<typeof layoutOf>} Layout */
/** @typedef {{ x: number, y: number, width: number, height: number, colour: string, alpha: number, text: string }} NumberBox of one head at a token */

/** More lines than these are a grey field to the eye, and take a browser without a graphics card over a second. */
const MOST_LINES = 4000;

const ROOM_FOR_ROWS = 560;
const [LOWEST_ROW, HIGHEST_ROW] = [15, 26];
const ROOM_FOR_BOXES = 108;
const [NARROWEST_BOX, WIDEST_BOX] = [5, 32];

/** Height and text of rows in CSS pixels: they shrink until just readable; from there on the board scrolls. @param {Matrix} matrix @param {number} [room] */
export function rowsOf({ queries, keys }, room = Infinity) {
  const count = Math.max(queries, keys);
  const row = clamp(LOWEST_ROW, Math.floor(Math.min(ROOM_FOR_ROWS, room) / count), HIGHEST_ROW);
  const rowCentre = (/** @type {number} */ index) => (index + 0.5) * row;
  return { row, font: row >= 20 ? 13.5 : 12, height: count * row, rowCentre };
}

/** All sizes in CSS pixels: rows, a middle of this width, and the boxes of as many heads in it. @param {Rows} rows @param {number} middle @param {number} heads */
export function layoutOf(rows, middle, heads) {
  const box = clamp(NARROWEST_BOX, Math.min(ROOM_FOR_BOXES, middle / 2) / heads, WIDEST_BOX);
  return { ...rows, box, strip: box * heads + 3, middle };
}

/** @param {Matrix} matrix @param {number} head @param {number} query @param {number} key */
export const storedAt = ({ values, queries, keys }, head, query, key) => values[(head * queries + query) * keys + key];

/** Heads lie beside one another, so that those that agree do not hide one another. @param {number[]} heads @param {Rows} rows */
export function shiftsOf(heads, { row }) {
  const step = Math.min(3, (row * 0.6) / heads.length);
  const shifts = new Map(heads.map((head, i) => [head, (i - (heads.length - 1) / 2) * step]));
  return (/** @type {number} */ head) => shifts.get(head) ?? 0;
}

/** The lowest stored value whose line is at the threshold (in percent) and can be seen. @param {number} threshold */
export const leastVisible = (threshold) => Math.round(Math.sqrt(Math.max(threshold / 100, FAINTEST)) * FULL);

/**
 * The lowest stored value that is drawn: at the threshold, visible, and among the `MOST_LINES` strongest.
 * @param {Uint16Array} values @param {number} size @param {number[]} heads @param {number} threshold
 */
export function leastStored(values, size, heads, threshold) {
  const least = leastVisible(threshold);
  const counts = new Uint32Array(4097);
  for (const head of heads) {
    for (let index = head * size; index < (head + 1) * size; index++) {
      if (values[index] >= least) counts[values[index] >> 4]++;
    }
  }
  let drawn = 0;
  for (let bin = 4095; bin >= least >> 4; bin--) {
    drawn += counts[bin];
    if (drawn > MOST_LINES) return (bin + 1) << 4;
  }
  return least;
}

/**
 * Calls `visit` for every line of `heads` from `least` on; `focus` leaves those of one token.
 * @param {Matrix} matrix @param {number[]} heads @param {number} least @param {Token | null} focus
 * @param {(head: number, query: number, key: number, stored: number) => void} visit
 */
export function eachLine({ values, queries, keys }, heads, least, focus, visit) {
  const [firstQuery, lastQuery] = focus?.side === "query" ? [focus.index, focus.index + 1] : [0, queries];
  const [firstKey, lastKey] = focus?.side === "key" ? [focus.index, focus.index + 1] : [0, keys];
  for (const head of heads) {
    for (let query = firstQuery; query < lastQuery; query++) {
      const row = (head * queries + query) * keys;
      for (let key = firstKey; key < lastKey; key++) {
        if (values[row + key] >= least) visit(head, query, key, values[row + key]);
      }
    }
  }
}

/**
 * Where lines begin and end across the middle: beside the tokens, or beside the boxes where `focus` brings some.
 * @param {Layout} layout @param {Token | null} focus
 */
export function lineEnds({ middle, strip }, focus) {
  const margin = (/** @type {Token["side"]} */ side) => (focus?.side === side ? strip + 3 : 3);
  return { start: margin("key"), end: middle - margin("query") };
}

/**
 * The stored value of a head for every token of the other column.
 * @param {Matrix} matrix @param {number} head @param {Token} focus
 */
const partnersOf = (matrix, head, { side, index }) =>
  side === "query"
    ? Array.from({ length: matrix.keys }, (_, key) => storedAt(matrix, head, index, key))
    : Array.from({ length: matrix.queries }, (_, query) => storedAt(matrix, head, query, index));

/**
 * The coloured boxes beside the other column, one a head and token; those that have room for it have a number.
 * @param {Matrix} matrix @param {number[]} heads @param {Token} focus @param {Layout} layout @param {string[]} colours
 * @param {(stored: number) => string} numberOf @returns {NumberBox[]}
 */
export function boxesOf(matrix, heads, focus, layout, colours, numberOf) {
  const start = focus.side === "query" ? layout.middle - layout.strip + 2 : 1;
  return heads.flatMap((head, i) =>
    partnersOf(matrix, head, focus).map((stored, other) => {
      const share = weightOf(stored);
      return {
        x: start + i * layout.box,
        y: layout.rowCentre(other) - layout.row / 2 + 1,
        width: layout.box - 1,
        height: layout.row - 2,
        colour: colours[head % colours.length],
        alpha: 0.06 + 0.54 * Math.sqrt(share),
        text: layout.box >= 26 && share >= 0.005 ? numberOf(stored) : "",
      };
    }),
  );
}

/** The token of the other column with the largest value, in one head. @param {Matrix} matrix @param {number} head @param {Token} focus */
export function strongestPartner(matrix, head, focus) {
  const partners = partnersOf(matrix, head, focus);
  const stored = partners.reduce((most, other) => Math.max(most, other));
  return { index: partners.indexOf(stored), stored };
}
