// What all pages about a dump share: choosing run, rank and iteration, parts that the server answers, empty and damaged states.
// Counterpart of layouts/dumps/body.py. A page calls define(name, { build(page), draw(page), answers, first(page) }): build
// runs once, draw after every change of state, catalogue or listing, answers[part](page, answer) with each answer of a part.
// first(page) is the iteration to show if the state names none (default: the last one), or null for that default.
// A page has state, dump ({ key, name, version }), listed (layouts/dumps/listing.py), rank, step, against ({ dump, listed,
// rank, step } to compare with, or null), change({ key: [...] }), find(selector) and store(part).

import { listDamage } from "../kit/damage.js";
import { functionsOf, noUpdate, setProps } from "../kit/dash.js";
import { fillSelect, icon, make, select, words } from "../kit/elements.js";
import { count } from "../kit/units.js";
import { setLabel, translate, writeText } from "../kit/i18n.js";
import { nearest, numberPicker } from "../kit/number_picker.js";
import { keeper } from "../kit/pages.js";
import { answered } from "../kit/parts.js";
import { currentPrefs } from "../kit/prefs.js";
import { formatQuery, last, same } from "../kit/state.js";
import { build as buildLive, draw as drawLive, isLive, markOf, sessionName, sessionsOf } from "./live.js";
import { drawProgress } from "./progress.js";

export { assume, forget, request } from "../kit/parts.js";

const AGAIN_MS = 400;
const kinds = new Map();

/** @param {string} name */
export function define(name, kind) {
  kinds.set(name, kind);
}

export const { pages, pageOf } = keeper((root) => /** @type {UndeclaredFields} */ ({
  catalogue: null, dump: null, listed: null, rank: 0, step: null, against: null, reading: null, kept: null,
  wanted: null, asked: null,
  parts: new Map(),
  kind: kinds.get(root.dataset.page) || {},
  keys: root.dataset.keys.split(" ").filter(Boolean),
  choices: root.dataset.choices.split(" ").filter(Boolean),
  compared: root.dataset.compared === "1",
}), (page) => {
  build(page);
  buildLive(page, () => redraw(page));
  if (page.kind.build) page.kind.build(page);
});

/**
 * @param {string} key
 * @param {string} [fallback]
 */
export function get(page, key, fallback = "") {
  return last(page.state, key, fallback);
}

// Which dump --------------------------------------------------------------------------------------------------------

const entryOf = ([key, name, version]) => ({ key, name, version });

/**
 * Live training is no run: its key is in the address only.
 * @param {string} key
 */
function dumpOf(page, key) {
  const found = page.catalogue.dumps.find((one) => one[0] === key);
  if (found) return entryOf(found);
  return isLive(key) ? { key, name: sessionName(key), version: markOf(page, key) } : null;
}

// What is shown first: the dump of a run, else the latest live training.
function firstOf(page) {
  const { dumps } = page.catalogue;
  const [latest] = sessionsOf(page);
  if (dumps.length) return entryOf(dumps[0]);
  return latest ? dumpOf(page, latest) : null;
}

/** @param {number} wanted */
const at = (numbers, wanted) => numbers[nearest(numbers, wanted)];

function choose(page) {
  page.dump = dumpOf(page, get(page, "of")) || firstOf(page);
  page.against = page.unready = null;
  if (page.dump && current(page) && page.reading.state !== "reading") page.kept = page.reading;
  // While a dump that grows is listed again, what was listed before is shown.
  page.listed = page.dump && page.kept && page.kept.of === page.dump.key && page.kept.state === "ready" ? page.kept : null;
  if (!page.listed) return;
  const reading = page.listed;
  page.rank = chosenOf(reading.ranks, get(page, "rank"), reading.ranks[0]);
  const first = get(page, "step") === "" && page.kind.first ? page.kind.first(page) : null;
  page.step = chosenOf(reading.steps, get(page, "step"), first ?? reading.steps[reading.steps.length - 1] ?? null);
  if (page.compared) page.against = againstOf(page);
}

