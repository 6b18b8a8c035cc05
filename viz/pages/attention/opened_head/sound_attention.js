// A sound over time, waveform and spectrogram, and below it the rows of a head: what a row attends to is marked and can
// be heard, and so are the rows that attend to a moment; while the sound plays, to the moment that is heard.
// Data: the payload of sound_panel.py. Sends back the trigger `keep`: { row }.
import { indicesOf, onTold, placeAt, placeOf, pointAt } from "../../../pictures/shared/focus.js";
import { consume, isCombination, scrolledTo } from "../../../pictures/shared/items.js";
import { _, plural, sentenceParts } from "../../../pictures/shared/messages.js";
import { mount, onResize, View } from "../../../pictures/shared/mount.js";
import { formatWeight } from "../../../pictures/shared/payload.js";
import {
  button,
  clamp,
  element,
  legendElement,
  rowElement,
  strongestParts,
  Tooltip,
  weightSwatch,
} from "../../../pictures/shared/picture.js";
import { pictureButton } from "../../../pictures/shared/save_picture.js";
import { SoundPlayer } from "../../../pictures/shared/sound_player.js";
import { arrangeWords, laneWords } from "../../../pictures/shared/word_lane.js";
import { drawSound, markSound, paintCells, paintTints, ticksOf } from "./sound_drawing.js";
import { AROUND, SoundWeights } from "./sound_weights.js";

/** @import { Axis, Focus } from "../../../pictures/shared/focus.js" */
/** @import { Run } from "../../../pictures/shared/picture.js" */
/** @import { TimedWord } from "../../../pictures/shared/word_lane.js" */

/**
 * @typedef {{
 *   rate: number, secondsPerFrame: number, isFilled: boolean, rowTokens: string[], rowsWrite: boolean, rows: Axis,
 *   number: string, title: string, fileName: string, stops: string[], ticks: number[], soundColour: string,
 *   tokenColour: string, stretches: Run[], share: number, bands: number, kept: number | null,
 *   words: TimedWord[],
 * }} SoundHeader
 */

// A row's pixels, those of the style sheet.
const ROW = 19;
class SoundAttention extends View {
  /** @type {SoundHeader} */ data;
  /** @type {Int16Array} */ samples;
  /** @type {Uint8Array} */ spectrogram;
  /** @type {SoundWeights} */ weights;
  /** @type {Float32Array} */ after;
  /** The row that is pointed at. @type {number | null} */ row = null;
  /** The moment that is pointed at or heard, in seconds. @type {number | null} */ time = null;
  /** Where playing goes on. */ resting = 0;
  /** Whether names of rows are coloured. */ isTinted = false;
  /** Whose stretch is heard, where not everything is. @type {number | null} */ heardRow = null;
  player = new SoundPlayer(
    (time) => this.follow(time),
    () => this.rest(),
  );
  /** The sound without marks. */ base = new OffscreenCanvas(1, 1);
  title = element("h4");
  clock = element("span", "clock");
  playAll = button({ className: "play" }, () => this.togglePlaying());
  playRow = button({ className: "play" }, () => this.playStretch());
  sound = element("canvas");
  cells = element("canvas", "cells");
  soundBox = element("div", "time sound", this.sound);
  cellsBox = element("div", "time", this.cells);
  lane = element("div", "lane");
  /** @type {HTMLElement[]} */ words = [];
  ticks = element("div", "ticks");
  labels = element("div", "labels");
  /** Behind the names of rows: a pixel for each, their colour. */ tints = element("canvas", "tints");
  rests = element("div", "rests");
  restName = element("div", "rest-name muted");
  bands = [this.soundBox, this.cellsBox].map((box) => box.appendChild(element("div", "moment")));
  keptFrame = element("div", "frame kept");
  nearFrame = element("div", { className: "frame near", dataset: { notInPicture: "" } });
  top = element("div", "top");
  rows = element("div", "rows", this.tints, this.labels, this.cellsBox, this.rests, this.keptFrame, this.nearFrame);
  stage = element("div", { className: "stage", tabIndex: 0, role: "application" }, this.top, this.rows);
  below = element("div", "below");
  status = element("p", { className: "said", role: "status" });
  tooltip = new Tooltip(this.root);

