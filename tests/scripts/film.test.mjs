// The pure parts of the film: filters of a distribution, texts of probabilities, sizes, and where sliders stand.
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatProbability, formatShare, formatSigned } from "../../viz/pages/decoding/film/film_candidates.js";
import { distributionAt, filterDistribution } from "../../viz/pages/decoding/film/film_distribution.js";
import { isFilter, stopOf } from "../../viz/pages/decoding/film/film_filters.js";
import { cellAt } from "../../viz/pages/decoding/film/film_strip.js";
import { timesLess } from "../../viz/pictures/shared/probability.js";

const near = (found, wanted) => assert.ok(Math.abs(found - wanted) < 1e-6, `${found} is not ${wanted}`);
const logs = (...probabilities) => probabilities.map(Math.log);
const all = { temperature: 1, topK: 0, topP: 1 };
/** Of one token with 0.4, of two with 0.2 each, and of four with 0.05 each. */
const grouped = { counts: [1, 2, 4], logProbs: logs(0.4, 0.2, 0.05) };

test("steps are read from best, counts and centres, and empty bins are left out", () => {
  const numbers = new Float32Array([-1, -2, -3, -4, 0, 5, 6, 0, -7, -8, -9, -10]);
  const at = (step) => distributionAt({ numBest: 2, numBins: 2, steps: [0, 1] }, numbers, step);
  assert.deepEqual(at(0), { counts: [1, 1, 5], logProbs: [-1, -2, -8] });
  assert.deepEqual(at(1), { counts: [1, 1, 6], logProbs: [-3, -4, -9] });
});

test("without a filter every token keeps its probability", () => {
  const { kept, mass, entropy, chanceOf } = filterDistribution(grouped, all);
  assert.equal(kept, 7);
  near(mass, 1);
  near(chanceOf(Math.log(0.2), 1), 0.2);
  near(entropy, -(0.4 * Math.log(0.4) + 0.4 * Math.log(0.2) + 0.2 * Math.log(0.05)));
});

test("a temperature below 1 sharpens, above 1 flattens", () => {
  const best = (temperature) => filterDistribution(grouped, { ...all, temperature }).chanceOf(Math.log(0.4), 0);
  near(best(0.5), 0.16 / (0.16 + 2 * 0.04 + 4 * 0.0025));
  assert.ok(best(0.5) > best(1) && best(1) > best(2));
});

test("top k keeps any that equal the last one, and leaves out the rest", () => {
  const { kept, mass, chanceOf } = filterDistribution(grouped, { ...all, topK: 2 });
  assert.equal(kept, 2);
  near(mass, 0.6);
  near(chanceOf(Math.log(0.4), 0), 0.4 / 0.6);
  assert.equal(chanceOf(Math.log(0.05), 3), 0);
  const equal = { counts: [1, 1, 1, 1], logProbs: logs(0.4, 0.2, 0.2, 0.2) };
  assert.equal(filterDistribution(equal, { ...all, topK: 2 }).kept, 4);
});

test("top p keeps the fewest that hold the share, and always the best one", () => {
  assert.equal(filterDistribution(grouped, { ...all, topP: 0.01 }).kept, 1);
  assert.equal(filterDistribution(grouped, { ...all, topP: 0.41 }).kept, 2);
  assert.equal(filterDistribution(grouped, { ...all, topP: 0.84 }).kept, 4);
});

test("what is possible never reads as 0%", () => {
  assert.equal(formatShare(0), "0.0%");
  assert.equal(formatShare(0.0004), "< 0.1%");
  assert.equal(formatProbability(Math.log(0.25)), "25.0%");
  assert.equal(formatProbability(-Infinity), "0.0%");
  assert.equal(formatSigned(-1.234), "−1.23");
  assert.equal(formatSigned(-Infinity), "−∞");
});

test("a rare token is said to be so many times less likely than the one written", () => {
  assert.equal(timesLess(Math.log(0.0004), Math.log(0.92)), "2,300 × less");
  assert.equal(timesLess(Math.log(0.9), Math.log(0.3)), "3 × more");
  assert.equal(timesLess(Math.log(0.5), Math.log(0.49)), "");
  assert.equal(timesLess(-Infinity, Math.log(0.5)), "");
  assert.equal(timesLess(-30, 0), "> 1 million × less");
});

test("a slider stands at the stop nearest to what a link asks for; no top k is beyond all numbers", () => {
  assert.equal(stopOf([10, 20, 40], "temperature", 31), 2);
  assert.equal(stopOf([1, 5, 10, 0], "topK", 0), 3);
  assert.equal(stopOf([1, 5, 10, 0], "topK", 9_999), 2);
  assert.ok(!isFilter({ temperature: 100, topK: 0, topP: 100 }));
  assert.ok(isFilter({ temperature: 100, topK: 3, topP: 100 }));
});

test("a point over a stretched canvas is in a row and a column", () => {
  const frame = { left: 10, top: 20, width: 100, height: 40 };
  assert.deepEqual(cellAt({ clientX: 10, clientY: 20 }, frame, 4, 10), [0, 0]);
  assert.deepEqual(cellAt({ clientX: 109, clientY: 59 }, frame, 4, 10), [3, 9]);
  assert.deepEqual(cellAt({ clientX: 5, clientY: 61 }, frame, 4, 10), [4, -1]);
});
