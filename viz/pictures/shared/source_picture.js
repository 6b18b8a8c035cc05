// A picture that a model read, and over it what a head attends to: each position colours its rectangle of the picture.
import { clamp, contextOf, mixStops } from "./picture.js";

/**
 * Of each position left, top, right and bottom in the picture; all 0 of one that has no place there. `places` have one.
 * @typedef {{ image: OffscreenCanvas, rectangles: Uint16Array, places: number[] }} SourcePicture
 * @typedef {[x: number, y: number, width: number, height: number]} Box
 */

// So much of a rectangle's colour covers the picture below it.
const COVER = 0.68;
const SHADES = 255;

/** @param {Uint8Array} pixels red, green and blue @param {Uint16Array} rectangles @param {[width: number, height: number]} size @returns {SourcePicture} */
export function sourcePicture(pixels, rectangles, [width, height]) {
  const data = new Uint8ClampedArray(width * height * 4).fill(255);
  for (let at = 0; at < width * height; at++) data.set(pixels.subarray(at * 3, at * 3 + 3), at * 4);
  const image = new OffscreenCanvas(width, height);
  image.getContext("2d")?.putImageData(new ImageData(data, width, height), 0, 0);
  const positions = Array.from({ length: rectangles.length / 4 }, (_each, at) => at);
  return { image, rectangles, places: positions.filter((at) => hasPlace({ rectangles }, at)) };
}

/** Whether a position has a place in the picture. @param {{ rectangles: Uint16Array }} picture @param {number} position */
export const hasPlace = ({ rectangles }, position) => rectangles[position * 4 + 2] > rectangles[position * 4];

/** Where a position lies in the picture, drawn into a box. @param {SourcePicture} picture @param {number} position @param {Box} box @returns {Box} */
export function patchBox({ image, rectangles }, position, [x, y, width, height]) {
  const [left, top, right, bottom] = rectangles.subarray(position * 4, position * 4 + 4);
  const [across, down] = [width / image.width, height / image.height];
  return [x + left * across, y + top * down, (right - left) * across, (bottom - top) * down];
}

/** The largest box of the picture's shape within another one, in its middle. @param {SourcePicture} picture @param {Box} box @returns {Box} */
export function pictureWithin({ image }, [x, y, width, height]) {
  const scale = Math.min(width / image.width, height / image.height);
  const [across, down] = [image.width * scale, image.height * scale];
  return [x + (width - across) / 2, y + (height - down) / 2, across, down];
}

/** The position at a point of the picture drawn into a box; the last drawn of several, undefined where there is none. @param {SourcePicture} picture @param {number[]} places @param {Box} box @param {[x: number, y: number]} point */
export function patchAtPoint(picture, places, box, [x, y]) {
  return places.findLast((place) => {
    const [left, top, width, height] = patchBox(picture, place, box);
    return x >= left && x < left + width && y >= top && y < top + height;
  });
}

/** @type {Map<string, string[]>} */
const coloursByScale = new Map();

/** The colours of a scale as they cover a picture. @param {string[]} stops */
function coloursOf(stops) {
  const name = stops.join();
  const colours =
    coloursByScale.get(name) ??
    Array.from({ length: SHADES + 1 }, (_each, i) => `rgb(${mixStops(stops, i / SHADES).join(" ")} / ${COVER})`);
  coloursByScale.set(name, colours);
  return colours;
}

/**
 * Draw the picture into a box, and over it the share of each position that has a place, from 0 to 1, as the legend has
 * it: dark where there is none, the lighter the more.
 * @param {CanvasRenderingContext2D} context @param {SourcePicture} picture @param {Box} box
 * @param {string[]} stops @param {(position: number) => number} shareOf
 */
export function drawHeat(context, picture, box, stops, shareOf) {
  const { image } = picture;
  const colours = coloursOf(stops);
  // Small pictures are drawn so that the edges of their pixels stay sharp.
  context.imageSmoothingEnabled = image.width >= 100;
  context.drawImage(image, ...box);
  for (const place of picture.places) {
    context.fillStyle = colours[Math.round(SHADES * Math.sqrt(clamp(0, shareOf(place), 1)))];
    const [x, y, width, height] = patchBox(picture, place, box);
    // Whole pixels: between two patches there is no seam.
    const [left, top] = [Math.round(x), Math.round(y)];
    context.fillRect(left, top, Math.round(x + width) - left, Math.round(y + height) - top);
  }
}

/** A canvas with the picture as large as it was read, enlarged where it is small, and the shares over it. @param {HTMLCanvasElement} canvas @param {SourcePicture} picture @param {string[]} stops @param {(position: number) => number} shareOf @param {number} [least] its width in pixels */
export function paintHeat(canvas, picture, stops, shareOf, least = 448) {
  const times = Math.max(1, Math.ceil(least / picture.image.width));
  canvas.width = picture.image.width * times;
  canvas.height = picture.image.height * times;
  drawHeat(contextOf(canvas), picture, [0, 0, canvas.width, canvas.height], stops, shareOf);
}

/** The middle of a position. @param {SourcePicture} picture @param {number} position @returns {[x: number, y: number]} */
function middleOf({ rectangles }, position) {
  const [left, top, right, bottom] = rectangles.subarray(position * 4, position * 4 + 4);
  return [(left + right) / 2, (top + bottom) / 2];
}

/** The place nearest to a point, in pixels of the picture. @param {SourcePicture} picture @param {number[]} places @param {[x: number, y: number]} point */
export function nearestPatch(picture, places, [x, y]) {
  const far = (/** @type {number} */ place) => {
    const [across, down] = middleOf(picture, place);
    return (across - x) ** 2 + (down - y) ** 2;
  };
  return places.reduce((best, place) => (far(place) < far(best) ? place : best));
}

/** The next place in a direction, [across, down]; the same one at the edge. @param {SourcePicture} picture @param {number[]} places @param {number} from @param {[number, number]} direction */
export function nextPatch(picture, places, from, [across, down]) {
  const [x, y] = middleOf(picture, from);
  const cost = (/** @type {number} */ place) => {
    const [toX, toY] = middleOf(picture, place);
    const along = (toX - x) * across + (toY - y) * down;
    return along <= 0 ? Infinity : along + 4 * Math.abs((toX - x) * down + (toY - y) * across);
  };
  const best = places.reduce((found, place) => (cost(place) < cost(found) ? place : found));
  return cost(best) === Infinity ? from : best;
}

/** Left, top, right and bottom in pixels of the picture. @typedef {[number, number, number, number]} Area */

/** The smallest rectangle around two places. @param {SourcePicture} picture @param {number} first @param {number} second @returns {Area} */
export function areaAround({ rectangles }, first, second) {
  const [a, b] = [first, second].map((place) => rectangles.subarray(place * 4, place * 4 + 4));
  return [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[2], b[2]), Math.max(a[3], b[3])];
}

/** The places whose middle lies in a rectangle, as `patches_in` of `viz.access.texts` has them. @param {SourcePicture} picture @param {number[]} places @param {Area} area */
export function patchesIn(picture, places, [left, top, right, bottom]) {
  return places.filter((place) => {
    const [x, y] = middleOf(picture, place);
    return x >= left && x < right && y >= top && y < bottom;
  });
}
