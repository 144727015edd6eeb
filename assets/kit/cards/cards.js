// Pages with one card per tag: from the state and the catalogue of tags to the request of each card. Counterpart of
// layouts/kit/cards/cards.py. tag_list.js draws the list of tags, slots.js the heads and tools of the cards.
//
// A page calls define(name, kind), where kind has
//   build(page)                     called once; returns { left: [...], right: [...] }, the controls in the bar
//   draw(page)                      updates those controls after every change of the state
//   margins(page, key)              pixels beside the plot area of a figure, if not MARGINS of widths.js
//   ask(page, key)                  the request of the card of a tag, beside { tag, columns, run }: { name: [text, ...] }
//   tools(key)                      buttons in the head of the card, <button data-act>; see iconButton
//   files(key)                      items of its download menu: imageItems(), links(...)
//   press(page, card, key)          updates the state of those tools
//   painted(page, card, key, meta)  returns { badges: [...], notes: [...] } for the head; meta is that of the figure
// and, if needed,
//   acts: { name(page, card, key, button) } actions of its buttons
//   moved(page, card, key, change)          handles relayoutData of plotly
//   forFile(page, card, key, figure)        returns the figure for an image file
//   fileTags(page, key), fileRange(page, key)  what a link of the download menu covers: [tag, ...], { from, to }
//   linked(page, on)                        whether the page can link its cards: { state } that follows the switch
//   ranked(page)                            ranks of tags for the order by insights: Map tag -> rank, null if not known yet
//   title(key)                              text key of the title of a card that does not belong to one tag
//   cards(page)                             null, or the keys of the cards instead of one per tag
//   bare(page)                              whether something else replaces the cards
//   catalogue(page, catalogue)              the catalogue with tags of the page's own; the same object while nothing changes
//   tagTools(page)                          buttons beside those of the list of tags
//   sides(page), putOn(page, side, tag)     tags are put on a left and a right axis instead of being checked
//
// page.state is the state, page.chosen the tags that pass filter and ticks, page.shown the keys on this page of cards in their
// order, page.keys the key in each slot, page.asks what each slot on screen asks for, page.drawings what the server answered
// (by slot), page.change({key: [...]}) writes the state. arrangement.js says which cards are on the page, and their order.

import { listDamage } from "../damage.js";
import { functionsOf, noUpdate, setProps } from "../dash.js";
import { iconButton, make, words } from "../elements.js";
import { count } from "../units.js";
import { writeText } from "../i18n.js";
import { last, listed, same } from "../state.js";
import * as drawings from "./drawings.js";
import * as arrangement from "./arrangement.js";
import * as layoutMenu from "./layout_menu.js";
import { countOf, makeMore } from "./more_slots.js";
import * as cards from "./pages.js";
import { NO_CARD, slotsFor } from "./places.js";
import * as slots from "./slots.js";
import * as tagList from "./tag_list.js";
import * as ticks from "./ticks.js";
import { MARGINS, columns, measure } from "./widths.js";

export * from "./pages.js";

cards.onBegin((page) => {
  page.request = (slotsToDraw) => drawings.request(page, slotsToDraw);
  page.release = () => drawings.release(page);
  page.root.querySelectorAll(".ms-slot").forEach((card) => furnish(page, card));
  new ResizeObserver(() => measure(page)).observe(page.find(".ms-slots"));
  buildBar(page);
  tagList.build(page);
});

/**
 * Add the parts of a card that scripts draw.
 * @param {CardsPage} page
 * @param {HTMLElement} card
 */
function furnish(page, card) {
  const body = card.querySelector(".ms-card-body");
  const cursor = make("div", "ms-plot-cursor", [], { hidden: "" });
  card.prepend(make("header", "ms-card-head"));
  body.prepend(make("div", "ms-skeleton"));
  body.append(cursor, make("p", "ms-card-outdated", words("cards.outdated"), { role: "status" }));
  drawings.watch(page, card);
}

// The plan -----------------------------------------------------------------------------------------------------------

/**
 * @param {CardsPage} page
 * @param {string} key
 * @returns {Wire.Query}
 */
