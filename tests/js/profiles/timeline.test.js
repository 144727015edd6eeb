import "../page.js";
import assert from "node:assert/strict";
import test from "node:test";
import { exactTime } from "../../../assets/kit/units.js";
import { duration, niceStep, ticks } from "../../../assets/profiles/axis.js";
import * as camera from "../../../assets/profiles/timeline/camera.js";
import { columnsOf, fitted, pixelsOf } from "../../../assets/profiles/timeline/canvas.js";
import { rgbOf } from "../../../assets/kit/hsl.js";
import { fillOfName, pace } from "../../../assets/profiles/timeline/colours.js";
import { boxesOf } from "../../../assets/profiles/timeline/flame.js";
import * as geometry from "../../../assets/profiles/timeline/geometry.js";
import { namesIn } from "../../../assets/profiles/timeline/labels.js";
import { othersOf } from "../../../assets/profiles/timeline/menus.js";
import { stepsWithin } from "../../../assets/profiles/timeline/overlay.js";
import { byColumn } from "../../../assets/profiles/timeline/difference.js";
import { sorted } from "../../../assets/profiles/timeline/panel.js";
import { alsoText, rowOf, rowText, tracesBeside, withoutPart } from "../../../assets/profiles/timeline/traces.js";
import { Names } from "../../../assets/profiles/timeline/server.js";
import * as tracks from "../../../assets/profiles/timeline/tracks.js";
import { hit, numbersOf, spans, viewOf } from "../../../assets/profiles/timeline/wire.js";

// What the server sends ------------------------------------------------------------------------------------------------

/** A view as views.py packs it. slices: [x, width, name, row, lane, category], buckets: [bucket, count, row, lane, busy]. */
function packed(slices, buckets) {
  const parts = [new Uint32Array([slices.length, buckets.length, 0x010402])];
  const kinds = [Float32Array, Float32Array, Uint32Array, Uint32Array, Uint16Array, Uint8Array];
  kinds.forEach((Kind, at) => parts.push(Kind.from(slices, (one) => one[at])));
  [Uint16Array, Uint32Array, Uint32Array, Uint8Array, Uint8Array].forEach((Kind, at) =>
    parts.push(Kind.from(buckets, (one) => one[at])));
  const bytes = parts.flatMap((part) => {
    const own = [...new Uint8Array(part.buffer)];
    return own.concat(new Array((4 - (own.length % 4)) % 4).fill(0));
  });
  return new Uint8Array(bytes).buffer;
}

const asked = { lanes: [4, 7, 9], k: 3, b0: 10, n: 100 };
const view = viewOf(packed(
  // Lanes are not in order, and three entries need filling up to four bytes.
  [[20, 5, 2, 32, 1, 3], [0, 10, 1, 30, 0, 0], [30.5, 2.25, 2, 33, 1, 1]],
  [[12, 4, 90, 1, 255], [11, 1, 91, 1, 10], [40, 0, 92, 0, 1]],
), asked);

test("a view is decoded with all its arrays", () => {
  assert.deepEqual([...view.slices.row], [32, 30, 33]);
  assert.deepEqual([...view.slices.x], [20, 0, 30.5]);
  assert.deepEqual([...view.slices.category], [3, 0, 1]);
  assert.deepEqual([...view.buckets.bucket], [12, 11, 40]);
  assert.deepEqual([...view.buckets.busy], [255, 10, 1]);
  assert.deepEqual([view.from, view.to, view.bucket], [80, 880, 8]);
  assert.throws(() => viewOf(packed([[0, 1, 0, 0, 0, 0]], []).slice(0, 12), asked), RangeError);
  const nothing = viewOf(packed([], []), asked);
  assert.equal(hit(nothing, 4, 100, 50), null);
});