  start() {
    this.stage.ariaLabel = _("Tokens over the time of the sound: up and down choose a token, left and right a moment");
    const titles = [_("Waveform"), _("Spectrogram"), _("Words"), _("Seconds")];
    const names = titles.map((name) => element("span", "muted", name));
    this.top.append(element("div", "names", ...names), this.soundBox, this.restName, this.lane, this.ticks);
    const save = pictureButton(this.root, () => this.data.fileName);
    const bar = element("div", "bar", this.playAll, this.playRow, this.clock);
    this.root.replaceChildren(this.title, bar, this.stage, this.below, this.status, save, this.tooltip.box);
    for (const name of /** @type {const} */ (["pointermove", "pointerdown"]))
      this.stage.addEventListener(name, (event) => this.point(event));
    this.stage.addEventListener("pointerleave", (event) => event.pointerType === "touch" || this.leave());
    this.stage.addEventListener("click", (event) => this.choose(event));
    this.stage.addEventListener("keydown", (event) => this.press(event));
    onTold("pointed", (focus) => this.markPointed(focus), this.ended.signal);
    onResize(this, () => this.data && this.draw());
  }

  dispose() {
    super.dispose();
    this.player.close();
  }

  /** @param {{ header: SoundHeader, arrays: [Int16Array, Uint8Array, Float32Array, Float32Array] }} payload */
  receive({ header, arrays: [samples, spectrogram, weights, after] }) {
    const before = this.samples;
    // The same sound goes on while another head is opened.
    if (before?.length !== samples.length || before.some((sample, i) => sample !== samples[i])) {
      this.player.stop();
      this.resting = 0;
    }
    Object.assign(this, { data: header, samples, spectrogram, after });
    this.weights = new SoundWeights(weights, header.rowTokens.length, header.secondsPerFrame);
    this.words = laneWords(header.words, this.weights.seconds);
    this.lane.replaceChildren(...this.words);
    this.root.classList.toggle("timed", header.words.length > 0);
    this.row = null;
    this.root.style.setProperty("--sound", header.soundColour);
    this.root.style.setProperty("--word", header.tokenColour);
    this.title.textContent = header.title;
    this.restName.textContent = header.isFilled ? _("after the sound") : "";
    this.root.classList.toggle("filled", header.isFilled);
    this.labels.replaceChildren(
      ...header.rowTokens.map((token) => element("div", { title: token }, rowElement(token, header.rowsWrite))),
    );
    this.tint([]);
    this.rests.replaceChildren(...this.restElements());
    this.draw();
    if (header.kept !== null) this.scrollTo(header.kept);
    this.root.dataset.ready = "1";
  }

  /** What each row gives to the frames after the sound: its colour and its number. */
  restElements() {
    if (!this.data.isFilled) return [];
    const rest = (/** @type {number} */ weight) => weightSwatch("rest", this.data.stops, weight);
    return [...this.after].map((weight) => element("div", "", rest(weight), formatWeight(weight)));
  }

  /** Seconds of the sound. */
  get length() {
    return this.samples.length / this.data.rate;
  }

  draw() {
    const width = this.soundBox.clientWidth;
    if (!width) return;
    const { data, weights } = this;
    weights.block = Math.ceil(weights.frames / width);
    const { block, frames, runs, seconds } = weights;
    const cells = data.rowTokens.flatMap((_row, i) => weights.onEach(i, runs));
    paintCells(this.cells, data.stops, runs.length, cells);
    // The last cell may sum fewer frames; as it takes as much room, it reaches beyond the end of the box.
    this.cells.style.width = `${(runs.length * block * 100) / frames}%`;
    const { samples, spectrogram } = this;
    this.base = drawSound(this.sound, width, { samples, spectrogram, bands: data.bands, share: this.length / seconds });
    this.ticks.replaceChildren(...ticksOf(seconds, width));
    arrangeWords(this.words);
    const length = (block * data.secondsPerFrame).toFixed(2);
    const note = plural("A cell is one frame, {length} s.", "A cell is the sum of {count} frames, {length} s.", block, {
      length,
    });
    this.below.replaceChildren(legendElement(data.stops, data.ticks, data.number), element("span", "muted", note));
    this.mark();
  }

  /** The row whose frames are marked: the one pointed at, or else, where no moment is, the one that is kept. */
  get markedRow() {
    return this.row ?? (this.time === null || this.heardRow !== null ? this.data.kept : null);
  }

