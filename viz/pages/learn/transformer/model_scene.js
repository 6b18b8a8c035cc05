// The first depth: the whole model. A column is a token, as wide at each layer as its residual stream is long; lines are
// attention, from the key below to the row above. While the film runs, what is not computed yet is not there.
import { svg } from "../../../pictures/shared/drawing.js";
import { onTold, pointAt } from "../../../pictures/shared/focus.js";
import { closest, hearItems } from "../../../pictures/shared/items.js";
import { _ } from "../../../pictures/shared/messages.js";
import { clamp, element, isPresented, tokenElement, zoomOf } from "../../../pictures/shared/picture.js";
import { percent } from "../../../pictures/shared/probability.js";
import { lineName } from "./model_columns.js";
import { Patches } from "./patches.js";
import { underWords, written } from "./written.js";

/** @import { Focus } from "../../../pictures/shared/focus.js" */
/** @import { Place, Stack } from "./walk.js" */
/** @import { Placing } from "./written.js" */
/** @typedef {import("./walk.js").Walk} Walk */
/** A column at a level: after so many layers. @typedef {{ stack: Stack, level: number, column: number }} Node */
/** @import { Line } from "./model_columns.js" */
/** @typedef {Line & { site: string, layer: number, row: number, key: number }} Edge row and key as columns */

const [TOKEN_ROOM, OUTPUT_ROOM] = [78, 74];
/** Where columns have less room, their words stand upright. */
const UPRIGHT_BELOW = 12;
/** Below the tokens, where it is said which of a long text are drawn. */
const RANGE_ROOM = 16;
/** Room left of the columns and right of each stack; on a narrow page. */
const [ROOMY, TIGHT] = [
  [64, 44],
  [26, 24],
];
const TIGHT_BELOW = 600;
const PRESENT_BAR = 40;
const WIDEST_COLUMN_ROOM = 46;
/** Of a row that nobody looks at, lines at least this strong are drawn, so many at most. */
const [FAINT_WEIGHT, FAINT_LINES, SHOWN_WEIGHT] = [0.25, 2, 0.02];
/** Under a change, lines that differ by so much are drawn in all columns; in the one that is looked at, by so much. */
export const MUCH = 0.05;
const ANY = 0.005;

export class ModelScene {
  /** Of the columns: where each stack begins. @type {Map<string, number>} */ starts = new Map();
  /** What is drawn, by the step in which it is computed. @type {[number, Element][]} */ born = [];
  /** @type {Edge[]} */ edges = [];
  drawn = "";
  pointed = "";
  /** The step that is drawn; Infinity for all. */ shownStep = Infinity;
  room = WIDEST_COLUMN_ROOM;
  level = 0;
  bottom = 0;
  size = { width: 0, height: 0 };
  lines = svg("g", { class: "model-lines" });
  top = svg("g", { class: "model-top" });
  /** @type {SVGElement[]} */ nodes = [];
  /** @type {HTMLElement[]} */ words = [];
  /** Where a picture is read. @type {Patches | null} */ patches = null;
  /** What an edit changes. @type {import("./walk.js").WalkHeader["changed"]} */ changed = null;
  /** Whose lines are drawn. @type {{ stack: Stack, column: number } | null} */ followed = null;

  /** @param {Walk} walk */
  constructor(walk) {
    this.walk = walk;
    this.columns = walk.columns;
    const { patches } = this.columns.header;
    this.patches = patches && new Patches(patches);
    this.element = element("div", "model-scene");
    this.element.addEventListener("animationend", () => this.element.classList.remove("stepped"));
    hearItems(this.element, "[data-node]", {
      point: (item, event) => this.tellNode(item, event),
      leave: () => this.leave(),
      visit: (item) => this.point(this.nodeOf(item)),
      choose: (item) => this.open(this.nodeOf(item), item),
      press: (item, key) => this.step(item, key),
    });
    const openLine = (/** @type {Event} */ event) => {
      const line = closest(event, "[data-edge]");
      if (!line) return;
      this.openEdge(this.edges[Number(line.dataset.edge)], line);
      event.preventDefault();
    };
    this.element.addEventListener("click", openLine);
    this.element.addEventListener("into", (event) => {
      const item = closest(event, "[data-node]");
      if (!item) return openLine(event);
      this.open(this.nodeOf(item), item);
      event.preventDefault();
    });
    onTold("pointed", (/** @type {Focus | null} */ focus) => this.hear(focus), walk.ended.signal);
  }

  // ---- where things are ----