test("what is at a time of a lane", () => {
  const time = (x) => (x + 10) * 8;
  assert.deepEqual(hit(view, 7, time(22)), { slice: 0 });
  assert.deepEqual(hit(view, 7, time(25)), null, "the end of a slice is outside of it");
  assert.deepEqual(hit(view, 7, time(32.7)), { slice: 2 });
  assert.deepEqual(hit(view, 7, time(11.5)), { bucket: 1 });
  assert.deepEqual(hit(view, 7, time(12.5)), { bucket: 0 });
  assert.deepEqual(hit(view, 7, time(14), 9), { bucket: 0 }, "near enough");
  assert.deepEqual(hit(view, 7, time(19.5), 8), { slice: 0 });
  assert.deepEqual(hit(view, 4, time(39.5), 8), { bucket: 2 });
  assert.equal(hit(view, 9, time(20), 1000), null);
  assert.equal(hit(view, 5, time(20), 1000), null, "a lane that was not asked for");
});

test("every busy bucket lights the pixels it touches, by its share", () => {
  // A bucket is 8 ns; from 80 ns, 16 ns per pixel: two buckets in a pixel.
  const shares = columnsOf(view, 1, 20, 80, 16);
  assert.ok(Math.abs(shares[6] - 0.5) < 1e-6);
  assert.ok(Math.abs(shares[5] - 0.5 * (10 / 255)) < 1e-6);
  assert.equal(shares.reduce((a, b) => a + (b > 0 ? 1 : 0), 0), 2);
  // 2 ns per pixel: four pixels for a bucket, all of them as busy as the bucket.
  assert.deepEqual([...columnsOf(view, 1, 60, 80, 2).slice(48, 52)], [1, 1, 1, 1]);
  // A view that begins elsewhere, also between two pixels.
  assert.ok(Math.abs(columnsOf(view, 1, 20, 88, 16)[5] - (0.5 + 0.5 * (10 / 255))) < 1e-6);
  assert.equal(columnsOf(view, 1, 5, 800, 16).reduce((a, b) => a + b), 0);
  let total = 0;
  for (const share of columnsOf(view, 1, 400, 76.3, 3.7)) total += share * 3.7;
  assert.ok(Math.abs(total - 8 * (1 + 10 / 255)) < 1e-3, "no busy ns is lost or invented");
});

test("lanes whose times are moved have buckets that begin later", () => {
  // Lane 7 is moved by 19 ns: its buckets of 8 ns begin 3 ns later, at 83 ns for bucket 0.
  const moved = viewOf(packed([[20, 5, 2, 32, 1, 3]], [[12, 4, 90, 1, 255], [40, 1, 92, 0, 255]]),
    { ...asked, shiftOf: (lane) => (lane === 7 ? 19 : 16) }, new Set([9]));
  assert.deepEqual([...moved.late], [0, 3 / 8, 0]);
  assert.deepEqual([moved.base, moved.from, moved.to], [80, 88, 880]);
  assert.ok(moved.pending.has(9));
  assert.deepEqual(hit(moved, 7, 80 + 12 * 8 + 3), { bucket: 0 });
  assert.deepEqual(hit(moved, 7, 80 + 13 * 8 + 2.9), { bucket: 0 });
  assert.equal(hit(moved, 7, 80 + 12 * 8 + 2.9), null);
  assert.deepEqual(hit(moved, 7, 80 + 20 * 8), { slice: 0 }, "slices are where they are");
  // A pixel of 1 ns: the bucket lights from 179 to 187 ns.
  const shares = columnsOf(moved, 1, 200, 80, 1);
  assert.deepEqual([...shares.slice(98, 108)], [0, 1, 1, 1, 1, 1, 1, 1, 1, 0]);
  assert.deepEqual([...columnsOf(moved, 0, 400, 80, 1).slice(319, 329)], [0, 1, 1, 1, 1, 1, 1, 1, 1, 0]);
});

test("a slice takes whole pixels, one at least", () => {
  assert.deepEqual(pixelsOf(3.2, 0.1), [3, 4]);
  assert.deepEqual(pixelsOf(3.2, 4), [3, 7]);
  assert.deepEqual(pixelsOf(-2, 10.6), [-2, 9]);
});

test("lists of numbers", () => {
  assert.equal(spans([0, 1, 2, 5, 7, 8]), "0-2,5,7-8");
  assert.equal(spans([3]), "3");
  assert.deepEqual(numbersOf("0-2,5,7-8"), [0, 1, 2, 5, 7, 8]);
  assert.deepEqual(numbersOf(null), []);
});

