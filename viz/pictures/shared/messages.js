// What the scripts say, in the language of the page: English in the source, as `viz/text/messages.py` has it. A text
// that a module keeps as a constant is marked by `said`, and said by `_` when it is shown.

/** A language: its code, and English → its translation; of a text with a number, its forms by `Intl.PluralRules`. */
/** @typedef {{ code: string, texts: Record<string, string | Record<string, string>> }} Language */

/** @type {Language} */
const ENGLISH = { code: "en", texts: {} };

/** That of the page, which a page that stands alone has from the beginning. @type {Language} */
let spoken = /** @type {{ headlightLanguage?: Language }} */ (globalThis).headlightLanguage ?? ENGLISH;

/** From now on in this language; in English without one. @param {Language | undefined} language */
export function speak(language) {
  spoken = language ?? ENGLISH;
}

/** The code of the language. */
export const language = () => spoken.code;

/** @param {string} template @param {Record<string, unknown>} [values] */
const filled = (template, values) =>
  values ? template.replace(/\{(\w+)\}/g, (_whole, name) => String(values[name])) : template;

/** A sentence, in which `{name}` stands for one of the values. @param {string} text a literal @param {Record<string, unknown>} [values] */
export function _(text, values) {
  const found = spoken.texts[text];
  return filled(typeof found === "string" ? found : text, values);
}

/** A sentence of a number, which `{count}` names. @param {string} one @param {string} many @param {number} count @param {Record<string, unknown>} [values] */
export function plural(one, many, count, values) {
  const forms = spoken.texts[one];
  const own = typeof forms === "object" && forms[new Intl.PluralRules(spoken.code).select(count)];
  return filled(own || (count === 1 ? one : many), { count, ...values });
}

/** A text to be said later. @param {string} text a literal */
export const said = (text) => text;

/**
 * The parts of a sentence in which `{name}` stands for an element or a text, to be put into a page in this order.
 * @param {string} sentence as `_` gives it without values @param {Record<string, Node | string>} values
 * @returns {(Node | string)[]}
 */
export const sentenceParts = (sentence, values) =>
  sentence.split(/\{(\w+)\}/).map((part, i) => (i % 2 ? values[part] : part));
