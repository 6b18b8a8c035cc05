// The sentence as it is written: a column for each step, above the token it reads, below the token it writes. Above it
// what the chosen heads look at in this step: the tokens of the source, tinted, with lines from the token that is written.
import { scrolledTo } from "../../../pictures/shared/items.js";
import { _, sentenceParts } from "../../../pictures/shared/messages.js";
import { directionOf, element, tokenElement } from "../../../pictures/shared/picture.js";
import { WordLinks } from "../../../pictures/shared/word_links.js";

/** @import { Tiles } from "../../../pictures/shared/head_tiles.js" */
/** @import { PlayerHeader } from "./decode_player.js" */

/** Whether rows stand for what they write. @param {PlayerHeader} header */
export const rowsWrite = ({ axes: [rows, , own] }) => rows.ahead > own.ahead;

export class FilmSentence {
  shown = -1;
  height = 0;
  /** Upper and lower edge of each column, if some are out of sight. @type {number[][] | null} */ edges = null;

  links = new WordLinks();
  /** What is given to each token of the source by the heads that are shown. @type {number[]} */ shares = [];

  /**
   * `goTo` is called when a column is clicked, `pointKey` with the token of the source that a person points at, or null,
   * `pointStep` with the step.
   * @param {PlayerHeader} header @param {Tiles} tiles over the source
   * @param {{ goTo(step: number): void, pointKey(key: number | null): void, pointStep(step: number | null): void }} act
   */
  constructor(header, tiles, { goTo, pointKey, pointStep }) {
    const { targetTokens, sourceTokens, steps } = header;
    this.header = header;
    this.tiles = tiles;
    this.sources = sourceTokens.map((token, key) => {
      const chip = tokenElement(token, "token chip source");
      chip.onpointerenter = () => pointKey(key);
      chip.onpointerleave = () => pointKey(null);
      return chip;
    });
    const looks = element("span", "side source-side", _("attends to"));
    this.source = element("div", "columns sources", looks, ...this.sources);
    this.columns = steps.map(({ token, chosen }, step) => {
      // What is not the model's first choice was forced or drawn.
      const written = tokenElement(token, `token chip written${chosen === 0 ? "" : " other"}`);
      const hears = { onpointerenter: () => pointStep(step), onpointerleave: () => pointStep(null) };
      const look = { className: "column future", onclick: () => goTo(step), ...hears };
      return element("div", look, tokenElement(targetTokens[step], "token chip read"), written);
    });
    const sides = [_("reads"), _("writes")].map((side) => element("span", "side", side));
    const className = rowsWrite(header) ? "columns rows-write" : "columns rows-read";
    this.line = element("div", className, element("div", "column names", ...sides), ...this.columns);
    this.source.dir = directionOf(sourceTokens);
    this.line.dir = directionOf(steps.map(({ token }) => token));
    this.caption = element("p", "caption muted");
    this.element = element("div", "sentence", this.source, this.line, this.caption);
    this.element.append(this.links.element);
  }

  /** Show what these heads of a layer give from the row of a step that is written, on the mean. @param {number} layer @param {number[]} heads @param {number} [step] */
  link(layer, heads, step = this.shown) {
    const from = Math.min(step, this.shown);
    const rows = heads.map((head) => this.tiles.rowOf([layer, head], from));
    const shares = this.sources.map((_chip, key) => rows.reduce((sum, row) => sum + row[key], 0) / rows.length);
    this.shares = shares;
    const { colours } = this.header;
    this.element.style.setProperty("--link", colours[heads[0] % colours.length]);
    for (const [key, chip] of this.sources.entries()) chip.style.setProperty("--share", shares[key].toFixed(3));
    // Where not all of it is in sight, lines would lead nowhere.
    const isWhole = this.source.scrollHeight <= this.source.clientHeight + 2;
    const written = /** @type {HTMLElement} */ (this.columns[from].lastElementChild);
    this.line.onscroll = () => this.link(layer, heads, step);
    this.links.draw(this.element, isWhole ? [written] : [], this.sources, shares, 1);
  }

  /** Mark tokens of the source, and those that rows stand for. @param {number[]} keys @param {number[]} steps */
  mark(keys, steps) {
    for (const [index, chip] of this.sources.entries()) chip.classList.toggle("pointed", keys.includes(index));
    for (const [step, column] of this.columns.entries()) column.classList.toggle("pointed", steps.includes(step));
  }

  /** @param {number} step */
  draw(step) {
    // Only the columns between the last step and this one change.
    const last = Math.max(step, this.shown);
    for (let i = Math.max(0, Math.min(step, this.shown)); i <= last; i++) {
      this.columns[i].classList.toggle("future", i > step);
      this.columns[i].classList.toggle("now", i === step);
    }
    this.shown = step;
    const { targetTokens, steps } = this.header;
    const { token, chosen, candidates } = steps[step];
    const values = {
      row: String(step + 1),
      read: tokenElement(targetTokens[step], "token chip read"),
      taken: tokenElement(token, "token chip written now"),
      best: tokenElement(candidates[0][1], "token chip"),
    };
    const sentence =
      chosen === 0
        ? _("Row {row}: the decoder reads {read} and predicts {taken}.")
        : _("Row {row}: the decoder reads {read} and predicts {best}; {taken} is written instead.");
    this.caption.replaceChildren(...sentenceParts(sentence, values));
  }

  /** Measure the columns, once and not at every step. */
  resize() {
    this.height = this.line.clientHeight;
    const edges = this.columns.map(({ offsetTop, offsetHeight }) => [offsetTop, offsetTop + offsetHeight]);
    this.edges = this.line.scrollHeight > this.height ? edges : null;
  }

  /** Keep the current column in sight where the sentence takes more lines than there is room for. */
  follow() {
    if (!this.edges) return;
    const [top, bottom] = this.edges[this.shown];
    if (top < this.line.scrollTop || bottom > this.line.scrollTop + this.height)
      this.line.scrollTop = bottom - this.height;
  }

  /** Of the moments of a sound, which are the first tokens of the source, the one that most is given to; null without any. @param {number} moments */
  attended(moments) {
    const heard = this.shares.slice(0, moments);
    return heard.length ? heard.indexOf(Math.max(...heard)) : null;
  }

  /** Scroll the source so far that a token of it is in sight. @param {number | null} key */
  show(key) {
    if (key === null) return;
    const { offsetTop, offsetHeight } = this.sources[key];
    this.source.scrollTop = scrolledTo(
      this.source.scrollTop,
      this.source.clientHeight,
      offsetTop,
      offsetTop + offsetHeight,
    );
  }
}
