import assert from "node:assert/strict";
import test from "node:test";
import { probabilities, probability, shareText } from "../../../assets/explanations/counterfactual/numbers.js";
import { chosenRange, ends, range } from "../../../assets/explanations/uncertainty/selection.js";

test("probabilities near 0 and 1 show that they are not there, all with as many decimals", () => {
  assert.deepEqual(probabilities([0.5, 1, 0]), ["0.500", "1.000", "0.000"]);
  assert.deepEqual(probabilities([0.999988675, 0.9]), ["0.999989", "0.900000"]);
  assert.deepEqual(probabilities([null, 0.25]), ["–", "0.250"]);
  assert.equal(probability(1e-12), "0.000000000");
  assert.equal(probability(0.9996), "0.99960");
});

test("shares in percent", () => {
  assert.deepEqual([0, 0.0625, 0.25, 1, null].map(shareText), ["0 %", "6.25 %", "25.0 %", "100 %", "?"]);
});

test("an interval as typed", () => {
  assert.deepEqual(range("p", "", " "), []);
  assert.deepEqual(range("p", "0.4", ""), ["0.4,1"]);
  assert.deepEqual(range("p", "", "0.6"), ["0,0.6"]);
  assert.deepEqual(range("p", "2", "-1"), ["0,1"]);
  assert.deepEqual(range("sd", "0.1", "x"), ["0.1,1000000000"]);
  assert.deepEqual(range("sd", "0.3", "0.1"), ["0.1,0.3"]);
  assert.deepEqual(ends(range("sd", "0.1", "")[0]), ["0.1", ""]);
  assert.deepEqual(ends("0.2,0.5"), ["0.2", "0.5"]);
  assert.deepEqual(ends(""), ["", ""]);
});

test("the interval of a bar contains its ends", () => {
  assert.deepEqual(range("sd", "0.02160876525486614", "0.026328740641474724"), ["0.0216087,0.0263288"]);
  assert.deepEqual(range("sd", "0.000009736989341035951", "0.00001186382766"), ["0.00000973698,0.0000118639"]);
  assert.deepEqual(range("p", "0.99999991", "0.99999999"), ["0.999999,1"]);
});

test("a selection in a plot", () => {
  assert.deepEqual(chosenRange("spread", { x: [0.123456, 0.7], y: [0, 9] }, false), { sd: ["0.1235,0.7"] });
  assert.deepEqual(chosenRange("spread", { x: [-2, -4], y: [0, 9] }, true), { sd: ["0.0001,0.01"] });
  assert.deepEqual(chosenRange("spread", { x: [-0.5, 0.25], y: [0, 9] }, false), { sd: ["0,0.25"] });
  assert.deepEqual(chosenRange("against", { x: [0.9, 1.2], y: [0.1, 0.2] }, false), { p: ["0.9,1"], sd: ["0.1,0.2"] });
});
