import "../page.js";
import assert from "node:assert/strict";
import test from "node:test";
import { withCondition } from "../../../assets/graphs/graph/side.js";

test("a condition is put at the end, once", () => {
  assert.equal(withCondition("", "type"), "type:");
  assert.equal(withCondition("relu ", "shape"), "relu shape:");
  assert.equal(withCondition("TYPE:MatMul  relu", "type"), "relu type:");
  assert.equal(withCondition("typed kind:x", "type"), "typed kind:x type:");
});
