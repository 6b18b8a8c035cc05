// A row whose scores are dragged: its softmax, and how widely it spreads.
import assert from "node:assert/strict";
import { test } from "node:test";
import { equalShares, sharesOf } from "../../viz/pages/learn/lessons/live_row.js";

const near = (found, wanted) => assert.ok(Math.abs(found - wanted) < 1e-9, `${found} is not ${wanted}`);

test("shares are the softmax of the scores divided by one number", () => {
  const [first, second, third] = sharesOf([Math.log(9) * 2, Math.log(3) * 2, 0], 2);
  near(first, 9 / 13);
  near(second, 3 / 13);
  near(third, 1 / 13);
});

test("large scores and small divisors overflow nothing", () => {
  assert.deepEqual(sharesOf([1000, 999, -1000], 0.001), [1, 0, 0]);
  near(sharesOf([-5000, -5000], 3)[1], 0.5);
});

test("a row spreads as widely as equal shares would", () => {
  near(equalShares([0.25, 0.25, 0.25, 0.25]), 4);
  near(equalShares([1, 0, 0]), 1);
  near(equalShares([0.5, 0.25, 0.25]), 2 ** 1.5);
});
