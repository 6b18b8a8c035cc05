// A beam search as a tree that grows from left to right, a column a step. Pointing at a hypothesis, or moving there with
// the arrow keys (left and right along the tree, up and down within a step), tells what became of it; a click, or Enter,
// opens it. Data: the payload of tab.py. Sends back the trigger `node`: { node }.
import { ofSize, svg } from "../../../pictures/shared/drawing.js";
import { cornerOf, hearItems, scrolledTo } from "../../../pictures/shared/items.js";
import { _ } from "../../../pictures/shared/messages.js";
import { mount, View } from "../../../pictures/shared/mount.js";
import { element, Tooltip, textWidth, tokenElement } from "../../../pictures/shared/picture.js";
import { pictureButton } from "../../../pictures/shared/save_picture.js";

/** @import { Point } from "../../../pictures/shared/items.js" */

/**
 * `row` and `folded`: in which row of its step's column a node stands, in the whole tree and in the folded one.
 * @typedef {{
 *   parent: number | null, step: number, token: string, total: string, score: string | null, badge: string,
 *   role: string, row: number, folded: number | null, fate: string,
 * }} BeamNode
 * @typedef {{
 *   nodes: BeamNode[], roles: Record<string, string>, colours: Record<string, string>, chosen: number,
 *   name: string, digest: string,
 * }} BeamData
 * @typedef {{ token: number, total: number, badge: number }} Widths
 * @typedef {BeamNode & { index: number, at: number, left: number, width: number, badgeWidth: number }} PlacedNode
 */

const NODE_HEIGHT = 22;
const ROW = 28;
const GAP = 38;
const TOP = 30;
const SIDE = 12;
const PADDING = 8;
const NARROWEST = 52;

/**
 * The nodes that are drawn, in columns and rows, and the left edges of the columns, then the width of all. A column is
 * as wide as its widest node: boxes of a column end together, so that lines begin together.
 * @param {BeamNode[]} nodes @param {boolean} isFolded @param {(node: BeamNode) => Widths} measure
 */
export function layOut(nodes, isFolded, measure) {
  /** @type {PlacedNode[][]} */
  const columns = [];
  nodes.forEach((node, index) => {
    const at = isFolded ? node.folded : node.row;
    if (at === null) return;
    const { token, total, badge } = measure(node);
    const badgeWidth = node.badge ? badge + 2 * PADDING : 0;
    const width = 2 * PADDING + token + (node.parent === null ? 0 : total + PADDING) + badgeWidth;
    columns[node.step + 1] ??= [];
    columns[node.step + 1][at] = { ...node, index, at, left: 0, width, badgeWidth };
  });
  const lefts = [SIDE];
  columns.forEach((column, i) => {
    const width = Math.max(NARROWEST, ...column.map((node) => node.width));
    for (const node of column) Object.assign(node, { left: lefts[i], width });
    lefts.push(lefts[i] + width + (i + 1 < columns.length ? GAP : SIDE));
  });
  return { columns, lefts };
}

/** A node and all that it goes back to. @param {BeamNode[]} nodes @param {number} index */
export function pathTo(nodes, index) {
  const path = new Set();
  for (let at = /** @type {number | null} */ (index); at !== null; at = nodes[at].parent) path.add(at);
  return path;
}

/** @param {SVGElement} mark */
const indexOf = (mark) => Number(mark.dataset.node);

class BeamPicture extends View {
  /** @type {BeamData} */ data;
  /** @type {PlacedNode[][]} */ columns = [];
  /** @type {Map<number, SVGElement>} */ marks = new Map();
  /** @type {Map<number, SVGElement>} */ edges = new Map();
  chosen = 0;
  isFolded = false;
  bar = element("div", "beam-bar");
  scroller = element("div", "scroller");
  tooltip = new Tooltip(this.root);

  start() {
    this.root.replaceChildren(this.bar, this.scroller, this.tooltip.box);
    hearItems(this.scroller, ".node", this);
  }

