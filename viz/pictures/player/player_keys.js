// @ts-check
// The keys that move a film, and which parts of the page need them for themselves.

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
