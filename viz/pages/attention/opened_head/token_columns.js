// @ts-check
// Two columns of tokens that can be walked with the arrow keys.
import { roleOf, withRole } from "../../../pictures/shared/chat_roles.js";
import { closest, reachByTab } from "../../../pictures/shared/items.js";
import { _ } from "../../../pictures/shared/messages.js";
import { clamp, element, tokenElement } from "../../../pictures/shared/picture.js";
import { RoleColumn } from "./role_columns.js";

/** @import { RoleRun } from "../../../pictures/shared/chat_roles.js" */

/** @typedef {"query" | "key"} Side */
/** @typedef {{ side: Side, index: number }} Token */

/** @type {Record<Side, Side>} */ export const OTHER = { query: "key", key: "query" };

/** @param {Token | null} a @param {Token | null} b */
export const isSameToken = (a, b) => a?.side === b?.side && a?.index === b?.index;

/** @param {Side} side @param {string} ariaLabel */
const columnElement = (side, ariaLabel) => element("div", { className: `column ${side}`, role: "listbox", ariaLabel });

export class TokenColumns {
  query = columnElement("query", _("Queries. Arrow keys move, Enter keeps a token, Escape releases it."));
  key = columnElement("key", _("Keys. Arrow keys move, Enter keeps a token, Escape releases it."));
  /** Whose they are, beside each. */
  roles = { query: new RoleColumn("query"), key: new RoleColumn("key") };
  /** The option that is kept. @type {HTMLElement | null} */ kept = null;
  /** The option in focus. @type {HTMLElement | null} */ emphasised = null;

  /** @param {Side} side @param {string[]} tokens @param {RoleRun[]} roles */
  fill(side, tokens, roles) {
    this.emphasised = null;
    this.roles[side].fill(roles);
    const options = tokens.map((token, index) => {
      const option = tokenElement(token, "token option");
      const role = roleOf(roles, index);
      const title = withRole(token, role);
      Object.assign(option.dataset, { side, index });
      // What is read out after the token is not the token once more.
      if (role) option.ariaDescription = role;
      return Object.assign(option, { role: "option", tabIndex: index === 0 ? 0 : -1, title });
    });
    this[side].replaceChildren(...options);
  }

  /** The token that an event belongs to, if any. @param {Event} event @returns {Token | null} */
  at(event) {
    const option = closest(event, ".option");
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
    const at = (/** @type {number} */ target) => ({ side, index: clamp(0, target, last) });
    if (key === (side === "query" ? "ArrowRight" : "ArrowLeft")) {
      return { side: OTHER[side], index: Math.min(index, this[OTHER[side]].children.length - 1) };
    }
    return { ArrowUp: at(index - 1), ArrowDown: at(index + 1), Home: at(0), End: at(last) }[key];
  }

  /** @param {Token} token */
  visit(token) {
    const option = this.optionOf(token);
    reachByTab(/** @type {Iterable<HTMLElement>} */ (this[token.side].children), option);
    option.focus();
  }

  /** @param {Token | null} token */
  mark(token) {
    if (this.kept) this.kept.ariaSelected = "false";
    this.kept = token && this.optionOf(token);
    if (this.kept) this.kept.ariaSelected = "true";
  }

  /** @param {Token | null} focus */
  emphasise(focus) {
    this.emphasised?.classList.remove("focus");
    this.emphasised = focus && this.optionOf(focus);
    this.emphasised?.classList.add("focus");
  }
}
