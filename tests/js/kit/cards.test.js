import { pageWith } from "../page.js";
import assert from "node:assert/strict";
import test from "node:test";
import { binAt, valueAt } from "../../../assets/kit/cards/histogram_hover.js";
import { arrange, isOutdated, slotsFor } from "../../../assets/kit/cards/places.js";
import { indexIn, parse, placeAt, positions } from "../../../assets/kit/cards/stepping.js";
import { grouped } from "../../../assets/kit/cards/tag_list.js";
import { matching, pattern, tick, ticked } from "../../../assets/kit/cards/ticks.js";
import { across, columns, columnsOf, spare } from "../../../assets/kit/cards/widths.js";

test("a card keeps its slot while others come and go", () => {
  assert.deepEqual(slotsFor(["a", "b"], [], 3), ["a", "b", null]);
  const all = slotsFor(["a", "b", "c"], [], 3);
  const filtered = slotsFor(["c"], all, 3);
  assert.deepEqual(filtered, ["a", "b", "c"]);  // drawings of cards that are not on screen are kept
  assert.deepEqual(slotsFor(["d", "c", "e"], filtered, 3), ["d", "e", "c"]);
  assert.deepEqual(slotsFor(["a", "x"], ["a", "b", null, null], 4), ["a", "b", "x", null]);  // empty slots are taken first
  assert.deepEqual(slotsFor([], ["a"], 1), ["a"]);
  assert.deepEqual(slotsFor([""], ["a"], 1), [""]);  // the one chart of several tags
});

function hostOf(names) {
  const host = {
    nodes: [],
    moves: 0,
    get firstElementChild() { return this.nodes[0] || null; },
    insertBefore(node, before) {
      this.moves += 1;
      this.nodes.splice(this.nodes.indexOf(node), 1);
      this.nodes.splice(before ? this.nodes.indexOf(before) : this.nodes.length, 0, node);
    },
  };
  const after = (node) => host.nodes[host.nodes.indexOf(node) + 1] || null;
  host.nodes = names.map((name) => ({ name, get nextElementSibling() { return after(this); } }));
  return host;
}

test("elements are moved into the order of the cards, and only those that are not in it", () => {
  const cases = [["abcd", "abc", 0], ["cabd", "abc", 2], ["abcd", "dab", 1], ["ab", "", 0], ["ba", "ab", 1]];
  for (const [names, order, moves] of /** @type {[string, string, number][]} */ (cases)) {
    const host = hostOf([...names]);
    arrange(host, [...order].map((name) => host.nodes.find((node) => node.name === name)));
    const found = host.nodes.map((node) => node.name).join("");
    assert.ok(found.startsWith(order), `${names} to ${order}: ${found}`);
    assert.equal(host.moves, moves, `${names} to ${order}`);
  }
});

test("tags are filtered by an expression; what is none filters nothing", () => {
  const tags = ["loss", "Loss/train", "acc"];
  assert.deepEqual(matching(tags, "^loss"), ["loss", "Loss/train"]);
  assert.deepEqual(matching(tags, ""), tags);
  assert.equal(pattern("("), undefined);
  assert.deepEqual(matching(tags, "("), tags);
});

test("the state names the ticked tags or the unticked ones, whichever are fewer", () => {
  const page = pageWith({}, { catalogue: { tags: ["a", "b", "c", "d", "e"] } });
  tick(page, (tag) => tag === "a");
  assert.deepEqual([page.state.tag, page.state.untick], [["a"], []]);
  tick(page, (tag) => tag !== "a");
  assert.deepEqual([page.state.tag, page.state.untick], [[], ["a"]]);
  tick(page, () => false);
  assert.deepEqual(page.state.tag, [""]);
  assert.deepEqual(page.catalogue.tags.filter(ticked({ tag: [""] })), []);
  tick(page, () => true);
  assert.deepEqual([page.state.tag, page.state.untick], [[], []]);
  for (const key of ["untick", "hide"]) {  // "hide" in links of 0.1
    assert.deepEqual(page.catalogue.tags.filter(ticked({ [key]: ["b"] })), ["a", "c", "d", "e"]);
  }
});

test("hidden runs stay hidden when tags are ticked", () => {
  const page = pageWith({ hide: ["run 1", "e"] }, { catalogue: { tags: ["a", "b", "c", "d", "e"] } });
  tick(page, (tag) => tag !== "a");
  assert.deepEqual([page.state.hide, page.state.untick], [["run 1"], ["a"]]);
  tick(page, () => true);
  assert.deepEqual([page.state.hide, page.state.untick], [["run 1"], []]);
});

