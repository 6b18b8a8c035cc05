// The way between the whole model, a layer and its head, painted in each frame from the layout: closed and opened it has the
// same parts, and between the two it is as far from one as the zoom is. Around the layer the model grows with it.
import { clamp, pixelRatio, zoomOf } from "../../../pictures/shared/picture.js";
import { mixed, partsOf } from "./machine_layout.js";
import { Pen } from "./shapes.js";

/** @import { OpenLayer } from "./machine_layout.js" */
/** @import { Mark, Word } from "./shapes.js" */
/** @import { Bands } from "./zoom.js" */
/** @typedef {import("./layer_machine.js").LayerMachine} LayerMachine */
/** A layer as it lies in the page; `around`: what else is there, in its drawing where the layer begins at `top`. @typedef {{ placed: OpenLayer, x: number, y: number, around?: { marks: Mark[], words: Word[], top: number } }} Lying */

/** Where what lies around a layer fades, and its words. */
const [FADES, WORDS_FADE] = [
  [0.4, 0.9],
  [0.05, 0.4],
];

/** A part may be drawn so much beside its ground. */
const ABOUT = 8;

/** How far a value is from one bound to another, slow at both. @param {number} from @param {number} to @param {number} value */
export const eased = (from, to, value) => {
  const part = clamp(0, (value - from) / (to - from), 1);
  return part * part * (3 - 2 * part);
};

export class Unfolding {
  /** @type {{ machine: LayerMachine, closed: Lying, opened: Lying } | null} */ way = null;
  /** Device pixels for each of the holder's own. */ ratio = 1;

  /** @param {HTMLElement} holder of the scenes */
  constructor(holder) {
    this.holder = holder;
    this.pen = new Pen(holder);
    this.pen.canvas.className = "walk-moving";
    this.pen.canvas.ariaHidden = "true";
  }

  /** See in a frame before the way what it is painted with. @param {LayerMachine} machine */
  meet({ drawing: { parts, words } }) {
    const shapes = parts.map((part) => part.shape);
    this.pen.meet(shapes, words);
  }

  /** A layer that unfolds, or folds. @param {LayerMachine} machine of what is opened @param {Lying} closed @param {Lying} opened */
  begin(machine, closed, opened) {
    const { pen, holder } = this;
    const zoom = zoomOf(holder);
    const { x, y, width } = holder.getBoundingClientRect();
    const top = Math.max(0, -y);
    const [wide, high] = [width / zoom, Math.max(1, innerHeight - Math.max(0, y)) / zoom];
    const ratio = pixelRatio(holder);
    const size = { width: Math.round(wide * ratio), height: Math.round(high * ratio) };
    // To say the same size again would make its pixels anew.
    if (pen.canvas.width !== size.width || pen.canvas.height !== size.height) Object.assign(pen.canvas, size);
    Object.assign(pen.canvas.style, { top: `${top / zoom}px`, width: `${wide}px`, height: `${high}px` });
    this.ratio = ratio;
    const own = (/** @type {Lying} */ lying) => ({ ...lying, x: (lying.x - x) / zoom, y: (lying.y - y - top) / zoom });
    this.way = { machine, closed: own(closed), opened: own(opened) };
    holder.prepend(pen.canvas);
  }

  end() {
    this.way = null;
    this.pen.canvas.remove();
  }

  /** @param {number} far from closed to opened */
  paint(far) {
    if (!this.way) return;
    const { machine, closed, opened } = this.way;
    const { context, canvas } = this.pen;
    const [x, y] = [mixed(closed.x, opened.x, far), mixed(closed.y, opened.y, far)];
    const placed = mixed(closed.placed, opened.placed, far);
    context.resetTransform();
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.imageSmoothingEnabled = false;
    this.paintAround(placed, x, y, far);
    this.at(x, y);
    const { parts, words } = machine.drawn(placed);
    this.pen.paint(this.pen.marks(parts.map((part) => part.shape)));
    for (const word of words) this.pen.write(word, word.x, word.y);
  }

  /** Count from a point, so many times as large. @param {number} x @param {number} y @param {number} [across] @param {number} [down] */
  at(x, y, across = 1, down = across) {
    const { ratio } = this;
    this.pen.context.setTransform(ratio * across, 0, 0, ratio * down, ratio * x, ratio * y);
  }

  /** What is above the layer, below it and beside it. @param {OpenLayer} placed @param {number} x @param {number} y @param {number} far */
  paintAround(placed, x, y, far) {
    const { around, placed: closed } = /** @type {NonNullable<typeof this.way>} */ (this.way).closed;
    const alpha = 1 - eased(FADES[0], FADES[1], far);
    if (!around || alpha < 0.02) return;
    const { context, canvas } = this.pen;
    const [wide, high] = [canvas.width, canvas.height].map((side) => side / this.ratio);
    const scale = placed.pitch / closed.pitch;
    const begin = x + placed.left - closed.left * scale;
    const [left, right] = [x + placed.left, x + placed.left + placed.pitch * placed.columns];
    const [foot, before] = [y + placed.height, around.top];
    const down = placed.height / closed.height;
    const above = { top: -high, foot: y, shift: y - before * scale, by: scale };
    const below = { top: foot, foot: foot + high, shift: foot - (before + closed.height) * scale, by: scale };
    const beside = { top: y, foot, shift: y - before * down, by: down };
    for (const [{ top, foot, shift, by }, from, to] of /** @type {[typeof above, number, number][]} */ ([
      [above, -wide, 2 * wide],
      [below, -wide, 2 * wide],
      [beside, -wide, left],
      [beside, right, right + 2 * wide],
    ])) {
      const [low, lower] = [Math.max(top, 0), Math.min(foot, high)].map((edge) => (edge - shift) / by);
      const [left, right] = [Math.max(from, 0), Math.min(to, wide)].map((edge) => (edge - begin) / scale);
      if (low >= lower || left >= right) continue;
      context.save();
      this.at(0, 0);
      context.beginPath();
      context.rect(from, top, to - from, foot - top);
      context.clip();
      this.at(begin, shift, scale, by);
      this.pen.paint(around.marks, alpha, ([x, y, width, height]) => {
        const isBeside = x > right + ABOUT || x + width < left - ABOUT;
        return !isBeside && y < lower + ABOUT && y + height > low - ABOUT;
      });
      context.restore();
    }
    this.at(0, 0);
    const said = 1 - eased(WORDS_FADE[0], WORDS_FADE[1], far);
    for (const word of around.words) {
      const { shift, by } = word.y < before ? above : word.y < before + closed.height ? beside : below;
      this.pen.write(word, begin + word.x * scale, shift + word.y * by, said);
    }
  }
}

/** Where the parts of a layer lie, by name. @param {Lying} lying @param {Element} holder @returns {Bands} */
export function bandsOf({ placed, x, y }, holder) {
  const zoom = zoomOf(holder);
  const [left, width] = [x + placed.left * zoom, placed.pitch * placed.columns * zoom];
  return new Map(
    partsOf(placed).map(([name, { top, foot }]) => {
      const box = new DOMRect(left, y + top * zoom, width, (foot - top) * zoom);
      return [name, { box, elements: [] }];
    }),
  );
}
