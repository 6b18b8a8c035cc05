// Numbers as pixels of an image, which the browser stretches.
import { element } from "../../../pictures/shared/picture.js";

/** What makes images of pixels. @type {CanvasRenderingContext2D | undefined} */
let painter;

/** The address of an image of these pixels. @param {Uint32Array<ArrayBuffer>} pixels @param {number} width */
export function imageAddress(pixels, width) {
  painter ??= /** @type {CanvasRenderingContext2D} */ (
    element("canvas").getContext("2d", { willReadFrequently: true })
  );
  Object.assign(painter.canvas, { width, height: pixels.length / width });
  painter.putImageData(new ImageData(new Uint8ClampedArray(pixels.buffer), width), 0, 0);
  return painter.canvas.toDataURL();
}
