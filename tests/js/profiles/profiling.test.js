// Which profile of which job is chosen, and the controls that choose one of very many.

import assert from "node:assert/strict";
import { test } from "node:test";
import "../page.js";
import { bookOf, chosenOf, nameOf, ranksOf, runsOf } from "../../../assets/profiles/jobs.js";
import { nearest } from "../../../assets/kit/number_picker.js";

const KINDS = [
  { device: "Ascend", frames: ["steps"], files: ["steps_*.csv"], more: 0 }, { device: "", frames: [], files: [], more: 0 },
];

const job = (name, updated, run, session, rank, kind = 0) =>
  ({ name, title: name.toUpperCase(), updated, whole: `w-${name}`, run, session, rank, kind, mark: "m" });

const CATALOGUE = {
  digest: "d", chosen: 3, left: 0, waiting: 0, damage: [], elsewhere: [], kinds: KINDS,
  runs: ["one", "one_rank_1", "two"].map((key) => ({ key, name: `run ${key}`, total: 2, listed: 2 })),
  jobs: [
    job("j", 9, [0, 1], ".", [0, 1]),
    job("k", 8, 2, ["rank0", "rank1", "rank2"], [0, 1, 2], [0, 0, 1]),
    job("l", 1, 2, "old", [0]),
  ],
};

const serving = (profile) => profile.frames.includes("steps");

test("the columns of a catalogue are the profiles of its jobs", () => {
  const book = bookOf(CATALOGUE);
  assert.equal(book, bookOf(CATALOGUE), "they are made once");
  assert.deepEqual(book.all.map(nameOf), [
    "one|.|0", "one_rank_1|.|1", "two|rank0|0", "two|rank1|1", "two|rank2|2", "two|old|0",
  ]);
  const { run, profile } = book.named.get("two|rank2|2");
  assert.deepEqual([run.key, profile.job, profile.title, profile.device, profile.whole], ["two", "k", "K", "", "w-k"]);
  assert.deepEqual(ranksOf(book, "k").map((one) => one.profile.rank), [0, 1, 2]);
  assert.equal(book.jobs.get("k").byRank.get(1).profile.session, "rank1");
  assert.deepEqual(ranksOf(book, "none"), []);
  assert.deepEqual(runsOf(book), [["one", "J"], ["two", "run two"]], "a job over several runs is one choice");
});

test("the ranks of a job are one profile, whatever runs and sessions they are in", () => {
  const book = bookOf(CATALOGUE);
  const chosen = (asked) => nameOf(chosenOf(book, { of: "", session: "", rank: "", ...asked }, serving));
  assert.equal(chosen({}), "one|.|0");
  assert.equal(chosen({ rank: "1" }), "one_rank_1|.|1");
  assert.equal(chosen({ of: "two" }), "two|rank0|0", "the newest job");
  assert.equal(chosen({ of: "two", rank: "1" }), "two|rank1|1");
  assert.equal(chosen({ of: "two", session: "rank1" }), "two|rank1|1", "a session alone");
  assert.equal(chosen({ of: "two", session: "rank0", rank: "2" }), "two|rank2|2", "a rank stands above a session");
  assert.equal(chosen({ of: "two", session: "old", rank: "7" }), "two|old|0", "a rank that the job does not have");
  assert.equal(chosen({ of: "gone", session: "gone" }), "one|.|0");
  assert.equal(chosenOf(bookOf({ ...CATALOGUE, jobs: [] }), { of: "", session: "", rank: "" }, serving), null);
});

test("a job of all ranks alone is chosen by rank -1", () => {
  const book = bookOf({ ...CATALOGUE, jobs: [job("cluster_analysis_output", 1, 0, "cluster_analysis_output", [-1])] });
  assert.equal(nameOf(chosenOf(book, { of: "", session: "", rank: "-1" }, serving)), "one|cluster_analysis_output|-1");
  assert.equal(nameOf(chosenOf(book, { of: "", session: "", rank: "3" }, serving)), "one|cluster_analysis_output|-1");
});

test("the nearest of ascending numbers, and the lower of two", () => {
  const numbers = [-1, 3, 5, 9];
  assert.deepEqual([-9, -1, 1, 2, 4, 5, 7, 8, 99].map((wanted) => numbers[nearest(numbers, wanted)]),
    [-1, -1, -1, 3, 3, 5, 5, 9, 9]);
  assert.equal(nearest([], 3), -1);
});

test("ten thousand ranks are listed and chosen without walking over them again and again", () => {
  const ranks = Array.from({ length: 10_000 }, (_, rank) => rank);
  const big = job("big", 1, 0, ranks.map((rank) => `host${rank >> 3}_${rank}_ascend_ms`), ranks);
  let looked = 0;
  const counting = (profile) => { looked += 1; return serving(profile); };
  const book = bookOf({ ...CATALOGUE, jobs: [big] });
  assert.equal(chosenOf(book, { of: "", session: "", rank: "9999" }, counting).profile.session, "host1249_9999_ascend_ms");
  assert.ok(looked <= 3 * ranks.length, `${looked} looks`);
});
