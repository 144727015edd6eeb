import assert from "node:assert/strict";
import test from "node:test";
import {
  atText, foldedOf, heightsOf, moved, rowHeight, sharesAt, ticksOf, unpacked, zoomed,
} from "../../../assets/jobs/pipeline/bands.js";

function answer(header, bytes) {
  const head = new TextEncoder().encode(JSON.stringify(header));
  const found = new Uint8Array(8 + head.length + bytes.length);
  found.set(new TextEncoder().encode("MSPL"));
  new DataView(found.buffer).setUint32(4, head.length, true);
  found.set(head, 8);
  found.set(bytes, 8 + head.length);
  return found.buffer;
}

const HEADER = {
  begin: 0, end: 30, length: 30, columns: 3, rows: [{ rank: 0 }, { rank: 1 }], total: 2, bands: ["computing", "hidden", "idle"],
};

test("an answer is read band by band, row by row", () => {
  const view = unpacked(answer(HEADER, [255, 100, 0, 0, 1, 2, 255, 0, 0, 0, 0, 0, 0, 155, 255, 255, 254, 253]));
  assert.deepEqual([...view.shares.get("idle")], [0, 155, 255, 255, 254, 253]);
  assert.deepEqual(sharesAt(view, 0, 0), [["computing", 1], ["hidden", 1]]);
  assert.deepEqual(sharesAt(view, 0, 1).map(([name]) => name), ["idle", "computing"]);
  assert.throws(() => unpacked(new TextEncoder().encode("nothing at all").buffer));
});

test("every band of a column has at least a pixel, and together they fill it", () => {
  assert.deepEqual(heightsOf([255, 0], 20), [20, 0]);
  assert.deepEqual(heightsOf([254, 1], 20), [19, 1]);
  assert.deepEqual(heightsOf([128, 127], 20), [10, 10]);
  assert.deepEqual(heightsOf([252, 1, 1, 1], 20), [17, 1, 1, 1]);
  assert.deepEqual(heightsOf([0, 0], 20), [0, 0]);
  assert.deepEqual(heightsOf([51, 0], 20), [4, 0], "a column that is not full, at the end of a rank");
  for (let left = 0; left <= 255; left += 1) {
    const found = heightsOf([left, 255 - left, 1], 16);
    assert.equal(found.reduce((sum, one) => sum + one, 0), 16);
    assert.ok(found[2] >= 1 && (!left || found[0] >= 1));
  }
});

test("windows are zoomed about a time and stay in the step", () => {
  assert.deepEqual(zoomed({ begin: 0, end: 1000000 }, 1000000, 250000, 2), { begin: 125000, end: 625000 });
  assert.deepEqual(zoomed({ begin: 0, end: 1000000 }, 1000000, 0, 4), { begin: 0, end: 250000 });
  assert.equal(zoomed({ begin: 100, end: 600000 }, 1000000, 300000, 0.25), null);
  assert.deepEqual(zoomed({ begin: 0, end: 1500 }, 1000000, 700, 10), { begin: 233, end: 1233 }, "at least 1 µs");
  assert.deepEqual(moved({ begin: 10, end: 20 }, 100, 50), { begin: 60, end: 70 });
  assert.deepEqual(moved({ begin: 10, end: 20 }, 100, -50), { begin: 0, end: 10 });
  assert.deepEqual(moved({ begin: 10, end: 20 }, 100, 500), { begin: 90, end: 100 });
});

test("ticks are round and few", () => {
  assert.deepEqual(ticksOf(0, 810e6, 8), [0, 200e6, 400e6, 600e6, 800e6]);
  assert.deepEqual(ticksOf(7, 13, 3), [8, 10, 12]);
  assert.ok(ticksOf(0, 1, 5).length >= 1);
});

test("times have the digits that tell them apart", () => {
  assert.equal(atText(123456789, 1000), "123.457 ms");
  assert.equal(atText(2e9, 1e8), "2,000 ms");
  assert.equal(atText(1234, 1), "0.001234 ms");
});

test("stages are folded and unfolded", () => {
  assert.deepEqual(foldedOf([0, 1], 1), ["0"]);
  assert.deepEqual(foldedOf([1], 0), ["0", "1"]);
  assert.deepEqual(foldedOf([1], 1), ["none"]);
  assert.ok(rowHeight(4).high > rowHeight(256).high);
});
