// @ts-check
// Tiles that wait in the browser, by address. Every component is a module of its own; here they meet.
/** @import { Tiles } from "./head_tiles.js" */

const page = /** @type {{ headlightTiles?: { kept: Map<string, Tiles>, arrivals: EventTarget } }} */ (globalThis);
page.headlightTiles ??= { kept: new Map(), arrivals: new EventTarget() };
const STORE = page.headlightTiles;

/** The tiles of this address, if they have come. @param {string} address */
export const tilesAt = (address) => STORE.kept.get(address);

/** @param {string} address @param {Tiles} tiles */
export function keepTiles(address, tiles) {
  STORE.kept.set(address, tiles);
  tilesChanged(address);
}

/** More of these tiles have come. @param {string} address */
export function tilesChanged(address) {
  STORE.arrivals.dispatchEvent(new Event(address));
}

/** @param {string} address */
export function dropTiles(address) {
  STORE.kept.delete(address);
}

/** Calls `go` once, when more of these tiles come; returns what stops the waiting. @param {string} address @param {() => void} go */
export function onTiles(address, go) {
  STORE.arrivals.addEventListener(address, go, { once: true });
  return () => STORE.arrivals.removeEventListener(address, go);
}
