// The view of a card of the scalars page: zoom, steps back, jumps.

import { entry, last, listed, withEntry } from "../../base/state.js";

// Zoom ---------------------------------------------------------------------------------------------------------------

export function zoneMs(page) {
  return last(page.state, "x", "") === "absolute" ? -new Date().getTimezoneOffset() * 60000 : null;
}

// Convert a position of plotly to that of the state.
export function toState(page, value) {
  const zone = zoneMs(page);
  if (zone === null) return Number(value);
  const ms = typeof value === "number" ? value : Date.parse(`${value.replace(" ", "T")}Z`);
  return (ms - zone) / 1000;
}

export function short(value, digits = 9) {
  return String(Number(value.toPrecision(digits)));
}

export function setView(page, key, view, remember) {
  const now = entry(page.state, "zoom", key);
  if (view === now) return;
  const trail = page.trails.get(key) || [];
  if (remember) page.trails.set(key, [...trail, now]);
  page.change({ zoom: withEntry(page.state, "zoom", key, view) });
}

export function moved(page, key, change) {
  if (change["xaxis.autorange"] || change["yaxis.autorange"]) {
    if (entry(page.state, "zoom", key)) setView(page, key, "", true);
    return;
  }
  const [x0, x1, y0, y1] = ["xaxis", "yaxis"].flatMap((axis) => [change[`${axis}.range[0]`], change[`${axis}.range[1]`]]);
  if (x0 === undefined && y0 === undefined) return;
  const view = (entry(page.state, "zoom", key) || ",,,").split(",");
  if (x0 !== undefined) {
    const digits = zoneMs(page) === null ? 9 : 14;
    view[0] = short(toState(page, x0), digits);
    view[1] = short(toState(page, x1), digits);
  }
  if (y0 !== undefined && y1 !== undefined) {
    const log = listed(page.state, "log", key);
    [view[2], view[3]] = [y0, y1].map((value) => short(log ? 10 ** value : Number(value)));
  }
  if (Number(view[0]) < Number(view[1]) || (view[0] === "" && view[2] !== "")) setView(page, key, view.join(","), true);
}

export function back(page, key) {
  const trail = page.trails.get(key) || [];
  const view = trail.length ? trail[trail.length - 1] : "";
  page.trails.set(key, trail.slice(0, -1));
  setView(page, key, view, false);
}

export function restore(page, key) {
  setView(page, key, "", true);
}

export function jumpTo(page, key, button) {
  const [low, high] = [Number(button.dataset.low), Number(button.dataset.high)];
  const half = (high - low) / 2 || 1;
  const zone = zoneMs(page);
  const place = (value) => (zone === null ? short(value) : short((value - zone) / 1000, 14));
  setView(page, key, `${place(low === high ? low - half : low)},${place(low === high ? high + half : high)},,`, true);
}
