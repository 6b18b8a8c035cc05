// The numbers of a head: lines with all heads, on which it is marked, and bars of what it looks at.
// Data: the payload of component.py, `HeadNumbers`.
import { _ } from "../shared/messages.js";
import { mount, View } from "../shared/mount.js";
import { element, tokenElement } from "../shared/picture.js";

/** @typedef {{ name: string, value: number, low: number, high: number, number: string, rank: string, label: string, all: number[], middle: number }} Strip */
/** @typedef {{ name: string, value: number, layer: number | null, even: number | null }} Bar */
/** @typedef {{ strips: Strip[], shares: { title: string, bars: Bar[] }[], rest: number, favourites: string[], times: string[] }} Numbers */

const percent = (/** @type {number} */ part) => `${100 * Math.max(0, Math.min(1, part))}%`;

/** A mark at a part of the width. @param {string} className @param {number} part @param {number} [end] */
function mark(className, part, end) {
  const width = end === undefined ? "" : `;width:${percent(end - part)}`;
  return element("i", { className, style: `left:${percent(part)}${width}` });
}

/** @param {Strip} strip */
function stripElement({ name, value, low, high, number, rank, label, all, middle }) {
  const [least, most] = [Math.min(low, ...all), Math.max(high, ...all)];
  const at = (/** @type {number} */ of) => (of - least) / (most - least || 1);
  const others = all.map((other) => mark("other", at(other)));
  const own = [mark("middle", at(middle)), mark("interval", at(low), at(high)), mark("own", at(value))];
  const line = element("span", { className: "line", role: "img", ariaLabel: label }, ...others, ...own);
  const read = element("span", "number", element("b", "", number), " ", element("span", "muted", rank));
  return element("div", "strip", element("span", "", name), line, read);
}

/** @param {Bar} bar @param {number} most */
function barElement({ name, value, layer, even }, most) {
  const filled = element("b", { style: `width:${percent(value / most)}` });
  const line = element("span", { className: "bar", ariaHidden: "true" }, filled);
  if (even !== null) line.append(mark("even", even / most));
  if (layer !== null) line.append(mark("layer", layer / most));
  return element("div", "share", element("span", "", name), line, element("span", "number", value.toFixed(2)));
}

class HeadNumbersView extends View {
  /** @param {{ header: Numbers }} payload */
  receive({ header: { strips, shares, rest, favourites, times } }) {
    const lines = _(
      "Each line is a head; the long line is the median head, and the bar is this head with its 95% interval.",
    );
    const unusual = [element("h4", "", _("Unusual in this model")), element("p", "muted", lines)];
    const piece = (/** @type {string} */ className, /** @type {number} */ part) =>
      element("span", { className, style: `width:${percent(part)}` }, part > 0.12 ? part.toFixed(2) : "");
    const pieces = [piece("rest", rest), piece("free", 1 - rest)];
    const whole = element("div", { className: "whole", ariaHidden: "true" }, ...pieces);
    const most = (/** @type {Bar[]} */ bars) =>
      Math.max(0.05, ...bars.flatMap(({ value, layer, even }) => [value, layer ?? 0, even ?? 0]));
    const columns = shares.map(({ title, bars }) =>
      element("div", "", element("h5", "", title), ...bars.map((bar) => barElement(bar, most(bars)))),
    );
    const colours = _(
      "Grey is weight at rest, on special tokens or on the first token. The other colours are shares of the free weight, which is all the rest. A stroke marks the mean of the layer, a ring uniform attention.",
    );
    const chips = favourites.map((token, at) => element("span", "chip", tokenElement(token), ` ${times[at]}`));
    const furthest = element("h5", "", _("Tokens whose weight is furthest above uniform attention"));
    this.root.replaceChildren(
      ...(strips.length ? [...unusual, ...strips.map(stripElement)] : []),
      element("h4", "", _("What it attends to")),
      element("p", "muted", colours),
      whole,
      element("div", "columns", ...columns),
      ...(chips.length ? [furthest, element("div", "chips", ...chips)] : []),
    );
    this.root.dataset.ready = "1";
  }
}

export default mount(".head-numbers", HeadNumbersView);
