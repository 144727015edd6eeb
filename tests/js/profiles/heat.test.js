// Heat maps: scales, colours, cells joined to pixels, zoom, and matrices as the server packs them.

import assert from "node:assert/strict";
import test from "node:test";

import * as heat from "../../../assets/profiles/heat_parts.js";

test("a scale has the ends of its values, and is logarithmic where they differ by much", () => {
  const plain = heat.scaleOf([NaN, 5, 20, 10]);
  assert.deepEqual([plain.low, plain.high, plain.log, plain.empty], [5, 20, false, false]);
  const wide = heat.scaleOf([1, 1000, NaN]);
  assert.deepEqual([wide.low, wide.high, wide.log], [1, 1000, true]);
  assert.ok(Math.abs(heat.shareOf(Math.sqrt(1000), wide) - 0.5) < 1e-12);
  assert.equal(heat.valueAt(1, wide), 1000);
  assert.equal(heat.scaleOf([]).empty, true);
  assert.equal(heat.scaleOf([NaN]).empty, true);
});

test("values that hardly differ do not look different", () => {
  const scale = heat.scaleOf([19.9, 20]);
  assert.ok(Math.abs(scale.low - 18) < 1e-9);
  assert.ok(heat.shareOf(19.9, scale) > 0.9);
  const same = heat.scaleOf([0, 0]);
  assert.ok(same.high > same.low);
});

test("a diverging scale has zero in its middle", () => {
  const scale = heat.scaleOf([-1, 4], "diverging");
  assert.deepEqual([scale.low, scale.high], [-4, 4]);
  assert.deepEqual(heat.colourAt(heat.shareOf(0, scale), "diverging", "light"), [0xf7, 0xf7, 0xf7]);
});

test("colours grow brighter along the scale, so that it can be read without hues", () => {
  const bright = (at, theme) => {
    const [r, g, b] = heat.colourAt(at, "sequential", theme);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  for (const theme of ["light", "dark"]) {
    for (let at = 0; at < 1; at += 0.02) assert.ok(bright(at + 0.02, theme) > bright(at, theme));
  }
  assert.ok(bright(0, "dark") > bright(0, "light") + 30);
  assert.deepEqual(heat.colourAt(-1), [0x44, 0x01, 0x54]);
  assert.deepEqual(heat.colourAt(2), [0xfd, 0xe7, 0x25]);
  assert.equal(heat.isBright([255, 255, 255]), true);
  assert.equal(heat.isBright([0x44, 0x01, 0x54]), false);
});

test("a pixel of several cells shows the extreme one", () => {
  const values = Float32Array.from([1, 2, NaN, 4, 5, 6, 7, 8, NaN, NaN, 3, 9, NaN, NaN, 1, 1]);
  const content = { rows: 4, columns: 4, values };
  const all = { top: 0, bottom: 4, left: 0, right: 4 };
  assert.deepEqual([...heat.pixelsOf(content, all, 2, 2, "max").values], [6, 8, NaN, 9]);
  assert.deepEqual([...heat.pixelsOf(content, all, 2, 2, "min").values], [1, 4, NaN, 1]);
  const one = heat.pixelsOf(content, { top: 1, bottom: 3, left: 2, right: 4 }, 100, 100);
  assert.deepEqual([one.width, one.height, ...one.values], [2, 2, 7, 8, 3, 9]);
});

test("pixels have the colours of the scale, and their own where nothing is", () => {
  const scale = heat.scaleOf([0, 10]);
  const pixels = heat.paint(Float32Array.from([0, 10, NaN]), scale, "light", [1, 2, 3]);
  assert.deepEqual([...pixels], [0x44, 0x01, 0x54, 255, 0xfd, 0xe7, 0x25, 255, 1, 2, 3, 255]);
});

test("labels are far enough apart", () => {
  assert.equal(heat.stride(8, 800, 30), 1);
  assert.equal(heat.stride(1024, 512, 20), 64);
  assert.equal(heat.stride(1, 10, 30), 1);
});

test("zooming keeps the cell pointed at, and stays within the map", () => {
  const map = { rows: 100, columns: 50 };
  const whole = { top: 0, bottom: 100, left: 0, right: 50 };
  const near = heat.zoomed(whole, map, { row: 90, column: 10 }, 2);
  assert.deepEqual(near, { top: 45, bottom: 95, left: 5, right: 30 });
  assert.deepEqual(heat.zoomed(near, map, { row: 90, column: 10 }, 0.01), whole);
  const least = heat.zoomed({ top: 0, bottom: 4, left: 0, right: 4 }, map, { row: 1, column: 1 }, 2);
  assert.deepEqual([least.bottom - least.top, least.right - least.left], [4, 4]);
  assert.deepEqual(heat.holding(near, { row: 30, column: 40 }), { top: 30, bottom: 80, left: 16, right: 41 });
});

const packed = (header, ranks, body) => {
  const text = new TextEncoder().encode(JSON.stringify(header));
  const padded = Math.ceil(text.length / 4) * 4;
  const bytes = new Uint8Array(4 + padded + 4 * ranks.length + body.length).fill(32);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, padded, true);
  bytes.set(text, 4);
  ranks.forEach((rank, at) => view.setInt32(4 + padded + 4 * at, rank, true));
  bytes.set(body, 4 + padded + 4 * ranks.length);
  return bytes.buffer;
};

test("a matrix of few cells", () => {
  const body = new Uint8Array(8);
  const view = new DataView(body.buffer);
  view.setUint16(0, 1, true);
  view.setUint16(2, 2, true);
  view.setFloat32(4, 2.5, true);
  const found = heat.unpacked(packed({ form: "sparse", rows: 3, ranks: 3, cells: 1, unit: "B" }, [0, 4, -1], body));
  assert.deepEqual([...found.ranks], [0, 4, -1]);
  assert.deepEqual([...found.values], [NaN, NaN, NaN, NaN, NaN, 2.5, NaN, NaN, NaN]);
  assert.equal(found.unit, "B");
});

test("a matrix of many cells", () => {
  const values = Float32Array.from([1, -2, NaN, 1e20]);
  const bits = new Uint32Array(values.buffer);
  const body = new Uint8Array(12);
  for (let plane = 0; plane < 3; plane += 1) bits.forEach((one, at) => { body[4 * plane + at] = one >>> (24 - 8 * plane); });
  const found = heat.unpacked(packed({ form: "dense", rows: 2, ranks: 2, cells: 3 }, [7, 9], body));
  assert.deepEqual([...found.values.slice(0, 3)], [1, -2, NaN]);
  assert.ok(Math.abs(found.values[3] / 1e20 - 1) < 1e-4);
});
