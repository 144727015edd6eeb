import "./page.js";
import assert from "node:assert/strict";
import test from "node:test";
import { neighbour } from "../../assets/pages/confusion/cells.js";
import { changedWeights, hundredths } from "../../assets/pages/scores/weights.js";

test("arrow keys move over cells that can be pressed", () => {
  const rows = [["a", null, "b"], [null, null, null], [null, "c", "d"]];
  assert.equal(neighbour(rows, "a", "ArrowRight"), "b");
  assert.equal(neighbour(rows, "b", "ArrowRight"), null);
  assert.equal(neighbour(rows, "b", "ArrowLeft"), "a");
  assert.equal(neighbour(rows, "a", "ArrowDown"), "c");
  assert.equal(neighbour(rows, "b", "ArrowDown"), "d");
  assert.equal(neighbour(rows, "c", "ArrowUp"), "a");
  assert.equal(neighbour(rows, "a", "ArrowUp"), null);
  assert.equal(neighbour(rows, "d", "Home"), "c");
  assert.equal(neighbour(rows, "a", "End"), "b");
  assert.equal(neighbour(rows, "a", "Enter"), null);
  assert.equal(neighbour([], "a", "ArrowDown"), null);
});

test("weights are hundredths, and all of them are in the state", () => {
  assert.equal(hundredths("0.29"), 29);
  assert.equal(hundredths("2"), 100);
  assert.equal(hundredths("-1"), 0);
  assert.equal(hundredths(""), null);
  assert.equal(hundredths("x"), null);
  assert.deepEqual(changedWeights([["a:b", 50], ["c", 50]], "c", 10), ["a:b:50", "c:10"]);
});
