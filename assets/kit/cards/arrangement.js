// How cards are arranged: pinned ones first, in an order, in sections by the prefix of their tags, and on pages.
//
// State: pin (tags), order ("name", "insights"; by prefix if not named), fold (prefixes of closed sections, "*" for all but
// those in unfold), cards (number on a page), columns, height. A link contains what is not usual.

import { last, listed } from "../state.js";
import { grouped } from "./tag_list.js";

/** @typedef {{ prefix: string, tags: string[], folded: boolean, headed: boolean }} Section */
/**
 * The head of a section.
 * @typedef {{ prefix?: string, pinned?: boolean, count: number, folded?: boolean, from?: number, to?: number }} Head
 */
/** @typedef {{ key: string } | { head: Head }} Item of a page of cards */

export const ORDERS = ["prefix", "name", "insights"];
export const COLUMNS = ["1", "2", "3", "4", "5", "6", "8"];
/** @type {Record<string, number>} */
export const HEIGHTS = { small: 200, large: 460 };
const ALL = "*";

const byName = new Intl.Collator("en", { numeric: true });

/** @param {Wire.Query} state */
export function orderOf(state) {
  const order = last(state, "order", ORDERS[0]);
  return ORDERS.includes(order) ? order : ORDERS[0];
}

/**
 * Number of cards on a page: one of a few multiples of the usual number.
 * @param {Wire.Query} state
 * @param {number} usual
 */
export function perPage(state, usual) {
  const wanted = Number(last(state, "cards", ""));
  return sizes(usual).includes(wanted) ? wanted : usual;
}

/** @param {number} usual */
export const sizes = (usual) => [usual, 2 * usual, 4 * usual];

/**
 * Number of columns that the user chose, 0 for as many as there is room for.
 * @param {Wire.Query} state
 */
export function columnsChosen(state) {
  const wanted = last(state, "columns", "");
  return COLUMNS.includes(wanted) ? Number(wanted) : 0;
}

// Pins ---------------------------------------------------------------------------------------------------------------

/**
 * Pinned tags that the runs have, at most as many as fit.
 * @param {Wire.Query} state
 * @param {string[]} tags
 * @param {number} most
 */
export function pinned(state, tags, most) {
  const known = new Set(tags);
  return (state.pin || []).filter((tag) => known.has(tag)).slice(0, most);
}

// Sections -----------------------------------------------------------------------------------------------------------

/**
 * @param {Wire.Query} state
 * @param {string} prefix
 */
export function isFolded(state, prefix) {
  return listed(state, "fold", ALL) ? !listed(state, "unfold", prefix) : listed(state, "fold", prefix);
}

/**
 * Changes of the state that close or open a section.
 * @param {Wire.Query} state
 * @param {string} prefix
 * @param {boolean} closed
 * @returns {Wire.Query}
 */
export function fold(state, prefix, closed) {
  const [key, add] = listed(state, "fold", ALL) ? ["unfold", !closed] : ["fold", closed];
  const others = (state[key] || []).filter((one) => one !== prefix);
  return { [key]: add ? [...others, prefix] : others, page: [] };
}

/**
 * Changes of the state that close or open all sections.
 * @param {boolean} closed
 */
export const foldAll = (closed) => ({ fold: closed ? [ALL] : [], unfold: [], page: [] });

/**
 * Tags in their order, in sections. Tags that share a prefix have a section of their own; all others are in the one with the
 * prefix "", which stands where the first of them does. Without any shared prefix there is one section, without a head.
 * @param {string[]} tags in the order of the catalogue
 * @param {Wire.Query} state
 * @param {Map<string, number> | null} [ranks] of tags with insights, those that rank first have the lowest; null if not known
 * @returns {{ prefix: string, tags: string[], folded: boolean, headed: boolean }[]}
 */
export function sections(tags, state, ranks = null) {
  const order = orderOf(state);
  if (order === "name") return whole([...tags].sort(byName.compare));
  if (order === "insights") {
    /** @param {string} tag */
    const rank = (tag) => ranks?.get(tag) ?? Infinity;
    return whole(ranks ? [...tags].sort((a, b) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b))) : tags);
  }
  /** @type {Map<string, string[]>} */
  const found = new Map();
  for (const group of grouped(tags)) found.set(group.prefix, [...(found.get(group.prefix) || []), ...group.tags]);
  if (found.size <= 1 && found.has("")) return whole(tags);
  return Array.from(found, ([prefix, members]) => ({ prefix, tags: members, folded: isFolded(state, prefix), headed: true }));
}

/**
 * @param {string[]} tags
 * @returns {Section[]}
 */
const whole = (tags) => (tags.length ? [{ prefix: "", tags, folded: false, headed: false }] : []);

/**
 * What is on one page of cards: heads of sections, and cards. Closed sections stand between those around them.
 * @param {{ prefix: string, tags: string[], folded: boolean, headed: boolean }[]} all
 * @param {number} number of the page, from 0
 * @param {number} size cards on a page
 * @returns {{ items: ({ key: string } | { head: any })[], keys: string[], first: number, total: number, number: number }}
 *   first: place of the first card among all of open sections; total: number of these
 */
export function spread(all, number, size) {
  const total = all.reduce((sum, one) => sum + (one.folded ? 0 : one.tags.length), 0);
  const most = Math.max(0, Math.ceil(total / size) - 1);
  const at = Math.min(most, Math.max(0, number));
  const [first, end] = [at * size, Math.min(total, (at + 1) * size)];
  /** @type {Item[]} */
  const items = [];
  let place = 0;  // of the first card of a section
  for (const one of all) {
    const { prefix, tags, folded, headed } = one;
    const count = folded ? 0 : tags.length;
    const [from, to] = [Math.max(first, place), Math.min(end, place + count)];
    const here = folded ? place >= first && (place < end || at === most) : from < to;
    if (here && headed) items.push({ head: { prefix, count: tags.length, folded, from: from - place, to: to - place } });
    if (here && !folded) items.push(...tags.slice(from - place, to - place).map((key) => ({ key })));
    place += count;
  }
  const keys = items.flatMap((item) => ("key" in item ? [item.key] : []));
  return { items, keys, first, total, number: at };
}

/**
 * The page of cards, from 0, on which a section begins.
 * @param {Section[]} all
 * @param {string} prefix
 * @param {number} size
 */
export function pageOfSection(all, prefix, size) {
  let place = 0;
  for (const one of all) {
    if (one.prefix === prefix) return Math.floor(place / size);
    place += one.folded ? 0 : one.tags.length;
  }
  return 0;
}
