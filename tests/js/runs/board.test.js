import "../page.js";
import assert from "node:assert/strict";
import test from "node:test";
import { otherRuns, withRuns } from "../../../assets/runs/board/runs_of_cards.js";
import { COLUMNS, freePlace, moved, resized, settled, shifted, stepped, tidied } from "../../../assets/runs/board/grid.js";

const card = (key, x, y, w = 4, h = 4) => ({ key, x, y, w, h });
const places = (cards) => Object.fromEntries(cards.map(({ key, x, y }) => [key, [x, y]]));

// Cells that two cards cover, and cells above a card that are free although nothing holds it down.
function wrong(cards) {
  const cells = cards.flatMap((one) => Array.from({ length: one.w * one.h }, (_, at) =>
    `${one.x + (at % one.w)},${one.y + Math.floor(at / one.w)}`));
  const outside = cards.some((one) => one.x < 0 || one.y < 0 || one.x + one.w > COLUMNS);
  return outside || new Set(cells).size !== cells.length;
}

test("a card is given other runs and keeps the rest of its address", () => {
  assert.equal(withRuns("scalars?run=a&smooth=0.6&run=b", ["c/1", "d"]), "scalars?run=c/1&run=d&smooth=0.6");
  assert.equal(withRuns("scalars?run=a&smooth=0.6", []), "scalars?smooth=0.6");
  assert.equal(withRuns("runs?run=a", []), "runs");
  assert.equal(withRuns("runs", ["a&b=c"]), "runs?run=a%26b%3Dc");
});

test("cards of text and those that show these runs stay as they are", () => {
  const cards = [["a", "scalars?run=x"], ["b", null], ["c", "images"], ["d", "scalars?run=x&run=y"]]
    .map(([key, place]) => ({ key, place, version: `v${key}` }));
  assert.deepEqual(otherRuns(cards, ["x"]), [
    { key: "c", place: "images?run=x", was: "vc" }, { key: "d", place: "scalars?run=x", was: "vd" }]);
  assert.deepEqual(otherRuns(cards, []).map(({ key }) => key), ["a", "d"]);
});

test("a board without cards", () => {
  assert.deepEqual(settled([]), []);
  assert.deepEqual(moved([], "a", 3, 3), []);
  assert.deepEqual(stepped([], "a", 1, 0), []);
  assert.deepEqual(freePlace([], 4, 7), { x: 0, y: 0 });
});

test("cards that cover each other or float are put in order, always in the same way", () => {
  assert.deepEqual(places(settled([card("a", 0, 0), card("b", 2, 1), card("c", 8, 50)])), { a: [0, 0], b: [2, 4], c: [8, 0] });
});

test("a card dropped on another one goes above it until it is past its middle", () => {
  const cards = [card("a", 0, 0), card("b", 0, 4)];
  assert.deepEqual(places(moved(cards, "b", 0, 1)), { b: [0, 0], a: [0, 4] });
  assert.deepEqual(places(moved(cards, "b", 0, 2)), { a: [0, 0], b: [0, 4] });
  assert.deepEqual(places(moved(cards, "a", 0, 2)), { b: [0, 0], a: [0, 4] });
  assert.deepEqual(places(moved(cards, "a", 0, 1)), { a: [0, 0], b: [0, 4] });
  assert.deepEqual(places(moved(cards, "b", 30, -4)), { b: [8, 0], a: [0, 0] });
});

test("a wider card pushes its neighbour down, and never leaves the board", () => {
  const cards = [card("a", 0, 0), card("b", 4, 0)];
  assert.deepEqual(places(resized(cards, "a", 6, 4)), { a: [0, 0], b: [4, 4] });
  assert.deepEqual(resized(cards, "b", 99, 0).find(({ key }) => key === "b"), card("b", 4, 0, 8, 2));
});

test("arrow keys move by a column and past a neighbour", () => {
  const cards = [card("a", 0, 0, 4, 9), card("b", 0, 9, 4, 3), card("c", 4, 0)];
  assert.deepEqual(places(stepped(cards, "b", 0, -1)), { b: [0, 0], a: [0, 3], c: [4, 0] });
  assert.deepEqual(places(stepped(cards, "a", 0, 1)), { b: [0, 0], a: [0, 3], c: [4, 0] });
  assert.deepEqual(places(stepped(cards, "b", 0, 1)), places(settled(cards)));
  assert.deepEqual(places(stepped(cards, "c", 1, 0)).c, [5, 0]);
});

test("only what changed is sent", () => {
  const cards = [card("a", 0, 0), card("b", 4, 0)];
  assert.deepEqual(shifted(cards, cards), []);
  assert.deepEqual(shifted(cards, moved(cards, "a", 5, 0)), [
    { key: "a", x: 5 }, { key: "b", y: 4 }]);
  assert.deepEqual(shifted(cards, resized(cards, "b", 6, 4)), [{ key: "b", w: 6 }]);
});

test("a width and a height that two windows change at once are both kept", () => {
  const cards = [card("a", 0, 0)];
  const after = [...shifted(cards, resized(cards, "a", 6, 4)), ...shifted(cards, resized(cards, "a", 4, 9))];
  assert.deepEqual(Object.assign({}, ...after), { key: "a", w: 6, h: 9 });
});

test("a tidy board has cards of one size, in the order in which they were read", () => {
  const cards = [card("c", 4, 5, 8, 20), card("a", 0, 0, 3, 6), card("b", 3, 0, 9, 5), card("d", 0, 30, 1, 6)];
  for (const columns of [1, 2, 3, 4]) {
    const after = tidied(cards, columns);
    assert.equal(wrong(after), false);
    assert.deepEqual(after.map(({ key }) => key), ["a", "b", "c", "d"]);
    assert.deepEqual(new Set(after.map(({ w, h }) => `${w} ${h}`)), new Set([`${COLUMNS / columns} 6`]));
    assert.deepEqual(places(after), places(settled(after)));
  }
  assert.deepEqual(tidied([], 3), []);
});

test("whatever is done, no card covers another one or leaves the board", () => {
  let seed = 7;
  const random = (n) => { seed = (seed * 1103515245 + 12345) % 2147483648; return Math.floor((seed / 2147483648) * n); };
  for (let round = 0; round < 200; round += 1) {
    let cards = [];
    for (let at = 0; at < 12; at += 1) {
      const [w, h] = [1 + random(12), 2 + random(8)];
      cards.push({ key: String(at), ...freePlace(cards, w, h), w, h });
    }
    assert.equal(wrong(cards), false);
    for (let turn = 0; turn < 8; turn += 1) {
      const key = String(random(12));
      const choice = random(3);
      if (choice === 0) cards = moved(cards, key, random(14) - 1, random(40) - 2);
      else if (choice === 1) cards = resized(cards, key, random(15), random(14));
      else cards = stepped(cards, key, random(3) - 1, random(3) - 1);
      assert.equal(wrong(cards), false);
      assert.deepEqual(places(settled(cards)), places(cards));
    }
  }
});
