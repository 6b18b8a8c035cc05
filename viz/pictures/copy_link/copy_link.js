// A button that copies the browser's address, with the parameters that a link needs to mean the same elsewhere. As it
// stands on every page, it also tells the browser the page's language, and the other components and the charts how pictures are saved.
import { outline } from "../shared/drawing.js";
import { _, language } from "../shared/messages.js";
import { mount, View } from "../shared/mount.js";
import { button, element } from "../shared/picture.js";
import { chooseHowSaved, inkAndPaper } from "../shared/picture_file.js";
import { pictureOf, savePictureAs } from "../shared/save_picture.js";

/** @import { Format, Paper } from "../shared/picture_file.js" */

const SAID_FOR_MS = 4_000;
/** Two links of a chain, on a 16 × 16 field. */
const CHAIN =
  "M6.6 9.4a2.7 2.7 0 0 0 3.8 0l2.7-2.7a2.7 2.7 0 0 0-3.8-3.8l-1 1M9.4 6.6a2.7 2.7 0 0 0-3.8 0L2.9 9.3a2.7 2.7 0 0 0 3.8 3.8l1-1";

/** The address with the parameters that it leaves out. @param {string} address @param {Record<string, string>} always */
export function linkOf(address, always) {
  const url = new URL(address);
  for (const [name, value] of Object.entries(always))
    if (!url.searchParams.has(name)) url.searchParams.set(name, value);
  return url.href;
}

/** Whether only this computer can open a link. @param {string} link */
const isLocal = (link) => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(link).hostname);

/** Put a text on the clipboard; by a selected field where the page came over plain HTTP. @param {string} text */
async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = element("textarea", { value: text, style: "position:fixed;opacity:0" });
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  if (!isCopied) throw new Error(_("The browser does not allow this page to copy."));
}

class CopyLink extends View {
  /** @type {Record<string, string>} */ always = {};
  note = "";
  /** @type {Format} */ format = "PNG";
  said = element("span", { className: "copy-said", role: "status" });
  /** @type {ReturnType<typeof setTimeout> | undefined} */ clearing;
  press = button(
    { className: "tool", title: _("Copy a link to this view"), ariaLabel: _("Copy link") },
    () => this.copied(),
    outline(CHAIN),
  );

  start() {
    this.root.append(this.press, this.said);
    document.documentElement.lang = language();
    hearCameras(() => this.format, this.ended.signal);
  }

  /** @param {{ header: { always: Record<string, string>, note: string, paper: Paper, format: Format } }} payload */
  receive({ header }) {
    this.always = header.always;
    this.note = header.note;
    this.format = header.format;
    chooseHowSaved(header.format, header.paper);
  }

  async copied() {
    const link = linkOf(location.href, this.always);
    try {
      await copy(link);
      this.said.textContent = this.note || (isLocal(link) ? _("Copied; it opens only on this computer") : _("Copied"));
    } catch {
      this.said.textContent = _("The browser does not allow this page to copy: copy the URL from the address bar");
    }
    clearTimeout(this.clearing);
    this.clearing = setTimeout(() => this.said.replaceChildren(), SAID_FOR_MS);
  }
}

export default mount(".copy-link", CopyLink);

/** @typedef {HTMLElement & { _context?: { toImageButtonOptions?: { filename?: string } } }} Chart */

// Letters paler than this would not be read on white; plotly writes the page's ink into each.
const PALE = 140;

/**
 * Hear clicks on every camera of plotly's charts, where plotly's own cannot do what was chosen: PDF, a background other
 * than the page's, or SVG in which the cells of a heatmap are shapes.
 * @param {() => Format} formatOf @param {AbortSignal} signal
 */
function hearCameras(formatOf, signal) {
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
