// The candidates of one step as bars, what a filter makes of them, and numbers about the distribution.
import { reachByTab, walkAlong } from "../../../pictures/shared/items.js";
import { _, plural, said, sentenceParts } from "../../../pictures/shared/messages.js";
import { button, element, tokenElement } from "../../../pictures/shared/picture.js";
import { onLogScale, timesLess } from "../../../pictures/shared/probability.js";

/** @import { Step } from "./decode_player.js" */
/** @import { Filtered } from "./film_distribution.js" */
/** @typedef {{ id: number | null, token: string, logProb: number }} Candidate */

const MOST_CANDIDATES = 20;

/** @param {number} share */
export function formatShare(share) {
  if (share > 0 && share < 0.0005) return "< 0.1%";
  return `${(100 * share).toFixed(1)}%`;
}

/** @param {number} logProb */
export const formatProbability = (logProb) => formatShare(Math.exp(logProb));

/** @param {number} value */
export const formatSigned = (value) =>
  (value < 0 ? "−" : "") + (Number.isFinite(value) ? Math.abs(value).toFixed(2) : "∞");

/** What stands above the bars: their scale, and what the last column is, without a filter and with one. */
const SCALE_TITLE = said("From 0.001% to 100%: each line means ten times the probability of the one before");
const [LAST_COLUMN, LAST_COLUMN_FILTERED] = [said("p relative to ✓"), said("sampled")];

/** What is said of a step beside its candidates, and what that means. */
const EQUALLY = said("e to the power of the entropy: this many equally probable tokens would be equally uncertain");
const NUMBERS = [
  [said("Rank"), said("Rank of the written token in the whole vocabulary")],
  [said("Probability"), said("Probability of the written token; in brackets its natural logarithm")],
  [said("Entropy"), said("How uncertain the model is, over its whole vocabulary")],
  [said("Effective choices"), EQUALLY],
];

/** One candidate: its token, its probability as a bar, and the same after the filter. */
class CandidateRow {
  /** @type {number | null} */ id = null;
  isWritten = false;
  isShown = false;
  mark = element("span", "bar-mark");
  token = tokenElement("", "token bar-token");
  fill = element("span", "bar-fill");
  before = element("span", "bar-before");
  model = element("span", "bar-value");
  now = element("span", "bar-value bar-now");

  /** @param {(tokenId: number) => void} force */
  constructor(force) {
    const track = element("span", "bar-track", this.fill, this.before);
    const parts = [this.mark, this.token, track, this.model, this.now];
    const act = () => {
      if (!this.isWritten && this.id !== null) force(this.id);
    };
    this.button = button({ className: "bar-button", dataset: { inPicture: "" } }, act, ...parts);
    this.element = element("li", { className: "bar-row", role: "presentation" }, this.button);
  }

  /**
   * `written` is the token that was written.
   * @param {Candidate} candidate @param {number} rank @param {Step} written @param {boolean} isWritten
   * @param {Filtered | null} filtered
   */
  draw({ id, token, logProb }, rank, written, isWritten, filtered) {
    const share = Math.exp(logProb);
    const chance = filtered ? filtered.chanceOf(logProb, rank) : share;
    this.id = id;
    this.isWritten = isWritten;
    this.element.classList.toggle("chosen", isWritten);
    this.element.classList.toggle("left-out", chance === 0);
    this.element.classList.toggle("filtered", filtered !== null);
    this.button.ariaDisabled = String(isWritten);
    const ratio = isWritten ? "" : timesLess(logProb, written.logProb);
    this.button.title = isWritten
      ? _("{token} was written (rank {rank})", { token, rank: rank + 1 })
      : this.wouldWrite(token, ratio, written.token);
    this.mark.textContent = isWritten ? "✓" : "";
    this.token.textContent = token;
    this.fill.style.width = `${onLogScale(chance) * 100}%`;
    this.before.style.left = `${onLogScale(share) * 100}%`;
    this.model.textContent = formatShare(share);
    this.now.textContent = filtered ? formatShare(chance) : ratio;
  }

  /** What a click does. @param {string} token @param {string} ratio of its probability @param {string} written to that of this one */
  wouldWrite(token, ratio, written) {
    const values = { token, ratio, written };
    if (!ratio) return _("Write {token} instead and continue decoding", values);
    return _("Write {token} instead and continue decoding; its probability relative to {written}: {ratio}", values);
  }
}

