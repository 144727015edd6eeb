// The strategy graph of a stage on the canvas of graphs: choice of stage and rank, parts by phase, counters of operators.

import { setProps } from "../../kit/dash.js";
import { fillSelect, make, select, words } from "../../kit/elements.js";
import { count } from "../../kit/units.js";
import { setLabel, translate, writeText } from "../../kit/i18n.js";
import { notYet } from "../../kit/pages.js";
import { last } from "../../kit/state.js";
import { assume, request } from "../../kit/page_parts.js";
import * as canvas from "../../graphs/canvas.js";

const PHASES = ["forward", "backward", "recompute", "optimizer"];
const COUNTERS = ["operators", "strategy", "redistribution", "gradient", "uneven"];
const KINDS = { parameter: "strategy.parameters", constant: "strategy.constants" };

/**
 * @param {StrategyPage.Page} page
 * @param {string} key
 * @param {string} [fallback]
 */
const get = (page, key, fallback = "") => last(page.state, key, fallback);

/**
 * @param {StrategyPage.Page} page
 * @param {string} key
 * @param {string} label
 * @param {string} value
 */
function toggle(page, key, label, value) {
  const button = make("button", "ms-button ms-button-small", words(label), {
    type: "button", "data-toggle": value, "aria-pressed": "true",
  });
  button.addEventListener("click", () => {
    const left = page.state[key] || [];
    page.graph.fit = true;
    page.change({ [key]: left.includes(value) ? left.filter((one) => one !== value) : [...left, value] });
  });
  return button;
}

/** @returns {Pick<StrategyPage.Page, "graph" | "stageChoice" | "fileChoice" | "phases" | "kinds" | "collapse" | "counters">} */
export const fields = () => ({
  graph: notYet, stageChoice: notYet, fileChoice: notYet, phases: [], kinds: [], collapse: notYet, counters: notYet,
});

/** @param {StrategyPage.Page} page */
export function build(page) {
  const root = page.find(".ms-strategy-graph");
  page.graph = {
    root, store: page.store, find: (selector) => root.querySelector(selector), marked: () => {},
    keys: new Map(), opened: [], drawing: null, there: null, fit: true, anchor: null, centre: false, sought: null,
    turned: null, turns: 0, home: undefined, looked: null, painted: null, mini: 1, walked: null, run: null,
    kept: null, wanted: null, about: {},
    get state() { return page.state; },
    change: (changes) => page.change(changes),
  };
  const fresh = { open: [], page: [], node: [], camera: [] };
  page.stageChoice = select("strategy.stage", (stage) => {
    page.graph.fit = true;
    page.change({ ...fresh, stage: [stage], file: [] });
  });
  page.fileChoice = select("strategy.rank_file", (rank) => page.change({ ...fresh, file: [rank] }));
  page.stageChoice.hidden = page.fileChoice.hidden = true;
  page.phases = PHASES.map((name) => toggle(page, "without", `strategy.phase.${name}`, name));
  page.kinds = Object.entries(KINDS).map(([name, label]) => toggle(page, "hide", label, name));
  page.collapse = make("button", "ms-button ms-button-small", words("strategy.collapse"), { type: "button" });
  page.collapse.addEventListener("click", () => {
    page.graph.fit = true;
    page.change({ open: [""], page: [], node: [] });
  });
  page.counters = make("span", "ms-strategy-counters");
  root.querySelector(".ms-strategy-graph-bar").replaceChildren(
    page.stageChoice, page.fileChoice, make("span", "ms-strategy-phases", page.phases, { role: "group" }), ...page.kinds,
    page.collapse, make("span", "ms-grow"), page.counters,
  );
  setLabel(root.querySelector(".ms-strategy-phases"), "aria-label", "strategy.phases");
  page.counters.addEventListener("click", (event) => {
    const button = event.target instanceof Element && event.target.closest("[data-count]");
    if (button) next(page, button.dataset.count);
  });
  canvas.build(page.graph);
}

/**
 * Show the graph of a stage, of the file of a rank if one is given.
 * @param {StrategyPage.Page} page
 */
export function choose(page, stage, file) {
  page.graph.fit = true;
  page.change({ stage: [stage], file: file ? [file] : [], open: [], page: [], node: [], camera: [] });
  page.graph.root.scrollIntoView({ block: "start", behavior: "smooth" });
}

/**
 * @param {StrategyPage.Page} page
 * @param {string} name
 */
export const go = (page, name) => canvas.go(page.graph, name);

/**
 * Go to the operator of a kind that comes after the chosen one.
 * @param {StrategyPage.Page} page
 * @param {string} name
 */
function next(page, name) {
  const { drawing } = page.graph;
  const rows = drawing ? drawing.meta.counters.rows[name] || [] : [];
  if (!rows.length) return;
  const node = get(page, "node");
  const now = /^n\d+$/.test(node) ? Number(node.slice(1)) : -1;
  const row = rows.find((one) => one > now);
  go(page, `n${row === undefined ? rows[0] : row}`);
}

/** @param {StrategyPage.Page} page */
function ask(page, about) {
  const found = { ...about };
  for (const key of ["stage", "file", "without", "hide", "open", "page"]) {
    if ((page.state[key] || []).length) found[key] = page.state[key];
  }
  if (!found.open && page.graph.kept) found.open = page.graph.kept;
  const node = get(page, "node");
  if (node && !page.graph.keys.has(node) && page.graph.sought !== node) found.node = [node];
  return found;
}

