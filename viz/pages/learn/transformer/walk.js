// The Transformer as one picture with five depths: the model, a layer at a token, a head with one row, one of its weights,
// one product. A person zooms by wheel, pinch, keys or a click; the trail above leads back. All within a depth happens in
// the browser; Python sends the numbers of another token, head or row.
// Data: the payload of walk.py. Sends back the state `view`.
import { PlayerView } from "../../../pictures/player/player_view.js";
import { headLabel } from "../../../pictures/shared/head_label.js";
import { isTyped } from "../../../pictures/shared/items.js";
import { _ } from "../../../pictures/shared/messages.js";
import { mount, onResize } from "../../../pictures/shared/mount.js";
import {
  button,
  clamp,
  element,
  isPresented,
  pixelScale,
  Tooltip,
  tokenElement,
} from "../../../pictures/shared/picture.js";
import { pictureButton } from "../../../pictures/shared/save_picture.js";
import { CellScene, NumberScene } from "./cell_scene.js";
import { HeadScene } from "./head_scene.js";
import { KeptWalk } from "./kept_walk.js";
import { LayerMachine } from "./layer_machine.js";
import { LayerScene } from "./layer_scene.js";
import { ModelColumns } from "./model_columns.js";
import { ModelScene, MUCH } from "./model_scene.js";
import { smallMap } from "./small_map.js";
import { isStill, nearest, TURN_MS, Zoom } from "./zoom.js";

/** @import { InkedScale } from "../../../pictures/shared/drawing.js" */
/** @import { Command } from "../../../pictures/player/player_view.js" */
/** @import { Point } from "../../../pictures/shared/items.js" */
/** @import { PathData } from "./layer_scene.js" */
/** @import { PaintedScale } from "./row_pictures.js" */
/** @import { RowData } from "./row_steps.js" */
/**
 * @typedef {"model" | "layer" | "head" | "cell" | "number"} Depth
 * @typedef {{
 *   step: number, depth: Depth, end: "" | "input" | "output", site: string, layer: number, head: number, row: number,
 *   key: number, dimension: number, stop: number, lines: "strongest" | "mean" | "chosen" | "token",
 *   edit: "" | "off" | "point" | "forced",
 * }} Place where a person is; all counted from 0 but `stop`
 * @typedef {{ depth: Depth, end: Place["end"], at: number, title: string, text: string, dimension: number | null }} Stop
 * @typedef {{ name: "encoder" | "decoder", layers: number, first: number, total: number, tokens: string[], prompt: number, kinds: string[][], shown: number, waves: number }} Stack
 * @typedef {{ token: string, probability: number }} Candidate
 * @typedef {{
 *   stacks: Stack[], sites: { site: string, layers: number, heads: number, hasNorms: boolean }[], written: Candidate[][], lens: Candidate[][],
 *   colours: Record<string, string>, signed: InkedScale, sequential: InkedScale, realColour: string, otherColour: string,
 *   patches: import("./patches.js").PatchData | null,
 *   name: string, digest: string, command: Command<Place>,
 *   at: Place, path: PathData | null, noPath: string, row: RowData | null, noRow: string, stops: Stop[],
 *   canEdit: boolean, canForce: boolean, changed: Changed | null, asks?: boolean,
 * }} WalkHeader `at` is the place that path and row are of
 * @typedef {{
 *   streams: Record<string, number[][]>, written: string[], read: string[], text: string, weights: Record<string, number[]>,
 * }} Changed another run at the same places: with a head changed, or over the reference, which is its text
 * @typedef {{ element: HTMLElement, draw(): Iterable<Element> | void, arrive?(): void, tell?(event: PointerEvent): void,
 *   picture?: HTMLElement, machine?: LayerMachine | null,
 *   lies?(machine: LayerMachine): import("./unfolding.js").Lying | undefined, ready?(): Iterable<void>,
 * }} Scene it arrives when it is laid out; it draws part by part, where it is large; `lies`: where the layer lies that a machine shows, once what is painted with it is `ready`, part by part
 */

