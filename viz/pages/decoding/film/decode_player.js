// @ts-check
// The film of a finished decoding. Where it stands and all that is chosen live here, so no key press waits for the server;
// Python hears of it a moment after the last change, and at once of what a person wishes written instead.
// Data: the payload of decode_player.py. Sends back the state `view` and the trigger `wish`.
import { Tiles } from "../../../components/shared/head_tiles.js";
import { isCombination } from "../../../components/shared/items.js";
import { mount, onResize, View } from "../../../components/shared/mount.js";
import { inflate } from "../../../components/shared/payload.js";
import { clamp, element, Tooltip } from "../../../components/shared/picture.js";
import { pictureButtons } from "../../../components/shared/save_picture.js";
import { FilmCandidates, formatProbability } from "./film_candidates.js";
import { FilmCurve } from "./film_curve.js";
import { distributionAt, filterDistribution } from "./film_distribution.js";
import { FilmFilters, isFilter } from "./film_filters.js";
import { FilmHeads } from "./film_heads.js";
import { LAYER_KEYS, STEP_KEYS, usesArrowKeys } from "./film_keys.js";
import { FilmSentence } from "./film_sentence.js";
import { Transport } from "./film_transport.js";

/** @import { Filter } from "./film_filters.js" */
/**
 * `chosen` is the index of the token among the candidates, if it is one of them.
 * @typedef {{
 *   token: string, logProb: number, entropy: number, rank: number, chosen: number | null,
 *   candidates: [tokenId: number, token: string, logProb: number][],
 * }} Step
 * @typedef {Filter & {
 *   step: number, layer: number, head: number, also: number[], candidates: number,
 * }} PlayerState
 * @typedef {PlayerState & { number: number }} Command
 * @typedef {{
 *   layers: number, heads: number, titles: [string, string], sourceTokens: string[], targetTokens: string[],
 *   steps: Step[], numBest: number, numBins: number, vocabSize: number, stops: string[], ticks: number[],
 *   colours: string[], firstCell: number[], firstThousandth: number[], digest: string, name: string, note: string, command: Command,
 *   headNames: [string[], string[]],
 * }} PlayerHeader
 */

const REPORT_AFTER_MS = 300;
const STACKED_BELOW = 860;

/**
 * Where each player stood, and the command it had then, by decoding: a player that is mounted again goes on from there.
 * @type {Map<string, { command: number, state: PlayerState }>}
 */
const lastStates = new Map();

const PLAYER_LABEL =
  "Film of the translation. Left and right arrow keys step, Space plays, up and down change the layer.";

class DecodePlayer extends View {
  /** @type {PlayerHeader} */ header;
  /** @type {PlayerState} */ state;
  /** @type {Float32Array} */ numbers;
  /** @type {Transport} */ transport;
  /** @type {FilmSentence} */ sentence;
  /** @type {FilmCurve} */ curve;
  /** @type {FilmCandidates} */ candidates;
  /** @type {FilmFilters} */ filters;
  /** @type {FilmHeads} */ heads;
  /** How many payloads have come. */ version = 0;
  /** The command that was carried out last, and of which decoding it was. */ carriedOut = "";
  width = 0;
  /** @type {unknown} */ unreported = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */ reportTimer;

  tooltip = new Tooltip(this.root);
  announcement = element("p", { className: "announcement", role: "status", dataset: { notInPicture: "" } });
  panels = element("div", "panels");

  start() {
    this.tooltip.box.dataset.notInPicture = "";
    Object.assign(this.root, { tabIndex: 0, role: "group", ariaLabel: PLAYER_LABEL });
    document.addEventListener("keydown", (event) => this.press(event), { signal: this.ended.signal });
    onResize(this, () => {
      if (this.measure()) this.draw();
    });
  }

  dispose() {
    super.dispose();
    this.version += 1;
    this.transport?.pause();
    clearTimeout(this.reportTimer);
  }

  // ---- data ----

  /**
   * A decoding is unpacked only if it is news. Of several that follow fast, the last one is shown.
   * @param {{ header: PlayerHeader, arrays: Uint8Array<ArrayBuffer>[] }} payload
   */
  async receive({ header, arrays }) {
    const version = ++this.version;
    const isSame = this.header?.digest === header.digest;
    const unpacked = isSame ? null : await Promise.all(arrays.map(inflate));
    if (version !== this.version) return;
    if (unpacked) this.transport?.pause();
    this.header = header;
    if (unpacked) this.build(unpacked);
    this.carryOut(header.command);
    this.root.dataset.ready = "1";
  }

  /** Go where Python says, once for each command; a remounted player goes back to where it stood. @param {Command} command */
  carryOut({ number, ...state }) {
    const { digest } = this.header;
    if (this.carriedOut === `${number} ${digest}`) return;
    this.carriedOut = `${number} ${digest}`;
    const remembered = lastStates.get(digest);
    this.state = remembered?.command === number ? { ...remembered.state } : state;
    this.draw();
  }

  // ---- building, once for each decoding ----