/** @param {StrategyPage.Page} page */
export function draw(page, about) {
  const { graph } = page;
  graph.run = { name: `${page.run.name}_strategy` };
  graph.about = about;
  const wanted = ask(page, about);
  graph.wanted = wanted;
  request(page, "drawing", wanted);
  // What is in a box does not depend on what is open, nor on colours.
  const of = Object.fromEntries(Object.entries(wanted).filter(([name]) => !["theme", "open", "page", "hide"].includes(name)));
  request(page, "node", { ...of, node: [get(page, "node")] });
  for (const button of page.phases) press(button, !(page.state.without || []).includes(button.dataset.toggle));
  for (const button of page.kinds) press(button, !(page.state.hide || []).includes(button.dataset.toggle));
  if (graph.drawing) canvas.mark(graph);
}

/** @param {boolean} on */
const press = (button, on) => button.setAttribute("aria-pressed", String(on));

const STATES = { reading: "graph_reading", waiting: "graph_reading", missing: "graph_missing", failed: "graph_failed" };

/** @param {StrategyPage.Page} page */
export function take(page, answer) {
  const { graph } = page;
  const ready = answer.state === "ready";
  // Without any file the head of the page says so.
  graph.root.hidden = answer.state === "missing" && !answer.stages;
  const status = graph.find(".ms-strategy-status");
  status.hidden = ready;
  if (!ready) {
    writeText(status, `strategy.${STATES[answer.state] || "graph_missing"}`, { rank: answer.rank, text: answer.text });
  }
  const gone = !ready && !(STATES[answer.state] === "graph_reading" && graph.drawing);
  graph.find(".ms-strategy-canvas").hidden = gone;
  for (const part of [".ms-strategy-phases", ".ms-strategy-counters"]) graph.find(part).hidden = gone;
  for (const one of [...page.kinds, page.collapse]) one.hidden = gone;
  if (answer.stages) drawChoices(page, answer);
  if (!ready) return;
  const { meta } = answer;
  drawHead(page, answer);
  const before = graph.drawing;
  const { elements, turn: stamp } = answer;
  if (elements.length) elements[elements.length - 1].data.stamp = stamp;
  graph.drawing = { elements, meta, stamp };
  graph.keys = canvas.keys(elements);
  graph.opened = meta.opened || [];
  if (graph.wanted && graph.wanted.node) {
    graph.sought = graph.wanted.node[0];
    if (meta.chosen) graph.centre = true;
    graph.kept = graph.opened.length ? graph.opened : [""];
    if (page.state.open) page.change({ open: graph.kept, page: meta.pages });
    graph.wanted = ask(page, graph.about);
    assume(page, "drawing", graph.wanted);
  }
  canvas.placed(graph, before);
  setProps(page.store("canvas"), { elements, stylesheet: answer.stylesheet });
}

/** @param {StrategyPage.Page} page */
function drawChoices(page, { stage, stages, ranks, rank }) {
  const name = (one) => one < 0 ? translate("strategy.stage_unknown") : translate("strategy.stage_n", { n: one });
  fillSelect(page.stageChoice, stages.map((one) => [String(one), name(one)]), String(stage));
  page.stageChoice.hidden = stages.length < 2;
  fillSelect(page.fileChoice, ranks.map((one) => [String(one), translate("strategy.rank_n", { n: one })]), String(rank));
  page.fileChoice.hidden = ranks.length < 2;
  const title = page.graph.find(".ms-card-title");
  writeText(title, stage < 0 ? "strategy.graph_of_unknown" : "strategy.graph_of", { stage, rank });
}

/** @param {StrategyPage.Page} page */
function drawHead(page, { meta, choice }) {
  const { graph } = page;
  const { counters, phases } = meta;
  page.phases.forEach((button) => {
    const many = phases[button.dataset.toggle];
    button.hidden = !many;
    setLabel(button, "title", "strategy.phase.tip", { n: count(many || 0) });
  });
  page.counters.replaceChildren(...COUNTERS.filter((name) => name !== "uneven" || counters.uneven).map((name) => {
    const text = words(`strategy.count.${name}`, { n: count(counters[name]) });
    if (name === "operators") return make("span", "ms-badge", text);
    const able = (counters.rows[name] || []).length > 0;
    const button = make("button", `ms-badge ms-strategy-counter ms-strategy-${name}`, text, {
      type: "button", "data-count": name, ...(able ? {} : { disabled: "" }),
    });
    const numbers = Object.fromEntries(["generated", "user", "cut"].map((one) => [one, count(counters[one])]));
    setLabel(button, "title", `strategy.count.${name}.tip`, numbers);
    return button;
  }));
  const csv = graph.find(".ms-strategy-csv");
  const query = new URLSearchParams({
    run: choice.run[0], session: choice.session[0], rank: choice.rank[0], frame: "strategies",
  });
  csv.href = `${page.root.dataset.routes}profile.csv?${query}`;
  const message = graph.find(".ms-graph-message");
  const lines = meta.problems.map((problem) => make("p", "", problem));
  if (!meta.boxes) lines.push(words("strategy.graph_empty", {}, "p", "ms-muted"));
  message.replaceChildren(...lines);
  message.hidden = !lines.length;
}

/** @param {StrategyPage.Page} page */
export const png = (page) => canvas.png(page.graph);
/** @param {StrategyPage.Page} page */
export const fit = (page) => canvas.fit(page.graph);

/**
 * Handle a key on the canvas; whether it did.
 * @param {StrategyPage.Page} page
 * @param {string} name
 * @param {boolean} shift
 */
export function key(page, name, shift) {
  const { graph } = page;
  if (!graph.drawing) return false;
  if (name === "0") canvas.fit(graph);
  else if (name === "+" || name === "=") canvas.zoom(graph, 1.25);
  else if (name === "-") canvas.zoom(graph, 0.8);
  else return canvas.key(graph, name, shift);
  return true;
}
