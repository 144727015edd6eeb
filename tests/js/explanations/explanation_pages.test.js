import "../page.js";
import assert from "node:assert/strict";
import test from "node:test";
import { neighbour } from "../../../assets/explanations/confusion/cells.js";
import { important, mapped, sides } from "../../../assets/explanations/saliency/cells.js";
import { joinedLines } from "../../../assets/explanations/saliency/large.js";
import { changedWeights, hundredths } from "../../../assets/explanations/scores/weights.js";

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

test("of many labels the true ones are shown, and then the most probable", () => {
  const label = (number, isTrue) => [number, 1 / number, null, null, null, isTrue, ""];
  const every = [1, 2, 3, 4, 5].map((number) => label(number, number === 5));
  const numbers = (room) => important(every, room).map(([number]) => number);
  assert.deepEqual(numbers(3), [1, 2, 5]);
  assert.deepEqual(numbers(1), [5]);
  assert.deepEqual(numbers(9), [1, 2, 3, 4, 5]);
  const filtered = (room, ...wanted) => important(every, room, wanted).map(([number]) => number);
  assert.deepEqual(filtered(1, 4), [4]);
  assert.deepEqual(filtered(2, 4), [4, 5]);
  assert.deepEqual(filtered(1, 3, 4), [3, 4], "filtered ones are shown even without room");
});

test("the maps are those of a filtered label, also if it has none", () => {
  const sample = { labels: [1, 2, 3].map((number) => [number, 1 / number]) };
  const of = (having, ...filtered) => mapped(sample, new Set(having), filtered);
  assert.equal(of([2, 3]), 2);
  assert.equal(of([2, 3], 3), 3);
  assert.equal(of([2, 3], 1, 3), 3, "of several, one that has a map");
  assert.equal(of([2, 3], 1), 1, "not the maps of another label");
  assert.equal(of([]), null);
});

test("labels take the width that pictures leave, up to a limit", () => {
  assert.deepEqual(sides(1200, 5), { side: 143, labels: 236, height: 185 });
  assert.deepEqual(sides(1200, 3), { side: 176, labels: 414, height: 218 });
  assert.equal(sides(3000, 1).labels, 420);
  assert.equal(sides(500, 5).side, 92);
});

test("texts share lines where they fit", () => {
  const fits = (text) => text.length <= 9;
  assert.deepEqual(joinedLines(["run", "abc", "d", "much too long", "e"], fits), ["run · abc", "d", "much too long", "e"]);
  assert.deepEqual(joinedLines([], fits), []);
});

test("weights are hundredths, and all of them are in the state", () => {
  assert.equal(hundredths("0.29"), 29);
  assert.equal(hundredths("2"), 100);
  assert.equal(hundredths("-1"), 0);
  assert.equal(hundredths(""), null);
  assert.equal(hundredths("x"), null);
  assert.deepEqual(changedWeights([["a:b", 50], ["c", 50]], "c", 10), ["a:b:50", "c:10"]);
});
