import "../page.js";
import assert from "node:assert/strict";
import test from "node:test";
import { samePlace } from "../../../assets/runs/board/apart.js";
import { ask, outputsOf } from "../../../assets/runs/board/calls.js";
import { componentIn } from "../../../assets/runs/board/components.js";

const near = {
  output: "ms-scalars-near-answer.data", inputs: [{ id: "ms-scalars-near", property: "data" }], state: [], no_output: false,
};
const grown = {
  output: "..ms-scalars-grown.data...ms-scalars-looked.data..",
  inputs: [{ id: "ms-scalars-interval", property: "n_intervals" }],
  state: ["shown", "asks", "drawn", "looked"].map((part) => ({ id: `ms-scalars-${part}`, property: "data" })), no_output: false,
};

class Refused extends Error {}

/**
 * The bodies that were posted, each answered by answer(body), which may throw Refused; what each call took, and why any was
 * refused.
 */
async function posted(calls, answer) {
  const bodies = [];
  const taken = calls.map(() => null);
  const refused = calls.map(() => undefined);
  globalThis.fetch = async (_url, { body }) => {
    bodies.push(JSON.parse(body));
    try {
      const response = answer(JSON.parse(body));
      return { status: 200, json: async () => ({ response }) };
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return { status: 400, json: async () => ({ error: error.message }) };
    }
  };
  calls.forEach((call, at) => {
    const take = (given, why) => {
      assert.equal(taken[at], null, "taken once");
      [taken[at], refused[at]] = [given, why];
    };
    ask({ app: "/", state: [], ...call, take });
  });
  await new Promise((done) => setTimeout(done, 20));
  return { bodies, taken, refused };
}

const asking = (...cards) => ({ callback: near, inputs: [{ ...near.inputs[0], value: { cards } }] });
const echo = ({ inputs: [{ value }] }) => ({
  "ms-scalars-near-answer": { data: value.cards.map(([at, { tag }]) => [at, tag[0]]) },
});

test("the outputs of a callback are those that Dash names in one text", () => {
  assert.deepEqual(outputsOf(near), [{ id: "ms-scalars-near-answer", property: "data" }]);
  assert.deepEqual(outputsOf(grown).map(({ id }) => id), ["ms-scalars-grown", "ms-scalars-looked"]);
  assert.deepEqual(outputsOf({ output: "0f3c.x", no_output: true }), []);
});

test("drawings that several cards ask for at once are one request, whose answers go to the cards", async () => {
  const { bodies, taken } = await posted(
    [asking([0, { tag: ["a"] }]), asking([3, { tag: ["b"] }], [1, { tag: ["c"] }])],
    ({ inputs: [{ value }] }) => ({
      "ms-scalars-near-answer": { data: value.cards.map(([at, { tag }]) => [at, tag[0], "s"]) },
    }));
  assert.deepEqual(bodies.map(({ inputs }) => inputs[0].value), [
    { cards: [[0, { tag: ["a"] }], [1, { tag: ["b"] }], [2, { tag: ["c"] }]] }]);
  assert.deepEqual(taken, [
    { "ms-scalars-near-answer": { data: [[0, "a", "s"]] } },
    { "ms-scalars-near-answer": { data: [[3, "b", "s"], [1, "c", "s"]] } }]);
});

test("whether data of several cards have changed is one question, of which each card gets its part", async () => {
  const values = (shown, asks, drawn, looked) =>
    grown.state.map((place, at) => ({ ...place, value: [shown, asks, drawn, looked][at] }));
  const inputs = [{ ...grown.inputs[0], value: 1 }];
  const { bodies, taken } = await posted([
    { callback: grown, inputs, state: values([0], [{ tag: ["a"] }], ["old"], 7) },
    { callback: grown, inputs, state: values([1], [null, { tag: ["b"] }], [null, "old"], 7) },
    { callback: grown, inputs, state: values([], [], [], 7) },
  ], () => ({ "ms-scalars-grown": { data: [[1, "drawing", "new"]] }, "ms-scalars-looked": { data: 8 } }));
  assert.deepEqual(bodies.map(({ state }) => state.map(({ value }) => value)), [
    [[0, 1], [{ tag: ["a"] }, { tag: ["b"] }], ["old", "old"], 7]]);
  const looked = { "ms-scalars-looked": { data: 8 } };
  assert.deepEqual(taken, [looked, { "ms-scalars-grown": { data: [[1, "drawing", "new"]] }, ...looked }, looked]);
});

test("equal questions about the same data are asked once", async () => {
  const callback = { ...near, output: "ms-scalars-catalogue.data", inputs: ["chosen", "version"].map((part) =>
    ({ id: `ms-scalars-${part}`, property: "data" })) };
  const about = (version) =>
    ({ callback, inputs: callback.inputs.map((place, at) => ({ ...place, value: [{}, version][at] })) });
  const { bodies, taken } = await posted([about(1), about(1), about(2)], ({ inputs }) => ({ version: inputs[1].value }));
  assert.equal(bodies.length, 2);
  assert.deepEqual(taken, [{ version: 1 }, { version: 1 }, { version: 2 }]);
});

test("a server that is gone gives no answer", async () => {
  const { taken, refused } = await posted([asking([0, {}]), asking([0, {}])], () => { throw new Error("gone"); });
  assert.deepEqual(taken, [{}, {}]);
  assert.deepEqual(refused, [undefined, undefined]);
});

test("what one card asks for and the server refuses is refused to that card alone", async () => {
  const { bodies, taken, refused } = await posted(
    [asking([0, { tag: ["a"] }]), asking([0, { tag: ["bad"] }]), asking([2, { tag: ["c"] }])],
    (body) => {
      if (body.inputs[0].value.cards.some(([, { tag }]) => tag[0] === "bad")) throw new Refused("tag: expected another one");
      return echo(body);
    });
  assert.equal(bodies.length, 4, "all together, then each alone");
  assert.deepEqual(taken, [
    { "ms-scalars-near-answer": { data: [[0, "a"]] } }, {}, { "ms-scalars-near-answer": { data: [[2, "c"]] } }]);
  assert.deepEqual(refused, [undefined, "tag: expected another one", undefined]);
});

test("a call that asks for no card is answered without a request", async () => {
  const { bodies, taken } = await posted([asking()], echo);
  assert.deepEqual([bodies, taken], [[], [{}]]);
});

test("no request has more cards than the server takes", async () => {
  const { bodies, taken } = await posted(Array.from({ length: 61 }, (_, at) => asking([0, { tag: [String(at)] }])), echo);
  assert.deepEqual(bodies.map(({ inputs }) => inputs[0].value.cards.length), [60, 1]);
  assert.deepEqual(taken[60], { "ms-scalars-near-answer": { data: [[0, "60"]] } });
});

test("a component is found in the others", () => {
  const inner = { type: "P", props: { id: "x", children: "text" } };
  const tree = { type: "Div", props: { children: [null, "text", { type: "Div", props: { children: inner } }] } };
  assert.equal(componentIn(tree, ({ props }) => props.id === "x"), inner);
  assert.equal(componentIn(tree, ({ props }) => props.id === "y"), null);
});

test("places are the same whatever way they are written", () => {
  assert.ok(samePlace("scalars?run=a%2Fb&x=step", "scalars?run=a/b&x=step"));
  assert.ok(!samePlace("scalars?run=a", "histograms?run=a"));
  assert.ok(!samePlace("scalars?run=a", "scalars?run=b"));
});