/** A scene with the place that it is of, and what it was drawn of. @typedef {{ scene: Scene, place: Place, drawn: string, depth: string }} Shown */

/** @type {Depth[]} */
const DEPTHS = ["model", "layer", "head", "cell", "number"];
const SITE_NAMES = () =>
  /** @type {Record<string, string>} */ ({
    "encoder.self": _("Self-attention"),
    "decoder.self": _("Self-attention"),
    "decoder.cross": _("Cross-attention"),
  });
/** What of a place Python tells of. @type {(keyof Place)[]} */
const TOLD = ["site", "layer", "head", "row", "key", "end", "edit"];
/** How many milliseconds of a frame what is not seen yet may take. */
const AHEAD_MS = 5;
/** What leads from a depth to the next. @type {Partial<Record<Depth, string>>} */
const INNER = { model: "[data-node]", layer: ".stratum", cell: ".product" };

/** @extends {PlayerView<Place, WalkHeader>} */
export class Walk extends PlayerView {
  /** @type {ModelColumns} */ columns;
  /** What a file has instead of Python. @type {KeptWalk | null} */ kept = null;
  /** @type {Scene | null} */ scene = null;
  /** What is shown: another scene may be on its way. @type {Shown | null} */ crossed = null;
  /** What was shown before that. @type {Shown | null} */ left = null;
  /** What the scene was drawn of. */ drawn = "";
  /** How wide it is, in its own pixels. */ width = 0;
  /** What the words above it were drawn of. @type {[text: string, header: WalkHeader | null]} */ said = ["", null];
  /** @type {Record<"signed" | "sequential", PaintedScale>} */ scales;
  /** @type {ModelScene | null} */ model = null;

  /** Makes at once what the next frames would, for a picture that is saved. */ complete = () => {};

  trail = element("nav", { className: "walk-trail", dataset: { notInPicture: "" } });
  holder = element("div", "walk-scene");
  buttons = element("div", { className: "walk-buttons", dataset: { notInPicture: "" } });
  told = element("div", { className: "walk-told", role: "status" });
  tools = element("div", "walk-tools");
  lines = element("select", "walk-lines");
  tooltip = new Tooltip(this.root);
  zoom = new Zoom(this.holder, this.root, this.ended.signal, {
    hasInner: () => this.hasInner && this.isSeen,
    hasOuter: () => this.state.depth !== "model" && this.isSeen,
    goIn: (point, target) => this.goIn(point, target),
    goOut: () => this.zoomOut(),
    back: () => this.goBack(),
    height: () => (this.scene?.picture ?? this.holder).getBoundingClientRect().height,
    keeps: (scene) => scene === this.model?.element,
  });

  start() {
    super.start();
    this.tooltip.box.dataset.notInPicture = "";
    this.trail.ariaLabel = _("Where you are");
    this.root.ariaLabel = _(
      "The Transformer as one picture. Plus zooms in, minus and Escape zoom out, the arrow keys step through the film.",
    );
    // The letters of formulas: else their font would come while the first scene that has some fades in.
    const font = getComputedStyle(this.root).getPropertyValue("--st-heading-font");
    if (font) void document.fonts.load(`italic 13px ${font}`);
    this.holder.addEventListener("pointermove", (event) => this.scene?.tell?.(event));
    this.root.addEventListener("saving", () => this.complete());
    this.holder.addEventListener("pointerleave", () => this.tooltip.hide());
    onResize(this, () => {
      this.measure();
      if (this.header) this.draw();
    });
  }

  get count() {
    return this.columns.stages.length;
  }

  /** How wide it is: measured when nothing else has changed, for the browser lays all out to tell. */
  measure() {
    this.width = this.holder.clientWidth;
  }

