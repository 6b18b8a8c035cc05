// What every component stands on: payloads, decimals, colours, tiles, and how a component meets Streamlit.
import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import { PlayerView } from "../../viz/pictures/player/player_view.js";
import { nameIn, roleOf, withRole } from "../../viz/pictures/shared/chat_roles.js";
import { colourAt } from "../../viz/pictures/shared/drawing.js";
import { Tiles } from "../../viz/pictures/shared/head_tiles.js";
import { sentenceParts } from "../../viz/pictures/shared/messages.js";
import { mount, View } from "../../viz/pictures/shared/mount.js";
import { decimalsOf, formatWeight, unpack, weightOf } from "../../viz/pictures/shared/payload.js";
import { cellRuns, directionOf, largestWithin } from "../../viz/pictures/shared/picture.js";
import { escapeXml } from "../../viz/pictures/shared/picture_file.js";
import { percent } from "../../viz/pictures/shared/probability.js";
import { askForTiles, nameOfTile, onAskedTiles } from "../../viz/pictures/shared/tile_store.js";
import { packed, until } from "./packed.mjs";

test("a payload is unpacked wherever in the message it begins", () => {
  const bytes = packed({ tokens: ["müde", "😀"] }, new Uint8Array([1, 2, 3]), new Float32Array([0.5, Number.NaN]));
  const within = new Uint8Array([9, ...bytes]).subarray(1);
  const { header, arrays } = unpack(within);
  assert.deepEqual(header.tokens, ["müde", "😀"]);
  assert.deepEqual(arrays, [new Uint8Array([1, 2, 3]), new Float32Array([0.5, Number.NaN])]);
});

test("a weight that is not zero never reads as zero", () => {
  assert.deepEqual([0, 1e-5, 0.0004, 0.0005, 1].map(formatWeight), ["0.000", "< 0.001", "< 0.001", "0.001", "1.000"]);
  assert.equal(weightOf(65535), 1);
  assert.equal(weightOf(0), 0);
});

test("decimals are exact, and code 1 lies between zero and the first of them", () => {
  const codes = [0, 1, 2, 1001, 65535];
  const planes = new Uint8Array([...codes.map((code) => code & 255), ...codes.map((code) => code >> 8)]);
  assert.deepEqual([...decimalsOf(planes, 3)], [...new Float32Array([0, 0.00025, 0.001, 1, 65.534])]);
});

test("percent never says more than there is", () => {
  const shown = {
    0: "0.0%",
    0.0005: "< 0.1%",
    0.05: "5.0%",
    0.5: "50%",
    0.995: "99.5%",
    0.9995: "> 99.9%",
    1: "100.0%",
  };
  for (const [probability, text] of Object.entries(shown)) assert.equal(percent(Number(probability)), text);
});

test("a colour scale meets its stops, and its ink can be read on it", () => {
  const scale = { stops: ["#000000", "#808080", "#ffffff"], dark: "black", pale: "white" };
  assert.deepEqual(colourAt(scale, 0), { fill: "rgb(0,0,0)", ink: "white" });
  assert.deepEqual(colourAt(scale, 0.5).fill, "rgb(128,128,128)");
  assert.deepEqual(colourAt(scale, 7), { fill: "rgb(255,255,255)", ink: "black" });
  const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  for (const stops of [scale.stops, ["#0f142a", "#1d3f70", "#007b9b", "#4fb78f"], ["#0f142a", "#b67c2e"]])
    for (let step = 0; step <= 100; step++) {
      const { fill, ink } = colourAt({ ...scale, stops }, step / 100);
      const [red, green, blue] = fill.match(/\d+/g).map((part) => linear(Number(part) / 255));
      const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
      const contrast = ink === "black" ? (luminance + 0.05) / 0.05 : 1.05 / (luminance + 0.05);
      assert.ok(contrast >= 4.5, `${ink} on ${fill}: ${contrast}`);
    }
});

test("every cell has a pixel, however many there are", () => {
  assert.deepEqual(cellRuns(2, 4), [
    [0, 1],
    [0, 1],
    [1, 2],
    [1, 2],
  ]);
  for (const [cells, pixels] of [
    [1000, 7],
    [7, 7],
    [8, 3],
  ]) {
    const runs = cellRuns(cells, pixels);
    assert.equal(runs.length, pixels);
    const seen = new Set(runs.flatMap(([first, end]) => Array.from({ length: end - first }, (_, i) => first + i)));
    assert.equal(seen.size, cells);
  }
});

