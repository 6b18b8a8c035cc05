// A small map of the machine: its towers, with the layer that is looked at.
import { ofSize, svg } from "../../../pictures/shared/drawing.js";

/** @import { ModelColumns } from "./model_columns.js" */
/** @import { Place } from "./walk.js" */

const [MAP_WIDTH, MAP_HEIGHT, APART] = [24, 30, 6];

/** @param {ModelColumns} columns @param {Place} place */
export function smallMap(columns, { site, layer, end }) {
  const { stacks } = columns.header;
  const here = columns.stackOf(site);
  const width = stacks.length * (MAP_WIDTH + APART) - APART;
  const parts = stacks.flatMap((stack, at) => {
    const high = MAP_HEIGHT / (stack.layers + 2);
    // The input lies below the layers, the output above them.
    const shown = end === "input" ? 0 : end === "output" ? stack.layers + 1 : layer + 1;
    return Array.from({ length: stack.layers + 2 }, (_part, level) => {
      const isHere = stack === here && level === shown;
      const box = { x: at * (MAP_WIDTH + APART), y: MAP_HEIGHT - (level + 1) * high, width: MAP_WIDTH };
      return svg("rect", { ...box, height: Math.max(high - 1, 0.6), class: isHere ? "map-part here" : "map-part" });
    });
  });
  return svg("svg", { class: "small-map", ...ofSize(width, MAP_HEIGHT), "aria-hidden": "true" }, ...parts);
}
