import assert from "node:assert/strict";
import test from "node:test";

import "../page.js";

const { byValue } = await import("../../../assets/kit/sort_heads.js");

test("numbers are sorted by size, names as people number them, and what is missing comes last", () => {
  /** @param {(string | number | null)[]} values @param {boolean} falling */
  const sorted = (values, falling) => [...values].sort(byValue((one) => one, falling));
  assert.deepEqual(sorted([2, null, 10, NaN, -1], false), [-1, 2, 10, null, NaN]);
  assert.deepEqual(sorted([2, null, 10, NaN, -1], true), [10, 2, -1, null, NaN]);
  assert.deepEqual(sorted(["rank10", "rank9", null], false), ["rank9", "rank10", null]);
  assert.deepEqual(sorted(["a", 3], false), [3, "a"]);
});