// Times ------------------------------------------------------------------------------------------------------------------

test("durations and times as text", () => {
  assert.deepEqual([0, 1, 999, 1000, 12345, 999_960, 1_234_567, 2e9, -1500].map(duration),
    ["0 s", "1.00 ns", "999 ns", "1.00 µs", "12.3 µs", "1.00 ms", "1.23 ms", "2.00 s", "−1.50 µs"]);
  assert.equal(duration(NaN), "");
  assert.equal(exactTime(1_234_567_890), "1.234 567 890 s");
  assert.equal(exactTime(5), "0.000 000 005 s");
  assert.equal(exactTime(-1), "−0.000 000 001 s");
  assert.equal(exactTime(2 ** 52), "4,503,599.627 370 496 s");
});

test("ticks at round times, never closer than asked", () => {
  assert.deepEqual([0.3, 1, 1.1, 3, 7, 20, 51, 1e9].map(niceStep), [1, 1, 2, 5, 10, 20, 100, 1e9]);
  const plain = ticks(0, 1e9, 1000);
  assert.equal(plain.base, "");
  assert.equal(plain.step, 1e8);
  assert.deepEqual(plain.ticks.map((one) => one.label).slice(0, 3), ["0.0 s", "0.1 s", "0.2 s"]);
  const deep = ticks(1_234_567_890_000, 1_234_567_890_100, 1000);
  assert.equal(deep.base, "1,234.567 890 000 s");
  assert.deepEqual(deep.ticks.map((one) => one.label).slice(0, 3), ["+0 ns", "+10 ns", "+20 ns"]);
  assert.deepEqual(ticks(90, 310, 220, 100, 50).ticks.map((one) => [one.at, one.label]),
    [[100, "0 ns"], [150, "50 ns"], [200, "100 ns"], [250, "150 ns"], [300, "200 ns"]]);
  assert.equal(ticks(0, 6e16, 1000).ticks[1].label, "10,000,000 s");
  for (const [from, to] of [[0, 20], [5e8, 5e8 + 20], [1e15, 1e15 + 1000], [-1e6, 3e16]]) {
    const found = ticks(from, to, 1200).ticks;
    assert.ok(found.length >= 3 && found.length <= 14, `${found.length} ticks from ${from} to ${to}`);
    assert.equal(new Set(found.map((one) => one.label)).size, found.length, "labels differ");
  }
});

test("zoom keeps the time under the pointer, and stays within the trace", () => {
  const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-6, `${a} is not ${b}`);
  const zoomed = camera.zoomed({ from: 0, to: 100 }, 0.5, 20);
  assert.deepEqual(zoomed, { from: 10, to: 60 });
  assert.deepEqual(camera.within({ from: -500, to: 5000 }, 1000), { from: -20, to: 1020 });
  const small = camera.within({ from: 500, to: 500.001 }, 1000);
  near(small.to - small.from, 20);
  assert.deepEqual(camera.within({ from: 990, to: 1090 }, 1000), { from: 920, to: 1020 });
  const all = camera.whole({ first: 100, last: 1100, end: 2000 });
  assert.deepEqual(all, { from: 80, to: 1120 });
  assert.ok(camera.whole({ first: 0, last: 0, end: 0 }).to > 0);
});

test("buckets are never wider than a pixel", () => {
  for (const [span, pixels] of [[1e9, 1000], [1000, 1000], [100, 1000], [3e16, 1500], [12345678, 986]]) {
    const { k, b0, n } = camera.bucketsFor({ from: 0, to: span }, pixels, 0.25, 1e17);
    assert.ok(2 ** k <= Math.max(1, span / pixels));
    assert.equal(b0, 0);
    assert.ok(n * 2 ** k >= span * 1.25 - 2 ** k && n < 16384, `${n} buckets`);
  }
  const { k, b0, n } = camera.bucketsFor({ from: 900, to: 1100 }, 100, 0, 1000);
  assert.deepEqual([k, b0, n], [1, 450, 51], "none after the end");
});

