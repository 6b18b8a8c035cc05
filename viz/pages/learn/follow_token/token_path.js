// @ts-check
// The path of a token: a chart of what every part adds to the residual stream, buttons that open a stage of it, and
// below them the steps of the open stage, each with its vector as a strip of cells.
// Data: the payload of tab.py. Sends back the trigger `stage`: { stage }.
import { closest, consume, isCombination, reachByTab } from "../../../pictures/shared/items.js";
import { _, said } from "../../../pictures/shared/messages.js";
import { mount, onResize, View } from "../../../pictures/shared/mount.js";
import { button, contextOf, element, mixStops, Tooltip, tokenElement } from "../../../pictures/shared/picture.js";
import { pictureButton } from "../../../pictures/shared/save_picture.js";
import { pathChart, shareText, stageBoxes } from "./path_chart.js";

/** @import { InkedScale } from "../../../pictures/shared/drawing.js" */
/** @import { Part } from "./path_chart.js" */

/**
 * A step: `count` numbers of the payload are its vector, in groups of `group` (0 for none).
 * @typedef {{
 *   kind: string, title: string, formula: string, text: string, count: number, group: number,
 *   bars: { label: string, value: number }[],
 * }} Step
 * @typedef {{
 *   token: string, stages: string[], parts: Part[], rows: Step[], stage: number, colours: Record<string, string>,
 *   signed: InkedScale, name: string, digest: string,
 * }} PathHeader
 */

const LEGEND = [
  ["embedding", said("embedding")],
  ["position", said("position")],
  ["self", said("self-attention")],
  ["cross", said("cross-attention")],
  ["feed_forward", said("feed-forward")],
];

/** Two decimals below 100, with a real minus sign. @param {number} value */
const short = (value) => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2)).replace("-", "−");

/** A stage where there is little room. @param {number} stage @param {number} last */
const shortName = (stage, last) => (stage === 0 ? _("In") : stage === last ? _("Out") : `L${stage}`);

class TokenPath extends View {
  /** @type {PathHeader} */ data;
  /** @type {Float32Array} */ values = new Float32Array();
  /** @type {HTMLButtonElement[]} */ stages = [];
  /** The strips on the page and where their numbers begin. @type {Map<HTMLCanvasElement, { first: number, step: Step }>} */
  strips = new Map();
  /** The width that is drawn. */ drawn = 0;

  bar = element("div", "path-bar");
  chart = element("div", "path-chart");
  buttons = element("div", {
    className: "stages",
    role: "toolbar",
    ariaLabel: _("Stages: arrow keys move, Enter opens one"),
  });
  steps = element("ol", "path-steps");
  tooltip = new Tooltip(this.root);

  start() {
    this.root.replaceChildren(this.bar, this.chart, this.buttons, this.steps, this.tooltip.box);
    this.root.addEventListener("pointermove", (event) => this.point(event));
    this.root.addEventListener("pointerleave", () => this.tooltip.hide());
    this.chart.addEventListener("click", (event) => {
      const ground = /** @type {SVGElement | null} */ (closest(event, "[data-stage]"));
      if (ground) this.open(Number(ground.dataset.stage));
    });
    this.buttons.addEventListener("keydown", (event) => this.press(event));
    onResize(this, () => this.layOut());
  }

  /** @param {{ header: PathHeader, arrays: Float32Array[] }} payload */
  receive({ header, arrays }) {
    if (this.data?.digest !== header.digest) {
      this.data = header;
      this.values = arrays[0];
      this.tooltip.hide();
      this.build();
    }
    this.root.dataset.ready = "1";
  }

  // ---- the picture ----

  build() {
    const { parts, colours, stages, token } = this.data;
    const shown = LEGEND.filter(([kind]) => parts.some((part) => part.kind === kind));
    const keys = shown.map(([kind, name]) =>
      element("span", "key", element("span", { className: "swatch", style: `background:${colours[kind]}` }), _(name)),
    );
    const stream = element("span", "key", element("span", "swatch stream-swatch"), _("residual stream after it"));
    const [before, after] = _("Norm of what each sub-layer adds to {token}, and its share of the sum").split("{token}");
    const title = element("span", "path-title", before, tokenElement(token), after);
    const save = pictureButton(this.root, () => this.data.name);
    this.bar.replaceChildren(title, element("span", "keys", ...keys, stream), save);
    const hadFocus = this.buttons.matches(":focus-within");
    this.stages = stages.map((name, stage) =>
      button({ className: "stage", dataset: { inPicture: "" } }, () => this.open(stage), name),
    );
    this.buttons.replaceChildren(...this.stages);
    this.steps.replaceChildren(...this.buildSteps());
    this.drawn = 0;
    this.layOut();
    if (hadFocus) this.stages[this.data.stage].focus();
  }

  layOut() {
    const width = Math.floor(this.chart.clientWidth);
    if (!this.data || !width || width === this.drawn) return;
    this.drawn = width;
    const { parts, stage, colours, stages, token } = this.data;
    const boxes = stageBoxes(parts, stages.length, width);
    const label = _("What each sub-layer adds to the residual stream of {token}; the stages below open their steps", {
      token,
    });
    this.chart.replaceChildren(pathChart({ parts, boxes, width, open: stage, colours, label }));
    const isNarrow = boxes.some((box) => box.width < 58);
    this.stages.forEach((each, i) => {
      each.style.left = `${boxes[i].left}px`;
      each.style.width = `${boxes[i].width}px`;
      each.ariaLabel = stages[i];
      each.textContent = isNarrow ? shortName(i, stages.length - 1) : stages[i];
      each.ariaPressed = String(i === stage);
    });
    reachByTab(this.stages, this.stages[stage]);
    for (const [canvas, { first, step }] of this.strips) this.paint(canvas, first, step);
  }

