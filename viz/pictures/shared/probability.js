// Probabilities as text and as a colour bar.
import { _ } from "./messages.js";
import { colourBar } from "./picture.js";

/** In percent; what is not certain never reads as 100 %, nor what is possible as 0 %. @param {number} probability */
export function percent(probability) {
  const value = probability * 100;
  if (value > 0 && value < 0.1) return "< 0.1%";
  if (value < 100 && value > 99.9) return "> 99.9%";
  return value < 9.95 || value > 99 ? `${value.toFixed(1)}%` : `${value.toFixed(0)}%`;
}

/** Below this every probability stands at the left end of a logarithmic scale. */
const LEAST_ON_SCALE = 1e-5;

/** Where a probability stands on a logarithmic scale: 0 for 0.001 % and less, 1 for certainty. @param {number} probability */
export const onLogScale = (probability) =>
  probability > LEAST_ON_SCALE ? 1 - Math.log10(probability) / Math.log10(LEAST_ON_SCALE) : 0;

/**
 * How many times less, or more, likely one token is than another, as text: "230 × less"; "" where neither is by 5 %, or
 * one of them is impossible.
 * @param {number} logProb @param {number} other both natural logarithms
 */
export function timesLess(logProb, other) {
  const times = Math.exp(Math.abs(other - logProb));
  if (!Number.isFinite(times) || times < 1.05) return "";
  const digits = { maximumSignificantDigits: 2 };
  const shown = times < 1e6 ? times.toLocaleString("en", digits) : _("> 1 million");
  return logProb < other ? _("{times} × less", { times: shown }) : _("{times} × more", { times: shown });
}

/** A colour bar from 0 to 100 %. @param {string[]} stops */
export function probabilityLegend(stops) {
  const said = _("Colour scale: probability from 0% (dark) to 100% (light)");
  const marks = [0, 25, 50, 75, 100].map((tick) => /** @type {[number, string]} */ ([tick / 100, String(tick)]));
  return colourBar(_("Probability (%)"), said, stops, marks);
}
