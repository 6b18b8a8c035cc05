// Above the lines: a chip for every head, the threshold, and the button that saves the picture; and what lines are said
// to be: numbers, how many are drawn, and the strongest partners of a token.

import { roleOf, tokenWithRole } from "../../../pictures/shared/chat_roles.js";
import { _, sentenceParts } from "../../../pictures/shared/messages.js";
import { weightOf } from "../../../pictures/shared/payload.js";
import { element, rowElement } from "../../../pictures/shared/picture.js";
import { whyParts } from "../../../pictures/shared/why_link.js";
import { strongestPartner } from "./line_scene.js";
import { OTHER } from "./token_columns.js";

/** @import { LinesHeader, Matrix } from "./line_scene.js" */
/** @import { Side, Token } from "./token_columns.js" */

/**
 * What a person does in the bar.
 * @typedef {{
 *   switchHead(head: number): void, leaveAlone(head: number): void, threshold(percent: number, isFinal: boolean): void,
 * }} Acts
 */

export class LineBar {
  slider = element("input", { type: "range", min: "0", max: "100", step: "1" });
  least = element("output");

  /** A single matrix has no chips: there is nothing to choose. @param {string[]} headNames @param {string[]} colours @param {Acts} act @param {HTMLElement} saving the button that saves the picture */
  constructor(headNames, colours, act, saving) {
    this.act = act;
    this.chips = headNames.map((name, head) => this.buildChip(name, head, colours[head % colours.length]));
    const ariaLabel = _("Heads. Enter adds or removes a head; Shift + Enter shows only that head.");
    const chips = { className: "chips", role: "group", ariaLabel };
    const threshold = (/** @type {boolean} */ isFinal) => act.threshold(Number(this.slider.value), isFinal);
    this.slider.addEventListener("input", () => threshold(false));
    this.slider.addEventListener("change", () => threshold(true));
    this.element = element(
      "div",
      "bar",
      ...(headNames.length > 1 ? [element("div", chips, element("span", "bar-name", _("Heads")), ...this.chips)] : []),
      element("label", "threshold", element("span", "bar-name", _("Minimum weight")), this.slider, this.least),
      saving,
    );
  }

  /** @param {string} name @param {number} head @param {string} colour */
  buildChip(name, head, colour) {
    const title = _("{head}: click to add or remove this head; double-click to show only this head", { head: name });
    const look = { className: "chip", title, ariaLabel: name, style: `--head:${colour}` };
    const chip = element("button", look, element("span", "swatch"), element("span", "", String(head + 1)));
    chip.type = "button";
    chip.onclick = (event) => (event.shiftKey ? this.act.leaveAlone(head) : this.act.switchHead(head));
    chip.ondblclick = () => this.act.leaveAlone(head);
    return chip;
  }

  /** Show which heads are on, and the threshold in percent with what it comes to. @param {Set<number>} on @param {number} threshold @param {string} least */
  mark(on, threshold, least) {
    this.chips.forEach((chip, head) => {
      chip.ariaPressed = String(on.has(head));
    });
    this.slider.value = String(threshold);
    this.slider.ariaValueText = least;
    this.least.textContent = least;
  }
}

const MOST_NAMED = 4;

/** At most `digits` decimals; what is not zero never reads as zero. @param {number} value */
export function formatNumber(value, digits = 2) {
  const least = 10 ** -digits;
  return value > 0 && value < least / 2 ? `< ${least}` : value.toFixed(value >= 10 ? digits - 1 : digits);
}

/** How many lines are drawn of how many there could be. @param {number} drawn @param {number} all */
export function countSentence(drawn, all) {
  const [some, every] = [drawn, all].map((count) => count.toLocaleString("en"));
  if (drawn < all) return _("Lines drawn: the {some} strongest of {every}.", { some, every });
  return _("Lines drawn: {some} of {every}.", { some, every });
}

/**
 * A token and its strongest partner in each head, as elements; heads beyond `MOST_NAMED` are only counted. Of a token that
 * is kept, each line can be asked about: of another one the sentence goes with the pointer.
 * @param {LinesHeader} header @param {Matrix} matrix @param {number[]} heads @param {Token} focus @param {boolean} isKept
 */
export function partnerSentence({ headNames, top, ...header }, matrix, heads, focus, isKept) {
  const isQuery = focus.side === "query";
  const { queryTokens, keyTokens, queryRoles, keyRoles } = header;
  const writes = Boolean(header.focus?.rows.ahead);
  const said = (/** @type {Side} */ side, /** @type {number} */ index) =>
    side === "query"
      ? tokenWithRole(rowElement(queryTokens[index], writes, "token own"), roleOf(queryRoles, index))
      : tokenWithRole(keyTokens[index], roleOf(keyRoles, index), "token own");
  const parts = heads.slice(0, MOST_NAMED).map((head) => {
    const { index, stored } = strongestPartner(matrix, head, focus);
    const weight = ` ${formatNumber(weightOf(stored) * top, 3)}`;
    const [row, column] = isQuery ? [focus.index, index] : [index, focus.index];
    const why = isKept && header.focus ? whyParts({ ...header.focus, name: headNames[head] }, row, column) : [];
    return element("span", "strongest", said(OTHER[focus.side], index), weight, ` (${headNames[head]})`, ...why);
  });
  const left = heads.length - parts.length;
  const token = said(focus.side, focus.index);
  const sentence = isQuery
    ? left > 0
      ? _("{token} attends to {others} and {count} more")
      : _("{token} attends to {others}")
    : left > 0
      ? _("{token} is attended to by {others} and {count} more")
      : _("{token} is attended to by {others}");
  return sentenceParts(sentence, { token, others: element("span", "", ...parts), count: String(left) });
}
