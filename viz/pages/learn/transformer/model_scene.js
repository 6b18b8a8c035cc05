// The first depth: the whole model as a machine. A column is a token, as wide as its residual stream is long; attention is a
// slab across the columns, a feed-forward network a bulb on each. One token of each stack is lit, and what its strongest head
// takes from other tokens is a river. While the film runs, what is not computed yet is not there.
import { ofSize, svg } from "../../../pictures/shared/drawing.js";
import { onTold, pointAt } from "../../../pictures/shared/focus.js";
import { closest, hearItems } from "../../../pictures/shared/items.js";
import { _ } from "../../../pictures/shared/messages.js";
import { clamp, element, indexOfLargest, isPresented, tokenElement, zoomOf } from "../../../pictures/shared/picture.js";
import { percent } from "../../../pictures/shared/probability.js";
import { ANY, difference, LitTokens, shortened } from "./lit_tokens.js";
import { CHANCE, kindsOf, legendOf, MachineDrawing } from "./machine_drawing.js";
import { closedLayer, laneOf, layOut, ROOMY_FROM, STACKED_BELOW } from "./machine_layout.js";
import { strand } from "./machine_shapes.js";
import { NodeWords } from "./node_words.js";
import { Patches } from "./patches.js";
import { fromSpan, fromSvg, underWords, written } from "./shapes.js";

/** @import { Focus } from "../../../pictures/shared/focus.js" */
/** @import { Point } from "../../../pictures/shared/items.js" */
/** @import { Line } from "./model_columns.js" */
/** @import { Mark, Placing, Word } from "./shapes.js" */
/** @import { Lying } from "./unfolding.js" */
/** @import { Place, Stack } from "./walk.js" */
/** @typedef {import("./layer_machine.js").LayerMachine} LayerMachine */
/** @typedef {import("./walk.js").Walk} Walk */
/** A column at a level: after so many layers. @typedef {{ stack: Stack, level: number, column: number }} Node */

const TOKEN_ROOM = 78;
/** Above the columns: of words that are written, of none; above what stands over the encoder, of a picture that is read, and below that. */
const [OUTPUT_ROOM, BARE_ROOM, PICTURE_ROOM, PICTURE_GAP] = [112, 30, 100, 12];
/** Where columns have less room, their words stand upright. */
const UPRIGHT_BELOW = 12;
/** Below the tokens, where it is said which of a long text are drawn. */
const RANGE_ROOM = 16;
const PRESENT_BAR = 40;
/** The narrowest column, and the lowest and highest layer; so high are all together, if they may. */
const [NARROWEST, LOWEST, HIGHEST, ALL_LAYERS] = [7, 30, 84, 410];
const LOWEST_PRESENTED = 16;
/** Of a row that nobody looks at, lines at least this strong are drawn where all are asked for. */
const FAINT_WEIGHT = 0.25;
/** Under a change, lines that differ by so much are drawn in all columns. */
export const MUCH = 0.05;

export class ModelScene {
  /** What is drawn, by the step in which it is computed. @type {[number, Element][]} */ born = [];
  drawn = "";
  pointed = "";
  /** The step that is drawn; Infinity for all. */ shownStep = Infinity;
  lines = svg("g", { class: "model-lines" });
  lit = new LitTokens(this);
  told = new NodeWords(this);
  /** @type {SVGElement[]} */ nodes = [];
  /** @type {HTMLElement[]} */ words = [];
  /** Where a picture is read. @type {Patches | null} */ patches = null;
  /** What an edit changes. @type {import("./walk.js").WalkHeader["changed"]} */ changed = null;
  /** Whose rivers are drawn. @type {{ stack: Stack, column: number } | null} */ followed = null;
  /** @type {MachineDrawing} */ drawing;
  /** Until another scene takes its place. */ ended = new AbortController();
  /** What scrolls: it stays, whatever is drawn in it. */ room = element("div", "model-room");
  legend = element("div", "model-legend");
  /** What is painted around a layer. @type {{ marks: Mark[], words: Word[] }} */ around = { marks: [], words: [] };

