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

/**
 * Earlier views of each tag by page, or earlier entries of all linked cards.
 * @type {WeakMap<object, Map<string, (string | string[])[]>>}
 */
const trails = new WeakMap();

/**
 * @param {Histograms.Page} page
 * @param {string} key
 */
function trailOf(page, key) {
  const known = trails.get(page) || new Map();
  trails.set(page, known);
  const name = isLinked(page) ? "*" : `:${key}`;
  const trail = known.get(name) || [];
  known.set(name, trail);
  return trail;
}

/**
 * The view of a card, "" for the usual one.
 * @param {Histograms.Page} page
 * @param {string} key
 */
export const viewOf = (page, key) => linkedZoom.viewOf(page.state.zoom || [], key);

/**
 * Changes of the state when cards are linked or are so no more.
 * @param {Histograms.Page} page
 * @param {boolean} on
 * @returns {Wire.Query}
 */
export function linked(page, on) {
  trails.delete(page);
  return on ? { zoom: linkedZoom.linked(page.state.zoom || [], PLACES) } : {};
}

export function buttons() {
  return ["back", "restore"].map((act) => iconButton(act, `histograms.${act}`, act));
}

/**
 * @param {Histograms.Page} page
 * @param {HTMLElement} card
 * @param {string} key
 */
export function press(page, card, key) {
  const zoomed = viewOf(page, key) !== "";
  card.querySelector('[data-act="restore"]').disabled = !zoomed;
  card.querySelector('[data-act="back"]').disabled = !zoomed && !trailOf(page, key).length;
}

/**
 * @param {Histograms.Page} page
 * @param {string} key
 * @param {string} view
 */
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

/**
 * @param {Histograms.Page} page
 * @param {string} key
 */
function back(page, key) {
  const before = trailOf(page, key).pop() || "";
  if (isLinked(page)) page.change({ zoom: Array.isArray(before) ? before : [] });
  else set(page, key, String(before), false);
}

/**
 * @param {number} value
 * @param {number} digits
 */
function short(value, digits) {
  return String(Number(value.toPrecision(digits)));
}

/**
 * Convert a position of plotly on the axis of steps or times to that of the state.
 * @param {Histograms.Page} page
 * @param {number | string} value
 */
function place(page, value) {
  if (last(page.state, "x", "step") !== "absolute") return short(Number(value), 9);
  const ms = typeof value === "number" ? value : Date.parse(`${value.replace(" ", "T")}Z`);
  return short((ms + new Date().getTimezoneOffset() * 60000) / 1000, 14);
}

/**
 * @param {Histograms.Page} page
 * @param {HTMLElement} card
 * @param {string} key
 * @param {Record<string, number | string | undefined>} change
 */
export function moved(page, card, key, change) {
  const drawing = page.drawings.get(Number(card.dataset.slot));
  if (!drawing) return;
  /** @type {Wire.HistogramMeta} */
  const meta = drawing.layout.meta;
  if (Object.keys(change).some((name) => name.endsWith(".autorange"))) return reset(page, card, key, meta);
  const upright = meta.view === "heat" || meta.view === "numbers";
  /** @type {{ values: (number | string)[], places: (number | string)[] }} */
  const range = { values: [], places: [] };
  for (const [name, value] of Object.entries(change)) {
    const found = CHANGED.exec(name);
    if (!found || (meta.view === "numbers" && found[1] === "y" && found[2])) continue;
    const ofValues = (found[1] === "y") === upright;
    /** @param {Wire.HistogramPanel} panel */
    const axisOf = ({ xaxis, yaxis }) => (found[1] === "x" ? xaxis : yaxis);
    const panel = ofValues && meta.panels.find((one) => axisOf(one) === `${found[1]}${found[2]}`);
    range[ofValues ? "values" : "places"][Number(found[3])] = panel ? valueAt(panel.bins, Number(value)) : value ?? "";
  }
  const view = (viewOf(page, key) || ",,,").split(",");
  if (range.values.length === 2) view.splice(0, 2, ...range.values.map((value) => short(Number(value), 9)));
  if (range.places.length === 2 && meta.view !== "overlay" && meta.view !== "step") {
    view.splice(2, 2, ...range.places.map((value) => place(page, value)).sort((a, b) => Number(a) - Number(b)));
  }
  const empty = [0, 2].some((at) => view[at] !== "" && view[at] !== "all" && !(Number(view[at]) < Number(view[at + 1])));
  if (empty) return restore(card, meta);
  return set(page, key, view.join(","));
}

/**
 * Double click resets the view, or shows all values if it is the default.
 * @param {Histograms.Page} page
 * @param {HTMLElement} card
 * @param {string} key
 * @param {Wire.HistogramMeta} meta
 */
function reset(page, card, key, meta) {
  if (viewOf(page, key)) return set(page, key, "");
  if (meta.limits === "usual") return set(page, key, WHOLE);
  return restore(card, meta);
}

/**
 * Give the axes the ranges that they were drawn with.
 * @param {HTMLElement} card
 * @param {Wire.HistogramMeta} meta
 */
function restore(card, meta) {
  const plot = slots.plotOf(card);
  return plot ? window.Plotly.relayout(plot, structuredClone(meta.ranges)) : undefined;
}

/**
 * Drop positions when the axis changes.
 * @param {Histograms.Page} page
 */
export function withoutPlaces(page) {
  return (page.state.zoom || []).flatMap((text) => {
    const [low, high, , rest] = text.split(/,/, 3).concat(text.split(",").slice(3).join(","));
    return low ? `${low},${high},,${rest.slice(rest.indexOf(":"))}` : [];
  });
}

/**
 * Drop values when their scale changes: what was chosen on one is a strange part of another.
 * @param {Histograms.Page} page
 */
export function withoutValues(page) {
  return (page.state.zoom || []).flatMap((text) => {
    const [, , from, rest] = text.split(/,/, 3).concat(text.split(",").slice(3).join(","));
    return from ? `,,${from},${rest}` : [];
  });
}

export const acts = {
  /**
   * @param {Histograms.Page} page
   * @param {HTMLElement} card
   * @param {string} key
   */
  back: (page, card, key) => back(page, key),
  /**
   * @param {Histograms.Page} page
   * @param {HTMLElement} card
   * @param {string} key
   */
  restore: (page, card, key) => set(page, key, ""),
  /**
   * @param {Histograms.Page} page
   * @param {HTMLElement} card
   * @param {string} key
   */
  whole: (page, card, key) => {
    const [, , from, to] = (viewOf(page, key) || ",,,").split(",");
    set(page, key, `all,,${from},${to}`);
  },
};
