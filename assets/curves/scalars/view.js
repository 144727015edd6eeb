// What the scalars page shows: cards or one chart, its tags, and thresholds.

import { entry, last } from "../../kit/state.js";

export const ONE = "";  // key of the chart with several tags

/** @param {CardsPage} page */
export function oneChart(page) {
  return last(page.state, "mode", "") === "one";
}

/**
 * Tags of the one chart: [left axis, right axis].
 * @param {CardsPage} page
 */
export function synthesis(page) {
  const left = page.state.left || [];
  const right = page.state.right || [];
  if (left.length || right.length) return [left, right];
  return [page.chosen.slice(0, 1), page.chosen.slice(1, 2)];
}

/**
 * Thresholds of a card. The one chart uses those of its tags unless it has its own.
 * @param {CardsPage} page
 * @param {string} key
 */
export function thresholds(page, key) {
  const own = entry(page.state, "threshold", key);
  if (own || key !== ONE) return own ? [own] : [];
  return synthesis(page).flat().map((tag) => [entry(page.state, "threshold", tag), tag])
    .filter(([limit]) => limit).map(([limit, tag]) => `${limit}:${tag}`);
}
