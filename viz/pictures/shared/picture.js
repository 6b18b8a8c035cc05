// What the components draw with: elements, the colour scale and its legend, matrices of pixels, a tooltip.
// Text enters the page as text nodes only.

import { _, sentenceParts } from "./messages.js";
import { formatWeight } from "./payload.js";

/** @import { Point } from "./items.js" */
/** @typedef {[number, number]} Run first and end of what lies side by side: [first, end) */
/** @template E @typedef {Partial<Omit<E, "style" | "dataset">> & { style?: string, dataset?: Record<string, string | number> }} Look */

/**
 * An element that holds `contents`. It is given its class, or its properties.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag @param {string | Look<HTMLElementTagNameMap[Tag]>} [look] @param {(Node | string)[]} contents
 */
export function element(tag, look = {}, ...contents) {
  const created = document.createElement(tag);
  const { dataset, ...properties } = typeof look === "string" ? { className: look } : look;
  Object.assign(created.dataset, dataset);
  Object.assign(created, properties).append(...contents);
  return created;
}

/** A token, isolated so that right-to-left text cannot reorder what stands beside it. @param {string} token */
export const tokenElement = (token, className = "token") => element("bdi", { className, dir: "auto" }, token);

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** The direction of words side by side, by their first letter: a browser passes over isolated ones. @param {string[]} words */
export const directionOf = (words) => (RIGHT_TO_LEFT.test(words.join(" ").match(/\p{L}/u)?.[0] ?? "") ? "rtl" : "ltr");

/** Between what a row of a decoder reads and what it writes (`row_name` of model/trace/axes.py). */
export const WRITES = " → ";

/**
 * The name of a row, "die → Straße", with the word in bold that the row stands for: the one that it writes, or else the
 * one that it reads. Any other label is a token. @param {string} label @param {boolean} writes @param {string} [className]
 */
export function rowElement(label, writes, className = "token") {
  const at = label.indexOf(WRITES);
  if (at < 1) return tokenElement(label, className);
  const [read, written] = [label.slice(0, at), label.slice(at + WRITES.length)].map((token, side) =>
    element(side === Number(writes) ? "b" : "span", "", tokenElement(token, "")),
  );
  return element("bdi", { className, dir: "ltr" }, read, WRITES, written);
}

/** @param {string | Look<HTMLButtonElement>} look @param {() => void} act @param {(Node | string)[]} contents @returns {HTMLButtonElement} */
export const button = (look, act, ...contents) =>
  Object.assign(element("button", look, ...contents), { type: "button", onclick: act });

/** A button with an action; `title` is also what a screen reader calls it. @param {string} label @param {string} title @param {() => void} act */
export const toolButton = (label, title, act) =>
  button({ className: "picture-button", title, ariaLabel: title }, act, label);

/** @param {number} low @param {number} number @param {number} high */
export const clamp = (low, number, high) => Math.max(low, Math.min(high, number));

/** The first of the largest numbers. @param {ArrayLike<number>} numbers */
export function indexOfLargest(numbers) {
  let best = 0;
  for (let at = 1; at < numbers.length; at++) if (numbers[at] > numbers[best]) best = at;
  return best;
}

/** The drawing context of a canvas. @param {HTMLCanvasElement} canvas */
export const contextOf = (canvas) => /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));

/** What measures texts. @type {CanvasRenderingContext2D | undefined} */
let ruler;

/** How wide a text is, in CSS pixels. @param {string} text @param {string} font */
export function textWidth(text, font) {
  ruler ??= contextOf(element("canvas"));
  ruler.font = font;
  return ruler.measureText(text).width;
}

/** How much larger than its own pixels say an element is shown, as on a projector. @param {Element} element */
export const zoomOf = (element) => element.currentCSSZoom ?? 1;

/** Whether a projector shows the page (`viz/ui/present.css`). @param {Element} element */
export const isPresented = (element) => getComputedStyle(element).getPropertyValue("--in-page").trim() === "none";

