// What is lit of the machine: one token of each stack, the rivers that its heads take from others, and what each layer would
// say if it were the last.
import { svg } from "../../../pictures/shared/drawing.js";
import { _ } from "../../../pictures/shared/messages.js";
import { element, tokenElement } from "../../../pictures/shared/picture.js";
import { percent } from "../../../pictures/shared/probability.js";
import { laneOf } from "./machine_layout.js";
import { LEAST_WEIGHT, river } from "./machine_shapes.js";
import { shortWeight } from "./row_pictures.js";
import { written } from "./shapes.js";

/** @import { Tributary } from "./machine_shapes.js" */
/** @import { Line } from "./model_columns.js" */
/** @import { Stack, WalkHeader } from "./walk.js" */
/** @import { Placing } from "./shapes.js" */
/** @typedef {import("./model_scene.js").ModelScene} ModelScene */

/** A tributary with more is named, unless it comes from its own column; a lane that is read with more is lit. */
const [NAMED_WEIGHT, LIT_WEIGHT] = [0.18, 0.1];
/** Where columns are closer, rivers are not named. */
const NAMED_FROM = 13;
/** Under a change, lines into the column that is looked at are drawn that differ by so much. */
export const ANY = 0.005;

export class LitTokens {
  light = svg("g", { class: "model-light" });
  top = svg("g", { class: "model-top" });
  said = element("div", "model-said");

  /** @param {ModelScene} scene */
  constructor(scene) {
    this.scene = scene;
  }

  /** @param {Map<string, number>} lit of each stack the column that is lit @param {WalkHeader["changed"]} changed */
  draw(lit, changed) {
    for (const part of [this.top, this.said, this.light]) part.replaceChildren();
    const { step } = this.scene.walk.state;
    const until = step === this.scene.walk.count - 1 ? Infinity : step;
    for (const stack of this.scene.columns.header.stacks) {
      const column = lit.get(stack.name) ?? -1;
      if (column < 0) continue;
      this.lightUp(stack, column);
      if (changed) this.addChanges(stack, column, until);
      else this.addRivers(stack, column, until);
      if (stack.name === "decoder" && !changed) this.sayLens(stack, column, until);
    }
  }

  /** @param {Stack} stack @param {number} column */
  lightUp(stack, column) {
    const { drawing, pitch, columns } = this.scene;
    const { embedding, end } = drawing.towerOf(stack);
    const top = columns.header.written[column]?.length && stack.name === "decoder" ? end - 30 : end - 2;
    const box = { x: drawing.x(stack, column) - pitch * 0.48, width: pitch * 0.96 };
    this.light.append(svg("rect", { ...box, y: top, height: embedding.foot - top, class: "model-lit" }));
  }

  /** The layers of a stack that are computed in the steps so far, each with whether it is the last step. @param {Stack} stack @param {number} column @param {number} until */
  *layersUntil(stack, column, until) {
    const { columns } = this.scene;
    for (const [site, { layers, rows, keys }] of columns.sites) {
      for (let layer = 0; rows === stack && layer < layers; layer++) {
        const born = columns.bornAt(stack, layer + 1, stack.first + column);
        if (born <= until) yield { site, layer, keys, now: born === until ? " now" : "" };
      }
    }
  }

  /** What a change does to all lines into a column. @param {Stack} stack @param {number} column @param {number} until */
  addChanges(stack, column, until) {
    for (const { site, layer, keys, now } of this.layersUntil(stack, column, until)) {
      keys.tokens.forEach((_token, key) => {
        const line = this.scene.lineOf(site, layer, column, key);
        if (difference(line) >= ANY) this.scene.addLine(site, layer, column, key, line, this.top, `strong${now}`);
      });
    }
  }

