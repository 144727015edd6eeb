// The table under the pointer on figures of layouts/values/histogram_plots.py: bin, count and share of the step, and its
// statistics. A page calls build(page, figureOf, isLinked), where figureOf(card) returns the figure of a card or null; linked
// cards show the same step, or the one next to it.

import { make, words } from "../elements.js";
import { dateTime } from "../moments.js";
import { count, percent, short } from "../units.js";
import { writeText } from "../i18n.js";
import { nameElement } from "../name_elements.js";
import { Names } from "../names.js";
import { numbersOf } from "../typed_arrays.js";
import * as histogramLegend from "./histogram_legend.js";
import * as slots from "./slots.js";

/** @typedef {{ x: number, y: number }} Pointer */
/** @typedef {{ data: SentTrace[], layout: { meta: Wire.HistogramMeta } }} HistogramFigure */
/** @typedef {{ panel: Wire.HistogramPanel, row: number, bin: number, x: PlotlyAxisDrawn, y: PlotlyAxisDrawn }} Found */
/** @typedef {{ panel: Wire.HistogramPanel, px: number, py: number, x: PlotlyAxisDrawn, y: PlotlyAxisDrawn }} Place */

const KINDS = ["NaN", "+Inf", "-Inf"];
const NEAR_PX = 24;
const OVER_STEPS = ["heat", "numbers", "ridge"];  // views with steps or times on an axis
/** @typedef {{ figureOf: (card: HTMLElement) => HistogramFigure | null, isLinked: () => boolean }} Built */
/** @type {Map<HistogramPage, Built>} */
const built = new Map();  // page -> its figureOf and isLinked

/**
 * @param {HistogramPage} page
 * @returns {Built}
 */
const builtOf = (page) => built.get(page) || { figureOf: () => null, isLinked: () => false };

// Where on the figure ------------------------------------------------------------------------------------------------

/**
 * @param {PlotlyDrawn} plot
 * @param {string} name
 * @returns {PlotlyAxisDrawn | undefined}
 */
function axisOf(plot, name) {
  return plot._fullLayout[name.replace(/^([xy])/, "$1axis")];
}

/**
 * Panels under the pointer, with the position inside of them.
 * @param {PlotlyDrawn} plot
 * @param {Wire.HistogramMeta} meta
 * @param {Pointer} pointer
 * @returns {Place[]}
 */
function inside(plot, meta, pointer) {
  const box = plot.getBoundingClientRect();
  return meta.panels.flatMap((panel) => {
    const [x, y] = [axisOf(plot, panel.xaxis), axisOf(plot, panel.yaxis)];
    if (!x || !y) return [];
    const [px, py] = [pointer.x - box.left - x._offset, pointer.y - box.top - y._offset];
    const below = meta.view === "numbers" ? box.height : y._length;
    if (px < 0 || px > x._length || py < 0 || py > below) return [];
    return [{ panel, px, py, x, y }];
  });
}

/**
 * @param {Numbers} values
 * @param {number} pixel
 * @param {PlotlyAxisDrawn} axis
 */
function nearest(values, pixel, axis) {
  let best = -1;
  let away = Infinity;
  values.forEach((value, at) => {
    const distance = Math.abs(axis.l2p(value) - pixel);
    if (distance < away) [best, away] = [at, distance];
  });
  return best;
}

/**
 * @param {Wire.HistogramBins} bins
 * @param {number} value
 */
export function binAt(bins, value) {
  const at = Math.floor(((value - bins.low) / (bins.high - bins.low)) * bins.n);
  return at >= 0 && at < bins.n ? at : -1;
}

/**
 * The value at a place of the axis. Only bins that are not drawn at their values have edges.
 * @param {Wire.HistogramBins} bins
 * @param {number} place
 */
export function valueAt(bins, place) {
  if (!bins.edges) return place;
  const edges = numbersOf(bins.edges);
  const at = Math.min(Math.max(((place - bins.low) / (bins.high - bins.low)) * bins.n, 0), bins.n);
  const bin = Math.min(Math.floor(at), bins.n - 1);
  return edges[bin] + (at - bin) * (edges[bin + 1] - edges[bin]);
}

/**
 * @param {Wire.HistogramBins} bins
 * @param {number} bin
 */
function centre(bins, bin) {
  return bins.low + (bin + 0.5) * ((bins.high - bins.low) / bins.n);
}

/**
 * @param {HistogramFigure} figure
 * @param {Wire.HistogramPanel} panel
 * @param {number} row
 * @param {number} bin
 */
