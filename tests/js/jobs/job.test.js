// The grid of ranks on the job overview.

import assert from "node:assert/strict";
import { test } from "node:test";
import { cellAt, gridOf, labelledRows, moved, placeOf, ranksIn } from "../../../assets/jobs/job/grid.js";

test("ranks of a text", () => {
  assert.deepEqual(ranksIn("0-3,8"), [0, 1, 2, 3, 8]);
  assert.deepEqual(ranksIn("9,2"), [2, 9]);
  assert.deepEqual(ranksIn(""), []);
});

test("every rank has a cell of its own, and the cell at its middle is its own", () => {
  for (const count of [1, 2, 4, 64, 1024, 10_000]) {
    for (const width of [1150, 780, 300]) {
      const grid = gridOf(count, width);
      assert.ok(grid.width <= width, `${count} ranks in ${width} pixels`);
      assert.ok(grid.columns * grid.rows >= count);
      for (const cell of [0, count >> 1, count - 1]) {
        const { x, y } = placeOf(grid, cell);
        assert.equal(cellAt(grid, x + grid.size / 2, y + grid.size / 2), cell);
        assert.ok(y + grid.size <= grid.height);
      }
      assert.equal(cellAt(grid, grid.width + 1, 1), -1);
      assert.equal(cellAt(grid, grid.left + 1, grid.height + 1), -1);
    }
  }
});

test("few ranks are large cells, and ten thousand fit on a screen in rows of a multiple of eight", () => {
  assert.ok(gridOf(4, 1150).size >= 48);
  const grid = gridOf(10_000, 1150);
  assert.equal(grid.columns % 8, 0);
  assert.ok(grid.height <= 700);
  assert.ok(labelledRows(grid).length * 14 <= grid.height + 14, "labels do not overlap");
  assert.deepEqual(labelledRows(gridOf(64, 1150)), [], "cells with numbers need no labels");
});

test("keys move from cell to cell and stay in the grid", () => {
  const grid = gridOf(10_000, 1150);
  const down = grid.columns;
  assert.deepEqual(["ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp", "Home", "End", "a"].map((key) => moved(grid, 0, key)),
    [1, 0, down, 0, 0, 9_999, -1]);
  assert.equal(moved(grid, 9_999, "ArrowDown"), 9_999);
});
