// @ts-check
// Where the boxes and arrows of the map stand, from the bottom up as in the paper's figure 1; pure.
import { _, said } from "../shared/messages.js";

/** @typedef {"inputs" | "embedding" | "positions" | "self" | "self_norm" | "cross" | "cross_norm" | "feed_forward" | "feed_forward_norm" | "final_norm" | "linear" | "softmax" | "layers"} Kind */
/**
 * A stack: its layers, and what its boxes say below their names, by kind.
 * @typedef {{ layers: number, hasCross: boolean, hasPositions: boolean, writes: boolean, notes: Partial<Record<Kind, string>> }} Stack
 */
/**
 * What is drawn: the norm stands before a sub-layer ("pre"), after it ("post"), or nobody knows where ("").
 * @typedef {{ encoder: Stack | null, decoder: Stack | null, norm: "pre" | "post" | "", hasResidual: boolean }} Architecture
 * @typedef {{ id: string, kind: Kind, label: string, note: string, x: number, y: number, width: number, height: number }} Box
 * @typedef {{ id: string, points: [number, number][], hasHead: boolean }} Line
 * @typedef {{ id: string, stack: string, layers: number, x: number, y: number, width: number, height: number }} Frame
 * @typedef {{ x: number, y: number, width: number, height: number }} Place
 * @typedef {{ boxes: Box[], lines: Line[], frames: Frame[], width: number, height: number }} Layout
 */

const [BOX, FRAME, BETWEEN] = [184, 226, 34];
/** Room beside the stacks, for the text that stands beside a lit box; on a narrow page it stands over the box's corner. */
export const [WIDE, NARROW] = [100, 40];
const GAP = 9;
/** @type {Record<Kind, number>} */
const HEIGHTS = {
  inputs: 34,
  embedding: 42,
  positions: 26,
  self: 46,
  self_norm: 24,
  cross: 46,
  cross_norm: 24,
  feed_forward: 46,
  feed_forward_norm: 24,
  final_norm: 24,
  linear: 40,
  softmax: 40,
  layers: 0,
};

/** What boxes are called; those of the decoder may have another name. @type {Record<Kind, string>} */
const LABELS = {
  inputs: said("Inputs"),
  embedding: said("Input embedding"),
  positions: said("+ positional encoding"),
  self: said("Self-attention"),
  self_norm: said("Add & norm"),
  cross: said("Cross-attention"),
  cross_norm: said("Add & norm"),
  feed_forward: said("Feed-forward"),
  feed_forward_norm: said("Add & norm"),
  final_norm: said("Norm"),
  linear: said("Linear"),
  softmax: said("Softmax"),
  layers: said("Layers"),
};
/** @type {Partial<Record<Kind, string>>} */
const OF_DECODER = {
  inputs: said("Outputs (shifted right)"),
  embedding: said("Output embedding"),
  self: said("Masked self-attention"),
};

/** One column of boxes, from the bottom up. */
class Column {
  /** @type {Box[]} */ boxes = [];
  /** @type {Line[]} */ lines = [];

  /** @param {"encoder" | "decoder"} name @param {Stack} stack @param {Architecture} of @param {number} middle @param {number} bottom */
  constructor(name, stack, of, middle, bottom) {
    this.name = name;
    this.stack = stack;
    this.of = of;
    this.middle = middle;
    this.y = bottom;
    /** The side on which what skips a sub-layer goes past it. */
    this.side = name === "encoder" ? -1 : 1;
  }

  /** @param {Kind} kind @param {string} [label] */
  add(kind, label) {
    const height = HEIGHTS[kind];
    const last = this.boxes.at(-1);
    this.y -= height + GAP;
    const isAlone = this.of.decoder === null || this.of.encoder === null;
    const own = (this.name === "decoder" && (!isAlone || kind === "self") && OF_DECODER[kind]) || LABELS[kind];
    const note = this.stack.notes[kind] ?? "";
    const id = `${this.name}.${kind}`;
    const box = { id, kind, label: _(label ?? own), note, x: this.middle - BOX / 2, y: this.y, width: BOX, height };
    if (last)
      this.line(`${last.id}-${id}`, [
        [this.middle, last.y],
        [this.middle, this.y + height],
      ]);
    this.boxes.push(box);
    return box;
  }

  /** @param {string} id @param {[number, number][]} points @param {boolean} [hasHead] */
  line(id, points, hasHead = true) {
    this.lines.push({ id, points, hasHead });
  }

