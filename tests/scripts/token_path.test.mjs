// The chart of a token's path: where its stages stand, and the ticks of its axis.
import assert from "node:assert/strict";
import { test } from "node:test";
import { roundTicks, shareText, stageBoxes } from "../../viz/pages/learn/transformer/path_chart.js";

const part = (stage) => ({ stage, kind: "self", label: "", length: 1, share: null, stream: 1 });

test("stages stand side by side across the whole width, wider with more parts", () => {
  const boxes = stageBoxes([part(0), part(0), part(1), part(1), part(1)], 3, 640);
  assert.deepEqual(
    boxes.map(({ first, end }) => [first, end]),
    [
      [0, 2],
      [2, 5],
      [5, 5],
    ],
  );
  boxes.slice(1).forEach((box, i) => assert.ok(Math.abs(box.left - boxes[i].left - boxes[i].width) < 1e-9));
  assert.ok(Math.abs(boxes[2].left + boxes[2].width - 640) < 1e-9);
  assert.ok(boxes[1].width > boxes[0].width && boxes[0].width > boxes[2].width);
});

test("an axis has a few round ticks that do not pass its top", () => {
  assert.deepEqual(roundTicks(134), [0, 50, 100]);
  assert.deepEqual(roundTicks(8), [0, 2, 4, 6, 8]);
  assert.deepEqual(roundTicks(0.3), [0, 0.1, 0.2]);
});

test("a share has a real minus sign and is not written where there is no sum", () => {
  assert.equal(shareText(-0.053), "−5%");
  assert.equal(shareText(null), "");
});