/**
 * Of ascending numbers the one in the address, else the nearest one to it; the default if the address has none.
 * @param {string} text
 */
function chosenOf(numbers, text, fallback) {
  const wanted = Number(text);
  return text === "" || !Number.isInteger(wanted) || !numbers.length ? fallback : at(numbers, wanted);
}

// Null if nothing is chosen, or if that dump cannot be shown: then page.unready has it, with the state of its listing.
function againstOf(page) {
  const [key, rank, step] = ["with", "with_rank", "with_step"].map((one) => get(page, one));
  if (key === "" && rank === "" && step === "") return null;
  const other = key !== "" && key !== page.dump.key;
  const listed = other ? page.listed.with : page.listed;
  const dump = other ? dumpOf(page, key) : page.dump;
  if (!dump) return null;
  if (!listed || listed.state !== "ready") {
    page.unready = { dump, listed: listed || { state: "reading" } };
    return null;
  }
  return {
    dump, listed,
    rank: chosenOf(listed.ranks, rank, at(listed.ranks, page.rank)),
    step: listed.steps.length ? chosenOf(listed.steps, step, at(listed.steps, page.step ?? 0)) : null,
  };
}

function wantedOf(page) {
  const key = get(page, "with");
  const other = page.compared && key !== page.dump.key ? dumpOf(page, key) : null;
  const found = { of: [page.dump.key], version: [page.dump.version] };
  return other ? { ...found, with: [other.key], with_version: [other.version] } : found;
}

// Ask for the listing of the dump.
function look(page) {
  if (!page.root.isConnected || !page.dump) return;
  page.turn = (page.turn || 0) + 1;
  setProps(page.store("wanted"), { data: { ...page.wanted, turn: [String(page.turn)] } });
}

/**
 * What a part is asked about: the dump with rank and iteration, and what it is compared with.
 * @returns {Wire.Query}
 */
