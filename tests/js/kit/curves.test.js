import "../page.js";
import assert from "node:assert/strict";
import test from "node:test";
import { cut, extents, figureOf, linesOf, paint, pointsOf, rgb, scaleOf, tracesOf } from "../../../assets/kit/cards/curves.js";
import { finish, segment, sheet, straight } from "../../../assets/kit/cards/strokes.js";

const INK = [200, 100, 50];
const at = (on, x, y) => Array.from(on.pixels.slice(4 * (y * on.width + x), 4 * (y * on.width + x) + 4));
const ink = (on) => on.pixels.reduce((sum, value, i) => (i % 4 === 3 ? sum + value / 255 : sum), 0);

function drawn(width, height, segments, thick = 1.5, opacity = 1) {
  const on = sheet(width, height);
  for (const [x0, y0, x1, y1] of segments) segment(on, x0, y0, x1, y1, thick);
  finish(on, INK, opacity);
  return on;
}

test("a level line covers whole and half pixels as wide as it is", () => {
  const on = drawn(20, 7, [[-5, 3.5, 25, 3.5]], 2);
  assert.deepEqual(at(on, 10, 3), [...INK, 255]);
  assert.deepEqual([at(on, 10, 2)[3], at(on, 10, 4)[3]], [128, 128]);
  assert.deepEqual([at(on, 10, 1)[3], at(on, 10, 5)[3]], [0, 0]);
});

test("a line has as much ink as its length times its width, in every direction", () => {
  for (let angle = 0; angle < 360; angle += 7) {
    const [x, y] = [40 * Math.cos(angle * Math.PI / 180), 40 * Math.sin(angle * Math.PI / 180)];
    for (const thick of [1, 1.5, 3]) {
      const area = 80 * thick + Math.PI * (thick / 2) ** 2;
      const on = drawn(100, 100, [[50.3 - x, 50.1 - y, 50.3 + x, 50.1 + y]], thick);
      assert.ok(Math.abs(ink(on) / area - 1) < 0.08, `${angle} degrees, ${thick} px: ${ink(on)} instead of ${area}`);
    }
  }
});

test("the coverage of each pixel follows from its distance to the nearest segment", () => {
  let seed = 1;
  const random = (most) => (seed = (seed * 16807) % 2147483647) / 2147483647 * most;
  for (let round = 0; round < 200; round += 1) {
    const parts = Array.from({ length: 3 }, () => [random(60) - 15, random(60) - 15, random(60) - 15, random(60) - 15]);
    const thick = 1 + random(3);
    const on = drawn(30, 30, parts, thick);
    for (let y = 0; y < 30; y += 1) {
      for (let x = 0; x < 30; x += 1) {
        const nearest = Math.min(...parts.map((part) => distance(x + 0.5, y + 0.5, part)));
        const wanted = 255 * Math.min(1, Math.max(0, thick / 2 + 0.5 - nearest));
        assert.ok(Math.abs(at(on, x, y)[3] - wanted) <= 1.5, `${parts} at ${x}, ${y}`);
      }
    }
  }
});

function distance(x, y, [x0, y0, x1, y1]) {
  const along = ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / ((x1 - x0) ** 2 + (y1 - y0) ** 2);
  const place = Math.min(1, Math.max(0, along));
  return Math.hypot(x - x0 - place * (x1 - x0), y - y0 - place * (y1 - y0));
}

test("a line that crosses itself is no darker there; another line lies above it", () => {
  const cross = [[0, 0, 20, 20], [0, 20, 20, 0]];
  const on = drawn(20, 20, cross, 1.5, 0.2);
  assert.equal(at(on, 10, 10)[3], 51);
  segment(on, 0, 10.5, 20, 10.5, 2);
  finish(on, [0, 0, 255], 1);
  assert.deepEqual(at(on, 10, 10), [0, 0, 255, 255]);
});

test("a segment without a length is a dot", () => {
  const on = drawn(9, 9, [[4.5, 4.5, 4.5, 4.5]], 4);
  assert.equal(at(on, 4, 4)[3], 255);
  assert.ok(Math.abs(ink(on) - Math.PI * 4) < 1);
});

test("colours are given as they are where a line is half there", () => {
  const on = drawn(20, 7, [[-5, 3.5, 25, 3.5]], 2);
  const pixels = straight(on);
  const place = 4 * (2 * 20 + 10);
  INK.forEach((value, i) => assert.ok(Math.abs(pixels[place + i] - value) <= 2));
  assert.equal(pixels[place + 3], 128);
});

const LAYOUT = { xaxis: { range: [0, 10] }, yaxis: {}, yaxis2: { type: "log" } };
const trace = (y, more = {}) => ({
  type: "scatter", mode: "lines", x0: 0, dx: 1, y, line: { color: "#c86432", width: 2 }, meta: { key: "a" }, ...more,
});

test("plotly gets the ends of the values instead of the lines", () => {
  const canvas = [trace([1, NaN, 5, Infinity]), trace([-2, 3]), trace([0, 10, -1, 100], { yaxis: "y2" }), trace([NaN])];
  const data = [{ type: "scatter", y: [1] }];
  const axes = extents(canvas, LAYOUT).map(({ yaxis, y }) => [yaxis, y]);
  assert.deepEqual(axes, [["y", [-2, 5]], ["y2", [10, 100]]]);
  assert.deepEqual(figureOf({ canvas, data, layout: LAYOUT }).data.slice(2), data);
  assert.deepEqual(figureOf({ data, layout: LAYOUT }), { data, layout: LAYOUT });
  assert.deepEqual(extents([trace([NaN])], LAYOUT), []);
  assert.deepEqual(tracesOf({ canvas, data }), [...canvas, ...data]);
  assert.equal(tracesOf({ data }), data);
  assert.equal(linesOf([...canvas, { y: [], meta: { band: true } }, { y: [] }]).length, 4);
});

