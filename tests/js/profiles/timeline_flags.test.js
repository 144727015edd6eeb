// Flags of named marks: where they are, and which texts they leave room for.

import assert from "node:assert/strict";
import test from "node:test";

import { covered, flagsOf } from "../../../assets/profiles/timeline/flags.js";

const context = { measureText: (text) => ({ width: 6 * text.length }) };

test("names of flags do not cover each other, and marks out of sight have none", () => {
  const line = {
    range: { from: 0, to: 1000 }, width: 1000,
    named: [
      { name: "first", times: [100] }, { name: "near", times: [110, 300] }, { name: "later", times: [500] },
      { name: "gone", times: [2000] }, { name: "through", times: [-500, 5000] },
    ],
  };
  const flags = flagsOf(line, context);
  assert.deepEqual(flags.map((flag) => flag.name), ["first", "near", "later", "through"]);
  assert.deepEqual(flags.map(({ left, right }) => [left, right]), [[100, 100], [110, 300], [500, 500], [-500, 5000]]);
  assert.deepEqual(flags.map(({ left, end }) => end > left), [true, false, true, false]);
  assert.equal(covered(flags, 120, 130), true);
  assert.equal(covered(flags, 200, 230), false);
  assert.deepEqual(flagsOf({ range: { from: 0, to: 1 }, width: 10 }, context), []);
});
