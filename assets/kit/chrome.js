// What surrounds a page: refresh, status, dialogs and keys. Counterpart of layouts/shell/chrome.py.

import { contain } from "./containers.js";
import { callbackContext, functionsOf, noUpdate, setProps } from "./dash.js";
import { leave as leaveField } from "./focus.js";
import { age } from "./moments.js";
import { go } from "./navigation.js";
import * as health from "./health.js";
import { inLanguage, setLabel, translate, writeText } from "./i18n.js";
import * as runNotes from "./notes.js";
import * as picker from "./picker.js";
import { frames, look, noteAnswer, poll, refresh, routesOf, secondsBetweenLooks } from "./polling.js";
import { currentPrefs, led, onOwnIndexPage, setPrefs } from "./prefs.js";
import { gone, selected } from "./run_selection.js";
import { chooseTool } from "./recording.js";
import * as runLists from "./runs.js";
import { same, setState } from "./state.js";
import { count as countText } from "./units.js";

const functions = functionsOf("mindscope");
const LOADING_MS = 700;
const AGES_MS = 10_000;  // between two changes of "read 20 s ago"
const TYPED_IN = 'input:not([type="checkbox"], [type="radio"], [type="range"]), textarea, select';

/** @type {Map<string, Wire.Status>} */
const statuses = new Map();  // frame -> its latest status
/** @type {Map<string, Wire.Query>} */
const states = new Map();  // frame -> the state of its page
let clock = 0;  // timer of the next look at the server
let news = performance.now();  // when a status last differed from the one before it
let soon = 0;  // timer that polls while runs are being read

/** Look at the server again after a while; the board reports new data (mindscope:news) to those of its frames in view. */
function setClock() {
  window.clearTimeout(clock);
  if (!currentPrefs().refresh || document.hidden || led) return;
  const scan = Math.max(0, ...frames().map((frame) => (statuses.get(frame) || {}).interval || 0));
  const seconds = secondsBetweenLooks(currentPrefs().interval, scan, (performance.now() - news) / 1000);
  clock = window.setTimeout(() => look(takeStatus).finally(setClock), seconds * 1000);
}

/**
 * Take a status; return whether more than the time of the last scan is new in it, so that the page has to ask for the rest.
 * @param {string} frame
 * @param {Wire.Status} status
 */
function takeStatus(frame, status) {
  const known = statuses.get(frame);
  if (!known || !known.read_at || !status.read_at || status.loaded < status.total) return true;
  if (same({ ...known, read_at: 0, age: 0 }, { ...status, read_at: 0, age: 0 })) {
    statuses.set(frame, status);
    return false;
  }
  news = performance.now();
  return true;
}

/**
 * Text of the status: [text key, values].
 * @param {Wire.Status} status
 * @param {number} least - seconds from which the age is written
 * @returns {[string, TextValues?]}
 */
function reading(status, least) {
  if (status.loaded < status.total) return ["status.loading", { loaded: status.loaded, total: status.total }];
  if (!status.read_at) return ["status.never"];
  const seconds = Date.now() / 1000 - status.read_at;
  if (seconds < least) return ["status.now"];
  return ["status.ago", { age: inLanguage(age(seconds)) }];
}

/**
 * @param {HTMLElement} element
 * @param {Wire.Status} status
 * @param {boolean} paused
 */
function writeRead(element, status, paused) {
  // While looks go on, ages that would be written change with each of them and say no more than that they go on.
  const [key, values] = reading(status, paused ? 1 : AGES_MS / 1000);
  if (paused) writeText(element, "status.paused", { read: translate(key, values) });
  else writeText(element, key, values);
}

/**
 * Writing what is there already would be a change of the document, after which it is laid out again.
 * @param {HTMLElement} element
 * @param {boolean} hidden
 */
function setHidden(element, hidden) {
  if (element.hidden !== hidden) element.hidden = hidden;
}

/**
 * @param {HTMLElement} button
 * @param {string} failed
 */
function writeFailure(button, failed) {
  setHidden(button, !failed);
  setLabel(button, "title", "status.failed_title", { text: failed });
}

