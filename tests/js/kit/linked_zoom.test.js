import assert from "node:assert/strict";
import test from "node:test";
import { linked, viewOf, withLinked } from "../../../assets/kit/cards/linked_zoom.js";

test("x is that of all cards, y that of one", () => {
  let zoom = withLinked([], "loss", "10,20,0,1");
  assert.deepEqual(zoom, ["10,20,,:*", ",,0,1:loss"]);
  assert.deepEqual([viewOf(zoom, "loss"), viewOf(zoom, "lr")], ["10,20,0,1", "10,20,,"]);
  zoom = withLinked(zoom, "lr", "12,14,,");
  assert.deepEqual([viewOf(zoom, "loss"), viewOf(zoom, "lr")], ["12,14,0,1", "12,14,,"]);
  zoom = withLinked(zoom, "lr", "");
  assert.deepEqual([viewOf(zoom, "loss"), viewOf(zoom, "lr")], [",,0,1", ""]);
});

test("a link with the zoom of one card keeps it, until cards are zoomed together", () => {
  const zoom = ["1,2,,:a:b", "5,6,7,8:loss"];
  assert.deepEqual([viewOf(zoom, "a:b"), viewOf(zoom, "loss"), viewOf(zoom, "lr")], ["1,2,,", "5,6,7,8", ""]);
  assert.deepEqual(withLinked(zoom, "lr", "3,4,,"), ["3,4,,:*", ",,7,8:loss"]);
});

test("a card of cards that are not linked may be restored alone", () => {
  const zoom = ["1,2,,:*", ":loss"];
  assert.deepEqual([viewOf(zoom, "loss"), viewOf(zoom, "lr")], ["", "1,2,,"]);
});

test("linking takes x from the card zoomed last", () => {
  assert.deepEqual(linked(["1,2,,:a", "5,6,7,8:b", ",,0,1:c"]), ["5,6,,:*", ",,0,1:c", ",,7,8:b"]);
  assert.deepEqual(linked(["1,2,,:*", ",,0,1:c"]), ["1,2,,:*", ",,0,1:c"]);
  assert.deepEqual(linked([]), []);
  assert.deepEqual(linked([":loss", ",,1,2:lr"]), [",,1,2:lr"]);
});

test("of histograms the second pair is in common: steps, not values", () => {
  const zoom = withLinked(["all,,,:w"], "b", "0.1,0.2,10,20", 2);
  assert.deepEqual(zoom, [",,10,20:*", "all,,,:w", "0.1,0.2,,:b"]);
  assert.deepEqual([viewOf(zoom, "b"), viewOf(zoom, "w"), viewOf(zoom, "x")], ["0.1,0.2,10,20", "all,,10,20", ",,10,20"]);
  assert.deepEqual(linked(["1,2,3,4:a", "5,6,,:b"], 2), [",,3,4:*", "5,6,,:b", "1,2,,:a"]);
});
