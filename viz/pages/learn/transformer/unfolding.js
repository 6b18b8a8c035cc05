// The way between the whole model, a layer and its head, painted in each frame from the layout: closed and opened it has the
// same parts, and between the two it is as far from one as the zoom is. Around the layer the model grows with it.
import { clamp, pixelRatio, zoomOf } from "../../../pictures/shared/picture.js";
import { openedOf } from "./layer_machine.js";
import { mixed, partsOf } from "./machine_layout.js";
import { Pen } from "./shapes.js";

/** @import { OpenLayer } from "./machine_layout.js" */
/** @import { Mark, Rows, Word } from "./shapes.js" */
/** @typedef {import("./layer_machine.js").LayerMachine} LayerMachine */
/** A layer as it lies in the page; `around`: what else is there, in its drawing where the layer begins at `top`. @typedef {{ placed: OpenLayer, x: number, y: number, around?: { marks: Mark[], words: Word[], top: number }, rows?: Rows }} Lying */
/** A layer that is opened on the way, or closed, where the two scenes have it. @typedef {{ machine: LayerMachine, closed: Lying, opened: Lying }} Opening */

/** Where what lies around a layer fades, and its words; where rows of one weight come, and words of rows. */
const FADES = /** @type {const} */ ([0.4, 0.9]);
const WORDS_FADE = /** @type {const} */ ([0.05, 0.4]);
const COMES = /** @type {const} */ ([0.1, 0.6]);
const WORDS_COME = /** @type {const} */ ([0.6, 0.95]);

/** A part may be drawn so much beside its ground. */
const ABOUT = 8;

/** How far a value is from one bound to another, slow at both. @param {number} from @param {number} to @param {number} value */
export const eased = (from, to, value) => {
  const part = clamp(0, (value - from) / (to - from), 1);
  return part * part * (3 - 2 * part);
};

export class Unfolding {
  /** @type {Opening | null} */ way = null;
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

  /** Lay out a part of a scene that is not seen yet, and read the drawings in it: no frame has time for all at once. @param {Element} part */
  see(part) {
    part.getBoundingClientRect();
    for (const drawing of part.querySelectorAll(".picture svg")) this.pen.drawingOf(drawing);
  }

