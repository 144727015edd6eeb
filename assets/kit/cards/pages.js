// The pages of cards on screen and their kinds; see cards.js.

import { keeper } from "../pages.js";

export const kinds = new Map();

export function define(name, kind) {
  kinds.set(name, kind);
}

export const begun = [];

// Register a function that is called once for each new page of cards.
export function onBegin(act) {
  begun.push(act);
}

export const { pageOf } = keeper(
  (root) => /** @type {UndeclaredFields} */ ({
    kind: kinds.get(root.dataset.page),
    catalogue: null,
    shown: [],
    items: [],  // cards and heads of sections on this page of cards, in order; see arrangement.js
    usual: Number(root.dataset.slots),  // cards on a page
    keys: [],
    asks: [],
    requested: Array(Number(root.dataset.most)).fill(null),  // the ask of each slot that was sent last
    waiting: new Map(),  // slots without an answer -> their request; see drawings.js
    requests: 0,
    held: false,  // whether the request for cards outside the window waits for that for cards in it
    stamps: [],
    queue: new Map(),
    showing: false,
    chosen: [],
    drawings: new Map(),
    answered: new Map(),
    part: (part, slot) => ({ ms: root.dataset.instance, page: root.dataset.page, part, key: String(slot) }),
    cardsBySlot: new Map(),  // elements that crosshair.js has looked up
    slot: (number) => root.querySelector(`.ms-slot[data-slot="${number}"]`),
  }),
  (page) => begun.forEach((act) => act(page)),
);

export function pageAround(element) {
  const root = element instanceof Element && element.closest(".ms-tagged");
  return root ? pageOf(root.id) : null;
}

// All pages on screen with this name.
export function all(name) {
  return Array.from(document.querySelectorAll(`.ms-tagged[data-page="${name}"]`), (root) => pageOf(root.id));
}

// Address of an export route for the selected runs; name is the file name, such as "scalars.csv".
export function exportUrl(page, name, tags, extra = {}) {
  const query = new URLSearchParams();
  if (!(page.state.run || []).includes("*")) for (const run of page.catalogue.runs) query.append("run", run);
  for (const tag of tags || []) query.append("tag", tag);
  for (const [key, value] of Object.entries(extra)) query.append(key, value);
  return `${page.root.dataset.routes}${name}?${query}`;
}
