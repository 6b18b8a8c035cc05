// @ts-check
// The Transformer as one picture with five depths: the model, a layer at a token, a head with one row, one of its weights,
// one product. A person zooms by wheel, pinch, keys or a click; the trail above leads back. All within a depth happens in
// the browser; Python sends the numbers of another token, head or row.
// Data: the payload of walk.py. Sends back the state `view`.
import { PlayerView } from "../../../pictures/player/player_view.js";
import { Transport } from "../../../pictures/player/transport.js";
import { headLabel } from "../../../pictures/shared/head_label.js";
import { isTyped } from "../../../pictures/shared/items.js";
import { _ } from "../../../pictures/shared/messages.js";
import { mount, onResize } from "../../../pictures/shared/mount.js";
import { button, clamp, element, Tooltip, tokenElement } from "../../../pictures/shared/picture.js";
import { pictureButton } from "../../../pictures/shared/save_picture.js";
import { CellScene, NumberScene } from "./cell_scene.js";
import { HeadScene } from "./head_scene.js";
import { LayerScene } from "./layer_scene.js";
import { ModelColumns } from "./model_columns.js";
import { ModelScene } from "./model_scene.js";

/** @import { InkedScale } from "../../../pictures/shared/drawing.js" */
/** @import { Command } from "../../../pictures/player/player_view.js" */
/** @import { PathData } from "./layer_scene.js" */
/** @import { RowData } from "./row_steps.js" */
/**
 * @typedef {"model" | "layer" | "head" | "cell" | "number"} Depth
 * @typedef {{
 *   step: number, depth: Depth, end: "" | "input" | "output", site: string, layer: number, head: number, row: number,
 *   key: number, dimension: number, stop: number, lines: "strongest" | "mean" | "chosen",
 *   edit: "" | "off" | "point",
 * }} Place where a person is; all counted from 0 but `stop`
 * @typedef {{ depth: Depth, end: Place["end"], at: number, title: string, text: string, dimension: number | null }} Stop
 * @typedef {{ name: "encoder" | "decoder", layers: number, first: number, total: number, tokens: string[], prompt: number }} Stack
 * @typedef {{ token: string, probability: number }} Candidate
 * @typedef {{
 *   stacks: Stack[], sites: { site: string, layers: number, heads: number }[], written: Candidate[][], hasLengths: boolean,
 *   colours: Record<string, string>, signed: InkedScale, sequential: InkedScale, realColour: string, otherColour: string,
 *   name: string, digest: string, command: Command<Place>,
 *   at: Place, path: PathData | null, noPath: string, row: RowData | null, noRow: string, stops: Stop[],
 *   canEdit: boolean, changed: { streams: Record<string, number[][]>, written: string[] } | null,
 * }} WalkHeader `at` is the place that path and row are of
 * @typedef {{ element: Element, draw(): void, tell?(event: PointerEvent): void }} Scene
 */

/** @type {Depth[]} */
const DEPTHS = ["model", "layer", "head", "cell", "number"];
const SITE_NAMES = () =>
  /** @type {Record<string, string>} */ ({
    "encoder.self": _("Self-attention"),
    "decoder.self": _("Self-attention"),
    "decoder.cross": _("Cross-attention"),
  });
/** So far a wheel is turned from one depth to the next. */
const WHEEL = 240;
const PINCH = 1.6;
const ZOOM_MS = 280;

/** @extends {PlayerView<Place, WalkHeader>} */
export class Walk extends PlayerView {
  /** @type {ModelColumns} */ columns;
  /** @type {Scene | null} */ scene = null;
  /** What the scene was drawn of. */ drawn = "";
  /** @type {ModelScene | null} */ model = null;
  /** The part that a person went into. @type {Element | null} */ entered = null;
  /** How far the wheel was turned since the last depth. */ turned = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */ settling;
  /** @type {Map<number, PointerEvent>} */ fingers = new Map();
  apart = 0;

  trail = element("nav", { className: "walk-trail", dataset: { notInPicture: "" } });
  holder = element("div", "walk-scene");
  buttons = element("div", { className: "walk-buttons", dataset: { notInPicture: "" } });
  told = element("div", { className: "walk-told", role: "status" });
  tools = element("div", "walk-tools");
  lines = element("select", "walk-lines");
  tooltip = new Tooltip(this.root);

  start() {
    super.start();
    this.tooltip.box.dataset.notInPicture = "";
    this.trail.ariaLabel = _("Where you are");
    this.root.ariaLabel = _(
      "The Transformer as one picture. Plus zooms in, minus and Escape zoom out, the arrow keys step through the film.",
    );
    this.holder.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.holder.addEventListener("pointerdown", (event) => this.fingers.set(event.pointerId, event));
    this.holder.addEventListener("pointermove", (event) => this.pinch(event));
    for (const end of /** @type {const} */ (["pointerup", "pointercancel", "pointerleave"])) {
      this.holder.addEventListener(end, (event) => this.fingers.delete(event.pointerId));
    }
    this.holder.addEventListener("pointerleave", () => this.tooltip.hide());
    onResize(this, () => {
      if (!this.header) return;
      this.drawn = "";
      this.draw();
    });
  }

