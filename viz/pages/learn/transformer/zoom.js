// What makes five scenes one picture: a scene grows around the pointer until the one within it takes over, and shrinks
// until the one around it does; each fades into the other where both show the same thing.
import { consume } from "../../../pictures/shared/items.js";
import { clamp, zoomOf } from "../../../pictures/shared/picture.js";

/** @import { Point } from "../../../pictures/shared/items.js" */
/**
 * What the zoom asks of the picture: whether there is a scene within and around the shown one, and to go there; and which
 * scene stays in the page unseen, for it is large and comes back.
 * @typedef {{
 *   hasInner(): boolean, hasOuter(): boolean, goIn(point: Point, target: Element | null): void, goOut(): void,
 *   keeps(scene: Element): boolean, largest(): number,
 * }} Act `largest`: the scale beyond which a scene gives way to the one within it
 */
/** Where scenes meet: around a point; or what both show, in the one before and in the one that is shown. @typedef {Point | { before: DOMRect, shown: DOMRect }} Meeting */

/** A scene smaller than this gives way to the one around it. */
const SMALLEST = 0.55;
/** Natural logarithms of a pixel that a wheel is turned by; a turn counts for so many pixels at most. */
const [PER_PIXEL, MOST_PIXELS] = [0.008, 50];
/** How long scenes cross-fade; how long a turn that led to another scene may still go on without effect. */
const [CROSS_MS, REST_MS] = [360, 420];
/** A wheel that stands still this long has ended its turn. */
export const TURN_MS = 600;
/** What of a scene a zoom moves. */
const MOVES = "transform, opacity";
/** A pointer that moves less is a click. */
const DRAG = 4;
/** A pointer that is at most so far from a part means it. */
const NEAR = 60;

