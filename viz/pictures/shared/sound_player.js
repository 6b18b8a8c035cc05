// Plays a part of a sound, to the sample, and says where it is whenever the screen is drawn.

/** What plays: seconds of the sound, and the audio clock's time when it began. @typedef {{ source: AudioBufferSourceNode, from: number, to: number, begun: number }} Playing */

export class SoundPlayer {
  /** @type {Playing | null} */ playing = null;
  /** A browser allows it once a person has pressed something. @type {AudioContext | null} */ audio = null;

  /** @param {(time: number) => void} onMove hears the second that is played @param {() => void} onEnd hears that nothing is any more */
  constructor(onMove, onEnd) {
    this.onMove = onMove;
    this.onEnd = onEnd;
  }

  /** @param {Int16Array} samples @param {number} rate samples a second @param {number} from @param {number} to in seconds */
  play(samples, rate, from, to) {
    this.stop();
    this.audio ??= new AudioContext();
    this.audio.resume();
    const buffer = this.audio.createBuffer(1, samples.length, rate);
    buffer.copyToChannel(
      Float32Array.from(samples, (sample) => sample / 32_768),
      0,
    );
    const source = new AudioBufferSourceNode(this.audio, { buffer });
    source.connect(this.audio.destination);
    source.start(0, from, to - from);
    source.onended = () => this.playing?.source === source && this.stop();
    this.playing = { source, from, to, begun: this.audio.currentTime };
    this.follow(this.playing);
  }

  /** @param {Playing} playing */
  follow(playing) {
    if (this.playing !== playing || !this.audio) return;
    this.onMove(Math.min(playing.to, playing.from + this.audio.currentTime - playing.begun));
    requestAnimationFrame(() => this.follow(playing));
  }

  stop() {
    if (!this.playing) return;
    this.playing.source.stop();
    this.playing = null;
    this.onEnd();
  }

  close() {
    this.stop();
    this.audio?.close();
  }
}
