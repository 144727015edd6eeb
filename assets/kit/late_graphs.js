// Graphs that are made with their first figure. Counterpart of layouts/kit/late_graphs.py.

import { setProps } from "./dash.js";
import { make, words } from "./elements.js";
import { chartsLoaded } from "./page_files.js";

/** @type {WeakMap<Element, object>} */
const newest = new WeakMap();  // place -> the figure that is to be shown
/** @type {Map<HTMLElement, () => void>} */
const failed = new Map();  // place -> what tries again

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
  const place = placeOf(page, part);
  place.removeAttribute("aria-busy");
  clearFailure(place);
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
    clearFailure(place);
    const isLoaded = await chartsLoaded().then(() => true, () => false);
    if (newest.get(place) !== figure || !place.isConnected) return;
    if (!isLoaded) {
      showFailure(place, () => showFigure(page, part, figure));
      return;
    }
    tryOthers();
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
 * Say that there is nothing to draw the figure with. Dash is not given it: it tries once, and never again in this page.
 * @param {HTMLElement} place
 * @param {() => void} again
 */
function showFailure(place, again) {
  const button = make("button", "ms-button", words("common.try_again"), { type: "button" });
  button.addEventListener("click", again);
  place.removeAttribute("aria-busy");
  failed.set(place, again);
  place.before(make("div", "ms-late-failure", [words("common.charts_not_loaded", {}, "span", "ms-wrong-text"), button],
    { role: "alert" }));
}

/** Show the other figures that could not be drawn. */
function tryOthers() {
  const others = Array.from(failed.values());
  failed.clear();
  for (const again of others) again();
}

/** @param {HTMLElement} place */
function clearFailure(place) {
  failed.delete(place);
  const before = place.previousElementSibling;
  if (before && before.classList.contains("ms-late-failure")) before.remove();
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
