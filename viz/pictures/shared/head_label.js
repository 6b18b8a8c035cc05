// @ts-check
// Names a head as viz/text/sites.py does.

/** A head as people read it, counted from 1: "L4 H2". @param {number} layer @param {number} head both from 0 */
export const headLabel = (layer, head) => `L${layer + 1} H${head + 1}`;
