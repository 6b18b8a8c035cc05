// The picture that the translation is written about, beside the film: what the step that writes gives to each patch.
import { _ } from "../../../pictures/shared/messages.js";
import { button, colourBar, element } from "../../../pictures/shared/picture.js";
import { hasPlace, paintHeat, patchAtPoint, patchBox } from "../../../pictures/shared/source_picture.js";

/** @import { Head, Tiles } from "../../../pictures/shared/head_tiles.js" */
/** @import { SourcePicture } from "../../../pictures/shared/source_picture.js" */

export class FilmPicture {
  /** Whether the mean of all heads is drawn, in place of the chosen ones. */ isOfAll = false;
  /** @type {[step: number, layer: number, heads: number[]]} */ shown = [0, 0, [0]];
  canvas = element("canvas", { role: "img" });
  near = element("div", { className: "near-patch", hidden: true, dataset: { notInPicture: "" } });
  legend = element("div");
  caption = element("p", "muted");

  /**
   * @param {SourcePicture} picture @param {Tiles} tiles over its patches @param {string[]} stops
   * @param {(patch: number | null) => void} pointAt called with the patch that a person points at
   */
  constructor(picture, tiles, stops, pointAt) {
    this.picture = picture;
    this.tiles = tiles;
    this.stops = stops;
    this.places = picture.places;
    this.toggle = button({ className: "button small", dataset: { inPicture: "" } }, () => {
      this.isOfAll = !this.isOfAll;
      this.draw(...this.shown);
    });
    const stage = element("div", "picture-stage", this.canvas, this.near);
    stage.addEventListener("pointermove", ({ clientX, clientY }) => {
      const { left, top, width, height } = stage.getBoundingClientRect();
      const patch = patchAtPoint(picture, this.places, [left, top, width, height], [clientX, clientY]);
      pointAt(patch ?? null);
    });
    stage.addEventListener("pointerleave", () => pointAt(null));
    this.element = element("div", "film-picture", stage, this.legend, this.caption, this.toggle);
  }

  /** Show what a step gives to each patch: on the mean of heads of a layer, or of all heads. @param {number} step @param {number} layer @param {number[]} heads */
  draw(step, layer, heads) {
    this.shown = [step, layer, heads];
    const { layers, heads: count } = this.tiles.header;
    const all = Array.from({ length: layers * count }, (_each, i) => [Math.floor(i / count), i % count]);
    const of = /** @type {Head[]} */ (this.isOfAll ? all : heads.map((head) => [layer, head]));
    const rows = of.map((head) => this.tiles.meanRow(head, [step]));
    const given = this.places.map((place) => rows.reduce((sum, row) => sum + row[place], 0) / rows.length);
    const top = Math.max(0, ...given);
    const share = new Map(this.places.map((place, i) => [place, top ? given[i] / top : 0]));
    paintHeat(this.canvas, this.picture, this.stops, (place) => share.get(place) ?? 0, 320);
    const said = top.toPrecision(2);
    const label = _("Colour scale: {number} from 0 (dark) to {top} (light)", { number: _("weight"), top: said });
    const marks = ["0", said].map((mark, at) => /** @type {[number, string]} */ ([at, mark]));
    this.legend.replaceChildren(colourBar(_("Weight (√ scale)"), label, this.stops, marks));
    const values = { step: step + 1, count: layers * count };
    this.canvas.ariaLabel = this.caption.textContent = this.isOfAll
      ? _("What the model attends to in the picture at step {step}, mean of all {count} heads", values)
      : _("What the model attends to in the picture at step {step}, chosen heads", values);
    this.toggle.textContent = this.isOfAll ? _("Chosen heads") : _("All heads");
  }

  /** Frame a patch that is pointed at, or none. @param {number | null} patch */
  mark(patch) {
    this.near.hidden = patch === null || !hasPlace(this.picture, patch);
    if (patch === null || this.near.hidden) return;
    const [left, top, width, height] = patchBox(this.picture, patch, [0, 0, 100, 100]);
    Object.assign(this.near.style, { left: `${left}%`, top: `${top}%`, width: `${width}%`, height: `${height}%` });
  }
}
