// @ts-check
// The bar that moves a film: buttons, play with its speed, scrubber, position.
import { icon } from "../../../components/shared/drawing.js";
import { button } from "../../../components/shared/items.js";
import { element } from "../../../components/shared/picture.js";

/** @typedef {Parameters<typeof icon>[0]} IconName */

const SPEEDS = [0.5, 1, 2, 4, 8];
const STEP_EVERY_MS = 900;

export class Transport {
  /** @type {ReturnType<typeof setTimeout> | undefined} */ timer;
  step = 0;

  /**
   * @param {number} count of steps
   * @param {{ goTo(step: number): void, moveBy(steps: number): void, onPause(): void }} act
   */
  constructor(count, act) {
    this.count = count;
    this.act = act;
    this.element = element("div", "transport");
    this.element.dataset.notInPicture = "";
    this.backButtons = [
      this.buildButton("first", "First step (Home)", () => act.goTo(0)),
      this.buildButton("back", "Step back (←)", () => act.moveBy(-1)),
    ];
    this.forwardButtons = [
      this.buildButton("forward", "Step forward (→)", () => act.moveBy(1)),
      this.buildButton("last", "Last step (End)", () => act.goTo(count - 1)),
    ];
    this.playButton = this.buildButton("play", "Play (Space)", () => this.toggle());
    this.playButton.classList.add("play");
    this.speed = this.buildSpeed();
    this.scrubber = element("input", "scrubber");
    Object.assign(this.scrubber, { type: "range", min: 0, max: count - 1, step: 1 });
    this.scrubber.setAttribute("aria-label", "Step");
    this.scrubber.addEventListener("input", () => act.goTo(Number(this.scrubber.value)));
    this.position = element("span", "position");
    const buttons = [...this.backButtons, this.playButton, ...this.forwardButtons];
    this.element.append(...buttons, this.speed, this.scrubber, this.position);
  }

  /** @param {IconName} name @param {string} label @param {() => void} act */
  buildButton(name, label, act) {
    const created = button("button", "", act);
    this.markButton(created, name, label);
    return created;
  }

  /** @param {HTMLButtonElement} marked @param {IconName} name @param {string} label */
  markButton(marked, name, label) {
    marked.replaceChildren(icon(name));
    marked.setAttribute("aria-label", label);
    marked.title = label;
  }

  buildSpeed() {
    const select = element("select", "speed");
    select.setAttribute("aria-label", "Speed");
    select.title = "Speed";
    select.append(...SPEEDS.map((speed) => new Option(`${speed} ×`, String(speed), speed === 1, speed === 1)));
    return select;
  }

  get isPlaying() {
    return this.timer !== undefined;
  }

  /** Play on, from the beginning if the film is at its end; or pause. */
  toggle() {
    if (this.isPlaying) {
      this.pause();
      return;
    }
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
    if (this.isPlaying) this.markButton(this.playButton, "pause", "Pause (Space)");
    else this.markButton(this.playButton, "play", "Play (Space)");
  }

  /** @param {number} step */
  draw(step) {
    const position = `Step ${step + 1} of ${this.count}`;
    this.step = step;
    this.scrubber.value = String(step);
    this.scrubber.setAttribute("aria-valuetext", position);
    this.position.textContent = position;
    // Not `disabled`: that would drop the focus, and with it the next key press.
    for (const back of this.backButtons) back.setAttribute("aria-disabled", String(step === 0));
    for (const forward of this.forwardButtons) forward.setAttribute("aria-disabled", String(step === this.count - 1));
  }
}
