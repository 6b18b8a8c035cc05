// What rows give to moments of a sound: sums over runs of frames, exact.
/** @import { Run } from "../../../pictures/shared/picture.js" */

// A moment that is pointed at reaches so many seconds to both sides.
export const AROUND = 0.05;

export class SoundWeights {
  /** How many frames a cell sums. */ block = 1;

  /** @param {Float32Array} weights [row, frame] @param {number} rows @param {number} secondsPerFrame */
  constructor(weights, rows, secondsPerFrame) {
    this.weights = weights;
    this.frames = weights.length / rows;
    this.secondsPerFrame = secondsPerFrame;
  }

  /** Seconds that the frames take; the last may end after the sound. */
  get seconds() {
    return this.frames * this.secondsPerFrame;
  }

  /** What a row gives to frames. @param {number} row @param {Run} run */
  on(row, [first, end]) {
    let sum = 0;
    for (let frame = first; frame < end; frame++) sum += this.weights[row * this.frames + frame];
    return sum;
  }

  /** The cells of a row, as runs of frames. @returns {Run[]} */
  get runs() {
    const { block, frames } = this;
    return Array.from({ length: Math.ceil(frames / block) }, (_cell, i) => [
      i * block,
      Math.min(frames, (i + 1) * block),
    ]);
  }

  /** @param {number} row @param {Run[]} runs */
  onEach(row, runs) {
    return runs.map((run) => this.on(row, run));
  }

  /** The cell at a moment. @param {number} time @returns {Run} */
  cellAt(time) {
    const first = Math.floor(time / this.secondsPerFrame / this.block) * this.block;
    return [first, Math.min(this.frames, first + this.block)];
  }

  /** The frames around a moment. @param {number} time @returns {Run} */
  around(time) {
    const frame = Math.min(this.frames - 1, Math.floor(time / this.secondsPerFrame));
    // What the division rounds off is no frame.
    const reach = Math.floor(AROUND / this.secondsPerFrame + 1e-6);
    return [Math.max(0, frame - reach), Math.min(this.frames, frame + reach + 1)];
  }

  /** Frames as a text of seconds. @param {Run} run */
  spanOf([first, end]) {
    return `${(first * this.secondsPerFrame).toFixed(2)}–${(end * this.secondsPerFrame).toFixed(2)}`;
  }

  /** Where a row's weight lies: each cell's, and the stretch, as shares of the time. @param {number} row @param {Run} stretch */
  marksOf(row, stretch) {
    const { runs, block, frames } = this;
    const inShares = /** @type {Run} */ (stretch.map((frame) => frame / frames));
    return { weights: this.onEach(row, runs), reach: (runs.length * block) / frames, stretch: inShares };
  }
}
