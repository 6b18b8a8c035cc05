// What the pointer does to a matrix: click, drag a box or the matrix itself, pinch, turn the wheel.
import { clamp, element, zoomOf } from "../shared/picture.js";
import { cellAt, spanOf, zoomed } from "./matrix_view.js";

/** @import { Point } from "../shared/items.js" */
/** @import { MatrixPicture } from "./matrix.js" */
/** @import { Span, Spans } from "./matrix_view.js" */

/** @typedef {{ down: number, across: number }} Share a position from 0 to 1 within the cells, beyond them below 0 or above 1 */

// So far the pointer may tremble in a click.
const TREMBLE = 4;

export class MatrixGestures {
  /** @type {{ event: PointerEvent, spans: Spans, isMoved: boolean } | null} */ start = null;
  /** @type {Map<number, PointerEvent>} */ pointers = new Map();
  rubber = element("div", { className: "rubber", hidden: true, dataset: { notInPicture: "" } });

  /** @param {MatrixPicture} picture */
  constructor(picture) {
    this.picture = picture;
    const { stage } = picture;
    stage.addEventListener("pointerdown", (event) => this.grasp(event));
    stage.addEventListener("pointermove", (event) => this.move(event));
    stage.addEventListener("pointerup", (event) => this.release(event));
    stage.addEventListener("pointercancel", () => this.letGo());
    stage.addEventListener("pointerleave", () => picture.leave());
    stage.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  }

  /** @param {Point} point @returns {Share} */
  shareOf({ clientX, clientY }) {
    const box = this.picture.canvas.getBoundingClientRect();
    return { down: (clientY - box.top) / box.height, across: (clientX - box.left) / box.width };
  }

  /** The row and column under the pointer; beside the cells, on a label, only one of them. @param {Point} point */
  targetOf(point) {
    const { row, column } = this.picture.spans;
    const { down, across } = this.shareOf(point);
    const isWithin = (/** @type {number} */ share) => share >= 0 && share < 1;
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
    const from = this.start.event;
    const [across, down] = [event.clientX - from.clientX, event.clientY - from.clientY];
    if (Math.hypot(across, down) > TREMBLE) this.start.isMoved = true;
    if (!this.start.isMoved) return;
    // A mouse draws a box to zoom into where nothing can be moved, or with Shift.
    if (event.pointerType !== "touch" && (event.shiftKey || !this.picture.isNear)) this.stretch(from, event);
    else if (this.picture.isNear) this.pan(this.start.spans, across, down);
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

  /** Draw the box between two points. @param {Point} from @param {Point} to */
  stretch(from, to) {
    const box = this.picture.stage.getBoundingClientRect();
    const px = (/** @type {number} */ length) => `${length / zoomOf(this.picture.stage)}px`;
    Object.assign(this.rubber.style, {
      left: px(Math.min(from.clientX, to.clientX) - box.left),
      top: px(Math.min(from.clientY, to.clientY) - box.top),
      width: px(Math.abs(to.clientX - from.clientX)),
      height: px(Math.abs(to.clientY - from.clientY)),
    });
    this.rubber.hidden = false;
  }

  /** @param {Point} from @param {Point} to */
  zoomTo(from, to) {
    const [start, end] = [this.shareOf(from), this.shareOf(to)];
    const cut = (/** @type {Span} */ span, /** @type {number} */ a, /** @type {number} */ b) => {
      const [low, high] = [Math.max(0, Math.min(a, b)), Math.min(1, Math.max(a, b))];
      return spanOf(span.start + low * span.length, (high - low) * span.length, span.count);
    };
    const { row, column } = this.picture.spans;
    this.picture.see({ row: cut(row, start.down, end.down), column: cut(column, start.across, end.across) });
  }

  /** @param {Spans} spans @param {number} across @param {number} down */
  pan({ row, column }, across, down) {
    const { width, height } = this.picture.sizes ?? { width: 1, height: 1 };
    const moved = (/** @type {Span} */ span, /** @type {number} */ share) =>
      spanOf(span.start - share * span.length, span.length, span.count);
    this.picture.see({ row: moved(row, down / height), column: moved(column, across / width) });
  }

  /** @param {PointerEvent[]} before @param {PointerEvent[]} after */
  pinch([a, b], [c, d]) {
    const apart = (/** @type {Point} */ p, /** @type {Point} */ q) =>
      Math.max(1, Math.hypot(p.clientX - q.clientX, p.clientY - q.clientY));
    const middle = { clientX: (c.clientX + d.clientX) / 2, clientY: (c.clientY + d.clientY) / 2 };
    if (this.start) this.start.isMoved = true;
    this.zoom(apart(a, b) / apart(c, d), this.shareOf(middle));
  }

  /** With Ctrl, which pinching a touchpad sends too, or where the picture has the focus; else the page scrolls. @param {WheelEvent} event */
  wheel(event) {
    const { stage } = this.picture;
    const hasFocus = /** @type {ShadowRoot} */ (stage.getRootNode()).activeElement === stage;
    const isAtEnd = event.deltaY > 0 && !this.picture.isNear;
    if (!(event.ctrlKey || hasFocus) || isAtEnd) return;
    event.preventDefault();
    const { down, across } = this.shareOf(event);
    const factor = Math.exp(clamp(-0.4, event.deltaY / 300, 0.4));
    this.zoom(factor, { down: clamp(0, down, 1), across: clamp(0, across, 1) });
  }

  /** @param {number} factor @param {Share} [at] */
  zoom(factor, { down, across } = { down: 0.5, across: 0.5 }) {
    if (!this.picture.sizes) return;
    const { row, column } = this.picture.spans;
    this.picture.see({ row: zoomed(row, factor, down), column: zoomed(column, factor, across) });
  }
}