export function askOf(page) {
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
 * @param {string} name
 */
export function linkTo(page, name, more = {}) {
  const step = page.step === null ? {} : { step: [String(page.step)] };
  const query = formatQuery({ of: [page.dump.key], rank: [String(page.rank)], ...step, ...more });
  const runs = page.state.run ? `${formatQuery({ run: page.state.run })}&` : "";
  return { href: `${name}?${runs}${query}`, "data-page": name, "data-query": query };
}

// Controls ----------------------------------------------------------------------------------------------------------

const RANK = {
  label: "debugging.rank", previous: "debugging.rank_previous", next: "debugging.rank_next", absent: "debugging.rank_absent",
  total: "debugging.of_total",
};
const STEP = {
  label: "debugging.step", previous: "debugging.step_previous", next: "debugging.step_next", absent: "debugging.step_absent",
  total: "debugging.of_total",
};

/** @param {number} rank */
export const rankName = (rank) => translate("debugging.rank_n", { n: rank });
/** @param {number} step */
export const stepName = (step) => translate("debugging.step_n", { n: count(step) });

const FRESH = { rank: [], step: [], node: [], io: [] };

function build(page) {
  /** @param {string} key */
  const put = (key) => (number) => page.change({ [key]: [String(number)] });
  const controls = {
    run: select("debugging.run", (key) => page.change({ ...FRESH, of: [key] })),
    rank: numberPicker(RANK, rankName, put("rank")),
    step: numberPicker(STEP, stepName, put("step")),
    with: select("debugging.with", (key) => page.change({ with: [key], with_rank: [], with_step: [] })),
    withRank: numberPicker(RANK, rankName, put("with_rank")),
    withStep: numberPicker(STEP, stepName, put("with_step")),
  };
  const compare = make("button", "ms-button", [icon("compare"), words("debugging.compare")], {
    type: "button",
    "aria-pressed": "false",
  });
  setLabel(compare, "title", "debugging.compare.tip");
  compare.addEventListener("click", () => {
    page.change(page.against ? { with: [], with_rank: [], with_step: [] } : firstOther(page));
  });
  page.controls = { ...controls, compare };
  page.left = make("span", "ms-muted");
  page.tools = make("span", "ms-toolbar ms-debugging-tools");
  const { run, rank, step, withRank, withStep } = controls;
  page.find(".ms-debugging-bar").replaceChildren(
    run, rank.element, step.element, compare, controls.with, withRank.element, withStep.element, page.left,
    make("span", "ms-grow"), page.tools,
  );
}

// What to compare with first: the next rank, else another dump, else the iteration before.
export function firstOther(page) {
  const { ranks, steps } = page.listed;
  const rank = ranks.find((one) => one > page.rank) ?? ranks.find((one) => one !== page.rank);
  if (rank !== undefined && page.choices.includes("rank")) return { with_rank: [String(rank)] };
  const other = page.catalogue.dumps.find(([key]) => key !== page.dump.key);
  if (other) return { with: [other[0]] };
  const before = steps[Math.max(0, nearest(steps, page.step) - 1)];
  return { with_step: [String(before)] };
}

function fill(control, choices, chosen) {
  fillSelect(control, choices, chosen);
  control.hidden = choices.length < 2;
}

/**
 * The number in the address, if it is not among those there are.
 * @param {string} key
 */
function absent(page, key, numbers, shown) {
  const text = get(page, key);
  const wanted = Number(text);
  return text !== "" && Number.isInteger(wanted) && wanted !== shown && !numbers.includes(wanted) ? wanted : null;
}

function drawControls(page) {
  const { controls, catalogue, listed, against } = page;
  const sessions = sessionsOf(page).map((/** @type {string} */ key) => [key, sessionName(key)]);
  const dumps = [...catalogue.dumps.map(([key, name]) => [key, name]), ...sessions];
  const known = dumps.some(([key]) => key === page.dump.key);
  fill(controls.run, known ? dumps : [[page.dump.key, page.dump.name], ...dumps], page.dump.key);
  page.left.hidden = !catalogue.left;
  if (catalogue.left) writeText(page.left, "debugging.left", { n: count(catalogue.left) });
  if (!listed) {
    for (const name of ["rank", "step", "withRank", "withStep"]) controls[name].draw([], null);
    controls.compare.hidden = controls.with.hidden = true;
    return;
  }
  /** @param {string} key */
  const offered = (key, numbers) => page.choices.includes(key) ? numbers : [];
  controls.rank.draw(offered("rank", listed.ranks), page.rank, absent(page, "rank", listed.ranks, page.rank));
  controls.step.draw(offered("step", listed.steps), page.step, absent(page, "step", listed.steps, page.step));
  const able = dumps.length > 1 || listed.ranks.length > 1 || listed.steps.length > 1;
  controls.compare.hidden = !page.compared || !able;
  controls.compare.setAttribute("aria-pressed", String(Boolean(against)));
  const other = against || page.unready;
  if (other) fill(controls.with, dumps, other.dump.key);
  controls.with.hidden = !other || dumps.length < 2;
  controls.withRank.draw(against ? offered("rank", against.listed.ranks) : [], against ? against.rank : null);
  controls.withStep.draw(against ? offered("step", against.listed.steps) : [], against ? against.step : null);
}

// States ------------------------------------------------------------------------------------------------------------

// Whether the last answer is about the chosen dump.
function current(page) {
  const { reading, dump } = page;
  return Boolean(reading && dump) && reading.of === dump.key;
}

function stateOf(page) {
  const { catalogue, reading } = page;
  if (!page.dump) {
    // Where training can connect, the live controls say so.
    if (!catalogue.chosen) return catalogue.live ? "connect" : "no-runs";
    return catalogue.waiting ? "loading" : catalogue.damage.length ? "damaged" : "none";
  }
  const state = current(page) ? reading.state : "reading";
  if (state === "reading" && !page.listed) return "opening";
  const shown = page.unready ? page.unready.listed.state : state === "reading" ? "ready" : state;
  return { ready: "", reading: "opening", nothing: "nothing", missing: "none", failed: "failed" }[shown];
}

function showState(page) {
  const name = stateOf(page);
  for (const element of page.root.querySelectorAll("[data-state]")) element.hidden = element.dataset.state !== name;
  page.find(".ms-debugging-content").hidden = name !== "";
  page.find(".ms-debugging-bar").hidden = !page.dump;
  if (name === "damaged") listDamage(page.root, page.catalogue.damage);
  const { unready } = page;
  if (name === "failed") page.find(".ms-debugging-why").textContent = (unready ? unready.listed : page.reading).text;
  const { problems: damage = [] } = (unready ? unready.listed : page.reading) || {};
  const named = unready ? [{ path: unready.dump.name, text: "" }] : [];
  const problems = name === "nothing" ? [...named, ...damage] : [];
  page.find(".ms-debugging-found").replaceChildren(...problems.map(({ path, text }) =>
    make("li", "", [make("span", "ms-mono", path), " ", text])));
  const reading = page.dump && current(page) && page.reading.state === "reading" ? page.reading : null;
  drawProgress(page.find(".ms-debugging-status"), reading);
  const elsewhere = name === "none" ? page.catalogue.elsewhere : [];
  page.find(".ms-debugging-elsewhere").replaceChildren(
    ...(elsewhere.length ? [words("debugging.elsewhere", {}, "span", "ms-muted"), ...elsewhere.map(press(page))] : []));
  drawDamage(page);
}

const press = (page) => ({ key, name }) => {
  const button = make("button", "ms-button ms-cut", name, { type: "button", title: name });
  button.addEventListener("click", () => page.change({ ...FRESH, run: [key], of: [] }));
  return button;
};

function drawDamage(page) {
  const host = page.find(".ms-debugging-damage");
  if (!host || !page.listed) return;
  const { problems, more } = page.listed;
  host.hidden = !problems.length;
  writeText(host.querySelector("summary"), "debugging.damaged_n", { n: count(problems.length + more) });
  host.querySelector(".ms-popover").replaceChildren(
    ...problems.map(({ path, text }) => make("p", "", [make("span", "ms-mono", path), " ", text])));
}

/** Draw a page again, after something that decides what is shown came from a part. */
export function redraw(page) {
  const ask = draw(page);
  if (ask) setProps(page.store("ask"), { data: ask });
}

// Draw everything; return what the page is about if it changed, else null.
function draw(page) {
  choose(page);
  let ask = null;
  if (page.dump) {
    const wanted = wantedOf(page);
    if (!same(wanted, page.wanted)) {
      page.wanted = wanted;
      look(page);
    }
    drawControls(page);
  }
  drawLive(page);
  if (page.listed) {
    const next = askOf(page);
    for (const key of ["node", "io", ...page.keys]) if ((page.state[key] || []).length) next[key] = page.state[key];
    if (currentPrefs().theme === "dark") next.theme = ["dark"];
    if (!same(next, page.asked)) ask = page.asked = next;
  }
  showState(page);
  if (page.listed && page.kind.draw) page.kind.draw(page);
  return ask;
}

// Called by Dash ----------------------------------------------------------------------------------------------------

Object.assign(functionsOf("mindscope_debugging"), {
  /**
   * @param {Wire.Query | null} state
   * @param {Wire.DumpCatalogue | null} catalogue
   * @param {Wire.DumpListing | null} reading
   * @param {any} _prefs
   * @param {string} rootId
   */
  plan(state, catalogue, reading, _prefs, rootId) {
    const page = pageOf(rootId);
    if (!page || !catalogue) return noUpdate();
    const fresh = reading !== page.reading;
    Object.assign(page, { state: state || {}, catalogue, reading });
    const ask = draw(page);
    // A dump that is being listed, or was listed anew meanwhile, is looked at again.
    if (fresh && page.dump && reading && (reading.state === "reading" || (reading.with && reading.with.state === "reading"))) {
      window.clearTimeout(page.timer);
      page.timer = window.setTimeout(() => look(page), AGAIN_MS);
    }
    return ask || noUpdate();
  },

  /** @param {string} rootId */
  answered(answer, rootId) {
    const page = pageOf(rootId);
    if (page && answer) answered(page, answer);
  },
});