/**
 * Of a path the last part matters most, and the rest is cut if there is no room. Several directories have their names.
 * @param {HTMLElement} element
 * @param {Wire.Status} status
 */
function writeBase(element, { base, names }) {
  if (element.title === base) return;
  const parts = base.split("/");
  const last = parts.pop();
  const [above, below] = [document.createElement("span"), document.createElement("span")];
  above.className = "ms-base-above";
  const path = parts.length > 3 ? `…/${parts[parts.length - 1]}/` : parts.map((part) => `${part}/`).join("");
  below.className = "ms-cut";
  above.textContent = path;
  below.textContent = names.length ? names.join(", ") : last || "";
  element.title = base;
  element.replaceChildren(...(names.length ? [below] : [above, below]));
}

/**
 * @param {HTMLElement} button
 * @param {Wire.Status} status
 */
function writeHealth(button, { problems: count, verified: [done, total] }) {
  const verifying = count === 0 && done < total;
  const key = verifying ? "health.verifying" : count > 1 ? "health.problems" : count === 1 ? "health.problem" : "health.good";
  const values = verifying ? health.progress(done, total) : { n: countText(count) };
  const text = button.querySelector(".ms-health-text");
  button.classList.toggle("ms-wrong", count > 0);
  setHidden(text, count === 0);
  const shown = "n" in values ? values.n : "";
  if (text.dataset.n !== shown) text.dataset.n = shown;
  if (count > 0) writeText(text, key, values);
  setLabel(button, "title", key, values);
  setLabel(button, "aria-label", key, values);
}

// The status is shown inside of the frame, or in the header of the shell.
function paintStatus() {
  const paused = !currentPrefs().refresh;
  for (const frame of frames()) {
    const status = statuses.get(frame);
    const element = document.getElementById(`${frame}-frame`);
    const root = element && (element.closest(".ms-shell") || element);
    if (!status || !root) continue;
    element.classList.toggle("ms-missing", status.missing);
    for (const read of root.querySelectorAll(".ms-read")) writeRead(read, status, paused);
    for (const button of root.querySelectorAll(".ms-failure")) writeFailure(button, status.failed);
    for (const base of root.querySelectorAll(".ms-base")) writeBase(base, status);
    for (const button of root.querySelectorAll(".ms-health")) writeHealth(button, status);
  }
}

/** @param {string} frameId */
functions.frame_opened = function (frameId) {
  contain(document.getElementById(frameId));
  setClock();
  return currentPrefs();
};

/** @param {Wire.Status | null} status */
functions.status_changed = function (status) {
  if (!status) return;
  const frame = callbackContext().inputs_list[0].id.replace(/-status$/, "");
  const before = statuses.get(frame);
  statuses.set(frame, status);
  if (!before || before.interval !== status.interval) setClock();
  paintStatus();
  health.verified(document.getElementById(`${frame}-health-list`), status.verified);
  window.clearTimeout(soon);
  if (status.loaded < status.total || !status.read_at) soon = window.setTimeout(() => !document.hidden && poll(), LOADING_MS);
};

window.addEventListener("mindscope:prefs", () => {
  const now = currentPrefs();
  for (const frame of frames()) {
    setProps(`${frame}-prefs`, { data: now });
  }
  setClock();
  paintStatus();
});

document.addEventListener("visibilitychange", () => {
  setClock();
  if (!document.hidden && currentPrefs().refresh) poll();
});

if (!led) window.setInterval(() => !document.hidden && paintStatus(), AGES_MS);
window.addEventListener("mindscope:news", () => poll());
window.addEventListener("mindscope:answer", ({ detail: { status } }) => noteAnswer(status));

/**
 * @param {Wire.RunChanges | null} changes
 * @param {string} frameId
 */
functions.runs_changed = function (changes, frameId) {
  const element = document.getElementById(frameId);
  if (!changes || !element) return noUpdate();
  const routes = routesOf(element.dataset.frame);
  const list = runLists.take(routes, changes, element.dataset.needs.split(" ").filter(Boolean));
  if (list) return list;
  for (const part of ["mark", "version"]) setProps(`${element.dataset.frame}-${part}`, { data: null });
  poll();
  return noUpdate();
};

