// The fourth and the fifth depth: one weight of a row, from its products to what it takes from the value; and one product.
import { closest } from "../../../pictures/shared/items.js";
import { _ } from "../../../pictures/shared/messages.js";
import { element, rowElement, tokenElement } from "../../../pictures/shared/picture.js";
import { whyLink } from "../../../pictures/shared/why_link.js";
import { exactNumber, KeyColumns, noteAt, shortNumber, shortWeight } from "./row_pictures.js";
import { StepPictures } from "./row_steps.js";

/** @import { RowData } from "./row_steps.js" */
/** @typedef {import("./walk.js").Walk} Walk */

export class CellScene {
  /** @param {Walk} walk @param {RowData} row */
  constructor(walk, row) {
    this.walk = walk;
    this.row = row;
    this.element = element("div", "cell-scene");
    const choose = (/** @type {Event} */ event) => {
      const part = /** @type {SVGElement | null} */ (closest(event, "[data-dimension]"));
      if (!part) return;
      walk.go({ depth: "number", dimension: Number(part.dataset.dimension) }, part);
      event.preventDefault();
    };
    this.element.addEventListener("click", choose);
    this.element.addEventListener("into", choose);
  }

  draw() {
    const { row } = this;
    const at = row.followed;
    const key = row.columns[at];
    const tower = { left: 58, pitch: (this.walk.width - 58 - 96) / row.columns.length, columns: row.columns.length };
    const columns = new KeyColumns(tower, this.walk.width, row.columns.length, false);
    const picture = new StepPictures(row, columns, 0, "self");
    const shown = row.other ?? row.real;
    const chain = [
      [row.score, shortNumber(row.dots[at])],
      [row.isScaled ? _("scaled") : _("not scaled"), shortNumber(shown.scaled[at])],
      [_("after the mask"), shown.cut[at] ? "−∞" : shortNumber(shown.scaled[at])],
      [_("exp(s − m), of a sum of {sum}", { sum: shortNumber(shown.sharesSum) }), shortWeight(shown.shares[at])],
      [_("weight α"), exactNumber(shown.weights[at])],
      [_("it adds to the output: norm of α · v"), shortNumber(Math.hypot(...row.weighted[at]))],
    ];
    const { site, layer, head, row: position, edit } = this.walk.state;
    const isAsked = this.walk.header.asks && !edit;
    const why = isAsked ? [" ", whyLink({ site, layer, head }, [position, key.key])] : [];
    const pair = element("h4", "", rowElement(row.query, row.writes), " · ", tokenElement(key.label), ...why);
    const words = element("p", "text", row.steps[0].text);
    const cells = chain.map(([name, value]) =>
      element("li", "", element("span", "muted", name), element("b", "", value)),
    );
    const parts = [
      () => pair,
      () => words,
      () => element("div", "picture", picture.draw(0)),
      () => element("ol", "cell-chain", ...cells),
      () => element("div", "picture", picture.valueOf(at)),
    ];
    this.walk.fill(this.element, parts, 3);
  }

  /** @param {PointerEvent} event */
  tell(event) {
    const note = noteAt(event);
    if (note) this.walk.tooltip.showContent(event, "", element("div", "tooltip-value", note));
    else this.walk.tooltip.hide();
  }
}

export class NumberScene {
  /** @param {Walk} walk @param {RowData} row */
  constructor(walk, row) {
    this.walk = walk;
    this.row = row;
    this.element = element("div", "number-scene");
    this.element.addEventListener("click", (event) => {
      const part = closest(event, "tr[data-dimension]");
      if (part) walk.go({ dimension: Number(part.dataset.dimension) });
    });
  }

  draw() {
    const { row, walk } = this;
    const at = row.followed;
    const dimension = Math.min(walk.state.dimension, row.q.length - 1);
    const [q, k, product] = [row.q[dimension], row.k[at][dimension], row.products[at][dimension]];
    const key = tokenElement(row.columns[at].label);
    const equation = element(
      "p",
      "number-equation",
      exactNumber(q),
      " × ",
      exactNumber(k),
      " = ",
      element("b", "", exactNumber(product)),
    );
    if (row.score !== "q · k") equation.textContent = `${row.score}: ${exactNumber(product)}`;
    let sum = 0;
    const rows = row.q.map((value, i) => {
      sum += row.products[at][i];
      const cells = [String(i + 1), ...[value, row.k[at][i], row.products[at][i], sum].map(exactNumber)].map((text) =>
        element("td", "", text),
      );
      const line = element("tr", { dataset: { dimension: i }, className: i === dimension ? "now" : "" }, ...cells);
      return line;
    });
    const titles = [
      element("th", "", _("Component")),
      element("th", "", "q · ", rowElement(row.query, row.writes)),
      element("th", "", "k · ", key),
      element("th", "", "q × k"),
      element("th", "", _("sum so far")),
    ];
    const table = element("table", "", element("tr", "", ...titles), ...rows);
    this.element.replaceChildren(equation, element("div", "number-table", table));
  }

  arrive() {
    this.element.querySelector(".now")?.scrollIntoView({ block: "nearest" });
  }
}
