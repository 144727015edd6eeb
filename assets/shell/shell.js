// Routing, menu and connection status. Counterpart of layouts/shell/shell.py: the components of a page are fetched when it is
// first opened.

import { part, report } from "../kit/alone.js";
import { functionsOf, noUpdate, setProps } from "../kit/dash.js";
import { inLanguage, language, setLabel, writeText } from "../kit/i18n.js";
import { onNavigation } from "../kit/navigation.js";
import { alone, applyPrefs, led } from "../kit/prefs.js";
import { markOf } from "../kit/runs.js";
import { changedState, formatQuery, parseQuery, same } from "../kit/state.js";

const functions = functionsOf("mindscope");

/** @type {Wire.ShellPages | null} */
let book = null;  // {prefix, pages: {path: {frame, title, content}}, formerly: {name: path}}, content a URL
let here;  // path of the page on screen; null for an unknown address
let settled = null;  // the query last read into or written from the state of the page

function pathOf(location) {
  const inside = location.pathname.startsWith(book.prefix) ? location.pathname.slice(book.prefix.length) : "";
  const path = inside.replace(/\/+$/, "");
  return path in book.pages ? path : null;
}

// What pages need beyond what the first one did -----------------------------------------------------------------------

const loaded = new Map();

function elementLoaded(tag, properties) {
  return new Promise((resolve, reject) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.onload = resolve;
    element.onerror = () => {
      element.remove();
      reject(new Error(`cannot load ${properties.href || properties.src}`));
    };
    document.head.append(element);
  });
}

const loaders = {
  scripts: (url) => elementLoaded("script", { src: url, async: false }),
  styles: (url) => elementLoaded("link", { rel: "stylesheet", href: url }),
  modules: (url) => import(url),
};

// Load a file once; a failed attempt is repeated the next time.
function load(kind, url) {
  if (!loaded.has(url)) {
    const there = kind === "styles" && document.querySelector(`link[rel="stylesheet"][href="${CSS.escape(url)}"]`);
    const loading = there ? Promise.resolve() : loaders[kind](url);
    loaded.set(url, loading);
    loading.catch(() => loaded.delete(url));
  }
  return loaded.get(url);
}

const contents = new Map();  // path -> the promise of its components

function contentOf(path) {
  if (!contents.has(path)) {
    const answer = window.fetch(book.pages[path].content, { credentials: "same-origin" }).then((response) => {
      if (!response.ok) throw new Error(`cannot load ${response.url}: ${response.status}`);
      return response.json();
    });
    contents.set(path, answer);
    answer.catch(() => contents.delete(path));
  }
  return contents.get(path);
}

// Resolve to the components of a page, with its state, once its files are loaded.
function whenLoaded(path, storeId, data) {
  const meta = document.querySelector('meta[name="mindscope-pages"]');
  /** @type {Partial<Wire.Needed>} */
  const needed = (meta && JSON.parse(meta.content)[path]) || {};
  const loading = Object.entries(needed).flatMap(([kind, urls]) => urls.map((url) => load(kind, url)));
  return Promise.all([contentOf(path), ...loading]).then(
    ([content]) => (here === path ? withState(content, storeId, data) : noUpdate()),
    () => {
      if (here === path) here = undefined;  // so that the next click tries again
      notice("status.lost");
      return noUpdate();
    });
}

// Pages -------------------------------------------------------------------------------------------------------------

// The components of a page with its state and the mark of the list of runs, so that it is sent what changed since then.
function withState(component, storeId, data) {
  const routes = component.props.children.map((child) => child && child.props && child.props["data-routes"]).find(Boolean);
  const stored = { [storeId]: data, [storeId.replace(/-state$/, "-mark")]: markOf(routes) };
  const children = component.props.children.map((child) =>
    child && child.props && child.props.id in stored
      ? { ...child, props: { ...child.props, data: stored[child.props.id] } }
      : child);
  return { ...component, props: { ...component.props, children } };
}

