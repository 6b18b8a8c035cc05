// The film of a finished decoding. Python hears at once of what a person wishes written instead.
// Data: the payload of component.py. Sends back the state `view` and the trigger `wish`.
import { HeadFilm } from "../../../pictures/player/player_view.js";
import {
  closeHead,
  indicesOf,
  onTold,
  openHead,
  placeAt,
  placeOf,
  pointAt,
  pointed,
  tell,
} from "../../../pictures/shared/focus.js";
import { headLabel } from "../../../pictures/shared/head_label.js";
import { Tiles } from "../../../pictures/shared/head_tiles.js";
import { _ } from "../../../pictures/shared/messages.js";
import { mount } from "../../../pictures/shared/mount.js";
import { element, roomFor } from "../../../pictures/shared/picture.js";
import { sourcePicture } from "../../../pictures/shared/source_picture.js";
import { FilmCandidates, formatProbability } from "./film_candidates.js";
import { distributionAt, filmCurve, filterDistribution } from "./film_distribution.js";
import { FilmFilters, isFilter } from "./film_filters.js";
import { FilmHeads } from "./film_heads.js";
import { FilmLane } from "./film_lane.js";
import { FilmPicture } from "./film_picture.js";
import { FilmSentence } from "./film_sentence.js";

/** @import { Command } from "../../../pictures/player/player_view.js" */
/** @import { Axis, Focus, OpenHead, Place } from "../../../pictures/shared/focus.js" */
/** @import { StepChart } from "../../../pictures/player/step_chart.js" */
/** @import { Filter } from "./film_filters.js" */
/** @import { Lane } from "./film_lane.js" */
/**
 * `chosen` is the index of the token among the candidates, if it is one of them.
 * @typedef {{
 *   token: string, logProb: number, entropy: number, rank: number, chosen: number | null,
 *   candidates: [tokenId: number, token: string, logProb: number][],
 * }} Step
 * @typedef {Filter & {
 *   step: number, layer: number, head: number, also: number[], candidates: number,
 * }} PlayerState
 * @typedef {{
 *   layers: number, heads: number, titles: [string, string], sourceTokens: string[], targetTokens: string[],
 *   steps: Step[], numBest: number, numBins: number, vocabSize: number, stops: string[], ticks: number[],
 *   colours: string[], firstCell: number[], firstThousandth: number[], pictureSize?: [number, number], digest: string, name: string, note: string, command: Command<PlayerState>,
 *   lane: Lane | null, moments: number, asks: boolean, headNames: [string[], string[]], axes: [rows: Axis, source: Axis, own: Axis],
 * }} PlayerHeader
 */

const STACKED_BELOW = 860;

/** @extends {HeadFilm<PlayerState, PlayerHeader>} */
class DecodePlayer extends HeadFilm {
  /** @type {Float32Array} */ numbers;
  /** @type {FilmSentence} */ sentence;
  /** @type {StepChart} */ curve;
  /** @type {FilmCandidates} */ candidates;
  /** @type {FilmFilters} */ filters;
  /** @type {FilmHeads} */ heads;
  /** @type {FilmLane | null} */ lane = null;
  /** Of what was read, if it is a picture. @type {FilmPicture | null} */ picture = null;
  isFilled = false;
  /** Which head the page was told of, and as what. */ offeredName = "";
  /** @type {OpenHead | null} */ offered = null;

  panels = element("div", "panels");

  start() {
    super.start();
    this.root.ariaLabel = _(
      "Film of the translation. Left and right arrow keys step, Space plays, up and down change the layer.",
    );
    onTold("pointed", (focus) => this.markPointed(focus), this.ended.signal);
    onTold("picked", (place) => this.goToWord(place), this.ended.signal);
  }

  dispose() {
    super.dispose();
    this.lane?.close();
    closeHead(this.offered);
  }

  // ---- building, once for each decoding ----

