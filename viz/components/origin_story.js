// Seven pictures over the same keys, from q · k to a head's part of the output. Pointing at a key lights its column in
// all of them; a click, or Enter, follows it. The tokens on top are the keyboard's way in.
// Data: the payload of origin_story.py. Sends back the trigger `follow`: { key }.

const BARS = 92;
const CELL_STANDING = 38;
const CELL_LYING = 24;

class OriginStory {
  constructor(root) {
    this.root = root;
    this.summary = element("div", "summary");
    this.heads = element("div", "keys");
    this.heads.setAttribute("role", "toolbar");
    this.heads.setAttribute("aria-label", "Keys: arrow keys move, Enter follows a key");
    this.list = element("ol", "steps");
    this.status = element("p", "status");
    this.status.setAttribute("role", "status");
    root.replaceChildren(this.summary, this.heads, this.list, this.status);
    this.tooltip = new Tooltip(root);
    this.listen();
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(root);
  }

  listen() {
    this.root.addEventListener("pointermove", (event) => this.point(event));
    this.root.addEventListener("pointerleave", () => this.light(-1));
    this.list.addEventListener("click", (event) => this.follow(this.columnAt(event)));
    this.heads.addEventListener("click", (event) => this.follow(this.tokens.indexOf(event.target.closest("button"))));
    this.heads.addEventListener("focusin", (event) => this.visit(this.tokens.indexOf(event.target.closest("button"))));
    this.heads.addEventListener("focusout", () => this.light(-1));
    this.heads.addEventListener("keydown", (event) => this.press(event));
  }

  dispose() {
    this.observer.disconnect();
  }

  show({ header }) {
    const isSame = this.data?.digest === header.digest;
    const isMoved = this.data?.followed !== header.followed;
    this.data = header;
    if (!isSame) {
      this.tooltip.hide();
      this.drawSummary();
      this.drawn = null;
      this.resize();
    } else if (isMoved) this.drawFollowed();
    this.root.dataset.ready = "1";
  }

  resize() {
    const width = this.root.clientWidth;
    if (!this.data || !width || width === this.drawn) return;
    this.drawn = width;
    // Side by side, the words take their share; on a narrow page they stand above the picture.
    const isWide = width >= 860;
    this.root.classList.toggle("wide", isWide);
    this.columns = new Columns(isWide ? width - 268 : width, this.data.columns.length, this.data.restCount > 0);
    this.drawKeys();
    this.list.replaceChildren(...this.data.steps.map((step, place) => this.buildStep(step, place)));
    this.drawFollowed();
  }

  // ---- around the pictures ----

  drawSummary() {
    const { summary, changed } = this.data;
    const table = element("table");
    if (changed) {
      const row = element("tr");
      row.append(element("td"), element("th", "real", "The model"), element("th", "other", changed));
      table.append(row);
    }
    for (const { name, cells } of summary) {
      const row = element("tr");
      const title = element("th", "muted", name);
      title.scope = "row";
      row.append(title, ...cells.map(({ token, text }) => {
        const cell = element("td");
        if (token !== undefined) cell.append(tokenElement(token), " ");
        cell.append(text);
        return cell;
      }));
      table.append(row);
    }
    this.summary.replaceChildren(table);
    this.summary.style.setProperty("--real", this.data.realColour);
    this.summary.style.setProperty("--other", this.data.otherColour);
  }

  drawKeys() {
    const { columns, data } = this;
    const longest = Math.max(...data.columns.map(({ label }) => [...label].length));
    const height = Math.min(92, 26 + longest * 5.2);
    this.heads.style.height = `${height}px`;
    this.tokens = data.columns.map(({ label, key }, column) => {
      const button = element("button", "key");
      button.type = "button";
      button.append(tokenElement(label));
      button.tabIndex = column === data.followed ? 0 : -1;
      button.dataset.column = column;
      button.title = `${key + 1} · ${label}`;
      button.style.left = `${columns.middle(column)}px`;
      return button;
    });
    const rest = element("span", "key rest muted", `${data.restCount} others`);
    rest.style.left = `${columns.middle(columns.restAt)}px`;
    this.heads.replaceChildren(...this.tokens, ...(data.restCount ? [rest] : []));
  }

  buildStep({ title, formula, text }, place) {
    const item = element("li", "step");
    const words = element("div", "words");
    words.append(element("h4", "", title), element("p", "formula", formula), element("p", "text", text));
    const canvas = element("div", "picture");
    canvas.append(this.picture(place));
    item.append(words, canvas);
    return item;
  }

