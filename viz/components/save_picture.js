// Saves what a component shows as a picture: PNG at twice the screen's pixels, or SVG with real text.
// The picture is read off the page: canvases, texts, frames and plain or graded backgrounds, each where it stands and in
// its colour, so a component need not describe itself. Buttons and what has `data-not-in-picture` stay out.
// Knows nothing of heads or weights. Interface: pictureButtons(root, nameOf) → an element with the two buttons.

const PICTURE_SCALE = 2;
const PICTURE_MARGIN = 12;

/** A CSS colour of any notation as { hex, alpha }; the browser itself reads it. */
function plainColour(css) {
  const context = (plainColour.context ??= new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true }));
  context.clearRect(0, 0, 1, 1);
  context.fillStyle = css;
  context.fillRect(0, 0, 1, 1);
  const [red, green, blue, alpha] = context.getImageData(0, 0, 1, 1).data;
  return { hex: `#${[red, green, blue].map((part) => part.toString(16).padStart(2, "0")).join("")}`, alpha: alpha / 255 };
}

/** The pieces of a text node that stand on one line each, with their places. */
function linesOf(node) {
  const lines = [];
  for (const { index, 0: word } of node.data.matchAll(/\S+/g)) {
    const range = document.createRange();
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    const box = range.getBoundingClientRect();
    const last = lines.at(-1);
    if (last && Math.abs(last.box.top - box.top) < 2) {
      last.text += ` ${word}`;
      last.box = DOMRect.fromRect({ x: last.box.x, y: last.box.y, width: box.right - last.box.x, height: box.height });
    } else if (box.width) lines.push({ text: word, box });
  }
  return lines;
}

/** What `root` shows, as shapes in the order in which they are painted. */
function shapesOf(root) {
  const origin = root.getBoundingClientRect();
  const shapes = [];
  const place = ({ x, y, width, height }) => ({ x: x - origin.x, y: y - origin.y, width, height });
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) => {
    const isElement = node instanceof Element;
    if (isElement && (node.matches("button, [data-not-in-picture]") || !node.checkVisibility({ visibilityProperty: true })))
      return NodeFilter.FILTER_REJECT;
    return NodeFilter.FILTER_ACCEPT;
  });
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node instanceof Element) shapes.push(...boxesOf(node, place(node.getBoundingClientRect())));
    else {
      const { color, fontSize, fontWeight } = getComputedStyle(node.parentElement);
      for (const { text, box } of linesOf(node)) {
        shapes.push({ kind: "text", text, size: parseFloat(fontSize), weight: fontWeight, colour: plainColour(color), ...place(box) });
      }
    }
  }
  return shapes;
}

function boxesOf(element, box) {
  const style = getComputedStyle(element);
  const shapes = [];
  const fill = plainColour(style.backgroundColor);
  if (fill.alpha) shapes.push({ kind: "fill", colour: fill, ...box });
  // A bar within a bar is drawn by style alone; such a part begins where its element does.
  const part = getComputedStyle(element, "::before");
  const partFill = plainColour(part.backgroundColor);
  if (part.content !== "none" && part.position === "static" && partFill.alpha) {
    const [width, height] = [part.width, part.height].map(parseFloat);
    shapes.push({ kind: "fill", colour: partFill, x: box.x, y: box.y, width, height });
  }
  const stops = style.backgroundImage.startsWith("linear-gradient(to right") && style.backgroundImage.match(/rgba?\([^)]*\)/g);
  if (stops) shapes.push({ kind: "gradient", stops: stops.map((stop) => plainColour(stop).hex), ...box });
  if (element instanceof HTMLCanvasElement && element.width && element.height) shapes.push({ kind: "image", canvas: element, ...box });
  const width = style.outlineStyle === "none" ? 0 : parseFloat(style.outlineWidth);
  if (width) {
    const off = parseFloat(style.outlineOffset) + width / 2;
    const around = { x: box.x - off, y: box.y - off, width: box.width + 2 * off, height: box.height + 2 * off };
    shapes.push({ kind: "frame", thickness: width, colour: plainColour(style.outlineColor), ...around });
  }
  return shapes;
}

/** The picture of `root`: its size, paper and shapes, of which canvases lie lowest. */
function pictureOf(root) {
  const style = getComputedStyle(root);
  const shapes = shapesOf(root);
  const isImage = (shape) => shape.kind === "image";
  const reach = (side, length) => Math.ceil(Math.max(...shapes.map((shape) => shape[side] + shape[length])));
  return {
    width: reach("x", "width") + 2 * PICTURE_MARGIN,
    height: reach("y", "height") + 2 * PICTURE_MARGIN,
    paper: plainColour(style.getPropertyValue("--st-background-color") || "white").hex,
    font: style.fontFamily,
    shapes: [...shapes.filter(isImage), ...shapes.filter((shape) => !isImage(shape))],
  };
}

