import "../page.js";
import assert from "node:assert/strict";
import test from "node:test";
import { secondsBetweenLooks } from "../../../assets/kit/polling.js";

test("scan, look and drawing fit into the interval, and a look is not more often than once a second", () => {
  assert.equal(secondsBetweenLooks(10, 3, 0), 8);
  assert.equal(secondsBetweenLooks(3, 3, 0), 1);
  assert.equal(secondsBetweenLooks(3, 60, 0), 1.5);
  assert.equal(secondsBetweenLooks(3, 0, 0), 2.5);
});

test("after a minute without news there is one look in an interval", () => {
  assert.equal(secondsBetweenLooks(3, 3, 60), 1);
  assert.equal(secondsBetweenLooks(3, 3, 61), 3);
  assert.equal(secondsBetweenLooks(300, 3, 3600), 300);
});
