// cards/pages.js

import { keeper } from "../base/pages.js";

export const kinds = new Map();

export function define(name, kind) {
  kinds.set(name, kind);
}

export const begun = [];

// Have something done once for each page of cards, when it is first met.
export function onBegin(act) {
  begun.push(act);
}

export const { pageOf } = keeper(
  (root) => ({
    kind: kinds.get(root.dataset.page),
    catalogue: null,
    shown: [],
    asks: [],
    chosen: [],
    drawings: new Map(),
    answered: new Map(),
    part: (part, slot) => ({ ms: root.dataset.instance, page: root.dataset.page, part, key: String(slot) }),
    slot: (number) => root.querySelector(`.ms-slot[data-slot="${number}"]`),
  }),
  (page) => begun.forEach((act) => act(page)),
);

export function pageAround(element) {
  const root = element instanceof Element && element.closest(".ms-tagged");
  return root ? pageOf(root.id) : null;
}

// Pages of one name that are on screen.
export function all(name) {
  return Array.from(document.querySelectorAll(`.ms-tagged[data-page="${name}"]`), (root) => pageOf(root.id));
}

// The address of a plain route over the runs on screen; name is that of the file: "scalars.csv".
export function exportUrl(page, name, tags, extra = {}) {
  const query = new URLSearchParams();
  if (!(page.state.run || []).includes("*")) for (const run of page.catalogue.runs) query.append("run", run);
  for (const tag of tags || []) query.append("tag", tag);
  for (const [key, value] of Object.entries(extra)) query.append(key, value);
  return `${page.root.dataset.routes}${name}?${query}`;
}