  /** What the head that is looked at takes from other tokens into a column, in every layer. @param {Stack} stack @param {number} column @param {number} until */
  addRivers(stack, column, until) {
    const { drawing, columns, pitch, walk } = this.scene;
    const { isStacked, shaft } = drawing.machine;
    /** How far down each lane is read. @type {Map<number, number>} */
    const read = new Map();
    for (const { site, layer, keys, now } of this.layersUntil(stack, column, until)) {
      const head = columns.riverHead(site, layer, column, walk.state);
      const [, kind] = site.split(".");
      const body = drawing.body(stack, layer, kind);
      if (head === null || !body) continue;
      const { top, foot } = body;
      const isCross = kind === "cross";
      const aside = /** @type {-1 | 0 | 1} */ (!isCross ? 0 : isStacked ? 1 : -1);
      const thick = Math.min((foot - top) * 0.46, pitch * 0.55);
      const from = (/** @type {number} */ key) => (isCross ? laneOf(drawing.machine, key).x : drawing.x(keys, key));
      const place = { x: drawing.x(stack, column), top, foot, thick, least: LEAST_WEIGHT, from, aside };
      const parts = river(columns.weights(site, layer, head, column), place);
      const strongest = Math.max(...parts.map(({ weight }) => weight));
      for (const { key, weight, path, width } of parts) {
        const look = `model-line ${kind} river${weight === strongest ? " most" : ""}${now}`;
        this.top.append(svg("path", { d: path, class: look, pathLength: 1, style: `stroke-width:${width}` }));
        if (!isCross || weight <= LIT_WEIGHT) continue;
        // The lane is lit as far as it is read.
        const deep = drawing.rail(layer);
        const known = read.get(key) ?? deep;
        read.set(key, isStacked ? Math.min(known, deep) : Math.max(known, deep));
      }
      const most = parts.find(({ weight }) => weight === strongest);
      if (most && !isStacked && pitch >= NAMED_FROM) this.nameRiver(most, keys, body, isCross, stack, column, head);
    }
    for (const [key, to] of read) {
      const look = { class: "model-lane lit", style: `stroke-width:${Math.max(1, (shaft?.lane ?? 1) * 0.95)}` };
      this.top.prepend(svg("path", { d: drawing.lane(key, to + (isStacked ? 8 : -8)), ...look }));
    }
  }

  /** @param {Tributary} most @param {Stack} keys @param {{ top: number, foot: number }} body @param {boolean} isCross @param {Stack} stack @param {number} column @param {number} head */
  nameRiver(most, keys, { top, foot }, isCross, stack, column, head) {
    const { drawing } = this.scene;
    const { left, columns } = drawing.towerOf(stack);
    const right = left + columns * drawing.machine.pitch;
    if (head >= 0) this.say(`H${head + 1}`, right, (top + foot) / 2, "model-head", { anchor: "end" });
    if (most.weight < NAMED_WEIGHT || (!isCross && most.key === column)) return;
    const token = shortened(keys.tokens[most.key] ?? "");
    const isFirst = most.x - left < 20;
    if (!isCross)
      return this.say(token, isFirst ? left + 2 : most.x, foot - 3, "model-river", {
        anchor: isFirst ? "start" : "middle",
      });
    const y = most.y - most.width / 2 - 8;
    this.say([tokenElement(token, ""), ` ${shortWeight(most.weight)}`], left - 8, y, "model-river cross", {
      anchor: "end",
    });
  }

  /** What each layer would say if it were the last. @param {Stack} stack @param {number} column @param {number} until */
  sayLens(stack, column, until) {
    const { drawing, columns, isRoomy } = this.scene;
    const { lens } = columns.header;
    if (!lens.some((levels) => levels.length)) return;
    const levels = lens[column] ?? [];
    const tower = drawing.towerOf(stack);
    const left = tower.left + tower.columns * drawing.machine.pitch + (isRoomy ? 14 : 6);
    tower.layers.forEach(({ top, foot }, layer) => {
      const found = levels[layer + 1];
      if (!found || columns.bornAt(stack, layer + 1, stack.first + column) > until) return;
      const look = `model-lens${found.token === levels.at(-1)?.token ? " last" : ""}`;
      const y = (top + foot) / 2;
      this.say(shortened(found.token, isRoomy ? 9 : 7), left, y, look);
      if (isRoomy) this.say(percent(found.probability), left + 88, y, "model-layer", { anchor: "end" });
    });
    if (!isRoomy) return;
    const style = `left:${left}px;top:${tower.positions.top + 2}px`;
    const note = _("what each layer would predict if it were the last");
    this.said.append(element("span", { className: "model-note", style, ariaHidden: "true" }, note));
  }

  /** @param {Parameters<typeof written>[0]} text @param {number} x @param {number} y @param {string} className @param {Placing} [placing] */
  say(text, x, y, className, placing) {
    this.said.append(written(text, x, y, className, placing));
  }
}

/** By how much a change makes a line another one. @param {Line} line */
export const difference = ({ weight, before = weight }) => Math.abs(weight - before);

/** A token where there is little room; the sign that begins a word says nothing where each has its column. @param {string} token @param {number} [most] */
export function shortened(token, most = 12) {
  const text = token.length > 1 && token.startsWith("▁") ? token.slice(1) : token;
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
