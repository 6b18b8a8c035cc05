// @ts-check
// Saves what a component shows as a picture: PNG at twice the screen's pixels, or SVG with real text.
// The picture is read off the page: canvases, drawings, texts, frames and plain or graded backgrounds, each where it
// stands and in its colour, so a component need not describe itself. Buttons without `data-in-picture` stay out, and so
// does what has `data-not-in-picture`.
import { element, toolButton } from "./picture.js";
import { escapeXml, rasterised, savePng, saveSvg } from "./picture_file.js";

// Room for labels: whoever opens the picture may have a wider font.
const PICTURE_MARGIN = 20;

/** @typedef {{ hex: string, alpha: number }} Colour */
/** @typedef {{ x: number, y: number, width: number, height: number }} Box */
/** @typedef {{ text: string, size: number, weight: string, colour: Colour }} Words */
/**
 * @typedef {Box & (
 *   | { kind: "drawing", markup: string }
 *   | { kind: "text" } & Words
 *   | { kind: "turned", angle: number, across: number, down: number } & Words
 *   | { kind: "fill", colour: Colour }
 *   | { kind: "gradient", stops: string[] }
 *   | { kind: "image", canvas: HTMLCanvasElement }
 *   | { kind: "frame", thickness: number, colour: Colour }
 * )} Shape
 */

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
      (node.matches("button:not([data-in-picture]), [data-not-in-picture]") ||
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
      if (turned) shapes.push(turnedText(node, turned, origin));
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

/**
 * A text within a turned element: where that element turns, and how far.
 * @param {Text} node @param {HTMLElement} turned @param {Box} origin @returns {Shape}
 */
function turnedText(node, turned, origin) {
  const style = getComputedStyle(turned);
  const parent = (turned.offsetParent ?? document.body).getBoundingClientRect();
  const [pivotX, pivotY] = style.transformOrigin.split(" ").map(Number.parseFloat);
  const { a, b } = new DOMMatrix(style.transform);
  const before = document.createRange();
  before.setStart(turned, 0);
  before.setEnd(node, 0);
  return {
    kind: "turned",
    ...wordsOf(node.parentElement ?? turned, before.toString() + node.data),
    angle: (Math.atan2(b, a) * 180) / Math.PI,
    across: Number.parseFloat(style.paddingLeft) - pivotX,
    down: turned.offsetHeight / 2 - pivotY,
    x: parent.x + turned.offsetLeft + pivotX - origin.x,
    y: parent.y + turned.offsetTop + pivotY - origin.y,
    width: 0,
    height: 0,
  };
}

const DRAWN_BY = (
  "fill fill-opacity stroke stroke-opacity stroke-width stroke-dasharray opacity font-size font-weight font-style " +
  "text-anchor dominant-baseline font-variant-numeric"
).split(" ");

/** An SVG element as markup that carries its own styles, for they stand in the component's style sheet. @param {Element} drawing */
function drawingOf(drawing) {
  const copy = /** @type {Element} */ (drawing.cloneNode(true));
  const [originals, copies] = [drawing, copy].map((top) => [top, ...top.querySelectorAll("*")]);
  originals.forEach((original, i) => {
    const style = getComputedStyle(original);
    copies[i].removeAttribute("class");
    copies[i].setAttribute("style", DRAWN_BY.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";"));
  });
  copy.setAttribute("overflow", "visible");
  return new XMLSerializer().serializeToString(copy);
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
  if (node instanceof HTMLCanvasElement && node.width && node.height)
    shapes.push({ kind: "image", canvas: node, ...box });
  const width = style.outlineStyle === "none" ? 0 : Number.parseFloat(style.outlineWidth);
  if (width) {
    const off = Number.parseFloat(style.outlineOffset) + width / 2;
    const around = { x: box.x - off, y: box.y - off, width: box.width + 2 * off, height: box.height + 2 * off };
    shapes.push({ kind: "frame", thickness: width, colour: plainColour(style.outlineColor), ...around });
  }
  return shapes;
}

