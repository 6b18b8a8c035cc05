// Below the two strips, over the same columns: the chosen heads as lines between source and target, and the rows so far
// of the open head's self-attention.

import {
  clamp,
  contextOf,
  element,
  mixStops,
  pixelRatio,
  sizeCanvas,
  textWidth,
} from "../../../pictures/shared/picture.js";
import { FAINTEST, strength } from "../../../pictures/shared/word_links.js";
import { cellAt, columnLabels, paintCells } from "./film_strip.js";

/** @import { Tiles } from "../../../pictures/shared/head_tiles.js" */
/** @import { FilmHeads } from "./film_heads.js" */

const FAN_HEIGHT = 128;
const NARROWEST_SPACING = 10;
/** Lines of so many rows before the current one stay, fainter with every row; of each only what is strong. */
const TRAIL = 16;
const TRAIL_STRENGTH = 0.45;
const TRAIL_FROM = 0.2;
const TALLEST_TRIANGLE = 240;
const [LOWEST_ROW, HIGHEST_ROW, LOWEST_NAMED_ROW] = [2, 15, 12];
/** A longer name of a row is cut. */
const WIDEST_NAME = 200;

/** On a dark page a colour is mixed with so much white: its own would be lost there, where lines are thin and faint. */
const WHITE_ON_DARK = 0.4;

/** A colour of the form #rrggbb, lighter on a dark page. @param {string} colour @param {boolean} isDark */
export function lineColour(colour, isDark) {
  if (!isDark) return colour;
  const parts = mixStops([colour, "#ffffff"], WHITE_ON_DARK);
  return `rgb(${parts.join(" ")})`;
}

/** Whether text is light where an element stands. @param {HTMLElement} element */
function isOnDark(element) {
  const [red, green, blue] = (getComputedStyle(element).color.match(/[\d.]+/g) ?? []).map(Number);
  return red + green + blue > 382;
}

/** Mark the name of the current row, and those after it. @param {HTMLElement} names @param {number} step @param {string} now */
function markRows(names, step, now) {
  [...names.children].forEach((name, row) => {
    name.classList.toggle("future", row > step);
    name.classList.toggle(now, row === step);
  });
}

/** @param {HTMLElement} names @param {number[]} rows */
function framed(names, rows) {
  [...names.children].forEach((name, row) => name.classList.toggle("pointed", rows.includes(row)));
}

export class FilmFan {
  cell = 0;
  width = 0;
  spacing = 0;
  ratio = 1;
  title = element("figcaption", "strip-title");
  canvas = element("canvas", { className: "fan-canvas", role: "img" });

  /** `tiles` are the weights of the cross-attention. @param {Tiles} tiles @param {FilmHeads} owner */
  constructor(tiles, owner) {
    this.tiles = tiles;
    this.labels = columnLabels(owner.rowNames, "below", (row) => owner.nameOfRow(row));
    this.body = element("div", "fan-body", this.canvas, this.labels);
    this.element = element("figure", "fan", this.title, this.body);
  }

  /** Name rows that are pointed at in a frame. @param {number[]} rows */
  markRows(rows) {
    framed(this.labels, rows);
  }

  /** @param {number} cell the width of a column */
  fit(cell) {
    const { rows, columns } = this.tiles.header;
    this.cell = cell;
    // Both sentences take the same room; where tokens would touch, only the current one is named.
    this.width = columns * cell;
    this.spacing = this.width / rows;
    this.body.classList.toggle("crowded", this.spacing < NARROWEST_SPACING);
    this.body.style.setProperty("--cell", `${this.spacing}px`);
    this.ratio = Math.min(pixelRatio(this.element), 16_000 / this.width);
    sizeCanvas(this.canvas, Math.round(this.width * this.ratio), Math.round(FAN_HEIGHT * this.ratio), this.ratio);
  }

