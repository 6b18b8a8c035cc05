// The tree of translations: to the left each as a line over the steps, where it leaves another; beside it what was done
// and its text. A click, or Enter, shows one; arrow keys go from one to the next, Delete removes.
// Data: the payload of branch_tree.py. Sends back the trigger `act`: { what, branch }.

const SVG = "http://www.w3.org/2000/svg";
/** The line stands beside the first line of a row's text; so far down. */
const LINE_AT = 19;

function drawn(tag, className, attributes) {
  const shape = document.createElementNS(SVG, tag);
  shape.setAttribute("class", className);
  for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, value);
  return shape;
}

class BranchTree {
  constructor(root) {
    this.root = root;
    this.list = element("ol", "branches");
    this.list.setAttribute("aria-label", "Translations: arrow keys move, Enter shows one, Delete removes it");
    this.lanes = drawn("svg", "lanes", { "aria-hidden": "true" });
    root.replaceChildren(this.lanes, this.list, pictureButtons(root, () => this.data.name));
    this.list.addEventListener("click", (event) => this.click(event.target.closest("button")));
    this.list.addEventListener("keydown", (event) => this.press(event));
    this.list.addEventListener("focusin", (event) => this.visit(event.target.closest(".branch")));
    this.observer = new ResizeObserver(() => this.drawLanes());
    this.observer.observe(root);
  }

  dispose() {
    this.observer.disconnect();
  }

  show({ header }) {
    this.data = header;
    const focused = this.list.querySelector("button:focus");
    const [branch, what] = focused ? [focused.closest(".branch").dataset.number, focused.dataset.what] : [];
    this.root.style.setProperty("--shown", header.shownColour);
    this.root.style.setProperty("--against", header.againstColour);
    this.list.replaceChildren(...header.rows.map((row) => this.buildRow(row)));
    this.visit(this.rowOf(header.shown));
    if (focused) (this.button(branch, what) ?? this.button(header.shown, "show")).focus({ preventScroll: true });
    this.drawLanes();
    this.root.dataset.ready = "1";
  }

  // ---- rows ----

  markOf(number) {
    if (number === this.data.shown) return "shown";
    return number === this.data.against ? "against" : "";
  }

  buildRow(row) {
    const mark = this.markOf(row.number);
    const item = element("li", `branch ${mark}`);
    item.dataset.number = row.number;
    const open = this.buildButton("open", "show");
    open.dataset.inPicture = "";
    open.setAttribute("aria-pressed", String(mark === "shown"));
    const title = element("span", "title");
    title.append(element("span", "own", row.name));
    if (row.deed) {
      const deed = element("bdi", "muted", row.deed);
      title.append(` · step ${row.start + 1}: `, deed);
    }
    if (mark) title.append(element("span", "mark", mark === "shown" ? "shown" : "compared"));
    const text = element("span", "text");
    text.dir = "auto";
    text.lang = this.data.language;
    row.words.forEach(([words, same], place) => {
      if (place) text.append(" ");
      text.append(element("span", same ? "same" : "new", words));
    });
    if (!row.words.length) text.append(element("span", "muted", "nothing"));
    open.append(title, text);
    const total = element("span", "total", row.logProb?.toFixed(2).replace("-", "−") ?? "−∞");
    total.append(element("small", "muted", "log p"));
    item.append(element("span"), open, total, this.buildActs(row, mark));
    return item;
  }

  buildActs(row, mark) {
    const acts = element("span", "acts");
    if (mark !== "shown") {
      const compare = this.buildButton("act", "compare", "Compare");
      compare.setAttribute("aria-pressed", String(mark === "against"));
      compare.setAttribute("aria-label", `Compare with ${row.name}`);
      acts.append(compare);
    }
    if (row.number) {
      const remove = this.buildButton("act", "remove", "✕");
      remove.setAttribute("aria-label", `Remove ${row.name} and the branches that leave it`);
      remove.title = "Remove, with the branches that leave it";
      acts.append(remove);
    }
    return acts;
  }

  buildButton(className, what, text) {
    const button = element("button", className, text);
    button.type = "button";
    button.dataset.what = what;
    return button;
  }

  rowOf(number) {
    return this.list.querySelector(`.branch[data-number="${number}"]`);
  }

  button(number, what) {
    return this.list.querySelector(`.branch[data-number="${number}"] button[data-what="${what}"]`);
  }

  // ---- lines ----

  drawLanes() {
    const width = this.root.clientWidth;
    if (!this.data || !width) return;
    this.root.classList.toggle("narrow", width < 620);
    const across = Math.round(Math.min(260, Math.max(84, width * 0.2)));
    this.root.style.setProperty("--lanes", `${across}px`);
    this.lanes.setAttribute("width", across);
    this.lanes.setAttribute("height", this.list.offsetHeight);
    const { rows, step } = this.data;
    const last = Math.max(1, ...rows.map(({ length }) => length - 1));
    const x = (at) => 10 + (at / last) * (across - 24);
    const y = (number) => this.rowOf(number).offsetTop + LINE_AT;
    const shapes = rows.flatMap((row) => this.shapesOf(row, x, y));
    // What is shown lies on top.
    shapes.sort((a, b) => a.classList.contains("shown") - b.classList.contains("shown"));
    const shown = this.data.shown;
    this.lanes.replaceChildren(...shapes, drawn("circle", "here", { cx: x(step), cy: y(shown), r: 6.5 }));
  }

  shapesOf({ number, parent, start, length }, x, y) {
    const mark = this.markOf(number);
    const down = y(number);
    const [left, right] = [x(start), x(length - 1)];
    const bend = Math.min(6, Math.max(0, right - left));
    const path = parent === null
      ? `M${left} ${down}H${right}`
      : `M${left} ${y(parent)}V${down - bend}Q${left} ${down} ${left + bend} ${down}H${right}`;
    const line = drawn("path", `lane ${mark}`, { d: path });
    const dots = [drawn("circle", `dot ${mark}`, { cx: right, cy: down, r: 3.5 })];
    if (parent !== null) dots.push(drawn("circle", "dot", { cx: left, cy: y(parent), r: 3 }));
    return [line, ...dots];
  }

  // ---- pointer and keyboard ----

  click(button) {
    if (button) this.act(button.dataset.what, button.closest(".branch"));
  }

  /** Only the row that has the focus, or would get it, is reached by Tab. */
  visit(item) {
    if (!item) return;
    for (const button of this.list.querySelectorAll("button")) {
      button.tabIndex = button.closest(".branch") === item ? 0 : -1;
    }
  }

  press(event) {
    if (event.altKey || event.metaKey || event.ctrlKey) return;
    const items = [...this.list.children];
    const item = event.target.closest(".branch");
    const place = items.indexOf(item);
    const target = { ArrowUp: place - 1, ArrowDown: place + 1, Home: 0, End: items.length - 1 }[event.key];
    if (event.key === "Delete") this.act("remove", item);
    else if (target === undefined) return;
    else items[target]?.querySelector(".open").focus();
    event.preventDefault();
    event.stopPropagation();
  }

  act(what, item) {
    const branch = Number(item.dataset.number);
    if (what === "remove" && !branch) return;
    if (what === "show" && branch === this.data.shown) return;
    this.send({ what, branch });
  }
}

const trees = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".branch-tree");
  if (!root || !(data instanceof Uint8Array)) return undefined;
  const tree = trees.get(root) ?? new BranchTree(root);
  trees.set(root, tree);
  tree.send = (act) => setTriggerValue("act", act);
  tree.show(unpack(data));
  return () => {
    tree.dispose();
    trees.delete(root);
  };
}
