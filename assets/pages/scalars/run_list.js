// The legend of all cards: runs or groups with colour, name and value under the pointer. A click hides a line,
// a click with Alt leaves it alone, and pointing at it dims the others in all cards. The list is above that of tags, below a
// card that fills the window, or below the bar if tags are folded.

import { dotButton } from "../../base/colour_box.js";
import { coloursOf } from "../../base/colours.js";
import { make, words } from "../../base/elements.js";
import { count } from "../../base/format.js";
import { setLabel, translate, writeText } from "../../base/i18n.js";
import { nameElement, partsIn } from "../../base/names.js";
import { frameOf } from "../../base/notes.js";
import { listOf } from "../../base/runs.js";
import { last } from "../../base/state.js";
import * as cards from "../../cards/cards.js";
import { tracesOf } from "../../cards/curves.js";
import { highlight } from "../../cards/highlight.js";
import { grouped, inTable, named } from "./grouping.js";
import * as hoverSettings from "./hover_settings.js";
import { linesIn, placeOf, smoothed, upTo } from "./lines.js";

const ROW = 24;
const SPARE = 6;  // rows drawn beyond those in view

// Rows ---------------------------------------------------------------------------------------------------------------

function drawnCards(page) {
  return page.asks.flatMap((ask, slot) => (ask && page.drawings.has(slot) ? [page.drawings.get(slot)] : []));
}

function rowsOf(page) {
  const hidden = new Set(page.state.hide || []);
  const seen = new Map();
  for (const drawing of drawnCards(page)) {
    for (const { meta } of linesIn(drawing)) if (!seen.has(meta.key)) seen.set(meta.key, meta);
  }
  const here = ({ key }) => seen.has(key) || hidden.has(key);
  if (grouped(page)) {
    const groups = (page.sheet && page.sheet.groups) || [];
    const by = last(page.state, "group", "");
    return groups.map(({ label, colour, hand }) => ({
      key: label, name: named(label), colour, byHand: hand, target: { by, label }, on: !hidden.has(label),
    })).filter(here);
  }
  const { rows } = listOf(page.root.dataset.routes) || { rows: [] };
  const of = new Map(rows.flatMap((row) => row.members.map((key) => [key, row])));
  const colours = coloursOf(page.state, rows);
  return page.catalogue.runs.map((key) => {
    const row = of.get(key);
    const name = row && row.members.length === 1 ? row.name : key;
    const colour = seen.has(key) ? seen.get(key).colour : colours.get(key) || "";
    return { key, name, colour, byHand: Boolean(row && row.hand[key]), target: { run: key }, on: !hidden.has(key) };
  }).filter(here);
}

function hide(page, key) {
  const hidden = page.state.hide || [];
  page.change({ hide: hidden.includes(key) ? hidden.filter((one) => one !== key) : [...hidden, key] });
}

// Leave one alone; once more: show all.
function isolate(page, key) {
  const others = page.runList.rows.map((row) => row.key).filter((one) => one !== key);
  const hidden = new Set(page.state.hide || []);
  const alone = !hidden.has(key) && others.every((one) => hidden.has(one));
  page.change({ hide: alone ? [] : others });
}

function rowElement(page, row, parts, value) {
  const dot = dotButton(row.on ? row.colour : "", { frame: frameOf(page.root), ...row });
  const button = make("button", "ms-run-list-name", nameElement(parts(row.name)), {
    type: "button", "aria-pressed": String(row.on),
  });
  button.title = `${row.name}\n${translate("runlist.hint")}`;
  const element = make("div", row.on ? "ms-run-list-row" : "ms-run-list-row ms-run-list-off", [
    dot, button, make("span", "ms-run-list-value ms-number", value),
  ], { role: "listitem" });
  element.dataset.key = row.key;
  return element;
}

// Values -------------------------------------------------------------------------------------------------------------

// The card whose values the list shows: that under the pointer, else the one that was, else the first.
function focus(page) {
  const slot = page.asks.findIndex((ask, at) => ask && page.keys[at] === page.runList.key);
  const at = slot >= 0 ? slot : page.keys.indexOf(page.shown[0]);
  return page.drawings.has(at) ? page.drawings.get(at) : null;
}

function valuesOf(page) {
  const drawing = focus(page);
  const values = new Map();
  if (!drawing) return { values, tag: "", x: null };
  for (const line of linesIn(drawing)) {
    if (values.has(line.meta.key)) continue;  // of several tags the first
    const i = upTo(line, page.runList.x);
    if (i < 0) continue;
    values.set(line.meta.key, smoothed(line.raw ? line.raw[i] : line.values[i]));
  }
  return { values, tag: drawing.layout.meta.tags[0], x: page.runList.x };
}

/** The values at a place on the x axis of a card, null for the last ones. */
export function point(page, key, x) {
  const list = page.runList;
  if (!list || (list.key === key && list.x === x)) return;
  Object.assign(list, { key, x });
  paint(page);
}

// Drawing ------------------------------------------------------------------------------------------------------------

