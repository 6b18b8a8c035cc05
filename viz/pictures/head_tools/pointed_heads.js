// Charts whose figures say where they show heads and words (`viz/pictures/figures/charts.py`): what a person points at in
// one of them is told to the page, and what is pointed at elsewhere is framed in all of them (focus.js). So it is with
// links to heads, `#head-SITE-L5H2` (`viz/text/written.py`); a click on one opens the head, on `#why-SITE-L5H2-R8K3` the tab
// Why, of row 8 and key 3.
import { meets, onceTold, onTold, pointAt, pointAtHead, pointed, pointedHead } from "../shared/focus.js";
import { cellOfHref, headHref, headOfHref } from "../shared/head_label.js";
import { consume } from "../shared/items.js";
import { element, zoomOf } from "../shared/picture.js";

/** @import { Place } from "../shared/focus.js" */
/** @import { HeadPlace } from "../shared/head_label.js" */
/** A head that is asked about, and the cell if the link names one. @typedef {HeadPlace & ReturnType<typeof cellOfHref>} AskedPlace */

/** @typedef {[left: number, right: number, low: number, high: number]} Box in coordinates of the axes, or in pixels */
/** Places of a word are those of this sentence, and of the one beside it. @typedef {{ head: HeadPlace | null, places: Place[], box: Box }} Spot */
/** What plotly knows of an axis. @typedef {{ _offset: number, _length: number, l2p(value: number): number }} PlotAxis */
/**
 * @typedef {HTMLElement & {
 *   layout?: { meta?: { heads?: [string, number, number, ...Box][], words?: [Place[], ...Box][], query?: Place | null } },
 *   _fullLayout?: { xaxis: PlotAxis, yaxis: PlotAxis },
 *   on?(event: "plotly_afterplot", hear: () => void): void,
 * }} Chart
 */

const CHART = ".js-plotly-plot";
/** As large as a spot is at least, in pixels: a point has no size of its own. */
const LEAST = 18;

/** @param {Chart} chart @returns {Spot[]} */
function spotsOf(chart) {
  const { heads = [], words = [] } = chart.layout?.meta ?? {};
  return [
    ...heads.map(([site, layer, head, ...box]) => ({ head: { site, layer, head }, places: [], box })),
    ...words.map(([places, ...box]) => ({ head: null, places, box })),
  ];
}

/** From one end to the other along an axis, in pixels of the chart, as far as it is seen. @param {PlotAxis} axis @param {number} a @param {number} b */
function stretchOf(axis, a, b) {
  const [start, end] = [axis.l2p(a), axis.l2p(b)].sort((one, other) => one - other);
  const more = Math.max(0, LEAST - (end - start)) / 2;
  const isSeen = end + more > 0 && start - more < axis._length;
  return isSeen ? [axis._offset + Math.max(0, start - more), axis._offset + Math.min(axis._length, end + more)] : null;
}

/** Where a spot is in its chart, in pixels; null where it is not seen. @param {Chart} chart @param {Spot} spot @returns {Box | null} */
function pixelsOf({ _fullLayout }, { box: [left, right, low, high] }) {
  if (!_fullLayout) return null;
  const [across, down] = [stretchOf(_fullLayout.xaxis, left, right), stretchOf(_fullLayout.yaxis, low, high)];
  return across && down && /** @type {Box} */ ([...across, ...down]);
}

/** The nearest of these spots that has a point of the chart. @param {Chart} chart @param {Spot[]} spots @param {number} x @param {number} y */
function spotAt(chart, spots, x, y) {
  let [found, least] = [/** @type {Spot | null} */ (null), Number.POSITIVE_INFINITY];
  for (const spot of spots) {
    const box = pixelsOf(chart, spot);
    if (!box || x < box[0] || x > box[1] || y < box[2] || y > box[3]) continue;
    const distance = Math.hypot(x - (box[0] + box[1]) / 2, y - (box[2] + box[3]) / 2);
    if (distance < least) [found, least] = [spot, distance];
  }
  return found;
}

/** Frame what is pointed at. @param {Chart} chart */
function mark(chart) {
  const [head, focus] = [pointedHead(), pointed()];
  const isMeant = (/** @type {Spot} */ spot) =>
    spot.head
      ? spot.head.site === head?.site && spot.head.layer === head.layer && spot.head.head === head.head
      : spot.places.some((place) => meets(focus?.key ?? null, place) || meets(focus?.query ?? null, place));
  const meant = spotsOf(chart).filter(isMeant);
  const frames = meant.flatMap((spot) => {
    const box = pixelsOf(chart, spot);
    if (!box) return [];
    const [left, right, top, bottom] = box;
    const style = `left:${left}px;top:${top}px;width:${right - left}px;height:${bottom - top}px`;
    return [element("div", { className: "pointed-spot", style })];
  });
  for (const old of chart.querySelectorAll(".pointed-spot")) old.remove();
  chart.querySelector(".svg-container")?.append(...frames);
}

