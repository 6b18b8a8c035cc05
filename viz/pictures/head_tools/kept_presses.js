// A press on a tab or on a link of the bar is kept until the page shows what it chose. Streamlit 1.67 loses two kinds:
// a tab does not hear while its bar is drawn anew, until the tab itself is, and shows again what an older run says;
// and a link is forgotten where a message from the page that is left follows it. And to a browser it is no click on a
// button if what is drawn above moves the button away before the pointer is up.
import { APP } from "./one_step.js";

const TAB = '[data-testid="stTab"]';
const BUTTON = ':is([data-testid^="stBaseButton"], [data-testid="stPopoverButton"])';
const LINK =
  'a:is([data-testid="stTopNavLink"], [data-testid="stTopNavDropdownLink"], [data-testid="stPageLink-NavLink"])';
/** How often a press is looked after, how long no run may be under way before it is told again, and how often it is. */
const LOOK_MS = 50;
const IDLE_MS = 500;
const MOST_TOLD = 3;
/** CSS pixels between pointer down and up beyond which a person has thought better of it. */
const DRAGGED = 8;

/**
 * A press that is looked after: `look` says whether it is done. Once it `isShown`, whatever is pressed next counts.
 * @typedef {{ look: (isIdle: boolean) => boolean, isShown: boolean }} Press
 */

/** @type {Press | null} */
let kept = null;
let idleSince = Infinity;
let isHearing = false;
/** The button on which the pointer went down, and where. @type {{ button: HTMLButtonElement, x: number, y: number } | null} */
let down = null;

/** Hear all presses in the browser's window, once: a page has buttons of its own, but a link leads to another. */
export function keepPresses() {
  if (isHearing) return;
  isHearing = true;
  for (const kind of ["pointerdown", "pointerup", "click", "keydown"])
    document.addEventListener(kind, hear, { capture: true });
  window.addEventListener("popstate", () => (kept = null));
}

/** @param {Event} event */
function hear(event) {
  if (!event.isTrusted) return;
  const target = event.target instanceof Element ? event.target : null;
  const [tab, link] = [target?.closest(TAB), target?.closest(LINK)];
  const isPlain = event instanceof MouseEvent && !(event.button || event.ctrlKey || event.metaKey || event.shiftKey);
  if (isPlain) pressIfMoved(event, target);
  if (tab && event.type === "pointerup" && isPlain) keep(new TabPress(/** @type {HTMLElement} */ (tab)));
  else if (link && event.type === "click" && isPlain) keep(new LinkPress(/** @type {HTMLAnchorElement} */ (link)));
  // A click is that of the press which is kept.
  else if (event.type !== "click" && kept?.isShown) kept = null;
}

/** @param {MouseEvent} event @param {Element | null} target */
function pressIfMoved({ type, clientX: x, clientY: y }, target) {
  const button = /** @type {HTMLButtonElement | undefined} */ (target?.closest(BUTTON));
  if (type === "pointerup" && down && down.button !== button && Math.hypot(x - down.x, y - down.y) <= DRAGGED) {
    // One that was drawn anew under the pointer is pressed in place of the old one. The browser's own click, which
    // follows at once on what holds both, would close what opens here: so this press comes after it.
    const pressed = down.button.isConnected ? down.button : button;
    setTimeout(() => pressed?.click());
  }
  down = type === "pointerdown" && button ? { button, x, y } : null;
}

/** @param {Press} press */
function keep(press) {
  const isLookedAfter = kept !== null;
  kept = press;
  idleSince = Infinity;
  if (!isLookedAfter) setTimeout(look, LOOK_MS);
}

function look() {
  const isRunning = document.querySelector(APP)?.getAttribute("data-test-script-state") !== "notRunning";
  idleSince = isRunning ? Infinity : Math.min(idleSince, performance.now());
  const isIdle = performance.now() - idleSince > IDLE_MS;
  if (isIdle) idleSince = Infinity;
  if (kept?.look(isIdle)) kept = null;
  if (kept) setTimeout(look, LOOK_MS);
}

class TabPress {
  isShown = false;
  told = 0;

  /** @param {HTMLElement} pressed */
  constructor(pressed) {
    this.label = pressed.textContent;
    this.path = location.pathname;
  }

  /** @param {boolean} isIdle */
  look(isIdle) {
    if (location.pathname !== this.path) return true;
    const tabs = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(TAB)]);
    const tab = tabs.find((each) => each.textContent === this.label);
    // Another model has no such tab.
    if (!tab) return isIdle;
    this.isShown = tab.ariaSelected === "true";
    if (!this.isShown) {
      if (tab.ariaDisabled !== "true") tab.click();
      return false;
    }
    if (!isIdle) return false;
    // Python draws in the open tab alone. Where that is empty it has not heard, and is told by way of another tab.
    const isHeard = document
      .getElementById(tab.getAttribute("aria-controls") ?? "")
      ?.querySelector(":scope > :not(:empty)");
    if (isHeard || ++this.told > MOST_TOLD) return true;
    tabs.find((each) => each !== tab)?.click();
    // Back at once, whatever is pressed next: the other tab would stay open, or be a step in the browser's history.
    setTimeout(() => tab.click());
    return false;
  }
}

class LinkPress {
  isShown = false;
  told = 0;

  /** @param {HTMLAnchorElement} pressed */
  constructor(pressed) {
    this.from = location.pathname;
    this.to = pressed.pathname;
  }

  /** @param {boolean} isIdle */
  look(isIdle) {
    if (this.from === this.to) return true;
    // The other page may have begun, and still be taken back by what the old one said.
    this.isShown = location.pathname !== this.from;
    if (!isIdle) return false;
    if (this.isShown || ++this.told > MOST_TOLD) return true;
    const links = /** @type {HTMLAnchorElement[]} */ ([...document.querySelectorAll(LINK)]);
    links.find((each) => each.pathname === this.to)?.click();
    return false;
  }
}