/** The picture of `root`: its size, paper and shapes, of which canvases lie lowest. @param {HTMLElement} root */
function pictureOf(root) {
  const style = getComputedStyle(root);
  root.classList.add("being-saved");
  const shapes = shapesOf(root);
  root.classList.remove("being-saved");
  const isImage = (/** @type {Shape} */ shape) => shape.kind === "image";
  const reach = (/** @type {(shape: Shape) => number} */ end) => Math.ceil(Math.max(...shapes.map(end)));
  return {
    width: reach((shape) => shape.x + shape.width) + 2 * PICTURE_MARGIN,
    height: reach((shape) => shape.y + shape.height) + 2 * PICTURE_MARGIN,
    paper: plainColour(style.getPropertyValue("--st-background-color") || "white").hex,
    font: style.fontFamily,
    shapes: [...shapes.filter(isImage), ...shapes.filter((shape) => !isImage(shape))],
  };
}

/** @param {ReturnType<typeof pictureOf>} picture */
function svgOf({ width, height, paper, font, shapes }) {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<rect width="${width}" height="${height}" fill="${paper}"/>`,
    `<g transform="translate(${PICTURE_MARGIN} ${PICTURE_MARGIN})" font-family="${escapeXml(font)}">`,
    ...shapes.map(shapeAsSvg),
    "</g></svg>",
  ].join("\n");
}

/** @param {Shape} shape @param {number} i */
function shapeAsSvg(shape, i) {
  const rounded = (/** @type {number} */ length) => Number(length.toFixed(2));
  const [x, y, width, height] = [shape.x, shape.y, shape.width, shape.height].map(rounded);
  const box = `x="${x}" y="${y}" width="${width}" height="${height}"`;
  switch (shape.kind) {
    case "drawing":
      return `<g transform="translate(${x} ${y})">${shape.markup}</g>`;
    case "turned":
      return (
        `<text transform="translate(${x} ${y}) rotate(${shape.angle})" x="${shape.across}" y="${shape.down}" ` +
        `${lookOf(shape)}>${escapeXml(shape.text)}</text>`
      );
    case "image":
      return `<image ${box} preserveAspectRatio="none" style="image-rendering:pixelated" href="${shape.canvas.toDataURL()}"/>`;
    case "fill":
      return `<rect ${box} ${painted("fill", shape.colour)}/>`;
    case "frame":
      return `<rect ${box} fill="none" ${painted("stroke", shape.colour)} stroke-width="${shape.thickness}"/>`;
    case "gradient": {
      const stops = shape.stops.map(
        (stop, at) => `<stop offset="${at / (shape.stops.length - 1)}" stop-color="${stop}"/>`,
      );
      return `<linearGradient id="scale${i}">${stops.join("")}</linearGradient><rect ${box} fill="url(#scale${i})"/>`;
    }
    default:
      // The width is given, so that a reader whose fonts are wider keeps every label in its place.
      return (
        `<text x="${x}" y="${rounded(y + height / 2)}" ${lookOf(shape)} textLength="${width}" ` +
        `lengthAdjust="spacingAndGlyphs">${escapeXml(shape.text)}</text>`
      );
  }
}

/** @param {"fill" | "stroke"} name @param {Colour} colour */
const painted = (name, { hex, alpha }) => `${name}="${hex}" ${name}-opacity="${alpha}"`;

/** @param {Words} words */
const lookOf = ({ size, weight, colour }) =>
  `dominant-baseline="central" font-size="${size}" font-weight="${weight}" ${painted("fill", colour)}`;

/** Two buttons that save what `root` shows; `nameOf()` is the file's name without its ending. @param {HTMLElement} root @param {() => string} nameOf */
export function pictureButtons(root, nameOf) {
  const savePixels = async () => {
    const [picture, name] = [pictureOf(root), nameOf()];
    savePng(await rasterised(svgOf(picture), picture.width, picture.height), name);
  };
  return element(
    "span",
    { className: "picture-buttons", dataset: { notInPicture: "" } },
    toolButton("PNG", "Save this picture as PNG", savePixels),
    toolButton("SVG", "Save this picture as SVG", () => saveSvg(svgOf(pictureOf(root)), nameOf())),
  );
}
