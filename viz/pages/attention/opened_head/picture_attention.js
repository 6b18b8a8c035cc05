// A picture and, over its patches, one row of a head: a click or Enter makes the patch the query, whose row is drawn.
// Data: the payload of picture_panel.py. Sends back the trigger `query`: { query }.
import { onTold, pointAt } from "../../../pictures/shared/focus.js";
import { consume, isCombination } from "../../../pictures/shared/items.js";
import { _, sentenceParts } from "../../../pictures/shared/messages.js";
import { mount, View } from "../../../pictures/shared/mount.js";
import { formatWeight } from "../../../pictures/shared/payload.js";
import {
  button,
  clamp,
  colourBar,
  contextOf,
  element,
  mixStops,
  Tooltip,
  tokenElement,
} from "../../../pictures/shared/picture.js";
import { pictureButton } from "../../../pictures/shared/save_picture.js";

/** @import { Focus } from "../../../pictures/shared/focus.js" */

/**
 * What `pack_picture` packs.
 * @typedef {{
 *   height: number, width: number, rows: number, columns: number, firstPatch: number, tokens: string[], number: string,
 *   title: string, fileName: string, stops: string[], queryColour: string, query: number,
 * }} PictureHeader
 */

// So much of a patch's colour covers the picture below it.
const COVER = 0.68;

class PictureAttention extends View {
  /** @type {PictureHeader} */ data;
  /** @type {Float32Array} */ values;
  /** @type {ImageData} */ picture;
  /** The patch that the pointer or the keyboard is at. */
  near = 0;

  title = element("h4");
  bar = element("div", "bar");
  canvas = element("canvas");
  queryFrame = element("div", "frame query");
  nearFrame = element("div", { className: "frame near", dataset: { notInPicture: "" } });
  stage = element("div", { className: "stage", tabIndex: 0, role: "application" });
  below = element("div", "below");
  status = element("p", { className: "said muted", role: "status" });
  tooltip = new Tooltip(this.root);

  start() {
    this.stage.ariaLabel = _("Patches of the picture: arrow keys move, Enter makes one the query");
    this.stage.append(this.canvas, this.queryFrame, this.nearFrame);
    const save = pictureButton(this.root, () => this.data.fileName);
    this.root.replaceChildren(this.title, this.bar, this.stage, this.below, this.status, save, this.tooltip.box);
    this.stage.addEventListener("pointermove", (event) => this.point(event));
    this.stage.addEventListener("pointerleave", () => {
      this.leave();
      pointAt(null);
    });
    onTold("pointed", (focus) => this.framePointed(focus), this.ended.signal);
    this.stage.addEventListener("click", (event) => this.choose(this.data.firstPatch + this.patchAt(event)));
    this.stage.addEventListener("keydown", (event) => this.press(event));
  }

  /** @param {{ header: PictureHeader, arrays: [Uint8Array, Float32Array] }} payload */
  receive({ header, arrays: [pixels, values] }) {
    this.data = header;
    this.values = values;
    this.near = Math.max(0, header.query - header.firstPatch);
    this.root.style.setProperty("--query", header.queryColour);
    this.title.textContent = header.title;
    this.picture = new ImageData(new Uint8ClampedArray(header.width * header.height * 4), header.width, header.height);
    for (let at = 0; at < header.width * header.height; at++) {
      for (let part = 0; part < 3; part++) this.picture.data[at * 4 + part] = pixels[at * 3 + part];
      this.picture.data[at * 4 + 3] = 255;
    }
    this.draw();
    this.root.dataset.ready = "1";
  }

  /** Whether the rows of other queries are here, too; of a large picture they are not. */
  get hasAllRows() {
    return this.values.length > this.data.tokens.length;
  }

  /** The query's number for a token. @param {number} token */
  numberOf(token) {
    const row = this.hasAllRows ? this.data.query : 0;
    return this.values[row * this.data.tokens.length + token];
  }