  /** @param {Uint8Array<ArrayBuffer>[]} unpacked weights of the cross- and of the self-attention, the distributions, the samples of a lane, and a picture */
  build([cross, self, numbers, samples, pixels, rectangles]) {
    const { header, tooltip } = this;
    const { layers, heads, sourceTokens, targetTokens, steps, firstCell, firstThousandth } = header;
    // JSON has no −∞, the log-probability of a token that was written though the model's rules forbid it.
    for (const step of steps) step.logProb ??= -Infinity;
    const sizes = { layers, heads, rows: steps.length, blockQueries: 1, blockKeys: 1, firstCell, firstThousandth };
    const tilesOver = (/** @type {string[]} */ keyTokens, /** @type {Uint8Array} */ planes) =>
      new Tiles({ ...sizes, columns: keyTokens.length, queryTokens: targetTokens, keyTokens }, planes);
    const goTo = (/** @type {number} */ step) => this.goTo(step);
    this.numbers = new Float32Array(numbers.buffer);
    this.buildTransport(
      (step) => _("Step {step} of {count}", { step: step + 1, count: steps.length }),
      () => `${this.header.name}-step${this.state.step}`,
    );
    const overSource = tilesOver(sourceTokens, cross);
    this.sentence = new FilmSentence(header, overSource, {
      goTo,
      pointKey: (key) => this.point(null, placeAt(header.axes[1], key)),
      pointStep: (step) => this.point(step, null),
    });
    this.lane?.close();
    const begin = () => this.transport.pause();
    const end = () => this.state && this.report();
    this.lane = header.lane && new FilmLane(header.lane, new Int16Array(samples.buffer), { goTo, begin, end });
    this.curve = filmCurve(steps, tooltip, goTo, (step) => this.point(step, null));
    this.candidates = new FilmCandidates(steps, header.note, {
      force: (tokenId) => this.wish({ kind: "force", tokenId }),
      list: (candidates) => this.change({ candidates }),
    });
    this.filters = new FilmFilters(header.vocabSize, {
      filter: (changes) => this.change(changes),
      draw: () => {
        const { temperature, topK, topP } = this.state;
        this.wish({ kind: "draw", temperature, topK, topP });
      },
    });
    this.heads = new FilmHeads(header, overSource, tilesOver(targetTokens, self), tooltip, {
      choose: (layer, [head, ...also]) => this.change({ layer, head, also }),
      preview: (layer, head) => this.link(layer, head === null ? null : [head]),
      point: (row, key, isOverSource) =>
        this.point(row, row === null ? null : placeOf(header.axes[isOverSource ? 1 : 2], key)),
    });
    const { pictureSize } = header;
    const read = pictureSize && sourcePicture(pixels, new Uint16Array(rectangles.buffer), pictureSize);
    const pointPatch = (/** @type {number | null} */ at) =>
      this.point(null, at === null ? null : { side: "source", tokens: [at] });
    this.picture = read ? new FilmPicture(read, overSource, header.stops, pointPatch) : null;
    this.offeredName = "";
    const picture = this.picture ? [this.picture.element] : [];
    const choices = element("div", "choices", ...picture, this.candidates.element, this.filters.element);
    this.panels.replaceChildren(choices, this.heads.element);
    const parts = [this.transport, this.lane ?? [], this.sentence, this.curve].flat().map((part) => part.element);
    this.root.replaceChildren(...parts, this.panels, this.announcement, tooltip.box);
    this.width = 0;
    this.measure();
  }

  get isPlaying() {
    return super.isPlaying || Boolean(this.lane?.player.playing);
  }

  // ---- what a person does ----

  /** The tokens that steps write. @returns {Axis} */
  get written() {
    const [, , own] = this.header.axes;
    return { ...own, ahead: own.ahead + 1 };
  }

  /** A person goes to a step: the word that it writes is chosen. @param {Partial<PlayerState>} changes */
  change(changes) {
    const { step } = this.state;
    super.change(changes);
    if (this.state.step !== step) tell("stepped", placeOf(this.written, this.state.step));
  }

  /** A person points at a row, a key, or both. @param {number | null} row @param {Place | null} key */
  point(row, key) {
    pointAt({ query: placeAt(this.header.axes[0], row), key });
  }

  /** Mark what is pointed at, here or elsewhere on the page, wherever it stands: as a key, as a row, and as a candidate. @param {Focus | null} focus */
  markPointed(focus) {
    if (!this.transport) return;
    const { axes, steps, sourceTokens } = this.header;
    const places = [focus?.query ?? null, focus?.key ?? null];
    const [rows, sources, own, written] = [...axes, this.written].map((axis) =>
      places.flatMap((place) => indicesOf(axis, axis === axes[1] ? sourceTokens.length : steps.length, place)),
    );
    this.sentence.mark(sources, rows);
    this.curve.mark(rows);
    this.heads.mark(sources, own, rows);
    this.picture?.mark(focus?.key?.side === "source" ? (sources[0] ?? null) : null);
    this.candidates.mark([...written.map((step) => steps[step].token), ...sources.map((key) => sourceTokens[key])]);
    const [row] = focus?.query ? indicesOf(axes[0], steps.length, focus.query) : [];
    if (this.width) this.sentence.link(this.state.layer, this.chosenHeads, row ?? this.state.step);
  }

