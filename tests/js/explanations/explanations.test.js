import "../page.js";
import assert from "node:assert/strict";
import test from "node:test";
import { listed } from "../../../assets/explanations/labels.js";
import { blend, ends, levels, sizeOf } from "../../../assets/explanations/maps.js";
import { geometry } from "../../../assets/explanations/tall_rows.js";

// s · (255, 255, 0) + (1 - s) · (55, 25, 86), alpha s: as layouts/explanations/colours.py makes it.
const table = new Uint8Array(1024);
for (let level = 0; level < 256; level += 1) {
  const s = level / 255;
  table.set([255 * s + 55 * (1 - s), 255 * s + 25 * (1 - s), 86 * (1 - s), level].map(Math.round), 4 * level);
}

test("a map is blended by its own alpha", () => {
  const pixels = new Uint8ClampedArray([10, 20, 30, 255, 10, 20, 30, 255, 10, 20, 30, 255]);
  blend(pixels, new Uint8Array([0, 255, 128]), table, levels(0, 255, false), 1, true);
  assert.deepEqual([...pixels.slice(0, 4)], [10, 20, 30, 255]);
  assert.deepEqual([...pixels.slice(4, 8)], [255, 255, 0, 255]);
  const s = 128 / 255;
  const wanted = [10, 20, 30].map((value, at) => value * (1 - s) + table[4 * 128 + at] * s);
  for (let at = 0; at < 3; at += 1) assert.ok(Math.abs(pixels[8 + at] - wanted[at]) <= 0.5 + 1e-3);
});

test("opacity scales alpha, and without a picture there are colours alone", () => {
  const pixels = new Uint8ClampedArray([100, 100, 100, 255]);
  blend(pixels, new Uint8Array([255]), table, levels(0, 255, false), 0.5, true);
  assert.deepEqual([...pixels], [178, 178, 50, 255]);
  blend(pixels, new Uint8Array([0]), table, levels(0, 255, false), 0.1, false);
  assert.deepEqual([...pixels], [55, 25, 86, 255]);
});

test("a map is stretched to its own ends, unless it is constant", () => {
  const own = levels(50, 100, true);
  assert.deepEqual([own[50], own[75], own[100], own[0], own[255]], [0, 128, 255, 0, 255]);
  assert.equal(levels(7, 7, true)[7], 7);
  assert.deepEqual(ends(new Uint8Array([3, 9, 1])), [1, 9]);
  assert.deepEqual(ends(new Uint8Array([])), [0, 0]);
});

test("pictures are made smaller, never larger", () => {
  assert.deepEqual(sizeOf({ width: 400, height: 100 }, 200), { width: 200, height: 50 });
  assert.deepEqual(sizeOf({ width: 40, height: 10 }, 200), { width: 40, height: 10 });
  assert.deepEqual(sizeOf({ width: 4000, height: 1 }, 200), { width: 200, height: 1 });
  assert.deepEqual(sizeOf({ width: 400, height: 100 }, 0), { width: 400, height: 100 });
});

test("a list beyond what browsers draw reaches its last row", () => {
  const small = geometry(10, 200, 600);
  assert.deepEqual([small.drawn, small.place(500), small.scroll(500)], [2000, 500, 500]);
  const large = geometry(100_000, 200, 600);
  assert.equal(large.drawn, 8e6);
  assert.ok(Math.abs(large.place(8e6 - 600) - (20e6 - 600)) < 1e-3);
  assert.ok(Math.abs(large.scroll(large.place(1234)) - 1234) < 1e-6);
  assert.deepEqual(geometry(0, 200, 600).drawn, 0);
});

test("chosen labels come first, others by a part of their name", () => {
  const labels = Array.from({ length: 500 }, (_, number) => [number, `Label ${number}`, 1, 0]);
  const [all, left] = listed(labels, ["499"], "", 200);
  assert.deepEqual([all.length, all[0][0], all[1][0], left], [200, 499, 0, 300]);
  const [some, none] = listed(labels, ["3"], "LABEL 49", 200);
  assert.deepEqual([some.map(([number]) => number), none], [[3, 49, 490, 491, 492, 493, 494, 495, 496, 497, 498, 499], 0]);
});
