// @ts-check
// How a component meets Streamlit: one object for an element of the page, which hears Python's messages and can answer.
import { unpack } from "./payload.js";

/**
 * What sends to Python: a trigger lasts for one run of the page, a state stays.
 * @typedef {{ trigger: (name: string, value: unknown) => void, state: (name: string, value: unknown) => void }} Python
 * @typedef {{ data: unknown, parentElement: ParentNode, setTriggerValue: Python["trigger"], setStateValue: Python["state"] }} Message
 */

/**
 * The function that Streamlit calls with every message: makes a `View` for the element that `selector` finds, once, and
 * hands it each payload. What it returns is called when the element goes. A view says itself what its payload holds.
 * @param {string} selector
 * @param {new (root: HTMLElement, python: Python) => { receive(payload: any): unknown, dispose?(): void }} View
 */
export function mount(selector, View) {
  /** @type {WeakMap<Element, { view: InstanceType<typeof View>, python: Python }>} */
  const mounted = new WeakMap();
  return (/** @type {Message} */ { data, parentElement, setTriggerValue, setStateValue }) => {
    /** @type {HTMLElement | null} */
    const root = parentElement.querySelector(selector);
    if (!root || !(data instanceof Uint8Array)) return undefined;
    const python = { trigger: setTriggerValue, state: setStateValue };
    const known = mounted.get(root) ?? { view: new View(root, python), python };
    mounted.set(root, known);
    // The newest message's functions: those of an older one may no longer reach Python.
    Object.assign(known.python, python);
    known.view.receive(unpack(data));
    return () => {
      known.view.dispose?.();
      mounted.delete(root);
    };
  };
}
