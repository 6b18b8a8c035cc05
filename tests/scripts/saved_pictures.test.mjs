// Pictures to be saved: what a canvas shows as shapes, and the sheet that is printed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { linkOf } from "../../viz/pictures/copy_link/copy_link.js";
import { cellsIn } from "../../viz/pictures/shared/canvas_cells.js";
import { printedPage } from "../../viz/pictures/shared/picture_file.js";
import { svgOf } from "../../viz/pictures/shared/picture_svg.js";

const [RED, BLUE, CLEAR] = [0xff0000ff, 0xffff0000, 0];

test("pixels become rectangles of one colour that cover them once, and what is clear stays clear", () => {
  const rows = [
    [RED, RED, BLUE, CLEAR],
    [RED, RED, BLUE, CLEAR],
    [RED, BLUE, BLUE, RED],
  ];
  const cells = cellsIn({ width: 4, height: 3, pixels: new Uint32Array(rows.flat()) }, 100);
  const painted = rows.map((row) => row.map(() => CLEAR));
  for (const { x, y, width, height, colour } of cells)
    for (let row = y; row < y + height; row++)
      for (let column = x; column < x + width; column++) {
        assert.equal(painted[row][column], CLEAR);
        painted[row][column] = colour;
      }
  assert.deepEqual(painted, rows);
  assert.deepEqual(cells[0], { x: 0, y: 0, width: 2, height: 2, colour: RED });
  assert.equal(cellsIn({ width: 4, height: 3, pixels: new Uint32Array(rows.flat()) }, 2), null);
});

test("a picture without paper has no background, and one with pixels says so", () => {
  const picture = {
    left: 1,
    above: 2,
    width: 9,
    height: 9,
    paper: "none",
    font: "serif",
    holdsPixels: true,
    shapes: [],
  };
  assert.doesNotMatch(svgOf(picture), /<rect/);
  assert.match(svgOf(picture), /<desc>This picture is stored as pixels/);
  assert.match(svgOf({ ...picture, paper: "#ffffff" }), /<rect width="9" height="9" fill="#ffffff"/);
});

test("a printed sheet has the picture's size, and its name cannot leave the title", () => {
  const sheet = printedPage("<svg/>", 640, 480, "</title><script>");
  assert.match(sheet, /size: 640px 480px; margin: 0/);
  assert.doesNotMatch(sheet, /<script>/);
});

test("a copied link has what the address leaves out, and what is chosen stays", () => {
  const link = new URL(linkOf("http://a/decode?text=b+c&step=2", { text: "other", checkpoint: "en-de" }));
  assert.deepEqual(Object.fromEntries(link.searchParams), { text: "b c", step: "2", checkpoint: "en-de" });
  assert.equal(link.pathname, "/decode");
});
