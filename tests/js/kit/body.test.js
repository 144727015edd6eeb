// The body that pages of several subjects have: what is asked, which state is shown, and when the server is asked again.

import assert from "node:assert/strict";
import { test } from "node:test";
import { changes } from "../page.js";
import { bodies, listOf, listedState, look, numberTexts, pageLink } from "../../../assets/kit/body.js";
import { drawProgress } from "../../../assets/kit/progress.js";

/** An element that finds, by any selector, one child which it makes at the first call. */
function fake(dataset = {}) {
  const children = new Map();
  const classes = new Set();
  const element = {
    dataset, hidden: false, isConnected: true, children: [], textContent: "", append() {}, setAttribute() {},
    attributes: new Set(), toggleAttribute: (name, on) => on ? element.attributes.add(name) : element.attributes.delete(name),
    addEventListener() {}, classes,
    classList: { add: (name) => classes.add(name), toggle: (name, on) => on ? classes.add(name) : classes.delete(name) },
    replaceChildren(...made) { element.children = made; },
    querySelector(selector) {
      if (!children.has(selector)) children.set(selector, fake());
      return children.get(selector);
    },
    querySelectorAll: () => element.states || [],
  };
  return element;
}

const roots = new Map();
globalThis.document.getElementById = (id) => roots.get(id) || null;
const timers = [];
globalThis.setTimeout = (act) => timers.push(act);
globalThis.clearTimeout = () => {};

const STATES = ["opening", "no-runs", "none", "damaged", "loading", "failed", "nothing"];
const CATALOGUE = { chosen: 1, left: 0, waiting: 0, damage: [], elsewhere: [], pebbles: ["a"] };
let count = 0;

/** A subject whose catalogue lists pebbles, and one of its pages: plan(state, catalogue, reading), shown(), page, wanted(). */
function beach(more = {}, kind = {}) {
  count += 1;
  const name = `pebbles${count}`;
  const rootId = `${name}-root`;
  const root = fake({ page: "beach", keys: "size", choices: "", compared: "0" });
  root.states = STATES.map((state) => fake({ state }));
  roots.set(rootId, root);
  const made = bodies({
    name, forgets: ["size"], fields: () => ({ parts: new Map() }), controls: () => [],
    choose(page) {
      page.pebble = (page.state.of || page.catalogue.pebbles)[0] || null;
      return page.pebble !== null;
    },
    wantedOf: (page) => ({ of: [page.pebble] }),
    drawControls() {},
    stateOf: (page) => listedState(page.reading && page.reading.of === page.pebble ? page.reading.state : "reading"),
    wrongOf: (page) => page.reading || {},
    damageOf: (page) => page.reading,
    askOf: (page, fresh) => !fresh && page.reading && page.reading.state === "ready" ? { of: [page.pebble] } : null,
    isReady: (page) => page.chosen,
    isUnfinished: (page) => page.reading.state === "reading",
    ...more,
  });
  const pageOf = made.define("beach", kind);
  const { plan, answered } = globalThis.dash_clientside[`mindscope_${name}`];
  return {
    ...made, root, page: () => pageOf(rootId), answered: (answer) => answered(answer, rootId),
    plan: (state, catalogue, reading = null) => plan(state, catalogue, reading, {}, rootId),
    shown: () => root.states.filter((one) => !one.hidden).map((one) => one.dataset.state).join(),
    wanted: () => changes.filter(([id]) => id === `${name}-wanted`).map(([, { data }]) => data),
  };
}

test("nothing is drawn before the catalogue is there", () => {
  const { plan, page } = beach();
  assert.equal(plan({}, null), "no update");
  assert.equal(page().catalogue, null);
});

test("what is chosen is wanted once, and is what the page is about when it has been read", () => {
  const drawn = [];
  const { plan, wanted, shown, page } = beach({}, { draw: (one) => drawn.push(one.pebble) });
  assert.equal(plan({}, CATALOGUE), "no update");
  assert.deepEqual([shown(), wanted()], ["opening", [{ of: ["a"], turn: ["1"] }]]);
  const reading = { of: "a", state: "ready" };
  assert.deepEqual(plan({ size: ["3"] }, CATALOGUE, reading), { of: ["a"], size: ["3"] });
  assert.equal(shown(), "");
  assert.equal(plan({ size: ["3"], other: ["1"] }, CATALOGUE, reading), "no update", "it is about the same");
  assert.equal(plan({ of: ["b"] }, CATALOGUE, reading), "no update", "b has not been read");
  assert.deepEqual(wanted().map(({ of, turn }) => [of[0], turn[0]]), [["a", "1"], ["b", "2"]]);
  assert.deepEqual(drawn, ["a", "a", "a", "b"]);
  assert.deepEqual(page().keys, ["size"]);
});

test("without a choice one state says why", () => {
  const { plan, shown, root } = beach();
  const none = { ...CATALOGUE, pebbles: [] };
  plan({}, { ...none, chosen: 0 });
  assert.equal(shown(), "no-runs");
  plan({}, { ...none, waiting: 1 });
  assert.equal(shown(), "loading");
  plan({}, { ...none, damage: [["file", "cut"]] });
  assert.equal(shown(), "damaged");
  plan({}, { ...none, elsewhere: [{ key: "b", name: "B" }] });
  assert.equal(shown(), "none");
  assert.equal(root.querySelector('[data-state="none"] .ms-body-elsewhere').children.length, 2, "a sentence and a button");
  assert.ok(root.querySelector(".ms-body-content").hidden && root.querySelector(".ms-body-bar").hidden);
  plan({}, CATALOGUE);
  assert.ok(!root.querySelector(".ms-body-bar").hidden);
  const own = beach({ emptyState: (_page, name) => name === "no-runs" ? "connect" : name });
  own.plan({}, { ...none, chosen: 0 });
  assert.equal(own.shown(), "", "a state of the subject takes its place");
});

