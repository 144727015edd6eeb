import { pageWith } from "../page.js";
import assert from "node:assert/strict";
import test from "node:test";
import { meaning, placeOf, stretches, valueAt } from "../../../assets/lineage/brushes.js";
import { cut, scaleOf, viewOf } from "../../../assets/lineage/columns.js";
import { positions } from "../../../assets/values/histograms/page.js";
import { withoutPlaces } from "../../../assets/values/histograms/zoom.js";
import { number, ownLine } from "../../../assets/profiles/operators/page.js";
import { asked, by } from "../../../assets/curves/scalars/grouping.js";
import { exact as exactScalar, nearestIndex } from "../../../assets/curves/scalars/hover.js";
import { synthesis, thresholds } from "../../../assets/curves/scalars/view.js";
import { back, linked, jumpTo, moved, short, toState, viewOf as scalarView } from "../../../assets/curves/scalars/zoom.js";
import { elapsed } from "../../../assets/kit/units.js";
import { exact, finite, formatter, reader, size } from "../../../assets/kit/tensor_grid/numbers.js";
import { axis } from "../../../assets/kit/tensor_grid/table.js";

// Scalars -------------------------------------------------------------------------------------------------------------

const line = (xs, values, rising = true) => ({ rising, size: xs.length, x: (i) => xs[i], values });

test("the nearest point of a curve, without those that are not numbers", () => {
  const curve = line([0, 10, 20, 30], [1, NaN, 3, 4]);
  assert.equal(nearestIndex(curve, 11), 2);
  assert.equal(nearestIndex(curve, -5), 0);
  assert.equal(nearestIndex(curve, 99), 3);
  assert.equal(nearestIndex(line([0], [NaN]), 0), -1);
  const loop = line([0, 10, 0], [0, 5, 10], false);
  assert.equal(nearestIndex(loop, 1), 2, "in x alone, also where x goes back");
});

test("values and times under the pointer", () => {
  assert.equal(exactScalar(Math.fround(0.1), false), "0.1");
  assert.equal(exactScalar(0.1, true), "0.1");
  assert.equal(exactScalar(1234567, true), "1,234,567");
  assert.deepEqual([NaN, Infinity, -Infinity].map((value) => exactScalar(value, true)), ["NaN", "+Inf", "-Inf"]);
  assert.deepEqual([1.5, 75, 3675, -2].map(elapsed), ["1.500 s", "1 m 15 s", "1 h 01 m 15 s", "−2.000 s"]);
  assert.equal(elapsed(NaN), "");
});

test("the one chart: tags on two axes, and the thresholds of their cards", () => {
  const page = pageWith({ threshold: [">1:a", "<2:b"] }, { chosen: ["a", "b", "c"] });
  assert.deepEqual(synthesis(page), [["a"], ["b"]]);
  assert.deepEqual(thresholds(page, "a"), [">1"]);
  assert.deepEqual(thresholds(page, ""), [">1:a", "<2:b"]);
  page.state.left = ["c"];
  assert.deepEqual(synthesis(page), [["c"], []]);
});

test("groups: what they are by, and what is asked for", () => {
  const page = pageWith({ group: ["regex:lr=(.*)"], base: ["run:a"], line: ["median"] });
  assert.deepEqual(by(page), ["regex", "lr=(.*)"]);
  assert.deepEqual(asked(page), { group: ["regex:lr=(.*)"], base: ["run:a"], line: ["median"] });
  assert.deepEqual(asked(pageWith({ line: ["median"] })), {}, "a line of no groups is not asked for");
});

test("zoom: plotly's ranges become values of the state", () => {
  const page = pageWith({}, { trails: new Map(), kind: {} });
  moved(page, "loss", { "xaxis.range[0]": 1.23456789012, "xaxis.range[1]": 9, "yaxis.range[0]": -1, "yaxis.range[1]": 2 });
  assert.deepEqual(page.state.zoom, ["1.23456789,9,-1,2:loss"]);
  page.state.log = ["loss"];
  moved(page, "loss", { "yaxis.range[0]": -1, "yaxis.range[1]": 2 });
  assert.deepEqual(page.state.zoom, ["1.23456789,9,0.1,100:loss"]);
  moved(page, "loss", { "xaxis.autorange": true });
  assert.deepEqual(page.state.zoom, []);
  assert.deepEqual(page.trails.get(":loss").length, 3);
  jumpTo(page, "loss", { dataset: { low: "5", high: "5" } });
  assert.deepEqual(page.state.zoom, ["4,6,,:loss"]);
  assert.equal(toState(page, "7"), 7);
  assert.equal(short(1 / 3), "0.333333333");
});

test("zoom: linked cards have their x and their steps back in common", () => {
  const page = pageWith({}, { trails: new Map(), kind: { linked } });
  moved(page, "loss", { "xaxis.range[0]": 1, "xaxis.range[1]": 9, "yaxis.range[0]": -1, "yaxis.range[1]": 2 });
  assert.deepEqual(page.state.zoom, ["1,9,,:*", ",,-1,2:loss"]);
  moved(page, "lr", { "xaxis.range[0]": 2, "xaxis.range[1]": 3 });
  assert.deepEqual(page.state.zoom, ["2,3,,:*", ",,-1,2:loss"]);
  back(page, "acc");
  assert.deepEqual(page.state.zoom, ["1,9,,:*", ",,-1,2:loss"]);
  back(page, "loss");
  assert.deepEqual(page.state.zoom, []);
  page.state = { link: ["0"], zoom: ["1,9,,:*"] };
  moved(page, "lr", { "xaxis.autorange": true });
  assert.deepEqual([scalarView(page, "lr"), scalarView(page, "loss")], ["", "1,9,,"]);
});

