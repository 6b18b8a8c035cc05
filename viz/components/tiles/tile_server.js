// Hands what pictures ask for on to Python, and its answers back; shows nothing.
// Data: the payload of tile_server.py. Sends back the trigger `asked`: { address, serial, tiles }.

class TileServer {
  constructor(root) {
    this.root = root;
    this.serial = 0;
    this.ends = new AbortController();
    const hear = ({ detail }) => detail.address === this.address && this.ask(detail.tiles);
    COUNTER.addEventListener("asked", hear, { signal: this.ends.signal });
  }

  ask(tiles) {
    this.serial += 1;
    this.send({ address: this.address, serial: this.serial, tiles: tiles.map(({ level, row, column }) => [level, row, column]) });
  }

  async receive({ header, arrays }) {
    const { address, tiles, decimals, serial } = header;
    this.address = address;
    // Python may remember what a server before this one asked for: no number means two requests.
    this.serial = Math.max(this.serial, serial);
    this.root.dataset.serves = address;
    const name = `${address} ${serial}`;
    if (!tiles.length || name === this.delivered) return;
    this.delivered = name;
    const numbers = decimalsOf(await inflate(arrays[0]), decimals);
    let start = 0;
    const found = tiles.map(([level, row, column, rows, columns]) => {
      const values = numbers.subarray(start, (start += rows * columns));
      return { level, row, column, rows, columns, values };
    });
    deliverTiles(address, found);
  }
}

const servers = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".tile-server");
  if (!root || !(data instanceof Uint8Array)) return undefined;
  const server = servers.get(root) ?? new TileServer(root);
  servers.set(root, server);
  server.send = (wanted) => setTriggerValue("asked", wanted);
  server.receive(unpack(data));
  return () => {
    server.ends.abort();
    servers.delete(root);
  };
}
