import assert from "node:assert/strict";
import test from "node:test";

import "../page.js";

const { listed, off, passes, strictness } = await import("../../../assets/kit/strictness.js");

test("each rule may have a level of its own", () => {
  const chosen = strictness(["low", "spike:high", "plateau:off"]);
  assert.deepEqual(listed(chosen), ["low", "spike:high", "plateau:off"]);
  assert.equal(passes(chosen, "spike", 0.9), true);
  assert.equal(passes(chosen, "plateau", 1e6), false);
  assert.equal(passes(chosen, "gap", 1.2), false);
  assert.equal(passes(chosen, "gap", 1.5), true);
});

test("what is no level or no rule is normal", () => {
  for (const values of [undefined, [], [""], ["wild"], ["wild:low", "spike:wild", "toString"]]) {
    assert.deepEqual(listed(strictness(values)), ["normal"]);
  }
  assert.equal(off(strictness(["off"])), true);
  assert.equal(off(strictness(["off", "gap:low"])), false);
});
