// @ts-check
// What the pointer does to a matrix: click, drag a box or the matrix itself, pinch, turn the wheel.
import { element } from "../shared/picture.js";
import { cellAt, spanOf, zoomed } from "./matrix_view.js";

/** @import { MatrixPicture } from "./matrix_picture.js" */
/** @import { Span } from "./matrix_view.js" */

/** @typedef {{ clientX: number, clientY: number }} Point */
/** @typedef {{ down: number, across: number }} Share places from 0 to 1 within the cells, beyond them below 0 or above 1 */

// So far the pointer may tremble in a click.
const TREMBLE = 4;

export class MatrixGestures {
  /** @type {{ event: PointerEvent, spans: { row: Span, column: Span }, isMoved: boolean } | null} */
  start = null;

  /** @param {MatrixPicture} picture */
  constructor(picture) {
    this.picture = picture;
    /** @type {Map<number, PointerEvent>} */
    this.pointers = new Map();
    this.rubber = element("div", "rubber");
    this.rubber.hidden = true;
    this.rubber.dataset.notInPicture = "";
    const { stage } = picture;
    stage.append(this.rubber);
    stage.addEventListener("pointerdown", (event) => this.grasp(event));
    stage.addEventListener("pointermove", (event) => this.move(event));
    stage.addEventListener("pointerup", (event) => this.release(event));
    stage.addEventListener("pointercancel", () => this.letGo());
    stage.addEventListener("pointerleave", () => picture.hideCell());
    stage.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  }

  /** @param {Point} event @returns {Share} */
  placesOf({ clientX, clientY }) {
    const box = this.picture.canvas.getBoundingClientRect();
    return { down: (clientY - box.top) / box.height, across: (clientX - box.left) / box.width };
  }

  /** The row and column under the pointer; beside the cells, on a label, only one of them. @param {Point} event */
  targetOf(event) {
    const { row, column } = this.picture.spans;
    const { down, across } = this.placesOf(event);
    const isWithin = (/** @type {number} */ place) => place >= 0 && place < 1;
    return {
      row: isWithin(down) && across < 1 ? cellAt(row, down) : null,
      column: isWithin(across) && down < 1 ? cellAt(column, across) : null,
    };
  }

  /** @param {PointerEvent} event */
  grasp(event) {
    if (event.button !== 0 || !this.picture.sizes) return;
    this.pointers.set(event.pointerId, event);
    this.picture.stage.setPointerCapture(event.pointerId);
    this.start = { event, spans: this.picture.spans, isMoved: this.pointers.size > 1 };
    this.picture.hideCell();
  }

  /** @param {PointerEvent} event */
  move(event) {
    if (!this.picture.sizes) return;
    const before = [...this.pointers.values()];
    if (!this.pointers.has(event.pointerId)) return this.picture.point(event);
    this.pointers.set(event.pointerId, event);
    if (!this.start) return;
    if (this.pointers.size === 2) return this.pinch(before, [...this.pointers.values()]);
    const [across, down] = [event.clientX - this.start.event.clientX, event.clientY - this.start.event.clientY];
    if (Math.hypot(across, down) > TREMBLE) this.start.isMoved = true;
    if (!this.start.isMoved) return;
    if (this.drawsBox(event)) this.stretch(this.start.event, event);
    else if (this.picture.isNear()) this.pan(this.start.spans, across, down);
  }

  /** A mouse draws a box to zoom into where nothing can be moved, or with Shift. @param {PointerEvent} event */
  drawsBox(event) {
    return event.pointerType !== "touch" && (event.shiftKey || !this.picture.isNear());
  }

  /** @param {PointerEvent} event */
  release(event) {
    const { start } = this;
    const isClick = start && !start.isMoved && this.pointers.size === 1;
    if (start && !this.rubber.hidden) this.zoomTo(start.event, event);
    this.letGo();
    if (isClick) this.picture.keep(this.targetOf(event));
  }

  letGo() {
    this.pointers.clear();
    this.start = null;
    this.rubber.hidden = true;
  }

  /** Draw the box from `from` to `event`. @param {Point} from @param {Point} event */
  stretch(from, event) {
    const box = this.picture.stage.getBoundingClientRect();
    const [left, width] = [Math.min(from.clientX, event.clientX) - box.left, Math.abs(event.clientX - from.clientX)];
    const [top, height] = [Math.min(from.clientY, event.clientY) - box.top, Math.abs(event.clientY - from.clientY)];
    const lengths = Object.entries({ left, top, width, height }).map(([name, length]) => [name, `${length}px`]);
    Object.assign(this.rubber.style, Object.fromEntries(lengths));
    this.rubber.hidden = false;
  }

  /** @param {Point} from @param {Point} to */
  zoomTo(from, to) {
    const [start, end] = [this.placesOf(from), this.placesOf(to)];
    const cut = (/** @type {Span} */ span, /** @type {number} */ a, /** @type {number} */ b) => {
      const [low, high] = [Math.max(0, Math.min(a, b)), Math.min(1, Math.max(a, b))];
      return spanOf(span.start + low * span.length, (high - low) * span.length, span.count);
    };
    const { row, column } = this.picture.spans;
    this.picture.seeSpans(cut(row, start.down, end.down), cut(column, start.across, end.across));
  }

  /** @param {{ row: Span, column: Span }} spans @param {number} across @param {number} down */
  pan({ row, column }, across, down) {
    const { width, height } = this.picture.sizes ?? { width: 1, height: 1 };
    const moved = (/** @type {Span} */ span, /** @type {number} */ by, /** @type {number} */ side) =>
      spanOf(span.start - (by / side) * span.length, span.length, span.count);
    this.picture.seeSpans(moved(row, down, height), moved(column, across, width));
  }

  /** @param {PointerEvent[]} before @param {PointerEvent[]} after */
  pinch([a, b], [c, d]) {
    const apart = (/** @type {Point} */ p, /** @type {Point} */ q) =>
      Math.max(1, Math.hypot(p.clientX - q.clientX, p.clientY - q.clientY));
    const middle = { clientX: (c.clientX + d.clientX) / 2, clientY: (c.clientY + d.clientY) / 2 };
    if (this.start) this.start.isMoved = true;
    this.zoom(apart(a, b) / apart(c, d), this.placesOf(middle));
  }

  /** With Ctrl, which pinching a touchpad sends too, or where the picture has the focus; else the page scrolls. @param {WheelEvent} event */
  wheel(event) {
    const { stage } = this.picture;
    const hasFocus = /** @type {ShadowRoot} */ (stage.getRootNode()).activeElement === stage;
    const isAtEnd = event.deltaY > 0 && !this.picture.isNear();
    if (!(event.ctrlKey || hasFocus) || isAtEnd) return;
    event.preventDefault();
    const { down, across } = this.placesOf(event);
    const inside = (/** @type {number} */ place) => Math.min(1, Math.max(0, place));
    const factor = Math.exp(Math.max(-0.4, Math.min(0.4, event.deltaY / 300)));
    this.zoom(factor, { down: inside(down), across: inside(across) });
  }

  /** @param {number} factor @param {Share} [at] */
  zoom(factor, { down, across } = { down: 0.5, across: 0.5 }) {
    if (!this.picture.sizes) return;
    const { row, column } = this.picture.spans;
    this.picture.seeSpans(zoomed(row, factor, down), zoomed(column, factor, across));
  }
}
