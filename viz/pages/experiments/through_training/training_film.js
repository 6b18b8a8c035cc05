// The film of a training: curves of loss and BLEU, tiles of all heads of one attention on one sentence, one head large
// with its tokens, and a metric of each head as lines. All of it moves with the frame, in the browser alone.
// Data: the payload of component.py. Sends back the state `view`: { step, layer, head, digest, command }.
import { HeadGrid } from "../../../pictures/head_grid/grid.js";
import { MatrixPicture } from "../../../pictures/matrix_picture/matrix.js";
import { HeadFilm } from "../../../pictures/player/player_view.js";
import { StepChart } from "../../../pictures/player/step_chart.js";
import { headLabel } from "../../../pictures/shared/head_label.js";
import { Tiles } from "../../../pictures/shared/head_tiles.js";
import { _ } from "../../../pictures/shared/messages.js";
import { mount } from "../../../pictures/shared/mount.js";
import { element, isPresented } from "../../../pictures/shared/picture.js";
import { MetricNumbers, metricLanes, stepTicks, TrainingTexts, toldOfFrame, trainingLanes } from "./training_lanes.js";

/** @import { Command } from "../../../pictures/player/player_view.js" */
/** @import { GridHeader } from "../../../pictures/head_grid/head_preview.js" */
/** @import { MatrixHeader } from "../../../pictures/matrix_picture/matrix_reading.js" */
/** @import { Lane } from "../../../pictures/player/step_chart.js" */
/** @import { Point } from "../../../pictures/shared/items.js" */
/**
 * A job of a head: which head, the word under its tile, that word's colour, and all of it.
 * @typedef {[index: number, sign: string, colour: string, said: string]} Job
 * @typedef {{ step: number, layer: number, head: number }} FilmState `step` is a frame
 * @typedef {{ name: string, unit: string, decimals: number, isShare: boolean, note: string }} Metric of each head
 * @typedef {{
 *   layers: number, heads: number, rowTokens: string[], columnTokens: string[], sides: [string, string], rowsWrite: boolean,
 *   source: string, target: string, translations: string[], steps: number[], losses: (number | null)[],
 *   scores: [name: string, values: number[]][], jobs: Job[][],
 *   metric: Metric | null, threshold: number | null,
 *   stops: string[], ticks: number[], marks: [number, string][], keptColour: string,
 *   firstCell: number[], firstThousandth: number[], digest: string, name: string, finding: string, command: Command<FilmState>,
 * }} FilmHeader
 */

const STACKED_BELOW = 760;
const LANE_NAMES = 150;

/** A step with its thousands apart. @param {number} step */
const written = (step) => step.toLocaleString("en");

/** @extends {HeadFilm<FilmState, FilmHeader>} */
class TrainingFilm extends HeadFilm {
  /** The tiles of each frame. @type {Tiles[]} */ frames = [];
  /** Of the metric, if there is one. @type {MetricNumbers | null} */ numbers = null;
  /** @type {TrainingTexts} */ texts;
  /** @type {StepChart | null} */ curves = null;
  /** @type {StepChart | null} */ lines = null;
  /** Which head the lines mark. */ marked = "";

  grid = new HeadGrid(element("div", "head-grid"));
  matrix = new MatrixPicture(element("div", "matrix-picture"));

  start() {
    super.start();
    this.root.ariaLabel = _(
      "Film of a training run. Left and right arrow keys step, Space plays, up and down change the layer.",
    );
    const choose = (/** @type {string} */ _name, /** @type {any} */ { layer, head }) => this.change({ layer, head });
    this.grid.python = { trigger: choose, state() {} };
    this.matrix.python = { trigger() {}, state() {} };
    this.grid.start();
    this.matrix.start();
  }

  dispose() {
    super.dispose();
    this.grid.dispose();
    this.matrix.dispose();
  }

  // ---- building, once for each film ----

  /** @param {Uint8Array<ArrayBuffer>[]} unpacked the weights, and the metric of each frame and head */
  build([planes, numbers]) {
    const { header } = this;
    const { layers, heads, steps, rowTokens, columnTokens, firstCell, firstThousandth } = header;
    const sizes = { heads, rows: rowTokens.length, columns: columnTokens.length, blockQueries: 1, blockKeys: 1 };
    const tokens = { queryTokens: rowTokens, keyTokens: columnTokens, firstCell, firstThousandth };
    const all = new Tiles({ layers: layers * steps.length, ...sizes, ...tokens }, planes);
    this.frames = steps.map((_, frame) => all.layersFrom(frame * layers, layers));
    const { metric } = header;
    const ofHeads =
      metric && new MetricNumbers(new Float32Array(numbers.buffer), layers * heads, { ...header, metric });
    this.numbers = ofHeads;
    const last = written(steps[steps.length - 1]);
    this.buildTransport(
      (step) => _("Step {number} of {last}", { number: written(steps[step]), last }),
      () => `${header.name}-step${steps[this.state.step]}`,
    );
    this.texts = new TrainingTexts(header);
    const lanes = trainingLanes(header);
    const [ofCurves, metricName] = [_("Loss and BLEU over the steps. Click to go to a frame."), metric?.name];
    const ofLines = _("{metric} of each head over the steps. Click to go to a frame.", { metric: metricName });
    const toldOfHeads = (/** @type {number} */ frame) => ofHeads?.ofHeads(frame, this.state) ?? [];
    this.curves = lanes.length ? this.chartOf(ofCurves, lanes, (frame) => toldOfFrame(header, frame)) : null;
    this.lines = ofHeads && this.chartOf(ofLines, [], toldOfHeads);
    this.marked = "";
    const noCurves = element("p", "muted", _("This film has neither a loss nor a score at its frames."));
    const above = [element("p", "finding", header.finding), this.transport.element, this.curves?.element ?? noCurves];
    const pair = element("div", "film-pair", this.grid.root, this.matrix.root);
    const below = [this.lines?.element ?? [], metric ? element("p", "lines-note muted", metric.note) : []].flat();
    this.root.replaceChildren(...above, this.texts.element, pair, ...below, this.announcement, this.tooltip.box);
    this.width = 0;
    this.measure();
  }

