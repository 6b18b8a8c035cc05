// @ts-check
// Heads that texts and tables name are links to `#head-SITE-L5H2` (`viz/text/head_links.py`). A head that a person points
// at in one is marked in all, in charts (chart_spots.js), and in every component that hears of it (focus.js); a click opens
// it.

import { onTold, pointAtHead, pointedHead } from "../shared/focus.js";
import { headHref, headOfHref } from "../shared/head_label.js";

/** @import { HeadPlace } from "../shared/head_label.js" */
const HEAD = 'a[href^="#head-"]';
const POINTED = "pointed-head";

/** The part of the page, within components too, that an event happened to. @param {Event} event @param {string} selector */
function partOf(event, selector) {
  const [target] = event.composedPath();
  return target instanceof Element ? /** @type {HTMLAnchorElement | null} */ (target.closest(selector)) : null;
}

/** Hear what a person does with heads in texts until the signal. @param {(head: HeadPlace) => void} open @param {AbortSignal} signal */
export function followHeads(open, signal) {
  const point = (/** @type {Event} */ event) => {
    const link = partOf(event, HEAD);
    if (link) pointAtHead(headOfHref(link.getAttribute("href") ?? ""));
  };
  const leave = (/** @type {Event} */ event) => {
    if (partOf(event, HEAD)) pointAtHead(null);
  };
  for (const kind of ["pointerover", "focusin"]) document.addEventListener(kind, point, { signal });
  for (const kind of ["pointerout", "focusout"]) document.addEventListener(kind, leave, { signal });
  document.addEventListener(
    "click",
    (event) => {
      const head = headOfHref(partOf(event, HEAD)?.getAttribute("href") ?? "");
      if (!head) return;
      event.preventDefault();
      event.stopPropagation();
      pointAtHead(null);
      open(head);
    },
    { capture: true, signal },
  );
  const mark = () => {
    const head = pointedHead();
    const href = head && headHref(head);
    for (const link of document.querySelectorAll(HEAD))
      link.classList.toggle(POINTED, link.getAttribute("href") === href);
  };
  onTold("head", mark, signal);
}
