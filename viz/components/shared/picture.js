// What the components draw with: elements, icons, the colour scale and its legend, matrices of pixels, a tooltip.
// Knows nothing of layers, heads or decoding. Text enters the page through textContent only.

function element(tag, className, text) {
  const created = document.createElement(tag);
  if (className) created.className = className;
  if (text !== undefined) created.textContent = text;
  return created;
}

/** A token, isolated so that right-to-left text cannot reorder what stands beside it. */
function tokenElement(token, className = "token") {
  const isolated = element("bdi", className, token);
  isolated.dir = "auto";
  return isolated;
}

/** Outlines on a 16 × 16 field; the characters ⏮ ⏭ are missing from many fonts. */
const ICONS = {
  first: "M3 3h2v10H3zM13 3v10L6 8z",
  back: "M10 2.8 11.5 4.3 7.8 8l3.7 3.7L10 13.2 4.8 8z",
  forward: "M6 2.8 4.5 4.3 8.2 8l-3.7 3.7L6 13.2 11.2 8z",
  play: "M4 2.2v11.6L13.4 8z",
  pause: "M3.6 2.5h3v11h-3zM9.4 2.5h3v11h-3z",
  last: "M11 3h2v10h-2zM3 3v10l7-5z",
};

function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

/** Hex stops as 256 opaque pixels, indexed by the upper byte of a stored √ value. */
function pixelScale(stops) {
  const rgb = stops.map((hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  const pixels = new Uint32Array(256);
  const view = new DataView(pixels.buffer);
  for (let i = 0; i < 256; i++) {
    const position = (i / 255) * (stops.length - 1);
    const low = Math.min(stops.length - 2, Math.floor(position));
    rgb[low].forEach((from, channel) => {
      view.setUint8(i * 4 + channel, Math.round(from + (rgb[low + 1][channel] - from) * (position - low)));
    });
    view.setUint8(i * 4 + 3, 255);
  }
  return pixels;
}

/**
 * For each of `pixels` places along a side, the run [first, end) of `cells` that it shows. With fewer pixels than cells
 * a place shows several; painting takes their maximum, so that no strong weight falls between two pixels.
 */
function cellRuns(cells, pixels) {
  const runs = [];
  for (let place = 0; place < pixels; place++) {
    if (cells <= pixels) {
      const cell = Math.floor(((place + 0.5) * cells) / pixels);
      runs.push([cell, cell + 1]);
    } else {
      runs.push([Math.floor((place * cells) / pixels), Math.ceil(((place + 1) * cells) / pixels)]);
    }
  }
  return runs;
}

/** The index of the largest of `values` within rows × columns of a matrix that begins at `base`. */
function largestWithin(values, base, columns, [top, bottom], [left, right]) {
  let best = base + top * columns + left;
  for (let row = top; row < bottom; row++) {
    for (let column = left; column < right; column++) {
      const index = base + row * columns + column;
      if (values[index] > values[best]) best = index;
    }
  }
  return best;
}

/** Paint one matrix of stored √ values into an image, at the image's own pixels: nothing is smoothed, nothing lost. */
function paintMatrix(image, scale, values, base, columns, place, rowRuns, columnRuns) {
  const pixels = new Uint32Array(image.data.buffer);
  rowRuns.forEach((rowRun, y) => {
    const line = (place.top + y) * image.width + place.left;
    columnRuns.forEach((columnRun, x) => {
      pixels[line + x] = scale[values[largestWithin(values, base, columns, rowRun, columnRun)] >> 8];
    });
  });
}

/** Give a canvas its size in device pixels, and on the page as much room as that makes in CSS pixels. */
function sizeCanvas(canvas, width, height, ratio) {
  canvas.width = width;
  canvas.height = height;
  canvas.style.width = `${width / ratio}px`;
  canvas.style.height = `${height / ratio}px`;
}

/** A colour bar with its name before it; `marks` are [place from 0 to 1, label]. */
function colourBar(name, said, stops, marks) {
  const legend = element("div", "legend");
  legend.setAttribute("role", "img");
  legend.setAttribute("aria-label", said);
  const bar = element("div", "legend-bar");
  bar.style.background = `linear-gradient(to right, ${stops.join(",")})`;
  const scale = element("div", "legend-scale");
  for (const [place, label] of marks) {
    const mark = element("span", "legend-tick", label);
    mark.style.left = `${place * 100}%`;
    scale.append(mark);
  }
  const ruler = element("div", "legend-ruler");
  ruler.append(bar, scale);
  legend.append(element("span", "legend-name", name), ruler);
  return legend;
}

/** The colour bar of weights, on the √ scale. */
function legendElement(stops, ticks) {
  const said = "Colour scale: weight from 0, dark, to 1, light, evenly spaced in the square root";
  return colourBar("Weight (√ scale)", said, stops, ticks.map((tick) => [Math.sqrt(tick), String(tick)]));
}

/** A box beside the pointer that stays within `root`. */
class Tooltip {
  constructor(root) {
    this.root = root;
    this.box = element("div", "tooltip");
    this.box.hidden = true;
    this.box.setAttribute("aria-hidden", "true");
    root.append(this.box);
  }

  /** A title, one token or two with an arrow between them (`key` may be null), and a note. */
  show(event, title, query, key, note) {
    const pair = element("div", "tooltip-pair");
    pair.append(tokenElement(query));
    if (key !== null) pair.append(element("span", "arrow", " → "), tokenElement(key));
    this.showContent(event, element("div", "tooltip-title", title), pair, element("div", "tooltip-value", note));
  }

  /** Beside the pointer, or whatever else has a `clientX` and a `clientY`. */
  showContent(event, ...content) {
    this.box.replaceChildren(...content);
    this.box.hidden = false;
    const frame = this.root.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = this.box;
    const x = event.clientX - frame.left;
    const y = event.clientY - frame.top;
    const left = x + 16 + width > frame.width ? x - width - 12 : x + 16;
    const top = y + 18 + height > frame.height ? y - height - 12 : y + 18;
    this.box.style.transform = `translate(${Math.max(0, Math.round(left))}px, ${Math.max(0, Math.round(top))}px)`;
  }

  hide() {
    this.box.hidden = true;
  }
}
