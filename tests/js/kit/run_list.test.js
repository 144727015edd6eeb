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

test("values are those nearest in x, of the raw line if there is one", () => {
  const rising = { x: (i) => 10 * i, size: 3, rising: true, exact: true, rawExact: true };
  const line = (key, values, raw = null) => ({ meta: { key, label: key }, values, raw, ...rising });
  const lines = [line("a", [1, 2, NaN]), line("b", [5, 6, 7], [0.5, 0.25, 0.125]), line("a", [9, 9, 9])];
  const texts = (place, marks) => Array.from(valuesAt(lines, place, marks), ([key, { text }]) => [key, text]);
  const place = (x, unit = 0.1) => ({ x, unit, left: 0, right: 20 });
  assert.deepEqual(texts(null), [["a", "2"], ["b", "0.1250"]]);
  assert.deepEqual(texts(place(10)), [["a", "2"], ["b", "0.2500"]]);
  assert.deepEqual(texts(place(4.9)), [["a", "1"], ["b", "0.5000"]]);
  assert.deepEqual(texts(place(5.1)), [["a", "2"], ["b", "0.2500"]]);
  assert.deepEqual(texts(place(60)), [], "nothing is shown far from any point");
  const marks = [{ kind: "NaN", low: [20], high: [20], count: [1], runs: ["a"] }];
  assert.deepEqual(texts(place(20), marks), [["a", "NaN"], ["b", "0.1250"]], "a mark counts where it is");
  assert.deepEqual(texts(place(10), marks), [["a", "2"], ["b", "0.2500"]]);
});

test("the last value is that of the run, not the last one on screen", () => {
  const last = { text: "NaN", wrong: true, tip: ["NaN at step 9. Last finite value: 4.461 at step 8", "…"] };
  const shown = valuesAt([{ meta: { key: "a", label: "a", last }, values: [1], size: 1, x: () => 0, rising: true }], null);
  assert.deepEqual(shown.get("a"), { text: "NaN", wrong: true, title: last.tip[0] });
});
