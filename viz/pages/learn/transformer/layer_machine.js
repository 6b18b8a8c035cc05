// Draws an opened layer over the columns of tokens: one stratum for each head, with a river of weights into the token that is
// followed, and the feed-forward network over that token alone. An open head's rows replace its stratum, between the drawing
// above and the one below.
import { svg } from "../../../pictures/shared/drawing.js";
import { closest, hearItems } from "../../../pictures/shared/items.js";
import { _ } from "../../../pictures/shared/messages.js";
import { clamp, element, tokenElement, zoomOf } from "../../../pictures/shared/picture.js";
import { shortened } from "./lit_tokens.js";
import { inColumn, kindsOf } from "./machine_drawing.js";
import { BESIDE_FROM, LYING_FROM, mixed, openLayer, STACKED_BELOW } from "./machine_layout.js";
import { isNormed, LEAST_WEIGHT, normRing, river, stream, wedge } from "./machine_shapes.js";
import { shortWeight } from "./row_pictures.js";
import { inSvg, shape, underWords, written } from "./shapes.js";

/** @import { OpenBody, OpenLayer, Stratum } from "./machine_layout.js" */
/** @import { Placing, Shape, Word } from "./shapes.js" */
/** @import { Lying } from "./unfolding.js" */
/** @import { Stack } from "./walk.js" */
/** @typedef {import("./walk.js").Walk} Walk */
/** What is drawn, each part with where it reaches. @typedef {{ parts: { top: number, foot: number, shape: Shape }[], words: Word[] }} Drawing */

/** From this height on a stratum has words. */
const NAMED_FROM_HEIGHT = 13;
const NORM_BAR = 34;
/** A stratum that is higher opens into rows; so much higher its river is gone. */
const [HIGHEST_STRATUM, ROWS_FROM] = [40, 160];

/** How far the rows of a head stand in its place, which is so high. @param {number} height */
export const openedOf = (height) => clamp(0, (height - HIGHEST_STRATUM) / ROWS_FROM, 1);

const TITLES = () => ({
  self: _("Self-attention"),
  cross: _("Cross-attention"),
  feed_forward: _("Feed-forward: only this token"),
});

export class LayerMachine {
  element = element("div", "layer-machine");
  /** @type {Drawing} */ drawing = { parts: [], words: [] };
  /** @type {OpenLayer} */ placed;

  /** @param {Walk} walk @param {HTMLElement | null} [rows] of the open head, where that is opened */
  constructor(walk, rows = null) {
    this.walk = walk;
    this.rows = rows;
    this.place = { ...walk.state };
    this.element.role = "group";
    this.element.ariaLabel = _("One layer, opened: columns are tokens, heads are stacked");
    this.columns = walk.columns;
    this.stack = walk.columns.stackOf(walk.state.site);
    hearItems(this.element, ".stratum", {
      point: (item, event) => this.tell(item, event),
      leave: () => walk.tooltip.hide(),
      choose: (item) => this.open(item),
      press: (item, key) => this.step(item, key),
    });
    this.element.addEventListener("into", (event) => {
      const item = closest(event, ".stratum");
      if (!item || this.rows) return;
      this.open(item);
      event.preventDefault();
    });
  }

  get column() {
    return this.place.row - this.stack.first;
  }

  /** The followed token is in sight in a picture that is wider than the page. */
  arrive() {
    if (this.placed.width > this.walk.width) this.element.scrollLeft = this.x(this.column) - this.walk.width * 0.7;
  }

  /** @param {string} kind */
  siteOf(kind) {
    return this.columns.sites.get(`${this.stack.name}.${kind}`);
  }

  /** Its layout: with rows, as high as these are or with none in the place of the open head. @param {number} rows @returns {OpenLayer} */
  layOut(rows) {
    const { layer, head } = this.place;
    const kinds = kindsOf(this.columns, this.stack)[layer] ?? [];
    const keys = this.siteOf("cross")?.keys.tokens.length ?? 0;
    const [, open] = this.place.site.split(".");
    const room = { width: this.walk.width, columns: this.stack.tokens.length, keys, heads: this.heads };
    return openLayer(kinds, { ...room, open, head, far: this.rows ? 1 : 0, rows });
  }

