// The optimisation page: which setting is on screen first.

import "../page.js";

import assert from "node:assert/strict";
import test from "node:test";

import { chosenSetting } from "../../../assets/lineage/optimisation/settings.js";

/**
 * @param {Record<string, boolean>} settings name -> whether it is a seed
 * @param {Record<string, string[]>} state
 */
const opened = (settings, state = {}) => /** @type {Lineage.ResultPage} */ (/** @type {unknown} */ ({
  state, sheet: { rows: Object.entries(settings).map(([setting, seed]) => ({ setting, seed })) },
}));

test("a seed is shown first only where nothing else is", () => {
  assert.equal(chosenSetting(opened({ seed: true, lr: false, width: false })), "lr");
  assert.equal(chosenSetting(opened({ seed: true })), "seed");
  assert.equal(chosenSetting(opened({})), "");
});

test("the setting of the address is shown, a seed too", () => {
  assert.equal(chosenSetting(opened({ seed: true, lr: false }, { setting: ["seed"] })), "seed");
  assert.equal(chosenSetting(opened({ seed: true, lr: false }, { setting: ["gone"] })), "lr");
});
