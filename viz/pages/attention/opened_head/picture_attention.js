// @ts-check
// A picture and, over its patches, one row of a head: a click or Enter makes the patch the query, whose row is drawn.
// Data: the payload of picture_component.py. Sends back the trigger `query`: { query }.
import { mount } from "../../../components/shared/mount.js";
import { formatWeight } from "../../../components/shared/payload.js";
import {
  colourBar,
  contextOf,
  element,
  pixelScale,
  Tooltip,
  tokenElement,
} from "../../../components/shared/picture.js";
import { pictureButtons } from "../../../components/shared/save_picture.js";

/** @import { Python } from "../../../components/shared/mount.js" */

/**
 * What `pack_picture` packs.
 * @typedef {{
 *   height: number, width: number, rows: number, columns: number, firstPatch: number, tokens: string[], number: string,
 *   title: string, fileName: string, stops: string[], queryColour: string, query: number,
 * }} PictureHeader
 */

// So much of a patch's colour covers the picture below it.
const COVER = 0.68;

class PictureAttention {
  /** @type {PictureHeader} */
  data;
  /** @type {Float32Array} */
  values;
  /** @type {ImageData} */
  picture;
  /** The patch that the pointer or the keyboard is at. */
  near = 0;

  /** @param {HTMLElement} root @param {Python} python */
  constructor(root, python) {
    this.root = root;
    this.python = python;
    this.title = element("h4");
    this.bar = element("div", "bar");
    this.stage = element("div", "stage");
    this.stage.tabIndex = 0;
    this.stage.setAttribute("role", "application");
    this.canvas = element("canvas");
    this.queryFrame = element("div", "frame query");
    this.nearFrame = element("div", "frame near");
    this.nearFrame.dataset.notInPicture = "";
    this.stage.append(this.canvas, this.queryFrame, this.nearFrame);
    this.below = element("div", "below");
    this.said = element("p", "said muted");
    this.said.setAttribute("role", "status");
    root.replaceChildren(
      this.title,
      this.bar,
      this.stage,
      this.below,
      this.said,
      pictureButtons(root, () => this.data.fileName),
    );
    this.tooltip = new Tooltip(root);
    this.stage.addEventListener("pointermove", (event) => this.point(event));
    this.stage.addEventListener("pointerleave", () => this.leave());
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
    this.stage.setAttribute("aria-label", "Patches of the picture: arrow keys move, Enter makes one the query");
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
    const patches = data.rows * data.columns;
    let top = 0;
    for (let patch = 0; patch < patches; patch++) top = Math.max(top, this.numberOf(data.firstPatch + patch));
    // Small pictures are drawn larger, so that the edges of patches stay sharp.
    const times = Math.max(1, Math.ceil(448 / data.width));
    const small = new OffscreenCanvas(data.width, data.height);
    small.getContext("2d")?.putImageData(this.picture, 0, 0);
    canvas.width = data.width * times;
    canvas.height = data.height * times;
    const context = contextOf(canvas);
    context.imageSmoothingEnabled = data.width >= 100;
    context.drawImage(small, 0, 0, canvas.width, canvas.height);
    const scale = new Uint8Array(pixelScale(data.stops).buffer);
    for (let patch = 0; patch < patches; patch++) {
      const level = top ? Math.round(255 * Math.sqrt(this.numberOf(data.firstPatch + patch) / top)) : 0;
      const [red, green, blue] = scale.subarray(level * 4, level * 4 + 3);
      context.fillStyle = `rgb(${red} ${green} ${blue} / ${COVER})`;
      const [x, y, width, height] = this.boxOf(patch, canvas.width, canvas.height);
      context.fillRect(x, y, width, height);
    }
    this.drawBar();
    this.frame(this.queryFrame, data.query - data.firstPatch);
    this.leave();
    /** @type {[number, string][]} */
    const ticks = [0, 0.1, 0.4, 1].map((share) => [
      Math.sqrt(share),
      (share * top).toPrecision(2).replace(/\.?0+$/, ""),
    ]);
    const name = `${data.number[0].toUpperCase()}${data.number.slice(1)} (√ scale)`;
    const said = `Colour scale: ${data.number} from 0, dark, to ${ticks[3][1]}, light`;
    this.below.replaceChildren(colourBar(name, said, data.stops, ticks));
    this.said.replaceChildren(...this.sentence());
  }

  /** Which token looks, and how much of it goes to what has no place in the picture. */
  sentence() {
    const { data } = this;
    const specials = data.tokens
      .slice(0, data.firstPatch)
      .map((token, place) => `${token} ${formatWeight(this.numberOf(place))}`);
    const outside = specials.length ? ` Outside the picture: ${specials.join(", ")}.` : "";
    return ["Query ", tokenElement(data.tokens[data.query]), `.${outside}`];
  }

  drawBar() {
    const { data } = this;
    const specials = data.tokens.slice(0, data.firstPatch).map((token, place) => {
      const button = element("button", "choice");
      button.type = "button";
      button.append(tokenElement(token));
      button.setAttribute("aria-pressed", String(place === data.query));
      button.addEventListener("click", () => this.choose(place));
      return button;
    });
    this.bar.replaceChildren(...(specials.length ? [element("span", "muted", "Query")] : []), ...specials);
    if (specials.length) this.bar.append(element("span", "muted", "or click a patch"));
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
    const place = (/** @type {number} */ at, /** @type {number} */ count) =>
      Math.min(count - 1, Math.max(0, Math.floor(at * count)));
    return place((clientY - box.top) / box.height, rows) * columns + place((clientX - box.left) / box.width, columns);
  }

  /** @param {PointerEvent} event */
  point(event) {
    if (!this.data) return;
    const patch = this.patchAt(event);
    this.near = patch;
    this.frame(this.nearFrame, patch);
    const { data } = this;
    const token = data.firstPatch + patch;
    const note = `${data.number} ${formatWeight(this.numberOf(token))}`;
    this.tooltip.show(event, data.title, data.tokens[data.query], data.tokens[token], note);
  }

  leave() {
    this.nearFrame.hidden = true;
    this.tooltip.hide();
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const { rows, columns, firstPatch, tokens } = this.data;
    const [row, column] = [Math.floor(this.near / columns), this.near % columns];
    /** @type {Record<string, [number, number]>} */
    const targets = {
      ArrowLeft: [row, column - 1],
      ArrowRight: [row, column + 1],
      ArrowUp: [row - 1, column],
      ArrowDown: [row + 1, column],
    };
    const moved = targets[event.key];
    if (event.altKey || event.metaKey || event.ctrlKey) return;
    if (moved) {
      const within = (/** @type {number} */ at, /** @type {number} */ count) => Math.min(count - 1, Math.max(0, at));
      this.near = within(moved[0], rows) * columns + within(moved[1], columns);
      this.frame(this.nearFrame, this.near);
      const token = firstPatch + this.near;
      this.said.replaceChildren(
        tokenElement(tokens[token]),
        `: ${this.data.number} ${formatWeight(this.numberOf(token))}`,
      );
    } else if (event.key === "Enter" || event.key === " ") this.choose(firstPatch + this.near);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {number} query */
  choose(query) {
    if (query === this.data.query) return;
    if (this.hasAllRows) {
      this.data.query = query;
      this.draw();
    } else this.frame(this.queryFrame, query - this.data.firstPatch);
    this.python.trigger("query", { query });
  }
}

export default mount(".picture-attention", PictureAttention);