  /** @param {{ header: WalkHeader, arrays: Uint8Array<ArrayBuffer>[] }} payload */
  async receive(payload) {
    await super.receive(payload);
    if (this.header !== payload.header) return;
    const { lens } = this.header;
    // Of a large vocabulary it is known around the followed token only.
    if (JSON.stringify(lens) !== JSON.stringify(this.columns.header.lens)) this.columns.header.lens = lens;
    this.draw();
  }

  /** @param {Uint8Array<ArrayBuffer>[]} unpacked */
  build([bytes, ...kept]) {
    this.columns = new ModelColumns(this.header, new Float32Array(bytes.buffer));
    const painted = (/** @type {InkedScale} */ scale) => ({ ...scale, pixels: pixelScale(scale.stops) });
    this.scales = { signed: painted(this.header.signed), sequential: painted(this.header.sequential) };
    this.kept = kept.length ? new KeptWalk(this.columns, kept) : null;
    this.buildTransport((step) => this.columns.nameOf(step));
    this.model?.ended.abort();
    this.model = null;
    Object.assign(this, { crossed: null, left: null, drawn: "" });
    this.root.style.setProperty("--walk-changed", this.header.colours.position);
    /** @type {Record<string, string>} */
    const colours = { ...this.header.colours, network: this.header.colours.feed_forward };
    for (const kind of ["self", "cross", "network", "position", "norm"])
      this.root.style.setProperty(`--walk-${kind}-own`, colours[kind]);
    this.tools.replaceChildren(this.transport.element, this.linesChoice());
    const save = pictureButton(this.root, () => `${this.header.name}-${this.state.depth}`);
    const bar = element("div", "walk-bar", this.trail, this.buttons, save);
    this.root.replaceChildren(bar, this.told, this.tools, this.holder, this.tooltip.box);
    this.measure();
  }

  linesChoice() {
    const names = {
      strongest: _("Strongest head"),
      mean: _("Mean of all heads"),
      chosen: _("Open head"),
      token: _("Open head, one token"),
    };
    const options = Object.entries(names).map(([value, name]) => new Option(name, value));
    const onchange = () => this.change({ lines: /** @type {Place["lines"]} */ (this.lines.value) });
    Object.assign(this.lines, { onchange }).replaceChildren(...options);
    return element("label", { className: "walk-label", dataset: { notInPicture: "" } }, _("Lines of"), " ", this.lines);
  }

  // ---- moving ----

  /** Go elsewhere, at once for Python too where its numbers are needed; else it hears of it after the fade. @param {Partial<Place>} place */
  go(place) {
    this.transport.pause();
    this.change({ stop: 0, ...place });
    if (!this.isHere) this.flush();
  }

  /** The way to another depth was gone back to where it began. */
  goBack() {
    const { left } = this;
    if (!left) return;
    Object.assign(this, { scene: left.scene, drawn: left.drawn, crossed: left, left: null });
    this.holder.dataset.depth = left.depth;
    this.change(left.place);
    this.showTools();
    if (!this.isHere) this.flush();
  }

  /** Whether the shown place has one within it. */
  get hasInner() {
    const { depth, end } = this.state;
    return depth !== "number" && !(depth === "layer" && end);
  }

  /** One depth further, into the part that is looked at. */
  zoomIn() {
    if (!this.hasInner) return;
    const { depth } = this.state;
    const next = DEPTHS[DEPTHS.indexOf(depth) + 1];
    const products = this.isHere ? this.header.row?.products[this.header.row.followed] : undefined;
    const largest = products?.reduce((best, value, i) => (Math.abs(value) > Math.abs(products[best]) ? i : best), 0);
    const place = next === "number" && largest !== undefined ? { dimension: largest } : {};
    this.go({ depth: next, end: "", ...place });
  }

  zoomOut() {
    const before = DEPTHS[DEPTHS.indexOf(this.state.depth) - 1];
    if (before) this.go({ depth: before, end: "" });
  }

