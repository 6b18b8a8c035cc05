// The screens of a presentation: next and back by buttons, arrow keys and the keys of a clicker, here and in the window of
// who presents. The step is kept here and sent as it is, so that keys that follow fast are all heard.

import { Awaited } from "../shared/awaited.js";
import { icon } from "../shared/drawing.js";
import { isCombination, isTyped, usesArrowKeys } from "../shared/items.js";
import { _ } from "../shared/messages.js";
import { mount, View } from "../shared/mount.js";
import { button, clamp, element } from "../shared/picture.js";
import { closeWindowSoon, openWindow, tellWindow } from "./presenter_window.js";

/** @typedef {import("./presenter_window.js").Told} Header */

/** @type {Record<string, number>} */
const KEYS = { ArrowLeft: -1, PageUp: -1, ArrowRight: 1, PageDown: 1 };

/** @param {string} title @param {string} ariaLabel @param {() => void} act @param {Node} sign */
const stepButton = (title, ariaLabel, act, sign) => button({ className: "step-button", title, ariaLabel }, act, sign);

class PresentSteps extends View {
  /** @type {Header} */ header;
  awaited = new Awaited();
  back = stepButton(_("Back (← or Page Up)"), _("Back"), () => this.go(-1), icon("back"));
  on = stepButton(_("Next (→ or Page Down)"), _("Next"), () => this.go(1), icon("forward"));
  position = element("span", { className: "step-position", role: "status" });
  notes = button(
    { className: "step-button", title: _("Presenter's window: note, next view, clock") },
    () => {
      this.blocked.hidden = openWindow();
      this.tell();
    },
    _("Notes"),
  );
  blocked = element(
    "span",
    { role: "alert", hidden: true },
    _("The browser blocked the presenter's window: allow pop-ups for this site, then press Notes again."),
  );
  press = this.hear.bind(this);

  start() {
    this.root.append(this.back, this.position, this.on, this.notes, this.blocked);
    document.addEventListener("keydown", this.press, { signal: this.ended.signal });
  }

  dispose() {
    super.dispose();
    this.awaited.forget();
    closeWindowSoon();
  }

  /** @param {{ header: Header }} payload */
  receive({ header }) {
    this.awaited.take(`${header.step} of ${header.count}`, () => this.draw(header));
  }

  /** @param {Header} header */
  draw(header) {
    const { step, count, names } = header;
    this.header = header;
    // Only views that a person pinned have notes.
    this.notes.hidden = names.length === 0;
    this.tell();
    this.position.textContent = _("{step} of {count}", { step: step + 1, count });
    this.back.ariaDisabled = String(step === 0);
    this.on.ariaDisabled = String(step === count - 1);
    Object.assign(this.root.dataset, { ready: "1", step });
  }

  tell() {
    tellWindow(this.root, this.header, (by) => this.go(by), this.press);
  }

  /** @param {number} by */
  go(by) {
    const { step, count } = this.header;
    const to = clamp(0, step + by, count - 1);
    if (to === step) return;
    this.draw({ ...this.header, step: to });
    this.awaited.expect(`${to} of ${count}`);
    this.python.trigger("step", { to });
  }

  /** @param {KeyboardEvent} event */
  hear(event) {
    const by = KEYS[event.key];
    if (!this.header || !by || event.defaultPrevented || isCombination(event) || event.shiftKey || isTyped(event))
      return;
    const [target] = event.composedPath();
    if (event.key.startsWith("Arrow") && target instanceof Element && usesArrowKeys(target)) return;
    event.preventDefault();
    this.go(by);
  }
}

export default mount(".present-steps", PresentSteps);