/** Tell the page of the head and the words under the pointer. @param {Chart} chart @param {PointerEvent} event */
function tellOf(chart, event) {
  const [{ left, top }, zoom] = [chart.getBoundingClientRect(), zoomOf(chart)];
  const at = /** @type {const} */ ([(event.clientX - left) / zoom, (event.clientY - top) / zoom]);
  const spots = spotsOf(chart);
  const heads = spots.filter((spot) => spot.head);
  const words = spots.filter((spot) => !spot.head);
  pointAtHead(spotAt(chart, heads, ...at)?.head ?? null);
  const key = spotAt(chart, words, ...at)?.places[0];
  if (words.length) pointAt(key ? { query: chart.layout?.meta?.query ?? null, key } : null);
}

/** Follow what a person points at in charts and elsewhere until the signal. @param {AbortSignal} signal */
export function followCharts(signal) {
  let isPointing = false;
  const follow = (/** @type {PointerEvent} */ event) => {
    const [target] = event.composedPath();
    const chart = target instanceof Element ? /** @type {Chart | null} */ (target.closest(CHART)) : null;
    const isKnown = Boolean(chart?.layout?.meta?.heads);
    if (chart && isKnown) tellOf(chart, event);
    else if (isPointing) {
      pointAtHead(null);
      pointAt(null);
    }
    isPointing = isKnown;
  };
  // Before the part of the page that the pointer comes to tells what it is.
  document.addEventListener("pointermove", follow, { capture: true, signal });
  document.documentElement.addEventListener("pointerleave", follow, { signal });
  const markAll = onceTold(() => {
    for (const chart of document.querySelectorAll(CHART)) mark(/** @type {Chart} */ (chart));
  });
  onTold("head", markAll, signal);
  onTold("pointed", markAll, signal);
  markWhenDrawn(signal);
}

/** A chart that comes, or is drawn anew, while a person points at something frames it too. @param {AbortSignal} signal */
function markWhenDrawn(signal) {
  // Plotly gives a chart another `on` with every first drawing, and forgets who heard the one before.
  const heard = new WeakMap();
  const observer = new MutationObserver(() => {
    for (const each of document.querySelectorAll(CHART)) {
      const chart = /** @type {Chart} */ (each);
      if (!chart.on || heard.get(chart) === chart.on) continue;
      heard.set(chart, chart.on);
      chart.on("plotly_afterplot", () => {
        if (!signal.aborted) mark(chart);
      });
      mark(chart);
    }
  });
  observer.observe(document.body, { childList: true, subtree: true });
  signal.addEventListener("abort", () => observer.disconnect());
}

const HEAD = 'a:is([href^="#head-"], [href^="#why-"])';
const POINTED = "pointed-head";

/** The part of the page, within components too, that an event happened to. @param {Event} event @param {string} selector */
function partOf(event, selector) {
  const [target] = event.composedPath();
  return target instanceof Element ? /** @type {HTMLAnchorElement | null} */ (target.closest(selector)) : null;
}

/** Hear what a person does with heads in texts until the signal. @param {(head: HeadPlace) => void} open @param {(asked: AskedPlace) => void} askWhy @param {AbortSignal} signal */
export function followHeads(open, askWhy, signal) {
  const point = (/** @type {Event} */ event) => {
    const link = partOf(event, HEAD);
    if (link) pointAtHead(headOfHref(link.getAttribute("href") ?? ""));
  };
  const leave = (/** @type {Event} */ event) => {
    if (partOf(event, HEAD)) pointAtHead(null);
  };
  for (const kind of ["pointerover", "focusin"]) document.addEventListener(kind, point, { signal });
  for (const kind of ["pointerout", "focusout"]) document.addEventListener(kind, leave, { signal });
  const press = (/** @type {Event} */ event) => {
    const href = partOf(event, HEAD)?.getAttribute("href") ?? "";
    const head = headOfHref(href);
    if (!head) return;
    consume(event);
    pointAtHead(null);
    if (href.startsWith("#why-")) askWhy({ ...head, ...cellOfHref(href) });
    else open(head);
  };
  document.addEventListener("click", press, { capture: true, signal });
  const mark = () => {
    const head = pointedHead();
    const href = head && headHref(head);
    for (const link of document.querySelectorAll(HEAD))
      link.classList.toggle(POINTED, link.getAttribute("href") === href);
  };
  onTold("head", mark, signal);
}
