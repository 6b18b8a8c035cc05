// Pictures as files: SVG text made safe, drawn as pixels or printed, and handed to the person. What a picture lies on is
// a choice of the whole page (copy_link.js hears of it); every component is a module of its own, and here they meet.

import { outline } from "./drawing.js";
import { _ } from "./messages.js";
import { button, element, toolButton } from "./picture.js";

/** Device pixels for a CSS pixel in what is saved as PNG, as long as a browser draws a canvas of that many a side. */
const PICTURE_SCALE = 2;
const LARGEST_SIDE = 16_384;
/** Down into a tray, on a 16 × 16 field. */
const ARROW = "M8 1.5v8M4.5 6.5 8 10l3.5-3.5M2 11.5v3h12v-3";
const FORMATS = /** @type {const} */ (["PNG", "SVG", "PDF"]);

/** @typedef {"shown" | "white" | "transparent"} Paper */
/** @typedef {"PNG" | "SVG" | "PDF"} Format */
const pictures = /** @type {{ headlightPaper?: Paper, headlightFormat?: Format }} */ (globalThis);

/** What the page's menu says of all pictures. @param {Format} format @param {Paper} paper */
export function chooseHowSaved(format, paper) {
  pictures.headlightFormat = format;
  pictures.headlightPaper = paper;
}

/**
 * A button that saves a picture in the format chosen for the page; without a page, as in a notebook, it offers all three.
 * @param {(format: Format) => void} save
 */
export function saveButton(save) {
  const box = element("span", { className: "picture-buttons", dataset: { notInPicture: "" } });
  const offer = (/** @type {Format} */ format) =>
    toolButton(format, _("Save this picture as {format}", { format }), () => save(format));
  const press = () => {
    if (pictures.headlightFormat) save(pictures.headlightFormat);
    else box.replaceChildren(...FORMATS.map(offer));
  };
  const title = _("Save this picture");
  box.append(button({ className: "picture-button", title, ariaLabel: title }, press, outline(ARROW)));
  return box;
}

/** Ink and paper of a saved picture; the page's own where nothing else was chosen. @param {string} ink @param {string} paper */
export function inkAndPaper(ink, paper) {
  const chosen = pictures.headlightPaper ?? "shown";
  if (chosen === "shown") return { ink, paper, isShown: true };
  return { ink: "#000000", paper: chosen === "white" ? "#ffffff" : "none", isShown: false };
}

/** Text for SVG; markup in it stays text. @param {string} text */
export const escapeXml = (text) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** Hand a file to the person, as if they had followed a link to it. @param {Blob} blob @param {string} name */
function saveFile(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // Not at once: the browser first has to open what the address names.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

const svgBlob = (/** @type {string} */ text) => new Blob([text], { type: "image/svg+xml" });

/**
 * Save an SVG's text in a format.
 * @param {Format} format @param {string} text @param {number} width @param {number} height @param {string} name the file's, without its ending
 */
export async function saveAs(format, text, width, height, name) {
  if (format === "SVG") saveFile(svgBlob(text), `${name}.svg`);
  else if (format === "PDF") printPicture(text, width, height, name);
  else {
    const canvas = await rasterised(text, width, height);
    canvas.toBlob((blob) => blob && saveFile(blob, `${name}.png`), "image/png");
  }
}

/** An SVG's text as pixels, drawn by the browser. @param {string} text @param {number} width @param {number} height */
async function rasterised(text, width, height) {
  const image = new Image();
  image.src = URL.createObjectURL(svgBlob(text));
  await image.decode();
  const canvas = document.createElement("canvas");
  const scale = Math.min(PICTURE_SCALE, LARGEST_SIDE / Math.max(width, height));
  canvas.width = Math.floor(width * scale);
  canvas.height = Math.floor(height * scale);
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  return canvas;
}

/**
 * Print an SVG on a sheet of its size: a browser's print window saves it as PDF, with its shapes and letters as they are.
 * @param {string} text @param {number} width @param {number} height @param {string} name of the file, as the window proposes it
 */
function printPicture(text, width, height, name) {
  const frame = document.createElement("iframe");
  frame.style.cssText = "position:fixed;width:0;height:0;border:0";
  frame.ariaHidden = "true";
  frame.srcdoc = printedPage(text, width, height, name);
  frame.onload = () => {
    const printed = /** @type {Window} */ (frame.contentWindow);
    printed.onafterprint = () => frame.remove();
    printed.print();
  };
  document.body.append(frame);
}

/** A page that holds an SVG and nothing else. @param {string} text @param {number} width @param {number} height @param {string} name */
export const printedPage = (text, width, height, name) =>
  `<!doctype html><meta charset="utf-8"><title>${escapeXml(name)}</title>` +
  `<style>@page { size: ${width}px ${height}px; margin: 0 } body { margin: 0 } body > svg { display: block }</style>${text}`;