  /** A word of the page's head is chosen: the film goes to the step that writes it. @param {Place} place */
  goToWord(place) {
    const [step] = this.header ? indicesOf(this.written, this.count, place) : [];
    if (step !== undefined) this.goTo(step);
  }

  /** Tell the page of the head that is open: its weights on all keys that its rows look at from one side. */
  offer() {
    const { axes, layers, sourceTokens, targetTokens, digest } = this.header;
    const { layer, head } = this.state;
    const name = `${digest} ${layer} ${head}`;
    if (name === this.offeredName || !layers) return;
    this.offeredName = name;
    const { cross, self, rowNames } = this.heads;
    const parts = axes[1].side === axes[2].side ? [cross, self] : [cross];
    const weights = parts.map((tiles) => ({ values: tiles.weightsOf([layer, head]), count: tiles.header.columns }));
    const groups = weights.flatMap(({ count }, i) =>
      Array.from({ length: count }, (_key, at) => placeOf(axes[i + 1], at).tokens),
    );
    const first = sourceTokens.length;
    const valueAt = (/** @type {number} */ row, /** @type {number} */ key) => {
      const { values, count } = weights[key < first ? 0 : 1];
      return values[row * count + (key < first ? key : key - first)];
    };
    this.offered = {
      site: parts.length > 1 ? "decoder.self" : "decoder.cross",
      name: headLabel(layer, head),
      rows: axes[0],
      columns: { side: axes[1].side, ahead: 0, groups },
      rowTokens: rowNames,
      columnTokens: parts.length > 1 ? [...sourceTokens, ...targetTokens] : sourceTokens,
      kept: [null, null],
      valueAt,
      format: (row, key) => valueAt(row, key).toFixed(3),
    };
    openHead(this.offered);
  }

  get chosenHeads() {
    return [this.state.head, ...this.state.also];
  }

  /** What heads look at in this step, above the sentence: those that a person points at, or else the chosen ones. @param {number} [layer] @param {number[] | null} [heads] */
  link(layer = this.state.layer, heads = null) {
    if (heads) this.sentence.link(layer, heads);
    else this.sentence.link(this.state.layer, this.chosenHeads);
  }

  /** @param {{ kind: "force", tokenId: number } | (Filter & { kind: "draw" })} wish */
  wish(wish) {
    this.transport.pause();
    // What was chosen a moment ago must not be lost with the decoding that is left.
    this.flush();
    this.python.trigger("wish", { ...wish, step: this.state.step, digest: this.header.digest });
  }

  // ---- drawing ----

  /** @param {number} width */
  layOut(width) {
    this.panels.classList.toggle("stacked", width < STACKED_BELOW);
    this.curve.resize(width - 6);
    this.heads.resize(this.heads.element.clientWidth);
    this.sentence.begin();
    this.isFilled = false;
  }

  /** What the filter leaves at this step; null without one. */
  filtered() {
    const { step, temperature, topK, topP } = this.state;
    if (!isFilter(this.state)) return null;
    const wanted = { temperature: temperature / 100, topK, topP: topP / 100 };
    return filterDistribution(distributionAt(this.header, this.numbers, step), wanted);
  }

  draw() {
    const { step, layer, head, also, candidates } = this.state;
    const { steps } = this.header;
    const filtered = this.filtered();
    this.transport.draw(step);
    this.lane?.draw(step);
    this.sentence.draw(step);
    this.candidates.draw(steps[step], candidates, filtered);
    this.filters.draw(this.state, filtered);
    this.tooltip.hide();
    if (this.width) {
      this.curve.draw(step);
      this.heads.draw(this.state);
      this.picture?.draw(step, layer, this.chosenHeads);
      // Once: the heights of all parts stay.
      if (!this.isFilled) this.heads.fill(() => roomFor(this.root, this.root.scrollHeight));
      this.isFilled = true;
    }
    const { token, logProb } = steps[step];
    const values = { step: step + 1, count: steps.length, token, probability: formatProbability(logProb) };
    this.announcement.textContent = _("Step {step} of {count}: {token}, {probability}", values);
    Object.assign(this.root.dataset, { step, layer, heads: [head, ...also].join(" ") });
    this.offer();
    if (pointed()) this.markPointed(pointed());
    // At last, for scrolling makes the browser lay out the page.
    if (this.width) {
      this.link();
      this.sentence.follow();
      this.heads.follow(this.sentence.attended(this.header.moments));
    }
  }
}

export default mount(".decode-player", DecodePlayer);