/** Device pixels for each of an element's own. @param {Element} element */
export const pixelRatio = (element) => (window.devicePixelRatio || 1) * zoomOf(element);

/** How high a picture in `root` may be, of which `beside` is not the picture itself. @param {HTMLElement} root @param {number} beside */
export function roomFor(root, beside) {
  const highest = Number.parseFloat(getComputedStyle(root).maxHeight);
  return Number.isNaN(highest) ? Infinity : highest - beside;
}

/** Red, green and blue at `position` in [0, 1] of a scale of hex stops. @param {string[]} stops @param {number} position */
export function mixStops(stops, position) {
  const at = position * (stops.length - 1);
  const low = Math.min(stops.length - 2, Math.floor(at));
  return [1, 3, 5].map((offset) => {
    const [from, to] = [stops[low], stops[low + 1]].map((hex) => Number.parseInt(hex.slice(offset, offset + 2), 16));
    return Math.round(from + (to - from) * (at - low));
  });
}

/** A swatch in the colour of a weight. @param {string} className @param {string[]} stops @param {number} weight */
export function weightSwatch(className, stops, weight) {
  const colour = mixStops(stops, Math.sqrt(clamp(0, weight, 1))).join(" ");
  return element("span", { className, style: `background-color:rgb(${colour})` });
}

/** The rows with the most weight, and how much that is. @param {number[]} weights @param {(row: number) => Node} nameOf @param {number} [most] that are named */
export function strongestParts(weights, nameOf, most = 3) {
  const best = weights.map((_weight, row) => row).sort((a, b) => weights[b] - weights[a]);
  const said = best.slice(0, most).map((row, at) => [at ? ", " : "", nameOf(row), ` ${formatWeight(weights[row])}`]);
  return element("span", "", ...said.flat());
}

/** Hex stops as 256 opaque pixels, indexed by the upper byte of a stored √ value. @param {string[]} stops */
export function pixelScale(stops) {
  const pixels = Array.from({ length: 256 }, (_, i) => [...mixStops(stops, i / 255), 255]);
  return new Uint32Array(new Uint8Array(pixels.flat()).buffer);
}

/**
 * For each of `pixels` along a side, the run of `cells` that it shows. With fewer pixels than cells a pixel shows
 * several; painting takes their maximum, so that no strong weight falls between two pixels.
 * @param {number} cells @param {number} pixels @returns {Run[]}
 */
export function cellRuns(cells, pixels) {
  return Array.from({ length: pixels }, (_, pixel) => {
    if (cells > pixels) return [Math.floor((pixel * cells) / pixels), Math.ceil(((pixel + 1) * cells) / pixels)];
    const cell = Math.floor(((pixel + 0.5) * cells) / pixels);
    return [cell, cell + 1];
  });
}

/**
 * The index of the largest of `values` within rows × columns of a matrix that begins at `base`.
 * @param {ArrayLike<number>} values @param {number} base @param {number} columns @param {Run} rowRun @param {Run} columnRun
 */
export function largestWithin(values, base, columns, [top, bottom], [left, right]) {
  let best = base + top * columns + left;
  for (let row = top; row < bottom; row++) {
    for (let column = left; column < right; column++) {
      const index = base + row * columns + column;
      if (values[index] > values[best]) best = index;
    }
  }
  return best;
}

/**
 * Paint one matrix of stored √ values into an image, at the image's own pixels: nothing is smoothed, nothing lost.
 * @param {ImageData} image @param {Uint32Array} scale @param {Uint16Array} values @param {number} base
 * @param {number} columns @param {{ left: number, top: number }} corner @param {Run[]} rowRuns @param {Run[]} columnRuns
 */
