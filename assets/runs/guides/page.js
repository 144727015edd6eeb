// The guides page: parts that the server made, of which those that changed replace what is shown; search in the list of
// symptoms, the choice of runs, slow questions. Counterpart of layouts/runs/guides.

import { showUnknown } from "../../kit/body.js";
import { functionsOf, setProps } from "../../kit/dash.js";
import { copyText } from "../../kit/health.js";
import { inLanguage, translate } from "../../kit/i18n.js";
import { keeper } from "../../kit/pages.js";
import { showPlainHtml } from "../../kit/plain_html.js";
import { runSelect, setRuns } from "../../kit/run_select.js";
import { last } from "../../kit/state.js";
import { drawChecks, isTyping } from "./checks.js";

/**
 * @typedef {object} GuidesOwn
 * @property {Record<string, string>} drawn
 * @property {Set<string>} looked steps whose slow questions somebody asked
 * @property {number} timer
 * @property {Wire.GuideParts | null} found
 * @property {{ run: HTMLSelectElement | null, other: HTMLSelectElement | null }} selects
 */
/** @typedef {KeptPage & GuidesOwn} GuidesPage */

const AGAIN_MS = 500;

const { pages, pageOf } = keeper(fresh, listen);

/** @returns {GuidesOwn} */
function fresh() {
  return { drawn: {}, looked: new Set(), timer: 0, found: null, selects: { run: null, other: null } };
}

/**
 * Ask the server again, and tell what somebody wants to be done.
 * @param {GuidesPage} page
 * @param {string} [act]
 * @param {string} [at]
 */
function ask(page, act = "", at = "") {
  window.clearTimeout(page.timer);
  setProps(page.store("turn"), { data: { look: [...page.looked], act: act ? [act] : [], at: at ? [at] : [], n: Date.now() } });
}

/** @param {GuidesPage} page */
function listen(page) {
  page.root.addEventListener("click", (event) => {
    const target = event.target instanceof Element && event.target.closest("[data-key]");
    if (!(target instanceof HTMLElement)) return;
    const { symptom, look, stop, again, other, key } = target.dataset;
    if (symptom) open(page, symptom);
    if (look) {
      page.looked.add(look);
      ask(page);
    }
    if (stop) ask(page, "cancel", stop);
    if (again) {
      page.looked.add(again);
      ask(page, "again", again);
    }
    if (other) page.selects.other?.focus();
    if (key === "copy" && page.found) void copyText(target, inLanguage(page.found.text));
  });
  page.root.addEventListener("keydown", (event) => {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const entry = event.target instanceof Element && event.target.closest(".ms-guides-entry");
    if (!by || !entry) return;
    const entries = Array.from(page.root.querySelectorAll(".ms-guides-list li:not([hidden]) > .ms-guides-entry"));
    const next = entries[entries.indexOf(entry) + by];
    if (next instanceof HTMLElement) next.focus();
    event.preventDefault();
  });
  for (const name of /** @type {const} */ (["run", "other"])) {
    const { element, select } = runSelect(`guides.${name}`);
    page.selects[name] = select;
    page.find(`[data-choice="${name}"]`).replaceChildren(element);
    select.addEventListener("change", () => page.change(name === "run"
      ? { of: [select.value] }
      : { with: [select.value] }));
  }
}

/**
 * @param {GuidesPage} page
 * @param {string} symptom
 */
function open(page, symptom) {
  // With a symptom the run stays, which otherwise is the one with the severest symptom found so far.
  page.change({ symptom: [symptom], ...(page.found && page.found.runs.length > 1 ? { of: [page.found.run] } : {}) });
  for (const entry of page.root.querySelectorAll(".ms-guides-entry")) {
    if (entry instanceof HTMLElement) entry.setAttribute("aria-current", String(entry.dataset.symptom === symptom));
  }
  if (window.matchMedia("(max-width: 900px)").matches) page.find(".ms-guides-open-symptom").focus();
}

/**
 * Replace a part, and keep the focus and what is open where it was.
 * @param {HTMLElement} host
 * @param {any[]} content
 */
function replace(host, content) {
  const active = document.activeElement;
  const focused = active instanceof HTMLElement && host.contains(active) ? active.dataset.key : undefined;
  const opened = new Set(Array.from(host.querySelectorAll("details[open] > summary"), (one) => one.getAttribute("data-key")));
  showPlainHtml(host, content);
  for (const summary of host.querySelectorAll("details > summary")) {
    if (opened.has(summary.getAttribute("data-key"))) summary.parentElement?.setAttribute("open", "");
  }
  if (!focused) return;
  const again = host.querySelector(`[data-key="${CSS.escape(focused)}"]`);
  if (again instanceof HTMLElement) again.focus({ preventScroll: true });
}

/**
 * Show the symptoms that have all words of the search, in either language.
 * @param {GuidesPage} page
 */
function sift(page) {
  const words = last(page.state, "q", "").toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const group of page.root.querySelectorAll(".ms-guides-group")) {
    let here = 0;
    for (const entry of group.querySelectorAll("li")) {
      const text = entry.dataset.words || "";
      entry.hidden = !words.every((word) => text.includes(word));
      if (!entry.hidden) here += 1;
    }
    if (group instanceof HTMLElement) group.hidden = !here;
    shown += here;
  }
  const none = page.root.querySelector(".ms-guides-no-match");
  if (none instanceof HTMLElement) none.hidden = shown > 0;
}

/** @param {GuidesPage} page */
function fillSelects(page) {
  const { found, selects: { run, other } } = page;
  if (!found) return;
  if (run) setRuns(run, found.runs, found.run);
  const others = found.runs.filter(([key]) => key !== found.run);
  if (other) setRuns(other, [["", translate("guides.nobody")], ...others], found.other);
}

// An option has one language.
window.addEventListener("mindscope:prefs", () => {
  for (const page of pages.values()) if (page.root.isConnected) fillSelects(page);
});

/**
 * @param {Wire.GuideParts | null} found
 * @param {Wire.Query | null} state
 * @param {string} rootId
 */
functionsOf("mindscope_guides").shown = function (found, state, rootId) {
  const page = pageOf(rootId);
  if (!page || !found) return;
  const before = page.found;
  page.state = state || {};
  page.found = found;
  if (before && (before.run !== found.run || before.other !== found.other)) page.looked.clear();
  for (const [name, content] of Object.entries(found.parts)) {
    const made = JSON.stringify(content);
    const host = page.find(`[data-part="${name}"]`);
    if (page.drawn[name] === made || (name === "steps" && isTyping(host))) continue;
    page.drawn[name] = made;
    replace(host, content);
    if (name === "steps") drawChecks(host, page.root.dataset.routes || "", found.run);
    if (name === "steps" && before && before.symptom !== found.symptom) host.scrollTop = 0;
  }
  const none = !found.run;
  const nobody = page.find(".ms-guides-no-runs");
  nobody.hidden = !none;
  showUnknown(nobody, found.unknown);
  page.find(".ms-guides-open-symptom").hidden = none;
  fillSelects(page);
  sift(page);
  window.clearTimeout(page.timer);
  if (found.again) page.timer = window.setTimeout(() => page.root.isConnected && ask(page), AGAIN_MS);
};
