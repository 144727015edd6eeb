// Lines over parallel axes: heights, brushes, the line near a point, and the order of axes.

import assert from "node:assert/strict";
import test from "node:test";

import { dragged, heldBy, joined, pressed, shifted, stepped } from "../../../assets/lineage/parallel_brushes.js";
import {
  BOTTOM, TOP, acrossOf, heightOf, heightsOf, nearest, placeAt, reordered, spaced, spanOf,
} from "../../../assets/lineage/parallel_geometry.js";

const HEIGHT = TOP + BOTTOM + 100;

test("axes are spread over the width, and one alone is in the middle", () => {
  assert.deepEqual(acrossOf(0, 300, { l: 50, r: 50 }), []);
  assert.deepEqual(acrossOf(1, 300, { l: 50, r: 50 }), [150]);
  assert.deepEqual(acrossOf(3, 300, { l: 50, r: 50 }), [50, 150, 250]);
});

test("heights and places are inverse, and stay within the axis", () => {
  for (const place of [-6, 0, 2, 10]) {
    assert.equal(placeAt([-6, 10], HEIGHT, heightOf([-6, 10], HEIGHT, place)).toFixed(9), place.toFixed(9));
  }
  assert.equal(heightOf([0, 1], HEIGHT, 1), TOP);
  assert.equal(placeAt([0, 1], HEIGHT, -100), 1);
  assert.equal(placeAt([0, 1], HEIGHT, 10_000), 0);
});

test("rows have heights, and brushes ends within the axis", () => {
  assert.deepEqual([...heightsOf({ values: [], range: [0, 1] }, HEIGHT)], []);
  assert.deepEqual([...heightsOf({ values: [0, 0.5, 1], range: [0, 1] }, HEIGHT)], [TOP + 100, TOP + 50, TOP]);
  assert.deepEqual(spanOf([0, 1], HEIGHT, [0.25, 0.5]), [TOP + 50, TOP + 75]);
  assert.deepEqual(spanOf([0, 1], HEIGHT, [-3, 7]), [TOP, TOP + 100]);
});

test("a run is held by any stretch of an axis, and by all axes", () => {
  const axes = [{ name: "a", values: [0, 1, 2, 3] }, { name: "b", values: [3, 2, 1, 0] }];
  const held = (brushes) => Array.from(heldBy(axes, new Map(brushes), 4));
  assert.deepEqual(held([]), [1, 1, 1, 1]);
  assert.deepEqual(held([["a", []]]), [1, 1, 1, 1]);
  assert.deepEqual(held([["a", [[0, 0.5], [2.5, 3]]]]), [1, 0, 0, 1]);
  assert.deepEqual(held([["a", [[0, 0.5], [2.5, 3]]], ["b", [[0, 1]]]]), [0, 0, 0, 1]);
});

test("stretches that overlap become one, whichever way they were dragged", () => {
  assert.deepEqual(joined([]), []);
  assert.deepEqual(joined([[5, 3], [0, 1], [4, 6]]), [[0, 1], [3, 6]]);
  assert.deepEqual(joined([[0, 10], [2, 3]]), [[0, 10]]);
});

test("a stretch moves as far as the axis goes and keeps its length", () => {
  assert.deepEqual(shifted([2, 4], [0, 10], 3), [5, 7]);
  assert.deepEqual(shifted([2, 4], [0, 10], 30), [8, 10]);
  assert.deepEqual(shifted([2, 4], [0, 10], -30), [0, 2]);
});

test("a brush is drawn from the press, or moved by as much as the pointer", () => {
  assert.deepEqual(dragged([], -1, [0, 10], 4, 2), [[4, 2]]);
  assert.deepEqual(dragged([[1, 2], [5, 6]], -1, [0, 10], 8, 9), [[1, 2], [5, 6], [8, 9]]);
  assert.deepEqual(dragged([[1, 2], [5, 6]], 0, [0, 10], 1.5, 3.5), [[5, 6], [3, 4]]);
  assert.deepEqual(dragged([[1, 2]], 0, [0, 10], 1.5, 30), [[9, 10]]);
});

test("a press that does not move takes the brush below it away, or all of the axis", () => {
  assert.deepEqual(pressed([[1, 2], [5, 6]], 1), [[1, 2]]);
  assert.deepEqual(pressed([[1, 2], [5, 6]], -1), []);
});

test("keys make a brush, move it, change its upper end and take it away", () => {
  assert.deepEqual(stepped([], [0, 10], "ArrowDown", false), [[5, 10]]);
  assert.deepEqual(stepped([[0, 1], [4, 5]], [0, 10], "ArrowUp", false), [[0, 1], [4.2, 5.2]]);
  assert.deepEqual(stepped([[0, 1], [4, 5]], [0, 10], "ArrowUp", true), [[0, 1], [4, 5.2]]);
  assert.deepEqual(stepped([[4, 4.1]], [0, 10], "ArrowDown", true), [[4, 4]]);
  assert.deepEqual(stepped([[9, 10]], [0, 10], "ArrowUp", true), [[9, 10]]);
  assert.deepEqual(stepped([[0, 1]], [0, 10], "Delete", false), []);
  assert.equal(stepped([[0, 1]], [0, 10], "Enter", false), null);
});

test("the nearest line is one that is held, within reach", () => {
  const [across, heights] = [[0, 100], [[0, 50, 100], [100, 50, 0]]];
  assert.equal(nearest([], [], [], [0, 0], 8), -1);
  assert.equal(nearest(across, heights, [1, 1, 1], [10, 11], 8), 0);
  assert.equal(nearest(across, heights, [0, 1, 1], [10, 11], 8), -1);
  assert.equal(nearest(across, heights, [1, 1, 1], [0, 52], 8), 1);
  assert.equal(nearest(across, heights, [1, 1, 1], [90, 12], 8), 2);
  assert.equal(nearest(across, heights, [1, 1, 1], [130, 50], 8), -1);
  assert.equal(nearest([50], [[0, 50, 100]], [1, 1, 1], [52, 97], 8), 2);
});

test("texts of ticks do not touch", () => {
  const ticks = [100, 95, 80, 79, 60].map((y, at) => ({ y, text: at === 4 ? "" : String(y) }));
  assert.deepEqual(spaced(ticks).map(({ y }) => y), [100, 80]);
});

test("an axis is dropped between those beside it", () => {
  assert.deepEqual(reordered(["a", "b", "c"], [0, 100, 200], 0, 150), ["b", "a", "c"]);
  assert.deepEqual(reordered(["a", "b", "c"], [0, 100, 200], 2, -5), ["c", "a", "b"]);
  assert.deepEqual(reordered(["a", "b", "c"], [0, 100, 200], 1, 120), ["a", "b", "c"]);
});
