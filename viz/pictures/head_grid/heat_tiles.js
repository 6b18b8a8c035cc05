// Tiles over the picture that was read: what one row of each head gives to the parts of it, in place of its matrix.
import { indicesOf } from "../shared/focus.js";
import { _, sentenceParts } from "../shared/messages.js";
import { button, element, rowElement } from "../shared/picture.js";
import { drawHeat, hasPlace, patchAtPoint, patchBox, pictureWithin } from "../shared/source_picture.js";

/** @import { Place } from "../shared/focus.js" */
/** @import { Head, Tiles } from "../shared/head_tiles.js" */
/** @import { Box, SourcePicture } from "../shared/source_picture.js" */
/** @import { Size } from "./head_board.js" */

export class HeatTiles {
  /** Over the canvas of all matrices; on the board only while rows are drawn. */
  canvas = element("canvas", { className: "tiles", ariaHidden: "true" });
  /** What tiles show. */
  note = element("span", "axes");
  /** The rows that are drawn. @type {number[]} */ rows = [];
  /** What the canvas holds: that of other rows is drawn again, that of another key is not. */ drawn = "";
  /** Whether tiles stay matrices although a row is kept that could be drawn over the picture. */ showsMatrices = false;
  /** @type {Tiles} */ tiles;
  /** @type {Size} */ tile;

  /** @param {() => void} redraw called when a person wants matrices, or the picture again */
  constructor(redraw) {
    this.toggle = button({ className: "picture-button", dataset: { notInPicture: "" } }, () => {
      this.showsMatrices = !this.showsMatrices;
      redraw();
    });
  }

  /**
   * Choose the rows that are drawn: those pointed at, or else those kept; none where no picture was read.
   * @param {Tiles} tiles @param {Size} tile @param {number[]} kept @param {Place | null} query
   * @param {boolean} isWithin whether a person points at a cell of a matrix, which they need to see
   */
  choose(tiles, tile, kept, query, isWithin) {
    Object.assign(this, { tiles, tile });
    const { axes, queryTokens } = tiles.header;
    const canBe = tiles.picture && axes && !this.showsMatrices;
    const pointed = canBe && !(isWithin && !kept.length) ? indicesOf(axes[0], queryTokens.length, query) : [];
    this.rows = pointed.length || !canBe ? pointed : kept;
    this.toggle.hidden = !tiles.picture || !kept.length;
    this.toggle.textContent = this.showsMatrices ? _("Show the picture") : _("Show matrices");
    this.say();
  }

  say() {
    const { axes, queryTokens } = this.tiles.header;
    const [first, ...others] = this.rows.map((row) => rowElement(queryTokens[row], Boolean(axes?.[0].ahead)));
    // A word may have many tokens.
    const rows = others.length ? [first, " … ", others[others.length - 1]] : [first];
    const sentence = _("Each tile shows the picture with the weight that {query} gives to each patch.");
    this.note.replaceChildren(
      ...(this.rows.length
        ? sentenceParts(sentence, { query: element("span", "", ...rows) })
        : [_("In each tile, queries run down ↓ and keys across →.")]),
    );
  }

  /** The picture that the keys are parts of. @returns {SourcePicture} */
  get picture() {
    return /** @type {SourcePicture} */ (this.tiles.picture);
  }

  /** Where it lies within a tile. */
  get box() {
    return pictureWithin(this.picture, [0, 0, this.tile.width, this.tile.height]);
  }

  /** Draw a head into its tile. @param {CanvasRenderingContext2D} context @param {Head} head @param {number[]} corner of the tile @param {string[]} stops */
  draw(context, head, [left, top], stops) {
    const given = this.tiles.meanRow(head, this.rows);
    context.fillStyle = stops[0];
    context.fillRect(left, top, this.tile.width, this.tile.height);
    const [x, y, width, height] = this.box;
    drawHeat(context, this.picture, [left + x, top + y, width, height], stops, (key) => given[key]);
  }

  /** Where in a tile the keys of a place lie in the picture. @param {Place | null} place @returns {Box[]} */
  boxesOf(place) {
    const { axes, keyTokens } = this.tiles.header;
    const keys = axes && this.rows.length ? indicesOf(axes[1], keyTokens.length, place) : [];
    return keys.filter((key) => hasPlace(this.picture, key)).map((key) => patchBox(this.picture, key, this.box));
  }

  /** The key at a point of a tile, and what the rows of a head give to it; null beside the picture. @param {Head} head @param {[x: number, y: number]} point */
  at(head, point) {
    const key = patchAtPoint(this.picture, this.picture.places, this.box, point);
    return key === undefined ? null : { key, weight: this.tiles.meanRow(head, this.rows)[key] };
  }
}
