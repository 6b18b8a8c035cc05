// What makes five scenes one picture: turned by the wheel, or led by a click, a scene unfolds into the one within it, or folds
// into the one around it, as far as the wheel says, and back again. A layer is painted in every frame as far as it is opened
// (`unfolding.js`); the rows of a head lie in their place in it, and on one another.
import { consume } from "../../../pictures/shared/items.js";
import { clamp, zoomOf } from "../../../pictures/shared/picture.js";
import { boxesOf, eased, moved, Unfolding } from "./unfolding.js";

/** @import { Point } from "../../../pictures/shared/items.js" */
/** @import { Opening } from "./unfolding.js" */
/**
 * What the zoom asks of the picture: whether there is a scene within and around the shown one, and to go there; to be again
 * where it came from; how high the drawing is; and which scene stays in the page unseen, for it is large and comes back.
 * @typedef {{
 *   hasInner(): boolean, hasOuter(): boolean, goIn(point: Point, target: Element | null): void, goOut(): void, back(): void,
 *   height(): number, keeps(scene: Element): boolean,
 * }} Act
 */
/** One thing in the scene before and in the shown one, there where the pointer keeps its place. @typedef {{ before: DOMRect, shown: DOMRect }} Pair */

/** Natural logarithms of a pixel that a wheel is turned by; a turn counts for so many pixels at most. */
const [PER_PIXEL, MOST_PIXELS] = [0.008, 50];
/** Twice as large so often is the whole way to the next scene; from this part of it on a turn that ends goes on to it. */
const [WHOLE_WAY, GOES_ON] = [Math.log(4), 0.25];
/** How fast a scene follows the wheel, in milliseconds, and a click. */
const [FOLLOWS_MS, LEADS_MS] = [70, 95];
/** How long the numbers of a place may take before a turn is forgotten; and a turn rests where it has come to a scene. */
const [WAITS_MS, RESTS_MS] = [2_000, 250];
/** A wheel that stands still this long has ended its turn. */
export const TURN_MS = 600;
/** A page that was scrolled so lately is still being scrolled. */
const SCROLL_MS = 250;
/** How long a scene takes into its frame, once the wheel stands still. */
const SLIDE_MS = 220;
/** A pointer that is at most so far from a part means it. */
const NEAR = 60;

