// What is said of a column of the machine after a layer: its name, the norm of its stream, what its heads read, and what it
// would write if that layer were the last.
import { _ } from "../../../pictures/shared/messages.js";
import { indexOfLargest } from "../../../pictures/shared/picture.js";
import { percent } from "../../../pictures/shared/probability.js";
import { lineName } from "./model_columns.js";
import { shortWeight } from "./row_pictures.js";

/** @typedef {import("./model_scene.js").ModelScene} ModelScene */
/** @typedef {import("./model_scene.js").Node} Node */

export class NodeWords {
  /** @param {ModelScene} scene */
  constructor(scene) {
    this.scene = scene;
  }

  /** @param {Node} node */
  nameOf({ stack, level, column }) {
    const token = stack.tokens[column];
    if (level > stack.layers) return _("What is written after “{token}”", { token });
    return level
      ? _("“{token}” after layer {number}", { token, number: level })
      : _("“{token}” at the input", { token });
  }

  /** What a node is, and what is known of it. @param {Node} node */
  spokenOf(node) {
    return [this.nameOf(node), ...this.linesOf(node)].join("; ");
  }

  /** How long a stream is, and what a change does to it, or else what its rivers bring and what it would say. @param {Node} node */
  linesOf(node) {
    const { stack, level, column } = node;
    if (level > stack.layers) return [];
    const length = this.scene.columns.length(stack, level, column);
    const lines = length === undefined ? [] : [_("residual stream of norm {length}", { length: length.toFixed(2) })];
    if (this.scene.changed) {
      const share = percent(this.scene.moved(stack, level, column));
      return [...lines, _("the change moves it by {share} of its norm", { share })];
    }
    lines.push(...this.readsOf(node));
    const said = stack.name === "decoder" && this.scene.columns.header.lens[column]?.[level];
    if (!said) return lines;
    const would = { token: said.token, share: percent(said.probability) };
    return [...lines, _("Stopping here it would write {token}: {share}", would)];
  }

  /** What the heads that are looked at read in a layer, each as a line. @param {Node} node */
  readsOf({ stack, level, column }) {
    if (!level || level > stack.layers) return [];
    /** @type {string[]} */
    const found = [];
    const { columns, walk } = this.scene;
    for (const [site, { layers, rows, keys }] of columns.sites) {
      if (rows !== stack || level > layers) continue;
      const head = columns.riverHead(site, level - 1, column, walk.state);
      if (head === null) continue;
      const weights = columns.weights(site, level - 1, head, column);
      const key = indexOfLargest(weights);
      const norm = head < 0 ? undefined : columns.headNorm(site, level - 1, head, column);
      const said = { token: keys.tokens[key], weight: shortWeight(weights[key]), norm: norm?.toFixed(2) ?? "" };
      const places = { head: lineName(level - 1, head), ...said };
      found.push(
        norm === undefined
          ? _("{head} attends to “{token}” with weight {weight}", places)
          : _("{head} adds a vector of norm {norm}, attends to “{token}” with weight {weight}", places),
      );
    }
    return found;
  }
}
