// Plays the curves of a card: pitch is the value on the card's axis, three seconds are what is on screen, the runs sound one
// after the other, and NaN is noise. Web Audio makes the sound; there is none until the button is pressed.

import { number, tracesOf } from "../../kit/cards/curves.js";
import { linesIn, marksIn } from "../../kit/cards/lines.js";
import * as slots from "../../kit/cards/slots.js";

export const SECONDS = 3;  // what is on screen, of one run
export const PAUSE = 0.25;  // s between two runs
export const LOWEST = 220;  // Hz at the lower end of the axis
export const HIGHEST = 880;  // Hz at the upper end
const PARTS = 150;  // of the time of a run
const LOUD = 0.2;
const EDGE = 0.005;  // s to begin and end without a click

/** @typedef {{ low: number, high: number, log: boolean }} Axis */
/**
 * What is heard of a run: for each of the parts of its time a pitch in Hz, 0 for silence and NaN for noise.
 * @typedef {{ key: string, pitches: Float32Array }} Voice
 */
/**
 * @typedef {object} Line
 * @property {{ key: string, label: string }} meta
 * @property {ArrayLike<number>} values
 * @property {(i: number) => number} x
 * @property {number} size
 * @property {string} axis
 */
/** @typedef {{ kind: string, low: ArrayLike<number>, high: ArrayLike<number>, runs: string[] }} Mark */

/**
 * The pitch of a value on an axis; as the ear has it, equal steps on the axis are equal intervals.
 * @param {number} value
 * @param {Axis} axis whose ends are logarithms on a logarithmic one
 */
export function pitchOf(value, { low, high, log }) {
  const place = high > low ? ((log ? Math.log10(value) : value) - low) / (high - low) : 0.5;
  return LOWEST * (HIGHEST / LOWEST) ** Math.min(1, Math.max(0, place));
}

/**
 * What is heard of a line. Of the points of one part the one is heard that differs most from the part before, so that no
 * spike is lost; between two points the pitch glides.
 * @param {Line} line
 * @param {Mark[]} marks
 * @param {[number, number]} view ends of the axis of x
 * @param {Axis} axis
 * @returns {Voice}
 */
export function voiceOf(line, marks, [from, to], axis) {
  const pitches = new Float32Array(PARTS);
  /** @param {number} x */
  const partOf = (x) => Math.floor(((x - from) / (to - from)) * PARTS);
  let [lastPart, lastPitch] = [-1, 0];
  for (let i = 0; i < line.size; i += 1) {
    const [value, part] = [line.values[i], Math.min(PARTS - 1, partOf(line.x(i)))];
    if (value - value !== 0 || (axis.log && value <= 0)) {
      lastPitch = 0;  // a gap: nothing leads over it
      continue;
    }
    const pitch = pitchOf(value, axis);
    if (line.x(i) < from || line.x(i) > to || !(part >= 0)) {
      [lastPart, lastPitch] = [Math.max(-1, Math.min(part, PARTS)), pitch];
      continue;
    }
    const before = pitches[part - 1] || pitch;
    if (part !== lastPart || Math.abs(pitch - before) > Math.abs(pitches[part] - before)) pitches[part] = pitch;
    for (let at = lastPart + 1; lastPitch && at < part; at += 1) {
      pitches[at] = lastPitch + ((pitch - lastPitch) * (at - lastPart)) / (part - lastPart);
    }
    [lastPart, lastPitch] = [part, pitch];
  }
  for (const { kind, low, high, runs } of marks) {
    for (let i = 0; kind === "NaN" && i < low.length; i += 1) {
      if (runs.length && runs[i] !== line.meta.label) continue;
      const [first, last] = [partOf(low[i]), partOf(high.length ? high[i] : low[i])];
      for (let at = Math.max(0, first); at <= Math.min(PARTS - 1, last); at += 1) pitches[at] = NaN;
    }
  }
  return { key: line.meta.key, pitches };
}

/**
 * Seconds that voices take one after the other.
 * @param {Voice[]} voices
 */
export const duration = (voices) => voices.length * (SECONDS + PAUSE);

/**
 * Have a context sound the voices, one after the other.
 * @param {BaseAudioContext} context
 * @param {Voice[]} voices
 * @param {number} start s
 */
export function schedule(context, voices, start) {
  const samples = context.createBuffer(1, context.sampleRate, context.sampleRate);
  const noise = samples.getChannelData(0);
  for (let i = 0; i < noise.length; i += 1) noise[i] = 2 * Math.random() - 1;
  voices.forEach(({ pitches }, at) => {
    const begin = start + at * (SECONDS + PAUSE);
    const tone = context.createOscillator();
    const rush = new AudioBufferSourceNode(context, { buffer: samples, loop: true });
    const [loud, rushing] = [context.createGain(), context.createGain()];
    loud.gain.value = 0;
    rushing.gain.value = 0;
    tone.connect(loud).connect(context.destination);
    rush.connect(rushing).connect(context.destination);
    pitches.forEach((pitch, part) => {
      const time = begin + (part * SECONDS) / PARTS;
      if (pitch > 0) tone.frequency.setValueAtTime(pitch, time);
      loud.gain.setTargetAtTime(pitch > 0 ? LOUD : 0, time, EDGE);
      rushing.gain.setTargetAtTime(Number.isNaN(pitch) ? LOUD / 2 : 0, time, EDGE);
    });
    for (const gain of [loud.gain, rushing.gain]) gain.setTargetAtTime(0, begin + SECONDS, EDGE);
    for (const source of [tone, rush]) {
      source.start(begin);
      source.stop(begin + SECONDS + PAUSE / 2);
    }
  });
}

/**
 * The voices of a card as it is on screen.
 * @param {Drawing} drawing
 * @param {PlotlyLayout} layout of its plot
 */
export function voicesOf(drawing, layout) {
  const marks = marksIn(drawing);
  const [from, to] = (layout.xaxis?.range || []).map(number);
  return linesIn(drawing).map((line) => {
    const { range, type } = layout[line.axis.replace("y", "yaxis")];
    const axis = { low: Number(range[0]), high: Number(range[1]), log: type === "log" };
    return voiceOf(line, marks, [from, to], axis);
  });
}

/** @type {{ context: AudioContext, card: HTMLElement, key: string, timer: number } | null} */
let playing = null;

// A page that is left, or a card that is no longer on it, is not heard.
const watch = new MutationObserver(() => {
  if (playing && !(playing.card.isConnected && playing.card.dataset.key === playing.key)) stop();
});

function stop() {
  if (!playing) return;
  watch.disconnect();
  window.clearTimeout(playing.timer);
  slots.press(playing.card, "sound", false);
  playing.context.close();
  playing = null;
}

/**
 * Play a card, or stop if it is the one that plays.
 * @param {Curves.Page} page
 * @param {HTMLElement} card
 */
export function toggle(page, card) {
  const same = playing && playing.card === card;
  stop();
  const drawing = page.drawings.get(Number(card.dataset.slot));
  const plot = slots.plotOf(card);
  if (same || !drawing || !plot || !tracesOf(drawing).length) return;
  const voices = voicesOf(drawing, plot.layout);
  const context = new AudioContext();
  schedule(context, voices, context.currentTime + EDGE);
  const key = card.dataset.key || "";
  watch.observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ["data-key"] });
  playing = { context, card, key, timer: window.setTimeout(stop, (duration(voices) + PAUSE) * 1000) };
  slots.press(card, "sound", true);
}

/** @param {HTMLElement} card */
export const isPlaying = (card) => playing !== null && playing.card === card;
