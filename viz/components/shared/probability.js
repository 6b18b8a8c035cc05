// @ts-check
// Probabilities as text and as a colour bar.
import { colourBar } from "./picture.js";

/** In percent; what is not certain never reads as 100 %, nor what is possible as 0 %. @param {number} probability */
export function percent(probability) {
  const value = probability * 100;
  if (value > 0 && value < 0.1) return "< 0.1 %";
  if (value < 100 && value > 99.9) return "> 99.9 %";
  return value < 9.95 || value > 99 ? `${value.toFixed(1)} %` : `${value.toFixed(0)} %`;
}

/** A colour bar from 0 to 100 %. @param {string[]} stops */
export function probabilityLegend(stops) {
  const said = "Colour scale: probability from 0, dark, to 100 percent, light";
  const marks = [0, 25, 50, 75, 100].map((tick) => /** @type {[number, string]} */ ([tick / 100, String(tick)]));
  return colourBar("Probability (%)", said, stops, marks);
}
