import assert from "node:assert/strict";
import { test } from "node:test";
import "../page.js";
import { added, joined, removed, size, within, written } from "../../../assets/dumps/debugger/number_ranges.js";
import { refusal } from "../../../assets/dumps/debugger/numbers.js";
import { foundText } from "../../../assets/dumps/debugger/display_names.js";

const FREE = { least: null, greatest: null, above: false };
const PERCENT = { least: 0, greatest: 100, above: false };

test("a choice of operators is a list of ranges", () => {
  assert.deepEqual(added([], 3, 5), [[3, 5]]);
  assert.deepEqual(added([[0, 3], [5, 6]], 3, 5), [[0, 6]]);
  assert.deepEqual(removed([[0, 6]], 2, 4), [[0, 2], [4, 6]]);
  assert.deepEqual(removed([[0, 6]], 0, 6), []);
  assert.deepEqual(removed([[0, 2]], 4, 6), [[0, 2]]);
  assert.deepEqual(joined([[0, 1]], [[5, 6], [1, 2]]), [[0, 2], [5, 6]]);
  assert.equal(size([[0, 2], [5, 9]]), 6);
  assert.equal(written([[0, 2], [5, 9]]), "0-2,5-9");
});

test("a scope is chosen, in part, or not", () => {
  const ranges = [[0, 2], [5, 9]];
  assert.equal(within(ranges, 0, 2), 2);
  assert.equal(within(ranges, 1, 6), 2);
  assert.equal(within(ranges, 2, 5), 0);
});

test("choices behave as sets of numbers do", () => {
  let seed = 7;
  const random = (most) => { seed = (seed * 1103515245 + 12345) % 2147483648; return seed % most; };
  let ranges = [];
  const numbers = new Set();
  for (let turn = 0; turn < 400; turn += 1) {
    const first = random(60);
    const end = first + 1 + random(12);
    const add = random(2) === 0;
    ranges = add ? added(ranges, first, end) : removed(ranges, first, end);
    for (let one = first; one < end; one += 1) {
      if (add) numbers.add(one);
      else numbers.delete(one);
    }
    const flat = ranges.flatMap(([from, to]) => Array.from({ length: to - from }, (_, at) => from + at));
    assert.deepEqual(flat, [...numbers].sort((a, b) => a - b));
    assert.ok(ranges.every(([from, to], at) => from < to && (at === 0 || ranges[at - 1][1] < from)));
  }
});

test("numbers are taken as people write them", () => {
  for (const text of ["1e-9", "5", "-0.1", ".5", "+3", "1.", "2E10"]) assert.equal(refusal(text, FREE), null);
  for (const text of ["1e", "abc", "1,5", "NaN", "Infinity", "0x10", "1e999"]) {
    assert.deepEqual(refusal(text, FREE), ["debugger.wrong.number", { text }]);
  }
});

test("values out of bounds are refused with the bounds", () => {
  assert.equal(refusal("100", PERCENT), null);
  assert.deepEqual(refusal("100.5", PERCENT), ["debugger.wrong.between", { least: 0, greatest: 100 }]);
  assert.deepEqual(refusal("-1", { ...FREE, least: 0 }), ["debugger.wrong.least", { least: 0 }]);
  assert.deepEqual(refusal("0", { ...FREE, least: 0, above: true }), ["debugger.wrong.above", { least: 0 }]);
});

test("a status of a device is no number of bad values", () => {
  const hit = { parameter: "", actual: 32, wanted: null, excluded: -1 };
  assert.match(foundText(hit, { condition: "operator_overflow" }), /status/);
  assert.match(foundText(hit, { condition: "tensor_overflow" }), /bad_n/);
  assert.match(foundText({ ...hit, actual: null }, { condition: "tensor_overflow" }), /bad$/);
});
