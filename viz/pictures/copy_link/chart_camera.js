// @ts-check
// The camera of plotly's charts, where plotly's own cannot do what was chosen: PDF, a background other than the page's, or
// SVG in which the cells of a heatmap are shapes.
import { _ } from "../shared/messages.js";
import { inkAndPaper } from "../shared/picture_file.js";
import { pictureOf, savePictureAs } from "../shared/save_picture.js";

/** @import { Format } from "../shared/picture_file.js" */
/** @typedef {HTMLElement & { _context?: { toImageButtonOptions?: { filename?: string } } }} Chart */

// Letters paler than this would not be read on white; plotly writes the page's ink into each.
const PALE = 140;

/** Hear clicks on every camera of the page. @param {() => Format} formatOf @param {AbortSignal} signal */
export function hearCameras(formatOf, signal) {
  const hear = (/** @type {MouseEvent} */ event) => {
    const format = formatOf();
    if (inkAndPaper("", "").isShown && format === "PNG") return;
    /** @type {HTMLElement | null} */
    const pressed = event.target instanceof Element ? event.target.closest(".modebar-btn") : null;
    // plotly calls its camera so, in the language of the page.
    const isCamera = [_("Download plot as a PNG"), _("Download plot")].includes(pressed?.dataset.title ?? "");
    const button = isCamera ? pressed : null;
    const chart = button && /** @type {Chart | null} */ (button.closest(".js-plotly-plot"));
    if (!chart) return;
    event.preventDefault();
    event.stopPropagation();
    saveChart(chart, format);
  };
  document.addEventListener("click", hear, { capture: true, signal });
}

/** @param {Chart} chart @param {Format} format */
function saveChart(chart, format) {
  const { isShown } = inkAndPaper("", "");
  const changed = isShown ? [] : blackened(chart);
  // A component knows the page's paper from its theme, a chart does not.
  const app = chart.closest(".stApp");
  if (isShown && app) chart.style.setProperty("--st-background-color", getComputedStyle(app).backgroundColor);
  const picture = pictureOf(chart);
  for (const [node, fill] of changed) node.style.fill = fill;
  savePictureAs(format, picture, chart._context?.toImageButtonOptions?.filename ?? "chart");
}

/** Make pale letters beside the cells black, and the chart's own paper clear; returns what each part was. @param {Chart} chart @returns {[SVGElement, string][]} */
function blackened(chart) {
  /** @type {[SVGElement, string][]} */
  const before = [];
  for (const node of /** @type {NodeListOf<SVGElement>} */ (chart.querySelectorAll("text, rect.bg"))) {
    const isPaper = node.matches("rect.bg");
    const parts = getComputedStyle(node).fill.match(/\d+/g)?.map(Number) ?? [];
    if (!isPaper && (Math.min(...parts.slice(0, 3)) < PALE || node.closest(".plot"))) continue;
    before.push([node, node.style.fill]);
    node.style.fill = isPaper ? "transparent" : "black";
  }
  return before;
}
