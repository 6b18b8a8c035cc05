// Lines between two columns of tokens: which there are, how strong each is drawn, and the boxes beside them.
// Knows nothing of the pointer, of Python or of the page.

/** More lines than these are a grey field to the eye, and take a browser without a graphics card over a second. */
const MOST_LINES = 4000;
/** √ values are drawn in so many steps of strength: lines of one step share paths. */
const STEPS = 32;
/** Measured: with fewer lines a path there are many calls, with more the browser sorts ever more edges. */
const LINES_A_PATH = 16;
/** Browsers refuse canvases much taller than this; a longer picture is drawn less fine. */
const TALLEST_CANVAS = 16000;

const ROOM_FOR_ROWS = 560;
const [LOWEST_ROW, HIGHEST_ROW] = [15, 26];
const ROOM_FOR_BOXES = 108;
const [NARROWEST_BOX, WIDEST_BOX] = [5, 32];

/** Height and text of rows in CSS pixels: they shrink until just readable; from there on the board scrolls. */
function rowsOf({ queries, keys }) {
  const count = Math.max(queries, keys);
  const row = Math.max(LOWEST_ROW, Math.min(HIGHEST_ROW, Math.floor(ROOM_FOR_ROWS / count)));
  return { row, font: row >= 20 ? 13.5 : 11.5, height: count * row, rowCentre: (index) => (index + 0.5) * row };
}

/** All sizes in CSS pixels: rows, the boxes of as many heads, and what is left and right of a middle of this width. */
function layoutOf(rows, columns, middle, heads) {
  const box = Math.max(NARROWEST_BOX, Math.min(WIDEST_BOX, Math.min(ROOM_FOR_BOXES, middle / 2) / heads));
  const [left, right] = [columns.query.offsetWidth, columns.key.offsetWidth];
  return { ...rows, box, strip: box * heads + 3, left, middle, right };
}

const storedAt = ({ values, queries, keys }, head, query, key) => values[(head * queries + query) * keys + key];

/** Heads lie beside one another, so that those that agree do not hide one another. */
function shiftsOf(heads, { row }) {
  const step = Math.min(3, (row * 0.6) / heads.length);
  return new Map(heads.map((head, place) => [head, (place - (heads.length - 1) / 2) * step]));
}

/** The largest number in [0, 1] that a stored value may stand for, as a stored value. */
const storedOf = (share) => Math.round(Math.sqrt(share) * FULL);

/** The lowest stored value whose line is at the threshold (in percent) and can be seen. */
const leastVisible = (threshold) => Math.max(storedOf(threshold / 100), storedOf(FAINTEST));

/** At most `digits` decimals; what is not zero never reads as zero. */
function formatNumber(value, digits = 2) {
  const least = 10 ** -digits;
  return value > 0 && value < least / 2 ? `< ${least}` : value.toFixed(value >= 10 ? digits - 1 : digits);
}

/** The lowest stored value that is drawn: at the threshold, visible, and among the `MOST_LINES` strongest. */
function leastStored(values, size, heads, threshold) {
  const least = leastVisible(threshold);
  const counts = new Uint32Array(4097);
  for (const head of heads) {
    for (let index = head * size; index < (head + 1) * size; index++) {
      if (values[index] >= least) counts[values[index] >> 4]++;
    }
  }
  let drawn = 0;
  for (let bin = 4095; bin >= least >> 4; bin--) {
    drawn += counts[bin];
    if (drawn > MOST_LINES) return (bin + 1) << 4;
  }
  return least;
}

/** Calls `visit(head, query, key, stored)` for every line of `heads` from `least` on; `focus` leaves those of one token. */
function eachLine({ values, queries, keys }, heads, least, focus, visit) {
  const [firstQuery, lastQuery] = focus?.side === "query" ? [focus.index, focus.index + 1] : [0, queries];
  const [firstKey, lastKey] = focus?.side === "key" ? [focus.index, focus.index + 1] : [0, keys];
  for (const head of heads) {
    for (let query = firstQuery; query < lastQuery; query++) {
      const row = (head * queries + query) * keys;
      for (let key = firstKey; key < lastKey; key++) {
        if (values[row + key] >= least) visit(head, query, key, values[row + key]);
      }
    }
  }
}

/** Where lines begin and end across the middle: beside the tokens, or beside the boxes where `focus` brings some. */
function lineEnds({ middle, strip }, focus) {
  const margin = 3;
  return {
    start: focus?.side === "key" ? strip + margin : margin,
    end: middle - (focus?.side === "query" ? strip + margin : margin),
  };
}

