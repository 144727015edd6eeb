// The debugger page. Counterpart of layouts/dumps/debugger. What was found, operators and lines are at the left (hits.js,
// nodes.js, lines.js), the graph in the middle (graph.js), watchpoints at the right (watch.js), executions above (strip.js).

import { setProps } from "../../kit/dash.js";
import { iconButton } from "../../kit/elements.js";
import { define, forget, get, redraw, request } from "../dumps.js";
import { busy } from "../../kit/page_parts.js";
import { notYet } from "../../kit/pages.js";
import * as graph from "./graph.js";
import * as hits from "./hits.js";
import * as lines from "./lines.js";
import * as nodes from "./nodes.js";
import * as selected from "./selected.js";
import * as sentence from "./sentence.js";
import * as strip from "./strip.js";
import * as watch from "./watch.js";

/** How long the page waits to know which iteration is bad first. */
const PATIENCE_MS = 1500;
const TABS = { hits, nodes, lines };

/** @returns {Omit<Debugger.Page, keyof Dumps.Page>} */
const fields = () => ({
  firsts: null, since: null, health: null, saved: 0, selected: notYet,
  ...hits.fields(), ...nodes.fields(), ...lines.fields(), ...watch.fields(), ...graph.fields(), ...strip.fields(),
});

/**
 * Which iteration to show first: the first with NaN or Inf if that is known at once, and then it stays.
 * @param {Debugger.Page} page
 */
function first(page) {
  return page.firsts && page.firsts.key === page.dump.key ? page.firsts.step : null;
}

const badSteps = ({ health, rank }) => health.bad.filter((one) => one[0] === rank).map((one) => one[1]);

/** @param {Debugger.Page} page */
function decide(page) {
  if (page.firsts && page.firsts.key === page.dump.key) {
    // While a dump grows the latest iteration is shown, until one is bad: this one stays.
    if (page.firsts.step === null && page.step === Math.min(...badSteps(page))) page.firsts.step = page.step;
    return false;
  }
  if (!page.since || page.since.key !== page.dump.key) page.since = { key: page.dump.key, at: Date.now() };
  const { health } = page;
  if (busy(health) && Date.now() - page.since.at < PATIENCE_MS) return false;
  const bad = badSteps(page);
  const step = bad.length ? Math.min(...bad) : null;
  page.firsts = { key: page.dump.key, step };
  // With nothing chosen, the operator to look at first is the one that was bad first.
  const cause = (health.causes || []).find((one) => one.rank === page.rank && one.iteration === step);
  if (cause && get(page, "step") === "" && get(page, "node") === "") page.change({ node: [cause.name] });
  return true;
}

/** @param {Debugger.Page} page */
function build(page) {
  page.root.addEventListener("click", (event) => {
    const button = event.target instanceof Element && event.target.closest("[data-tab], [data-act]");
    if (!(button instanceof HTMLElement)) return;
    const { tab, act } = button.dataset;
    if (tab) page.change({ tab: tab === "hits" ? [] : [tab] });
    else if (acts[act]) acts[act](page);
  });
  const csv = iconButton("download", "debugger.csv", "csv");
  page.tools.append(csv);
  strip.build(page);
  graph.build(page);
  watch.build(page);
  selected.build(page);
  for (const tab of Object.values(TABS)) tab.build(page);
}

/** @type {Record<string, (page: Debugger.Page) => void>} */
const acts = {
  csv: (page) => {
    page.saved += 1;
    setProps(page.store("save"), { data: { ...hits.ask(page), turn: [String(page.saved)] } });
  },
  png: (page) => graph.png(page),
  fit: (page) => graph.fit(page),
  full: (page) => page.change({ full: get(page, "full") === "1" ? [] : ["1"] }),
};

/** @param {Debugger.Page} page */
const tabOf = (page) => TABS[get(page, "tab", "hits")] ? get(page, "tab", "hits") : "hits";

/** @param {Debugger.Page} page */
function draw(page) {
  const base = { of: [page.dump.key], mark: [page.listed.mark] };
  request(page, "sentence", base);
  request(page, "watch", base);
  request(page, "strip", { ...base, rank: [String(page.rank)] });
  // Until it is known which iteration is shown first, nothing is asked about one.
  if (get(page, "step") === "" && !(page.firsts && page.firsts.key === page.dump.key)) return;
  sentence.draw(page);
  strip.draw(page);
  selected.draw(page);
  watch.draw(page);
  const tab = tabOf(page);
  for (const button of page.root.querySelectorAll("[data-tab]")) {
    button.setAttribute("aria-selected", String(button.dataset.tab === tab));
  }
  for (const pane of page.root.querySelectorAll("[data-pane]")) pane.hidden = pane.dataset.pane !== tab;
  const full = get(page, "full") === "1";
  page.find(".ms-debugger-graph").classList.toggle("ms-full", full);
  if (!page.watching) return;
  hits.draw(page);
  if (tab !== "hits") TABS[tab].draw(page);
  graph.draw(page);
}

/** @typedef {Record<string, (page: Debugger.Page, answer: any) => void>} Answers */

/**
 * What comes while no dump is listed is asked for again once one is.
 * @param {Answers} answers
 * @returns {Answers}
 */
const whileListed = (answers) => Object.fromEntries(Object.entries(answers).map(([part, take]) => [part, (page, answer) => {
  if (page.listed) take(page, answer);
  else forget(page, part);
}]));

const pageOf = define("debugger", {
  fields, build, draw, first,
  answers: whileListed({
    sentence(page, answer) {
      page.health = answer;
      if (decide(page)) redraw(page);
      sentence.draw(page);
      strip.draw(page);
      if (page.ordered) graph.draw(page);
    },
    watch: (page, answer) => watch.take(page, answer),
    hits(page, answer) {
      hits.take(page, answer);
      // Marks in tree and graph follow once hits in this iteration were found.
      graph.draw(page);
      if (tabOf(page) === "nodes") nodes.draw(page);
      strip.draw(page);
      watch.drawCounts(page);
      selected.markHits(page, hits.ofNode(page));
    },
    tree: (page, answer) => nodes.take(page, answer),
    names: (page, answer) => watch.takeNames(page, answer),
    lines: (page, answer) => lines.take(page, answer),
    strip: (page, answer) => strip.take(page, answer),
    drawing: (page, answer) => graph.take(page, answer),
    order: (page, answer) => graph.takeOrder(page, answer),
    ...selected.answers,
  }),
});

// Keys --------------------------------------------------------------------------------------------------------------

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const target = event.target instanceof Element ? event.target : null;
  const root = document.querySelector(".ms-shell .ms-debugger") || (target && target.closest(".ms-debugger"));
  const page = root && pageOf(root.id);
  if (!page || !page.listed) return;
  if (event.key === "Escape" && get(page, "full") === "1") return acts.full(page);
  if (target && target.closest("input, select, textarea")) return;
  const step = { "[": -1, "]": 1 }[event.key];
  if (step) strip.move(page, step);
  else if (event.key === "f") acts.full(page);
  else if (event.key === "0") acts.fit(page);
  else if (event.key === "n" || event.key === "N") hits.move(page, event.key === "n" ? 1 : -1);
  else if (!(target && target.closest(".ms-graph-canvas") && graph.key(page, event.key))) return;
  event.preventDefault();
});
