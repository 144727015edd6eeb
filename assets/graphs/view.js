// The view of a graph as the state describes it: chosen box, open boxes, pages of long scopes.

import { last } from "../kit/state.js";

/**
 * @param {KeptPage} page
 * @param {string} name
 */
export const chooseNode = (page, name) => page.change({ node: name ? [name] : [] });

/**
 * Open or close a box, keeping it in place.
 * @param {Graphs.CanvasPage} page
 * @param {string} name
 * @param {boolean} open
 */
export const toggle = (page, name, open) => {
  if (!/^[skf]/.test(name)) return;
  const rest = page.opened.filter((one) => one !== name);
  const opened = open ? [...rest, name] : rest;
  page.anchor = name;
  page.change({ open: opened.length ? opened : [""], node: [name] });
};

/**
 * @param {Graphs.CanvasPage} page
 * @param {string} to
 */
export const turn = (page, to) => {
  const name = to.replace(/^\d+:/, "");
  const rest = (page.state.page || []).filter((one) => one.replace(/^\d+:/, "") !== name);
  page.fit = !name;
  page.change({ page: [...rest, to], open: page.opened.length ? page.opened : [""] });
};

/**
 * @param {KeptPage} page
 * @param {string} key
 * @param {string} [fallback]
 */
export function get(page, key, fallback = "") {
  return last(page.state, key, fallback);
}

/**
 * Whether a named node is on the canvas.
 * @param {Graphs.CanvasPage} page
 * @param {string} name
 */
export function drawn(page, name) {
  return page.keys.has(name);
}
