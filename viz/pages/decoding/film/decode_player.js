// The film of a finished decoding. Where it stands and all that is chosen live here, so no key press waits for the server;
// Python hears of it a moment after the last change, and at once of what a person wishes written instead.
// Data: the payload of decode_player.py. Sends back the state `view` and the trigger `wish`.

const REPORT_AFTER_MS = 300;
const STACKED_BELOW = 860;

/** Where each player stood, by decoding: a player that is mounted again goes on from there. */
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

const clampTo = (last, number) => Math.min(last, Math.max(0, number));

class DecodePlayer {
  constructor(root) {
    this.root = root;
    this.turn = 0;
    this.tooltip = new Tooltip(root);
    this.onKey = (event) => this.press(event);
    document.addEventListener("keydown", this.onKey);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(root);
  }

  dispose() {
    this.turn += 1;
    document.removeEventListener("keydown", this.onKey);
    this.observer.disconnect();
    this.transport?.pause();
    clearTimeout(this.reportTimer);
  }

  // ---- data ----

  /** A decoding is unpacked only if it is news. Of several that follow fast, the last one is shown. */
  async show({ header, arrays }) {
    const turn = ++this.turn;
    const isSame = this.header?.digest === header.digest;
    const unpacked = isSame ? null : await Promise.all(arrays.map(inflate));
    if (turn !== this.turn) return;
    this.header = header;
    if (unpacked) this.build(...unpacked);
    this.obey(header.command);
    this.root.dataset.ready = "1";
  }

  /** Go where Python says, once for each command; a remounted player goes back to where it stood. */
  obey(command) {
    const { digest } = this.header;
    if (this.command === command.number && this.place === digest) return;
    this.command = command.number;
    this.place = digest;
    const remembered = lastPlaces.get(digest);
    const { number, digest: _, command: __, ...state } = remembered?.command === command.number ? remembered : command;
    this.state = state;
    this.draw();
  }

  // ---- building, once for each decoding ----

  build(cross, self, numbers) {
    const { header, tooltip } = this;
    const { layers, heads, sourceTokens, targetTokens, steps, firstCell, firstThousandth } = header;
    // JSON has no −∞, the log-probability of a token that was written though the model's rules forbid it.
    for (const step of steps) step.logProb ??= -Infinity;
    const sizes = { layers, heads, rows: steps.length, blockQueries: 1, blockKeys: 1, firstCell, firstThousandth };
    const goTo = (step) => this.goTo(step);
    this.transport?.pause();
    this.distributions = new Distributions(header, new Float32Array(numbers.buffer));
    this.transport = new Transport(steps.length, {
      goTo,
      moveBy: (count) => this.goTo(this.state.step + count),
      onPause: () => this.report(),
    });
    this.sentence = new FilmSentence(header, goTo);
    this.curve = new FilmCurve(steps, tooltip, goTo);
    this.candidates = new FilmCandidates(steps, {
      force: (token_id) => this.wish({ kind: "force", token_id }),
      list: (candidates) => this.change({ candidates }),
    });
    this.filters = new FilmFilters(header.vocabSize, {
      filter: (changes) => this.change(changes),
      draw: () => this.wish({ kind: "draw", ...this.filter() }),
    });
    this.heads = new FilmHeads(
      header,
      new Tiles({ ...sizes, columns: sourceTokens.length }, cross),
      new Tiles({ ...sizes, columns: targetTokens.length }, self),
      tooltip,
      { choose: (layer, [head, ...also]) => this.change({ layer, head, also }), whose: (whose) => this.change({ whose }) },
    );
    this.assemble();
    this.width = 0;
    // Where the film before stood, this one may have no step; `obey` says where it stands.
    this.state = null;
    this.resize();
  }

  assemble() {
    const { root } = this;
    this.announcement = element("p", "announcement");
    this.announcement.setAttribute("role", "status");
    const choices = element("div", "choices");
    choices.append(this.candidates.element, this.filters.element);
    this.panels = element("div", "panels");
    this.panels.append(choices, this.heads.element);
    this.transport.element.append(pictureButtons(root, () => `${this.header.name}-step${this.state.step}`));
    this.announcement.dataset.notInPicture = this.tooltip.box.dataset.notInPicture = "";
    root.tabIndex = 0;
    root.setAttribute("role", "group");
    root.setAttribute(
      "aria-label",
      "Film of the translation. Left and right arrow keys step, Space plays, up and down change the layer.",
    );
    const parts = [this.transport, this.sentence, this.curve].map((part) => part.element);
    root.replaceChildren(...parts, this.panels, this.announcement, this.tooltip.box);
  }

