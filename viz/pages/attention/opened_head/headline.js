// @ts-check
// One sentence of what a person points at on the page, or else of what is chosen, or else of what is worth seeing.
// Data: the payload of headline.py.
import { indicesOf, onTold, openedHead, pointed } from "../../../components/shared/focus.js";
import { _, said } from "../../../components/shared/messages.js";
import { mount, View } from "../../../components/shared/mount.js";
import { element, tokenElement } from "../../../components/shared/picture.js";
import { sentenceParts } from "../../../components/shared/sentence_parts.js";

/** @import { OpenHead, Place } from "../../../components/shared/focus.js" */

/** `suggestion` alternates between plain words and those that stand out; `kept` are a query and a key by their tokens.
 * @typedef {{ suggestion: string[], isGuess: boolean, kept: [number | null, number | null] }} HeadlineHeader */

const GUESS = said(
  "Which word is meant is a guess: of those with an article before them, the one with the largest weight.",
);

/** A label without the signs of SentencePiece: a sentence has spaces of its own. @param {string} label */
const worded = (label) => tokenElement(label.replaceAll("▁", "") || label);

/** The largest number of a row or column, and where it is. @param {number} count @param {(index: number) => number} at */
function largestOf(count, at) {
  let most = 0;
  for (let index = 1; index < count; index++) if (!(at(index) <= at(most))) most = index;
  return most;
}

/** @param {OpenHead} head @param {number} row @param {number} column */
function cellSentence(head, row, column) {
  const { rowTokens, columnTokens, valueAt, format, name } = head;
  const most = largestOf(columnTokens.length, (index) => valueAt(row, index));
  const values = {
    head: element("b", "", name),
    query: worded(rowTokens[row]),
    key: worded(columnTokens[column]),
    weight: element("b", "", format(row, column)),
    most: worded(columnTokens[most]),
    largest: format(row, most),
  };
  if (most === column)
    return sentenceParts(_("{head} gives {weight} from {query} to {key}, the largest of the row."), values);
  return sentenceParts(
    _("{head} gives {weight} from {query} to {key}; the largest of the row is {largest}, to {most}."),
    values,
  );
}

/** @param {OpenHead} head @param {number} row */
function rowSentence(head, row) {
  const { rowTokens, columnTokens, valueAt, format, name } = head;
  const most = largestOf(columnTokens.length, (index) => valueAt(row, index));
  return sentenceParts(_("{head} gives most from {query} to {most}: {largest}."), {
    head: element("b", "", name),
    query: worded(rowTokens[row]),
    most: worded(columnTokens[most]),
    largest: element("b", "", format(row, most)),
  });
}

/** @param {OpenHead} head @param {number} column */
function columnSentence(head, column) {
  const { rowTokens, columnTokens, valueAt, format, name } = head;
  const most = largestOf(rowTokens.length, (index) => valueAt(index, column));
  return sentenceParts(_("In {head} most that {key} gets comes from {most}: {largest}."), {
    head: element("b", "", name),
    key: worded(columnTokens[column]),
    most: worded(rowTokens[most]),
    largest: element("b", "", format(most, column)),
  });
}

class Headline extends View {
  /** @type {HeadlineHeader} */ header;

  start() {
    this.root.setAttribute("role", "status");
    onTold("pointed", () => this.say(), this.ended.signal);
    onTold("opened", () => this.say(), this.ended.signal);
  }

  /** @param {{ header: HeadlineHeader }} payload */
  receive({ header }) {
    this.header = header;
    this.say();
    this.root.dataset.ready = "1";
  }

  say() {
    if (!this.header) return;
    const sentence = this.ofPointed() ?? this.ofSuggestion() ?? this.ofKept() ?? this.invitation();
    this.root.replaceChildren(element("p", "", ...sentence));
  }

  ofPointed() {
    const focus = pointed();
    return focus && this.of(focus.query, focus.key);
  }

  ofSuggestion() {
    const { suggestion, isGuess } = this.header;
    if (!suggestion.length) return null;
    const words = suggestion.map((part, index) => (index % 2 ? element("b", "", part) : part));
    const guess = isGuess ? [" ", element("span", { className: "guess muted", title: _(GUESS) }, "(?)")] : [];
    return [element("span", "muted", _("Worth seeing:")), " ", ...words, ...guess];
  }

  ofKept() {
    const [query, key] = this.header.kept;
    const { rows, columns } = openedHead() ?? {};
    const place = (/** @type {number | null} */ token, /** @type {typeof rows} */ axis) =>
      token === null || !axis ? null : { side: axis.side, tokens: [token + axis.ahead] };
    return this.of(place(query, rows), place(key, columns));
  }

  /** What the open head gives from one place to another; null where it has neither. @param {Place | null} query @param {Place | null} key */
  of(query, key) {
    const head = openedHead();
    if (!head) return null;
    const [row] = indicesOf(head.rows, head.rowTokens.length, query);
    const [column] = indicesOf(head.columns, head.columnTokens.length, key);
    if (row !== undefined && column !== undefined) return cellSentence(head, row, column);
    if (row !== undefined) return rowSentence(head, row);
    return column === undefined ? null : columnSentence(head, column);
  }

  invitation() {
    return [
      element(
        "span",
        "muted",
        _("Point at a word of the sentence, a tile or a cell, and the page shows what the open head does with it."),
      ),
    ];
  }
}

export default mount(".headline", Headline);