function ask(page, key) {
  const { state } = page;
  const margins = page.kind.margins ? page.kind.margins(page, key) : MARGINS;
  const pixels = columns(page, page.shown.length, page.only !== null || listed(state, "full", key), margins);
  /** @type {Wire.Query} */
  const wanted = { tag: [key], columns: [String(pixels)] };
  if (state.run) wanted.run = state.run;
  return Object.assign(wanted, page.kind.ask(page, key));
}

/** @param {CardsPage} page */
function wantedCards(page) {
  const { state, catalogue, kind, usual } = page;
  page.chosen = ticks.matching(catalogue.tags, last(state, "q", "")).filter(ticks.ticked(state));
  const given = kind.cards ? kind.cards(page) : null;
  const own = page.only === null ? given : (given || catalogue.tags).filter((key) => key === page.only);
  page.paged = !own;
  if (own) Object.assign(page, { pins: [], sections: [], items: own.map((key) => ({ key })) });
  else arrange(page);
  const room = countOf(page);
  page.shown = page.items.flatMap((item) => ("key" in item ? [item.key] : []));
  if (page.shown.length > room) {
    makeMore(page, (made) => {
      made.forEach((card) => furnish(page, card));
      setProps(page.store("shown"), { data: placed(page) });
    });
    page.shown = page.shown.slice(0, room);
  }
  page.keys = slotsFor(page.shown, page.keys, Math.max(room, usual));
  const shown = new Set(page.shown);
  page.asks = page.keys.map((key) => (key !== NO_CARD && shown.has(key) ? ask(page, key) : NO_CARD));
}

/**
 * What is on this page of cards: pinned cards, whatever the filter says, then the sections of the others.
 * @param {CardsPage} page
 */
function arrange(page) {
  const { state, catalogue, kind, usual } = page;
  page.pins = arrangement.pinned(state, catalogue.tags, usual);
  const pins = new Set(page.pins);
  const others = page.chosen.filter((tag) => !pins.has(tag));
  const ranks = kind.ranked && arrangement.orderOf(state) === "insights" ? kind.ranked(page) : null;
  page.sections = arrangement.sections(others, state, ranks);
  page.perPage = arrangement.perPage(state, usual);
  page.spread = arrangement.spread(page.sections, Number(last(state, "page", "1")) - 1 || 0, page.perPage);
  const { items } = page.spread;
  page.items = items;
  if (!page.pins.length) return;
  const headed = items.length && "key" in items[0] ? [{ head: { prefix: "", count: others.length, folded: false } }] : [];
  page.items = [
    { head: { pinned: true, count: page.pins.length } }, ...page.pins.map((key) => ({ key })), ...headed, ...items,
  ];
}

/** @param {CardsPage} page */
function showState(page) {
  const { catalogue } = page;
  let name = "";
  if (!catalogue.runs.length) name = catalogue.total ? "no-runs" : "no-tags";
  else if (!catalogue.tags.length) name = catalogue.waiting ? "reading" : catalogue.damage.length ? "damaged" : "no-tags";
  else if (!page.items.length && !(page.kind.bare && page.kind.bare(page))) name = "no-match";
  for (const element of page.root.querySelectorAll("[data-state]")) element.hidden = element.dataset.state !== name;
  const reading = page.find('[data-state="reading"]');
  if (name === "no-match" && page.only) {
    writeText(page.find('[data-state="no-match"] .ms-empty-sentence'), "cards.no_card", { tag: page.only });
  }
  if (name === "reading") writeText(reading, "cards.reading", { n: count(catalogue.waiting) });
  listDamage(page.root, catalogue.damage);
  page.root.classList.toggle("ms-no-tags", ["no-runs", "no-tags", "damaged"].includes(name));
}

// The bar above the cards --------------------------------------------------------------------------------------------

/** @param {CardsPage} page */
function buildBar(page) {
  const fold = iconButton("menu", "cards.fold_tags", "tags");
  fold.addEventListener("click", () => page.change({ tags: last(page.state, "tags", "1") === "0" ? [] : ["0"] }));
  const { left, right } = page.kind.build(page);
  page.find(".ms-cards-controls").replaceChildren(
    fold, ...left, make("div", "ms-cards-right", [...layoutMenu.build(page), ...right, pager(page)]),
  );
}

