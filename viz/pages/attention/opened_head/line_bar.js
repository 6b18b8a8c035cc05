// @ts-check
// Above the lines: a chip for every head, the threshold, and the buttons that save the picture.
import { element } from "../../../components/shared/picture.js";

/**
 * What a person does in the bar.
 * @typedef {{
 *   switchHead(head: number): void, leaveAlone(head: number): void, threshold(percent: number, isFinal: boolean): void,
 *   savePng(): void, saveSvg(): void,
 * }} Acts
 */

export class LineBar {
  /** A single matrix has no chips: there is nothing to choose. @param {string[]} headNames @param {string[]} colours @param {Acts} act */
  constructor(headNames, colours, act) {
    this.act = act;
    this.element = element("div", "bar");
    this.slider = element("input");
    this.least = element("output");
    this.chips = headNames.map((name, head) => this.buildChip(name, head, colours[head % colours.length]));
    const chips = element("div", "chips");
    chips.setAttribute("role", "group");
    chips.setAttribute("aria-label", "Heads. Enter switches a head on or off, Shift + Enter leaves it alone.");
    chips.append(element("span", "bar-name", "Heads"), ...this.chips);
    const saving = element("div", "saving");
    saving.append(this.buildButton("PNG", act.savePng), this.buildButton("SVG", act.saveSvg));
    this.element.append(...(headNames.length > 1 ? [chips] : []), this.buildThreshold(), saving);
  }

  /** @param {string} name @param {number} head @param {string} colour */
  buildChip(name, head, colour) {
    const chip = element("button", "chip");
    chip.type = "button";
    chip.style.setProperty("--head", colour);
    chip.title = `${name}: click switches it on or off, double-click leaves it alone`;
    chip.setAttribute("aria-label", name);
    chip.append(element("span", "swatch"), element("span", "", String(head + 1)));
    chip.addEventListener("click", (event) => (event.shiftKey ? this.act.leaveAlone(head) : this.act.switchHead(head)));
    chip.addEventListener("dblclick", () => this.act.leaveAlone(head));
    return chip;
  }

  /** @param {string} name @param {() => void} save */
  buildButton(name, save) {
    const button = element("button", "save", name);
    button.type = "button";
    button.title = `Save the picture as ${name}`;
    button.addEventListener("click", save);
    return button;
  }

  buildThreshold() {
    const label = element("label", "threshold");
    Object.assign(this.slider, { type: "range", min: 0, max: 100, step: 1 });
    this.slider.addEventListener("input", () => this.act.threshold(Number(this.slider.value), false));
    this.slider.addEventListener("change", () => this.act.threshold(Number(this.slider.value), true));
    label.append(element("span", "bar-name", "Lines from"), this.slider, this.least);
    return label;
  }

  /** Show which heads are on, and the threshold in percent with what it comes to. @param {Set<number>} on @param {number} threshold @param {string} least */
  mark(on, threshold, least) {
    this.chips.forEach((chip, head) => chip.setAttribute("aria-pressed", String(on.has(head))));
    this.slider.value = String(threshold);
    this.slider.setAttribute("aria-valuetext", least);
    this.least.textContent = least;
  }
}
