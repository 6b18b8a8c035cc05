// The fourth and the fifth depth: one weight of a row, from its products to what it takes from the value; and one product.
// They stand in the place of the head's rows: one key of these, opened over the width of the tower.
import { closest } from "../../../pictures/shared/items.js";
import { _ } from "../../../pictures/shared/messages.js";
import { element, rowElement, tokenElement } from "../../../pictures/shared/picture.js";
import { whyLink } from "../../../pictures/shared/why_link.js";
import { HeadScene, row } from "./head_scene.js";
import { exactNumber, noteAt, shortNumber, shortWeight } from "./row_pictures.js";

export class CellScene extends HeadScene {
  get name() {
    return "cell-scene";
  }

  get pair() {
    return tokenElement(this.data.columns[this.data.followed].label);
  }

  drawSummary() {
    const { query, writes, columns, followed } = this.data;
    const { site, layer, head, row: position, edit } = this.walk.state;
    const isAsked = this.walk.header.asks && !edit;
    const why = isAsked ? [" ", whyLink({ site, layer, head }, [position, columns[followed].key])] : [];
    this.summary.classList.add("aside");
    this.summary.replaceChildren(element("h4", "", rowElement(query, writes), " · ", this.pair, ...why));
  }

  get groups() {
    return { score: [0], weight: [1], value: [2] };
  }

  /** @returns {[number, number]} */
  get span() {
    return [this.columns.start, this.columns.end];
  }

  /** The component that is looked at; -1 for none. */
  get component() {
    return -1;
  }

  /** What makes its rows, from below. */
  steps() {
    const { steps, followed } = this.data;
    return [
      () => row(steps[0], this.pictures.product(this.component).finished()),
      () => row({ ...steps[4], text: "" }, this.chain()),
      () => row({ ...steps[5], text: "" }, this.pictures.valueOf(followed)),
    ];
  }

  /** From the score to what is added. */
  chain() {
    const { data } = this;
    const at = data.followed;
    const shown = data.other ?? data.real;
    const chain = [
      [data.score, shortNumber(data.dots[at])],
      [data.isScaled ? _("scaled") : _("not scaled"), shortNumber(shown.scaled[at])],
      [_("after the mask"), shown.cut[at] ? "−∞" : shortNumber(shown.scaled[at])],
      [_("exp(s − m); all keys: {sum}", { sum: shortNumber(shown.sharesSum) }), shortWeight(shown.shares[at])],
      [_("weight α"), exactNumber(shown.weights[at])],
      [_("adds to the output: norm of α · v"), shortNumber(Math.hypot(...data.weighted[at]))],
    ];
    const cells = chain.map((said) => element("li", "", element("span", "muted", said[0]), element("b", "", said[1])));
    const { start, end } = this.columns;
    const style = `margin-left:${start}px;max-width:${end - start}px`;
    return element("ol", { className: "cell-chain", style }, ...cells);
  }

  // ---- pointer and keyboard ----

  /** @param {Event} event */
  choose(event) {
    const part = /** @type {SVGElement | null} */ (closest(event, "[data-dimension]"));
    if (!part) return;
    this.walk.go({ depth: "number", dimension: Number(part.dataset.dimension) });
    event.preventDefault();
  }

  /** @param {Event} event */
  enter(event) {
    this.choose(event);
  }

  /** @param {PointerEvent} event */
  tell(event) {
    const note = noteAt(event);
    if (note) this.walk.tooltip.showContent(event, "", note);
    else if (this.tokenAt(event) >= 0) super.tell(event);
    else this.walk.tooltip.hide();
  }
}

export class NumberScene extends CellScene {
  table = element("div", "number-table");

  get name() {
    return "number-scene";
  }

  get groups() {
    return { score: [0], product: [1], weight: [2], value: [3] };
  }

  get component() {
    return Math.min(this.walk.state.dimension, this.data.q.length - 1);
  }

  *draw() {
    yield* super.draw();
    this.element.append(this.table);
    this.table.addEventListener("click", (event) => {
      const part = closest(event, "tr[data-dimension]");
      if (part) this.walk.go({ dimension: Number(part.dataset.dimension) });
    });
    const { data, component } = this;
    const { q, followed: at } = data;
    let sum = 0;
    const rows = q.map((value, i) => {
      sum += data.products[at][i];
      const numbers = [value, data.k[at][i], data.products[at][i], sum].map(exactNumber);
      const cells = [String(i + 1), ...numbers].map((text) => element("td", "", text));
      return element("tr", { dataset: { dimension: i }, className: i === component ? "now" : "" }, ...cells);
    });
    const [query, key] = [rowElement(data.query, data.writes), this.pair];
    const titles = [[_("Component")], ["q · ", query], ["k · ", key], ["q × k"], [_("sum so far")]];
    const head = titles.map((title) => element("th", "", ...title));
    this.table.replaceChildren(element("table", "", element("tr", "", ...head), ...rows));
    yield this.table;
  }

  /** Above the products, the one that is looked at. */
  steps() {
    const [products, ...above] = super.steps();
    return [products, () => element("li", "step", element("div", "picture", this.equation())), ...above];
  }

  equation() {
    const { data, component } = this;
    const [q, k, product] = [data.q, data.k[data.followed], data.products[data.followed]].map((all) => all[component]);
    const words =
      data.score === "q · k"
        ? [exactNumber(q), " × ", exactNumber(k), " = ", element("b", "", exactNumber(product))]
        : [`${data.score}: ${exactNumber(product)}`];
    const { start, end } = this.columns;
    const style = `margin-left:${start}px;width:${end - start}px`;
    return element("p", { className: "number-equation", style }, ...words);
  }

  arrive() {
    super.arrive();
    const line = this.table.querySelector(".now");
    if (line instanceof HTMLElement) this.table.scrollTop = line.offsetTop - this.table.clientHeight / 2;
  }
}
