// The sentence as it is written, a line that scrolls with the step: a column for each, above the token it reads, below the
// token it writes. Above it, in a line too, the source, tinted by what the chosen heads look at, with lines to it.
import { _, sentenceParts } from "../../../pictures/shared/messages.js";
import { directionOf, element, tokenElement, zoomOf } from "../../../pictures/shared/picture.js";
import { WordLinks } from "../../../pictures/shared/word_links.js";

/** @import { Tiles } from "../../../pictures/shared/head_tiles.js" */
/** @import { PlayerHeader } from "./decode_player.js" */

/** Whether rows stand for what they write. @param {PlayerHeader} header */
export const rowsWrite = ({ axes: [rows, , own] }) => rows.ahead > own.ahead;

/** So much is in sight on either side of the word that is shown, in CSS pixels. */
const ASIDE = 60;

/** Scroll a line sideways so far that a word of it is in sight. @param {HTMLElement} line @param {HTMLElement} word */
function bring(line, word) {
  const [frame, box] = [line.getBoundingClientRect(), word.getBoundingClientRect()];
  const aside = ASIDE * zoomOf(line);
  const by = Math.min(0, box.left - frame.left - aside) || Math.max(0, box.right - frame.right + aside);
  if (by) line.scrollLeft += by / zoomOf(line);
}

/** Whether a word of a line is in sight, between its label, which does not scroll, and its end. @param {HTMLElement} word */
function isInSight(word) {
  const line = /** @type {HTMLElement} */ (word.parentElement);
  const [frame, label, box] = [line, line.children[0], word].map((part) => part.getBoundingClientRect());
  const middle = (box.left + box.right) / 2;
  return line.dir === "rtl"
    ? frame.left < middle && middle < Math.min(frame.right, label.left)
    : Math.max(frame.left, label.right) < middle && middle < frame.right;
}

export class FilmSentence {
  shown = -1;
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
    const draw = () => this.links.draw(this.element, [this.columns[from]], this.sources, shares, 1, isInSight);
    this.line.onscroll = this.source.onscroll = draw;
    draw();
    const isCut = [this.line, this.source].some(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 2);
    this.element.classList.toggle("cut", isCut);
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

  /** Go to the beginning of both lines, from where `follow` scrolls no further than it must: they may be wider now. */
  begin() {
    for (const line of [this.line, this.source]) line.scrollLeft = 0;
  }

  /** Keep in sight what is read and written in this step, and what most is given to. */
  follow() {
    bring(this.line, this.columns[this.shown]);
    bring(this.source, this.sources[this.attended(this.sources.length) ?? 0]);
  }

  /** Of the moments of a sound, which are the first tokens of the source, the one that most is given to; null without any. @param {number} moments */
  attended(moments) {
    const heard = this.shares.slice(0, moments);
    return heard.length ? heard.indexOf(Math.max(...heard)) : null;
  }
}
