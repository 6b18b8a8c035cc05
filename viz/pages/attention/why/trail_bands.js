// Outlines of the bands of a trail's picture: along corners at right angles, evenly thick, or cut off like a ribbon.

/** @typedef {[x: number, y: number]} Point */

/** How round the inner side of a bend is. */
export const BEND = 7;
/** How long what is followed no further is, and how deep it is cut. */
const [STUB, CUT] = [26, 6];

/** A number of 1, 2 or 5 times a power of ten that is at most `limit`. @param {number} limit */
export function roundBelow(limit) {
  const power = 10 ** Math.floor(Math.log10(limit));
  return power * (limit / power >= 5 ? 5 : limit / power >= 2 ? 2 : 1);
}

/** @param {Point[]} corners */
export const closed = (corners) => `M${corners.map(written).join("L")}Z`;

/** What is followed no further: from `x` on, below `y`. @param {number} x @param {number} y @param {number} thickness @returns {Point[]} */
export const stub = (x, y, thickness) => [
  [x, y],
  [x + STUB, y],
  [x + STUB - Math.min(CUT, thickness / 2), y + thickness / 2],
  [x + STUB, y + thickness],
  [x, y + thickness],
];

/** A band whose middle goes along `line`, with round bends, as an SVG path. @param {Point[]} line @param {number} thickness */
export function bandAlong(line, thickness) {
  const ways = line.slice(1).map(([x, y], i) => {
    const [dx, dy] = [x - line[i][0], y - line[i][1]];
    const length = Math.hypot(dx, dy) || 1;
    return [dx / length, dy / length];
  });
  const edge = (/** @type {1 | -1} */ side) =>
    line.map(([x, y], i) => {
      const [[ax, ay], [bx, by]] = [ways[Math.max(i - 1, 0)], ways[Math.min(i, ways.length - 1)]];
      const turn = ax * by - ay * bx;
      // At a bend an edge moves along both ways, at an end and where it goes straight on along one.
      const [nx, ny] = turn ? [-ay - by, ax + bx] : [-ay, ax];
      const corner = /** @type {Point} */ ([x + (side * thickness * nx) / 2, y + (side * thickness * ny) / 2]);
      return { corner, radius: turn ? BEND + (turn * side < 0 ? thickness : 0) : 0 };
    });
  return `M${rounded(edge(1))}L${rounded(edge(-1).reverse())}Z`;
}

/** @param {{ corner: Point, radius: number }[]} edge */
const rounded = (edge) =>
  edge
    .map(({ corner, radius }, i) => {
      if (!radius) return written(corner);
      const [before, after] = [edge[i - 1], edge[i + 1]].map((next) => written(between(corner, next.corner, radius)));
      return `${before}Q${written(corner)} ${after}`;
    })
    .join("L");

/** The point `far` from one on the way to another, at most in their middle. @param {Point} from @param {Point} to @param {number} far @returns {Point} */
function between([x, y], [toX, toY], far) {
  const part = Math.min(far / (Math.hypot(toX - x, toY - y) || 1), 0.5);
  return [x + (toX - x) * part, y + (toY - y) * part];
}

/** @param {Point} point */
const written = ([x, y]) => `${Number(x.toFixed(2))} ${Number(y.toFixed(2))}`;