  /** A layer that unfolds, or folds. @param {Opening} opening */
  begin({ machine, closed, opened }) {
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

  /** Paint it where nobody sees it. @param {Opening | null} opening */
  try(opening) {
    if (!opening || this.way) return;
    this.begin(opening);
    this.paint(0.5);
    this.end();
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
    if (opened.rows) this.paintRows(placed, x, y, far);
  }

  /** Count from a point, so many times as large. @param {number} x @param {number} y @param {number} [across] @param {number} [down] */
  at(x, y, across = 1, down = across) {
    const { ratio } = this;
    this.pen.context.setTransform(ratio * across, 0, 0, ratio * down, ratio * x, ratio * y);
  }

  /**
   * Where drawings of rows lie: those of one weight in its column, which opens over all others.
   * @param {OpenLayer} placed @param {number} x @param {number} y @param {number} far @param {{ top: number, foot: number }} head
   */
  rowsAt(placed, x, y, far, { top, foot }) {
    const { closed, opened } = /** @type {Opening} */ (this.way);
    const inner = /** @type {Rows} */ (opened.rows);
    const outer = closed.rows;
    const { canvas } = this.pen;
    const high = canvas.height / this.ratio - y - top;
    const fit = placed.pitch / opened.placed.pitch;
    const span = mixed(outer?.span ?? inner.span, inner.span, far);
    const here = { rows: inner, height: heightOfRows(opened.placed, inner), said: eased(...WORDS_COME, far) };
    const leaves = { alpha: 1 - eased(...FADES, far), said: 1 - eased(...WORDS_FADE, far) };
    const sides = outer
      ? [
          { rows: outer, height: heightOfRows(closed.placed, outer), ...leaves },
          { ...here, alpha: eased(...COMES, far) },
        ]
      : [{ ...here, alpha: openedOf(foot - top) }];
    return sides.flatMap(({ rows, alpha, said }) =>
      Object.entries(rows.groups).flatMap(([name, group]) => {
        const room = group.foot - group.top;
        const isName = name === "keys";
        const ends = sides.map(({ rows: { groups }, height }) => {
          // Names of keys are at the foot of all; what only one has lies between the score and what is made of it.
          if (isName) return [height - room, height];
          return [groups[name]?.top ?? groups.score.top, groups[name]?.foot ?? groups.score.top];
        });
        const shrunk = (foot - top) / here.height;
        const [begins, till] = outer ? mixed(ends[0], ends[1], far) : ends[0].map((edge) => edge * shrunk);
        if (!isName && (till < -top - y || begins > high)) return [];
        const down = (till - begins) / room;
        // They stay in the window.
        const risen = isName ? Math.min(0, high - till) : 0;
        const wider = isName ? 1 : (span[1] - span[0]) / (rows.span[1] - rows.span[0]);
        const begin = placed.left + ((isName ? 0 : span[0] - rows.span[0] * wider) - opened.placed.left) * fit;
        // Words that both have, at the same place, stay.
        const twins = wider === 1 ? (rows === inner ? outer : inner)?.groups[name]?.drawn : null;
        const both = new Set(twins?.flatMap(({ words }) => words.map(({ text }) => text)));
        const now = Number((rows === inner) === far >= 0.5);
        const saidOf = (/** @type {Word} */ { text }) => (both.has(text) ? now : said);
        const at = { across: wider * fit, down, begin: x + begin, shift: y + top + begins + risen - group.top * down };
        return group.drawn.map((drawn) => ({ drawn, alpha, saidOf, ...at }));
      }),
    );
  }

  /** The rows of a head, where its stratum is. @param {OpenLayer} placed @param {number} x @param {number} y @param {number} far */
  paintRows(placed, x, y, far) {
    const { machine, opened } = /** @type {Opening} */ (this.way);
    const { pen } = this;
    const { context } = pen;
    const head = partOf(placed, /** @type {Rows} */ (opened.rows));
    const { top, foot } = head;
    const all = this.rowsAt(placed, x, y, far, head);
    const { left, pitch, columns } = placed;
    const box = /** @type {const} */ ([x + left - 3, y + top, pitch * columns + 6, foot - top]);
    this.at(0, 0);
    context.save();
    context.beginPath();
    context.rect(...box);
    context.clip();
    context.globalCompositeOperation = "destination-out";
    context.globalAlpha = openedOf(foot - top);
    context.fillRect(...box);
    context.globalCompositeOperation = "source-over";
    this.at(x, y);
    pen.paint(pen.marks(machine.ground(placed, top, foot)), openedOf(foot - top));
    for (const { drawn, alpha, across, down, begin, shift } of all) {
      this.at(begin + drawn.x * across, shift + drawn.y * down, across, down);
      if (alpha > 0.02) pen.paint(drawn.marks, alpha);
    }
    context.restore();
    this.at(0, 0);
    const isIn = (/** @type {number} */ at, { left, pitch, columns } = placed) =>
      at > left && at < left + pitch * columns;
    for (const { drawn, saidOf, across, down, begin, shift } of all)
      for (const word of drawn.words) {
        const at = begin + (drawn.x + word.x) * across;
        // Those of other columns leave with these.
        if (isIn(at - x) || !isIn(drawn.x + word.x, opened.placed))
          pen.write(word, at, shift + (drawn.y + word.y) * down, saidOf(word));
      }
  }

  /** What is above the layer, below it and beside it. @param {OpenLayer} placed @param {number} x @param {number} y @param {number} far */
  paintAround(placed, x, y, far) {
    const { around, placed: closed } = /** @type {NonNullable<typeof this.way>} */ (this.way).closed;
    const alpha = 1 - eased(...FADES, far);
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
    const said = 1 - eased(...WORDS_FADE, far);
    for (const word of around.words) {
      const { shift, by } = word.y < before ? above : word.y < before + closed.height ? beside : below;
      this.pen.write(word, begin + word.x * scale, shift + word.y * by, said);
    }
  }
}

/** The head that rows are of. @param {OpenLayer} placed @param {Rows} rows @returns {{ top: number, foot: number }} */
const partOf = (placed, { part }) => new Map(partsOf(placed)).get(part) ?? { top: 0, foot: 1 };

/** @param {OpenLayer} placed @param {Rows} rows */
function heightOfRows(placed, rows) {
  const { top, foot } = partOf(placed, rows);
  return foot - top;
}

/** @param {Lying} lying @param {{ x: number, y: number }} by @returns {Lying} */
export const moved = ({ x, y, ...lying }, by) => ({ ...lying, x: x + by.x, y: y + by.y });

/** Where the parts of a layer lie in the page, by name; rows first, which lie within one. @param {Lying} lying @param {Element} holder */
export function boxesOf({ placed, x, y, rows }, holder) {
  const zoom = zoomOf(holder);
  const [left, width] = [x + placed.left * zoom, placed.pitch * placed.columns * zoom];
  const above = rows ? partOf(placed, rows).top : 0;
  const inner = Object.entries(rows?.groups ?? {}).map(([name, { top, foot }]) => [name, top + above, foot + above]);
  const outer = partsOf(placed).map(([name, { top, foot }]) => [name, top, foot]);
  const all = /** @type {[string, number, number][]} */ ([...inner, ...outer]);
  return new Map(all.map(([name, top, foot]) => [name, new DOMRect(left, y + top * zoom, width, (foot - top) * zoom)]));
}
