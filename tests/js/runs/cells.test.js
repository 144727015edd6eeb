import "../page.js";
import assert from "node:assert/strict";
import test from "node:test";
import { gridFunctions } from "../../../assets/kit/ag_grid.js";
import "../../../assets/runs/runs/cells.js";

// As the grid sorts: it turns the result of the comparator where the order is descending.
function sorted(rows, descending) {
  const compare = (one, other) => gridFunctions.mindscopeByMetric(
    one.value, other.value, { data: one }, { data: other }, descending) * (descending ? -1 : 1);
  return [...rows].sort(compare).map(({ tag, value }) => `${tag || "none"} ${value}`);
}

const rows = [
  { tag: "loss", value: 2 }, { tag: "", value: null }, { tag: "accuracy", value: 0.9 }, { tag: "loss", value: NaN },
  { tag: "accuracy", value: 0.5 }, { tag: "loss", value: 1 },
];

test("runs of one metric stay together, in the order of its values", () => {
  assert.deepEqual(sorted(rows, false), ["accuracy 0.5", "accuracy 0.9", "loss 1", "loss 2", "loss NaN", "none null"]);
});

test("in descending order the metrics stay where they are, and what has no number stays last", () => {
  assert.deepEqual(sorted(rows, true), ["accuracy 0.9", "accuracy 0.5", "loss 2", "loss 1", "loss NaN", "none null"]);
});

test("rows of groups and rows without data have no metric", () => {
  assert.equal(gridFunctions.mindscopeByMetric(1, 2, undefined, { data: {} }, false), -1);
});
