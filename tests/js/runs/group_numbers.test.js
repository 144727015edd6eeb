import "../page.js";
import assert from "node:assert/strict";
import test from "node:test";
import { divergedOf, numbersOf, textOf } from "../../../assets/runs/runs/group_numbers.js";

const textOfValue = (value) => (value === null ? "NaN" : String(value));
const run = (value, more = {}) => ({ tag: "loss", value, valueText: textOfValue(value), steps: 10, ...more });
const valueOf = (column, row) => row[column];
const told = (runs, columns) => numbersOf(runs, columns, valueOf, (id) => id);

test("a group has the mean, lowest and highest of the finite values of each numeric column", () => {
  const runs = [run(1), run(3), run(null)];
  assert.deepEqual(told(runs, ["value", "steps"]), [
    { id: "value", name: "loss", n: 2, mean: 2, low: 1, high: 3 },
    { id: "steps", name: "steps", n: 3, mean: 10, low: 10, high: 10 },
  ]);
  assert.equal(divergedOf(runs), 1);
  assert.deepEqual(told([run(null)], ["value"]), [], "no column without a finite value");
  assert.deepEqual(told([run(1), run(2, { tag: "acc" })], ["value"]), [], "values of two scalars have no mean");
  assert.equal(divergedOf([run(null, { valueText: "" })]), 0, "a run without a value did not diverge");
});

test("numbers of a column have its unit and one precision", () => {
  const shown = [["value", 0.5], ["steps", 1234.4], ["size", 1536], ["duration", 0.5]];
  assert.deepEqual(shown.map(([id, value]) => textOf(id, value)),
    ["0.5000", "1,234", "1.50 KiB", "500 ms"]);
});
