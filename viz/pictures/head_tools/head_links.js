// @ts-check
// Heads that texts name are links to `#head-SITE-L5H2` (`viz/text/head_links.py`), and cells of charts stand for heads
// (`meta.heads` of a figure). A head that a person points at in one is marked in all, and in every component that hears of
// it (focus.js); a click on a link opens it.

import { onTold, pointAtHead, pointedHead } from "../shared/focus.js";
import { headHref, headOfHref } from "../shared/head_label.js";

/** @import { HeadPlace } from "../shared/head_label.js" */
/**
 * A chart whose points have a head as the first of their data.
 * @typedef {HTMLElement & {
 *   on?(event: string, hear: (event: any) => void): void, layout?: { meta?: { heads?: string } },
 * }} Chart
 */

const HEAD = 'a[href^="#head-"]';
const HEAD_CHART = ".js-plotly-plot";
const POINTED = "pointed-head";

/** The part of the page, within components too, that an event happened to. @param {Event} event @param {string} selector */
function partOf(event, selector) {
  const [target] = event.composedPath();
  return target instanceof Element ? /** @type {HTMLAnchorElement | null} */ (target.closest(selector)) : null;
}

/** The head that a point of a chart stands for. @param {Chart} chart @param {any} data @returns {HeadPlace | null} */
function headOfPoint(chart, data) {
  const site = chart.layout?.meta?.heads;
  if (site === undefined || data?.[0] === undefined) return null;
  return site ? { site, layer: data[0], head: data[1] } : { site: data[0], layer: data[1], head: data[2] };
}

/** Frame the points of a chart that stand for a head. @param {Chart} chart @param {string | null} href */
function markChart(chart, href) {
  if (chart.layout?.meta?.heads === undefined) return;
  for (const point of /** @type {NodeListOf<any>} */ (chart.querySelectorAll(".scatterlayer .point"))) {
    // plotly leaves a point's own data where d3 keeps it.
    const head = headOfPoint(chart, point.__data__?.data);
    point.classList.toggle(POINTED, head !== null && headHref(head) === href);
  }
}

/** Hear what a person does with heads in texts and charts until the signal. @param {(head: HeadPlace) => void} open @param {AbortSignal} signal */
export function followHeads(open, signal) {
  /** @type {WeakSet<Chart>} */
  const heard = new WeakSet();
  const point = (/** @type {Event} */ event) => {
    const link = partOf(event, HEAD);
    if (link) return pointAtHead(headOfHref(link.getAttribute("href") ?? ""));
    const chart = /** @type {Chart | null} */ (/** @type {unknown} */ (partOf(event, HEAD_CHART)));
    if (!chart?.on || heard.has(chart)) return;
    heard.add(chart);
    chart.on("plotly_hover", ({ points }) => pointAtHead(headOfPoint(chart, points[0]?.customdata)));
    chart.on("plotly_unhover", () => pointAtHead(null));
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
    for (const chart of document.querySelectorAll(HEAD_CHART)) markChart(/** @type {Chart} */ (chart), href);
  };
  onTold("head", mark, signal);
}
