// Saves what a component shows as a picture: PNG at twice the screen's pixels, or SVG with real text.
// The picture is read off the page: canvases, drawings, texts, frames and plain or graded backgrounds, each where it
// stands and in its colour, so a component need not describe itself. Buttons without `data-in-picture` stay out, and so
// does what has `data-not-in-picture`.
// Knows nothing of heads or weights. Interface: pictureButtons(root, nameOf) → an element with the two buttons.

const PICTURE_SCALE = 2;
// Room for labels: whoever opens the picture may have a wider font.
const PICTURE_MARGIN = 20;

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
    const isOut = isElement && node.matches("button:not([data-in-picture]), [data-not-in-picture]");
    if (isElement && (isOut || !node.checkVisibility({ visibilityProperty: true }) || node.parentElement?.closest("svg")))
      return NodeFilter.FILTER_REJECT;
    return NodeFilter.FILTER_ACCEPT;
  });
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const turned = node instanceof Element ? null : turnedBy(node.parentElement, root);
    if (node instanceof SVGElement) shapes.push({ kind: "drawing", markup: drawingOf(node), ...place(node.getBoundingClientRect()) });
    else if (node instanceof Element) shapes.push(...boxesOf(node, place(node.getBoundingClientRect())));
    else if (turned) shapes.push(turnedText(node, turned, origin));
    else if (!node.parentElement.closest("svg")) {
      const { color, fontSize, fontWeight } = getComputedStyle(node.parentElement);
      for (const { text, box } of linesOf(node)) {
        shapes.push({ kind: "text", text, size: parseFloat(fontSize), weight: fontWeight, colour: plainColour(color), ...place(box) });
      }
    }
  }
  return shapes;
}

/** The element between `element` and `root` that is turned, if there is one. */
function turnedBy(element, root) {
  for (let at = element; at && at !== root; at = at.parentElement) {
    const { transform } = getComputedStyle(at);
    if (transform !== "none" && new DOMMatrix(transform).b) return at;
  }
  return null;
}

/** A text within a turned element: where that element turns, and how far. */
function turnedText(node, element, origin) {
  const style = getComputedStyle(element);
  const parent = element.offsetParent.getBoundingClientRect();
  const [pivotX, pivotY] = style.transformOrigin.split(" ").map(parseFloat);
  const { a, b } = new DOMMatrix(style.transform);
  const { color, fontSize, fontWeight } = getComputedStyle(node.parentElement);
  const before = document.createRange();
  before.setStart(element, 0);
  before.setEnd(node, 0);
  return {
    kind: "turned",
    text: before.toString() + node.data,
    size: parseFloat(fontSize),
    weight: fontWeight,
    colour: plainColour(color),
    angle: (Math.atan2(b, a) * 180) / Math.PI,
    across: parseFloat(style.paddingLeft) - pivotX,
    down: element.offsetHeight / 2 - pivotY,
    x: parent.x + element.offsetLeft + pivotX - origin.x,
    y: parent.y + element.offsetTop + pivotY - origin.y,
    width: 0,
    height: 0,
  };
}

const DRAWN_BY = ["fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-weight", "font-style", "text-anchor", "dominant-baseline", "font-variant-numeric"];

/** An SVG element as markup that carries its own styles, for they stand in the component's style sheet. */
function drawingOf(drawing) {
  const copy = drawing.cloneNode(true);
  const [originals, copies] = [drawing, copy].map((top) => [top, ...top.querySelectorAll("*")]);
  originals.forEach((original, i) => {
    const style = getComputedStyle(original);
    copies[i].removeAttribute("class");
    copies[i].setAttribute("style", DRAWN_BY.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";"));
  });
  copy.setAttribute("overflow", "visible");
  return new XMLSerializer().serializeToString(copy);
}

function boxesOf(element, box) {
  const style = getComputedStyle(element);
  const shapes = [];
  const fill = plainColour(style.backgroundColor);
  if (fill.alpha) shapes.push({ kind: "fill", colour: fill, ...box });
  // A bar within a bar is drawn by style alone; such a part begins where its element does.
  const part = getComputedStyle(element, "::before");
  const partFill = plainColour(part.backgroundColor);
  if (part.content === '""' && part.position === "static" && partFill.alpha) {
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
  root.classList.add("being-saved");
  const shapes = shapesOf(root);
  root.classList.remove("being-saved");
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
  if (kind === "drawing") return `<g transform="translate(${x} ${y})">${shape.markup}</g>`;
  if (kind === "turned")
    return (
      `<text transform="translate(${x} ${y}) rotate(${shape.angle})" x="${shape.across}" y="${shape.down}" font-size="${shape.size}" ` +
      `dominant-baseline="central" font-weight="${shape.weight}" fill="${colour.hex}" fill-opacity="${colour.alpha}">${escaped(shape.text)}</text>`
    );
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

function svgFile(root) {
  return new Blob([svgOf(pictureOf(root))], { type: "image/svg+xml" });
}

/** The SVG, drawn by the browser at twice the screen's pixels. */
async function savePng(root, name) {
  const address = URL.createObjectURL(svgFile(root));
  const image = new Image();
  image.src = address;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.width * PICTURE_SCALE;
  canvas.height = image.height * PICTURE_SCALE;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(address);
  canvas.toBlob((blob) => saveFile(blob, `${name}.png`), "image/png");
}

function saveSvg(root, name) {
  saveFile(svgFile(root), `${name}.svg`);
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
