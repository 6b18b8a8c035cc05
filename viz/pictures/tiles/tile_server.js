// Hands what pictures ask for on to Python, and its answers back; shows nothing.
// Data: the payload of codes.py. Sends back the trigger `asked`: { address, serial, tiles }.

import { mount, View } from "../shared/mount.js";
import { decimalsOf, inflate } from "../shared/payload.js";
import { deliverTiles, onAskedTiles } from "../shared/tile_store.js";

/** @import { TileName } from "../shared/tile_store.js" */

/**
 * What `pack_answer` packs; a tile is [level, row, column, rows, columns].
 * @typedef {{ address: string, serial: number, decimals: number, tiles: [number, number, number, number, number][] }} Answer
 */

class TileServer extends View {
  delivered = "";
  address = "";
  serial = 0;

  start() {
    onAskedTiles((address, tiles) => address === this.address && this.ask(tiles), this.ended.signal);
  }

  /** @param {TileName[]} tiles */
  ask(tiles) {
    this.serial += 1;
    const wanted = tiles.map(({ level, row, column }) => [level, row, column]);
    this.python.trigger("asked", { address: this.address, serial: this.serial, tiles: wanted });
  }

  /** @param {{ header: Answer, arrays: Uint8Array<ArrayBuffer>[] }} payload */
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
    const answered = tiles.map(([level, row, column, rows, columns]) => {
      const values = numbers.subarray(start, start + rows * columns);
      start += rows * columns;
      return { level, row, column, rows, columns, values };
    });
    deliverTiles(address, answered);
  }
}

export default mount(".tile-server", TileServer);
