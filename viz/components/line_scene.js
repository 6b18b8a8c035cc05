// The geometry of lines between two columns of tokens: which lines there are, how strong each is drawn, and the whole
// picture as primitives, painted as PNG or written as SVG. Knows nothing of the pointer, of Python or of the page.

const MOST_LINES = 20000;
/** √ values are drawn in so many steps of strength: lines of one step are one path. */
const STEPS = 32;
/** A line weaker than this cannot be seen; it is not drawn at all. */
const FAINTEST = 0.012;
const TITLE_HEIGHT = 34;
/** Browsers refuse canvases much taller than this; a longer picture is drawn less fine. */
const TALLEST_CANVAS = 16000;

/** How opaque and how wide a line is, by its value as a share of the largest there can be. */
const strength = (share) => ({ alpha: 0.95 * share ** 0.65, width: 1 + 2 * share });

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

/** Draw lines into a canvas context whose unit is a CSS pixel; returns how many there are. */
function strokeLines(context, matrix, heads, least, focus, layout, colours) {
  const paths = new Map();
  const { start, end } = lineEnds(layout, focus);
  const shifts = shiftsOf(heads, layout);
  let count = 0;
  eachLine(matrix, heads, least, focus, (head, query, key, stored) => {
    const step = head * STEPS + Math.min(STEPS - 1, Math.floor((stored * STEPS) / FULL));
    let path = paths.get(step);
    if (!path) paths.set(step, (path = new Path2D()));
    path.moveTo(start, layout.rowCentre(query) + shifts.get(head));
    path.lineTo(end, layout.rowCentre(key) + shifts.get(head));
    count++;
  });
  // Weak lines first, so that strong ones lie on top.
  const inOrder = [...paths].sort(([a], [b]) => (a % STEPS) - (b % STEPS));
  for (const [step, path] of inOrder) {
    const { alpha, width } = strength((((step % STEPS) + 0.5) / STEPS) ** 2);
    context.globalAlpha = alpha;
    context.lineWidth = width;
    context.strokeStyle = colours[Math.floor(step / STEPS) % colours.length];
    context.stroke(path);
  }
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

/** The picture as primitives, to be taken along: title, both columns, lines and, where a token is kept, boxes. */
function sceneOf({ matrix, heads, least, focus, layout, colours, header, title, ink, paper, numberOf }) {
  const { left, middle, right, height } = layout;
  const top = TITLE_HEIGHT;
  const { start, end } = lineEnds(layout, focus);
  const shifts = shiftsOf(heads, layout);
  const items = [{ kind: "text", x: 8, y: 20, text: title, anchor: "start", size: 13, weight: 600 }];
  eachLine(matrix, heads, least, focus, (head, query, key, stored) => {
    const { alpha, width } = strength(weightOf(stored));
    const ends = { x1: left + start, x2: left + end };
    const [y1, y2] = [query, key].map((index) => top + layout.rowCentre(index) + shifts.get(head));
    items.push({ kind: "line", ...ends, y1, y2, colour: colours[head % colours.length], alpha, width });
  });
  if (focus) {
    for (const box of boxesOf(matrix, heads, focus, layout, colours, numberOf)) {
      items.push({ kind: "box", ...box, x: left + box.x, y: top + box.y });
      const [x, y] = [left + box.x + box.width / 2, top + box.y + box.height / 2 + 3.5];
      if (box.text) items.push({ kind: "text", x, y, text: box.text, anchor: "middle", size: 10, weight: 400 });
    }
  }
  const label = (side, index, text) => {
    const isKept = focus?.side === side && focus.index === index;
    const x = side === "query" ? left - 8 : left + middle + 8;
    const y = top + layout.rowCentre(index) + layout.font / 3;
    const anchor = side === "query" ? "end" : "start";
    items.push({ kind: "text", x, y, text, anchor, size: layout.font, weight: isKept ? 700 : 400 });
  };
  header.queryTokens.forEach((token, index) => label("query", index, token));
  header.keyTokens.forEach((token, index) => label("key", index, token));
  return { width: left + middle + right, height: top + height + 8, items, ink, paper };
}

const FONT = "'Source Sans Pro', 'Source Sans', 'DejaVu Sans', sans-serif";

/** A scene as a canvas, twice as fine as the page. */
function canvasOf(scene) {
  const canvas = element("canvas");
  const scale = Math.min(2, TALLEST_CANVAS / scene.height);
  canvas.width = Math.round(scene.width * scale);
  canvas.height = Math.round(scene.height * scale);
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  context.fillStyle = scene.paper;
  context.fillRect(0, 0, scene.width, scene.height);
  for (const item of scene.items) {
    context.globalAlpha = item.alpha ?? 1;
    if (item.kind === "line") {
      context.strokeStyle = item.colour;
      context.lineWidth = item.width;
      context.beginPath();
      context.moveTo(item.x1, item.y1);
      context.lineTo(item.x2, item.y2);
      context.stroke();
    } else if (item.kind === "box") {
      context.fillStyle = item.colour;
      context.fillRect(item.x, item.y, item.width, item.height);
    } else {
      context.fillStyle = scene.ink;
      context.font = `${item.weight} ${item.size}px ${FONT}`;
      context.textAlign = item.anchor === "middle" ? "center" : item.anchor;
      context.direction = "ltr";
      context.fillText(item.text, item.x, item.y);
    }
  }
  return canvas;
}

const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };
const escapeXml = (text) => text.replace(/[&<>"']/g, (sign) => ENTITIES[sign]);

/** A scene as the text of an SVG file; tokens are escaped, so that markup in them is text. */
function svgOf(scene) {
  const n = (number) => String(Math.round(number * 100) / 100);
  const written = scene.items.map((item) => {
    if (item.kind === "line") {
      const place = `x1="${n(item.x1)}" y1="${n(item.y1)}" x2="${n(item.x2)}" y2="${n(item.y2)}"`;
      return `<line ${place} stroke="${item.colour}" stroke-width="${n(item.width)}" stroke-opacity="${n(item.alpha)}"/>`;
    }
    if (item.kind === "box") {
      const place = `x="${n(item.x)}" y="${n(item.y)}" width="${n(item.width)}" height="${n(item.height)}"`;
      return `<rect ${place} fill="${item.colour}" fill-opacity="${n(item.alpha)}"/>`;
    }
    const look = `font-size="${n(item.size)}" font-weight="${item.weight}" text-anchor="${item.anchor}"`;
    return `<text x="${n(item.x)}" y="${n(item.y)}" ${look} xml:space="preserve">${escapeXml(item.text)}</text>`;
  });
  const size = `width="${n(scene.width)}" height="${n(scene.height)}" viewBox="0 0 ${n(scene.width)} ${n(scene.height)}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="${escapeXml(FONT)}" fill="${escapeXml(scene.ink)}">`,
    `<rect width="100%" height="100%" fill="${escapeXml(scene.paper)}"/>`,
    ...written,
    "</svg>\n",
  ].join("\n");
}
