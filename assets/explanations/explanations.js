// What all pages about explanations share: choosing the run, its listing, empty and damaged states. Counterpart of
// layouts/explanations/body.py. A page calls define(name, { build(page), draw(page), answers }): build runs once, draw after
// every change of state, catalogue or listing, answers[part](page, answer) with each answer of a part (base/parts.js).
// A page has state, run ({ key, name, version }), listed (layouts/explanations/listing.py), change({ key: [...] }),
// find(selector) and store(part). bar.js draws the filters.

import { listDamage } from "../kit/damage.js";
import { functionsOf, setProps } from "../kit/dash.js";
import { make, words } from "../kit/elements.js";
import { count } from "../kit/units.js";
import { writeText } from "../kit/i18n.js";
import { keeper } from "../kit/pages.js";
import { answered } from "../kit/parts.js";
import { formatQuery, last, same } from "../kit/state.js";
import { buildBar, drawBar } from "./bar.js";

const AGAIN_MS = 400;
/** Keys of the state that decide which samples are shown: FILTERS in layouts/explanations/explanation_choice.py. */
const FILTERS = ["label", "outcome", "truth", "q", "t", "p", "sd", "sort"];
const kinds = new Map();

export function define(name, kind) {
  kinds.set(name, kind);
}

export const { pages, pageOf } = keeper((root) => /** @type {UndeclaredFields} */ ({
  catalogue: null, run: null, listed: null, reading: null, kept: null, wanted: null,
  parts: new Map(),
  kind: kinds.get(root.dataset.page) || {},
  offered: root.dataset.controls.split(" ").filter(Boolean),
}), (page) => {
  buildBar(page);
  if (page.kind.build) page.kind.build(page);
});

export function get(page, key, fallback = "") {
  return last(page.state, key, fallback);
}

/** The page around an element. */
export function pageAround(element) {
  const root = element.closest(".ms-explanations");
  return root ? pages.get(root.id) : null;
}

/**
 * What a part is asked about: run and mark, and the keys that filter; with more keys of its own.
 * @returns {Wire.Query}
 */
export function askOf(page, more = {}) {
  return { of: [page.run.key], mark: [page.listed.mark], ...filtersOf(page), ...more };
}

/** The keys of the state that filter. */
export function filtersOf(page) {
  return Object.fromEntries(FILTERS.map((key) => [key, page.state[key] || []]).filter(([, values]) => values.length));
}

/** The attributes of a link to a page about this run, with its filters and further state of that page. */
export function linkTo(page, name, more = {}) {
  const query = formatQuery({ ...filtersOf(page), of: [page.run.key], ...more });
  const runs = page.state.run ? `${formatQuery({ run: page.state.run })}&` : "";
  return { href: `${name}?${runs}${query}`, "data-page": name, "data-query": query };
}

/** Name of a label by its number. */
export function labelName(page, number) {
  return page.names.get(number) ?? `label ${number}`;
}

/** The explainers that are shown: those of the state, else all. */
export function explainersOf(page) {
  const chosen = (page.state.explainer || []).filter((name) => page.listed.explainers.includes(name));
  return chosen.length ? page.listed.explainers.filter((name) => chosen.includes(name)) : page.listed.explainers;
}

/** The address of a route of this run: "image", "heatmap", "samples.csv", "frame.csv". */
export function address(page, route, more) {
  const query = new URLSearchParams({ run: page.run.key });
  for (const [key, values] of Object.entries(more)) for (const value of [].concat(values)) query.append(key, value);
  return `${page.root.dataset.routes}explanation/${route}?${query}`;
}

// Which run ---------------------------------------------------------------------------------------------------------

function choose(page) {
  const { runs } = page.catalogue;
  const found = runs.find(([key]) => key === get(page, "of")) || runs[0];
  page.run = found ? { key: found[0], name: found[1], version: found[2] } : null;
  if (page.run && current(page) && page.reading.state !== "reading") page.kept = page.reading;
  page.listed = page.run && page.kept && page.kept.of === page.run.key && page.kept.state === "ready" ? page.kept : null;
  if (page.listed && page.named !== page.listed) {
    page.named = page.listed;
    page.names = new Map(page.listed.labels.map(([number, name]) => [number, name]));
  }
}

