// @ts-check
// The map as a drawing whose boxes are buttons: Tab reaches it, arrow keys lead from box to box, Enter opens one.
import { svg } from "../shared/drawing.js";
import { closest, consume, isCombination } from "../shared/items.js";
import { _, plural } from "../shared/messages.js";
import { element } from "../shared/picture.js";
import { layoutOf, NARROW, neighbour, WIDE } from "./layout.js";

/** @import { Architecture, Box, Frame, Layout, Place } from "./layout.js" */
/** @import { Stage } from "./stages.js" */

/** About the pixels of a letter of the text beside a box; of a Chinese, Japanese or Korean one. */
const [LETTER, FULL_WIDTH] = [7.6, 13.2];

/** @param {string} sign */
const widthOf = (sign) => (/[\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\uff00-\uff60]/.test(sign) ? FULL_WIDTH : LETTER);

/** Text as long as it may be. @param {string} text @param {number} most */
export const cutText = (text, most) => ([...text].length > most ? `${[...text].slice(0, most - 1).join("")}…` : text);

/** Where the keyboard finds a frame: at its number of layers, on the outer side of its stack. @param {Frame} frame */
const besideStack = ({ stack, x, y, width }) => ({
  x: stack === "encoder" ? x - 40 : x + width,
  y,
  width: 40,
  height: 40,
});

export class ArchitectureMap {
  /** @type {Layout} */ layout;
  /** The boxes and frames in the order of the keyboard. @type {(Box | Frame)[]} */ items;
  /** Where each of them is for the arrow keys. @type {Place[]} */ places;
  /** @type {SVGGElement[]} */ groups = [];

  /**
   * @param {Architecture} architecture
   * @param {boolean} isNarrow whether there is no room beside the stacks
   * @param {{ open(id: string): void, leadsTo(id: string): string, point(id: string, event: PointerEvent): void, leave(): void }} act
   *   `leadsTo` says what a click on a box opens
   */
  constructor(architecture, isNarrow, act) {
    this.act = act;
    this.isNarrow = isNarrow;
    this.layout = layoutOf(architecture, isNarrow ? NARROW : WIDE);
    const { boxes, frames, lines, width, height } = this.layout;
    this.items = [...boxes, ...frames];
    this.places = [...boxes, ...frames.map(besideStack)];
    this.beside = svg("g", { class: "tag", visibility: "hidden" });
    const arrow = svg("path", { d: "M0 0 7 3.5 0 7z", class: "arrow-head" });
    const box = { id: "map-arrow", markerWidth: 7, markerHeight: 7, refX: 6.5, refY: 3.5, orient: "auto" };
    const marker = svg("marker", { ...box, markerUnits: "userSpaceOnUse" }, arrow);
    this.frames = frames.map((frame) => this.frame(frame));
    const paths = lines.map(({ id, points, hasHead }) => {
      const head = hasHead ? { "marker-end": "url(#map-arrow)" } : {};
      const d = points.map(([x, y], i) => `${i ? "L" : "M"}${x} ${y}`).join(" ");
      return svg("path", { d, class: "line", "data-line": id, ...head });
    });
    const drawn = boxes.map((each) => this.box(each));
    this.groups = [...drawn, ...this.frames];
    const label = _("The Transformer as a map. Arrow keys move from box to box, Enter opens the page of a box.");
    const look = {
      viewBox: `0 0 ${width} ${height}`,
      class: isNarrow ? "map narrow" : "map",
      role: "group",
      "aria-label": label,
    };
    const drawing = svg("svg", look, svg("defs", {}, marker), ...this.frames, ...paths, ...drawn, this.beside);
    drawing.style.maxWidth = `${width}px`;
    // What hears of the focus is no drawing: that would be a stop of its own for the keyboard.
    this.element = element("div", "map-holder", drawing);
    this.reach(this.groups[0]);
    this.listen();
  }

  // ---- shapes ----

  /** @param {Box} box */
  box({ id, kind, label, note, x, y, width, height }) {
    const middle = x + width / 2;
    const hasNote = note !== "" && height > 30;
    const line = hasNote ? y + height / 2 - 8 : y + height / 2;
    const parts = [
      svg("rect", { x, y, width, height, rx: 6, class: `plate ${kind}` }),
      svg("text", { x: middle, y: line, class: "box-name" }, label),
    ];
    if (hasNote) parts.push(svg("text", { x: middle, y: y + height / 2 + 10, class: "box-note" }, note));
    const stack = id.startsWith("encoder") ? _("encoder") : _("decoder");
    return this.asButton(id, [label, note, stack].filter(Boolean).join(", "), "box", parts);
  }

