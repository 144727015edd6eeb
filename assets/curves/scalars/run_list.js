// The legend of all cards, see assets/kit/cards/run_list.js. The list is above that of tags, below a card that fills the
// window, or below the bar if tags are folded.

import { coloursOf } from "../../kit/colours.js";
import { count } from "../../kit/units.js";
import { writeText } from "../../kit/i18n.js";
import { frameOf } from "../../kit/notes.js";
import { listOf } from "../../kit/runs.js";
import { last } from "../../kit/state.js";
import * as cards from "../../kit/cards/cards.js";
import { tracesOf } from "../../kit/cards/curves.js";
import { highlight } from "../../kit/cards/highlight.js";
import { lastIndex, linesIn, marksIn, placeOf, pointAt } from "../../kit/cards/lines.js";
/** @import { Line, Place } from "../../kit/cards/lines.js" */
import * as runList from "../../kit/cards/run_list.js";
import * as side from "../../kit/cards/side.js";
import { grouped, inTable, named } from "./grouping.js";
import * as hoverSettings from "./hover_settings.js";

// Rows ---------------------------------------------------------------------------------------------------------------

/** @param {Curves.Page} page */
function drawnCards(page) {
  return page.asks.flatMap((ask, slot) => {
    const drawing = ask && page.drawings.get(slot);
    return drawing ? [drawing] : [];
  });
}

/** @param {Curves.Page} page */
function rowsOf(page) {
  const hidden = new Set(page.state.hide || []);
  const seen = new Map();
  for (const drawing of drawnCards(page)) {
    for (const { meta } of linesIn(drawing)) if (!seen.has(meta.key)) seen.set(meta.key, meta);
  }
  /** @param {{ key: string }} of */
  const here = ({ key }) => seen.has(key) || hidden.has(key);
  if (grouped(page)) {
    const groups = (page.sheet && page.sheet.groups) || [];
    const by = last(page.state, "group", "");
    return groups.map(({ label, colour, hand }) => ({
      key: label, name: named(label), colour, byHand: hand, target: { by, label }, on: !hidden.has(label),
    })).filter(here);
  }
  const { rows } = listOf(page.root.dataset.routes || "") || { rows: [] };
  const of = new Map(rows.flatMap((row) => row.members.map((key) => [key, row])));
  const colours = coloursOf(page.state, rows);
  return page.catalogue.runs.map((key) => {
    const row = of.get(key);
    const name = row && row.members.length === 1 ? row.name : key;
    const colour = seen.has(key) ? seen.get(key).colour : colours.get(key) || "";
    return { key, name, colour, byHand: Boolean(row && row.hand[key]), target: { run: key }, on: !hidden.has(key) };
  }).filter(here);
}

// Values -------------------------------------------------------------------------------------------------------------

/**
 * The card whose values the list shows: that under the pointer, else the one that was, else the first.
 * @param {Curves.Page} page
 */
function focus(page) {
  const slot = page.asks.findIndex((ask, at) => ask && page.keys[at] === page.runList.key);
  const at = slot >= 0 ? slot : page.keys.indexOf(page.shown[0]);
  return page.drawings.has(at) ? page.drawings.get(at) : null;
}

/**
 * The values at a place on the x axis of a card, null for the last ones.
 * @param {Curves.Page} page
 * @param {string | null} key
 * @param {Place | null} place
 */
export function point(page, key, place) {
  const list = page.runList;
  if (!list || (list.key === key && (list.place && list.place.x) === (place && place.x))) return;
  Object.assign(list, { key, place });
  paint(page);
}

// Drawing ------------------------------------------------------------------------------------------------------------

/** @param {Curves.Page} page */
export function fresh(page) {
  const list = runList.build({
    frame: () => frameOf(page.root),
    tools: [hoverSettings.control()],
    hidden: () => page.state.hide || [],
    change: (hide) => page.change({ hide }),
    light: () => page.asks.forEach((ask, slot) => ask && relight(page, page.slot(slot))),
    scrolled: () => paint(page),
  });
  return Object.assign(list, { key: null, place: null, timer: 0 });
}