test("a listing that failed or is empty says what is wrong", () => {
  const { plan, shown, root } = beach();
  plan({}, CATALOGUE, { of: "a", state: "failed", text: "closed" });
  assert.deepEqual([shown(), root.querySelector(".ms-body-why").textContent], ["failed", "closed"]);
  plan({}, CATALOGUE, { of: "a", state: "nothing", problems: [{ path: "f", text: "cut" }], more: 1 });
  assert.deepEqual([shown(), root.querySelector(".ms-body-found").children.length], ["nothing", 1]);
  const damage = root.querySelector(".ms-body-damage");
  assert.deepEqual([damage.hidden, damage.querySelector(".ms-popover").children.length], [false, 1]);
  plan({}, CATALOGUE, { of: "a", state: "ready" });
  assert.deepEqual([shown(), root.querySelector(".ms-body-found").children.length, damage.hidden], ["", 0, true]);
  assert.deepEqual(["missing", "unheard of"].map(listedState), ["none", "opening"]);
});

test("an answer that is not final is asked for again, once for each answer", () => {
  timers.length = 0;
  const { plan, wanted, page } = beach();
  const reading = { of: "a", state: "reading" };
  plan({}, CATALOGUE, reading);
  plan({ other: ["1"] }, CATALOGUE, reading);
  assert.equal(timers.length, 1);
  timers[0]();
  assert.equal(wanted().length, 2);
  plan({}, CATALOGUE, { of: "a", state: "ready" });
  assert.equal(timers.length, 1);
  look(page(), { again: ["1"] });
  assert.deepEqual(wanted().at(-1), { of: ["a"], again: ["1"], turn: ["3"] });
  page().root.isConnected = false;
  look(page());
  assert.equal(wanted().length, 3, "a page that left the screen asks nothing");
});

test("a page that keeps no ask returns nothing to Dash", () => {
  const { plan } = beach({ askOf: undefined });
  assert.equal(plan({}, null), undefined);
  assert.equal(plan({}, CATALOGUE, { of: "a", state: "ready" }), undefined);
});

test("what else decides what is shown has the page drawn again", () => {
  let pebble = "a";
  const { plan, page, redraw, name } = beach({ askOf: () => ({ of: [pebble] }) });
  plan({}, CATALOGUE);
  const before = changes.length;
  redraw(page());
  assert.equal(changes.length, before, name);
  pebble = "b";
  redraw(page());
  assert.deepEqual(changes.at(-1)[1], { data: { of: ["b"] } });
});

test("answers to parts come to the page that asked last", () => {
  const taken = [];
  const { plan, page, answered } = beach({}, { answers: { sum: (_page, answer) => taken.push(answer.sum) } });
  plan({}, CATALOGUE);
  page().parts.set("sum", { turn: 2, ask: {} });
  answered({ part: "sum", turn: "1", state: "ready", sum: 1 });
  answered({ part: "sum", turn: "2", state: "ready", sum: 2 });
  answered(null);
  assert.deepEqual(taken, [2]);
});

test("links, words of attributes and text keys", () => {
  assert.deepEqual(listOf("a  b"), ["a", "b"]);
  assert.deepEqual(listOf(undefined), []);
  assert.deepEqual(pageLink("beach", ["r"], { of: ["a/b"], size: ["1", "2"] }), {
    href: "beach?run=r&of=a/b&size=1&size=2", "data-page": "beach", "data-query": "of=a/b&size=1&size=2",
  });
  assert.equal(pageLink("beach", undefined, { of: ["a"] }).href, "beach?of=a");
  assert.equal(numberTexts("pebbles", "rank").absent, "pebbles.rank_absent");
});

test("a line says how far work is, and stops or resumes it", () => {
  const line = fake();
  const [bar, cancel, again] = ["progress", '[data-act="cancel"]', '[data-act="again"]'].map((one) => line.querySelector(one));
  const words = line.querySelector(".ms-body-text");
  const asked = [];
  const act = (more) => asked.push(Object.keys(more)[0]);
  drawProgress(line, null);
  assert.ok(line.hidden);
  drawProgress(line, { state: "ready" }, act);
  assert.ok(line.hidden);
  drawProgress(line, { state: "working", done: 1, total: 4 }, act);
  assert.deepEqual([line.hidden, bar.hidden, bar.value, cancel.hidden, again.hidden], [false, false, 0.25, false, true]);
  assert.ok(line.attributes.has("data-going"));
  cancel.onclick();
  drawProgress(line, { state: "cancelled" }, act);
  assert.ok(!line.attributes.has("data-going"));
  assert.deepEqual([bar.hidden, cancel.hidden, again.hidden], [true, true, false]);
  again.onclick();
  assert.deepEqual(asked, ["cancel", "again"]);
  drawProgress(line, { state: "failed", text: "why" });
  assert.deepEqual([words.classes.has("ms-body-wrong"), cancel.hidden, again.hidden], [true, true, true]);
  drawProgress(line, { state: "reading" }, act, { bytes: true });
  assert.deepEqual([bar.hidden, bar.value], [false, 0], "files whose size is not known yet");
  bar.dataset.name = "beach";
  for (const [ranks, key] of [[1, "beach.reading"], [1000, "beach.reading_ranks"]]) {
    drawProgress(line, { state: "reading", done: 1, total: 4 }, act, { bytes: true, ranks });
    assert.equal(words.dataset.english, key);
  }
  drawProgress(line, { state: "waiting" }, act, { bytes: true, ranks: 1000 });
  assert.equal(words.dataset.english, "beach.waiting");
});