test("tags with a prefix in common are a group, others stand together between the groups", () => {
  const groups = grouped(["lr", "train/loss", "eval/acc", "train/acc", "loss"]);
  assert.deepEqual(groups.map(({ prefix, tags }) => [prefix, tags]), [
    ["", ["lr"]], ["train/", ["train/loss", "train/acc"]], ["", ["eval/acc", "loss"]],
  ]);
});

test("a card is a whole number of pixels wide, and its plot as many columns", () => {
  for (let width = 700; width < 2600; width += 1) {
    const page = { state: {}, find: () => ({ clientWidth: width }) };
    const count = across(page, 9);
    const left = spare(width, count);
    assert.ok(left >= 0 && left < count);
    const card = (width - left - 8 * (count - 1)) / count;
    assert.equal(card, Math.floor(card));
    assert.equal(across({ state: {}, find: () => ({ clientWidth: width - left }) }, 9), count);
    assert.equal(columns(page, 9, false), card - 70);
  }
  assert.equal(columnsOf(10), 50);
  assert.equal(columnsOf(1e6), 8000);
});

test("two to four cards beside each other", () => {
  const page = (clientWidth, state = {}) => ({ state, find: () => ({ clientWidth }) });
  assert.deepEqual([500, 800, 1200, 1600, 4000].map((width) => across(page(width), 9)), [2, 2, 3, 4, 4]);
  assert.equal(across(page(1600), 1), 1);
  const [card, head] = [{ key: "a" }, { head: "b" }];
  const parted = (...items) => across({ ...page(1600), items }, 9);
  assert.equal(parted(head, card, card, head, card), 2, "no column stays empty");
  assert.equal(parted(head, card, head, card), 2);
  assert.equal(parted(head, card, card, card, head, card), 3);
  assert.equal(parted(card, card, card, card, card), 4);
  assert.deepEqual([500, 1600].map((width) => across(page(width, { columns: ["6"] }), 9)), [3, 6], "none is too narrow");
});

function series(steps) {
  const places = new Map();
  steps.forEach((step, place) => places.set(step, [...(places.get(step) || []), place]));
  return { places, order: [...places.keys()].sort((a, b) => a - b) };
}

test("positions are steps, and the times a step was recorded", () => {
  const list = positions([series([1, 5, 5]), series([3])]);
  assert.deepEqual(list.map(({ text }) => text), ["1", "3", "5~1", "5"]);
  assert.equal(indexIn(list, ""), 3, "the newest");
  assert.equal(indexIn(list, "5~1"), 2);
  assert.equal(indexIn(list, "4"), 1, "the last before it");
  assert.equal(indexIn(list, "0"), 0);
  assert.deepEqual(parse("-3~2"), { step: -3, nth: 2 });
  assert.equal(parse("abc"), null);
});

test("a series shows the value of the step, or the last before it", () => {
  const one = series([1, 5, 5, 9]);
  assert.equal(placeAt(one, { step: 5, nth: 1 }), 1);
  assert.equal(placeAt(one, { step: 5, nth: Infinity }), 2);
  assert.equal(placeAt(one, { step: 7, nth: Infinity }), 2);
  assert.equal(placeAt(one, { step: 0, nth: Infinity }), -1);
  assert.equal(placeAt(one, null), -1);
});

test("a drawing is outdated if the card asks for other runs", () => {
  assert.equal(isOutdated(undefined, { run: ["a"] }), false, "nothing is drawn yet");
  assert.equal(isOutdated({ run: ["a"] }, null), false, "not on screen");
  assert.equal(isOutdated({ run: ["a"], x: ["step"] }, { run: ["a"], x: ["time"] }), false);
  assert.equal(isOutdated({ run: ["a"] }, { run: ["b"] }), true);
  assert.equal(isOutdated({}, { run: ["b"] }), true, "the default selection before");
  assert.equal(isOutdated({}, {}), false);
});

test("the bin of a value", () => {
  const bins = { low: 0, high: 10, n: 5 };
  assert.deepEqual([-0.1, 0, 1.9, 2, 9.99, 10].map((value) => binAt(bins, value)), [-1, 0, 0, 1, 4, -1]);
});

test("the value at a place of an axis that is not linear", () => {
  const edges = { dtype: "f8", bdata: Buffer.from(new Float64Array([-100, 0, 10, 1000]).buffer).toString("base64") };
  const bins = { low: 0, high: 3, n: 3, edges };
  const found = [0, 0.5, 1, 2, 2.5, 3, 9, -1].map((place) => valueAt(bins, place));
  assert.deepEqual(found, [-100, -50, 0, 10, 505, 1000, 1000, -100]);
  assert.equal(valueAt({ low: 0, high: 10, n: 5 }, 3.25), 3.25);
});
