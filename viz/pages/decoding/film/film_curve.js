// Two curves over all steps: the probability of the token written, and the entropy. Knows nothing of Streamlit.

const LANE = 40;
const LANE_GAP = 12;
const CURVE_LEFT = 132;
const CURVE_RIGHT = 12;
const CURVE_TOP = 5;

class FilmCurve {
  /** `goTo(step)` is called when a step is clicked or dragged over. */
  constructor(steps, tooltip, goTo) {
    this.steps = steps;
    this.tooltip = tooltip;
    this.most = Math.max(1, ...steps.map(({ entropy }) => entropy));
    this.lanes = [
      { name: "Probability", top: "100 %", shares: steps.map(({ logProb }) => Math.exp(logProb)), kind: "probability" },
      { name: "Entropy", top: `${this.most.toFixed(1)} nats`, shares: steps.map(({ entropy }) => entropy / this.most), kind: "entropy" },
    ];
    this.element = element("figure", "curve");
    this.element.setAttribute("role", "img");
    this.element.setAttribute(
      "aria-label",
      "Over all steps: the probability of the token that was written, and the entropy. A click goes to a step.",
    );
    this.listen(goTo);
  }

  listen(goTo) {
    const stepAt = (event) => {
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

  /** Draw both curves as wide as there is room. */
  resize(width) {
    const height = CURVE_TOP + 2 * LANE + LANE_GAP + 6;
    this.slot = (width - CURVE_LEFT - CURVE_RIGHT) / this.steps.length;
    this.svg = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
    this.marker = svg("rect", { class: "curve-now", y: 0, height, width: Math.max(3, Math.min(28, this.slot)), rx: 2 });
    this.svg.append(this.marker);
    this.dots = this.lanes.map((lane, i) => this.drawLane(lane, CURVE_TOP + i * (LANE + LANE_GAP), width));
    this.element.replaceChildren(this.svg);
  }

  drawLane({ name, top, shares, kind }, y, width) {
    const yOf = (share) => y + LANE * (1 - share);
    const points = shares.map((share, step) => `${this.centre(step).toFixed(1)},${yOf(share).toFixed(1)}`);
    const dot = svg("circle", { class: `curve-dot ${kind}`, r: 4 });
    this.svg.append(
      svg("text", { class: "curve-name", x: 0, y: y + LANE / 2, "dominant-baseline": "central" }, name),
      svg("text", { class: "curve-tick", x: CURVE_LEFT - 8, y: y + 4, "text-anchor": "end" }, top),
      svg("text", { class: "curve-tick", x: CURVE_LEFT - 8, y: y + LANE, "text-anchor": "end" }, "0"),
      svg("line", { class: "curve-floor", x1: CURVE_LEFT, x2: width - CURVE_RIGHT, y1: y + LANE, y2: y + LANE }),
      svg("polyline", { class: `curve-line ${kind}`, points: points.join(" ") }),
      dot,
    );
    return { dot, yOf, shares };
  }

  centre(step) {
    return CURVE_LEFT + (step + 0.5) * this.slot;
  }

  draw(step) {
    if (!this.svg) return;
    this.marker.setAttribute("x", this.centre(step) - Number(this.marker.getAttribute("width")) / 2);
    for (const { dot, yOf, shares } of this.dots) {
      dot.setAttribute("cx", this.centre(step));
      dot.setAttribute("cy", yOf(shares[step]));
    }
  }
}
