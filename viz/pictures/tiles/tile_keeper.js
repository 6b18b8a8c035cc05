// Unpacks tiles as they arrive and puts them where the grid finds them; shows nothing.
// Data: a payload of codes.py: all tiles, or the frame of a grid, or one layer of it.
import { Tiles } from "../shared/head_tiles.js";
import { mount, View } from "../shared/mount.js";
import { inflate } from "../shared/payload.js";
import { sourcePicture } from "../shared/source_picture.js";
import { dropTiles, keepTiles, onTiles, tilesAt, tilesChanged } from "../shared/tile_store.js";

/** @import { TilesHeader } from "../shared/head_tiles.js" */

/**
 * What `send_tiles` and `send_frame` send; where there is a picture, its arrays come first.
 * @typedef {TilesHeader & { address: string, layer: undefined, pictureSize?: [number, number] }} Frame
 */
/** @typedef {{ address: string, layer: number }} Layer what `send_layer` sends */

class TileKeeper extends View {
  name = "";
  /** The address of the tiles that this keeper has put there, and so has to drop. */
  kept = "";

  /** @param {{ header: Frame | Layer, arrays: [...any[]] }} payload */
  async receive({ header, arrays }) {
    const { address, layer } = header;
    const size = header.layer === undefined ? header.pictureSize : undefined;
    const [pixels, rectangles] = size ? arrays.slice(0, 2) : [];
    const [deflated] = size ? arrays.slice(2) : arrays;
    const name = layer === undefined ? address : `${address} ${layer}`;
    if (this.name === name) return;
    this.name = name;
    const planes = deflated ? await inflate(deflated) : null;
    // Of several sentences that follow fast, the last one stays.
    if (this.name !== name) return;
    if (header.layer === undefined) {
      const tiles = new Tiles(header, planes);
      tiles.picture = size ? sourcePicture(pixels, rectangles, size) : null;
      keepTiles(address, tiles, this);
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
