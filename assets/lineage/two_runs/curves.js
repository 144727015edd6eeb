// The curves of both runs: the run list above them, and the line under the pointer in all charts.

import { count } from "../../kit/units.js";
import { writeText } from "../../kit/i18n.js";
import { frameOf } from "../../kit/notes.js";
import * as crosshair from "../../kit/cards/crosshair.js";
import { highlight } from "../../kit/cards/highlight.js";
import { linesIn, marksIn } from "../../kit/cards/lines.js";
import * as runList from "../../kit/cards/run_list.js";

/** @type {WeakMap<object, Drawing>} */
const drawings = new WeakMap();  // traces of a plot -> the drawing that they are

/**
 * The charts that plotly has drawn.
 * @param {Lineage.PairView} page
 */
function chartsOf(page) {
  return Array.from(page.root.querySelectorAll(".ms-two-runs-curve")).flatMap((element) => {
    const plot = element.querySelector(".js-plotly-plot");
    if (!plot || !plot.data || !plot._fullLayout) return [];
    const drawing = drawings.get(plot.data) || { data: plot.data, layout: plot.layout };
    drawings.set(plot.data, drawing);
    const host = element.querySelector(".ms-two-runs-plot");
    const tag = element.querySelector(".ms-cut").textContent;
    return [{ element, host, plot, tag, drawing }];
  });
}

/**
 * Make the run list of a page, once. change(keys) hides runs.
 * @param {Lineage.PairView} page
 * @param {(keys: string[]) => void} change
 */
export function build(page, change) {
  const host = page.root.querySelector(".ms-two-runs-run-list");
  const list = runList.build({
    frame: () => frameOf(page.root),
    hidden: () => page.hidden,
    change,
    light: () => relight(page),
    scrolled: () => {},
  });
  list.element.classList.add("ms-run-list-strip");
  list.element.hidden = false;
  Object.assign(page, { list, tag: "", place: null });
  host.append(list.element);
  const section = host.nextElementSibling;
  let frame = 0;
  /** @param {() => void} act */
  const soon = (act) => {
    window.cancelAnimationFrame(frame);
    frame = window.requestAnimationFrame(act);
  };
  new MutationObserver(() => soon(() => drawn(page))).observe(section, { childList: true, subtree: true });
  section.addEventListener("mousemove", (/** @type {MouseEvent} */ event) => soon(() => point(page, event)));
  section.addEventListener("mouseleave", () => soon(() => point(page, null)));
}

/**
 * Draw the list of a page whose runs, colours or charts may be others now.
 * @param {Lineage.PairView} page
 */
export function drawn(page) {
  const charts = chartsOf(page);
  page.root.querySelector(".ms-two-runs-run-list").hidden = !page.root.querySelector(".ms-two-runs-curve");
  runList.setRows(page.list, page.rows);
  paint(page, charts);
  if (page.list.lit !== null) relight(page);
}

/** @param {Lineage.PairView} page */
function relight(page) {
  for (const { host, plot } of chartsOf(page)) highlight(host, plot.data, page.list.lit);
}

/**
 * @param {Lineage.PairView} page
 * @param {MouseEvent | null} event
 */
function point(page, event) {
  const host = event && event.target instanceof Element && event.target.closest(".ms-two-runs-plot");
  const charts = chartsOf(page);
  const chart = charts.find((one) => one.host === host);
  const place = chart && event ? placeAt(chart.plot, event.clientX) : null;
  if (chart) page.tag = chart.tag;
  page.place = place;
  for (const { host: each } of charts) {
    if (!place) crosshair.hide(each);
    else crosshair.place(each, place.x, count(Math.round(place.x)), true);
  }
  paint(page, charts);
}

/**
 * The place at a pixel of the window; null beside the axes.
 * @param {PlotlyDrawn} plot
 * @param {number} pixel
 */
function placeAt(plot, pixel) {
  const { l, w } = plot._fullLayout._size;
  const share = (pixel - plot.getBoundingClientRect().left - l) / w;
  const [low, high] = plot._fullLayout.xaxis.range;
  const unit = (high - low) / w;
  return share >= 0 && share <= 1 ? { x: low + share * (high - low), unit, left: low, right: high } : null;
}

/**
 * @param {Lineage.PairView} page
 * @param {Lineage.PairChart[]} charts
 */
function paint(page, charts) {
  const { place } = page;
  const chart = charts.find(({ tag }) => tag === page.tag) || charts[0];
  /** @param {HTMLElement} element */
  const at = (element) => (place
    ? writeText(element, "runlist.step", { n: count(Math.round(place.x)) })
    : writeText(element, "runlist.last"));
  const values = runList.valuesAt(chart ? linesIn(chart.drawing) : [], place, chart ? marksIn(chart.drawing) : []);
  runList.paint(page.list, { values, tag: chart ? chart.tag : "", at });
  for (const { element, drawing } of charts) {
    const own = place ? runList.valuesAt(linesIn(drawing), place, marksIn(drawing)) : null;
    for (const { meta } of linesIn(drawing)) {
      const shown = element.querySelector(`[data-run="${CSS.escape(meta.key)}"] .ms-cut`);
      if (shown) write(shown, own && (own.get(meta.key) || { text: "–", title: "", wrong: false }));
    }
  }
}

/**
 * The value of a line at the pointer in the head of its chart; without a pointer the last one, as the server wrote it.
 * @param {HTMLElement} shown
 * @param {import("../../kit/cards/run_list.js").Shown | null} value
 */
function write(shown, value) {
  const last = /** @type {HTMLElement} */ (shown.firstElementChild);
  last.hidden = value !== null;
  let here = shown.querySelector(".ms-two-runs-here");
  if (!value && !here) return;
  if (!here) {
    here = document.createElement("span");
    here.className = "ms-two-runs-here";
    shown.append(here);
  }
  runList.write(/** @type {HTMLElement} */ (here), value || undefined);
}
