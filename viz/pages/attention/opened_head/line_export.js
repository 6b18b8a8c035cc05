// The picture of lines to be taken along: as primitives, then painted as PNG or written as SVG from the same ones.
// Knows nothing of the pointer, of Python or of the page.

const TITLE_HEIGHT = 34;

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

const saveSvg = (scene, name) => saveFile(new Blob([svgOf(scene)], { type: "image/svg+xml" }), `${name}.svg`);
const savePng = (scene, name) => canvasOf(scene).toBlob((blob) => saveFile(blob, `${name}.png`), "image/png");

/** Hand a file to the person, as if they had followed a link to it. */
function saveFile(blob, name) {
  const link = element("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
