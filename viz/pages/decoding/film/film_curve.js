// @ts-check
// Two curves over all steps: the probability of the token written, and the entropy.
import { svg } from "../../../components/shared/drawing.js";
import { clamp, element } from "../../../components/shared/picture.js";
import { formatProbability } from "./film_candidates.js";

/** @import { Tooltip } from "../../../components/shared/picture.js" */
/** @import { Step } from "./decode_player.js" */
/** @typedef {{ name: string, top: string, shares: number[], kind: string }} Lane */

const LANE = 40;
const LANE_GAP = 12;
const CURVE_LEFT = 132;
const CURVE_RIGHT = 12;
const CURVE_TOP = 5;

const CURVE_LABEL =
  "Over all steps: the probability of the token that was written, and the entropy. A click goes to a step.";

export class FilmCurve {
  slot = 0;
  /** @type {SVGElement | null} */ marker = null;
  /** @type {{ dot: SVGElement, yOf(share: number): number, shares: number[] }[]} */ dots = [];

  /** `goTo` hears of clicks and drags. @param {Step[]} steps @param {Tooltip} tooltip @param {(step: number) => void} goTo */
  constructor(steps, tooltip, goTo) {
    this.steps = steps;
    const most = Math.max(1, ...steps.map(({ entropy }) => entropy));
    const probabilities = steps.map(({ logProb }) => Math.exp(logProb));
    const entropies = steps.map(({ entropy }) => entropy / most);
    /** @type {Lane[]} */
    this.lanes = [
      { name: "Probability", top: "100 %", shares: probabilities, kind: "probability" },
      { name: "Entropy", top: `${most.toFixed(1)} nats`, shares: entropies, kind: "entropy" },
    ];
    const stepAt = (/** @type {MouseEvent} */ { clientX }) => {
      const x = clientX - this.element.getBoundingClientRect().left - CURVE_LEFT;
      return clamp(0, Math.floor(x / this.slot), steps.length - 1);
    };
    this.element = element("figure", {
      className: "curve",
      role: "img",
      ariaLabel: CURVE_LABEL,
      onpointerdown: (event) => goTo(stepAt(event)),
      onpointermove: (event) => {
        const step = stepAt(event);
        if (event.buttons & 1) goTo(step);
        const { token, logProb, entropy } = steps[step];
        const numbers = `probability ${formatProbability(logProb)} · entropy ${entropy.toFixed(2)} nats`;
        tooltip.show(event, `Step ${step + 1} writes`, token, null, numbers);
      },
      onpointerleave: () => tooltip.hide(),
    });
  }

  /** Draw both curves as wide as there is room. @param {number} width */
  resize(width) {
    const height = CURVE_TOP + 2 * LANE + LANE_GAP + 6;
    this.slot = (width - CURVE_LEFT - CURVE_RIGHT) / this.steps.length;
    this.marker = svg("rect", { class: "curve-now", y: 0, height, width: clamp(3, this.slot, 28), rx: 2 });
    const size = { width, height, viewBox: `0 0 ${width} ${height}` };
    const drawing = svg("svg", { ...size, "aria-hidden": "true" }, this.marker);
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
