// A picture and, over its patches, one row of a head. Beside it are the rows that have no place in it: words that are
// written, special tokens. A row that is pointed at is drawn, and a patch or a rectangle says which rows look at it.
// Data: the payload of picture_panel.py. Sends back the triggers `query`: { query } and `area`: { left, top, right, bottom }.
import { indicesOf, onTold, placeAt, placeOf, pointAt } from "../../../pictures/shared/focus.js";
import { consume, isCombination } from "../../../pictures/shared/items.js";
import { _, plural, sentenceParts } from "../../../pictures/shared/messages.js";
import { mount, View } from "../../../pictures/shared/mount.js";
import { formatWeight } from "../../../pictures/shared/payload.js";
import {
  button,
  clamp,
  colourBar,
  element,
  rowElement,
  strongestParts,
  Tooltip,
  tokenElement,
  weightSwatch,
} from "../../../pictures/shared/picture.js";
import { pictureButton } from "../../../pictures/shared/save_picture.js";
import {
  areaAround,
  hasPlace,
  nearestPatch,
  nextPatch,
  paintHeat,
  patchAtPoint,
  patchBox,
  patchesIn,
  sourcePicture,
} from "../../../pictures/shared/source_picture.js";

/** @import { Axis, Focus } from "../../../pictures/shared/focus.js" */
/** @import { Area, SourcePicture } from "../../../pictures/shared/source_picture.js" */

/**
 * @typedef {{
 *   pictureSize: [width: number, height: number], tokens: string[], rowTokens: string[], rowsWrite: boolean, rows: Axis,
 *   isSelf: boolean, showsSpecial: boolean, number: string, title: string, fileName: string, stops: string[],
 *   queryColour: string, areaColour: string, query: number, area: Area | null,
 * }} PictureHeader
 */

/** @type {Record<string, [number, number]>} */
const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

class PictureAttention extends View {
  /** @type {PictureHeader} */ data;
  /** @type {Float32Array} */ values;
  /** @type {SourcePicture} */ picture;
  /** The patches, in order. @type {number[]} */ places = [];
  /** The patch that the keyboard is at. */ near = 0;
  /** The patch that is pointed at. @type {number | null} */ patch = null;
  /** The row that is pointed at. @type {number | null} */ row = null;
  /** Where a rectangle was begun, by the pointer or the keyboard. @type {number | null} */ corner = null;
  /** Whether a rectangle is being drawn that Python has not heard of. */ isDrawn = false;

  title = element("h4");
  canvas = element("canvas");
  queryFrame = element("div", "frame query");
  areaFrame = element("div", "frame area");
  nearFrame = element("div", { className: "frame near", dataset: { notInPicture: "" } });
  stage = element("div", { className: "stage", tabIndex: 0, role: "application" });
  list = element("div", "rows");
  outside = element("div", "outside");
  below = element("div", "below");
  status = element("p", { className: "said", role: "status" });
  drawer = button({ className: "picture-button", ariaPressed: "false" }, () => this.toggleDrawing());
  tooltip = new Tooltip(this.root);

  start() {
    this.stage.ariaLabel = _(
      "Patches of the picture: arrow keys move, Enter chooses one, Shift and arrow keys draw a rectangle, Escape removes it",
    );
    this.drawer.textContent = _("Draw a rectangle");
    this.drawer.dataset.notInPicture = "";
    this.stage.append(this.canvas, this.areaFrame, this.queryFrame, this.nearFrame);
    const save = pictureButton(this.root, () => this.data.fileName);
    const beside = element("div", "beside", element("div", "picture", this.stage, this.drawer), this.list);
    const parts = [this.title, beside, this.outside, this.below, this.status, save, this.tooltip.box];
    this.root.replaceChildren(...parts);
    this.stage.addEventListener("pointerdown", (event) => this.begin(event));
    this.stage.addEventListener("pointermove", (event) => this.move(event));
    this.stage.addEventListener("pointerup", () => this.isDrawn && this.finish());
    this.stage.addEventListener("pointercancel", () => this.abandon());
    this.stage.addEventListener("pointerleave", () => this.leave());
    this.stage.addEventListener("click", (event) => this.click(event));
    this.stage.addEventListener("keydown", (event) => this.press(event));
    onTold("pointed", (focus) => this.markPointed(focus), this.ended.signal);
  }

