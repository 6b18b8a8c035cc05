// Shapes as plain data: at rest they are an SVG; while the picture moves they are painted on a canvas in each frame, in the
// styles that the page gives that SVG.
import { svg } from "../../../pictures/shared/drawing.js";
import { contextOf, element, zoomOf } from "../../../pictures/shared/picture.js";

/** @import { Attributes } from "../../../pictures/shared/drawing.js" */
/** Whether words begin, are centred or end at their point, how far they are turned around it, and their colour. @typedef {{ anchor?: "start" | "middle" | "end", angle?: number, ink?: string }} Placing */
/** `source`: the element that it was taken from. @typedef {{ tag: keyof SVGElementTagNameMap, look: Attributes, parts: Shape[], source?: SVGElement }} Shape */
/** Words at a point: see `written`. @typedef {{ text: string | (Node | string)[], x: number, y: number, look: string, placing?: Placing, alpha?: number, own?: Ink }} Word */
/** @typedef {{ isHidden: boolean, fill: string, stroke: string, faint: number, dash: number[], width: number, alpha: number, font: string, colour: string }} Ink `faint`: how strong its stroke is */
/** @typedef {[x: number, y: number, width: number, height: number]} Box */
/** What is painted: a path, or an image in a box. @typedef {{ path: Path2D, ink: Ink, alpha: number, width: number, image?: SVGImageElement, box: Box, reach: Box | null }} Mark `reach`: it lies within */
/** Drawings of the page. @typedef {{ x: number, y: number, marks: Mark[], words: Word[] }} Drawn */
/** Rows of a head that tell of one thing. @typedef {{ top: number, foot: number, drawn: Drawn[] }} Group */
/** All rows, in the `part` of a layer that is their head; `span`: where the weight lies that is looked at. @typedef {{ part: string, span: [number, number], groups: Record<string, Group> }} Rows */

/** @param {keyof SVGElementTagNameMap} tag @param {Attributes} look @param {Shape[]} parts @returns {Shape} */
export const shape = (tag, look, ...parts) => ({ tag, look, parts });

/** @param {Shape} shape @returns {SVGElement} */
export const inSvg = ({ tag, look, parts }) => svg(tag, look, ...parts.map(inSvg));

/** Words around the height `y`, as HTML: the text of an SVG would be laid out anew in every frame of a zoom. @param {string | (Node | string)[]} words @param {number} x @param {number} y @param {string} className @param {Placing} [placing] */
export function written(words, x, y, className, { anchor = "start", angle = 0, ink } = {}) {
  const style = `left:${x}px;top:${y}px;${angle ? `--angle:${angle}deg;` : ""}${ink ? `color:${ink}` : ""}`;
  const look = `written ${anchor} ${angle ? "turned " : ""}${className}`;
  return element("span", { className: look, style, ariaHidden: "true" }, ...[words].flat());
}

/** A drawing under its words. @param {SVGElement} drawing @param {HTMLElement[]} words */
export const underWords = (drawing, words) =>
  element("div", "under-words", drawing, element("div", "all-words", ...words));

/** What makes images of pixels. @type {CanvasRenderingContext2D | undefined} */
let painter;

/** The address of an image of these pixels, which the browser stretches. @param {Uint32Array<ArrayBuffer>} pixels @param {number} width */
export function imageAddress(pixels, width) {
  painter ??= /** @type {CanvasRenderingContext2D} */ (
    element("canvas").getContext("2d", { willReadFrequently: true })
  );
  Object.assign(painter.canvas, { width, height: pixels.length / width });
  painter.putImageData(new ImageData(new Uint8ClampedArray(pixels.buffer), width), 0, 0);
  return painter.canvas.toDataURL();
}

/** A drawing of the page as shapes. @param {Element} source @returns {Shape} */
export function fromSvg(source) {
  const look = Object.fromEntries(Array.from(source.attributes, ({ name, value }) => [name, value]));
  const tag = /** @type {keyof SVGElementTagNameMap} */ (source.tagName);
  // A drawing within the drawing counts in units of its own.
  const parts = tag === "g" ? Array.from(source.children, fromSvg) : [];
  return { tag, look, parts, source: /** @type {SVGElement} */ (source) };
}

/** Words of the page. @param {HTMLElement} span @returns {Word} */
export function fromSpan({ textContent, style, className, classList }) {
  const anchor = /** @type {const} */ (["middle", "end"]).find((name) => classList.contains(name)) ?? "start";
  const angle = parseFloat(style.getPropertyValue("--angle")) || 0;
  const [x, y] = [style.left, style.top].map(parseFloat);
  return { text: textContent ?? "", x, y, look: className, placing: { anchor, angle, ink: style.color || undefined } };
}

/** A fill that is not seen. */
const NOTHING = ["none", "rgba(0, 0, 0, 0)"];

export class Pen {
  /** What classes look like, each within those around it. @type {Map<string, Ink>} */ inks = new Map();
  probe = svg("svg", { class: "walk-probe", "aria-hidden": "true" });
  canvas = document.createElement("canvas");
  context = contextOf(this.canvas);
  /** What is painted of drawings. @type {WeakMap<Element, Pick<Drawn, "marks" | "words">>} */ drawings = new WeakMap();
  /** Of the theme in which all looks so, and its font. */ theme = "";

