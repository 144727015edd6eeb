// The card on the use of the hardware: its settings, its request, and links to tables. Counterpart of
// layouts/profiles/efficiency_cards.py and layouts/profiles/efficiency.py.

import { functionsOf, noUpdate, setProps } from "../kit/dash.js";
import { make, words } from "../kit/elements.js";
import { setLabel } from "../kit/i18n.js";
import { last, same } from "../kit/state.js";
import * as profiling from "./profiles.js";

const TYPING_MS = 400;
const AGAIN_MS = 500;
/** Keys of a request for a profile that the figures depend on. */
const OF_ASK = ["run", "session", "rank", "mark", "with_run", "with_session", "with_rank", "with_mark", "theme"];
const SETTINGS = ["peak", "model_flops", "parameters", "tokens", "devices", "bandwidth"];
/** Keys of the state that are part of the request. */
const OF_STATE = [...SETTINGS, "use"];

/**
 * The part of a request and of a state that the figures depend on.
 * @param {Wire.Query} ask
 * @param {Wire.Query} state
 */
export function requestOf(ask, state) {
  /** @type {Wire.Query} */
  const found = {};
  for (const key of OF_ASK) if ((ask[key] || []).length) found[key] = ask[key];
  for (const key of OF_STATE) if ((state[key] || []).length) found[key] = state[key];
  return found;
}

/**
 * The URL of a table as CSV.
 * @param {string} routes
 * @param {string} table
 * @param {Wire.Query} request
 */
export function csvOf(routes, table, request) {
  const query = new URLSearchParams();
  for (const [key, values] of Object.entries(request)) {
    if (key === "use" || key === "theme" || key.endsWith("mark")) continue;
    for (const value of values) query.append(key, value);
  }
  return `${routes}efficiency/${table}.csv?${query}`;
}

/** @type {WeakMap<KeptPage, Map<string, HTMLInputElement>>} */
const settings = new WeakMap();
/** The last requests. @type {WeakMap<KeptPage, Wire.Query>} */
const requests = new WeakMap();

/**
 * Make the fields of the settings, and the buttons that set something.
 * @param {KeptPage} page
 */
export function build(page) {
  const host = page.find(".ms-efficiency-settings");
  settings.set(page, new Map());
  host.replaceChildren(...host.dataset.settings.split(" ").map((/** @type {string} */ name) => field(page, name)));
  page.root.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("button[data-set]") : null;
    if (!(button instanceof HTMLElement) || !page.root.contains(button)) return;
    const set = JSON.parse(button.dataset.set || "{}");
    page.change(Object.fromEntries(Object.entries(set).map(([key, value]) => [key, [value]])));
  });
}

/**
 * @param {KeptPage} page
 * @param {string} name
 */
function field(page, name) {
  // Numbers such as 1e13 are typed as text: fields of numbers would have arrows that step by 1.
  const input = make("input", "ms-input", [], { type: "text", inputmode: "decimal", autocomplete: "off", spellcheck: "false" });
  let timer = 0;
  input.addEventListener("input", () => {
    const { value } = input;
    window.clearTimeout(timer);
    timer = window.setTimeout(() => page.change({ [name]: value.trim() ? [value.trim()] : [] }), TYPING_MS);
  });
  settings.get(page)?.set(name, input);
  const label = make("label", "ms-field", [words(`efficiency.setting.${name}`, {}, "span", "ms-field-name"), input]);
  setLabel(label, "title", `efficiency.tip.${name}`);
  return label;
}

/**
 * Bring fields and links in step with the state.
 * @param {KeptPage} page
 */
export function draw(page) {
  for (const [name, input] of settings.get(page) || []) {
    if (document.activeElement !== input) input.value = last(page.state, name, "");
  }
}

Object.assign(functionsOf("mindscope_efficiency"), {
  /**
   * @param {Wire.Query | null} ask
   * @param {Wire.Query | null} state
   * @param {string} rootId
   */
  plan(ask, state, rootId) {
    const page = profiling.pageOf(rootId);
    if (!page || !ask) return noUpdate();
    const next = requestOf(ask, state || {});
    for (const link of page.root.querySelectorAll("[data-efficiency-csv]")) {
      link.href = csvOf(page.root.dataset.routes, link.dataset.efficiencyCsv, next);
    }
    if (same(next, requests.get(page))) return noUpdate();
    requests.set(page, next);
    return next;
  },

  /**
   * @param {number | null} wanted
   * @param {string} rootId
   */
  again(wanted, rootId) {
    const page = profiling.pageOf(rootId);
    if (!page || !wanted) return;
    window.setTimeout(() => {
      if (page.root.isConnected) setProps(page.store("use-ask"), { data: { ...requests.get(page), turn: [String(wanted)] } });
    }, AGAIN_MS);
  },
});
