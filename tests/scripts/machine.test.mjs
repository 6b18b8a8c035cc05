// The machine of the Transformer: where its parts stand, and that rivers do not cross.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  closedLayer,
  laneOf,
  layOut,
  mixed,
  openLayer,
  partsOf,
} from "../../viz/pages/learn/transformer/machine_layout.js";
import { river } from "../../viz/pages/learn/transformer/machine_shapes.js";

const ENCODER = ["self", "feed_forward"];
const DECODER = ["self", "cross", "feed_forward"];
const tower = (name, columns, kinds, layers, hasLens = false) => ({
  name,
  columns,
  kinds: Array(layers).fill(kinds),
  hasPositions: true,
  hasLens,
});
const BOTH = [tower("encoder", 16, ENCODER, 6), tower("decoder", 15, DECODER, 6, true)];
const room = (width) => ({ width, level: 60, least: 7, tokens: 78, outputs: 112, picture: 0, hasTitle: true });

test("sub-layers lie one above the other, within their layer and the picture, at every width", () => {
  for (const width of [326, 640, 900, 1050, 2000]) {
    const { towers, height, width: whole, isStacked } = layOut(BOTH, room(width));
    assert.equal(whole, width);
    assert.equal(isStacked, width < 640);
    for (const { layers, end, embedding, positions } of towers) {
      let foot = positions.top;
      for (const layer of layers) {
        assert.ok(Math.abs(layer.foot - foot) < 1e-9);
        for (const body of layer.bodies) {
          assert.ok(body.foot <= foot + 1e-9 && body.top < body.foot && body.top >= layer.top - 1e-9);
          foot = body.top;
        }
        foot = layer.top;
      }
      assert.equal(end, foot);
      assert.ok(embedding.foot < height && end > 0);
    }
  }
});

test("an opened layer has a stratum a head, from below to above, and all columns within the page", () => {
  const place = { width: 1050, columns: 15, keys: 16, heads: { self: 8, cross: 8 }, open: "cross", head: 2, far: 0 };
  const { bodies, left, pitch, tokens, width, height } = openLayer(DECODER, place);
  assert.deepEqual(
    bodies.map(({ kind, strata }) => [kind, strata.length]),
    [
      ["self", 8],
      ["cross", 8],
      ["feed_forward", 0],
    ],
  );
  assert.ok(width === 1050 && left + 15 * pitch < width && tokens < height);
  bodies.slice(1).forEach(({ foot }, at) => assert.ok(foot < bodies[at].top));
  const tall = bodies.map(({ strata: [first] }) => first && first.foot - first.top);
  assert.ok(tall[1] > 2 * tall[0], "the attention that is looked at has the room");
  for (const { strata, top, foot } of bodies)
    for (const stratum of strata) assert.ok(stratum.top >= top && stratum.foot <= foot);
});

test("as a head opens all else draws together, and no column moves", () => {
  const place = { width: 1050, columns: 15, keys: 16, heads: { self: 8, cross: 8 }, open: "cross", head: 2 };
  const ways = [0, 0.25, 0.5, 1].map((far) => openLayer(DECODER, { ...place, far }));
  ways.slice(1).forEach(({ left, pitch, height, bodies }, at) => {
    assert.deepEqual([left, pitch], [ways[at].left, ways[at].pitch]);
    assert.ok(height < ways[at].height);
    bodies.slice(1).forEach(({ foot }, body) => assert.ok(foot < bodies[body].top));
  });
  const open = (rows) => openLayer(DECODER, { ...place, far: 1, rows }).bodies[1].strata[2];
  assert.deepEqual(
    [open(0), open(700)].map(({ top, foot }) => foot - top),
    [0, 700],
  );
});

test("a layer of the model opens into its heads, and one of them into its rows, each part at its place in every frame", () => {
  const heads = { self: 8, cross: 8 };
  const machine = layOut(BOTH, room(1050));
  const place = { width: 1050, columns: 15, keys: 16, heads, open: "cross", head: 2 };
  const depths = [
    closedLayer(machine, machine.towers[1], 3, heads),
    openLayer(DECODER, { ...place, far: 0 }),
    openLayer(DECODER, { ...place, far: 1, rows: 700 }),
  ];
  for (const [from, to] of [depths.slice(0, 2), depths.slice(1), [depths[0], depths[2]]]) {
    assert.deepEqual(
      [0, 1].map((far) => mixed(from, to, far).bodies),
      [from.bodies, to.bodies],
    );
    const names = (layout) => partsOf(layout).map(([name]) => name);
    assert.deepEqual(names(from).sort(), names(to).sort());
    for (const far of [0.2, 0.5, 0.9]) {
      const { bodies, tokens, height } = mixed(from, to, far);
      assert.ok(bodies[0].foot <= tokens && tokens <= height);
      bodies.slice(1).forEach(({ foot }, at) => assert.ok(foot < bodies[at].top));
      for (const { top, foot, strata } of bodies)
        for (const each of strata) assert.ok(top <= each.top && each.foot <= foot);
    }
  }
});

test("a picture that is read has room above the lanes, below the words of a decoder that stands higher", () => {
  for (const width of [326, 1050]) {
    const machine = layOut(BOTH, { ...room(width), picture: 100 });
    const [encoder, decoder] = machine.towers;
    assert.ok(machine.picture <= encoder.end && machine.picture < laneOf(machine, 0).y);
    assert.ok(machine.picture - 100 >= (machine.isStacked ? decoder.tokens + 78 : 0));
  }
});

test("lanes lie side by side between the towers, the one from afar outside", () => {
  const machine = layOut(BOTH, room(1050));
  const [encoder, decoder] = machine.towers;
  const lanes = Array.from({ length: 16 }, (_lane, column) => laneOf(machine, column));
  lanes.slice(1).forEach(({ x, y }, at) => assert.ok(x < lanes[at].x && y > lanes[at].y));
  assert.ok(lanes[15].x > encoder.left + 16 * machine.pitch && lanes[0].x < decoder.left);
});

test("a river is as wide as its weights, and its tributaries run in the order of their positions", () => {
  const weights = [0.1, 0.3, 0.2, 0.001, 0.399];
  const place = { x: 50, top: 0, foot: 40, thick: 20, least: 0.004, from: (key) => 10 + 20 * key };
  const parts = river(weights, place);
  assert.deepEqual(
    parts.map(({ key }) => key),
    [0, 1, 2, 4],
  );
  for (const { width, weight } of parts) assert.ok(Math.abs(width - 20 * weight) < 1e-9);
  const ends = parts.map(({ path }) => Number(path.match(/([\d.]+)(?: [\d.]+)?V0$/)[1]));
  assert.deepEqual(
    [...ends].sort((a, b) => a - b),
    ends,
  );
  assert.ok(ends.every((end) => end > 40 && end < 60));
});
