// Curves over the steps of a film, in lanes below one another, with a marker at the step that is shown; a click or a drag
// goes to a step.
import { ofSize, svg } from "../shared/drawing.js";
import { clamp, element, zoomOf } from "../shared/picture.js";

/** @import { Point } from "../shared/items.js" */
/** @typedef {{ shares: (number | null)[], kind: string, isMarked?: boolean }} Line a number from 0, the lane's foot, to 1 for each step; one that is marked has a dot at the step shown */
/** @typedef {{ name: string, top: string, bottom: string, height: number, lines: Line[], notes?: [text: string, kind: string][] }} Lane `notes` stand below its name in the look of a line */
/** @typedef {{ at: number, label: string }} Tick a label of the axis, at a share of its length */
/**
 * @typedef {{
 *   label: string, lanes: Lane[], places: number[], slot?: number, ticks?: Tick[], axis?: string, left: number,
 *   goTo(step: number): void, tell(point: Point, step: number): void, leave(): void,
 * }} Chart `places` are shares of the axis, one for each step, ascending; `slot` is the share that belongs to each of
 *   steps that lie evenly
 */

const LANE_GAP = 12;
const CHART_RIGHT = 12;
const CHART_TOP = 5;
const AXIS_HEIGHT = 18;
const [NARROWEST_MARKER, WIDEST_MARKER] = [3, 28];
const NOTE_HEIGHT = 15;
/** What a label of the axis needs, in pixels. */
const LABEL_ROOM = 44;

/** Which of ascending places is nearest to another one. @param {number[]} places @param {number} place */
export function nearestPlace(places, place) {
  const after = places.findIndex((each) => each >= place);
  if (after <= 0) return after < 0 ? places.length - 1 : 0;
  return place - places[after - 1] < places[after] - place ? after - 1 : after;
}

/** The points of a curve, in runs without a gap. @param {(number | null)[]} shares @returns {[step: number, share: number][][]} */
export function runsOfLine(shares) {
  /** @type {[number, number][][]} */
  const runs = [[]];
  shares.forEach((share, step) => {
    if (share === null) runs.push([]);
    else runs[runs.length - 1].push([step, share]);
  });
  return runs.filter((run) => run.length);
}

export class StepChart {
  width = 0;
  /** @type {SVGElement | null} */ marker = null;
  /** @type {{ dot: SVGElement, yOf(share: number): number, shares: (number | null)[] }[]} */ dots = [];

  /** @param {Chart} chart */
  constructor(chart) {
    this.chart = chart;
    const { places, goTo, tell, leave } = chart;
    const stepAt = (/** @type {MouseEvent} */ { clientX }) => {
      const x = (clientX - this.element.getBoundingClientRect().left) / zoomOf(this.element) - chart.left;
      return nearestPlace(places, x / this.room);
    };
    this.element = element("figure", {
      className: "curve",
      role: "img",
      ariaLabel: chart.label,
      onpointerdown: (event) => goTo(stepAt(event)),
      onpointermove: (event) => {
        const step = stepAt(event);
        if (event.buttons & 1) goTo(step);
        tell(event, step);
      },
      onpointerleave: leave,
    });
  }

  /** How long the axis is. */
  get room() {
    return this.width - this.chart.left - CHART_RIGHT;
  }

  /** Draw all curves as wide as there is room. @param {number} width */
  resize(width) {
    this.width = width;
    const { lanes, ticks = [], axis = "", slot = 0 } = this.chart;
    const heights = lanes.reduce((sum, { height }) => sum + height, (lanes.length - 1) * LANE_GAP);
    const [foot, below] = [CHART_TOP + heights + 6, ticks.length ? AXIS_HEIGHT : 0];
    const markerWidth = clamp(NARROWEST_MARKER, slot * this.room, WIDEST_MARKER);
    this.marker = svg("rect", { class: "curve-now", y: 0, height: foot, width: markerWidth, rx: 2 });
    const height = foot + below;
    const drawing = svg("svg", { ...ofSize(width, height), "aria-hidden": "true" }, this.marker);
    this.dots = [];
    let y = CHART_TOP;
    for (const lane of lanes) {
      this.drawLane(drawing, lane, y);
      y += lane.height + LANE_GAP;
    }
    // Of labels that would touch, the later one stays.
    let end = Infinity;
    for (const { at, label } of [...ticks].reverse()) {
      const x = this.chart.left + at * this.room;
      if (x > end - LABEL_ROOM) continue;
      end = x;
      drawing.append(svg("text", { class: "curve-tick", x, y: foot + 12, "text-anchor": "middle" }, label));
    }
    const name = { class: "curve-tick", x: 0, y: foot + 12 };
    if (axis) drawing.append(svg("text", name, axis));
    this.element.style.height = `${height}px`;
    this.element.replaceChildren(drawing);
  }

  /** @param {SVGElement} drawing @param {Lane} lane @param {number} y */
  drawLane(drawing, { name, top, bottom, height, lines, notes = [] }, y) {
    const { left } = this.chart;
    const yOf = (/** @type {number} */ share) => y + height * (1 - share);
    const middle = y + (height - notes.length * NOTE_HEIGHT) / 2;
    drawing.append(
      svg("text", { class: "curve-name", x: 0, y: middle, "dominant-baseline": "central" }, name),
      svg("text", { class: "curve-tick", x: left - 8, y: y + 4, "text-anchor": "end" }, top),
      svg("text", { class: "curve-tick", x: left - 8, y: y + height, "text-anchor": "end" }, bottom),
      svg("line", { class: "curve-floor", x1: left, x2: this.width - CHART_RIGHT, y1: y + height, y2: y + height }),
    );
    notes.forEach(([text, kind], i) => {
      const at = middle + (i + 1) * NOTE_HEIGHT;
      drawing.append(
        svg("line", { class: `curve-line ${kind}`, x1: 0, x2: 18, y1: at, y2: at }),
        svg("text", { class: "curve-tick", x: 24, y: at, "dominant-baseline": "central" }, text),
      );
    });
    for (const { shares, kind, isMarked } of lines) {
      for (const run of runsOfLine(shares)) {
        const points = run.map(([step, share]) => `${this.centre(step).toFixed(1)},${yOf(share).toFixed(1)}`);
        drawing.append(svg("polyline", { class: `curve-line ${kind}`, points: points.join(" ") }));
      }
      if (!isMarked) continue;
      const dot = svg("circle", { class: `curve-dot ${kind}`, r: 4 });
      drawing.append(dot);
      this.dots.push({ dot, yOf, shares });
    }
  }

  /** @param {number} step */
  centre(step) {
    return this.chart.left + this.chart.places[step] * this.room;
  }

  /** Mark steps that are pointed at elsewhere. @param {number[]} steps */
  mark(steps) {
    const { marker } = this;
    if (!marker) return;
    for (const old of this.element.querySelectorAll(".curve-pointed")) old.remove();
    const [width, height] = ["width", "height"].map((side) => Number(marker.getAttribute(side)));
    const shapes = steps.map((step) =>
      svg("rect", { class: "curve-pointed", x: this.centre(step) - width / 2, y: 0, height, width, rx: 2 }),
    );
    marker.after(...shapes);
  }

  /** @param {number} step */
  draw(step) {
    this.marker?.setAttribute("x", String(this.centre(step) - Number(this.marker.getAttribute("width")) / 2));
    for (const { dot, yOf, shares } of this.dots) {
      const share = shares[step];
      dot.setAttribute("visibility", share === null ? "hidden" : "visible");
      dot.setAttribute("cx", String(this.centre(step)));
      dot.setAttribute("cy", String(yOf(share ?? 0)));
    }
  }
}