  /** @param {Frame} frame */
  frame({ id, stack, layers, x, y, width, height }) {
    const isLeft = stack === "encoder";
    const side = isLeft ? x - 7 : x + width + 7;
    const anchor = isLeft ? "end" : "start";
    const times = `${layers} ×`;
    const parts = [
      svg("rect", { x, y, width, height, rx: 12, class: "frame-plate" }),
      svg("text", { x: side, y: y + 14, class: "times", "text-anchor": anchor }, times),
      svg("text", { x: side, y: y + 34, class: "now", "text-anchor": anchor, "data-now": "" }),
    ];
    const named = isLeft
      ? plural("{count} identical layer of the encoder", "{count} identical layers of the encoder", layers)
      : plural("{count} identical layer of the decoder", "{count} identical layers of the decoder", layers);
    return this.asButton(id, named, "frame", parts);
  }

  /** @param {string} id @param {string} name @param {string} className @param {SVGElement[]} parts */
  asButton(id, name, className, parts) {
    const leads = this.act.leadsTo(id);
    const label = leads ? _("{name}. Opens {page}.", { name, page: leads }) : name;
    const look = { class: className, role: "button", tabindex: -1, "aria-label": label, "data-box": id };
    return svg("g", look, ...parts);
  }

  // ---- what is lit ----

  /** Light the boxes of a stage, and write its text beside the first of them. @param {Stage} stage @param {string} text */
  light({ boxes, layer }, text) {
    const [first] = boxes;
    const stack = first.split(".")[0];
    this.items.forEach(({ id }, i) => {
      this.groups[i].classList.toggle("lit", boxes.includes(id));
      this.groups[i].classList.toggle("about", id === first);
    });
    for (const line of this.element.querySelectorAll("[data-line]")) {
      const name = /** @type {SVGElement} */ (line).dataset.line ?? "";
      line.classList.toggle("lit", name === "memory" ? first === "decoder.cross" : name.endsWith(`-${first}`));
    }
    this.layout.frames.forEach(({ stack: own, layers }, i) => {
      const now = this.frames[i].querySelector("[data-now]");
      const isIn = own === stack && layer >= 0;
      if (now) now.textContent = isIn ? this.layerName(layer) : "";
      this.frames[i].classList.toggle("running", isIn);
      this.frames[i].dataset.layer = isIn ? `${layer + 1} of ${layers}` : "";
    });
    this.tag(first, text);
  }

  /** A text beside a box, on the outer side of its stack. @param {string} id @param {string} text */
  tag(id, text) {
    const box = this.layout.boxes.find((each) => each.id === id);
    const shown = cutText(text, 11);
    this.beside.setAttribute("visibility", box && shown ? "visible" : "hidden");
    if (!box) return;
    const width = Math.max(26, [...shown].reduce((sum, sign) => sum + widthOf(sign), 0) + 14);
    const isLeft = id.startsWith("encoder");
    const away = this.isNarrow ? -width / 4 : 26;
    const end = this.layout.width - width - 2;
    const x = Math.min(end, Math.max(2, isLeft ? box.x - away - width : box.x + box.width + away));
    const y = this.isNarrow ? box.y : box.y + box.height / 2;
    this.beside.replaceChildren(
      svg("rect", { x, y: y - 12, width, height: 24, rx: 12, class: "tag-plate" }),
      svg("text", { x: x + width / 2, y, class: "tag-text" }, shown),
    );
  }

  /** @param {number} layer */
  layerName(layer) {
    return this.isNarrow ? `L${layer + 1}` : _("layer {number}", { number: layer + 1 });
  }

  // ---- what a person does ----

  listen() {
    const { element, act } = this;
    const idOf = (/** @type {Event} */ event) =>
      /** @type {SVGGElement | null} */ (closest(event, "[data-box]"))?.dataset.box;
    element.addEventListener("click", (event) => {
      const id = idOf(event);
      if (id) act.open(id);
    });
    element.addEventListener("pointermove", (event) => {
      const id = idOf(event);
      if (id) act.point(id, event);
      else act.leave();
    });
    element.addEventListener("pointerleave", () => act.leave());
    element.addEventListener("focusin", (event) => {
      const group = /** @type {SVGGElement | null} */ (closest(event, "[data-box]"));
      if (group) this.reach(group);
    });
    element.addEventListener("keydown", (event) => this.press(event, idOf(event)));
  }

  /** @param {KeyboardEvent} event @param {string | undefined} id */
  press(event, id) {
    if (!id || isCombination(event)) return;
    const at = this.items.findIndex((item) => item.id === id);
    if (event.key === "Enter" || event.key === " ") this.act.open(id);
    else if (event.key.startsWith("Arrow")) this.groups[neighbour(this.places, at, event.key)]?.focus();
    else return;
    consume(event);
  }

  /** Let only this box be reached by Tab. @param {SVGGElement} group */
  reach(group) {
    for (const each of this.groups) each.setAttribute("tabindex", each === group ? "0" : "-1");
  }
}