export const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export class Zoom {
  scale = 1;
  x = 0;
  y = 0;
  /** @type {HTMLElement | null} */ shown = null;
  /** The scene that was shown before, as it was seen. @type {{ element: HTMLElement, scale: number, x: number, y: number } | null} */ before =
    null;
  turnedAt = -Infinity;
  restsUntil = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */ settling;
  /** Where a drag or a pinch was last. @type {{ x: number, y: number, apart: number } | null} */ last = null;
  isDragged = false;

  /** @param {HTMLElement} holder of the scenes @param {HTMLElement} root that has the focus @param {Act} act */
  constructor(holder, root, act) {
    this.holder = holder;
    this.root = root;
    this.act = act;
    holder.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    holder.addEventListener("touchmove", (event) => this.pinch(event), { passive: false });
    holder.addEventListener("pointerdown", (event) => this.press(event));
    holder.addEventListener("pointermove", (event) => this.drag(event));
    for (const end of ["touchend", "pointerup", "pointercancel"])
      holder.addEventListener(end, () => {
        this.last = null;
      });
    holder.addEventListener(
      "click",
      (event) => {
        if (this.isDragged) consume(event);
        this.isDragged = false;
      },
      { capture: true },
    );
    // A scene that comes, or fades away, hears nothing.
    const isAside = (/** @type {Event} */ { target }) => target instanceof Element && target.closest(".walk-aside");
    for (const name of ["click", "pointermove"])
      holder.addEventListener(name, (event) => isAside(event) && consume(event), { capture: true });
  }

  // ---- what a person does ----

  /**
   * A wheel scrolls the page, as everywhere. It zooms with Ctrl (which a touch pad's pinch is too); and alone once a person
   * has clicked into a picture that the screen holds whole.
   * @param {WheelEvent} event
   */
  wheel(event) {
    const isGoingOn = event.timeStamp - this.turnedAt < TURN_MS;
    const isHeld = this.root.matches(":focus-within") && this.holder.clientHeight < innerHeight;
    const scrolls = event.target instanceof Element && event.target.closest(".number-table");
    if (!event.ctrlKey && (scrolls || !(isGoingOn || isHeld))) return;
    const pixels = clamp(-MOST_PIXELS, -event.deltaY * (event.deltaMode ? 30 : 1), MOST_PIXELS);
    // At the outermost scene what is left of a turn is the page's.
    if (!event.ctrlKey && pixels < 0 && this.scale <= 1 && !this.act.hasOuter()) return;
    event.preventDefault();
    this.turnedAt = event.timeStamp;
    this.by(Math.exp(pixels * PER_PIXEL), event, /** @type {Element | null} */ (event.target));
  }

  /** Whether a wheel is being turned. */
  get isTurned() {
    return performance.now() - this.turnedAt < TURN_MS;
  }

  /** Two fingers zoom, and move what is zoomed; one scrolls the page. @param {TouchEvent} event */
  pinch(event) {
    if (event.touches.length !== 2) return;
    event.preventDefault();
    const [a, b] = event.touches;
    const now = { x: (a.clientX + b.clientX) / 2, y: (a.clientY + b.clientY) / 2, apart: 0 };
    now.apart = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
    const { last } = this;
    this.last = now;
    if (!last?.apart) return;
    this.move(now.x - last.x, now.y - last.y);
    const over = document.elementFromPoint(now.x, now.y);
    const inner = over?.shadowRoot?.elementFromPoint(now.x, now.y) ?? over;
    this.by(now.apart / last.apart, { clientX: now.x, clientY: now.y }, inner);
  }

  /** @param {PointerEvent} event */
  press({ pointerType, button, clientX, clientY }) {
    this.isDragged = false;
    this.last = pointerType !== "touch" && button === 0 && this.scale > 1 ? { x: clientX, y: clientY, apart: 0 } : null;
  }

  /** @param {PointerEvent} event */
  drag({ pointerType, buttons, clientX, clientY }) {
    if (!this.last || pointerType === "touch") return;
    if (!buttons) {
      // It was let go elsewhere.
      this.last = null;
      this.isDragged = false;
      return;
    }
    const [dx, dy] = [clientX - this.last.x, clientY - this.last.y];
    if (!this.isDragged && Math.hypot(dx, dy) < DRAG) return;
    this.isDragged = true;
    this.last = { x: clientX, y: clientY, apart: 0 };
    this.move(dx, dy);
  }

  // ---- within a scene ----

  /** Zoom by a factor around a point; past a bound another scene takes over. @param {number} factor @param {Point} point @param {Element | null} target */
  by(factor, point, target) {
    if (!this.shown || performance.now() < this.restsUntil) return;
    const [smallest, largest] = [this.act.hasOuter() ? SMALLEST : 1, this.act.largest()];
    const wanted = this.scale * factor;
    if (wanted > largest && this.act.hasInner()) return this.leave(() => this.act.goIn(point, target));
    if (wanted < smallest && this.act.hasOuter()) return this.leave(() => this.act.goOut());
    const scale = clamp(smallest, wanted, largest);
    const [px, py] = this.local(point);
    this.x = px - ((px - this.x) * scale) / this.scale;
    this.y = py - ((py - this.y) * scale) / this.scale;
    this.scale = scale;
    this.place();
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.settle(), TURN_MS / 2);
  }

  /** A point as the holder counts pixels. @param {Point} point */
  local({ clientX, clientY }) {
    const { left, top } = this.holder.getBoundingClientRect();
    return [clientX - left, clientY - top].map((way) => way / zoomOf(this.holder));
  }

  /** @param {() => void} act */
  leave(act) {
    this.restsUntil = performance.now() + REST_MS;
    clearTimeout(this.settling);
    act();
  }

  /** @param {number} dx @param {number} dy */
  move(dx, dy) {
    if (this.scale <= 1) return;
    const zoom = zoomOf(this.holder);
    this.x += dx / zoom;
    this.y += dy / zoom;
    this.place();
  }

  /** Show the scene where it is, with no gap at a side of one that is enlarged. */
  place() {
    if (!this.shown) return;
    if (this.scale >= 1) {
      this.x = clamp(this.holder.clientWidth * (1 - this.scale), this.x, 0);
      this.y = clamp(this.holder.clientHeight * (1 - this.scale), this.y, 0);
    }
    if (isStill()) return;
    this.shown.style.willChange = MOVES;
    this.shown.style.transform = this.scale === 1 ? "" : transformOf(this);
  }

  /** After a turn: letters become sharp, and a scene that is smaller than its room fills it again. */
  settle() {
    const { shown } = this;
    if (!shown) return;
    if (this.scale > 1) shown.style.willChange = "";
    if (this.scale >= 1) return;
    const from = transformOf(this);
    this.reset();
    if (!isStill()) shown.animate([{ transform: from }, { transform: "none" }], CROSS_MS / 2);
  }

  reset() {
    Object.assign(this, { scale: 1, x: 0, y: 0 });
    // Before anybody turns the wheel: to draw a scene as a layer of its own takes longer than a frame.
    if (this.shown) Object.assign(this.shown.style, { transform: "", willChange: isStill() ? "" : MOVES, opacity: "" });
  }

  // ---- from scene to scene ----

  /** Whether no other scene comes, or fades away. */
  get isAlone() {
    return ![...this.holder.children].some((scene) => scene.classList.contains("walk-aside"));
  }

  /** Have a scene in the page, neither laid out nor seen. @param {HTMLElement} element */
  keep(element) {
    // What is in the page stays where it is, so that the browser need not lay it out again.
    if (element.parentElement === this.holder) return;
    element.classList.add("walk-kept");
    this.holder.prepend(element);
  }

  /** Have a scene laid out, but not seen. @param {HTMLElement} element */
  lay(element) {
    if (element === this.shown) return;
    for (const animation of element.getAnimations()) animation.cancel();
    element.classList.replace("walk-kept", "walk-aside");
    element.style.opacity = "0";
  }

  /** Put a scene in place of the one that is shown, which stays as it is until it has faded. @param {HTMLElement} element */
  show(element) {
    const { shown: before, scale, x, y } = this;
    for (const animation of before?.getAnimations() ?? []) animation.cancel();
    clearTimeout(this.settling);
    element.classList.remove("walk-aside");
    this.shown = element;
    this.reset();
    for (const each of [...this.holder.children]) if (each !== before && each !== element) this.drop(each);
    before?.classList.toggle("walk-aside", before !== element);
    this.before = before && before !== element ? { element: before, scale, x, y } : null;
  }

  /** Fade from the scene before into the one that is shown, where they meet; at once where they do not. @param {Meeting | null} meeting @param {boolean} isDeeper */
  cross(meeting, isDeeper) {
    const { before, shown } = this;
    this.before = null;
    if (!before || !shown) return;
    if (!meeting || isStill()) return this.drop(before.element);
    this.restsUntil = performance.now() + REST_MS;
    const [begin, end] = "before" in meeting ? this.sameTo(meeting) : this.aroundPoint(meeting, isDeeper);
    const timing = { duration: CROSS_MS, easing: "ease-in-out" };
    const come = [
      { transform: stretchOf(begin), opacity: 0 },
      { transform: stretchOf({ x: 0, y: 0, across: 1, down: 1 }), opacity: 1 },
    ];
    const { element, scale, x, y } = before;
    Object.assign(element.style, { transform: "", willChange: MOVES });
    const moved = {
      x: end.x + x * end.across,
      y: end.y + y * end.down,
      across: scale * end.across,
      down: scale * end.down,
    };
    const away = [stretchOf({ x, y, across: scale, down: scale }), stretchOf(moved)];
    // What is added, the page moves itself: the compositor would first draw it anew, as large as it becomes.
    element.animate({ transform: away }, { ...timing, composite: "add" });
    element.animate({ opacity: [1, 0] }, timing).onfinish = () => {
      if (this.shown !== element) this.drop(element);
    };
    shown.animate(come, timing);
  }

  /** How the shown scene begins and the one before ends, when both grow or shrink around a point. @param {Point} point @param {boolean} isDeeper @returns {[Stretch, Stretch]} */
  aroundPoint(point, isDeeper) {
    const [px, py] = this.local(point);
    const around = (/** @type {number} */ by) => ({ x: px * (1 - by), y: py * (1 - by), across: by, down: by });
    return [around(isDeeper ? 0.3 : 2.4), around(isDeeper ? 1.9 : 0.4)];
  }

  /** The same where both show one thing: it lies on itself in every frame. @param {{ before: DOMRect, shown: DOMRect }} meeting @returns {[Stretch, Stretch]} */
  sameTo({ before, shown }) {
    const [from, to] = [before, shown].map((rect) => {
      const [x, y] = this.local({ clientX: rect.x, clientY: rect.y });
      const zoom = zoomOf(this.holder);
      return { x, y, width: rect.width / zoom, height: rect.height / zoom };
    });
    const stretch = (/** @type {typeof from} */ a, /** @type {typeof from} */ b) => {
      const [across, down] = [b.width / (a.width || 1), b.height / (a.height || 1)];
      return { x: b.x - a.x * across, y: b.y - a.y * down, across, down };
    };
    return [stretch(to, from), stretch(from, to)];
  }

  /** @param {Element} scene that is no longer seen */
  drop(scene) {
    scene.classList.remove("walk-aside");
    if (this.act.keeps(scene)) scene.classList.add("walk-kept");
    else scene.remove();
  }
}

