// One sentence of what a person points at on the page, or else of what is worth seeing, until a person has chosen words
// or a cell, of which it is then.
// Data: the payload of captions.py.
import {
  given,
  indicesOf,
  keptWords,
  onceTold,
  onTold,
  openedHead,
  placeOf,
  pointed,
} from "../../../pictures/shared/focus.js";
import { headLink } from "../../../pictures/shared/head_label.js";
import { _, said, sentenceParts } from "../../../pictures/shared/messages.js";
import { mount, View } from "../../../pictures/shared/mount.js";
import { element, rowElement, tokenElement } from "../../../pictures/shared/picture.js";
import { whyParts } from "../../../pictures/shared/why_link.js";

/** @import { Focus, OpenHead } from "../../../pictures/shared/focus.js" */

/** `suggestion` alternates between plain words and those that stand out; `row` says which row of the words is shown. @typedef {{ site: string, suggestion: string[], isGuess: boolean, row: string }} HeadlineHeader */

const LARGEST_OF = said("In {head} the largest weight of {token} goes to {most}: {largest}.");
const LARGEST_ON = said("In {head} the largest weight on {token} comes from {most}: {largest}.");
const GUESS = said("The noun shown is a guess: of the words with an article, the one with the largest weight.");

/** A label without the signs of SentencePiece: a sentence has spaces of its own. @param {string} label */
const bare = (label) => label.replaceAll("▁", "") || label;
/** @param {string} label */
const worded = (label) => tokenElement(bare(label));
/** The name of a row of a head. @param {OpenHead} head @param {number} row */
const rowOf = ({ rows, rowTokens }, row) => rowElement(bare(rowTokens[row]), rows.ahead > 0);

/** The largest number of a row or column, and where it is. @param {number} count @param {(index: number) => number} at */
function largestOf(count, at) {
  let most = 0;
  for (let index = 1; index < count; index++) if (!(at(index) <= at(most))) most = index;
  return most;
}

/** What asks about the kept cell; of a kept row or column about its largest number. @param {OpenHead} head */
function whyOfKept(head) {
  const { kept, rowTokens, columnTokens, valueAt } = head;
  let [row, column] = kept;
  if (row !== null) column ??= largestOf(columnTokens.length, (index) => valueAt(Number(row), index));
  else if (column !== null) row = largestOf(rowTokens.length, (index) => valueAt(index, Number(column)));
  return whyParts(head, row, column);
}

/** @param {OpenHead} head @param {number} row @param {number} column */
function cellSentence(head, row, column) {
  const { columnTokens, valueAt, format, site, name } = head;
  const most = largestOf(columnTokens.length, (index) => valueAt(row, index));
  const values = {
    head: headLink(site, name),
    query: rowOf(head, row),
    key: worded(columnTokens[column]),
    weight: element("b", "", format(row, column)),
    most: worded(columnTokens[most]),
    largest: format(row, most),
  };
  const sentence =
    most === column
      ? _("{head} gives {weight} from {query} to {key}, the largest weight of the row.")
      : _("{head} gives {weight} from {query} to {key}; the largest weight of the row is {largest}, to {most}.");
  return sentenceParts(sentence, values);
}

/** What a head gives in a row, in a column or, given both, in a cell; null without either. @param {OpenHead} head @param {number | null} row @param {number | null} column */
function sentenceOf(head, row, column) {
  const { rowTokens, columnTokens, valueAt, format, site, name } = head;
  const keyOf = (/** @type {number} */ index) => worded(columnTokens[index]);
  if (row !== null && column !== null) return cellSentence(head, row, column);
  if (row !== null) {
    const most = largestOf(columnTokens.length, (index) => valueAt(row, index));
    const values = { token: rowOf(head, row), most: keyOf(most), largest: element("b", "", format(row, most)) };
    return sentenceParts(_(LARGEST_OF), { head: headLink(site, name), ...values });
  }
  if (column === null) return null;
  const most = largestOf(rowTokens.length, (index) => valueAt(index, column));
  const values = { token: keyOf(column), most: rowOf(head, most), largest: element("b", "", format(most, column)) };
  return sentenceParts(_(LARGEST_ON), { head: headLink(site, name), ...values });
}

/**
 * What a head gives from words, or to them, all their tokens together; null where it joins no such words.
 * @param {OpenHead} head @param {Focus} words
 */