  /** @param {{ header: PictureHeader, arrays: [Float32Array, Uint8Array, Uint16Array] }} payload */
  receive({ header, arrays: [values, pixels, rectangles] }) {
    this.data = header;
    this.values = values;
    this.picture = sourcePicture(pixels, rectangles, header.pictureSize);
    this.places = this.picture.places;
    const isPatch = header.isSelf && hasPlace(this.picture, header.query);
    this.near = isPatch ? header.query : this.places.includes(this.near) ? this.near : this.places[0];
    this.row = this.corner = null;
    this.root.style.setProperty("--query", header.queryColour);
    this.root.style.setProperty("--area", header.areaColour);
    this.title.textContent = header.title;
    this.list.replaceChildren(...this.rowButtons());
    this.draw();
    this.root.dataset.ready = "1";
  }

  /** Whether the rows of other queries are here, too; of a large picture they are not. */
  get hasAllRows() {
    return this.values.length > this.data.tokens.length || this.data.rowTokens.length === 1;
  }

  /** The row that is drawn. */
  get shown() {
    return this.row ?? this.data.query;
  }

  /** What a row gives to a token. @param {number} token @param {number} [row] */
  numberOf(token, row = this.shown) {
    return this.values[(this.hasAllRows ? row : 0) * this.data.tokens.length + token];
  }

  /** What a row gives to tokens together. @param {number[]} tokens @param {number} [row] */
  sumOf(tokens, row = this.shown) {
    return tokens.reduce((sum, token) => sum + this.numberOf(token, row), 0);
  }

  /** The rows that cannot be chosen in the picture, as buttons. */
  rowButtons() {
    const { data, picture } = this;
    const rows = data.rowTokens.map((_token, row) => row).filter((row) => !data.isSelf || !hasPlace(picture, row));
    return rows.map((row) => {
      const choice = button({ className: "choice", dataset: { row } }, () => this.choose(row), this.nameOf(row));
      choice.addEventListener("pointerenter", (event) => event.pointerType === "touch" || this.pointRow(row));
      choice.addEventListener("pointerleave", () => this.pointRow(null));
      choice.addEventListener("focus", () => this.pointRow(row));
      choice.addEventListener("blur", () => this.pointRow(null));
      return choice;
    });
  }

  /** @param {number} row */
  nameOf(row) {
    return rowElement(this.data.rowTokens[row], this.data.rowsWrite);
  }

  // ---- drawing ----

  draw() {
    const { data, picture, canvas } = this;
    const top = Math.max(0, ...this.places.map((place) => this.numberOf(place)));
    paintHeat(canvas, picture, data.stops, (place) => (top ? this.numberOf(place) / top : 0));
    this.frame(this.queryFrame, data.isSelf && hasPlace(picture, this.shown) ? this.boxOf(this.shown) : null);
    const written = (/** @type {number} */ share) => (share * top).toPrecision(2).replace(/\.?0+$/, "");
    const ticks = [0, 0.1, 0.4, 1].map((share) => /** @type {[number, string]} */ ([Math.sqrt(share), written(share)]));
    const name = _("{number} (√ scale)", { number: data.number[0].toUpperCase() + data.number.slice(1) });
    const label = _("Colour scale: {number} from 0 (dark) to {top} (light)", { number: data.number, top: ticks[3][1] });
    this.below.replaceChildren(colourBar(name, label, data.stops, ticks));
    this.outside.replaceChildren(...(data.showsSpecial ? this.outsideElements() : []));
    this.mark();
  }

  /** What has no place in the picture, by its name: how many, and what the row gives to all of them. */
  get specials() {
    /** @type {Map<string, number[]>} */
    const found = new Map();
    this.data.tokens.forEach((token, at) => {
      if (!hasPlace(this.picture, at)) found.set(token, [...(found.get(token) ?? []), at]);
    });
    return [...found].map(([token, at]) => ({
      name: at.length > 1 ? `${token} × ${at.length}` : token,
      weight: this.sumOf(at),
    }));
  }

  outsideElements() {
    return this.specials.map(({ name, weight }) => {
      const swatch = weightSwatch("swatch", this.data.stops, weight);
      return element("span", "special", swatch, tokenElement(name), ` ${formatWeight(weight)}`);
    });
  }

