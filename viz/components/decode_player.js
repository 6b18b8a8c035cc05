// Steps through a finished decoding. The step and the layer live here, so no key press waits for the server; Python
// hears of them a moment after the last one. Data: the payload of decode_player.py. Sends back the state `view`.

const REPORT_AFTER_MS = 300;
const STACKED_BELOW = 700;

/** Where each player stood, by key and decoding: a player that is mounted again goes on from there. */
const lastPlaces = new Map();

const STEP_KEYS = {
  ArrowLeft: (step) => step - 1,
  ArrowRight: (step) => step + 1,
  Home: () => 0,
  End: () => Infinity,
};
const LAYER_KEYS = { ArrowUp: -1, ArrowDown: 1 };

const FIELDS = "input:not([type=checkbox], [type=button]), textarea, select, iframe, video, audio";
const ROLES_WITH_ARROWS = (
  "combobox grid gridcell listbox menu menuitem option radio radiogroup scrollbar slider spinbutton tab textbox treeitem"
).split(" ");

/** Whether an element uses the arrow keys itself: text fields, sliders, lists, grids, tabs … */
function usesArrowKeys(target) {
  if (!(target instanceof Element)) return false;
  return target.isContentEditable || target.matches(FIELDS) || ROLES_WITH_ARROWS.includes(target.getAttribute("role"));
}

class DecodePlayer {
  constructor(root) {
    this.root = root;
    this.step = 0;
    this.layer = 0;
    this.tooltip = new Tooltip(root);
    this.onKey = (event) => this.press(event);
    document.addEventListener("keydown", this.onKey);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(root);
  }

  dispose() {
    document.removeEventListener("keydown", this.onKey);
    this.observer.disconnect();
    clearTimeout(this.reportTimer);
  }

  // ---- data ----

  show({ header, arrays }) {
    const isSame = this.header?.digest === header.digest;
    this.header = header;
    if (!isSame) {
      [this.cross, this.self] = arrays;
      this.build();
    }
    this.obey(header.command);
    this.root.dataset.ready = "1";
  }

  /** Go where Python says, once for each command; a remounted player goes back to where it stood. */
  obey(command) {
    if (this.command === command.number && this.place === this.header.digest) return;
    this.command = command.number;
    this.place = this.header.digest;
    const remembered = lastPlaces.get(this.header.digest);
    const { step, layer } = remembered?.command === command.number ? remembered : command;
    this.step = step;
    this.layer = layer;
    this.draw();
  }

  // ---- building, once for each decoding ----

  build() {
    const { header } = this;
    this.scale = pixelScale(header.stops);
    this.bars = new CandidateBars(header.steps);
    const attention = element("section", "attention");
    attention.append(this.buildLayers(), ...this.buildStrips(), legendElement(header.stops, header.ticks));
    this.panels = element("div", "panels");
    this.panels.append(this.bars.element, attention);
    this.announcement = element("p", "announcement");
    this.announcement.setAttribute("role", "status");
    this.root.setAttribute("role", "group");
    this.root.setAttribute("aria-label", "Decoding. Left and right arrow keys step, up and down change the layer.");
    const parts = [this.buildTransport(), this.buildSentence(), this.panels, this.announcement, this.tooltip.box];
    this.root.replaceChildren(...parts);
    this.width = 0;
    this.resize();
  }

  buildTransport() {
    const last = this.header.steps.length - 1;
    const bar = element("div", "transport");
    const button = (name, label, target) => {
      const made = element("button", "button");
      made.type = "button";
      made.append(icon(name));
      made.setAttribute("aria-label", label);
      made.title = label;
      made.addEventListener("click", () => this.goTo(target()));
      return made;
    };
    this.backButtons = [
      button("first", "First step (Home)", () => 0),
      button("back", "Step back (←)", () => this.step - 1),
    ];
    this.forwardButtons = [
      button("forward", "Step forward (→)", () => this.step + 1),
      button("last", "Last step (End)", () => last),
    ];
    this.scrubber = element("input", "scrubber");
    Object.assign(this.scrubber, { type: "range", min: 0, max: last, step: 1 });
    this.scrubber.setAttribute("aria-label", "Step");
    this.scrubber.addEventListener("input", () => this.goTo(Number(this.scrubber.value)));
    this.position = element("span", "position");
    bar.append(...this.backButtons, ...this.forwardButtons, this.scrubber, this.position);
    return bar;
  }

