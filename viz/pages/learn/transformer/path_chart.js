// The path of a token as a drawing: for each stage, how long every vector is that its parts add to the residual stream,
// and behind them how long the stream is then.
import { ofSize, svg } from "../../../pictures/shared/drawing.js";
import { underWords, written } from "./shapes.js";

/**
 * What a part adds: `share` is how much of the sum it makes up, `stream` how long the stream is after it.
 * @typedef {{ stage: number, kind: string, label: string, length: number, share: number | null, stream: number }} Part
 * @typedef {{ left: number, width: number, first: number, end: number }} StageBox where a stage stands, and which parts it has: [first, end)
 */

const HEIGHT = 190;
const [LEFT, TOP, BOTTOM] = [40, 20, 4];
/** Bars at most so wide; shares are written above bars of at least this width. */
const [WIDEST, NUMBERED] = [46, 34];
/** Room of a stage beside its bars, in bars. */
const MARGIN = 0.6;

/**
 * Where the stages stand; one without parts, the output, is as wide as one with one.
 * @param {Part[]} parts @param {number} stages @param {number} width @returns {StageBox[]}
 */
export function stageBoxes(parts, stages, width) {
  const counts = Array.from({ length: stages }, (_item, stage) => parts.filter((part) => part.stage === stage).length);
  const units = counts.map((count) => Math.max(1, count) + MARGIN);
  // While a page is made narrow, there is a moment without room.
  const unit = Math.max(0, width - LEFT) / units.reduce((sum, each) => sum + each, 0);
  let [left, first] = [LEFT, 0];
  return counts.map((count, stage) => {
    const box = { left, width: units[stage] * unit, first, end: first + count };
    left += box.width;
    first += count;
    return box;
  });
}

/** About four round numbers from 0 to `top`. @param {number} top */
export function roundTicks(top) {
  const raw = top / 4;
  const power = 10 ** Math.floor(Math.log10(raw || 1));
  const step = ([1, 2, 5, 10].find((digit) => digit * power >= raw) ?? 10) * power;
  return Array.from({ length: Math.floor(top / step) + 1 }, (_, i) => Number((i * step).toPrecision(6)));
}

/** @param {number | null} share */
export const shareText = (share) => (share === null ? "" : `${Math.round(100 * share)}%`.replace("-", "−"));

/**
 * @param {{ parts: Part[], boxes: StageBox[], width: number, open: number, colours: Record<string, string>, label: string }} what
 */
export function pathChart({ parts, boxes, width, open, colours, label }) {
  const top = Math.max(...parts.flatMap(({ length, stream }) => [length, stream]), 1e-9);
  const y = (/** @type {number} */ value) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top);
  const root = svg("svg", { ...ofSize(width, HEIGHT), role: "img", "aria-label": label });
  boxes.forEach(({ left, width: room }, stage) => {
    const className = stage === open ? "ground open" : "ground";
    root.append(svg("rect", { x: left, y: 0, width: room, height: HEIGHT, class: className, "data-stage": stage }));
  });
  const ticks = roundTicks(top);
  for (const tick of ticks)
    root.append(svg("line", { class: "grid-line", x1: LEFT, x2: width, y1: y(tick), y2: y(tick) }));
  const bars = boxes.flatMap((box, stage) => barsOf(parts, box, stage, y, colours));
  root.append(streamArea(bars, boxes, y, width), ...bars.map(({ shape }) => shape));
  const marks = ticks.map((tick) => written(String(tick), LEFT - 6, y(tick), "tick", { anchor: "end" }));
  return underWords(root, [...marks, ...bars.flatMap(({ words }) => words)]);
}

/**
 * @param {Part[]} parts @param {StageBox} box @param {number} stage @param {(value: number) => number} y
 * @param {Record<string, string>} colours
 */
function barsOf(parts, { left, width, first, end }, stage, y, colours) {
  const count = Math.max(1, end - first);
  const slot = width / (count + MARGIN);
  const thick = Math.min(WIDEST, slot * 0.72);
  return parts.slice(first, end).map((part, i) => {
    const from = left + slot * (i + MARGIN / 2);
    const x = from + (slot - thick) / 2;
    const box = { x, y: y(part.length), width: thick, height: y(0) - y(part.length), rx: 2 };
    const look = { fill: colours[part.kind], class: "bar", "data-part": first + i, "data-stage": stage };
    const share = slot >= NUMBERED ? shareText(part.share) : "";
    const words = share && written(share, x + thick / 2, y(part.length) - 8, "share", { anchor: "middle" });
    return { from, to: from + slot, stream: part.stream, shape: svg("rect", { ...box, ...look }), words: words || [] };
  });
}

/**
 * The length of the stream as steps, each from its part to the next one.
 * @param {{ from: number, to: number, stream: number }[]} bars @param {StageBox[]} boxes
 * @param {(value: number) => number} y @param {number} width
 */
function streamArea(bars, boxes, y, width) {
  const points = bars.map(({ from, stream }, i) => {
    const to = bars[i + 1]?.from ?? width;
    return `L ${i ? from : boxes[0].left} ${y(stream)} L ${to} ${y(stream)}`;
  });
  const d = `M ${boxes[0].left} ${y(0)} ${points.join(" ")} L ${width} ${y(0)} Z`;
  return svg("path", { d, class: "stream" });
}