  /** @param {Walk} walk */
  constructor(walk) {
    this.walk = walk;
    this.columns = walk.columns;
    const { patches } = this.columns.header;
    this.patches = patches && new Patches(patches);
    this.element = element("div", "model-scene", this.room, this.legend);
    this.element.addEventListener("animationend", () => this.element.classList.remove("stepped"));
    hearItems(this.element, "[data-node]", {
      point: (item, event) => this.tellNode(item, event),
      leave: () => this.leave(),
      visit: (item) => this.point(this.nodeOf(item)),
      choose: (item, event) => this.open(this.nodeOf(item), event instanceof MouseEvent ? event : null),
      press: (item, key) => this.step(item, key),
    });
    this.element.addEventListener("click", (event) => {
      const name = closest(event, "[data-follow]");
      if (name) this.follow(name.dataset.follow ?? "");
    });
    this.element.addEventListener("into", (event) => {
      const item = closest(event, "[data-node]");
      if (!item) return;
      this.open(this.nodeOf(item), /** @type {CustomEvent<Point>} */ (event).detail);
      event.preventDefault();
    });
    onTold("pointed", (/** @type {Focus | null} */ focus) => this.hear(focus), this.ended.signal);
    walk.ended.signal.addEventListener("abort", () => this.ended.abort(), { signal: this.ended.signal });
  }

  // ---- where things are ----

  /** @param {number} width */
  layOut(width) {
    const { stacks, written: outputs, lens } = this.columns.header;
    const isPart = stacks.some(({ tokens, total }) => total > tokens.length);
    const layers = Math.max(...stacks.map((stack) => stack.layers));
    const hasOutputs = outputs.some((candidates) => candidates.length);
    const above = hasOutputs ? OUTPUT_ROOM : BARE_ROOM;
    const below = TOKEN_ROOM + (isPart ? RANGE_ROOM : 0);
    const isStacked = stacks.length > 1 && width < STACKED_BELOW;
    const level = clamp(LOWEST, ((isStacked ? 0.75 : 1) * ALL_LAYERS) / layers, HIGHEST);
    const towers = stacks.map((stack) => ({
      name: stack.name,
      columns: stack.tokens.length,
      kinds: kindsOf(this.columns, stack),
      hasPositions: stack.waves > 0,
      hasLens: stack.name === "decoder" && lens.some((levels) => levels.length),
    }));
    // A part of a text or a sound is not seen whole anyway: its names are to be read, and it is scrolled.
    const least = isPart ? UPRIGHT_BELOW : NARROWEST;
    const picture = this.patches ? PICTURE_ROOM : 0;
    const room = { width, level, least, tokens: below, outputs: above, picture, hasTitle: stacks.length > 1 };
    if (isPresented(this.walk.root)) {
      // On a projector it fills the screen above the bar.
      const { top } = this.walk.holder.getBoundingClientRect();
      const height = (innerHeight - top) / zoomOf(this.walk.root) - PRESENT_BAR;
      const across = isStacked ? stacks.reduce((sum, stack) => sum + stack.layers, 0) : layers;
      room.level = clamp(LOWEST_PRESENTED, (height - layOut(towers, { ...room, level: 0 }).height) / across, 120);
    }
    this.drawing = new MachineDrawing(this.columns, layOut(towers, room));
  }

  /** @param {Stack} stack @param {number} column */
  x(stack, column) {
    return this.drawing.x(stack, column);
  }

  get pitch() {
    return this.drawing.machine.pitch;
  }

  /** Whether there is room for words beside the towers. */
  get isRoomy() {
    return this.walk.width >= ROOMY_FROM;
  }

  /** The followed token is in sight in a picture that is wider than the page. */
  arrive() {
    if (this.followed && this.drawing.machine.width > this.walk.width)
      this.room.scrollLeft = this.x(this.followed.stack, this.followed.column) - this.walk.width * 0.7;
  }

  /** Read what is painted of it on the way to a layer. */
  *ready() {
    const { pen } = this.walk.zoom.unfolding;
    // A note has lines of its own, and is not painted.
    const lit = /** @type {Iterable<HTMLElement>} */ (this.lit.said.querySelectorAll(".written"));
    const words = [...this.words, ...lit].map(fromSpan);
    pen.meet([], words);
    /** @type {Mark[]} */
    const marks = [];
    for (const part of this.svg?.children ?? []) {
      const shapes = Array.from(part.matches("g:not([class])") ? part.children : [part], fromSvg);
      pen.meet(shapes, []);
      yield;
      for (const each of shapes) yield void marks.push(...pen.marks([each]));
    }
    this.around = { marks, words };
  }

