// Parts of a page that a person points at, walks between and chooses: cells of a table, nodes of a tree, buttons.

/** @typedef {{ clientX: number, clientY: number }} Point */

/**
 * The nearest part of the page, around what an event happened to, that `selector` matches.
 * @template {HTMLElement | SVGElement} [Item=HTMLElement]
 * @param {Event} event @param {string} selector @returns {Item | null}
 */
export const closest = (event, selector) => (event.target instanceof Element ? event.target.closest(selector) : null);

/** Whether a key is pressed together with one that makes it the browser's. @param {KeyboardEvent} event */
export const isCombination = (event) => event.altKey || event.ctrlKey || event.metaKey;

const TYPED_INTO = "textarea, select, input:not([type=checkbox], [type=radio], [type=button], [type=range])";

/** Whether what a key says is written into a field, whose own keys it must keep. @param {Event} event */
export function isTyped(event) {
  const [target] = event.composedPath();
  return target instanceof HTMLElement && (target.isContentEditable || target.matches(TYPED_INTO));
}

/** What has an Escape of its own while it is open. */
const OPEN = '[role="dialog"], [role="listbox"], [role="menu"]';

/** Whether Escape was pressed, and neither a text field nor something open has a use for it. @param {KeyboardEvent} event */
export const isFreeEscape = (event) =>
  event.key === "Escape" && !event.defaultPrevented && !isTyped(event) && !document.querySelector(OPEN);

/** @param {Event} event */
export function consume(event) {
  event.preventDefault();
  event.stopPropagation();
}

/**
 * Hear what a person does with the items of a board: those of its parts that `selector` matches.
 * @template {HTMLElement | SVGElement} [Item=HTMLElement]
 * @param {HTMLElement} board
 * @param {string} selector
 * @param {{
 *   point?(item: Item, event: PointerEvent): void, leave?(): void, visit?(item: Item): void,
 *   choose(item: Item, event: MouseEvent | KeyboardEvent): void,
 *   press(item: Item, key: string): boolean,
 * }} act `visit` follows the focus; `press` says whether the key meant something
 */
export function hearItems(board, selector, act) {
  /** @param {keyof HTMLElementEventMap} name @param {(item: Item, event: any) => void} hear @param {() => void} [miss] */
  const listen = (name, hear, miss) =>
    board.addEventListener(name, (event) => {
      const item = /** @type {Item | null} */ (closest(event, selector));
      if (item) hear(item, event);
      else miss?.();
    });
  const leave = () => act.leave?.();
  board.addEventListener("pointerleave", leave);
  board.addEventListener("focusout", leave);
  listen("pointermove", (item, event) => act.point?.(item, event), leave);
  listen("focusin", (item) => act.visit?.(item));
  listen("click", (item, event) => act.choose(item, event));
  listen("keydown", (item, event) => {
    if (isCombination(event)) return;
    if (event.key === "Enter" || event.key === " ") act.choose(item, event);
    else if (event.key === "Escape") return leave();
    else if (!act.press(item, event.key)) return;
    consume(event);
  });
}

/** How long a finger rests where it means more than a tap, in milliseconds. */
const LONG_PRESS = 500;

/**
 * Hear a finger that rests on an item; the click after it is none.
 * @param {HTMLElement} board @param {string} selector @param {(item: HTMLElement) => void} act
 */
export function hearLongPress(board, selector, act) {
  let [timer, isLong] = [0, false];
  board.addEventListener("pointerdown", (event) => {
    const item = closest(event, selector);
    isLong = false;
    if (!item || event.pointerType !== "touch") return;
    timer = setTimeout(() => {
      isLong = true;
      act(item);
    }, LONG_PRESS);
  });
  for (const end of ["pointerup", "pointercancel", "pointerleave"])
    board.addEventListener(end, () => clearTimeout(timer));
  const stop = (/** @type {Event} */ event) => isLong && consume(event);
  board.addEventListener("contextmenu", stop);
  board.addEventListener("click", stop, { capture: true });
}

/** Let only one of the items be reached by Tab. @param {Iterable<HTMLElement>} items @param {HTMLElement} reached */
export function reachByTab(items, reached) {
  for (const item of items) item.tabIndex = item === reached ? 0 : -1;
}

