// Saves what a component shows as a picture: PNG at twice the screen's pixels, or SVG with real text.
// The picture is read off the page: canvases, images, drawings, texts, frames and plain or graded backgrounds, each
// where it stands and in its colour, so a component need not describe itself. Buttons without `data-in-picture` stay
// out, and so does what has `data-not-in-picture`.
import { contentOf, drawingOf, paintedWith } from "./canvas_cells.js";
import { element } from "./picture.js";
import { inkAndPaper, saveAs, saveButton } from "./picture_file.js";
import { pixelsNote, svgOf } from "./picture_svg.js";

// Room for labels: whoever opens the picture may have a wider font.
const PICTURE_MARGIN = 20;

/** @import { Format } from "./picture_file.js" */
/** @import { Box, Colour, Picture, Shape, Words } from "./picture_svg.js" */

/** @type {OffscreenCanvasRenderingContext2D | null} */
let colourReader = null;

/** A CSS colour of any notation; the browser itself reads it. @param {string} css @returns {Colour} */
function plainColour(css) {
  colourReader ??= new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const context = /** @type {OffscreenCanvasRenderingContext2D} */ (colourReader);
  context.clearRect(0, 0, 1, 1);
  context.fillStyle = css;
  context.fillRect(0, 0, 1, 1);
  const [red, green, blue, alpha] = context.getImageData(0, 0, 1, 1).data;
  const digits = [red, green, blue].map((part) => part.toString(16).padStart(2, "0"));
  return { hex: `#${digits.join("")}`, alpha: alpha / 255 };
}

/** The pieces of a text node that stand on one line each, with their places. @param {Text} node */
function linesOf(node) {
  /** @type {{ text: string, box: DOMRect }[]} */
  const lines = [];
  for (const { index, 0: word } of node.data.matchAll(/\S+/g)) {
    const range = document.createRange();
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    const box = range.getBoundingClientRect();
    const last = lines.at(-1);
    if (last && Math.abs(last.box.top - box.top) < 2) {
      last.text += ` ${word}`;
      last.box = DOMRect.fromRect({ x: last.box.x, y: last.box.y, width: box.right - last.box.x, height: box.height });
    } else if (box.width) lines.push({ text: word, box });
  }
  return lines;
}

/** What `root` shows, as shapes in the order in which they are painted. @param {HTMLElement} root */
function shapesOf(root) {
  const origin = root.getBoundingClientRect();
  /** @type {Shape[]} */
  const shapes = [];
  const within = (/** @type {Box} */ { x, y, width, height }) => ({ x: x - origin.x, y: y - origin.y, width, height });
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) => {
    const isHidden =
      node instanceof Element &&
      (node.matches("button:not([data-in-picture]), [data-not-in-picture], .modebar-container") ||
        !node.checkVisibility({ visibilityProperty: true }));
    const isOut = isHidden || node.parentElement?.closest("svg");
    return isOut ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT;
  });
  while (walker.nextNode()) {
    const node = /** @type {Element | Text} */ (walker.currentNode);
    if (node instanceof Element) {
      const box = within(node.getBoundingClientRect());
      if (node instanceof SVGElement) shapes.push({ kind: "drawing", markup: drawingOf(node), ...box });
      else shapes.push(...boxShapes(node, box));
    } else if (node.parentElement) {
      const turned = turnedBy(node.parentElement, root);
      if (getComputedStyle(node.parentElement).writingMode !== "horizontal-tb")
        shapes.push(upwardText(node.data, node.parentElement, within(node.parentElement.getBoundingClientRect())));
      else if (turned) shapes.push(turnedText(node, turned, origin));
      else
        for (const { text, box } of linesOf(node))
          shapes.push({ kind: "text", ...wordsOf(node.parentElement, text), ...within(box) });
    }
  }
  return shapes;
}

/** A text in the look of its element. @param {Element} parent @param {string} text @returns {Words} */
function wordsOf(parent, text) {
  const { color, fontSize, fontWeight } = getComputedStyle(parent);
  return { text, size: Number.parseFloat(fontSize), weight: fontWeight, colour: plainColour(color) };
}

/** The element between `inner` and `root` that is turned, if there is one. @param {HTMLElement} inner @param {HTMLElement} root */
function turnedBy(inner, root) {
  for (let at = /** @type {HTMLElement | null} */ (inner); at && at !== root; at = at.parentElement) {
    const { transform } = getComputedStyle(at);
    if (transform !== "none" && new DOMMatrix(transform).b) return at;
  }
  return null;
}

/** A text that fills its element and runs upwards. @param {string} text @param {Element} parent @param {Box} box @returns {Shape} */
function upwardText(text, parent, { x, y, width, height }) {
  const turned = { angle: -90, across: -height / 2, down: 0, length: height };
  const middle = { x: x + width / 2, y: y + height / 2, width: 0, height: 0 };
  return { kind: "turned", ...wordsOf(parent, text), ...turned, ...middle };
}

/**
 * A text within a turned element: where that element turns, and how far.
 * @param {Text} node @param {HTMLElement} turned @param {Box} origin @returns {Shape}
 */