  /** Where a layer of it lies in the page, and all that is around it. @param {LayerMachine} machine @returns {Lying | undefined} */
  lies({ stack, heads, place }) {
    if (!this.svg) return;
    const { machine } = this.drawing;
    const tower = this.drawing.towerOf(stack);
    const { top } = tower.layers[place.layer];
    const { x, y } = this.svg.getBoundingClientRect();
    const around = { ...this.around, top };
    return { placed: closedLayer(machine, tower, place.layer, heads), x, y: y + top * zoomOf(this.svg), around };
  }

  // ---- drawing ----

  draw() {
    const { state, width } = this.walk;
    this.changed = state.edit && this.walk.isHere ? this.walk.header.changed : null;
    const open = [state.site, state.layer, state.head];
    const edit = this.changed && [state.edit, ...open, state.row, state.key];
    this.layOut(width);
    const { height } = this.drawing.machine;
    const ofHead = state.lines === "chosen" || state.lines === "token";
    const drawn = JSON.stringify([width, height, state.lines, ofHead && open, edit]);
    if (drawn !== this.drawn) {
      this.drawn = drawn;
      this.build();
    } else if (this.lens !== this.columns.header.lens)
      for (const node of this.nodes) node.setAttribute("aria-label", this.told.spokenOf(this.nodeOf(node)));
    this.lens = this.columns.header.lens;
    this.followed = { stack: this.columns.stackOf(state.site), column: this.followedColumn };
    this.drawStep();
    this.over(this.followed.stack, this.followed.column);
  }

  get followedColumn() {
    const { site, row } = this.walk.state;
    return clamp(0, row - this.columns.stackOf(site).first, this.columns.stackOf(site).tokens.length - 1);
  }

  build() {
    this.born = [];
    this.shownStep = Infinity;
    this.words = [];
    const { machine } = this.drawing;
    const { stacks } = this.columns.header;
    this.lines.replaceChildren();
    const nodes = svg("g", {});
    const lanes = svg("g", { class: "model-memory" });
    const label = _("The whole model: columns are tokens, layers go up, attention goes across; F follows a token");
    const slabs = stacks.flatMap((stack) => this.drawing.slabs(stack));
    const picture = this.patches ? [this.wholePicture(this.patches)] : [];
    const parts = [this.lit.light, ...slabs, lanes, this.lines, ...picture, nodes, this.lit.top];
    this.svg = svg("svg", { ...ofSize(machine.width, machine.height), role: "group", "aria-label": label }, ...parts);
    if (machine.shaft) this.buildMemory(lanes);
    for (const stack of stacks) this.buildStack(stack, nodes);
    if (this.changed || this.walk.state.lines === "chosen") this.buildLines();
    const legend = legendOf(this.columns, this.pitch).map(([colour, name]) =>
      element("span", "key", element("span", { className: "swatch", style: `background:${colour}` }), name),
    );
    const hasLens = this.columns.header.lens.some((levels) => levels.length);
    if (hasLens && !this.isRoomy && !this.changed)
      legend.push(element("span", "key", _("Right: what each layer would predict if it were the last")));
    this.room.replaceChildren(underWords(this.svg, [...this.words, this.lit.said]));
    this.legend.replaceChildren(...legend);
    this.nodes = [.../** @type {NodeListOf<SVGElement>} */ (this.element.querySelectorAll(".model-node"))];
    this.nodes[0]?.setAttribute("tabindex", "0");
  }

  /** The picture that is read, above the encoder and what stands over that. @param {Patches} patches */
  wholePicture(patches) {
    const { picture, towers } = this.drawing.machine;
    return patches.whole(towers[0].left, picture - PICTURE_GAP, PICTURE_ROOM - PICTURE_GAP - 2);
  }

