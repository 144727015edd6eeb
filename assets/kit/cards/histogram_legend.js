// The legend of a card of figures of layouts/values/histogram_plots.py: which line is which. A click on a run hides it in all
// cards, a click with Alt leaves it alone, and pointing at it dims the others everywhere. Runs of curves over steps have their
// mean at the pointer's step, those of one step that step where they differ. A hidden run stays in the legend.

import { badge, make, words } from "../elements.js";
import { count, short } from "../units.js";
import { setLabel, translate } from "../i18n.js";
import { nameElement } from "../name_elements.js";
import { Names } from "../names.js";
import { numbersOf } from "../typed_arrays.js";
import { highlight } from "./highlight.js";

/** @typedef {(card: HTMLElement) => { data: SentTrace[], layout: { meta: Wire.HistogramMeta } } | null} FigureOf a card */

const MOST_IN_A_LINE = 3;
const LINE_PX = 18;
const MOST_LINES = 6;  // further ones are scrolled to
/** @type {WeakMap<HistogramPage, string | null>} */
const lit = new WeakMap();  // page -> the run that is pointed at, in no other page

/**
 * The name of a run with its colour, and a value, if given.
 * @param {{ label: string, colour: string }} panel
 * @param {string | null} [value]
 * @param {Names} [labels] of all entries
 */
export function named(panel, value = null, labels = undefined) {
  const dot = make("span", "ms-dot", [], { "aria-hidden": "true" });
  dot.style.background = panel.colour;
  const at = value === null ? [] : [make("span", "ms-number ms-muted ms-histogram-value", value)];
  return make("span", "ms-histogram-run", [dot, nameElement(panel.label, labels), ...at], { title: panel.label });
}

/**
 * A line as the figure draws it; of several runs it has no colour of its own.
 * @param {[string, string, string]} statistic
 */
function stroke([name, colour, dash]) {
  const line = make("span", `ms-histogram-stroke ms-histogram-${dash}`, [], { "aria-hidden": "true" });
  if (colour) line.style.borderColor = colour;
  return make("span", "ms-histogram-run ms-histogram-stroked", [line, words(`histograms.hover.${name}`)]);
}

// Hide, isolate, point at ---------------------------------------------------------------------------------------------

/**
 * @param {HistogramPage} page
 * @param {string} key
 */
function hide(page, key) {
  const hidden = page.state.hide || [];
  page.change({ hide: hidden.includes(key) ? hidden.filter((one) => one !== key) : [...hidden, key] });
}

/**
 * Leave one alone; once more: show all.
 * @param {HistogramPage} page
 * @param {string} key
 */
function isolate(page, key) {
  const others = page.catalogue.runs.filter((one) => one !== key);
  const hidden = new Set(page.state.hide || []);
  page.change({ hide: !hidden.has(key) && others.every((one) => hidden.has(one)) ? [] : others });
}

/**
 * @param {HistogramPage} page
 * @param {string | null} key
 * @param {FigureOf} figureOf
 */
function light(page, key, figureOf) {
  if ((lit.get(page) || null) === key) return;
  lit.set(page, key);
  page.asks.forEach((ask, slot) => {
    const card = ask && page.slot(slot);
    const figure = card && figureOf(card);
    if (figure) highlight(card.querySelector(".ms-card-body"), figure.data, key);
  });
}

/**
 * Listen to the legends of all cards of a page; figureOf(card) is the figure of a card or null.
 * @param {HistogramPage} page
 * @param {FigureOf} figureOf
 */
export function listen(page, figureOf) {
  /**
   * @param {Event} event
   * @returns {HTMLElement | null}
   */
  const entryOf = (event) => (event.target instanceof Element ? event.target.closest(".ms-histogram-entry") : null);
  page.root.addEventListener("click", (event) => {
    const entry = entryOf(event);
    if (entry && event.altKey) isolate(page, entry.dataset.run || "");
    else if (entry) hide(page, entry.dataset.run || "");
  });
  for (const name of ["mouseover", "focusin"]) {
    page.root.addEventListener(name, (event) => {
      const entry = entryOf(event);
      light(page, entry && entry.getAttribute("aria-pressed") === "true" ? entry.dataset.run || null : null, figureOf);
    });
  }
  for (const name of ["mouseleave", "focusout"]) page.root.addEventListener(name, () => light(page, null, figureOf));
}

// The legend -----------------------------------------------------------------------------------------------------------

/**
 * @param {string} key
 * @param {string} label
 * @param {string} colour
 * @param {string | null} value
 * @param {Names} labels
 */
function entryOf(key, label, colour, value, labels) {
  const entry = named({ label, colour }, value, labels);
  const button = make("button", `${entry.className} ms-histogram-entry`, [...entry.childNodes], {
    type: "button", "aria-pressed": String(Boolean(colour)), "data-run": key,
    title: `${label}\n${translate("histograms.legend.hint")}`,
  });
  if (!colour) button.classList.add("ms-histogram-off");
  return button;
}

