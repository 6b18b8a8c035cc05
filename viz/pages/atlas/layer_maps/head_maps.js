// Figures of all heads: each as a little map of layers × heads, the chosen one large, with its numbers.
// Data: the payload of head_maps.py. Sends back the triggers `map`: { key } and `head`: { layer, head }.

const CELL_HEIGHT = 34;
// With many layers the map would become longer than the page.
const LARGEST_HEIGHT = 420;
const SMALLEST_CELL = 16;
// Beyond so many heads numbers have no room; they are told on hover and to the keyboard.
const MOST_NUMBERS = 12;

class HeadMaps {
  constructor(root) {
    this.root = root;
    this.title = element("div", "large-title");
    this.board = element("div", "large");
    this.board.setAttribute("role", "grid");
    this.under = element("div", "under");
    this.little = element("div", "little");
    this.little.setAttribute("role", "group");
    this.little.setAttribute("aria-label", "All figures");
    root.replaceChildren(this.title, this.board, this.under, this.little);
    this.tooltip = new Tooltip(root);
    this.listen();
  }

  listen() {
    const cellOf = (event) => event.target.closest(".cell");
    this.board.addEventListener("pointermove", (event) => this.point(cellOf(event), event));
    this.board.addEventListener("pointerleave", () => this.tooltip.hide());
    this.board.addEventListener("click", (event) => this.choose(cellOf(event)));
    this.board.addEventListener("keydown", (event) => this.press(event));
    this.board.addEventListener("focusin", (event) => this.visit(cellOf(event)));
    this.little.addEventListener("click", (event) => this.enlarge(event.target.closest(".little-map")));
  }

  show({ header }) {
    const isSame = this.data?.digest === header.digest;
    const wasChosen = this.data?.chosen;
    this.data = header;
    this.tooltip.hide();
    if (!isSame) this.buildLittle();
    if (!isSame || wasChosen !== header.chosen) this.buildLarge();
    this.mark(header.selected);
    this.root.dataset.ready = "1";
    this.root.dataset.map = header.chosen;
  }

  get chosen() {
    return this.data.maps.find((one) => one.key === this.data.chosen);
  }

  // ---- the little maps ----

  buildLittle() {
    const { maps, layers, heads, scale } = this.data;
    this.buttons = maps.map((one) => {
      const button = element("button", "little-map");
      button.type = "button";
      button.dataset.key = one.key;
      button.dataset.inPicture = "";
      const canvas = element("canvas");
      canvas.width = heads * 12;
      canvas.height = layers * 8;
      canvas.setAttribute("aria-hidden", "true");
      const context = canvas.getContext("2d");
      one.shades.forEach((shade, i) => {
        if (shade === null) return;
        context.fillStyle = colourAt(scale, shade).fill;
        context.fillRect((i % heads) * 12, Math.floor(i / heads) * 8, 12, 8);
      });
      const high = element("span", "little-high muted", `0 to ${one.high} ${one.unit}`.trimEnd());
      button.append(element("span", "little-name", one.name), canvas, high);
      return button;
    });
    this.little.replaceChildren(...this.buttons);
  }

  enlarge(button) {
    if (button && button.dataset.key !== this.data.chosen) this.sendMap({ key: button.dataset.key });
  }

  // ---- the large map ----

  buildLarge() {
    const { layers, heads } = this.data;
    const { name, unit } = this.chosen;
    const hadFocus = this.cells?.some((cell) => cell.matches(":focus"));
    const height = Math.max(SMALLEST_CELL, Math.min(CELL_HEIGHT, LARGEST_HEIGHT / layers));
    this.board.style.setProperty("--heads", heads);
    this.board.style.setProperty("--cell-height", `${height}px`);
    this.board.style.setProperty("--number-size", `${Math.min(13, height - 5)}px`);
    this.board.setAttribute("aria-label", `${name} of ${layers} layers of ${heads} heads. Arrow keys move, Enter opens a head.`);
    this.title.replaceChildren(element("b", "", name), element("span", "muted", [unit, "layers down, heads across"].filter(Boolean).join(" · ")));
    this.headNames = Array.from({ length: heads }, (_, head) => this.heading("columnheader", "head-name", String(head + 1), `Head ${head + 1}`));
    this.layerNames = Array.from({ length: layers }, (_, layer) => this.heading("rowheader", "layer-name", `Layer ${layer + 1}`));
    this.cells = this.chosen.texts.map((text, index) => this.cell(text, index));
    const corner = this.heading("columnheader", "muted head-name", "Head");
    const lines = this.layerNames.map((layerName, layer) => this.line(layerName, ...this.cells.slice(layer * heads, (layer + 1) * heads)));
    this.board.replaceChildren(this.line(corner, ...this.headNames), ...lines);
    this.buildUnder();
    if (hadFocus) this.cells[this.indexOf(this.data.selected)].focus();
  }