// ---- PNG ----

function drawPicture({ width, height, paper, font, shapes }) {
  const canvas = document.createElement("canvas");
  canvas.width = width * PICTURE_SCALE;
  canvas.height = height * PICTURE_SCALE;
  const context = canvas.getContext("2d");
  context.fillStyle = paper;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.scale(PICTURE_SCALE, PICTURE_SCALE);
  context.translate(PICTURE_MARGIN, PICTURE_MARGIN);
  context.imageSmoothingEnabled = false;
  context.textBaseline = "middle";
  for (const shape of shapes) drawShape(context, shape, font);
  return canvas;
}

function drawShape(context, shape, font) {
  const { kind, x, y, width, height } = shape;
  context.globalAlpha = shape.colour?.alpha ?? 1;
  if (kind === "image") context.drawImage(shape.canvas, x, y, width, height);
  if (kind === "fill") {
    context.fillStyle = shape.colour.hex;
    context.fillRect(x, y, width, height);
  }
  if (kind === "gradient") {
    const gradient = context.createLinearGradient(x, 0, x + width, 0);
    shape.stops.forEach((stop, i) => gradient.addColorStop(i / (shape.stops.length - 1), stop));
    context.fillStyle = gradient;
    context.fillRect(x, y, width, height);
  }
  if (kind === "frame") {
    context.strokeStyle = shape.colour.hex;
    context.lineWidth = shape.thickness;
    context.strokeRect(x, y, width, height);
  }
  if (kind === "text") {
    context.font = `${shape.weight} ${shape.size}px ${font}`;
    context.fillStyle = shape.colour.hex;
    context.fillText(shape.text, x, y + height / 2);
  }
}

// ---- SVG ----

const escaped = (text) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

function svgOf({ width, height, paper, font, shapes }) {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<rect width="${width}" height="${height}" fill="${paper}"/>`,
    `<g transform="translate(${PICTURE_MARGIN} ${PICTURE_MARGIN})" font-family="${escaped(font)}">`,
    ...shapes.map(shapeAsSvg),
    "</g></svg>",
  ].join("\n");
}

function shapeAsSvg(shape, i) {
  const { kind, colour } = shape;
  const [x, y, width, height] = [shape.x, shape.y, shape.width, shape.height].map((length) => Number(length.toFixed(2)));
  const box = `x="${x}" y="${y}" width="${width}" height="${height}"`;
  if (kind === "image") return `<image ${box} preserveAspectRatio="none" style="image-rendering:pixelated" href="${shape.canvas.toDataURL()}"/>`;
  if (kind === "fill") return `<rect ${box} fill="${colour.hex}" fill-opacity="${colour.alpha}"/>`;
  if (kind === "frame")
    return `<rect ${box} fill="none" stroke="${colour.hex}" stroke-opacity="${colour.alpha}" stroke-width="${shape.thickness}"/>`;
  if (kind === "gradient") {
    const stops = shape.stops.map((stop, at) => `<stop offset="${at / (shape.stops.length - 1)}" stop-color="${stop}"/>`);
    return `<linearGradient id="scale${i}">${stops.join("")}</linearGradient><rect ${box} fill="url(#scale${i})"/>`;
  }
  // The width is given, so that a reader whose fonts are wider keeps every label in its place.
  return (
    `<text x="${x}" y="${Number((y + height / 2).toFixed(2))}" dominant-baseline="central" font-size="${shape.size}" ` +
    `font-weight="${shape.weight}" fill="${colour.hex}" fill-opacity="${colour.alpha}" textLength="${width}" ` +
    `lengthAdjust="spacingAndGlyphs">${escaped(shape.text)}</text>`
  );
}

// ---- files and buttons ----

function saveFile(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // Not at once: the browser first has to open what the address names.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function savePng(root, name) {
  drawPicture(pictureOf(root)).toBlob((blob) => saveFile(blob, `${name}.png`), "image/png");
}

function saveSvg(root, name) {
  saveFile(new Blob([svgOf(pictureOf(root))], { type: "image/svg+xml" }), `${name}.svg`);
}

/** Two buttons that save what `root` shows; `nameOf()` is the file's name without its ending. */
function pictureButtons(root, nameOf) {
  const group = element("span", "picture-buttons");
  group.dataset.notInPicture = "";
  for (const [label, save] of [["PNG", savePng], ["SVG", saveSvg]]) {
    const button = element("button", "picture-button", label);
    button.type = "button";
    button.title = `Save this picture as ${label}`;
    button.setAttribute("aria-label", button.title);
    button.addEventListener("click", () => save(root, nameOf()));
    group.append(button);
  }
  return group;
}