  buildSentence() {
    const { targetTokens, steps } = this.header;
    const sentence = element("div", "sentence");
    this.tokens = [...targetTokens, steps.at(-1).token].map((token, at) => {
      const chip = tokenElement(token, "token chip");
      if (at > 0) chip.addEventListener("click", () => this.goTo(at - 1));
      return chip;
    });
    const line = element("p", "prefix");
    line.append(...this.tokens);
    this.caption = element("p", "caption muted");
    sentence.append(line, this.caption);
    return sentence;
  }

  buildLayers() {
    const row = element("div", "layers");
    row.setAttribute("role", "group");
    row.setAttribute("aria-label", "Layer");
    row.append(element("span", "layers-name", "Layer"));
    this.layerButtons = Array.from({ length: this.header.layers }, (_, layer) => {
      const button = element("button", "button layer", String(layer + 1));
      button.type = "button";
      button.setAttribute("aria-label", `Layer ${layer + 1}`);
      button.addEventListener("click", () => this.goTo(this.step, layer));
      return button;
    });
    row.append(...this.layerButtons);
    return row;
  }

  buildStrips() {
    const { sourceTokens, targetTokens, heads } = this.header;
    const strip = (title, tokens, values) =>
      new AttentionStrip(title, tokens, heads, this.scale, this.tooltip, (head, key) => [
        `Layer ${this.layer + 1} · Head ${head + 1}`,
        targetTokens[this.step],
        tokens[key],
        formatWeight(weightOf(values[this.rowOf(head, tokens.length) + key])),
      ]);
    this.overSource = strip("Cross-attention, over the source", sourceTokens, this.cross);
    this.overPrefix = strip("Self-attention, over the prefix", targetTokens, this.self);
    return [this.overSource.element, this.overPrefix.element];
  }

  // ---- moving ----

  goTo(step, layer = this.layer) {
    const { steps, layers } = this.header;
    const next = Math.min(steps.length - 1, Math.max(0, step));
    const nextLayer = Math.min(layers - 1, Math.max(0, layer));
    if (next === this.step && nextLayer === this.layer) return;
    this.step = next;
    this.layer = nextLayer;
    this.draw();
    this.report();
  }

  report() {
    const { digest } = this.header;
    const view = { step: this.step, layer: this.layer, digest, command: this.command };
    lastPlaces.set(digest, view);
    clearTimeout(this.reportTimer);
    this.reportTimer = setTimeout(() => this.send(view), REPORT_AFTER_MS);
  }

  press(event) {
    const isCombination = event.altKey || event.ctrlKey || event.metaKey || event.shiftKey;
    if (!this.header || event.defaultPrevented || isCombination) return;
    const path = event.composedPath();
    const isInside = path.includes(this.root);
    // Outside, only the two arrows: Home, End, up and down belong to the page, which scrolls by them.
    const isStep = event.key in STEP_KEYS && (isInside || event.key.startsWith("Arrow"));
    const isLayer = isInside && event.key in LAYER_KEYS;
    if (!isStep && !isLayer) return;
    if (!isInside && (usesArrowKeys(path[0]) || !this.root.checkVisibility())) return;
    event.preventDefault();
    if (isStep) this.goTo(STEP_KEYS[event.key](this.step));
    else this.goTo(this.step, this.layer + LAYER_KEYS[event.key]);
  }

  // ---- drawing one step ----