/** A scene moved and stretched. @typedef {{ x: number, y: number, across: number, down: number }} Stretch */

/** @param {Stretch} stretch */
const stretchOf = ({ x, y, across, down }) => `translate(${x}px, ${y}px) scale(${across}, ${down})`;

/** The box around several parts. @param {Element[]} parts */
export function boxAround(parts) {
  const boxes = parts.map((part) => part.getBoundingClientRect());
  const [left, top] = [Math.min(...boxes.map((box) => box.left)), Math.min(...boxes.map((box) => box.top))];
  const [right, bottom] = [Math.max(...boxes.map((box) => box.right)), Math.max(...boxes.map((box) => box.bottom))];
  return new DOMRect(left, top, right - left, bottom - top);
}

/** @param {{ scale: number, x: number, y: number }} place */
const transformOf = ({ scale, x, y }) => `translate(${x}px, ${y}px) scale(${scale})`;

/** @param {Element} part @returns {Point} */
export function centreOf(part) {
  const { left, top, width, height } = part.getBoundingClientRect();
  return { clientX: left + width / 2, clientY: top + height / 2 };
}

/** Of several parts the one nearest to a point, if one is near. @param {Iterable<Element>} parts @param {Point} point */
export function nearest(parts, { clientX, clientY }) {
  /** @type {Element | null} */
  let best = null;
  let least = NEAR;
  for (const part of parts) {
    const { left, right, top, bottom } = part.getBoundingClientRect();
    const away = Math.hypot(Math.max(left - clientX, 0, clientX - right), Math.max(top - clientY, 0, clientY - bottom));
    if (away < least) [best, least] = [part, away];
  }
  return best;
}
