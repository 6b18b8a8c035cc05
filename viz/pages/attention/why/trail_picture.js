// The whole trail as one picture: from the word that is written, each step as a bar with what it gave as a band, as wide
// as its share, and what else went into it. Across the page, or down it where that is narrow. A click, or Enter, asks
// Why? of a step; the arrows lead from one to the next. Data: `Picture` of picture.py. Sends back `trail`: { codes }.
import { ofSize, svg } from "../../../pictures/shared/drawing.js";
import { hearItems } from "../../../pictures/shared/items.js";
import { _, sentenceParts } from "../../../pictures/shared/messages.js";
import { mount, onResize, View } from "../../../pictures/shared/mount.js";
import { element, textWidth, tokenElement } from "../../../pictures/shared/picture.js";
import { pictureButton } from "../../../pictures/shared/save_picture.js";
import { hueOf, signed } from "./shares.js";
import { BEND, bandAlong, closed, roundBelow, stub } from "./trail_bands.js";

/** @import { Point } from "./trail_bands.js" */
/**
 * @typedef {{ share: number, tested: string }} Shared
 * @typedef {{ name: string, share: number, trail: string | null, tested: string, joins: number | null }} Other
 * @typedef {{
 *   name: string, twin: string, share: number, trail: string, tested: string, isHere: boolean, isAhead: boolean,
 *   others: Other[],
 * }} Step
 * @typedef {{
 *   title: string, caption: string, word: string, writes: boolean, steps: Step[], key: string, rival: string, file: string,
 *   warm: string, cold: string,
 * }} PictureHeader
 */

/** How wide the widest bar is: down a page there is less room. */
const [WIDEST_ACROSS, WIDEST_DOWN] = [92, 104];
/** Half a step's bar, along; the room between lanes; a band that is thinner has no outline. */
const [HALF, LANE, THIN] = [3, 10, 4];
/** Columns are at most so wide, and so far apart. */
const [WIDEST_COLUMN, APART] = [230, 22];
const [BOLD, SMALL] = ["600 14px", "400 13px"];
/** The pitches of lines below a name, of a name with its number below it, and of both on one line. */
const [BELOW, PAIR, LINE] = [17, 36, 24];
/** How high the word that is written is; where the steps begin below it, down a page. */
const [WORD, FIRST] = [28, 52];

class TrailPicture extends View {
  /** @type {PictureHeader} */ data;
  isDown = false;
  /** How wide the element was. */
  drawnFor = 0;
  /** Pixels for 1 of a share. */
  scale = 1;
  head = element("div", "head");
  board = element("div", "board");
  foot = element("div", "foot");
  caption = element("p", "caption");

  start() {
    const title = element("p", "only-saved picture-caption");
    const buttons = pictureButton(this.root, () => this.data.file);
    this.head.append(element("h3", "", _("The whole trail")), this.caption, buttons);
    this.root.replaceChildren(title, this.head, this.board, this.foot);
    hearItems(this.board, ".step", this);
    onResize(this, () => this.root.clientWidth === this.drawnFor || this.draw());
  }

  /** @param {{ header: PictureHeader }} payload */
  receive({ header }) {
    this.data = header;
    for (const name of /** @type {const} */ (["warm", "cold"])) this.root.style.setProperty(`--${name}`, header[name]);
    const title = this.root.querySelector(".picture-caption");
    if (title) title.textContent = header.title;
    this.root.hidden = !header.steps.length;
    this.draw();
    this.root.dataset.ready = header.steps.find(({ isHere }) => isHere)?.trail || "question";
  }

  draw() {
    const room = this.root.clientWidth;
    if (!this.data?.steps.length || !room) return;
    this.drawnFor = room;
    const focused = this.items().find((item) => item.matches(":focus"));
    const { steps } = this.data;
    const columns = this.columns();
    this.isDown = sumOf(columns) > room;
    const sizes = steps.map((step, at) => this.sizeOf(step, at));
    this.scale = (this.isDown ? WIDEST_DOWN : WIDEST_ACROSS) / Math.max(...sizes, 1e-9);
    const drawing = this.isDown ? this.drawDown(room) : this.drawAcross(room, columns);
    this.board.replaceChildren(drawing);
    this.drawWords();
    const same = this.items().find(({ dataset }) => dataset.trail === focused?.dataset.trail);
    this.visit(same ?? this.items().find((item) => item.matches(".here")));
    same?.focus({ preventScroll: true });
  }

  /** The shares that a step's bar is as wide as: those that come to it, or those that go into it. @param {Step} step @param {number} at */
  sizeOf({ share, others }, at) {
    const { steps } = this.data;
    const joined = steps.flatMap((step) => step.others.filter(({ joins }) => joins === at));
    const [come, gone] = [joined, [...others, ...steps.slice(at + 1, at + 2)]].map((shared) =>
      sumOf(shared.map((each) => Math.abs(each.share))),
    );
    return Math.max(Math.abs(share) + come, gone);
  }