  /** @param {number} width */
  layOut(width) {
    const { stacks } = this.columns.header;
    const [margin, gap] = width < TIGHT_BELOW ? TIGHT : ROOMY;
    const count = stacks.reduce((sum, { tokens }) => sum + tokens.length, 0);
    const isPart = stacks.some(({ tokens, total }) => total > tokens.length);
    // A part of a text or a sound is not seen whole anyway: its names are to be read, and it is scrolled.
    const least = isPart ? UPRIGHT_BELOW : 7;
    this.room = clamp(least, (width - margin - gap * stacks.length) / Math.max(count, 1), WIDEST_COLUMN_ROOM);
    const layers = Math.max(...stacks.map((stack) => stack.layers));
    const below = TOKEN_ROOM + (isPart ? RANGE_ROOM : 0);
    this.level = clamp(26, 380 / (layers + 1), 62);
    if (isPresented(this.walk.root)) {
      // On a projector it fills the screen above the bar.
      const { top } = this.walk.holder.getBoundingClientRect();
      const height = (innerHeight - top) / zoomOf(this.walk.root) - PRESENT_BAR - OUTPUT_ROOM - below;
      this.level = clamp(20, height / (layers + 1), 120);
    }
    this.bottom = OUTPUT_ROOM + (layers + 0.5) * this.level;
    let left = margin;
    for (const { name, tokens } of stacks) {
      this.starts.set(name, left);
      left += tokens.length * this.room + gap;
    }
    this.size = { width: Math.max(width, left - gap), height: this.foot + below };
  }

  /** @param {Stack} stack @param {number} column */
  x({ name }, column) {
    return (this.starts.get(name) ?? 0) + (column + 0.5) * this.room;
  }

  /** Where the columns end and their tokens begin. */
  get foot() {
    return this.bottom + this.level * 0.5;
  }

  /** @param {number} level */
  y(level) {
    return this.bottom - level * this.level;
  }

  // ---- drawing ----

  draw() {
    const { state, width } = this.walk;
    this.changed = state.edit && this.walk.isHere ? this.walk.header.changed : null;
    const open = [state.site, state.layer, state.head];
    const edit = this.changed && [state.edit, ...open, state.row, state.key];
    this.layOut(width);
    const ofOpen = ["chosen", "token"].includes(state.lines) && open;
    const drawn = JSON.stringify([width, this.level, state.lines, ofOpen, edit]);
    if (drawn !== this.drawn) {
      this.drawn = drawn;
      this.build();
    }
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
    this.edges = [];
    this.words = [];
    const { width: w, height: h } = this.size;
    this.lines.replaceChildren();
    const nodes = svg("g", {});
    const label = _("The whole model: columns are tokens, layers go up, lines are attention");
    this.svg = svg(
      "svg",
      { width: w, height: h, viewBox: `0 0 ${w} ${h}`, role: "group", "aria-label": label },
      this.lines,
      this.top,
      ...(this.patches ? [this.patches.whole(this.starts.get("encoder") ?? 0, this.aboveEncoder())] : []),
      nodes,
    );
    for (const stack of this.columns.header.stacks) this.buildStack(stack, nodes);
    for (const [site, { layers, rows, keys }] of this.columns.sites) {
      // Those of cross-attention would cover the others, but where a change is looked at.
      if (!this.changed && (site === "decoder.cross" || this.walk.state.lines === "token")) continue;
      for (let layer = 0; layer < layers; layer++) {
        rows.tokens.forEach((_token, row) => {
          const found = keys.tokens.map((_key, key) => ({ key, ...this.lineOf(site, layer, row, key) }));
          const shown = this.changed
            ? found.filter((line) => difference(line) >= MUCH)
            : found
                .filter(({ weight }) => weight >= FAINT_WEIGHT)
                .sort((a, b) => b.weight - a.weight)
                .slice(0, FAINT_LINES);
          for (const line of shown) this.addLine({ site, layer, row, ...line }, this.lines, "faint");
        });
      }
    }
    this.element.replaceChildren(underWords(this.svg, this.words));
    this.nodes = [...this.element.querySelectorAll(".model-node")].map((node) => /** @type {SVGElement} */ (node));
    this.nodes[0]?.setAttribute("tabindex", "0");
  }

  /** The height of the whole picture: up to the heading of the encoder where there is a decoder too. */
  aboveEncoder() {
    const { stacks } = this.columns.header;
    const heading = this.y(stacks[0].layers) - this.level * 0.5 - 26;
    return stacks.length > 1 ? Math.min(OUTPUT_ROOM - 8, heading) : OUTPUT_ROOM - 8;
  }

