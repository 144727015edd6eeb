// How tables of values are asked for and written (assets/kit/tensor_grid/).

import assert from "node:assert/strict";
import { test } from "node:test";
import "../page.js";
import { boxesText, dimsOf } from "../../../assets/kit/tensor_grid/boxes.js";
import { lookOf } from "../../../assets/kit/tensor_grid/number_format.js";

test("dimension boxes as an entry of the state, and back", () => {
  assert.equal(boxesText(["0", " : ", "2:5", "-1"]), "0,..,2..5,-1");
  assert.equal(dimsOf("0,..,2..5,-1"), "0,:,2:5,-1");
  assert.equal(dimsOf(boxesText([])), "");
});

test("notation and decimals of a state; anything else is the default", () => {
  assert.deepEqual(lookOf({}), { scientific: false, digits: 5 });
  assert.deepEqual(lookOf({ format: ["sci"], digits: ["0"] }), { scientific: true, digits: 0 });
  for (const digits of ["6", "-1", "x", "1.5"]) assert.equal(lookOf({ digits: [digits] }).digits, 5);
});
