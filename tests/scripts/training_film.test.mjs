// The pure parts of a training's film: its axis, its lanes, and the numbers of heads.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  MetricNumbers,
  metricLanes,
  stepTicks,
  trainingLanes,
} from "../../viz/pages/experiments/through_training/training_lanes.js";
import { Tiles } from "../../viz/pictures/shared/head_tiles.js";

const metric = { name: "Previous token", unit: "", decimals: 2, isShare: true, note: "" };
const header = { heads: 2, steps: [0, 10], metric, threshold: 0.4 };
/** Four heads of two layers at two frames; the last one rises. */
const numbers = new MetricNumbers(new Float32Array([0, 0.25, 0.25, 0, 0, 0.25, 0.25, 0.75]), 4, header);

test("steps lie on a logarithmic axis that begins at 0 and ends at the last", () => {
  const { places, ticks } = stepTicks([0, 1, 9, 99]);
  assert.deepEqual(places, [0, Math.log(2) / Math.log(100), 0.5, 1]);
  assert.deepEqual(
    ticks.map(({ label }) => label),
    ["0", "1", "10", "99"],
  );
  assert.deepEqual(stepTicks([0]).places, [0]);
});

test("a loss that is not known leaves a gap, and without dev sets there is no BLEU", () => {
  const [loss, bleu] = trainingLanes({ losses: [null, 8, 4], scores: [["dev", [0, 0, 20]]] });
  assert.deepEqual(loss.lines[0].shares, [null, 1, 0.5]);
  assert.deepEqual(bleu.lines[0].shares, [0, 0, 1]);
  assert.equal(trainingLanes({ losses: [8], scores: [] }).length, 1);
});

test("what no frame knows has no lane: neither an empty curve nor one that ends at 0.0", () => {
  assert.deepEqual(trainingLanes({ losses: [null], scores: [] }), []);
  assert.deepEqual(
    trainingLanes({ losses: [null], scores: [["dev", [3]]] }).map(({ name }) => name),
    ["BLEU"],
  );
});

test("shares are drawn up to the least round number that holds all, the open head last", () => {
  assert.equal(numbers.top, 1);
  const [lane] = metricLanes(header, numbers, { step: 0, layer: 1, head: 1 });
  assert.deepEqual(
    lane.lines.map(({ kind }) => kind),
    ["other", "other", "other", "threshold", "own"],
  );
  assert.deepEqual(lane.lines[4].shares, [0, 0.75]);
  assert.deepEqual(lane.notes[0], ["L2 H2", "own"]);
  assert.equal(new MetricNumbers(new Float32Array([0.1, 0.2]), 1, header).top, 0.25);
});

test("below the pointer stand the open head and the highest", () => {
  assert.deepEqual(numbers.ofHeads(1, { layer: 0, head: 1 }), ["L1 H2: 0.25", "highest, L2 H2: 0.75"]);
  assert.deepEqual(numbers.ofHeads(1, { layer: 1, head: 1 }), ["L2 H2: 0.75"]);
  assert.deepEqual(numbers.underTiles(1), { texts: ["0.00", "0.25", "0.25", "0.75"], bars: [0, 0.25, 0.25, 0.75] });
});

test("the tiles of a frame are the layers that belong to it", () => {
  const sizes = { layers: 4, heads: 1, rows: 1, columns: 1, blockQueries: 1, blockKeys: 1 };
  const all = new Tiles(
    { ...sizes, firstCell: [0, 2], firstThousandth: [0, 1], queryTokens: ["q"], keyTokens: ["k"] },
    new Uint8Array([0, 1, 2, 3, 0, 0, 0, 0]),
  );
  const frame = all.layersFrom(2, 2);
  assert.deepEqual([...frame.values], [...all.values.slice(2)]);
  assert.equal(frame.header.layers, 2);
  assert.equal(frame.baseOf([1, 0]), 1);
  assert.equal(frame.missing.size, 0);
});