test("the way back and forward", () => {
  const way = new camera.Way();
  const [a, b, c] = [{ from: 0, to: 1 }, { from: 1, to: 2 }, { from: 2, to: 3 }];
  for (const one of [a, b, b, c]) way.add(one);
  assert.equal(way.go(-1), b);
  assert.ok(way.back && way.forward);
  assert.equal(way.go(-1), a);
  assert.equal(way.go(-1), a);
  way.add(c);
  assert.ok(!way.forward);
  assert.equal(way.go(-1), a);
});

test("ranges in the state are untrusted", () => {
  assert.deepEqual(camera.parseRange("5,17"), { from: 5, to: 17 });
  for (const text of ["", "5", "17,5", "5,5", "a,b", "1e3,2e3", "1,2,3", `1,${"9".repeat(30)}`]) {
    assert.equal(camera.parseRange(text), null, text);
  }
  assert.equal(camera.formatRange({ from: 1.4, to: 1.6 }), "1,2");
});

// Tracks -----------------------------------------------------------------------------------------------------------------

const track = (process, thread, lanes, first, order = [0, 0], more = {}) => ({
  process, thread, process_id: process, thread_id: thread, kind: "other", order, first_lane: first, lanes, slices: lanes,
  series: [], ...more,
});
const tree = tracks.treeOf([
  track("Device", "Stream 2", 1, 0, [5, 2]), track("Python", "Thread 9", 3, 1, [0, 9]),
  track("Device", "Stream 1", 1, 4, [5, 1]),
  track("Python", "Thread 8", 2, 5, [0, 8]),
  track("Memory", "HBM", 0, 7, [9, 0], { series: ["read", "write"] }),
]);
const look = (more = {}) => ({
  folded: new Set(), opened: new Set(), hidden: new Set(), pinned: [], order: [], filter: "", height: "medium",
  heights: new Map(), ...more,
});
const names = ({ rows }) => rows.map((row) => (row.kind === "process" ? row.process.name : row.track.thread));

const lanesIn = (rows) => tracks.lanesOf(rows.map((row) => [row, row.y]), -Infinity, Infinity);

test("of a track with more lanes than a screen those on it", () => {
  const [, row] = tracks.rowsOf(tracks.treeOf([track("P", "T", 50_000, 7, [0, 0])]), look()).rows.rows;
  const seen = tracks.lanesOf([[row, -1000 * row.lane]], 0, 10 * row.lane);
  assert.deepEqual(seen, [1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 1015, 1016]);
  assert.deepEqual(tracks.lanesOf([[row, row.lane / 2]], 0, row.lane), [7]);
  assert.deepEqual(tracks.lanesOf([[row, 0]], 50_000 * row.lane, 50_009 * row.lane), []);
});

test("processes and threads in the order of the file", () => {
  const { rows, hidden } = tracks.rowsOf(tree, look());
  assert.deepEqual(names(rows), ["Python", "Thread 8", "Thread 9", "Device", "Stream 1", "Stream 2", "Memory"]);
  assert.equal(hidden, 0);
  assert.ok(rows.rows.at(-1).folded, "counters are folded at first");
  let y = 0;
  for (const row of rows.rows) {
    assert.equal(row.y, y);
    y += row.height;
  }
  assert.equal(rows.height, y);
  assert.deepEqual(lanesIn(rows.rows), [0, 1, 2, 3, 4, 5, 6]);
});

