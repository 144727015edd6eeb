// Groups of runs as the state describes them.

import { translate } from "../../kit/i18n.js";
import { last } from "../../kit/state.js";

export const MOST_NAMES = 8;

/** @param {Curves.Page} page */
export function by(page) {
  const text = last(page.state, "group", "");
  const at = text.indexOf(":");
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

/** @param {Curves.Page} page */
export const grouped = (page) => by(page)[0] !== "";
/** @param {Curves.Page} page */
export const inTable = (page) => last(page.state, "mode", "") === "table";
/** @param {Curves.Page} page */
export const inMatrix = (page) => inTable(page) && last(page.state, "table", "") === "runs";

/**
 * Part of a card's request about groups.
 * @param {Curves.Page} page
 */
export function asked(page) {
  /** @type {Wire.Query} */
  const wanted = {};
  for (const key of ["group", "base", ...(grouped(page) ? ["line", "band"] : [])]) {
    const value = last(page.state, key, "");
    if (value) wanted[key] = [value];
  }
  return wanted;
}

/** @param {string} label */
export function named(label) {
  return label === "" ? translate("groups.rest") : label;
}

/**
 * Runs of a group, for the table under the pointer.
 * @param {Curves.Page} page
 * @param {string} label
 */
export function members(page, label) {
  const group = page.sheet && page.sheet.groups && page.sheet.groups.find((one) => one.label === label);
  if (!group) return "";
  return group.runs.slice(0, MOST_NAMES).join(", ") + (group.n > MOST_NAMES ? ", …" : "");
}
