// @ts-check
// Lines between words, as strong as the weights: straight between two lines of text, arcs below one.
import { svg } from "./drawing.js";
import { FAINTEST, strength } from "./line_strength.js";

/** More lines than these, the strongest, say nothing more. */
const MOST = 24;
/** How deep an arc hangs, in CSS pixels: with the distance, up to so much. */
const [LEAST, DEEPEST] = [6, 16];

/** The way from one word to another. @param {DOMRect} from @param {DOMRect} to @param {DOMRect} frame */
function wayOf(from, to, frame) {
  const middle = (/** @type {DOMRect} */ box) => (box.left + box.right) / 2 - frame.left;
  const [x1, x2] = [middle(from), middle(to)];
  const isSameLine = Math.abs(from.top - to.top) < from.height / 2;
  if (isSameLine) {
    const y = from.bottom - frame.top - 1;
    const depth = Math.min(DEEPEST, LEAST + Math.abs(x2 - x1) / 25);
    return `M${x1} ${y} C${x1} ${y + depth} ${x2} ${y + depth} ${x2} ${y}`;
  }
  const [y1, y2] = to.top > from.top ? [from.bottom, to.top] : [from.top, to.bottom];
  return `M${x1} ${y1 - frame.top} L${x2} ${y2 - frame.top}`;
}

export class WordLinks {
  element = svg("svg", { class: "word-links", "aria-hidden": "true" });

  /**
   * Lines from the first of these words to all that have a share of the most there can be.
   * @param {HTMLElement} root @param {HTMLElement[]} from @param {HTMLElement[]} words
   * @param {(number | null)[]} shares @param {number} most
   */
  draw(root, from, words, shares, most) {
    const [start] = from;
    if (!start) return this.element.replaceChildren();
    const frame = root.getBoundingClientRect();
    const box = start.getBoundingClientRect();
    const strongest = shares
      .map((share, index) => ({ share: (share ?? 0) / most, word: words[index] }))
      .filter(({ share, word }) => strength(share).alpha > FAINTEST && word !== start)
      .sort((a, b) => b.share - a.share)
      .slice(0, MOST);
    this.element.replaceChildren(
      ...strongest.map(({ share, word }) => {
        const { alpha, width } = strength(share);
        const d = wayOf(box, word.getBoundingClientRect(), frame);
        return svg("path", { d, "stroke-opacity": alpha.toFixed(3), "stroke-width": width.toFixed(2) });
      }),
    );
  }
}