  draw() {
    const { data, canvas } = this;
    const count = data.rows * data.columns;
    const numbers = Array.from({ length: count }, (_, patch) => this.numberOf(data.firstPatch + patch));
    const top = Math.max(0, ...numbers);
    // Small pictures are drawn larger, so that the edges of patches stay sharp.
    const times = Math.max(1, Math.ceil(448 / data.width));
    const small = new OffscreenCanvas(data.width, data.height);
    small.getContext("2d")?.putImageData(this.picture, 0, 0);
    canvas.width = data.width * times;
    canvas.height = data.height * times;
    const context = contextOf(canvas);
    context.imageSmoothingEnabled = data.width >= 100;
    context.drawImage(small, 0, 0, canvas.width, canvas.height);
    numbers.forEach((number, patch) => {
      const share = top ? number / top : 0;
      context.fillStyle = `rgb(${mixStops(data.stops, Math.sqrt(share)).join(" ")} / ${COVER})`;
      const [x, y, width, height] = this.boxOf(patch, canvas.width, canvas.height);
      context.fillRect(x, y, width, height);
    });
    this.drawBar();
    this.frame(this.queryFrame, data.query - data.firstPatch);
    this.leave();
    const written = (/** @type {number} */ share) => (share * top).toPrecision(2).replace(/\.?0+$/, "");
    const ticks = [0, 0.1, 0.4, 1].map((share) => /** @type {[number, string]} */ ([Math.sqrt(share), written(share)]));
    const name = _("{number} (√ scale)", { number: data.number[0].toUpperCase() + data.number.slice(1) });
    const label = _("Colour scale: {number} from 0, dark, to {top}, light", { number: data.number, top: ticks[3][1] });
    this.below.replaceChildren(colourBar(name, label, data.stops, ticks));
    // Which token looks, and how much of it goes to what has no place in the picture.
    const outside = this.specials.map((token, i) => `${token} ${formatWeight(this.numberOf(i))}`).join(", ");
    const token = tokenElement(data.tokens[data.query]);
    const sentence = outside ? _("Query {token}. Outside the picture: {outside}.") : _("Query {token}.");
    this.status.replaceChildren(...sentenceParts(sentence, { token, outside }));
  }

  /** The tokens that are no patches. */
  get specials() {
    return this.data.tokens.slice(0, this.data.firstPatch);
  }

  drawBar() {
    const choices = this.specials.map((token, i) => {
      const look = { className: "choice", ariaPressed: String(i === this.data.query) };
      return button(look, () => this.choose(i), tokenElement(token));
    });
    const muted = (/** @type {string} */ text) => element("span", "muted", text);
    this.bar.replaceChildren(...(choices.length ? [muted(_("Query")), ...choices, muted(_("or click a patch"))] : []));
  }

  /** @param {number} patch @param {number} width @param {number} height */
  boxOf(patch, width, height) {
    const { rows, columns } = this.data;
    const [row, column] = [Math.floor(patch / columns), patch % columns];
    return [(column * width) / columns, (row * height) / rows, width / columns, height / rows];
  }

  /** @param {HTMLElement} box @param {number} patch */
  frame(box, patch) {
    box.hidden = patch < 0;
    if (patch < 0) return;
    const [left, top, width, height] = this.boxOf(patch, 100, 100);
    Object.assign(box.style, { left: `${left}%`, top: `${top}%`, width: `${width}%`, height: `${height}%` });
  }

  /** @param {MouseEvent} event */
  patchAt({ clientX, clientY }) {
    const box = this.canvas.getBoundingClientRect();
    const { rows, columns } = this.data;
    const row = clamp(0, Math.floor(((clientY - box.top) / box.height) * rows), rows - 1);
    return row * columns + clamp(0, Math.floor(((clientX - box.left) / box.width) * columns), columns - 1);
  }

  /** @param {PointerEvent} event */
  point(event) {
    if (!this.data) return;
    const { title, tokens, query } = this.data;
    const patch = this.patchAt(event);
    const [token, number] = this.approach(patch);
    const place = (/** @type {number} */ at) => ({ side: "source", tokens: [at] });
    pointAt({ query: place(query), key: place(this.data.firstPatch + patch) });
    this.tooltip.show(event, title, tokens[query], token, number);
  }

  /** A patch that is pointed at elsewhere is framed here: the one looked at, or else the one that looks. @param {Focus | null} focus */
  framePointed(focus) {
    if (!this.data || this.stage.matches(":hover")) return;
    const { side, tokens: [token = -1] = [] } = focus?.key ?? focus?.query ?? {};
    this.frame(this.nearFrame, side === "source" ? token - this.data.firstPatch : -1);
  }

  /** Frame a patch; returns its token and its number. @param {number} patch */
  approach(patch) {
    this.near = patch;
    this.frame(this.nearFrame, patch);
    const token = this.data.firstPatch + patch;
    return [this.data.tokens[token], `${this.data.number} ${formatWeight(this.numberOf(token))}`];
  }

  leave() {
    this.nearFrame.hidden = true;
    this.tooltip.hide();
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const { rows, columns, firstPatch } = this.data;
    /** @type {Record<string, [number, number]>} */
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    if (isCombination(event)) return;
    if (event.key in steps) {
      const [down, across] = steps[event.key];
      const row = clamp(0, Math.floor(this.near / columns) + down, rows - 1);
      const [token, number] = this.approach(row * columns + clamp(0, (this.near % columns) + across, columns - 1));
      this.status.replaceChildren(tokenElement(token), `: ${number}`);
    } else if (event.key === "Enter" || event.key === " ") this.choose(firstPatch + this.near);
    else return;
    consume(event);
  }

  /** @param {number} query */
  choose(query) {
    // Without all rows another may have been asked for that has not come yet.
    if (this.hasAllRows && query === this.data.query) return;
    if (this.hasAllRows) {
      this.data.query = query;
      this.draw();
    } else this.frame(this.queryFrame, query - this.data.firstPatch);
    this.python.trigger("query", { query });
  }
}

export default mount(".picture-attention", PictureAttention);