  /** The patches about which is asked: the one that is pointed at, or those of the rectangle. */
  get asked() {
    if (this.patch !== null) return [this.patch];
    return this.data.area ? patchesIn(this.picture, this.places, this.data.area) : [];
  }

  /** Mark what is pointed at, and the rows that look at it, and say it. */
  mark() {
    const { data, asked } = this;
    this.frame(this.nearFrame, this.patch === null ? null : this.boxOf(this.patch));
    const [left = 0, top = 0, right = 0, bottom = 0] = data.area ?? [];
    this.frame(this.areaFrame, data.area && [left, top, right - left, bottom - top]);
    for (const choice of /** @type {Iterable<HTMLElement>} */ (this.list.children)) {
      const row = Number(choice.dataset.row);
      choice.ariaPressed = String(row === data.query);
      choice.classList.toggle("pointed", row === this.row);
      const weight = asked.length && this.hasAllRows ? this.sumOf(asked, row) : 0;
      choice.style.setProperty("--weight", `${Math.sqrt(clamp(0, weight, 1)) * 100}%`);
    }
    this.say(asked);
  }

  /** @param {number[]} asked */
  say(asked) {
    const { data } = this;
    const parts = [];
    if (asked.length) {
      const rectangle = plural("the rectangle of {count} patch", "the rectangle of {count} patches", asked.length);
      const place = asked.length === 1 ? tokenElement(data.tokens[asked[0]]) : rectangle;
      const values = { query: this.nameOf(this.shown), place, weight: formatWeight(this.sumOf(asked)) };
      parts.push(...sentenceParts(_("{query} gives {weight} to {place}."), values));
      if (this.hasAllRows) parts.push(" ", ...this.lookingParts(asked));
    } else parts.push(...sentenceParts(_("Query {token}."), { token: this.nameOf(this.shown) }));
    const outside = this.specials.map(({ name, weight }) => `${name} ${formatWeight(weight)}`).join(", ");
    if (outside) parts.push(" ", _("Outside the picture: {outside}.", { outside }));
    this.status.replaceChildren(...parts);
  }

  /** The rows that look most at some patches. @param {number[]} asked */
  lookingParts(asked) {
    const weights = this.data.rowTokens.map((_token, row) => this.sumOf(asked, row));
    const tokens = strongestParts(weights, (row) => this.nameOf(row));
    return sentenceParts(_("The most weight on it comes from: {tokens}"), { tokens });
  }

  /** A patch in pixels of the picture. @param {number} patch */
  boxOf(patch) {
    return patchBox(this.picture, patch, [0, 0, ...this.data.pictureSize]);
  }

  /** @param {HTMLElement} frame @param {number[] | null} box left, top, width and height in pixels of the picture */
  frame(frame, box) {
    frame.hidden = !box;
    if (!box) return;
    for (const [at, name] of /** @type {const} */ (["left", "top", "width", "height"]).entries())
      frame.style[name] = `${(box[at] * 100) / this.data.pictureSize[at % 2]}%`;
  }

  // ---- pointing ----

  /** @param {MouseEvent} event */
  patchAt({ clientX, clientY }) {
    const box = this.canvas.getBoundingClientRect();
    const [width, height] = this.data.pictureSize;
    const x = clamp(0, ((clientX - box.left) / box.width) * width, width - 1);
    const y = clamp(0, ((clientY - box.top) / box.height) * height, height - 1);
    const point = /** @type {[number, number]} */ ([x, y]);
    const { picture, places } = this;
    return patchAtPoint(picture, places, [0, 0, width, height], point) ?? nearestPatch(picture, places, point);
  }

  /** A row in the list is pointed at, or none. @param {number | null} row */
  pointRow(row) {
    if (!this.hasAllRows) return;
    this.row = row;
    pointAt({ query: placeAt(this.data.rows, row), key: null });
    this.draw();
  }

  /** Point at a patch, here and in all pictures. @param {number | null} patch */
  approach(patch) {
    this.patch = patch;
    if (patch === null) pointAt(null);
    else {
      this.near = patch;
      pointAt({ query: placeOf(this.data.rows, this.shown), key: { side: "source", tokens: [patch] } });
    }
    this.mark();
  }

  leave() {
    this.tooltip.hide();
    if (!this.isDrawn) this.approach(null);
  }

