// The pages of cards on screen and their kinds; see cards.js.

import { onlyTag } from "../alone.js";
import { keeper } from "../pages.js";

/** @type {Map<string, CardKind>} */
export const kinds = new Map();

/**
 * @template {keyof CardPages} Name
 * @param {Name} name
 * @param {CardKind<CardPages[Name]>} kind
 */
export function define(name, kind) {
  kinds.set(name, /** @type {CardKind} */ (kind));
}

/** @type {((page: CardsPage) => void)[]} */
export const begun = [];

/**
 * Register a function that is called once for each new page of cards.
 * @param {(page: CardsPage) => void} act
 */
export function onBegin(act) {
  begun.push(act);
}

/** @type {any} */
const notYet = null;  // set before anything reads it: by the first plan, or when the bar is built

/**
 * The record of a page of cards, with all fields that cards.js and the modules beside it keep.
 * @param {HTMLElement} root
 * @param {CardsPage} page
 * @returns {Omit<CardsPage, keyof KeptPage>}
 */
function fresh(root, page) {
  const kind = /** @type {CardKind} */ (kinds.get(root.dataset.page || ""));
  return {
    kind,
    only: root.dataset.only ?? onlyTag,
    catalogue: notYet,  // until Dash has sent one
    shown: [],
    items: [],  // cards and heads of sections on this page of cards, in order; see arrangement.js
    pins: [],
    sections: [],
    spread: { items: [], keys: [], first: 0, total: 0, number: 0 },
    perPage: Number(root.dataset.slots),
    paged: false,
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
    request: () => {},  // cards.js sets these two
    release: () => {},
    nearing: 0,
    settling: 0,
    writing: 0,
    columns: undefined,
    makingSlots: false,
    heads: new Map(),
    layoutMenu: notYet,
    linkButton: null,
    layoutControls: null,
    open: new Map(),
    drawnUpTo: new Map(),
    groups: [],
    drawn: "",
    drawnCatalogue: null,
    moving: new Map(),
    positions: null,
    positionsOf: [],
    hovered: null,
    linkedCards: [],
    threshold: undefined,
    runList: undefined,
    trails: undefined,
    tensorLook: undefined,
    tensorHistogram: undefined,
    ...(kind && kind.fields ? kind.fields(page) : {}),
  };
}

export const { pageOf } = keeper(fresh, (page) => begun.forEach((act) => act(page)));

/**
 * A page by the id of its root if it has this name.
 * @template {keyof CardPages} Name
 * @param {Name} name
 * @param {string} rootId
 * @returns {CardPages[Name] | null}
 */
export function pageNamed(name, rootId) {
  const page = pageOf(rootId);
  return page && page.root.dataset.page === name ? /** @type {CardPages[Name]} */ (page) : null;
}

/** @param {EventTarget | null} element */
export function pageAround(element) {
  const root = element instanceof Element && element.closest(".ms-tagged");
  return root ? pageOf(root.id) : null;
}

/**
 * All pages on screen with this name.
 * @template {keyof CardPages} Name
 * @param {Name} name
 * @returns {CardPages[Name][]}
 */
export function all(name) {
  const roots = Array.from(document.querySelectorAll(`.ms-tagged[data-page="${name}"]`));
  return roots.map((root) => pageNamed(name, root.id)).filter((page) => page !== null);
}

/**
 * Address of an export route for the selected runs; name is the file name, such as "scalars.csv".
 * @param {CardsPage} page
 * @param {string} name
 * @param {string[] | null} tags
 * @param {Record<string, string | number>} [extra]
 */
export function exportUrl(page, name, tags, extra = {}) {
  const query = new URLSearchParams();
  if (!(page.state.run || []).includes("*")) for (const run of page.catalogue.runs) query.append("run", run);
  for (const tag of tags || []) query.append("tag", tag);
  for (const [key, value] of Object.entries(extra)) query.append(key, String(value));
  return `${page.root.dataset.routes}${name}?${query}`;
}