function countAt(figure, panel, row, bin) {
  const { n } = panel.bins;
  if (panel.counts) return numbersOf(panel.counts)[row * n + bin];
  const rows = numbersOf(panel.at).length;
  const shares = panel.trace === undefined ? null : numbersOf(figure.data[panel.trace].z);
  return (shares?.[bin * rows + row] || 0) * numbersOf(panel.finite)[row];
}

/**
 * Row of the overlay line nearest to the pointer.
 * @param {HistogramFigure} figure
 * @param {Place} place
 * @param {number} bin
 */
function nearestLine(figure, place, bin) {
  const rows = Array.from(numbersOf(place.panel.at), (_, row) => countAt(figure, place.panel, row, bin));
  return nearest(rows, place.py, place.y);
}

/**
 * Row of the ridge visible at the pointer: the newest that reaches it, else the nearest step.
 * @param {HistogramFigure} figure
 * @param {Place} place
 * @param {number} bin
 */
function nearestRidge(figure, place, bin) {
  const { panel, py, y } = place;
  const at = numbersOf(panel.at);
  const here = y.p2l(py);
  for (let row = at.length - 1; row >= 0; row -= 1) {
    if (here <= at[row] && here >= at[row] - countAt(figure, panel, row, bin) * (panel.height ?? 0)) return row;
  }
  return nearest(at, py, y);
}

/**
 * @param {HistogramFigure} figure
 * @param {PlotlyDrawn} plot
 * @param {Pointer} pointer
 * @returns {Found[]}
 */
function rowsAt(figure, plot, pointer) {
  const { meta } = figure.layout;
  return inside(plot, meta, pointer).map((place) => {
    const { panel, px, py, x, y } = place;
    const at = numbersOf(panel.at);
    if (!at.length) return null;
    const bin = meta.view === "numbers" ? -1 : binAt(panel.bins, meta.view === "heat" ? y.p2l(py) : x.p2l(px));
    if (meta.view !== "numbers" && bin < 0) return null;
    let row = 0;
    if (meta.view === "heat" || meta.view === "numbers") row = nearest(at, px, x);
    else if (meta.view === "ridge") row = nearestRidge(figure, place, bin);
    else if (meta.view === "overlay") row = nearestLine(figure, place, bin);
    if (meta.view === "numbers" && Math.abs(x.l2p(at[row]) - px) > Math.max(NEAR_PX, x._length / at.length)) return null;
    return { panel, row, bin, x, y };
  }).flatMap((found) => (found && found.row >= 0 ? [found] : []));
}

// The table ----------------------------------------------------------------------------------------------------------

/**
 * @param {string} text
 * @param {string} [className]
 */
function cell(text, className = "ms-number") {
  return make("td", className, text);
}

/**
 * @param {Wire.HistogramPanel} panel
 * @param {number} row
 */
function bad(panel, row) {
  const found = KINDS.map((name, at) => ({ name, n: numbersOf(panel.bad)[row * 3 + at] }));
  return found.filter(({ n }) => n > 0).map(({ name, n }) => `${count(n)} ${name}`).join(" · ");
}

/**
 * @param {Wire.HistogramPanel} panel
 * @param {number} row
 */
function away(panel, row) {
  return numbersOf(panel.outside)[2 * row] + numbersOf(panel.outside)[2 * row + 1];
}

/**
 * @param {HistogramFigure} figure
 * @param {Found} found
 * @param {boolean} anyAway
 * @param {boolean} anyBad
 * @param {Names} labels
 */
function bodyRow(figure, { panel, row, bin }, anyAway, anyBad, labels) {
  const dot = make("span", "ms-dot");
  dot.style.background = panel.colour;
  const cells = [
    make("td", "ms-hover-run", [dot, nameElement(panel.label, labels)]),
    cell(count(numbersOf(panel.step)[row])),
  ];
  if (bin >= 0) {
    const number = countAt(figure, panel, row, bin);
    const whole = numbersOf(panel.finite)[row];
    cells.push(cell(short(valueAt(panel.bins, centre(panel.bins, bin)))), cell(short(number)),
      cell(whole > 0 ? percent(number / whole) : "–"));
  }
  if (anyAway) cells.push(cell(short(away(panel, row))));
  const extent = Array.from(numbersOf(panel.extent).slice(row * 3, row * 3 + 3));
  cells.push(
    ...extent.map((value) => cell(Number.isNaN(value) ? "–" : short(value))),
    cell(count(numbersOf(panel.total)[row])),
  );
  if (anyBad) cells.push(cell(bad(panel, row), "ms-number ms-hover-bad"));
  cells.push(cell(dateTime(panel.started + numbersOf(panel.time)[row])));
  return make("tr", "", cells);
}