// Ask for the listing of the run.
function look(page) {
  if (!page.root.isConnected || !page.run) return;
  page.turn = (page.turn || 0) + 1;
  setProps(page.store("wanted"), { data: { ...page.wanted, turn: [String(page.turn)] } });
}

// Whether the last answer is about the chosen run.
function current(page) {
  const { reading, run } = page;
  return Boolean(reading && run) && reading.of === run.key;
}

// States ------------------------------------------------------------------------------------------------------------

function stateOf(page) {
  const { catalogue, reading } = page;
  if (!page.run) {
    if (!catalogue.chosen) return "no-runs";
    return catalogue.waiting ? "loading" : catalogue.damage.length ? "damaged" : "none";
  }
  if (page.listed) return "";
  const state = current(page) ? reading.state : "reading";
  return { reading: "opening", nothing: "nothing", missing: "none", failed: "failed" }[state] || "opening";
}

function showState(page) {
  const name = stateOf(page);
  for (const element of page.root.querySelectorAll("[data-state]")) element.hidden = element.dataset.state !== name;
  page.find(".ms-explanations-content").hidden = name !== "";
  page.find(".ms-explanations-bar").hidden = !page.run;
  if (name === "damaged") listDamage(page.root, page.catalogue.damage);
  if (name === "failed") page.find(".ms-explanations-why").textContent = page.reading.text;
  const problems = name === "nothing" ? page.reading.problems : [];
  page.find(".ms-explanations-found").replaceChildren(...problems.map(problemLine("li")));
  const elsewhere = name === "none" ? page.catalogue.elsewhere : [];
  page.find(".ms-explanations-elsewhere").replaceChildren(
    ...(elsewhere.length ? [words("explanations.elsewhere", {}, "span", "ms-muted"), ...elsewhere.map(press(page))] : []));
  drawDamage(page);
}

const problemLine = (tag) => ({ path, text }) => make(tag, "", [make("span", "ms-mono", path), " ", text]);

const press = (page) => ({ key, name }) => {
  const button = make("button", "ms-button ms-cut", name, { type: "button", title: name });
  button.addEventListener("click", () => page.change({ run: [key], of: [] }));
  return button;
};

function drawDamage(page) {
  const host = page.find(".ms-explanations-damage");
  if (!host || !page.listed) return;
  const { problems, more } = page.listed;
  host.hidden = !problems.length;
  writeText(host.querySelector("summary"), "explanations.damaged_n", { n: count(problems.length + more) });
  host.querySelector(".ms-popover").replaceChildren(...problems.map(problemLine("p")));
}

function draw(page) {
  choose(page);
  if (page.run) {
    const wanted = { of: [page.run.key], version: [page.run.version] };
    if (!same(wanted, page.wanted)) {
      page.wanted = wanted;
      look(page);
    }
    drawBar(page);
  }
  showState(page);
  if (page.listed && page.kind.draw) page.kind.draw(page);
}

// Called by Dash ----------------------------------------------------------------------------------------------------

Object.assign(functionsOf("mindscope_explanations"), {
  /**
   * @param {Wire.Query | null} state
   * @param {Wire.ExplanationCatalogue | null} catalogue
   * @param {Wire.ExplanationListing | null} reading
   * @param {any} _prefs
   * @param {string} rootId
   */
  plan(state, catalogue, reading, _prefs, rootId) {
    const page = pageOf(rootId);
    if (!page || !catalogue) return;
    const fresh = reading !== page.reading;
    Object.assign(page, { state: state || {}, catalogue, reading });
    draw(page);
    // What is being read, or read again, is looked at again.
    if (fresh && page.run && reading && (reading.state === "reading" || reading.behind)) {
      window.clearTimeout(page.timer);
      page.timer = window.setTimeout(() => look(page), AGAIN_MS);
    }
  },

  answered(answer, rootId) {
    const page = pageOf(rootId);
    if (page && answer) answered(page, answer);
  },
});
