// @ts-check
// Where a picture asks for exact tiles, and where they arrive. Every component is a module of its own; here they meet.
// A tile's numbers are the largest of 2^level × 2^level cells, its row and column count in tiles.

/** @typedef {{ level: number, row: number, column: number }} TileName */
/** @typedef {TileName & { rows: number, columns: number, values: Float32Array }} ExactTile */

export const TILE_SIDE = 256;
const meeting = /** @type {{ headlightTileRequests?: EventTarget }} */ (globalThis);
meeting.headlightTileRequests ??= new EventTarget();
const REQUESTS = meeting.headlightTileRequests;

/** @param {TileName} name */
export const nameOfTile = ({ level, row, column }) => `${level}/${row}/${column}`;

/** Ask for tiles of the matrix at this address. @param {string} address @param {TileName[]} tiles */
export function askForTiles(address, tiles) {
  REQUESTS.dispatchEvent(new CustomEvent("asked", { detail: { address, tiles } }));
}

/** Tiles have come; none if the request could not be met. @param {string} address @param {ExactTile[]} tiles */
export function deliverTiles(address, tiles) {
  REQUESTS.dispatchEvent(new CustomEvent("delivered", { detail: { address, tiles } }));
}

/** @param {(address: string, tiles: TileName[]) => void} hear @param {AbortSignal} signal */
export const onAskedTiles = (hear, signal) => listen("asked", hear, signal);

/** @param {(address: string, tiles: ExactTile[]) => void} hear @param {AbortSignal} signal */
export const onDeliveredTiles = (hear, signal) => listen("delivered", hear, signal);

/** @param {string} name @param {(address: string, tiles: any[]) => void} hear @param {AbortSignal} signal */
function listen(name, hear, signal) {
  const take = (/** @type {any} */ { detail }) => hear(detail.address, detail.tiles);
  REQUESTS.addEventListener(name, take, { signal });
}
