// Numbers of heads as a table. A title sorts, a head is a link that opens it, and the head of a row that is pointed at is
// marked wherever the page shows it, as the row is where it is pointed at elsewhere.
// Data: the payload of component.py. Sends back the trigger `row`: { row }, counted as Python gave them.
import { onTold, pointAtHead } from "../shared/focus.js";
import { headHref, headOfHref } from "../shared/head_label.js";
import { hearItems, reachByTab } from "../shared/items.js";
import { _ } from "../shared/messages.js";
import { mount, View } from "../shared/mount.js";
import { button, element } from "../shared/picture.js";

/** @import { HeadPlace } from "../shared/head_label.js" */

/**
 * @typedef {{ title: string, unit: string, numbers: (number | null)[], texts: string[] }} HeadColumn
 * @typedef {{
 *   heads: string[], addresses: string[], columns: HeadColumn[], label: string, selected: number | null, digest: string,
 * }} HeadTableData
 */

/** The order of the rows by their numbers; rows without one stand last. @param {(number | null)[]} numbers @param {boolean} isRising */
export function sorted(numbers, isRising) {
  const key = (/** @type {number} */ row) => {
    const number = numbers[row];
    if (number === null) return Infinity;
    return isRising ? number : -number;
  };
  return numbers.map((_number, row) => row).sort((a, b) => (key(a) === key(b) ? a - b : key(a) - key(b)));
}

class HeadTable extends View {
  /** @type {HeadTableData} */ data;
  /** @type {HTMLTableRowElement[]} */ rows = [];
  /** What each row is reached by. @type {HTMLElement[]} */ names = [];
  /** @type {HTMLElement[]} */ titles = [];
  body = element("tbody");

  start() {
    hearItems(this.root, "tbody tr", this);
    onTold("head", (head) => this.markPointed(head), this.ended.signal);
  }

  /** @param {{ header: HeadTableData }} payload */
  receive({ header }) {
    const isSame = this.data?.digest === header.digest;
    this.data = header;
    if (!isSame) this.build();
    this.mark();
    if (!isSame) this.reveal();
    this.root.dataset.ready = "1";
  }

  build() {
    const { heads, addresses, columns, label, selected } = this.data;
    this.names = heads.map((name, row) =>
      addresses[row] ? element("a", { href: addresses[row] }, name) : element("span", "", name),
    );
    this.rows = this.names.map((name, row) => {
      const cells = columns.map(({ texts }) => element("td", "", texts[row]));
      const look = { dataset: { row }, className: selected === null ? "" : "choosable" };
      return element("tr", look, element("th", { scope: "row" }, name), ...cells);
    });
    const titles = [{ title: _("Head"), unit: "", numbers: heads.map((_name, row) => row) }, ...columns];
    this.titles = titles.map(({ title, unit, numbers }, column) => {
      const sorting = button({ title: unit }, () => this.sort(column, numbers), title);
      return element("th", { scope: "col" }, sorting);
    });
    this.body.replaceChildren(...this.rows);
    const head = element("thead", "", element("tr", "", ...this.titles));
    this.root.replaceChildren(element("div", "scrolled", element("table", { ariaLabel: label }, head, this.body)));
    if (this.names.length) reachByTab(this.names, this.names[selected ?? 0]);
  }

  mark() {
    this.rows.forEach((row, index) => {
      row.ariaCurrent = index === this.data.selected ? "true" : null;
    });
  }

  /** Scroll the table, and not the page, to the row that is marked. */
  reveal() {
    const { selected } = this.data;
    if (selected === null) return;
    const [row, box] = [this.rows[selected], /** @type {HTMLElement} */ (this.root.firstChild)];
    if (row.offsetTop + row.offsetHeight > box.clientHeight) box.scrollTop = row.offsetTop - box.clientHeight / 2;
  }

  /** The largest first; once more, the smallest first. Heads begin with the first. @param {number} column @param {(number | null)[]} numbers */
  sort(column, numbers) {
    const before = this.titles[column].ariaSort;
    const isRising = before ? before === "descending" : column === 0;
    for (const title of this.titles) title.ariaSort = null;
    this.titles[column].ariaSort = isRising ? "ascending" : "descending";
    this.body.append(...sorted(numbers, isRising).map((row) => this.rows[row]));
  }

  // ---- what a person does ----

  /** @param {HTMLElement} row */
  headOf(row) {
    return headOfHref(this.data.addresses[Number(row.dataset.row)]);
  }

  /** @param {HTMLElement} row */
  point(row) {
    pointAtHead(this.headOf(row));
  }

  leave() {
    pointAtHead(null);
  }

  /** @param {HTMLElement} row */
  visit(row) {
    const name = this.names[Number(row.dataset.row)];
    reachByTab(this.names, name);
    if (name.matches(":focus-visible")) this.point(row);
  }

  /** Enter opens the head, as a click on its name does; a click beside it, or the space bar, chooses the row. @param {HTMLElement} row @param {MouseEvent | KeyboardEvent} event */
  choose(row, event) {
    const index = Number(row.dataset.row);
    if (event instanceof KeyboardEvent && event.key === "Enter") this.names[index].click();
    else if (this.data.selected !== null) this.python.trigger("row", { row: index });
  }

  /** @param {HTMLElement} row @param {string} key */
  press(row, key) {
    const shown = [...this.body.rows];
    const at = shown.indexOf(/** @type {HTMLTableRowElement} */ (row));
    const target = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: shown.length - 1 }[key];
    if (target === undefined) return false;
    this.names[Number(shown[target]?.dataset.row)]?.focus();
    return true;
  }

  /** @param {HeadPlace | null} head */
  markPointed(head) {
    const address = head && headHref(head);
    this.rows.forEach((row, index) => row.classList.toggle("pointed", this.data.addresses[index] === address));
  }
}

export default mount(".head-table", HeadTable);
