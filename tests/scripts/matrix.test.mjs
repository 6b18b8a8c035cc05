// Which part of a matrix is seen, which tiles it needs, and how its numbers are read.
import assert from "node:assert/strict";
import { test } from "node:test";
import { between } from "../../viz/pictures/matrix_picture/matrix_preview.js";
import { beginOf, readCell, readRoles } from "../../viz/pictures/matrix_picture/matrix_reading.js";
import { matchesOf, placesOf } from "../../viz/pictures/matrix_picture/matrix_search.js";
import { extentSentence, MatrixTiles } from "../../viz/pictures/matrix_picture/matrix_tiles.js";
import * as view from "../../viz/pictures/matrix_picture/matrix_view.js";

const span = (start, length, count) => ({ start, length, count });
const spans = (row, column) => ({ row, column });

test("a span stays within the matrix and shows at least four cells", () => {
  assert.deepEqual(view.spanOf(-3, 1, 100), span(0, 4, 100));
  assert.deepEqual(view.spanOf(99, 10, 100), span(90, 10, 100));
  assert.deepEqual(view.spanOf(0, 500, 100), view.wholeSpan(100));
  assert.deepEqual(view.spanOf(0, 1, 2), span(0, 2, 2));
});

test("zooming keeps the cell under the pointer where it is", () => {
  const before = span(20, 40, 100);
  const after = view.zoomed(before, 0.5, 0.25);
  assert.deepEqual(after, span(25, 20, 100));
  assert.equal(view.cellAt(after, 0.25), view.cellAt(before, 0.25));
  const all = view.zoomed(before, 10, 0.5);
  assert.ok(view.isWhole({ row: all, column: all }));
});

test("a visited cell is brought into sight by the least movement", () => {
  assert.equal(view.showing(span(20, 10, 100), 25).start, 20);
  assert.equal(view.showing(span(20, 10, 100), 35).start, 26);
  assert.equal(view.showing(span(20, 10, 100), 5).start, 5);
});

test("a cell's extent is cut off at the ends", () => {
  assert.deepEqual(view.extentOf(span(0.5, 4, 10), 0, 400), [0, 50]);
  assert.deepEqual(view.extentOf(span(0, 4, 10), 1, 400), [100, 100]);
  assert.equal(view.extentOf(span(0, 4, 10), 4, 400), null);
});

test("a kept number stands in its cell, or right of it, or left of it at the end", () => {
  assert.equal(beginOf([100, 80], 40, 400), 120);
  assert.equal(beginOf([100, 20], 40, 400), 124);
  assert.equal(beginOf([370, 20], 40, 400), 326);
  assert.equal(beginOf([10, 20], 40, 60), 34);
});

test("every pixel shows the blocks that hold its cells", () => {
  assert.equal(view.blockOf(5, 10, 4, 3), 1);
  assert.deepEqual(
    [0, 4, 5, 9].map((cell) => view.blockOf(cell, 10, 2)),
    [0, 0, 1, 1],
  );
  const runs = view.runsOf(view.wholeSpan(1000), 10, 1000);
  assert.deepEqual(
    [runs[0], runs[9]],
    [
      [0, 100],
      [900, 1000],
    ],
  );
  assert.deepEqual(view.runsOf(span(0, 2, 10), 4, 10), [
    [0, 1],
    [0, 1],
    [1, 2],
    [1, 2],
  ]);
});

test("shades follow the scale, and no number has none", () => {
  const { shades, zero } = view.shadesOf(new Float32Array([-1, 0, 1, Number.NaN]), { low: -1, high: 1, exponent: 1 });
  assert.deepEqual([...shades], [0, 128, 255, 256]);
  assert.equal(zero, 128);
  const matrix = { shades, zero, rows: 2, columns: 2 };
  assert.equal(view.farthest(matrix, 0, 2, 0, 2), 0);
  assert.equal(view.farthest(matrix, 1, 2, 1, 2), 256);
});

test("a number reads exactly, and as a block's maximum where it is one", () => {
  const header = { rowTokens: ["a", "b", "c", "d"], columnTokens: ["a", "b", "c", "d"], low: 0, deep: { decimals: 3 } };
  const pooled = { values: new Float32Array([0.5, 0, 1e-9, Number.NaN]), rows: 2, columns: 2, block: [2, 2] };
  assert.equal(readCell(pooled, header, null, 1, 1), "0.500 (max of a block)");
  assert.equal(readCell(pooled, header, 0.25, 1, 1), "0.250");
  assert.equal(readCell(pooled, header, null, 2, 0), "< 0.001 (max of a block)");
  assert.equal(readCell(pooled, header, null, 3, 3), "–");
  const signed = { values: new Float32Array([0.5]), rows: 1, columns: 1 };
  assert.equal(readCell(signed, { rowTokens: ["a"], columnTokens: ["a"], low: -1 }, null, 0, 0), "+0.5000");
});

