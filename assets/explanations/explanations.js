// What all pages about explanations share: choosing the run, and its listing. Counterpart of layouts/explanations/body.py; what
// it has in common with other subjects is kit/body.js. A page calls define(name, { build(page), draw(page), answers }):
// answers[part](page, answer) takes each answer of a part (kit/page_parts.js). A page has state, run ({ key, name, version }),
// listed (layouts/explanations/listing.py), change({ key: [...] }), find(selector) and store(part). bar.js draws the filters.

import { bodies, get, listOf, listedState, pageLink } from "../kit/body.js";
import { notYet } from "../kit/pages.js";
import { barOf, drawBar } from "./bar.js";

export { get };

/** Keys of the state that decide which samples are shown: FILTERS in layouts/explanations/explanation_choice.py. */
const FILTERS = ["label", "outcome", "truth", "predicted", "q", "t", "p", "sd", "sort"];

/**
 * What a part is asked about: run and mark, and the keys that filter; with more keys of its own.
 * @param {Explanations.Page} page
 * @param {Wire.Query} [more]
 * @returns {Wire.Query}
 */
export function askOf(page, more = {}) {
  return { of: [page.run.key], mark: [page.listed.mark], ...filtersOf(page), ...more };
}

/**
 * The keys of the state that filter.
 * @param {Explanations.Page} page
 * @returns {Wire.Query}
 */
export function filtersOf(page) {
  return Object.fromEntries(FILTERS.map((key) => [key, page.state[key] || []]).filter(([, values]) => values.length));
}

/**
 * The attributes of a link to a page about this run, with its filters and further state of that page.
 * @param {Explanations.Page} page
 * @param {string} name
 * @param {Wire.Query} [more]
 */
export function linkTo(page, name, more = {}) {
  return pageLink(name, page.state.run, { ...filtersOf(page), of: [page.run.key], ...more });
}

/**
 * Name of a label by its number.
 * @param {Explanations.Page} page
 * @param {number} number
 */
export function labelName(page, number) {
  return page.names.get(number) ?? `label ${number}`;
}

/**
 * The explainers that are shown: those of the state, else all.
 * @param {Explanations.Page} page
 */
export function explainersOf(page) {
  const chosen = (page.state.explainer || []).filter((name) => page.listed.explainers.includes(name));
  return chosen.length ? page.listed.explainers.filter((name) => chosen.includes(name)) : page.listed.explainers;
}

/**
 * The address of a route of this run: "image", "heatmap", "samples.csv", "frame.csv".
 * @param {Explanations.Page} page
 * @param {string} route
 * @param {Record<string, string | number | (string | number)[]>} more
 */
export function address(page, route, more) {
  const query = new URLSearchParams({ run: page.run.key });
  for (const [key, values] of Object.entries(more)) for (const value of [values].flat()) query.append(key, String(value));
  return `${page.root.dataset.routes}explanation/${route}?${query}`;
}

// Which run ---------------------------------------------------------------------------------------------------------

/**
 * The last answer if it is about the chosen run.
 * @param {Explanations.Page} page
 */
const current = ({ reading, run }) => reading && reading.of === run.key ? reading : null;

/**
 * Choose what the state names; false if there is no run.
 * @param {Explanations.Page} page
 */
function choose(page) {
  const { runs } = page.catalogue;
  const found = runs.find(([key]) => key === get(page, "of")) || runs[0];
  page.run = found ? { key: found[0], name: found[1], version: found[2] } : notYet;
  const answer = page.run ? current(page) : null;
  if (answer && answer.state !== "reading") page.kept = answer;
  const { kept } = page;
  page.listed = page.run && kept && kept.of === page.run.key && kept.state === "ready"
    ? /** @type {Explanations.Listed} */ (kept) : notYet;
  if (page.listed && page.named !== page.listed) {
    page.named = page.listed;
    page.names = new Map(page.listed.labels.map(([number, name]) => [number, name]));
  }
  return Boolean(found);
}

/** @type {Body.Subject<Explanations.Page>} */
const EXPLANATIONS = {
  name: "explanations",
  forgets: [],
  fields: (root) => ({
    run: notYet, listed: notYet, kept: null, named: null, names: new Map(), parts: new Map(), controls: notYet, total: notYet,
    clear: notYet, offered: listOf(root.dataset.controls),
  }),
  controls: barOf,
  choose,
  unknownOf: (page) => page.catalogue.runs.some(([key]) => key === get(page, "of")) ? "" : get(page, "of"),
  wantedOf: ({ run }) => ({ of: [run.key], version: [run.version] }),
  drawControls: drawBar,
  stateOf: (page) => page.listed ? "" : listedState(current(page)?.state || "reading"),
  wrongOf: ({ reading }) => reading || {},
  damageOf: (page) => page.listed,
  isReady: (page) => Boolean(page.listed),
  // What is being read, or read again, is looked at again.
  isUnfinished: ({ reading }) => Boolean(reading && (reading.state === "reading" || reading.behind)),
};

export const { define } = bodies(EXPLANATIONS);