  /** @param {SVGElement} lanes */
  buildMemory(lanes) {
    const [encoder] = this.columns.header.stacks;
    const { shaft, isStacked } = this.drawing.machine;
    const born = this.columns.bornAt(encoder, encoder.layers, encoder.first);
    encoder.tokens.forEach((_token, column) => {
      const width = Math.max(0.6, (shaft?.lane ?? 1) * 0.8);
      const lane = svg("path", { d: this.drawing.lane(column), class: "model-lane", style: `stroke-width:${width}` });
      lanes.append(lane);
      this.born.push([born, lane]);
    });
    if (isStacked) return;
    const last = laneOf(this.drawing.machine, 0);
    this.write(_("memory"), this.x(encoder, 0) + 14, last.y - 10, "model-memory-name");
  }

  /** @param {Stack} stack @param {SVGElement} nodes */
  buildStack(stack, nodes) {
    const { drawing } = this;
    const tower = drawing.towerOf(stack);
    const { name, tokens, first, total } = stack;
    this.nameLayers(stack);
    for (const wave of drawing.waves(stack)) nodes.append(wave);
    if (total > tokens.length) {
      const range = { first: first + 1, last: first + tokens.length, total };
      const y = tower.tokens + TOKEN_ROOM + RANGE_ROOM - 6;
      this.write(_("Positions {first} to {last} of {total}", range), tower.left, y, "model-range");
    }
    // Leaning words would lie over one another where columns are close together.
    const angle = this.pitch < UPRIGHT_BELOW ? -90 : -60;
    tokens.forEach((token, column) => {
      const x = this.x(stack, column);
      const row = first + column;
      const ground = { x: x - this.pitch / 2, width: this.pitch, class: "model-ground" };
      const input = { y: tower.positions.top, height: tower.embedding.foot - tower.positions.top };
      const vector = drawing.vector(stack, column, this.walk.scales.signed);
      const enter = [svg("rect", { ...ground, ...input }), vector];
      this.addNode(nodes, { stack, level: 0, column }, enter, this.columns.bornAt(stack, 0, row));
      tower.layers.forEach(({ top, foot }, layer) => {
        const level = layer + 1;
        const parts = drawing.columnParts(stack, layer, column);
        this.tint(parts[0], stack, level, column);
        const hidden = svg("rect", { ...ground, y: top, height: foot - top });
        const node = { stack, level, column };
        this.addNode(nodes, node, [hidden, ...parts], this.columns.bornAt(stack, level, row));
      });
      const y = tower.embedding.foot;
      const read = (name === "decoder" && this.changed?.read[row]) || token;
      const patch = name === "encoder" && this.patches?.columnOf(x, y + 4, this.pitch - 2, row);
      if (patch) nodes.append(patch);
      const placing = /** @type {Placing} */ ({ anchor: "end", angle });
      const text = patch || this.write(besides(read, token), x, y + 8, "model-token read", placing);
      text.dataset.input = text.dataset.follow = `${name} ${column}`;
      this.born.push([this.columns.bornAt(stack, 0, row), text]);
      nodes.append(svg("rect", { ...ground, y, height: TOKEN_ROOM, "data-follow": `${name} ${column}` }));
      this.addOutput(nodes, stack, column, angle);
    });
  }

  /** What a column of the decoder writes. @param {SVGElement} nodes @param {Stack} stack @param {number} column @param {number} angle */
  addOutput(nodes, stack, column, angle) {
    const [best] = stack.name === "decoder" ? (this.columns.header.written[column] ?? []) : [];
    if (!best) return;
    const x = this.x(stack, column);
    const row = stack.first + column;
    const y = this.drawing.towerOf(stack).end - 4;
    const width = this.pitch * 0.5;
    const frame = { x: x - width / 2, width };
    const high = CHANCE * best.probability;
    const parts = [
      svg("rect", { x: x - this.pitch / 2, y: y - 70, width: this.pitch, height: 74, class: "model-ground" }),
      svg("rect", { ...frame, y: y - CHANCE, height: CHANCE, class: "model-frame", rx: 1.5 }),
      svg("rect", { ...frame, y: y - high, height: high + 0.5, class: "model-chance", rx: 1.5 }),
    ];
    const step = this.columns.bornAt(stack, stack.layers, row, true);
    const out = this.addNode(nodes, { stack, level: stack.layers + 1, column }, parts, step);
    out.classList.add("output");
    const instead = this.changed?.written[row - stack.prompt] ?? best.token;
    const word = this.write(besides(instead, best.token), x, y - CHANCE - 8, "model-token", { angle });
    word.dataset.output = `${stack.name} ${column}`;
    this.born.push([step, word]);
  }

