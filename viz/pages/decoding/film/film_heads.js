// Everything about heads in a film: the choice of layer, heads and of whose row is meant; beside each other the strips of
// cross- and self-attention, below them lines and triangle over the same columns, which scroll together.
// Knows nothing of probabilities or of Streamlit.

const GUTTER = 54;
const [NARROWEST_CELL, WIDEST_CELL] = [14, 34];
const [LOWEST_STRIP_ROW, HIGHEST_STRIP_ROW] = [9, 15];
const ROOM_FOR_STRIP = 420;
const PANELS_STACKED_BELOW = 560;

const HOW_TO_READ =
  "Each row is the new row of one head; the lighter a column, the more weight on its token. Click a row to choose its head, " +
  "several of one layer if you like. Lines lead from a row's token, below, to the tokens of the source, above; those of the " +
  "rows before are faint. The triangle has all rows so far of the head chosen last.";

const WHOSE = { in: "Token going in", out: "Token coming out" };

class FilmHeads {
  /** `act` has what happens: choose(layer, heads), whose(side). `header` and both tiles are the film's. */
  constructor(header, cross, self, tooltip, act) {
    Object.assign(this, { header, cross, self, tooltip, act });
    const { sourceTokens, targetTokens, steps, stops, ticks, titles } = header;
    this.sides = { in: targetTokens, out: steps.map(({ token }) => token) };
    const scale = pixelScale(stops);
    const strip = (title, tokens, tiles) => new FilmStrip(title, tokens, tiles, scale, this.actOn(tokens, tiles));
    this.overSource = strip(titles[0], sourceTokens, cross);
    this.overPrefix = strip(titles[1], targetTokens, self);
    this.fan = new FilmFan(cross, this.sides);
    this.triangle = new FilmTriangle(self, scale, this.sides, {
      point: (event, row, key) => this.tell(event, self, this.state.layer, this.state.head, row, key, targetTokens),
      leave: () => tooltip.hide(),
    });
    this.panels = [this.buildPanel(this.overSource, this.fan), this.buildPanel(this.overPrefix, this.triangle)];
    const pair = element("div", "pair");
    pair.append(...this.panels);
    this.element = element("section", "heads");
    this.element.append(this.buildBar(), this.buildMeaning(), pair, legendElement(stops, ticks), element("p", "how muted", HOW_TO_READ));
  }

  actOn(tokens, tiles) {
    return {
      choose: (layer, head) => this.choose(layer, head),
      leaveAlone: (layer, head) => this.act.choose(layer, [head]),
      point: (event, layer, head, key) => this.tell(event, tiles, layer, head, this.state.step, key, tokens),
      leave: () => this.tooltip.hide(),
    };
  }

  buildPanel(strip, below) {
    const panel = element("div", "panel");
    const body = element("div", "panel-body");
    // Reachable by keyboard, because a long sentence scrolls sideways.
    panel.tabIndex = 0;
    panel.setAttribute("role", "group");
    panel.setAttribute("aria-label", strip.caption.textContent);
    body.append(strip.element, below.element);
    panel.append(body);
    panel.addEventListener("scroll", () => this.scrollTogether(panel));
    return panel;
  }

  // ---- choosing ----

  buildBar() {
    const bar = element("div", "heads-bar");
    this.layerButtons = this.buildGroup(bar, "Layer", this.header.layers, (layer) => this.act.choose(layer, this.heads()));
    this.headButtons = this.buildGroup(bar, "Heads", this.header.heads, (head) => this.choose(this.state.layer, head));
    this.headButtons.forEach((button, head) => {
      button.classList.add("head");
      button.style.setProperty("--head", this.colour(head));
      button.prepend(element("span", "swatch"));
      button.title = "Click switches the head on or off, double-click leaves it alone";
      button.addEventListener("dblclick", () => this.act.choose(this.state.layer, [head]));
    });
    return bar;
  }

  buildGroup(bar, name, count, choose) {
    const group = element("div", "group");
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", name);
    const buttons = Array.from({ length: count }, (_, at) => {
      const button = element("button", "button small");
      button.type = "button";
      button.dataset.inPicture = "";
      button.append(element("span", "", String(at + 1)));
      button.setAttribute("aria-label", `${name === "Layer" ? name : "Head"} ${at + 1}`);
      button.addEventListener("click", () => choose(at));
      return button;
    });
    group.append(element("span", "group-name", name), ...buttons);
    bar.append(group);
    return buttons;
  }

  buildMeaning() {
    const meaning = element("div", "meaning");
    const group = element("div", "group");
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", "Whose row");
    this.whoseButtons = Object.entries(WHOSE).map(([side, label]) => {
      const button = element("button", "button small", label);
      button.type = "button";
      button.dataset.inPicture = "";
      button.addEventListener("click", () => this.act.whose(side));
      return [side, button];
    });
    group.append(element("span", "group-name", "Whose row"), ...this.whoseButtons.map(([, button]) => button));
    const owner = element("p", "owner muted");
    this.row = element("span", "");
    this.owners = { in: tokenElement("", "token chip"), out: tokenElement("", "token chip") };
    this.meant = element("span", "");
    owner.append(this.row, this.owners.in, " and writes ", this.owners.out, "; here it counts as the row of the token ", this.meant);
    owner.append(". Other heads align words best in one reading than in the other: a row still holds what it reads and already prepares what it writes.");
    meaning.append(group, owner);
    return meaning;
  }

  heads() {
    return [this.state.head, ...this.state.also];
  }