  /** @param {HTMLElement} holder of the drawing */
  constructor(holder) {
    this.holder = holder;
  }

  /** @param {Element} element in the page */
  inkOf(element) {
    const look = getComputedStyle(element);
    const { visibility, fill, stroke, strokeWidth, opacity, fontWeight, fontSize, fontFamily, color } = look;
    return {
      isHidden: visibility === "hidden",
      ...{ fill, stroke, colour: color, faint: Number(look.strokeOpacity) },
      dash: look.strokeDasharray.split(",").map(parseFloat).filter(Number.isFinite),
      width: stroke === "none" ? 0 : parseFloat(strokeWidth),
      alpha: Number(opacity),
      font: `${fontWeight} ${fontSize} ${fontFamily}`,
    };
  }

  /** What words look like, or a shape; `own`: an element with a colour of its own, as all have that are like it. @param {string} key @param {Element | null} [own] */
  kept(key, own = null) {
    if (own && !this.inks.has(key)) {
      const ink = this.inkOf(own);
      // One that was replaced meanwhile has no look any more.
      if (!own.isConnected) return ink;
      this.inks.set(key, ink);
    }
    if (!this.inks.has(key)) this.learn([key]);
    return /** @type {Ink} */ (this.inks.get(key));
  }

  /** See what classes look like: all at once, for the browser styles the page anew for each change of it. @param {string[]} keys */
  learn(keys) {
    const unknown = [...new Set(keys)].filter((key) => !this.inks.has(key));
    if (!unknown.length) return;
    const made = unknown.map(elementOf);
    this.probe.replaceChildren(...made.map(([outer]) => outer));
    this.holder.append(this.probe);
    made.forEach(([, inner], at) => this.inks.set(unknown[at], this.inkOf(inner)));
    this.probe.remove();
  }

  /** See what all of a drawing looks like, in the theme that is now. @param {Iterable<Shape>} shapes @param {Iterable<Word>} words */
  meet(shapes, words) {
    const { color, font } = getComputedStyle(this.holder);
    if (this.theme !== color + font) Object.assign(this, { inks: new Map(), drawings: new WeakMap() });
    this.theme = color + font;
    this.learn([...keysOf(shapes, []), ...Array.from(words, ({ look }) => `${look}|span`)]);
  }

  /** What is to be painted of a drawing of the page, as it was when it was first asked for. @param {Element} drawing */
  drawingOf(drawing) {
    const words = /** @type {Iterable<HTMLElement>} */ (drawing.parentElement?.querySelectorAll(".written") ?? []);
    let drawn = this.drawings.get(drawing);
    if (!drawn) {
      const shapes = Array.from(drawing.children, fromSvg);
      this.learn(keysOf(shapes, []));
      drawn = { marks: this.marks(shapes), words: Array.from(words, fromSpan) };
      this.drawings.set(drawing, drawn);
    }
    return drawn;
  }

  /** What is to be painted of shapes. @param {Iterable<Shape>} shapes @param {string[]} around the classes of what they are in @param {number} alpha @param {Box | null} reach of a part of the whole model @returns {Mark[]} */
  marks(shapes, around = [], alpha = 1, reach = null) {
    return Array.from(shapes).flatMap(({ tag, look, parts, source }) => {
      const classes = [...around, String(look.class ?? "")];
      const key = [...classes, tag].join("|");
      const own = look.style || look.fill ? source : null;
      const ink = this.kept(own ? `${key} ${look.fill} ${look.style}` : key, own);
      if (ink.isHidden) return [];
      const strength = alpha * ink.alpha * Number(look.opacity ?? 1);
      // Its first shape is the ground of all.
      const within = look["data-node"] && parts[0] ? boxOf(parts[0]) : reach;
      if (tag === "g") return this.marks(parts, classes, strength, within);
      const width = Number(look["stroke-width"] ?? ink.width);
      const image = source instanceof SVGImageElement ? source : undefined;
      // What is there for the pointer alone.
      if (!image && !(width && ink.stroke !== "none") && NOTHING.includes(ink.fill)) return [];
      const [box, path] = [boxOf({ look }), pathOf(tag, look)];
      return [{ path, ink, alpha: strength, width, image, box, reach: reach ?? (tag === "rect" ? box : null) }];
    });
  }

  /** @param {Mark[]} marks @param {number} [alpha] @param {(reach: Box) => boolean} [isSeen] */
  paint(marks, alpha = 1, isSeen = () => true) {
    const { context } = this;
    for (const { path, ink, alpha: own, width, image, box, reach } of marks) {
      if (reach && !isSeen(reach)) continue;
      context.globalAlpha = alpha * own;
      if (image) context.drawImage(image, ...box);
      if (ink.fill !== "none") {
        context.fillStyle = ink.fill;
        context.fill(path);
      }
      if (ink.stroke === "none" || !width) continue;
      context.globalAlpha *= ink.faint;
      context.setLineDash(ink.dash);
      context.strokeStyle = ink.stroke;
      context.lineWidth = width;
      context.stroke(path);
    }
  }

