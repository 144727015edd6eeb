// cards/widths.js

import { setProps } from "../base/dash.js";

// Columns are asked for in these sizes, so that a window one pixel wider asks for nothing new.
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

// Cards beside each other, as the grid of cards.css has it: of at least 340 px, at least 2 and at most 4.
export function across(page, count) {
  const width = gridWidth(page);
  const narrowest = Math.max(Math.min(340, (width - GAP) / 2), (width - 3 * GAP) / 4);
  return Math.min(Math.floor((width + GAP) / (narrowest + GAP) + 1e-6), Math.max(1, count));
}

export function columns(page, count, full) {
  return bucketOf(full ? window.innerWidth : gridWidth(page) / across(page, count));
}
