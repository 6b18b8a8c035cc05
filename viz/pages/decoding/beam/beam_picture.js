// A beam search as a tree that grows from left to right, a column a step. Pointing at a hypothesis, or moving there with
// the arrow keys (left and right along the tree, up and down within a step), tells what became of it; a click, or Enter,
// opens it. Data: the payload of beam_picture.py. Sends back the trigger `node`: { node }.

const NODE_HEIGHT = 22;
const ROW = 28;
const GAP = 38;
const TOP = 30;
const SIDE = 12;
const PADDING = 8;

class BeamPicture {
  constructor(root) {
    this.root = root;
    this.isFolded = false;
    this.bar = element("div", "beam-bar");
    this.scroller = element("div", "scroller");
    root.replaceChildren(this.bar, this.scroller);
    this.tooltip = new Tooltip(root);
    this.ruler = document.createElement("canvas").getContext("2d");
    this.listen();
  }

  listen() {
    const nodeOf = (event) => {
      const found = event.target.closest(".node");
      return found ? Number(found.dataset.node) : null;
    };
    this.scroller.addEventListener("pointermove", (event) => {
      const index = nodeOf(event);
      if (index === null) this.tooltip.hide();
      else this.tell(index, event);
    });
    this.scroller.addEventListener("pointerleave", () => this.tooltip.hide());
    this.scroller.addEventListener("focusin", (event) => this.visit(nodeOf(event)));
    this.scroller.addEventListener("focusout", () => this.tooltip.hide());
    this.scroller.addEventListener("click", (event) => this.choose(nodeOf(event)));
    this.scroller.addEventListener("keydown", (event) => this.press(event, nodeOf(event)));
  }

