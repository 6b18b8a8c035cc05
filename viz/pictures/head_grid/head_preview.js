// What the grid shows before Python answers: the tiles that a switch of the page asks for, and the head that it opens.
import { tell } from "../shared/focus.js";
import { headLabel } from "../shared/head_label.js";

/** @import { RoleRun } from "../shared/chat_roles.js" */
/** @import { Axes, Head, Tiles } from "../shared/head_tiles.js" */
/** @import { TileJobs, TileMetric } from "./head_board.js" */

/**
 * What `pack_grid` packs; `isPreview` is set here, while Python has not answered.
 * @typedef {{
 *   address: string, stops: string[], ticks: number[], name: string, caption: string, selected: Head | null,
 *   kept: number[], framed: number[], ranked: number[] | null, jobs: TileJobs | null, isMean: boolean,
 *   asks?: string, metric: TileMetric | null, notes: string[], followed: Followed | null, roles: RoleRun[], isPreview?: true,
 * }} GridHeader
 */
/** @typedef {{ control: string, addresses: string[], jobs: (TileJobs | null)[] }} Followed */
/**
 * A head's weights as its tile has them, or between the rows and columns that a picture asks for.
 * @typedef {{
 *   address: string, layer: number, head: number, title: string, rows: number, columns: number,
 *   rowTokens: string[], columnTokens: string[], values: Float32Array, axes?: Axes | null, isPointed: boolean,
 * }} Preview
 */

/** The tiles that a click on the page's own switch asks for, if it was one, and their heads' jobs. @param {GridHeader} header @param {Event} event */
export function followedChoice({ followed }, { target }) {
  if (!followed) return undefined;
  const buttons = [...document.querySelectorAll(`.st-key-${followed.control} button`)];
  const index = buttons.findIndex((button) => button.contains(/** @type {Node} */ (target)));
  return index < 0 ? undefined : { address: followed.addresses[index], jobs: followed.jobs[index] };
}

/**
 * Tell the page of a head that is to be shown in full: it is opened, or only pointed at.
 * @param {GridHeader} header @param {Head} selected @param {Tiles} tiles @param {boolean} [isPointed]
 */
export function announceHead({ address, jobs }, [layer, head], tiles, isPointed = false) {
  const { rows, columns, queryTokens: rowTokens, keyTokens: columnTokens, axes } = tiles.header;
  const job = jobs?.said[layer * tiles.header.heads + head];
  const title = job ? `${headLabel(layer, head)} · ${job}` : headLabel(layer, head);
  const values = tiles.weightsOf([layer, head]);
  /** @type {Preview} */
  const detail = { address, layer, head, title, rows, columns, rowTokens, columnTokens, values, axes, isPointed };
  tell("preview", detail);
}