function strokeAll(context, lines, start, end) {
  for (let first = 0; first < lines.length; first += LINES_A_PATH) {
    context.beginPath();
    for (const { from, to } of lines.slice(first, first + LINES_A_PATH)) {
      context.moveTo(start, from);
      context.lineTo(end, to);
    }
    context.stroke();
  }
}

/** Draw lines into a canvas context whose unit is a CSS pixel; returns how many there are. */
function strokeLines(context, matrix, heads, least, focus, layout, colours) {
  const { start, end } = lineEnds(layout, focus);
  const shifts = shiftsOf(heads, layout);
  const lines = Array.from({ length: STEPS }, () => []);
  let count = 0;
  eachLine(matrix, heads, least, focus, (head, query, key, stored) => {
    const line = { head, from: layout.rowCentre(query) + shifts.get(head), to: layout.rowCentre(key) + shifts.get(head) };
    lines[Math.min(STEPS - 1, Math.floor((stored * STEPS) / FULL))].push(line);
    count++;
  });
  // Weak lines first, so that strong ones lie on top.
  lines.forEach((ofStep, step) => {
    const { alpha, width } = strength(((step + 0.5) / STEPS) ** 2);
    context.globalAlpha = alpha;
    context.lineWidth = width;
    for (const head of heads) {
      context.strokeStyle = colours[head % colours.length];
      strokeAll(context, ofStep.filter((line) => line.head === head), start, end);
    }
  });
  context.globalAlpha = 1;
  return count;
}

/**
 * The coloured boxes beside the other column: [{ x, y, width, height, colour, alpha, text }], one a head and token.
 * `numberOf(stored)` gives the text of a box that has room for one.
 */
function boxesOf({ values, queries, keys }, heads, focus, layout, colours, numberOf) {
  const isQuery = focus.side === "query";
  const start = isQuery ? layout.middle - layout.strip + 2 : 1;
  const boxes = [];
  for (let other = 0; other < (isQuery ? keys : queries); other++) {
    const [query, key] = isQuery ? [focus.index, other] : [other, focus.index];
    heads.forEach((head, place) => {
      const stored = values[(head * queries + query) * keys + key];
      const share = weightOf(stored);
      boxes.push({
        x: start + place * layout.box,
        y: layout.rowCentre(other) - layout.row / 2 + 1,
        width: layout.box - 1,
        height: layout.row - 2,
        colour: colours[head % colours.length],
        alpha: 0.06 + 0.54 * Math.sqrt(share),
        text: layout.box >= 24 && share >= 0.005 ? numberOf(stored) : "",
      });
    });
  }
  return boxes;
}

/** Paint boxes with their numbers. */
function paintBoxes(context, boxes, ink, font) {
  context.font = font;
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (const box of boxes) {
    context.globalAlpha = box.alpha;
    context.fillStyle = box.colour;
    context.fillRect(box.x, box.y, box.width, box.height);
    if (!box.text) continue;
    context.globalAlpha = 1;
    context.fillStyle = ink;
    context.fillText(box.text, box.x + box.width / 2, box.y + box.height / 2 + 0.5);
  }
  context.globalAlpha = 1;
}

/** The token of the other column with the largest value, in one head: { index, stored }. */
function strongestPartner({ values, queries, keys }, head, focus) {
  const isQuery = focus.side === "query";
  let best = { index: 0, stored: -1 };
  for (let index = 0; index < (isQuery ? keys : queries); index++) {
    const [query, key] = isQuery ? [focus.index, index] : [index, focus.index];
    const stored = values[(head * queries + query) * keys + key];
    if (stored > best.stored) best = { index, stored };
  }
  return best;
}

/** How many lines are drawn of how many there could be. */
function countSentence(drawn, all) {
  const [some, every] = [drawn, all].map((count) => count.toLocaleString("en"));
return `Lines drawn: ${some} of ${every}${drawn < all ? ", the strongest" : ""}.`;
}

/** A token and its partners, each `[head, token, number]`, as elements; `left` more heads are not named. */
function partnerSentence(own, arrow, partners, left) {
  const parts = partners.map(([head, token, number]) => {
    const part = element("span", "strongest");
    part.append(`${head} `, tokenElement(token, "token own"), ` ${number}`);
    return part;
  });
  return [tokenElement(own, "token own"), ` ${arrow} `, ...parts, left > 0 ? ` and ${left} more` : ""];
}