test("tiles are as fine as pixels are, and those in the middle come first", () => {
  const tiles = new MatrixTiles(() => {}, new AbortController().signal);
  assert.equal(tiles.levelOf([16, 16], spans(view.wholeSpan(8000), view.wholeSpan(8000)), 500, 500), null);
  assert.equal(tiles.levelOf([16, 16], spans(span(0, 2000, 8000), span(0, 500, 8000)), 500, 500), 2);
  assert.equal(tiles.levelOf([16, 16], spans(span(0, 100, 8000), span(0, 100, 8000)), 500, 500), 0);
  const seen = tiles.seen(0, spans(span(200, 600, 8000), span(0, 200, 8000)));
  assert.deepEqual(new Set(seen.map(({ row, column }) => `${row} ${column}`)), new Set(["0 0", "1 0", "2 0", "3 0"]));
  assert.equal(seen[0].row, 1);
  assert.deepEqual(tiles.seen(5, spans(view.wholeSpan(8000), view.wholeSpan(8000))), [{ level: 5, row: 0, column: 0 }]);
});

test("what is seen is said in words, counted from one", () => {
  assert.equal(
    extentSentence(spans(span(0, 4000, 4000), span(100.5, 50, 4000)), [1, 1]),
    "Queries 1–4,000 of 4,000, keys 101–151 of 4,000; every number is exact.",
  );
  assert.match(extentSentence(spans(view.wholeSpan(9), view.wholeSpan(9)), [2, 4]), /largest of up to 2 × 4 values\.$/);
});

test("a cell says whose message attends to whose, and nothing of what is no chat", () => {
  const header = { rowRoles: [["user", 0, 2, "#111111"]], columnRoles: [["system", 1, 3, "#222222"]] };
  assert.equal(readRoles(header, 1, 2), "user attends to system");
  assert.equal(readRoles(header, 2, 0), "template attends to template");
  assert.equal(readRoles({ rowRoles: [], columnRoles: [] }, 1, 2), "");
});

test("a token is found as people type it, and what begins with it only where it is not there itself", () => {
  const tokens = ["▁It", "▁is", "▁its", "▁it", "it", "</s>"];
  assert.deepEqual(placesOf(tokens, "it"), [0, 3, 4]);
  assert.deepEqual(placesOf(tokens, " IT "), [0, 3, 4]);
  assert.deepEqual(placesOf(tokens, "▁its"), [2]);
  assert.deepEqual(placesOf(["▁animal", "▁animals"], "anim"), [0, 1]);
  assert.deepEqual(placesOf(tokens, "  "), []);
  assert.deepEqual(placesOf(tokens, "street"), []);
});

test("a token of the other text is found among the columns, one of the same text once", () => {
  const text = ["▁it", "▁was"];
  assert.deepEqual(matchesOf(text, text, "it"), [{ side: "row", cell: 0 }]);
  assert.deepEqual(matchesOf(["▁es", "▁war"], text, "was"), [{ side: "column", cell: 1 }]);
});

test("a preview between words sums over the tokens of a key and averages over those of a query", () => {
  const sides = {
    rowTokens: ["<s> → Tier", "Tier → war"],
    columnTokens: ["animal", "was"],
    // A row of cross-attention is known by the tokens that it writes.
    rows: { side: "target", ahead: 1, groups: [[1, 2], [3]] },
    columns: { side: "source", ahead: 0, groups: [[1], [2, 3]] },
  };
  const values = [...[0.1, 0.2, 0.3, 0.4], ...[0.5, 0.25, 0.125, 0.125], ...[0, 1, 0, 0]];
  const tile = { rows: 3, columns: 4, rowTokens: ["a", "b", "c"], columnTokens: ["w", "x", "y", "z"], values };
  const joined = between({ ...tile, title: "L1 H1" }, sides);
  assert.deepEqual([joined.rows, joined.columns, joined.title], [2, 2, "L1 H1"]);
  assert.deepEqual([joined.rowTokens, joined.axes], [sides.rowTokens, [sides.rows, sides.columns]]);
  const near = [(0.2 + 0.25) / 2, (0.7 + 0.25) / 2, 1, 0];
  joined.values.forEach((value, index) => {
    assert.ok(Math.abs(value - near[index]) < 1e-6, `${joined.values}`);
  });
  // Where labels have a token each, but not all tokens have one.
  const some = {
    ...sides,
    rows: { side: "target", ahead: 1, groups: null },
    columns: { ...sides.columns, groups: [[3], [1]] },
  };
  assert.deepEqual(
    [...between(tile, some).values].map((value) => value.toFixed(3)),
    ["0.400", "0.200", "0.125", "0.250"],
  );
});

test("a preview between words of a pooled tile has maxima of blocks, and no label one of its own", () => {
  const tokens = Array.from({ length: 8 }, String);
  const words = { side: "source", ahead: 0, groups: [[0], [1, 2], [3], [4], [5, 6], [7]] };
  const sides = { rowTokens: tokens.slice(2), columnTokens: tokens.slice(2), rows: words, columns: words };
  const values = Array.from({ length: 16 }, (_cell, index) => index);
  const {
    rows,
    columns,
    values: maxima,
  } = between({ rows: 4, columns: 4, rowTokens: tokens, columnTokens: tokens, values }, sides);
  assert.deepEqual([rows, columns], [3, 3]);
  assert.deepEqual([...maxima], [5, 6, 7, 9, 10, 11, 13, 14, 15]);
});
