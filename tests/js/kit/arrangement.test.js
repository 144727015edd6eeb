import "../page.js";
import assert from "node:assert/strict";
import test from "node:test";
import { columnsChosen, fold, foldAll, isFolded, pageOfSection, perPage, pinned, sections, spread }
  from "../../../assets/kit/cards/arrangement.js";

const TAGS = ["loss", "train/loss", "train/acc", "lr", "val/loss", "val/acc", "alone/x"];
const shape = (all) => all.map(({ prefix, tags, folded, headed }) => [prefix, tags, folded, headed]);

test("tags that share a prefix are a section, the others are one together", () => {
  assert.deepEqual(shape(sections(TAGS, {})), [
    ["", ["loss", "lr", "alone/x"], false, true],
    ["train/", ["train/loss", "train/acc"], false, true],
    ["val/", ["val/loss", "val/acc"], false, true],
  ]);
  assert.deepEqual(shape(sections(["b", "a"], {})), [["", ["b", "a"], false, false]], "no shared prefix, no heads");
  assert.deepEqual(sections([], {}), []);
  assert.deepEqual(shape(sections(["m/a", "m/b"], {})), [["m/", ["m/a", "m/b"], false, true]]);
});

test("by name numbers count as numbers; by relevance tags with insights come first and the others keep their order", () => {
  const [named] = sections(["w10", "w9", "a"], { order: ["name"] });
  assert.deepEqual(named.tags, ["a", "w9", "w10"]);
  const [ranked] = sections(TAGS, { order: ["insights"] }, new Map([["val/acc", 0], ["lr", 1]]));
  assert.deepEqual(ranked.tags, ["val/acc", "lr", "loss", "train/loss", "train/acc", "val/loss", "alone/x"]);
  assert.deepEqual(sections(TAGS, { order: ["insights"] })[0].tags, TAGS, "as they are until ranks are known");
  assert.equal(sections(TAGS, { order: ["nonsense"] }).length, 3);
});

test("sections are closed one by one or all, and the link stays short", () => {
  let state = {};
  const apply = (changes) => { state = { ...state, ...changes }; };
  apply(fold(state, "val/", true));
  assert.deepEqual([isFolded(state, "val/"), isFolded(state, "train/")], [true, false]);
  apply(fold(state, "val/", false));
  assert.deepEqual(state.fold, []);
  apply(foldAll(true));
  assert.deepEqual([isFolded(state, "val/"), isFolded(state, "")], [true, true]);
  apply(fold(state, "", false));
  assert.deepEqual([state.fold, state.unfold], [["*"], [""]]);
  assert.deepEqual([isFolded(state, "val/"), isFolded(state, "")], [true, false]);
  apply(foldAll(false));
  assert.ok(!isFolded(state, "val/"));
});

const many = (folded = []) => ["a/", "b/", "c/"].map((prefix) => ({
  prefix, tags: Array.from({ length: 5 }, (_, at) => `${prefix}${at}`), folded: folded.includes(prefix), headed: true,
}));
const heads = (found) => found.items.flatMap(({ head }) => (head ? [[head.prefix, head.from, head.to, head.count]] : []));

test("a page has the heads of its sections, also of those that began before it", () => {
  const first = spread(many(), 0, 4);
  assert.deepEqual(heads(first), [["a/", 0, 4, 5]]);
  assert.deepEqual(first.keys, ["a/0", "a/1", "a/2", "a/3"]);
  const second = spread(many(), 1, 4);
  assert.deepEqual(heads(second), [["a/", 4, 5, 5], ["b/", 0, 3, 5]]);
  assert.deepEqual(second.keys, ["a/4", "b/0", "b/1", "b/2"]);
  assert.deepEqual([second.first, second.total], [4, 15]);
  assert.equal(spread(many(), 99, 4).number, 3);
  assert.deepEqual(spread([], 0, 4), { items: [], keys: [], first: 0, total: 0, number: 0 });
});

test("closed sections are on the page where their cards would be, and take none of its room", () => {
  const found = spread(many(["b/"]), 0, 8);
  assert.deepEqual(heads(found).map(([prefix]) => prefix), ["a/", "b/", "c/"]);
  assert.equal(found.total, 10);
  assert.deepEqual(heads(spread(many(["b/"]), 1, 8)).map(([prefix]) => prefix), ["c/"]);
  assert.deepEqual(heads(spread(many(["c/"]), 0, 5)).map(([prefix]) => prefix), ["a/"]);
  assert.deepEqual(heads(spread(many(["c/"]), 1, 5)).map(([prefix]) => prefix), ["b/", "c/"], "what is at the end");
  assert.equal(heads(spread(many(["a/", "b/", "c/"]), 0, 5)).length, 3);
});

test("every card is on exactly one page, and every section has a head on some page", () => {
  for (let round = 0; round < 200; round += 1) {
    const all = Array.from({ length: 1 + (round % 7) }, (_, at) => ({
      prefix: `${at}/`, headed: true, folded: (round >> at) % 3 === 0,
      tags: Array.from({ length: 1 + ((round * (at + 3)) % 9) }, (__, tag) => `${at}/${tag}`),
    }));
    const size = 1 + (round % 5);
    const open = all.flatMap((one) => (one.folded ? [] : one.tags));
    const pages = Array.from({ length: Math.max(1, Math.ceil(open.length / size)) }, (_, at) => spread(all, at, size));
    assert.deepEqual(pages.flatMap((one) => one.keys), open);
    const named = pages.flatMap((one) => heads(one).map(([prefix]) => prefix));
    assert.deepEqual([...new Set(named)], all.map(({ prefix }) => prefix));
    for (const { prefix } of all.filter((one) => !one.folded)) {
      const begins = heads(pages[pageOfSection(all, prefix, size)]);
      assert.ok(begins.some(([name, from]) => name === prefix && from === 0));
    }
  }
});

test("pins, columns and cards on a page are what the state may say", () => {
  assert.deepEqual(pinned({ pin: ["b", "gone", "a"] }, ["a", "b", "c"], 12), ["b", "a"]);
  assert.deepEqual(pinned({ pin: ["a", "b", "c"] }, ["a", "b", "c"], 2), ["a", "b"]);
  assert.deepEqual(pinned({}, ["a"], 12), []);
  assert.deepEqual(["24", "13", "x", "48"].map((cards) => perPage({ cards: [cards] }, 12)), [24, 12, 12, 48]);
  assert.deepEqual(["3", "7", "-1", ""].map((columns) => columnsChosen({ columns: [columns] })), [3, 0, 0, 0]);
});