  /** @param {Uint8Array<ArrayBuffer>[]} unpacked weights of the cross- and of the self-attention, and the distributions */
  build([cross, self, numbers]) {
    const { header, tooltip } = this;
    const { layers, heads, sourceTokens, targetTokens, steps, firstCell, firstThousandth } = header;
    // JSON has no −∞, the log-probability of a token that was written though the model's rules forbid it.
    for (const step of steps) step.logProb ??= -Infinity;
    const sizes = { layers, heads, rows: steps.length, blockQueries: 1, blockKeys: 1, firstCell, firstThousandth };
    const tilesOver = (/** @type {string[]} */ keyTokens, /** @type {Uint8Array} */ planes) =>
      new Tiles({ ...sizes, columns: keyTokens.length, queryTokens: targetTokens, keyTokens }, planes);
    const goTo = (/** @type {number} */ step) => this.goTo(step);
    this.numbers = new Float32Array(numbers.buffer);
    this.transport = new Transport(steps.length, {
      goTo,
      moveBy: (count) => this.goTo(this.state.step + count),
      onPause: () => this.report(),
    });
    this.sentence = new FilmSentence(header, goTo);
    this.curve = new FilmCurve(steps, tooltip, goTo);
    this.candidates = new FilmCandidates(steps, header.note, {
      force: (token_id) => this.wish({ kind: "force", token_id }),
      list: (candidates) => this.change({ candidates }),
    });
    this.filters = new FilmFilters(header.vocabSize, {
      filter: (changes) => this.change(changes),
      draw: () => {
        const { temperature, top_k, top_p } = this.state;
        this.wish({ kind: "draw", temperature, top_k, top_p });
      },
    });
    this.heads = new FilmHeads(header, tilesOver(sourceTokens, cross), tilesOver(targetTokens, self), tooltip, {
      choose: (layer, [head, ...also]) => this.change({ layer, head, also }),
    });
    const choices = element("div", "choices", this.candidates.element, this.filters.element);
    this.panels.replaceChildren(choices, this.heads.element);
    this.transport.element.append(pictureButtons(this.root, () => `${this.header.name}-step${this.state.step}`));
    const parts = [this.transport, this.sentence, this.curve].map((part) => part.element);
    this.root.replaceChildren(...parts, this.panels, this.announcement, tooltip.box);
    this.width = 0;
    this.measure();
  }

  // ---- what a person does ----

  /** @param {number} step */
  goTo(step) {
    this.change({ step: clamp(0, step, this.header.steps.length - 1) });
  }

  /** @param {Partial<PlayerState>} changes */
  change(changes) {
    const before = JSON.stringify(this.state);
    Object.assign(this.state, changes);
    if (JSON.stringify(this.state) === before) return;
    this.draw();
    this.report();
  }

  report() {
    const { digest, command } = this.header;
    lastStates.set(digest, { command: command.number, state: { ...this.state } });
    this.unreported = { ...this.state, digest, command: command.number };
    clearTimeout(this.reportTimer);
    // While it plays nobody needs to know where it is; when it stops it says so.
    if (!this.transport.isPlaying) this.reportTimer = setTimeout(() => this.flush(), REPORT_AFTER_MS);
  }

  flush() {
    clearTimeout(this.reportTimer);
    if (this.unreported) this.python.state("view", this.unreported);
    this.unreported = null;
  }

  /** @param {{ kind: "force", token_id: number } | (Filter & { kind: "draw" })} wish */
  wish(wish) {
    this.transport.pause();
    // What was chosen a moment ago must not be lost with the decoding that is left.
    this.flush();
    this.python.trigger("wish", { ...wish, step: this.state.step, digest: this.header.digest });
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const path = event.composedPath();
    const target = path[0];
    if (!this.state || event.defaultPrevented || isCombination(event) || event.shiftKey) return;
    const isInside = path.includes(this.root);
    const own = target instanceof Element ? target : null;
    // Outside, only the two arrows: Home, End, up and down belong to the page, which scrolls by them.
    const isStep = event.key in STEP_KEYS && (isInside || event.key.startsWith("Arrow"));
    const isLayer = isInside && event.key in LAYER_KEYS;
    // A button is pressed by Space; elsewhere in the player it plays.
    const isPlay = isInside && event.key === " " && !own?.matches("button, select");
    if (!isStep && !isLayer && !isPlay) return;
    if (!isPlay && own && own !== this.transport.scrubber && usesArrowKeys(own)) return;
    if (!isInside && !this.root.checkVisibility()) return;
    event.preventDefault();
    if (isPlay) this.transport.toggle();
    else if (isStep) this.goTo(STEP_KEYS[event.key](this.state.step));
    else this.change({ layer: clamp(0, this.state.layer + LAYER_KEYS[event.key], this.header.layers - 1) });
  }

  // ---- drawing ----

  /** Lay the parts out anew if there is another width; says whether there is. */
  measure() {
    const width = this.root.clientWidth;
    if (!this.transport || !width || width === this.width) return false;
    this.width = width;
    this.panels.classList.toggle("stacked", width < STACKED_BELOW);
    this.curve.resize(width - 6);
    this.sentence.resize();
    this.heads.resize(this.heads.element.clientWidth);
    return true;
  }

  /** What the filter leaves at this step; null without one. */
  filtered() {
    const { step, temperature, top_k, top_p } = this.state;
    if (!isFilter(this.state)) return null;
    const wanted = { temperature: temperature / 100, topK: top_k, topP: top_p / 100 };
    return filterDistribution(distributionAt(this.header, this.numbers, step), wanted);
  }

  draw() {
    const { step, layer, head, also, candidates } = this.state;
    const { steps } = this.header;
    const filtered = this.filtered();
    this.transport.draw(step);
    this.sentence.draw(step);
    this.candidates.draw(steps[step], candidates, filtered);
    this.filters.draw(this.state, filtered);
    this.tooltip.hide();
    // Without a width it lies in a closed tab; once that opens, the rest is drawn.
    if (this.width) {
      this.curve.draw(step);
      this.heads.draw(this.state);
    }
    const probability = formatProbability(steps[step].logProb);
    this.announcement.textContent = `Step ${step + 1} of ${steps.length}: ${steps[step].token}, ${probability}`;
    Object.assign(this.root.dataset, { step, layer, heads: [head, ...also].join(" ") });
    // At last, for scrolling makes the browser lay out the page.
    if (this.width) {
      this.sentence.follow();
      this.heads.follow();
    }
  }
}

export default mount(".decode-player", DecodePlayer);
