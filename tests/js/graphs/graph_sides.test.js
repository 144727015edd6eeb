import "../page.js";
import assert from "node:assert/strict";
import test from "node:test";
import { widthWithin } from "../../../assets/graphs/graph/sides.js";

test("a column beside the canvas leaves room for the canvas and the other column", () => {
  assert.equal(widthWithin(300, 1200, 236), 300);
  assert.equal(widthWithin(20, 1200, 236), 140);
  assert.equal(widthWithin(5000, 1200, 236), 1200 - 236 - 240);
  assert.equal(widthWithin(500, 400, 236), 140);
});