/** @param {Curves.Page} page */
export function build(page) {
  page.find(".ms-tags").prepend(page.runList.element);
}

/**
 * Draw the highlight of a card anew, whose lines may be others now.
 * @param {Curves.Page} page
 * @param {HTMLElement} card
 */
function relight(page, card) {
  const drawing = page.drawings.get(Number(card.dataset.slot));
  if (drawing) highlight(card.querySelector(".ms-card-body"), tracesOf(drawing), page.runList.lit);
}

/** @param {Curves.Page} page */
function settle(page) {
  const { element } = page.runList;
  const full = page.asks.some((ask, slot) => ask && page.slot(slot).classList.contains("ms-full"));
  const folded = last(page.state, "tags", "1") === "0";
  const host = full || folded ? page.find(".ms-cards-main") : page.find(".ms-tags");
  element.classList.toggle("ms-run-list-below", full);
  element.classList.toggle("ms-run-list-strip", folded || full);
  if (element.parentElement === host) return;
  if (host.classList.contains("ms-tags")) host.prepend(element);
  else page.find(".ms-cards-controls").after(element);
}

/** @param {Curves.Page} page */
export function draw(page) {
  const list = page.runList;
  if (!list || !page.catalogue) return;
  runList.setRows(list, rowsOf(page));
  list.element.hidden = inTable(page) || !list.rows.length;
  side.need(page, list.element.hidden ? 0 : runList.needOf(list));
  settle(page);
  paint(page);
}

/**
 * A card was drawn: its lines may bring rows, and need their highlight.
 * @param {Curves.Page} page
 * @param {HTMLElement} card
 */
export function painted(page, card) {
  if (!page.runList) return;
  window.clearTimeout(page.runList.timer);
  page.runList.timer = window.setTimeout(() => {
    if (page.root.isConnected) draw(page);
  }, 0);
  if (page.runList.lit !== null) relight(page, card);
}

/**
 * Above the cards is room for how many runs of a group diverged.
 * @param {Curves.Page} page
 * @param {Line} line
 * @param {Place | null} place
 */
function sayOfGroup(page, line, place) {
  const i = line.n ? place ? pointAt(line, place) : lastIndex(line) : -1;
  const n = i >= 0 && page.root.querySelector(`.ms-group-item[data-label="${CSS.escape(line.meta.label)}"] .ms-group-n`);
  if (!n) return;
  const text = runList.ofGroup(line, i);
  if (n.textContent !== text) n.textContent = text;
  n.classList.toggle("ms-group-diverged", Boolean(line.lost && line.lost(i)));
}

/** @param {Curves.Page} page */
function paint(page) {
  const list = page.runList;
  const { place } = list;
  const drawing = focus(page);
  const axis = last(page.state, "x", "step");
  /** @param {HTMLElement} element */
  const at = (element) => {
    if (!place) writeText(element, "runlist.last");
    else if (axis === "step") writeText(element, "runlist.step", { n: count(Math.round(place.x)) });
    else element.textContent = placeOf(place.x, axis.startsWith("tag:") ? "tag" : axis);
  };
  const lines = drawing ? linesIn(drawing) : [];
  for (const line of lines) sayOfGroup(page, line, place);
  const values = runList.valuesAt(lines, place, drawing ? marksIn(drawing) : []);
  const anew = runList.paint(list, { values, tag: drawing ? drawing.layout.meta.tags[0] : "", at });
  if (anew) page.root.style.setProperty("--ms-run-list", `${list.element.offsetHeight}px`);
}

for (const name of ["mindscope:prefs", "mindscope:notes"]) {
  window.addEventListener(name, () => {
    for (const page of cards.all("scalars")) if (page.catalogue && page.runList) draw(page);
  });
}