function markMenu(path) {
  for (const link of document.querySelectorAll(".ms-menu-link")) {
    if (link.dataset.page === path) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  fold();
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

function nameWindow() {
  if (book && here in book.pages) {
    document.title = `${inLanguage(book.pages[here].title)} · Mindscope`;
  }
}
window.addEventListener("mindscope:prefs", nameWindow);

/**
 * @param {string} _href
 * @param {Wire.ShellPages} pages
 */
functions.route = function (_href, pages) {
  book = pages;
  applyPrefs();
  const path = pathOf(window.location);
  const query = window.location.search;
  if (path === null) {
    here = path;
    settled = query;
    markMenu(path);
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
  markMenu(path);
  window.scrollTo(0, 0);
  return whenLoaded(path, storeId, wanted);
};

functions.address_changed = function (data, storeId) {
  if (!book || !(here in book.pages) || storeId !== `${book.pages[here].frame}-state`) return;
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

// Whether this change gets a history entry: clicks do; typing and dragging change the state many times in a row.
function isStep(before, after) {
  const keys = Object.keys({ ...before, ...after }).filter((key) => !MOVED.has(key) && !same(before[key], after[key]));
  if (!keys.length) return false;
  const field = document.activeElement;
  const typed = field instanceof HTMLInputElement && !["checkbox", "radio"].includes(field.type);
  return !typed || keys.includes("run");
}

function push(url) {
  window.history.pushState({}, "", url);
  window.dispatchEvent(new CustomEvent("_dashprivate_pushstate"));
}

function address(data, window = true) {
  const parts = [formatQuery(data)];
  if (window && document.documentElement.hasAttribute("data-embed")) parts.push("embed=1");
  if (window && alone) parts.push(`card=${encodeURIComponent(part)}`);
  const query = parts.filter(Boolean).join("&");
  return query ? `?${query}` : "";
}

const kept = {};  // state that several pages share, as the last one of them left it

// The selected runs are kept from page to page, and what pages share by their `keeps`; other state belongs to a page.
export function go(path, changes) {
  const now = parseQuery(window.location.search);
  for (const key of keepsOf(here)) kept[key] = now[key] || [];
  const shared = Object.fromEntries(keepsOf(path).map((key) => [key, kept[key] || []]));
  const next = changedState(changedState(now.run ? { run: now.run } : {}, shared), changes || {});
  if (alone) {
    leave(book.prefix + path + address(next, false));
    return;
  }
  push(book.prefix + path + address(next));
}
onNavigation(go);

// A card shows no other page: the window around it does, or another one if that is of another application.
function leave(url) {
  if (led && window.parent.mindscope.prefs.ours) window.parent.location.assign(url);
  else window.open(url, "_blank", "noopener");
}

function keepsOf(path) {
  return path in book.pages ? book.pages[path].keeps : [];
}

// Links between pages: data-query is the state to open with, data-run a single run.
document.addEventListener("click", (event) => {
  const link = event.target instanceof Element && event.target.closest("a[data-page]");
  if (!link || !book || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  if (link.getAttribute("aria-disabled") === "true") return;
  const { page, query, run } = link.dataset;
  go(page, query ? parseQuery(query) : run ? { run: [run] } : {});
});

/** @param {RunList | null} runs */
functions.menu_changed = function (runs) {
  if (!runs) return;
  const kinds = new Set(runs.rows.flatMap((row) => Object.keys(row.tags).filter((kind) => row.tags[kind] > 0)));
  for (const kind of runs.also || []) kinds.add(kind);
  for (const link of document.querySelectorAll(".ms-menu-link")) {
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
};

// Hide the pages without data, except that on screen, behind a button with their number; and headings with no page left.
function fold() {
  const rest = document.querySelector(".ms-menu-rest");
  if (!rest) return;
  const whole = rest.getAttribute("aria-expanded") === "true";
  const empty = (link) => link.getAttribute("aria-disabled") === "true" && !link.hasAttribute("aria-current");
  let heading = null;
  let number = 0;
  for (const item of rest.parentElement.children) {
    if (item.classList.contains("ms-menu-group")) {
      heading = item;
      heading.hidden = true;
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
});

// The current page with its state, as `open` takes it and saved views keep it.
export function place(ofWindow = true) {
  return (here || "") + address(parseQuery(window.location.search), ofWindow);
}

// Go to a saved place; false if its page does not exist.
export function open(wanted) {
  const [name, ...query] = wanted.split("?");
  const path = book.formerly[name] || name;
  if (!(path in book.pages)) return false;
  push(book.prefix + path + address(parseQuery(query.join("?"))));
  return true;
}

export const prefix = () => book.prefix;

// Connection --------------------------------------------------------------------------------------------------------

function notice(key) {
  const element = document.querySelector(".ms-notice");
  if (!element) return;
  element.hidden = key === null;
  if (key) writeText(element, key);
}

// Publish the status of an answer, 0 for none, and why a request was refused, "" if it was not.
function publish(status, reason = "") {
  window.dispatchEvent(new CustomEvent("mindscope:answer", { detail: { status, reason } }));
}

async function publishRefusal(response) {
  const { error } = await response.json().catch(() => ({}));
  publish(response.status, error || "");
}

// Dash does not report a lost server or a refused token, so its requests are observed here.
const fetchNow = window.fetch;
window.fetch = function (resource, ...rest) {
  const url = typeof resource === "string" ? resource : "url" in resource ? resource.url : String(resource);
  const answer = fetchNow.call(this, resource, ...rest);
  if (url.includes("_dash-update-component") && document.querySelector(".ms-shell")) {
    answer.then(
      (response) => {
        notice(
          response.status === 401 || response.status === 403 ? "status.denied" : response.status >= 502 ? "status.lost" : null,
        );
        // A copy: Dash reads the body too, and it can be read once.
        if (response.status === 400) publishRefusal(response.clone());
        else publish(response.status);
      },
      (error) => {
        if (error.name === "AbortError") return;
        notice("status.lost");
        publish(0);
      },
    );
  }
  return answer;
};
