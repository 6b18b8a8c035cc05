// @ts-check
// Two curves over all steps: the probability of the token written, and the entropy.
import { StepChart } from "../../../pictures/player/step_chart.js";
import { _, said } from "../../../pictures/shared/messages.js";
import { formatProbability } from "./film_candidates.js";

/** @import { Tooltip } from "../../../pictures/shared/picture.js" */
/** @import { Lane } from "../../../pictures/player/step_chart.js" */
/** @import { Step } from "./decode_player.js" */

const LANE_HEIGHT = 40;
const LANE_NAMES = 132;

const CURVE_LABEL = said(
  "Over all steps: the probability of the written token, and the entropy. Click to go to a step.",
);

/** `goTo` hears of clicks and drags, `point` of the step that a person points at. @param {Step[]} steps @param {Tooltip} tooltip @param {(step: number) => void} goTo @param {(step: number | null) => void} point */
export function filmCurve(steps, tooltip, goTo, point) {
  const most = Math.max(1, ...steps.map(({ entropy }) => entropy));
  const lane = (
    /** @type {string} */ name,
    /** @type {string} */ top,
    /** @type {string} */ kind,
    /** @type {number[]} */ shares,
  ) => /** @type {Lane} */ ({ name, top, bottom: "0", height: LANE_HEIGHT, lines: [{ shares, kind, isMarked: true }] });
  const probabilities = steps.map(({ logProb }) => Math.exp(logProb));
  const entropies = steps.map(({ entropy }) => entropy / most);
  return new StepChart({
    label: _(CURVE_LABEL),
    lanes: [
      lane(_("Probability"), "100%", "probability", probabilities),
      lane(_("Entropy"), _("{value} nats", { value: most.toFixed(1) }), "entropy", entropies),
    ],
    places: steps.map((_step, step) => (step + 0.5) / steps.length),
    slot: 1 / steps.length,
    left: LANE_NAMES,
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