test("tracks that are dragged over, and where they are on screen", () => {
  const at = (more) => {
    const layout = tracks.rowsOf(tree, look(more));
    return { tree, layout, height: 1000, top: 0 };
  };
  const line = at();
  const rowOf = (id) => line.layout.rows.rows.find((row) => row.id === id);
  const middle = (id) => rowOf(id).y + rowOf(id).height / 2;
  assert.deepEqual(geometry.idsBetween(line, middle("t2"), middle("t2")), ["t2"]);
  const upwards = geometry.idsBetween(line, middle("t0"), middle("t1"));
  assert.deepEqual(upwards, ["t1", "t2", "t0"], "in any direction, without heads");
  assert.deepEqual(geometry.idsBetween(line, middle("p0"), middle("p0")), [], "the head of tracks that are on screen");
  assert.deepEqual(geometry.idsBetween(line, middle("p4"), 900), ["p4"], "folded tracks by their process");
  assert.deepEqual(geometry.idsBetween({ ...line, top: 40 }, middle("t2") - 40, middle("t2") - 40), ["t2"]);
  const pinned = at({ pinned: ["t0"] });
  assert.deepEqual(geometry.idsBetween(pinned, 5, 6), ["t0"]);
  assert.deepEqual(geometry.bandsOf(line, new Set([2])), [{ top: rowOf("t2").y, height: rowOf("t2").height }]);
  assert.deepEqual(geometry.bandsOf(line, new Set([4])), [{ top: rowOf("p4").y, height: rowOf("p4").height }]);
  assert.deepEqual(namesIn(tree, ["t2", "p4"]), ["Stream 1", "Memory"]);
});

test("folding, hiding, pinning, filtering", () => {
  assert.deepEqual(names(tracks.rowsOf(tree, look({ folded: new Set(["p1"]), opened: new Set(["p4"]) })).rows),
    ["Python", "Device", "Stream 1", "Stream 2", "Memory", "HBM"]);
  const folded = tracks.rowsOf(tree, look({ folded: new Set(["t1"]) })).rows.rows.find((row) => row.id === "t1");
  assert.deepEqual([folded.lanes, lanesIn([folded])], [1, [1]]);
  const hidden = tracks.rowsOf(tree, look({ hidden: new Set(["p0", "t3"]) }));
  assert.deepEqual(names(hidden.rows), ["Python", "Thread 9", "Memory"]);
  assert.equal(hidden.hidden, 3);
  const pinned = tracks.rowsOf(tree, look({ pinned: ["t2", "t99"] }));
  assert.deepEqual([names(pinned.pinned), names(pinned.rows).includes("Stream 1")], [["Stream 1"], false]);
  assert.deepEqual(names(tracks.rowsOf(tree, look({ filter: "python 9" })).rows), ["Python", "Thread 9"]);
  const memory = names(tracks.rowsOf(tree, look({ filter: "hbm" })).rows);
  assert.deepEqual(memory, ["Memory", "HBM"], "a fold hides nothing that fits");
  assert.deepEqual(names(tracks.rowsOf(tree, look({ filter: "none" })).rows), []);
  assert.deepEqual(othersOf(tree, "t3"), ["t1", "p0", "p4"]);
  assert.deepEqual(othersOf(tree, "p1"), ["p0", "p4"]);
});

test("moving among siblings", () => {
  const siblings = tree.find((one) => one.name === "Python").tracks;
  const order = tracks.movedIn(siblings, ["p4"], "t1", -1);
  assert.deepEqual(order, ["p4", "t1", "t3"]);
  assert.deepEqual(names(tracks.rowsOf(tree, look({ order })).rows).slice(0, 3), ["Python", "Thread 9", "Thread 8"]);
  assert.equal(tracks.movedIn(siblings, order, "t1", -1), order, "the first stays");
  assert.deepEqual(tracks.movedIn(tree, [], "p0", 1), ["p1", "p4", "p0"]);
});

test("rows and lanes at a height", () => {
  const { rows } = tracks.rowsOf(tree, look({ heights: new Map([["t3", "large"]]) }));
  const row = rows.rows.find((one) => one.id === "t3");
  assert.equal(row.lane, tracks.HEIGHTS.large);
  assert.deepEqual(tracks.rowsWithin(rows, row.y, 1).map((one) => one.id), ["t3"]);
  assert.deepEqual(tracks.rowsWithin(rows, -50, 51).map((one) => one.id), ["p1"]);
  assert.deepEqual(tracks.rowsWithin(rows, rows.height, 100), []);
  assert.deepEqual([0, row.lane, 2 * row.lane].map((y) => tracks.laneAt(row, y)), [5, 6, -1]);
  assert.equal(tracks.laneAt(rows.rows[0], 3), -1);
});

// Drawing ----------------------------------------------------------------------------------------------------------------

