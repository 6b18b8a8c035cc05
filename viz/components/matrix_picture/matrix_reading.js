// How a cell of a matrix is read out and walked to, and the buttons above it. Knows nothing of the page or of Python.

/**
 * The number of a cell: four decimals, three in a preview; what is not zero never reads as zero. Without its exact
 * number it is the largest of its block, and says so.
 */
function readCell({ rows, columns, values, block }, { rowTokens, columnTokens, isPreview, low, deep }, exact, row, column) {
  const down = blockOf(row, rowTokens.length, rows, block?.[0]);
  const across = blockOf(column, columnTokens.length, columns, block?.[1]);
  const value = exact ?? values[down * columns + across];
  if (Number.isNaN(value)) return "–";
  const isBlock = rows < rowTokens.length || columns < columnTokens.length;
  const note = isBlock && (exact ?? null) === null ? " (max of a block)" : "";
  const digits = isPreview ? 3 : (deep?.decimals ?? 4);
  const least = 10 ** -digits;
  if (value > 0 && value < least / 2) return `< ${least}${note}`;
  return `${low < 0 && value > 0 ? "+" : ""}${value.toFixed(digits)}${note}`;
}

/** Where keys lead, in rows and columns; `aPage` rows are seen at once. */
const stepsOf = (aPage, lastColumn) => ({
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  Home: [0, -lastColumn],
  End: [0, lastColumn],
  PageUp: [-aPage, 0],
  PageDown: [aPage, 0],
});

/** Where a cell lies along the side, from 0 to 1. */
const placeIn = ({ start, length }, cell) => Math.min(1, Math.max(0, (cell + 0.5 - start) / length));

function toolButton(label, said, act) {
  const created = element("button", "picture-button", label);
  created.type = "button";
  created.title = said;
  created.setAttribute("aria-label", said);
  created.addEventListener("click", act);
  return created;
}
