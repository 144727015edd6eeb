// The page of ranks: answers of the server, rows, what lies under a pointer, windows and values as text.

import "../page.js";

import assert from "node:assert/strict";
import test from "node:test";

import { urlOf } from "../../../assets/jobs/ranks/page.js";
import {
  hit, parsePick, parseWindow, rankText, rowAt, rowsOf, spreadOf, unpacked, within, zoomed,
} from "../../../assets/jobs/ranks/rank_rows.js";
import { textOf } from "../../../assets/jobs/ranks/telling.js";

function packed(tables, numbers) {
  const listed = {};
  const pieces = [];
  for (const [name, columns] of Object.entries(tables)) {
    listed[name] = { length: columns[0][2].length, columns: columns.map(([column, kind]) => [column, kind]) };
    for (const [, kind, values] of columns) {
      const bytes = new Uint8Array({ f4: Float32Array, u2: Uint16Array, u1: Uint8Array }[kind].from(values).buffer);
      pieces.push(bytes, new Uint8Array((4 - (bytes.length % 4)) % 4));
    }
  }
  const text = JSON.stringify({ ...numbers, tables: listed });
  const header = new TextEncoder().encode(text + " ".repeat((4 - (text.length % 4)) % 4));
  const size = new Uint8Array(Uint32Array.of(header.length).buffer);
  const whole = Buffer.concat([size, header, ...pieces]);
  return whole.buffer.slice(whole.byteOffset, whole.byteOffset + whole.length);
}

test("a view is unpacked as its header says", () => {
  const view = unpacked(packed({
    bars: [["row", "u2", [0, 1, 1]], ["x0", "f4", [0.5, 2, 3]]], joins: [["category", "u1", [4]]],
  }, { columns: 9, merged: 3 }));
  assert.deepEqual([view.columns, view.merged, view.bars.length, view.joins.length], [9, 3, 3, 1]);
  assert.deepEqual([...view.bars.row], [0, 1, 1]);
  assert.deepEqual([...view.bars.x0], [0.5, 2, 3]);
  assert.deepEqual([...view.joins.category], [4]);
});

test("rows share the height, stages are apart, and each y has the nearest row", () => {
  const few = rowsOf([0, 0, 1]);
  assert.equal(few.rows[1].top - few.rows[0].top, few.pitch);
  assert.ok(few.rows[2].top - few.rows[1].top > few.pitch);
  assert.ok(few.rows.every(({ top, split, bottom }) => top < split && split < bottom));
  assert.equal(rowAt(few, few.rows[1].top - 2), 1);
  assert.equal(rowAt(few, few.rows[2].bottom + 2), 2);
  assert.equal(rowAt(few, -100), -1);
  const many = rowsOf(Array(64).fill(-1));
  assert.ok(many.rows.every((row, at) => !at || row.top > many.rows[at - 1].bottom));
  assert.equal(rowsOf([]).rows.length, 0);
  assert.equal(rowsOf([0], undefined, true).height, rowsOf([0]).rows[0].bottom + rowsOf([0]).room);
});

test("the narrowest bar under a pointer comes first, then a band", () => {
  const view = {
    bars: { length: 3, row: [0, 0, 1], lane: [0, 0, 0], x0: [0, 10, 0], x1: [100, 20, 100] },
    cells: { length: 1, row: [0], lane: [1], x0: [30], x1: [40] },
  };
  assert.deepEqual(hit(view, 0, 0, 15), { bar: 1 });
  assert.deepEqual(hit(view, 0, 0, 50), { bar: 0 });
  assert.deepEqual(hit(view, 0, 1, 35), { cell: 0 });
  assert.equal(hit(view, 0, 1, 45), null);
  assert.deepEqual(hit(view, 1, null, 45), { bar: 2 });
});

test("a window stays within what is shown", () => {
  assert.deepEqual(within({ from: -50, to: 50 }, 1000), { from: 0, to: 100 });
  assert.deepEqual(within({ from: 950, to: 1050 }, 1000), { from: 900, to: 1000 });
  assert.deepEqual(within({ from: -9, to: 5000 }, 1000), { from: 0, to: 1000 });
  assert.deepEqual(zoomed({ from: 0, to: 1000 }, 0.5, 200, 1000), { from: 100, to: 600 });
});

test("an address is read only if it is one", () => {
  assert.deepEqual(parseWindow("5,90"), { from: 5, to: 90 });
  for (const wrong of ["", "9,5", "-1,5", "1,2,3", "a,b", null]) assert.equal(parseWindow(wrong), null);
  assert.deepEqual(parsePick("3,17"), { rank: 3, operator: 17 });
  assert.equal(parsePick("3"), null);
});

test("ranks and values as text", () => {
  assert.equal(rankText([0, 1, 2, 8]), "0–2, 8");
  assert.equal(textOf("shift_ns", -1500), "−1.50 µs");
  assert.equal(textOf("computing_ns", 2500000), "2.50 ms");
  assert.equal(textOf("begin_ns", -1), "");
  assert.equal(textOf("residual_ns", null), "");
  assert.equal(textOf("peak_bytes", 3 * 2 ** 20), "3.00 MiB");
  assert.equal(textOf("flops_per_s", 2.5e14), "250 TFLOPS");
  assert.equal(textOf("joined_below", -1), "");
});

test("an operator is spread by its begins and ends", () => {
  const same = [{ begin: 10, duration: 5 }, { begin: 4, duration: 20 }];
  assert.deepEqual(spreadOf(same), { low: 5, high: 20, begins: 6, ends: 9 });
});

test("an address of a route has what names the request alone", () => {
  const ask = { run: ["a b"], session: ["s"], rank: ["0"], mark: ["x"], rows: ["0-3"], aligned: ["1"], frames: ["kernels"] };
  assert.equal(urlOf("/api/", "view", ask, { from: 3 }), "/api/ranks/view?run=a+b&session=s&rank=0&rows=0-3&aligned=1&from=3");
});