  get count() {
    return this.columns.stages.length;
  }

  /** @param {{ header: WalkHeader, arrays: Uint8Array<ArrayBuffer>[] }} payload */
  async receive(payload) {
    await super.receive(payload);
    if (this.header === payload.header) this.draw();
  }

  /** @param {Uint8Array<ArrayBuffer>[]} unpacked */
  build([bytes]) {
    this.columns = new ModelColumns(this.header, new Float32Array(bytes.buffer));
    this.transport = new Transport(this.count, {
      goTo: (step) => this.goTo(step),
      moveBy: (count) => this.goTo(this.state.step + count),
      onPause: () => this.report(),
      nameOf: (step) => this.columns.nameOf(step),
    });
    this.model = null;
    this.drawn = "";
    this.root.style.setProperty("--walk-changed", this.header.colours.position);
    for (const kind of ["self", "cross"]) this.root.style.setProperty(`--walk-${kind}`, this.header.colours[kind]);
    this.tools.replaceChildren(this.transport.element, this.linesChoice());
    const save = pictureButton(this.root, () => `${this.header.name}-${this.state.depth}`);
    const bar = element("div", "walk-bar", this.trail, this.buttons, save);
    this.root.replaceChildren(bar, this.told, this.tools, this.holder, this.tooltip.box);
  }

  linesChoice() {
    const names = { strongest: _("Strongest head"), mean: _("Mean of all heads"), chosen: _("Open head") };
    const options = Object.entries(names).map(([value, name]) => new Option(name, value));
    const onchange = () => this.change({ lines: /** @type {Place["lines"]} */ (this.lines.value) });
    Object.assign(this.lines, { onchange }).replaceChildren(...options);
    return element("label", "walk-label", _("Lines of"), " ", this.lines);
  }

  // ---- moving ----

  /** Go elsewhere, at once for Python too. @param {Partial<Place>} place @param {Element | null} [through] the part that is zoomed into */
  go(place, through = null) {
    this.transport.pause();
    this.entered = through;
    this.change({ stop: 0, ...place });
    this.flush();
  }

  /** One depth further, into the part that is looked at. @param {Element | null} [through] */
  zoomIn(through = null) {
    const { depth, end } = this.state;
    if (depth === "layer" && end) return;
    const next = DEPTHS[DEPTHS.indexOf(depth) + 1];
    const products = this.isHere ? this.header.row?.products[this.header.row.followed] : undefined;
    const largest = products?.reduce((best, value, i) => (Math.abs(value) > Math.abs(products[best]) ? i : best), 0);
    const place = next === "number" && largest !== undefined ? { dimension: largest } : {};
    if (next) this.go({ depth: next, end: "", ...place }, through);
  }

  zoomOut() {
    const before = DEPTHS[DEPTHS.indexOf(this.state.depth) - 1];
    if (before) this.go({ depth: before, end: "" });
  }

  /** @param {WheelEvent} event */
  wheel(event) {
    // A plain wheel scrolls the page, as everywhere; with Ctrl, or from a touch pad's pinch, it zooms.
    if (!event.ctrlKey) return;
    event.preventDefault();
    this.turn(-event.deltaY * (event.deltaMode ? 30 : 1), event);
  }

  /** Zoom by so much: the scene grows until the next depth takes over. @param {number} amount @param {{ clientX: number, clientY: number, target: EventTarget | null }} event */
  turn(amount, event) {
    this.turned += amount;
    const into = event.target instanceof Element ? event.target.closest("[data-into]") : null;
    if (this.turned > WHEEL) {
      this.turned = 0;
      this.holder.style.transform = "";
      if (into) /** @type {any} */ (into).dispatchEvent(new CustomEvent("into", { bubbles: true }));
      else this.zoomIn();
    } else if (this.turned < -WHEEL) {
      this.turned = 0;
      this.holder.style.transform = "";
      this.zoomOut();
    } else {
      const { left, top } = this.holder.getBoundingClientRect();
      this.holder.style.transformOrigin = `${event.clientX - left}px ${event.clientY - top}px`;
      this.holder.style.transform = `scale(${1.6 ** (this.turned / WHEEL)})`;
      clearTimeout(this.settling);
      this.settling = setTimeout(() => {
        this.turned = 0;
        this.holder.style.transform = "";
      }, 400);
    }
  }