/**
 * The state of the page in a frame.
 * @param {string} frame
 * @returns {Wire.Query}
 */
export const stateOf = (frame) => states.get(frame) || {};

/**
 * If none of the selected runs exists, a message replaces the page; the list of runs is always shown.
 * @param {RunList | null} runs
 * @param {Wire.Query | null} state
 * @param {string} storeId
 */
functions.frame_shows = function (runs, state, storeId) {
  const frame = storeId.replace(/-state$/, "");
  const element = document.getElementById(`${frame}-frame`);
  states.set(frame, state || {});
  if (!runs || !element) return;
  runNotes.take(frame, runs.notebook);
  const without = (runs.also || []).some((kind) => element.dataset.needs.split(" ").includes(kind));
  const bare = "bare" in element.dataset && !(statuses.get(frame) || {}).missing;
  const empty = runs.rows.length === 0 && !without && !bare;
  const names = empty || !element.dataset.needs || selected(state, runs).size ? [] : gone(state, runs.rows);
  element.classList.toggle("ms-no-runs", empty && Boolean((statuses.get(frame) || {}).read_at));
  element.classList.toggle("ms-gone", names.length > 0);
  if ((statuses.get(frame) || {}).read_at) arrive(element);
  if (names.length) writeText(element.querySelector(".ms-frame-gone > p"), "shell.gone", { names: names.join(", ") });
};

let arrived = false;  // whether the first page of this window has been shown

/**
 * Who opens our address without a page, while there is no run, sees how to record one.
 * @param {HTMLElement} frame
 */
function arrive(frame) {
  const begins = !arrived && onOwnIndexPage && frame.dataset.path === "" && !window.location.search;
  arrived = true;
  if (begins && frame.matches(".ms-no-runs:not(.ms-missing)")) go("start");
}

/** @param {Element} element */
function showNewest(element) {
  const frame = frameOf(element);
  setState(`${frame}-state`, stateOf(frame), { run: [] });
}

// Dialogs -----------------------------------------------------------------------------------------------------------

/**
 * Frame of an element; buttons of the shell belong to the page on screen.
 * @param {Element | null} element
 */
function frameOf(element) {
  const own = element && element.closest(".ms-frame");
  return own ? own.dataset.frame : frames()[0];
}

/**
 * @param {string | undefined} frame
 * @param {string} part
 */
function openDialog(frame, part) {
  const panel = frame && document.getElementById(`${frame}-${part}`);
  if (!panel || panel.open) return false;
  panel.showModal();
  return true;
}

/** @param {HTMLElement} element */
function openHealth(element) {
  const frame = frameOf(element);
  const run = element.dataset.run ? [element.dataset.run] : [];
  openDialog(frame, "health");
  setProps(`${frame}-health-asked`, { data: { time: Date.now(), run } });
}

/** @param {Element | null} element */
function openKeys(element) {
  const frame = frameOf(element);
  const list = document.querySelector(`#${frame}-keys .ms-keys`);
  if (list && !list.firstChild) list.append(keysTable(JSON.parse(list.dataset.keys)));
  openDialog(frame, "keys");
}

/**
 * Table of keys from [["j  k", text key], ...]. It is made when it is first opened, not by the tables of the kit in Python, of
 * which every page would carry the components.
 * @param {[string, string][]} rows
 */
function keysTable(rows) {
  const table = document.createElement("table");
  for (const [keys, key] of rows) {
    const row = table.insertRow();
    const pressed = keys.split(/\s+/).map((name) => Object.assign(document.createElement("kbd"), { textContent: name }));
    row.insertCell().append(...pressed);
    writeText(row.insertCell(), key);
  }
  return table;
}

function switchTheme() {
  if (onOwnIndexPage) setPrefs({ theme: currentPrefs().theme === "dark" ? "light" : "dark" });
}