  /** Names beside a tower. @param {Stack} stack */
  nameLayers(stack) {
    const { stacks } = this.columns.header;
    const { machine } = this.drawing;
    const tower = this.drawing.towerOf(stack);
    const { name } = stack;
    const right = tower.left + tower.columns * machine.pitch;
    const isFirst = stack === stacks[0];
    if (isFirst || (!machine.isStacked && stack.layers !== stacks[0].layers))
      tower.layers.forEach(({ top, foot }, layer) =>
        this.write(`L${layer + 1}`, tower.left - 8, (top + foot) / 2, "model-layer", { anchor: "end" }),
      );
    if (!machine.isStacked && isFirst && this.isRoomy) {
      const middle = (/** @type {{ top: number, foot: number }} */ { top, foot }) => (top + foot) / 2;
      this.write(_("embedding"), tower.left - 6, middle(tower.embedding), "model-layer", { anchor: "end" });
      if (stack.waves)
        this.write(_("+ position"), tower.left - 6, middle(tower.positions), "model-position", { anchor: "end" });
    }
    if (stacks.length < 2) return;
    const title = name === "encoder" ? _("Encoder") : _("Decoder");
    if (name === "encoder") this.write(title, tower.left, machine.picture + 18, "model-title");
    else if (machine.isStacked) this.write(title, 2, Math.max(10, tower.end - 96), "model-title");
    else this.write(title, right + 14, tower.end - 14, "model-title");
  }

  /** @param {SVGElement} nodes @param {Node} node @param {SVGElement[]} parts @param {number} born */
  addNode(nodes, node, parts, born) {
    const { stack, level, column } = node;
    const place = { class: "model-node", "data-node": `${stack.name} ${level} ${column}` };
    const made = svg("g", { ...place, tabindex: -1, role: "button", "aria-label": this.told.spokenOf(node) }, ...parts);
    nodes.append(made);
    this.born.push([born, made]);
    return made;
  }

  /** Under a change a stream is coloured by how far it moves. @param {SVGElement} stream @param {Stack} stack @param {number} level @param {number} column */
  tint(stream, stack, level, column) {
    if (!this.changed) return;
    const moved = 100 * Math.min(1, Math.sqrt(this.moved(stack, level, column)));
    stream.style.fill = `color-mix(in srgb, var(--walk-changed) ${moved}%, var(--walk-same))`;
  }

  /** @param {Parameters<typeof written>[0]} text @param {number} x @param {number} y @param {string} className @param {Placing} [placing] */
  write(text, x, y, className, placing) {
    const words = written(text, x, y, className, placing);
    this.words.push(words);
    return words;
  }

  /** Lines into all columns: of the open head, or of what a change does. */
  buildLines() {
    for (const [site, { layers, rows, keys }] of this.columns.sites) {
      for (let layer = 0; layer < layers; layer++) {
        rows.tokens.forEach((_token, row) => {
          keys.tokens.forEach((_key, key) => {
            const line = this.lineOf(site, layer, row, key);
            const isShown = this.changed ? difference(line) >= MUCH : line.weight >= FAINT_WEIGHT;
            if (isShown) this.addLine(site, layer, row, key, line, this.lines, "faint");
          });
        });
      }
    }
  }

  /** @param {string} site @param {number} layer @param {number} row @param {number} key */
  lineOf(site, layer, row, key) {
    return this.columns.line(site, layer, row, key, this.walk.state, this.changed);
  }

  /** How far an edit moves the stream of a column, as a share of its norm. @param {Stack} stack @param {number} level @param {number} column */
  moved(stack, level, column) {
    return this.changed?.streams[stack.name]?.[level]?.[stack.first + column] ?? 0;
  }

