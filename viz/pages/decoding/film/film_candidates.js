// The candidates of one step as bars, what a filter makes of them, and numbers about the distribution.
// A candidate is { id, token, logProb }. Knows nothing of attention, of the steps before and after, or of Streamlit.

const MOST_CANDIDATES = 20;

function formatShare(share) {
  if (share > 0 && share < 0.0005) return "< 0.1 %";
  return `${(100 * share).toFixed(1)} %`;
}

const formatProbability = (logProb) => formatShare(Math.exp(logProb));
const formatSigned = (value) => (value < 0 ? "−" : "") + (Number.isFinite(value) ? Math.abs(value).toFixed(2) : "∞");

class FilmCandidates {
  /**
   * `act` has what happens: force(tokenId), list(count). A step whose token is beyond the list gets a row below it,
   * for which there is room in every step, so that stepping moves nothing.
   */
  constructor(steps, act) {
    this.act = act;
    this.steps = steps;
    this.element = element("section", "candidates");
    this.list = element("ol", "bars");
    this.list.setAttribute("aria-label", "Candidates. Up and down move, Enter writes one instead and decodes on.");
    this.rows = Array.from({ length: MOST_CANDIDATES + 1 }, () => this.buildRow());
    this.list.append(...this.rows.map((row) => row.element));
    this.list.addEventListener("keydown", (event) => this.press(event));
    this.together = element("p", "together");
    this.together.append(element("span", ""), element("span", "bar-value"), element("span", "bar-value bar-now"));
    const hint = element("p", "hint muted", "Click one to write it instead and decode on.");
    hint.dataset.notInPicture = "";
    this.element.append(this.buildHead(), this.list, this.together, hint, this.buildNumbers());
  }

  buildHead() {
    const head = element("div", "candidates-head");
    this.count = element("select", "count");
    this.count.append(...Array.from({ length: MOST_CANDIDATES }, (_, i) => new Option(i + 1, i + 1)));
    this.count.addEventListener("change", () => this.act.list(Number(this.count.value)));
    const label = element("label", "count-label muted");
    label.dataset.notInPicture = "";
    label.append("best ", this.count);
    head.append(element("h3", "heading", "Candidates"), label);
    return head;
  }

  buildRow() {
    const row = {
      element: element("li", "bar-row"),
      button: element("button", "bar-button"),
      mark: element("span", "bar-mark"),
      token: tokenElement("", "token bar-token"),
      fill: element("span", "bar-fill"),
      before: element("span", "bar-before"),
      model: element("span", "bar-value"),
      now: element("span", "bar-value bar-now"),
    };
    const track = element("span", "bar-track");
    track.append(row.fill, row.before);
    row.button.type = "button";
    row.button.dataset.inPicture = "";
    row.button.append(row.mark, row.token, track, row.model, row.now);
    row.button.addEventListener("click", () => {
      if (!row.isWritten) this.act.force(row.id);
    });
    row.element.append(row.button);
    return row;
  }

  buildNumbers() {
    const list = element("dl", "numbers");
    const pair = (name, title) => {
      const value = element("dd", "");
      const box = element("div", "");
      box.title = title;
      box.append(element("dt", "muted", name), value);
      list.append(box);
      return value;
    };
    this.rank = pair("Rank", "Place of the token that was written among the whole vocabulary");
    this.probability = pair("Probability", "Of the token that was written; in brackets its natural logarithm");
    this.entropy = pair("Entropy", "How undecided the model is, over its whole vocabulary");
    this.choices = pair("Effective choices", "e to the entropy: so many equally likely tokens would leave as much open");
    return list;
  }

  /** Up and down walk the list; only one of its rows is in the way of Tab. */
  press(event) {
    const move = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!move) return;
    const shown = this.rows.filter((row) => row.isShown);
    const at = shown.findIndex((row) => row.button === event.target);
    const next = shown[Math.min(shown.length - 1, Math.max(0, at + move))];
    for (const row of shown) row.button.tabIndex = row === next ? 0 : -1;
    next.button.focus();
    event.preventDefault();
  }

  /** Show a step: its `count` best, and beside the model's probabilities those after `filtered`, if there is a filter. */
  draw(step, count, filtered) {
    const { token, logProb, chosen, rank } = step;
    const listed = step.candidates.slice(0, count).map(([id, name, value]) => ({ id, token: name, logProb: value }));
    const isBeyond = (place) => place === null || place >= count;
    const isOutside = isBeyond(chosen);
    const hasOutsiders = this.steps.some((one) => isBeyond(one.chosen));
    this.count.value = count;
    this.rows.forEach((row, at) => {
      const isLast = at === count;
      const candidate = isLast && isOutside ? { id: null, token, logProb } : listed[at];
      const place = isLast ? rank - 1 : at;
      row.element.hidden = at > count || (isLast && !hasOutsiders);
      row.isShown = candidate !== undefined && !row.element.hidden;
      this.drawRow(row, candidate, place, isLast ? isOutside : at === chosen, filtered);
    });
    this.drawSums(listed, filtered);
    this.drawNumbers(step);
  }

  drawRow(row, candidate, place, isWritten, filtered) {
    row.element.classList.toggle("empty", candidate === undefined);
    if (!candidate) return;
    const share = Math.exp(candidate.logProb);
    const chance = filtered ? filtered.chanceOf(candidate.logProb, place) : share;
    row.id = candidate.id;
    row.isWritten = isWritten;
    row.element.classList.toggle("chosen", isWritten);
    row.element.classList.toggle("left-out", chance === 0);
    row.element.classList.toggle("filtered", filtered !== null);
    row.button.setAttribute("aria-disabled", String(isWritten));
    row.button.title = isWritten ? `${candidate.token} was written (rank ${place + 1})` : `Write ${candidate.token} instead, and decode on`;
    row.mark.textContent = isWritten ? "✓" : "";
    row.token.textContent = candidate.token;
    row.fill.style.width = `${chance * 100}%`;
    row.before.style.left = `${share * 100}%`;
    row.model.textContent = formatShare(share);
    row.now.textContent = filtered === null ? "" : chance === 0 ? "out" : formatShare(chance);
  }

  drawSums(listed, filtered) {
    const mass = listed.reduce((sum, { logProb }) => sum + Math.exp(logProb), 0);
    const now = listed.reduce((sum, { logProb }, at) => sum + (filtered ? filtered.chanceOf(logProb, at) : 0), 0);
    const [name, model, filteredMass] = this.together.children;
    name.textContent = listed.length === 1 ? "It has" : `Together, these ${listed.length}`;
    model.textContent = formatShare(Math.min(1, mass));
    filteredMass.textContent = filtered ? formatShare(Math.min(1, now)) : "";
    // The row that Tab reaches must be one that is there.
    const reachable = this.rows.find((row) => row.isShown && row.button.tabIndex === 0);
    this.rows.forEach((row) => (row.button.tabIndex = row === (reachable ?? this.rows[0]) ? 0 : -1));
  }

  drawNumbers({ rank, logProb, entropy }) {
    const choices = Math.exp(entropy);
    this.rank.textContent = rank.toLocaleString("en");
    this.probability.textContent = `${formatProbability(logProb)} (${formatSigned(logProb)})`;
    this.entropy.textContent = `${entropy.toFixed(2)} nats`;
    this.choices.textContent = choices < 10 ? choices.toFixed(1) : Math.round(choices).toLocaleString("en");
  }
}
