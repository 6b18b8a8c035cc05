// The picture that a model reads in patches: whole, with a frame around the patch that is looked at, and a patch a column.
import { svg } from "../../../pictures/shared/drawing.js";

/** The encoder's tokens from `first` on are patches, line by line; what comes after them is none. @typedef {{ address: string, rows: number, columns: number, first: number }} PatchData */

const LARGEST_PATCH = 40;

export class Patches {
  frame = svg("rect", { class: "model-patch", width: 1, height: 1 });

  /** @param {PatchData} data */
  constructor(data) {
    this.data = data;
  }

  /** Where a token's patch lies, in patches; null of one that is none. @param {number} token */
  at(token) {
    const { rows, columns, first } = this.data;
    const patch = token - first;
    return patch < 0 || patch >= rows * columns ? null : [patch % columns, Math.floor(patch / columns)];
  }

  /** The patch that a column reads, below its middle; null where it reads none. @param {number} middle @param {number} top @param {number} room @param {number} token */
  columnOf(middle, top, room, token) {
    const at = this.at(token);
    if (!at) return null;
    const side = Math.min(room, LARGEST_PATCH);
    const box = { x: middle - side / 2, y: top, width: side, height: side };
    const look = { ...box, viewBox: `${at.join(" ")} 1 1` };
    return svg("svg", look, svg("use", { href: "#walk-picture" }));
  }

  /** The whole picture. @param {number} x @param {number} foot @param {number} height */
  whole(x, foot, height) {
    const { address, rows, columns } = this.data;
    const size = { width: columns, height: rows };
    const image = svg("image", { href: address, ...size, id: "walk-picture", preserveAspectRatio: "none" });
    const box = { x, y: foot - height, height, width: (height * columns) / rows };
    return svg("svg", { ...box, viewBox: `0 0 ${columns} ${rows}`, overflow: "visible" }, image, this.frame);
  }

  /** @param {number} token that is looked at; -1 for none */
  point(token) {
    const at = this.at(token);
    this.frame.toggleAttribute("hidden", !at);
    this.frame.setAttribute("x", String(at?.[0] ?? 0));
    this.frame.setAttribute("y", String(at?.[1] ?? 0));
  }
}
