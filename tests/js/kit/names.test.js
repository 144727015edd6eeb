import assert from "node:assert/strict";
import { test } from "node:test";
import "../page.js";
import { headsOf, middle, partsIn, partsOf, piecesOf, shortened } from "../../../assets/kit/names.js";

test("what all names begin and end with is apart from what differs, at boundaries of words", () => {
  const names = ["sweep/lr_0.1/seed_1_final", "sweep/lr_0.2/seed_2_final", "sweep/lr_0.15/seed_1_final"];
  const parts = names.map(partsOf(names));
  assert.deepEqual(parts.map(([head]) => head), Array(3).fill("sweep/lr_0."));
  assert.deepEqual(parts.map(([, core]) => core), ["1/seed_1", "2/seed_2", "15/seed_1"]);
  assert.deepEqual(parts.map(([, , tail]) => tail), Array(3).fill("_final"));
  names.forEach((name, i) => assert.equal(parts[i].join(""), name));
});

test("a single name and names with nothing in common differ as a whole", () => {
  assert.deepEqual(partsOf(["a/b"])("a/b"), ["", "a/b", ""]);
  assert.deepEqual(partsOf(["a/b", "a/b"])("a/b"), ["", "a/b", ""]);
  assert.deepEqual(partsOf(["abc", "abd"])("abc"), ["", "abc", ""]);
  assert.deepEqual(partsOf(["run", "run/1"])("run/1"), ["", "run/1", ""]);
});

test("short names stay different and within their room", () => {
  const names = Array.from({ length: 30 }, (_, i) => `experiments_of_november/bert_large_lr_${i / 10}_warmup_1000_seed_7`);
  const short = names.map((name) => shortened(name, names, 16));
  assert.equal(new Set(short).size, names.length);
  for (const name of short) assert.ok(Array.from(name).length <= 16, name);
  assert.equal(shortened("short", names, 16), "short");
  assert.equal(middle("0123456789", 5), "01…89");
  assert.equal(middle("\u{1f600}\u{1f601}\u{1f602}\u{1f603}", 3), "\u{1f600}…\u{1f603}");
});

test("in a list of many kinds a name begins with what it has in common with the one most like it", () => {
  const names = [
    "tuner/train_db14-01", "tuner/train_d2d5-01", "summary/lenet_adam_lr0.01_b64", "summary/lenet_adam_lr0.001_b16",
    "summary/ranks", "nan_inf",
  ];
  const parts = partsIn(names.map((name) => ({ name })));
  assert.deepEqual(names.map((name) => parts(name)[1]), ["db14-01", "d2d5-01", "01_b64", "001_b16", "ranks", "nan_inf"]);
  names.forEach((name) => assert.equal(piecesOf(parts(name)).map(([, text]) => text).join(""), name));
  const sweep = ["job/lr_0.1_seed_1", "job/lr_0.1_seed_2", "job/lr_0.2_seed_1", "job/lr_0.2_seed_2"].map((name) => ({ name }));
  assert.deepEqual(partsIn(sweep)("job/lr_0.2_seed_1"), ["job/lr_0.", "1", "", "2_seed_"]);  // two settings differ
  assert.equal(headsOf([]).size, 0);
  assert.equal(headsOf(["a", "a"]).get("a"), 0);
  assert.equal(headsOf(["a/", "a/b"]).get("a/b"), 2);
});
