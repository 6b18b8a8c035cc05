// A film that is stepped through in the browser: where it stands and all that is chosen live here, so no key press waits
// for the server. Python hears of it a moment after the last change, as the state `view`, and can send it elsewhere by a
// command (component.py).
import { isCombination, STEP_KEYS, usesArrowKeys } from "../shared/items.js";
import { onResize, View } from "../shared/mount.js";
import { inflate } from "../shared/payload.js";
import { clamp, element, isPresented, Tooltip } from "../shared/picture.js";
import { pictureButton } from "../shared/save_picture.js";
import { Transport } from "./transport.js";

/** @typedef {{ step: number }} Stepped what every player's state says */
/** @template State @typedef {State & { number: number }} Command */

const REPORT_AFTER_MS = 300;
/** @type {Record<string, number>} */
const LAYER_KEYS = { ArrowUp: -1, ArrowDown: 1 };

/**
 * Where each player stood, and the command it had then, by what it showed: one that is mounted again goes on from there.
 * @type {Map<string, { command: number, state: unknown }>}
 */
const lastStates = new Map();

/** @template {Stepped} State @template {{ digest: string, command: Command<State> }} Header */
export class PlayerView extends View {
  /** @type {Header} */ header;
  /** @type {State} */ state;
  /** @type {Transport} */ transport;
  /** How many payloads have come. */ version = 0;
  /** The command that was carried out last, and of which film it was. */ carriedOut = "";
  /** @type {unknown} */ unreported = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */ reportTimer;
  announcement = element("p", { className: "announcement", role: "status", dataset: { notInPicture: "" } });

  start() {
    this.root.classList.add("player");
    Object.assign(this.root, { tabIndex: 0, role: "group" });
    document.addEventListener("keydown", (event) => this.press(event), { signal: this.ended.signal });
  }

  dispose() {
    super.dispose();
    this.version += 1;
    this.transport?.pause();
    clearTimeout(this.reportTimer);
  }

  // ---- for the film to say ----

  /** How many steps there are. */
  get count() {
    return 0;
  }

  /** Once for each film. @param {Uint8Array<ArrayBuffer>[]} _unpacked the arrays of the payload */
  build(_unpacked) {}

  draw() {}

  /** The bar that moves the film: where a step is; and, given the file's name, saves it. @param {(step: number) => string} nameOf @param {() => string} [fileName] */
  buildTransport(nameOf, fileName) {
    this.transport = new Transport(this.count, {
      goTo: (step) => this.goTo(step),
      moveBy: (count) => this.goTo(this.state.step + count),
      onPause: () => this.report(),
      nameOf,
    });
    if (fileName) this.transport.element.append(pictureButton(this.root, fileName));
  }

  /** What a key does within the film, beside those that step and play. @param {string} _key @returns {(() => void) | undefined} */
  actOf(_key) {
    return undefined;
  }

  // ---- what Python sends ----

  /**
   * A film is unpacked only if it is news. Of several that follow fast, the last one is shown.
   * @param {{ header: Header, arrays: Uint8Array<ArrayBuffer>[] }} payload
   */
  async receive({ header, arrays }) {
    const version = ++this.version;
    const isSame = this.header?.digest === header.digest;
    const unpacked = isSame ? null : await Promise.all(arrays.map(inflate));
    if (this.pressed) await this.released();
    if (version !== this.version) return;
    if (unpacked) this.transport?.pause();
    this.header = header;
    if (unpacked) this.build(unpacked);
    this.carryOut(header.command);
    this.root.dataset.ready = "1";
  }

  /** Go where Python says, once for each command; a remounted player goes back to where it stood. @param {Command<State>} command */
  carryOut({ number, ...state }) {
    const { digest } = this.header;
    if (this.carriedOut === `${number} ${digest}`) return;
    this.carriedOut = `${number} ${digest}`;
    const remembered = lastStates.get(digest);
    const isRemembered = remembered?.command === number;
    this.state = /** @type {State} */ (isRemembered ? { .../** @type {State} */ (remembered.state) } : state);
    this.draw();
  }