  /** A sub-layer with its norm, and what goes past it. @param {"self" | "cross" | "feed_forward"} kind */
  sublayer(kind) {
    const { of, middle, side } = this;
    /** @type {Kind} */
    const norm = `${kind}_norm`;
    const from = this.y - GAP / 2;
    if (of.norm === "pre") this.add(norm, said("Norm"));
    this.add(kind);
    const [x, past] = [middle + (side * BOX) / 2, middle + side * (BOX / 2 + 13)];
    const isSumAlone = of.norm === "pre";
    if (isSumAlone && !of.hasResidual) return;
    const label = isSumAlone ? said("Add the input") : of.hasResidual ? said("Add & norm") : said("Norm");
    const sum = this.add(isSumAlone ? /** @type {any} */ (`${kind}_norm`) : norm, label);
    if (isSumAlone) sum.id = `${this.name}.${kind}_add`;
    const height = sum.y + sum.height / 2;
    if (of.hasResidual)
      this.line(`${sum.id}-skip`, [
        [middle, from],
        [past, from],
        [past, height],
        [x, height],
      ]);
  }

  /** @returns {Frame} */
  layers() {
    const bottom = this.y - GAP / 2;
    this.y -= GAP;
    this.sublayer("self");
    if (this.stack.hasCross) this.sublayer("cross");
    this.sublayer("feed_forward");
    const top = this.y - GAP - 3;
    this.y = top;
    const { name, stack, middle } = this;
    const box = { x: middle - FRAME / 2, y: top, width: FRAME, height: bottom - top };
    return { id: `${name}.layers`, stack: name, layers: stack.layers, ...box };
  }
}

/** @param {Architecture} of @param {number} margin at both sides: `WIDE` or `NARROW` @returns {Layout} */
export function layoutOf(of, margin) {
  /** @type {Column[]} */
  const columns = [];
  /** @type {Frame[]} */
  const frames = [];
  for (const name of /** @type {const} */ (["encoder", "decoder"])) {
    const stack = of[name];
    if (!stack) continue;
    const column = new Column(name, stack, of, margin + FRAME / 2 + columns.length * (FRAME + BETWEEN), 0);
    columns.push(column);
    column.add("inputs");
    column.add("embedding");
    if (stack.hasPositions) column.add("positions");
    frames.push(column.layers());
    if (of.norm === "pre") column.add("final_norm");
    if (stack.writes) for (const kind of /** @type {const} */ (["linear", "softmax"])) column.add(kind);
  }
  const top = Math.min(...columns.map(({ y }) => y));
  // An encoder ends lower than a decoder: its output goes up and over to every cross-attention.
  const lines = [...columns.flatMap((column) => column.lines), ...memory(columns)];
  const boxes = columns.flatMap((column) => column.boxes);
  const down = 26 - top;
  for (const each of [...boxes, ...frames]) each.y += down;
  for (const { points } of lines) for (const point of points) point[1] += down;
  return {
    boxes,
    lines,
    frames,
    width: margin * 2 + FRAME + (columns.length - 1) * (FRAME + BETWEEN),
    height: down + 4,
  };
}

/** The encoder's output on its way to the decoder's cross-attention. @param {Column[]} columns @returns {Line[]} */
function memory([encoder, decoder]) {
  const cross = decoder?.boxes.find(({ kind }) => kind === "cross");
  const last = encoder?.boxes.at(-1);
  if (!cross || !last) return [];
  const [above, between] = [encoder.y - 14, (encoder.middle + decoder.middle) / 2];
  const height = cross.y + cross.height / 2;
  const start = Math.min(last.y, encoder.y);
  return [
    {
      id: "memory",
      points: [
        [encoder.middle, start],
        [encoder.middle, above],
        [between, above],
        [between, height],
        [cross.x, height],
      ],
      hasHead: true,
    },
  ];
}

/**
 * The box that an arrow key leads to: the nearest in that direction, those of the same column first.
 * @param {Place[]} boxes @param {number} from @param {string} key
 */
export function neighbour(boxes, from, key) {
  const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key] ?? [0, 0];
  const middle = (/** @type {Place} */ { x, y, width, height }) => [x + width / 2, y + height / 2];
  const [x, y] = middle(boxes[from]);
  let [best, least] = [-1, Infinity];
  boxes.forEach((box, i) => {
    const [toX, toY] = middle(box);
    const ahead = (toX - x) * dx + (toY - y) * dy;
    const aside = Math.abs((toX - x) * dy) + Math.abs((toY - y) * dx);
    const distance = ahead + 4 * aside;
    if (i !== from && ahead > 1 && distance < least) [best, least] = [i, distance];
  });
  return best;
}
