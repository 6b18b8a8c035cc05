// Texts in which a head does little or much of what it does, each as its tokens, tinted by the weight of one row.
// Data: the payload of component.py, `HeadExamples`. Sends back the trigger `open`: { example }.
import { _ } from "../shared/messages.js";
import { mount, View } from "../shared/mount.js";
import { button, element, tokenElement } from "../shared/picture.js";

/** @typedef {{ label: string, notes: string[], query: string[], tokens: string[], weights: number[], row: number, resting: number[], found: number[] }} Example */
/** @typedef {{ examples: Example[], bins: number[], tenths: number[], low: string, high: string, texts: string, label: string }} Examples */

/** What a token is called within a running text, and whether a blank comes before it. @param {string} token @returns {[string, boolean]} */
function running(token) {
  if (token.startsWith("▁")) return [token.slice(1) || "␣", true];
  if (token.startsWith("##")) return [token.slice(2), false];
  return [token, false];
}

/** @param {Example} example */
function textOf({ query, tokens, weights, row, resting, found }) {
  // Tokens say where words begin by "▁", or by "##" where they do not.
  const begins = tokens.some((token) => token.startsWith("▁"));
  const parts = tokens.flatMap((token, at) => {
    const [name, isApart] = running(token);
    const classes = ["token"];
    if (at === row) classes.push("query");
    if (resting.includes(at)) classes.push("resting");
    if (found.includes(at)) classes.push("found");
    const weight = weights[at] ?? 0;
    const shown = tokenElement(name, classes.join(" "));
    Object.assign(shown, { style: `--share:${Math.sqrt(weight)}`, title: weight.toFixed(2) });
    return at && (begins ? isApart : !token.startsWith("##")) ? [" ", shown] : [shown];
  });
  return element("span", "text", ...query.flatMap((name) => [tokenElement(name, "token query"), " → "]), ...parts);
}

class HeadExamplesView extends View {
  /** @param {{ header: Examples }} payload */
  receive({ header: { examples, bins, tenths, low, high, texts, label } }) {
    const most = Math.max(1, ...bins);
    const columns = bins.map((count) => element("i", { style: `height:${(100 * count) / most}%` }));
    const cuts = tenths.map((part) => element("u", { style: `left:${100 * part}%` }));
    const tint = _(
      "The tint shows the square root of the weight; grey means weight at rest. Click to open the text on the Attention page.",
    );
    this.root.replaceChildren(
      element("div", { className: "bins", role: "img", ariaLabel: label }, ...columns, ...cuts),
      element("div", "ends muted", ...[low, texts, high].map((end) => element("span", "", end))),
      ...examples.map((example, number) => this.exampleElement(example, number)),
      element("p", "muted", element("span", "token query", _("query")), " ", tint),
    );
    this.root.dataset.ready = "1";
  }

  /** @param {Example} example @param {number} number */
  exampleElement(example, number) {
    const open = () => this.python.trigger("open", { example: number });
    const notes = example.notes.map((note) => element("span", "muted", note));
    const said = element("span", "notes", element("b", "", example.label), ...notes);
    return button({ className: "example", title: _("Open in Attention") }, open, said, textOf(example));
  }
}

export default mount(".head-examples", HeadExamplesView);
