// Where the parts of the machine are, and of one layer, opened: a pure function of how many columns, layers and heads there
// are, and how much room. x is always a token.

/** @typedef {"self" | "cross" | "feed_forward"} Kind */
/**
 * What is to be laid out: of each layer its sub-layers; `hasPositions` for a band of what positions add, `hasLens` for words
 * at the right.
 * @typedef {{ name: string, columns: number, kinds: Kind[][], hasPositions: boolean, hasLens: boolean }} Tower
 * @typedef {{ width: number, level: number, least: number, tokens: number, outputs: number, picture: number, hasTitle: boolean }} Room `level`: the height of a layer; `least`: the width of a column; `tokens`: the height of their names, `outputs`: of what is written above, `picture`: of what the encoder reads as patches
 */
/**
 * A body is a sub-layer; `foot` lies below `top`.
 * @typedef {{ kind: Kind, top: number, foot: number }} Body
 * @typedef {{ top: number, foot: number, bodies: Body[] }} Layer
 * @typedef {{
 *   name: string, left: number, columns: number, layers: Layer[], end: number, tokens: number,
 *   embedding: { top: number, foot: number }, positions: { top: number, foot: number },
 * }} Placed `end`: where its streams end; `tokens`: where the names of its tokens begin
 * @typedef {{ left: number, lane: number, count: number }} Shaft where the memory goes from the encoder to the decoder
 * @typedef {{ pitch: number, towers: Placed[], shaft: Shaft | null, isStacked: boolean, width: number, height: number, picture: number }} Machine `picture`: where the foot of a picture may be
 */

/** Below this width the decoder stands above the encoder; from the other on there is room for words beside. */
export const STACKED_BELOW = 640;
export const ROOMY_FROM = 900;
const WIDEST_PITCH = 52;
/** Heights of the bands in which a token becomes a vector. */
const [EMBEDDING, POSITIONS] = [30, 24];
/** How much of a layer an attention takes, a feed-forward network, and the gap below each. */
const SHARES = { self: 1.25, cross: 1.25, feed_forward: 1, gap: 0.2 };
/** Room of the names of layers, of words at the right, and beside lanes. */
const ROOMY = { left: 74, right: 34, lens: 104, beside: 92, lane: 5, lanes: 84 };
const CLOSE = { left: 34, right: 20, lens: 74, beside: 52, lane: 3.4, lanes: 52 };
const TIGHT = { left: 34, right: 12, lens: 58, beside: 16, lane: 2.4, lanes: 34 };
/** Left of towers one above the other, where names of layers stand beside lanes. */
const STACKED_LEFT = 8;
/** Above the encoder, where its lanes turn, and its name above them; right of the decoder, its own. */
const [TURN, ENCODER_NAME, DECODER_NAME] = [26, 38, 84];

/** @param {Tower[]} towers the encoder first @param {Room} room @returns {Machine} */
export function layOut(towers, room) {
  const isStacked = towers.length > 1 && room.width < STACKED_BELOW;
  const around = room.width < STACKED_BELOW ? TIGHT : room.width < ROOMY_FROM ? CLOSE : ROOMY;
  const margin = isStacked ? STACKED_LEFT : around.left;
  const [first, last] = [towers[0], towers[towers.length - 1]];
  const hasMemory = towers.length > 1;
  const lane = Math.min(around.lane, around.lanes / first.columns);
  const shaft = hasMemory ? lane * first.columns + around.beside : 0;
  const right = Math.max(last.hasLens ? around.lens : around.right, room.hasTitle && !isStacked ? DECODER_NAME : 0);
  const columns = isStacked
    ? Math.max(...towers.map((each) => each.columns))
    : total(towers.map((each) => each.columns));
  const free = room.width - margin - right - shaft;
  const pitch = Math.min(Math.max(free / Math.max(columns, 1), room.least), WIDEST_PITCH);
  // What is narrower than its room stands in the middle.
  const spare = Math.max(0, (free - columns * pitch) / 2);
  const begin = margin + spare + (isStacked ? shaft : 0);

  const lanes = (hasMemory ? lane * first.columns + TURN : 0) + (room.hasTitle ? ENCODER_NAME : 0);
  /** @type {Placed[]} */
  const placed = [];
  const heights = towers.map((tower) => heightOf(tower, room));
  const above = Math.max(room.outputs, room.hasTitle ? 24 : 8);
  const tallest = isStacked ? 0 : Math.max(...heights);
  let foot = isStacked ? 0 : Math.max(above, lanes + room.picture) + tallest;
  if (isStacked) foot = above + heights[1] + lanes + room.picture + heights[0] + room.tokens;
  let left = begin;
  towers.forEach((tower, at) => {
    placed.push(place(tower, left, foot, room));
    if (isStacked) foot -= heights[0] + lanes + room.picture + room.tokens;
    else left += tower.columns * pitch + (at + 1 < towers.length ? shaft : 0);
  });
  const [lowest] = placed;
  const end = isStacked ? begin + columns * pitch + right : left + right;
  const inShaft = isStacked ? margin + spare + 2 : begin + first.columns * pitch + around.beside * 0.16;
  return {
    pitch,
    towers: placed,
    shaft: hasMemory ? { left: inShaft, lane, count: first.columns } : null,
    isStacked,
    width: Math.max(room.width, end),
    height: lowest.tokens + room.tokens,
    picture: lowest.end - lanes,
  };
}

