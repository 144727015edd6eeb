// Which columns are shown, their scales, names and values.

import { inLanguage, translate } from "../kit/i18n.js";
import { last } from "../kit/state.js";
import { cellText } from "../kit/units.js";

// What is shown -----------------------------------------------------------------------------------------------------

// Shown columns, in the order of their axes.
export function chosen(page) {
  const named = (page.state.col || []).filter((/** @type {string} */ name) => page.columns.has(name));
  const names = page.state.col ? named : page.sheet.default;
  return differingOnly(page) ? names.filter((/** @type {string} */ name) => page.columns.get(name).differs) : names;
}

export function differingOnly(page) {
  return last(page.state, "differ", "") === "1";
}

// Pipelines are mostly alike, so by default only differing columns become axes, and of all no more than there is room for.
export function axesOf(page) {
  const usable = chosen(page).filter((/** @type {string} */ name) => page.columns.get(name).axis);
  if (page.state.col) return usable;
  const differing = usable.filter((/** @type {string} */ name) => page.columns.get(name).differs);
  const axes = page.sheet.nodes && differing.length > 1 ? differing : usable;
  const first = new Set(page.sheet.ranked.filter((/** @type {string} */ name) => axes.includes(name)).slice(0, page.room));
  return axes.filter((/** @type {string} */ name) => first.has(name));
}

// Order of the rows, "+" or "-" and a column of the grid each; by default the main result, the best run first.
export function sortOf(page) {
  return page.state.sort ? page.state.sort.filter(Boolean) : usualSort(page);
}

export function usualSort(page) {
  const { sort } = page.sheet;
  return sort && chosen(page).includes(sort.slice(1)) ? [`${sort[0]}=${sort.slice(1)}`] : [];
}

/**
 * Scale of a column: the chosen one, else the default for its values.
 * @param {string} name
 */
export function scaleOf(page, name) {
  if ((page.state.linear || []).includes(name)) return "linear";
  return (page.state.log || []).includes(name) ? "log" : page.columns.get(name).scale;
}

export function viewOf(page) {
  const view = last(page.state, "view", "");
  return ["matrix", "scatter"].includes(view) ? view : "";
}

// Columns of the x and y axis of the scatter view.
export function pairOf(page) {
  const axes = page.sheet.columns.filter((column) => column.axis).map((column) => column.name);
  const shown = axesOf(page);
  const usual = [
    shown.find((/** @type {string} */ name) => name !== colourOf(page)),
    shown.includes(colourOf(page)) ? colourOf(page) : shown[shown.length - 1],
  ];
  return ["x", "y"].map((key, i) => {
    const named = last(page.state, key, "");
    return axes.includes(named) ? named : usual[i] || axes[0];
  });
}

// Whether equal pipelines share a row.
export function together(page) {
  return Boolean(page.sheet.nodes) && last(page.state, "together", "") === "1";
}

export function colourOf(page) {
  return last(page.state, "colour", page.sheet.colour);
}

export function labelOf(column) {
  return inLanguage(column.label);
}

// Text of a value.
export function valueText(column, place) {
  const value = column.values[place];
  if (value === null) return translate("lineage.apart.missing");
  return column.numeric ? cellText(Number(value), column.unit) : cut(value, 80);
}

// Name of a column among those of other groups.
export function fullOf(column) {
  return inLanguage(column.full);
}

/**
 * Name of an axis: the short one, unless it is ambiguous.
 * @param {string} name
 */
export function shortOf(page, name) {
  const column = page.columns.get(name);
  const alike = axesOf(page).filter((other) => labelOf(page.columns.get(other)) === labelOf(column));
  return alike.length > 1 || column.full[0] === inEnglish(page, column) ? fullOf(column) : labelOf(column);
}

export function inEnglish(page, column) {
  return page.sheet.groups.find(([group]) => group === column.group)[1][0];
}

/**
 * @param {string} text
 * @param {number} longest
 */
export function cut(text, longest) {
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
}
