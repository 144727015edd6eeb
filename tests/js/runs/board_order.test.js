import "../page.js";
import assert from "node:assert/strict";
import test from "node:test";
import { outputsOf } from "../../../assets/runs/board/calls.js";
import { nextOf, reachOf } from "../../../assets/runs/board/order.js";

const places = (names) => names.split(" ").filter(Boolean).map((id) => ({ id, property: "x" }));
/** A callback that takes and gives these components. */
const callback = (takes, gives) => ({
  output: gives.includes(" ") ? `..${gives.split(" ").map((id) => `${id}.x`).join("...")}..` : `${gives}.x`,
  inputs: places(takes), state: [], no_output: gives === "", prevent_initial_call: false, clientside_function: null,
});

/** The order in which callbacks run if each sets all it gives, and those of `slow` are answered when nothing else can run. */
function orderOf(all, begin, slow = []) {
  const nameOf = new Map(Object.entries(all).map(([name, one]) => [one, name]));
  const reach = reachOf([...nameOf.keys()]);
  const due = new Set(begin.map((name) => all[name]));
  const awaited = new Set();
  const ran = [];
  const set = (one) => {
    const given = outputsOf(one).map(({ id }) => id);
    for (const other of nameOf.keys()) if (other.inputs.some(({ id }) => given.includes(id))) due.add(other);
  };
  while (due.size || awaited.size) {
    assert.ok(ran.length < 20, "an end");
    const next = nextOf(due, awaited, reach);
    if (next) {
      due.delete(next);
      ran.push(nameOf.get(next));
      if (slow.includes(nameOf.get(next))) awaited.add(next);
      else set(next);
    } else {
      const [answered] = awaited;
      awaited.delete(answered);
      ran.push(`${nameOf.get(answered)} answered`);
      set(answered);
    }
  }
  return ran;
}

test("what several lead to runs once, after the longest way to it", () => {
  const all = { last: callback("a c", "d"), short: callback("x", "a"), first: callback("x", "b"), second: callback("b", "c") };
  assert.deepEqual(orderOf(all, ["short", "first"]), ["short", "first", "second", "last"]);
});

test("a callback waits for the answers that it takes, and for no others", () => {
  const all = { server: callback("x", "a"), waits: callback("a x", "b"), free: callback("x", "c") };
  assert.deepEqual(orderOf(all, ["server", "waits", "free"], ["server"]), ["server", "free", "server answered", "waits"]);
});

test("it waits also where the answer reaches it by another callback", () => {
  const all = { server: callback("x", "a"), between: callback("a", "b"), waits: callback("b x", "c") };
  assert.deepEqual(orderOf(all, ["server", "waits"], ["server"]), ["server", "server answered", "between", "waits"]);
});

test("what a callback gives itself it does not wait for", () => {
  const one = callback("a x", "a");
  assert.equal(nextOf([one], [], reachOf([one])), one);
});

test("of callbacks that wait for each other the first runs, once no answer is awaited", () => {
  const [one, other, server] = [callback("b x", "a"), callback("a x", "b"), callback("x", "c")];
  const reach = reachOf([one, other, server]);
  assert.equal(nextOf([one, other], [], reach), one);
  assert.equal(nextOf([one, other], [server], reach), undefined);
  assert.equal(nextOf([], [], reach), undefined);
});

test("several outputs count each, and a callback without one leads nowhere", () => {
  const [both, none, late] = [callback("x", "a b"), callback("b", ""), callback("b", "c")];
  const reach = reachOf([both, none, late]);
  assert.deepEqual([...reach.get(both)].sort(), ["a.x", "b.x", "c.x"]);
  assert.deepEqual([...reach.get(none)], []);
});
