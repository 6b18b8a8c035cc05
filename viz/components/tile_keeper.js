// Unpacks tiles as they arrive and puts them where the grid finds them; shows nothing.
// Data: the payload of tile_store.py.

const keepers = new WeakMap();

async function take(root, data) {
  const { header, arrays } = unpack(data);
  const before = keepers.get(root);
  if (before === header.address) return;
  keepers.set(root, header.address);
  const planes = await inflate(arrays[0]);
  // Of several sentences that follow fast, the last one stays.
  if (keepers.get(root) !== header.address) return;
  keepTiles(header.address, new Tiles(header, planes));
  if (before) dropTiles(before);
  root.dataset.kept = header.address;
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".tile-keeper");
  if (!root || !(data instanceof Uint8Array)) return undefined;
  take(root, data);
  return () => {
    dropTiles(keepers.get(root));
    keepers.delete(root);
  };
}
