// @ts-check
// Pictures as files: SVG text made safe, drawn as pixels, and handed to the person.

/** Device pixels for a CSS pixel in what is saved as PNG. */
export const PICTURE_SCALE = 2;

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

/** @param {string} text @param {string} name the file's, without its ending */
export function saveSvg(text, name) {
  saveFile(svgBlob(text), `${name}.svg`);
}

/** @param {HTMLCanvasElement} canvas @param {string} name the file's, without its ending */
export function savePng(canvas, name) {
  canvas.toBlob((blob) => blob && saveFile(blob, `${name}.png`), "image/png");
}

/** An SVG's text as pixels, drawn by the browser. @param {string} text @param {number} width @param {number} height */
export async function rasterised(text, width, height) {
  const image = new Image();
  image.src = URL.createObjectURL(svgBlob(text));
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = width * PICTURE_SCALE;
  canvas.height = height * PICTURE_SCALE;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  return canvas;
}
