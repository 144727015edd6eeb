// Settings of runs with how much a result has to do with each: names, strengths and their order.

import { inLanguage } from "../../kit/i18n.js";
import { last } from "../../kit/state.js";

/** @type {Lineage.Measure[]} */
export const MEASURES = ["linear", "rank", "share"];
export const RUNNING = ["waiting", "fitting", "left"];
const EXPLAINS = 0.1;  // a prediction of a lower R² does not decide the order
const NONE = 0.005;  // as in parsers/analysis/lineage/shares.py: of a lower end it is not known whether there is any share

/**
 * @param {Lineage.ResultPage} page
 * @param {string} setting
 */
export function named(page, setting) {
  return inLanguage(page.sheet.settings[setting] || [setting, setting]);
}

/** @param {Lineage.ResultPage} page */
export function targetLabel(page) {
  const found = page.sheet.targets.find(({ name }) => name === page.sheet.target);
  return found ? inLanguage(found.label) : "";
}

/**
 * The measure to sort by: as chosen, else the share if the fit explains the result, else "" for the lower limits.
 * @param {Lineage.ResultPage} page
 * @returns {Lineage.Measure | ""}
 */
export function measure(page) {
  const asked = last(page.state, "by", "");
  const by = MEASURES.find((one) => one === asked);
  if (by) return by;
  const { fitting } = page;
  const fitted = fitting && fitting.target === page.sheet.target && !RUNNING.includes(fitting.state);
  return fitted && fitting.fit !== null && fitting.fit >= EXPLAINS ? "share" : "";
}

/** @param {Lineage.ResultPage} page */
export function shares(page) {
  return page.fitting && page.fitting.target === page.sheet.target ? page.fitting.shares : {};
}

/**
 * [value, low, high] of a measure in a row, or null.
 * @param {Lineage.ResultPage} page
 * @param {Lineage.SettingRow} row
 * @param {Lineage.Measure} by
 * @returns {[number, number | null, number | null] | null}
 */
export function strength(page, row, by) {
  const found = by === "share" ? shares(page)[row.setting] : row[by];
  if (!found || found[0] === null) return null;
  const [value, low, high] = found;
  return [value, low, high];
}

/** @param {[number, number | null, number | null]} share whether its interval is above 0 */
export function ranked([, low]) {
  return low === null || low >= NONE;
}

/**
 * Strengths are sorted by their lower limit, as a high value of few runs says little; shares by their value, but those that may
 * be none come after all others.
 * @param {Lineage.ResultPage} page
 * @param {Lineage.SettingRow} row
 * @param {Lineage.Measure | ""} by
 * @returns {number}
 */
function size(page, row, by) {
  if (row.reason) return -3;
  if (!by) return Math.max(size(page, row, "linear"), size(page, row, "rank"));
  const found = strength(page, row, by);
  if (!found) return -2;
  if (by === "share") return ranked(found) ? found[0] : found[0] - 1.5;
  return found[1] === null ? found[0] - 1.5 : found[1];
}

/** @param {Lineage.ResultPage} page */
export function sorted(page) {
  const by = measure(page);
  const sizes = page.sheet.rows.map((row) => {
    const [value] = strength(page, row, by || "linear") || [-1];
    return { row, size: size(page, row, by), value };
  });
  return sizes.sort((a, b) => b.size - a.size || b.value - a.value).map(({ row }) => row);
}

/**
 * Rows that have a strength, with it.
 * @param {Lineage.ResultPage} page
 */
export function numbered(page) {
  return sorted(page).flatMap((row) => {
    const ends = strength(page, row, measure(page) || "linear");
    return ends ? [{ row, ends }] : [];
  });
}

/**
 * The setting on screen: as chosen, else the strongest one, seeds last.
 * @param {Lineage.ResultPage} page
 */
export function chosenSetting(page) {
  const asked = last(page.state, "setting", "");
  const { rows } = page.sheet;
  if (rows.some(({ setting }) => setting === asked)) return asked;
  const first = rows.find(({ seed }) => !seed) || rows[0];
  return first ? first.setting : "";
}

/**
 * The direction of a setting: that of the curve on screen, whatever its axis, or of the curve that would be drawn.
 * @param {Lineage.ResultPage} page
 * @param {Lineage.SettingRow | null} row
 */
export function shapeOf(page, row) {
  const { drawing } = page;
  const own = drawing && drawing.target === page.sheet.target && (!row || drawing.setting === row.setting);
  if (own && drawing.figure) return drawing.figure.layout.meta.shape;
  return row ? row.shape : "";
}
