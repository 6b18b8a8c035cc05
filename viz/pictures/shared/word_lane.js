// The words of a sound at the times at which they are spoken, in two lines as long as the sound.
import { element } from "./picture.js";

/** `step` is the one that writes its first token. @typedef {{ word: string, begin: number, end: number, step: number }} TimedWord */

/** An element a word, where it begins. @param {TimedWord[]} words @param {number} seconds that the lines are long */
export const laneWords = (words, seconds) =>
  words.map(({ word, begin, end }) => {
    const title = `${word} ${begin.toFixed(2)}–${end.toFixed(2)} s`;
    return element("span", { className: "lane-word", style: `left:${(begin * 100) / seconds}%`, title }, word);
  });

/** Put each word into the first line in which it has room; of one that has none only its beginning is marked. @param {HTMLElement[]} words */
export function arrangeWords(words) {
  for (const word of words) word.classList.remove("second", "crowded");
  const places = words.map((word) => [word.offsetLeft, word.offsetLeft + word.offsetWidth]);
  const ends = [0, 0];
  for (const [i, [begin, end]] of places.entries()) {
    const line = ends.findIndex((taken) => taken <= begin);
    if (line >= 0) ends[line] = end;
    words[i].classList.toggle("second", line === 1);
    words[i].classList.toggle("crowded", line < 0);
  }
}