/** @param {number[]} numbers */
const total = (numbers) => numbers.reduce((all, each) => all + each, 0);

/** @param {Tower} tower @param {Room} room */
const heightOf = ({ kinds, hasPositions }, { level }) =>
  EMBEDDING + (hasPositions ? POSITIONS : 6) + kinds.length * level;

/** @param {Tower} tower @param {number} left @param {number} foot @param {Room} room @returns {Placed} */
function place({ name, columns, kinds, hasPositions }, left, foot, { level }) {
  const embedding = { foot, top: foot - EMBEDDING };
  const positions = { foot: embedding.top, top: embedding.top - (hasPositions ? POSITIONS : 6) };
  let at = positions.top;
  const layers = kinds.map((of) => {
    const unit = level / total([...of.map((kind) => SHARES[kind] + SHARES.gap), of.length ? 0 : 1]);
    const low = at;
    const bodies = of.map((kind) => {
      const foot = at - SHARES.gap * unit;
      at = foot - SHARES[kind] * unit;
      return { kind, foot, top: at };
    });
    at = low - level;
    return { foot: low, top: at, bodies };
  });
  return { name, left, columns, layers, end: at, tokens: foot, embedding, positions };
}

/** The middle of a column. @param {Machine} machine @param {Placed} tower @param {number} column */
export const columnMiddle = ({ pitch }, { left }, column) => left + (column + 0.5) * pitch;

/** Where the lane of a column of the encoder is: across above it, and down the shaft. @param {Machine} machine @param {number} column */
export function laneOf({ shaft, towers: [encoder], isStacked }, column) {
  if (!shaft) return { x: 0, y: 0 };
  // Those that come from afar lie outside, so that none crosses another.
  const at = isStacked ? column : shaft.count - 1 - column;
  return { x: shaft.left + (at + 0.5) * shaft.lane, y: encoder.end - TURN * 0.6 - at * shaft.lane };
}

/** A head of an opened attention. @typedef {{ head: number, top: number, foot: number }} Stratum */
/** @typedef {{ kind: Kind, top: number, foot: number, strata: Stratum[], keys: { top: number, foot: number } }} OpenBody `keys`: where the names of the memory stand */
/**
 * A layer, closed or opened.
 * @typedef {{
 *   left: number, pitch: number, columns: number, bodies: OpenBody[], tokens: number, width: number, height: number,
 *   memory: { left: number, pitch: number }, unfolded: number,
 * }} OpenLayer `memory`: where its keys are; `unfolded`: from 0, a layer of the whole model, to 1, opened
 */
/** What is laid out of a layer. @typedef {{ width: number, columns: number, keys: number, heads: Partial<Record<Kind, number>>, open: string, head: number, far: number, rows?: number }} Opening `keys`: of the memory; `open`: the attention whose `head` is open; `far`: how far it is, from 0 (a stratum like others) to 1 (as high as its `rows`) */

/** Of an opened layer, then of one whose head is open: gaps between bodies, and networks. */
const BETWEEN = [20, 12];
const BULB = [84, 34];
/** Titles; names that lie and names that lean. */
const [TITLE, LYING_NAME, LEANING_NAME] = [24, 26, 66];
/** The lowest and highest stratum, and how high all are together: where heads are looked at, elsewhere; then the same where one head is open. */
const STRATA = [
  { least: 16, most: 38, all: 310 },
  { least: 4, most: 9, all: 72 },
];
const CLOSED_STRATA = [
  { least: 8, most: 16, all: 120 },
  { least: 4, most: 6, all: 48 },
];
/** From this width on a name lies. */
export const LYING_FROM = 42;
/** From this width on what is said of the rows of a head stands beside them, in so much room. */
export const BESIDE_FROM = 860;
export const BESIDE = 268;
const [OPEN_LEFT, OPEN_RIGHT, NARROW] = [104, 118, { left: 60, right: 8 }];

/**
 * One layer, opened: each attention has a stratum a head, on the columns of the tower. All but the open head draws together
 * as that is opened.
 * @param {Kind[]} kinds from below @param {Opening} opening @returns {OpenLayer}
 */
