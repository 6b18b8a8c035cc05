// The window of who presents: a note, what comes next, the time, back and next. The page on the projector opens it and
// draws in it itself, so it needs no server, and it ends with that page.
import { _, language } from "../shared/messages.js";
import { button, element, isPresented } from "../shared/picture.js";

/** @typedef {{ step: number, count: number, names: string[], notes: string[] }} Told */

const SIZE = "popup,width=720,height=560";
const SECOND_MS = 1000;
/** Between two looks whether a presentation whose bar is gone goes on. */
const UNTOLD_MS = 1500;

/** The window: it outlives the bar of one page, which is another on the next. @type {Window | null} */
let opened = null;
let began = 0;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let closing;

/** Open it, or show it again; false if the browser blocks it. */
export function openWindow() {
  if (opened && !opened.closed) opened.focus();
  else {
    opened = window.open("", "headlight-presenter", SIZE);
    if (!opened) return false;
    began = Date.now();
    addEventListener("pagehide", closeWindow, { once: true });
  }
  return true;
}

/** Close it: where the presentation ends, or goes on without notes. */
export function closeWindow() {
  opened?.close();
  opened = null;
}

/** Close it unless the page goes on to be presented: the bar of the next one tells it something soon. */
export function closeWindowSoon() {
  const isOver = () => !isPresented(document.documentElement);
  closing = setTimeout(() => (isOver() ? closeWindow() : closeWindowSoon()), UNTOLD_MS);
}

/** What is in it, by the rules and colours of its opener: once, and after a person has loaded it anew. @param {Document} sheet @param {HTMLElement} opener */
function build(sheet, opener) {
  const root = /** @type {ShadowRoot} */ (opener.getRootNode());
  const rules = Array.from(root.querySelectorAll("style"), (style) => style.textContent ?? "");
  const style = getComputedStyle(opener);
  sheet.title = _("Presenter's window");
  sheet.documentElement.lang = language();
  sheet.documentElement.style.colorScheme = style.colorScheme;
  sheet.head.replaceChildren(element("style", {}, rules.join("\n")));
  sheet.body.className = "presenter";
  Object.assign(sheet.body.style, { color: style.color, fontFamily: style.fontFamily });
  sheet.body.style.background = style.getPropertyValue("--st-background-color");
  const [back, on] = [_("Back"), _("Next")].map((name) => button("step-button", () => {}, name));
  const [note, next] = ["note", "next"].map((part) => element("p", { className: `presenter-${part}`, dir: "auto" }));
  const step = element("span", { className: "presenter-step", role: "status" });
  const head = [element("header", {}, step, element("time")), element("h1", { dir: "auto" })];
  sheet.body.replaceChildren(...head, note, next, element("footer", {}, back, on));
  const tick = () => {
    const clock = sheet.querySelector("time");
    if (!clock || opened?.document !== sheet) return;
    const seconds = Math.floor((Date.now() - began) / SECOND_MS);
    const parts = [seconds / 60, seconds % 60].map((part) => String(Math.floor(part)).padStart(2, "0"));
    const time = new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    clock.textContent = _("{time}, {since} since the start", { time, since: parts.join(":") });
    setTimeout(tick, SECOND_MS);
  };
  tick();
}

/**
 * Show a step in it, where it is open; its buttons and keys move the presentation.
 * @param {HTMLElement} opener @param {Told} told @param {(by: number) => void} go @param {(event: KeyboardEvent) => void} press
 */
export function tellWindow(opener, { step, count, names, notes }, go, press) {
  clearTimeout(closing);
  if (!opened || opened.closed) return;
  if (!names.length) return closeWindow();
  const { document: sheet } = opened;
  if (!sheet.body.matches(".presenter")) build(sheet, opener);
  const isLast = step === count - 1;
  const texts = {
    ".presenter-step": _("{step} of {count}", { step: step + 1, count }),
    h1: names[step],
    ".presenter-note": notes[step] || _("This view has no note."),
    ".presenter-next": isLast ? _("This is the last view.") : _("Next: {name}", { name: names[step + 1] }),
  };
  for (const [part, text] of Object.entries(texts)) sheet.querySelector(part)?.replaceChildren(text);
  const [back, on] = sheet.querySelectorAll("button");
  Object.assign(back, { disabled: step === 0, onclick: () => go(-1) });
  Object.assign(on, { disabled: isLast, onclick: () => go(1) });
  opened.onkeydown = press;
}