  /** @param {string} label @param {Lane[]} lanes @param {(frame: number) => string[]} tell */
  chartOf(label, lanes, tell) {
    return new StepChart({
      ...{ label, lanes, ...stepTicks(this.header.steps), axis: _("Training step (log)"), left: LANE_NAMES },
      goTo: (step) => this.goTo(step),
      tell: (point, frame) => this.tell(point, frame, tell(frame)),
      leave: () => this.tooltip.hide(),
    });
  }

  /** @param {Point} point @param {number} frame @param {string[]} said */
  tell(point, frame, said) {
    this.tooltip.showContent(point, _("Step {number}", { number: written(this.header.steps[frame]) }), ...said);
  }

  // ---- drawing ----

  /** @param {number} width */
  layOut(width) {
    this.root.classList.toggle("stacked", width < STACKED_BELOW && !isPresented(this.root));
    this.curves?.resize(width - 6);
    this.marked = "";
  }

  draw() {
    const { step, layer, head } = this.state;
    const { steps, translations } = this.header;
    this.transport.draw(step);
    this.texts.draw(step);
    this.tooltip.hide();
    if (this.width) {
      this.curves?.draw(step);
      this.drawLines();
      this.drawGrid();
      this.drawMatrix();
    }
    const said = { number: steps[step], head: headLabel(layer, head) };
    this.announcement.textContent = translations[step]
      ? _("Step {number}, {head}: {translation}", { ...said, translation: translations[step] })
      : _("Step {number}, {head}", said);
    Object.assign(this.root.dataset, { step, trained: steps[step], layer, head });
  }

  drawLines() {
    if (!this.lines || !this.numbers) return;
    const { step, layer, head } = this.state;
    const marked = headLabel(layer, head);
    if (marked !== this.marked) {
      this.marked = marked;
      this.lines.chart.lanes = metricLanes(this.numbers.header, this.numbers, this.state);
      this.lines.resize(this.width - 6);
    }
    this.lines.draw(step);
  }

  drawGrid() {
    const { step, layer, head } = this.state;
    const { layers, heads, metric, jobs, stops, ticks, name } = this.header;
    const [signs, colours, said] = [1, 2, 3].map((part) => {
      const texts = Array(layers * heads).fill("");
      for (const job of jobs[step]) texts[job[0]] = job[part];
      return texts;
    });
    const ofHeads = { signs, colours, said, intervals: said.map(() => "") };
    /** @type {GridHeader} */
    const shown = {
      ...{ address: `training ${step}`, stops, ticks, name, caption: "", selected: [layer, head], ranked: null },
      ...{ framed: [], kept: [], isMean: false, notes: [], followed: null, roles: [] },
      jobs: jobs.some((frame) => frame.length) ? ofHeads : null,
      metric: metric && this.numbers && { name: metric.name, unit: metric.unit, ...this.numbers.underTiles(step) },
    };
    this.grid.draw(shown, this.frames[step]);
  }

  drawMatrix() {
    const { step, layer, head } = this.state;
    const { rowTokens, columnTokens, rowsWrite, stops, marks, keptColour, sides, name, steps, jobs } = this.header;
    const [, , , job] = jobs[step].find(([index]) => index === layer * this.header.heads + head) ?? [];
    const title = [headLabel(layer, head), _("step {number}", { number: written(steps[step]) }), ...(job ? [job] : [])];
    const label = _("The weights of {head} at step {number}.", { head: headLabel(layer, head), number: steps[step] });
    /** @type {MatrixHeader} */
    const shown = {
      ...{ rowTokens, columnTokens, rowsWrite, axes: null, title: title.join(" · "), label, note: "", caption: "" },
      ...{ sides, fileName: `${name}-step${steps[step]}`, number: _("weight"), stops, marks, low: 0, high: 1 },
      // A weight is kept in 255ths: of that three decimals are enough, as in a preview.
      ...{ exponent: 0.5, kept: this.keptCell(), keptColour, rowRoles: [], columnRoles: [] },
      ...{ shows: null, previews: {}, deep: null, isPreview: true },
    };
    const values = this.frames[step].weightsOf([layer, head]);
    this.matrix.show(shown, { values, rows: rowTokens.length, columns: columnTokens.length });
  }

  /** What a person has framed in the large head stays framed while the film moves. @returns {[number | null, number | null]} */
  keptCell() {
    const { header } = this.matrix;
    const isSame =
      header?.rowTokens.join() === this.header.rowTokens.join() &&
      header?.columnTokens.join() === this.header.columnTokens.join();
    return isSame ? header.kept : [null, null];
  }
}

export default mount(".training-film", TrainingFilm);
