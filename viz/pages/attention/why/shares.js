// How the tab Why writes and colours a share.

/** A difference with its sign. @param {number} value */
export const signed = (value) => `${value < -0.005 ? "−" : value < 0.005 ? "" : "+"}${Math.abs(value).toFixed(2)}`;

/** @param {number} share */
export const hueOf = (share) => (share < 0 ? "cold" : "warm");
