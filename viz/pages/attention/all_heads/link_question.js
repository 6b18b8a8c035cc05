// Asks which heads link two words; tells the words in the head of the page which two these are.
// Data: the payload of linked_heads.py.
import { onTold, tell } from "../../../pictures/shared/focus.js";
import { _, said, sentenceParts } from "../../../pictures/shared/messages.js";
import { mount, View } from "../../../pictures/shared/mount.js";
import { element, tokenElement } from "../../../pictures/shared/picture.js";

/** @import { Chosen } from "../../../pictures/shared/focus.js" */

/**
 * `asked` is what both are called, `heard` the last choice to which this answers.
 * @typedef {{ chosen: Chosen, isProposed: boolean, heard: number, asked: [string, string] | null, how: string, keptColour: string }} QuestionHeader
 */

const THEN = said("Now click the key word, or the same word again to cancel.");

class LinkQuestion extends View {
  /** @type {QuestionHeader} */ header;

  start() {
    onTold("looking", (name) => this.draw(name), this.ended.signal);
  }

  /** @param {{ header: QuestionHeader }} payload */
  receive({ header }) {
    this.header = header;
    this.root.style.setProperty("--kept", header.keptColour);
    this.draw(null);
    tell("chosen", header);
  }

  /** @param {string | null} looking */
  draw(looking) {
    const { asked, how } = this.header;
    const [from, to] = looking === null ? (asked ?? []) : [looking];
    const named = (/** @type {string} */ part, name = "") => element("b", part, tokenElement(name, ""));
    const asking = to === undefined ? _("Which heads link {from} to …?") : _("Which heads link {from} to {to}?");
    const sentence = from === undefined ? _("Which heads link one word to another?") : asking;
    const question = sentenceParts(sentence, { from: named("from", from), to: named("to", to) });
    const then = element("span", "how", looking === null ? how : _(THEN));
    this.root.replaceChildren(element("p", { className: "question", role: "status" }, ...question, " ", then));
  }
}

export default mount(".link-question", LinkQuestion);
