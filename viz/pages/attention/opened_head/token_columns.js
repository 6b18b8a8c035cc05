// @ts-check
// Two columns of tokens that can be walked with the arrow keys.
import { element, tokenElement } from "../../../components/shared/picture.js";

/** @typedef {"query" | "key"} Side */
/** @typedef {{ side: Side, index: number }} Token */

/** @type {Record<Side, Side>} */
export const OTHER = { query: "key", key: "query" };
const NAMES = { query: "Queries: tokens that look", key: "Keys: tokens looked at" };

/** @param {Token | null} a @param {Token | null} b */
export const isSameToken = (a, b) => a?.side === b?.side && a?.index === b?.index;

export class TokenColumns {
  /** The options that are kept and in focus. @type {HTMLElement | null} */
  kept = null;
  /** @type {HTMLElement | null} */
  emphasised = null;

  constructor() {
    this.query = this.buildColumn("query");
    this.key = this.buildColumn("key");
  }

  /** @param {Side} side */
  buildColumn(side) {
    const column = element("div", `column ${side}`);
    column.setAttribute("role", "listbox");
    column.setAttribute("aria-label", `${NAMES[side]}. Arrow keys move, Enter keeps a token, Escape lets it go.`);
    return column;
  }

  /** @param {Record<Side, string[]>} tokens */
  fill(tokens) {
    this.emphasised = null;
    for (const side of /** @type {Side[]} */ (["query", "key"])) {
      const options = tokens[side].map((token, index) => {
        const option = tokenElement(token, "token option");
        option.setAttribute("role", "option");
        option.tabIndex = index === 0 ? 0 : -1;
        option.title = token;
        option.dataset.side = side;
        option.dataset.index = String(index);
        return option;
      });
      this[side].replaceChildren(...options);
    }
  }

  /** The token that an event belongs to, if any. @param {Event} event @returns {Token | null} */
  at({ target }) {
    /** @type {HTMLElement | null} */
    const option = target instanceof Element ? target.closest(".option") : null;
    return option && { side: /** @type {Side} */ (option.dataset.side), index: Number(option.dataset.index) };
  }

  /** @param {Token} token */
  optionOf({ side, index }) {
    return /** @type {HTMLElement} */ (this[side].children[index]);
  }

  /**
   * Where a key leads from a token; undefined if it leads nowhere. Never beyond a column's ends.
   * @param {Token} token @param {string} key @returns {Token | undefined}
   */
  next({ side, index }, key) {
    const last = this[side].children.length - 1;
    const at = (/** @type {number} */ place) => ({ side, index: Math.min(last, Math.max(0, place)) });
    if (key === (side === "query" ? "ArrowRight" : "ArrowLeft")) {
      return { side: OTHER[side], index: Math.min(index, this[OTHER[side]].children.length - 1) };
    }
    return { ArrowUp: at(index - 1), ArrowDown: at(index + 1), Home: at(0), End: at(last) }[key];
  }

  /** @param {Token} token */
  visit(token) {
    for (const option of this[token.side].children) /** @type {HTMLElement} */ (option).tabIndex = -1;
    const option = this.optionOf(token);
    option.tabIndex = 0;
    option.focus();
  }

  /** @param {Token | null} token */
  mark(token) {
    this.kept?.setAttribute("aria-selected", "false");
    this.kept = token && this.optionOf(token);
    this.kept?.setAttribute("aria-selected", "true");
  }

  /** @param {Token | null} focus */
  emphasise(focus) {
    this.emphasised?.classList.remove("focus");
    this.emphasised = focus && this.optionOf(focus);
    this.emphasised?.classList.add("focus");
  }
}
