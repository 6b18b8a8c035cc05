// @ts-check
// The candidates of one step as bars, what a filter makes of them, and numbers about the distribution.
import { button } from "../../../components/shared/items.js";
import { element, tokenElement } from "../../../components/shared/picture.js";

/** @import { Step } from "./decode_player.js" */
/** @import { Filtered } from "./film_distribution.js" */
/** @typedef {{ id: number | null, token: string, logProb: number }} Candidate */

const MOST_CANDIDATES = 20;

/** @param {number} share */
export function formatShare(share) {
  if (share > 0 && share < 0.0005) return "< 0.1 %";
  return `${(100 * share).toFixed(1)} %`;
}

/** @param {number} logProb */
export const formatProbability = (logProb) => formatShare(Math.exp(logProb));

/** @param {number} value */
export const formatSigned = (value) =>
  (value < 0 ? "−" : "") + (Number.isFinite(value) ? Math.abs(value).toFixed(2) : "∞");

/** One candidate: its token, its probability as a bar, and the same after the filter. */
class CandidateRow {
  /** @type {number | null} */ id = null;
  isWritten = false;
  isShown = false;

  /** @param {(tokenId: number) => void} force */
  constructor(force) {
    this.element = element("li", "bar-row");
    this.button = button("bar-button", "", () => {
      if (!this.isWritten && this.id !== null) force(this.id);
    });
    this.button.dataset.inPicture = "";
    this.mark = element("span", "bar-mark");
    this.token = tokenElement("", "token bar-token");
    this.fill = element("span", "bar-fill");
    this.before = element("span", "bar-before");
    this.model = element("span", "bar-value");
    this.now = element("span", "bar-value bar-now");
    const track = element("span", "bar-track");
    track.append(this.fill, this.before);
    this.button.append(this.mark, this.token, track, this.model, this.now);
    this.element.append(this.button);
  }

  /** @param {Candidate} candidate @param {number} rank @param {boolean} isWritten @param {Filtered | null} filtered */
  draw({ id, token, logProb }, rank, isWritten, filtered) {
    const share = Math.exp(logProb);
    const chance = filtered ? filtered.chanceOf(logProb, rank) : share;
    this.id = id;
    this.isWritten = isWritten;
    this.element.classList.toggle("chosen", isWritten);
    this.element.classList.toggle("left-out", chance === 0);
    this.element.classList.toggle("filtered", filtered !== null);
    this.button.setAttribute("aria-disabled", String(isWritten));
    this.button.title = isWritten ? `${token} was written (rank ${rank + 1})` : `Write ${token} instead, and decode on`;
    this.mark.textContent = isWritten ? "✓" : "";
    this.token.textContent = token;
    this.fill.style.width = `${chance * 100}%`;
    this.before.style.left = `${share * 100}%`;
    this.model.textContent = formatShare(share);
    this.now.textContent = filtered === null ? "" : chance === 0 ? "out" : formatShare(chance);
  }
}

export class FilmCandidates {
  /**
   * A step whose token is beyond the list gets a row below it, for which there is room in every step, so that stepping
   * moves nothing.
   * @param {Step[]} steps @param {{ force(tokenId: number): void, list(count: number): void }} act
   */
  constructor(steps, act) {
    this.steps = steps;
    this.element = element("section", "candidates");
    this.count = element("select", "count");
    this.count.append(...Array.from({ length: MOST_CANDIDATES }, (_, i) => new Option(String(i + 1))));
    this.count.addEventListener("change", () => act.list(Number(this.count.value)));
    this.list = element("ol", "bars");
    this.list.setAttribute("aria-label", "Candidates. Up and down move, Enter writes one instead and decodes on.");
    this.rows = Array.from({ length: MOST_CANDIDATES + 1 }, () => new CandidateRow(act.force));
    this.list.append(...this.rows.map((row) => row.element));
    this.list.addEventListener("keydown", (event) => this.press(event));
    this.sums = [element("span"), element("span", "bar-value"), element("span", "bar-value bar-now")];
    const together = element("p", "together");
    together.append(...this.sums);
    const hint = element("p", "hint muted", "Click one to write it instead and decode on.");
    hint.dataset.notInPicture = "";
    const numbers = element("dl", "numbers");
    const [rank, probability, entropy, choices] = [
      ["Rank", "Place of the token that was written among the whole vocabulary"],
      ["Probability", "Of the token that was written; in brackets its natural logarithm"],
      ["Entropy", "How undecided the model is, over its whole vocabulary"],
      ["Effective choices", "e to the entropy: so many equally likely tokens would leave as much open"],
    ].map(([name, title]) => {
      const value = element("dd");
      const box = element("div");
      box.title = title;
      box.append(element("dt", "muted", name), value);
      numbers.append(box);
      return value;
    });
    this.numbers = { rank, probability, entropy, choices };
    this.element.append(this.buildHead(), this.list, together, hint, numbers);
  }

