import "../page.js";
import assert from "node:assert/strict";
import test from "node:test";
import { markOf, merged, take } from "../../../assets/kit/runs.js";

const BOOK = { kept: true, empty: {}, whyNot: "", notes: {}, views: [] };

function row(key, updated, more = {}) {
  return { key, updated, members: [key], tags: { scalar: 1 }, state: "idle", ...more };
}

function changes(since, mark, more = {}) {
  const usual = { default: ["a"], usual: 10, bestBy: "", groups: 0 };
  return { since, mark: `${mark}/0`, whole: false, rows: [], gone: [], ...usual, notebook: null, ...more };
}

const whole = (mark, rows) => changes("", mark, { whole: true, rows, notebook: BOOK });
const keys = (list) => list.rows.map((one) => one.key);

test("what changed is put into the list, newest first", () => {
  const first = merged(null, whole("x.1", [row("c", 3), row("b", 2), row("a", 1)]), []);
  assert.deepEqual(keys(first), ["c", "b", "a"]);
  const grown = merged(first, changes("x.1", "x.2", { rows: [row("a", 9), row("d", 2)], gone: ["c"] }), []);
  assert.deepEqual(keys(grown), ["a", "b", "d"]);
  assert.equal(grown.notebook, BOOK);
  assert.equal(grown.mark, "x.2/0");
  assert.equal(grown.rows[1], first.rows[1], "other rows are the same objects");
  const later = merged(grown, changes("x.2", "x.3", { rows: [row("b", 2, { state: "live" })] }), []);
  assert.deepEqual(later.rows.map((one) => one.state), ["idle", "live", "idle"]);
});

test("a row that has gone and come again is there", () => {
  const first = merged(null, whole("x.1", [row("a", 1)]), []);
  assert.deepEqual(keys(merged(first, changes("x.1", "x.3", { rows: [row("a", 2)], gone: [] }), [])), ["a"]);
});

test("changes that do not follow on the list ask for all of it", () => {
  const first = merged(null, whole("x.5", [row("a", 1)]), []);
  assert.equal(merged(null, changes("x.1", "x.2"), []), null);
  assert.equal(merged(first, changes("y.5", "y.6"), []), null, "another server");
  assert.equal(merged(first, changes("x.6", "x.7"), []), null, "a change was missed");
  assert.equal(merged(first, changes("x.2", "x.4", { gone: ["a"] }), []), first, "an older answer that came late");
  assert.equal(merged(first, changes("x.5", "x.11", { gone: ["a"] }), []).rows.length, 0, "numbers are compared as numbers");
});

test("a page without a limit begins with all runs that have its data", () => {
  const rows = [row("a", 3, { tags: {} }), row("b", 2, { tags: { image: 2 } }), row("c", 1, { state: "waiting", tags: {} })];
  const every = { default: null, usual: null, bestBy: "", groups: 0 };
  const list = (needs, some = rows) => merged(null, { ...whole("x.1", some), ...every }, needs).default;
  assert.deepEqual(list(["image"]), ["b", "c"]);
  assert.deepEqual(list([]), ["a", "b", "c"]);
  assert.deepEqual(list(["graph"], rows.slice(0, 2)), ["a", "b"], "none has it");
});

test("pages over one source share the list", () => {
  assert.equal(markOf("/api/"), null);
  take("/api/", whole("x.1", [row("a", 1)]), []);
  assert.equal(markOf("/api/"), "x.1/0");
  assert.deepEqual(keys(take("/api/", changes("x.1", "x.2", { rows: [row("b", 2)] }), [])), ["b", "a"]);
  assert.equal(take("/other/", changes("x.1", "x.2"), []), null);
});
