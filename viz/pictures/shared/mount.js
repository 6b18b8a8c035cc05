// How a component meets Streamlit: one object for an element of the page, which hears Python's messages and can answer.
import { language, speak } from "./messages.js";
import { unpack } from "./payload.js";

/**
 * What sends to Python: a trigger lasts for one run of the page, a state stays.
 * @typedef {{ trigger: (name: string, value: unknown) => void, state: (name: string, value: unknown) => void }} Python
 * @typedef {{ data: unknown, parentElement: ParentNode, setTriggerValue: Python["trigger"], setStateValue: Python["state"], isAhead?: boolean }} Message
 * `isAhead`: drawn before the page is there; its view is none of the page's
 */

/** What shows a component in an element of the page. A class that extends it says what its payload holds. */
export class View {
  ended = new AbortController();
  /** The newest message's functions: those of an older one may no longer reach Python. @type {Python} */ python;
  /** While the pointer is down on it, a promise that its click has been heard. @type {Promise<void> | null} */ pressed =
    null;

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.hearPresses();
  }

  start() {}

  dispose() {
    this.ended.abort();
  }

  hearPresses() {
    let isDown = false;
    let end = () => {};
    const options = { capture: true, signal: this.ended.signal };
    const press = () => {
      isDown = true;
      this.pressed ??= new Promise((resolve) => {
        end = resolve;
      });
    };
    const letGo = () => {
      isDown = false;
      // After the click, which is an event of its own.
      setTimeout(() => {
        if (isDown) return;
        this.pressed = null;
        end();
      });
    };
    this.root.addEventListener("pointerdown", press, options);
    for (const name of ["pointerup", "pointercancel"]) addEventListener(name, letGo, options);
    // A scroll bar that is let go says nothing.
    addEventListener("pointermove", ({ buttons }) => buttons || !isDown || letGo(), options);
  }

  /** Wait while the pointer is down on it, for a button replaced then would lose its click. */
  async released() {
    while (this.pressed) await this.pressed;
  }
}

/** Calls `act` when the view's element has another size. @param {View} view @param {() => void} act */
export function onResize({ root, ended }, act) {
  const observer = new ResizeObserver(act);
  observer.observe(root);
  ended.signal.addEventListener("abort", () => observer.disconnect());
}

/** The elements of all views of the page, whichever script draws them. @returns {Set<HTMLElement>} */
const viewsOfPage = () => {
  const page = /** @type {{ headlightViews?: Set<HTMLElement> }} */ (globalThis);
  page.headlightViews ??= new Set();
  return page.headlightViews;
};

/** Those that are on the page; the document hears "headlight-view" when there is another. */
export const views = () => [...viewsOfPage()].filter((root) => root.isConnected || !viewsOfPage().delete(root));

/** An element in place of that of a view, which ends: what a view says is made once, in one language. @param {HTMLElement} root @param {View} view */
function emptied(root, view) {
  const fresh = /** @type {HTMLElement} */ (root.cloneNode(false));
  view.dispose();
  root.replaceWith(fresh);
  return fresh;
}

/**
 * The function that Streamlit calls with every message: makes a `View` for the element that `selector` finds, once, and
 * hands it each payload. What it returns is called when the element goes.
 * @param {string} selector
 * @param {new (root: HTMLElement) => View & { receive(payload: any): unknown }} Shown
 */
export function mount(selector, Shown) {
  /** @type {WeakMap<Element, { view: InstanceType<typeof Shown>, payload: unknown, code: string }>} */
  const mounted = new WeakMap();
  return (/** @type {Message} */ { data, parentElement, setTriggerValue, setStateValue, isAhead }) => {
    /** @type {HTMLElement | null} */
    let root = parentElement.querySelector(selector);
    if (!root || !(data instanceof Uint8Array)) return undefined;
    const payload = unpack(data);
    speak(payload.header.language);
    const before = mounted.get(root);
    if (before && before.code !== language()) root = emptied(root, before.view);
    const view = mounted.get(root)?.view ?? new Shown(root);
    if (!mounted.has(root)) {
      view.start();
      if (!isAhead) {
        viewsOfPage().add(view.root);
        globalThis.document?.dispatchEvent(new Event("headlight-view"));
      }
    }
    mounted.set(root, { view, payload, code: language() });
    view.python = { trigger: setTriggerValue, state: setStateValue };
    const hand = () => mounted.get(view.root)?.payload === payload && view.receive(payload);
    if (view.pressed) view.released().then(hand);
    else hand();
    return () => {
      view.dispose();
      mounted.delete(view.root);
    };
  };
}