  /** What is pointed at elsewhere is marked here: a row is drawn, a patch is framed. @param {Focus | null} focus */
  markPointed(focus) {
    if (!this.data || this.root.matches(":hover") || this.root.contains(this.focused)) return;
    const rows = this.hasAllRows ? indicesOf(this.data.rows, this.data.rowTokens.length, focus?.query ?? null) : [];
    const [row = null] = rows;
    const tokens = focus?.key?.side === "source" ? focus.key.tokens : [];
    this.patch = tokens.find((at) => this.places.includes(at)) ?? null;
    if (row === this.row) return this.mark();
    this.row = row;
    this.draw();
  }

  /** What has the focus within the component. */
  get focused() {
    const page = /** @type {Document | ShadowRoot} */ (this.root.getRootNode());
    return page.activeElement;
  }

  // ---- rectangles ----

  toggleDrawing() {
    const isOn = this.drawer.ariaPressed !== "true";
    this.drawer.ariaPressed = String(isOn);
    // Else a finger scrolls the page.
    this.stage.classList.toggle("drawing", isOn);
  }

  /** @param {PointerEvent} event */
  begin(event) {
    if (!this.data || event.button || (event.pointerType === "touch" && this.drawer.ariaPressed !== "true")) return;
    this.corner = this.patchAt(event);
    this.isDrawn = false;
  }

  /** @param {PointerEvent} event */
  move(event) {
    if (!this.data) return;
    const patch = this.patchAt(event);
    if (event.buttons & 1 && this.corner !== null && (this.isDrawn || patch !== this.corner)) {
      if (!this.isDrawn) this.stage.setPointerCapture(event.pointerId);
      return this.spread(this.corner, patch);
    }
    this.approach(patch);
    const { title, tokens, number } = this.data;
    const note = `${number} ${formatWeight(this.numberOf(patch))}`;
    this.tooltip.show(event, title, this.nameOf(this.shown), tokens[patch], note);
  }

  /** A rectangle from one patch to another, which Python does not hear of yet. @param {number} from @param {number} to */
  spread(from, to) {
    this.isDrawn = true;
    this.tooltip.hide();
    this.patch = null;
    this.data.area = areaAround(this.picture, from, to);
    this.mark();
  }

  /** The rectangle is as it is to be. */
  finish() {
    this.corner = null;
    const [left, top, right, bottom] = this.data.area ?? [0, 0, 0, 0];
    this.python.trigger("area", { left, top, right, bottom });
    // The click that follows chooses nothing.
    setTimeout(() => {
      this.isDrawn = false;
    });
  }

  abandon() {
    this.corner = null;
    if (this.isDrawn) this.finish();
  }

  // ---- choosing ----

  /** @param {MouseEvent} event */
  click(event) {
    if (this.isDrawn || !this.data) return;
    this.corner = null;
    this.choosePatch(this.patchAt(event));
  }

  /** Of a patch the row, where it has one; else it is what is asked about. @param {number} patch */
  choosePatch(patch) {
    if (this.data.isSelf) return this.choose(patch);
    this.near = patch;
    this.data.area = areaAround(this.picture, patch, patch);
    this.mark();
    this.finish();
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const { key, shiftKey } = event;
    if (isCombination(event)) return;
    if (key in DIRECTIONS) {
      const from = this.near;
      this.near = nextPatch(this.picture, this.places, from, DIRECTIONS[key]);
      this.corner = shiftKey ? (this.corner ?? from) : null;
      if (this.corner === null) {
        this.isDrawn = false;
        this.approach(this.near);
      } else this.spread(this.corner, this.near);
    } else if (key === "Enter" || key === " ") {
      if (this.isDrawn) this.finish();
      else this.choosePatch(this.near);
    } else if (key === "Escape" && this.data.area) {
      this.data.area = null;
      this.mark();
      this.finish();
    } else return;
    consume(event);
  }

  /** @param {number} query */
  choose(query) {
    // Without all rows another may have been asked for that has not come yet.
    if (this.hasAllRows && query === this.data.query) return;
    if (this.hasAllRows) {
      this.data.query = query;
      this.draw();
    } else this.frame(this.queryFrame, hasPlace(this.picture, query) ? this.boxOf(query) : null);
    this.python.trigger("query", { query });
  }
}

export default mount(".picture-attention", PictureAttention);