  /** How wide the column of the word is, and of each step. */
  columns() {
    const { word, steps } = this.data;
    const ofSteps = steps.map((step) => {
      const others = step.others.flatMap(({ name, tested }) => [name, tested]);
      const widest = Math.max(this.widest(this.below(step)), others.length && 14 + this.widest(others));
      return APART + Math.max(this.widthOf(step.name, BOLD), widest);
    });
    return [this.widthOf(word, BOLD) + 56, ...ofSteps];
  }

  /** @param {string[]} texts in small letters */
  widest(texts) {
    return Math.max(...texts.map((text) => this.widthOf(text, SMALL)));
  }

  /** @param {string} text @param {string} font */
  widthOf(text, font) {
    return textWidth(text, `${font} ${getComputedStyle(this.root).fontFamily}`);
  }

  /** What is written below the name of a step. @param {Step} step */
  below({ share, twin, tested }) {
    return [signed(share), ...(tested ? [`✓ ${tested}`] : []), ...(twin ? [_("twin: “{word}”", { word: twin })] : [])];
  }

  // ---- both ways of drawing ----

  /** @param {number} room @param {number[]} columns */
  drawAcross(room, [first, ...columns]) {
    const { steps } = this.data;
    const more = (room - first - sumOf(columns)) / columns.length;
    const wide = columns.map((column) => Math.min(column + more, Math.max(WIDEST_COLUMN, column)));
    const lefts = steps.map((_step, at) => first + sumOf(wide.slice(0, at)));
    const top = 14 + BELOW * (1 + Math.max(...steps.map((step) => this.below(step).length)));
    const along = lefts.map((left) => left + HALF);
    const lowest = top + Math.max(...steps.map((step, at) => this.sizeOf(step, at) * this.scale));
    const { shapes, lane } = this.bands(along, top, lowest + 2 * BEND);
    const listed = lane + 16;
    const words = steps.flatMap((step, at) => [
      this.label(step, lefts[at], 14),
      ...step.others.map((other, number) => this.entry(other, lefts[at], listed + PAIR * number, BELOW - 1)),
    ]);
    const height = listed + PAIR * Math.max(0, ...steps.map(({ others }) => others.length));
    return this.framed(room, height, [...this.word(0, top, lefts[0]), ...shapes, ...words]);
  }

  /** @param {number} room */
  drawDown(room) {
    const { steps } = this.data;
    const detours = steps.flatMap(({ others }) => others.filter(({ joins }) => joins !== null));
    const passed = 2 * BEND + Math.max(0, ...detours.map((other) => this.thickness(other)));
    const left = HALF + (detours.length && passed + sumOf(detours.map((other) => LANE + this.thickness(other))));
    const listed = steps.map((step) => BELOW * this.below(step).length + LINE);
    const heights = steps.map(({ others }, at) => Math.max(64, listed[at] + LINE * others.length));
    const along = steps.map((_step, at) => FIRST + sumOf(heights.slice(0, at)));
    const { shapes, ends } = this.bands(along, left, left - passed);
    const words = steps.flatMap((step, at) => {
      const [x, y] = [ends[at] + 12, along[at] + listed[at]];
      const others = step.others.map((other, number) => this.entry(other, x, y + LINE * number, 0));
      return [this.label(step, x, along[at] + 4), ...others];
    });
    return this.framed(room, FIRST + sumOf(heights), [...this.word(left, 0, along[0] - HALF), ...shapes, ...words]);
  }

  /** @param {number} width @param {number} height @param {SVGElement[]} shapes */
  framed(width, height, shapes) {
    const { word, steps } = this.data;
    const label = [word, ...steps.map(({ name, share }) => `${name} ${signed(share)}`)].join(" ← ");
    return svg("svg", { ...ofSize(width, height), role: "group", "aria-label": label }, ...shapes);
  }

  /** The word that is written, and the line to its head: that one has no share. @param {number} x @param {number} y @param {number} end */
  word(x, y, end) {
    const { word, writes } = this.data;
    const width = this.widthOf(word, BOLD) + 20;
    const box = svg("rect", { class: writes ? "written" : "asked", x, y, width, height: WORD, rx: 5 });
    const middle = { x: x + width / 2, y: y + WORD / 2, "dominant-baseline": "central", "text-anchor": "middle" };
    const d = this.isDown ? `M${middle.x} ${y + WORD}V${end}` : `M${x + width} ${middle.y}H${end}`;
    return [
      svg("path", { class: "line", d }),
      box,
      svg("text", { class: writes ? "on-written" : "name", ...middle }, word),
    ];
  }

  // ---- bands ----

