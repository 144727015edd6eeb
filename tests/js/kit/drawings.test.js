import { changes, pageWith } from "../page.js";
import assert from "node:assert/strict";
import test from "node:test";
import { grown, release, request, take } from "../../../assets/kit/cards/drawings.js";

const ask = (tag) => ({ tag: [tag] });

async function settled(page) {
  do await new Promise((resolve) => setTimeout(resolve)); while (page.showing);
}

// A page with a card for each ask, one below the other; two of them are in the window.
function pageOf(asks) {
  const painted = [];
  changes.length = 0;
  const slot = (number) => ({
    hidden: false,
    dataset: {},
    classList: { remove() {}, add() {}, toggle() {}, contains: () => false },
    setAttribute() {},
    getBoundingClientRect: () => ({ top: number * 450, bottom: number * 450 + 440 }),
    querySelector: (selector) => (selector === "[data-graph]" ? null : { replaceChildren() {}, toggleAttribute() {} }),
  });
  const page = pageWith({}, {
    asks, requested: asks.map(() => null), waiting: new Map(), requests: 0, held: false, stamps: [],
    queue: new Map(), showing: false, answered: new Map(), drawings: new Map(), root: { isConnected: true },
    store: (part) => part, part: (part, number) => `${part}-${number}`, slot,
    kind: { painted: (_page, _card, _key, meta) => { painted.push(meta.tags[0]); return { badges: [], notes: [] }; } },
  });
  const asked = (wave) => changes.filter(([id]) => id === wave).map(([, props]) => props.data.cards);
  return { page, painted, asked };
}

const drawn = (tag) => ({ meta: { tags: [tag] } });
const answerTo = (cards) => cards.map(([slot, { tag: [tag] }]) => [slot, drawn(tag), `stamp of ${tag}`]);

test("cards in the window are asked for first, the others once these are answered", async () => {
  const { page, painted, asked } = pageOf(["a", "b", "c", "d"].map(ask));
  request(page, [0, 1, 2, 3]);
  assert.deepEqual(asked("near"), [[[0, ask("a")], [1, ask("b")]]]);
  assert.deepEqual(asked("far"), []);
  take(page, answerTo(asked("near")[0]), { cards: asked("near")[0] });
  assert.deepEqual(asked("far"), [[[2, ask("c")], [3, ask("d")]]]);
  take(page, answerTo(asked("far")[0]), { cards: asked("far")[0] });
  await settled(page);
  assert.deepEqual(painted, ["a", "b", "c", "d"]);
  assert.deepEqual(page.stamps, ["stamp of a", "stamp of b", "stamp of c", "stamp of d"]);
  assert.equal(page.waiting.size, 0);
});

test("a request that replaces one without an answer repeats what still waits", () => {
  const { page, asked } = pageOf([ask("a"), ask("b")]);
  request(page, [0, 1]);
  page.asks[1] = ask("other");
  request(page, [1]);
  assert.deepEqual(asked("near")[1], [[0, ask("a")], [1, ask("other")]]);
});

test("a card that left the screen before it was answered is asked for again when it is back", () => {
  const { page, asked } = pageOf([ask("a"), ask("b")]);
  request(page, [0, 1]);
  page.asks = [null, ask("other")];
  request(page, [1]);
  assert.deepEqual(asked("near")[1], [[1, ask("other")]]);
  assert.equal(page.requested[0], null);
});

test("an answer to a request that was changed since is dropped", async () => {
  const { page, painted, asked } = pageOf([ask("a"), ask("b")]);
  request(page, [0, 1]);
  const [before] = asked("near");
  page.asks[1] = ask("other");
  request(page, [1]);
  take(page, answerTo(before), { cards: before });
  await settled(page);
  assert.deepEqual(painted, ["a"]);
  assert.deepEqual([...page.waiting.keys()], [1]);
});

test("a failed request for the window lets the other one go", () => {
  const { page, asked } = pageOf([ask("a"), ask("b"), ask("c")]);
  request(page, [0, 1, 2]);
  release(page);
  assert.deepEqual(asked("far"), [[[2, ask("c")]]]);
  release(page);
  assert.equal(asked("far").length, 1);
});

test("new data of a card that waits for another drawing are left to that", async () => {
  const { page, painted, asked } = pageOf([ask("a"), ask("b")]);
  request(page, [0, 1]);
  take(page, answerTo(asked("near")[0]), { cards: asked("near")[0] });
  await settled(page);
  page.asks[1] = ask("other");
  request(page, [1]);
  grown(page, [[0, drawn("a"), "newer"], [1, drawn("b"), "newer"]]);
  await settled(page);
  assert.deepEqual(painted, ["a", "b", "a"]);
  assert.deepEqual(page.stamps, ["newer", "stamp of b"]);
});

test("of cards off screen only those with new data are asked for again", async () => {
  const { page, asked } = pageOf([ask("a"), ask("b")]);
  request(page, [0, 1]);
  take(page, answerTo(asked("near")[0]), { cards: asked("near")[0] });
  await settled(page);
  page.asks = [null, null];
  grown(page, []);
  assert.deepEqual(page.requested, [ask("a"), ask("b")]);
  grown(page, [[1, null, "newer"]]);
  assert.deepEqual(page.requested, [ask("a"), null]);
  const told = changes.filter(([id]) => id === "asks").at(-1);
  assert.deepEqual(told[1].data, [ask("a"), null], "the server looks no more at what is outdated");
  page.asks = [ask("a"), null];
  grown(page, [[0, null, "newer"]]);  // it came back while the answer was on its way
  assert.deepEqual(asked("near").at(-1), [[0, ask("a")]]);
});