  /** @param {string} site @param {number} layer @param {number} row @param {number} key @param {Line} line @param {SVGElement} group @param {string} className */
  addLine(site, layer, row, key, line, group, className) {
    const { rows, keys } = /** @type {any} */ (this.columns.sites.get(site));
    const [, kind] = site.split(".");
    const body = this.drawing.body(rows, layer, kind);
    if (!body) return;
    const from = kind === "cross" ? laneOf(this.drawing.machine, key).x : this.x(keys, key);
    const size = Math.max(line.weight, difference(line));
    const colour = difference(line) >= ANY ? "changed" : kind;
    const drawn = svg("path", {
      d: strand(from, body.foot, this.x(rows, row), body.top),
      class: `model-line ${colour} ${className}`,
      pathLength: 1,
      style: `stroke-width:${0.4 + size * 4};--weight:${size}`,
    });
    group.append(drawn);
    if (className === "faint") this.born.push([this.columns.bornAt(rows, layer + 1, rows.first + row), drawn]);
  }

  /** What is computed in the step that is shown, and all before it. */
  drawStep() {
    const { step } = this.walk.state;
    const isEnd = step === this.walk.count - 1;
    const [before, now] = [this.shownStep, isEnd ? Infinity : step];
    this.shownStep = now;
    const [low, high] = [Math.min(before, now), Math.max(before, now)];
    // What is computed now moves into its place once, not whenever the scene comes back.
    if (low !== high) this.element.classList.add("stepped");
    for (const [at, part] of this.born) {
      if (at < low || at > high) continue;
      part.classList.toggle("unborn", !isEnd && at > step);
      part.classList.toggle("now", !isEnd && at === step);
    }
  }

  /** What is lit: a column and the one of the other stack that it reads most, or that reads it; while the film runs, the one that is computed. @param {Stack} stack @param {number} column */
  over(stack, column) {
    const { step } = this.walk.state;
    const isEnd = step === this.walk.count - 1;
    const stage = isEnd ? null : this.columns.stages[step];
    if (stage && this.pointed === "" && stage.row >= 0) {
      stack = this.columns.stack(stage.stack);
      column = stage.row - stack.first;
    }
    const isSource = stack.name === "encoder";
    const partner = this.columns.header.stacks.find((each) => each !== stack);
    const lit = new Map([[stack.name, column]]);
    if (partner) lit.set(partner.name, this.columns.partnerOf(column, isSource));
    const isLit = (/** @type {string | undefined} */ place, at = 1) => {
      const parts = (place ?? "").split(" ");
      return lit.get(/** @type {Stack["name"]} */ (parts[0])) === Number(parts[at]);
    };
    for (const node of this.nodes) node.classList.toggle("followed", isLit(node.dataset.node, 2));
    for (const { classList, dataset } of this.words)
      if (dataset.input || dataset.output) classList.toggle("followed", isLit(dataset.input ?? dataset.output));
    this.patches?.point(this.columns.stack("encoder").first + (lit.get("encoder") ?? -1));
    this.lit.draw(lit, this.changed);
  }

  // ---- what a person does ----

  /** @param {Element} item @returns {Node} */
  nodeOf(item) {
    const [name, level, column] = (item.getAttribute("data-node") ?? "").split(" ");
    return { stack: this.columns.stack(name), level: Number(level), column: Number(column) };
  }

  /** @param {Node} node */
  point({ stack, column }) {
    this.pointed = `${stack.name} ${column}`;
    this.over(stack, column);
    const place = { side: stack.name === "encoder" ? "source" : "target", tokens: [stack.first + column] };
    pointAt({ query: place, key: null });
  }

  leave() {
    this.walk.tooltip.hide();
    if (this.pointed === "") return;
    this.pointed = "";
    pointAt(null);
    this.over(this.columns.stackOf(this.walk.state.site), this.followedColumn);
  }

  /** Another part of the page points at a word. @param {Focus | null} focus */
  hear(focus) {
    if (this.walk.scene !== this || this.pointed) return;
    const place = focus?.query ?? focus?.key;
    const stack =
      place && this.columns.header.stacks.find(({ name }) => (name === "encoder") === (place.side === "source"));
    const column = stack ? place.tokens[0] - stack.first : -1;
    if (stack && column >= 0 && column < stack.tokens.length) this.over(stack, column);
    else if (this.followed) this.over(this.followed.stack, this.followed.column);
  }

