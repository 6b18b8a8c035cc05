// The order of the rows of a table of heads.
import assert from "node:assert/strict";
import { test } from "node:test";
import { sorted } from "../../viz/pictures/head_table/head_table.js";

test("heads without a number stand last either way, and equal ones as they were", () => {
  const numbers = [0.2, null, 0.5, 0.2, -1];
  assert.deepEqual(sorted(numbers, false), [2, 0, 3, 4, 1]);
  assert.deepEqual(sorted(numbers, true), [4, 0, 3, 2, 1]);
});
