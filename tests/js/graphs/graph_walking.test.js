import assert from "node:assert/strict";
import test from "node:test";
import { linked, middle, nextBox } from "../../../assets/graphs/walking.js";

const boxes = [
  { name: "a", x: 0, y: 0 }, { name: "b", x: 100, y: 0 }, { name: "c", x: 10, y: 50 }, { name: "d", x: 90, y: 50 },
];
const links = [["a", "c"], ["a", "d"], ["b", "d"], ["c", "c"]];

test("Tab goes row by row and leaves at the ends", () => {
  assert.equal(nextBox(boxes, "a", false), "b");
  assert.equal(nextBox(boxes, "b", false), "c");
  assert.equal(nextBox(boxes, "d", false), undefined);
  assert.equal(nextBox(boxes, "a", true), undefined);
  assert.equal(middle(boxes, { x: 99, y: 40 }), "d");
  assert.equal(middle([], { x: 0, y: 0 }), undefined);
});

test("arrows go to producers and consumers, the nearest first, and to the others of these", () => {
  const down = linked(links, boxes, "a", "ArrowDown", null);
  assert.deepEqual(down, { names: ["c", "d"], at: 0 });
  const right = linked(links, boxes, "c", "ArrowRight", down);
  assert.equal(right.names[right.at], "d");
  const again = linked(links, boxes, "d", "ArrowRight", right);
  assert.equal(again.names[again.at], "c");
  assert.deepEqual(linked(links, boxes, "d", "ArrowUp", null).names, ["b", "a"]);
  assert.equal(linked(links, boxes, "c", "ArrowDown", null), null);
  assert.equal(linked(links, boxes, "b", "ArrowLeft", down), null);
});