  /** Where the wheel or two fingers lead: into what lies under them, or nearest to them. @param {Point} point @param {Element | null} target */
  goIn(point, target) {
    const into = (/** @type {Element | null} */ part) =>
      part !== null && !part.dispatchEvent(new CustomEvent("into", { bubbles: true, cancelable: true, detail: point }));
    const inner = INNER[this.state.depth];
    const parts = inner ? this.scene?.element.querySelectorAll(inner) : null;
    if (!into(target) && !into(nearest(parts ?? [], point))) this.zoomIn();
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

  /** Where the film is out of sight, or its first screen is one of the way's, a clicker walks the way. @param {number} step */
  goTo(step) {
    const { depth, stop, step: now } = this.state;
    if (!isPresented(this.root) || (depth === "model" && !stop)) super.goTo(step);
    else this.walkTo(stop + Math.sign(step - now));
  }

  /** @param {string} key */
  actOf(key) {
    return { "+": () => this.zoomIn(), "-": () => this.zoomOut() }[key];
  }

  /** Whether a zoom is under way, or begins as soon as the numbers of the place come. */
  get isMoving() {
    return this.zoom.isTurned || (this.waits && !isStill());
  }

  /** While a zoom is under way Python hears of a place only if its numbers are needed: what the page draws then would hold it up. */
  report() {
    super.report();
    Object.assign(/** @type {object} */ (this.unreported), { isMoving: this.isMoving });
    if (this.zoom.isTurned && this.isHere) this.reportAtEnd();
  }

  flush() {
    const { isMoving } = this;
    super.flush();
    if (isMoving) this.reportAtEnd();
  }

  reportAtEnd() {
    clearTimeout(this.reportTimer);
    this.reportTimer = setTimeout(() => {
      if (this.isMoving) return this.reportAtEnd();
      this.report();
      this.flush();
    }, TURN_MS);
  }

  // ---- drawing ----

  /** Whether the numbers of the place have come. */
  get isHere() {
    return TOLD.every((name) => this.header.at[name] === this.state[name]);
  }

  /** Whether the scene of the place can only be drawn once they have. */
  get waits() {
    return this.state.depth !== "model" && !this.isHere;
  }

  /** Whether what is seen is the scene of the place. */
  get isSeen() {
    return !this.waits && this.scene?.element === this.zoom.shown;
  }

  /** The numbers of a row are those of each of its keys. */
  followKey() {
    const { at, row } = this.header;
    const { key, edit } = this.state;
    const followed = row?.columns.findIndex((column) => column.key === key) ?? -1;
    if (!row || followed < 0 || edit || TOLD.some((name) => name !== "key" && at[name] !== this.state[name])) return;
    Object.assign(this.header, { at: { ...at, key }, row: { ...row, followed } });
  }

  draw() {
    if (!this.columns || !this.state) return;
    const { state } = this;
    if (this.kept && !this.isHere) Object.assign(this.header, this.kept.tell(state));
    this.followKey();
    state.step = clamp(0, state.step, this.count - 1);
    this.transport.draw(state.step);
    this.lines.value = state.lines;
    const depth = `${state.depth} ${state.end}`;
    // Words that become more move the picture: those of another scene come with it.
    if (this.crossed?.depth === depth) this.drawWords();
    this.holder.toggleAttribute("data-waits", this.waits && drawnOf(state) !== drawnOf(this.crossed?.place));
    if (state.depth === "model") {
      this.model ??= new ModelScene(this);
      this.drawn = "";
      return this.put(this.model, depth);
    }
    if (this.waits) return;
    const { row, path } = this.header;
    const looks = [state.dimension, state.stop, row?.changed, row?.steps, path?.stage, this.width];
    const drawn = JSON.stringify([drawnOf(state), looks]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    this.put(this.sceneOf(), depth);
  }

  /** @returns {Scene} */
  sceneOf() {
    const { path, noRow, noPath, realColour, otherColour } = this.header;
    const { depth } = this.state;
    if (depth === "layer") return path ? new LayerScene(this, path) : this.layerAlone(noPath);
    const row = this.header.row && { ...this.header.row, ...this.scales, realColour, otherColour };
    if (!row) return missing(noRow);
    if (depth === "head") return new HeadScene(this, row);
    return depth === "cell" ? new CellScene(this, row) : new NumberScene(this, row);
  }

  /** A layer of a model that does not tell what it adds: its heads alone. @param {string} why @returns {Scene} */
  layerAlone(why) {
    if (this.state.end) return missing(why);
    const machine = new LayerMachine(this);
    const scene = element("div", "layer-scene", machine.element, element("p", "walk-missing", why));
    const acts = { draw: () => machine.draw(), arrive: () => machine.arrive() };
    return { element: scene, picture: machine.element, machine, lies: (other) => machine.lies(other), ...acts };
  }

  /**
   * Show a scene; one of another depth and the one before fade into one another where they meet. A zoom goes on meanwhile:
   * what is new is drawn over as many frames as it takes, and then fades in.
   * @param {Scene} scene @param {string} depth
   */
  async put(scene, depth) {
    const shown = { scene, place: { ...this.state }, drawn: this.drawn, depth };
    if (this.scene === scene) {
      if (this.crossed?.scene === scene) this.crossed = shown;
      scene.draw();
      return;
    }
    const before = this.holder.dataset.depth;
    const isDeeper = DEPTHS.indexOf(this.state.depth) > DEPTHS.findIndex((name) => before?.startsWith(name));
    this.scene = scene;
    this.holder.dataset.depth = depth;
    const fades = before !== undefined && before !== depth && !isStill();
    if (fades && !(await this.isNext(scene))) return;
    this.zoom.keep(scene.element);
    const last = this.crossed?.scene;
    const [outer, inner] = isDeeper ? [last, scene] : [scene, last];
    let began = performance.now();
    for (const isToBePainted of fades ? this.ahead(scene, outer, inner) : (scene.draw() ?? [])) {
      if (!fades || (!isToBePainted && performance.now() - began < AHEAD_MS)) continue;
      if (!(await this.isNext(scene))) return;
      began = performance.now();
    }
    const top = fades ? this.holder.getBoundingClientRect().y : 0;
    const hadFocus = this.holder.matches(":focus-within");
    this.tooltip.hide();
    this.zoom.show(scene.element);
    this.drawWords();
    this.showTools();
    Object.assign(this, { left: this.crossed, crossed: shown });
    scene.arrive?.();
    // What had the focus is gone; keys, and the wheel, still mean the picture.
    if (hadFocus && !scene.element.matches(":focus-within")) this.root.focus({ preventScroll: true });
    if (!fades || !last) return this.zoom.cross(false, isDeeper);
    // What is above the scenes may have moved them.
    const { y } = this.holder.getBoundingClientRect();
    this.zoom.cross(true, isDeeper, openingOf(outer, inner), top - y);
  }

  /**
   * Draw a scene unseen, and read what is painted on the way to it: part by part, each with whether the browser has to paint
   * it now.
   * @param {Scene} scene @param {Scene | undefined} outer @param {Scene | undefined} inner @returns {Iterable<boolean>}
   */
  *ahead(scene, outer, inner) {
    const { unfolding } = this.zoom;
    const { machine } = inner ?? {};
    if (machine) unfolding.meet(machine);
    for (const part of scene.draw() ?? []) {
      unfolding.see(part);
      yield false;
    }
    if (machine) unfolding.meet(machine);
    this.zoom.lay(scene.element);
    yield true;
    for (const each of machine ? [outer, inner] : []) for (const _part of each?.ready?.() ?? []) yield false;
    yield true;
    // The first picture takes longer than all others.
    unfolding.try(openingOf(outer, inner));
    yield true;
  }

  /** What the film is led by belongs to the whole model. */
  showTools() {
    this.tools.hidden = this.state.depth !== "model";
  }

  /** Whether a scene is still the one to be shown when the next frame comes. @param {Scene} scene @returns {Promise<boolean>} */
  isNext(scene) {
    return new Promise((resolve) => requestAnimationFrame(() => resolve(this.scene === scene)));
  }

  /**
   * Put parts of a scene into a box: one at once, then one a frame, while it is seen and nothing fades.
   * @param {HTMLElement} box @param {(() => Element)[]} parts
   */
  fill(box, parts) {
    const later = [...parts];
    const add = (/** @type {number} */ count) => box.append(...later.splice(0, count).map((make) => make()));
    this.complete = () => add(later.length);
    const next = () => {
      if (!later.length || !box.isConnected || this.ended.signal.aborted) return;
      if (this.isSeen && this.zoom.isAlone) add(1);
      requestAnimationFrame(next);
    };
    add(isStill() ? later.length : 1);
    requestAnimationFrame(next);
  }

  /** What stands above the scene, unless only the film has moved. */
  drawWords() {
    const said = JSON.stringify([{ ...this.state, step: 0 }, this.header.at]);
    if (said === this.said[0] && this.header === this.said[1]) return;
    this.said = [said, this.header];
    this.drawTrail();
    this.drawTold();
  }

  drawTrail() {
    const { depth, end, site, layer, head, row, key, dimension } = this.state;
    const { stacks } = this.header;
    const stack = this.columns.stackOf(site);
    /** @type {[Depth, Partial<Place>, (Node | string)[]][]} */
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
    const shown = all.slice(0, DEPTHS.indexOf(depth) + 1).map(([name, more, words], i) => {
      const look = { className: "walk-crumb", ariaCurrent: i === DEPTHS.indexOf(depth) ? "location" : null };
      const part = button(look, () => this.go({ depth: name, end: "", ...more }), ...words);
      return i ? [element("span", "walk-sign", "›"), part] : [part];
    });
    this.trail.replaceChildren(...(depth === "model" ? [] : [smallMap(this.columns, this.state)]), ...shown.flat());
  }

  drawTold() {
    const { stops } = this.header;
    const { stop, depth } = this.state;
    const now = stops[stop - 1];
    const title = now ? [element("b", {}, `${stop} / ${stops.length} · ${now.title}`), " "] : [];
    const isHigh = depth === "layer" || depth === "head";
    const wheel = isHigh
      ? _("Ctrl + wheel zooms.")
      : _("Ctrl + wheel zooms; after a click in the picture, the wheel is enough.");
    const words = element("p", {}, ...title, now ? now.text : this.hint());
    if (!now && !this.state.edit)
      words.append(" ", element("span", { className: "walk-wheel", dataset: { notInPicture: "" } }, wheel));
    const back = button({ className: "button small", disabled: stop < 2 }, () => this.walkTo(stop - 1), _("Back"));
    const on = button("button small next", () => this.walkTo(stop + 1), stop ? _("Next") : _("Walk through it"));
    on.disabled = stop >= stops.length;
    const zoom = (/** @type {string} */ sign, /** @type {string} */ title, /** @type {() => void} */ act) =>
      button({ className: "button small", title, ariaLabel: title }, act, sign);
    const out = zoom("−", _("Zoom out (Escape)"), () => this.zoomOut());
    const into = zoom("+", _("Zoom in (+)"), () => this.zoomIn());
    out.disabled = depth === "model";
    into.disabled = !this.hasInner;
    const [edit] = this.editButtons();
    const all = { out, into, edit, back: stop ? back : undefined, on };
    for (const [name, each] of Object.entries(all)) if (each) each.dataset.does = name;
    const had = /** @type {HTMLElement | null} */ (this.buttons.querySelector(":focus"))?.dataset.does;
    const there = Object.values(all).flatMap((each) => each ?? []);
    this.buttons.replaceChildren(...there);
    this.told.replaceChildren(words);
    if (!had) return;
    // The same one; else the one that leads back.
    const beside = had === "back" || had === "on" ? [on, back] : [into, out];
    [...there.filter(({ dataset }) => dataset.does === had), ...beside].find(({ disabled }) => !disabled)?.focus();
  }

  /** What the model may be compared with: its open head changed, or the reference read. */
  editButtons() {
    const { depth, edit, layer, head } = this.state;
    const { canEdit, canForce } = this.header;
    const name = { head: headLabel(layer, head) };
    const offer = (/** @type {string} */ words, /** @type {Partial<Place>} */ place) => [
      button("button small", () => this.go(place), words),
    ];
    if (edit) return offer(edit === "forced" ? _("Free running") : _("Undo the change"), { edit: "" });
    if (depth === "model" && canForce) return offer(_("Teacher forcing"), { edit: "forced" });
    if (depth === "head" && canEdit) return offer(_("Switch {head} off", name), { depth: "model", edit: "off" });
    if (depth === "cell" && canEdit) return offer(_("Point {head} here", name), { depth: "model", edit: "point" });
    return [];
  }

  /** What a change of a head does to the model. */
  toldOfEdit() {
    const { edit, site, layer, head, key } = this.state;
    const name = `${SITE_NAMES()[site]} · ${headLabel(layer, head)}`;
    const { changed } = this.header;
    if (!this.isHere) return _("Computing …");
    if (edit === "forced" && changed)
      return _(
        "The decoder reads the reference “{text}”, whatever it would write (teacher forcing). “a ← b” means: a with teacher forcing, b when running freely. Columns are coloured by how far their vectors differ; lines are weights that differ.",
        { text: changed.text },
      );
    const done =
      edit === "off"
        ? _("{head} is switched off.", { head: name })
        : _("{head} is pointed at “{token}”.", { head: name, token: this.columns.keyToken(site, key) });
    const told = changed
      ? _(
          "Columns are coloured by how far their vectors move; lines are weights that change by {much} or more. Point at a column for all of its lines. Words whose prediction would change are shown above the columns; the tokens read stay the same.",
          { much: MUCH },
        )
      : _("What that changes is unknown for this model.");
    return `${done} ${told}`;
  }

  hint() {
    if (this.state.edit) return this.toldOfEdit();
    const hints = {
      model: _("Click a layer to see what it does to a token; click the name of a token to follow it."),
      layer: _("What this layer adds to the token. Click a head to open it."),
      head: _("One row of this head, from below to above. Click a key to see how its score is computed."),
      cell: _("One weight. Click a product to see its two numbers."),
      number: _("Two vectors, and the product of one component of each. Click another row of the table."),
    };
    const { end, depth } = this.state;
    const needsModel = _("Switching it off needs the model: open the sentence in Headlight.");
    if (this.kept && depth === "head") return `${hints.head} ${needsModel}`;
    return end ? _("What goes in and what comes out.") : hints[depth];
  }

  /** @param {number} number of a stop, from 1 */
  walkTo(number) {
    const stop = this.header.stops[number - 1];
    if (!stop) return;
    const { depth, end, dimension } = stop;
    // What the stops of a file say is said of the place where it begins.
    const { site, layer, head, row, key } = this.header.command;
    const begin = this.kept ? { site, layer, head, row, key } : {};
    this.go({ ...begin, depth, end, stop: number, ...(dimension === null ? {} : { dimension }) });
  }

  /** The step of the row that the stop is about; -1 for none. */
  get ringed() {
    return this.header.stops[this.state.stop - 1]?.at ?? -1;
  }
}

/** What a scene is drawn of. @param {Place | undefined} place */
const drawnOf = (place) => JSON.stringify(place && [place.depth, ...TOLD.map((name) => place[name])]);

/** The layer that opens on the way between two scenes. @param {Scene | undefined} outer @param {Scene | undefined} inner */
function openingOf(outer, inner) {
  const { machine } = inner ?? {};
  const [closed, opened] = machine ? [outer?.lies?.(machine), inner?.lies?.(machine)] : [];
  return machine && closed && opened ? { machine, closed, opened } : null;
}

/** @param {string} why @returns {Scene} */
const missing = (why) => ({ element: element("p", "walk-missing", why), draw() {} });

export default mount(".walk", Walk);
