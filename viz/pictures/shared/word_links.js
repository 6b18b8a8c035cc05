// Lines between words, as strong as the weights: straight between two lines of text, arcs below one.
import { svg } from "./drawing.js";
import { zoomOf } from "./picture.js";

/** More lines than these, the strongest, say nothing more. */
const MOST = 24;
/** How deep an arc hangs, in CSS pixels: with the distance, up to so much. */
const [LEAST, DEEPEST] = [6, 16];

/** The way from one word to another, whose boxes are in the element's own pixels. @param {DOMRect} from @param {DOMRect} to */
function wayOf(from, to) {
  const [x1, x2] = [from, to].map((box) => (box.left + box.right) / 2);
  const isSameLine = Math.abs(from.top - to.top) < from.height / 2;
  if (isSameLine) {
    const y = from.bottom - 1;
    const depth = Math.min(DEEPEST, LEAST + Math.abs(x2 - x1) / 25);
    return `M${x1} ${y} C${x1} ${y + depth} ${x2} ${y + depth} ${x2} ${y}`;
  }
  const [y1, y2] = to.top > from.top ? [from.bottom, to.top] : [from.top, to.bottom];
  return `M${x1} ${y1} L${x2} ${y2}`;
}

export class WordLinks {
  element = svg("svg", { class: "word-links", "aria-hidden": "true" });

  /**
   * Lines from the first of these words to all that have a share of the most there can be, and are not scrolled away.
   * @param {HTMLElement} root @param {HTMLElement[]} from @param {HTMLElement[]} words
   * @param {(number | null)[]} shares @param {number} most @param {(word: HTMLElement) => boolean} [isInSight]
   */
  draw(root, from, words, shares, most, isInSight = () => true) {
    const [start] = from;
    if (!start || !isInSight(start)) return this.element.replaceChildren();
    const [frame, zoom] = [root.getBoundingClientRect(), zoomOf(root)];
    const boxOf = (/** @type {HTMLElement} */ word) => {
      const { left, top, width, height } = word.getBoundingClientRect();
      return new DOMRect((left - frame.left) / zoom, (top - frame.top) / zoom, width / zoom, height / zoom);
    };
    const box = boxOf(start);
    const strongest = shares
      .map((share, index) => ({ share: (share ?? 0) / most, word: words[index] }))
      .filter(({ share, word }) => strength(share).alpha > FAINTEST && word !== start)
      .sort((a, b) => b.share - a.share)
      .filter(({ word }) => isInSight(word))
      .slice(0, MOST);
    this.element.replaceChildren(
      ...strongest.map(({ share, word }) => {
        const { alpha, width } = strength(share);
        const d = wayOf(box, boxOf(word));
        return svg("path", { d, "stroke-opacity": alpha.toFixed(3), "stroke-width": width.toFixed(2) });
      }),
    );
  }
}

/** A line weaker than this cannot be seen; it is not drawn at all. */
export const FAINTEST = 0.012;

/** How opaque and how wide a line is, by its value as a share of the largest there can be. @param {number} share */
export const strength = (share) => ({ alpha: 0.95 * share ** 0.65, width: 1 + 2 * share });