test("names are cut where they do not fit", () => {
  const widthOf = (text) => 6 * text.length;
  assert.equal(fitted("MatMul", 36, widthOf), "MatMul");
  assert.equal(fitted("MatMul", 35, widthOf), "Mat…");
  assert.equal(fitted("MatMul", 12, widthOf), "");
});

test("colours: by name without its number, by pace, from hsl", () => {
  assert.equal(fillOfName("Default/MatMul-op12"), fillOfName("Default/MatMul-op7"));
  assert.ok(new Set(["Add", "MatMul", "Conv2D", "Cast", "ReduceSum", "Relu"].map(fillOfName)).size >= 4);
  assert.deepEqual([[5, 10], [7, 10], [10, 10], [15, 10], [20, 10], [3, 0]].map(([a, b]) => pace(a, b)), [0, 1, 2, 3, 4, 2]);
  assert.deepEqual(rgbOf(0, 100, 50), [255, 0, 0]);
  assert.deepEqual(rgbOf(120, 100, 25), [0, 128, 0]);
});

test("steps in sight, and tables in order", () => {
  const steps = [["1", 0, 10], ["2", 10, 10], ["3", 25, 10]];
  assert.deepEqual(stepsWithin(steps, 10, 25), [1, 2]);
  assert.deepEqual(stepsWithin(steps, 20, 25), [2, 2]);
  assert.deepEqual(stepsWithin([], 0, 1), [0, 0]);
  assert.deepEqual(sorted([["b", 1], ["a", null], ["c", 3]], 1, true), [["c", 3], ["b", 1], ["a", null]]);
  assert.deepEqual(sorted([["b", 1], ["a", 2]], 0, false), [["a", 2], ["b", 1]]);
});

test("boxes of a flame graph lie side by side within the one below", () => {
  const found = { parent: [-1, 0, 1, 0, -1], level: [0, 1, 2, 1, 0], total_ns: [80, 50, 10, 20, 20] };
  assert.deepEqual(boxesOf(found).map((box) => [box.row, box.level, box.left, box.width]),
    [[0, 0, 0, 0.8], [1, 1, 0, 0.5], [2, 2, 0, 0.1], [3, 1, 0.5, 0.2], [4, 0, 0.8, 0.2]]);
  assert.deepEqual(boxesOf(found, 1).map((box) => [box.row, box.level, box.left, box.width]), [[1, 0, 0, 1], [2, 1, 0, 0.2]]);
  assert.deepEqual(boxesOf(found, 4).map((box) => box.row), [4]);
  assert.deepEqual(boxesOf({ parent: [], level: [], total_ns: [] }), []);
});

test("names and medians come in blocks, each asked for once", async () => {
  const asked = [];
  let arrived = 0;
  const names = new Names(3000, async (from, to, medians) => {
    asked.push([from, to, medians]);
    return medians ? { medians: [5] } : { names: ["a", "b"] };
  }, () => { arrived += 1; });
  assert.deepEqual([names.get(0), names.get(1), names.median(0)], [null, null, null]);
  await new Promise((done) => { setTimeout(done, 1); });
  assert.deepEqual([names.get(0), names.get(1), names.get(2), names.median(0)], ["a", "b", "", 5]);
  assert.equal(names.get(2999), null);
  assert.deepEqual(asked, [[0, 2048, false], [0, 2048, true], [2048, 3000, false]]);
  assert.equal(arrived, 2);
});

// Several traces ---------------------------------------------------------------------------------------------------------

const FIRST = { run: "a", session: "s0", rank: "0", source: "" };
const ALL = [["a", "s0", 0], ["a", "s1", 1], ["b", "s0", 0]].map(([key, session, rank]) =>
  ({ run: { key }, profile: { session, rank } }));