  colour(head) {
    return this.header.colours[head % this.header.colours.length];
  }

  /** A click on a head: it joins the chosen ones of its layer and is the open one, or leaves them; the last one stays. */
  choose(layer, head) {
    const heads = this.heads();
    if (layer !== this.state.layer) this.act.choose(layer, [head]);
    else if (!heads.includes(head)) this.act.choose(layer, [head, ...heads]);
    else if (heads.length > 1) this.act.choose(layer, heads.filter((other) => other !== head));
  }

  tell(event, tiles, layer, head, row, key, tokens) {
    const weight = tiles.format(tiles.values[tiles.baseOf([layer, head]) + row * tiles.header.columns + key]);
    this.tooltip.show(event, `Layer ${layer + 1} · Head ${head + 1}`, this.sides[this.state.whose][row], tokens[key], `weight ${weight}`);
  }

  // ---- layout ----

  /** Columns of one width in both panels, so that they compare; if they would be too narrow, the panels scroll. */
  resize(width) {
    const { sourceTokens, targetTokens, layers, heads } = this.header;
    const isStacked = width < PANELS_STACKED_BELOW;
    this.element.classList.toggle("stacked", isStacked);
    this.room = (isStacked ? width : (width - 22) / 2) - GUTTER;
    const count = Math.max(sourceTokens.length, targetTokens.length);
    this.cell = Math.floor(Math.max(NARROWEST_CELL, Math.min(WIDEST_CELL, this.room / count)));
    this.isWide = count * this.cell > this.room;
    this.element.classList.toggle("wide", this.isWide);
    const row = Math.max(LOWEST_STRIP_ROW, Math.min(HIGHEST_STRIP_ROW, Math.floor(ROOM_FOR_STRIP / (layers * heads))));
    const longest = Math.max(...[...sourceTokens, ...targetTokens, ...this.sides.out].map((token) => token.length));
    const sizes = { gutter: GUTTER, cell: this.cell, row, "label-height": Math.max(62, Math.min(104, 12 + 7 * longest)) };
    for (const [name, size] of Object.entries(sizes)) this.element.style.setProperty(`--${name}`, `${size}px`);
    this.element.style.setProperty("--heads", heads);
    this.element.style.setProperty("--sources", sourceTokens.length);
    this.element.style.setProperty("--targets", targetTokens.length);
    this.fan.fit(this.cell);
    this.triangle.fit(this.cell);
  }

  /** Scroll both panels so far that the current column is in the middle, where there is more than fits. */
  follow() {
    const { step } = this.state;
    const { targetTokens } = this.header;
    if (!this.isWide) return;
    const place = ((step + 0.5) * this.cell - this.room / 2) / Math.max(1, targetTokens.length * this.cell - this.room);
    this.scrollTo(Math.max(0, Math.min(1, place)));
  }

  /** Both panels, to the same share of how far each can be scrolled. */
  scrollTo(share) {
    for (const panel of this.panels) panel.scrollLeft = Math.round(share * (panel.scrollWidth - panel.clientWidth));
    this.share = share;
  }

  scrollTogether(panel) {
    const most = panel.scrollWidth - panel.clientWidth;
    const share = most > 0 ? panel.scrollLeft / most : 0;
    // What `scrollTo` did comes back as an event; only a person's own scrolling moves the other panel.
    if (Math.abs(share - (this.share ?? 0)) * most > 2) this.scrollTo(share);
  }

  // ---- drawing ----

  draw(state) {
    this.state = state;
    const { step, layer, head, whose } = state;
    const { sourceTokens, targetTokens } = this.header;
    const colourOf = new Map(this.heads().map((one) => [one, this.colour(one)]));
    this.layerButtons.forEach((button, at) => button.setAttribute("aria-pressed", String(at === layer)));
    this.headButtons.forEach((button, at) => button.setAttribute("aria-pressed", String(colourOf.has(at))));
    this.whoseButtons.forEach(([side, button]) => button.setAttribute("aria-pressed", String(side === whose)));
    const marked = `${layer} ${this.heads()}`;
    for (const [strip, visible, tokens] of [
      [this.overSource, sourceTokens.length, sourceTokens],
      // The causal mask: this row has seen itself and what came before it.
      [this.overPrefix, step + 1, targetTokens],
    ]) {
      if (marked !== this.marked) strip.mark(layer, colourOf);
      strip.draw(step, visible);
      strip.summarise(layer, step, tokens);
    }
    this.marked = marked;
    this.fan.draw(step, layer, colourOf, whose);
    this.triangle.draw(step, layer, head, whose);
    this.describe(state);
  }

  describe({ step, layer, head, also, whose }) {
    this.row.textContent = `Row ${step + 1} reads `;
    this.meant.textContent = whose === "in" ? "going in" : "coming out";
    for (const [side, owner] of Object.entries(this.owners)) {
      owner.textContent = this.sides[side][step];
      owner.classList.toggle("meant", side === whose);
    }
    const names = [head, ...also].map((at) => at + 1).sort((a, b) => a - b).join(", ");
    this.fan.title.textContent = `Lines of layer ${layer + 1}, head${also.length ? "s" : ""} ${names}`;
    this.triangle.title.textContent = `Rows so far of layer ${layer + 1}, head ${head + 1}`;
    this.fan.canvas.setAttribute("aria-label", this.fan.title.textContent);
    this.triangle.canvas.setAttribute("aria-label", this.triangle.title.textContent);
  }
}
