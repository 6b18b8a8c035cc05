// The bar that moves a film: buttons, play with its speed, scrubber, position.
import { icon } from "../shared/drawing.js";
import { _ } from "../shared/messages.js";
import { button, element } from "../shared/picture.js";

/** @typedef {Parameters<typeof icon>[0]} IconName */

const SPEEDS = [0.5, 1, 2, 4, 8];
const STEP_EVERY_MS = 900;

export class Transport {
  /** @type {ReturnType<typeof setTimeout> | undefined} */ timer;
  step = 0;

  /**
   * `nameOf` says where a step is.
   * @param {number} count of steps
   * @param {{ goTo(step: number): void, moveBy(steps: number): void, onPause(): void, nameOf(step: number): string }} act
   */
  constructor(count, act) {
    this.count = count;
    this.act = act;
    this.backButtons = [
      this.buildButton("first", _("First step (Home)"), () => act.goTo(0)),
      this.buildButton("back", _("Step back (←)"), () => act.moveBy(-1)),
    ];
    this.forwardButtons = [
      this.buildButton("forward", _("Step forward (→)"), () => act.moveBy(1)),
      this.buildButton("last", _("Last step (End)"), () => act.goTo(count - 1)),
    ];
    this.playButton = this.buildButton("play", _("Play (Space)"), () => this.toggle());
    this.playButton.classList.add("play");
    const speeds = SPEEDS.map((speed) => new Option(`${speed} ×`, String(speed), speed === 1, speed === 1));
    this.speed = element("select", { className: "speed", ariaLabel: _("Speed"), title: _("Speed") }, ...speeds);
    const range = { type: "range", min: "0", max: String(count - 1), step: "1" };
    const oninput = () => act.goTo(Number(this.scrubber.value));
    this.scrubber = element("input", { className: "scrubber", ...range, ariaLabel: _("Step"), oninput });
    this.position = element("span", "position");
    const buttons = [...this.backButtons, this.playButton, ...this.forwardButtons];
    const look = { className: "transport", dataset: { notInPicture: "" } };
    this.element = element("div", look, ...buttons, this.speed, this.scrubber, this.position);
  }

  /** @param {IconName} name @param {string} label @param {() => void} act */
  buildButton(name, label, act) {
    return button({ className: "button", title: label, ariaLabel: label }, act, icon(name));
  }

  get isPlaying() {
    return this.timer !== undefined;
  }

  /** Play on, from the beginning if the film is at its end; or pause. */
  toggle() {
    if (this.isPlaying) return this.pause();
    if (this.step === this.count - 1) this.act.goTo(0);
    this.playOn();
  }

  playOn() {
    this.timer = setTimeout(() => {
      this.act.moveBy(1);
      if (this.step === this.count - 1) this.pause();
      else this.playOn();
    }, STEP_EVERY_MS / Number(this.speed.value));
    this.markPlaying();
  }

  pause() {
    if (!this.isPlaying) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.markPlaying();
    this.act.onPause();
  }

  markPlaying() {
    const label = this.isPlaying ? _("Pause (Space)") : _("Play (Space)");
    Object.assign(this.playButton, { title: label, ariaLabel: label });
    this.playButton.replaceChildren(icon(this.isPlaying ? "pause" : "play"));
  }

  /** @param {number} step */
  draw(step) {
    this.step = step;
    this.scrubber.value = String(step);
    this.scrubber.ariaValueText = this.position.textContent = this.act.nameOf(step);
    // Not `disabled`: that would drop the focus, and with it the next key press.
    for (const each of this.backButtons) each.ariaDisabled = String(step === 0);
    for (const each of this.forwardButtons) each.ariaDisabled = String(step === this.count - 1);
  }
}