export function build(page) {
  const element = make("section", "ms-run-list", [
    make("header", "ms-run-list-head", [
      make("span", "ms-run-list-tag ms-cut"), make("span", "ms-run-list-at ms-muted ms-grow"),
      hoverSettings.control(),
      make("button", "ms-badge ms-badge-button ms-run-list-all", words("runlist.all"), { type: "button", hidden: "" }),
    ]),
    make("div", "ms-run-list-rows", make("div", "ms-run-list-space"), { role: "list" }),
  ], { hidden: "" });
  setLabel(element, "aria-label", "runlist.title");
  setLabel(element.querySelector(".ms-run-list-rows"), "aria-label", "runlist.title");
  page.runList = { element, rows: [], key: null, x: null, lit: null, drawn: "" };
  element.querySelector(".ms-run-list-all").addEventListener("click", () => page.change({ hide: [] }));
  element.querySelector(".ms-run-list-rows").addEventListener("scroll", () => paint(page));
  element.addEventListener("click", (event) => {
    const row = event.target instanceof Element && event.target.closest(".ms-run-list-row");
    if (!row || event.target.closest(".ms-dot-button")) return;
    if (event.altKey) isolate(page, row.dataset.key);
    else hide(page, row.dataset.key);
  });
  const over = (event) => {
    const row = event.target instanceof Element && event.target.closest(".ms-run-list-row:not(.ms-run-list-off)");
    light(page, row ? row.dataset.key : null);
  };
  for (const name of ["mouseover", "focusin"]) element.addEventListener(name, over);
  for (const name of ["mouseleave", "focusout"]) element.addEventListener(name, () => light(page, null));
  page.find(".ms-tags").prepend(element);
}

function light(page, key) {
  if (page.runList.lit === key) return;
  page.runList.lit = key;
  page.asks.forEach((ask, slot) => ask && relight(page, page.slot(slot)));
}

// Draw the highlight of a card anew, whose lines may be others now.
function relight(page, card) {
  const drawing = page.drawings.get(Number(card.dataset.slot));
  if (drawing) highlight(card.querySelector(".ms-card-body"), tracesOf(drawing), page.runList.lit);
}

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

export function draw(page) {
  const list = page.runList;
  if (!list || !page.catalogue) return;
  list.rows = rowsOf(page);
  list.parts = partsIn(list.rows);
  list.element.hidden = inTable(page) || !list.rows.length;
  const off = list.rows.filter((row) => !row.on).length;
  list.element.querySelector(".ms-run-list-all").hidden = !off;
  settle(page);
  paint(page);
}

/** A card was drawn: its lines may bring rows, and need their highlight. */
export function painted(page, card) {
  if (!page.runList) return;
  window.clearTimeout(page.runList.timer);
  page.runList.timer = window.setTimeout(() => {
    if (page.root.isConnected) draw(page);
  }, 0);
  if (page.runList.lit !== null) relight(page, card);
}

function paint(page) {
  const list = page.runList;
  const host = list.element.querySelector(".ms-run-list-rows");
  const space = host.firstElementChild;
  const strip = list.element.classList.contains("ms-run-list-strip");
  const { values, tag, x } = valuesOf(page);
  const head = list.element.querySelector(".ms-run-list-tag");
  head.textContent = tag;
  head.title = tag;
  const axis = last(page.state, "x", "step");
  const at = list.element.querySelector(".ms-run-list-at");
  if (x === null) writeText(at, "runlist.last");
  else if (axis === "step") writeText(at, "runlist.step", { n: count(Math.round(x)) });
  else at.textContent = placeOf(x, axis.startsWith("tag:") ? "tag" : axis);
  const first = strip ? 0 : Math.max(0, Math.floor(host.scrollTop / ROW) - SPARE);
  const end = strip ? 60 : Math.min(list.rows.length, first + Math.ceil((host.clientHeight || 240) / ROW) + 2 * SPARE);
  const shown = list.rows.slice(first, end);
  const key = JSON.stringify([first, shown, list.rows.length, list.element.className, translate("runlist.title")]);
  if (list.drawn !== key) {
    list.drawn = key;
    const focused = host.contains(document.activeElement) && document.activeElement.closest(".ms-run-list-row").dataset.key;
    space.style.height = strip ? "" : `${list.rows.length * ROW}px`;
    space.replaceChildren(...shown.map((row, i) => {
      const element = rowElement(page, row, list.parts, values.get(row.key) || "");
      if (!strip) element.style.top = `${(first + i) * ROW}px`;
      return element;
    }));
    page.root.style.setProperty("--ms-run-list", `${list.element.offsetHeight}px`);
    const again = focused && space.querySelector(`[data-key="${CSS.escape(focused)}"] .ms-run-list-name`);
    if (again) again.focus({ preventScroll: true });
    return;
  }
  shown.forEach((row, i) => {
    const cell = space.children[i].lastElementChild;
    const text = values.get(row.key) || "";
    if (cell.textContent !== text) cell.textContent = text;
  });
}

for (const name of ["mindscope:prefs", "mindscope:notes"]) {
  window.addEventListener(name, () => {
    for (const page of cards.all("scalars")) if (page.catalogue && page.runList) draw(page);
  });
}
