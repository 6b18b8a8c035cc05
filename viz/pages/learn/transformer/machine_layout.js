// Where the parts of the machine are: a pure function of how many columns and layers there are, how much room, and how far
// each body is open. x is always a token; only y unfolds.

/** @typedef {"self" | "cross" | "feed_forward"} Kind */
/**
 * What is to be laid out: of each layer its sub-layers; `hasPositions` for a band of what positions add, `hasLens` for words
 * at the right.
 * @typedef {{ name: string, columns: number, kinds: Kind[][], hasPositions: boolean, hasLens: boolean }} Tower
 * @typedef {{ width: number, level: number, least: number, tokens: number, outputs: number, hasTitle: boolean }} Room `level`: the height of a layer; `least`: the width of a column; `tokens`: the height of their names, `outputs`: of what is written above
 */
/**
 * A body is a sub-layer; `foot` lies below `top`.
 * @typedef {{ kind: Kind, layer: number, top: number, foot: number }} Body
 * @typedef {{ top: number, foot: number, bodies: Body[] }} Layer
 * @typedef {{
 *   name: string, left: number, columns: number, layers: Layer[], end: number, tokens: number,
 *   embedding: { top: number, foot: number }, positions: { top: number, foot: number },
 * }} Placed `end`: where its streams end; `tokens`: where the names of its tokens begin
 * @typedef {{ left: number, lane: number, count: number }} Shaft where the memory goes from the encoder to the decoder
 * @typedef {{ pitch: number, towers: Placed[], shaft: Shaft | null, isStacked: boolean, width: number, height: number }} Machine
 */

/** Below this width the decoder stands above the encoder; from the other on there is room for words beside. */
export const STACKED_BELOW = 640;
export const ROOMY_FROM = 900;
const WIDEST_PITCH = 52;
/** Heights of the bands in which a token becomes a vector; on a narrow page. */
const [EMBEDDING, POSITIONS] = [30, 24];
/** How much of a layer an attention takes, a feed-forward network, and the gap below each. */
const SHARES = { self: 1.25, cross: 1.25, feed_forward: 1, gap: 0.2 };
/** Room of the names of layers, of words at the right, and beside lanes. */
const ROOMY = { left: 74, right: 34, lens: 104, beside: 92, lane: 5, lanes: 84 };
const CLOSE = { left: 30, right: 20, lens: 74, beside: 52, lane: 3.4, lanes: 52 };
const TIGHT = { left: 8, right: 12, lens: 58, beside: 16, lane: 2.4, lanes: 34 };
/** Above the encoder, where its lanes turn. */
const TURN = 26;

/** @param {Tower[]} towers the encoder first @param {Room} room @param {(stack: string, layer: number) => number} [opened] how many times as high a layer is as a closed one @returns {Machine} */
export function layOut(towers, room, opened = () => 1) {
  const isStacked = towers.length > 1 && room.width < STACKED_BELOW;
  const around = room.width < STACKED_BELOW ? TIGHT : room.width < ROOMY_FROM ? CLOSE : ROOMY;
  const [first, last] = [towers[0], towers[towers.length - 1]];
  const hasMemory = towers.length > 1;
  const lane = Math.min(around.lane, around.lanes / first.columns);
  const shaft = hasMemory ? lane * first.columns + around.beside : 0;
  const right = last.hasLens ? around.lens : around.right;
  const columns = isStacked
    ? Math.max(...towers.map((each) => each.columns))
    : total(towers.map((each) => each.columns));
  const free = room.width - around.left - right - shaft;
  const pitch = Math.min(Math.max(free / Math.max(columns, 1), room.least), WIDEST_PITCH);
  // What is narrower than its room stands in the middle.
  const spare = Math.max(0, (free - columns * pitch) / 2);
  const begin = around.left + spare + (isStacked ? shaft : 0);

  const lanes = hasMemory ? lane * first.columns + TURN : 0;
  /** @type {Placed[]} */
  const placed = [];
  const heights = towers.map((tower) => heightOf(tower, room, opened));
  const above = Math.max(room.outputs, room.hasTitle ? 24 : 8);
  const tallest = isStacked ? 0 : Math.max(...heights);
  let foot = isStacked ? 0 : Math.max(above, lanes + (room.hasTitle ? 38 : 0)) + tallest;
  if (isStacked) foot = above + heights[1] + lanes + heights[0] + room.tokens;
  let left = begin;
  towers.forEach((tower, at) => {
    placed.push(place(tower, left, foot, room, opened));
    if (isStacked) foot -= heights[0] + lanes + room.tokens;
    else left += tower.columns * pitch + (at + 1 < towers.length ? shaft : 0);
  });
  const [lowest] = placed;
  const end = isStacked ? begin + columns * pitch + right : left + right;
  const inShaft = isStacked ? around.left + spare + 2 : begin + first.columns * pitch + around.beside * 0.16;
  return {
    pitch,
    towers: placed,
    shaft: hasMemory ? { left: inShaft, lane, count: first.columns } : null,
    isStacked,
    width: Math.max(room.width, end),
    height: lowest.tokens + room.tokens,
  };
}

/** @param {number[]} numbers */
const total = (numbers) => numbers.reduce((all, each) => all + each, 0);

/** @param {Tower} tower @param {Room} room @param {(stack: string, layer: number) => number} opened */
const heightOf = ({ name, kinds, hasPositions }, { level }, opened) =>
  EMBEDDING + (hasPositions ? POSITIONS : 6) + total(kinds.map((_kinds, layer) => level * opened(name, layer)));

/** @param {Tower} tower @param {number} left @param {number} foot @param {Room} room @param {(stack: string, layer: number) => number} opened @returns {Placed} */
function place({ name, columns, kinds, hasPositions }, left, foot, { level }, opened) {
  const embedding = { foot, top: foot - EMBEDDING };
  const positions = { foot: embedding.top, top: embedding.top - (hasPositions ? POSITIONS : 6) };
  let at = positions.top;
  const layers = kinds.map((of, layer) => {
    const height = level * opened(name, layer);
    const unit = height / total([...of.map((kind) => SHARES[kind] + SHARES.gap), of.length ? 0 : 1]);
    const low = at;
    const bodies = of.map((kind) => {
      const foot = at - SHARES.gap * unit;
      at = foot - SHARES[kind] * unit;
      return { kind, layer, foot, top: at };
    });
    at = low - height;
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

/** What lies at a height of a tower: a level as the film counts them. @param {Placed} tower @param {number} y */
export function levelAt({ layers, positions }, y) {
  if (y > positions.top) return 0;
  const found = layers.findIndex(({ top }) => y >= top);
  return found < 0 ? layers.length + 1 : found + 1;
}
