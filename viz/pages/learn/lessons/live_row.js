// A row of scores that a person drags, a number that divides them all, and the softmax of the quotients beside them.
// Data: `LiveRow` of pictures.py. Nothing is sent back: what is dragged is an experiment, and ends with the step.
import { _, sentenceParts } from "../../../pictures/shared/messages.js";
import { mount, View } from "../../../pictures/shared/mount.js";
import { element, tokenElement, toolButton } from "../../../pictures/shared/picture.js";
import { percent } from "../../../pictures/shared/probability.js";

/**
 * @typedef {{
 *   labels: string[], scores: number[], divisor: number, least: number, most: number, scoreName: string,
 *   divisorName: string, shareName: string, label: string, digest: string,
 * }} LiveRowData
 */

/** softmax(scores ÷ divisor); the largest is taken off first, so that no power overflows. @param {number[]} scores @param {number} divisor */
export function sharesOf(scores, divisor) {
  const largest = Math.max(...scores);
  const powers = scores.map((score) => Math.exp((score - largest) / divisor));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

/** Over how many equal shares a row would spread as widely: 2 to the power of its entropy in bits. @param {number[]} shares */
export const equalShares = (shares) =>
  2 ** -shares.reduce((sum, share) => sum + (share > 0 ? share * Math.log2(share) : 0), 0);

/** @param {number} number */
const inTwoPlaces = (number) => number.toFixed(2).replace("-", "−");

/** @param {string} name @param {number} least @param {number} most @param {number} value @param {() => void} act */
function slider(name, least, most, value, act) {
  const step = (most - least) / 400;
  const range = { type: "range", min: String(least), max: String(most), step: String(step), value: String(value) };
  return element("input", { ...range, ariaLabel: name, oninput: act });
}

class LiveRow extends View {
  /** @type {LiveRowData} */ data;
  /** @type {HTMLInputElement[]} */ sliders = [];
  /** @type {HTMLElement[]} */ numbers = [];
  /** @type {HTMLElement[]} */ bars = [];
  /** @type {HTMLElement[]} */ shares = [];
  /** @type {HTMLInputElement} */ divisor;
  divided = element("output");
  told = element("p", "live-told");

  /** @param {{ header: LiveRowData }} payload */
  receive({ header }) {
    const isSame = this.data?.digest === header.digest;
    this.data = header;
    // A run of the page leaves what was dragged.
    if (!isSame) this.build();
    this.root.dataset.ready = "1";
  }

  build() {
    const { labels, scores, least, most, divisor, scoreName, divisorName, shareName, label } = this.data;
    const [low, high] = [Math.min(...scores), Math.max(...scores)];
    const beyond = Math.max(1, (high - low) / 2);
    const draw = () => this.draw();
    this.sliders = labels.map((token, key) =>
      slider(`${scoreName}: ${token}`, low - beyond, high + beyond, scores[key], draw),
    );
    this.numbers = labels.map(() => element("td", "live-number"));
    this.bars = labels.map(() => element("span", "live-bar"));
    this.shares = labels.map(() => element("td", "live-number"));
    this.divisor = slider(divisorName, least, most, divisor, draw);
    const titles = ["", scoreName, "", shareName, ""].map((title) => element("th", { scope: "col" }, title));
    const rows = labels.map((token, key) => {
      const [drag, share] = [
        element("td", "live-drag", this.sliders[key]),
        element("td", "live-share", this.bars[key]),
      ];
      const name = element("th", { scope: "row" }, tokenElement(token));
      return element("tr", "", name, drag, this.numbers[key], share, this.shares[key]);
    });
    const head = element("thead", "", element("tr", "", ...titles));
    const table = element("table", { ariaLabel: label }, head, element("tbody", "", ...rows));
    const reset = toolButton(_("Reset"), _("Restore the model's numbers"), () => this.reset());
    const divide = element("label", "live-divisor", element("span", "", divisorName), this.divisor, this.divided);
    this.root.replaceChildren(element("div", "live-tools", divide, reset), table, this.told);
    this.reset();
  }

  reset() {
    // A slider takes the nearest of its stops; the model's own number is kept beside it.
    this.data.scores.forEach((score, key) => {
      this.sliders[key].value = String(score);
    });
    this.divisor.value = String(this.data.divisor);
    this.draw();
  }

  /** What a slider says; the model's number, as it is, where it was not moved. @param {HTMLInputElement} moved @param {number} own */
  numberOf(moved, own) {
    const number = Number(moved.value);
    return Math.abs(number - own) <= Number(moved.step) / 2 ? own : number;
  }

  draw() {
    const { labels, scores, divisor: ownDivisor } = this.data;
    const divisor = this.numberOf(this.divisor, ownDivisor);
    const now = this.sliders.map((moved, key) => this.numberOf(moved, scores[key]));
    const shares = sharesOf(now, divisor);
    const largest = shares.indexOf(Math.max(...shares));
    this.divided.value = inTwoPlaces(divisor);
    shares.forEach((share, key) => {
      this.numbers[key].textContent = inTwoPlaces(now[key]);
      this.bars[key].style.width = `${100 * share}%`;
      this.shares[key].textContent = percent(share);
    });
    const [token, share] = [labels[largest], percent(shares[largest])];
    const count = equalShares(shares).toFixed(1);
    const message = _("{token} gets {share}; the row spreads as widely as {count} equal shares.");
    this.told.replaceChildren(...sentenceParts(message, { token: tokenElement(token), share, count }));
  }
}

export default mount(".live-row", LiveRow);
