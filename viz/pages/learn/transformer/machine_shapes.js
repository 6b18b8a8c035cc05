// The shapes of the machine as paths of SVG: streams, what is added to them, feed-forward networks, rivers and lanes.

/** @import { Added } from "./model_columns.js" */
/** A tributary of a river: the key it comes from, at `x`; `path` is its middle line, `width` its weight. @typedef {{ key: number, weight: number, x: number, y: number, path: string, width: number }} Tributary */

/** Weights below this are left out of a river. */
export const LEAST_WEIGHT = 0.004;

const px = (/** @type {number} */ value) => Math.round(value * 10) / 10;

/** A band around the vertical line at `x`, through half widths at heights. @param {number} x @param {[y: number, half: number][]} points */
export function ribbon(x, points) {
  const right = points.map(([y, half]) => `${px(x + half)} ${px(y)}`);
  const left = points.map(([y, half]) => `${px(x - half)} ${px(y)}`).reverse();
  return `M${right.join("L")}L${left.join("L")}Z`;
}

/** What a sub-layer adds: a wedge that runs into the stream above it. @param {number} x @param {number} half @param {number} y its foot @param {number} height */
export const wedge = (x, half, y, height) =>
  `M${px(x - half)} ${px(y)}Q${px(x - half * 0.5)} ${px(y - height * 0.6)} ${px(x)} ${px(y - height)}Q${px(x + half * 0.5)} ${px(y - height * 0.6)} ${px(x + half)} ${px(y)}Z`;

/** Whether a norm follows the sum. @param {Added} added */
export const isNormed = ({ summed, after }) => Math.abs(after - summed) > 0.01 * summed;

/** A norm: a ring around the stream. @param {number} x @param {number} y @param {number} half */
export const normRing = (x, y, half) => ({ cx: x, cy: y, rx: half + 3, ry: 2.2, class: "model-norm" });

/** A feed-forward network: wide inside, and each token alone. @param {number} x @param {number} narrow @param {number} wide @param {number} foot @param {number} top */
export function bulb(x, narrow, wide, foot, top) {
  const bend = (foot - top) * 0.34;
  return ribbon(x, [
    [foot, narrow],
    [foot - bend, wide],
    [top + bend, wide],
    [top, narrow],
  ]);
}

/**
 * Attention into one token: each key has a tributary as wide as its weight; all run on one rail and enter the column in
 * the order of their positions, so that no two cross.
 * @param {ArrayLike<number>} weights
 * @param {{ x: number, top: number, foot: number, thick: number, least: number, from(key: number): number, aside?: -1 | 0 | 1 }} place
 *   `from`: where a key is; `aside`: keys come from lanes left of the columns, from above (-1) or below (1)
 * @returns {Tributary[]}
 */
export function river(weights, { x, top, foot, thick, least, from, aside = 0 }) {
  const rail = (top + foot) / 2;
  const bend = Math.min(9, (foot - top) * 0.3);
  const keys = Array.from(weights, (weight, key) => ({ key, weight, at: from(key) }));
  const sideOf = (/** @type {number} */ at) => (aside || at < x - 1 ? -1 : at > x + 1 ? 1 : 0);
  const ordered = aside ? keys.sort((a, b) => aside * (a.at - b.at)) : keys;
  const total = (/** @type {number} */ side) =>
    ordered.reduce((sum, { weight, at }) => sum + (sideOf(at) === side ? weight * thick : 0), 0);
  const whole = total(-1) + total(0) + total(1);
  let [across, left, right] = [x - whole / 2, rail - total(-1) / 2, rail + total(1) / 2];
  /** @type {Tributary[]} */
  const found = [];
  for (const { key, weight, at } of ordered) {
    const width = weight * thick;
    const end = across + width / 2;
    across += width;
    const side = sideOf(at);
    let y = rail;
    if (side < 0) {
      y = left + width / 2;
      left += width;
    } else if (side > 0) {
      y = right - width / 2;
      right -= width;
    }
    if (weight < least) continue;
    const turn = Math.min(bend, Math.abs(end - at) / 2);
    const up = `Q${px(end)} ${px(y)} ${px(end)} ${px(y - Math.min(bend, y - top))}V${px(top)}`;
    const from = aside
      ? `M${px(at)} ${px(y + aside * bend)}Q${px(at)} ${px(y)} ${px(at + turn)} ${px(y)}`
      : `M${px(at)} ${px(foot)}V${px(Math.max(y, foot - (foot - y) * 0.4))}Q${px(at)} ${px(y)} ${px(at - side * turn)} ${px(y)}`;
    const path = side ? `${from}H${px(end + side * turn)}${up}` : `M${px(end)} ${px(foot)}V${px(top)}`;
    found.push({ key, weight, x: at, y, path, width: Math.max(0.8, width) });
  }
  return found;
}

/** A line of one weight among many: through a slab from a key to a row. @param {number} from @param {number} foot @param {number} to @param {number} top */
export const strand = (from, foot, to, top) => {
  const middle = px((foot + top) / 2);
  return `M${px(from)} ${px(foot)}C${px(from)} ${middle} ${px(to)} ${middle} ${px(to)} ${px(top)}`;
};

/** The end of a stream of the encoder on its way: up, across above the encoder, and along the shaft. @param {number} from @param {number} end @param {{ x: number, y: number }} lane @param {number} to */
export function lanePath(from, end, { x, y }, to) {
  const side = Math.sign(x - from) || 1;
  const turn = Math.min(10, Math.abs(x - from) / 2, end - y);
  const down = Math.sign(to - y);
  return `M${px(from)} ${px(end)}V${px(y + turn)}Q${px(from)} ${px(y)} ${px(from + side * turn)} ${px(y)}H${px(x - side * turn)}Q${px(x)} ${px(y)} ${px(x)} ${px(y + down * turn)}V${px(to)}`;
}

/** A smooth line through points. @param {[x: number, y: number][]} points */
export function smooth(points) {
  const [first, ...rest] = points;
  let path = `M${px(first[0])} ${px(first[1])}`;
  rest.forEach(([x, y], at) => {
    const [beforeX, beforeY] = points[at];
    const middle = px((beforeX + x) / 2);
    path += `C${middle} ${px(beforeY)} ${middle} ${px(y)} ${px(x)} ${px(y)}`;
  });
  return path;
}

/**
 * A stream through a layer, from its foot to its top: what is added widens it, a norm after the sum makes it as wide as
 * what goes on.
 * @param {number} x @param {{ top: number, foot: number }} layer @param {{ top: number, foot: number, of: Added | null }[]} bodies @param {(norm?: number) => number} half @param {number | undefined} begin
 */
export function stream(x, { top, foot }, bodies, half, begin) {
  /** @type {[number, number][]} */
  const points = [[foot, half(begin)]];
  for (const { of, ...body } of bodies) {
    if (!of) continue;
    const rise = Math.min((body.foot - body.top) * 0.45, 12);
    points.push([body.top + rise, half(of.before)], [body.top, half(of.summed)], [body.top - 1, half(of.after)]);
  }
  points.push([top, points[points.length - 1][1]]);
  return ribbon(x, points);
}