// Histograms ----------------------------------------------------------------------------------------------------------

test("positions of one step at a time", () => {
  const list = positions({ choices: [1, 5, 5, 9] });
  assert.deepEqual(list.map(({ text, nth, of }) => [text, nth, of]), [["1", 1, 1], ["5~1", 1, 2], ["5", 2, 2], ["9", 1, 1]]);
});

test("another axis keeps the values in view and drops the steps", () => {
  assert.deepEqual(withoutPlaces(pageWith({ zoom: ["0,1,10,20:a:b", ",,10,20:c", "all,,1,2:d"] })), ["0,1,,:a:b", "all,,,:d"]);
});

// Lineage -------------------------------------------------------------------------------------------------------------

const number1 = { kind: "number", scale: "linear", low: 0, high: 10, apart: { nan: 12 }, categories: [] };
const category = { kind: "category", scale: "linear", low: 0, high: 2, apart: { missing: 3 }, categories: ["a", "b", "c"] };

test("what a brush means, and where it stands", () => {
  const brush = meaning(number1, [[2, 4], [9, 13]]);
  assert.deepEqual(brush, { ranges: [[2, 4], [9, null]], names: [":nan"] });
  assert.deepEqual(stretches(number1, brush), [[2, 4], [9, 10], [11.8, 12.2]]);
  assert.deepEqual(meaning(category, [[0.5, 2.5]]), { ranges: [], names: ["=b", "=c"] });
  assert.deepEqual(stretches(category, { ranges: [], names: ["=b", ":missing", "=gone"] }), [[0.75, 1.25], [2.96, 3.04]]);
});

test("scales turn values into places and back", () => {
  for (const scale of [{ scale: "log" }, { scale: "symlog", constant: 0.1 }, { scale: "linear" }]) {
    for (const value of [0.001, 1, 250]) assert.ok(Math.abs(valueAt(scale, placeOf(scale, value)) - value) < 1e-9 * value);
  }
  assert.equal(valueAt({ scale: "symlog", constant: 0.1 }, placeOf({ scale: "symlog", constant: 0.1 }, 0)), 0);
  const page = pageWith({ log: ["lr"], linear: ["loss"], view: ["odd"] }, { columns: new Map([["acc", { scale: "linear" }]]) });
  assert.deepEqual(["lr", "loss", "acc"].map((name) => scaleOf(page, name)), ["log", "linear", "linear"]);
  assert.equal(viewOf(page), "");
  assert.equal(cut("abcdef", 4), "ab…f");
});

// Tensors -------------------------------------------------------------------------------------------------------------

test("numbers of tensors", () => {
  const complex = reader("c8", new Float32Array([1, 2, 3, -4]).buffer);
  assert.deepEqual(complex(1), [3, -4]);
  assert.equal(exact(complex(1), "complex64"), "3-4i");
  assert.equal(size([3, -4]), 5);
  assert.equal(reader("i8", new BigInt64Array([2n ** 60n]).buffer)(0), 2n ** 60n);
  assert.equal(exact(2n ** 60n, "int64"), "1152921504606846976");
  assert.equal(exact(Math.fround(0.1), "float32"), "0.1");
  assert.deepEqual([exact(1, "bool"), exact(NaN, "float32"), finite([1, NaN])], ["True", "NaN", false]);
  const { cell, characters } = formatter("float32", { scientific: false, digits: 3, whole: false }, 123.4);
  assert.deepEqual([cell(1.23456).text, cell(-Infinity).text, cell(NaN).kind], ["1.235", "-Inf", " ms-bad"]);
  assert.equal(characters, "-123.400".length);
});

test("a table scrolls over more rows than a browser has pixels for", () => {
  const rows = Object.assign(axis(22), { count: 1e9, room: 440 });
  assert.equal(rows.scaled, true);
  assert.equal(rows.length, 8e6);
  rows.moveTo(rows.fromPixels(8e6 - 440));
  assert.equal(rows.end, 1e9, "the end of the bar is the end of the table");
  assert.equal(Math.round(rows.toPixels()), 8e6 - 440);
  rows.bring(5);
  assert.equal(rows.first, 5);
  rows.bring(30);
  assert.equal(rows.first, 11);
  const few = Object.assign(axis(22), { count: 10, room: 440 });
  few.moveTo(7);
  assert.deepEqual([few.at, few.end, few.toPixels()], [0, 10, 0]);
});

// Operators -----------------------------------------------------------------------------------------------------------

test("a call stack is named by the first line of the program itself", () => {
  const own = "/home/me/main.py(3): train";
  assert.equal(ownLine(`/x/site-packages/torch/_tensor.py(9): item;\n${own};\n<string>(1): <module>`), own);
  assert.equal(ownLine("/usr/lib/python3.9/spawn.py(1): f"), "/usr/lib/python3.9/spawn.py(1): f");
  assert.equal(ownLine(""), "");
});

test("raw numbers of operators", () => {
  const numbers = [null, 0, 0.00001, 0.12345, 42.5, 625, 999.96, 12345.6, 1e16];
  assert.deepEqual(numbers.map(number), ["", "0", "1.000e-5", "0.1235", "42.50", "625.0", "1,000", "12,346", "1.000e+16"]);
});
