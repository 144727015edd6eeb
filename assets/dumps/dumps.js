// What all pages about a dump share: choosing run, rank and iteration. Counterpart of layouts/dumps/body.py; what it has in
// common with other subjects is kit/body.js. A page calls define(name, { build(page), draw(page), answers, first(page) }):
// answers[part](page, answer) takes each answer of a part, first(page) is the iteration to show if the state names none
// (default: the last one), or null for that default. A page has state, dump ({ key, name, version }), listed
// (layouts/dumps/listing.py), rank, step, against ({ dump, listed, rank, step } to compare with, or null),
// change({ key: [...] }), find(selector) and store(part).

import { bodies, compareButton, get, listedState, numberTexts, pageLink } from "../kit/body.js";
import { make, select } from "../kit/elements.js";
import { translate, writeText } from "../kit/i18n.js";
import { nearest, numberPicker } from "../kit/number_picker.js";
import { notYet } from "../kit/pages.js";
import { drawProgress } from "../kit/progress.js";
import { fillRuns } from "../kit/run_select.js";
import { count } from "../kit/units.js";
import { build as buildLive, draw as drawLive, fields as liveFields, isLive, markOf, sessionName, sessionsOf } from "./live.js";

export { assume, forget, request } from "../kit/page_parts.js";
export { get };

// Which dump --------------------------------------------------------------------------------------------------------

/**
 * @param {[string, string, string]} row
 * @returns {Dumps.Entry}
 */
const entryOf = ([key, name, version]) => ({ key, name, version });

/**
 * Live training is no run: its key is in the address only. A run that is not among the chosen ones is shown if the address
 * names it; one that nobody knows is said to be unknown: another dump in its place would be taken for it.
 * @param {Dumps.Page} page
 * @param {string} key
 * @returns {Dumps.Entry | null}
 */
function dumpOf(page, key) {
  const found = page.catalogue.dumps.find((one) => one[0] === key);
  if (found) return entryOf(found);
  if (isLive(key)) return { key, name: sessionName(key), version: markOf(page, key) };
  return key === "" ? null : { key, name: key, version: "" };
}

/** Keys of what somebody chooses in a dump, which another dump forgets. */
const FORGETS = ["rank", "step", "node", "io"];

/**
 * What is shown first: the dump of a run whose scalars have NaN or Inf, else that of the newest run, else the latest live
 * training. Once all scalars are analysed, or somebody has chosen anything in it, it stays while it is listed, also if another
 * run is found to be broken later.
 * @param {Dumps.Page} page
 */
function firstOf(page) {
  const { dumps, broken, waiting, unjudged } = page.catalogue;
  const [latest] = sessionsOf(page);
  const found = [page.opened, broken].map((key) => dumps.find((one) => one[0] === key)).find(Boolean) || dumps[0];
  const settled = !waiting && (!unjudged || FORGETS.some((key) => get(page, key) !== ""));
  page.opened = found && settled ? found[0] : "";
  if (found) return entryOf(found);
  return latest ? dumpOf(page, latest) : null;
}

/** @param {Dumps.Page} page */
function drawOpened(page) {
  const line = page.find(".ms-dump-opened");
  const { broken } = page.catalogue;
  line.hidden = !broken || !page.dump || page.dump.key !== broken || get(page, "of") !== "";
  if (!line.hidden) writeText(line, "debugging.opened", { name: page.dump.name });
}

/**
 * @param {number[]} numbers
 * @param {number} wanted
 */
const at = (numbers, wanted) => numbers[nearest(numbers, wanted)];

/**
 * Choose what the state names; false if there is no dump.
 * @param {Dumps.Page} page
 */
function choose(page) {
  page.dump = dumpOf(page, get(page, "of")) || firstOf(page) || notYet;
  page.against = page.unready = null;
  const answer = page.dump ? current(page) : null;
  if (answer && answer.state !== "reading") page.kept = answer;
  // While a dump that grows is listed again, what was listed before is shown.
  const { kept } = page;
  page.listed = page.dump && kept && kept.of === page.dump.key && kept.state === "ready"
    ? /** @type {Dumps.Listed} */ (kept) : notYet;
  if (page.listed) chooseListed(page);
  return Boolean(page.dump);
}

/** @param {Dumps.Page} page */
function chooseListed(page) {
  const reading = page.listed;
  page.rank = chosenOf(reading.ranks, get(page, "rank"), reading.ranks[0]);
  const first = get(page, "step") === "" && page.kind.first ? page.kind.first(page) : null;
  page.step = chosenOf(reading.steps, get(page, "step"), first ?? reading.steps[reading.steps.length - 1] ?? null);
  if (page.compared) page.against = againstOf(page);
}

/**
 * Of ascending numbers the one in the address, else the nearest one to it; the default if the address has none.
 * @template {number | null} Fallback
 * @param {number[]} numbers
 * @param {string} text
 * @param {Fallback} fallback
 */
function chosenOf(numbers, text, fallback) {
  const wanted = Number(text);
  return text === "" || !Number.isInteger(wanted) || !numbers.length ? fallback : at(numbers, wanted);
}

