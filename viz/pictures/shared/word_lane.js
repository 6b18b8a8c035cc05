// The words of a sound at the times at which they are spoken, in a line as long as the sound.
import { element } from "./picture.js";

/** `step` is the one that writes its first token. @typedef {{ word: string, begin: number, end: number, step: number }} TimedWord */

/** An element a word, as long as until the next but one begins. @param {TimedWord[]} words @param {number} seconds that the line is long */
export const laneWords = (words, seconds) =>
  words.map(({ word, begin, end }, number) => {
    const room = (words[number + 2]?.begin ?? seconds) - begin;
    const style = `left:${(begin * 100) / seconds}%;width:${(room * 100) / seconds}%`;
    return element(
      "span",
      { className: "lane-word", style, title: `${word} ${begin.toFixed(2)}–${end.toFixed(2)} s` },
      word,
    );
  });
