// Two columns of tokens that can be walked with the arrow keys.
import { nameIn, roleBar, roleOf, withRole } from "../../../pictures/shared/chat_roles.js";
import { closest, reachByTab } from "../../../pictures/shared/items.js";
import { _ } from "../../../pictures/shared/messages.js";
import { clamp, element, rowElement } from "../../../pictures/shared/picture.js";

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

  /** @param {Side} side @param {string[]} tokens @param {RoleRun[]} roles @param {boolean} writes whether rows stand for what they write */
  fill(side, tokens, roles, writes) {
    this.emphasised = null;
    this.roles[side].fill(roles);
    const options = tokens.map((token, index) => {
      const option = rowElement(token, writes, "token option");
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

/** How wide names with their bars and the room beside them are, in CSS pixels. */
const ROLES = 24;

/** Beside the tokens of a chat, bars that say whose message they are of. Their names stay in sight while one scrolls. */
class RoleColumn {
  /** @type {RoleRun[]} */ runs = [];

  /** @param {Side} side */
  constructor(side) {
    // Read out, a token says itself whose it is.
    this.element = element("div", { className: `roles ${side}`, ariaHidden: "true" });
  }

  /** @param {RoleRun[]} runs */
  fill(runs) {
    this.runs = runs;
    this.element.style.width = `${runs.length && ROLES}px`;
    const parts = runs.map(([role, begin, end, colour]) => {
      const look = { className: "role-run", title: role, style: `--begin:${begin};--count:${end - begin}` };
      return element("div", look, element("span", "role-name"), roleBar(colour));
    });
    this.element.replaceChildren(...parts);
  }

  /** Name each run, as far as rows of this height have room. @param {number} row */
  name(row) {
    this.runs.forEach(([role, begin, end], index) => {
      const name = /** @type {HTMLElement} */ (this.element.children[index].firstElementChild);
      name.textContent = nameIn(role, (end - begin) * row);
      name.classList.toggle("initial", name.textContent.length === 1);
    });
  }
}
