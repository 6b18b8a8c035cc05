// Two columns of tokens that can be walked with the arrow keys. A token is { side: "query" | "key", index }.
// Knows nothing of heads or of what joins the columns.

const OTHER = { query: "key", key: "query" };
const NAMES = { query: "Queries: tokens that look", key: "Keys: tokens looked at" };

const isSameToken = (one, other) => one?.side === other?.side && one?.index === other?.index;

class TokenColumns {
  constructor() {
    this.query = this.buildColumn("query");
    this.key = this.buildColumn("key");
  }

  buildColumn(side) {
    const column = element("div", `column ${side}`);
    column.setAttribute("role", "listbox");
    column.setAttribute("aria-label", `${NAMES[side]}. Arrow keys move, Enter keeps a token, Escape lets it go.`);
    return column;
  }

  fill(queryTokens, keyTokens) {
    this.emphasised = null;
    [["query", queryTokens], ["key", keyTokens]].forEach(([side, tokens]) => {
      const options = tokens.map((token, index) => {
        const option = tokenElement(token, "token option");
        option.setAttribute("role", "option");
        option.tabIndex = index === 0 ? 0 : -1;
        option.title = token;
        option.dataset.side = side;
        option.dataset.index = index;
        return option;
      });
      this[side].replaceChildren(...options);
    });
  }

  /** The token that an element of the page belongs to, if any. */
  at(target) {
    const option = target.closest(".option");
    return option && { side: option.dataset.side, index: Number(option.dataset.index) };
  }

  optionOf({ side, index }) {
    return this[side].children[index];
  }

  /** Where a key leads from a token; undefined if it leads nowhere. Never beyond a column's ends. */
  next({ side, index }, key) {
    const last = this[side].children.length - 1;
    const at = (place) => ({ side, index: Math.min(last, Math.max(0, place)) });
    if (key === (side === "query" ? "ArrowRight" : "ArrowLeft")) {
      return { side: OTHER[side], index: Math.min(index, this[OTHER[side]].children.length - 1) };
    }
    return { ArrowUp: at(index - 1), ArrowDown: at(index + 1), Home: at(0), End: at(last) }[key];
  }

  visit(token) {
    for (const option of this[token.side].children) option.tabIndex = -1;
    const option = this.optionOf(token);
    option.tabIndex = 0;
    option.focus();
  }

  mark(kept) {
    this.keptOption?.setAttribute("aria-selected", "false");
    this.keptOption = kept && this.optionOf(kept);
    this.keptOption?.setAttribute("aria-selected", "true");
  }

  emphasise(focus) {
    this.emphasised?.classList.remove("focus");
    this.emphasised = focus && this.optionOf(focus);
    this.emphasised?.classList.add("focus");
  }
}