/** @param {CardsPage} page */
function pager(page) {
  const range = make("span", "ms-range ms-muted");
  const sides = [{ name: "left", key: "previous", by: -1 }, { name: "right", key: "next", by: 1 }];
  const buttons = sides.map(({ name, key, by }) => {
    const button = iconButton(name, `cards.${key}`, key);
    button.addEventListener("click", () => {
      const number = page.spread.number + 1 + by;
      page.change({ page: number > 1 ? [String(number)] : [] });
    });
    return button;
  });
  return make("div", "ms-pager", [buttons[0], range, buttons[1]]);
}

/** @param {CardsPage} page */
function drawBar(page) {
  page.root.classList.toggle("ms-tags-folded", last(page.state, "tags", "1") === "0");
  page.kind.draw(page);
  layoutMenu.draw(page);
  const element = page.find(".ms-pager");
  element.hidden = !page.paged || page.spread.total <= page.perPage;
  if (element.hidden) return;
  const { first, keys, total } = page.spread;
  const end = first + keys.length;
  writeText(element.querySelector(".ms-range"), "cards.range",
    { first: count(first + 1), last: count(end), total: count(total) });
  element.querySelector('[data-act="previous"]').disabled = first === 0;
  element.querySelector('[data-act="next"]').disabled = end >= total;
}

/**
 * Place the cards that the state asks for, and ask for their drawings; returns the slots on screen.
 * @param {CardsPage} page
 */
function placed(page) {
  wantedCards(page);
  showState(page);
  tagList.draw(page);
  drawBar(page);
  slots.assign(page);
  // A card that leaves the screen asks for nothing; one that is back is drawn again only if its ask or its data changed.
  const shown = page.asks.flatMap((wanted, slot) => (wanted === NO_CARD ? [] : [slot]));
  page.request(shown.filter((slot) => !same(page.requested[slot], page.asks[slot])));
  return shown;
}

/**
 * Arrange the cards anew when something else than the state changed.
 * @param {CardsPage} page
 */
export function rearrange(page) {
  if (page.catalogue && page.root.isConnected) setProps(page.store("shown"), { data: placed(page) });
}

// Called by Dash -----------------------------------------------------------------------------------------------------

Object.assign(functionsOf("mindscope_cards"), {
  /**
   * @param {Wire.Query | null} state
   * @param {Wire.TagCatalogue | null} catalogue
   * @param {string} _screen
   * @param {string} rootId
   */
  plan(state, catalogue, _screen, rootId) {
    const page = cards.pageOf(rootId);
    if (!page) return noUpdate();
    page.state = state || {};
    if (!catalogue) return noUpdate();
    page.catalogue = page.kind.catalogue ? page.kind.catalogue(page, catalogue) : catalogue;
    return placed(page);
  },

  /**
   * @param {Answer[] | null} answer
   * @param {{ cards: [number, Wire.Query | null][] } | null} request
   * @param {string} rootId
   */
  answered(answer, request, rootId) {
    const page = cards.pageOf(rootId);
    if (page && answer && request) drawings.take(page, answer, request);
  },

  /**
   * Drawings of cards whose data have changed, see drawings.js.
   * @param {[number, any, string][] | null} changed
   * @param {string} rootId
   */
  grown(changed, rootId) {
    const page = cards.pageOf(rootId);
    if (page && changed) drawings.grown(page, changed);
  },

  /**
   * @param {Record<string, number | string | undefined> | null} change
   * @param {{ key: string }} id
   * @param {string} rootId
   */
  moved(change, id, rootId) {
    const page = cards.pageOf(rootId);
    const card = page && page.slot(id.key);
    if (!change || !page) return;
    if (card && page.kind.moved) page.kind.moved(page, card, card.dataset.key, change);
    // Dash ignores a property set to the value it has, so an equal second drag would be lost.
    setProps(id, { relayoutData: null });
  },
});
