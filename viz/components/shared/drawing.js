// What pictures of shapes are made with: SVG elements, and colours with the ink that can be read on them.
// Knows nothing of what is drawn.

function svg(tag, attributes, text) {
  const created = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes ?? {})) created.setAttribute(name, value);
  if (text !== undefined) created.textContent = text;
  return created;
}

/** The colour at `position` in [0, 1] of a scale of hex stops, and the ink that can be read on it. */
function colourAt({ stops, dark, pale }, position) {
  const at = Math.min(1, Math.max(0, position)) * (stops.length - 1);
  const low = Math.min(stops.length - 2, Math.floor(at));
  const channel = (hex, offset) => parseInt(hex.slice(offset, offset + 2), 16);
  const rgb = [1, 3, 5].map((offset) => {
    const from = channel(stops[low], offset);
    return Math.round(from + (channel(stops[low + 1], offset) - from) * (at - low));
  });
  // Relative luminance, near enough; at 0.185 dark and pale ink stand out equally.
  const [red, green, blue] = rgb.map((part) => (part / 255) ** 2.2);
  const isLight = 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.185;
  return { fill: `rgb(${rgb.join(",")})`, ink: isLight ? dark : pale };
}