function turnedText(node, turned, origin) {
  const style = getComputedStyle(turned);
  const parent = (turned.offsetParent ?? document.body).getBoundingClientRect();
  const [pivotX, pivotY] = style.transformOrigin.split(" ").map(Number.parseFloat);
  const { a, b, e, f } = new DOMMatrix(style.transform);
  const before = document.createRange();
  before.setStart(turned, 0);
  before.setEnd(node, 0);
  const [left, top] = [turned.offsetLeft + pivotX + e, turned.offsetTop + pivotY + f];
  const [x, y] = [parent.x + left - origin.x, parent.y + top - origin.y];
  const end = turned.getBoundingClientRect();
  return {
    kind: "turned",
    ...wordsOf(node.parentElement ?? turned, before.toString() + node.data),
    angle: (Math.atan2(b, a) * 180) / Math.PI,
    across: Number.parseFloat(style.paddingLeft) - pivotX,
    down: turned.offsetHeight / 2 - pivotY,
    length: turned.offsetWidth - Number.parseFloat(style.paddingLeft) - Number.parseFloat(style.paddingRight),
    x,
    y,
    width: end.right - origin.x - x,
    height: end.bottom - origin.y - y,
  };
}

/** What an element shows beside its text. @param {Element} node @param {Box} box */
function boxShapes(node, box) {
  const style = getComputedStyle(node);
  /** @type {Shape[]} */
  const shapes = [];
  const fill = plainColour(style.backgroundColor);
  if (fill.alpha) shapes.push({ kind: "fill", colour: fill, ...box });
  // A bar within a bar is drawn by style alone; such a part begins where its element does.
  const part = getComputedStyle(node, "::before");
  const partFill = plainColour(part.backgroundColor);
  if (part.content === '""' && part.position === "static" && partFill.alpha) {
    const [width, height] = [part.width, part.height].map(Number.parseFloat);
    shapes.push({ kind: "fill", colour: partFill, x: box.x, y: box.y, width, height });
  }
  const isGraded = style.backgroundImage.startsWith("linear-gradient(to right");
  const stops = style.backgroundImage.match(/rgba?\([^)]*\)/g);
  if (isGraded && stops) shapes.push({ kind: "gradient", stops: stops.map((stop) => plainColour(stop).hex), ...box });
  const canvas = node instanceof HTMLImageElement ? paintedWith(node, node.naturalWidth, node.naturalHeight) : node;
  if (canvas instanceof HTMLCanvasElement && canvas.width && canvas.height)
    shapes.push({ ...contentOf(canvas), ...box });
  const width = style.outlineStyle === "none" ? 0 : Number.parseFloat(style.outlineWidth);
  if (width) {
    const off = Number.parseFloat(style.outlineOffset) + width / 2;
    const around = { x: box.x - off, y: box.y - off, width: box.width + 2 * off, height: box.height + 2 * off };
    shapes.push({ kind: "frame", thickness: width, colour: plainColour(style.outlineColor), ...around });
  }
  return shapes;
}

/** The picture of `root`: its size, paper and shapes, of which canvases lie lowest. @param {HTMLElement} root @returns {Picture} */
export function pictureOf(root) {
  const style = getComputedStyle(root);
  const shown = plainColour(style.getPropertyValue("--st-background-color") || "white").hex;
  const { ink, paper, isShown } = inkAndPaper("", shown);
  const colours = {
    "--st-text-color": ink,
    "--st-background-color": "#ffffff",
    "--st-secondary-background-color": "#ffffff",
  };
  root.classList.add("being-saved");
  if (!isShown) for (const [name, colour] of Object.entries(colours)) root.style.setProperty(name, colour);
  /** @type {Shape[]} */
  let shapes;
  try {
    shapes = shapesOf(root);
  } finally {
    root.classList.remove("being-saved");
    for (const name of Object.keys(colours)) root.style.removeProperty(name);
  }
  const isImage = (/** @type {Shape} */ shape) => shape.kind === "image" || shape.kind === "cells";
  const reach = (/** @type {(shape: Shape) => number} */ end) => Math.ceil(Math.max(0, ...shapes.map(end)));
  // An axis may have its name left of the picture's own corner.
  const [left, above] = [reach((shape) => -shape.x), reach((shape) => -shape.y)].map((side) => side + PICTURE_MARGIN);
  return {
    left,
    above,
    width: left + reach((shape) => shape.x + shape.width) + PICTURE_MARGIN,
    height: above + reach((shape) => shape.y + shape.height) + PICTURE_MARGIN,
    paper,
    font: style.fontFamily,
    holdsPixels: shapes.some((shape) => shape.kind === "image"),
    shapes: [...shapes.filter(isImage), ...shapes.filter((shape) => !isImage(shape))],
  };
}

/**
 * A button that saves what `root` shows, and say it where that is not all shapes; `nameOf()` is the file's name without its ending.
 * @param {HTMLElement} root @param {() => string} nameOf
 */
export function pictureButton(root, nameOf) {
  const said = element("span", { className: "muted", ariaLive: "polite" });
  const save = async (/** @type {Format} */ format) => {
    // What would only be made in the frames to come is made now.
    root.dispatchEvent(new Event("saving"));
    await Promise.allSettled([...root.querySelectorAll("img")].map((image) => image.decode()));
    const picture = pictureOf(root);
    said.textContent = picture.holdsPixels && format !== "PNG" ? pixelsNote() : "";
    return savePictureAs(format, picture, nameOf());
  };
  const saving = saveButton(save);
  saving.prepend(said);
  return saving;
}

/** @param {Format} format @param {Picture} picture @param {string} name */
export const savePictureAs = (format, picture, name) =>
  saveAs(format, svgOf(picture), picture.width, picture.height, name);
