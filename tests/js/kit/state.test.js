import { changes } from "../page.js";
import assert from "node:assert/strict";
import test from "node:test";
import { functionsOf } from "../../../assets/kit/dash.js";
import {
  changedState, decode, encode, entry, formatQuery, last, listed, parseQuery, same, setState, toggled, withEntry,
} from "../../../assets/kit/state.js";

test("values are read by their kind, and what is missing or no number is the fallback", () => {
  assert.equal(decode(["a", "b"], "text", "z"), "b");
  assert.deepEqual(decode(["a", "b"], "list", []), ["a", "b"]);
  assert.equal(decode(["1"], "flag", false), true);
  assert.equal(decode(["0.5"], "number", 1), 0.5);
  for (const bad of [[], undefined, [""], ["x"], ["Infinity"]]) assert.equal(decode(bad, "number", 7), 7);
});

test("what is written is read back", () => {
  for (const [value, kind] of [["a", "text"], [0.25, "number"], [true, "flag"], [false, "flag"], [["x", "y"], "list"]]) {
    assert.deepEqual(decode(encode(value, kind), kind, null), value);
  }
  assert.deepEqual(encode(null, "number"), []);
});

test("a change replaces keys and removes those without values", () => {
  const state = { run: ["a"], q: ["loss"] };
  assert.deepEqual(changedState(state, { q: [], page: ["2"] }), { run: ["a"], page: ["2"] });
  assert.deepEqual(state, { run: ["a"], q: ["loss"] }, "the old state stays");
  assert.deepEqual(changedState(null, { q: ["x"] }), { q: ["x"] });
});

test("only a new state is written", () => {
  changes.length = 0;
  const state = setState("s", {}, { q: ["x"] });
  setState("s", state, { q: ["x"] });
  assert.deepEqual(changes, [["s", { data: { q: ["x"] } }]]);
});

test("a query is a state and back, readable where it may be", () => {
  const state = { run: ["jobs/a:1", "b,c"], q: ["a&b=c d"] };
  const query = formatQuery(state);
  assert.deepEqual(parseQuery(query), state);
  assert.match(query, /run=jobs\/a:1&run=b,c/);
  assert.deepEqual(parseQuery("embed=1&token=secret&run=a"), { run: ["a"] });
  assert.deepEqual(parseQuery("__proto__=x&constructor=y&toString=z&run=__proto__"), { run: ["__proto__"] });
});

test("entries about one card: the last one counts, * is for all, and a card can undo what holds for all", () => {
  const state = { zoom: ["1,2,,:*", "3,4,,:loss"] };
  assert.equal(entry(state, "zoom", "loss"), "3,4,,");
  assert.equal(entry(state, "zoom", "acc"), "1,2,,");
  assert.deepEqual(withEntry(state, "zoom", "loss", ""), ["1,2,,:*", ":loss"]);
  assert.deepEqual(withEntry({}, "zoom", "a:b", "5"), ["5:a:b"]);
  assert.equal(entry({ zoom: ["5:a:b"] }, "zoom", "a:b"), "5");
});

test("small readers", () => {
  assert.equal(last({ q: ["a", "b"] }, "q", ""), "b");
  assert.equal(last({}, "q", "none"), "none");
  assert.equal(listed({ log: ["a"] }, "log", "a"), true);
  assert.deepEqual(toggled({ log: ["a", "b"] }, "log", "a"), ["b"]);
  assert.deepEqual(toggled({}, "log", "a"), ["a"]);
  assert.equal(same({ a: [1] }, { a: [1] }), true);
});

test("a binding writes only what somebody changed", () => {
  const name = JSON.stringify(["s", "control", "value", "smooth", "number", 0]);
  const toControl = functionsOf("mindscope_to_control")[name];
  const toState = functionsOf("mindscope_to_state")[name];
  changes.length = 0;
  toState(0.3, {});
  assert.deepEqual(changes, [], "the state has not reached the control yet");
  assert.equal(toControl({ smooth: ["0.6"] }, 0), 0.6);
  toState(0.6, { smooth: ["0.6"] });
  assert.deepEqual(changes, []);
  toState(0.9, { smooth: ["0.6"] });
  toState(0, { smooth: ["0.9"] });
  assert.deepEqual(changes, [["s", { data: { smooth: ["0.9"] } }], ["s", { data: {} }]]);
  assert.equal(functionsOf("mindscope_to_state").nothing, undefined);
});
