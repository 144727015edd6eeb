// The view of a card of the histograms page. State: zoom="low,high,from,to:tag" of values and of steps or times. A pair may be
// empty; "all," stands for all values. The server counts in bins of the values in view (layouts/values/histogram_asks.py).
// Linked cards have their steps or times in common, see cards/linked_zoom.js.

import { iconButton } from "../../kit/elements.js";
import { last, withEntry } from "../../kit/state.js";
import { valueAt } from "../../kit/cards/histogram_hover.js";
import { isLinked } from "../../kit/cards/layout_menu.js";
import * as linkedZoom from "../../kit/cards/linked_zoom.js";
import * as slots from "../../kit/cards/slots.js";

const CHANGED = /^([xy])axis(\d*)\.range\[([01])\]$/;
const WHOLE = "all,,,";
const PLACES = 2;  // where steps or times are in a view
const trails = new WeakMap();  // page -> earlier views of each tag, or earlier entries of all linked cards

function trailOf(page, key) {
  if (!trails.has(page)) trails.set(page, new Map());
  const known = trails.get(page);
  const name = isLinked(page) ? "*" : `:${key}`;
  if (!known.has(name)) known.set(name, []);
  return known.get(name);
}

/** The view of a card, "" for the usual one. */
export const viewOf = (page, key) => linkedZoom.viewOf(page.state.zoom || [], key);

// Changes of the state when cards are linked or are so no more.
export function linked(page, on) {
  trails.delete(page);
  return on ? { zoom: linkedZoom.linked(page.state.zoom || [], PLACES) } : {};
}

export function buttons() {
  return ["back", "restore"].map((act) => iconButton(act, `histograms.${act}`, act));
}

export function press(page, card, key) {
  const zoomed = viewOf(page, key) !== "";
  card.querySelector('[data-act="restore"]').disabled = !zoomed;
  card.querySelector('[data-act="back"]').disabled = !zoomed && !trailOf(page, key).length;
}

function set(page, key, view, remember = true) {
  const now = viewOf(page, key);
  const wanted = view === ",,," ? "" : view;
  if (wanted === now) return;
  const zoom = page.state.zoom || [];
  if (remember) trailOf(page, key).push(isLinked(page) ? zoom : now);
  page.change({
    zoom: isLinked(page) ? linkedZoom.withLinked(zoom, key, wanted, PLACES) : withEntry(page.state, "zoom", key, wanted),
  });
}

function back(page, key) {
  const before = trailOf(page, key).pop();
  if (isLinked(page)) page.change({ zoom: before || [] });
  else set(page, key, before || "", false);
}

function short(value, digits) {
  return String(Number(value.toPrecision(digits)));
}

// Convert a position of plotly on the axis of steps or times to that of the state.
function place(page, value) {
  if (last(page.state, "x", "step") !== "absolute") return short(Number(value), 9);
  const ms = typeof value === "number" ? value : Date.parse(`${value.replace(" ", "T")}Z`);
  return short((ms + new Date().getTimezoneOffset() * 60000) / 1000, 14);
}

export function moved(page, card, key, change) {
  const drawing = page.drawings.get(Number(card.dataset.slot));
  if (!drawing) return;
  const { meta } = drawing.layout;
  if (Object.keys(change).some((name) => name.endsWith(".autorange"))) return reset(page, card, key, meta);
  const upright = meta.view === "heat" || meta.view === "numbers";
  const range = { values: [], places: [] };
  for (const [name, value] of Object.entries(change)) {
    const found = CHANGED.exec(name);
    if (!found || (meta.view === "numbers" && found[1] === "y" && found[2])) continue;
    const ofValues = (found[1] === "y") === upright;
    const panel = ofValues && meta.panels.find((one) => one[`${found[1]}axis`] === `${found[1]}${found[2]}`);
    range[ofValues ? "values" : "places"][Number(found[3])] = panel ? valueAt(panel.bins, Number(value)) : value;
  }
  const view = (viewOf(page, key) || ",,,").split(",");
  if (range.values.length === 2) view.splice(0, 2, ...range.values.map((value) => short(Number(value), 9)));
  if (range.places.length === 2 && meta.view !== "overlay" && meta.view !== "step") {
    view.splice(2, 2, ...range.places.map((value) => place(page, value)).sort((a, b) => Number(a) - Number(b)));
  }
  const empty = [0, 2].some((at) => view[at] !== "" && view[at] !== "all" && !(Number(view[at]) < Number(view[at + 1])));
  if (empty) return slots.plotOf(card) && window.Plotly.relayout(slots.plotOf(card), structuredClone(meta.ranges));
  return set(page, key, view.join(","));
}

// Double click resets the view, or shows all values if it is the default.
function reset(page, card, key, meta) {
  if (viewOf(page, key)) return set(page, key, "");
  if (meta.limits === "usual") return set(page, key, WHOLE);
  return window.Plotly.relayout(slots.plotOf(card), structuredClone(meta.ranges));
}

// Drop positions when the axis changes.
export function withoutPlaces(page) {
  return (page.state.zoom || []).map((text) => {
    const [low, high, , rest] = text.split(/,/, 3).concat(text.split(",").slice(3).join(","));
    return low ? `${low},${high},,${rest.slice(rest.indexOf(":"))}` : null;
  }).filter(Boolean);
}

// Drop values when their scale changes: what was chosen on one is a strange part of another.
export function withoutValues(page) {
  return (page.state.zoom || []).map((text) => {
    const [, , from, rest] = text.split(/,/, 3).concat(text.split(",").slice(3).join(","));
    return from ? `,,${from},${rest}` : null;
  }).filter(Boolean);
}

export const acts = {
  back: (page, card, key) => back(page, key),
  restore: (page, card, key) => set(page, key, ""),
  whole: (page, card, key) => {
    const [, , from, to] = (viewOf(page, key) || ",,,").split(",");
    set(page, key, `all,,${from},${to}`);
  },
};
