// Widths of cards and of the figures in them.

import { setProps } from "../base/dash.js";

// Widths are rounded up to these, so that small changes of the window cause no request.
export const WIDTHS = [300, 420, 600, 850, 1200, 1700, 2400, 3400, 4800];
export const MARGINS = 68;
export const GAP = 8;

// Widths -------------------------------------------------------------------------------------------------------------

export function measure(page) {
  if (!page.find(".ms-slots").clientWidth) return;
  const bucket = String(columns(page, page.shown.length, false));
  if (bucket === page.bucket) return;
  page.bucket = bucket;
  setProps(page.store("screen"), { data: bucket });
}

export function bucketOf(width) {
  const wanted = (width - MARGINS) * Math.min(window.devicePixelRatio || 1, 2);
  return WIDTHS.find((size) => size >= wanted) || WIDTHS[WIDTHS.length - 1];
}

export function gridWidth(page) {
  return page.find(".ms-slots").clientWidth || 1200;
}

// Number of cards in a row, as in cards.css: at least 340 px wide, two to four.
export function across(page, count) {
  const width = gridWidth(page);
  const narrowest = Math.max(Math.min(340, (width - GAP) / 2), (width - 3 * GAP) / 4);
  return Math.min(Math.floor((width + GAP) / (narrowest + GAP) + 1e-6), Math.max(1, count));
}

export function columns(page, count, full) {
  return bucketOf(full ? window.innerWidth : gridWidth(page) / across(page, count));
}
