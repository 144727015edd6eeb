// Graphs that are made with their first figure. Counterpart of layouts/kit/late_graphs.py.

import { setProps } from "./dash.js";
import { chartsLoaded } from "./page_files.js";

/** @type {WeakMap<Element, object>} */
const newest = new WeakMap();  // place -> the figure that is to be shown

/**
 * @param {KeptPage} page
 * @param {string} part the graph
 * @returns {HTMLElement}
 */
const placeOf = (page, part) => page.find(`[id="${page.store(part)}-place"]`);

/** @param {HTMLElement} place */
const isDrawn = (place) => Boolean(place.querySelector(".js-plotly-plot .main-svg"));

/**
 * Say that a figure has been asked for, so that plotly.js arrives meanwhile.
 * @param {KeptPage} page
 * @param {string} part
 */
export function expectFigure(page, part) {
  const place = placeOf(page, part);
  if (isDrawn(place)) return;
  place.setAttribute("aria-busy", "true");
  chartsLoaded().catch(() => {});  // it is tried again with the figure
}

/**
 * Stop waiting for a figure, as there is none.
 * @param {KeptPage} page
 * @param {string} part
 */
export function expectNone(page, part) {
  placeOf(page, part).removeAttribute("aria-busy");
}

/**
 * @param {KeptPage} page
 * @param {string} part
 * @param {object} figure
 */
export async function showFigure(page, part, figure) {
  const place = placeOf(page, part);
  newest.set(place, figure);
  if (!isDrawn(place)) {
    place.setAttribute("aria-busy", "true");
    await chartsLoaded().catch(() => {});  // Dash tries again, and reports it
    if (newest.get(place) !== figure || !place.isConnected) return;
  }
  if (place.firstElementChild) {
    setProps(page.store(part), { figure });
    return;
  }
  whenDrawn(place, () => place.removeAttribute("aria-busy"));
  const graph = JSON.parse(place.dataset.graph || "null");
  setProps(`${page.store(part)}-place`, { children: { ...graph, props: { ...graph.props, figure } } });
}

/**
 * @param {HTMLElement} place
 * @param {() => void} act
 */
function whenDrawn(place, act) {
  const observer = new MutationObserver(() => {
    if (!isDrawn(place)) return;
    observer.disconnect();
    act();
  });
  observer.observe(place, { childList: true, subtree: true });
}