  /**
   * The lines of a step, with a trail of those before; the open head is the first of those that have a colour.
   * @param {number} step @param {number} layer @param {Map<number, string>} colours
   */
  draw(step, layer, colours) {
    markRows(this.labels, step, "now");
    const context = contextOf(this.canvas);
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.width, FAN_HEIGHT);
    const isDark = isOnDark(this.element);
    const lines = new Map([...colours].map(([head, colour]) => [head, lineColour(colour, isDark)]));
    for (let row = Math.max(0, step - TRAIL); row <= step; row++) this.drawRow(context, row, step - row, layer, lines);
    context.globalAlpha = 1;
  }

  /**
   * @param {CanvasRenderingContext2D} context @param {number} row @param {number} age @param {number} layer
   * @param {Map<number, string>} colours
   */
  drawRow(context, row, age, layer, colours) {
    const { tiles, cell, spacing } = this;
    const count = tiles.header.columns;
    const [least, fade] = age ? [TRAIL_FROM, TRAIL_STRENGTH * (1 - age / (TRAIL + 1))] : [FAINTEST, 1];
    const heads = [...colours].reverse();
    heads.forEach(([head, colour], at) => {
      const base = tiles.baseOf([layer, head]) + row * count;
      const shift = (at - (heads.length - 1) / 2) * Math.min(3, (cell * 0.6) / heads.length);
      context.strokeStyle = colour;
      for (let key = 0; key < count; key++) {
        // The upper byte is √weight, as colours are.
        const weight = ((tiles.values[base + key] >> 8) / 255) ** 2;
        if (weight < least) continue;
        const { alpha, width } = strength(weight);
        context.globalAlpha = alpha * fade;
        context.lineWidth = age ? 1 : width;
        context.beginPath();
        context.moveTo((key + 0.5) * cell + shift, 2);
        context.lineTo((row + 0.5) * spacing + shift, FAN_HEIGHT - 2);
        context.stroke();
      }
    });
  }
}

/** The names of all rows. @param {FilmHeads} owner */
function namesOf(owner) {
  const name = (/** @type {string} */ title, /** @type {number} */ row) =>
    element("span", { className: "row-name", title }, owner.nameOfRow(row));
  return element("div", "row-names", ...owner.rowNames.map(name));
}

/**
 * The width that the longest name of a row takes in pixels, at its boldest.
 * @param {string[]} names @param {HTMLElement} within
 */
export function nameWidth(names, within) {
  const font = `700 12px ${getComputedStyle(within).fontFamily}`;
  return Math.min(WIDEST_NAME, Math.ceil(Math.max(...names.map((name) => textWidth(name, font)))));
}

export class FilmTriangle {
  title = element("figcaption", "strip-title");

  /** `tiles` are the weights of the self-attention. @param {Tiles} tiles @param {Uint32Array} scale @param {FilmHeads} owner */
  constructor(tiles, scale, owner) {
    this.tiles = tiles;
    this.scale = scale;
    this.count = tiles.header.rows;
    this.names = namesOf(owner);
    const onpointermove = (/** @type {PointerEvent} */ event) => {
      const [row, key] = cellAt(event, this.canvas.getBoundingClientRect(), this.count, this.count);
      const { step, layer, head } = owner.state;
      const isWithin = row >= 0 && key >= 0 && row <= step && key <= row;
      owner.act.point(isWithin ? row : null, key, false);
      if (isWithin) owner.tell(event, tiles, layer, head, row, key);
      else owner.tooltip.hide();
    };
    const onpointerleave = () => {
      owner.act.point(null, 0, false);
      owner.tooltip.hide();
    };
    const listeners = { onpointermove, onpointerleave };
    this.canvas = element("canvas", { className: "strip-canvas", role: "img", ...listeners });
    this.body = element("div", "layer-block triangle-body", this.names, this.canvas);
    this.element = element("figure", "triangle", this.title, this.body);
  }

  /** Name rows that are pointed at in a frame. @param {number[]} rows */
  markRows(rows) {
    framed(this.names, rows);
  }

  /** Whether its rows are high enough for their names. */
  get isNamed() {
    return TALLEST_TRIANGLE / this.count >= LOWEST_NAMED_ROW;
  }

  /** @param {number} cell the width of a column */
  fit(cell) {
    const row = clamp(LOWEST_ROW, Math.min(cell, Math.floor(TALLEST_TRIANGLE / this.count)), HIGHEST_ROW);
    this.body.style.setProperty("--row", `${row}px`);
    this.body.classList.toggle("unnamed", !this.isNamed);
  }

  /** @param {number} step @param {number} layer @param {number} head */
  draw(step, layer, head) {
    const { tiles, count } = this;
    markRows(this.names, step, "chosen");
    const base = tiles.baseOf([layer, head]);
    const baseOf = (/** @type {number} */ row) => base + row * count;
    // What is not yet written is not yet there; what the causal mask hides never is.
    const visible = (/** @type {number} */ row) => (row > step ? 0 : row + 1);
    paintCells(this.canvas, this.scale, tiles.values, count, count, baseOf, visible);
  }
}
