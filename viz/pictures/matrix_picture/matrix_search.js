// Find a token in a matrix too large to be read: a field whose Enter goes to the next row (or column) with that token.
import { _ } from "../shared/messages.js";
import { element } from "../shared/picture.js";
import { spanOf } from "./matrix_view.js";

/** @import { MatrixPicture } from "./matrix.js" */
/** @import { MatrixHeader } from "./matrix_reading.js" */
/** @import { Span } from "./matrix_view.js" */

/** @typedef {{ side: "row" | "column", cell: number }} Match */

// So many cells a side are seen around what was found: their numbers are exact, and their labels can be read.
const AROUND = 24;

/** A token as people type it: without the sign that it begins a word, in small letters. @param {string} token */
const typed = (token) => token.replace(/^▁+/, "").toLowerCase();

/**
 * Where a token stands: all that are it; where none is, all that begin with it.
 * @param {string[]} tokens @param {string} wanted @returns {number[]}
 */
export function placesOf(tokens, wanted) {
  const text = typed(wanted.trim());
  if (!text) return [];
  const where = (/** @type {(token: string) => boolean} */ fits) =>
    tokens.flatMap((token, cell) => (fits(typed(token)) ? [cell] : []));
  const same = where((token) => token === text);
  return same.length ? same : where((token) => token.startsWith(text));
}

/**
 * The rows with a token, and the columns with it where these are other tokens than the rows.
 * @param {string[]} rowTokens @param {string[]} columnTokens @param {string} wanted @returns {Match[]}
 */
export function matchesOf(rowTokens, columnTokens, wanted) {
  const isOneText =
    rowTokens.length === columnTokens.length && rowTokens.every((token, i) => token === columnTokens[i]);
  const rows = placesOf(rowTokens, wanted).map((cell) => ({ side: /** @type {const} */ ("row"), cell }));
  const columns = isOneText ? [] : placesOf(columnTokens, wanted);
  return [...rows, ...columns.map((cell) => ({ side: /** @type {const} */ ("column"), cell }))];
}

export class MatrixSearch {
  field = element("input", { type: "search", className: "matrix-search", size: 9 });
  told = element("span", { className: "matrix-found muted", ariaLive: "polite" });
  element = element("span", { className: "matrix-find", hidden: true, dataset: { notInPicture: "" } });
  /** @type {Match[]} */ matches = [];
  at = -1;

  /** @param {MatrixPicture} picture */
  constructor(picture) {
    this.picture = picture;
    this.element.append(this.field, this.told);
    this.field.addEventListener("input", () => this.begin());
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.go(event.shiftKey ? -1 : 1);
    });
  }

  /** Offered where there are more cells than can be read. @param {MatrixHeader} header */
  show(header) {
    this.element.hidden = Math.max(header.rowTokens.length, header.columnTokens.length) <= 2 * AROUND;
    this.field.placeholder = _("Find a token");
    this.field.title = this.field.ariaLabel = _(
      "Find a token: Enter goes to the next, Shift + Enter to the previous one",
    );
  }

  begin() {
    const { rowTokens, columnTokens } = this.picture.header;
    this.matches = matchesOf(rowTokens, columnTokens, this.field.value);
    this.at = -1;
    const isWanted = this.field.value.trim() !== "";
    this.told.textContent = isWanted ? _("{count} found", { count: this.matches.length }) : "";
  }

  /** To the next match, or to the one before, and around. @param {1 | -1} by */
  go(by) {
    const { length } = this.matches;
    if (!length) return;
    this.at = this.at < 0 ? (by > 0 ? 0 : length - 1) : (this.at + by + length) % length;
    this.told.textContent = _("{number} of {count}", { number: this.at + 1, count: length });
    const { side, cell } = this.matches[this.at];
    const { spans, header, keys } = this.picture;
    const [queries, keysShown] = [header.rowTokens.length, header.columnTokens.length];
    // The other side as far along: in one text the same token, in two roughly where its translation is.
    const other = side === "row" ? Math.floor((cell * keysShown) / queries) : Math.floor((cell * queries) / keysShown);
    const [row, column] = side === "row" ? [cell, other] : [other, cell];
    this.picture.spans = { row: around(spans.row, row), column: around(spans.column, column) };
    keys.visit(row, column);
  }
}

/** @param {Span} span @param {number} cell @returns {Span} */
const around = ({ count }, cell) => spanOf(cell - AROUND / 2, AROUND, count);
