// The pure parts of players: what a click on a chart means, and curves with gaps.
import assert from "node:assert/strict";
import { test } from "node:test";
import { nearestPlace, runsOfLine } from "../../viz/pictures/player/step_chart.js";

test("a click goes to the nearest step, beyond the ends to the first or the last", () => {
  const places = [0, 0.1, 0.5, 1];
  const steps = [-3, 0.04, 0.06, 0.29, 0.31, 0.74, 0.76, 9].map((place) => nearestPlace(places, place));
  assert.deepEqual(steps, [0, 0, 1, 1, 2, 2, 3, 3]);
  assert.equal(nearestPlace([0], 0.7), 0);
});

test("a curve is interrupted where there is no number", () => {
  const first = [
    [1, 0.5],
    [2, 0],
  ];
  assert.deepEqual(runsOfLine([null, 0.5, 0, null, null, 1]), [first, [[5, 1]]]);
  assert.deepEqual(runsOfLine([null]), []);
});
