// The view of a landscape as the state describes it.

import { last } from "../../kit/state.js";

export const DEFAULTS = { view: "filled", map: "viridis", lines: "20", opacity: "1" };

/**
 * @param {Landscape.Page} page
 * @param {string} key
 */
export function get(page, key) {
  return last(page.state, key, DEFAULTS[key] || "");
}

/**
 * @param {Landscape.Page} page
 * @param {string} key
 * @param {string} value
 */
export function put(page, key, value) {
  page.change({ [key]: value === (DEFAULTS[key] || "") ? [] : [value] });
}