/**
 * The mean of a run at the last step up to a place of the axis, null for its last step.
 * @param {Wire.HistogramPanel} panel
 * @param {number | null} place
 */
function meanAt(panel, place) {
  const at = numbersOf(panel.at);
  let row = at.length - 1;
  while (place !== null && row >= 0 && at[row] > place) row -= 1;
  const mean = row < 0 ? NaN : numbersOf(panel.extent)[3 * row + 1];
  return Number.isFinite(mean) ? short(mean) : "–";
}

/** @param {Wire.HistogramMeta} meta */
const isOver = (meta) => meta.shown > 1 && new Set(meta.panels.map((panel) => panel.xaxis)).size === 1;

/**
 * Draw the legend of a card: statistics and runs in the view of numbers, runs in that of one step, hidden runs in all.
 * @param {HTMLElement} card
 * @param {Wire.HistogramMeta} meta of its figure
 */
export function draw(card, meta) {
  const host = card.querySelector(".ms-histogram-legend");
  const drawn = meta.view === "step" || meta.view === "numbers";
  const shown = drawn ? meta.panels.filter((panel) => numbersOf(panel.step).length) : [];
  /** @param {Wire.HistogramPanel} panel */
  const stepOf = (panel) => numbersOf(panel.step)[0];
  const alike = meta.view !== "step" || shown.every((panel) => stepOf(panel) === stepOf(shown[0]));
  const listed = (drawn && isOver(meta)) || (shown.length && meta.off.length) ? shown : [];
  const labels = new Names([...listed.map((panel) => panel.label), ...meta.off.map(([, label]) => label)]);
  /**
   * @param {Wire.HistogramPanel} panel
   * @returns {string | null}
   */
  const valueOf = (panel) => (meta.view === "numbers" ? meanAt(panel, null) : alike ? null : count(stepOf(panel)));
  const entries = [
    ...listed.map((panel) => entryOf(panel.run, panel.label, panel.colour, valueOf(panel), labels)),
    ...meta.off.map(([key, label]) => entryOf(key, label, "", null, labels)),
  ];
  host.hidden = !entries.length && !(meta.statistics && shown.length);
  card.classList.toggle("ms-with-legend", !host.hidden);
  card.classList.toggle("ms-legend-of-many", entries.length > (meta.statistics ? 1 : MOST_IN_A_LINE));
  host.replaceChildren(...(meta.statistics && shown.length ? meta.statistics : []).map(stroke), ...entries);
  const lines = host.hidden || !card.classList.contains("ms-legend-of-many") ? 1 : Math.round(host.scrollHeight / LINE_PX);
  card.style.setProperty("--ms-legend", `${LINE_PX * Math.min(MOST_LINES, Math.max(2, lines))}px`);
}

/**
 * Show the means at a place of the axis in all cards, null for the last ones.
 * @param {HistogramPage} page
 * @param {FigureOf} figureOf
 * @param {number | null} place
 */
export function point(page, figureOf, place) {
  page.asks.forEach((ask, slot) => {
    const card = ask && page.slot(slot);
    const meta = card && figureOf(card)?.layout.meta;
    if (!meta || meta.view !== "numbers") return;
    for (const panel of meta.panels) {
      const value = card.querySelector(`.ms-histogram-entry[data-run="${CSS.escape(panel.run)}"] .ms-histogram-value`);
      if (value) value.textContent = meanAt(panel, place);
    }
  });
}

// Pages of runs ---------------------------------------------------------------------------------------------------------

/**
 * Which runs are drawn, and buttons for those before and after them.
 * @param {Wire.HistogramMeta} meta
 */
export function pager(meta) {
  /**
   * @param {string} act
   * @param {string} name
   * @param {boolean} stands
   */
  const step = (act, name, stands) => {
    const button = make("button", "ms-badge ms-badge-button", [name], { type: "button", "data-act": act });
    setLabel(button, "aria-label", `histograms.runs.${act}`);
    setLabel(button, "title", `histograms.runs.${act}`);
    button.disabled = !stands;
    return button;
  };
  const shown = { first: count(meta.first + 1), last: count(meta.first + meta.shown), total: count(meta.runs) };
  return [
    step("earlier", "‹", meta.first > 0),
    badge("histograms.of_runs", shown, "histograms.of_runs.title", "accent"),
    step("later", "›", meta.first + meta.shown < meta.runs),
  ];
}

/**
 * @param {HistogramPage} page
 * @param {Wire.HistogramMeta} meta
 * @param {number} by
 */
export function turn(page, meta, by) {
  const first = Math.max(0, meta.first + by * meta.room);
  page.change({ first: first ? [String(first)] : [] });
}