  /** @param {{ header: BeamData }} payload */
  receive({ header }) {
    const isSame = this.data?.digest === header.digest;
    this.data = header;
    this.chosen = header.chosen;
    if (!isSame) {
      for (const [name, colour] of Object.entries(header.colours)) this.root.style.setProperty(`--${name}`, colour);
      this.tooltip.hide();
      this.drawBar();
      this.draw();
      this.revealChosen();
    } else if (!this.marks.has(this.chosen)) this.draw();
    else this.markChosen();
    this.root.dataset.ready = "1";
  }

  // ---- around the tree ----

  drawBar() {
    const keys = Object.entries(this.data.roles).map(([role, meaning]) => {
      const box = svg("rect", { class: "box", x: 1, y: 1, width: 20, height: 10, rx: 3 });
      const swatch = svg("svg", { width: 22, height: 12, class: role, "aria-hidden": "true" }, box);
      return element("span", "beam-key", swatch, element("span", {}, meaning));
    });
    const onchange = () => {
      this.isFolded = !box.checked;
      this.draw();
      this.revealChosen();
    };
    const box = element("input", { type: "checkbox", checked: !this.isFolded, onchange });
    this.bar.replaceChildren(
      ...keys,
      element("label", { className: "beam-fold", dataset: { notInPicture: "" } }, box, _("Show dropped hypotheses")),
      pictureButton(this.root, () => this.data.name),
    );
  }

  // ---- the tree ----

  /** Draw the tree; a chosen node that is folded away hands on to the one that it continues. */
  draw() {
    const { nodes, roles } = this.data;
    if (this.isFolded && nodes[this.chosen].folded === null) this.chosen = nodes[this.chosen].parent ?? 0;
    const family = getComputedStyle(this.root).fontFamily;
    const width = (/** @type {string} */ text, /** @type {string} */ font) => textWidth(text, `${font} ${family}`);
    const { columns, lefts } = layOut(nodes, this.isFolded, ({ token, total, badge }) => {
      return { token: width(token, "700 13px"), total: width(total, "400 12px"), badge: width(badge, "700 12px") };
    });
    this.columns = columns;
    // What matters is drawn last, above the rest.
    const order = Object.keys(roles).reverse();
    const ordered = columns.flat().sort((a, b) => order.indexOf(a.role) - order.indexOf(b.role));
    this.marks = new Map(ordered.map((node) => [node.index, this.nodeMark(node)]));
    this.edges = new Map(ordered.filter(({ parent }) => parent !== null).map((node) => [node.index, this.edge(node)]));
    const names = lefts
      .slice(0, columns.length)
      .map((x, i) => svg("text", { class: "head", x, y: 17 }, i ? _("Step {step}", { step: i }) : ""));
    const height = TOP + ROW * Math.max(...columns.map(({ length }) => length)) + SIDE;
    const label = _("The beam's tree: arrow keys move along it, Enter opens a hypothesis");
    const look = { ...ofSize(lefts[columns.length], height), role: "group", "aria-label": label };
    const parts = [...names, ...this.edges.values(), ...this.marks.values()];
    this.scroller.replaceChildren(svg("svg", look, ...parts));
    this.markChosen();
  }

  /** @param {PlacedNode} node */
  nodeMark({ index, at, step, left, width, badgeWidth, parent, role, token, total, badge, fate }) {
    const top = TOP + at * ROW;
    const right = left + width;
    const middle = { y: top + NODE_HEIGHT / 2, "dominant-baseline": "central" };
    const label = _("Step {step}: {token}, {total}. {fate}", { step: step + 1, token, total, fate });
    const named = { role: "button", tabindex: -1, "data-node": index, "aria-label": label };
    const outline = svg("rect", { class: "box", x: left, y: top, width, height: NODE_HEIGHT, rx: 4 });
    const group = svg("g", { class: `node ${role}`, ...named }, outline);
    if (badge) {
      const box = { x: right - badgeWidth, y: top + 1, width: badgeWidth - 1, height: NODE_HEIGHT - 2, rx: 3 };
      const score = { class: "score", x: right - badgeWidth / 2, "text-anchor": "middle", ...middle };
      group.append(svg("rect", { class: "badge", ...box }), svg("text", score, badge));
    }
    group.append(svg("text", { class: "token", x: left + PADDING, ...middle }, token));
    const end = { class: "total", x: right - badgeWidth - PADDING, "text-anchor": "end", ...middle };
    if (parent !== null) group.append(svg("text", end, total));
    return group;
  }

