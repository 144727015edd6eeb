// Headings of tables that a script sorts: one button, one mark, one order. Tables that the server sorts: kit/sorting.js.

import { make } from "./elements.js";

/** Class of the button in such a heading. */
export const BUTTON = "ms-sort-head";
/** @typedef {"ascending" | "descending" | ""} Order of a column; "" for none */

const texts = new Intl.Collator("en", { numeric: true });

/**
 * A heading that sorts: a button of the title in a cell.
 * @param {HTMLElement} title
 * @param {Record<string, string>} attributes of the button
 * @param {{ className?: string, order?: Order }} [look] of the cell
 */
export function sortHead(title, attributes = {}, { className = "", order = "" } = {}) {
  const head = make("th", className, make("button", BUTTON, title, { type: "button", ...attributes }), { scope: "col" });
  markOrder(head, order);
  return head;
}

/**
 * Show in a heading, to readers of the screen too, that rows are in the order of its column.
 * @param {Element} head
 * @param {Order} order
 */
export function markOrder(head, order) {
  if (order) head.setAttribute("aria-sort", order);
  else head.removeAttribute("aria-sort");
}

/**
 * Headings of which a press sorts by their column, and a second one turns the order.
 * @param {{ title: HTMLElement, className?: string, falling: boolean }[]} columns falling: what comes first falls
 * @param {(at: number, falling: boolean) => void} sort
 * @param {number} [at] the column by which rows are in order before the first press
 */
export function sortHeads(columns, sort, at = -1) {
  let now = { at: -1, falling: false };
  const heads = columns.map(({ title, className }) => sortHead(title, {}, { className }));
  /** @param {{ at: number, falling: boolean }} next */
  const mark = (next) => heads.forEach((head, place) =>
    markOrder(head, place !== next.at ? "" : next.falling ? "descending" : "ascending"));
  heads.forEach((head, place) => head.addEventListener("click", (event) => {
    if (!(event.target instanceof Element && event.target.closest(`.${BUTTON}`))) return;
    now = { at: place, falling: now.at === place ? !now.falling : columns[place].falling };
    mark(now);
    sort(now.at, now.falling);
  }));
  if (at >= 0) mark({ at, falling: columns[at].falling });
  return heads;
}

/**
 * Compare two things by what valueOf tells of them: numbers by size, texts by alphabet; what is missing (null, NaN) comes last
 * in either direction.
 * @template T
 * @param {(one: T) => string | number | null | undefined} valueOf
 * @param {boolean} [falling]
 * @returns {(a: T, b: T) => number}
 */
export function byValue(valueOf, falling = false) {
  const sign = falling ? -1 : 1;
  /** @param {string | number | null | undefined} value */
  const isMissing = (value) => value === null || value === undefined || Number.isNaN(value);
  return (a, b) => {
    const [x, y] = [valueOf(a), valueOf(b)];
    if (isMissing(x) || isMissing(y)) return Number(isMissing(x)) - Number(isMissing(y));
    return sign * (typeof x === "number" && typeof y === "number" ? x - y : texts.compare(String(x), String(y)));
  };
}
