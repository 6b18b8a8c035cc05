// @ts-check
// The sentence as it is written: a column for each step, above the token it reads, below the token it writes.
import { _ } from "../../../components/shared/messages.js";
import { element, tokenElement } from "../../../components/shared/picture.js";
import { sentenceParts } from "../../../components/shared/sentence_parts.js";

/** @import { PlayerHeader } from "./decode_player.js" */

export class FilmSentence {
  shown = -1;
  height = 0;
  /** Upper and lower edge of each column, if some are out of sight. @type {number[][] | null} */ edges = null;

  /** `goTo` is called when a column is clicked. @param {PlayerHeader} header @param {(step: number) => void} goTo */
  constructor(header, goTo) {
    const { targetTokens, steps } = header;
    this.header = header;
    this.columns = steps.map(({ token, chosen }, step) => {
      // What is not the model's first choice was forced or drawn.
      const written = tokenElement(token, `token chip written${chosen === 0 ? "" : " other"}`);
      const look = { className: "column future", onclick: () => goTo(step) };
      return element("div", look, tokenElement(targetTokens[step], "token chip read"), written);
    });
    const sides = [_("reads"), _("writes")].map((side) => element("span", "side", side));
    this.line = element("div", "columns", element("div", "column names", ...sides), ...this.columns);
    this.caption = element("p", "caption muted");
    this.element = element("div", "sentence", this.line, this.caption);
  }

  /** @param {number} step */
  draw(step) {
    // Only the columns between the last step and this one change.
    const last = Math.max(step, this.shown);
    for (let i = Math.max(0, Math.min(step, this.shown)); i <= last; i++) {
      this.columns[i].classList.toggle("future", i > step);
      this.columns[i].classList.toggle("now", i === step);
    }
    this.shown = step;
    const { targetTokens, steps } = this.header;
    const { token, chosen, candidates } = steps[step];
    const values = {
      row: String(step + 1),
      read: tokenElement(targetTokens[step], "token chip read"),
      taken: tokenElement(token, "token chip written now"),
      best: tokenElement(candidates[0][1], "token chip"),
    };
    const sentence =
      chosen === 0
        ? _("Row {row}: the decoder takes in {read} and predicts {taken}.")
        : _("Row {row}: the decoder takes in {read} and predicts {best}; {taken} is written instead.");
    this.caption.replaceChildren(...sentenceParts(sentence, values));
  }

  /** Measure the columns, once and not at every step. */
  resize() {
    this.height = this.line.clientHeight;
    const edges = this.columns.map(({ offsetTop, offsetHeight }) => [offsetTop, offsetTop + offsetHeight]);
    this.edges = this.line.scrollHeight > this.height ? edges : null;
  }

  /** Keep the current column in sight where the sentence takes more lines than there is room for. */
  follow() {
    if (!this.edges) return;
    const [top, bottom] = this.edges[this.shown];
    if (top < this.line.scrollTop || bottom > this.line.scrollTop + this.height)
      this.line.scrollTop = bottom - this.height;
  }
}
