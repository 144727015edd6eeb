import "../page.js";
import assert from "node:assert/strict";
import test from "node:test";
import { hidden, placed, roomBeside } from "../../../assets/curves/scalars/hover_place.js";

const CARD = { left: 100, top: 100, right: 500, bottom: 400 };
const PLANE = { left: 150, top: 140, right: 490, bottom: 360 };
const WINDOW = { innerWidth: 1280, innerHeight: 720 };

test("the room is beside the pointer, inside the card and below its toolbar", () => {
  const right = roomBeside(CARD, PLANE, WINDOW, { x: 200, y: 300 });
  assert.deepEqual(right, { side: "right", width: 284, height: 260, top: 140, bottom: 400, edge: 216 });
  const left = roomBeside(CARD, PLANE, WINDOW, { x: 450, y: 300 });
  assert.deepEqual([left.side, left.edge, left.width], ["left", 434, 334]);
  const low = roomBeside({ ...CARD, bottom: 900 }, PLANE, WINDOW, { x: 200, y: 300 });
  assert.equal(low.bottom, 716, "not below the window");
});

const line = (values) => ({ size: values.length, rising: true, x: (i) => i, values, axis: "y" });
const view = {
  box: { left: 0, right: 100, top: 0, bottom: 100, width: 100, height: 100 }, left: 0, right: 10,
  x: (pixel) => pixel / 10, toX: (x) => x * 10, toY: { y: (value) => 100 - value },
};

test("points below the table are counted, and nothing beside the plane", () => {
  const flat = line(Array.from({ length: 11 }, () => 90));
  const high = { left: 50, right: 100, top: 0, bottom: 50 };
  assert.equal(hidden([flat], view, high), 24);
  assert.equal(hidden([flat, line([])], view, { ...high, top: 50, bottom: 100 }), 0);
  assert.equal(hidden([flat], view, { ...high, left: 100, right: 150 }), 0);
  assert.equal(hidden([line(Array.from({ length: 11 }, () => NaN))], view, high), 0);
});

test("the table lies where it hides least, and stays there unless the other end hides less than half as much", () => {
  const room = roomBeside(CARD, PLANE, WINDOW, { x: 450, y: 300 });
  const size = { width: 200, height: 100 };
  const hides = (top, bottom) => (box) => (box.top === room.top ? top : bottom);
  assert.deepEqual(placed(size, room, undefined, hides(0, 9)), { left: 234, top: 140, end: "top" });
  assert.deepEqual(placed(size, room, undefined, hides(9, 8)), { left: 234, top: 300, end: "bottom" });
  assert.equal(placed(size, room, "top", hides(9, 8)).end, "top");
  assert.equal(placed(size, room, "top", hides(9, 4)).end, "bottom");
  assert.equal(placed(size, room, "bottom", hides(4, 9)).end, "top");
  assert.equal(placed(size, room, "bottom", hides(0, 0)).end, "bottom");
});