  /**
   * The bands between the steps, what else went into them, and their bars; where each bar and all lanes end.
   * A word that was also read directly has a detour past the steps between: on the right of them, down the page on the
   * left, where no words are.
   * @param {number[]} along where each step is @param {number} start where bars begin @param {number} lane where detours pass
   */
  bands(along, start, lane) {
    const { steps } = this.data;
    const way = this.isDown ? -1 : 1;
    /** How far each bar reaches before `start` and after it. */
    const reach = steps.map((step) => [0, this.thickness(step)]);
    /** How much has come to a step on the side of the detours. */
    const come = steps.map((step) => (this.isDown ? 0 : this.thickness(step)));
    /** @type {SVGElement[]} */
    const bands = [];
    steps.forEach((step, at) => {
      const next = steps[at + 1];
      let across = start;
      if (next) {
        const middle = start + this.thickness(next) / 2;
        const ends = /** @type {Point[]} */ ([along[at], along[at + 1]].map((end) => [end, middle]));
        bands.push(this.band(next, ends));
        if (this.thickness(next) > LINE / 2) bands.push(this.arrow((along[at] + along[at + 1]) / 2, middle));
        across += this.thickness(next);
      }
      for (const other of step.others) {
        if (other.joins !== null) continue;
        const size = Math.max(1, this.thickness(other));
        const corners = stub(along[at], across, size).map((point) => this.place(point));
        bands.push(this.shape(other, closed(corners)));
        across += this.thickness(other);
      }
      let gone = this.isDown ? 0 : across - start;
      for (const other of step.others) {
        if (other.joins === null) continue;
        const size = this.thickness(other);
        const [leaves, arrives] = [gone, come[other.joins]].map((before) => start + way * (before + size / 2));
        const passes = lane + (way * size) / 2;
        const round = HALF + BEND + size / 2;
        const [from, to] = [along[at], along[other.joins]];
        const [first, last] = [from + round, to - round];
        const [xs, ys] = [
          [from, first, first, last, last, to],
          [leaves, leaves, passes, passes, arrives, arrives],
        ];
        const line = xs.map((x, i) => /** @type {Point} */ ([x, ys[i]]));
        bands.push(this.band(other, line));
        gone += size;
        come[other.joins] += size;
        lane += way * (size + LANE);
      }
      if (this.isDown) reach[at] = [Math.max(gone, come[at]), Math.max(reach[at][1], across - start)];
      else reach[at] = [0, Math.max(gone, come[at], across - start)];
    });
    const bars = steps.map((step, at) => this.bar(step, along[at], start - reach[at][0], start + reach[at][1]));
    return { shapes: [...bands, ...bars], ends: reach.map(([, after]) => start + after), lane };
  }

  /** Down the page, what is along the picture is y. @param {Point} point @returns {Point} */
  place([along, across]) {
    return this.isDown ? [across, along] : [along, across];
  }

  /** @param {Shared} shared */
  thickness({ share }) {
    return Math.abs(share) * this.scale;
  }

  /** @param {Shared} shared @param {string} d */
  shape({ share, tested }, d) {
    const isThin = this.thickness({ share, tested }) < THIN;
    const look = ["band", hueOf(share), tested && "tested", isThin && "thin"].filter(Boolean).join(" ");
    return svg("path", { class: look, d });
  }

  /** @param {Shared} shared @param {Point[]} line */
  band(shared, line) {
    const placed = line.map((point) => this.place(point));
    return this.shape(shared, bandAlong(placed, Math.max(1, this.thickness(shared))));
  }

  /** What is later in the picture went into what is before it. @param {number} along @param {number} across */
  arrow(along, across) {
    const corners = /** @type {Point[]} */ ([-5, 0, 5].map((off) => [along + Math.abs(off), across + off]));
    return svg("path", { class: "arrow", d: `M${corners.map((corner) => this.place(corner).join(" ")).join("L")}` });
  }

  /** @param {Step} step @param {number} along @param {number} first @param {number} last */
  bar({ isHere }, along, first, last) {
    const half = isHere ? HALF + 1 : HALF;
    const [x, y] = this.place([along - half, first]);
    const [width, height] = this.place([2 * half, Math.max(last - first, 1)]);
    return svg("rect", { class: isHere ? "bar here" : "bar", x, y, width, height, rx: 2 });
  }

  // ---- words ----

  /** The name of a step with what is below it. @param {Step} step @param {number} x @param {number} y */
  label(step, x, y) {
    const lines = this.below(step);
    const width = Math.max(this.widthOf(step.name, BOLD), this.widest(lines));
    const reach = reachOf(x, y, width, 20 + BELOW * lines.length);
    const name = svg("text", { class: "name", x, y }, step.name);
    const below = lines.map((line, number) =>
      svg("text", { class: number ? "note" : "", x, y: y + BELOW * (number + 1) }, line),
    );
    const look = `step${step.isHere ? " here" : ""}${step.isAhead ? " ahead" : ""}`;
    const group = this.item(look, step, reach, name, ...below);
    if (step.isHere) group.setAttribute("aria-current", "step");
    return group;
  }

