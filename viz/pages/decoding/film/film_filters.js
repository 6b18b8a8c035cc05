// The sliders of a filter (temperature, top k, top p), what it leaves, and the button that draws from it.
// Numbers are those of the selection: hundredths, and 0 for no top k. Knows nothing of what is filtered.

const range = (first, last, step) => Array.from({ length: Math.round((last - first) / step) + 1 }, (_, i) => first + i * step);

const TEMPERATURES = [...range(10, 95, 5), ...range(100, 200, 10), ...range(225, 500, 25)];
const TOP_KS = [1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40, 50, 75, 100, 150, 200, 300, 500, 1000, 2000, 5000, 10_000, 20_000];
const TOP_PS = [1, 2, 5, ...range(10, 85, 5), ...range(90, 100, 1)];

const NO_FILTER = { temperature: 100, top_k: 0, top_p: 100 };

class FilmFilters {
  /** `act` has what happens: filter(changes), draw(). */
  constructor(vocabSize, act) {
    this.vocabSize = vocabSize;
    this.element = element("section", "filters");
    const topKs = [...TOP_KS.filter((count) => count < vocabSize), 0];
    this.sliders = {
      temperature: this.buildSlider("Temperature", TEMPERATURES, act.filter, (value) => (value / 100).toFixed(2)),
      top_k: this.buildSlider("Top k", topKs, act.filter, (value) => (value ? value.toLocaleString("en") : "all")),
      top_p: this.buildSlider("Top p", TOP_PS, act.filter, (value) => (value < 100 ? (value / 100).toFixed(2) : "all")),
    };
    this.left = element("p", "left muted");
    this.drawButton = element("button", "button draw", "Draw from this");
    this.drawButton.type = "button";
    this.drawButton.title = "Draw the token of this step and all that follow by these chances, as a branch";
    this.drawButton.addEventListener("click", act.draw);
    this.resetButton = element("button", "button plain", "No filter");
    this.resetButton.type = "button";
    this.resetButton.addEventListener("click", () => act.filter(NO_FILTER));
    const buttons = element("div", "filter-buttons");
    buttons.append(this.drawButton, this.resetButton);
    const rows = Object.values(this.sliders).map(({ row }) => row);
    this.element.append(element("h3", "heading", "If it were drawn"), ...rows, this.left, buttons);
  }

  buildSlider(name, stops, filter, format) {
    const row = element("label", "filter");
    const input = element("input");
    const shown = element("output");
    input.dataset.notInPicture = "";
    Object.assign(input, { type: "range", min: 0, max: stops.length - 1, step: 1 });
    const field = { Temperature: "temperature", "Top k": "top_k", "Top p": "top_p" }[name];
    input.setAttribute("aria-label", name);
    input.addEventListener("input", () => filter({ [field]: stops[Number(input.value)] }));
    row.append(element("span", "filter-name", name), input, shown);
    return { row, input, shown, stops, format };
  }

  /** Show a filter (a link may have any number: the slider then stands at the nearest stop), and what it leaves. */
  draw(filter, filtered) {
    for (const [field, { input, shown, stops, format }] of Object.entries(this.sliders)) {
      // No top k stands at the end, beyond all numbers.
      const far = (value) => (field === "top_k" && value === 0 ? Infinity : value);
      const distance = (stop) => (far(stop) === far(filter[field]) ? 0 : Math.abs(far(stop) - far(filter[field])));
      input.value = stops.indexOf(stops.reduce((best, stop) => (distance(stop) < distance(best) ? stop : best)));
      shown.textContent = format(filter[field]);
      input.setAttribute("aria-valuetext", shown.textContent);
    }
    this.resetButton.setAttribute("aria-disabled", String(filtered === null));
    this.left.textContent = filtered ? this.describe(filtered) : "Any token may come, as the model has it.";
  }

  describe({ kept, mass, entropy }) {
    const some = kept >= this.vocabSize ? "Any token may come" : `${kept.toLocaleString("en")} of ${this.vocabSize.toLocaleString("en")} tokens may come`;
    const share = kept >= this.vocabSize ? "" : `, which hold ${formatShare(Math.min(1, mass))} in the model`;
    return `${some}${share}; entropy ${entropy.toFixed(2)} nats.`;
  }
}

/** Whether a filter changes anything. */
const isFilter = ({ temperature, top_k, top_p }) => temperature !== 100 || top_k !== 0 || top_p !== 100;
