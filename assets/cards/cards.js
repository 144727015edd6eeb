// Pages with one card per tag: from the state and the catalogue of tags to what each card asks the server for.
// Counterpart of layouts/training/cards.py. tags.js has the list of tags, cards_slots.js the heads and tools of the cards.
//
// A page joins with mindscope.cards.define(<Page.name>, kind), where kind has
//   build(page)                     once; gives {left: [...], right: [...]}, the page's controls in the bar
//   draw(page)                      those controls, after every change of the state
//   ask(page, key)                  what the card of a tag asks for beside {tag, columns, run}: {name: [text, ...]}
//   tools(key)                      buttons in the card's head, <button data-act>; see iconButton
//   files(key)                      items of its download menu: imageItems(), links(...)
//   press(page, card, key)          the state of those tools
//   painted(page, card, key, meta)  {badges: [...], notes: [...]} for the head; meta is the drawing's own (see cards.py)
// and, where there is a need,
//   acts: {name(page, card, key, button)}   what its buttons do
//   moved(page, card, key, change)          plotly's relayoutData
//   forFile(page, card, key, figure)        the figure as an image file has it
//   fileTags(page, key), fileRange(page, key)  what a link of the download menu covers: [tag, ...], {from, to}
//   title(key)                              the text key of the title of a card that is not of one tag
//   cards(page)                             null, or the keys of the cards instead of one per tag
//   bare(page)                              whether something else stands in place of the cards
//   sides(page), putOn(page, side, tag)     tags are put on a left and a right axis instead of being ticked
//
// page.state is the state, page.chosen the tags that pass filter and ticks, page.shown the keys on this page of cards,
// page.asks what they ask for, page.drawings what the server answered (by slot), page.change({key: [...]}) writes the state.

import { functionsOf, noUpdate, setProps } from "../base/dash.js";
import { iconButton, make } from "../base/elements.js";
import { count } from "../base/format.js";
import { writeText } from "../base/i18n.js";
import { last, listed, same } from "../base/state.js";
import * as cards from "./pages.js";
import * as slots from "./slots.js";
import * as tagList from "./tag_list.js";
import * as ticks from "./ticks.js";
import { columns, measure } from "./widths.js";

export * from "./pages.js";

const NOT_A_CARD = null;

cards.onBegin((page) => {
  page.root.querySelectorAll(".ms-slot").forEach(furnish);
  new ResizeObserver(() => measure(page)).observe(page.find(".ms-slots"));
  buildBar(page);
  tagList.build(page);
});

// What stands in a card beside what the server draws.
function furnish(card) {
  const body = card.querySelector(".ms-card-body");
  const cursor = make("div", "ms-plot-cursor", [], { hidden: "" });
  card.prepend(make("header", "ms-card-head"));
  body.prepend(make("div", "ms-skeleton"));
  body.append(cursor);
}

// The plan -----------------------------------------------------------------------------------------------------------

function ask(page, key) {
  const { state } = page;
  const wanted = { tag: [key], columns: [String(columns(page, page.shown.length, listed(state, "full", key)))] };
  if (state.run) wanted.run = state.run;
  return Object.assign(wanted, page.kind.ask(page, key));
}

function wantedCards(page) {
  const { state, catalogue, kind } = page;
  page.chosen = ticks.matching(catalogue.tags, last(state, "q", "")).filter(ticks.ticked(state));
  const own = kind.cards ? kind.cards(page) : null;
  const keys = own || page.chosen;
  page.paged = !own;
  page.size = page.root.querySelectorAll(".ms-slot").length;
  const most = Math.max(0, Math.ceil(keys.length / page.size) - 1);
  const number = own ? 0 : Math.min(most, Math.max(0, (Number(last(state, "page", "1")) || 1) - 1));
  page.first = number * page.size;
  page.shown = keys.slice(page.first, page.first + page.size);
  page.asks = page.shown.map((key) => ask(page, key));
}

function showState(page) {
  const { catalogue } = page;
  let name = "";
  if (!catalogue.runs.length) name = catalogue.total ? "no-runs" : "no-tags";
  else if (!catalogue.tags.length) name = catalogue.waiting ? "reading" : "no-tags";
  else if (!page.shown.length && !(page.kind.bare && page.kind.bare(page))) name = "no-match";
  for (const element of page.root.querySelectorAll("[data-state]")) element.hidden = element.dataset.state !== name;
  const reading = page.find('[data-state="reading"]');
  if (name === "reading") writeText(reading, "cards.reading", { n: count(catalogue.waiting) });
  page.root.classList.toggle("ms-no-tags", name === "no-runs" || name === "no-tags");
}

