// The candidates of one decoding step as bars, and three numbers about their distribution.
// Knows nothing of attention, of the steps before and after, or of Streamlit.

function formatProbability(logProb) {
  const percent = Math.exp(logProb) * 100;
  return percent < 0.05 ? "< 0.1 %" : `${percent.toFixed(1)} %`;
}

const formatSigned = (value) => (value < 0 ? "−" : "") + Math.abs(value).toFixed(2);

class CandidateBars {
  constructor(steps) {
    this.element = element("section", "candidates");
    const heading = element("h3", "heading", "Candidates for the next token");
    this.element.append(heading, this.buildBars(steps), this.buildNumbers());
  }

  /** As many rows as the fullest step needs, so that stepping moves nothing up or down. */
  buildBars(steps) {
    const rows = Math.max(...steps.map(({ candidates, chosen }) => candidates.length + (chosen === null ? 1 : 0)));
    const list = element("ol", "bars");
    this.rows = Array.from({ length: rows }, () => {
      const row = {
        element: element("li", "bar-row"),
        mark: element("span", "bar-mark"),
        token: tokenElement("", "token bar-token"),
        fill: element("span", "bar-fill"),
        value: element("span", "bar-value"),
      };
      const track = element("span", "bar-track");
      track.append(row.fill);
      row.element.append(row.mark, row.token, track, row.value);
      list.append(row.element);
      return row;
    });
    return list;
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
    this.logProb = pair("Log-probability", "Natural logarithm of the probability of the token that was written");
    this.entropy = pair("Entropy", "How undecided the model is, over its whole vocabulary");
    this.choices = pair("Effective choices", "e to the entropy: so many equally likely tokens would leave as much open");
    return list;
  }

  draw({ token, logProb, entropy, candidates, chosen }) {
    // A token that was forced may be none of the candidates; it then stands below them.
    const shown = chosen === null ? [...candidates, [token, logProb]] : candidates;
    const written = chosen ?? candidates.length;
    this.rows.forEach((row, at) => {
      const [name, value] = shown[at] ?? ["", -Infinity];
      const isWritten = at === written;
      row.element.classList.toggle("empty", at >= shown.length);
      row.element.classList.toggle("chosen", isWritten);
      row.element.title = isWritten ? `${name} was written` : "";
      row.mark.textContent = isWritten ? "✓" : "";
      row.token.textContent = name;
      row.token.title = name;
      row.fill.style.width = `${Math.exp(value) * 100}%`;
      row.value.textContent = formatProbability(value);
    });
    const choices = Math.exp(entropy);
    this.logProb.textContent = formatSigned(logProb);
    this.entropy.textContent = `${entropy.toFixed(2)} nats`;
    this.choices.textContent = choices < 10 ? choices.toFixed(1) : String(Math.round(choices));
  }
}