test("points are placed on linear axes, log axes and axes of dates", () => {
  const y = scaleOf([0, 3], 90, 0, true);
  const made = pointsOf(trace([1, 10, 0, -1, 1000, NaN]), { x: scaleOf([0, 10], 0, 100), y });
  assert.deepEqual(Array.from(made.xs), [0, 10, NaN, NaN, 40, NaN]);
  assert.deepEqual([made.ys[0], made.ys[1], made.ys[4]], [90, 60, 0]);
  const dates = scaleOf(["2023-11-14 22:00", "2023-11-14 23:00:00.0000"], 0, 60);
  const noon = Date.UTC(2023, 10, 14, 22, 30);
  assert.deepEqual(Array.from(pointsOf(trace([1], { x: [noon] }), { x: dates, y }).xs), [30]);
});

const scales = (width, height) => ({ x: scaleOf([0, 10], 0, width), y: scaleOf([0, 10], height, 0) });

test("lines have gaps where values are missing, and the colour and opacity of their trace", () => {
  const on = sheet(100, 100);
  paint(on, [trace([5, 5, NaN, 5, 5, NaN, 5]), trace([2, 2], { opacity: 0.2, dx: 10 })], scales(100, 100), 1);
  const row = (y) => Array.from({ length: 100 }, (_, x) => at(on, x, y)[3] > 100);
  assert.deepEqual([row(50)[5], row(50)[20], row(50)[35], row(50)[50], row(50)[60]], [true, false, true, false, false]);
  assert.deepEqual(at(on, 5, 50), [200, 100, 50, 255]);
  assert.equal(at(on, 50, 80)[3], 51);
  assert.deepEqual(rgb("#c86432"), [200, 100, 50]);
});

test("points in no order are dots; lines are wider where pixels are smaller", () => {
  const on = sheet(100, 100);
  paint(on, [trace([5, 5], { mode: "markers", x: [5, 2], marker: { size: 3, color: "#c86432" } })], scales(100, 100), 2);
  assert.ok(Math.abs(ink(on) - 2 * Math.PI * 9) < 1);
});

test("dashes are as long as plotly's, at any distance between points", () => {
  for (const points of [2, 11, 101]) {
    for (const [dash, share] of Object.entries({ dash: 0.5, dot: 0.5, dashdot: 4 / 6, longdash: 0.5, longdashdot: 0.6 })) {
      const on = sheet(600, 9);
      const y = new Array(points).fill(5);
      paint(on, [trace(y, { dx: 10 / (points - 1), line: { color: "#c86432", width: 3, dash } })], scales(600, 9), 1);
      const inked = Array.from({ length: 600 }, (_, x) => at(on, x, 4)[3] / 255).reduce((sum, value) => sum + value, 0);
      assert.ok(Math.abs(inked / 600 - share) < 0.03, `${dash}, ${points} points: ${inked / 600}`);
    }
  }
});

test("dashes go on where a line comes back onto the sheet, and those off it cost nothing", () => {
  const of = (x) => [trace([5, 5, 5], { x, line: { color: "#c86432", width: 3, dash: "dash" } })];
  const [whole, part] = [sheet(3600, 9), sheet(600, 9)];
  const y = scaleOf([0, 10], 9, 0);
  paint(whole, of([0, 4000, 3000]), { x: scaleOf([0, 3600], 0, 3600), y }, 1);
  paint(part, of([-3000, 1000, 0]), { x: scaleOf([0, 600], 0, 600), y }, 1);
  const columns = Array.from({ length: 600 }, (_, x) => x);
  assert.ok(columns.some((x) => at(part, x, 4)[3] === 0));
  for (const x of columns) assert.ok(Math.abs(at(part, x, 4)[3] - at(whole, x + 3000, 4)[3]) <= 1, `column ${x}`);
  const begun = performance.now();
  const steep = Array.from({ length: 2000 }, (_, i) => (i % 2 ? 1e30 : -1e30));
  paint(part, [trace(steep, { dx: 0.005, line: { color: "#c86432", width: 3, dash: "dot" } })], scales(600, 9), 1);
  assert.ok(performance.now() - begun < 500, "not 60,000 dashes for each of the segments");
});

test("lines that leave the plot by far are cut, not bent", () => {
  assert.deepEqual(cut(0, 0, 1, 1), [0, 0, 1, 1]);
  assert.equal(cut(2e5, 0, 3e5, 1), null);
  assert.equal(cut(-3e5, 2e5, 3e5, 2e5), null);
  const [x0, y0, x1, y1] = cut(10, 50, 10, 1e30);
  assert.deepEqual([x0, y0, x1], [10, 50, 10]);
  assert.ok(y1 <= 1e5);
  const on = sheet(100, 100);
  paint(on, [trace([5, 1e30, 5], { x: [1, 5, 9] })], scales(100, 100), 1);
  assert.deepEqual([at(on, 10, 25)[3], at(on, 90, 25)[3], at(on, 50, 25)[3]], [255, 255, 0]);
});
