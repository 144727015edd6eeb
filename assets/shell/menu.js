// The menu of pages: which have data, which are folded away, and which is on screen. Counterpart of layouts/shell/shell.py.

import { functionsOf } from "../kit/dash.js";
import { language, setLabel, writeText } from "../kit/i18n.js";

const functions = functionsOf("mindscope");

/**
 * Mark the page on screen, in the menu and for style sheets.
 * @param {string | null} path
 */
export function markPage(path) {
  for (const shell of document.querySelectorAll(".ms-shell")) shell.dataset.page = path || "";
  for (const link of document.querySelectorAll(".ms-menu-link")) {
    if (link.dataset.page === path) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  fold();
  rove(null);
  const current = document.querySelector(".ms-menu-link[aria-current]");
  if (current) current.scrollIntoView({ block: "nearest" });
}

/** @param {RunList | null} runs */
functions.menu_changed = function (runs) {
  if (!runs) return;
  const kinds = new Set(runs.rows.flatMap((row) => Object.keys(row.tags).filter((kind) => row.tags[kind] > 0)));
  for (const kind of runs.also || []) kinds.add(kind);
  for (const link of document.querySelectorAll(".ms-menu-link")) {
    /** @type {string[]} */
    const needs = link.dataset.needs.split(" ").filter(Boolean);
    const there = needs.length === 0 || needs.some((kind) => kinds.has(kind));
    if (there === (link.getAttribute("aria-disabled") !== "true")) continue;
    link.setAttribute("aria-disabled", String(!there));
    if (there) {
      link.dataset.enTitle = link.querySelector(".en") ? link.querySelector(".en").textContent : link.textContent;
      link.dataset.zhTitle = link.querySelector(".zh") ? link.querySelector(".zh").textContent : link.textContent;
      link.title = link.textContent && language() === "zh" ? link.dataset.zhTitle : link.dataset.enTitle;
    } else setLabel(link, "title", "shell.no_data");
  }
  fold();
  rove(null);
};

/**
 * Let Tab reach one entry of the menu, arrow keys the others: the one given, else that on screen or the first.
 * @param {Element | null} wanted
 */
function rove(wanted) {
  const links = shownLinks();
  const one = wanted || links.find((link) => link.hasAttribute("aria-current")) || links[0];
  for (const link of document.querySelectorAll(".ms-menu-link")) link.tabIndex = link === one ? 0 : -1;
}

/** @returns {HTMLElement[]} */
function shownLinks() {
  return Array.from(document.querySelectorAll(".ms-menu-link")).filter((link) => !link.hidden);
}

/** @type {Record<string, (at: number, length: number) => number>} */
const WAYS = {
  ArrowDown: (at, length) => (at + 1) % length,
  ArrowUp: (at, length) => (at - 1 + length) % length,
  Home: () => 0,
  End: (_at, length) => length - 1,
};

document.addEventListener("keydown", (event) => {
  const link = event.target instanceof Element && event.target.closest(".ms-menu-link");
  const way = WAYS[event.key];
  if (!link || !way || event.ctrlKey || event.metaKey || event.altKey) return;
  const links = shownLinks();
  const next = links[way(links.findIndex((one) => one === link), links.length)];
  event.preventDefault();
  event.stopPropagation();
  rove(next);
  next.focus();
}, true);

// Hide the pages without data, except that on screen, behind a button with their number; and headings with no page left.
function fold() {
  // data-others: runs that are not chosen have the data of the page on screen
  const others = document.querySelector('.ms-menu-link[aria-current]:not([aria-disabled="true"])') !== null;
  for (const shell of document.querySelectorAll(".ms-shell")) shell.toggleAttribute("data-others", others);
  const rest = document.querySelector(".ms-menu-rest");
  if (!rest) return;
  const whole = rest.getAttribute("aria-expanded") === "true";
  /** @param {Element} link */
  const empty = (link) => link.getAttribute("aria-disabled") === "true" && !link.hasAttribute("aria-current");
  /** @type {HTMLElement | null} */
  let heading = null;
  let number = 0;
  for (const item of rest.parentElement.children) {
    if (item.classList.contains("ms-menu-group")) {
      item.hidden = true;
      heading = item;
    } else if (item.classList.contains("ms-menu-link")) {
      number += Number(empty(item));
      item.hidden = empty(item) && !whole;
      if (heading && !item.hidden) heading.hidden = false;
    }
  }
  rest.hidden = !number;
  writeText(rest.querySelector(".ms-menu-count"), whole ? "shell.less" : "shell.rest", { n: number });
  setLabel(rest, "title", whole ? "shell.less" : "shell.rest", { n: number });
}

document.addEventListener("click", (event) => {
  const rest = event.target instanceof Element && event.target.closest(".ms-menu-rest");
  if (!rest) return;
  rest.setAttribute("aria-expanded", String(rest.getAttribute("aria-expanded") !== "true"));
  fold();
  rove(null);
});
