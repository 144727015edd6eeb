// A line at the same place of the x axis in all cards on screen, with the place as text at the axis. Lines are elements above
// the plots that are moved by a transform: plotly draws nothing, and nothing is laid out anew, so they follow the pointer at
// each frame however many cards there are.

import { make } from "../elements.js";
import { number } from "./curves.js";

const DIGIT = 6.4;  // px of a character of the label, and of its ends
const ENDS = 10;
/** @type {WeakMap<Element, HTMLElement>} */
const crosshairs = new WeakMap();  // card -> its line
/** @type {WeakMap<Element, PlotlyDrawn>} */
const plotted = new WeakMap();  // card -> its plot

/**
 * In pixels from the corner of the plot; null before plotly has drawn.
 * @param {PlotlyDrawn} plot
 * @returns {{ left: number, top: number, width: number, height: number } | null}
 */
function areaOf(plot) {
  const size = plot._fullLayout && plot._fullLayout._size;
  return size ? { left: size.l, top: size.t, width: size.w, height: size.h } : null;
}

/**
 * Where a place on the x axis is in a plot, in pixels from the left of the plot; null if it is out of view.
 * @param {number} x
 * @param {[number, number]} range of the axis
 * @param {{ left: number, width: number }} area
 */
export function pixelOf(x, [low, high], { left, width }) {
  const at = (x - low) / (high - low);
  return at >= 0 && at <= 1 ? left + at * width : null;
}

/**
 * The middle of a label, moved so that the whole label stays in its card.
 * @param {number} at
 * @param {number} length in characters
 * @param {number} width of the card
 */
export function middle(at, length, width) {
  const half = Math.min(width / 2, (length * DIGIT + ENDS) / 2);
  return Math.max(half, Math.min(at, width - half));
}

/**
 * @param {HTMLElement} card
 * @param {PlotlyDrawn} plot
 * @returns {HTMLElement}
 */
function elementOf(card, plot) {
  const around = /** @type {HTMLElement} */ (plot.parentElement);
  const host = around.closest("[data-graph]") || around;
  const known = crosshairs.get(card);
  if (known && known.parentElement === host.parentElement) return known;
  const line = make("div", "ms-crosshair-line", make("div", "ms-crosshair-at"));
  const made = make("div", "ms-crosshair", line, { "aria-hidden": "true", hidden: "" });
  crosshairs.set(card, made);
  host.after(made);
  return made;
}

/**
 * Take the line of a card away.
 * @param {HTMLElement} card
 */
export function hide(card) {
  const known = crosshairs.get(card);
  if (known && !known.hidden) known.hidden = true;
}

/**
 * Show a place in a card.
 * @param {HTMLElement} card
 * @param {number} x
 * @param {string} text
 * @param {boolean} lined whether with a line, not only with its text at the axis
 */
export function place(card, x, text, lined) {
  const before = plotted.get(card);
  const plot = before && card.contains(before) ? before : card.querySelector(".js-plotly-plot");
  plotted.set(card, plot);
  const area = plot && areaOf(plot);
  const axis = area && plot.layout && plot.layout.xaxis;
  if (!axis || !axis.range) return hide(card);
  const { left, top, width, height } = area;
  const at = pixelOf(x, axis.range.map(number), { left, width });
  if (at === null) return hide(card);
  const element = elementOf(card, plot);
  const line = element.querySelector(".ms-crosshair-line");
  const label = element.querySelector(".ms-crosshair-at");
  // Only what changes is written.
  const shape = `${top} ${height}`;
  if (element.dataset.shape !== shape) {
    element.dataset.shape = shape;
    Object.assign(line.style, { top: `${top}px`, height: `${height}px` });
  }
  line.style.transform = `translateX(${at}px)`;
  line.classList.toggle("ms-crosshair-own", !lined);
  const shift = Math.round(middle(at, text.length, left + width + ENDS) - at);
  if (label.dataset.shift !== String(shift)) {
    label.dataset.shift = String(shift);
    label.style.transform = `translateX(calc(${shift}px - 50%))`;
  }
  if (label.textContent !== text) label.textContent = text;
  element.hidden = false;
  return undefined;
}

/**
 * Show a place in all cards on screen, or in none.
 * @param {CardsPage} page
 * @param {number | null} x null for none
 * @param {string} [text]
 * @param {HTMLElement | null} [own] the card under the pointer, which has a line of its own
 */
export function show(page, x, text = "", own = null) {
  page.asks.forEach((ask, slot) => {
    if (!ask) return;
    const card = page.cardsBySlot.get(slot) || page.slot(slot);
    page.cardsBySlot.set(slot, card);
    if (x === null || card.classList.contains("ms-pending")) hide(card);
    else place(card, x, text, card !== own);
  });
}
