// The machine at rest: slabs, streams with what is added to them, networks, the memory's lanes, and how tokens enter. What
// is lit of it, and the rivers into it, are drawn by lit_tokens.js.
import { svg } from "../../../pictures/shared/drawing.js";
import { _ } from "../../../pictures/shared/messages.js";
import { clamp } from "../../../pictures/shared/picture.js";
import { columnMiddle, laneOf } from "./machine_layout.js";
import { bulb, isNormed, lanePath, normRing, smooth, stream, wedge } from "./machine_shapes.js";
import { imageAddress, inSvg, shape } from "./shapes.js";

/** @import { Kind, Machine, Placed } from "./machine_layout.js" */
/** @import { Added, ModelColumns } from "./model_columns.js" */
/** @import { PaintedScale } from "./row_pictures.js" */
/** @import { Stack } from "./walk.js" */

/** How wide the widest stream is, and a network, as a share of a column. */
const [STREAM, NETWORK] = [0.6, 0.86];
/** Where columns are closer, networks and wedges are not drawn. */
const DETAILED_FROM = 8;
/** What of a chance is drawn above a column. */
export const CHANCE = 22;

export class MachineDrawing {
  /** @param {ModelColumns} columns @param {Machine} machine */
  constructor(columns, machine) {
    this.columns = columns;
    this.machine = machine;
  }

  /** @param {Stack} stack @returns {Placed} */
  towerOf({ name }) {
    const { towers } = this.machine;
    return towers.find((tower) => tower.name === name) ?? towers[0];
  }

  /** @param {Stack} stack @param {number} column */
  x(stack, column) {
    return columnMiddle(this.machine, this.towerOf(stack), column);
  }

  /** Half the width of a vector. @param {number | undefined} norm */
  half(norm) {
    return Math.max(0.6, (this.columns.share(norm) * this.machine.pitch * STREAM) / 2);
  }

  /** Attention mixes tokens: a slab across all columns. @param {Stack} stack */
  slabs(stack) {
    const { left, columns, layers } = this.towerOf(stack);
    const width = columns * this.machine.pitch;
    return layers
      .flatMap(({ bodies }) => bodies)
      .filter(({ kind }) => kind !== "feed_forward")
      .map(({ kind, top, foot }) =>
        svg("rect", { x: left - 3, y: top, width: width + 6, height: foot - top, rx: 6, class: `model-slab ${kind}` }),
      );
  }

  /** What a column is made of in a layer. @param {Stack} stack @param {number} layer @param {number} column */
  columnParts(stack, layer, column) {
    const { columns, machine } = this;
    const placed = this.towerOf(stack).layers[layer];
    const x = this.x(stack, column);
    const bodies = placed.bodies.map((body) => ({ ...body, of: columns.added(stack, layer, body.kind, column) }));
    const half = (/** @type {number | undefined} */ norm) => this.half(norm);
    const d = stream(x, placed, bodies, half, columns.length(stack, layer, column));
    const details = machine.pitch < DETAILED_FROM ? [] : bodies;
    const parts = details.flatMap((body) => inColumn(x, body, half, (machine.pitch * NETWORK) / 2));
    return [svg("path", { d, class: "model-stream" }), ...parts.map(inSvg)];
  }

  /** The first numbers of a token's vector, as a column of cells. @param {Stack} stack @param {number} column @param {PaintedScale} scale */
  vector(stack, column, { pixels }) {
    const { top, foot } = this.towerOf(stack).embedding;
    const width = clamp(2, this.machine.pitch * 0.46, 16);
    const box = { x: this.x(stack, column) - width / 2, y: top + 2, width, height: foot - top - 4 };
    const found = this.columns.norms.get(stack.name)?.vectors;
    if (!found) return svg("rect", { ...box, class: "model-vector unknown" });
    const bound = found.reduce((most, value) => Math.max(most, Math.abs(value)), 0) * 0.6 || 1;
    const own = found.subarray(column * stack.shown, (column + 1) * stack.shown);
    const colours = Uint32Array.from(own, (value) => pixels[Math.round(255 * clamp(0, 0.5 + value / bound / 2, 1))]);
    const look = { ...box, href: imageAddress(colours, 1), preserveAspectRatio: "none", class: "model-vector" };
    return svg("image", look);
  }

