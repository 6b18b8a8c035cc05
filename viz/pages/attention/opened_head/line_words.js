// @ts-check
// What lines are said to be: numbers, how many are drawn, and the strongest partners of a token.
import { roleOf, tokenWithRole } from "../../../pictures/shared/chat_roles.js";
import { _ } from "../../../pictures/shared/messages.js";
import { weightOf } from "../../../pictures/shared/payload.js";
import { element } from "../../../pictures/shared/picture.js";
import { sentenceParts } from "../../../pictures/shared/sentence_parts.js";
import { strongestPartner } from "./line_scene.js";
import { OTHER } from "./token_columns.js";

/** @import { LinesHeader } from "./line_export.js" */
/** @import { Matrix } from "./line_scene.js" */
/** @import { Side, Token } from "./token_columns.js" */

const MOST_NAMED = 4;

/** At most `digits` decimals; what is not zero never reads as zero. @param {number} value */
export function formatNumber(value, digits = 2) {
  const least = 10 ** -digits;
  return value > 0 && value < least / 2 ? `< ${least}` : value.toFixed(value >= 10 ? digits - 1 : digits);
}

/** How many lines are drawn of how many there could be. @param {number} drawn @param {number} all */
export function countSentence(drawn, all) {
  const [some, every] = [drawn, all].map((count) => count.toLocaleString("en"));
  if (drawn < all) return _("Lines drawn: {some} of {every}, the strongest.", { some, every });
  return _("Lines drawn: {some} of {every}.", { some, every });
}

/**
 * A token and its strongest partner in each head, as elements; heads beyond `MOST_NAMED` are only counted.
 * @param {LinesHeader} header @param {Matrix} matrix @param {number[]} heads @param {Token} focus
 */
export function partnerSentence({ headNames, top, ...header }, matrix, heads, focus) {
  const isQuery = focus.side === "query";
  const { queryTokens, keyTokens, queryRoles, keyRoles } = header;
  const said = (/** @type {Side} */ side, /** @type {number} */ index) =>
    side === "query"
      ? tokenWithRole(queryTokens[index], roleOf(queryRoles, index), "token own")
      : tokenWithRole(keyTokens[index], roleOf(keyRoles, index), "token own");
  const parts = heads.slice(0, MOST_NAMED).map((head) => {
    const { index, stored } = strongestPartner(matrix, head, focus);
    const weight = ` ${formatNumber(weightOf(stored) * top, 3)}`;
    return element("span", "strongest", `${headNames[head]} `, said(OTHER[focus.side], index), weight);
  });
  const left = heads.length - parts.length;
  const token = said(focus.side, focus.index);
  const sentence = isQuery ? _("{token} attends to {others}") : _("{token} is attended to by {others}");
  const named = element("span", "", ...parts, left > 0 ? _(" and {count} more", { count: left }) : "");
  return sentenceParts(sentence, { token, others: named });
}