/**
 * @param {HTMLElement} table
 * @param {HistogramFigure} figure
 * @param {Found[]} rows
 */
function fill(table, figure, rows) {
  const anyBad = rows.some(({ panel, row }) => bad(panel, row));
  const anyAway = rows.some(({ panel, row }) => away(panel, row));
  const names = [
    "run",
    "step",
    ...(rows[0].bin >= 0 ? ["centre", "count", "share"] : []),
    ...(anyAway ? ["outside"] : []),
    "min",
    "mean",
    "max",
    "total",
    ...(anyBad ? ["bad"] : []),
    "time",
  ];
  const head = names.map((name) => words(`histograms.hover.${name}`, {}, "th", name === "run" ? "" : "ms-number"));
  const labels = new Names(rows.map(({ panel }) => panel.label));
  const body = rows.map((row) => bodyRow(figure, row, anyAway, anyBad, labels));
  table.replaceChildren(make("table", "", [make("thead", "", make("tr", "", head)), make("tbody", "", body)]));
}

/**
 * @param {HTMLElement} table
 * @param {Pointer} pointer
 */
function place(table, pointer) {
  const { offsetWidth: width, offsetHeight: height } = table;
  const left = Math.min(pointer.x + 16, window.innerWidth - width - 8);
  const below = pointer.y + 16;
  const top = below + height + 8 > window.innerHeight ? pointer.y - 16 - height : below;
  table.style.transform = `translate(${Math.max(4, left)}px, ${Math.max(4, top)}px)`;
}

// The outline of what the table speaks of, or its step's place ---------------------------------------------------------

/**
 * @param {HistogramFigure} figure
 * @param {Found} found
 */
function outline(figure, { panel, row, x, y }) {
  const { meta } = figure.layout;
  const at = numbersOf(panel.at)[row];
  if (meta.view === "heat" || meta.view === "numbers") {
    const left = x._offset + x.l2p(at);
    return `M${left},${y._offset}V${meta.view === "numbers" ? 100000 : y._offset + y._length}`;
  }
  const [base, height] = meta.view === "ridge" ? [at, -(panel.height ?? 0)] : [0, 1];
  const points = Array.from({ length: panel.bins.n }, (_, bin) => {
    const value = base + countAt(figure, panel, row, bin) * height;
    return `${x._offset + x.l2p(centre(panel.bins, bin))},${y._offset + y.l2p(value)}`;
  });
  return `M${points.join("L")}`;
}

/** @param {HTMLElement} card */
function unmark(card) {
  card.querySelectorAll(".ms-histogram-mark").forEach((drawing) => drawing.remove());
}

/**
 * @param {HTMLElement} card
 * @param {PlotlyDrawn} plot
 * @param {HistogramFigure} figure
 * @param {Found[]} rows
 */
function mark(card, plot, figure, rows) {
  const drawing = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  drawing.classList.add("ms-histogram-mark");
  drawing.classList.toggle("ms-histogram-place", ["heat", "numbers"].includes(figure.layout.meta.view));
  for (const row of rows) {
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", outline(figure, row));
    drawing.append(path);
  }
  unmark(card);
  plot.append(drawing);
}

// The same place in the other cards on screen --------------------------------------------------------------------------

/**
 * @param {Numbers} values
 * @param {number} wanted
 */
function nearestRow(values, wanted) {
  let best = -1;
  for (let row = 0; row < values.length; row += 1) {
    if (best < 0 || Math.abs(values[row] - wanted) < Math.abs(values[best] - wanted)) best = row;
  }
  return best;
}

/**
 * @param {HistogramFigure} figure
 * @param {PlotlyDrawn} plot
 * @param {number} wanted
 * @returns {Found[]}
 */
function rowsNear(figure, plot, wanted) {
  const { meta } = figure.layout;
  if (!OVER_STEPS.includes(meta.view)) return [];
  return meta.panels.flatMap((panel) => {
    const [x, y] = [axisOf(plot, panel.xaxis), axisOf(plot, panel.yaxis)];
    const row = nearestRow(numbersOf(panel.at), wanted);
    if (row < 0 || !x || !y) return [];
    const along = meta.view === "ridge" ? y : x;
    const pixel = along.l2p(numbersOf(panel.at)[row]);
    return pixel >= 0 && pixel <= along._length ? [{ panel, row, bin: -1, x, y }] : [];
  });
}

