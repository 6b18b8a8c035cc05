// @ts-check
// What the encoder reads, and what the decoder reads, as tokens of which one is followed. A click, or Enter, follows
// another one; arrow keys lead from token to token.
// Data: the payload of tab.py. Sends back the trigger `token`: { stack, position }.
import { hearItems, reachByTab, targetOf } from "../../../pictures/shared/items.js";
import { _, said } from "../../../pictures/shared/messages.js";
import { mount, View } from "../../../pictures/shared/mount.js";
import { element, tokenElement } from "../../../pictures/shared/picture.js";

/**
 * @typedef {{ stack: string, mark: string, language: string, tokens: string[] }} TokenRow what a stack reads
 * @typedef {{ lines: TokenRow[], stack: string, position: number, digest: string }} TokenLineHeader
 */

const HOW = said("Click a token to follow it through the model.");

class TokenLine extends View {
  /** All tokens, line after line. @type {HTMLElement[]} */ tokens = [];
  digest = "";

  start() {
    hearItems(this.root, ".follow", this);
  }

  /** @param {{ header: TokenLineHeader }} payload */
  receive({ header }) {
    if (this.digest !== header.digest) this.build(header);
    this.mark(header.stack, header.position);
    this.root.dataset.ready = "1";
  }

  /** @param {TokenLineHeader} header */
  build({ digest, lines }) {
    this.digest = digest;
    this.tokens = [];
    const rows = lines.map(({ stack, mark, language, tokens }) => {
      const line = element("span", {
        className: "tokens",
        dir: "auto",
        lang: language,
        role: "group",
        ariaLabel: mark,
      });
      tokens.forEach((token, position) => {
        const shown = tokenElement(token, "follow");
        Object.assign(shown.dataset, { stack, position });
        shown.title = _(HOW);
        shown.role = "button";
        this.tokens.push(shown);
        line.append(shown);
      });
      return [element("span", { className: "mark", ariaHidden: "true" }, mark), line];
    });
    this.root.replaceChildren(...rows.flat());
  }

  /** @param {string} stack @param {number} position */
  mark(stack, position) {
    for (const token of this.tokens) {
      const isFollowed = token.dataset.stack === stack && Number(token.dataset.position) === position;
      token.ariaPressed = String(isFollowed);
      if (isFollowed) reachByTab(this.tokens, token);
    }
  }

  // ---- what a person does ----

  /** @param {HTMLElement} token */
  choose(token) {
    const { stack = "", position } = token.dataset;
    this.mark(stack, Number(position));
    this.python.trigger("token", { stack, position: Number(position) });
  }

  /** @param {HTMLElement} token @param {string} key */
  press(token, key) {
    const count = this.tokens.length;
    const target = targetOf(key, this.tokens.indexOf(token), count, count);
    if (target === undefined || !this.tokens[target]) return false;
    this.tokens[target].focus();
    return true;
  }

  /** @param {HTMLElement} token */
  visit(token) {
    reachByTab(this.tokens, token);
  }

  point() {}

  leave() {}
}

export default mount(".token-line", TokenLine);