  picture(place) {
    const draw = [
      () => this.drawProduct(), () => this.drawDots(), () => this.drawScaled(), () => this.drawMask(),
      () => this.drawSoftmax(), () => this.drawValues(), () => this.drawPart(),
    ][place];
    return draw().root;
  }

  begin(height, place) {
    return new Picture(this.columns, height, this.data.steps[place].title);
  }

  get cellHeight() {
    return this.columns.isLying ? CELL_LYING : this.columns.hasNumbers ? CELL_STANDING : 18;
  }

  /** The path that is drawn in full. */
  get shown() {
    return this.data.other ?? this.data.real;
  }

  get shownColour() {
    return this.data.other ? this.data.otherColour : this.data.realColour;
  }

  // ---- the seven pictures ----

  drawProduct() {
    const { q, k, products, dots, followed, columns, query, signed, realColour } = this.data;
    const picture = this.begin(196, 0);
    const bound = Math.max(largestSize(q), largestSize(k));
    const rows = [["q", q, query], ["k", k[followed], columns[followed].label]];
    rows.forEach(([name, values, token], row) => {
      const top = row * 42;
      picture.name(name, top + 18);
      drawStrip(picture, top, 36, values, bound, signed);
      picture.total(token, top + 18, "total token");
    });
    picture.name("q × k", 138);
    const width = (this.columns.end - GUTTER) / q.length;
    const values = products[followed];
    const size = largestSize(values) || 1;
    values.forEach((value, i) => {
      const height = Math.max((Math.abs(value) / size) * 48, 0.75);
      const place = { x: GUTTER + i * width, width: width - (width > 4 ? 1 : 0), height };
      const bar = picture.add("rect", { ...place, y: value < 0 ? 138 : 138 - height, style: `fill:${realColour}` });
      bar.append(svg("title", {}, `dimension ${i}: ${exactNumber(q[i])} × ${exactNumber(k[followed][i])} = ${exactNumber(value)}`));
    });
    picture.add("line", { class: "zero", x1: GUTTER, x2: this.columns.end, y1: 138, y2: 138 });
    picture.total(`Σ = ${shortNumber(dots[followed])}`, 138);
    return picture;
  }

  get dotBounds() {
    const all = [...this.data.dots, ...(this.data.restDots ?? [])];
    return [Math.min(...all), Math.max(...all)];
  }

  drawDots() {
    const { dots, restDots, columns, realColour } = this.data;
    const picture = this.begin(BARS + 2 * this.columns.numberHeight, 1).grounds(columns);
    const series = [{ values: dots, colour: realColour, numbered: true }];
    drawRange(picture, restDots, drawBars(picture, 0, picture.height, series, this.dotBounds, shortNumber));
    return picture;
  }

  drawScaled() {
    const { dots, real, isScaled, columns, realColour } = this.data;
    const picture = this.begin(BARS + 2 * this.columns.numberHeight, 2).grounds(columns);
    const ghost = isScaled
      ? { values: dots, colour: "currentColor", outlined: true }
      : { values: real.scaled, colour: realColour, outlined: true };
    const series = [{ values: this.shown.scaled, colour: isScaled ? realColour : this.shownColour, numbered: true }];
    const y = drawBars(picture, 0, picture.height, [...series, ghost], this.dotBounds, shortNumber);
    drawRange(picture, this.shown.restScaled, y);
    return picture;
  }

  drawMask() {
    const { ahead, columns, signed, restCount } = this.data;
    const { scaled, cut, restCut } = this.shown;
    const height = this.cellHeight;
    const picture = this.begin(height + 14, 3).grounds(columns);
    const bound = largestSize(scaled);
    picture.name("s", height / 2);
    scaled.forEach((score, column) => {
      if (cut[column]) {
        picture.cell(column, 0, height, { className: "cell cut" });
        picture.number(column, height / 2, "−∞");
        return;
      }
      const { fill, ink } = signedColour(signed, score, bound);
      picture.cell(column, 0, height, { fill, className: ahead[column] ? "cell ahead" : "cell" });
      picture.number(column, height / 2, shortNumber(score), { ink });
      if (ahead[column]) this.markAhead(picture, column, height + 8);
    });
    if (restCount && restCut) picture.number(this.columns.restAt, height / 2, restCut === restCount ? "−∞" : `${restCut} −∞`);
    return picture;
  }

