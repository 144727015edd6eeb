// The use of the hardware: what a request depends on, and addresses of its tables.

import "../page.js";

import assert from "node:assert/strict";
import test from "node:test";

import { csvOf, requestOf } from "../../../assets/profiles/efficiency.js";

const ask = { run: ["a b"], session: ["."], rank: ["0"], mark: ["m"], theme: ["dark"], frames: ["operators"], view: ["types"] };

test("a request has the profile and the settings, and nothing of tables and searches", () => {
  const state = { peak: ["256"], q: ["MatMul"], sort: ["count:desc"], use: ["shapes"], tokens: [] };
  assert.deepEqual(requestOf(ask, state), {
    run: ["a b"], session: ["."], rank: ["0"], mark: ["m"], theme: ["dark"], peak: ["256"], use: ["shapes"],
  });
  assert.deepEqual(requestOf({ ...ask, with_run: ["b"], with_mark: ["n"] }, {}).with_run, ["b"]);
});

test("the address of a table has no marks and nothing of the look", () => {
  const request = requestOf({ ...ask, with_run: ["b"], with_mark: ["n"] }, { peak: ["1e3"], use: ["shapes"] });
  assert.equal(csvOf("/api/", "slow", request), "/api/efficiency/slow.csv?run=a+b&session=.&rank=0&with_run=b&peak=1e3");
});
