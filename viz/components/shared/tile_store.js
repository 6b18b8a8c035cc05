// Tiles that wait in the browser, by address. Every component is a module of its own; here they meet.
// Knows nothing of pictures or of the page.

const SHELF = (globalThis.headlightTiles ??= { kept: new Map(), arrivals: new EventTarget() });

/** The tiles of this address, if they have come. */
const tilesAt = (address) => SHELF.kept.get(address);

function keepTiles(address, tiles) {
  SHELF.kept.set(address, tiles);
  tilesChanged(address);
}

/** More of these tiles have come. */
function tilesChanged(address) {
  SHELF.arrivals.dispatchEvent(new Event(address));
}

function dropTiles(address) {
  SHELF.kept.delete(address);
}

/** Calls `go` once, when the tiles of this address have come, or more of them, and returns what stops the waiting. */
function onTiles(address, go) {
  SHELF.arrivals.addEventListener(address, go, { once: true });
  return () => SHELF.arrivals.removeEventListener(address, go);
}