  line(...parts) {
    const line = element("div", "line");
    line.setAttribute("role", "row");
    line.append(...parts);
    return line;
  }

  heading(role, className, text, label) {
    const heading = element("span", className, text);
    heading.setAttribute("role", role);
    if (label) heading.setAttribute("aria-label", label);
    return heading;
  }

  cell(text, index) {
    const shade = this.chosen.shades[index];
    const cell = element("div", shade === null ? "cell none" : "cell", this.data.heads > MOST_NUMBERS ? "" : text);
    cell.setAttribute("role", "gridcell");
    cell.tabIndex = -1;
    if (shade !== null) {
      const { fill, ink } = colourAt(this.data.scale, shade);
      cell.style.background = fill;
      cell.style.color = ink;
    }
    return cell;
  }

  buildUnder() {
    const { high, unit } = this.chosen;
    const scale = element("span", "shade-scale");
    scale.setAttribute("role", "img");
    scale.setAttribute("aria-label", `Colour scale from 0, dark, to ${high}, light`);
    const bar = element("span", "shade-bar");
    bar.style.background = `linear-gradient(to right, ${this.data.scale.stops.join(",")})`;
    scale.append("0", bar, `${high} ${unit}`.trimEnd());
    this.under.replaceChildren(scale, pictureButtons(this.root, () => this.data.name));
  }

  // ---- pointer, keyboard, choice ----

  placeOf(index) {
    return [Math.floor(index / this.data.heads), index % this.data.heads];
  }

  indexOf([layer, head]) {
    return layer * this.data.heads + head;
  }

  said(index) {
    const { name, unit, texts } = this.chosen;
    return `${name} ${texts[index]} ${unit}`.trimEnd();
  }

  point(cell, event) {
    if (!cell) return this.tooltip.hide();
    const index = this.cells.indexOf(cell);
    const [layer, head] = this.placeOf(index);
    const title = element("div", "tooltip-title", `Layer ${layer + 1} · Head ${head + 1}`);
    this.tooltip.showContent(event, title, element("div", "tooltip-value", this.said(index)));
  }

  visit(cell) {
    if (cell) this.cells.forEach((other) => (other.tabIndex = other === cell ? 0 : -1));
  }

  press(event) {
    const index = this.cells.indexOf(event.target);
    if (index < 0 || event.altKey || event.metaKey || event.ctrlKey) return;
    const { heads } = this.data;
    const start = index - (index % heads);
    const end = start + heads - 1;
    const targets = {
      ArrowLeft: Math.max(start, index - 1),
      ArrowRight: Math.min(end, index + 1),
      ArrowUp: index - heads,
      ArrowDown: index + heads,
      Home: start,
      End: end,
    };
    if (event.key === "Enter" || event.key === " ") this.choose(event.target);
    else if (event.key in targets) this.cells[targets[event.key]]?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  choose(cell) {
    if (!cell) return;
    const [layer, head] = this.placeOf(this.cells.indexOf(cell));
    this.mark([layer, head]);
    this.sendHead({ layer, head });
  }

  mark(selected) {
    const open = this.indexOf(selected);
    this.data.selected = selected;
    const focused = this.cells.find((cell) => cell.matches(":focus"));
    this.cells.forEach((cell, index) => {
      const [layer, head] = this.placeOf(index);
      const isOpen = index === open;
      cell.classList.toggle("open", isOpen);
      cell.setAttribute("aria-selected", String(isOpen));
      cell.setAttribute("aria-label", `Layer ${layer + 1}, head ${head + 1}, ${this.said(index)}${isOpen ? ", open" : ""}`);
      cell.tabIndex = (focused ? cell === focused : isOpen) ? 0 : -1;
    });
    this.layerNames.forEach((name, layer) => name.classList.toggle("open", layer === selected[0]));
    this.headNames.forEach((name, head) => name.classList.toggle("open", head === selected[1]));
    this.buttons.forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.key === this.data.chosen)));
  }
}

const headMaps = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".head-maps");
  if (!root || !(data instanceof Uint8Array)) return undefined;
  const maps = headMaps.get(root) ?? new HeadMaps(root);
  headMaps.set(root, maps);
  maps.sendMap = (choice) => setTriggerValue("map", choice);
  maps.sendHead = (choice) => setTriggerValue("head", choice);
  maps.show(unpack(data));
  return () => headMaps.delete(root);
}