  // ---- what a person does ----

  /** @param {number} step */
  goTo(step) {
    this.change(/** @type {Partial<State>} */ ({ step: clamp(0, step, this.count - 1) }));
  }

  /** @param {Partial<State>} changes */
  change(changes) {
    const before = JSON.stringify(this.state);
    Object.assign(this.state, changes);
    if (JSON.stringify(this.state) === before) return;
    this.draw();
    this.report();
  }

  /** Whether it goes from step to step by itself. */
  get isPlaying() {
    return this.transport.isPlaying;
  }

  report() {
    const { digest, command } = this.header;
    lastStates.set(digest, { command: command.number, state: { ...this.state } });
    this.unreported = { ...this.state, digest, command: command.number };
    clearTimeout(this.reportTimer);
    // While it plays nobody needs to know where it is; when it stops it says so.
    if (!this.isPlaying) this.reportTimer = setTimeout(() => this.flush(), REPORT_AFTER_MS);
  }

  flush() {
    clearTimeout(this.reportTimer);
    if (this.unreported) this.python.state("view", this.unreported);
    this.unreported = null;
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const path = event.composedPath();
    const target = path[0];
    if (!this.state || event.defaultPrevented || isCombination(event) || event.shiftKey) return;
    const isInside = path.includes(this.root);
    const focused = target instanceof Element ? target : null;
    // Of several players on a page, the one that has the focus.
    if (!isInside && path.some((part) => part instanceof Element && part.matches(".player"))) return;
    // The other keys belong to the page, which scrolls by them; but on a projector a clicker sends Page Up and Page Down,
    // by which a bar of the page goes to its next screen, if there is one.
    const isClicker = event.key.startsWith("Page") && isPresented(this.root);
    const isOurs = event.key.startsWith("Arrow") || (isClicker && !document.querySelector(".st-key-present-bar"));
    const isStep = event.key in STEP_KEYS && (isOurs || (isInside && !event.key.startsWith("Page")));
    const act = isInside ? this.actOf(event.key) : undefined;
    // A button is pressed by Space; elsewhere in the player it plays.
    const isPlay = isInside && event.key === " " && !focused?.matches("button, select");
    if (!isStep && !act && !isPlay) return;
    if (!isPlay && focused && focused !== this.transport.scrubber && usesArrowKeys(focused)) return;
    if (!isInside && !this.root.checkVisibility()) return;
    event.preventDefault();
    if (isPlay) this.transport.toggle();
    else if (isStep) this.goTo(STEP_KEYS[event.key](this.state.step));
    else act?.();
  }
}

/**
 * A film of heads, of which one is open: up and down change its layer. It is laid out for its width.
 * @template {Stepped & { layer: number }} State
 * @template {{ digest: string, command: Command<State>, steps: unknown[], layers: number }} Header
 * @extends {PlayerView<State, Header>}
 */
export class HeadFilm extends PlayerView {
  /** 0 in a closed tab: once that opens, the rest is drawn. */ width = 0;
  tooltip = new Tooltip(this.root);

  start() {
    super.start();
    this.tooltip.box.dataset.notInPicture = "";
    onResize(this, () => {
      if (this.measure()) this.draw();
    });
  }

  get count() {
    return this.header.steps.length;
  }

  /** Lay the parts out anew for another width. @param {number} _width */
  layOut(_width) {}

  /** Whether there is another width; then the parts are laid out for it. */
  measure() {
    const width = this.root.clientWidth;
    if (!this.transport || !width || width === this.width) return false;
    this.width = width;
    this.layOut(width);
    return true;
  }

  /** @param {string} key */
  actOf(key) {
    if (!(key in LAYER_KEYS)) return undefined;
    const layer = clamp(0, this.state.layer + LAYER_KEYS[key], this.header.layers - 1);
    return () => this.change(/** @type {Partial<State>} */ ({ layer }));
  }
}