  /** Mark what is pointed at, kept or heard, and say it. */
  mark() {
    const row = this.heardRow ?? this.markedRow;
    const marks = row === null ? null : this.weights.marksOf(row, this.data.stretches[row]);
    markSound(this.sound, this.base, marks, this.data.soundColour);
    this.frameRow(this.keptFrame, this.data.kept);
    this.frameRow(this.nearFrame, this.row);
    const around = this.time === null ? null : this.weights.around(this.time);
    for (const band of this.bands) {
      band.hidden = !around;
      if (!around) continue;
      const [first, end] = around;
      band.style.width = `${((end - first) * 100) / this.weights.frames}%`;
      band.style.transform = `translateX(${(first * 100) / (end - first)}%)`;
    }
    const weights = around && row === null ? this.data.rowTokens.map((_row, i) => this.weights.on(i, around)) : null;
    if (weights ?? this.isTinted) this.tint(weights ?? []);
    this.say(row, around, weights);
    this.showButtons(row);
  }

  /** Colour the names of rows by their weights; without any, not at all. @param {number[]} weights */
  tint(weights) {
    this.isTinted = weights.length > 0;
    // Told one by one, hundreds of names would take longer than a frame.
    paintTints(this.tints, this.data.tokenColour, weights, this.data.rowTokens.length);
  }

  /** @param {HTMLElement} frame @param {number | null} row */
  frameRow(frame, row) {
    frame.hidden = row === null;
    frame.style.transform = `translateY(${(row ?? 0) * ROW}px)`;
  }

  /** @param {number | null} row @param {Run | null} around @param {number[] | null} weights of each row, around the moment */
  say(row, around, weights) {
    // What goes by while it plays is not read out.
    const live = this.player.playing ? "off" : "polite";
    if (this.status.ariaLive !== live) this.status.ariaLive = live;
    const how = _(
      "Point at a token to see what it attends to, or at a moment of the sound to see which tokens attend to it.",
    );
    if (row !== null) this.status.replaceChildren(...this.rowParts(row));
    else if (around && weights) {
      const tokens = strongestParts(weights, (i) => this.tokenOf(i));
      const sentence = _("At {span} s, the most weight comes from: {tokens}");
      this.status.replaceChildren(...sentenceParts(sentence, { span: this.weights.spanOf(around), tokens }));
    } else this.status.replaceChildren(how);
  }

  /** Where a row's weight lies, in words. @param {number} row */
  rowParts(row) {
    const stretch = this.data.stretches[row];
    const values = {
      token: this.tokenOf(row),
      share: `${Math.round(this.data.share * 100)} %`,
      span: this.weights.spanOf(stretch),
      after: formatWeight(this.after[row]),
    };
    if (stretch[0] === stretch[1])
      return sentenceParts(_("{token}: no weight on the sound; {after} of the weight is after it."), values);
    const sentence = this.data.isFilled
      ? _("{token}: {share} of its weight on the sound is within {span} s. After the sound: {after}.")
      : _("{token}: {share} of its weight is within {span} s.");
    return sentenceParts(sentence, values);
  }

  /** @param {number} row */
  tokenOf(row) {
    return rowElement(this.data.rowTokens[row], this.data.rowsWrite);
  }

  /** @param {number | null} row */
  showButtons(row) {
    const { playing } = this.player;
    const [stop, play, hear] = [_("Stop"), _("Play"), _("What the token attends to (H)")];
    setText(this.playAll, playing ? `■ ${stop}` : `▶ ${play}`);
    setText(this.playRow, `▶ ${hear}`);
    const [from, to] = row === null ? [0, 0] : this.data.stretches[row];
    this.playRow.disabled = from === to;
    const now = playing ? (this.time ?? playing.from) : this.resting;
    setText(this.clock, `${now.toFixed(2)} / ${(playing?.to ?? this.length).toFixed(2)} s`);
  }

  /** What an event is at: a row or none, and a moment or none. @param {MouseEvent} event */
  placeAt({ clientX, clientY }) {
    const [box, rows] = [this.soundBox, this.rows].map((part) => part.getBoundingClientRect());
    const share = (clientX - box.left) / box.width;
    const count = this.data.rowTokens.length;
    const isInTop = clientY < this.top.getBoundingClientRect().bottom;
    return {
      row: isInTop ? null : clamp(0, Math.floor(((clientY - rows.top) / rows.height) * count), count - 1),
      time: share >= 0 && share < 1 ? share * this.weights.seconds : null,
    };
  }

  /** @param {PointerEvent} event */
  point(event) {
    if (!this.data) return;
    const { row, time } = this.placeAt(event);
    this.approach(row, row === null ? time : null);
    if (row === null || time === null) return this.tooltip.hide();
    const run = this.weights.cellAt(time);
    pointAt({ query: placeOf(this.data.rows, row), key: placeOfFrames(run) });
    const number = `${this.data.number} ${formatWeight(this.weights.on(row, run))}`;
    this.tooltip.show(event, this.data.title, this.tokenOf(row), `${this.weights.spanOf(run)} s`, number);
  }