test("the largest of a part of a matrix is found within that part", () => {
  const values = new Uint16Array([99, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  assert.equal(largestWithin(values, 1, 3, [0, 2], [0, 2]), 5);
});

test("words side by side run as their first letter does", () => {
  assert.equal(directionOf(["2", "החתול", "cat"]), "rtl");
  assert.equal(directionOf(["▁لم", "يعبر"]), "rtl");
  assert.equal(directionOf(["The", "החתול"]), "ltr");
  assert.equal(directionOf(["…", "1"]), "ltr");
  assert.equal(directionOf([]), "ltr");
});

test("markup in a token is text in a picture", () => {
  assert.equal(escapeXml("</text>&\"'"), "&#60;/text&#62;&#38;&#34;&#39;");
});

test("only who is asked under this address answers, until it ends", () => {
  const heard = [];
  const ends = new AbortController();
  onAskedTiles((address, tiles) => heard.push([address, tiles.map(nameOfTile)]), ends.signal);
  askForTiles("a", [{ level: 1, row: 2, column: 3 }]);
  ends.abort();
  askForTiles("a", [{ level: 0, row: 0, column: 0 }]);
  assert.deepEqual(heard, [["a", ["1/2/3"]]]);
});

// ---- tiles of heads ----

const GRID = {
  layers: 2,
  heads: 1,
  rows: 2,
  columns: 2,
  blockQueries: 1,
  blockKeys: 1,
  firstCell: [0, 2, 4],
  firstThousandth: [0, 63, 563],
};
const tokens = { queryTokens: ["a", "b"], keyTokens: ["c", "d"] };
const planesOf = (cells) => new Uint8Array([...cells.map((cell) => cell & 255), ...cells.map((cell) => cell >> 8)]);

test("weights are exact to three decimals, and their colours follow their shades", () => {
  const tiles = new Tiles({ ...GRID, ...tokens }, planesOf([0, 1, 2, 4, 0, 0, 0, 5]));
  assert.equal(tiles.missing.size, 0);
  assert.deepEqual(
    [0, 1, 2, 3].map((index) => tiles.format(tiles.values[index])),
    ["0.000", "< 0.001", "0.063", "0.563"],
  );
  assert.deepEqual(
    [0, 1, 2, 3].map((index) => tiles.values[index] >> 8),
    [0, 0, 128, 255],
  );
  assert.deepEqual(tiles.largest([0, 0], [0, 2], [0, 2]), { query: "b", key: "d", weight: "0.563", at: [1, 1] });
  assert.equal(tiles.weightsOf([1, 0])[3], Math.fround(0.564));
});

test("numbers that are no weights are read as parts of the largest of them", () => {
  const tiles = new Tiles({ ...GRID, ...tokens, number: "norm", top: 4 }, planesOf([0, 1, 2, 4, 0, 0, 0, 5]));
  const read = [0, 1, 2, 3].map((index) => tiles.format(tiles.values[index]));
  assert.deepEqual(read, ["0.00", "< 0.01", "0.25", "2.25"]);
});

test("layers come one by one", () => {
  const tiles = new Tiles({ ...GRID, ...tokens }, null);
  assert.deepEqual([...tiles.missing], [0, 1]);
  tiles.fill(1, planesOf([0, 0, 4, 0]));
  assert.deepEqual([...tiles.missing], [0]);
  assert.equal(tiles.largest([1, 0], [0, 2], [0, 2]).weight, "0.563");
});

test("a pooled tile tells where in the block its largest weight is", () => {
  const long = { queryTokens: ["q0", "q1", "q2", "q3"], keyTokens: ["k0", "k1", "k2", "k3"] };
  const header = { ...GRID, ...long, layers: 1, blockQueries: 2, blockKeys: 2 };
  const tiles = new Tiles(header, new Uint8Array([...planesOf([0, 0, 4, 0]), ...planesOf([0, 0, 3, 0])]));
  assert.deepEqual(tiles.largest([0, 0], [0, 2], [0, 2]), { query: "q3", key: "k1", weight: "0.563", at: [3, 1] });
});

// ---- meeting Streamlit ----

const page = new EventTarget();
globalThis.addEventListener = page.addEventListener.bind(page);

test("a payload that comes while a view is pressed waits until after the click, and only the newest is shown", async () => {
  const shown = [];
  class Shown extends View {
    receive({ header }) {
      shown.push(header.text);
    }
  }
  const root = new EventTarget();
  const component = mount(".view", Shown);
  const send = (text) => component({ data: packed({ text }), parentElement: { querySelector: () => root } });
  send("one");
  root.dispatchEvent(new Event("pointerdown"));
  send("two");
  send("three");
  page.dispatchEvent(new Event("pointerup"));
  assert.deepEqual(shown, ["one"]);
  await new Promise((done) => setTimeout(done, 1));
  assert.deepEqual(shown, ["one", "three"]);
  root.dispatchEvent(new Event("pointerdown"));
  send("four");
  page.dispatchEvent(Object.assign(new Event("pointermove"), { buttons: 1 }));
  await new Promise((done) => setTimeout(done, 1));
  assert.deepEqual(shown, ["one", "three"]);
  page.dispatchEvent(Object.assign(new Event("pointermove"), { buttons: 0 }));
  await new Promise((done) => setTimeout(done, 1));
  assert.deepEqual(shown, ["one", "three", "four"]);
});

test("a film that is unpacked while a view is pressed is shown after the click, unless a newer one has come", async () => {
  const shown = [];
  class Film extends View {
    version = 0;
    receive = PlayerView.prototype.receive;
    build([bytes]) {
      shown.push(bytes[0]);
    }
    carryOut() {}
  }
  const root = Object.assign(new EventTarget(), { dataset: {} });
  const component = mount(".view", Film);
  const send = (number) => {
    const data = packed({ digest: number }, new Uint8Array(deflateSync(Buffer.from([number]))));
    component({ data, parentElement: { querySelector: () => root } });
  };
  send(1);
  root.dispatchEvent(new Event("pointerdown"));
  await new Promise((done) => setTimeout(done, 50));
  assert.deepEqual(shown, []);
  page.dispatchEvent(new Event("pointerup"));
  await until(() => shown.length);
  assert.deepEqual(shown, [1]);
  send(2);
  send(3);
  root.dispatchEvent(new Event("pointerdown"));
  await new Promise((done) => setTimeout(done, 50));
  page.dispatchEvent(new Event("pointerup"));
  await until(() => shown.length > 1);
  assert.deepEqual(shown, [1, 3]);
});

test("a view is made once, hears every payload and sends by the newest message", () => {
  const events = [];
  class Shown extends View {
    start() {
      events.push(`made ${this.root.id}`);
    }
    receive({ header }) {
      events.push(header.text);
      this.python.trigger("said", header.text);
    }
    dispose() {
      events.push("gone");
    }
  }
  const component = mount(".view", Shown);
  const root = Object.assign(new EventTarget(), { id: "root" });
  const parentElement = { querySelector: (selector) => (selector === ".view" ? root : null) };
  const message = (text, sink) => ({
    data: packed({ text }),
    parentElement,
    setTriggerValue: sink,
    setStateValue: sink,
  });
  component(message("one", (name, value) => events.push(`first ${name} ${value}`)));
  const end = component(message("two", (name, value) => events.push(`second ${name} ${value}`)));
  end();
  component(message("three", () => {}));
  assert.deepEqual(events, [
    "made root",
    "one",
    "first said one",
    "two",
    "second said two",
    "gone",
    "made root",
    "three",
  ]);
  assert.equal(component({ data: "no bytes", parentElement }), undefined);
});

test("a role is named in full, by its letter or not at all, by the room that its labels have", () => {
  assert.deepEqual(
    [200, 40, 14, 5].map((room) => nameIn("assistant", room)),
    ["assistant", "A", "A", ""],
  );
  assert.equal(nameIn("user", 40), "user");
});

test("a token is of its message's role, else of the template, and of nobody where nothing is a chat", () => {
  const runs = [
    ["system", 1, 3, "#111111"],
    ["user", 3, 4, "#222222"],
  ];
  assert.deepEqual(
    [0, 1, 2, 3, 4].map((index) => roleOf(runs, index)),
    ["template", "system", "system", "user", "template"],
  );
  assert.equal(roleOf([], 0), "");
  assert.equal(withRole("{role}", "user"), "{role} (user)");
  assert.equal(withRole("it", ""), "it");
});

test("a sentence stands around its elements, wherever its language has them", () => {
  const elements = { query: "QUERY", key: "KEY" };
  assert.deepEqual(sentenceParts("{query} attends to {key}", elements), ["", "QUERY", " attends to ", "KEY", ""]);
  assert.deepEqual(sentenceParts("对 {key}，{query} 看", elements), ["对 ", "KEY", "，", "QUERY", " 看"]);
});
