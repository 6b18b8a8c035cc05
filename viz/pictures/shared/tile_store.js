// Tiles that wait in the browser, by address, and requests for exact ones. Every component is a module of its own; here they meet.
/** @import { Tiles } from "./head_tiles.js" */

/** @typedef {{ tiles: Tiles, keepers: Set<object> }} Kept tiles, and who keeps them */
const page = /** @type {{ headlightTiles?: { kept: Map<string, Kept>, arrivals: EventTarget } }} */ (globalThis);
page.headlightTiles ??= { kept: new Map(), arrivals: new EventTarget() };
const STORE = page.headlightTiles;

/** The tiles of this address, if they have come. @param {string} address */
export const tilesAt = (address) => STORE.kept.get(address)?.tiles;

/**
 * Where an element of the page is built anew, two keepers keep the same tiles for a while: the first ones stay, with
 * all layers that have come.
 * @param {string} address @param {Tiles} tiles @param {object} keeper
 */
export function keepTiles(address, tiles, keeper) {
  const kept = STORE.kept.get(address) ?? { tiles, keepers: new Set() };
  STORE.kept.set(address, kept);
  kept.keepers.add(keeper);
  tilesChanged(address);
}

/** More of these tiles have come. @param {string} address */
export function tilesChanged(address) {
  STORE.arrivals.dispatchEvent(new Event(address));
}

/** These tiles go once nobody keeps them. @param {string} address @param {object} keeper */
export function dropTiles(address, keeper) {
  const kept = STORE.kept.get(address);
  kept?.keepers.delete(keeper);
  if (!kept?.keepers.size) STORE.kept.delete(address);
}

/** Calls `go` once, when more of these tiles come; returns what stops the waiting. @param {string} address @param {() => void} go */
export function onTiles(address, go) {
  STORE.arrivals.addEventListener(address, go, { once: true });
  return () => STORE.arrivals.removeEventListener(address, go);
}

/** An exact tile's numbers are the largest of 2^level × 2^level cells; its row and column count in tiles. @typedef {{ level: number, row: number, column: number }} TileName */
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
