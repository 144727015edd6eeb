import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { cellText, count, duration, number, percent, prefixed, rate, short, size } from "../../assets/kit/units.js";

const CASES = JSON.parse(readFileSync(new URL("../layouts/kit/units.json", import.meta.url), "utf-8"));
const FUNCTIONS = {
  count, number, percent, size, duration,
  "signed percent": (value) => percent(value, { signed: true }),
  "signed size": (value) => size(value, { signed: true }),
  "signed duration": (value) => duration(value, { signed: true }),
  "rate of B": (value) => rate(value, "B"),
  "prefixed FLOP": (value) => prefixed(value, "FLOP"),
};

test("every case that Python has, too", () => {
  assert.deepEqual(Object.keys(CASES).sort(), Object.keys(FUNCTIONS).sort());
  for (const [kind, cases] of Object.entries(CASES)) {
    for (const [value, text] of cases) {
      assert.equal(FUNCTIONS[kind](typeof value === "string" ? Number(value) : value), text, `${kind} ${value}`);
    }
  }
});

test("integers beyond 2^53 and values that are missing", () => {
  assert.equal(count(-1234567890123456789n), "−1,234,567,890,123,456,789");
  for (const written of [count, percent, size, duration]) assert.equal(written(undefined), "–");
});

test("raw numbers have four digits", () => {
  assert.deepEqual([0.000123456, 12345.6, 1e13, NaN, Infinity, -Infinity].map(short),
    ["0.0001235", "12,350", "10000000000000", "NaN", "+Inf", "-Inf"]);
});

test("a cell writes the unit of its column", () => {
  assert.deepEqual([[1073741000, "B"], [0.0123, "s"], [1234567, ""], [0.123456, ""], [1e-7, ""], [NaN, "B"], [-Infinity, ""]]
    .map(([value, unit]) => cellText(value, unit)), ["1.00 GiB", "12.3 ms", "1,234,567", "0.1235", "1e-7", "NaN", "-Inf"]);
});