  /** @param {HTMLElement | SVGElement} item @param {PointerEvent} event */
  tellNode(item, event) {
    const node = this.nodeOf(item);
    const { stack, level, column } = node;
    if (this.pointed !== `${stack.name} ${column}`) this.point(node);
    const written = level > stack.layers ? this.columns.header.written[column] : [];
    const outputs = written.map(({ token, probability }) =>
      element("div", "tooltip-value", tokenElement(token), `  ${percent(probability)}`),
    );
    this.walk.tooltip.showContent(event, this.told.nameOf(node), ...this.told.linesOf(node), ...outputs);
  }

  /** @param {PointerEvent} event */
  tell(event) {
    if (!closest(event, "[data-node]")) this.walk.tooltip.hide();
  }

  /** Another token is followed, at this depth. @param {string} place */
  follow(place) {
    const [name, column] = place.split(" ");
    const stack = this.columns.stack(name);
    const found = this.placeOf(stack, Number(column));
    if (!found) return;
    // While a token's own steps are shown, it would stay the one that is lit.
    const { step } = this.walk.state;
    const isOfRow = this.columns.stages[step]?.row >= 0;
    this.walk.go({ ...found, depth: "model", end: "", step: isOfRow ? this.walk.count - 1 : step });
  }

  /** @param {Stack} stack @param {number} column @param {string} [asked] the attention that is looked at @returns {Partial<Place> | null} */
  placeOf(stack, column, asked) {
    const row = stack.first + column;
    const { site } = this.walk.state;
    const isOwn = this.columns.stackOf(site) === stack;
    const own = asked ?? (isOwn ? site : [...this.columns.sites].find(([, { rows }]) => rows === stack)?.[0]);
    if (!own) return null;
    return { site: own, row, ...(own === site ? {} : { head: 0 }), key: this.strongestKey(own, row) };
  }

  /** The attention of a layer that lies under a point. @param {Node} node @param {Point} point */
  siteAt({ stack, level }, { clientY }) {
    const { top, height } = this.svg?.getBoundingClientRect() ?? new DOMRect();
    const y = ((clientY - top) * this.drawing.machine.height) / (height || 1);
    const bodies = this.drawing.towerOf(stack).layers[level - 1]?.bodies ?? [];
    const body = bodies.find((each) => each.top <= y && y < each.foot);
    const site = `${stack.name}.${body?.kind}`;
    return this.columns.sites.has(site) ? site : undefined;
  }

  /** A layer opens at a token, and the attention that is looked at in it with the head that adds most. @param {Node} node @param {Point | null} [point] */
  open(node, point = null) {
    const { stack, level, column } = node;
    const site = point ? this.siteAt(node, point) : undefined;
    const found = this.placeOf(stack, column, site);
    if (found && site && site !== this.walk.state.site) found.head = this.columns.strongest(site, level - 1, column);
    if (!found) return;
    /** @type {Partial<Place>} */
    const place = { ...found, depth: "layer" };
    if (level === 0) this.walk.go({ ...place, end: "input" });
    else if (level > stack.layers) this.walk.go({ ...place, end: "output" });
    else this.walk.go({ ...place, end: "", layer: level - 1 });
  }

  /** The key that the row looks at most, where the one that is kept is of another side. @param {string} site @param {number} row */
  strongestKey(site, row) {
    const { state } = this.walk;
    const found = this.columns.sites.get(site);
    if (!found || (state.site === site && state.row === row)) return state.key;
    return found.keys.first + indexOfLargest(this.columns.weights(site, 0, -1, row - found.rows.first));
  }

  /** @param {HTMLElement | SVGElement} item @param {string} key */
  step(item, key) {
    const { stack, level, column } = this.nodeOf(item);
    if (key.toLowerCase() === "f") this.follow(`${stack.name} ${column}`);
    const to = {
      ArrowLeft: [level, column - 1],
      ArrowRight: [level, column + 1],
      ArrowUp: [level + 1, column],
      ArrowDown: [level - 1, column],
    }[key];
    const target = to && this.element.querySelector(`[data-node="${stack.name} ${to[0]} ${to[1]}"]`);
    if (!to) return key.toLowerCase() === "f";
    if (target) /** @type {SVGElement} */ (target).focus();
    return true;
  }
}

/** A token, and what stands in its place where that is another. @param {string} instead @param {string} token */
const besides = (instead, token) =>
  instead === token
    ? [shortened(token)]
    : [tokenElement(shortened(instead), ""), " ← ", tokenElement(shortened(token), "")];
