// Temperature, top k and top p of one step, as the model samples: on the best log-probabilities as they are, and on the
// rest in bins. Over all steps: the curves of what was written.

import { StepChart } from "../../../pictures/player/step_chart.js";
import { _, said } from "../../../pictures/shared/messages.js";
import { formatProbability } from "./film_candidates.js";

/** @import { Step } from "./decode_player.js" */
/** @import { Tooltip } from "../../../pictures/shared/picture.js" */

/**
 * Groups of equally likely tokens, best first.
 * @typedef {{ counts: number[], logProbs: number[] }} Distribution
 *
 * What a filter leaves: how many tokens, what the model itself gives them, the entropy of the new distribution in nats,
 * and a token's new probability, 0 for one left out; `rank` counts from 0.
 * @typedef {{
 *   kept: number, mass: number, entropy: number, chanceOf(logProb: number, rank: number): number,
 * }} Filtered
 */

/**
 * The distribution of a step: each of the best tokens is a group of its own. `numbers` are best, counts and centres, each
 * for all steps, as component.py packs them.
 * @param {{ numBest: number, numBins: number, steps: unknown[] }} sizes @param {Float32Array} numbers @param {number} step
 * @returns {Distribution}
 */
export function distributionAt({ numBest, numBins, steps: { length } }, numbers, step) {
  const part = (/** @type {number} */ before, /** @type {number} */ size) =>
    numbers.subarray(before + step * size, before + (step + 1) * size);
  const best = part(0, numBest);
  const binCounts = part(length * numBest, numBins);
  const centres = part(length * (numBest + numBins), numBins);
  const used = [...binCounts.keys()].filter((bin) => binCounts[bin] > 0);
  return {
    counts: [...best.map(() => 1), ...used.map((bin) => binCounts[bin])],
    logProbs: [...best, ...used.map((bin) => centres[bin])],
  };
}

/**
 * What may be drawn of a distribution, and by what chance. `temperature` divides; `topK` keeps that many tokens with any
 * that equal the last (0: all); of what is left, `topP` keeps the fewest that hold that share.
 * @param {Distribution} distribution @param {{ temperature: number, topK: number, topP: number }} filter
 * @returns {Filtered}
 */
export function filterDistribution({ counts, logProbs }, { temperature, topK, topP }) {
  const shareOf = (/** @type {number} */ logProb) => Math.exp((logProb - logProbs[0]) / temperature);
  const shares = logProbs.map(shareOf);
  const left = keepTopK(counts, logProbs, topK);
  const whole = sumOver(left, shares);
  if (topP < 1) keepTopP(left, shares, topP * whole);
  const total = sumOver(left, shares);
  const kept = left.reduce((sum, count) => sum + count, 0);
  let entropy = 0;
  left.forEach((count, i) => {
    const chance = shares[i] / total;
    if (count && chance > 0) entropy -= count * chance * Math.log(chance);
  });
  return {
    kept,
    mass: sumOver(left, logProbs.map(Math.exp)),
    entropy: Math.max(0, entropy),
    chanceOf: (logProb, rank) => (rank < kept ? shareOf(logProb) / total : 0),
  };
}

/** @param {number[]} counts @param {number[]} values */
const sumOver = (counts, values) => counts.reduce((sum, count, i) => (count ? sum + count * values[i] : sum), 0);

/** @param {number[]} counts @param {number[]} logProbs @param {number} topK */
function keepTopK(counts, logProbs, topK) {
  if (!topK) return [...counts];
  let room = topK;
  let least = -Infinity;
  return counts.map((count, i) => {
    const taken = Math.min(count, room);
    room -= taken;
    if (taken) least = logProbs[i];
    return taken === 0 && logProbs[i] === least ? count : taken;
  });
}

/**
 * A token stays if those before it do not hold `enough` yet; the first one always does.
 * @param {number[]} left @param {number[]} shares @param {number} enough
 */
function keepTopP(left, shares, enough) {
  let before = 0;
  left.forEach((count, i) => {
    const fits = shares[i] > 0 ? Math.ceil((enough - before) / shares[i]) : count;
    left[i] = before < enough || i === 0 ? Math.min(count, Math.max(1, fits)) : 0;
    before += left[i] * shares[i];
  });
}

const LANE_HEIGHT = 40;
const LANE_NAMES = 132;

const CURVE_LABEL = said(
  "Over all steps: the probability of the written token, and the entropy. Click to go to a step.",
);

/** `goTo` hears of clicks and drags, `point` of the step that a person points at. @param {Step[]} steps @param {Tooltip} tooltip @param {(step: number) => void} goTo @param {(step: number | null) => void} point */
export function filmCurve(steps, tooltip, goTo, point) {
  const most = Math.max(1, ...steps.map(({ entropy }) => entropy));
  /** @type {[string, string, string, number[]][]} */
  const kinds = [
    [_("Probability"), "100%", "probability", steps.map(({ logProb }) => Math.exp(logProb))],
    [
      _("Entropy"),
      _("{value} nats", { value: most.toFixed(1) }),
      "entropy",
      steps.map(({ entropy }) => entropy / most),
    ],
  ];
  const lanes = kinds.map(([name, top, kind, shares]) => {
    return { name, top, bottom: "0", height: LANE_HEIGHT, lines: [{ shares, kind, isMarked: true }] };
  });
  const places = steps.map((_step, step) => (step + 0.5) / steps.length);
  return new StepChart({
    ...{ label: _(CURVE_LABEL), lanes, places, slot: 1 / steps.length, left: LANE_NAMES },
    goTo,
    tell: (place, step) => {
      const { token, logProb, entropy } = steps[step];
      const numbers = { probability: formatProbability(logProb), entropy: entropy.toFixed(2) };
      const note = _("probability {probability} · entropy {entropy} nats", numbers);
      point(step);
      tooltip.show(place, _("Step {step} writes", { step: step + 1 }), token, null, note);
    },
    leave: () => {
      point(null);
      tooltip.hide();
    },
  });
}