test("the traces that an address names, those that there are", () => {
  const one = { run: "a", session: "s1", rank: "1", source: "" };
  assert.equal(alsoText(FIRST, one), "session=s1&rank=1");
  assert.deepEqual(tracesBeside(FIRST, [alsoText(FIRST, one)], ALL), [one]);
  const other = { run: "b", session: "s0", rank: "0", source: "PROF_1/msprof_*.json" };
  assert.deepEqual(tracesBeside(FIRST, [alsoText(FIRST, other)], ALL), [other]);
  const file = { ...FIRST, source: "other.json" };
  const texts = ["rank=0", alsoText(FIRST, file), "rank=9", "session=s1", "", alsoText(FIRST, file)];
  assert.deepEqual(tracesBeside(FIRST, texts, ALL), [file]);
  assert.deepEqual(tracesBeside(file, [alsoText(file, FIRST)], ALL), [FIRST]);
  assert.deepEqual(tracesBeside(FIRST, ["rank=1"], ALL), [one], "the only session with this rank");
});

test("taking a trace away renumbers the others", () => {
  const state = {
    also: ["rank=1", "rank=2", "rank=3"], fold: ["p3", "1.p0", "2.p4", "part1", "part3"], pin: ["t12", "3.t2"],
    tall: ["2.t5:large", "t5:small"], slice: ["3.77"], stream: ["1.t4"], span: ["1,2"],
  };
  assert.deepEqual(withoutPart(state, 1), {
    also: ["rank=2", "rank=3"], fold: ["p3", "1.p4", "part2"], pin: ["t12", "2.t2"], tall: ["1.t5:large", "t5:small"],
    slice: ["2.77"], stream: [],
  });
  assert.deepEqual(withoutPart({ also: ["rank=1"], slice: ["12"] }, 1), { also: [], slice: ["12"] });
});

test("slices of each trace in the address", () => {
  const facts = { parts: [{ row: 0, slices: 10 }, { row: 10, slices: 0 }, { row: 10, slices: 5 }] };
  for (const [row, text] of [[0, "0"], [9, "9"], [10, "2.0"], [14, "2.4"]]) {
    assert.equal(rowText(facts, row), text);
    assert.equal(rowOf(facts, text), row);
  }
  for (const text of ["10", "1.0", "2.5", "3.0", "-1", "", "x", "1.2.3"]) assert.equal(rowOf(facts, text), null);
});

test("tracks of several traces: heads, ids of their own, hosts folded", () => {
  const part = (number) => [["python", 0], ["device_stream", 1]].map(([kind, order]) => ({
    process: kind, process_id: "8", thread: `T${"AB"[order]}`, thread_id: "9", kind, order: [order, 0],
    first_lane: 2 * number + order, lanes: 1, series: [], part: number, where: `rank ${number}`,
  }));
  const parts = [{ track: 0 }, { track: 2 }];
  const every = [...part(0), ...part(1)];
  assert.deepEqual(tracks.idsOf(every, parts), ["t0", "t1", "1.t0", "1.t1"]);
  const both = tracks.treeOf(every, parts);
  const ids = (more) => tracks.rowsOf(both, look(more)).rows.rows.map((row) => row.id);
  assert.deepEqual(ids({}), ["part0", "p0", "p1", "t1", "part1", "1.p0", "1.p1", "1.t1"]);
  const some = { opened: new Set(["1.p0"]), folded: new Set(["part0"]) };
  assert.deepEqual(ids(some), ["part0", "part1", "1.p0", "1.t0", "1.p1", "1.t1"]);
  assert.deepEqual(ids({ filter: "rank 1 tb" }), ["part1", "1.p1", "1.t1"]);
  assert.deepEqual(ids({ order: ["1.p1", "1.p0"], pinned: ["1.t1"] }), ["part0", "p0", "p1", "t1", "part1", "1.p0"]);
  const alone = tracks.rowsOf(tracks.treeOf(part(0), [{ track: 0 }]), look()).rows.rows.map((row) => row.id);
  assert.deepEqual(alone, ["p0", "t0", "p1", "t1"]);
});

test("differences in order of their size, whichever sign they have", () => {
  const rows = [["b", 5], ["a", -9], ["c", 0]];
  assert.deepEqual(byColumn(rows, 1, "change", true).map((row) => row[0]), ["a", "b", "c"]);
  assert.deepEqual(byColumn(rows, 1, "time", false).map((row) => row[0]), ["a", "c", "b"]);
  assert.deepEqual(byColumn(rows, 0, "name", false).map((row) => row[0]), ["a", "b", "c"]);
});