  get heads() {
    return { self: this.siteOf("self")?.heads, cross: this.siteOf("cross")?.heads };
  }

  /** Where it lies in the page, its rows included, if it is the layer of another machine. @param {LayerMachine} other @returns {Lying | undefined} */
  lies({ stack, place }) {
    if (stack !== this.stack || place.layer !== this.place.layer) return;
    const placed = this.rows ? this.layOut(this.rows.offsetHeight) : this.placed;
    return { placed, x: this.beginning, y: this.element.getBoundingClientRect().y };
  }

  /** Where it begins on the screen, though that may be scrolled out of sight. */
  get beginning() {
    return this.element.getBoundingClientRect().x - this.element.scrollLeft * zoomOf(this.element);
  }

  draw() {
    this.placed = this.layOut(0);
    const { strata, top = 0 } = this.placed.bodies.find(({ kind }) => this.place.site.endsWith(`.${kind}`)) ?? {};
    const cut = (this.rows && strata?.[this.place.head]?.top) ?? top;
    const drawing = this.drawn(this.placed);
    const { height } = this.placed;
    const cuts = this.rows ? [0, cut, height] : [0, height];
    /** @type {HTMLElement[]} */
    const pictures = cuts.slice(1).map((foot, at) => this.picture(drawing, cuts[at], foot));
    if (this.rows) pictures.splice(1, 0, this.rows);
    this.element.classList.toggle("scrolls", this.placed.width > this.walk.width);
    this.element.replaceChildren(...pictures);
  }

  /** The layer as it is laid out. @param {OpenLayer} placed */
  drawn(placed) {
    const { placed: own, stack } = this;
    this.placed = placed;
    this.drawing = { parts: [], words: [] };
    const { pitch, bodies, tokens, height } = placed;
    const light = { x: this.x(this.column) - pitch * 0.48, width: pitch * 0.96, y: 0, height: tokens };
    this.put(0, tokens, shape("rect", { ...light, class: "model-lit" }));
    for (const body of bodies) if (body.strata.length) this.slab(body);
    stack.tokens.forEach((_token, column) => this.stream(column));
    // From above to below, as the keys lead and a page is read.
    for (const body of [...bodies].reverse())
      if (body.kind === "feed_forward") this.network(body);
      else this.strata(body);
    for (const body of bodies) this.joint(body);
    if (height - tokens > NAMED_FROM_HEIGHT)
      stack.tokens.forEach((token, column) =>
        this.name(token, this.x(column), tokens + 6, pitch, column === this.column),
      );
    this.placed = own;
    return this.drawing;
  }

  /** @param {Drawing} drawing @param {number} top @param {number} foot */
  picture({ parts, words }, top, foot) {
    const { width, height } = this.placed;
    const look = { width, height: foot - top, viewBox: `0 ${top} ${width} ${foot - top}` };
    const within = parts.filter((part) => part.top < foot && part.foot > top);
    const own = words.filter(({ y }) => top <= y && (y < foot || foot === height));
    return underWords(
      svg("svg", look, ...within.map((part) => inSvg(part.shape))),
      own.map(({ text, x, y, look, placing }) => written(text, x, y - top, look, placing)),
    );
  }

  /** A part, from its top to its foot. @param {number} top @param {number} foot @param {Shape} shape */
  put(top, foot, shape) {
    this.drawing.parts.push({ top, foot, shape });
  }

  /** @param {number} column */
  x(column) {
    return this.placed.left + (column + 0.5) * this.placed.pitch;
  }

  /** Where a key of a body stands: those of the memory share the width of the tower. @param {string} kind @param {number} key */
  keyX(kind, key) {
    const { left, pitch } = kind === "cross" ? this.placed.memory : this.placed;
    return left + (key + 0.5) * pitch;
  }

  /** @param {number | undefined} norm */
  half(norm) {
    return Math.max(1, (this.columns.share(norm) * Math.min(this.placed.pitch, 60) * 0.6) / 2);
  }

