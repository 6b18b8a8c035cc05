// Where a picture asks for exact tiles, and where they arrive. Every component is a module of its own; here they meet.
// A tile is { level, row, column }: its numbers are the largest of 2^level × 2^level cells, its place counts in tiles.
// Knows nothing of pictures or of Python.

const TILE_SIDE = 256;
const COUNTER = (globalThis.headlightTileRequests ??= new EventTarget());

const nameOfTile = ({ level, row, column }) => `${level}/${row}/${column}`;

/** Ask for tiles of the matrix at this address. */
function askForTiles(address, tiles) {
  COUNTER.dispatchEvent(new CustomEvent("asked", { detail: { address, tiles } }));
}

/** Tiles have come: each { level, row, column, rows, columns, values }; none if the request could not be met. */
function deliverTiles(address, tiles) {
  COUNTER.dispatchEvent(new CustomEvent("delivered", { detail: { address, tiles } }));
}
