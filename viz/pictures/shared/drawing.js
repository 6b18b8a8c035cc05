// What pictures of shapes are made with: SVG elements, icons, and colours with the ink that can be read on them.
import { clamp, mixStops } from "./picture.js";

/** @typedef {{ stops: string[], dark: string, pale: string }} InkedScale hex stops, and the inks for light and dark ones */
/** @typedef {Record<string, string | number | undefined>} Attributes */

/** @template {keyof SVGElementTagNameMap} Tag @param {Tag} tag @param {Attributes} [attributes] @param {(Node | string)[]} contents */
export function svg(tag, attributes = {}, ...contents) {
  const created = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) created.setAttribute(name, String(value));
  created.append(...contents);
  return created;
}

/** The size of a drawing of which a unit is a pixel. @param {number} width @param {number} height */
export const ofSize = (width, height) => ({ width, height, viewBox: `0 0 ${width} ${height}` });

/** A drawing on a 16 × 16 field. @param {string} d @param {Attributes} [look] of its path */
export const outline = (d, look) =>
  svg("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, svg("path", { d, ...look }));

/** The colour at `position` in [0, 1] of a scale, and an ink that is seen on it. @param {InkedScale} scale @param {number} position */
export function colourAt({ stops, dark, pale }, position) {
  const rgb = mixStops(stops, clamp(0, position, 1));
  // Relative luminance, near enough; at 0.179 black and white stand out equally.
  const [red, green, blue] = rgb.map((part) => (part / 255) ** 2.2);
  const isLight = 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179;
  return { fill: `rgb(${rgb.join(",")})`, ink: isLight ? dark : pale };
}

/** Outlines on a 16 × 16 field; the characters ⏮ ⏭ are missing from many fonts. */
const ICONS = {
  first: "M3 3h2v10H3zM13 3v10L6 8z",
  back: "M10 2.8 11.5 4.3 7.8 8l3.7 3.7L10 13.2 4.8 8z",
  forward: "M6 2.8 4.5 4.3 8.2 8l-3.7 3.7L6 13.2 11.2 8z",
  play: "M4 2.2v11.6L13.4 8z",
  pause: "M3.6 2.5h3v11h-3zM9.4 2.5h3v11h-3z",
  last: "M11 3h2v10h-2zM3 3v10l7-5z",
};

/** @param {keyof typeof ICONS} name */
export const icon = (name) => outline(ICONS[name]);