  /** @param {OpenBody} body */
  slab({ kind, top, foot }) {
    const { left, pitch, columns } = this.placed;
    const box = { x: left - 3, y: top, width: pitch * columns + 6, height: foot - top, rx: 8 };
    this.put(top, foot, shape("rect", { ...box, class: `model-slab ${kind}` }));
  }

  /** Under rows. @param {OpenLayer} placed @param {number} top @param {number} foot */
  ground({ left, pitch, columns }, top, foot) {
    const box = { y: top - 2, height: foot - top + 4 };
    const [, kind] = this.place.site.split(".");
    return [
      shape("rect", { ...box, x: left - 3, width: pitch * columns + 6, class: `model-slab ${kind}` }),
      shape("rect", { ...box, x: left + (this.column + 0.2) * pitch, width: pitch * 0.6, class: "rows-stream" }),
    ];
  }

  /** The stream of a column from below to above. @param {number} column */
  stream(column) {
    const { bodies, tokens } = this.placed;
    const { layer } = this.place;
    const all = bodies.map((body) => ({ ...body, of: this.columns.added(this.stack, layer, body.kind, column) }));
    const begin = this.columns.length(this.stack, layer, column);
    const d = stream(this.x(column), { top: 0, foot: tokens }, all, (norm) => this.half(norm), begin);
    const look = { class: column === this.column ? "followed" : "" };
    this.put(0, tokens, shape("g", look, shape("path", { d, class: "model-stream" })));
  }

  /** What a body adds to the followed token, where it joins the stream; and the networks of all others. @param {OpenBody} body */
  joint(body) {
    const { unfolded, pitch } = this.placed;
    const { kind, top, foot } = body;
    const high = mixed(18, 14, unfolded);
    const half = (/** @type {number | undefined} */ norm) => this.half(norm);
    this.stack.tokens.forEach((_token, column) => {
      const of = this.columns.added(this.stack, this.place.layer, kind, column);
      const x = this.x(column);
      if (column !== this.column) {
        const parts = inColumn(x, { ...body, of }, half, Math.min(pitch * 0.43, 30), 1 - unfolded);
        return parts.forEach((part) => this.put(top - 16, foot, part));
      }
      if (!of) return;
      const added = { d: wedge(x, half(of.added), top + 2, high), class: `model-added ${kind}` };
      const ring = isNormed(of) && !this.rows ? [normRing(x, top - 18, half(Math.max(of.summed, of.after)))] : [];
      const circle = shape("circle", { cx: x, cy: top - 9, r: 7, class: "layer-ring" });
      const plus = shape("path", { d: `M${x - 4} ${top - 9}h8M${x} ${top - 13}v8`, class: "layer-plus" });
      const sum = shape("g", { opacity: unfolded }, circle, plus, ...ring.map((look) => shape("ellipse", look)));
      this.put(top - 16, top + 2, shape("g", { class: "followed" }, shape("path", added), sum));
    });
  }

  /** @param {OpenBody} body */
  network({ kind, top, foot }) {
    const { left, pitch, columns, unfolded } = this.placed;
    const of = this.columns.added(this.stack, this.place.layer, kind, this.column);
    const x = this.x(this.column);
    const narrow = this.half(of?.before) + 2;
    const own = Math.min(pitch * 0.43, 30);
    const [from, to] = [mixed(x - own, left + 4, unfolded), mixed(x + own, left + pitch * columns - 4, unfolded)];
    const bend = (foot - top) * 0.3;
    const d = `M${x - narrow} ${foot}L${from} ${foot - bend}V${top + bend}L${x - narrow} ${top}H${x + narrow}L${to} ${top + bend}V${foot - bend}L${x + narrow} ${foot}Z`;
    this.write(TITLES().feed_forward, left + 8, (top + foot) / 2, "layer-title", { alpha: unfolded });
    this.put(top, foot, shape("g", { class: "followed" }, shape("path", { d, class: "model-network" })));
  }

