// @ts-check
// An SVG drawing of the page as markup that stands on its own: its styles written into it, its pictures as cells.
import { cellsAsSvg, cellsOf } from "./canvas_cells.js";
import { contextOf, element } from "./picture.js";

const DRAWN_BY = (
  "fill fill-opacity stroke stroke-opacity stroke-width stroke-dasharray opacity font-size font-weight font-style " +
  "font-family image-rendering text-anchor dominant-baseline font-variant-numeric paint-order"
).split(" ");

/** An SVG element as markup that carries its own styles, for they stand in the component's style sheet. @param {Element} drawing */
export function drawingOf(drawing) {
  const copy = /** @type {Element} */ (drawing.cloneNode(true));
  const [originals, copies] = [drawing, copy].map((top) => [top, ...top.querySelectorAll("*")]);
  originals.forEach((original, i) => {
    const style = getComputedStyle(original);
    copies[i].removeAttribute("class");
    copies[i].setAttribute("style", DRAWN_BY.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";"));
    if (original instanceof SVGTextElement && !original.childElementCount) {
      copies[i].setAttribute("textLength", original.getComputedTextLength().toFixed(2));
      copies[i].setAttribute("lengthAdjust", "spacingAndGlyphs");
    }
    if (original instanceof SVGImageElement) copies[i].replaceWith(asCells(original) ?? copies[i]);
  });
  copy.setAttribute("overflow", "visible");
  return new XMLSerializer().serializeToString(copy);
}

/** The pixels of a PNG in an address of data: plotly paints a pixel a cell. @param {string} address */
function sizeOfPng(address) {
  const begin = "data:image/png;base64,";
  if (!address.startsWith(begin)) return null;
  // After the signature and the first chunk's head: width and height, four bytes each.
  const head = atob(address.slice(begin.length, begin.length + 32));
  const numberAt = (/** @type {number} */ at) =>
    [0, 1, 2, 3].reduce((number, next) => number * 256 + head.charCodeAt(at + next), 0);
  return [numberAt(16), numberAt(20)];
}

/** A picture within a drawing as cells, as plotly paints a heatmap; null if there are too many. @param {SVGImageElement} image */
function asCells(image) {
  const [x, y, width, height] = [image.x, image.y, image.width, image.height].map(({ baseVal }) => baseVal.value);
  const [across, down] = sizeOfPng(image.href.baseVal) ?? [Math.round(width), Math.round(height)];
  if (!across || !down) return null;
  const canvas = element("canvas", { width: across, height: down });
  const context = contextOf(canvas);
  context.imageSmoothingEnabled = false;
  context.drawImage(image, 0, 0, across, down);
  const { cells } = cellsOf(canvas);
  if (!cells) return null;
  const group = document.createElementNS("http://www.w3.org/2000/svg", "g");
  group.setAttribute("transform", `translate(${x} ${y}) scale(${width / canvas.width} ${height / canvas.height})`);
  group.setAttribute("shape-rendering", "crispEdges");
  group.innerHTML = cellsAsSvg(cells);
  return group;
}
