// The picture of lines to be taken along: as primitives, then written as SVG.

import { _ } from "../../../pictures/shared/messages.js";
import { weightOf } from "../../../pictures/shared/payload.js";
import { WRITES } from "../../../pictures/shared/picture.js";
import { escapeXml } from "../../../pictures/shared/picture_file.js";
import { strength } from "../../../pictures/shared/word_links.js";
import { boxesOf, eachLine, lineEnds, shiftsOf } from "./line_scene.js";
import { isSameToken, ROLES, roleItems } from "./token_columns.js";

/** @import { RoleRun } from "../../../pictures/shared/chat_roles.js" */
/** @import { Axis } from "../../../pictures/shared/focus.js" */
/** @import { Layout, Matrix, NumberBox } from "./line_scene.js" */
/** @import { Side, Token } from "./token_columns.js" */

/**
 * @typedef {{ heads: number[], query: number | null, key: number | null, threshold: number }} LinesView what a picture shows
 * @typedef {{
 *   queryTokens: string[], keyTokens: string[], queryRoles: RoleRun[], keyRoles: RoleRun[], headNames: string[], top: number, number: string, title: string,
 *   fileName: string, colours: string[], digest: string, command: LinesView & { number: number },
 *   focus: { site: string, name: string, asks: boolean, rows: Axis, columns: Axis } | null,
 * }} LinesHeader what `pack_lines` packs
 * @typedef {{
 *   matrix: Matrix, heads: number[], least: number, focus: Token | null, layout: Layout, header: LinesHeader,
 *   ink: string, paper: string, numberOf(stored: number): string,
 * }} Drawn what is drawn, and in which colours
 * @typedef {{ kind: "text", x: number, y: number, text: string, anchor: "start" | "middle" | "end", size: number, weight: number, isTurned?: boolean, bold?: 0 | 1 }} TextItem `isTurned` runs upwards; `bold` is the part of a row's name that the row stands for
 * @typedef {{ kind: "line", x1: number, y1: number, x2: number, y2: number, colour: string, alpha: number, width: number }} LineItem
 * @typedef {TextItem | LineItem | NumberBox & { kind: "box" }} Item
 * @typedef {{ width: number, height: number, items: Item[], ink: string, paper: string }} Scene
 */

const TITLE_HEIGHT = 52;
const NAMES_AT = 44;
const BESIDE = 8;
const BOLD = 700;

/** The picture as primitives: title, both columns, lines and, where a token is kept, boxes. @param {Drawn} drawn @returns {Scene} */
export function sceneOf(drawn) {
  const { matrix, heads, least, focus, layout, header, ink, paper, numberOf } = drawn;
  const { colours, queryTokens, keyTokens } = header;
  const title = `${header.title} · ${heads.map((head) => header.headNames[head]).join(", ")}`;
  const { left, middle, right, height } = layout;
  const top = TITLE_HEIGHT;
  const { start, end } = lineEnds(layout, focus);
  const shifts = shiftsOf(heads, layout);
  /** @type {Item[]} */
  const items = [{ kind: "text", x: BESIDE, y: 20, text: title, anchor: "start", size: 13, weight: 600 }];
  eachLine(matrix, heads, least, focus, (head, query, key, stored) => {
    const { alpha, width } = strength(weightOf(stored));
    const ends = { x1: left + start, x2: left + end };
    const [y1, y2] = [query, key].map((index) => top + layout.rowCentre(index) + shifts(head));
    items.push({ kind: "line", ...ends, y1, y2, colour: colours[head % colours.length], alpha, width });
  });
  if (focus) {
    for (const box of boxesOf(matrix, heads, focus, layout, colours, numberOf)) {
      items.push({ kind: "box", ...box, x: left + box.x, y: top + box.y });
      const [x, y] = [left + box.x + box.width / 2, top + box.y + box.height / 2 + 3.5];
      if (box.text) items.push({ kind: "text", x, y, text: box.text, anchor: "middle", size: 12, weight: 400 });
    }
  }
  const label = (
    /** @type {string} */ text,
    /** @type {number} */ index,
    /** @type {Side} */ side,
    /** @type {0 | 1 | undefined} */ bold = undefined,
  ) => {
    const weight = isSameToken(focus, { side, index }) ? 700 : 400;
    const x = side === "query" ? left - 8 : left + middle + 8;
    const y = top + layout.rowCentre(index) + layout.font / 3;
    items.push({
      kind: "text",
      x,
      y,
      text,
      anchor: side === "query" ? "end" : "start",
      size: layout.font,
      weight,
      bold,
    });
  };
  const name = (/** @type {string} */ text, /** @type {number} */ x, /** @type {"start" | "end"} */ anchor) =>
    items.push({ kind: "text", x, y: NAMES_AT, text, anchor, size: 12, weight: 400 });
  name(_("query"), left - 8, "end");
  name(_("key"), left + middle + 8, "start");
  const bold = header.focus?.rows.ahead ? 1 : 0;
  queryTokens.forEach((token, index) => label(token, index, "query", bold));
  keyTokens.forEach((token, index) => label(token, index, "key"));
  const width = left + middle + right;
  items.push(...roleItems(header.queryRoles, "query", layout.row, 0, top));
  items.push(...roleItems(header.keyRoles, "key", layout.row, width - ROLES, top));
  return { width, height: top + height + 8, items, ink, paper };
}