  /** The heads of an attention. @param {OpenBody} body */
  strata(body) {
    const { kind, strata, keys, top } = body;
    const site = this.siteOf(kind);
    if (!site || (kind !== "self" && kind !== "cross")) return;
    const { layer } = this.place;
    const name = `${this.stack.name}.${kind}`;
    const { left, pitch, columns, unfolded } = this.placed;
    this.write(TITLES()[kind], left + 8, top + 12, `layer-title ${kind}`, { alpha: unfolded });
    const norms = strata.map(({ head }) => this.columns.headNorm(name, layer, head, this.column) ?? 0);
    const strongest = this.columns.strongest(name, layer, this.column);
    const most = Math.max(...norms) || 1;
    for (const stratum of strata) {
      const { head, top, foot } = stratum;
      const share = norms[head] / most;
      this.put(top, foot, this.stratum(kind, stratum, share, head === strongest, site.keys));
    }
    if (keys.foot - keys.top < NAMED_FROM_HEIGHT) return;
    const room = (pitch * columns) / site.keys.tokens.length;
    site.keys.tokens.forEach((token, key) =>
      this.name(token, this.keyX(kind, key), keys.top + 6, room, false, "cross"),
    );
    const box = { x: left - 3, y: keys.top, width: pitch * columns + 6, height: keys.foot - keys.top };
    this.put(keys.top, keys.foot, shape("rect", { ...box, class: "layer-memory" }));
  }

  /** @param {"self" | "cross"} kind @param {Stratum} stratum @param {number} share of the strongest head's norm @param {boolean} isStrongest @param {Stack} keys */
  stratum(kind, { head, top, foot }, share, isStrongest, keys) {
    const { left, pitch, columns, width, unfolded } = this.placed;
    const { layer } = this.place;
    const site = `${this.stack.name}.${kind}`;
    const weights = this.columns.weights(site, layer, head, this.column);
    const thick = Math.min((foot - top) * mixed(0.46, 0.55, unfolded), Math.min(pitch, 60) * 0.6);
    const from = (/** @type {number} */ key) => this.keyX(kind, key);
    const parts = river(weights, { x: this.x(this.column), top, foot, thick, least: LEAST_WEIGHT, from });
    const best = parts.reduce((most, part) => (part.weight > most.weight ? part : most), parts[0]);
    const isOpen = site === this.place.site && head === this.place.head;
    // Where rows stand in its place, the one beside it is reached by Tab; beside a single one, the first of the other attention.
    const isSingle = this.columns.sites.get(this.place.site)?.heads === 1;
    const isBeside = head === (isSingle ? 0 : (this.place.head || 2) - 1) && (site === this.place.site) !== isSingle;
    const isReached = this.rows ? isBeside : isOpen;
    const middle = (top + foot) / 2;
    const isNarrow = this.walk.width < STACKED_BELOW;
    // The whole model shows the strongest one; rows stand in the place of an open one.
    const opened = isOpen && this.rows ? openedOf(foot - top) : 0;
    const alpha = (isStrongest ? 1 : unfolded) * (1 - opened);
    if (foot - top >= NAMED_FROM_HEIGHT) {
      const label = `${isStrongest ? "★ " : ""}H${head + 1}`;
      const faint = { alpha: unfolded ** 2 * (1 - opened) };
      const at = isNarrow ? left - 8 : left - NORM_BAR - 18;
      const look = isStrongest ? "layer-head strongest" : "layer-head";
      this.write(label, at, middle, look, { ...faint, anchor: "end" });
      const said = best && [tokenElement(shortened(keys.tokens[best.key] ?? ""), ""), ` ${shortWeight(best.weight)}`];
      const right = left + pitch * columns + 12;
      if (said && !isNarrow) this.write(said, right, middle, "layer-head", faint);
      const norm = this.columns.headNorm(site, layer, head, this.column);
      const adds = norm === undefined ? "" : _("adds a vector of norm {length}", { length: norm.toFixed(2) });
      if (this.walk.width >= BESIDE_FROM) this.write(adds, right + 84, middle, "layer-head", faint);
    }
    const high = clamp(0, foot - top - 1, 8);
    const box = { x: left - NORM_BAR - 10, y: middle - high / 2, width: NORM_BAR * share, height: high };
    const bar = { ...box, class: `layer-norm ${kind}`, opacity: unfolded };
    const named = _("Open head {number}", { number: head + 1 });
    const label = best ? `${named}: ${keys.tokens[best.key]} ${shortWeight(best.weight)}` : named;
    const item = {
      ...{ class: `stratum${isOpen ? " open" : ""}`, opacity: alpha, "data-head": head, "data-site": site },
      ...{ role: "button", tabindex: isReached ? 0 : -1, "aria-current": String(isOpen), "aria-label": label },
    };
    const ground = { x: left - 3, y: top, width: pitch * columns + 6, height: foot - top };
    const rivers = parts.map(({ path, width }, at) => {
      const look = `model-line river ${kind}${parts[at] === best ? " most" : ""}`;
      return shape("path", { d: path, class: look, "stroke-width": width });
    });
    return shape(
      "g",
      item,
      shape("rect", { x: 0, y: top, width, height: foot - top, class: "stratum-hit" }),
      shape("rect", { ...ground, class: "stratum-ground", opacity: unfolded }),
      ...(share && !isNarrow ? [shape("rect", bar)] : []),
      ...rivers,
    );
  }

