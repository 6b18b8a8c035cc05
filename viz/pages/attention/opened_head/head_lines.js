// One or several heads as lines between two columns of tokens. All heads of the layer are here, so switching heads,
// pointing, keeping a token and the threshold wait for nobody; Python hears of each of them at once and keeps the URL.
// Data: the payload of head_lines.py. Sends back the state `place`.

const MOST_NAMED = 4;

/** What each picture showed last, by what is drawn: one that is mounted again goes on from there. */
const lastPlaces = new Map();

class HeadLines {
  constructor(root) {
    this.root = root;
    this.columns = new TokenColumns();
    this.base = element("canvas", "layer");
    this.top = element("canvas", "layer");
    this.middle = element("div", "middle");
    this.middle.append(this.base, this.top);
    this.board = element("div", "lines-board");
    this.board.append(this.columns.query, this.middle, this.columns.key);
    this.scroller = element("div", "lines-scroller");
    this.scroller.append(this.board);
    this.status = element("p", "status muted");
    this.status.setAttribute("role", "status");
    this.tooltip = new Tooltip(root);
    this.listen();
    this.observer = new ResizeObserver(() => this.resize());
    // The middle's width follows the page's, and also the text beside it.
    this.observer.observe(this.middle);
  }

  dispose() {
    this.observer.disconnect();
    cancelAnimationFrame(this.frame);
  }

  listen() {
    this.board.addEventListener("pointermove", (event) => this.point(event));
    this.board.addEventListener("pointerleave", (event) => this.point(event));
    this.board.addEventListener("click", (event) => this.keep(this.columns.at(event.target)));
    this.board.addEventListener("focusin", (event) => {
      this.visited = event.target.matches(":focus-visible") ? this.columns.at(event.target) : null;
      this.drawSoon();
    });
    this.board.addEventListener("focusout", () => {
      this.visited = null;
      this.drawSoon();
    });
    this.root.addEventListener("keydown", (event) => this.press(event));
  }

  // ---- data ----

  show({ header, arrays }) {
    const isSame = this.header?.digest === header.digest;
    this.header = header;
    if (!isSame) {
      const { queryTokens, keyTokens } = header;
      this.matrix = { values: arrays[0], queries: queryTokens.length, keys: keyTokens.length };
      this.pointed = this.visited = null;
      this.bar = this.buildBar();
      this.columns.fill(queryTokens, keyTokens);
      this.tooltip.hide();
      this.root.replaceChildren(this.bar.element, this.scroller, this.status, this.tooltip.box);
      this.painted = null;
    }
    this.obey(header.command);
    this.root.dataset.ready = "1";
  }

  buildBar() {
    return new LineBar(this.header.headNames, this.header.colours, {
      switchHead: (head) => this.switchHead(head),
      leaveAlone: (head) => this.change({ on: new Set([head]) }),
      threshold: (threshold, isFinal) => this.change({ threshold }, isFinal),
      savePng: () => savePng(this.scene(), this.fileName()),
      saveSvg: () => saveSvg(this.scene(), this.fileName()),
    });
  }

  /** Do as Python says, once for each command: what a person did since then stands. */
  obey(command) {
    if (this.command !== command.number) {
      const last = lastPlaces.get(this.header.digest);
      const place = last?.command === command.number ? last : command;
      const side = ["query", "key"].find((name) => place[name] !== null);
      this.command = command.number;
      this.on = new Set(place.heads);
      this.threshold = place.threshold;
      this.kept = side ? { side, index: place[side] } : null;
    }
    this.mark();
    this.resize();
  }

  /** What a person has changed. Nothing is told of a slider that still moves. */
  change(changes, isFinal = true) {
    Object.assign(this, changes);
    this.mark();
    this.drawSoon();
    if (!isFinal) return;
    const { digest } = this.header;
    const { kept, threshold, command } = this;
    const indexIn = (side) => (kept?.side === side ? kept.index : null);
    const place = { heads: this.heads(), query: indexIn("query"), key: indexIn("key"), threshold, command, digest };
    lastPlaces.set(digest, place);
    this.send(place);
  }

  heads() {
    return [...this.on].sort((a, b) => a - b);
  }

  // ---- what a person does ----

  point(event) {
    const token = event.type === "pointerleave" ? null : this.columns.at(event.target);
    // While a token is kept, the other column tells of the pair, and the lines stay.
    const isOther = this.kept && token?.side === OTHER[this.kept.side];
    if (isOther) this.tell(event, token);
    else this.tooltip.hide();
    const pointed = isOther ? null : token;
    if (isSameToken(pointed, this.pointed)) return;
    this.pointed = pointed;
    this.drawSoon();
  }

  /** A box with the numbers of the kept token and this one, of every head that is on. */
  tell(event, token) {
    const { queryTokens, keyTokens, title, number, headNames } = this.header;
    const { query, key } = { [token.side]: token.index, [this.kept.side]: this.kept.index };
    const numbers = this.heads().map((head) => `${headNames[head]}: ${number} ${this.format(storedAt(this.matrix, head, query, key), 3)}`);
    this.tooltip.show(event, title, queryTokens[query], keyTokens[key], numbers.join("\n"));
  }

  keep(token) {
    if (token) this.change({ kept: isSameToken(token, this.kept) ? null : token });
  }

  switchHead(head) {
    const on = new Set(this.on);
    if (!on.delete(head)) on.add(head);
    // The last head stays: without any there is no picture.
    if (on.size) this.change({ on });
  }