function wordsSentence(head, { query, key }) {
  const { rows, columns, rowTokens, columnTokens, site, name } = head;
  const [named, shown] = [headLink(site, name), (/** @type {number} */ sum) => element("b", "", sum.toFixed(4))];
  const [first, second] = [query, key].map((place) => element("b", "", tokenElement(place?.name ?? "")));
  const isSum = [query, key].some((place) => place?.words);
  if (query && key) {
    const sum = given(head, query, key);
    const values = { head: named, query: first, key: second, weight: shown(sum ?? 0) };
    if (sum === null)
      return sentenceParts(_("{head} does not connect {query} and {key}: another kind of attention does."), values);
    const sentence = isSum
      ? _("{head} gives {weight} from {query} to {key} in total.")
      : _("{head} gives {weight} from {query} to {key}.");
    return sentenceParts(sentence, values);
  }
  const others = query ? columnTokens : rowTokens;
  const sumAt = (/** @type {number} */ index) =>
    (query ? given(head, query, placeOf(columns, index)) : key && given(head, placeOf(rows, index), key)) ?? 0;
  if (!indicesOf(query ? rows : columns, (query ? rowTokens : columnTokens).length, query ?? key).length) return null;
  const most = largestOf(others.length, sumAt);
  const word = query ? first : second;
  const values = {
    head: named,
    words: word,
    token: word,
    most: query ? worded(others[most]) : rowOf(head, most),
    largest: shown(sumAt(most)),
  };
  if (!isSum) return sentenceParts(query ? _(LARGEST_OF) : _(LARGEST_ON), values);
  const sentence = query
    ? _("In {head} the weights of {words} are summed; the largest sum goes to {most}: {largest}.")
    : _("In {head} the weights on {words} are summed; the largest sum comes from {most}: {largest}.");
  return sentenceParts(sentence, values);
}

class Headline extends View {
  /** @type {HeadlineHeader} */ header;

  start() {
    this.root.setAttribute("role", "status");
    const say = onceTold(() => this.say());
    onTold("pointed", say, this.ended.signal);
    onTold("opened", say, this.ended.signal);
    onTold("words", say, this.ended.signal);
  }

  /** @param {{ header: HeadlineHeader }} payload */
  receive({ header }) {
    this.header = header;
    this.say();
    this.root.dataset.ready = "1";
  }

  say() {
    if (!this.header) return;
    const head = openedHead();
    const kept = this.ofSuggestion() ?? this.withRow(this.ofWords() ?? (head && sentenceOf(head, ...head.kept)));
    const sentence = this.ofPointed() ?? [...(kept ?? this.invitation()), ...(head ? whyOfKept(head) : [])];
    this.root.replaceChildren(element("p", "", ...sentence));
  }

  ofPointed() {
    const [focus, head] = [pointed(), openedHead()];
    if (!focus || !head) return null;
    const rows = indicesOf(head.rows, head.rowTokens.length, focus.query);
    const columns = indicesOf(head.columns, head.columnTokens.length, focus.key);
    if (rows.length > 1 || columns.length > 1) return wordsSentence(head, focus);
    return sentenceOf(head, rows[0] ?? null, columns[0] ?? null);
  }

  ofWords() {
    const [words, head] = [keptWords(), openedHead()];
    return words && head && wordsSentence(head, words);
  }

  /** What is said of what is kept, and which row of it the open head shows. @param {(string | Node)[] | null} sentence */
  withRow(sentence) {
    const { row } = this.header;
    return sentence && row ? [...sentence, " ", element("span", "muted", row)] : sentence;
  }

  ofSuggestion() {
    const { site, suggestion, isGuess } = this.header;
    if (!suggestion.length) return null;
    const words = suggestion.map((part, index) => (index % 2 ? headLink(site, part) : part));
    const guess = isGuess ? [" ", element("span", { className: "guess muted", title: _(GUESS) }, "(?)")] : [];
    return [element("span", "muted", _("Worth seeing:")), " ", ...words, ...guess];
  }

  invitation() {
    const invitation = _("Point at a word of the sentence, a tile or a cell to see what the open head does with it.");
    return [element("span", "muted", invitation)];
  }
}

export default mount(".headline", Headline);
