import assert from "node:assert/strict";
import test from "node:test";
import {
  carried, edgeLabels, labelsAt, overlaps, shortened, textWidth, titleAt, withValue,
} from "../../../assets/graphs/labels.js";

const box = (id, more = {}) =>
  ({ id, label: `${id}-operator-of-a-layer`, size: 12, x: 0, y: 0, w: 170, h: 28, kind: "node", ...more });

test("labels are shortened, first their count, then their middle", () => {
  assert.equal(shortened("encoder  1,234", 20), "encoder  1,234");
  assert.equal(shortened("encoder  1,234", 8), "encoder");
  assert.equal(shortened("encoder-CellList", 10), "…-CellList");
  assert.equal(shortened("GetNext-op1", 11), "GetNext-op1");
  assert.equal(shortened("GetNext-op12", 8), "GetNext…");
  assert.equal(shortened("encoder-CellList", 4), "en…t");
  assert.equal(shortened("encoder-CellList", 2), "");
  assert.equal(shortened("编码器的一个很长的名字", 10), "编码…名字");
});

test("different names are told apart at every zoom that has room, operators of a type are called by it", () => {
  const layers = [1, 2, 3, 4].map((n) =>
    box(`s${n}`, { label: `layer${n}-SequentialCell  ${n}`, w: 161, h: 34, y: 60 * n, kind: "scope" }));
  for (const zoom of [0.8, 0.7, 0.6, 0.5]) {
    const texts = [...labelsAt(layers, zoom).values()].map(({ text }) => text);
    assert.equal(new Set(texts).size, 4, texts.join(" "));
    for (const [at, text] of texts.entries()) assert.ok(text.includes(String(at + 1)), text);
  }
  const relus = [0, 1].map((n) => box(`r${n}`, { label: `ReLU-op1${n}`, w: 90, y: 60 * n }));
  assert.deepEqual([...labelsAt(relus, 0.5).values()].map(({ text }) => text), ["ReLU…", "ReLU…"]);
});

test("no label is smaller than 10 px on the screen, whatever the zoom", () => {
  for (let zoom = 0.02; zoom < 4; zoom *= 1.1) {
    const found = labelsAt([box("a"), box("b", { y: 100 }), box("s", { y: 200, w: 40, h: 15, size: 9.5 })], zoom);
    const shown = [...found.values()].filter(({ text }) => text);
    assert.ok(shown.length, `nothing is shown at ${zoom}`);
    for (const { size } of shown) assert.ok(size * zoom >= 10 - 1e-9);
  }
  assert.deepEqual(labelsAt([box("a")], 1).get("a"), { text: "a-operator-of-a-layer", size: 12 });
  const less = labelsAt([box("a")], 0.5).get("a");
  assert.match(less.text, /…/);
  assert.ok(textWidth(less.text, less.size) <= 170);
});

test("what is too small for labels still has the titles of scopes, without overlaps", () => {
  const inner = Array.from({ length: 40 }, (_, n) => box(`n${n}`, { x: 200, y: 100 + 50 * n }));
  const frames = Array.from({ length: 6 }, (_, n) =>
    box(`f${n}`, { frame: true, kind: "scope", depth: n, x: 500, y: 1000, w: 1000 - 40 * n, h: 2000 - 60 * n }));
  const zoom = 0.1;
  const found = labelsAt([...frames, ...inner], zoom);
  const shown = [...found].filter(([, { text }]) => text).map(([id]) => id);
  assert.ok(shown.length);
  assert.ok(shown.every((id) => id.startsWith("f")));
  const rects = frames.filter(({ id }) => shown.includes(id)).map((one) => {
    const { text, size } = found.get(one.id);
    const top = (one.y - one.h / 2 + 8) * zoom;
    const left = (one.x - one.w / 2 + 12) * zoom;
    return { x1: left, x2: left + textWidth(text, size) * zoom, y1: top, y2: top + 1.2 * size * zoom };
  });
  for (const one of rects) for (const other of rects) assert.ok(one === other || !overlaps(one, other));
  assert.equal(titleAt({ text: "ab", size: 10 }, 100).tx, 11.2 / 2 + 12 - 50);
});

test("an edge's label is where it overlaps nothing", () => {
  const places = { mid: { x: 0, y: 0 }, out: { x: 0, y: 50 }, into: { x: 0, y: 100 } };
  const edges = ["a", "b", "c", "d"].map((id) => ({ id, text: "Float32 8x128", places }));
  assert.deepEqual([...edgeLabels(edges, [], 10)], [["a", "mid"], ["b", "out"], ["c", "into"]]);
  assert.deepEqual([...edgeLabels(edges.slice(0, 1), [{ x1: -9, x2: 9, y1: -9, y2: 9 }], 10)], [["a", "out"]]);
  assert.equal(carried("Tensor[Float32] 8x128"), "Float32 8x128");
  assert.equal(carried("Tuple[Tensor[Float32], Int64]"), "Tuple[Tensor[Float32], Int64]");
  assert.ok(carried("Tuple[Tensor[Float32], Tensor[Float32], Int64]").length <= 32);
});

test("a painted box has its value below its name if there is room, an open one behind its title", () => {
  const value = "12.3 ms";
  assert.equal(withValue({ value }, "Conv"), "Conv\n12.3 ms");
  assert.equal(withValue({ value, frame: true }, "net  3"), "net  3  ·  12.3 ms");
  assert.equal(withValue({ value: "" }, "Conv"), "Conv");
  const at = (more, zoom) => labelsAt([box("a", { value, ...more })], zoom).get("a").text;
  assert.equal(at({}, 1), "a-operator-of-a-layer\n12.3 ms");
  assert.ok(!at({}, 0.6).includes("ms"));  // two lines of 10 px are higher than the box
  assert.ok(at({ h: 60 }, 0.6).endsWith("\n12.3 ms"));
  assert.equal(at({ label: "Ab", w: 30, h: 40 }, 1), "Ab");  // the value is wider than the box
  assert.equal(at({ frame: true, label: "net", w: 300, h: 300 }, 1), "net  ·  12.3 ms");
  assert.equal(at({ frame: true, label: "net", w: 60, h: 300 }, 1), "net");
});
