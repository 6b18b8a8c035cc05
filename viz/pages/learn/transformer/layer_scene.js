// The second depth: what a layer adds to a token. The layer of the machine, opened; a chart of what every part of the model
// adds to the token, buttons that open another layer, and the steps of the open one, each with its vector as a strip.
import { closest, reachByTab, walkAlong } from "../../../pictures/shared/items.js";
import { _, said } from "../../../pictures/shared/messages.js";
import { button, element, tokenElement } from "../../../pictures/shared/picture.js";
import { LayerMachine } from "./layer_machine.js";
import { pathChart, shareText, stageBoxes } from "./path_chart.js";
import { exactNumber, roughNumber, stepWords } from "./row_pictures.js";
import { imageAddress } from "./shapes.js";

/** @import { Part } from "./path_chart.js" */
/** @typedef {import("./walk.js").Walk} Walk */
/**
 * A step: its vector, in groups of `group` (0 for none), with its norm and the size of its largest number.
 * @typedef {{
 *   kind: string, title: string, formula: string, text: string, count: number, group: number, values: number[],
 *   length: number, bound: number,
 *   bars: { label: string, value: number }[],
 * }} Step
 * @typedef {{ stage: number, stages: string[], parts: Part[], rows: Step[] }} PathData
 * @typedef {{ make: () => HTMLElement, begins: boolean }} Line what is made when its frame comes: whether a sub-layer begins with it
 */

const LEGEND = Object.entries({
  ...{ embedding: said("embedding"), position: said("position"), self: said("self-attention") },
  ...{ cross: said("cross-attention"), feed_forward: said("feed-forward") },
});

/** Two decimals below 100, with a real minus sign. @param {number} value */
const short = (value) => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2)).replace("-", "−");

/** Of a strip: how many pixels a number takes, and how many of them are left out between heads. */
const [CELL, GAP] = [4, 3];

/** A stage where there is little room. @param {number} stage @param {number} last */
const shortName = (stage, last) => (stage === 0 ? _("In") : stage === last ? _("Out") : `L${stage}`);

export class LayerScene {
  /** @type {HTMLButtonElement[]} */ stages = [];
  /** The strips, and whose numbers they are. @type {Map<HTMLImageElement, Step>} */ strips = new Map();

  bar = element("div", "path-bar");
  chart = element("div", "path-chart");
  buttons = element("div", {
    className: "stages",
    role: "toolbar",
    ariaLabel: _("Stages: arrow keys move, Enter opens one"),
  });
  steps = element("ol", "path-steps");

  /** @param {Walk} walk @param {PathData} path */
  constructor(walk, path) {
    this.walk = walk;
    this.data = { ...path, colours: walk.header.colours };
    this.token = walk.columns.token(walk.columns.stackOf(walk.state.site).name, walk.state.row);
    this.machine = walk.state.end ? null : new LayerMachine(walk);
    const parts = this.machine ? [this.machine.element] : [];
    this.element = element("div", "layer-scene", ...parts, this.bar, this.chart, this.buttons, this.steps);
    this.chart.addEventListener("click", (event) => {
      const ground = /** @type {SVGElement | null} */ (closest(event, "[data-stage]"));
      if (ground) this.open(Number(ground.dataset.stage));
    });
    walkAlong(this.buttons, () => this.stages);
  }

  /** Where a layer lies in the page. @param {LayerMachine} machine */
  lies(machine) {
    return this.machine?.lies(machine);
  }

  get picture() {
    return this.machine?.element;
  }

  arrive() {
    this.machine?.arrive();
  }

  *draw() {
    this.machine?.draw();
    yield this.element;
    const { parts, colours, stage, stages } = this.data;
    const { token } = this;
    const { width } = this.walk;
    const shown = LEGEND.filter(([kind]) => parts.some((part) => part.kind === kind));
    const keys = shown.map(([kind, name]) =>
      element("span", "key", element("span", { className: "swatch", style: `background:${colours[kind]}` }), _(name)),
    );
    const stream = element("span", "key", element("span", "swatch stream-swatch"), _("residual stream after it"));
    const [before, after] = _("Norm of what each sub-layer adds to {token}, and its share of the sum").split("{token}");
    const title = element("span", "path-title", before, tokenElement(token), after);
    this.bar.replaceChildren(title, element("span", "keys", ...keys, stream));
    const boxes = stageBoxes(parts, stages.length, width);
    const label = _("What each sub-layer adds to the residual stream of {token}; the stages below open their steps", {
      token,
    });
    this.chart.replaceChildren(pathChart({ parts, boxes, width, open: stage, colours, label }));
    yield this.chart;
    const isNarrow = boxes.some((box) => box.width < 58);
    this.stages = stages.map((name, i) => {
      const style = `left:${boxes[i].left}px;width:${boxes[i].width}px`;
      const spoken = { ariaLabel: name, ariaPressed: String(i === stage) };
      const text = isNarrow ? shortName(i, stages.length - 1) : name;
      return button({ className: "stage", style, ...spoken, dataset: { inPicture: "" } }, () => this.open(i), text);
    });
    reachByTab(this.stages, this.stages[stage]);
    this.buttons.replaceChildren(...this.stages);
    const steps = this.folded(this.lines()).map(({ make }) => make);
    this.walk.fill(this.steps, steps);
    yield this.steps;
  }

