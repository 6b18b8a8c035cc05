// @ts-check
// Parts of a page that a person points at, walks between and chooses: cells of a table, nodes of a tree, buttons.
import { element } from "./picture.js";

/** @typedef {{ clientX: number, clientY: number }} Point */

/**
 * The nearest part of the page, around what an event happened to, that `selector` matches.
 * @template {HTMLElement | SVGElement} [Item=HTMLElement]
 * @param {Event} event
 * @param {string} selector
 * @returns {Item | null}
 */
export const closest = (event, selector) => (event.target instanceof Element ? event.target.closest(selector) : null);

/** Whether a key is pressed together with one that makes it the browser's. @param {KeyboardEvent} event */
export const isCombination = (event) => event.altKey || event.ctrlKey || event.metaKey;

/** @param {Event} event */
export function consume(event) {
  event.preventDefault();
  event.stopPropagation();
}

/**
 * Hear what a person does with the items of a board.
 * @template {HTMLElement | SVGElement} [Item=HTMLElement]
 * @param {HTMLElement} board
 * @param {string} selector which parts of the board are its items
 * @param {{
 *   point(item: Item, point: Point): void,
 *   leave(): void,
 *   visit(item: Item): void,
 *   choose(item: Item): void,
 *   press(item: Item, key: string): boolean,
 * }} act `visit` follows the focus; `press` says whether the key meant something
 */
export function hearItems(board, selector, act) {
  const itemOf = (/** @type {Event} */ event) => /** @type {Item | null} */ (closest(event, selector));
  board.addEventListener("pointermove", (event) => {
    const item = itemOf(event);
    if (item) act.point(item, event);
    else act.leave();
  });
  board.addEventListener("pointerleave", act.leave);
  board.addEventListener("focusout", act.leave);
  board.addEventListener("focusin", (event) => {
    const item = itemOf(event);
    if (item) act.visit(item);
  });
  board.addEventListener("click", (event) => {
    const item = itemOf(event);
    if (item) act.choose(item);
  });
  board.addEventListener("keydown", (event) => {
    const item = itemOf(event);
    if (!item || isCombination(event)) return;
    if (event.key === "Enter" || event.key === " ") act.choose(item);
    else if (event.key === "Escape") act.leave();
    else if (!act.press(item, event.key)) return;
    consume(event);
  });
}

/**
 * The lower right corner of an item, where its tooltip stands for those who came by keyboard.
 * @param {Element} item @returns {Point}
 */
export function cornerOf(item) {
  const { right, bottom } = item.getBoundingClientRect();
  return { clientX: right, clientY: bottom };
}

/** @param {string} className @param {string} text @param {() => void} [act] */
export function button(className, text, act) {
  const created = element("button", className, text);
  created.type = "button";
  if (act) created.addEventListener("click", act);
  return created;
}

/**
 * Give an element its role and its name, for those who hear the page.
 * @template {Element} Part @param {Part} part @param {string} role @param {string} label
 */
export function named(part, role, label) {
  part.setAttribute("role", role);
  part.setAttribute("aria-label", label);
  return part;
}