  markAhead(picture, column, y) {
    const x = this.columns.middle(column);
    picture.add("path", { class: "mark", d: `M${x} ${y - 5}l5 9h-10z`, style: `fill:${this.data.otherColour}` });
  }

  drawSoftmax() {
    const { real, other, columns, sequential, realColour, otherColour, ahead, restCount } = this.data;
    const height = this.cellHeight;
    const bars = 84 + this.columns.numberHeight;
    const picture = this.begin(height + 10 + bars + 12, 4).grounds(columns);
    picture.name("exp(s)", height / 2);
    const { shares, cut, restShares, sharesSum, weightsSum } = this.shown;
    shares.forEach((share, column) => {
      const { fill, ink } = colourAt(sequential, Math.sqrt(share));
      picture.cell(column, 0, height, cut[column] ? { className: "cell cut" } : { fill });
      picture.number(column, height / 2, cut[column] ? "0" : shortWeight(share), cut[column] ? {} : { ink });
    });
    picture.total(`Σ = ${shortNumber(sharesSum)}`, height / 2);
    const top = height + 10;
    const withRest = (path) => (restCount ? [...path.weights, path.restWeight] : path.weights);
    const series = [{ values: withRest(real), colour: realColour, numbered: !other }];
    if (other) series.push({ values: withRest(other), colour: otherColour, numbered: true });
    if (restCount) picture.number(this.columns.restAt, height / 2, shortNumber(restShares));
    const y = drawBars(picture, top, bars, series, [0, Math.max(...series.flatMap(({ values }) => values), 0.25)], shortWeight);
    picture.name("α", y(0) - 30);
    picture.total(`Σ = ${shortNumber(weightsSum)}`, y(0) - 30);
    if (other) ahead.forEach((isAhead, column) => isAhead && !cut[column] && this.markAhead(picture, column, y(0) + 7));
    return picture;
  }

  drawValues() {
    const { weighted, values, restWeighted, restCount, output, columns, signed } = this.data;
    const cell = Math.min(6, Math.max(2, Math.round(170 / output.length)));
    const top = this.columns.numberHeight + 4;
    const picture = this.begin(top + output.length * cell + 2, 5).grounds(columns);
    const bound = Math.max(largestSize(weighted), largestSize(output));
    const strips = restCount ? [...weighted, restWeighted] : weighted;
    const strip = (numbers, x, width, describe) => numbers.forEach((value, i) => {
      const { fill } = signedColour(signed, value, bound);
      const part = picture.add("rect", { x, y: top + i * cell, width, height: cell, fill, class: "cell" });
      part.append(svg("title", {}, `dimension ${i}: ${describe(value, i)}`));
    });
    const { weights, restWeight } = this.shown;
    strips.forEach((numbers, column) => {
      const isRest = column === this.columns.restAt;
      const weight = isRest ? restWeight : weights[column];
      picture.number(column, top - 3, shortWeight(weight), { edge: "bottom" });
      strip(numbers, this.columns.left(column) + 0.5, this.columns.step - 1, (value, i) =>
        isRest ? exactNumber(value) : `${exactNumber(weight)} × ${exactNumber(values[column][i])} = ${exactNumber(value)}`);
    });
    const middle = top + (output.length * cell) / 2;
    picture.name("α · v", middle);
    picture.total("=", middle);
    strip(output, this.columns.end + 26, 34, exactNumber);
    picture.add("text", { x: this.columns.end + 43, y: top - 9, class: "total", "text-anchor": "middle" }, "z");
    return picture;
  }