  /**
   * The steps, those of each sub-layer of a decoder with three to unfold: open are the attention that is looked at, and
   * feed-forward.
   * @param {Line[]} lines
   */
  folded(lines) {
    const { parts, stage } = this.data;
    const own = parts.filter((part) => part.stage === stage && part.share !== null);
    const kinds = own.map(({ kind }) => kind);
    if (kinds.length < 3) return lines;
    const opened = this.walk.state.site.split(".")[1];
    let at = 0;
    /** @type {Line[][]} */
    const groups = kinds.map(() => []);
    for (const line of lines) {
      // A norm before a sub-layer is the first of its steps, one after the sum the last.
      if (line.begins && groups[at].length && at < kinds.length - 1) at += 1;
      groups[at].push(line);
    }
    return groups.map((group, i) => {
      const [, name] = LEGEND.find(([kind]) => kind === kinds[i]) ?? ["", ""];
      const share = _("{share} of the sum", { share: shareText(own[i].share) });
      const open = kinds[i] === opened || kinds[i] === "feed_forward";
      const make = () => {
        const summary = element("summary", {}, `${_(name)} · ${share}`);
        const steps = element("ol", "path-steps", ...group.map((line) => line.make()));
        return element("li", "path-part", element("details", { open }, summary, steps));
      };
      return { make, begins: true };
    });
  }

  /** @returns {Line[]} */
  lines() {
    let isEnded = true;
    const isPre = this.data.rows[0]?.kind === "norm";
    return this.data.rows.map((step) => {
      const { kind } = step;
      const colour = this.data.colours[kind] ?? "var(--st-text-color)";
      const begins = isEnded && (isPre || kind !== "norm");
      isEnded = kind === "stream" || (isEnded && !begins);
      return { make: () => this.line(step, colour), begins };
    });
  }

  /** @param {Step} step @param {string} colour */
  line(step, colour) {
    const picture = element("div", "vector");
    if (step.count) picture.append(this.strip(step));
    if (step.bars.length) picture.append(this.barsOf(step, colour));
    return element("li", { className: "path-step", style: `--kind:${colour}` }, stepWords(step), picture);
  }

  /** @param {Step} step */
  strip(step) {
    const { length, bound, count, group, values } = step;
    const pixels = new Uint32Array(count * CELL);
    values.forEach((value, i) => {
      const isEdge = group && i && i % group === 0;
      const code = Math.round(255 * (0.5 + value / (bound || 1) / 2));
      pixels.fill(this.walk.scales.signed.pixels[code], i * CELL + (isEdge ? GAP : 0), (i + 1) * CELL);
    });
    const told = { title: step.title, count, bound: short(bound), length: short(length) };
    const alt = _("{title}: {count} numbers up to ±{bound}, norm {length}", told);
    // A canvas would be a layer of its own, and so would be all that lies over it, and each frame of a zoom puts layers
    // together.
    const look = { className: "strip", alt, draggable: false };
    const image = element("img", { ...look, src: imageAddress(pixels, pixels.length) });
    this.strips.set(image, step);
    const words = _("norm {length}", { length: short(length) });
    const note = element("span", "length", words, element("small", {}, `±${short(bound)}`));
    return element("div", "strip-row", image, note);
  }

  /** @param {Step} step @param {string} colour */
  barsOf({ bars }, colour) {
    const values = bars.map(({ value }) => value);
    const low = Math.min(0, ...values);
    const percent = 100 / (Math.max(0, ...values) - low || 1);
    const shown = bars.map(({ label, value }) => {
      const [left, width] = [(Math.min(0, value) - low) * percent, Math.abs(value) * percent];
      const fill = element("span", { className: "fill", style: `left:${left}%;width:${width}%;background:${colour}` });
      const track = element("span", "track", fill);
      return element("span", "named", tokenElement(label), track, element("span", "value", short(value)));
    });
    return element("div", "named-bars", ...shown);
  }

  // ---- what a person does ----

  /** @param {number} stage */
  open(stage) {
    const last = this.data.stages.length - 1;
    if (stage === 0 || stage === last) this.walk.go({ end: stage ? "output" : "input" });
    else this.walk.go({ end: "", layer: stage - 1 });
  }

  /** @param {PointerEvent} event */
  tell(event) {
    const bar = /** @type {SVGElement | null} */ (closest(event, "[data-part]"));
    const image = /** @type {HTMLImageElement | null} */ (closest(event, "img"));
    const strip = image && this.strips.get(image);
    if (bar) this.tellPart(event, this.data.parts[Number(bar.dataset.part)]);
    else if (image && strip) this.tellNumber(event, image, strip);
    else if (!closest(event, ".stratum")) this.walk.tooltip.hide();
  }

  /** @param {PointerEvent} event @param {Part} part */
  tellPart(event, { stage, label, length, share, stream }) {
    const lines = [_("adds a vector of norm {length}", { length: short(length) })];
    if (share !== null) lines.push(_("{share} of the sum", { share: shareText(share) }));
    lines.push(_("the residual stream then has norm {length}", { length: short(stream) }));
    this.walk.tooltip.showContent(event, this.data.stages[stage], element("div", "tooltip-pair", label), ...lines);
  }

  /** @param {PointerEvent} event @param {HTMLImageElement} image @param {Step} step */
  tellNumber(event, image, { title, count, group, values, bound }) {
    const { left, width } = image.getBoundingClientRect();
    const at = Math.min(count - 1, Math.max(0, Math.floor(((event.clientX - left) / width) * count)));
    const where =
      group && group < count
        ? _("H{head}, component {dimension}", { head: Math.floor(at / group) + 1, dimension: (at % group) + 1 })
        : _("component {number}", { number: at + 1 });
    const number = this.walk.kept ? roughNumber(values[at], bound) : exactNumber(values[at]);
    this.walk.tooltip.showContent(event, title, element("div", "tooltip-pair", where), number);
  }
}
