// @ts-check
// How strong a line is drawn that stands for a weight.

/** A line weaker than this cannot be seen; it is not drawn at all. */
export const FAINTEST = 0.012;

/** How opaque and how wide a line is, by its value as a share of the largest there can be. @param {number} share */
export const strength = (share) => ({ alpha: 0.95 * share ** 0.65, width: 1 + 2 * share });
