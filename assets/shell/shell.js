// Routing. Counterpart of layouts/shell/shell.py: the components of a page are fetched when it is
// first opened.

import { part, report } from "../kit/alone.js";
import { functionsOf, noUpdate, setProps } from "../kit/dash.js";
import { inLanguage } from "../kit/i18n.js";
import { onNavigation } from "../kit/navigation.js";
import { contentAt, loaded } from "../kit/page_files.js";
import { alone, applyPrefs, led } from "../kit/prefs.js";
import { markOf } from "../kit/runs.js";
import { changedState, formatQuery, parseQuery, same } from "../kit/state.js";
import { notice } from "./connection.js";
import { markPage } from "./menu.js";

const functions = functionsOf("mindscope");

/** @type {Wire.ShellPages} */
let book = { prefix: "/", pages: {}, formerly: {}, missing: null };  // none before the first route
let routed = false;  // whether Dash has told the pages
/** @type {string | null | undefined} */
let here;  // path of the page on screen; null for an unknown address
let settled = "";  // the query last read into or written from the state of the page

/** @param {Location} location */
function pathOf(location) {
  const inside = location.pathname.startsWith(book.prefix) ? location.pathname.slice(book.prefix.length) : "";
  const name = inside.replace(/\/+$/, "");
  const path = Object.hasOwn(book.formerly, name) ? book.formerly[name] : name;
  return path in book.pages ? path : null;
}

// Pages that were opened ------------------------------------------------------------------------------------------------

/**
 * Resolve to the components of a page, with its state, once its files are loaded.
 * @param {string} path
 * @param {string} storeId
 * @param {Wire.Query} data
 */
function whenLoaded(path, storeId, data) {
  return Promise.all([contentAt(book.pages[path].content), loaded(path)]).then(
    ([content]) => (here === path ? withState(content, storeId, data) : noUpdate()),
    () => {
      if (here === path) here = undefined;  // so that the next click tries again
      notice("status.lost");
      return noUpdate();
    });
}

// Pages -------------------------------------------------------------------------------------------------------------

/**
 * The components of a page with its state and the mark of the list of runs, so that it is sent what changed since then.
 * @param {DashComponent} component
 * @param {string} storeId
 * @param {Wire.Query} data
 */
function withState(component, storeId, data) {
  const routes = component.props.children.map((child) => child && child.props && child.props["data-routes"]).find(Boolean);
  /** @type {Record<string, unknown>} */
  const stored = { [storeId]: data, [storeId.replace(/-state$/, "-mark")]: markOf(routes) };
  const children = component.props.children.map((child) =>
    child && child.props && child.props.id in stored
      ? { ...child, props: { ...child.props, data: stored[child.props.id] } }
      : child);
  return { ...component, props: { ...component.props, children } };
}

/** @param {string | null} path */
function showTitle(path) {
  markPage(path);
  for (const title of document.querySelectorAll(".ms-page-title")) {
    if (path === null) {
      title.replaceChildren();
      continue;
    }
    const [english, chinese] = book.pages[path].title;
    title.classList.add("t");
    title.replaceChildren(...[["en", english], ["zh", chinese]].map(([name, words]) => {
      const part = document.createElement("span");
      part.className = name;
      part.textContent = words;
      return part;
    }));
  }
  nameWindow();
}

const pageHere = () => (typeof here === "string" ? book.pages[here] : undefined);

function nameWindow() {
  const page = pageHere();
  if (page) document.title = `${inLanguage(page.title)} · Mindscope`;
}
window.addEventListener("mindscope:prefs", nameWindow);

/**
 * @param {string} _href
 * @param {Wire.ShellPages} pages
 */
functions.route = function (_href, pages) {
  book = pages;
  routed = true;
  applyPrefs();
  const path = pathOf(window.location);
  const query = window.location.search;
  if (path === null) {
    here = path;
    settled = query;
    showTitle(path);
    return book.missing;
  }
  const page = book.pages[path];
  const wanted = parseQuery(query);
  const storeId = `${page.frame}-state`;
  if (path === here) {
    if (query !== settled) {
      settled = query;
      setProps(storeId, { data: wanted });
    }
    return noUpdate();
  }
  here = path;
  settled = query;
  showTitle(path);
  window.scrollTo(0, 0);
  return whenLoaded(path, storeId, wanted);
};

/**
 * @param {Wire.Query} data
 * @param {string} storeId
 */
