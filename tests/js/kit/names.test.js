import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import "../page.js";
import {
  begun, bySeparators, CUT, fits, longestCommon, middle, Names, shortened, withinWords,
} from "../../../assets/kit/names.js";

const CASES = JSON.parse(readFileSync(new URL("../../layouts/kit/names.json", import.meta.url), "utf8"));
const SWEEP = ["adam", "sgd", "lamb"].flatMap((optimizer) => [0.1, 0.003, 0.0003].flatMap((rate) => [32, 64].flatMap((size) =>
  [1, 2, 3].map((seed) => `project_imagenet_resnet50_${optimizer}_lr${rate}_b${size}_seed${seed}`))));

test("names are shortened as in Python", () => {
  for (const { names, room, short } of CASES) {
    const together = new Names(names);
    assert.deepEqual(names.map((/** @type {string} */ name) => together.short(name, room)), short);
  }
});

test("short names of a sweep keep every setting that differs, and no two are equal at any width", () => {
  const names = new Names(SWEEP);
  for (const name of SWEEP) {
    const settings = name.split("_").slice(3);
    assert.equal(names.short(name, 200), name);
    assert.deepEqual(names.short(name, 32).split(/[…_]+/).filter((word) => settings.includes(word)), settings);
    assert.equal(names.telling(name), `…_${settings.join("_")}`);
  }
  for (const room of [40, 30, 20, 10, 3]) {
    const forms = SWEEP.map((name) => names.short(name, room));
    assert.equal(new Set(forms).size, SWEEP.length);
    for (const form of forms) assert.equal(SWEEP.filter((name) => fits(form, name)).length, 1, form);
  }
});

test("the room is in the unit of the width", () => {
  const names = new Names(SWEEP);
  const wide = (/** @type {string} */ text) => 7 * text.length;
  for (const name of SWEEP) assert.ok(wide(names.short(name, 7 * 32, wide)) <= 7 * 32);
});

test("points and signs within a number separate nothing", () => {
  assert.deepEqual(bySeparators("lr=1e-3,wd0.01/v-2.5.ckpt").words, ["lr", "1e-3", "wd0.01", "v", "2.5", "ckpt"]);
  assert.deepEqual(bySeparators("/a//b/"), { words: ["a", "b"], separators: ["/", "//", "/"] });
  assert.deepEqual(withinWords("HTTPServer2Go_1e-3x").words, ["HTTP", "Server", "2", "Go", "1e-3", "x"]);
});

test("letters with their accents are not cut", () => {
  assert.equal(middle("\u{1f600}\u{1f601}\u{1f602}\u{1f603}", 3), `\u{1f600}${CUT}\u{1f603}`);
  assert.ok(!middle("e\u0301".repeat(9), 6).includes(`${CUT}\u0301`));
  assert.equal(shortened("short", ["short", "other"], 9), "short");
});

test("a name that is read from its beginning keeps it", () => {
  const width = (/** @type {string} */ text) => 6 * text.length;
  assert.equal(begun("hcom_receive__503_0_1", 200, width), "hcom_receive__503_0_1");
  for (const room of [24, 30, 42, 60]) {
    const form = begun("hcom_receive__503_0_1", room, width);
    assert.ok(form.startsWith("hc") && form.includes(CUT) && width(form) <= room, form);
  }
  assert.equal(begun("hcom_receive__503_0_1", 18, width), "");
  assert.equal(begun("", 0, width), "");
  assert.ok(begun("e\u0301".repeat(9), 42, width).startsWith("e\u0301"));
});

test("the words that all have in one order", () => {
  assert.deepEqual(longestCommon(["a", "b", "c"], ["b", "x", "c"]), ["b", "c"]);
  assert.deepEqual(longestCommon([], ["a"]), []);
  assert.deepEqual(longestCommon(["a", "b"], ["b", "a"]).length, 1);
});
