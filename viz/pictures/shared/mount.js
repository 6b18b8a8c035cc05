// @ts-check
// How a component meets Streamlit: one object for an element of the page, which hears Python's messages and can answer.
import { language, speak } from "./messages.js";
import { unpack } from "./payload.js";

/**
 * What sends to Python: a trigger lasts for one run of the page, a state stays.
 * @typedef {{ trigger: (name: string, value: unknown) => void, state: (name: string, value: unknown) => void }} Python
 * @typedef {{ data: unknown, parentElement: ParentNode, setTriggerValue: Python["trigger"], setStateValue: Python["state"] }} Message
 */

/** What shows a component in an element of the page. A class that extends it says what its payload holds. */
export class View {
  ended = new AbortController();
  /** The newest message's functions: those of an older one may no longer reach Python. @type {Python} */ python;

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
  }

  start() {}

  dispose() {
    this.ended.abort();
  }
}

/** Calls `act` when the view's element has another size. @param {View} view @param {() => void} act */
export function onResize({ root, ended }, act) {
  const observer = new ResizeObserver(act);
  observer.observe(root);
  ended.signal.addEventListener("abort", () => observer.disconnect());
}

/** Hands payloads to a view; while the pointer is down on it they wait, for a button replaced then would lose its click. */
class Postman {
  isPressed = false;
  /** @type {unknown} */ waiting = null;

  /** @param {View & { receive(payload: any): unknown }} view */
  constructor(view) {
    this.view = view;
    const options = { capture: true, signal: view.ended.signal };
    const press = () => {
      this.isPressed = true;
    };
    view.root.addEventListener("pointerdown", press, options);
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => this.letGo(), options);
    // A scroll bar that is let go says nothing.
    addEventListener("pointermove", ({ buttons }) => buttons || this.letGo(), options);
  }

  letGo() {
    if (!this.isPressed) return;
    this.isPressed = false;
    // After the click, which is an event of its own.
    setTimeout(() => this.waiting && !this.view.ended.signal.aborted && this.hand(this.waiting));
  }

  /** @param {unknown} payload */
  hand(payload) {
    this.waiting = this.isPressed ? payload : null;
    if (!this.isPressed) this.view.receive(payload);
  }
}

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
  /** @type {WeakMap<Element, { view: InstanceType<typeof Shown>, postman: Postman, code: string }>} */
  const mounted = new WeakMap();
  return (/** @type {Message} */ { data, parentElement, setTriggerValue, setStateValue }) => {
    /** @type {HTMLElement | null} */
    let root = parentElement.querySelector(selector);
    if (!root || !(data instanceof Uint8Array)) return undefined;
    const payload = unpack(data);
    speak(payload.header.language);
    const before = mounted.get(root);
    if (before && before.code !== language()) root = emptied(root, before.view);
    const view = mounted.get(root)?.view ?? new Shown(root);
    const postman = mounted.get(root)?.postman ?? new Postman(view);
    if (!mounted.has(root)) view.start();
    mounted.set(root, { view, postman, code: language() });
    view.python = { trigger: setTriggerValue, state: setStateValue };
    postman.hand(payload);
    return () => {
      view.dispose();
      mounted.delete(view.root);
    };
  };
}