  /** @param {Stack} stack @param {SVGElement} nodes */
  buildStack(stack, nodes) {
    const { name, layers, tokens, first, total } = stack;
    const { written, stacks } = this.columns.header;
    const left = this.starts.get(name) ?? 0;
    if (stack === stacks[0] || layers !== stacks[0].layers)
      for (let level = 1; level <= layers; level++)
        this.write(`L${level}`, left - 10, this.y(level), "model-layer", { anchor: "end" });
    const above = this.y(layers) - this.level * 0.5;
    if (stacks.length > 1 && name === "encoder") this.write(_("Encoder"), left, above - 10, "model-title");
    // Left of what the decoder writes.
    else if (stacks.length > 1) this.write(_("Decoder"), left - 6, above - 10, "model-title", { anchor: "end" });
    if (total > tokens.length) {
      const range = _("Positions {first} to {last} of {total}", {
        first: first + 1,
        last: first + tokens.length,
        total,
      });
      this.write(range, left, this.size.height - 6, "model-range");
    }
    // A column lies above the lines, which are pointed at between columns.
    const hit = Math.max(6, this.room * 0.45);
    const ground = { width: hit, height: this.level, class: "model-ground" };
    // Leaning words would lie over one another where columns are close together.
    const angle = this.room < UPRIGHT_BELOW ? -90 : -60;
    tokens.forEach((token, column) => {
      const x = this.x(stack, column);
      const row = first + column;
      for (let level = 0; level <= layers; level++) {
        const hidden = svg("rect", { x: x - hit / 2, y: this.y(level) - this.level / 2, ...ground });
        const node = this.nodeAt({ stack, level, column }, hidden, this.columnShape(stack, level, column));
        nodes.append(node);
        this.born.push([this.columns.bornAt(stack, level, row), node]);
      }
      const { foot } = this;
      const read = (name === "decoder" && this.changed?.read[row]) || token;
      const patch = name === "encoder" && this.patches?.columnOf(x, foot + 4, this.room - 2, row);
      if (patch) nodes.append(patch);
      const placing = /** @type {Placing} */ ({ anchor: "end", angle });
      const text = patch || this.write(besides(read, token), x, foot + 8, "model-token read", placing);
      this.born.push([this.columns.bornAt(stack, 0, row), text]);
      const [best] = name === "decoder" ? (written[column] ?? []) : [];
      if (!best) return;
      const instead = this.changed?.written[row - stack.prompt] ?? best.token;
      const [y, high] = [above - 8, 8 * best.probability];
      const chance = { x: x - this.room * 0.3, y: y + 2 - high, width: this.room * 0.6, height: high + 0.5 };
      const word = this.write(besides(instead, best.token), x, y - 10, "model-token", { angle });
      word.dataset.output = `${name} ${column}`;
      const out = this.nodeAt(
        { stack, level: layers + 1, column },
        svg("rect", { x: x - this.room / 2, y: y - 44, width: this.room, height: 46, class: "model-ground" }),
        svg("rect", { ...chance, class: "model-chance" }),
      );
      out.classList.add("output");
      nodes.append(out);
      const step = this.columns.bornAt(stack, layers, row, true);
      this.born.push([step, out], [step, word]);
    });
  }

  /** @param {Node} node @param {SVGElement[]} parts */
  nodeAt(node, ...parts) {
    const { stack, level, column } = node;
    const place = { class: "model-node", "data-node": `${stack.name} ${level} ${column}` };
    return svg("g", { ...place, tabindex: -1, role: "button", "aria-label": this.nameOf(node) }, ...parts);
  }

  /** @param {string} text @param {number} x @param {number} y @param {string} className @param {Placing} [placing] */
  write(text, x, y, className, placing) {
    const words = written(text, x, y, className, placing);
    this.words.push(words);
    return words;
  }

  /** From the level below to this one, as wide as the stream is long. @param {Stack} stack @param {number} level @param {number} column */
  columnShape(stack, level, column) {
    const x = this.x(stack, column);
    const half = (/** @type {number} */ at) => Math.max(1, this.columns.share(stack, at, column) * this.room * 0.46);
    const [a, b] = [half(Math.max(level - 1, 0)), half(level)];
    const [low, high] = [level ? this.y(level - 1) : this.y(0) + this.level * 0.4, this.y(level)];
    return svg("path", {
      style: this.changed
        ? `fill:color-mix(in srgb, var(--walk-changed) ${100 * Math.min(1, Math.sqrt(this.moved(stack, level, column)))}%, var(--walk-same))`
        : "",
      d: `M${x - a} ${low}L${x - b} ${high}L${x + b} ${high}L${x + a} ${low}Z`,
      class: "model-stream",
    });
  }

