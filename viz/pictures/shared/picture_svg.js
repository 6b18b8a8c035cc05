// A picture as SVG, from its shapes.
import { cellsAsSvg, MOST_CELLS } from "./canvas_cells.js";
import { _ } from "./messages.js";
import { escapeXml } from "./picture_file.js";

/** @import { Content } from "./canvas_cells.js" */
/** @typedef {{ hex: string, alpha: number }} Colour */
/** @typedef {{ x: number, y: number, width: number, height: number }} Box */
/** @typedef {{ text: string, size: number, weight: string, colour: Colour }} Words */
/**
 * @typedef {Box & (
 *   | Content
 *   | { kind: "text" } & Words
 *   | { kind: "turned", angle: number, across: number, down: number, length: number } & Words
 *   | { kind: "fill", colour: Colour }
 *   | { kind: "gradient", stops: string[] }
 *   | { kind: "frame", thickness: number, colour: Colour }
 * )} Shape
 */
/**
 * @typedef {{
 *   left: number, above: number, width: number, height: number, paper: string, font: string, holdsPixels: boolean,
 *   shapes: Shape[],
 * }} Picture its corner within the paper, the paper's size and colour, and whether a canvas is not drawn as cells
 */

/** What to know of a picture that is not all shapes. */
export const pixelsNote = () =>
  _("This picture is stored as pixels, because it has more than {count} cells.", {
    count: MOST_CELLS.toLocaleString("en"),
  });

/** A picture as the text of an SVG file. @param {Picture} picture */
export function svgOf({ left, above, width, height, paper, font, holdsPixels, shapes }) {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    ...(holdsPixels ? [`<desc>${escapeXml(pixelsNote())}</desc>`] : []),
    ...(paper === "none" ? [] : [`<rect width="${width}" height="${height}" fill="${paper}"/>`]),
    `<g transform="translate(${left} ${above})" font-family="${escapeXml(font)}">`,
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
        `<text transform="translate(${x} ${y}) rotate(${rounded(shape.angle)})" x="${shape.across}" y="${shape.down}" ` +
        `${lookOf(shape)} ${fitted(rounded(shape.length))}>${escapeXml(shape.text)}</text>`
      );
    case "cells": {
      const scale = `scale(${width / shape.columns} ${height / shape.rows})`;
      return `<g transform="translate(${x} ${y}) ${scale}" shape-rendering="crispEdges">${cellsAsSvg(shape.cells)}</g>`;
    }
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
      return `<text x="${x}" y="${rounded(y + height / 2)}" ${lookOf(shape)} ${fitted(width)}>${escapeXml(shape.text)}</text>`;
  }
}

// The width is given, so that a reader whose fonts are wider keeps every label in its place, and none is cut off.
const fitted = (/** @type {number} */ width) => `textLength="${width}" lengthAdjust="spacingAndGlyphs"`;

/** @param {"fill" | "stroke"} name @param {Colour} colour */
const painted = (name, { hex, alpha }) => `${name}="${hex}" ${name}-opacity="${alpha}"`;

/** @param {Words} words */
const lookOf = ({ size, weight, colour }) =>
  `dominant-baseline="central" font-size="${size}" font-weight="${weight}" ${painted("fill", colour)}`;
