// Busy pixels: opacity by share, and rectangles for drawings without pixels.

import assert from "node:assert/strict";
import test from "node:test";

import { levelOf, opacity, pixelsOf, shapeBusy } from "../../../assets/profiles/timeline/busy.js";

test("a pixel shows its share, and something wherever anything ran", () => {
  const pixels = new Uint32Array(5);
  pixelsOf(Float32Array.from([0, 1e-9, 0.5, 1, 3]), [0x11, 0x22, 0x33], pixels);
  assert.deepEqual([...pixels].map((pixel) => pixel & 0xffffff), [0, 0x332211, 0x332211, 0x332211, 0x332211]);
  const alphas = [...pixels].map((pixel) => pixel >>> 24);
  assert.equal(alphas[0], 0);
  assert.ok(alphas[1] >= 56 && alphas[1] < alphas[2] && alphas[2] < alphas[3]);
  assert.deepEqual(alphas.slice(3), [255, 255]);
  assert.deepEqual([levelOf(0), levelOf(1e-9), levelOf(0.5), levelOf(2)], [0, 1, 128, 255]);
  for (let level = 1; level < 255; level += 1) assert.ok(opacity(level) <= opacity(level + 1));
});

test("as shapes, neighbours of one share are one", () => {
  const made = [];
  const context = { fillRect: (...box) => made.push([context.fillStyle, ...box]) };
  shapeBusy(context, { shares: Float32Array.from([0, 1, 1, 0, 0.001]), y: 7, height: 9 }, [1, 2, 3]);
  assert.deepEqual(made.map((one) => one.slice(1)), [[1, 7, 2, 9], [4, 7, 1, 9]]);
  assert.equal(made[0][0], "rgba(1, 2, 3, 1)");
});