  /** @param {string} site @param {number} layer @param {number} row @param {number} key */
  lineOf(site, layer, row, key) {
    return this.columns.line(site, layer, row, key, this.walk.state, this.changed);
  }

  /** How far an edit moves the stream of a column, as a share of its norm. @param {Stack} stack @param {number} level @param {number} column */
  moved(stack, level, column) {
    return this.changed?.streams[stack.name]?.[level]?.[stack.first + column] ?? 0;
  }

  /** @param {Edge} edge @param {SVGElement} group @param {string} className */
  addLine(edge, group, className) {
    const { site, layer, row, key, weight } = edge;
    const { rows, keys } = /** @type {any} */ (this.columns.sites.get(site));
    const [x, y] = [this.x(rows, row), this.y(layer + 1)];
    const isCross = site === "decoder.cross";
    const from = { x: this.x(keys, key), y: isCross ? this.y(keys.layers) : this.y(layer) };
    const middle = isCross ? (from.x + x) / 2 : 0;
    const d = isCross
      ? `M${from.x} ${from.y}C${middle} ${from.y} ${middle} ${y} ${x} ${y}`
      : `M${from.x} ${from.y}C${from.x} ${(from.y + y) / 2} ${x} ${(from.y + y) / 2} ${x} ${y}`;
    const differs = difference(edge);
    const kind = differs >= ANY ? "changed" : isCross ? "cross" : "self";
    const line = svg("path", {
      d,
      class: `model-line ${kind} ${className}`,
      "data-edge": this.edges.length,
      pathLength: 1,
      style: `stroke-width:${0.4 + Math.max(weight, differs) * 4};--weight:${Math.max(weight, differs)}`,
    });
    this.edges.push(edge);
    group.append(line);
    if (className === "faint") this.born.push([this.columns.bornAt(rows, layer + 1, rows.first + row), line]);
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

  /** The lines into one column, all of its layers; while the film runs, into the one that is computed. @param {Stack} stack @param {number} column */
  over(stack, column) {
    const { step, edit } = this.walk.state;
    const isEnd = step === this.walk.count - 1;
    const stage = isEnd ? null : this.columns.stages[step];
    if (stage && this.pointed === "") {
      stack = this.columns.stack(stage.stack);
      if (stage.row >= 0) column = stage.row - stack.first;
    }
    for (const node of this.nodes) {
      const [name, , at] = (node.dataset.node ?? "").split(" ");
      node.classList.toggle("followed", name === stack.name && Number(at) === column);
    }
    for (const each of this.words) each.classList.toggle("followed", each.dataset.output === `${stack.name} ${column}`);
    this.patches?.point(stack.name === "encoder" ? stack.first + column : -1);
    this.edges.length = this.lines.childElementCount;
    this.top.replaceChildren();
    for (const [site, { layers, rows, keys }] of this.columns.sites) {
      if (rows !== stack) continue;
      for (let layer = 0; layer < layers; layer++) {
        const born = this.columns.bornAt(stack, layer + 1, stack.first + column);
        if (!isEnd && born > step) continue;
        keys.tokens.forEach((_token, key) => {
          const line = this.lineOf(site, layer, column, key);
          // Over other words only what differs is of interest.
          if (difference(line) >= ANY || (line.weight >= SHOWN_WEIGHT && edit !== "forced"))
            this.addLine({ site, layer, row: column, key, ...line }, this.top, born === step ? "strong now" : "strong");
        });
      }
    }
  }

  // ---- what a person does ----

  /** @param {Element} item @returns {Node} */
  nodeOf(item) {
    const [name, level, column] = (item.getAttribute("data-node") ?? "").split(" ");
    return { stack: this.columns.stack(name), level: Number(level), column: Number(column) };
  }

  /** @param {Node} node */
  nameOf({ stack, level, column }) {
    const token = stack.tokens[column];
    if (level > stack.layers) return _("What is written after “{token}”", { token });
    return level
      ? _("“{token}” after layer {number}", { token, number: level })
      : _("“{token}” as it goes in", { token });
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
    if (this.pointed !== `${node.stack.name} ${node.column}`) this.point(node);
    const length =
      node.level <= node.stack.layers ? this.columns.length(node.stack, node.level, node.column) : undefined;
    const isMoved = this.changed && node.level <= node.stack.layers;
    const share = isMoved ? percent(this.moved(node.stack, node.level, node.column)) : "";
    const lines = length === undefined ? [] : [_("residual stream of norm {length}", { length: length.toFixed(2) })];
    if (isMoved) lines.push(_("the change moves it by {share} of its norm", { share }));
    if (node.level > node.stack.layers) {
      for (const { token, probability } of this.columns.header.written[node.column])
        lines.push(`${token}  ${percent(probability)}`);
    }
    this.walk.tooltip.showContent(
      event,
      this.nameOf(node),
      ...lines.map((line) => element("div", "tooltip-value", line)),
    );
  }

  /** @param {PointerEvent} event */
  tell(event) {
    const line = closest(event, "[data-edge]");
    if (!line) {
      if (!closest(event, "[data-node]")) this.walk.tooltip.hide();
      return;
    }
    const edge = this.edges[Number(line.dataset.edge)];
    const { site, layer, row, key, weight, head, before = weight } = edge;
    const { rows, keys } = /** @type {any} */ (this.columns.sites.get(site));
    const pair = element(
      "div",
      "tooltip-pair",
      tokenElement(rows.tokens[row]),
      element("span", "looks-at", " → "),
      tokenElement(keys.tokens[key]),
    );
    this.walk.tooltip.showContent(
      event,
      lineName(layer, head),
      pair,
      element(
        "div",
        "tooltip-value",
        difference(edge) >= ANY ? `${before.toFixed(4)} → ${weight.toFixed(4)}` : weight.toFixed(4),
      ),
    );
  }

  /** @param {Node} node @param {Element} item */
  open({ stack, level, column }, item) {
    const row = stack.first + column;
    const { site } = this.walk.state;
    const isOwn = this.columns.stackOf(site) === stack;
    const own = isOwn ? site : [...this.columns.sites].find(([, { rows }]) => rows === stack)?.[0];
    if (!own) return;
    /** @type {Partial<Place>} */
    const place = { depth: "layer", site: own, row, ...(isOwn ? {} : { head: 0 }), key: this.strongestKey(own, row) };
    if (level === 0) this.walk.go({ ...place, end: "input" }, item);
    else if (level > stack.layers) this.walk.go({ ...place, end: "output" }, item);
    else this.walk.go({ ...place, end: "", layer: level - 1 }, item);
  }

  /** The key that the row looks at most, where the one that is kept is of another side. @param {string} site @param {number} row */
  strongestKey(site, row) {
    const { state } = this.walk;
    const found = this.columns.sites.get(site);
    if (!found || (state.site === site && state.row === row)) return state.key;
    const weights = found.keys.tokens.map(
      (_token, key) => this.columns.line(site, 0, row - found.rows.first, key, { ...state, lines: "mean" }).weight,
    );
    return found.keys.first + weights.indexOf(Math.max(...weights));
  }

  /** @param {Edge} edge @param {Element} item */
  openEdge({ site, layer, row, key, head }, item) {
    const { rows, keys } = /** @type {any} */ (this.columns.sites.get(site));
    this.walk.go(
      { depth: "head", end: "", site, layer, head: Math.max(head, 0), row: rows.first + row, key: keys.first + key },
      item,
    );
  }

  /** @param {HTMLElement | SVGElement} item @param {string} key */
  step(item, key) {
    const { stack, level, column } = this.nodeOf(item);
    const to = {
      ArrowLeft: [level, column - 1],
      ArrowRight: [level, column + 1],
      ArrowUp: [level + 1, column],
      ArrowDown: [level - 1, column],
    }[key];
    const target = to && this.element.querySelector(`[data-node="${stack.name} ${to[0]} ${to[1]}"]`);
    if (!to) return false;
    if (target) /** @type {SVGElement} */ (target).focus();
    return true;
  }
}

/** By how much a change makes a line another one. @param {Line} line */
const difference = ({ weight, before = weight }) => Math.abs(weight - before);

/** A token, and what stands in its place where that is another. @param {string} instead @param {string} token */
const besides = (instead, token) =>
  instead === token ? shortened(token) : `${shortened(instead)} ← ${shortened(token)}`;

/** A token where there is little room; the sign that begins a word says nothing where each has its column. @param {string} token */
function shortened(token) {
  const text = token.length > 1 && token.startsWith("▁") ? token.slice(1) : token;
  return text.length > 12 ? `${text.slice(0, 11)}…` : text;
}
