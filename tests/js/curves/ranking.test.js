import "../page.js";
import assert from "node:assert/strict";
import test from "node:test";
import { merge, rankOf } from "../../../assets/curves/scalars/ranking.js";

test("tags are ranked by the severest insight that passes, then by its score", () => {
  const best = new Map();
  merge(best, { calm: { plateau: [1, 1.2] }, loss: { spike: [1, 3], gap: [1, 9] } });
  merge(best, { loss: { spike: [1, 2] }, lr: { non_finite: [2, 1] }, calm: { plateau: [1, 1.1] } });
  assert.deepEqual(best.get("loss"), { spike: [1, 3], gap: [1, 9] });
  assert.deepEqual([...rankOf(best, () => true)], [["lr", 0], ["loss", 1], ["calm", 2]]);
  assert.deepEqual([...rankOf(best, (kind) => kind !== "gap" && kind !== "non_finite")], [["loss", 0], ["calm", 1]]);
  assert.equal(rankOf(best, () => false).size, 0);
  assert.equal(rankOf(new Map(), () => true).size, 0);
});
