// Lines of an opened head: which are drawn and where; its title before Python answers; and the columns of a row.
import assert from "node:assert/strict";
import { test } from "node:test";
import { countSentence, formatNumber } from "../../viz/pages/attention/opened_head/line_bar.js";
import { linesAsSvg } from "../../viz/pages/attention/opened_head/line_canvas.js";
import * as lines from "../../viz/pages/attention/opened_head/line_scene.js";
import { exactNumber, shortNumber, shortWeight } from "../../viz/pages/learn/transformer/row_pictures.js";
import { announceHead } from "../../viz/pictures/head_grid/head_preview.js";
import {
  closeHead,
  given,
  indicesOf,
  onTold,
  openedHead,
  openHead,
  placeOf,
  placeOfAll,
  pointAt,
} from "../../viz/pictures/shared/focus.js";

const stored = (weights) => new Uint16Array(weights.map((weight) => Math.round(Math.sqrt(weight) * 65535)));
const MATRIX = { values: stored([0.7, 0.2, 0.1, 0, 0.001, 0.999, 1, 0, 0.5, 0.5, 0, 1]), queries: 2, keys: 3 };
const drawnOf = (heads, least, focus) => {
  const drawn = [];
  lines.eachLine(MATRIX, heads, least, focus, (head, query, key) => drawn.push(`${head} ${query} ${key}`));
  return drawn;
};

test("lines from the threshold on are drawn, and only those that can be seen", () => {
  assert.deepEqual(drawnOf([0], lines.leastVisible(15), null), ["0 0 0", "0 0 1", "0 1 2"]);
  assert.equal(drawnOf([0], lines.leastVisible(0), null).length, 4);
  assert.deepEqual(drawnOf([0, 1], lines.leastVisible(50), { side: "key", index: 2 }), ["0 1 2", "1 0 2", "1 1 2"]);
  assert.deepEqual(drawnOf([1], lines.leastVisible(50), { side: "query", index: 0 }), ["1 0 0", "1 0 2"]);
});

test("of too many lines the strongest 4,000 are drawn", () => {
  const values = new Uint16Array(10_000).map((_, i) => 10_000 + 5 * i);
  const least = lines.leastStored(values, 10_000, [0], 0);
  const drawn = values.filter((value) => value >= least).length;
  assert.ok(drawn <= 4000 && drawn > 3900, `${drawn}`);
  assert.equal(lines.leastStored(MATRIX.values, 6, [0, 1], 0), lines.leastVisible(0));
});

test("a token's strongest partner is found in both directions", () => {
  assert.equal(lines.strongestPartner(MATRIX, 0, { side: "query", index: 0 }).index, 0);
  assert.equal(lines.strongestPartner(MATRIX, 1, { side: "key", index: 2 }).index, 1);
});

test("numbers and counts are said as they are", () => {
  assert.deepEqual(
    [0, 0.001, 0.126, 12.34].map((value) => formatNumber(value)),
    ["0.00", "< 0.01", "0.13", "12.3"],
  );
  assert.equal(countSentence(4000, 12_000), "Lines drawn: the 4,000 strongest of 12,000.");
});

test("a saved picture has the lines of the token that is kept, and a box with a number a head", () => {
  const layout = lines.layoutOf(lines.rowsOf(MATRIX), 300, 2);
  const focus = { side: "query", index: 0 };
  const saved = linesAsSvg(MATRIX, [0, 1], 1, focus, layout, ["#111111", "#222222"], String, "black");
  assert.equal(saved.match(/<line /g).length, 5);
  assert.equal(saved.match(/<rect /g).length, 6);
  assert.equal(saved.match(/fill="black">65535</g).length, 1);
});

test("numbers of a row have a real minus sign and never read as zero or one", () => {
  assert.deepEqual([-0.001, 0, 2.345, -31.4159, 314.159].map(shortNumber), ["−0.00", "0.00", "2.35", "−31.4", "314"]);
  assert.deepEqual([0, 0.001, 0.5, 0.999, 1].map(shortWeight), ["0", "<.01", "0.50", ">.99", "1.00"]);
  assert.deepEqual([-1.234567, 1e-6].map(exactNumber), ["−1.2346", "1.00e−6"]);
});

test("a head that opens is called what Python will call it", () => {
  const heard = [];
  const listening = new AbortController();
  onTold("preview", ({ title }) => heard.push(title), listening.signal);
  const tiles = { header: { heads: 2, rows: 1, columns: 1, queryTokens: [], keyTokens: [] }, weightsOf: () => [] };
  const jobs = { signs: [], colours: [], said: ["", "", "", "follows antecedents 0.72"], intervals: [] };
  announceHead({ address: "a", jobs }, [1, 1], tiles);
  announceHead({ address: "a", jobs }, [1, 0], tiles);
  listening.abort();
  assert.deepEqual(heard, ["L2 H2 · follows antecedents 0.72", "L2 H1"]);
});

test("words, rows and columns find one another by their tokens, and a row of cross-attention by what it writes", () => {
  const single = { side: "source", ahead: 0, groups: null };
  const writing = { side: "target", ahead: 1, groups: null };
  const words = { side: "source", ahead: 0, groups: [[0], [1, 2], [4]] };
  assert.deepEqual(placeOf(writing, 3), { side: "target", tokens: [4] });
  assert.deepEqual(indicesOf(writing, 6, { side: "target", tokens: [4, 0, 9] }), [3]);
  assert.deepEqual(indicesOf(single, 6, { side: "target", tokens: [4] }), []);
  assert.deepEqual(indicesOf(words, 3, { side: "source", tokens: [2, 4] }), [1, 2]);
  assert.deepEqual(indicesOf(words, 3, null), []);
});

test("what the open head gives is the mean over the queries and the sum over the keys of two words", () => {
  const numbers = [
    [0.1, 0.2, 0.7],
    [0.5, 0.25, 0.25],
  ];
  const head = {
    rows: { side: "target", ahead: 1, groups: null },
    columns: { side: "source", ahead: 0, groups: null },
    rowTokens: ["a", "b"],
    columnTokens: ["x", "y", "z"],
    valueAt: (row, column) => numbers[row][column],
  };
  const key = { side: "source", tokens: [1, 2] };
  assert.equal(given(head, { side: "target", tokens: [1] }, key), 0.2 + 0.7);
  assert.equal(given(head, { side: "target", tokens: [1, 2] }, key), (0.9 + 0.5) / 2);
  // Within a word the mean, over words the sum.
  const words = placeOfAll([1, 2].map((token) => ({ side: "target", tokens: [token] })));
  assert.equal(given(head, words, key), 0.9 + 0.5);
  assert.equal(given(head, { side: "target", tokens: [5] }, key), null);
  assert.equal(given(head, key, key), null);
});

test("a picture that goes closes its own head and not that of the one that came after it", () => {
  const [first, second] = [{ name: "L1 H1" }, { name: "L1 H2" }];
  openHead(first);
  openHead(second);
  closeHead(first);
  assert.equal(openedHead(), second);
  closeHead(second);
  assert.equal(openedHead(), null);
});

test("a focus is told once, and again only when it is another", () => {
  const heard = [];
  const listening = new AbortController();
  onTold("pointed", (focus) => heard.push(focus), listening.signal);
  const focus = { query: { side: "source", tokens: [1] }, key: null };
  pointAt(focus);
  pointAt({ ...focus });
  pointAt(null);
  pointAt(null);
  listening.abort();
  pointAt(focus);
  assert.deepEqual(heard, [focus, null]);
  pointAt(null);
});
