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
    const named = (/** @type {string} */ name, /** @type {string} */ part) =>
      element("b", part, tokenElement(name, ""));
    const question =
      looking !== null
        ? sentenceParts(_("Which heads link {from} to …?"), { from: named(looking, "from") })
        : asked
          ? sentenceParts(_("Which heads link {from} to {to}?"), {
              from: named(asked[0], "from"),
              to: named(asked[1], "to"),
            })
          : [_("Which heads link one word to another?")];
    this.root.replaceChildren(
      element(
        "p",
        { className: "question", role: "status" },
        ...question,
        " ",
        element("span", "how", looking === null ? how : _(THEN)),
      ),
    );
  }
}

export default mount(".link-question", LinkQuestion);
