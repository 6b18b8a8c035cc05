// The link "Why?", which asks on the Attention page why a head looks where it looks; pointed_heads.js hears a click on it.
// It is offered where Python says so: the scores of the model can be split, and what is shown is the page's own text.
import { placeOf } from "./focus.js";
import { headNamed, whyHref } from "./head_label.js";
import { _ } from "./messages.js";
import { element } from "./picture.js";

/** @import { Axis, OpenHead } from "./focus.js" */
/** @import { HeadCell, HeadPlace } from "./head_label.js" */

/** @param {HeadPlace} head @param {HeadCell | null} cell */
export function whyLink(head, cell) {
  const href = whyHref(head, cell);
  const link = element("a", { className: "why-link", href, dataset: { notInPicture: "" } }, _("Why?"));
  // The picture around it would take a press for one of its own.
  for (const kind of ["pointerdown", "keydown"])
    link.addEventListener(kind, (event) => {
      if (!(event instanceof KeyboardEvent) || event.key === "Enter") event.stopPropagation();
    });
  return link;
}

/** The row or the key of a head with which a label of several tokens begins. @param {Axis} axis @param {number} index */
const positionOf = (axis, index) => placeOf(axis, index).tokens[0] - axis.ahead;

/**
 * The link that asks about a cell of an open head, or about the head where no cell is named, with a space before it; nothing
 * where it is not offered.
 * @param {Pick<OpenHead, "site" | "name" | "asks" | "rows" | "columns"> | null | undefined} head
 * @param {number | null} row @param {number | null} column @returns {(string | Node)[]}
 */
export function whyParts(head, row, column) {
  const place = head?.asks ? headNamed(head.site, head.name) : null;
  if (!head || !place) return [];
  const isCell = row !== null && column !== null;
  return [" ", whyLink(place, isCell ? [positionOf(head.rows, row), positionOf(head.columns, column)] : null)];
}
