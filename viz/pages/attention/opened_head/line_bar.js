// @ts-check
// Above the lines: a chip for every head, the threshold, and the button that saves the picture.
import { _ } from "../../../pictures/shared/messages.js";
import { element } from "../../../pictures/shared/picture.js";
import { saveButton } from "../../../pictures/shared/picture_file.js";

/** @import { Format } from "../../../pictures/shared/picture_file.js" */

/**
 * What a person does in the bar.
 * @typedef {{
 *   switchHead(head: number): void, leaveAlone(head: number): void, threshold(percent: number, isFinal: boolean): void,
 *   save(format: Format): void,
 * }} Acts
 */

export class LineBar {
  slider = element("input", { type: "range", min: "0", max: "100", step: "1" });
  least = element("output");

  /** A single matrix has no chips: there is nothing to choose. @param {string[]} headNames @param {string[]} colours @param {Acts} act */
  constructor(headNames, colours, act) {
    this.act = act;
    this.chips = headNames.map((name, head) => this.buildChip(name, head, colours[head % colours.length]));
    const ariaLabel = _("Heads. Enter adds or removes a head, Shift + Enter shows only that head.");
    const chips = { className: "chips", role: "group", ariaLabel };
    const threshold = (/** @type {boolean} */ isFinal) => act.threshold(Number(this.slider.value), isFinal);
    this.slider.addEventListener("input", () => threshold(false));
    this.slider.addEventListener("change", () => threshold(true));
    this.element = element(
      "div",
      "bar",
      ...(headNames.length > 1 ? [element("div", chips, element("span", "bar-name", _("Heads")), ...this.chips)] : []),
      element("label", "threshold", element("span", "bar-name", _("Minimum weight")), this.slider, this.least),
      saveButton(act.save),
    );
  }

  /** @param {string} name @param {number} head @param {string} colour */
  buildChip(name, head, colour) {
    const title = _("{head}: click adds or removes it, double-click shows only this head", { head: name });
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
