// Unpacks tiles as they arrive and puts them where the grid finds them; shows nothing.
// Data: a payload of codes.py: all tiles, or the frame of a grid, or one layer of it.
import { Tiles } from "../shared/head_tiles.js";
import { mount, View } from "../shared/mount.js";
import { inflate } from "../shared/payload.js";
import { dropTiles, keepTiles, onTiles, tilesAt, tilesChanged } from "../shared/tile_store.js";

/** @import { TilesHeader } from "../shared/head_tiles.js" */

/** @typedef {TilesHeader & { address: string, layer: undefined }} Frame what `send_tiles` and `send_frame` send */
/** @typedef {{ address: string, layer: number }} Layer what `send_layer` sends */

class TileKeeper extends View {
  name = "";
  /** The address of the tiles that this keeper has put there, and so has to drop. */
  kept = "";

  /** @param {{ header: Frame | Layer, arrays: Uint8Array<ArrayBuffer>[] }} payload */
  async receive({ header, arrays }) {
    const { address, layer } = header;
    const name = layer === undefined ? address : `${address} ${layer}`;
    if (this.name === name) return;
    this.name = name;
    const planes = arrays.length ? await inflate(arrays[0]) : null;
    // Of several sentences that follow fast, the last one stays.
    if (this.name !== name) return;
    if (header.layer === undefined) {
      keepTiles(address, new Tiles(header, planes), this);
      if (this.kept !== address) dropTiles(this.kept, this);
      this.kept = address;
    } else if (planes) this.fill(header, planes);
    this.root.dataset.kept = name;
  }

  /** A layer may come before the frame that it belongs to. @param {Layer} layer @param {Uint8Array} planes */
  fill({ address, layer }, planes) {
    const tiles = tilesAt(address);
    if (tiles) {
      tiles.fill(layer, planes);
      tilesChanged(address);
    } else this.stopWaiting = onTiles(address, () => this.fill({ address, layer }, planes));
  }

  dispose() {
    super.dispose();
    this.name = "";
    this.stopWaiting?.();
    dropTiles(this.kept, this);
  }
}

export default mount(".tile-keeper", TileKeeper);
