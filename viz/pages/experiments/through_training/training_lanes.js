// What the curves of a training's film show: where a step lies, loss, BLEU, and a metric of each head.
import { headLabel } from "../../../pictures/shared/head_label.js";
import { _ } from "../../../pictures/shared/messages.js";
import { element, indexOfLargest } from "../../../pictures/shared/picture.js";

/** @import { FilmHeader, FilmState, Metric } from "./training_film.js" */
/** @import { Lane, Line, Tick } from "../../../pictures/player/step_chart.js" */

/** @typedef {Pick<FilmHeader, "heads" | "steps" | "threshold"> & { metric: Metric }} Measured of a film whose heads have a metric */

const CURVE_HEIGHT = 40;
const LINES_HEIGHT = 170;

/** Where each step lies on a logarithmic axis that begins at step 0, and its labels. @param {number[]} steps */
export function stepTicks(steps) {
  const last = steps[steps.length - 1];
  // log(1 + step), so that step 0 has a place.
  const placeOf = (/** @type {number} */ step) => (last ? Math.log1p(step) / Math.log1p(last) : 0);
  /** @type {Tick[]} */
  const ticks = [];
  for (const step of [0, ...Array.from({ length: 13 }, (_, power) => 10 ** power).filter((each) => each < last)])
    ticks.push({ at: placeOf(step), label: step.toLocaleString("en") });
  if (last) ticks.push({ at: 1, label: last.toLocaleString("en") });
  return { places: steps.map(placeOf), ticks };
}

/** Loss and BLEU as lanes, each if it is known at a frame. @param {Pick<FilmHeader, "losses" | "scores">} header @returns {Lane[]} */
export function trainingLanes({ losses, scores }) {
  const highest = Math.max(1e-9, ...losses.map((loss) => loss ?? 0));
  const best = Math.max(1, ...scores.flatMap(([, values]) => values));
  const kinds = ["score", "second"];
  const lane = (/** @type {string} */ name, /** @type {number} */ top, /** @type {Line[]} */ lines) =>
    /** @type {Lane} */ ({ name, top: top.toFixed(1), bottom: "0", height: CURVE_HEIGHT, lines });
  const shares = losses.map((each) => (each === null ? null : each / highest));
  const loss = lane(_("Loss"), highest, [{ shares, kind: "loss", isMarked: true }]);
  const ofScores = scores.map(([, values], i) => {
    return { shares: values.map((each) => each / best), kind: kinds[i], isMarked: true };
  });
  const bleu = lane("BLEU", best, ofScores);
  bleu.notes = scores.map(([name], i) => [name, kinds[i]]);
  return [...(losses.some((each) => each !== null) ? [loss] : []), ...(scores.length ? [bleu] : [])];
}

/** Loss and BLEU of a frame, for reading. @param {Pick<FilmHeader, "losses" | "scores">} header @param {number} frame */
export function toldOfFrame({ losses, scores }, frame) {
  const loss = losses[frame];
  const said = scores.map(([name, values]) =>
    _("BLEU {value} on {set}", { value: values[frame].toFixed(1), set: name }),
  );
  return [loss === null ? _("no loss yet") : _("loss {value} nats", { value: loss.toFixed(2) }), ...said];
}

/** The metric of every head at every frame. */
export class MetricNumbers {
  /** @param {Float32Array} values frame by frame @param {number} heads of all layers @param {Measured} header */
  constructor(values, heads, header) {
    this.values = values;
    this.heads = heads;
    this.header = header;
    // Shares begin at 0, and their axis ends at 1 unless all are small.
    const highest = values.reduce((most, value) => Math.max(most, value), 1e-9);
    this.top = header.metric.isShare ? ([0.25, 0.5, 1].find((top) => highest <= top) ?? highest) : highest;
  }

  /** @param {number} frame @param {number} index of a head, layer by layer */
  at(frame, index) {
    return this.values[frame * this.heads + index];
  }

  /** @param {number} value */
  format(value) {
    const { decimals, unit } = this.header.metric;
    return `${value.toFixed(decimals)} ${unit}`.trimEnd();
  }

  /** The line of a head. @param {number} index @returns {number[]} */
  shares(index) {
    return this.header.steps.map((_, frame) => Math.max(0, this.at(frame, index)) / this.top);
  }

  /** The numbers under the tiles, and their bars. @param {number} frame */
  underTiles(frame) {
    const values = Array.from({ length: this.heads }, (_, index) => this.at(frame, index));
    const { decimals } = this.header.metric;
    return {
      texts: values.map((value) => value.toFixed(decimals)),
      bars: values.map((value) => Math.max(0, value) / this.top),
    };
  }

  /** The open head's number of a frame, and the highest, for reading. @param {number} frame @param {FilmState} state */
  ofHeads(frame, { layer, head }) {
    const { heads } = this.header;
    const own = layer * heads + head;
    const best = indexOfLargest(this.values.subarray(frame * this.heads, (frame + 1) * this.heads));
    const label = (/** @type {number} */ index) => headLabel(Math.floor(index / heads), index % heads);
    const lines = [`${label(own)}: ${this.format(this.at(frame, own))}`];
    return best === own
      ? lines
      : [...lines, _("highest, {head}: {value}", { head: label(best), value: this.format(this.at(frame, best)) })];
  }
}

/** The lines of all heads, that of the open one above the others. @param {Measured} header @param {MetricNumbers} numbers @param {FilmState} state @returns {Lane[]} */
export function metricLanes({ heads, steps, metric, threshold }, numbers, { layer, head }) {
  const own = layer * heads + head;
  const others = Array.from({ length: numbers.heads }, (_, index) => index).filter((index) => index !== own);
  /** @type {Line[]} */
  const lines = others.map((index) => ({ shares: numbers.shares(index), kind: "other" }));
  /** @type {[string, string][]} */
  const notes = [
    [headLabel(layer, head), "own"],
    [_("other heads"), "other"],
  ];
  if (threshold !== null && threshold <= numbers.top) {
    lines.push({ shares: steps.map(() => threshold / numbers.top), kind: "threshold" });
    notes.push([_("threshold of the job: {threshold}", { threshold }), "threshold"]);
  }
  lines.push({ shares: numbers.shares(own), kind: "own", isMarked: true });
  const digits = metric.isShare ? 2 : 1;
  return [{ name: metric.name, top: numbers.top.toFixed(digits), bottom: "0", height: LINES_HEIGHT, lines, notes }];
}

/** The sentence, its translation by a person, and what the model wrote at the frame that is shown. */
export class TrainingTexts {
  written = element("bdi", { className: "text-written", dir: "auto" });

  /** @param {FilmHeader} header */
  constructor({ source, target, translations }) {
    this.translations = translations;
    const text = (/** @type {string} */ shown) => element("bdi", { dir: "auto" }, shown);
    const line = (/** @type {string} */ name, /** @type {HTMLElement} */ shown) =>
      element("div", "text-line", element("dt", "muted", name), element("dd", "", shown));
    this.element = element("dl", "texts", line(_("Source"), text(source)));
    if (target) this.element.append(line(_("Given"), text(target)));
    // A model that was watched in somebody's own training was not asked to write.
    if (translations.some(Boolean)) this.element.append(line(_("Model writes"), this.written));
  }

  /** @param {number} step */
  draw(step) {
    const text = this.translations[step];
    this.written.textContent = text || _("nothing");
    this.written.classList.toggle("muted", !text);
  }
}