export const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export class Zoom {
  /** @type {HTMLElement | null} */ shown = null;
  /** The scene that was shown before. @type {HTMLElement | null} */ before = null;
  /** How far the way from that one is, where it leads. @type {{ far: number, to: number, isDeeper: boolean, offset: { x: number, y: number }, at: number, ms: number } | null} */ way =
    null;
  /** What a wheel asks for while the next scene is not yet there. @type {{ point: Point, to: number, isDeeper: boolean, until: number } | null} */ turn =
    null;
  turnedAt = -Infinity;
  scrolledAt = -Infinity;
  restsUntil = -Infinity;
  /** @type {ReturnType<typeof setTimeout> | undefined} */ settling;
  /** Where a pinch was last: how far two fingers are apart. */ apart = 0;

  /** @param {HTMLElement} holder of the scenes @param {HTMLElement} root that has the focus @param {AbortSignal} signal of its end @param {Act} act */
  constructor(holder, root, signal, act) {
    this.holder = holder;
    this.unfolding = new Unfolding(holder);
    this.root = root;
    this.act = act;
    holder.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    const pinch = (/** @type {TouchEvent} */ event) => this.pinch(event);
    holder.addEventListener("touchmove", pinch, { passive: false });
    for (const name of /** @type {const} */ (["touchstart", "touchend", "touchcancel"]))
      holder.addEventListener(name, ({ touches }) => {
        this.apart = 0;
        // Where a finger began hears of it to the end, in the page or not: a scene may go meanwhile.
        if (touches.length === 2)
          for (const { target } of touches)
            target.addEventListener("touchmove", /** @type {EventListener} */ (pinch), { passive: false });
      });
    const note = (/** @type {Event} */ { timeStamp }) => {
      this.scrolledAt = timeStamp;
    };
    document.addEventListener("wheel", note, { passive: true, signal });
    // A scene that comes, or fades away, or is painted elsewhere than it lies, hears nothing.
    const isAside = (/** @type {Event} */ { target }) =>
      target instanceof Element && target.closest(".walk-aside, .painted");
    for (const name of ["click", "pointermove"])
      holder.addEventListener(name, (event) => isAside(event) && consume(event), { capture: true });
  }

  // ---- what a person does ----

  /**
   * A wheel scrolls the page, as everywhere. It zooms with Ctrl (which a touch pad's pinch is too); and alone once a person
   * has clicked into a drawing that the screen holds whole, unless the page is being scrolled.
   * @param {WheelEvent} event
   */
  wheel(event) {
    const isGoingOn = event.timeStamp - this.turnedAt < TURN_MS;
    const isHeld = this.root.matches(":focus-within") && this.act.height() < innerHeight;
    const isScrolling = event.timeStamp - this.scrolledAt < SCROLL_MS;
    const scrolls = event.target instanceof Element && event.target.closest(".number-table");
    if (!event.ctrlKey && (scrolls || !(isGoingOn || (isHeld && !isScrolling)))) return;
    const pixels = clamp(-MOST_PIXELS, -event.deltaY * (event.deltaMode ? 30 : 1), MOST_PIXELS);
    // At the outermost scene what is left of a turn is the page's.
    if (!event.ctrlKey && pixels < 0 && !this.way && !this.waits && !this.act.hasOuter()) return;
    consume(event);
    this.turnedAt = event.timeStamp;
    this.by(Math.exp(pixels * PER_PIXEL), event, /** @type {Element | null} */ (event.target));
  }

  /** Whether a turn waits for the next scene. */
  get waits() {
    return this.turn !== null && performance.now() < this.turn.until;
  }

  /** Whether a wheel is being turned. */
  get isTurned() {
    return performance.now() - this.turnedAt < TURN_MS;
  }

  /** Two fingers zoom; one scrolls the page. @param {TouchEvent} event */
  pinch(event) {
    if (event.touches.length !== 2) return;
    event.preventDefault();
    const [a, b] = event.touches;
    const { apart: last } = this;
    this.apart = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
    if (!last || last === this.apart) return;
    const middle = { clientX: (a.clientX + b.clientX) / 2, clientY: (a.clientY + b.clientY) / 2 };
    const over = document.elementFromPoint(middle.clientX, middle.clientY);
    const inner = over?.shadowRoot?.elementFromPoint(middle.clientX, middle.clientY) ?? over;
    this.turnedAt = performance.now();
    this.by(this.apart / last, middle, inner);
  }

  /** Zoom by a factor around a point. @param {number} factor @param {Point} point @param {Element | null} target */
  by(factor, point, target) {
    const far = Math.log(factor) / WHOLE_WAY;
    const { way, turn } = this;
    if (way) way.to = clamp(0, way.to + (way.isDeeper ? far : -far), 1);
    else if (turn && this.waits) turn.to = Math.max(0, turn.to + (turn.isDeeper ? far : -far));
    else if (performance.now() > this.restsUntil && (far > 0 ? this.act.hasInner() : this.act.hasOuter())) {
      this.turn = { point, to: Math.abs(far), isDeeper: far > 0, until: performance.now() + WAITS_MS };
      if (far > 0) this.act.goIn(point, target);
      else this.act.goOut();
    }
    this.settleSoon();
  }

  settleSoon() {
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.settle(), TURN_MS / 2);
  }

  /** After a turn: the nearer scene, within its frame. */
  settle() {
    const { way } = this;
    if (way) Object.assign(way, { to: way.to >= GOES_ON ? 1 : 0, ms: LEADS_MS });
    else if (!this.turn) this.slide();
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
    element.classList.replace("walk-kept", "walk-aside");
    // Not 0: what cannot be seen at all is not painted ahead.
    element.style.opacity = "0.01";
  }

  /** Put a scene in place of the one that is shown, which stays as it is until it has faded. @param {HTMLElement} element */
  show(element) {
    if (this.way) this.end();
    const { shown: before } = this;
    element.classList.remove("walk-aside", "walk-kept");
    Object.assign(element.style, { transform: "", opacity: "" });
    this.shown = element;
    for (const each of [...this.holder.children]) if (each !== before && each !== element) this.drop(each);
    before?.classList.toggle("walk-aside", before !== element);
    this.before = before !== element ? before : null;
  }

  /** Lead from the scene before to the one that is shown: at once, or frame by frame. @param {boolean} fades @param {boolean} isDeeper @param {Opening | null} [opening] @param {number} [fell] how much lower the scene before was, a moment ago */
  cross(fades, isDeeper, opening = null, fell = 0) {
    const { before, shown, turn, waits } = this;
    this.turn = null;
    // One turn leads one depth, at once too.
    if (isStill()) this.restsUntil = performance.now() + TURN_MS;
    if (!before || !shown || !fades || isStill()) return this.end();
    const isTurned = turn !== null && waits;
    let offset = { x: 0, y: 0 };
    if (opening) {
      const { machine, closed, opened } = opening;
      const [from, to] = isDeeper ? [closed, opened] : [opened, closed];
      const begin = moved(from, { x: 0, y: fell });
      const there = boxesOf(to, this.holder);
      const pairs = [...boxesOf(begin, this.holder)].flatMap(([name, before]) => {
        const shown = there.get(name);
        return shown ? [{ before, shown }] : [];
      });
      if (isTurned) offset = offsetAt(turn.point, pairs);
      const end = moved(to, offset);
      const ends = isDeeper ? { closed: begin, opened: end } : { closed: end, opened: begin };
      this.unfolding.begin({ machine, ...ends });
    }
    for (const scene of [before, shown]) scene.classList.add("crossing", ...(opening ? ["painted"] : []));
    const [to, ms] = isTurned ? [Math.min(turn.to, 1), FOLLOWS_MS] : [1, LEADS_MS];
    const way = { far: 0, to, isDeeper, offset, at: performance.now(), ms };
    this.way = way;
    if (isTurned) this.settleSoon();
    this.place();
    const next = (/** @type {number} */ now) => {
      if (this.way !== way) return;
      // A frame that comes late makes no leap.
      const passed = clamp(4, now - way.at, 34);
      way.at = now;
      way.far += (way.to - way.far) * (1 - Math.exp(-passed / way.ms));
      if (Math.abs(way.to - way.far) < 0.004) way.far = way.to;
      if (way.far === 1) return this.end();
      if (way.far === 0 && way.to === 0 && !this.isTurned) return this.goBack();
      this.place();
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  }

  /** Show both scenes as far as the way is. */
  place() {
    const { way, before, shown } = this;
    if (!way || !before || !shown) return;
    const { far, isDeeper, offset } = way;
    const isPainted = this.unfolding.way !== null;
    if (isPainted) this.unfolding.paint(isDeeper ? far : 1 - far);
    shown.style.opacity = isPainted ? "" : String(eased(0.1, 0.6, far));
    before.style.opacity = isPainted ? "" : String(1 - eased(0.5, 0.95, far));
    // What is not painted is where the scene will be: not where the pointer keeps the layer, or where that is still higher.
    const isElsewhere = isPainted && (!isDeeper || offset.x !== 0 || offset.y !== 0);
    shown.classList.toggle("crossing", isElsewhere || far < 0.85);
  }

  /** The way is at its end: the scene before is gone. */
  end() {
    const { way, before, shown, holder } = this;
    const { height } = holder.getBoundingClientRect();
    const zoom = zoomOf(holder);
    this.leave();
    if (before) this.drop(before);
    this.before = null;
    if (!way || !shown || isStill()) return this.slide();
    this.restsUntil = performance.now() + RESTS_MS;
    // Till it slides into its frame, the page stays where it is scrolled to.
    holder.style.minHeight = `${height / zoom}px`;
    const [x, y] = [way.offset.x / zoom, way.offset.y / zoom];
    shown.style.transform = `translate(${x}px, ${y}px)`;
    for (const part of stuck(shown)) part.style.bottom = `${y}px`;
    if (!this.isTurned || (!x && !y)) this.slide();
    else this.settleSoon();
  }

  /** The way was gone back: the scene before is shown again. */
  goBack() {
    const { before, shown } = this;
    this.leave();
    if (!before || !shown) return;
    before.classList.remove("walk-aside");
    this.shown = before;
    this.before = null;
    // What was drawn to come after it does not come either.
    for (const each of [...this.holder.children]) if (each !== before) this.drop(each);
    this.slide();
    this.act.back();
  }

  /** Nothing moves any more. */
  leave() {
    this.unfolding.end();
    for (const scene of [this.before, this.shown]) {
      scene?.classList.remove("crossing", "painted");
      if (scene) scene.style.opacity = "";
    }
    this.way = null;
  }

  /** Into its frame goes what the pointer has kept outside. */
  slide() {
    const { shown, holder } = this;
    if (!shown || !holder.style.minHeight) return;
    const before = shown.getBoundingClientRect();
    shown.style.transform = holder.style.minHeight = "";
    for (const part of stuck(shown)) part.style.bottom = "";
    const { x: left, y: top } = shown.getBoundingClientRect();
    const [x, y] = [before.x - left, before.y - top].map((way) => way / zoomOf(holder));
    if (isStill() || (!x && !y)) return;
    const timing = { duration: SLIDE_MS, easing: "ease-in-out" };
    shown.animate([{ transform: `translate(${x}px, ${y}px)` }, { transform: "none" }], timing);
    for (const part of stuck(shown)) part.animate([{ bottom: `${y}px` }, { bottom: "0" }], timing);
  }

  /** @param {Element} scene that is no longer seen */
  drop(scene) {
    scene.classList.remove("walk-aside");
    if (this.act.keeps(scene)) scene.classList.add("walk-kept");
    else scene.remove();
  }
}

/** What of a scene stays at the foot of the window, which does not hear of a transform. @param {HTMLElement} scene @returns {Iterable<HTMLElement>} */
const stuck = (scene) => scene.querySelectorAll(".head-rows > .keys");

/** How far the shown scene has to lie aside so that what was under a point still is. @param {Point} point @param {Pair[]} pairs */
function offsetAt({ clientX, clientY }, pairs) {
  const isOver = (/** @type {Pair} */ { before: box }) => clientY >= box.top && clientY < box.bottom;
  const { before, shown } = pairs.find(isOver) ?? pairs[0] ?? {};
  if (!before || !shown) return { x: 0, y: 0 };
  const [across, down] = [(clientX - before.x) / (before.width || 1), (clientY - before.y) / (before.height || 1)];
  // Beside what opens, nothing is under the point.
  const isIn = (/** @type {number} */ part) => part >= 0 && part <= 1;
  return {
    x: isIn(across) ? clientX - shown.x - across * shown.width : 0,
    y: isIn(down) ? clientY - shown.y - down * shown.height : 0,
  };
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
