import "../page.js";
import assert from "node:assert/strict";
import test from "node:test";
import { around, divided, nameAt, quoted, suggested, withTag } from "../../../assets/kit/expressions.js";
import { grouped } from "../../../assets/kit/cards/tag_list.js";
import { added, derivedTags, extended, replaced } from "../../../assets/curves/scalars/derived.js";

test("a tag is quoted unless it is a plain name", () => {
  assert.deepEqual(["loss", "train/loss", "a.b_1/0/w"].map(quoted), ["loss", "train/loss", "a.b_1/0/w"]);
  assert.deepEqual(["grad-norm", "it's", "0/a", "a/", "/a", "a b", "损失", ""].map(quoted),
    ["'grad-norm'", "'it''s'", "'0/a'", "'a/'", "'/a'", "'a b'", "'损失'", "''"]);
});

test("the name at the caret is what a tag replaces", () => {
  const at = (text) => nameAt(text.replace("|", ""), text.indexOf("|"));
  assert.deepEqual(at("|"), { start: 0, end: 0, part: "" });
  assert.deepEqual(at("tra|"), { start: 0, end: 3, part: "tra" });
  assert.deepEqual(at("train/|"), { start: 0, end: 6, part: "train/" });
  assert.deepEqual(at("a - tr|ain/loss * 2"), { start: 4, end: 14, part: "tr" });
  assert.deepEqual(at("a - |"), { start: 4, end: 4, part: "" });
  assert.deepEqual(at("mean(|, 20)"), { start: 5, end: 5, part: "" });
  assert.deepEqual(at("a - 'grad|"), { start: 4, end: 9, part: "grad" });
  assert.deepEqual(at("a - 'it''s|' + b"), { start: 4, end: 11, part: "it's" });
  assert.equal(at("a |"), null);
  assert.equal(at("(a) |"), null);
  assert.equal(at("2|"), null);
  assert.deepEqual(withTag("a - tr * 2", { start: 4, end: 6 }, "grad-norm"), { text: "a - 'grad-norm' * 2", caret: 15 });
});

test("tags that begin with the part come first, derived curves never", () => {
  const tags = ["=loss - x", "val/loss", "loss", "lr", "Loss_2"];
  assert.deepEqual(suggested(tags, "LOSS", 9), ["loss", "Loss_2", "val/loss"]);
  assert.deepEqual(suggested(tags, "", 2), ["val/loss", "loss"]);
});

test("an error is shown at its column, which counts characters", () => {
  assert.deepEqual(around("a - * b", 5), { before: "a - ", after: "* b" });
  assert.deepEqual(around("a -", 4), { before: "a -", after: "" });
  assert.deepEqual(around("'😀' b", 5), { before: "'😀' ", after: "b" });
  const { before, after } = around("x".repeat(200), 100);
  assert.deepEqual([before.length, after.length, before[0], after.at(-1)], [49, 25, "…", "…"]);
});

test("a slash in a name that no run has may be a division", () => {
  const known = (name) => ["a", "b", "x/y"].includes(name);
  assert.deepEqual(divided(["a/b", "x/y/a", "c/d", "a/2"], known), ["a / b", "x/y / a", "a / 2"]);
});

// State --------------------------------------------------------------------------------------------------------------

test("derived curves stand before the tags and in no group of them", () => {
  const page = { state: { expr: ["train/a - train/b", "x", "x"] } };
  const catalogue = { tags: ["train/a", "train/b", "=x"], runs: ["r"] };
  assert.deepEqual(derivedTags(page.state), ["=train/a - train/b", "=x"]);
  const more = extended(page, catalogue);
  assert.deepEqual(more.tags, ["=train/a - train/b", "train/a", "train/b", "=x"], "a recorded tag of that name is that one");
  assert.equal(extended(page, catalogue), more);
  page.state = {};
  assert.equal(extended(page, catalogue), catalogue);
  assert.deepEqual(extended({ state: { expr: ["x"] } }, { tags: [] }).tags, []);
  assert.deepEqual(grouped(more.tags).map(({ prefix, tags }) => [prefix, tags.length]), [["", 1], ["train/", 2], ["", 1]]);
});

test("a new curve is seen: it is ticked, passes the filter, and is in the one chart", () => {
  assert.deepEqual(added({}, "a - b", null), { expr: ["a - b"], page: [] });
  assert.deepEqual(added({ expr: ["x"], tag: ["a"], q: ["^loss"] }, "a - b", null),
    { expr: ["x", "a - b"], page: [], tag: ["a", "=a - b"], q: [] });
  assert.deepEqual(added({ tag: [""] }, "a", [["b"], ["c"]]),
    { expr: ["a"], page: [], tag: ["=a"], left: ["b", "=a"], right: ["c"] });
});

test("changing or deleting an expression changes every list that names it", () => {
  const state = {
    expr: ["a", "b"], tag: ["=a", "x"], left: ["=a"], x: ["tag:=a"], log: ["=a", "=b"], zoom: ["1,2,,:=a", "3,4,,:x"],
    threshold: [">1.0:=a"], run: ["r"], q: ["a"],
  };
  assert.deepEqual(replaced(state, "a", "c - d"), {
    expr: ["c - d", "b"], tag: ["=c - d", "x"], left: ["=c - d"], x: ["tag:=c - d"], log: ["=c - d", "=b"], zoom: ["3,4,,:x"],
    threshold: [">1.0:=c - d"],
  });
  assert.deepEqual(replaced(state, "a", ""), {
    expr: ["b"], tag: ["x"], left: [], x: [], log: ["=b"], zoom: ["3,4,,:x"], threshold: [],
  });
});