  /** The name of a token under its column. @param {string} token @param {number} x @param {number} y @param {number} room @param {boolean} isFollowed @param {string} [kind] */
  name(token, x, y, room, isFollowed, kind = "") {
    const look = `model-token ${kind}${isFollowed ? " followed" : ""}`;
    const placing = /** @type {Placing} */ (room < LYING_FROM ? { anchor: "end", angle: -60 } : { anchor: "middle" });
    const most = room < LYING_FROM ? 11 : Math.floor(room / 6.2);
    this.write(shortened(token, most), x, room < LYING_FROM ? y : y + 8, look, placing);
  }

  /** @param {Word["text"]} text @param {number} x @param {number} y @param {string} look @param {Placing & { alpha?: number }} [placing] */
  write(text, x, y, look, { alpha = 1, ...placing } = {}) {
    this.drawing.words.push({ text, x, y, look, placing, alpha });
  }

  // ---- what a person does ----

  /** @param {HTMLElement | SVGElement} item */
  open(item) {
    const { site = "", head } = item.dataset;
    const { state, model } = this.walk;
    const key = site === state.site ? state.key : (model?.strongestKey(site, state.row) ?? 0);
    this.walk.go({ depth: "head", site, layer: state.layer, head: Number(head), key });
  }

  /** @param {HTMLElement | SVGElement} item @param {string} key */
  step(item, key) {
    const all = /** @type {SVGElement[]} */ ([...this.element.querySelectorAll(".stratum")]);
    const by = { ArrowUp: -1, ArrowDown: 1 }[key];
    all[all.indexOf(/** @type {SVGElement} */ (item)) + (by ?? 0)]?.focus();
    return by !== undefined;
  }

  /** @param {HTMLElement | SVGElement} item @param {PointerEvent} event */
  tell(item, event) {
    const { site = "", head } = item.dataset;
    const [, kind] = site.split(".");
    const found = this.siteOf(kind);
    if (!found) return;
    const { left, pitch, columns } = this.placed;
    const count = found.keys.tokens.length;
    const part = ((event.clientX - this.beginning) / zoomOf(this.element) - left) / (pitch * columns);
    const key = clamp(0, Math.floor(part * count), count - 1);
    const weights = this.columns.weights(site, this.place.layer, Number(head), this.column);
    const [query, looked] = [this.stack.tokens[this.column], found.keys.tokens[key]].map((of) =>
      tokenElement(of ?? ""),
    );
    const pair = element("div", "tooltip-pair", query, element("span", "looks-at", " → "), looked);
    const norm = this.columns.headNorm(site, this.place.layer, Number(head), this.column);
    const lines = [shortWeight(weights[key])];
    if (norm !== undefined) lines.push(_("adds a vector of norm {length}", { length: norm.toFixed(2) }));
    this.walk.tooltip.showContent(event, `H${Number(head) + 1}`, pair, ...lines);
  }
}