/** @type {Record<string, (element: HTMLElement) => unknown>} */
const actions = {
  refresh,
  health: openHealth,
  keys: openKeys,
  theme: switchTheme,
  language: () => setPrefs({ lang: currentPrefs().lang === "zh" ? "en" : "zh" }),
  auto: () => setPrefs({ refresh: !currentPrefs().refresh }),
  menu: () => setPrefs({ folded: !currentPrefs().folded }),
  /** @param {Element} element */
  close: (element) => element.closest("dialog").close(),
  newest: showNewest,
  "copy-code": (element) => health.copyText(element, element.closest(".ms-code-box")?.querySelector("code").textContent || ""),
  "recording-tool": chooseTool,
  "health-copy": (element) => health.copy(element),
  "health-csv": () => health.save(),
};

document.addEventListener("click", (event) => {
  if (!(event.target instanceof Element)) return;
  const element = event.target.closest("[data-action]");
  const action = element && actions[element.dataset.action];
  if (action) action(element);
  if (event.target instanceof HTMLDialogElement) event.target.close();  // click on the backdrop
  // Use the path of the event: its target may have been removed already.
  const path = event.composedPath();
  for (const open of document.querySelectorAll("details.ms-details[open]")) {
    if (!path.includes(open)) open.open = false;
  }
});

/** @param {number | null | undefined} value */
functions.seconds_chosen = function (value) {
  const now = currentPrefs().interval;
  if (value === null || value === undefined) return now;
  if (value !== now) setPrefs({ interval: value });
  return noUpdate();
};

function showPrefs() {
  const now = currentPrefs();
  for (const button of document.querySelectorAll('[data-action="auto"]')) {
    button.setAttribute("aria-checked", String(now.refresh));
  }
}
document.addEventListener("toggle", showPrefs, true);
window.addEventListener("mindscope:prefs", showPrefs);

// Keys --------------------------------------------------------------------------------------------------------------

/** @param {HTMLElement} element */
function visible(element) {
  return element.offsetParent !== null;
}

function focusFilter() {
  const filter = Array.from(document.querySelectorAll("input.ms-filter, .ms-filter input")).find(visible);
  if (filter) {
    filter.focus();
    if (filter.select) filter.select();
  }
}

/** @param {number} by */
function moveCard(by) {
  const cards = Array.from(document.querySelectorAll(".ms-page .ms-card:not(.ms-card .ms-card)")).filter(visible);
  if (!cards.length) return;
  const large = cards.findIndex((card) => card.classList.contains("ms-full"));
  const now = large >= 0 ? large : cards.indexOf(document.activeElement && document.activeElement.closest(".ms-card"));
  const next = now < 0 ? (by > 0 ? 0 : cards.length - 1) : Math.min(cards.length - 1, Math.max(0, now + by));
  // In full screen, move to the full screen view of the next card.
  const full = cards.some((card) => card.classList.contains("ms-full")) && cards[next].querySelector('[data-act="full"]');
  if (full && !cards[next].classList.contains("ms-full")) full.click();
  cards[next].focus({ preventScroll: true });
  if (!full) cards[next].scrollIntoView({ block: "nearest" });
}

/** @type {Record<string, () => unknown>} */
const keys = {
  "/": focusFilter,
  "?": () => openKeys(document.activeElement),
  r: refresh,
  t: switchTheme,
  p: () => picker.open(),
  j: () => moveCard(1),
  k: () => moveCard(-1),
};

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    for (const open of document.querySelectorAll("details.ms-details[open]")) {
      open.open = false;
      event.preventDefault();  // the page keeps what it would have given up
    }
    if (event.target instanceof HTMLElement && event.target.closest(".ms-filter")) leaveField(event.target);
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const target = event.target;
  if (target instanceof HTMLElement && (target.isContentEditable || target.matches(TYPED_IN))) return;
  // In another application, only handle keys pressed inside our page.
  if (!document.querySelector(".ms-shell") && !(target instanceof Element && target.closest(".ms"))) return;
  if (document.querySelector("dialog[open]") || !frames().length) return;
  const act = keys[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