/**
 * Null if nothing is chosen, or if that dump cannot be shown: then page.unready has it, with the state of its listing.
 * @param {Dumps.Page} page
 * @returns {Dumps.Choice | null}
 */
function againstOf(page) {
  const [key, rank, step] = ["with", "with_rank", "with_step"].map((one) => get(page, one));
  if (key === "" && rank === "" && step === "") return null;
  const other = key !== "" && key !== page.dump.key;
  const answer = other ? page.kept && page.kept.with : page.listed;
  const dump = other ? dumpOf(page, key) : page.dump;
  if (!dump) return null;
  if (!answer || answer.state !== "ready") {
    page.unready = { dump, listed: answer || { state: "reading" } };
    return null;
  }
  const listed = /** @type {Dumps.Listed} */ (answer);
  return {
    dump, listed,
    rank: chosenOf(listed.ranks, rank, at(listed.ranks, page.rank)),
    step: listed.steps.length ? chosenOf(listed.steps, step, at(listed.steps, page.step ?? 0)) : null,
  };
}

/**
 * @param {Dumps.Page} page
 * @returns {Wire.Query}
 */
function wantedOf(page) {
  const key = get(page, "with");
  const other = page.compared && key !== page.dump.key ? dumpOf(page, key) : null;
  const found = { of: [page.dump.key], version: [page.dump.version] };
  return other ? { ...found, with: [other.key], with_version: [other.version] } : found;
}

/**
 * What a part is asked about: the dump with rank and iteration, and what it is compared with.
 * @param {Dumps.Page} page
 * @returns {Wire.Query}
 */
export function askOf(page) {
  /** @param {Dumps.Choice} one */
  const step = (one) => one.step === null ? [] : [String(one.step)];
  const found = { of: [page.dump.key], rank: [String(page.rank)], step: step(page), mark: [page.listed.mark] };
  const { against } = page;
  if (against) {
    Object.assign(found, {
      with: [against.dump.key], with_rank: [String(against.rank)], with_step: step(against), with_mark: [against.listed.mark],
    });
  }
  return found;
}

/**
 * The attributes of a link to a page about this dump, with further state of that page: { node: [...], step: [...] }.
 * @param {Dumps.Page} page
 * @param {string} name
 * @param {Wire.Query} [more]
 */
export function linkTo(page, name, more = {}) {
  const { of, rank, step } = askOf(page);
  return pageLink(name, page.state.run, { of, rank, step, ...more });
}

// Controls ----------------------------------------------------------------------------------------------------------

const RANK = numberTexts("debugging", "rank");
const STEP = numberTexts("debugging", "step");

/** @param {number} rank */
export const rankName = (rank) => translate("debugging.rank_n", { n: rank });
/** @param {number} step */
export const stepName = (step) => translate("debugging.step_n", { n: count(step) });

/**
 * @param {Dumps.Page} page
 * @returns {Dumps.Controls}
 */
function controlsOf(page) {
  /** @param {string} key */
  const put = (key) => (/** @type {number | null} */ number) => page.change({ [key]: [String(number)] });
  const fresh = Object.fromEntries(FORGETS.map((key) => [key, []]));
  return {
    run: select("debugging.run", (key) => page.change({ ...fresh, of: [key] })),
    rank: numberPicker(RANK, rankName, put("rank")),
    step: numberPicker(STEP, stepName, put("step")),
    with: select("debugging.with", (key) => page.change({ with: [key], with_rank: [], with_step: [] })),
    withRank: numberPicker(RANK, rankName, put("with_rank")),
    withStep: numberPicker(STEP, stepName, put("with_step")),
    compare: compareButton("debugging", "debugging.compare.tip", () => {
      page.change(page.against ? { with: [], with_rank: [], with_step: [] } : firstOther(page));
    }),
  };
}

/** @param {Dumps.Page} page */
function barOf(page) {
  const { run, rank, step, compare, with: other, withRank, withStep } = page.controls;
  buildLive(page, () => redraw(page));
  return [
    run, rank.element, step.element, compare, other, withRank.element, withStep.element, page.left, make("span", "ms-grow"),
    page.tools,
  ];
}

/**
 * What to compare with first: the next rank, else another dump, else the iteration before.
 * @param {Dumps.Page} page
 * @returns {Wire.Query}
 */
export function firstOther(page) {
  const { ranks, steps } = page.listed;
  const rank = ranks.find((one) => one > page.rank) ?? ranks.find((one) => one !== page.rank);
  if (rank !== undefined && page.choices.includes("rank")) return { with_rank: [String(rank)] };
  const other = page.catalogue.dumps.find(([key]) => key !== page.dump.key);
  if (other) return { with: [other[0]] };
  const before = steps[Math.max(0, nearest(steps, page.step ?? 0) - 1)];
  return { with_step: [String(before)] };
}

/**
 * The number in the address, if it is not among those there are.
 * @param {Dumps.Page} page
 * @param {"rank" | "step"} key
 */
