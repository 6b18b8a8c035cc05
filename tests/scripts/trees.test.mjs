// Where the nodes of a beam, the lines of branches and the cells of a map of heads stand, and where keys lead.
import assert from "node:assert/strict";
import { test } from "node:test";
import { layOut, pathTo } from "../../viz/pages/decoding/beam/beam_picture.js";
import { formatLogProb } from "../../viz/pages/decoding/branches/branch_tree.js";
import { partsOf } from "../../viz/pages/decoding/logit_lens/lens_table.js";
import { targetOf } from "../../viz/pictures/shared/items.js";

const measure = ({ token }) => ({ token: 10 * token.length, total: 20, badge: 30 });
const node = (step, parent, row, folded, token = "ab") => ({ step, parent, row, folded, token, badge: "" });
/** A root, two that follow it, of which the second is dropped, and one that ends with a badge. */
const nodes = [
  node(-1, null, 0, 0),
  node(0, 0, 0, 0, "abcdef"),
  node(0, 0, 1, null),
  { ...node(1, 1, 0, 0), badge: "1" },
];

test("each step is a column as wide as its widest node, and the next begins behind a gap", () => {
  const { columns, lefts } = layOut(nodes, false, measure);
  assert.deepEqual(
    columns.map((column) => column.map(({ index }) => index)),
    [[0], [1, 2], [3]],
  );
  const widths = columns.map(([{ width }]) => width);
  assert.deepEqual(widths, [52, 104, 16 + 20 + 28 + 46]);
  assert.equal(columns[1][1].width, 104);
  assert.deepEqual(lefts, [12, 12 + 52 + 38, 102 + 104 + 38, 244 + 110 + 12]);
  assert.deepEqual(
    columns.map(([{ left }]) => left),
    lefts.slice(0, 3),
  );
});

test("a folded tree leaves the dropped ones out", () => {
  const { columns } = layOut(nodes, true, measure);
  assert.deepEqual(
    columns.flat().map(({ index }) => index),
    [0, 1, 3],
  );
});

test("columns are broken into parts of about one width that fit, and none is lost", () => {
  assert.deepEqual(partsOf([50, 50, 50, 50, 50], 400), [[0, 5]]);
  assert.deepEqual(partsOf([50, 50, 50, 50, 50, 50], 260), [
    [0, 4],
    [4, 6],
  ]);
  // One that is wider than the room has a part of its own.
  assert.deepEqual(partsOf([300, 50, 300], 200), [
    [0, 1],
    [1, 2],
    [2, 3],
  ]);
});

test("a node's path leads to the root", () => {
  assert.deepEqual([...pathTo(nodes, 3)], [3, 1, 0]);
});

test("a log-probability has a real minus sign, and one that is impossible is minus infinity", () => {
  assert.equal(formatLogProb(-1.005), "−1.00");
  assert.equal(formatLogProb(0), "0.00");
  assert.equal(formatLogProb(null), "−∞");
});

test("left and right stay in their line, up and down change it, and the last line may be short", () => {
  const to = (key) => targetOf(key, 5, 4, 10);
  assert.deepEqual(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"].map(to), [4, 6, 1, 9, 4, 7]);
  assert.equal(targetOf("ArrowLeft", 4, 4, 10), 4);
  assert.equal(targetOf("ArrowRight", 7, 4, 10), 7);
  assert.equal(targetOf("End", 9, 4, 10), 9);
  assert.equal(to("a"), undefined);
});
