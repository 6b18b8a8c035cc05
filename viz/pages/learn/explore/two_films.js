// Two films of one decoder that stand at the same position: over a reference (teacher forcing), and over its own words.
// Data: the payload of tab.py. Sends back the state `view`: { step, digest, command }.
import { PlayerView } from "../../../pictures/player/player_view.js";
import { _ } from "../../../pictures/shared/messages.js";
import { mount } from "../../../pictures/shared/mount.js";
import { element, tokenElement } from "../../../pictures/shared/picture.js";
import { percent } from "../../../pictures/shared/probability.js";

/** @import { Command } from "../../../pictures/player/player_view.js" */
/**
 * @typedef {{ read: string, asked: string, probability: number, favourite: string, favourite_probability: number }} Forced
 * @typedef {{ read: string, written: string, probability: number }} Free
 * @typedef {{ step: number }} FilmsState
 * @typedef {{
 *   forced: Forced[], free: Free[], apart: string, name: string, digest: string, command: Command<FilmsState>,
 * }} FilmsHeader
 * One cell of a row: its token, perhaps how likely it is, and whether it is framed.
 * @typedef {{ text: string, probability?: number, differs?: boolean }} Cell
 */

/** @extends {PlayerView<FilmsState, FilmsHeader>} */
class TwoFilms extends PlayerView {
  /** The cells of every position. @type {HTMLElement[][]} */ columns = [];

  start() {
    super.start();
    this.root.ariaLabel = _("Two films of the decoder. Left and right arrow keys step, Space plays.");
  }

  get count() {
    return Math.max(this.header.forced.length, this.header.free.length);
  }

  build() {
    const { forced, free, name, apart } = this.header;
    this.root.style.setProperty("--apart", apart);
    const nameOf = (/** @type {number} */ step) =>
      _("Position {number} of {count}", { number: step + 1, count: this.count });
    this.buildTransport(nameOf, () => `${name}-position${this.state.step}`);
    this.columns = Array.from({ length: this.count }, () => []);
    this.root.replaceChildren(
      this.transport.element,
      this.filmOf(_("Teacher forcing: it reads the reference"), {
        [_("reads")]: forced.map(({ read }) => ({ text: read })),
        [_("should write")]: forced.map(({ asked, probability }) => ({ text: asked, probability })),
        [_("would write")]: forced.map(({ asked, favourite, favourite_probability: probability }) => ({
          text: favourite,
          probability,
          differs: favourite !== asked,
        })),
      }),
      this.filmOf(_("Free running: it reads what it wrote"), {
        [_("reads")]: free.map(({ read }, at) => ({ text: read, differs: read !== forced[at]?.read })),
        [_("writes")]: free.map(({ written, probability }) => ({ text: written, probability })),
      }),
      this.announcement,
    );
  }

  /** @param {string} heading @param {Record<string, Cell[]>} rows */
  filmOf(heading, rows) {
    const lines = Object.entries(rows).map(([name, cells]) =>
      element("tr", {}, element("th", { scope: "row" }, name), ...cells.map((cell, at) => this.cellOf(cell, at))),
    );
    const table = element("table", { ariaLabel: heading }, element("tbody", {}, ...lines));
    return element("section", "film-of", element("h3", {}, heading), element("div", "positions", table));
  }

  /** @param {Cell} cell @param {number} at */
  cellOf({ text, probability, differs }, at) {
    const share = probability === undefined ? [] : [element("small", {}, percent(probability))];
    const look = { className: differs ? "differs" : "", onclick: () => this.goTo(at) };
    const cell = element("td", look, tokenElement(text), ...share);
    this.columns[at].push(cell);
    return cell;
  }

  draw() {
    const { step } = this.state;
    this.transport.draw(step);
    for (const [at, cells] of this.columns.entries()) {
      for (const cell of cells) {
        cell.classList.toggle("now", at === step);
        cell.classList.toggle("later", at > step);
      }
    }
    for (const cell of this.columns[step]) this.bringIntoSight(cell);
    this.announcement.textContent = this.announced(step);
    Object.assign(this.root.dataset, { step });
  }

  /** Scroll the row, never the page. @param {HTMLElement} cell */
  bringIntoSight(cell) {
    const box = cell.closest(".positions");
    if (box) box.scrollLeft = cell.offsetLeft - (box.clientWidth - cell.offsetWidth) / 2;
  }

  /** @param {number} step */
  announced(step) {
    const forced = this.header.forced[step];
    const free = this.header.free[step];
    const parts = [_("Position {number}.", { number: step + 1 })];
    if (forced) parts.push(_("With teacher forcing it reads {read} and would write {favourite}.", { ...forced }));
    if (free) parts.push(_("Running freely it reads {read} and writes {written}.", { ...free }));
    return parts.join(" ");
  }
}

export default mount(".two-films", TwoFilms);
