// @ts-check
// Sentences with elements in them: a token stays an element, wherever a language puts it.

/**
 * The pieces of a sentence, in which a part stands for each `{name}`.
 * @param {string} template what `_` returns without values @param {Record<string, Node | string>} parts
 * @returns {(Node | string)[]}
 */
export const sentenceParts = (template, parts) =>
  template.split(/\{(\w+)\}/).map((piece, place) => (place % 2 ? parts[piece] : piece));
