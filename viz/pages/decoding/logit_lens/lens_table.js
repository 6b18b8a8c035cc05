// What each layer would have said at each step: a table of tokens on the colours of their probabilities. Pointing at a
// cell, or moving there with the arrow keys, tells its five best; a click, or Enter, chooses its step.
// Data: the payload of lens_table.py. Sends back the trigger `step`: { step }.

const MARK = "✓ ";

class LensTable {
  constructor(root) {
    this.root = root;
    this.bar = element("div", "lens-bar");
    this.scroller = element("div", "scroller");
    root.replaceChildren(this.bar, this.scroller);
    this.tooltip = new Tooltip(root);
    this.listen();
  }

  listen() {
    const cellOf = (event) => event.target.closest("td[data-level]");
    this.scroller.addEventListener("pointermove", (event) => {
      const cell = cellOf(event);
      if (cell) this.tell(cell, event);
      else this.tooltip.hide();
    });
    this.scroller.addEventListener("pointerleave", () => this.tooltip.hide());
    this.scroller.addEventListener("focusin", (event) => this.visit(cellOf(event)));
    this.scroller.addEventListener("focusout", () => this.tooltip.hide());
    this.scroller.addEventListener("click", (event) => this.choose(cellOf(event)));
    this.scroller.addEventListener("keydown", (event) => this.press(event, cellOf(event)));
  }

  show({ header }) {
    const isSame = this.data?.digest === header.digest;
    this.data = header;
    if (!isSame) {
      this.tooltip.hide();
      this.build();
      this.markStep(header.step);
      this.cells[0][header.step].tabIndex = 0;
      this.reveal(this.cells[0][header.step]);
    } else this.markStep(header.step);
    this.root.dataset.ready = "1";
  }

  // ---- the table ----

  build() {
    const { data } = this;
    const key = element("span", "lens-key");
    key.append(element("b", "", MARK.trim()), element("span", "", "is what was written"));
    this.bar.replaceChildren(probabilityLegend(data.scale.stops), key, pictureButtons(this.root, () => this.data.name));
    const table = element("table", "lens-grid");
    table.setAttribute("role", "grid");
    table.setAttribute("aria-label", "Layers and steps: arrow keys move, Enter chooses a step");
    this.cells = data.levels.map((_, level) => data.read.map((__, step) => this.cell(level, step)));
    const body = element("tbody");
    body.append(
      this.headings("number", "Step", data.read.map((_, step) => String(step + 1))),
      this.headings("read", "Goes in", data.read.map((token) => tokenElement(token))),
      ...data.levels.map((name, level) => this.row(name, level)),
      this.headings("written", "Written", data.written.map((token) => tokenElement(token))),
    );
    table.append(body);
    this.scroller.replaceChildren(table);
  }

  headings(className, title, contents) {
    const row = element("tr", className);
    const name = element("th", "level", title);
    name.scope = "row";
    row.append(name, ...contents.map((content, step) => {
      const heading = element("th", className);
      heading.dataset.step = step;
      heading.append(content);
      return heading;
    }));
    return row;
  }

  row(name, level) {
    const row = element("tr");
    const heading = element("th", "level", name);
    heading.scope = "row";
    const right = this.data.cells[level].filter(({ asWritten }) => asWritten).length;
    heading.append(element("small", "", `${MARK}${right} of ${this.data.read.length}`));
    row.append(heading, ...this.cells[level]);
    return row;
  }

  cell(level, step) {
    const { tokens, probabilities, asWritten } = this.data.cells[level][step];
    const cell = element("td", asWritten ? "as-written" : "");
    const { fill, ink } = colourAt(this.data.scale, probabilities[0]);
    cell.style.background = fill;
    cell.style.color = ink;
    cell.dataset.level = level;
    cell.dataset.step = step;
    cell.tabIndex = -1;
    if (asWritten) cell.append(MARK);
    cell.append(tokenElement(tokens[0]), element("small", "", percent(probabilities[0])));
    return cell;
  }

  markStep(step) {
    for (const heading of this.scroller.querySelectorAll("th[data-step]")) {
      heading.classList.toggle("chosen", Number(heading.dataset.step) === step);
    }
  }

  /** Scroll the table, and not the page, until a cell is beside the names of the layers. */
  reveal(cell) {
    const names = this.scroller.querySelector("th.level").offsetWidth;
    const { scrollLeft, clientWidth } = this.scroller;
    if (cell.offsetLeft < scrollLeft + names) this.scroller.scrollLeft = cell.offsetLeft - names;
    else if (cell.offsetLeft + cell.offsetWidth > scrollLeft + clientWidth) {
      this.scroller.scrollLeft = cell.offsetLeft + cell.offsetWidth - clientWidth;
    }
  }

  // ---- pointer and keyboard ----

  tell(cell, place) {
    const [level, step] = [Number(cell.dataset.level), Number(cell.dataset.step)];
    const { tokens, probabilities, rank, chosen, asWritten } = this.data.cells[level][step];
    const table = element("table", "lens-top");
    tokens.forEach((token, at) => {
      const row = element("tr", at === 0 && asWritten ? "as-written" : "");
      const name = element("td");
      name.append(tokenElement(token));
      row.append(name, element("td", "", percent(probabilities[at])));
      table.append(row);
    });
    const note = element("div", "lens-note muted");
    note.append("Written: ", tokenElement(this.data.written[step]), `, rank ${rank.toLocaleString("en")} here, ${percent(chosen)}`);
    const title = element("div", "tooltip-title", `${this.data.levels[level]} · step ${step + 1}`);
    this.tooltip.showContent(place, title, table, note);
  }

  visit(cell) {
    if (!cell) return;
    for (const other of this.scroller.querySelectorAll('td[tabindex="0"]')) other.tabIndex = -1;
    cell.tabIndex = 0;
    this.reveal(cell);
    const box = cell.getBoundingClientRect();
    this.tell(cell, { clientX: box.right, clientY: box.bottom });
  }

  press(event, cell) {
    if (!cell || event.altKey || event.metaKey || event.ctrlKey) return;
    const [level, step] = [Number(cell.dataset.level), Number(cell.dataset.step)];
    const [down, right] = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key] ?? [];
    const target = { Home: this.cells[level][0], End: this.cells[level].at(-1) }[event.key] ?? this.cells[level + down]?.[step + right];
    if (event.key === "Enter" || event.key === " ") this.choose(cell);
    else if (event.key === "Escape") this.tooltip.hide();
    else if (down === undefined && !target) return;
    else target?.focus({ preventScroll: true });
    event.preventDefault();
    event.stopPropagation();
  }

  choose(cell) {
    if (!cell) return;
    const step = Number(cell.dataset.step);
    this.markStep(step);
    this.send({ step });
  }
}

const lenses = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".lens-table");
  if (!root || !(data instanceof Uint8Array)) return undefined;
  const lens = lenses.get(root) ?? new LensTable(root);
  lenses.set(root, lens);
  lens.send = (choice) => setTriggerValue("step", choice);
  lens.show(unpack(data));
  return () => lenses.delete(root);
}
