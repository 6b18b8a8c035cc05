// Lines painted between the columns: all of them once, and above them those of one token.

import { FULL, weightOf } from "../../../pictures/shared/payload.js";
import { contextOf, element, pixelRatio, sizeCanvas } from "../../../pictures/shared/picture.js";
import { strength } from "../../../pictures/shared/word_links.js";
import { boxesOf, eachLine, lineEnds, shiftsOf } from "./line_scene.js";

/** @import { Layout, Matrix, NumberBox } from "./line_scene.js" */
/** @import { Token } from "./token_columns.js" */

/** √ values are drawn in so many steps of strength: lines of one step share paths. */
const STEPS = 32;
/** Measured: with fewer lines a path there are many calls, with more the browser sorts ever more edges. */
const LINES_A_PATH = 16;
/** Browsers refuse canvases much taller than this; a longer picture is drawn less fine. */
const TALLEST_CANVAS = 16000;

/** @typedef {{ head: number, from: number, to: number }} Line */

/** @param {CanvasRenderingContext2D} context @param {Line[]} lines @param {number} start @param {number} end */
function strokeAll(context, lines, start, end) {
  for (let first = 0; first < lines.length; first += LINES_A_PATH) {
    context.beginPath();
    for (const { from, to } of lines.slice(first, first + LINES_A_PATH)) {
      context.moveTo(start, from);
      context.lineTo(end, to);
    }
    context.stroke();
  }
}

/**
 * Draw lines into a canvas context whose unit is a CSS pixel; returns how many there are.
 * @param {CanvasRenderingContext2D} context @param {Matrix} matrix @param {number[]} heads @param {number} least
 * @param {Token | null} focus @param {Layout} layout @param {string[]} colours
 */
function strokeLines(context, matrix, heads, least, focus, layout, colours) {
  const { start, end } = lineEnds(layout, focus);
  const shifts = shiftsOf(heads, layout);
  /** @type {Line[][]} */ const lines = Array.from({ length: STEPS }, () => []);
  let count = 0;
  eachLine(matrix, heads, least, focus, (head, query, key, stored) => {
    const line = { head, from: layout.rowCentre(query) + shifts(head), to: layout.rowCentre(key) + shifts(head) };
    lines[Math.min(STEPS - 1, Math.floor((stored * STEPS) / FULL))].push(line);
    count++;
  });
  // Weak lines first, so that strong ones lie on top.
  lines.forEach((ofStep, step) => {
    const { alpha, width } = strength(((step + 0.5) / STEPS) ** 2);
    context.globalAlpha = alpha;
    context.lineWidth = width;
    for (const head of heads) {
      context.strokeStyle = colours[head % colours.length];
      const ofHead = ofStep.filter((line) => line.head === head);
      strokeAll(context, ofHead, start, end);
    }
  });
  context.globalAlpha = 1;
  return count;
}

/** Paint boxes with their numbers. @param {CanvasRenderingContext2D} context @param {NumberBox[]} boxes @param {string} ink @param {string} font */
function paintBoxes(context, boxes, ink, font) {
  context.font = font;
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (const box of boxes) {
    context.globalAlpha = box.alpha;
    context.fillStyle = box.colour;
    context.fillRect(box.x, box.y, box.width, box.height);
    if (!box.text) continue;
    context.globalAlpha = 1;
    context.fillStyle = ink;
    context.fillText(box.text, box.x + box.width / 2, box.y + box.height / 2 + 0.5);
  }
  context.globalAlpha = 1;
}

/**
 * Lines, boxes and their numbers as SVG, for a saved picture.
 * @param {Matrix} matrix @param {number[]} heads @param {number} least @param {Token | null} focus
 * @param {Layout} layout @param {string[]} colours @param {(stored: number) => string} numberOf @param {string} ink
 */
export function linesAsSvg(matrix, heads, least, focus, layout, colours, numberOf, ink) {
  const { start, end } = lineEnds(layout, focus);
  const shifts = shiftsOf(heads, layout);
  const n = (/** @type {number} */ number) => Number(number.toFixed(2));
  /** @type {string[]} */
  const drawn = [];
  eachLine(matrix, heads, least, focus, (head, query, key, stored) => {
    const { alpha, width } = strength(weightOf(stored));
    const [y1, y2] = [query, key].map((index) => n(layout.rowCentre(index) + shifts(head)));
    const stroke = `stroke="${colours[head % colours.length]}" stroke-width="${n(width)}" stroke-opacity="${n(alpha)}"`;
    drawn.push(`<line x1="${n(start)}" y1="${y1}" x2="${n(end)}" y2="${y2}" ${stroke}/>`);
  });
  for (const box of focus ? boxesOf(matrix, heads, focus, layout, colours, numberOf) : []) {
    const [x, y, width, height] = [box.x, box.y, box.width, box.height].map(n);
    const fill = `fill="${box.colour}" fill-opacity="${n(box.alpha)}"`;
    drawn.push(`<rect x="${x}" y="${y}" width="${width}" height="${height}" ${fill}/>`);
    const place = `x="${n(box.x + box.width / 2)}" y="${n(box.y + box.height / 2)}" dominant-baseline="central"`;
    if (box.text) drawn.push(`<text ${place} text-anchor="middle" font-size="12" fill="${ink}">${box.text}</text>`);
  }
  return drawn.join("");
}

export class LineCanvas {
  base = element("canvas", "layer");
  top = element("canvas", "layer");
  element = element("div", "middle", this.base, this.top);
  /** @type {CanvasRenderingContext2D} */ context;
  isEmpty = true;

  /**
   * All lines, painted once; returns how many there are.
   * @param {Matrix} matrix @param {number[]} heads @param {number} least @param {Layout} layout @param {string[]} colours
   */
  paintAll(matrix, heads, least, layout, colours) {
    const count = strokeLines(sized(this.base, layout), matrix, heads, least, null, layout, colours);
    this.context = sized(this.top, layout);
    this.isEmpty = true;
    return count;
  }

  /**
   * The lines of one token instead, and a box a head beside every token of the other column.
   * @param {Matrix} matrix @param {number[]} heads @param {number} least @param {Token | null} focus
   * @param {Layout} layout @param {string[]} colours @param {(stored: number) => string} numberOf
   */
  paintToken(matrix, heads, least, focus, layout, colours, numberOf) {
    this.base.style.visibility = focus ? "hidden" : "visible";
    if (!this.isEmpty) this.context.clearRect(0, 0, layout.middle, layout.height);
    this.isEmpty = !focus;
    if (!focus) return;
    strokeLines(this.context, matrix, heads, least, focus, layout, colours);
    const { color, fontFamily } = getComputedStyle(this.element);
    paintBoxes(this.context, boxesOf(matrix, heads, focus, layout, colours, numberOf), color, `12px ${fontFamily}`);
  }
}

/** The context of a canvas as large as the middle. @param {HTMLCanvasElement} canvas @param {Layout} layout */
function sized(canvas, { middle, height }) {
  const ratio = Math.min(pixelRatio(canvas), TALLEST_CANVAS / height);
  sizeCanvas(canvas, Math.round(middle * ratio), Math.round(height * ratio), ratio);
  const context = contextOf(canvas);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}
