import assert from "node:assert/strict";
import { test } from "node:test";

import "../page.js";

const { HIGHEST, LOWEST, pitchOf, voiceOf } = await import("../../../assets/curves/scalars/sound.js");

const axis = { low: 0, high: 1, log: false };
const PARTS = 150;

/** @param {number[]} x @param {number[]} values */
const line = (x, values) =>
  ({ meta: { key: "a", label: "a" }, values, x: (/** @type {number} */ i) => x[i], size: x.length, axis: "y" });
/** @param {Float32Array} pitches */
const shares = (pitches) => Array.from(pitches, (pitch) => Math.log2(pitch / LOWEST) / Math.log2(HIGHEST / LOWEST));

test("pitch goes with the place on the axis, also on a logarithmic one", () => {
  assert.equal(pitchOf(0, axis), LOWEST);
  assert.ok(Math.abs(pitchOf(1, axis) - HIGHEST) < 1e-9);
  assert.ok(Math.abs(pitchOf(0.5, axis) - Math.sqrt(LOWEST * HIGHEST)) < 1e-9);
  assert.equal(pitchOf(-5, axis), LOWEST);
  assert.ok(Math.abs(pitchOf(10, { low: 0, high: 2, log: true }) - pitchOf(0.5, axis)) < 1e-9);
  assert.ok(Number.isFinite(pitchOf(3, { low: 3, high: 3, log: false })));
});

test("a straight line glides from end to end", () => {
  const { key, pitches } = voiceOf(line([0, 100], [0, 1]), [], [0, 100], axis);
  assert.equal(key, "a");
  assert.equal(pitches.length, PARTS);
  for (let at = 1; at < PARTS; at += 1) assert.ok(pitches[at] > pitches[at - 1]);
});

test("nothing sounds before the first and after the last point", () => {
  const { pitches } = voiceOf(line([50, 100], [0.5, 0.5]), [], [0, 200], axis);
  assert.equal(pitches[0], 0);
  assert.equal(pitches[149], 0);
  assert.ok(pitches[40] > 0);
});

test("a spike is heard among many points", () => {
  const x = Array.from({ length: 30_000 }, (_, i) => i);
  const values = x.map((i) => (i === 12_345 ? 1 : 0.2));
  const heard = shares(voiceOf(line(x, values), [], [0, 30_000], axis).pitches);
  assert.equal(heard.filter((one) => one > 0.99).length, 1);
  assert.ok(heard.findIndex((one) => one > 0.99) === Math.floor((12_345 / 30_000) * PARTS));
});

test("NaN of this run is noise, that of others and infinity is not", () => {
  const marks = [
    { kind: "NaN", low: [20, 60], high: [40, 70], runs: ["a", "b"] }, { kind: "+Inf", low: [80], high: [90], runs: ["a"] },
  ];
  const { pitches } = voiceOf(line([0, 19, 41, 100], [0, 0.2, 0.4, 1]), marks, [0, 100], axis);
  assert.ok(Number.isNaN(pitches[45]));
  assert.ok(!Number.isNaN(pitches[95]));
  assert.ok(!Number.isNaN(pitches[127]));
});

test("points out of view are not heard, but lead to those in it", () => {
  const { pitches } = voiceOf(line([0, 50, 100, 150], [0, 1, 0, 1]), [], [50, 100], axis);
  assert.ok(pitches[0] > HIGHEST * 0.99);
  assert.ok(pitches[149] < LOWEST * 1.05);
});
