// @ts-check
// A sentence that holds elements, wherever its language has them.

/**
 * The parts of a sentence in which `{name}` stands for an element or a text, to be put into a page in this order.
 * @param {string} sentence as `_` of messages.js gives it without values @param {Record<string, Node | string>} values
 * @returns {(Node | string)[]}
 */
export const sentenceParts = (sentence, values) =>
  sentence.split(/\{(\w+)\}/).map((part, i) => (i % 2 ? values[part] : part));
