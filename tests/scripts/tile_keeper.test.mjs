// Tiles that wait in the browser stay there whichever keeper of them is built anew, and go with the last one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import { tilesAt } from "../../viz/pictures/shared/tile_store.js";
import component from "../../viz/pictures/tiles/tile_keeper.js";
import { packed, until } from "./packed.mjs";

const page = new EventTarget();
globalThis.addEventListener = page.addEventListener.bind(page);

const ADDRESS = "a text, encoder.self";
const FRAME = {
  address: ADDRESS,
  layers: 2,
  heads: 1,
  rows: 1,
  columns: 1,
  blockQueries: 1,
  blockKeys: 1,
  queryTokens: ["it"],
  keyTokens: ["it"],
  firstCell: [0, 128],
  firstThousandth: [0, 1],
};
const layer = (number) => packed({ address: ADDRESS, layer: number }, new Uint8Array(deflateSync(Buffer.from([0, 1]))));

const roots = [];

/** Puts a keeper on the page, hands it a payload, and returns what takes it away again. */
function keeper(data) {
  const root = Object.assign(new EventTarget(), { dataset: {} });
  roots.push(root);
  return component({ data, parentElement: { querySelector: () => root } });
}

/** What is inflated has arrived. */
const arrived = () => until(() => roots.every(({ dataset }) => dataset.kept));

test("layers stay when the page builds the keepers anew and takes the old ones away last", async () => {
  const old = [keeper(packed(FRAME)), keeper(layer(0))];
  await arrived();
  const anew = [keeper(packed(FRAME)), keeper(layer(0)), keeper(layer(1))];
  for (const end of old) end();
  await arrived();
  assert.deepEqual([...tilesAt(ADDRESS).missing], []);
  for (const end of anew) end();
  assert.equal(tilesAt(ADDRESS), undefined);
});

test("layers stay when only the keeper of the frame is built anew", async () => {
  const old = keeper(packed(FRAME));
  const layers = [keeper(layer(0)), keeper(layer(1))];
  await arrived();
  const anew = keeper(packed(FRAME));
  old();
  assert.deepEqual([...tilesAt(ADDRESS).missing], []);
  for (const end of [anew, ...layers]) end();
  assert.equal(tilesAt(ADDRESS), undefined);
});

test("a layer that comes before its frame waits for it", async () => {
  const early = keeper(layer(1));
  await arrived();
  const frame = keeper(packed(FRAME));
  assert.deepEqual([...tilesAt(ADDRESS).missing], [0]);
  for (const end of [frame, early]) end();
});
