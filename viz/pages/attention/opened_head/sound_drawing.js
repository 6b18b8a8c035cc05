// Draws a sound and the weights over it: waveform, spectrogram, rows of cells, the axis of seconds.
import { FULL } from "../../../pictures/shared/payload.js";
import { clamp, contextOf, element, pixelRatio, pixelScale, sizeCanvas } from "../../../pictures/shared/picture.js";

/** @import { Run } from "../../../pictures/shared/picture.js" */
/** A sound, and which share of the time that is drawn it takes. @typedef {{ samples: Int16Array, spectrogram: Uint8Array, bands: number, share: number }} Sound */
/** The weights of equal runs of the time; how far they and the stretch reach, as shares of it. @typedef {{ weights: number[], reach: number, stretch: Run }} Marks */

// Pixels of the waveform and of the spectrogram below it, as in the style sheet.
const [WAVE, MEL] = [52, 80];
// A grey that is seen on light and on dark paper.
const INK = [138, 143, 153];

/** Weights as cells, a pixel each; the page stretches them. @param {HTMLCanvasElement} canvas @param {string[]} stops @param {number} columns @param {number[]} weights */
export function paintCells(canvas, stops, columns, weights) {
  const scale = pixelScale(stops);
  const image = new ImageData(columns, weights.length / columns);
  const pixels = weights.map((weight) => scale[Math.round(Math.sqrt(clamp(0, weight, 1)) * FULL) >> 8]);
  new Uint32Array(image.data.buffer).set(pixels);
  [canvas.width, canvas.height] = [image.width, image.height];
  contextOf(canvas).putImageData(image, 0, 0);
}

/** A pixel for each row, as opaque as its weight is large; nothing of rows without one. @param {HTMLCanvasElement} canvas @param {string} colour @param {number[]} weights @param {number} rows */
export function paintTints(canvas, colour, weights, rows) {
  [canvas.width, canvas.height] = [1, rows];
  const context = contextOf(canvas);
  context.fillStyle = colour;
  for (const [row, weight] of weights.entries()) {
    context.globalAlpha = Math.sqrt(clamp(0, weight, 1));
    context.fillRect(0, row, 1, 1);
  }
}

/** Size a canvas, and draw on another one what it shows without marks. @param {HTMLCanvasElement} canvas @param {number} width @param {Sound} sound */
export function drawSound(canvas, width, { samples, spectrogram, bands, share }) {
  const ratio = pixelRatio(canvas);
  sizeCanvas(canvas, Math.round(width * ratio), (WAVE + MEL) * ratio, ratio);
  const base = new OffscreenCanvas(canvas.width, canvas.height);
  const context = /** @type {OffscreenCanvasRenderingContext2D} */ (base.getContext("2d"));
  const loudest = (/** @type {Int16Array} */ part) =>
    part.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  const [wide, tall, most] = [base.width * share, WAVE * ratio, loudest(samples) || 1];
  context.fillStyle = `rgb(${INK})`;
  for (let x = 0; x < wide; x++) {
    const [first, end] = [x, x + 1].map((pixel) => Math.ceil((pixel * samples.length) / wide));
    const height = Math.max(1, (loudest(samples.subarray(first, Math.max(end, first + 1))) / most) * tall * 0.95);
    context.fillRect(x, (tall - height) / 2, 1, height);
  }
  const columns = spectrogram.length / bands;
  const image = new ImageData(columns, bands);
  for (let at = 0; at < spectrogram.length; at++) {
    // Low bands come first, and lie at the bottom.
    const band = bands - 1 - Math.floor(at / columns);
    image.data.set([...INK, spectrogram[band * columns + (at % columns)]], at * 4);
  }
  const small = new OffscreenCanvas(columns, bands);
  small.getContext("2d")?.putImageData(image, 0, 0);
  context.drawImage(small, 0, tall, wide, MEL * ratio);
  return base;
}

/** Draw the sound, and colour it above the stretch, at each weight by its share of the largest. @param {HTMLCanvasElement} canvas @param {OffscreenCanvas} base @param {Marks | null} marks @param {string} colour */
export function markSound(canvas, base, marks, colour) {
  const context = contextOf(canvas);
  const { width, height } = canvas;
  const wave = (height * WAVE) / (WAVE + MEL);
  context.globalAlpha = 1;
  context.globalCompositeOperation = "source-over";
  context.clearRect(0, 0, width, height);
  context.drawImage(base, 0, 0);
  if (!marks) return;
  const strip = paintStrip(marks.weights, colour);
  context.imageSmoothingEnabled = false;
  // The waveform takes the colour; behind the spectrogram it is a light.
  context.globalCompositeOperation = "source-atop";
  context.drawImage(strip, 0, 0, marks.reach * width, wave);
  context.globalAlpha = 0.75;
  context.globalCompositeOperation = "destination-over";
  context.drawImage(strip, 0, wave, marks.reach * width, height - wave);
  const [from, to] = marks.stretch.map((share) => share * width);
  context.globalAlpha = 1;
  context.globalCompositeOperation = "source-over";
  context.fillStyle = colour;
  context.fillRect(from, wave - 3, to - from, 3);
}

/** A pixel for each weight: a rectangle for each would take longer than a frame. @param {number[]} weights @param {string} colour */
function paintStrip(weights, colour) {
  const strip = new OffscreenCanvas(weights.length, 1);
  const context = /** @type {OffscreenCanvasRenderingContext2D} */ (strip.getContext("2d"));
  const image = new ImageData(weights.length, 1);
  const top = Math.max(...weights) || 1;
  for (const [i, weight] of weights.entries()) image.data[4 * i + 3] = Math.sqrt(weight / top) * 255;
  context.putImageData(image, 0, 0);
  context.globalCompositeOperation = "source-in";
  context.fillStyle = colour;
  context.fillRect(0, 0, weights.length, 1);
  return strip;
}

/** As many seconds as there is room for, below a picture so wide. @param {number} seconds @param {number} width */
export function ticksOf(seconds, width) {
  const most = Math.max(2, Math.floor(width / 44));
  const step = [0.1, 0.2, 0.5, 1, 2, 5, 10].find((length) => seconds / length <= most) ?? 30;
  return Array.from({ length: Math.floor(seconds / step + 1e-6) + 1 }, (_tick, i) => {
    const share = (i * step) / seconds;
    const className = share * width > width - 10 ? "tick at-end" : "tick";
    return element("span", { className, style: `left:${share * 100}%` }, (i * step).toFixed(step < 1 ? 1 : 0));
  });
}