  /** What positions add: some components as waves, read off where each token stands. @param {Stack} stack */
  waves(stack) {
    const { tokens, waves } = stack;
    const found = this.columns.norms.get(stack.name)?.waves;
    if (!found || !waves) return [];
    const { top, foot } = this.towerOf(stack).positions;
    const most = found.reduce((size, value) => Math.max(size, Math.abs(value)), 0) || 1;
    const [middle, high] = [(top + foot) / 2, (foot - top) * 0.38];
    return Array.from({ length: waves }, (_wave, at) => {
      const points = tokens.map((_token, column) => {
        const y = middle - (found[column * waves + at] / most) * high;
        return /** @type {[number, number]} */ ([this.x(stack, column), y]);
      });
      const dots = points.map(([cx, cy]) => svg("circle", { cx, cy, r: 1.6 }));
      const look = { class: "model-wave", style: `--faint:${0.95 - at * 0.28}` };
      return svg("g", look, svg("path", { d: smooth(points) }), ...dots);
    });
  }

  /** The lane of a source token, down to the lowest layer that reads it or all others. @param {number} column @param {number} [to] */
  lane(column, to = this.lowest) {
    const [encoder] = this.machine.towers;
    const lane = laneOf(this.machine, column);
    return lanePath(columnMiddle(this.machine, encoder, column), encoder.end, lane, to);
  }

  /** Where the memory ends: at the cross-attention that is farthest from the encoder. */
  get lowest() {
    const rails = this.machine.towers[1].layers.map((_layer, layer) => this.rail(layer));
    return this.machine.isStacked ? Math.min(...rails) : Math.max(...rails);
  }

  /** The height at which cross-attention of a layer reads. @param {number} layer */
  rail(layer) {
    const cross = this.machine.towers[1].layers[layer]?.bodies.find(({ kind }) => kind === "cross");
    return cross ? (cross.top + cross.foot) / 2 : this.machine.towers[1].end;
  }

  /** Where a body of a layer is. @param {Stack} stack @param {number} layer @param {string} kind */
  body(stack, layer, kind) {
    return this.towerOf(stack).layers[layer]?.bodies.find((body) => body.kind === kind);
  }
}

/**
 * What a sub-layer is in a column: a network, what it adds, and a norm after that.
 * @param {number} x @param {import("./machine_layout.js").Body & { of: Added | null }} body @param {(norm?: number) => number} half
 * @param {number} wide half of what a network takes @param {number} [opacity] of what it adds
 */
export function inColumn(x, { kind, of, top, foot }, half, wide, opacity = 1) {
  const network = bulb(x, Math.min(half(of?.before) + 1, wide), wide, foot, top);
  const parts = kind === "feed_forward" ? [shape("path", { d: network, class: "model-network" })] : [];
  if (!of || !opacity) return parts;
  const d = wedge(x, half(of.added), top + 1, Math.min((foot - top) * 0.6, 22) + 4);
  parts.push(shape("path", { d, class: `model-added ${kind}`, opacity }));
  const ring = normRing(x, top - 1, half(Math.max(of.summed, of.after)));
  return isNormed(of) ? [...parts, shape("ellipse", { ...ring, opacity })] : parts;
}

/** The sub-layers of a stack; where a model does not tell them, the attentions that are known. @param {ModelColumns} columns @param {Stack} stack @returns {Kind[][]} */
export function kindsOf(columns, { name, layers, kinds }) {
  if (kinds.length) return /** @type {Kind[][]} */ (kinds);
  const known = /** @type {Kind[]} */ (["self", "cross"].filter((kind) => columns.sites.has(`${name}.${kind}`)));
  return Array.from({ length: layers }, () => known);
}

/** What the shapes mean that are drawn in columns so wide. @param {ModelColumns} columns @param {number} pitch @returns {[string, string][]} */
export function legendOf(columns, pitch) {
  const { header, sites, norms } = columns;
  const known = _("residual stream: width shows the norm (log scale)");
  /** @type {[string, string][]} */
  const found = [["var(--walk-stream)", norms.size ? known : _("residual stream of a token")]];
  found.push(["var(--walk-self)", _("attention of one head: width shows the weights")]);
  if (sites.has("decoder.cross")) found.push(["var(--walk-cross)", _("memory: the encoder's output for each token")]);
  if (pitch < DETAILED_FROM) return found;
  if (header.stacks.some(({ kinds }) => kinds.flat().includes("feed_forward")))
    found.push(["var(--walk-network)", _("feed-forward: each token separately")]);
  const isRinged = (/** @type {Stack} */ stack, /** @type {number} */ layer, /** @type {string} */ kind) =>
    stack.tokens.some((_token, column) => {
      const added = columns.added(stack, layer, kind, column);
      return added && isNormed(added);
    });
  if (header.stacks.some((stack) => stack.kinds.some((all, layer) => all.some((kind) => isRinged(stack, layer, kind)))))
    found.push(["var(--walk-norm)", _("ring: the stream is normalised")]);
  return found;
}
