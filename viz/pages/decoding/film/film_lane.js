// What a film writes about, over its time: its words, as far as they are written, and where the film stands.
// While it plays, the film goes to the step that writes what is heard.
import { _ } from "../../../pictures/shared/messages.js";
import { button, element } from "../../../pictures/shared/picture.js";
import { SoundPlayer } from "../../../pictures/shared/sound_player.js";
import { arrangeWords, laneWords } from "../../../pictures/shared/word_lane.js";

/** @import { TimedWord } from "../../../pictures/shared/word_lane.js" */
/** `times`: when what each step writes begins, ascending. @typedef {{ rate: number, words: TimedWord[], times: number[] }} Lane */

export class FilmLane {
  step = 0;
  /** The second where the playhead is. */ time = 0;
  /** How wide the lane was when its words were arranged. */ width = 0;

  /** @param {Lane} heard @param {Int16Array} samples @param {{ goTo(step: number): void, begin(): void, end(): void }} act `begin` and `end` are told of what plays */
  constructor(heard, samples, act) {
    this.heard = heard;
    this.samples = samples;
    this.act = act;
    this.seconds = samples.length / heard.rate;
    const [follow, rest] = [(/** @type {number} */ time) => this.follow(time), () => this.rest()];
    this.player = new SoundPlayer(follow, rest);
    const look = { className: "button small hear", dataset: { inPicture: "" } };
    this.play = button(look, () => this.toggle());
    this.clock = element("span", "clock");
    this.words = laneWords(heard.words, this.seconds);
    this.playhead = element("div", "playhead");
    const onclick = (/** @type {MouseEvent} */ event) => this.playAt(event);
    this.lane = element("div", { className: "lane", onclick }, ...this.words, this.playhead);
    this.element = element("div", "film-lane", this.play, this.lane, this.clock);
    this.nameButton();
  }

  nameButton() {
    const [stop, play] = [_("Stop"), _("Play the sound")];
    this.play.textContent = this.player.playing ? `■ ${stop}` : `▶ ${play}`;
  }

  /** The step that writes what is heard at a moment. @param {number} time */
  stepAt(time) {
    const step = this.heard.times.findLastIndex((begin) => begin <= time);
    return Math.max(0, step);
  }

  /** @param {number} step */
  draw(step) {
    this.step = step;
    if (this.width !== this.lane.clientWidth) arrangeWords(this.words);
    this.width = this.lane.clientWidth;
    for (const [i, word] of this.words.entries()) word.classList.toggle("future", this.heard.words[i].step > step);
    const { playing } = this.player;
    if (!playing) this.place(Math.min(this.heard.times[step], this.seconds));
    // Who goes elsewhere meanwhile hears no more of it.
    else if (step !== this.stepAt(this.time)) this.player.stop();
  }

  /** @param {number} time */
  place(time) {
    this.time = time;
    this.playhead.style.left = `${(time * 100) / this.seconds}%`;
    this.clock.textContent = `${time.toFixed(2)} / ${this.seconds.toFixed(2)} s`;
  }

  /** Play on from where the film stands, at its end from the beginning; or stop. */
  toggle() {
    if (this.player.playing) this.player.stop();
    else this.playFrom(this.step === this.heard.times.length - 1 ? 0 : this.heard.times[this.step]);
  }

  /** @param {MouseEvent} event */
  playAt({ clientX }) {
    const { left, width } = this.lane.getBoundingClientRect();
    this.playFrom(((clientX - left) / width) * this.seconds);
  }

  /** @param {number} from */
  playFrom(from) {
    if (from >= this.seconds) return;
    this.act.begin();
    this.player.play(this.samples, this.heard.rate, from, this.seconds);
    this.nameButton();
  }

  /** @param {number} time */
  follow(time) {
    this.place(time);
    const step = this.stepAt(time);
    if (step !== this.step) this.act.goTo(step);
  }

  rest() {
    this.nameButton();
    this.act.end();
  }

  close() {
    this.player.close();
  }
}