export class FilmCandidates {
  /**
   * A token beyond the list has a row of its own. `note` is what is to be known of this model's probabilities.
   * @param {Step[]} steps @param {string} note @param {{ force(id: number): void, list(count: number): void }} act
   */
  constructor(steps, note, act) {
    this.steps = steps;
    const numbers = Array.from({ length: MOST_CANDIDATES }, (_count, i) => new Option(String(i + 1)));
    const onchange = () => act.list(Number(this.count.value));
    this.count = element("select", { className: "count", onchange }, ...numbers);
    const label = { className: "count-label muted", dataset: { notInPicture: "" } };
    this.rows = Array.from({ length: MOST_CANDIDATES + 1 }, () => new CandidateRow(act.force));
    this.buttons = this.rows.map((row) => row.button);
    const ariaLabel = _("Candidates. Up and down move, Enter writes one instead and continues decoding.");
    const look = { className: "bars", role: "toolbar", ariaOrientation: "vertical", ariaLabel };
    const list = element("ol", look, ...this.rows.map((row) => row.element));
    const shown = () => this.rows.filter((row) => row.isShown).map((row) => row.button);
    walkAlong(list, shown, ["ArrowUp", "ArrowDown"]);
    this.sums = [element("span"), element("span", "bar-value"), element("span", "bar-value bar-now")];
    this.lastColumn = element("span", "bar-value");
    const scale = element("span", { className: "bars-scale", title: _(SCALE_TITLE) }, _("log scale"));
    const hint = { className: "hint muted", dataset: { notInPicture: "" } };
    this.numbers = NUMBERS.map(() => element("dd"));
    const boxes = NUMBERS.map(([name, title], i) =>
      element("div", { title: _(title) }, element("dt", "muted", _(name)), this.numbers[i]),
    );
    const best = sentenceParts(_("top {count}"), { count: this.count });
    const head = [element("h3", "heading", _("Candidates")), element("label", label, ...best)];
    const columns = element("p", { className: "bars-head muted", ariaHidden: "true" }, scale, this.lastColumn);
    const bars = [element("div", "candidates-head", ...head), columns, list, element("p", "together", ...this.sums)];
    const how = element("p", hint, _("Click one to write it instead and continue decoding."));
    const below = [
      how,
      element("dl", "numbers", ...boxes),
      element("p", { className: "hint muted", hidden: !note }, note),
    ];
    this.element = element("section", "candidates", ...bars, ...below);
  }

  /** Mark the candidates that are one of these tokens. @param {string[]} tokens */
  mark(tokens) {
    for (const { element, token } of this.rows) element.classList.toggle("pointed", tokens.includes(token.textContent));
  }

  /**
   * Show a step: its `count` best, and beside the model's probabilities those after the filter, if there is one.
   * @param {Step} step @param {number} count @param {Filtered | null} filtered
   */
  draw(step, count, filtered) {
    const { token, logProb, chosen, rank } = step;
    const listed = step.candidates.slice(0, count).map(([id, name, value]) => ({ id, token: name, logProb: value }));
    const isBeyond = (/** @type {number | null} */ at) => at === null || at >= count;
    const isOutside = isBeyond(chosen);
    const hasOutsiders = this.steps.some((other) => isBeyond(other.chosen));
    this.count.value = String(count);
    this.lastColumn.textContent = _(filtered ? LAST_COLUMN_FILTERED : LAST_COLUMN);
    this.rows.forEach((row, at) => {
      const isLast = at === count;
      const candidate = isLast && isOutside ? { id: null, token, logProb } : listed[at];
      row.element.hidden = at > count || (isLast && !hasOutsiders);
      row.isShown = candidate !== undefined && !row.element.hidden;
      row.element.classList.toggle("empty", candidate === undefined);
      if (candidate) row.draw(candidate, isLast ? rank - 1 : at, step, isLast ? isOutside : at === chosen, filtered);
    });
    this.drawSums(listed, filtered);
    this.drawNumbers(step);
  }

  /** @param {Candidate[]} listed @param {Filtered | null} filtered */
  drawSums(listed, filtered) {
    const mass = listed.reduce((sum, { logProb }) => sum + Math.exp(logProb), 0);
    const now = listed.reduce((sum, { logProb }, at) => sum + (filtered ? filtered.chanceOf(logProb, at) : 0), 0);
    const [name, model, filteredMass] = this.sums;
    name.textContent = plural("This one", "These {count} together", listed.length);
    model.textContent = formatShare(Math.min(1, mass));
    filteredMass.textContent = filtered ? formatShare(Math.min(1, now)) : "";
    // The row that Tab reaches must be one that is there.
    const reachable = this.rows.find((row) => row.isShown && row.button.tabIndex === 0) ?? this.rows[0];
    reachByTab(this.buttons, reachable.button);
  }

  /** @param {Step} step */
  drawNumbers({ rank, logProb, entropy }) {
    const choices = Math.exp(entropy);
    const texts = [
      rank.toLocaleString("en"),
      `${formatProbability(logProb)} (${formatSigned(logProb)})`,
      _("{value} nats", { value: entropy.toFixed(2) }),
      choices < 10 ? choices.toFixed(1) : Math.round(choices).toLocaleString("en"),
    ];
    for (const [i, text] of texts.entries()) this.numbers[i].textContent = text;
  }
}