export function openLayer(kinds, { width, columns, keys, heads, open, head, far, rows = 0 }) {
  const wide = { left: OPEN_LEFT, right: width < BESIDE_FROM ? OPEN_RIGHT : BESIDE };
  const { left, right } = width < STACKED_BELOW ? NARROW : wide;
  const pitch = Math.max((width - left - right) / Math.max(columns, 1), 9);
  const between = (/** @type {number[]} */ [closed, opened]) => Math.round(closed + (opened - closed) * far);
  const nameOf = (/** @type {number} */ room) => (room < LYING_FROM ? LEANING_NAME : LYING_NAME);
  let at = between(BETWEEN);
  const bodies = [...kinds].reverse().map((kind) => {
    const top = at;
    at += kind === "feed_forward" ? between(BULB) : TITLE;
    const count = heads[kind] ?? 0;
    const sizes = kind === open ? STRATA : CLOSED_STRATA;
    const heights = sizes.map(({ least, most, all }) => Math.min(Math.max(all / Math.max(count, 1), least), most));
    const strata = Array.from({ length: count }, (_head, each) => {
      const top = at;
      at += between(kind === open && each === head ? [heights[0], rows] : heights);
      return { head: each, top, foot: at };
    });
    // Below the rows of a head stand its own keys.
    const room = nameOf((pitch * columns) / Math.max(keys, 1));
    const names = { top: at, foot: at + between([room, kind === open ? 0 : room]) };
    if (kind === "cross") at = names.foot;
    else names.foot = at;
    const foot = at + (count ? 4 : 0);
    at = foot + between(BETWEEN);
    return { kind, top, foot, strata, keys: names };
  });
  bodies.reverse();
  const room = nameOf(pitch);
  const height = at + between([room, open === "self" ? 0 : room]);
  const memory = { left, pitch: (pitch * columns) / Math.max(keys, 1) };
  const whole = Math.max(width, left + pitch * columns + right);
  return { left, pitch, columns, bodies, tokens: at, width: whole, height, memory, unfolded: 1 };
}

/**
 * A layer of the machine as one that is opened no way yet: every head is the whole slab. Its own top is 0.
 * @param {Machine} machine @param {Placed} tower @param {number} layer @param {Opening["heads"]} heads @returns {OpenLayer}
 */
export function closedLayer({ pitch, shaft, width }, { left, columns, layers }, layer, heads) {
  const { top: end, foot, bodies } = layers[layer];
  // Lanes of the memory: the one from afar lies outside, but where towers are stacked.
  const lanes = shaft && { left: shaft.left + shaft.count * shaft.lane, pitch: -shaft.lane };
  const opened = bodies.map(({ kind, ...body }) => {
    const own = { top: body.top - end, foot: body.foot - end };
    const strata = Array.from({ length: heads[kind] ?? 0 }, (_head, head) => ({ head, ...own }));
    return { kind, ...own, strata, keys: { top: own.foot, foot: own.foot } };
  });
  const height = foot - end;
  return {
    ...{ left, pitch, columns, width, height, tokens: height, unfolded: 0 },
    bodies: opened,
    memory: lanes ?? { left, pitch },
  };
}

/**
 * A layout on its way to another one of the same parts.
 * @template T @param {T} from @param {T} to @param {number} far @returns {T}
 */
export function mixed(from, to, far) {
  if (typeof from === "number") return /** @type {T} */ (from + (Number(to) - from) * far);
  if (!from || typeof from !== "object") return from;
  const parts = Object.entries(from).map(([name, part]) => [name, mixed(part, /** @type {any} */ (to)[name], far)]);
  return /** @type {T} */ (Array.isArray(from) ? parts.map(([, part]) => part) : Object.fromEntries(parts));
}

/** The parts of a layer from above to below, by name: those that lie within another one first, once that is opened. @param {OpenLayer} placed @returns {[string, { top: number, foot: number }][]} */
export function partsOf({ bodies, tokens, height, unfolded }) {
  const strata = bodies.flatMap(({ kind, strata }) => strata.map((part) => [`${kind} ${part.head}`, part]));
  const gaps = bodies.map(({ kind, top }, at) => [`above ${kind}`, { top: bodies[at + 1]?.foot ?? 0, foot: top }]);
  const below = { top: bodies[0]?.foot ?? 0, foot: tokens };
  const own = bodies.map((body) => [body.kind, body]);
  const names = { top: tokens, foot: height };
  return /** @type {[string, { top: number, foot: number }][]} */ ([
    ...(unfolded ? [...strata, ...own] : [...own, ...strata]),
    ...gaps,
    ["below", below],
    ["names", names],
  ]);
}