/** @param {HTMLElement} card */
function labelOf(card) {
  let label = card.querySelector(".ms-histogram-linked");
  if (!label) {
    label = make("div", "ms-histogram-linked", [], { "aria-hidden": "true", hidden: "" });
    card.querySelector(".ms-card-body").append(label);
  }
  return label;
}

/** @param {HistogramPage} page */
function unlink(page) {
  for (const card of page.linkedCards || []) {
    unmark(card);
    labelOf(card).hidden = true;
  }
  page.linkedCards = [];
}

/**
 * @param {HistogramPage} page
 * @param {HTMLElement} own
 * @param {string} view
 * @param {number} wanted
 */
function link(page, own, view, wanted) {
  unlink(page);
  if (!OVER_STEPS.includes(view) || !builtOf(page).isLinked()) return;
  page.asks.forEach((ask, slot) => {
    const card = ask && page.slot(slot);
    const plot = card && card !== own && !card.classList.contains("ms-pending") && slots.plotOf(card);
    const figure = plot && plot._fullLayout && builtOf(page).figureOf(card);
    const rows = figure ? rowsNear(figure, plot, wanted) : [];
    if (!card || !figure || !rows.length) return;
    mark(card, plot, figure, rows);
    const steps = [...new Set(rows.map(({ panel, row }) => numbersOf(panel.step)[row]))];
    const label = labelOf(card);
    writeText(label, "histograms.linked", { step: steps.map(count).join(", ") });
    label.hidden = false;
    page.linkedCards.push(card);
  });
}

// Events -------------------------------------------------------------------------------------------------------------

/** @param {HistogramPage} page */
function hide(page) {
  page.find(".ms-hover-table").hidden = true;
  if (page.hovered) unmark(page.hovered.card);
  unlink(page);
  if (page.hovered) histogramLegend.point(page, builtOf(page).figureOf, null);
  page.hovered = null;
}

/**
 * @param {HistogramPage} page
 * @param {HTMLElement} card
 * @param {Pointer} pointer
 */
function show(page, card, pointer) {
  const { figureOf } = builtOf(page);
  const figure = figureOf(card);
  const plot = slots.plotOf(card);
  if (card.classList.contains("ms-pending") || !figure || !plot || !plot._fullLayout) return hide(page);
  const rows = rowsAt(figure, plot, pointer);
  if (!rows.length) return hide(page);
  if (page.hovered && page.hovered.card !== card) hide(page);
  page.hovered = { card, pointer };
  mark(card, plot, figure, rows);
  const wanted = numbersOf(rows[0].panel.at)[rows[0].row];
  link(page, card, figure.layout.meta.view, wanted);
  histogramLegend.point(page, figureOf, wanted);
  const table = page.find(".ms-hover-table");
  fill(table, figure, rows);
  table.hidden = false;
  place(table, pointer);
}

/**
 * @param {HistogramPage} page
 * @param {(card: HTMLElement) => HistogramFigure | null} figureOf
 * @param {() => boolean} [isLinked]
 */
export function build(page, figureOf, isLinked = () => false) {
  built.set(page, { figureOf, isLinked });
  let frame = 0;
  /** @type {MouseEvent | null} */
  let latest = null;
  page.root.addEventListener("mousemove", (event) => {
    latest = event;
    if (frame) return;
    frame = window.requestAnimationFrame(() => {
      frame = 0;
      if (!latest) return;
      const { target } = latest;
      const card = target instanceof Element && target.closest(".ms-slot");
      if (card && latest.buttons === 0 && target.closest(".js-plotly-plot")) {
        show(page, card, { x: latest.clientX, y: latest.clientY });
      } else hide(page);
    });
  });
  page.root.addEventListener("mouseleave", () => hide(page));
}

document.addEventListener("scroll", () => {
  for (const page of built.keys()) {
    if (!page.root.isConnected) built.delete(page);
    else if (page.hovered) hide(page);
  }
}, true);

/**
 * Update the table when new data arrives under a resting pointer.
 * @param {HistogramPage} page
 * @param {HTMLElement} card
 */
export function refresh(page, card) {
  if (page.hovered && page.hovered.card === card) {
    window.requestAnimationFrame(() => page.hovered && show(page, card, page.hovered.pointer));
  }
}
