// @ts-check
// The button that saves what bertviz has drawn, as PNG, SVG or PDF. bertviz's shapes carry their own colours, but what the
// page's style sheet gives to text and backgrounds has to be written into the copy.
import {
  chooseHowSaved,
  printPicture,
  rasterised,
  saveButton,
  savePng,
  saveSvg,
} from "../../../pictures/shared/picture_file.js";

/** @import { Format } from "../../../pictures/shared/picture_file.js" */

const STYLED = "text, rect";
const PROPERTIES = ["fill", "font-family", "font-size", "font-weight", "text-anchor", "visibility", "opacity"];

/** The drawing with its styles. @param {Element} drawing */
function copied(drawing) {
  const { width, height } = drawing.getBoundingClientRect();
  const copy = /** @type {SVGElement} */ (drawing.cloneNode(true));
  /** @type {NodeListOf<SVGElement>} */ const twins = copy.querySelectorAll(STYLED);
  drawing.querySelectorAll(STYLED).forEach((shape, place) => {
    const style = getComputedStyle(shape);
    for (const property of PROPERTIES) twins[place].style.setProperty(property, style.getPropertyValue(property));
  });
  if (!copy.hasAttribute("viewBox")) copy.setAttribute("viewBox", `0 0 ${width} ${height}`);
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  copy.style.background = getComputedStyle(document.body).backgroundColor;
  return { width, height, text: new XMLSerializer().serializeToString(copy) };
}

/** One button, as at every picture; the page around this one has said in which format. */
export function buildSaveButton() {
  const bar = /** @type {HTMLElement} */ (document.getElementById("save"));
  chooseHowSaved(/** @type {Format} */ (bar.dataset.format), "shown");
  const save = async (/** @type {Format} */ format) => {
    const { width, height, text } = copied(/** @type {Element} */ (document.querySelector("#vis svg")));
    const name = String(bar.dataset.name);
    if (format === "SVG") saveSvg(text, name);
    else if (format === "PDF") printPicture(text, width, height, name);
    else savePng(await rasterised(text, width, height), name);
  };
  bar.append(saveButton(save));
}
