import assert from "node:assert/strict";
import { test } from "node:test";
import "../page.js";
import { unbroken } from "../../../assets/kit/unbroken.js";

const CASES = [
  ["", ""],
  ["24.6 % of 107 ms", "24.6_% of 107_ms"],
  ["空闲 24.4 %，每步 25.1 ms（23.5 %）", "空闲 24.4_%，每步 25.1_ms（23.5_%）"],
  ["占 24.6 %的时间", "占 24.6_%的时间"],
  ["20.2 GB/s, 312 TFLOP/s, 846 MiB, 4 m 05 s, 304 × 152 px", "20.2_GB/s, 312_TFLOP/s, 846_MiB, 4_m 05_s, 304 × 152_px"],
  ["zeros ≥ 100 %, in range < 0.1 %, > 99.99 %", "zeros ≥_100_%, in range <_0.1_%, >_99.99_%"],
  ["rank 5 starts late", "rank 5 starts late"],
  ["3 steps, 2 messages, 4 dumps, 1 more, a %, < a", "3 steps, 2 messages, 4 dumps, 1 more, a %, < a"],
];

test("no line ends between a number and its unit, or after a sign of comparison", () => {
  for (const [text, shown] of CASES) {
    assert.equal(unbroken(text), shown.replaceAll("_", "\u00a0"));
    assert.equal(unbroken(unbroken(text)), unbroken(text));
  }
});
