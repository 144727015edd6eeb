// Widths of cards and of the figures in them: whole pixels, so that the server reduces curves to the columns of the screen.

import { setProps } from "../dash.js";
import { columnsChosen } from "./arrangement.js";

/**
 * A page of cards.
 * @typedef {KeptPage & { shown: string[], only?: string | null, columns?: string, settling?: number,
 *   items?: object[] }} Measured
 */

const PHONE = 600;  // pixels of the window, as in cards.css
const BORDERS = 2;
export const MARGINS = 68;  // of a figure with one value axis, as in layouts/curves/lines.py
export const GAP = 8;
const RANGE = [50, 8000];  // as in layouts/curves/scalar_asks.py
const SETTLED_MS = 150;
const NARROWEST = 160;  // px of a card, however many columns the user chose

// Widths -------------------------------------------------------------------------------------------------------------

/**
 * While the window is being resized, cards keep their drawings.
 * @param {Measured} page
 */
export function measure(page) {
  const slots = page.find(".ms-slots");
  if (!slots.clientWidth) return;
  const cards = across(page, page.shown.length);
  slots.style.paddingInlineEnd = `${spare(slots.clientWidth, cards)}px`;
  slots.style.setProperty("--ms-columns", String(cards));
  slots.style.setProperty("--ms-widest", String(widest(page, page.shown.length)));
  slots.classList.toggle("ms-columns-chosen", columnsChosen(page.state) > 0);
  const now = String(columns(page, page.shown.length, false));
  if (now === page.columns) return;
  window.clearTimeout(page.settling);
  const send = () => {
    if (now === page.columns || !page.root.isConnected) return;
    page.columns = now;
    setProps(page.store("screen"), { data: now });
  };
  if (page.columns === undefined) send();
  else page.settling = window.setTimeout(send, SETTLED_MS);
}

/**
 * Pixels of a row that its cards leave over, so that each card is a whole number of pixels wide.
 * @param {number} width
 * @param {number} count
 */
export function spare(width, count) {
  return (width - GAP * (count - 1)) % count;
}

/**
 * Pixels of the screen that the plot area of a card of this width is wide.
 * @param {number} width
 * @param {number} [margins]
 */
export function columnsOf(width, margins = MARGINS) {
  const pixels = Math.round((width - BORDERS - margins) * (window.devicePixelRatio || 1));
  return Math.min(RANGE[1], Math.max(RANGE[0], pixels));
}

/** @param {Measured} page */
export function gridWidth(page) {
  return page.find(".ms-slots").clientWidth || 1200;
}

/**
 * Number of cards in a row at most, two to four: no more than the longest section has, so that no column stays empty.
 * @param {Measured} page
 * @param {number} count
 */
function widest({ items }, count) {
  let [most, now] = [0, 0];
  for (const item of items || []) {
    now = "key" in item ? now + 1 : 0;
    most = Math.max(most, now);
  }
  return Math.max(2, Math.min(4, most || count));
}

/**
 * Number of cards in a row: as many as the user chose, or as in cards.css: at least 340 px wide, two to four; one on a phone.
 * @param {Measured} page
 * @param {number} count
 */
export function across(page, count) {
  if (document.documentElement.clientWidth <= PHONE || count === 1) return 1;
  const width = gridWidth(page);
  const chosen = columnsChosen(page.state);
  if (chosen) return Math.max(1, Math.min(chosen, Math.floor((width + GAP) / (NARROWEST + GAP))));
  const most = widest(page, count);
  const narrowest = Math.max(Math.min(340, (width - GAP) / 2), (width - (most - 1) * GAP) / most);
  return Math.min(Math.floor((width + GAP) / (narrowest + GAP) + 1e-6), Math.max(1, count));
}

/**
 * Pixel columns of the plot of one of `count` cards, or of a card that fills the window.
 * @param {Measured} page
 * @param {number} count
 * @param {boolean} full
 * @param {number} [margins]
 */
export function columns(page, count, full, margins = MARGINS) {
  if (full) return columnsOf((page.only ? page.root : document.documentElement).clientWidth, margins);
  const cards = across(page, count);
  return columnsOf(Math.floor((gridWidth(page) - GAP * (cards - 1)) / cards), margins);
}
