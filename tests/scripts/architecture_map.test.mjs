// The map's pure parts: which boxes a model has, where they stand, and the stages of the film.
import assert from "node:assert/strict";
import { test } from "node:test";
import { layoutOf, NARROW, neighbour, WIDE } from "../../viz/pictures/architecture_map/layout.js";
import { stagesOf, tokenAway } from "../../viz/pictures/architecture_map/stages.js";

const stack = (layers, more = {}) => ({
  layers,
  hasCross: false,
  hasPositions: true,
  writes: false,
  notes: {},
  ...more,
});
const DECODER = stack(2, { hasCross: true, writes: true });
const both = (norm) => ({ encoder: stack(3), decoder: DECODER, norm, hasResidual: true });
const ids = (of) => layoutOf(of, WIDE).boxes.map(({ id }) => id);

test("a post-norm model has one box of sum and norm after each sub-layer, and no norm at the end", () => {
  const found = layoutOf(both("post"), WIDE).boxes.filter(({ id }) => id.startsWith("encoder"));
  const labels = [
    "Inputs",
    "Input embedding",
    "+ positional encoding",
    "Self-attention",
    "Add & norm",
    "Feed-forward",
    "Add & norm",
  ];
  assert.deepEqual(
    found.map(({ label }) => label),
    labels,
  );
});

test("a pre-norm model has a norm before each sub-layer, a sum after it, and a norm at the end", () => {
  const found = layoutOf(both("pre"), WIDE).boxes.filter(({ id }) => id.startsWith("encoder"));
  const layer = ["Norm", "Self-attention", "Add the input", "Norm", "Feed-forward", "Add the input", "Norm"];
  assert.deepEqual(
    found.slice(3).map(({ label }) => label),
    layer,
  );
});

test("without residual connections nothing is added and nothing goes past", () => {
  const { boxes, lines } = layoutOf({ ...both("post"), hasResidual: false }, WIDE);
  assert.ok(!boxes.some(({ label }) => label.includes("Add")));
  assert.ok(!lines.some(({ id }) => id.endsWith("skip")));
});

test("an encoder alone has no output, a decoder alone no cross-attention and no memory", () => {
  assert.ok(!ids({ encoder: stack(2), decoder: null, norm: "post", hasResidual: true }).includes("decoder.softmax"));
  const alone = { encoder: null, decoder: stack(2, { writes: true }), norm: "pre", hasResidual: true };
  assert.ok(!ids(alone).includes("decoder.cross"));
  assert.ok(!layoutOf(alone, WIDE).lines.some(({ id }) => id === "memory"));
  assert.equal(layoutOf(alone, WIDE).boxes.find(({ id }) => id === "decoder.inputs").label, "Inputs");
});

test("no boxes overlap, and all lie within the picture and in order from the bottom up", () => {
  for (const norm of ["pre", "post"])
    for (const margin of [WIDE, NARROW]) {
      const { boxes, width, height } = layoutOf(both(norm), margin);
      for (const name of ["encoder", "decoder"]) {
        const column = boxes.filter(({ id }) => id.startsWith(name));
        column
          .slice(1)
          .forEach((box, i) => assert.ok(box.y + box.height < column[i].y, `${box.id} below ${column[i].id}`));
      }
      for (const { x, y, ...box } of boxes)
        assert.ok(x >= 0 && y >= 0 && x + box.width <= width && y + box.height <= height);
    }
});

test("arrow keys lead up a stack and across to the other one", () => {
  const { boxes } = layoutOf(both("post"), WIDE);
  const at = (id) => boxes.findIndex((box) => box.id === id);
  assert.equal(neighbour(boxes, at("encoder.embedding"), "ArrowUp"), at("encoder.positions"));
  assert.equal(neighbour(boxes, at("encoder.self"), "ArrowRight"), at("decoder.self"));
  assert.equal(neighbour(boxes, at("decoder.softmax"), "ArrowUp"), -1);
});

test("the film reads the source once and then writes token by token through every layer", () => {
  const stages = stagesOf(both("post"), 2);
  assert.equal(stages.filter(({ row }) => row < 0).length, 2 + 3 * 2);
  const first = stages.filter(({ row }) => row === 0).map(({ boxes, layer }) => [boxes[0].split(".")[1], layer]);
  const layer = (number) => [
    ["self", number],
    ["cross", number],
    ["feed_forward", number],
  ];
  const expected = [["embedding", -1], ["positions", -1], ...layer(0), ...layer(1), ["linear", -1], ["softmax", -1]];
  assert.deepEqual(first, expected);
});

test("page keys go to the beginning of a token, and of the one before or after", () => {
  const stages = stagesOf(both("post"), 2);
  const begin = stages.findIndex(({ row }) => row === 0);
  assert.equal(tokenAway(stages, 3, 1), begin);
  assert.equal(tokenAway(stages, begin + 4, -1), begin);
  assert.equal(tokenAway(stages, begin, -1), 0);
  assert.equal(tokenAway(stages, stages.length - 2, 1), stages.length - 1);
});