  // ---- what a person does ----

  goTo(step) {
    this.change({ step: clampTo(this.header.steps.length - 1, step) });
  }

  change(changes) {
    const isNews = ([name, value]) => String(this.state[name]) !== String(value);
    if (!Object.entries(changes).some(isNews)) return;
    Object.assign(this.state, changes);
    this.draw();
    this.report();
  }

  report() {
    const { digest } = this.header;
    const view = { ...this.state, digest, command: this.command };
    lastPlaces.set(digest, view);
    this.unreported = view;
    clearTimeout(this.reportTimer);
    // While it plays nobody needs to know where it is; when it stops it says so.
    if (!this.transport.isPlaying) this.reportTimer = setTimeout(() => this.flush(), REPORT_AFTER_MS);
  }

  flush() {
    clearTimeout(this.reportTimer);
    if (this.unreported) this.send(this.unreported);
    this.unreported = null;
  }

  wish(wish) {
    this.transport.pause();
    // What was chosen a moment ago must not be lost with the decoding that is left.
    this.flush();
    this.sendWish({ ...wish, step: this.state.step, digest: this.header.digest });
  }

  press(event) {
    const isCombination = event.altKey || event.ctrlKey || event.metaKey || event.shiftKey;
    if (!this.state || event.defaultPrevented || isCombination) return;
    const path = event.composedPath();
    const target = path[0];
    const isInside = path.includes(this.root);
    // Outside, only the two arrows: Home, End, up and down belong to the page, which scrolls by them.
    const isStep = event.key in STEP_KEYS && (isInside || event.key.startsWith("Arrow"));
    const isLayer = isInside && event.key in LAYER_KEYS;
    // A button is pressed by Space; elsewhere in the player it plays.
    const isPlay = isInside && event.key === " " && !target.matches("button, select");
    if (!isStep && !isLayer && !isPlay) return;
    if (!isPlay && target !== this.transport.scrubber && usesArrowKeys(target)) return;
    if (!isInside && !this.root.checkVisibility()) return;
    event.preventDefault();
    if (isPlay) this.transport.toggle();
    else if (isStep) this.goTo(STEP_KEYS[event.key](this.state.step));
    else this.change({ layer: clampTo(this.header.layers - 1, this.state.layer + LAYER_KEYS[event.key]) });
  }

  // ---- drawing ----

  resize() {
    const width = this.root.clientWidth;
    if (!this.transport || !width || width === this.width) return;
    this.width = width;
    this.panels.classList.toggle("stacked", width < STACKED_BELOW);
    this.curve.resize(width - 6);
    this.sentence.resize();
    this.heads.resize(this.heads.element.clientWidth);
    if (this.state) this.draw();
  }

  filter() {
    const { temperature, top_k, top_p } = this.state;
    return { temperature, top_k, top_p };
  }

  /** What the filter leaves at this step; null without one. */
  filtered() {
    const filter = this.filter();
    if (!isFilter(filter)) return null;
    const { temperature, top_k, top_p } = filter;
    const wanted = { temperature: temperature / 100, topK: top_k, topP: top_p / 100 };
    return filterDistribution(this.distributions.at(this.state.step), wanted);
  }

  draw() {
    const { step, layer, candidates } = this.state;
    const { steps } = this.header;
    const filtered = this.filtered();
    this.transport.draw(step);
    this.sentence.draw(step);
    this.candidates.draw(steps[step], candidates, filtered);
    this.filters.draw(this.filter(), filtered);
    this.tooltip.hide();
    // Without a width it lies in a closed tab; `resize` draws the rest when that opens.
    if (this.width) {
      this.curve.draw(step);
      this.heads.draw(this.state);
    }
    const probability = formatProbability(steps[step].logProb);
    this.announcement.textContent = `Step ${step + 1} of ${steps.length}: ${steps[step].token}, ${probability}`;
    Object.assign(this.root.dataset, { step, layer, heads: [this.state.head, ...this.state.also].join(" ") });
    // At last, for scrolling makes the browser lay out the page.
    if (this.width) {
      this.sentence.follow();
      this.heads.follow();
    }
  }
}

const players = new WeakMap();

export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  const root = parentElement.querySelector(".decode-player");
  if (!root || !(data instanceof Uint8Array)) return undefined;
  const player = players.get(root) ?? new DecodePlayer(root);
  players.set(root, player);
  player.send = (view) => setStateValue("view", view);
  player.sendWish = (wish) => setTriggerValue("wish", wish);
  player.show(unpack(data));
  return () => {
    player.dispose();
    players.delete(root);
  };
}