  show({ header }) {
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
      const key = element("span", "beam-key");
      const swatch = svg("svg", { width: 22, height: 12, class: role, "aria-hidden": "true" });
      swatch.append(svg("rect", { class: "box", x: 1, y: 1, width: 20, height: 10, rx: 3 }));
      key.append(swatch, element("span", "", meaning));
      return key;
    });
    const fold = element("label", "beam-fold");
    const box = element("input");
    box.type = "checkbox";
    box.checked = !this.isFolded;
    box.addEventListener("change", () => {
      this.isFolded = !box.checked;
      this.draw();
      this.revealChosen();
    });
    fold.append(box, "Show the dropped ones");
    fold.dataset.notInPicture = "";
    this.bar.replaceChildren(...keys, fold, pictureButtons(this.root, () => this.data.name));
  }

  // ---- the tree ----

  /** Which nodes are drawn and in which row each stands; the chosen one is, folded or not. */
  draw() {
    const { nodes } = this.data;
    const isUnseen = this.isFolded && nodes[this.chosen].folded === null;
    const rowOf = (node) => (this.isFolded ? node.folded : node.row);
    this.shown = nodes.map((node, index) => ({ ...node, index, at: rowOf(node) })).filter(({ at }) => at !== null);
    if (isUnseen) this.chosen = nodes[this.chosen].parent;
    this.columns = [];
    for (const node of this.shown) (this.columns[node.step + 1] ??= [])[node.at] = node;
    const lefts = this.placeColumns();
    const height = TOP + ROW * Math.max(...this.columns.map((column) => column.length)) + SIDE;
    const width = lefts.at(-1);
    const drawing = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group" });
    drawing.setAttribute("aria-label", "The beam's tree: arrow keys move along it, Enter opens a hypothesis");
    this.marks = new Map(this.shown.map((node) => [node.index, this.nodeMark(node)]));
    this.edges = new Map(this.shown.filter(({ parent }) => parent !== null).map((node) => [node.index, this.edge(node)]));
    // What matters is drawn last, above the rest.
    const order = Object.keys(this.data.roles).reverse();
    const ordered = [...this.shown].sort((one, other) => order.indexOf(one.role) - order.indexOf(other.role));
    drawing.append(
      ...this.columns.map((_, column) => svg("text", { class: "head", x: lefts[column], y: 17 }, column ? `Step ${column}` : "")),
      ...ordered.filter(({ parent }) => parent !== null).map(({ index }) => this.edges.get(index)),
      ...ordered.map(({ index }) => this.marks.get(index)),
    );
    this.scroller.replaceChildren(drawing);
    this.markChosen();
  }

  /** Left edges of the columns, then the width of all; a column is as wide as its widest node. */
  placeColumns() {
    const lefts = [SIDE];
    const family = getComputedStyle(this.root).fontFamily;
    const width = (text, font) => {
      this.ruler.font = `${font} ${family}`;
      return this.ruler.measureText(text).width;
    };
    for (const [column, nodes] of this.columns.entries()) {
      for (const node of nodes) {
        node.left = lefts[column];
        node.tokenWidth = width(node.token, "700 13px");
        node.totalWidth = node.parent === null ? 0 : width(node.total, "400 11px") + PADDING;
        node.badgeWidth = node.badge ? width(node.badge, "700 11px") + 2 * PADDING : 0;
        node.width = 2 * PADDING + node.tokenWidth + node.totalWidth + node.badgeWidth;
      }
      const widest = Math.max(52, ...nodes.map((node) => node.width));
      // Boxes of a column end together, so that lines begin together.
      for (const node of nodes) node.width = widest;
      lefts.push(lefts[column] + widest + (column + 1 < this.columns.length ? GAP : SIDE));
    }
    return lefts;
  }

  nodeMark(node) {
    const top = TOP + node.at * ROW;
    const group = svg("g", { class: `node ${node.role}`, role: "button", tabindex: -1, "data-node": node.index });
    group.setAttribute("aria-label", `Step ${node.step + 1}: ${node.token}, ${node.total}. ${node.fate}`);
    const middle = top + NODE_HEIGHT / 2;
    group.append(svg("rect", { class: "box", x: node.left, y: top, width: node.width, height: NODE_HEIGHT, rx: 4 }));
    const right = node.left + node.width;
    if (node.badge) {
      const badge = { x: right - node.badgeWidth, y: top + 1, width: node.badgeWidth - 1, height: NODE_HEIGHT - 2, rx: 3 };
      const place = { x: right - node.badgeWidth / 2, y: middle, "text-anchor": "middle", "dominant-baseline": "central" };
      group.append(svg("rect", { class: "badge", ...badge }), svg("text", { class: "score", ...place }, node.badge));
    }
    group.append(svg("text", { class: "token", x: node.left + PADDING, y: middle, "dominant-baseline": "central" }, node.token));
    if (node.parent !== null) {
      const place = { x: right - node.badgeWidth - PADDING, y: middle, "text-anchor": "end", "dominant-baseline": "central" };
      group.append(svg("text", { class: "total", ...place }, node.total));
    }
    return group;
  }

  edge(node) {
    const parent = this.columns[node.step][this.isFolded ? this.data.nodes[node.parent].folded : this.data.nodes[node.parent].row];
    const [x0, x1] = [parent.left + parent.width, node.left];
    const [y0, y1] = [parent, node].map(({ at }) => TOP + at * ROW + NODE_HEIGHT / 2);
    const bend = (x0 + x1) / 2;
    return svg("path", { class: `edge ${node.role}`, d: `M${x0} ${y0}C${bend} ${y0} ${bend} ${y1} ${x1} ${y1}` });
  }

  markChosen() {
    const path = new Set();
    for (let at = this.chosen; at !== null; at = this.data.nodes[at].parent) path.add(at);
    for (const [index, edge] of this.edges) edge.classList.toggle("on-path", path.has(index));
    for (const [index, mark] of this.marks) {
      const isChosen = index === this.chosen;
      mark.classList.toggle("chosen", isChosen);
      mark.setAttribute("aria-pressed", String(isChosen));
      mark.setAttribute("tabindex", isChosen ? 0 : -1);
    }
  }

  /** Scroll the tree, and not the page, to what is open; the winner is in sight from the beginning on. */
  revealChosen() {
    if (this.data.nodes[this.chosen].role !== "winner") this.reveal(this.chosen);
  }

  reveal(index) {
    const node = this.shown.find((one) => one.index === index);
    if (!node) return;
    const { scroller } = this;
    const top = TOP + node.at * ROW;
    const [before, after] = [node.left - GAP, node.left + node.width + GAP];
    if (before < scroller.scrollLeft) scroller.scrollLeft = before;
    else if (after > scroller.scrollLeft + scroller.clientWidth) scroller.scrollLeft = after - scroller.clientWidth;
    if (top - TOP < scroller.scrollTop) scroller.scrollTop = top - TOP;
    else if (top + ROW > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = top + ROW - scroller.clientHeight;
  }

  // ---- pointer and keyboard ----

  tell(index, place) {
    const { token, total, step, fate, score } = this.data.nodes[index];
    const name = element("div", "beam-tip");
    name.append(tokenElement(token));
    const numbers = [`log-probability ${total}`, ...(score ? [`score ${score}`] : [])].join(" · ");
    const title = element("div", "tooltip-title", step < 0 ? "Before step 1" : `Step ${step + 1}`);
    this.tooltip.showContent(place, title, name, element("div", "tooltip-value", numbers), element("div", "", fate));
  }

  visit(index) {
    if (index === null) return;
    this.reveal(index);
    const box = this.marks.get(index).getBoundingClientRect();
    this.tell(index, { clientX: box.right, clientY: box.bottom });
  }

  press(event, index) {
    if (index === null || event.altKey || event.metaKey || event.ctrlKey) return;
    const node = this.shown.find((one) => one.index === index);
    const column = this.columns[node.step + 1];
    const target = {
      ArrowLeft: () => node.parent,
      ArrowRight: () => this.columns[node.step + 2]?.find(({ parent }) => parent === index)?.index,
      ArrowUp: () => column[node.at - 1]?.index,
      ArrowDown: () => column[node.at + 1]?.index,
      Home: () => 0,
    }[event.key];
    if (event.key === "Enter" || event.key === " ") this.choose(index);
    else if (event.key === "Escape") this.tooltip.hide();
    else if (!target) return;
    else this.marks.get(target() ?? index).focus({ preventScroll: true });
    event.preventDefault();
    event.stopPropagation();
  }

  choose(index) {
    if (index === null) return;
    this.chosen = index;
    this.markChosen();
    this.send({ node: index });
  }
}

const pictures = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".beam-picture");
  if (!root || !(data instanceof Uint8Array)) return undefined;
  const picture = pictures.get(root) ?? new BeamPicture(root);
  pictures.set(root, picture);
  picture.send = (choice) => setTriggerValue("node", choice);
  picture.show(unpack(data));
  return () => pictures.delete(root);
}