/**
 * Let keys lead along the items of a row in which Tab stops once.
 * @param {HTMLElement} row @param {() => HTMLElement[]} itemsOf
 * @param {string[]} [keys] that lead back, on, to the first and to the last @param {() => boolean} [isHeard]
 */
export function walkAlong(row, itemsOf, keys = ["ArrowLeft", "ArrowRight", "Home", "End"], isHeard = () => true) {
  row.addEventListener("keydown", (event) => {
    const items = itemsOf();
    const at = items.findIndex((item) => item.contains(/** @type {Node} */ (event.target)));
    const target = [at - 1, at + 1, 0, items.length - 1][keys.indexOf(event.key)];
    if (at < 0 || target === undefined || isCombination(event) || !isHeard()) return;
    if (items[target]) reachByTab(items, items[target]);
    items[target]?.focus();
    consume(event);
  });
}

/**
 * Let left and right lead from button to button of a row in which Tab stops once. After a click they stay what they are
 * around it, as in a film.
 * @param {HTMLElement} row
 */
export function walkSideways(row) {
  let isByKeyboard = false;
  row.addEventListener("focusin", (event) => {
    const item = closest(event, "button");
    if (!item) return;
    reachByTab(row.querySelectorAll("button"), item);
    isByKeyboard = item.matches(":focus-visible");
  });
  walkAlong(
    row,
    () => [...row.querySelectorAll("button")],
    ["ArrowLeft", "ArrowRight"],
    () => isByKeyboard,
  );
}

/**
 * Where a key leads from item `index` of `count` that stand in lines of `across`; a line's ends are ends, and beyond the
 * first and the last line there is nothing. Undefined: the key leads nowhere.
 * @param {string} key @param {number} index @param {number} across @param {number} count
 */
export function targetOf(key, index, across, count) {
  const start = index - (index % across);
  const end = Math.min(count, start + across) - 1;
  /** @type {Record<string, number>} */
  const targets = {
    ArrowLeft: Math.max(start, index - 1),
    ArrowRight: Math.min(end, index + 1),
    ArrowUp: index - across,
    ArrowDown: index + across,
    Home: start,
    End: end,
  };
  return targets[key];
}

/**
 * Let a key lead from an item to another one; says whether it can lead anywhere.
 * @param {string} key @param {HTMLElement[]} items @param {HTMLElement} from @param {number} [across] in lines of so many
 */
export function walkTo(key, items, from, across = items.length) {
  const target = targetOf(key, items.indexOf(from), across, items.length);
  if (target !== undefined) items[target]?.focus();
  return target !== undefined;
}

/**
 * How far a box that shows `room` from `position` on has to be scrolled to show what lies between `start` and `end`.
 * @param {number} position @param {number} room @param {number} start @param {number} end
 */
export function scrolledTo(position, room, start, end) {
  if (start < position) return start;
  return Math.max(position, end - room);
}

/** The lower right corner of an item, where its tooltip stands for those who came by keyboard. @param {Element} item @returns {Point} */
export function cornerOf(item) {
  const { right, bottom } = item.getBoundingClientRect();
  return { clientX: right, clientY: bottom };
}

/** Where a key leads from a step; beyond the last one is the last one. @type {Record<string, (step: number) => number>} */
export const STEP_KEYS = {
  ArrowLeft: (step) => step - 1,
  ArrowRight: (step) => step + 1,
  PageUp: (step) => step - 1,
  PageDown: (step) => step + 1,
  Home: () => 0,
  End: () => Infinity,
};

const FIELDS =
  "input:not([type=checkbox], [type=button]), textarea, select, iframe, video, audio, [data-scrolls-sideways]";
const ROLES_WITH_ARROWS =
  "combobox grid gridcell listbox menu menuitem option radio radiogroup scrollbar slider spinbutton tab textbox treeitem".split(
    " ",
  );

/** Whether an element uses the arrow keys itself: text fields, sliders, lists, grids, tabs, long lines … @param {Element} target */
export function usesArrowKeys(target) {
  const isEdited = target instanceof HTMLElement && target.isContentEditable;
  return isEdited || target.matches(FIELDS) || ROLES_WITH_ARROWS.includes(target.getAttribute("role") ?? "");
}