functions.address_changed = function (data, storeId) {
  const page = pageHere();
  if (!page || storeId !== `${page.frame}-state`) return;
  const query = address(data);
  if (query === settled) return;
  const before = parseQuery(settled);
  settled = query;
  const url = window.location.pathname + query;
  if (alone) {
    window.history.replaceState(window.history.state, "", url);
    report(place(false));
  } else if (isStep(before, parseQuery(query))) push(url);
  else window.history.replaceState(window.history.state, "", url);
};

// State that is changed by every move of the pointer; a page that has it keeps a way back of its own.
const MOVED = new Set(["span", "camera"]);

/**
 * Whether this change gets a history entry: clicks do; typing and dragging change the state many times in a row.
 * @param {Wire.Query} before
 * @param {Wire.Query} after
 */
function isStep(before, after) {
  const keys = Object.keys({ ...before, ...after }).filter((key) => !MOVED.has(key) && !same(before[key], after[key]));
  if (!keys.length) return false;
  const field = document.activeElement;
  const typed = field instanceof HTMLInputElement && !["checkbox", "radio"].includes(field.type);
  return !typed || keys.includes("run");
}

/** @param {string} url */
function push(url) {
  window.history.pushState({}, "", url);
  window.dispatchEvent(new CustomEvent("_dashprivate_pushstate"));
}

/**
 * @param {Wire.Query} data
 * @param {boolean} [window]
 */
function address(data, window = true) {
  const parts = [formatQuery(data)];
  if (window && document.documentElement.hasAttribute("data-embed")) parts.push("embed=1");
  if (window && alone) parts.push(`card=${encodeURIComponent(part)}`);
  const query = parts.filter(Boolean).join("&");
  return query ? `?${query}` : "";
}

/** @type {Wire.Query} */
const kept = {};  // "group key" -> state that the pages of a group share, as the last one of them left it

/**
 * The selected runs are kept from page to page, and what pages share by their `keeps`; other state belongs to a page.
 * @param {string} path
 * @param {Wire.Query} [changes]
 */
export function go(path, changes) {
  const now = parseQuery(window.location.search);
  for (const [key, name] of keepsOf(here)) kept[name] = now[key] || [];
  const shared = Object.fromEntries(keepsOf(path).map(([key, name]) => [key, kept[name] || []]));
  const next = changedState(changedState(now.run ? { run: now.run } : {}, shared), changes || {});
  if (alone) {
    leave(book.prefix + path + address(next, false));
    return;
  }
  push(book.prefix + path + address(next));
}
onNavigation(go);

/**
 * A card shows no other page: the window around it does, or another one if that is of another application.
 * @param {string} url
 */
function leave(url) {
  if (led && window.parent.mindscope.prefs.ours) window.parent.location.assign(url);
  else window.open(url, "_blank", "noopener");
}

/**
 * The keys that a page shares with others, each with its name in `kept`.
 * @param {string | null | undefined} path
 * @returns {[string, string][]}
 */
function keepsOf(path) {
  if (typeof path !== "string" || !(path in book.pages)) return [];
  const { keeps, group } = book.pages[path];
  return keeps.map((key) => [key, `${group} ${key}`]);
}

// What a keyboard reaches first leads past the menu and the header, or past a list of tags to the place in data-to.
document.addEventListener("click", (event) => {
  const button = event.target instanceof Element && event.target.closest(".ms-skip");
  if (!button) return;
  const main = document.querySelector(button instanceof HTMLElement && button.dataset.to || ".ms-main");
  if (main instanceof HTMLElement) main.focus();
});

// Links between pages: data-query is the state to open with, data-run a single run; with data-exact nothing is added that other
// pages left.
document.addEventListener("click", (event) => {
  const link = event.target instanceof Element && event.target.closest("a[data-page]");
  if (!link || !routed || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  if (link.getAttribute("aria-disabled") === "true") return;
  const { page, query, run, exact } = link.dataset;
  if (exact !== undefined && !alone) push(book.prefix + page + address(parseQuery(query || "")));
  else go(page, query ? parseQuery(query) : run ? { run: [run] } : {});
});

/**
 * The current page with its state, as `open` takes it and saved views keep it.
 * @param {boolean} [ofWindow]
 */
export function place(ofWindow = true) {
  return (here || "") + address(parseQuery(window.location.search), ofWindow);
}

/**
 * Go to a saved place; false if its page does not exist.
 * @param {string} wanted
 */
export function open(wanted) {
  const [name, ...query] = wanted.split("?");
  const path = book.formerly[name] || name;
  if (!(path in book.pages)) return false;
  push(book.prefix + path + address(parseQuery(query.join("?"))));
  return true;
}

export const prefix = () => book.prefix;