  resize() {
    const width = this.root.clientWidth;
    if (!this.header || !width || width === this.width) return;
    this.width = width;
    this.panels.classList.toggle("stacked", width < STACKED_BELOW);
    const room = this.panels.lastElementChild.clientWidth;
    // Cells of one width in both, so that they compare.
    const count = Math.max(this.header.sourceTokens.length, this.header.targetTokens.length);
    this.overSource.fit(room, count);
    this.overPrefix.fit(room, count);
    if (this.place) this.draw();
  }

  draw() {
    const { steps } = this.header;
    const current = steps[this.step];
    this.drawTransport(steps.length);
    this.drawSentence(current);
    this.bars.draw(current);
    // Without a width it lies in a closed tab; `resize` draws it when that opens.
    if (this.width) this.drawAttention();
    const probability = formatProbability(current.logProb);
    this.announcement.textContent = `Step ${this.step + 1} of ${steps.length}: ${current.token}, ${probability}`;
    this.root.dataset.step = this.step;
    this.root.dataset.layer = this.layer;
  }

  drawTransport(count) {
    this.scrubber.value = this.step;
    this.scrubber.setAttribute("aria-valuetext", `${this.step + 1} of ${count}`);
    this.position.textContent = `Step ${this.step + 1} of ${count}`;
    // Not `disabled`: that would drop the focus, and with it the next key press.
    this.backButtons.forEach((button) => button.setAttribute("aria-disabled", String(this.step === 0)));
    this.forwardButtons.forEach((button) => button.setAttribute("aria-disabled", String(this.step === count - 1)));
  }

  drawSentence(current) {
    const { targetTokens } = this.header;
    const written = this.step + 1;
    this.tokens.forEach((chip, at) => {
      chip.classList.toggle("read", at === this.step);
      chip.classList.toggle("new", at === written);
      chip.classList.toggle("future", at > written);
      // A token that was forced differs from what the step before predicted; here the prediction is shown.
      chip.textContent = at === written ? current.token : targetTokens[at] ?? "";
    });
    const taken = tokenElement(current.token, "token chip new");
    // A token that was forced, or sampled, is not what the row predicts.
    const best = tokenElement(current.candidates[0][0], "token chip");
    const isFirstChoice = current.chosen === 0;
    this.caption.replaceChildren(
      `Row ${written}: the decoder takes in `,
      tokenElement(targetTokens[this.step], "token chip read"),
      ...(isFirstChoice ? [" and predicts ", taken, "."] : [" and predicts ", best, "; ", taken, " is written instead."]),
    );
  }

  /** The index of the current row of `head` in an array [layer, head, step, key]. */
  rowOf(head, keys) {
    const { heads, steps } = this.header;
    return ((this.layer * heads + head) * steps.length + this.step) * keys;
  }

  drawAttention() {
    const { sourceTokens, targetTokens } = this.header;
    this.layerButtons.forEach((button, layer) => button.setAttribute("aria-pressed", String(layer === this.layer)));
    this.drawStrip(this.overSource, this.cross, sourceTokens, sourceTokens.length);
    // The causal mask: this row has seen itself and what came before it.
    this.drawStrip(this.overPrefix, this.self, targetTokens, this.step + 1);
  }

  drawStrip(strip, values, tokens, visible) {
    const rowOf = (head) => this.rowOf(head, tokens.length);
    strip.draw(values, rowOf, visible);
    const strongest = Array.from({ length: this.header.heads }, (_, head) => {
      const at = largestWithin(values, rowOf(head), visible, [0, 1], [0, visible]);
      return `head ${head + 1}: ${tokens[at - rowOf(head)]} ${formatWeight(weightOf(values[at]))}`;
    });
    strip.summarise(`Layer ${this.layer + 1}, strongest weight of each head. ${strongest.join("; ")}`);
  }
}

const players = new WeakMap();

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".decode-player");
  if (!root || !(data instanceof Uint8Array)) return undefined;
  const player = players.get(root) ?? new DecodePlayer(root);
  players.set(root, player);
  player.send = (view) => setStateValue("view", view);
  player.show(unpack(data));
  return () => {
    player.dispose();
    players.delete(root);
  };
}
