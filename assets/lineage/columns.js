// Which columns are shown, their scales, names and values.

import { inLanguage, translate } from "../kit/i18n.js";
import { middle } from "../kit/names.js";
import { last } from "../kit/state.js";
import { cellText } from "../kit/units.js";

/**
 * @param {Lineage.Page} page
 * @param {string} name of a column of the table
 */
export const columnNamed = (page, name) => /** @type {Lineage.Column} */ (page.columns.get(name));

// What is shown -----------------------------------------------------------------------------------------------------

/**
 * Shown columns, in the order of their axes.
 * @param {Lineage.Page} page
 */
export function chosen(page) {
  const named = (page.state.col || []).filter((name) => page.columns.has(name));
  const names = page.state.col ? named : page.sheet.default;
  return differingOnly(page) ? names.filter((name) => columnNamed(page, name).differs) : names;
}

/** @param {Lineage.Page} page */
export function differingOnly(page) {
  return last(page.state, "differ", "") === "1";
}

/**
 * Pipelines are mostly alike, so by default only differing columns become axes, and of all no more than there is room for.
 * @param {Lineage.Page} page
 */
export function axesOf(page) {
  const usable = chosen(page).filter((name) => columnNamed(page, name).axis);
  if (page.state.col) return usable;
  const differing = usable.filter((name) => columnNamed(page, name).differs);
  const axes = page.sheet.nodes && differing.length > 1 ? differing : usable;
  const first = new Set(page.sheet.ranked.filter((name) => axes.includes(name)).slice(0, page.room));
  return axes.filter((name) => first.has(name));
}

/**
 * Order of the rows, "+" or "-" and a column of the grid each; by default the main result, the best run first.
 * @param {Lineage.Page} page
 */
export function sortOf(page) {
  return page.state.sort ? page.state.sort.filter(Boolean) : usualSort(page);
}

/** @param {Lineage.Page} page */
export function usualSort(page) {
  const { sort } = page.sheet;
  return sort && chosen(page).includes(sort.slice(1)) ? [`${sort[0]}=${sort.slice(1)}`] : [];
}

/**
 * Scale of a column: the chosen one, else the default for its values.
 * @param {Lineage.Page} page
 * @param {string} name
 */
export function scaleOf(page, name) {
  if ((page.state.linear || []).includes(name)) return "linear";
  return (page.state.log || []).includes(name) ? "log" : columnNamed(page, name).scale;
}

/** @param {Lineage.Page} page */
export function viewOf(page) {
  const view = last(page.state, "view", "");
  return ["matrix", "scatter"].includes(view) ? view : "";
}

/**
 * Columns of the x and y axis of the scatter view.
 * @param {Lineage.Page} page
 */
export function pairOf(page) {
  const axes = page.sheet.columns.filter((column) => column.axis).map((column) => column.name);
  const shown = axesOf(page);
  const usual = [
    shown.find((name) => name !== colourOf(page)),
    shown.includes(colourOf(page)) ? colourOf(page) : shown[shown.length - 1],
  ];
  return ["x", "y"].map((key, i) => {
    const named = last(page.state, key, "");
    return axes.includes(named) ? named : usual[i] || axes[0];
  });
}

/**
 * Whether equal pipelines share a row.
 * @param {Lineage.Page} page
 */
export function together(page) {
  return Boolean(page.sheet.nodes) && last(page.state, "together", "") === "1";
}

/** @param {Lineage.Page} page */
export function colourOf(page) {
  return last(page.state, "colour", page.sheet.colour);
}

/** @param {Lineage.Column} column */
export function labelOf(column) {
  return inLanguage(column.label);
}

/**
 * Text of a value.
 * @param {Lineage.Column} column
 * @param {number} place
 */
export function valueText(column, place) {
  const value = column.values[place];
  if (value === null) return translate("lineage.apart.missing");
  return column.numeric ? cellText(Number(value), column.unit) : cut(String(value), 80);
}

/**
 * Name of a column among those of other groups.
 * @param {Lineage.Column} column
 */
export function fullOf(column) {
  return inLanguage(column.full);
}

/**
 * Name of an axis: the short one, unless it is ambiguous.
 * @param {Lineage.Page} page
 * @param {string} name
 */
export function shortOf(page, name) {
  const column = columnNamed(page, name);
  const alike = axesOf(page).filter((other) => labelOf(columnNamed(page, other)) === labelOf(column));
  return alike.length > 1 || column.full[0] === inEnglish(page, column) ? fullOf(column) : labelOf(column);
}

/**
 * @param {Lineage.Page} page
 * @param {Lineage.Column} column
 */
export function inEnglish(page, column) {
  const found = page.sheet.groups.find(([group]) => group === column.group);
  return found ? found[1][0] : "";
}

/**
 * @param {string} text
 * @param {number} longest
 */
export function cut(text, longest) {
  return middle(text, longest);
}
