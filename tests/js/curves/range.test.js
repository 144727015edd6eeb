import "../page.js";
import assert from "node:assert/strict";
import test from "node:test";
import { parsed, withRange } from "../../../assets/curves/scalars/range.js";

test("a range is two numbers in order, above zero on a logarithmic axis", () => {
  assert.deepEqual(parsed("0.5", " 1e3 ", false), { range: [0.5, 1000] });
  assert.deepEqual(parsed("-1", "+.5", false), { range: [-1, 0.5] });
  assert.deepEqual(parsed("2", "1", false), { reason: "range.order" });
  assert.deepEqual(parsed("1", "1", false), { reason: "range.order" });
  assert.deepEqual(parsed("0", "1", true), { reason: "range.positive" });
  for (const text of ["", "x", "1,5", "Infinity", "1e999", "0x1", "NaN"]) {
    assert.deepEqual(parsed(text, "1", false), { reason: "range.numbers" }, text);
  }
});

test("a range of y is part of the view and leaves x as it is", () => {
  assert.equal(withRange("", [0, 1]), ",,0,1");
  assert.equal(withRange("5,9,,", [0.25, 1e9]), "5,9,0.25,1000000000");
  assert.equal(withRange("5,9,0,1", null), "5,9,,");
  assert.equal(withRange(",,0,1", null), "");
  assert.equal(withRange("", null), "");
});