function absent(page, key) {
  const text = get(page, key);
  const wanted = Number(text);
  const numbers = page.listed[`${key}s`];
  return text !== "" && Number.isInteger(wanted) && wanted !== page[key] && !numbers.includes(wanted) ? wanted : null;
}

/**
 * @param {string} key
 * @param {string} name
 * @returns {[string, string]}
 */
const named = (key, name) => [key, name];

/** @param {Dumps.Page} page */
function drawControls(page) {
  const { controls, catalogue, listed, against } = page;
  /** @type {[string, string][]} */
  const sessions = sessionsOf(page).map((key) => [key, sessionName(key)]);
  /** @type {[string, string][]} */
  const dumps = [...catalogue.dumps.map(([key, name]) => named(key, name)), ...sessions];
  const known = dumps.some(([key]) => key === page.dump.key);
  fillRuns(controls.run, known ? dumps : [[page.dump.key, page.dump.name], ...dumps], page.dump.key);
  if (!listed) {
    for (const one of [controls.rank, controls.step, controls.withRank, controls.withStep]) one.draw([], null);
    controls.compare.hidden = controls.with.hidden = true;
    return;
  }
  /**
   * @param {string} key
   * @param {number[]} numbers
   */
  const offered = (key, numbers) => page.choices.includes(key) ? numbers : [];
  controls.rank.draw(offered("rank", listed.ranks), page.rank, absent(page, "rank"));
  controls.step.draw(offered("step", listed.steps), page.step, absent(page, "step"));
  const able = dumps.length > 1 || listed.ranks.length > 1 || listed.steps.length > 1;
  controls.compare.hidden = !page.compared || !able;
  controls.compare.setAttribute("aria-pressed", String(Boolean(against)));
  const other = against || page.unready;
  if (other) fillRuns(controls.with, dumps, other.dump.key);
  controls.with.hidden = !other || dumps.length < 2;
  controls.withRank.draw(against ? offered("rank", against.listed.ranks) : [], against ? against.rank : null);
  controls.withStep.draw(against ? offered("step", against.listed.steps) : [], against ? against.step : null);
}

// States ------------------------------------------------------------------------------------------------------------

/**
 * The last answer if it is about the chosen dump.
 * @param {Dumps.Page} page
 */
const current = ({ reading, dump }) => reading && reading.of === dump.key ? reading : null;

/**
 * Whether a dump is missing that is not one of the chosen runs: the address names what is not there.
 * @param {Dumps.Page} page
 * @param {string} state
 */
function isUnknown({ catalogue, dump, unready }, state) {
  const { key } = unready ? unready.dump : dump;
  return state === "missing" && !isLive(key) && !catalogue.dumps.some((one) => one[0] === key);
}

/** @param {Dumps.Page} page */
function stateOf(page) {
  const answer = current(page);
  const state = answer ? answer.state : "reading";
  if (state === "reading" && !page.listed) return "opening";
  const shown = page.unready ? page.unready.listed.state : state === "reading" ? "ready" : state;
  return isUnknown(page, shown) ? "unknown" : listedState(shown);
}

/** @param {Dumps.Page} page */
function drawState(page) {
  const answer = page.dump ? current(page) : null;
  drawProgress(page.find(".ms-body-status"), answer && answer.state === "reading" ? answer : null);
  page.find(".ms-body-unknown").textContent = (page.unready ? page.unready.dump : page.dump)?.key ?? "";
  drawOpened(page);
  drawLive(page);
}

/**
 * What is wrong with what is chosen; what it cannot be compared with is named.
 * @param {Dumps.Page} page
 */
function wrongOf({ unready, reading }) {
  if (!unready) return reading || {};
  const { dump, listed } = unready;
  return { text: listed.text, problems: [{ path: dump.name, text: "" }, ...(listed.problems || [])] };
}

/** @type {Body.Subject<Dumps.Page>} */
const DUMPS = {
  name: "debugging",
  forgets: FORGETS,
  fields: (_root, page) => ({
    dump: notYet, listed: notYet, rank: 0, step: null, against: null, unready: null, kept: null, opened: "", parts: new Map(),
    controls: controlsOf(page), ...liveFields(),
  }),
  controls: barOf,
  choose,
  wantedOf,
  drawControls,
  stateOf,
  // Where training can connect, the live controls say so.
  emptyState: (page, name) => name === "no-runs" && page.catalogue.live ? "connect" : name,
  drawState,
  wrongOf,
  damageOf: (page) => page.listed,
  askOf: (page) => page.listed ? askOf(page) : null,
  isReady: (page) => Boolean(page.listed),
  // A dump that is being listed, or was listed anew meanwhile, is looked at again.
  isUnfinished: ({ reading }) => [reading, reading && reading.with].some((one) => one && one.state === "reading"),
};

const family = bodies(DUMPS);
/**
 * Register a page by its name.
 * @template {Dumps.Page} Kept
 * @param {string} name
 * @param {Body.Kind<Kept, Dumps.Page> & Dumps.First} kind
 */
export const define = (name, kind) => family.define(name, kind);
export const { redraw, pageOf } = family;
