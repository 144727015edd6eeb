// The view of a card of the scalars page: zoom, steps back, jumps. Linked cards have their x in common (cards/linked_zoom.js).

import { last, listed, withEntry } from "../../kit/state.js";
import { isLinked } from "../../kit/cards/layout_menu.js";
import * as linkedZoom from "../../kit/cards/linked_zoom.js";

const ALL = "*";

// Zoom ---------------------------------------------------------------------------------------------------------------

/** @param {Curves.Page} page */
export function zoneMs(page) {
  return last(page.state, "x", "") === "absolute" ? -new Date().getTimezoneOffset() * 60000 : null;
}

/**
 * Convert a position of plotly to that of the state.
 * @param {Curves.Page} page
 * @param {number | string} value
 */
export function toState(page, value) {
  const zone = zoneMs(page);
  if (zone === null) return Number(value);
  const ms = typeof value === "number" ? value : Date.parse(`${value.replace(" ", "T")}Z`);
  return (ms - zone) / 1000;
}

/**
 * @param {number} value
 * @param {number} [digits]
 */
export function short(value, digits = 9) {
  return String(Number(value.toPrecision(digits)));
}

/**
 * The view of a card: "x0,x1,y0,y1", where a pair may be empty; "" for everything.
 * @param {Curves.Page} page
 * @param {string} key
 */
export const viewOf = (page, key) => linkedZoom.viewOf(page.state.zoom || [], key);

/**
 * Steps back are those of all linked cards, or of one card: the entries of the state as they were, or its view.
 * @param {Curves.Page} page
 * @param {string} key
 */
const trailOf = (page, key) => (isLinked(page) ? ALL : `:${key}`);

/**
 * @param {Curves.Page} page
 * @param {string} key
 * @param {string} view
 * @param {boolean} remember
 */
export function setView(page, key, view, remember) {
  const now = viewOf(page, key);
  if (view === now) return;
  const zoom = page.state.zoom || [];
  const name = trailOf(page, key);
  if (remember) page.trails.set(name, [...(page.trails.get(name) || []), { view: now, zoom }]);
  page.change({ zoom: isLinked(page) ? linkedZoom.withLinked(zoom, key, view) : withEntry(page.state, "zoom", key, view) });
}

/**
 * Changes of the state when cards are linked or are so no more.
 * @param {Curves.Page} page
 * @param {boolean} on
 * @returns {Wire.Query}
 */
export function linked(page, on) {
  page.trails.clear();
  return on ? { zoom: linkedZoom.linked(page.state.zoom || []) } : {};
}

/**
 * @param {Curves.Page} page
 * @param {string} key
 * @param {Record<string, number | string | undefined>} change
 */
export function moved(page, key, change) {
  if (change["xaxis.autorange"] || change["yaxis.autorange"]) {
    if (viewOf(page, key)) setView(page, key, "", true);
    return;
  }
  const [x0, x1, y0, y1] = ["xaxis", "yaxis"].flatMap((axis) => [change[`${axis}.range[0]`], change[`${axis}.range[1]`]]);
  if (x0 === undefined && y0 === undefined) return;
  const view = (viewOf(page, key) || ",,,").split(",");
  if (x0 !== undefined && x1 !== undefined) {
    const digits = zoneMs(page) === null ? 9 : 14;
    view[0] = short(toState(page, x0), digits);
    view[1] = short(toState(page, x1), digits);
  }
  if (y0 !== undefined && y1 !== undefined) {
    const log = listed(page.state, "log", key);
    [view[2], view[3]] = [y0, y1].map((value) => short(log ? 10 ** Number(value) : Number(value)));
  }
  if (Number(view[0]) < Number(view[1]) || (view[0] === "" && view[2] !== "")) setView(page, key, view.join(","), true);
}

/**
 * @param {Curves.Page} page
 * @param {string} key
 */
export function back(page, key) {
  const name = trailOf(page, key);
  const trail = page.trails.get(name) || [];
  page.trails.set(name, trail.slice(0, -1));
  const before = trail.length ? trail[trail.length - 1] : { view: "", zoom: [] };
  if (isLinked(page)) page.change({ zoom: before.zoom });
  else setView(page, key, before.view, false);
}

/**
 * @param {Curves.Page} page
 * @param {string} key
 */
export function restore(page, key) {
  setView(page, key, "", true);
}

/**
 * @param {Curves.Page} page
 * @param {string} key
 * @param {HTMLElement} button
 */
export function jumpTo(page, key, button) {
  const [low, high] = [Number(button.dataset.low), Number(button.dataset.high)];
  const half = (high - low) / 2 || 1;
  const zone = zoneMs(page);
  /** @param {number} value */
  const place = (value) => (zone === null ? short(value) : short((value - zone) / 1000, 14));
  setView(page, key, `${place(low === high ? low - half : low)},${place(low === high ? high + half : high)},,`, true);
}