  /** Two fingers that move apart zoom in. @param {PointerEvent} event */
  pinch(event) {
    this.scene?.tell?.(event);
    if (event.pointerType !== "touch" || !this.fingers.has(event.pointerId)) return;
    this.fingers.set(event.pointerId, event);
    if (this.fingers.size !== 2) {
      this.apart = 0;
      return;
    }
    const [a, b] = [...this.fingers.values()];
    const apart = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
    if (!this.apart) this.apart = apart;
    else if (apart / this.apart > PINCH) this.pinched(() => this.zoomIn());
    else if (this.apart / apart > PINCH) this.pinched(() => this.zoomOut());
  }

  /** @param {() => void} act */
  pinched(act) {
    this.fingers.clear();
    this.apart = 0;
    act();
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const isOurs = event.composedPath().includes(this.root) && !isTyped(event) && !event.defaultPrevented;
    if (isOurs && event.key === "Escape" && this.state?.depth !== "model") {
      event.preventDefault();
      return this.zoomOut();
    }
    super.press(event);
  }

  /** @param {string} key */
  actOf(key) {
    return { "+": () => this.zoomIn(), "-": () => this.zoomOut() }[key];
  }

  // ---- drawing ----

  /** Whether the numbers of the place have come. */
  get isHere() {
    const { at } = this.header;
    const { state } = this;
    const own = /** @type {(keyof Place)[]} */ (["site", "layer", "head", "row", "key", "end", "edit"]);
    return own.every((name) => at[name] === state[name]);
  }

  draw() {
    if (!this.columns || !this.state) return;
    const { state } = this;
    state.step = clamp(0, state.step, this.count - 1);
    this.transport.draw(state.step);
    this.lines.value = state.lines;
    this.tools.hidden = state.depth !== "model";
    this.drawTrail();
    this.drawTold();
    const depth = `${state.depth} ${state.end}`;
    if (state.depth === "model") {
      this.model ??= new ModelScene(this);
      this.put(this.model, depth);
      this.model.draw();
      return;
    }
    if (!this.isHere) {
      this.holder.dataset.waits = "1";
      return;
    }
    delete this.holder.dataset.waits;
    const { row, path, at } = this.header;
    const drawn = JSON.stringify([
      depth,
      at,
      state.dimension,
      state.stop,
      row?.changed,
      path?.stage,
      this.root.clientWidth,
    ]);
    if (drawn === this.drawn) return;
    const scene = this.sceneOf();
    this.put(scene, depth);
    this.drawn = drawn;
    scene.draw();
  }

  /** @returns {Scene} */
  sceneOf() {
    const { path, noRow, noPath, signed, sequential, realColour, otherColour } = this.header;
    const { depth } = this.state;
    if (depth === "layer") return path ? new LayerScene(this, path) : missing(noPath);
    const row = this.header.row && { ...this.header.row, signed, sequential, realColour, otherColour };
    if (!row) return missing(noRow);
    if (depth === "head") return new HeadScene(this, row);
    return depth === "cell" ? new CellScene(this, row) : new NumberScene(this, row);
  }