const FONT = "'Source Sans Pro', 'Source Sans', 'DejaVu Sans', sans-serif";

/** A text in runs of one weight: of a row's name one part is bold. @param {TextItem} item @returns {[text: string, weight: number][]} */
function runsOf({ text, weight, bold }) {
  const parts = text.split(WRITES);
  if (bold === undefined || parts.length !== 2) return [[text, weight]];
  return bold
    ? [
        [parts[0] + WRITES, weight],
        [parts[1], BOLD],
      ]
    : [
        [parts[0], BOLD],
        [WRITES + parts[1], weight],
      ];
}

/** How wide a text is in the font of the picture. @param {TextItem} item */
export function widthOf(item) {
  const context = /** @type {OffscreenCanvasRenderingContext2D} */ (new OffscreenCanvas(1, 1).getContext("2d"));
  return runsOf(item).reduce((sum, [text, weight]) => {
    context.font = `${weight} ${item.size}px ${FONT}`;
    return sum + context.measureText(text).width;
  }, 0);
}

/**
 * A scene as the text of an SVG file; tokens are escaped, so that markup in them is text. Texts are given their width:
 * with another font nothing is cut off.
 * @param {Scene} scene @param {(item: TextItem) => number} measured
 */
export function svgOf(scene, measured = widthOf) {
  const n = (/** @type {number} */ number) => String(Math.round(number * 100) / 100);
  const items = scene.items.map((item) => {
    if (item.kind === "line") {
      const position = `x1="${n(item.x1)}" y1="${n(item.y1)}" x2="${n(item.x2)}" y2="${n(item.y2)}"`;
      return `<line ${position} stroke="${item.colour}" stroke-width="${n(item.width)}" stroke-opacity="${n(item.alpha)}"/>`;
    }
    if (item.kind === "box") {
      const position = `x="${n(item.x)}" y="${n(item.y)}" width="${n(item.width)}" height="${n(item.height)}"`;
      return `<rect ${position} fill="${item.colour}" fill-opacity="${n(item.alpha)}"/>`;
    }
    const length = n(Math.min(measured(item), scene.width - 2 * BESIDE));
    const fitted = `textLength="${length}" lengthAdjust="spacingAndGlyphs"`;
    const look = `font-size="${n(item.size)}" font-weight="${item.weight}" text-anchor="${item.anchor}" ${fitted}`;
    const written = runsOf(item)
      .map(([text, weight]) =>
        weight === item.weight ? escapeXml(text) : `<tspan font-weight="${weight}">${escapeXml(text)}</tspan>`,
      )
      .join("");
    const turned = item.isTurned ? ` transform="rotate(-90 ${n(item.x)} ${n(item.y)})"` : "";
    return `<text x="${n(item.x)}" y="${n(item.y)}"${turned} ${look} xml:space="preserve">${written}</text>`;
  });
  const size = `width="${n(scene.width)}" height="${n(scene.height)}" viewBox="0 0 ${n(scene.width)} ${n(scene.height)}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="${escapeXml(FONT)}" fill="${escapeXml(scene.ink)}">`,
    ...(scene.paper === "none" ? [] : [`<rect width="100%" height="100%" fill="${escapeXml(scene.paper)}"/>`]),
    ...items,
    "</svg>\n",
  ].join("\n");
}

/** The file's name, without its ending. @param {LinesHeader} header @param {number[]} heads */
export const fileNameOf = ({ headNames, fileName }, heads) =>
  headNames.length > 1 ? `${fileName}-head${heads.join("+")}` : fileName;
