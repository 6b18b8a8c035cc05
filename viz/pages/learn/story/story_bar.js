// The bar of the story “Start here”: the step, its sentence, and the way back and on. The part of the page that it speaks
// of is ringed by a style sheet of Python's, and brought into sight here. Data: the payload of bar.py. Sends back the
// triggers `go`, { to }: a step, or 0 where the bar is closed; and `end`, { to }: one of the ends.
import { isFreeEscape } from "../../../pictures/shared/items.js";
import { _, said } from "../../../pictures/shared/messages.js";
import { mount, View } from "../../../pictures/shared/mount.js";
import { button, element } from "../../../pictures/shared/picture.js";

/**
 * @typedef {{
 *   step: number, titles: string[], parts: string[], isSeen: boolean, ring: string, model: string, ends: string[],
 * }} Header
 */

/** Kept for a year, and read by viz/ui/present.py. */
const CLOSED = "headlight_story=closed; path=/; max-age=31536000; samesite=lax";
/** @type {Record<string, string>} */
const ENDS = { learn: said("Learn"), explore: said("Explore"), model: said("My model") };
/** How often, and how many times, a part that is ringed is looked for, and kept in sight, while the page draws. */
const LOOK_MS = 250;
const LOOKS = 80;

/** Opens the sidebar, where the field for a model lies. */
const SIDEBAR = '[data-testid="stExpandSidebarButton"]';

/** Whether a button led to another page, whose bar then takes the focus. */
let takesFocus = false;

class StoryBar extends View {
  /** @type {Header} */ header;
  /** @type {ReturnType<typeof setTimeout> | undefined} */ looking;
  title = element("strong", "story-title");
  dots = element("span", "story-dots");
  words = element("p", { className: "story-words" });
  show = button("story-button", () => this.go(this.header.step));
  back = button("story-button", () => this.go(this.header.step - 1), _("Back"));
  next = button("story-button chosen", () => this.go(this.header.step + 1), _("Next"));
  ends = element("span", "story-ends");
  ofClose = { className: "story-close", title: _("Close (Escape)"), ariaLabel: _("Close “Start here”") };
  close = button(this.ofClose, () => this.leave(), "×");

  start() {
    this.root.setAttribute("role", "region");
    this.root.ariaLabel = _("Start here");
    const buttons = element("span", "story-buttons", this.show, this.back, this.next, this.ends);
    this.root.append(element("span", "story-step", this.title, this.dots), this.words, buttons, this.close);
    const { signal } = this.ended;
    document.addEventListener("keydown", (event) => this.press(event), { signal });
    // From then on a person decides what is in sight.
    for (const kind of ["wheel", "touchstart", "pointerdown", "keydown"])
      document.addEventListener(kind, () => clearTimeout(this.looking), { signal, capture: true, passive: true });
  }

  dispose() {
    clearTimeout(this.looking);
    super.dispose();
  }

  /** @param {{ header: Header }} payload */
  receive({ header }) {
    const { step, titles, parts, isSeen, ring, model, ends } = header;
    const isOther = this.header?.step !== step;
    this.header = header;
    this.title.textContent = `${step} ${titles[step - 1]}`;
    const dots = titles.map((_title, index) => element("span", index < step ? "story-dot past" : "story-dot"));
    this.dots.replaceChildren(...dots);
    this.words.replaceChildren(...parts.map((part, index) => (index % 2 ? element("b", {}, part) : part)));
    const isLast = step === titles.length;
    this.show.textContent = model ? _("Show it with {model}", { model }) : _("Show it");
    this.show.hidden = isSeen;
    this.back.hidden = step === 1;
    this.next.hidden = isLast;
    const ways = ends.map((end, index) => button("story-button chosen", () => this.end(index), _(ENDS[end])));
    this.ends.replaceChildren(...(isLast ? ways : []));
    this.root.dataset.ready = "1";
    if (takesFocus) /** @type {HTMLElement} */ (isLast ? this.ends.firstElementChild : this.next)?.focus();
    takesFocus = false;
    if (isOther && isSeen) this.look(ring, LOOKS);
  }

  /** @param {number} step */
  go(step) {
    takesFocus = true;
    this.python.trigger("go", { to: step });
  }

  leave() {
    // biome-ignore lint/suspicious/noDocumentCookie: Python reads it before it draws anything.
    document.cookie = CLOSED;
    this.python.trigger("go", { to: 0 });
  }

  /** @param {number} index */
  end(index) {
    // biome-ignore lint/suspicious/noDocumentCookie: as above.
    document.cookie = CLOSED;
    if (this.header.ends[index] === "model") /** @type {HTMLElement?} */ (document.querySelector(SIDEBAR))?.click();
    this.python.trigger("end", { to: index });
  }

  /**
   * Bring what is ringed into sight, and keep it there: what is drawn later moves it.
   * @param {string} ring
   * @param {number} looks
   */
  look(ring, looks) {
    clearTimeout(this.looking);
    const part = document.querySelector(ring);
    if (part) {
      const { top, height } = part.getBoundingClientRect();
      const isTall = height > window.innerHeight / 2;
      // What is tall and begins in the upper half stays: at the start of the window it would push the bar out.
      if (!isTall || top < 0 || top > window.innerHeight / 2)
        part.scrollIntoView({ block: isTall ? "start" : "nearest" });
    }
    if (looks) this.looking = setTimeout(() => this.look(ring, looks - 1), LOOK_MS);
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    if (!isFreeEscape(event)) return;
    const [focused, own] = [document.activeElement, /** @type {ShadowRoot} */ (this.root.getRootNode()).host];
    // A picture that has the focus has an Escape of its own.
    if (focused?.shadowRoot && focused !== own) return;
    event.preventDefault();
    this.leave();
  }
}

export default mount(".story-bar", StoryBar);
