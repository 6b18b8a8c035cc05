// @ts-check
// What the components draw with: elements, the colour scale and its legend, matrices of pixels, a tooltip.
// Text enters the page through textContent only.

/** @typedef {[number, number]} Run first and end of what lies side by side: [first, end) */

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag @param {string} [className] @param {string | number | null} [text]
 */
export function element(tag, className, text) {
  const created = document.createElement(tag);
  if (className) created.className = className;
  if (text !== undefined) created.textContent = /** @type {string | null} */ (text);
  return created;
}

/** A token, isolated so that right-to-left text cannot reorder what stands beside it. @param {string} token */
export function tokenElement(token, className = "token") {
  const isolated = element("bdi", className, token);
  isolated.dir = "auto";
  return isolated;
}

/** A button with an action; `said` is its title and what a screen reader calls it. @param {string} label @param {string} said @param {() => void} act */
export function toolButton(label, said, act) {
  const created = element("button", "picture-button", label);
  created.type = "button";
  created.title = said;
  created.setAttribute("aria-label", said);
  created.addEventListener("click", act);
  return created;
}

/** The drawing context of a canvas. @param {HTMLCanvasElement} canvas */
export const contextOf = (canvas) => /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));

/** Hex stops as 256 opaque pixels, indexed by the upper byte of a stored √ value. @param {string[]} stops */
export function pixelScale(stops) {
  const rgb = stops.map((hex) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)));
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
 * For each of `pixels` places along a side, the run of `cells` that it shows. With fewer pixels than cells a place shows
 * several; painting takes their maximum, so that no strong weight falls between two pixels.
 * @param {number} cells @param {number} pixels @returns {Run[]}
 */
export function cellRuns(cells, pixels) {
  return Array.from({ length: pixels }, (_, place) => {
    if (cells > pixels) return [Math.floor((place * cells) / pixels), Math.ceil(((place + 1) * cells) / pixels)];
    const cell = Math.floor(((place + 0.5) * cells) / pixels);
    return [cell, cell + 1];
  });
}

/**
 * The index of the largest of `values` within rows × columns of a matrix that begins at `base`.
 * @param {Uint16Array} values @param {number} base @param {number} columns @param {Run} rowRun @param {Run} columnRun
 */
export function largestWithin(values, base, columns, [top, bottom], [left, right]) {
  let best = base + top * columns + left;
  for (let row = top; row < bottom; row++) {
    for (let column = left; column < right; column++) {
      const index = base + row * columns + column;
      if (values[index] > values[best]) best = index;
    }
  }
  return best;
}

/**
 * Paint one matrix of stored √ values into an image, at the image's own pixels: nothing is smoothed, nothing lost.
 * @param {ImageData} image @param {Uint32Array} scale @param {Uint16Array} values @param {number} base
 * @param {number} columns @param {{ left: number, top: number }} place @param {Run[]} rowRuns @param {Run[]} columnRuns
 */
export function paintMatrix(image, scale, values, base, columns, place, rowRuns, columnRuns) {
  const pixels = new Uint32Array(image.data.buffer);
  rowRuns.forEach((rowRun, y) => {
    const line = (place.top + y) * image.width + place.left;
    columnRuns.forEach((columnRun, x) => {
      pixels[line + x] = scale[values[largestWithin(values, base, columns, rowRun, columnRun)] >> 8];
    });
  });
}

/**
 * Give a canvas its size in device pixels, and on the page as much room as that makes in CSS pixels.
 * @param {HTMLCanvasElement} canvas @param {number} width @param {number} height @param {number} ratio
 */
export function sizeCanvas(canvas, width, height, ratio) {
  canvas.width = width;
  canvas.height = height;
  canvas.style.width = `${width / ratio}px`;
  canvas.style.height = `${height / ratio}px`;
}

/**
 * A colour bar with its name before it; `marks` are [place from 0 to 1, label].
 * @param {string} name @param {string} said @param {string[]} stops @param {[number, string][]} marks
 */
export function colourBar(name, said, stops, marks) {
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

/** The colour bar of weights, on the √ scale. @param {string[]} stops @param {number[]} ticks */
export function legendElement(stops, ticks) {
  const said = "Colour scale: weight from 0, dark, to 1, light, evenly spaced in the square root";
  return colourBar(
    "Weight (√ scale)",
    said,
    stops,
    ticks.map((tick) => [Math.sqrt(tick), String(tick)]),
  );
}

/** A box beside the pointer that stays within `root`. */
export class Tooltip {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.box = element("div", "tooltip");
    this.box.hidden = true;
    this.box.setAttribute("aria-hidden", "true");
    root.append(this.box);
  }

  /**
   * A title, one token or two with an arrow between them, and a note.
   * @param {{ clientX: number, clientY: number }} event @param {string} title
   * @param {string} query @param {string | null} key @param {string} note
   */
  show(event, title, query, key, note) {
    const pair = element("div", "tooltip-pair");
    pair.append(tokenElement(query));
    if (key !== null) pair.append(element("span", "arrow", " → "), tokenElement(key));
    this.showContent(event, element("div", "tooltip-title", title), pair, element("div", "tooltip-value", note));
  }

  /** Beside the pointer, or anything else with a place. @param {{ clientX: number, clientY: number }} event @param {Node[]} content */
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
