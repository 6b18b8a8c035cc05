// @ts-check
// The sentence, its translation by a person, and what the model wrote at the frame that is shown.
import { _ } from "../../../pictures/shared/messages.js";
import { element } from "../../../pictures/shared/picture.js";

/** @import { FilmHeader } from "./training_film.js" */

export class TrainingTexts {
  written = element("bdi", { className: "text-written", dir: "auto" });

  /** @param {FilmHeader} header */
  constructor({ source, target, translations }) {
    this.translations = translations;
    const text = (/** @type {string} */ shown) => element("bdi", { dir: "auto" }, shown);
    const line = (/** @type {string} */ name, /** @type {HTMLElement} */ shown) =>
      element("div", "text-line", element("dt", "muted", name), element("dd", "", shown));
    this.element = element(
      "dl",
      "texts",
      line(_("Source"), text(source)),
      line(_("Given"), text(target)),
      line(_("Model writes"), this.written),
    );
  }

  /** @param {number} step */
  draw(step) {
    const text = this.translations[step];
    this.written.textContent = text || _("nothing");
    this.written.classList.toggle("muted", !text);
  }
}
