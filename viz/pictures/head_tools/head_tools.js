// The buttons of a page's head, and their keys: Ctrl+Z and its like, P, Escape. How many choices were undone in all is
// counted here and sent as it is, so that no key press is lost while Python draws.
import { outline } from "../shared/drawing.js";
import { isTyped } from "../shared/items.js";
import { _ } from "../shared/messages.js";
import { mount, View } from "../shared/mount.js";
import { button } from "../shared/picture.js";
import { keepPresses } from "./kept_presses.js";
import { fitLetters } from "./large_letters.js";
import { joinSteps } from "./one_step.js";
import { followCharts, followHeads } from "./pointed_heads.js";
import { explainTerms } from "./terms.js";

/** @import { HeadPlace } from "../shared/head_label.js" */
/** @import { Glossary } from "./terms.js" */

/** @typedef {{ isPresented: boolean, canRedo: boolean, heard: [string, number] | null, glossary: Glossary }} Header */

/** A press that Python has not heard of by then is told again. */
const AGAIN_MS = 1_500;

/** Outlines on a 16 × 16 field. */
const OUTLINES = {
  undo: "M6.5 2.2 2 6.4l4.5 4.2V8h3.2c1.6 0 2.7 1 2.7 2.4S11.3 12.8 9.7 12.8H6v1.5h3.7c2.5 0 4.3-1.6 4.3-3.9S12.2 6.4 9.7 6.4H6.5z",
  present: "M1.5 2h13v8.6h-5.7v2h2.7v1.4h-7v-1.4h2.7v-2H1.5zM3 3.5v5.6h10V3.5z",
  help: "M8 1.500a6.500 6.500 0 1 0 0 13 6.500 6.500 0 0 0 0-13M8 3a5 5 0 1 1 0 10A5 5 0 0 1 8 3M7.200 10.200h1.600v1.500H7.200zM5.700 6.300h1.400c0-.6.4-.9.9-.9s.9.3.9.8c0 .4-.2.600-.700 1-.7.5-1 1-1 1.900v.300h1.400v-.200c0-.4.200-.6.700-1 .6-.4 1-1 1-1.900 0-1.300-1-2.200-2.300-2.200s-2.300.8-2.300 2.200",
};

/** @param {string} title @param {() => void} act @param {(Node | string)[]} contents */
const tool = (title, act, ...contents) => button({ className: "tool", title, ariaLabel: title }, act, ...contents);

const MIRRORED = { transform: "translate(16 0) scale(-1 1)" };

class HeadTools extends View {
  /** @type {Header} */ header;
  /** These buttons: another page has others, which count anew. */
  name = String(Math.random());
  total = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */ again;
  undo = tool(_("Undo the last choice (Ctrl + Z)"), () => this.go(1), outline(OUTLINES.undo));
  redo = tool(_("Redo (Ctrl + Shift + Z or Ctrl + Y)"), () => this.go(-1), outline(OUTLINES.undo, MIRRORED));
  present = tool(_("Present: large, one picture per screen (P)"), () => this.switchTo(true), outline(OUTLINES.present));
  story = tool(
    _("Help: the tour “Start here”, in five steps"),
    () => this.python.trigger("story", true),
    outline(OUTLINES.help),
  );
  leave = tool(_("Leave the presentation (Escape or P)"), () => this.switchTo(false), _("Leave"));

  start() {
    keepPresses();
    joinSteps();
    followCharts(this.ended.signal);
    fitLetters(this.ended.signal);
    const ask = (/** @type {string} */ name) => (/** @type {HeadPlace} */ head) => this.python.trigger(name, head);
    followHeads(ask("head"), ask("why"), this.ended.signal);
    this.undo.classList.add("undo");
    this.root.append(this.undo, this.redo, this.present, this.story, this.leave);
    document.addEventListener("keydown", (event) => this.press(event), { signal: this.ended.signal });
  }

  /** @param {{ header: Header }} payload */
  receive({ header }) {
    const { isPresented, canRedo, heard, glossary } = header;
    if (!this.header) explainTerms(this.ended.signal, glossary);
    this.header = header;
    for (const each of [this.undo, this.present, this.story]) each.hidden = isPresented;
    this.redo.hidden = isPresented || !canRedo;
    this.leave.hidden = !isPresented;
    this.root.dataset.ready = "1";
    // A press may fall between two messages, and the functions of the older one reach nobody. It is told again, but not
    // at once: most are on their way, and a page that is drawn half would tell Python of values that it shows no more.
    clearTimeout(this.again);
    if (this.total !== (heard?.[0] === this.name ? heard[1] : 0)) this.again = setTimeout(() => this.tell(), AGAIN_MS);
  }

  dispose() {
    clearTimeout(this.again);
    super.dispose();
  }

  /** @param {number} by how many choices, below 0 to do them again */
  go(by) {
    this.total += by;
    this.tell();
  }

  tell() {
    this.python.trigger("undo", { name: this.name, total: this.total });
  }

  /** @param {boolean} isPresented */
  switchTo(isPresented) {
    this.python.trigger("present", { to: isPresented ? 1 : 0 });
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    if (!this.header || event.defaultPrevented || isTyped(event)) return;
    const act = this.actOf(event);
    if (!act) return;
    event.preventDefault();
    act();
  }

  /** @param {KeyboardEvent} event @returns {(() => void) | undefined} */
  actOf({ key, ctrlKey, metaKey, altKey, shiftKey, repeat }) {
    const { isPresented } = this.header;
    const letter = key.toLowerCase();
    if (altKey) return undefined;
    if (ctrlKey || metaKey) {
      if (letter === "z") return () => this.go(shiftKey ? -1 : 1);
      return letter === "y" && !shiftKey ? () => this.go(-1) : undefined;
    }
    if (letter === "p" && !shiftKey && !repeat) return () => this.switchTo(!isPresented);
    return key === "Escape" && isPresented ? () => this.switchTo(false) : undefined;
  }
}

export default mount(".head-tools", HeadTools);
