// The communication page: values with units, addresses of its routes, and what the matrix shows.

import "../page.js";

import assert from "node:assert/strict";
import test from "node:test";

import { contentOf, placeOf, plainly, urlOf, withUnit, without } from "../../../assets/jobs/communication/page.js";

test("values have the unit that fits them", () => {
  assert.equal(withUnit("bandwidth", 18.94437e9), "18.9 GB/s");
  assert.equal(withUnit("bandwidth", 5.5e6), "5.50 MB/s");
  assert.equal(withUnit("bytes", 0), "0 B");
  assert.equal(withUnit("bytes", 1127447000), "1.13 GB");
  assert.equal(withUnit("time", 59513520), "59.5 ms");
  assert.equal(withUnit("time", 12), "12.0 ns");
});

test("values in cells are in the unit of the highest", () => {
  const write = plainly("bandwidth", 19e9);
  assert.deepEqual([18.94437e9, 5e6].map(write), ["18.9", "0.005"]);
});

test("an address has what names the request, and nothing of the browser", () => {
  const ask = { run: ["a b"], session: ["s"], rank: ["0"], mark: ["x"], theme: ["dark"], group: ["12"], frames: ["links"] };
  const wanted = "/api/communication/matrix?run=a+b&session=s&rank=0&group=12&from=3";
  assert.equal(urlOf("/api/", "matrix", ask, { from: 3 }), wanted);
  assert.deepEqual(without({ run: ["a"], sort: ["b"] }, ["sort"]), { run: ["a"] });
});

const header = { measure: "bandwidth", block: 1, first: 0, rows: 2, steps: 1, how: "", ranks: Int32Array.from([7, -1]) };

test("places have ranks, numbers in the group, or ranges", () => {
  assert.equal(placeOf(header, 0).brief, "7");
  assert.equal(placeOf(header, 1).brief, "#1");
  assert.equal(placeOf({ ...header, first: 4 }, 1).brief, "#5");
  const blocks = { ranks: Int32Array.from([0, 1, 2, 3, 4]), block: 2, first: 0 };
  assert.deepEqual([0, 1, 2].map((at) => placeOf(blocks, at).brief), ["0–1", "2–3", "4"]);
});

test("bandwidths of few bytes have no colour, but can be read", () => {
  const values = Float32Array.from([NaN, 18e9, -1e6, NaN]);
  const content = contentOf({ ...header, values }, {}, "");
  assert.deepEqual([...content.values], [NaN, 18e9, NaN, NaN].map(Math.fround));
  assert.equal(content.keep, "min");
  assert.equal(content.about(1, 0, NaN).length, 2);
  assert.notEqual(content.about(1, 0, NaN)[1], content.about(0, 0, NaN)[1]);
  const sums = contentOf({ ...header, measure: "bytes", values: Float32Array.from([NaN, 5, 6, NaN]) }, {}, "");
  assert.equal(sums.keep, "max");
});
