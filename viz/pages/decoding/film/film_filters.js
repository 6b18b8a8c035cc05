// The sliders of a filter (temperature, top k, top p), what it leaves, and the button that draws from it.
// Numbers are those of the selection: hundredths, and 0 for no top k.
import { _ } from "../../../pictures/shared/messages.js";
import { button, element } from "../../../pictures/shared/picture.js";
import { formatShare } from "./film_candidates.js";

/** @import { Filtered } from "./film_distribution.js" */
/** @typedef {{ temperature: number, topK: number, topP: number }} Filter */

/** @param {number} first @param {number} last @param {number} step */
const range = (first, last, step) =>
  Array.from({ length: Math.round((last - first) / step) + 1 }, (_stop, i) => first + i * step);

const TEMPERATURES = [...range(10, 95, 5), ...range(100, 200, 10), ...range(225, 500, 25)];
const TOP_KS = [
  1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40, 50, 75, 100, 150, 200, 300, 500, 1000, 2000, 5000, 10_000, 20_000,
];
const TOP_PS = [1, 2, 5, ...range(10, 85, 5), ...range(90, 100, 1)];

const NO_FILTER = { temperature: 100, topK: 0, topP: 100 };

/** Whether a filter changes anything. @param {Filter} filter */
export const isFilter = ({ temperature, topK, topP }) => temperature !== 100 || topK !== 0 || topP !== 100;

/**
 * Where the slider of `field` stands for a number, which a link may have chosen between two stops: at the nearest.
 * @param {number[]} stops @param {keyof Filter} field @param {number} value
 */
export function stopOf(stops, field, value) {
  // No top k stands at the end, beyond all numbers.
  const far = (/** @type {number} */ number) => (field === "topK" && number === 0 ? Infinity : number);
  const distance = (/** @type {number} */ stop) => (far(stop) === far(value) ? 0 : Math.abs(far(stop) - far(value)));
  return stops.indexOf(stops.reduce((best, stop) => (distance(stop) < distance(best) ? stop : best)));
}

/** @param {number} value */
const hundredths = (value) => (value / 100).toFixed(2);

class FilterSlider {
  /**
   * @param {keyof Filter} field @param {string} name @param {number[]} stops
   * @param {(value: number) => string} format @param {(changes: Partial<Filter>) => void} filter
   */
  constructor(field, name, stops, format, filter) {
    this.field = field;
    this.stops = stops;
    this.format = format;
    const range = { type: "range", min: "0", max: String(stops.length - 1), step: "1" };
    const oninput = () => filter({ [field]: stops[Number(this.input.value)] });
    this.input = element("input", { ...range, dataset: { notInPicture: "" }, ariaLabel: name, oninput });
    this.shown = element("output");
    this.row = element("label", "filter", element("span", "filter-name", name), this.input, this.shown);
  }

  /** @param {Filter} filter */
  draw(filter) {
    const value = filter[this.field];
    this.input.value = String(stopOf(this.stops, this.field, value));
    this.input.ariaValueText = this.shown.textContent = this.format(value);
  }
}

export class FilmFilters {
  /** @param {number} vocabSize @param {{ filter(changes: Partial<Filter>): void, draw(): void }} act */
  constructor(vocabSize, act) {
    this.vocabSize = vocabSize;
    const topKs = [...TOP_KS.filter((count) => count < vocabSize), 0];
    const formatTopK = (/** @type {number} */ value) => (value ? value.toLocaleString("en") : _("all"));
    const formatTopP = (/** @type {number} */ value) => (value < 100 ? hundredths(value) : _("all"));
    this.sliders = [
      new FilterSlider("temperature", _("Temperature"), TEMPERATURES, hundredths, act.filter),
      new FilterSlider("topK", _("Top-k"), topKs, formatTopK, act.filter),
      new FilterSlider("topP", _("Top-p"), TOP_PS, formatTopP, act.filter),
    ];
    this.left = element("p", "left muted");
    const title = _(
      "Sample the token of this step and all that follow with these settings, and keep the result as a branch",
    );
    const draw = button({ className: "button draw", title }, act.draw, _("Sample from here"));
    this.resetButton = button("button plain", () => act.filter(NO_FILTER), _("No filter"));
    const rows = this.sliders.map(({ row }) => row);
    const buttons = element("div", "filter-buttons", draw, this.resetButton);
    const heading = element("summary", "heading", _("Sampling instead of greedy decoding"));
    this.element = element("details", "filters", heading, ...rows, this.left, buttons);
  }

  /** Show a filter, and what it leaves. @param {Filter} filter @param {Filtered | null} filtered */
  draw(filter, filtered) {
    for (const slider of this.sliders) slider.draw(filter);
    this.resetButton.ariaDisabled = String(filtered === null);
    // What changes the bars is in sight.
    if (filtered) this.element.open = true;
    this.left.textContent = filtered
      ? this.describe(filtered)
      : _("No filter: every token can be sampled, with the probability that the model gives it.");
  }

  /** @param {Filtered} filtered */
  describe({ kept, mass, entropy }) {
    const [some, all] = [kept, this.vocabSize].map((count) => count.toLocaleString("en"));
    const numbers = { kept: some, all, share: formatShare(Math.min(1, mass)), entropy: entropy.toFixed(2) };
    if (kept >= this.vocabSize) return _("Every token can be sampled. Entropy {entropy} nats.", numbers);
    return _(
      "{kept} of {all} tokens can be sampled; the model gives them a total probability of {share}. Entropy {entropy} nats.",
      numbers,
    );
  }
}
