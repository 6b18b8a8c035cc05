// Unpacks tiles as they arrive and puts them where the grid finds them; shows nothing.
// Data: a payload of tile_store.py: all tiles, or the frame of a grid, or one layer of it.

const keepers = new WeakMap();

async function take(root, data) {
  const { header, arrays } = unpack(data);
  const { address, layer } = header;
  const name = layer === undefined ? address : `${address} ${layer}`;
  const before = keepers.get(root);
  if (before?.name === name) return;
  const keeper = { name, address, isLayer: layer !== undefined };
  keepers.set(root, keeper);
  const planes = arrays.length ? await inflate(arrays[0]) : null;
  // Of several sentences that follow fast, the last one stays.
  if (keepers.get(root) !== keeper) return;
  if (keeper.isLayer) fillTiles(keeper, layer, planes);
  else {
    keepTiles(address, new Tiles(header, planes));
    if (before) dropTiles(before.address);
  }
  root.dataset.kept = name;
}

/** A layer may come before the frame that it belongs to. */
function fillTiles(keeper, layer, planes) {
  const tiles = tilesAt(keeper.address);
  const fill = () => fillTiles(keeper, layer, planes);
  if (tiles) {
    tiles.fill(layer, planes);
    tilesChanged(keeper.address);
  } else keeper.stopWaiting = onTiles(keeper.address, fill);
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".tile-keeper");
  if (!root || !(data instanceof Uint8Array)) return undefined;
  take(root, data);
  return () => {
    const { address, isLayer, stopWaiting } = keepers.get(root) ?? {};
    stopWaiting?.();
    if (!isLayer) dropTiles(address);
    keepers.delete(root);
  };
}
