// A layer of the machine, opened, on the same columns: each attention has a stratum a head with its river into the token that
// is followed, and the feed-forward network stands over that token alone. It is drawn in slices: above the open head, that
// head, and below it; where the head is opened itself, its rows stand in the place of its stratum.
import { svg } from "../../../pictures/shared/drawing.js";
import { closest, hearItems } from "../../../pictures/shared/items.js";
import { _ } from "../../../pictures/shared/messages.js";
import { clamp, element, tokenElement } from "../../../pictures/shared/picture.js";
import { shortened } from "./lit_tokens.js";
import { kindsOf } from "./machine_drawing.js";
import { BESIDE_FROM, LYING_FROM, openLayer, STACKED_BELOW } from "./machine_layout.js";
import { bulb, isNormed, LEAST_WEIGHT, normRing, ribbon, river, wedge } from "./machine_shapes.js";
import { shortWeight } from "./row_pictures.js";
import { underWords, written } from "./written.js";
import { bandOf } from "./zoom.js";

/** @import { OpenBody, OpenLayer, Stratum } from "./machine_layout.js" */
/** @import { Place, Stack } from "./walk.js" */
/** @import { Placing } from "./written.js" */
/** @import { Bands } from "./zoom.js" */
/** @typedef {import("./walk.js").Walk} Walk */

/** What of the layer is drawn from `top` to `foot`. @typedef {{ top: number, foot: number, parts: SVGElement[], words: HTMLElement[] }} Slice */

/** From this height on a stratum has words. */
const NAMED_FROM_HEIGHT = 13;
const NORM_BAR = 34;

const TITLES = () => ({
  self: _("Self-attention"),
  cross: _("Cross-attention"),
  feed_forward: _("Feed-forward: only this token"),
});

export class LayerMachine {
  /** The columns of the layer, which the whole model shows too. */
  frame = svg("rect", { class: "layer-frame" });
  element = element("div", "layer-machine");
  /** @type {Slice[]} */ slices = [];
  /** What they, and the rows, are in the page. @type {HTMLElement[]} */ pictures = [];
  /** The head between them. */ cut = { site: "", head: -1 };
  /** @type {OpenLayer} */ placed;

