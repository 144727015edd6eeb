// Arrows of a slice one by one and in bundles; tracks in which is searched.

import "../page.js";
import assert from "node:assert/strict";
import test from "node:test";

import { bundlesOf } from "../../../assets/profiles/timeline/arrows.js";
import { searchedTracks, treeOf } from "../../../assets/profiles/timeline/tracks.js";

const sight = { xAt: (time) => time, width: 1000, whereOf: (track, depth) => (track < 3 ? track * 100 + depth * 10 : null) };
const slice = (ends, arriving, total = ends.length) => ({
  start: 500, duration: 20, track: 0, depth: 1,
  arrows: {
    total, arriving, start: ends.map((end) => end[0]), duration: ends.map(() => 5), track: ends.map((end) => end[1]),
    depth: ends.map(() => 0),
  },
});

test("few arrows are drawn one by one, from the end of one slice to the start of the other", () => {
  const { arrows, drawn, out } = bundlesOf(slice([[100, 1], [101, 1], [600, 2], [700, 9], [5000, 1]], 2), sight);
  const [arrives, leaves] = [{ many: 1, arrives: true }, { many: 1, arrives: false }];
  assert.deepEqual(arrows, [
    { x1: 105, y1: 100, x2: 500, y2: 10, ...arrives }, { x1: 106, y1: 100, x2: 500, y2: 10, ...arrives },
    { x1: 520, y1: 10, x2: 600, y2: 200, ...leaves }, { x1: 520, y1: 10, x2: 5000, y2: 100, ...leaves },
  ]);
  assert.deepEqual([drawn, out], [4, 1]); // a hidden track
  assert.equal(bundlesOf(slice([[5000, 1]], 0), { ...sight, xAt: (time) => time + 5000 }).out, 1);
});

test("of many, those that end near each other in a lane are one, and few bundles have all of them", () => {
  const ends = Array.from({ length: 3000 }, (_, at) => [(at * 7) % 900, 1 + (at % 2)]);
  const found = bundlesOf(slice(ends, 0, 3100), sight);
  assert.ok(found.arrows.length <= 40 && found.arrows.length > 10);
  assert.deepEqual([found.total, found.drawn, found.out], [3100, 3000, 100]);
  assert.ok(found.arrows.every((one, at) => !at || one.many <= found.arrows[at - 1].many));
  for (const { x2, y2, many } of found.arrows) { // each points at the middle of what it stands for
    const near = ends.filter(([x, track]) => track * 100 === y2 && Math.abs(x - x2) <= 96);
    assert.ok(near.length >= many);
  }
  const all = bundlesOf(slice(Array.from({ length: 500 }, () => [40, 1]), 500), sight);
  assert.deepEqual(all.arrows.map((one) => one.many), [500]);
  const lanes = { ...sight, whereOf: (track) => track };
  const wide = bundlesOf(slice(Array.from({ length: 400 }, (_, at) => [40, at % 200]), 0), lanes);
  assert.deepEqual([wide.arrows.length, wide.drawn], [40, 80]); // more lanes than bundles
});

test("a process stands for its tracks", () => {
  const track = (process, thread) => ({ process, process_id: process, thread, thread_id: thread, order: [0, 0], lanes: 1 });
  const tree = treeOf([track("a", "1"), track("b", "1"), track("a", "2")]);
  assert.deepEqual(searchedTracks(tree, []), []);
  assert.deepEqual(searchedTracks(tree, [tree[0].id]), [0, 2]);
  assert.deepEqual(searchedTracks(tree, [tree[0].id, tree[1].tracks[0].id, "t9"]), [0, 1, 2]);
});
