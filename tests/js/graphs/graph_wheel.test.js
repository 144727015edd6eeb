import "../page.js";
import assert from "node:assert/strict";
import test from "node:test";
import { wheelFactor } from "../../../assets/graphs/canvas.js";

test("a notch of the wheel zooms by 1.2, whatever the system calls a notch", () => {
  const close = (found, wanted) => assert.ok(Math.abs(found - wanted) < 1e-12, `${found} is not ${wanted}`);
  for (const deltaY of [53, 100, 120, 150]) close(wheelFactor({ deltaY: -deltaY, deltaMode: 0 }), 1.2);
  close(wheelFactor({ deltaY: 100, deltaMode: 0 }), 1 / 1.2);
  close(wheelFactor({ deltaY: -240, deltaMode: 0 }), 1.2 ** 2);
  close(wheelFactor({ deltaY: 3, deltaMode: 1 }), 1 / 1.2);
  close(wheelFactor({ deltaY: -1, deltaMode: 2 }), 1.2);
  close(wheelFactor({ deltaY: 4, deltaMode: 0 }), 1.2 ** -0.04);  // a touchpad
  close(wheelFactor({ deltaY: -1e6, deltaMode: 0 }), 1.2 ** 5);
  assert.equal(wheelFactor({ deltaY: 0, deltaMode: 0 }), 1);
});