  drawPart() {
    const { part, lengths, otherLength, allLength, head, signed, realColour, otherColour } = this.data;
    const line = 18;
    const picture = this.begin(46 + (lengths.length + 1) * line, 6);
    drawStrip(picture, 0, 26, part, largestSize(part), signed);
    const longest = Math.max(...lengths, otherLength ?? 0, allLength) || 1;
    const left = GUTTER + 44;
    const room = this.columns.end - left - 50;
    const bar = (row, name, value, style, className = "") => {
      const y = 46 + row * line;
      const width = Math.max(1, (value / longest) * room);
      const label = { x: left - 8, y: y + 6, class: `name ${className}`, "text-anchor": "end", "dominant-baseline": "central" };
      picture.add("text", label, name);
      picture.add("rect", { x: left, y: y + 1, width, height: 11, style });
      return [y, width];
    };
    const write = (y, width, text, className) =>
      picture.add("text", { x: left + width + 6, y: y + 6, class: `number ${className}`, "dominant-baseline": "central" }, text);
    lengths.forEach((length, i) => {
      const isThis = i === head;
      const [y, width] = bar(i, `Head ${i + 1}`, length, `fill:${realColour};opacity:${isThis ? 1 : 0.38}`, isThis ? "strong" : "");
      let text = shortNumber(length);
      if (isThis && otherLength !== null) {
        const size = { x: left, y: y + 7, width: Math.max(1, (otherLength / longest) * room), height: 5 };
        picture.add("rect", { ...size, style: `fill:${otherColour}` });
        text += ` → ${shortNumber(otherLength)}`;
      }
      const end = isThis && otherLength !== null ? Math.max(width, (otherLength / longest) * room) : width;
      write(y, end, text, isThis ? "strong" : "");
    });
    const [y, width] = bar(lengths.length, "All", allLength, "fill:currentColor;opacity:0.3");
    write(y, width, shortNumber(allLength), "");
    return picture;
  }

  drawFollowed() {
    const first = this.list.firstElementChild?.querySelector(".picture");
    first?.replaceChildren(this.picture(0));
    this.tokens.forEach((button, column) => {
      button.setAttribute("aria-pressed", String(column === this.data.followed));
      button.tabIndex = column === this.data.followed ? 0 : -1;
    });
    for (const ground of this.root.querySelectorAll(".ground")) {
      ground.classList.toggle("followed", Number(ground.dataset.column) === this.data.followed);
    }
  }

  // ---- pointer and keyboard ----

  columnAt(event) {
    const drawing = event.target.closest("svg");
    if (!drawing || drawing === this.list.firstElementChild?.querySelector("svg") || drawing === this.list.lastElementChild?.querySelector("svg")) return -1;
    const column = Math.floor((event.clientX - drawing.getBoundingClientRect().left - GUTTER) / this.columns.step);
    return column >= 0 && column < this.columns.count ? column : -1;
  }

  point(event) {
    const button = event.target.closest?.("button.key");
    const column = button ? Number(button.dataset.column) : this.columns ? this.columnAt(event) : -1;
    this.light(column);
    const key = this.data?.columns[column];
    if (!key) return this.tooltip.hide();
    const place = `key ${key.key + 1}`;
    this.tooltip.show(event, place, this.data.query, key.label, this.describe(column).join("\n"));
  }

  /** All numbers of one key, a line each. */
  describe(column) {
    const { dots, real, other, changed } = this.data;
    const path = (one) => [
      `score  ${one.cut[column] ? `${exactNumber(one.scaled[column])}, masked: −∞` : exactNumber(one.scaled[column])}`,
      `weight  ${exactNumber(one.weights[column])}`,
    ];
    const lines = [`q · k  ${exactNumber(dots[column])}`, ...path(real)];
    return other ? [...lines, `${changed}:`, ...path(other)] : lines;
  }

  light(column) {
    if (column < 0) this.tooltip.hide();
    if (column === this.lit) return;
    this.lit = column;
    for (const part of this.root.querySelectorAll("[data-column]")) {
      part.classList.toggle("lit", Number(part.dataset.column) === column);
    }
  }

  visit(column) {
    if (column < 0) return;
    this.light(column);
    this.tokens.forEach((button, place) => (button.tabIndex = place === column ? 0 : -1));
    this.status.replaceChildren(tokenElement(this.data.columns[column].label), `: ${this.describe(column).join(", ")}`);
  }

  press(event) {
    const column = this.tokens.indexOf(event.target.closest("button"));
    const target = { ArrowLeft: column - 1, ArrowRight: column + 1, Home: 0, End: this.tokens.length - 1 }[event.key];
    if (target === undefined || event.altKey || event.metaKey || event.ctrlKey) return;
    this.tokens[target]?.focus();
    event.preventDefault();
    event.stopPropagation();
  }

  follow(column) {
    const key = this.data.columns[column];
    if (!key) return;
    this.data.followed = column;
    this.drawFollowed();
    this.send({ key: key.key });
  }
}

const stories = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".origin-story");
  if (!root || !(data instanceof Uint8Array)) return undefined;
  const story = stories.get(root) ?? new OriginStory(root);
  stories.set(root, story);
  story.send = (choice) => setTriggerValue("follow", choice);
  story.show(unpack(data));
  return () => {
    story.dispose();
    stories.delete(root);
  };
}
