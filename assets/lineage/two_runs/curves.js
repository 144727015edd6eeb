// The curves of both runs: the run list above them, and the line under the pointer in all charts.

import { count } from "../../kit/units.js";
import { writeText } from "../../kit/i18n.js";
import { frameOf } from "../../kit/notes.js";
import * as crosshair from "../../kit/cards/crosshair.js";
import { highlight } from "../../kit/cards/highlight.js";
import { linesIn, upTo, smoothed } from "../../kit/cards/lines.js";
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
  Object.assign(page, { list, tag: "", x: null });
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
  const x = chart && event ? placeAt(chart.plot, event.clientX) : null;
  if (chart) page.tag = chart.tag;
  page.x = x;
  for (const { host: each } of charts) {
    if (x === null) crosshair.hide(each);
    else crosshair.place(each, x, count(Math.round(x)), true);
  }
  paint(page, charts);
}

/**
 * The step at a pixel of the window; null beside the axes.
 * @param {PlotlyDrawn} plot
 * @param {number} pixel
 */
function placeAt(plot, pixel) {
  const { l, w } = plot._fullLayout._size;
  const share = (pixel - plot.getBoundingClientRect().left - l) / w;
  const [low, high] = plot._fullLayout.xaxis.range;
  return share >= 0 && share <= 1 ? low + share * (high - low) : null;
}

/**
 * @param {Lineage.PairView} page
 * @param {Lineage.PairChart[]} charts
 */
function paint(page, charts) {
  const { x } = page;
  const chart = charts.find(({ tag }) => tag === page.tag) || charts[0];
  /** @param {HTMLElement} element */
  const at = (element) => (x === null
    ? writeText(element, "runlist.last")
    : writeText(element, "runlist.step", { n: count(Math.round(x)) }));
  const values = runList.valuesAt(chart ? linesIn(chart.drawing) : [], x);
  runList.paint(page.list, { values, tag: chart ? chart.tag : "", at });
  for (const { element, drawing } of charts) {
    for (const line of linesIn(drawing)) {
      const shown = element.querySelector(`[data-run="${CSS.escape(line.meta.key)}"] .ms-cut`);
      if (shown) write(shown, line, x);
    }
  }
}

/**
 * The value of a line at the pointer in the head of its chart; without a pointer the last one, as the server wrote it.
 * @param {HTMLElement} shown
 * @param {import("../../kit/cards/lines.js").Line} line
 * @param {number | null} x
 */
function write(shown, line, x) {
  const last = /** @type {HTMLElement} */ (shown.firstElementChild);
  const i = x === null ? -1 : upTo(line, x);
  last.hidden = x !== null;
  let value = shown.querySelector(".ms-two-runs-here");
  if (x === null && !value) return;
  if (!value) {
    value = document.createElement("span");
    value.className = "ms-two-runs-here";
    shown.append(value);
  }
  value.textContent = x === null ? "" : i < 0 ? "–" : smoothed(line.values[i]);
}