  /** Words are as large wherever they are. @param {Word} word @param {number} x @param {number} y @param {number} [alpha] */
  write({ text, look, placing = {}, alpha: part = 1, own }, x, y, alpha = 1) {
    const { context } = this;
    const ink = own ?? this.kept(`${look}|span`);
    if (ink.isHidden || alpha * part < 0.02) return;
    const { anchor = "start", angle = 0, ink: colour } = placing;
    context.save();
    context.globalAlpha = alpha * part * ink.alpha;
    context.font = ink.font;
    context.fillStyle = colour ?? ink.colour;
    context.textBaseline = "middle";
    context.textAlign = anchor === "middle" ? "center" : anchor;
    context.translate(x, y);
    context.rotate((angle * Math.PI) / 180);
    const words = [text].flat().map((part) => (typeof part === "string" ? part : part.textContent));
    context.fillText(words.join(""), 0, 0);
    context.restore();
  }
}

/** Rows of the page: drawings with their words, boxes, and other words where they stand. @param {Element[]} parts @param {HTMLElement} within @param {Pen} pen @returns {Group} */
export function groupOf(parts, within, pen) {
  const zoom = zoomOf(within);
  const origin = within.getBoundingClientRect();
  /** @param {Element | Range} part @returns {Box} */
  const placeOf = (part) => {
    const { x, y, width, height } = part.getBoundingClientRect();
    return /** @type {Box} */ ([x - origin.x, y - origin.y, width, height].map((size) => size / zoom));
  };
  const find = (/** @type {string} */ names) =>
    parts.flatMap((part) => [...(part.matches(names) ? [part] : []), ...part.querySelectorAll(names)]);
  const drawn = find(".picture svg").map((drawing) => {
    const [x, y] = placeOf(drawing);
    return { x, y, ...pen.drawingOf(drawing) };
  });
  const marks = find(".keys, .cell-chain li").map((part) => {
    const { backgroundColor: fill, borderTopColor: stroke, borderTopWidth, borderRadius } = getComputedStyle(part);
    const [box, width] = [placeOf(part), parseFloat(borderTopWidth)];
    const path = new Path2D();
    path.roundRect(...box, parseFloat(borderRadius));
    return { path, ink: { ...pen.inkOf(part), fill, stroke }, alpha: 1, width, box, reach: box };
  });
  const words = find(".key, .cell-chain :is(span, b), .number-equation").flatMap((part) => {
    const text = document.createRange();
    text.selectNodeContents(part);
    const [x, y, width, height] = placeOf(text);
    const [angle, own] = [part.closest(".leaning") ? -60 : 0, pen.inkOf(part)];
    // Words of several lines come with the scene.
    if (!angle && height > 2 * parseFloat(getComputedStyle(part).fontSize)) return [];
    const placing = { anchor: /** @type {const} */ ("middle"), angle };
    return [{ text: part.textContent ?? "", x: x + width / 2, y: y + height / 2, look: "", placing, own }];
  });
  const boxes = parts.map(placeOf);
  const [top, foot] = [Math.min(...boxes.map(([, y]) => y)), Math.max(...boxes.map(([, y, , height]) => y + height))];
  return { top, foot, drawn: [...drawn, { x: 0, y: 0, marks, words }] };
}

/** The classes of shapes, each with those around it and its tag. @param {Iterable<Shape>} shapes @param {string[]} around @returns {string[]} */
const keysOf = (shapes, around) =>
  Array.from(shapes).flatMap(({ tag, look, parts }) => {
    const own = [...around, String(look.class ?? "")];
    return [[...own, tag].join("|"), ...keysOf(parts, own)];
  });

/** An element that looks so, in those around it. @param {string} key @returns {[outer: Element, inner: Element]} */
function elementOf(key) {
  const [tag, own, ...around] = key.split("|").reverse();
  if (tag === "span") {
    const words = Object.assign(document.createElement("span"), { className: `written ${own}` });
    return [words, words];
  }
  const inner = svg(/** @type {Shape["tag"]} */ (tag), { class: own });
  return [around.reduce((within, name) => svg("g", { class: name }, within), inner), inner];
}

/** @param {Pick<Shape, "look">} shape @returns {Box} */
const boxOf = ({ look: { x = 0, y = 0, width = 0, height = 0 } }) => [
  +x,
  +y,
  Math.max(0, +width),
  Math.max(0, +height),
];

/** @param {string} tag @param {Attributes} look */
function pathOf(tag, look) {
  if (tag === "path") return new Path2D(String(look.d));
  if (tag === "line") return new Path2D(`M${look.x1} ${look.y1}L${look.x2} ${look.y2}`);
  const path = new Path2D();
  const { r = 0, rx = r, ry = r } = look;
  if (tag === "rect") path.roundRect(...boxOf({ look }), +rx);
  else if (look.cx !== undefined) path.ellipse(+look.cx, +(look.cy ?? 0), +rx, +ry, 0, 0, 2 * Math.PI);
  return path;
}
