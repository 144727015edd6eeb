import assert from "node:assert/strict";
import test from "node:test";
import { besidePointer, read, withBox, written } from "../../../assets/graphs/camera.js";

const screen = { width: 1000, height: 600 };
const seen = (box, { zoom, pan }) => ({
  left: box.x * zoom + pan.x, top: box.y * zoom + pan.y,
  right: (box.x + box.w) * zoom + pan.x, bottom: (box.y + box.h) * zoom + pan.y,
});

test("a camera moves as little as it takes to have a box on screen", () => {
  const camera = { zoom: 1, pan: { x: 0, y: 0 } };
  assert.deepEqual(withBox({ x: 100, y: 100, w: 200, h: 200 }, screen, camera), camera);
  const moved = withBox({ x: 900, y: 100, w: 300, h: 200 }, screen, camera);
  assert.equal(moved.zoom, 1);
  assert.equal(moved.pan.y, 0);
  assert.equal(seen({ x: 900, y: 100, w: 300, h: 200 }, moved).right, 980);
  assert.equal(seen({ x: -50, y: 100, w: 300, h: 200 }, withBox({ x: -50, y: 100, w: 300, h: 200 }, screen, camera)).left, 20);
});

test("a box that is too large is fitted, and shown from its top when that would be too small", () => {
  const camera = { zoom: 1, pan: { x: -400, y: -300 } };
  const large = { x: 100, y: 200, w: 1200, h: 1400 };
  const box = seen(large, withBox(large, screen, camera));
  assert.ok(box.left >= 20 - 1e-9 && box.top >= 20 - 1e-9 && box.right <= 980 + 1e-9 && box.bottom <= 580 + 1e-9);
  const huge = { x: 0, y: 5000, w: 800, h: 60000 };
  const found = withBox(huge, screen, camera);
  assert.equal(found.zoom, 0.25);
  assert.equal(seen(huge, found).top, 20);
  assert.ok(seen(huge, found).left >= 20);
});

test("a camera in a link means the same middle on a screen of any size", () => {
  const camera = { zoom: 0.75, pan: { x: -120, y: 44 } };
  const text = written(camera, screen);
  const again = read(text, screen);
  assert.ok(Math.abs(again.pan.x - camera.pan.x) < 1 && Math.abs(again.pan.y - camera.pan.y) < 1);
  assert.equal(written(read(text, { width: 333, height: 777 }), { width: 333, height: 777 }), text);
  for (const wrong of ["", "1,2", "a,b,c", "0,1,1", "-1,0,0", "1,NaN,0", "1,2,3,4"]) assert.equal(read(wrong, screen), null);
  assert.equal(read("1e9,0,0", screen).zoom, 4);
});

test("a tip stands beside the pointer and within its host", () => {
  const tip = { width: 200, height: 30 };
  assert.deepEqual(besidePointer({ x: 100, y: 100 }, tip, screen), { left: 112, top: 118 });
  assert.deepEqual(besidePointer({ x: 990, y: 590 }, tip, screen), { left: 796, top: 552 });
  assert.deepEqual(besidePointer({ x: 5, y: 5 }, { width: 2000, height: 30 }, screen).left, 4);
});
