import "../page.js";
import assert from "node:assert/strict";
import test from "node:test";
import { secondsBetweenLooks } from "../../../assets/kit/polling.js";

test("scan, look and drawing fit into the interval, and a look is not more often than once a second", () => {
  assert.equal(secondsBetweenLooks(10, 3, 0), 8);
  assert.equal(secondsBetweenLooks(3, 3, 0), 1);
  assert.equal(secondsBetweenLooks(3, 60, 0), 1.5);
  assert.equal(secondsBetweenLooks(3, 0, 0), 2.5);
});

test("without news looks become rarer, by a tenth of the time since the last, up to one in an interval", () => {
  assert.equal(secondsBetweenLooks(3, 3, 10), 1);
  assert.equal(secondsBetweenLooks(3, 3, 20), 2);
  assert.equal(secondsBetweenLooks(3, 3, 30), 3);
  assert.equal(secondsBetweenLooks(3, 60, 600), 3);
  assert.equal(secondsBetweenLooks(10, 3, 90), 9);
  assert.equal(secondsBetweenLooks(300, 3, 3600), 300);
});

test("a minute without news has thirty-odd looks at first, and twenty after that", () => {
  /** @param {number} from - seconds without news */
  const looks = (from) => {
    let count = 0;
    for (let quiet = from; quiet < from + 60; quiet += secondsBetweenLooks(3, 3, quiet)) count += 1;
    return count;
  };
  assert.ok(looks(0) <= 32, `${looks(0)}`);
  assert.ok(looks(60) <= 20, `${looks(60)}`);
});