  buildHead() {
    const head = element("div", "candidates-head");
    const label = element("label", "count-label muted");
    label.dataset.notInPicture = "";
    label.append("best ", this.count);
    head.append(element("h3", "heading", "Candidates"), label);
    return head;
  }

  /** Up and down walk the list; only one of its rows is in the way of Tab. @param {KeyboardEvent} event */
  press(event) {
    const move = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : 0;
    if (!move) return;
    const shown = this.rows.filter((row) => row.isShown);
    const at = shown.findIndex((row) => row.button === event.target);
    const next = shown[Math.min(shown.length - 1, Math.max(0, at + move))];
    for (const row of shown) row.button.tabIndex = row === next ? 0 : -1;
    next.button.focus();
    event.preventDefault();
  }

  /**
   * Show a step: its `count` best, and beside the model's probabilities those after the filter, if there is one.
   * @param {Step} step @param {number} count @param {Filtered | null} filtered
   */
  draw(step, count, filtered) {
    const { token, logProb, chosen, rank } = step;
    const listed = step.candidates
      .slice(0, count)
      .map(([tokenId, name, value]) => ({ id: tokenId, token: name, logProb: value }));
    const isBeyond = (/** @type {number | null} */ at) => at === null || at >= count;
    const isOutside = isBeyond(chosen);
    const hasOutsiders = this.steps.some((other) => isBeyond(other.chosen));
    this.count.value = String(count);
    this.rows.forEach((row, at) => {
      const isLast = at === count;
      const candidate = isLast && isOutside ? { id: null, token, logProb } : listed[at];
      row.element.hidden = at > count || (isLast && !hasOutsiders);
      row.isShown = candidate !== undefined && !row.element.hidden;
      row.element.classList.toggle("empty", candidate === undefined);
      if (candidate) row.draw(candidate, isLast ? rank - 1 : at, isLast ? isOutside : at === chosen, filtered);
    });
    this.drawSums(listed, filtered);
    this.drawNumbers(step);
  }

  /** @param {Candidate[]} listed @param {Filtered | null} filtered */
  drawSums(listed, filtered) {
    const mass = listed.reduce((sum, { logProb }) => sum + Math.exp(logProb), 0);
    const now = listed.reduce((sum, { logProb }, at) => sum + (filtered ? filtered.chanceOf(logProb, at) : 0), 0);
    const [name, model, filteredMass] = this.sums;
    name.textContent = listed.length === 1 ? "It has" : `Together, these ${listed.length}`;
    model.textContent = formatShare(Math.min(1, mass));
    filteredMass.textContent = filtered ? formatShare(Math.min(1, now)) : "";
    // The row that Tab reaches must be one that is there.
    const reachable = this.rows.find((row) => row.isShown && row.button.tabIndex === 0) ?? this.rows[0];
    for (const row of this.rows) row.button.tabIndex = row === reachable ? 0 : -1;
  }

  /** @param {Step} step */
  drawNumbers({ rank, logProb, entropy }) {
    const choices = Math.exp(entropy);
    this.numbers.rank.textContent = rank.toLocaleString("en");
    this.numbers.probability.textContent = `${formatProbability(logProb)} (${formatSigned(logProb)})`;
    this.numbers.entropy.textContent = `${entropy.toFixed(2)} nats`;
    this.numbers.choices.textContent = choices < 10 ? choices.toFixed(1) : Math.round(choices).toLocaleString("en");
  }
}