  /** @param {Walk} walk @param {HTMLElement | null} [rows] of the open head, where that is opened */
  constructor(walk, rows = null) {
    this.walk = walk;
    this.rows = rows;
    this.site = walk.state.site;
    this.element.role = "group";
    this.element.ariaLabel = _("One layer, opened: columns are tokens, heads are stacked");
    this.columns = walk.columns;
    this.stack = walk.columns.stackOf(walk.state.site);
    hearItems(this.element, ".stratum", {
      point: (item, event) => this.tell(item, event),
      leave: () => walk.tooltip.hide(),
      visit: () => {},
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
    return this.walk.state.row - this.stack.first;
  }

  /** The followed token is in sight in a picture that is wider than the page. */
  arrive() {
    if (this.placed.width > this.walk.width) this.element.scrollLeft = this.x(this.column) - this.walk.width * 0.7;
  }

  /** @param {string} kind */
  siteOf(kind) {
    return this.columns.sites.get(`${this.stack.name}.${kind}`);
  }

  /** What the whole model shows too. @returns {Bands} */
  whole() {
    return new Map([["layer", { box: this.frame.getBoundingClientRect(), elements: [this.element] }]]);
  }

  /** What the scene of a head of the layer shows too; of another head than the open one it is cut anew. @param {Place} place @returns {Bands} */
  bands({ site, head }) {
    if (site !== this.cut.site || head !== this.cut.head) this.draw({ site, head });
    const names = this.pictures.length === 3 ? ["above", "open", "below"] : [];
    return new Map(names.map((name, at) => [name, bandOf([this.pictures[at]])]));
  }

  /** @param {{ site: string, head: number }} cut the head between the slices */
  draw({ site, head } = this.walk.state) {
    const { stack } = this;
    const { layer } = this.walk.state;
    this.cut = { site, head };

    const kinds = kindsOf(this.columns, stack)[layer] ?? [];
    const heads = { self: this.siteOf("self")?.heads, cross: this.siteOf("cross")?.heads };
    const keys = this.siteOf("cross")?.keys.tokens.length ?? 0;
    const room = { width: this.walk.width, columns: stack.tokens.length, keys, heads };
    const [, open] = this.site.split(".");
    this.placed = openLayer(kinds, { ...room, open, head, far: this.rows ? 1 : 0 });
    const { left, pitch, columns, bodies, tokens, height } = this.placed;
    const cut = bodies.find(({ kind }) => site.endsWith(`.${kind}`))?.strata[head];
    const cuts = cut ? [0, cut.top, cut.foot, height] : [0, height];
    this.slices = cuts.slice(1).map((foot, at) => ({ top: cuts[at], foot, parts: [], words: [] }));
    const box = { x: left, y: bodies.at(-1)?.top ?? 0, width: pitch * columns };
    for (const [name, value] of Object.entries({ ...box, height: (bodies[0]?.foot ?? 0) - box.y }))
      this.frame.setAttribute(name, String(value));
    const light = { x: this.x(this.column) - pitch * 0.48, width: pitch * 0.96, y: 0, height: tokens };
    this.put(0, tokens, () => svg("rect", { ...light, class: "model-lit" }));
    this.slices[0].parts.push(this.frame);
    for (const body of bodies) if (body.strata.length) this.slab(body);
    stack.tokens.forEach((_token, column) => this.stream(column));
    // From above to below, as the keys lead and a page is read.
    for (const body of [...bodies].reverse())
      if (body.kind === "feed_forward") this.network(body);
      else this.strata(body);
    for (const body of bodies) this.joint(body);
    if (height > tokens)
      stack.tokens.forEach((token, column) =>
        this.name(token, this.x(column), tokens + 6, pitch, column === this.column),
      );
    this.pictures = this.slices.map((slice) => this.picture(slice));
    if (this.rows) this.pictures.splice(1, cut ? 1 : 0, this.rows);
    this.element.classList.toggle("scrolls", this.placed.width > this.walk.width);
    this.element.replaceChildren(...this.pictures);
  }

  /** @param {Slice} slice */
  picture({ top, foot, parts, words }) {
    const { width } = this.placed;
    const look = { width, height: foot - top, viewBox: `0 ${top} ${width} ${foot - top}` };
    return underWords(svg("svg", look, ...parts), words);
  }

  /** Draw a part in every slice that it reaches into. @param {number} top @param {number} foot @param {() => SVGElement} make */
  put(top, foot, make) {
    for (const slice of this.slices) if (slice.top < foot && slice.foot > top) slice.parts.push(make());
  }

  /** @param {number} column */
  x(column) {
    return this.placed.left + (column + 0.5) * this.placed.pitch;
  }

  /** Where a key of a body stands: those of the memory share the width of the tower. @param {string} kind @param {number} key */
  keyX(kind, key) {
    const { left, pitch, columns } = this.placed;
    const count = kind === "cross" ? (this.siteOf("cross")?.keys.tokens.length ?? 1) : columns;
    return left + ((key + 0.5) * pitch * columns) / count;
  }

  /** @param {number | undefined} norm */
  half(norm) {
    return Math.max(1, (this.columns.share(norm) * Math.min(this.placed.pitch, 60) * 0.6) / 2);
  }

  /** @param {OpenBody} body */
  slab({ kind, top, foot }) {
    const { left, pitch, columns } = this.placed;
    const box = { x: left - 3, y: top, width: pitch * columns + 6, height: foot - top, rx: 8 };
    this.put(top, foot, () => svg("rect", { ...box, class: `model-slab ${kind}` }));
  }

  /** The stream of a column from below to above. @param {number} column */
  stream(column) {
    const { bodies, tokens } = this.placed;
    const { layer } = this.walk.state;
    /** @type {[number, number][]} */
    const points = [[tokens, this.half(this.columns.length(this.stack, layer, column))]];
    for (const { kind, top } of bodies) {
      const of = this.columns.added(this.stack, layer, kind, column);
      if (of)
        points.push([top + 12, this.half(of.before)], [top, this.half(of.summed)], [top - 2, this.half(of.after)]);
    }
    points.push([0, points[points.length - 1][1]]);
    const look = { class: column === this.column ? "followed" : "" };
    const d = ribbon(this.x(column), points);
    this.put(0, tokens, () => svg("g", look, svg("path", { d, class: "model-stream" })));
  }

  /** What a body adds to the followed token, where it joins the stream. @param {OpenBody} body */
  joint({ kind, top }) {
    const of = this.columns.added(this.stack, this.walk.state.layer, kind, this.column);
    if (!of) return;
    const x = this.x(this.column);
    const ring = isNormed(of) && !this.rows ? [normRing(x, top - 18, this.half(Math.max(of.summed, of.after)))] : [];
    this.put(top - 16, top + 2, () =>
      svg(
        "g",
        { class: "followed" },
        svg("path", { d: wedge(x, this.half(of.added), top + 2, 14), class: `model-added ${kind}` }),
        svg("circle", { cx: x, cy: top - 9, r: 7, class: "layer-ring" }),
        svg("path", { d: `M${x - 4} ${top - 9}h8M${x} ${top - 13}v8`, class: "layer-plus" }),
        ...ring.map((look) => svg("ellipse", look)),
      ),
    );
  }

  /** @param {OpenBody} body */
  network({ kind, top, foot }) {
    const { left, pitch, columns } = this.placed;
    const of = this.columns.added(this.stack, this.walk.state.layer, kind, this.column);
    const x = this.x(this.column);
    const narrow = this.half(of?.before) + 2;
    const [wide, middle] = [(pitch * columns) / 2 - 4, left + (pitch * columns) / 2];
    const bend = (foot - top) * 0.3;
    const d = `M${x - narrow} ${foot}L${middle - wide} ${foot - bend}V${top + bend}L${x - narrow} ${top}H${x + narrow}L${middle + wide} ${top + bend}V${foot - bend}L${x + narrow} ${foot}Z`;
    this.write(TITLES().feed_forward, left + 8, (top + foot) / 2, "layer-title");
    this.stack.tokens.forEach((_token, column) => {
      if (column === this.column) return;
      const own = Math.min(pitch * 0.43, 30);
      const shape = bulb(this.x(column), Math.min(narrow, own), own, foot, top);
      this.put(top, foot, () => svg("path", { d: shape, class: "model-network" }));
    });
    this.put(top, foot, () => svg("g", { class: "followed" }, svg("path", { d, class: "model-network" })));
  }

  /** The heads of an attention. @param {OpenBody} body */
  strata(body) {
    const { kind, strata, keys, top } = body;
    const site = this.siteOf(kind);
    if (!site || (kind !== "self" && kind !== "cross")) return;
    const { state } = this.walk;
    const name = `${this.stack.name}.${kind}`;
    this.write(TITLES()[kind], this.placed.left + 8, top + 12, `layer-title ${kind}`);
    const norms = strata.map(({ head }) => this.columns.headNorm(name, state.layer, head, this.column) ?? 0);
    const strongest = this.columns.strongest(name, state.layer, this.column);
    const most = Math.max(...norms) || 1;
    for (const stratum of strata) {
      const { head, top, foot } = stratum;
      const share = norms[head] / most;
      this.put(top, foot, () => this.stratum(kind, stratum, share, head === strongest, site.keys));
    }
    if (!keys) return;
    const room = (this.placed.pitch * this.placed.columns) / site.keys.tokens.length;
    site.keys.tokens.forEach((token, key) =>
      this.name(token, this.keyX(kind, key), keys.top + 6, room, false, "cross"),
    );
    const { left, pitch, columns } = this.placed;
    const box = { x: left - 3, y: keys.top, width: pitch * columns + 6, height: keys.foot - keys.top };
    this.put(keys.top, keys.foot, () => svg("rect", { ...box, class: "layer-memory" }));
  }

  /** @param {"self" | "cross"} kind @param {Stratum} stratum @param {number} share of the strongest head's norm @param {boolean} isStrongest @param {Stack} keys */
  stratum(kind, { head, top, foot }, share, isStrongest, keys) {
    const { left, pitch, columns, width } = this.placed;
    const { state } = this.walk;
    const site = `${this.stack.name}.${kind}`;
    const weights = this.columns.weights(site, state.layer, head, this.column);
    const thick = Math.min((foot - top) * 0.55, pitch * 0.6);
    const from = (/** @type {number} */ key) => this.keyX(kind, key);
    const parts = river(weights, { x: this.x(this.column), top, foot, thick, least: LEAST_WEIGHT, from });
    const best = parts.reduce((most, part) => (part.weight > most.weight ? part : most), parts[0]);
    const isOpen = site === state.site && head === state.head;
    const middle = (top + foot) / 2;
    const isNarrow = this.walk.width < STACKED_BELOW;
    const label = `${isStrongest ? "★ " : ""}H${head + 1}`;
    if (foot - top >= NAMED_FROM_HEIGHT) {
      const at = isNarrow ? left - 8 : left - NORM_BAR - 18;
      this.write(label, at, middle, isStrongest ? "layer-head strongest" : "layer-head", { anchor: "end" });
      const said = best && [tokenElement(shortened(keys.tokens[best.key] ?? ""), ""), ` ${shortWeight(best.weight)}`];
      const right = left + pitch * columns + 12;
      if (said && !isNarrow) this.write(said, right, middle, "layer-head");
      const norm = this.columns.headNorm(site, state.layer, head, this.column);
      const adds = norm === undefined ? "" : _("adds a vector of norm {length}", { length: norm.toFixed(2) });
      if (this.walk.width >= BESIDE_FROM) this.write(adds, right + 84, middle, "layer-head");
    }
    const high = Math.min(8, foot - top - 1);
    const box = { x: left - NORM_BAR - 10, y: middle - high / 2, width: NORM_BAR * share, height: high };
    const bar = { ...box, class: `layer-norm ${kind}` };
    const named = _("Open head {number}", { number: head + 1 });
    return svg(
      "g",
      {
        class: `stratum${isOpen ? " open" : ""}`,
        "data-head": head,
        "data-site": site,
        role: "button",
        tabindex: isOpen ? 0 : -1,
        "aria-current": String(isOpen),
        "aria-label": best ? `${named}: ${keys.tokens[best.key]} ${shortWeight(best.weight)}` : named,
      },
      svg("rect", { x: 0, y: top, width, height: foot - top, class: "stratum-hit" }),
      svg("rect", { x: left - 3, y: top, width: pitch * columns + 6, height: foot - top, class: "stratum-ground" }),
      ...(share && !isNarrow ? [svg("rect", bar)] : []),
      ...parts.map((part) =>
        svg("path", {
          d: part.path,
          class: `model-line river ${kind}${part === best ? " most" : ""}`,
          style: `stroke-width:${part.width}`,
        }),
      ),
    );
  }

  /** The name of a token under its column. @param {string} token @param {number} x @param {number} y @param {number} room @param {boolean} isFollowed @param {string} [kind] */
  name(token, x, y, room, isFollowed, kind = "") {
    const look = `model-token ${kind}${isFollowed ? " followed" : ""}`;
    const placing = /** @type {Placing} */ (room < LYING_FROM ? { anchor: "end", angle: -60 } : { anchor: "middle" });
    const most = room < LYING_FROM ? 11 : Math.floor(room / 6.2);
    this.write(shortened(token, most), x, room < LYING_FROM ? y : y + 8, look, placing);
  }

  /** @param {Parameters<typeof written>[0]} text @param {number} x @param {number} y @param {string} className @param {Placing} [placing] */
  write(text, x, y, className, placing) {
    const slice = this.slices.find(({ top, foot }) => top <= y && y < foot) ?? this.slices[this.slices.length - 1];
    slice.words.push(written(text, x, y - slice.top, className, placing));
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
    const { left, width } = this.frame.getBoundingClientRect();
    const count = found.keys.tokens.length;
    const key = clamp(0, Math.floor(((event.clientX - left) / width) * count), count - 1);
    const weights = this.columns.weights(site, this.walk.state.layer, Number(head), this.column);
    const pair = element(
      "div",
      "tooltip-pair",
      tokenElement(this.stack.tokens[this.column] ?? ""),
      element("span", "looks-at", " → "),
      tokenElement(found.keys.tokens[key] ?? ""),
    );
    const norm = this.columns.headNorm(site, this.walk.state.layer, Number(head), this.column);
    const lines = [element("div", "tooltip-value", shortWeight(weights[key]))];
    if (norm !== undefined)
      lines.push(element("div", "tooltip-value", _("adds a vector of norm {length}", { length: norm.toFixed(2) })));
    this.walk.tooltip.showContent(event, `H${Number(head) + 1}`, pair, ...lines);
  }
}
