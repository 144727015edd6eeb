import "../page.js";
import assert from "node:assert/strict";
import test from "node:test";
import { after } from "../../../assets/runs/board/saving.js";

const losses = (...numbers) => numbers.map((number) => ({ number }));

test("losses after the last one that is known are new", () => {
  assert.deepEqual(after(losses(7, 8, 9), 8), losses(9));
  assert.deepEqual(after(losses(7, 8, 9), 9), []);
  assert.deepEqual(after([], 5), []);
});

test("where none is known, or one of another server, all are new, whatever their numbers", () => {
  assert.deepEqual(after(losses(7, 8), 0), losses(7, 8));
  assert.deepEqual(after(losses(3, 4), 1_700_000_000_000), losses(3, 4));
});