  /** Point at a row or at a moment, here and in all pictures. @param {number | null} row @param {number | null} time */
  approach(row, time) {
    this.row = row;
    // What is heard stays marked.
    if (!this.player.playing) this.time = time;
    const key = time === null ? null : placeOfFrames(this.weights.around(time));
    pointAt({ query: placeAt(this.data.rows, row), key });
    this.mark();
  }

  leave() {
    this.tooltip.hide();
    this.approach(null, null);
  }

  /** Mark what is pointed at elsewhere. @param {Focus | null} focus */
  markPointed(focus) {
    if (!this.data || this.player.playing || this.stage.matches(":hover, :focus-visible")) return;
    this.row = indicesOf(this.data.rows, this.data.rowTokens.length, focus?.query ?? null)[0] ?? null;
    const frames = focus?.key?.side === "source" ? focus.key.tokens.filter((frame) => frame < this.weights.frames) : [];
    const [first = null] = frames;
    this.time = first === null ? null : (first + frames.length / 2) * this.data.secondsPerFrame;
    this.mark();
  }

  /** @param {MouseEvent} event */
  choose(event) {
    const { row, time } = this.placeAt(event);
    if (row !== null) return this.keep(row);
    if (time !== null) this.play(time, this.length, null);
  }

  /** @param {number} row */
  keep(row) {
    this.data.kept = row === this.data.kept ? null : row;
    this.mark();
    this.python.trigger("keep", { row });
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    if (isCombination(event)) return;
    const { key } = event;
    const down = { ArrowUp: -1, ArrowDown: 1 }[key];
    const along = { ArrowLeft: -1, ArrowRight: 1 }[key];
    if (down) this.walk(down);
    else if (along) {
      const from = this.time ?? clamp(0, this.resting - along * 2 * AROUND, this.length);
      this.resting = clamp(0, from + along * 2 * AROUND, this.length);
      this.approach(null, this.resting);
    } else if (key === "Enter" && this.row !== null) this.keep(this.row);
    else if (key === "h" || key === "H") this.playStretch();
    else if (key === " ") this.togglePlaying();
    else if (key === "Escape") {
      this.player.stop();
      this.leave();
    } else return;
    consume(event);
  }

  /** To the row above or below, scrolled into sight. @param {number} down */
  walk(down) {
    const last = this.data.rowTokens.length - 1;
    const from = this.row ?? this.data.kept;
    const row = from === null ? (down > 0 ? 0 : last) : clamp(0, from + down, last);
    this.scrollTo(row);
    this.approach(row, null);
  }

  /** @param {number} row */
  scrollTo(row) {
    const { stage, top } = this;
    stage.scrollTop = scrolledTo(stage.scrollTop, stage.clientHeight - top.offsetHeight, row * ROW, (row + 1) * ROW);
  }

  /** Play what the marked row attends to. */
  playStretch() {
    const row = this.heardRow ?? this.markedRow;
    if (row === null) return;
    const [from, to] = this.data.stretches[row].map((frame) => frame * this.data.secondsPerFrame);
    this.play(from, Math.min(to, this.length), row);
  }

  togglePlaying() {
    if (this.player.playing) this.player.stop();
    else this.play(this.resting >= this.length ? 0 : this.resting, this.length, null);
  }

  /** Seconds of the sound, as what a row attends to or as all of it. @param {number} from @param {number} to @param {number | null} row */
  play(from, to, row) {
    this.player.stop();
    if (from >= to) return;
    this.heardRow = row;
    this.player.play(this.samples, this.data.rate, from, to);
  }

  /** Let the mark of the moment go along. @param {number} time */
  follow(time) {
    this.time = time;
    if (this.heardRow === null) pointAt({ query: null, key: placeOfFrames(this.weights.around(time)) });
    this.mark();
  }

  /** Nothing plays any more. */
  rest() {
    if (this.heardRow === null) {
      this.resting = this.time ?? this.resting;
      pointAt(null);
    }
    this.heardRow = null;
    this.time = null;
    this.mark();
  }
}

/** Set a text that is another one: told the same, a browser lays it out again. @param {HTMLElement} part @param {string} text */
function setText(part, text) {
  if (part.textContent !== text) part.textContent = text;
}

/** Frames as other pictures know them. @param {Run} run */
const placeOfFrames = ([first, end]) => ({
  side: "source",
  tokens: Array.from({ length: end - first }, (_frame, i) => first + i),
});

export default mount(".sound-attention", SoundAttention);