// The bar above the cards --------------------------------------------------------------------------------------------

function buildBar(page) {
  const fold = iconButton("menu", "cards.fold_tags", "tags");
  fold.addEventListener("click", () => page.change({ tags: last(page.state, "tags", "1") === "0" ? [] : ["0"] }));
  const { left, right } = page.kind.build(page);
  page.find(".ms-cards-controls").replaceChildren(fold, ...left, make("div", "ms-cards-right", [...right, pager(page)]));
}

function pager(page) {
  const range = make("span", "ms-range ms-muted");
  const sides = [{ name: "left", key: "previous", by: -1 }, { name: "right", key: "next", by: 1 }];
  const buttons = sides.map(({ name, key, by }) => {
    const button = iconButton(name, `cards.${key}`, key);
    button.addEventListener("click", () => {
      const number = Math.floor(page.first / page.size) + 1 + by;
      page.change({ page: number > 1 ? [String(number)] : [] });
    });
    return button;
  });
  return make("div", "ms-pager", [buttons[0], range, buttons[1]]);
}

function drawBar(page) {
  page.root.classList.toggle("ms-tags-folded", last(page.state, "tags", "1") === "0");
  page.kind.draw(page);
  const element = page.find(".ms-pager");
  element.hidden = !page.paged || page.chosen.length <= page.size;
  if (element.hidden) return;
  const [first, end] = [page.first + 1, page.first + page.shown.length];
  writeText(element.querySelector(".ms-range"), "cards.range",
    { first: count(first), last: count(end), total: count(page.chosen.length) });
  element.querySelector('[data-act="previous"]').disabled = page.first === 0;
  element.querySelector('[data-act="next"]').disabled = end >= page.chosen.length;
}

// Called by Dash -----------------------------------------------------------------------------------------------------

Object.assign(functionsOf("mindscope_cards"), {
  chosen(state, now) {
    const runs = JSON.stringify((state && state.run) || []);
    return runs === now ? noUpdate() : runs;
  },

  /**
   * @param {Wire.Query | null} state
   * @param {Wire.TagCatalogue | null} catalogue
   * @param {string} _screen
   * @param {(Wire.Query | null)[]} asks
   * @param {string} rootId
   */
  plan(state, catalogue, _screen, asks, rootId) {
    const unchanged = asks.map(() => noUpdate());
    const page = cards.pageOf(rootId);
    if (!page) return unchanged;
    page.state = state || {};
    page.catalogue = catalogue;
    if (!catalogue) return unchanged;
    wantedCards(page);
    showState(page);
    tagList.draw(page);
    drawBar(page);
    slots.assign(page);
    return asks.map((old, slot) => {
      const next = slot < page.asks.length ? page.asks[slot] : NOT_A_CARD;
      return same(old === undefined ? null : old, next) ? noUpdate() : next;
    });
  },

  painted(drawing, id, rootId) {
    const page = cards.pageOf(rootId);
    if (!page || !drawing) return;
    const slot = Number(id.key);
    page.answered.set(slot, page.asks[slot]);
    slots.painted(page, slot, drawing);
  },

  // The first figure brings the graph with it; the graph stays and takes those that follow.
  placed(figure, id, rootId) {
    const page = cards.pageOf(rootId);
    const place = page && page.slot(id.key).querySelector("[data-graph]");
    if (!place || !figure) return noUpdate();
    if (place.firstChild) {
      setProps(page.part("graph", id.key), { figure });
      return noUpdate();
    }
    const graph = JSON.parse(place.dataset.graph);
    return { ...graph, props: { ...graph.props, figure } };
  },

  moved(change, id, rootId) {
    const page = cards.pageOf(rootId);
    const card = page && page.slot(id.key);
    if (!change || !page) return;
    if (card && page.kind.moved) page.kind.moved(page, card, card.dataset.key, change);
    // Dash tells of no change to what a property is already: the same drag once more would be lost.
    setProps(id, { relayoutData: null });
  },
});
