// The view of a graph as the state describes it: chosen box, open boxes, pages of long scopes.

import { last } from "../kit/state.js";

export const chooseNode = (page, name) => page.change({ node: name ? [name] : [] });

// Open or close a box, keeping it in place.
export const toggle = (page, name, open) => {
  if (!/^[skf]/.test(name)) return;
  const rest = page.opened.filter((one) => one !== name);
  const opened = open ? [...rest, name] : rest;
  page.anchor = name;
  page.change({ open: opened.length ? opened : [""], node: [name] });
};

export const turn = (page, to) => {
  const name = to.replace(/^\d+:/, "");
  const rest = (page.state.page || []).filter((one) => one.replace(/^\d+:/, "") !== name);
  page.fit = !name;
  page.change({ page: [...rest, to], open: page.opened.length ? page.opened : [""] });
};

export function get(page, key, fallback = "") {
  return last(page.state, key, fallback);
}

// Whether a named node is on the canvas.
export function drawn(page, name) {
  return page.keys.has(name);
}
