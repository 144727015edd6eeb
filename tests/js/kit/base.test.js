import "../page.js";
import assert from "node:assert/strict";
import test from "node:test";
import { csvText, fileName } from "../../../assets/kit/files.js";
import { escapeMarkup } from "../../../assets/kit/markup.js";
import { age, dateTime } from "../../../assets/kit/moments.js";
import { colours, encode, forgotten, gone, matcher, paint, selected } from "../../../assets/kit/run_selection.js";
import { count } from "../../../assets/kit/units.js";
import { numbersOf } from "../../../assets/kit/typed_arrays.js";

test("names of files are safe and never empty", () => {
  assert.equal(fileName("train/loss (1): é中", "x"), "train_loss_1_é中");
  assert.equal(fileName("../..", "chart"), "chart");
  assert.equal(fileName("a".repeat(100), "x").length, 80);
});

test("a table as CSV: texts that a spreadsheet would take for a formula stay texts", () => {
  assert.equal(csvText([["run", "value"], ["=1+1", -1.5], ['a"b,c', NaN], ["-Inf", null]]),
    'run,value\r\n\'=1+1,-1.5\r\n"a""b,c",NaN\r\n-Inf,\r\n');
});

test("numbers as texts", () => {
  assert.equal(count(1234567), "1,234,567");
  assert.equal(escapeMarkup('<b>&"'), '&lt;b&gt;&amp;"');
  assert.match(dateTime(0), /^19(69|70)-\d\d-\d\d \d\d:\d\d:\d\d$/);
  assert.equal(dateTime(NaN), "");
});

test("an age is in the largest unit that fits", () => {
  assert.deepEqual([5, 90, 7200, 200000].map((seconds) => age(seconds)[0]), ["age.s", "age.m", "age.h", "age.d"]);
});

test("typed arrays are decoded once", () => {
  const spec = { dtype: "f4", bdata: Buffer.from(new Float32Array([1.5, NaN, -2]).buffer).toString("base64") };
  assert.deepEqual(Array.from(numbersOf(spec)), [1.5, NaN, -2]);
  assert.equal(numbersOf(spec), numbersOf(spec));
  assert.deepEqual(numbersOf([1, 2]), [1, 2]);
  assert.equal(numbersOf(null), null);
});

const row = (key, members = [key], more = {}) =>
  ({ key, members, state: "idle", tags: { scalar: 1 }, colours: members.map((_, i) => `#${key}${i}`), ...more });
const rows = [row("job", ["job/0", "job/1"]), row("a"), row("b", ["b"], { tags: { image: 2 } })];

test("runs on screen: those named, else those that the server chose", () => {
  const runs = { rows, default: ["b", "job/0"] };
  assert.deepEqual([...selected({ run: ["job/1", "a", "lost"] }, runs)], ["job/1", "a"]);
  assert.deepEqual([...selected({ run: ["*"] }, runs)], ["job/0", "job/1", "a", "b"]);
  assert.deepEqual([...selected({ run: [""] }, runs)], []);
  assert.deepEqual([...selected({ run: ["a"], of: ["b"], with: ["job/1|profiler|1"] }, runs)], ["job/1", "a", "b"]);
  assert.deepEqual([...selected({ of: ["a"], with: ["lost"] }, runs)], ["b", "job/0", "a"]);
  assert.deepEqual(forgotten({ run: ["a"], of: ["b"], with: ["a"] }, ["a"], runs.rows), { of: [] });
  assert.deepEqual(forgotten({ run: ["a"], of: ["b"] }, ["*"], runs.rows), {});
  assert.deepEqual(forgotten({ of: ["nobody"], with: ["live:1", "a:weight"] }, ["a"], runs.rows), { of: [] });
  assert.deepEqual(forgotten({ with: ["job/1|profiler|1"], of: ["job"] }, ["job/0"], runs.rows), { of: [], with: [] });
  for (const state of [null, {}, { run: [] }]) assert.deepEqual([...selected(state, runs)], ["b", "job/0"]);
});

test("the state encodes a selection in few keys; keys of missing runs are reported", () => {
  assert.deepEqual(encode(new Set(["job/0", "job/1", "b"]), rows), ["job", "b"]);
  assert.deepEqual(encode(new Set(["job/1"]), rows), ["job/1"]);
  assert.deepEqual(encode(new Set(), rows), [""]);
  assert.deepEqual(gone({ run: ["a", "lost", "*", ""] }, rows), ["lost"]);
});

test("colours of what is on screen", () => {
  const drawn = colours(new Set(["job/0", "job/1"]), rows);
  assert.deepEqual(Object.fromEntries(drawn), { "job/0": "#job0", "job/1": "#job1" });
  assert.equal(paint(["a"], drawn), "");
  assert.equal(paint(["job/0"], drawn), "#job0");
  assert.match(paint(["job/0", "job/1"], drawn), /^conic-gradient\(#job0 0% 50%, #job1 50% 100%\)$/);
});

test("a search is words in any order, or an expression", () => {
  assert.equal(matcher("lenet adam", false)("Adam_LeNet"), true);
  assert.equal(matcher("lenet adam", false)("lenet"), false);
  assert.equal(matcher("^a.c$", true)("ABC"), true);
  assert.equal(matcher("(", true), null);
});
