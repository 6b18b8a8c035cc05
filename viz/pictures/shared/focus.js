// The one focus of a page: what a person points at, the words that are chosen, and the head that is open. Every component
// is a module of its own; here they meet, without the server. Places are named by tokens, which all of them share.

/**
 * Tokens of one side: "source", the text that an encoder reads, or "target", what a decoder reads, with the name of the
 * text in front where several are in sight. A word has a name; of several words, `words` has the tokens of each.
 * @typedef {{ side: string, tokens: number[], name?: string, words?: number[][] }} Place
 */
/** What a person points at: tokens that look, tokens looked at, or both. @typedef {{ query: Place | null, key: Place | null }} Focus */
/**
 * Rows or columns of a picture: the tokens of each, or null where each has that of its number, or one `ahead` of it.
 * @typedef {{ side: string, ahead: number, groups: number[][] | null }} Axis
 */
/**
 * A head that is open, as its picture has it: what it is called, its sides with their labels, the row and the column that
 * are kept, its numbers; whether "Why?" is offered of it.
 * @typedef {{
 *   site: string, name: string, asks?: boolean, rows: Axis, columns: Axis, rowTokens: string[], columnTokens: string[],
 *   kept: [row: number | null, column: number | null],
 *   valueAt(row: number, column: number): number, format(row: number, column: number): string,
 * }} OpenHead
 */
/** What `given` asks of a head. @typedef {Pick<OpenHead, "rows" | "columns" | "rowTokens" | "columnTokens" | "valueAt">} Weights */
/** The words that look and those looked at, as the sentence counts them. @typedef {[from: number[], to: number[]]} Chosen */
/** @import { HeadPlace } from "./head_label.js" */
/** @typedef {"head" | "pointed" | "opened" | "preview" | "chosen" | "looking" | "words" | "picked" | "stepped"} Subject */

const focusOfPage = /** @type {{ headlightFocus?: {
    meeting: EventTarget, pointed: Focus | null, words: Focus | null, opened: OpenHead | null, head: HeadPlace | null,
  } }} */ (globalThis);
focusOfPage.headlightFocus ??= { meeting: new EventTarget(), pointed: null, words: null, opened: null, head: null };
const FOCUS = focusOfPage.headlightFocus;

/** Tell whoever listens. @param {Subject} subject @param {unknown} detail */
export const tell = (subject, detail) => FOCUS.meeting.dispatchEvent(new CustomEvent(subject, { detail }));

/** Hear what is told, until the signal. @param {Subject} subject @param {(detail: any) => void} hear @param {AbortSignal} signal */
export function onTold(subject, hear, signal) {
  FOCUS.meeting.addEventListener(subject, (/** @type {any} */ { detail }) => hear(detail), { signal });
}

/** Act once, when all that happens now has been told. @param {() => void} act */
export function onceTold(act) {
  let isDue = false;
  return () => {
    if (isDue) return;
    isDue = true;
    queueMicrotask(() => {
      isDue = false;
      act();
    });
  };
}

/** A person points at something, or, with null or two of them, at nothing. @param {Focus | null} at */
export function pointAt(at) {
  const focus = at?.query || at?.key ? at : null;
  if (JSON.stringify(focus) === JSON.stringify(FOCUS.pointed)) return;
  FOCUS.pointed = focus;
  tell("pointed", focus);
}

/** A person points at a head, or, with null, at none. @param {HeadPlace | null} head */
export function pointAtHead(head) {
  if (JSON.stringify(head) === JSON.stringify(FOCUS.head)) return;
  FOCUS.head = head;
  tell("head", head);
}

/** The head that is pointed at. */
export const pointedHead = () => FOCUS.head;

/** What is pointed at now. */
export const pointed = () => FOCUS.pointed;

/** Words of several tokens are chosen, or several words; with null, one token at most of each side. @param {Focus | null} words */
export function keepWords(words) {
  if (!words && !FOCUS.words) return;
  FOCUS.words = words;
  tell("words", words);
}

/** The words that are chosen, where they are several, or have several tokens. */
export const keptWords = () => FOCUS.words;

/** Several words as one place; their weights are summed. @param {Place[]} places @returns {Place | null} */
export function placeOfAll(places) {
  if (places.length < 2) return places[0] ?? null;
  const words = places.map(({ tokens }) => tokens);
  const name = places.map((place) => place.name).join(" + ");
  return { side: places[0].side, tokens: words.flat(), name, words };
}

/** A head is open, or another one, or, with null, none. @param {OpenHead | null} head */
export function openHead(head) {
  FOCUS.opened = head;
  tell("opened", head);
}

/** Forget this head, unless another picture has opened one since, and what is pointed at. @param {OpenHead | null} head */
export function closeHead(head) {
  if (!head) return;
  if (FOCUS.opened === head) openHead(null);
  pointAt(null);
}

/** The head that is open. */
export const openedHead = () => FOCUS.opened;

/** The tokens of one row or column. @param {Axis} axis @param {number} index @returns {Place} */
export const placeOf = ({ side, ahead, groups }, index) => ({ side, tokens: groups ? groups[index] : [index + ahead] });

/** The tokens of one row or column, if there is one. @param {Axis} axis @param {number | null | undefined} index */
export const placeAt = (axis, index = null) => (index === null ? null : placeOf(axis, index));

/** The rows or columns of so many that have a token of this place. @param {Axis} axis @param {number} count @param {Place | null} place */
export function indicesOf({ side, ahead, groups }, count, place) {
  if (!place || place.side !== side) return [];
  if (!groups) return place.tokens.map((token) => token - ahead).filter((index) => index >= 0 && index < count);
  const isMeant = (/** @type {number[]} */ group) => group.some((token) => place.tokens.includes(token));
  return groups.flatMap((group, index) => (isMeant(group) ? [index] : []));
}

/** Whether two places share a token. @param {Place | null} a @param {Place} b */
export const meets = (a, b) => a?.side === b.side && a.tokens.some((token) => b.tokens.includes(token));

/**
 * What the open head gives from one place to another: over the keys the sum, over the queries of a word the mean, over
 * words the sum; null where it joins no such places.
 * @param {Weights} head @param {Place} query @param {Place} key
 */
export function given({ rows, columns, rowTokens, columnTokens, valueAt }, query, key) {
  const lookedAt = indicesOf(columns, columnTokens.length, key);
  let [total, isJoined] = [0, false];
  for (const tokens of query.words ?? [query.tokens]) {
    const looking = indicesOf(rows, rowTokens.length, { side: query.side, tokens });
    let sum = 0;
    for (const row of looking) for (const column of lookedAt) sum += valueAt(row, column) || 0;
    if (looking.length) total += sum / looking.length;
    isJoined ||= looking.length > 0;
  }
  return isJoined && lookedAt.length ? total : null;
}
