// The bar that moves a film: buttons, play with its speed, scrubber, position. Knows nothing of what the film shows.

const SPEEDS = [0.5, 1, 2, 4, 8];
const STEP_EVERY_MS = 900;

class Transport {
  /** `act` has what happens: goTo(step), moveBy(steps), onPause(). `count` is the number of steps. */
  constructor(count, act) {
    this.count = count;
    this.act = act;
    this.step = 0;
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
    this.scrubber = element("input", "scrubber");
    Object.assign(this.scrubber, { type: "range", min: 0, max: count - 1, step: 1 });
    this.scrubber.setAttribute("aria-label", "Step");
    this.scrubber.addEventListener("input", () => act.goTo(Number(this.scrubber.value)));
    this.position = element("span", "position");
    const [first, back] = this.backButtons;
    const [forward, last] = this.forwardButtons;
    this.element.append(first, back, this.playButton, forward, last, this.buildSpeed(), this.scrubber, this.position);
  }

  buildButton(name, label, act) {
    const button = element("button", "button");
    button.type = "button";
    button.append(icon(name));
    button.setAttribute("aria-label", label);
    button.title = label;
    button.addEventListener("click", act);
    return button;
  }

  buildSpeed() {
    this.speed = element("select", "speed");
    this.speed.setAttribute("aria-label", "Speed");
    this.speed.title = "Speed";
    this.speed.append(...SPEEDS.map((speed) => new Option(`${speed} ×`, speed, speed === 1, speed === 1)));
    return this.speed;
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
    const label = this.isPlaying ? "Pause (Space)" : "Play (Space)";
    this.playButton.replaceChildren(icon(this.isPlaying ? "pause" : "play"));
    this.playButton.setAttribute("aria-label", label);
    this.playButton.title = label;
  }

  draw(step) {
    const place = `Step ${step + 1} of ${this.count}`;
    this.step = step;
    this.scrubber.value = step;
    this.scrubber.setAttribute("aria-valuetext", place);
    this.position.textContent = place;
    // Not `disabled`: that would drop the focus, and with it the next key press.
    this.backButtons.forEach((button) => button.setAttribute("aria-disabled", String(step === 0)));
    this.forwardButtons.forEach((button) => button.setAttribute("aria-disabled", String(step === this.count - 1)));
  }
}