  buildSteps() {
    this.strips.clear();
    let first = 0;
    return this.data.rows.map((step) => {
      const { kind, title, formula, text, count, bars } = step;
      const colour = this.data.colours[kind] ?? "var(--st-text-color)";
      const words = element(
        "div",
        "words",
        element("h4", {}, title),
        element("p", "formula", formula),
        element("p", "text", text),
      );
      const picture = element("div", "vector");
      if (count) picture.append(this.strip(step, first));
      if (bars.length) picture.append(this.barsOf(step, colour));
      first += count;
      return element("li", { className: "path-step", style: `--kind:${colour}` }, words, picture);
    });
  }

  /** @param {Step} step @param {number} first */
  strip(step, first) {
    const numbers = this.values.subarray(first, first + step.count);
    const length = Math.hypot(...numbers);
    const bound = Math.max(...numbers.map(Math.abs));
    const canvas = element("canvas", { className: "strip", width: step.count, height: 1 });
    canvas.setAttribute("role", "img");
    canvas.ariaLabel = _("{title}: {count} numbers up to ±{bound}, norm {length}", {
      title: step.title,
      count: step.count,
      bound: short(bound),
      length: short(length),
    });
    this.strips.set(canvas, { first, step });
    const words = _("norm {length}", { length: short(length) });
    const note = element("span", "length", words, element("small", {}, `±${short(bound)}`));
    return element("div", "strip-row", canvas, note);
  }

  /** A cell a number, one pixel high; the browser stretches it. @param {HTMLCanvasElement} canvas @param {number} first @param {Step} step */
  paint(canvas, first, { count, group }) {
    const numbers = this.values.subarray(first, first + count);
    const bound = Math.max(...numbers.map(Math.abs)) || 1;
    const gap = group && count / group > 1 ? 1 : 0;
    const scale = Math.max(1, Math.floor((canvas.clientWidth * devicePixelRatio) / count));
    canvas.width = count * scale;
    const context = contextOf(canvas);
    numbers.forEach((value, i) => {
      context.fillStyle = `rgb(${mixStops(this.data.signed.stops, 0.5 + value / bound / 2)})`;
      const isEdge = gap && i && i % group === 0;
      context.fillRect(i * scale, 0, scale, 1);
      if (isEdge) context.clearRect(i * scale, 0, Math.max(1, Math.floor(scale / 3)), 1);
    });
  }

  /** @param {Step} step @param {string} colour */
  barsOf({ bars }, colour) {
    const [low, high] = [
      Math.min(0, ...bars.map(({ value }) => value)),
      Math.max(...bars.map(({ value }) => value), 0),
    ];
    const shown = bars.map(({ label, value }) => {
      const width = `${(100 * Math.abs(value)) / (high - low || 1)}%`;
      const left = `${(100 * (Math.min(0, value) - low)) / (high - low || 1)}%`;
      const fill = element("span", { className: "fill", style: `left:${left};width:${width};background:${colour}` });
      return element(
        "span",
        "named",
        tokenElement(label),
        element("span", "track", fill),
        element("span", "value", short(value)),
      );
    });
    return element("div", "named-bars", ...shown);
  }

  // ---- what a person does ----

  /** @param {number} stage */
  open(stage) {
    // Also the one that is open: another may have been asked for that has not come yet.
    this.python.trigger("stage", { stage });
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const at = this.stages.indexOf(/** @type {HTMLButtonElement} */ (event.target));
    const target = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: this.stages.length - 1 }[event.key];
    if (target === undefined || isCombination(event)) return;
    this.stages[target]?.focus();
    consume(event);
  }

  /** @param {PointerEvent} event */
  point(event) {
    const bar = /** @type {SVGElement | null} */ (closest(event, "[data-part]"));
    const canvas = /** @type {HTMLCanvasElement | null} */ (closest(event, "canvas"));
    const strip = canvas && this.strips.get(canvas);
    if (bar) this.tellPart(event, this.data.parts[Number(bar.dataset.part)]);
    else if (canvas && strip) this.tellNumber(event, canvas, strip.first, strip.step);
    else this.tooltip.hide();
  }

  /** @param {PointerEvent} event @param {Part} part */
  tellPart(event, { stage, label, length, share, stream }) {
    const lines = [_("adds a vector of norm {length}", { length: short(length) })];
    if (share !== null) lines.push(_("{share} of the sum", { share: shareText(share) }));
    lines.push(_("the residual stream then has norm {length}", { length: short(stream) }));
    const content = lines.map((line) => element("div", "tooltip-value", line));
    this.tooltip.showContent(event, this.data.stages[stage], element("div", "tooltip-pair", label), ...content);
  }

  /** @param {PointerEvent} event @param {HTMLCanvasElement} canvas @param {number} first @param {Step} step */
  tellNumber(event, canvas, first, { title, count, group }) {
    const { left, width } = canvas.getBoundingClientRect();
    const at = Math.min(count - 1, Math.max(0, Math.floor(((event.clientX - left) / width) * count)));
    const where =
      group && group < count
        ? _("H{head}, dimension {dimension}", { head: Math.floor(at / group) + 1, dimension: at % group })
        : _("component {number}", { number: at });
    const value = element("div", "tooltip-value", this.values[first + at].toPrecision(5).replace("-", "−"));
    this.tooltip.showContent(event, title, element("div", "tooltip-pair", where), value);
  }
}

export default mount(".token-path", TokenPath);
