import "../page.js";
import assert from "node:assert/strict";
import test from "node:test";
import { isolated, toggled, valuesAt } from "../../../assets/kit/cards/run_list.js";

test("a click hides a line or shows it again, another one leaves it alone or shows all", () => {
  assert.deepEqual(toggled([], "a"), ["a"]);
  assert.deepEqual(toggled(["b", "a"], "a"), ["b"]);
  const keys = ["a", "b", "c"];
  assert.deepEqual(isolated([], "b", keys), ["a", "c"]);
  assert.deepEqual(isolated(["b"], "b", keys), ["a", "c"]);
  assert.deepEqual(isolated(["a", "c"], "b", keys), []);
  assert.deepEqual(isolated(["a"], "b", keys), ["a", "c"]);
});

test("values are those at or before a place, of the raw line if there is one", () => {
  const rising = { x: (i) => 10 * i, size: 3, rising: true };
  const line = (key, values, raw = null) => ({ meta: { key }, values, raw, ...rising });
  const lines = [line("a", [1, 2, NaN]), line("b", [5, 6, 7], [0.5, 0.25, 0.125]), line("a", [9, 9, 9])];
  assert.deepEqual([...valuesAt(lines, null)], [["a", "2"], ["b", "0.125"]]);
  assert.deepEqual([...valuesAt(lines, 10)], [["a", "2"], ["b", "0.25"]]);
  assert.deepEqual([...valuesAt(lines, 9.9)], [["a", "1"], ["b", "0.5"]]);
  assert.deepEqual([...valuesAt(lines, -1)], []);
});
