// @ts-check
// Two curves over all steps: the probability of the token written, and the entropy.
import { svg } from "../../../components/shared/drawing.js";
import { named } from "../../../components/shared/items.js";
import { element } from "../../../components/shared/picture.js";
import { formatProbability } from "./film_candidates.js";

/** @import { Tooltip } from "../../../components/shared/picture.js" */
/** @import { Step } from "./decode_player.js" */
/** @typedef {{ name: string, top: string, shares: number[], kind: string }} Lane */

const LANE = 40;
const LANE_GAP = 12;
const CURVE_LEFT = 132;
const CURVE_RIGHT = 12;
const CURVE_TOP = 5;

export class FilmCurve {
  slot = 0;
  /** @type {SVGElement | null} */ marker = null;
  /** @type {{ dot: SVGElement, yOf(share: number): number, shares: number[] }[]} */ dots = [];

  /**
   * `goTo` is called when a step is clicked or dragged over.
   * @param {Step[]} steps @param {Tooltip} tooltip @param {(step: number) => void} goTo
   */
  constructor(steps, tooltip, goTo) {
    this.steps = steps;
    this.tooltip = tooltip;
    const most = Math.max(1, ...steps.map(({ entropy }) => entropy));
    /** @type {Lane[]} */
    this.lanes = [
      { name: "Probability", top: "100 %", shares: steps.map(({ logProb }) => Math.exp(logProb)), kind: "probability" },
      {
        name: "Entropy",
        top: `${most.toFixed(1)} nats`,
        shares: steps.map(({ entropy }) => entropy / most),
        kind: "entropy",
      },
    ];
    const label =
      "Over all steps: the probability of the token that was written, and the entropy. A click goes to a step.";
    this.element = named(element("figure", "curve"), "img", label);
    this.listen(goTo);
  }

  /** @param {(step: number) => void} goTo */
  listen(goTo) {
    const stepAt = (/** @type {MouseEvent} */ event) => {
      const x = event.clientX - this.element.getBoundingClientRect().left - CURVE_LEFT;
      return Math.max(0, Math.min(this.steps.length - 1, Math.floor(x / this.slot)));
    };
    this.element.addEventListener("pointerdown", (event) => goTo(stepAt(event)));
    this.element.addEventListener("pointermove", (event) => {
      const step = stepAt(event);
      if (event.buttons & 1) goTo(step);
      const { token, logProb, entropy } = this.steps[step];
      const numbers = `probability ${formatProbability(logProb)} · entropy ${entropy.toFixed(2)} nats`;
      this.tooltip.show(event, `Step ${step + 1} writes`, token, null, numbers);
    });
    this.element.addEventListener("pointerleave", () => this.tooltip.hide());
  }

  /** Draw both curves as wide as there is room. @param {number} width */
  resize(width) {
    const height = CURVE_TOP + 2 * LANE + LANE_GAP + 6;
    this.slot = (width - CURVE_LEFT - CURVE_RIGHT) / this.steps.length;
    const drawing = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
    this.marker = svg("rect", { class: "curve-now", y: 0, height, width: Math.max(3, Math.min(28, this.slot)), rx: 2 });
    drawing.append(this.marker);
    this.dots = this.lanes.map((lane, i) => this.drawLane(drawing, lane, CURVE_TOP + i * (LANE + LANE_GAP), width));
    this.element.replaceChildren(drawing);
  }

  /** @param {SVGElement} drawing @param {Lane} lane @param {number} y @param {number} width */
  drawLane(drawing, { name, top, shares, kind }, y, width) {
    const yOf = (/** @type {number} */ share) => y + LANE * (1 - share);
    const points = shares.map((share, step) => `${this.centre(step).toFixed(1)},${yOf(share).toFixed(1)}`);
    const dot = svg("circle", { class: `curve-dot ${kind}`, r: 4 });
    drawing.append(
      svg("text", { class: "curve-name", x: 0, y: y + LANE / 2, "dominant-baseline": "central" }, name),
      svg("text", { class: "curve-tick", x: CURVE_LEFT - 8, y: y + 4, "text-anchor": "end" }, top),
      svg("text", { class: "curve-tick", x: CURVE_LEFT - 8, y: y + LANE, "text-anchor": "end" }, "0"),
      svg("line", { class: "curve-floor", x1: CURVE_LEFT, x2: width - CURVE_RIGHT, y1: y + LANE, y2: y + LANE }),
      svg("polyline", { class: `curve-line ${kind}`, points: points.join(" ") }),
      dot,
    );
    return { dot, yOf, shares };
  }

  /** @param {number} step */
  centre(step) {
    return CURVE_LEFT + (step + 0.5) * this.slot;
  }

  /** @param {number} step */
  draw(step) {
    this.marker?.setAttribute("x", String(this.centre(step) - Number(this.marker.getAttribute("width")) / 2));
    for (const { dot, yOf, shares } of this.dots) {
      dot.setAttribute("cx", String(this.centre(step)));
      dot.setAttribute("cy", String(yOf(shares[step])));
    }
  }
}