  /** What else went into a step; `pitch` 0 is for one line. @param {Other} other @param {number} x @param {number} y @param {number} pitch */
  entry(other, x, y, pitch) {
    const { name, share, tested, trail } = other;
    const number = tested ? `${signed(share)} ✓ ${tested}` : signed(share);
    const beside = pitch ? 0 : this.widthOf(name, SMALL) + 8;
    const width = 14 + (pitch ? this.widest([name, number]) : beside + this.widthOf(number, SMALL));
    const parts = [
      reachOf(x, y, width, pitch ? PAIR - 2 : LINE),
      svg("rect", { class: `swatch ${hueOf(share)}`, x, y: y - 9, width: 9, height: 9, rx: 2 }),
      svg("text", { x: x + 14, y }, name),
      svg("text", { class: "note", x: x + 14 + beside, y: y + pitch }, number),
    ];
    return trail === null ? svg("g", {}, ...parts) : this.item("step aside", { name, share, tested, trail }, ...parts);
  }

  /** @param {string} look @param {{ name: string, share: number, tested: string, trail: string }} what @param {SVGElement[]} parts */
  item(look, { name, share, tested, trail }, ...parts) {
    const values = { name, share: signed(share) };
    const label = tested
      ? _("{name}, {share} (tested): why?", values)
      : _("{name}, {share} (not tested): why?", values);
    const named = { role: "button", tabindex: -1, "aria-label": label, "data-trail": trail };
    return svg("g", { class: look, ...named }, ...parts);
  }

  /** How to read it. */
  drawWords() {
    const { caption, word, writes, key, rival, steps } = this.data;
    const noWidth = writes
      ? _("the width of this line has no meaning: other heads write the word, too")
      : _("the width of this line has no meaning: the head attends from this word");
    const read = this.isDown
      ? _("Read down from “{word}”: each step was computed from the one below it.", { word })
      : _("Read from “{word}” to the right: each step was computed from the one to its right.", { word });
    this.caption.textContent = caption ? _("{before} {sentence}", { before: read, sentence: caption }) : read;
    const unit = roundBelow(20 / this.scale);
    const sample = (/** @type {string} */ look, /** @type {number} */ height) => {
      const line = svg("rect", { class: look, x: 1, y: 11 - height / 2, width: 20, height });
      return svg("svg", { class: "sample", ...ofSize(22, 22), "aria-hidden": "true" }, line);
    };
    const towards = (/** @type {string} */ token, /** @type {"warm" | "cold"} */ hue) => [
      sample(`band ${hue} tested`, 10),
      element("span", "", ...sentenceParts(_("towards {word}"), { word: tokenElement(`“${token}”`) })),
    ];
    const width = _("this width means {share}; the total is {total}", {
      share: Number(unit.toPrecision(1)),
      total: signed(steps[0].share),
    });
    const entries = [
      towards(key, "warm"),
      towards(rival, "cold"),
      [sample("band warm", 10), element("span", "", _("dashed: not tested yet"))],
      [sample("scale", unit * this.scale), element("span", "", width)],
      [sample("line-key", 2), element("span", "", noWidth)],
    ];
    this.foot.replaceChildren(...entries.map((parts) => element("span", "entry", ...parts)));
  }

  // ---- pointer and keyboard ----

  /** Each step, and after it what else went into it. @returns {SVGGElement[]} */
  items() {
    return [...this.board.querySelectorAll(/** @type {"g"} */ (".step"))];
  }

  /** Tab reaches the one that was visited last. @param {Element} [item] */
  visit(item) {
    for (const each of this.items()) each.setAttribute("tabindex", each === item ? "0" : "-1");
  }

  /** @param {HTMLElement | SVGElement} item */
  choose(item) {
    this.python.trigger("trail", { codes: item.dataset.trail });
  }

  /** @param {HTMLElement | SVGElement} item @param {string} key */
  press(item, key) {
    const move = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[key];
    if (!move) return false;
    const isAlong = key === "ArrowRight" || key === "ArrowLeft";
    const reached = this.items().filter((each) => each === item || !isAlong || !each.matches(".aside"));
    reached[reached.indexOf(/** @type {SVGGElement} */ (item)) + move]?.focus();
    return true;
  }
}

/** What of words the pointer reaches. @param {number} x @param {number} y @param {number} width @param {number} height */
const reachOf = (x, y, width, height) => svg("rect", { class: "reach", x: x - 4, y: y - 15, width: width + 8, height });

/** @param {number[]} numbers */
const sumOf = (numbers) => numbers.reduce((sum, number) => sum + number, 0);

export default mount(".trail-picture", TrailPicture);