  /** @param {PlacedNode} node */
  edge(node) {
    const parent = /** @type {PlacedNode} */ (this.columns[node.step].find(({ index }) => index === node.parent));
    const [x0, x1] = [parent.left + parent.width, node.left];
    const [y0, y1] = [parent, node].map(({ at }) => TOP + at * ROW + NODE_HEIGHT / 2);
    const bend = (x0 + x1) / 2;
    return svg("path", { class: `edge ${node.role}`, d: `M${x0} ${y0}C${bend} ${y0} ${bend} ${y1} ${x1} ${y1}` });
  }

  markChosen() {
    const path = pathTo(this.data.nodes, this.chosen);
    for (const [index, edge] of this.edges) edge.classList.toggle("on-path", path.has(index));
    for (const [index, mark] of this.marks) {
      const isChosen = index === this.chosen;
      mark.classList.toggle("chosen", isChosen);
      mark.ariaPressed = String(isChosen);
      mark.tabIndex = isChosen ? 0 : -1;
    }
  }

  /** Scroll the tree, and not the page, to what is open; the winner is in sight from the beginning on. */
  revealChosen() {
    if (this.data.nodes[this.chosen].role !== "winner") this.reveal(this.chosen);
  }

  /** @param {number} index */
  placed(index) {
    return this.columns[this.data.nodes[index].step + 1]?.find((node) => node.index === index);
  }

  /** @param {number} index */
  reveal(index) {
    const { scroller } = this;
    const node = this.placed(index);
    if (!node) return;
    const [top, left] = [node.at * ROW, node.left - GAP];
    const [bottom, right] = [TOP + top + ROW, node.left + node.width + GAP];
    scroller.scrollLeft = scrolledTo(scroller.scrollLeft, scroller.clientWidth, left, right);
    scroller.scrollTop = scrolledTo(scroller.scrollTop, scroller.clientHeight, top, bottom);
  }

  // ---- pointer and keyboard ----

  /** @param {SVGElement} mark @param {Point} point */
  point(mark, point) {
    const { token, total, step, fate, score } = this.data.nodes[indexOf(mark)];
    const numbers = score
      ? _("log-probability {total} · score {score}", { total, score })
      : _("log-probability {total}", { total });
    const title = step < 0 ? _("Before step 1") : _("Step {step}", { step: step + 1 });
    const named = element("div", "beam-tip", tokenElement(token));
    this.tooltip.showContent(point, title, named, numbers, element("div", {}, fate));
  }

  leave() {
    this.tooltip.hide();
  }

  /** @param {SVGElement} mark */
  visit(mark) {
    this.reveal(indexOf(mark));
    this.point(mark, cornerOf(mark));
  }

  /** @param {SVGElement} mark @param {string} key */
  press(mark, key) {
    const index = indexOf(mark);
    const node = this.placed(index);
    if (!node) return false;
    const column = this.columns[node.step + 1];
    /** @type {Record<string, number | null | undefined>} */
    const targets = {
      ArrowLeft: node.parent,
      ArrowRight: this.columns[node.step + 2]?.find(({ parent }) => parent === index)?.index,
      ArrowUp: column[node.at - 1]?.index,
      ArrowDown: column[node.at + 1]?.index,
      Home: 0,
    };
    if (!(key in targets)) return false;
    this.marks.get(targets[key] ?? index)?.focus({ preventScroll: true });
    return true;
  }

  /** @param {SVGElement} mark */
  choose(mark) {
    this.chosen = indexOf(mark);
    this.markChosen();
    this.python.trigger("node", { node: this.chosen });
  }
}

export default mount(".beam-picture", BeamPicture);