  /** Show a scene; one of another depth grows out of the part that was entered. @param {Scene} scene @param {string} depth */
  put(scene, depth) {
    const isNew = this.scene !== scene;
    if (!isNew) return;
    const before = this.holder.dataset.depth;
    const from = this.entered?.isConnected ? this.entered.getBoundingClientRect() : null;
    const isDeeper = DEPTHS.indexOf(this.state.depth) > DEPTHS.findIndex((name) => before?.startsWith(name));
    this.scene = scene;
    this.drawn = "";
    this.tooltip.hide();
    this.holder.replaceChildren(scene.element);
    this.holder.dataset.depth = depth;
    this.entered = null;
    if (before === undefined || before === depth || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const whole = this.holder.getBoundingClientRect();
    const scale = isDeeper ? 0.25 : 1.6;
    const origin = from
      ? `${from.left + from.width / 2 - whole.left}px ${from.top + from.height / 2 - whole.top}px`
      : "50% 120px";
    scene.element.animate(
      [
        { transform: `scale(${scale})`, transformOrigin: origin, opacity: 0.2 },
        { transform: "none", transformOrigin: origin, opacity: 1 },
      ],
      { duration: ZOOM_MS, easing: "ease-out" },
    );
  }

  drawTrail() {
    const { depth, end, site, layer, head, row, key, dimension } = this.state;
    const { stacks } = this.header;
    const stack = this.columns.stackOf(site);
    /** @type {[string, Partial<Place>, (Node | string)[]][]} */
    const all = [["model", {}, [_("Model")]]];
    const token = this.columns.token(stack.name, row);
    if (end) all.push(["layer", { end }, [tokenElement(token), " · ", end === "input" ? _("Input") : _("Output")]]);
    else {
      const side = stacks.length > 1 ? `${stack.name === "encoder" ? _("Encoder") : _("Decoder")} · ` : "";
      all.push(["layer", {}, [side, _("Layer {number}", { number: layer + 1 }), " · ", tokenElement(token)]]);
    }
    all.push(
      ["head", {}, [`${SITE_NAMES()[site]} · ${headLabel(layer, head)}`]],
      ["cell", {}, ["→ ", tokenElement(this.columns.keyToken(site, key))]],
      ["number", {}, [_("Component {number}", { number: dimension + 1 })]],
    );
    const shown = all.slice(0, DEPTHS.indexOf(depth) + 1);
    this.trail.replaceChildren(
      ...shown.flatMap(([name, more, words], i) => {
        const isLast = i === shown.length - 1;
        const part = button(
          "walk-crumb",
          () => this.go({ depth: /** @type {Depth} */ (name), end: "", ...more }),
          ...words,
        );
        if (isLast) part.ariaCurrent = "location";
        return i ? [element("span", "walk-sign", "›"), part] : [part];
      }),
    );
  }

  drawTold() {
    const { stops } = this.header;
    const { stop, depth } = this.state;
    const now = stops[stop - 1];
    const title = now ? [element("b", {}, `${stop} / ${stops.length} · ${now.title}`), " "] : [];
    const words = element("p", {}, ...title, now ? now.text : this.hint());
    const back = button({ className: "button small", disabled: stop < 2 }, () => this.walkTo(stop - 1), _("Back"));
    const on = button("button small next", () => this.walkTo(stop + 1), stop ? _("Next") : _("Walk through it"));
    on.disabled = stop >= stops.length;
    const isIn = depth !== "model";
    const out = button(
      { className: "button small", title: _("Zoom out (Escape)"), ariaLabel: _("Zoom out (Escape)") },
      () => this.zoomOut(),
      "−",
    );
    const into = button(
      { className: "button small", title: _("Zoom in (+)"), ariaLabel: _("Zoom in (+)") },
      () => this.zoomIn(),
      "+",
    );
    out.disabled = !isIn;
    into.disabled = depth === "number";
    const hadFocus = this.buttons.matches(":focus-within");
    this.buttons.replaceChildren(out, into, ...this.editButtons(), ...(stop ? [back] : []), on);
    this.told.replaceChildren(words);
    if (hadFocus) on.focus();
  }

  /** What may be done to the open head. */
  editButtons() {
    const { depth, edit, layer, head } = this.state;
    const small = "button small";
    if (edit) return [button(small, () => this.go({ edit: "" }), _("Undo the change"))];
    if (!this.header.canEdit) return [];
    if (depth === "head")
      return [
        button(
          small,
          () => this.go({ depth: "model", edit: "off" }),
          _("Switch {head} off", { head: headLabel(layer, head) }),
        ),
      ];
    if (depth === "cell")
      return [
        button(
          small,
          () => this.go({ depth: "model", edit: "point" }),
          _("Point {head} here", { head: headLabel(layer, head) }),
        ),
      ];
    return [];
  }

  /** What a change of a head does to the model. */
  toldOfEdit() {
    const { edit, site, layer, head, key } = this.state;
    const name = `${SITE_NAMES()[site]} · ${headLabel(layer, head)}`;
    const { changed } = this.header;
    if (!this.isHere) return _("Computing …");
    const done =
      edit === "off"
        ? _("{head} is switched off.", { head: name })
        : _("{head} is pointed at “{token}”.", { head: name, token: this.columns.keyToken(site, key) });
    return `${done} ${changed ? _("Columns are coloured by how far their vectors move; words that would change are above. The model reads the same tokens as before.") : _("What that changes is unknown for this model.")}`;
  }

  hint() {
    if (this.state.edit) return this.toldOfEdit();
    const hints = {
      model: _("Click a column to see what a layer does to its token, or a line to see the head behind it."),
      layer: _("What this layer adds to the token. Click a head to open it."),
      head: _("One row of this head. Click a key to see how its score comes about."),
      cell: _("One weight. Click a product to see its two numbers."),
      number: _("Two vectors, and the product of one component of each. Click another row of the table."),
    };
    return this.state.end ? _("What goes in and what comes out.") : hints[this.state.depth];
  }

  /** @param {number} number of a stop, from 1 */
  walkTo(number) {
    const stop = this.header.stops[number - 1];
    if (!stop) return;
    const { depth, end, dimension } = stop;
    this.go({ depth, end, stop: number, ...(dimension === null ? {} : { dimension }) });
  }

  /** The step of the row that the stop is about; -1 for none. */
  get ringed() {
    return this.header.stops[this.state.stop - 1]?.at ?? -1;
  }
}

/** @param {string} why @returns {Scene} */
const missing = (why) => ({ element: element("p", "walk-missing", why), draw() {} });

export default mount(".walk", Walk);