  press(event) {
    if (event.altKey || event.metaKey || event.ctrlKey) return;
    const token = this.columns.at(event.target);
    const next = token && this.columns.next(token, event.key);
    if (event.key === "Escape" && (this.kept || this.visited)) {
      this.visited = null;
      this.change({ kept: null });
    } else if (next) this.columns.visit(next);
    else if (token && (event.key === "Enter" || event.key === " ")) this.keep(token);
    else return;
    // These keys neither scroll the page nor step a decode player beside this picture.
    event.preventDefault();
    event.stopPropagation();
  }

  // ---- layout ----

  resize() {
    const width = this.middle.clientWidth;
    if (!this.on || !width) return;
    if (width !== this.width) this.painted = null;
    this.width = width;
    this.drawSoon();
  }

  // ---- drawing ----

  mark() {
    const share = this.threshold / 100;
    const { top } = this.header;
    this.bar.mark(this.on, this.threshold, top === 1 ? share.toFixed(2) : formatNumber(share * top));
    this.columns.mark(this.kept);
  }

  drawSoon() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.draw());
  }

  draw() {
    // Without a width it lies in a closed tab; `resize` draws it when that opens.
    if (!this.width) return;
    const signature = `${this.heads()} ${this.threshold} ${window.devicePixelRatio}`;
    if (signature !== this.painted) this.paintBase(signature);
    const focus = this.pointed ?? this.visited ?? this.kept;
    this.base.style.visibility = focus ? "hidden" : "visible";
    this.paintTop(focus);
    this.columns.emphasise(focus);
    this.describe(focus);
  }

  /** All lines, painted once; pointing at a token only hides them. */
  paintBase(signature) {
    const { matrix, threshold } = this;
    this.painted = signature;
    const rows = rowsOf(matrix);
    // The columns are as wide as their text, so its size comes before any measuring.
    this.board.style.setProperty("--row", `${rows.row}px`);
    this.board.style.setProperty("--font", `${rows.font}px`);
    this.sizes = layoutOf(rows, this.columns, this.middle.clientWidth, this.on.size);
    this.least = leastStored(matrix.values, matrix.queries * matrix.keys, this.heads(), threshold);
    const context = this.fitted(this.base);
    this.count = strokeLines(context, matrix, this.heads(), this.least, null, this.sizes, this.header.colours);
    this.root.dataset.lines = this.count;
    this.topContext = this.fitted(this.top);
    this.isTopEmpty = true;
  }

  fitted(canvas) {
    const { middle, height } = this.sizes;
    const ratio = Math.min(window.devicePixelRatio || 1, TALLEST_CANVAS / height);
    sizeCanvas(canvas, Math.round(middle * ratio), Math.round(height * ratio), ratio);
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return context;
  }

  /** The lines of one token, and a box a head beside every token of the other column. */
  paintTop(focus) {
    const { sizes, matrix, topContext: context } = this;
    const { colours } = this.header;
    if (!this.isTopEmpty) context.clearRect(0, 0, sizes.middle, sizes.height);
    this.isTopEmpty = !focus;
    if (!focus) return;
    // Of one token all lines are drawn, also where the whole picture has to leave the weakest out.
    strokeLines(context, matrix, this.heads(), leastVisible(this.threshold), focus, sizes, colours);
    const boxes = boxesOf(matrix, this.heads(), focus, sizes, colours, (stored) => this.format(stored));
    const style = getComputedStyle(this.root);
    paintBoxes(context, boxes, style.color, `10.5px ${style.fontFamily}`);
  }

  // ---- numbers ----

  format(stored, digits = 2) {
    return formatNumber(weightOf(stored) * this.header.top, digits);
  }

  /** The sentence below the picture. */
  describe(focus) {
    const { queryTokens, keyTokens, headNames } = this.header;
    if (!focus) {
      this.status.textContent = countSentence(this.count, this.on.size * queryTokens.length * keyTokens.length);
      return;
    }
    const [own, others] = focus.side === "query" ? [queryTokens, keyTokens] : [keyTokens, queryTokens];
    const named = this.heads().slice(0, MOST_NAMED).map((head) => {
      const { index, stored } = strongestPartner(this.matrix, head, focus);
      return [headNames[head], others[index], this.format(stored, 3)];
    });
    const arrow = focus.side === "query" ? "→" : "←";
    this.status.replaceChildren(...partnerSentence(own[focus.index], arrow, named, this.on.size - named.length));
  }

  // ---- taking it along ----

  scene() {
    const { header, matrix, least, kept, sizes } = this;
    const style = getComputedStyle(this.root);
    const names = this.heads().map((head) => header.headNames[head]).join(", ");
    return sceneOf({
      matrix,
      heads: this.heads(),
      least: kept ? leastVisible(this.threshold) : least,
      focus: kept,
      layout: sizes,
      colours: header.colours,
      header,
      title: `${header.title} · ${names}`,
      ink: style.color,
      paper: style.getPropertyValue("--st-background-color") || "white",
      numberOf: (stored) => this.format(stored),
    });
  }

  fileName() {
    const heads = this.header.headNames.length > 1 ? `-head${this.heads().join("+")}` : "";
    return this.header.fileName + heads;
  }
}

const pictures = new WeakMap();

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".head-lines");
  if (!root || !(data instanceof Uint8Array)) return undefined;
  const picture = pictures.get(root) ?? new HeadLines(root);
  pictures.set(root, picture);
  picture.send = (place) => setStateValue("place", place);
  picture.show(unpack(data));
  return () => {
    picture.dispose();
    pictures.delete(root);
  };
}
