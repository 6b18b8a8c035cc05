// @ts-check
// Where the words in the head of the page and the question below the tiles meet: every component is a module of its own.

/**
 * The words in question, and the one that was clicked first while the second is awaited.
 * @typedef {[number | null, number | null]} Chosen
 */

const page = /** @type {{ headlightPickedWords?: EventTarget }} */ (globalThis);
page.headlightPickedWords ??= new EventTarget();
const MEETING = page.headlightPickedWords;

/** Tell of the two words in question. @param {Chosen} chosen */
export const tellChosen = (chosen) => MEETING.dispatchEvent(new CustomEvent("chosen", { detail: chosen }));

/** Tell of the word that was clicked first; null when nobody waits for a second. @param {string | null} name */
export const tellLooking = (name) => MEETING.dispatchEvent(new CustomEvent("looking", { detail: name }));

/** @param {(chosen: Chosen) => void} hear @param {AbortSignal} signal */
export const onChosen = (hear, signal) => listen("chosen", hear, signal);

/** @param {(name: string | null) => void} hear @param {AbortSignal} signal */
export const onLooking = (hear, signal) => listen("looking", hear, signal);

/** @param {string} name @param {(detail: any) => void} hear @param {AbortSignal} signal */
function listen(name, hear, signal) {
  MEETING.addEventListener(name, (/** @type {any} */ { detail }) => hear(detail), { signal });
}
