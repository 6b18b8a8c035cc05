// @ts-check
// Thin bars over the columns of tiles, and beside their lines, that say whose message of a chat keys and queries are of.
import { roleKeyParts } from "../shared/chat_roles.js";
import { element } from "../shared/picture.js";

/** @import { RoleRun } from "../shared/chat_roles.js" */
/** @import { Size } from "./head_board.js" */

/** So long a run must be on average, in CSS pixels, to be told from those beside it. */
const LEAST_RUN = 5;

/** Whether tiles of this size have room for bars. @param {RoleRun[]} runs @param {Size} tile in CSS pixels */
export const haveRoom = (runs, { width, height }) =>
  runs.length > 0 && Math.min(width, height) >= runs.length * LEAST_RUN;

export class TileRoles {
  element = element("div", { className: "tile-roles", ariaHidden: "true", hidden: true });
  /** What the colours stand for: there is no room for names. */
  key = element("span", { className: "role-key", hidden: true });
  built = "";

  /**
   * Bars for so many columns and lines of tiles, where there is room for them.
   * @param {RoleRun[]} runs of the tokens on either side @param {number} tokens how many there are
   * @param {{ across: number, lines: number }} board @param {Size} tile in CSS pixels
   */
  show(runs, tokens, { across, lines }, tile) {
    this.element.hidden = this.key.hidden = !haveRoom(runs, tile);
    const built = JSON.stringify([runs, tokens, across, lines]);
    if (this.element.hidden || built === this.built) return;
    this.built = built;
    const bars = () =>
      runs.map(([role, begin, end, colour]) => {
        const style = `--begin:${begin / tokens};--part:${(end - begin) / tokens};background-color:${colour}`;
        return element("span", { className: "tile-role", title: role, style });
      });
    const strips = (/** @type {string} */ className, /** @type {number} */ count) =>
      Array.from({ length: count }, (_each, at) => element("div", { className, style: `--at:${at}` }, ...bars()));
    this.element.replaceChildren(...strips("over", across), ...strips("beside", lines));
    this.key.replaceChildren(...roleKeyParts(new Map(runs.map(([role, , , colour]) => [role, colour]))));
  }
}
