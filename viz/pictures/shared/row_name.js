// @ts-check
// Names a row of a decoder as model/trace/axes.py does.

/** What a row is called that reads one token and writes another: "weil → es". @param {string} read @param {string} written */
export const rowName = (read, written) => `${read} → ${written}`;