export function paintMatrix(image, scale, values, base, columns, corner, rowRuns, columnRuns) {
  const pixels = new Uint32Array(image.data.buffer);
  rowRuns.forEach((rowRun, y) => {
    const line = (corner.top + y) * image.width + corner.left;
    columnRuns.forEach((columnRun, x) => {
      pixels[line + x] = scale[values[largestWithin(values, base, columns, rowRun, columnRun)] >> 8];
    });
  });
}

/**
 * Give a canvas its size in device pixels, and on the page as much room as that makes in CSS pixels.
 * @param {HTMLCanvasElement} canvas @param {number} width @param {number} height @param {number} ratio
 */
export function sizeCanvas(canvas, width, height, ratio) {
  canvas.width = width;
  canvas.height = height;
  canvas.style.width = `${width / ratio}px`;
  canvas.style.height = `${height / ratio}px`;
}

/**
 * A colour bar with its name before it; `marks` are [position from 0 to 1, label].
 * @param {string} name @param {string} ariaLabel @param {string[]} stops @param {[number, string][]} marks
 */
export function colourBar(name, ariaLabel, stops, marks) {
  const ticks = marks.map(([position, label]) =>
    element("span", { className: "legend-tick", style: `left:${position * 100}%` }, label),
  );
  const bar = element("div", { className: "legend-bar", style: `background:linear-gradient(to right, ${stops})` });
  const ruler = element("div", "legend-ruler", bar, element("div", "legend-scale", ...ticks));
  return element("div", { className: "legend", role: "img", ariaLabel }, element("span", "legend-name", name), ruler);
}

/**
 * The colour bar of weights, or of another number that goes up to `top`, on the √ scale.
 * @param {string[]} stops @param {number[]} ticks @param {string} [number] @param {number} [top]
 */
export function legendElement(stops, ticks, number = _("weight"), top = 1) {
  const label = _("Colour scale: {number} from 0, dark, to {top}, light, linear in the square root", {
    number,
    top: asRead(top),
  });
  const marks = ticks.map((tick) => /** @type {[number, string]} */ ([Math.sqrt(tick), asRead(tick * top)]));
  const name = _("{number} (√ scale)", { number: `${number[0].toUpperCase()}${number.slice(1)}` });
  return colourBar(name, label, stops, marks);
}

/** @param {number} number */
const asRead = (number) => String(Number(number.toPrecision(2)));

/** A box beside the pointer that stays within `root`. */
export class Tooltip {
  box = element("div", { className: "tooltip", hidden: true, ariaHidden: "true" });

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    root.append(this.box);
  }

  /**
   * A title, a row or a row and the key that it looks at, and a note.
   * @param {Point} point @param {string} title @param {string | Node} query @param {string | null} key @param {string} note
   */
  show(point, title, query, key, note) {
    const row = typeof query === "string" ? tokenElement(query) : query;
    const looking =
      key === null ? [row] : sentenceParts(_("{query} attends to {key}"), { query: row, key: tokenElement(key) });
    const parts = looking.map((part) => (typeof part === "string" ? element("span", "looks-at", part) : part));
    this.showContent(point, title, element("div", "tooltip-pair", ...parts), note);
  }

  /** A title, and parts of which texts have a line each. @param {Point} point @param {string} title @param {(string | Node)[]} content */
  showContent({ clientX, clientY }, title, ...content) {
    const parts = content.map((part) => (typeof part === "string" ? element("div", "tooltip-value", part) : part));
    this.box.replaceChildren(element("div", "tooltip-title", title), ...parts);
    this.box.hidden = false;
    const frame = this.root.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = this.box;
    const zoom = zoomOf(this.root);
    const [x, y] = [(clientX - frame.left) / zoom, (clientY - frame.top) / zoom];
    const left = x + 16 + width > frame.width / zoom ? x - width - 12 : x + 16;
    const top = y + 18 + height > frame.height / zoom ? y - height - 12 : y + 18;
    this.box.style.transform = `translate(${Math.max(0, Math.round(left))}px, ${Math.max(0, Math.round(top))}px)`;
  }

  hide() {
    this.box.hidden = true;
  }
}
