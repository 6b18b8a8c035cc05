// The window of who presents: a note, what comes next, the time, back and next. The page on the projector opens it and
// draws in it itself, so it needs no server, and it ends with that page.
import { _ } from "../shared/messages.js";
import { button, element } from "../shared/picture.js";

/** @typedef {{ step: number, count: number, names: string[], notes: string[] }} Told */

const SIZE = "popup,width=720,height=560";
const SECOND_MS = 1000;

/** The window: it outlives the bar of one page, which is another on the next. @type {Window | null} */
let opened = null;
let began = 0;

/** Open it, with the rules and colours that its opener is drawn by. @param {HTMLElement} opener */
export function openWindow(opener) {
  if (opened && !opened.closed) return opened.focus();
  opened = window.open("", "headlight-presenter", SIZE);
  if (!opened) return;
  began = Date.now();
  addEventListener("pagehide", () => opened?.close(), { once: true });
  const { document: sheet } = opened;
  const root = /** @type {ShadowRoot} */ (opener.getRootNode());
  const rules = Array.from(root.querySelectorAll("style"), (style) => style.textContent ?? "");
  const { color, fontFamily } = getComputedStyle(opener);
  sheet.title = _("Presenter's window");
  sheet.head.replaceChildren(element("style", {}, rules.join("\n")));
  sheet.body.className = "presenter";
  Object.assign(sheet.body.style, { color, fontFamily });
  sheet.body.style.background = getComputedStyle(opener).getPropertyValue("--st-background-color");
}

/**
 * Show a step in it, where it is open; its buttons and keys move the presentation.
 * @param {Told} told @param {(by: number) => void} go @param {(event: KeyboardEvent) => void} press
 */
export function tellWindow({ step, count, names, notes }, go, press) {
  if (!opened || opened.closed) return;
  const isLast = step === count - 1;
  const clock = element("span");
  const tick = () => {
    const seconds = Math.floor((Date.now() - began) / SECOND_MS);
    const parts = [seconds / 60, seconds % 60].map((part) => String(Math.floor(part)).padStart(2, "0"));
    const time = new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    clock.textContent = _("{time}, {since} since the start", { time, since: parts.join(":") });
    if (clock.isConnected && !opened?.closed) setTimeout(tick, SECOND_MS);
  };
  const next = isLast ? _("This is the last view.") : _("Next: {name}", { name: names[step + 1] });
  opened.document.body.replaceChildren(
    element("header", {}, element("span", {}, _("{step} of {count}", { step: step + 1, count })), clock),
    element("h1", { dir: "auto" }, names[step]),
    element("p", { className: "presenter-note", dir: "auto" }, notes[step] || _("This view has no note.")),
    element("p", { className: "presenter-next", dir: "auto" }, next),
    element(
      "footer",
      {},
      button({ className: "step-button", disabled: step === 0 }, () => go(-1), _("Back")),
      button({ className: "step-button", disabled: isLast }, () => go(1), _("Next")),
    ),
  );
  opened.onkeydown = press;
  tick();
}
