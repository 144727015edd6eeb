// The parallel strategy page: stages and the grid of ranks; graph.js has the strategy graph. Counterpart of
// layouts/jobs/strategy.

import { fill as fillChoices } from "../../kit/body.js";
import { functionsOf } from "../../kit/dash.js";
import { select } from "../../kit/elements.js";
import { language, translate, translations } from "../../kit/i18n.js";
import { answered, request } from "../../kit/page_parts.js";
import { notYet } from "../../kit/pages.js";
import { showPlainHtml } from "../../kit/plain_html.js";
import { Heat } from "../../profiles/heat.js";
import { scaleOf } from "../../profiles/heat_parts.js";
import * as profiling from "../../profiles/profiles.js";
import * as graph from "./graph.js";

const { get } = profiling;

/** @returns {Omit<StrategyPage.Page, keyof Profiles.Page>} */
const fields = () => ({
  parts: new Map(), metrics: notYet, heat: notYet, said: null, shownIn: "", ...graph.fields(),
});

/** @param {StrategyPage.Page} page */
function build(page) {
  page.metrics = select("strategy.metric", (metric) => page.change({ metric: [metric] }));
  page.find(".ms-strategy-bar").replaceChildren(page.metrics);
  page.heat = new Heat(page.find(".ms-strategy-map"), "strategy.map");
  graph.build(page);
  page.root.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    const button = target && target.closest("[data-act], [data-stage], [data-go]");
    if (!button) return;
    const { act, of, stage, file, go } = button.dataset;
    if (act === "full") full(page, of);
    else if (act === "grid-png") page.heat.save(page.run.name);
    else if (act === "png" || act === "fit") graph[act](page);
    else if (stage !== undefined) graph.choose(page, stage, file);
    else if (go !== undefined) graph.go(page, go);
  });
}

/**
 * @param {StrategyPage.Page} page
 * @param {string} name
 */
function full(page, name) {
  page.change({ full: get(page, "full") === name ? [] : [name] });
}

/**
 * The job that is asked about: run, session, rank and mark of a profile.
 * @param {StrategyPage.Page} page
 */
function about(page) {
  const { run, session, rank, mark } = page.asked;
  return { run, session, rank, mark };
}

/** @param {StrategyPage.Page} page */
function draw(page) {
  for (const card of page.root.querySelectorAll("[data-card]")) {
    card.classList.toggle("ms-full", get(page, "full") === card.dataset.card);
  }
  if (!page.asked) return;
  const asked = {};
  for (const key of ["metric", "step", "picked"]) if ((page.state[key] || []).length) asked[key] = page.state[key];
  request(page, "summary", { ...about(page), ...asked });
  graph.draw(page, { ...about(page), ...(page.asked.theme ? { theme: page.asked.theme } : {}) });
  if (page.said && page.shownIn !== language()) drawGrid(page);
}

/** @param {StrategyPage.Page} page */
function fill(page, sections) {
  for (const [name, content] of Object.entries(sections || {})) {
    const host = page.find(`[data-section="${name}"]`);
    if (host) showPlainHtml(host, content);
  }
}

// The grid ----------------------------------------------------------------------------------------------------------

/**
 * Writes numbers with as many decimals as the largest of them has with five digits, so that all cells have the same.
 * @param {Float64Array} values
 */
function writerOf(values) {
  const largest = values.reduce((most, value) => (Math.abs(value) > most ? Math.abs(value) : most), 0);
  const digits = largest > 0 ? Math.min(Math.max(4 - Math.floor(Math.log10(largest)), 0), 12) : 0;
  const format = new Intl.NumberFormat("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return (/** @type {number} */ value) => format.format(value);
}

/** What heat.js draws of the grid of ranks. */
export function contentOf(grid, press) {
  const values = Float64Array.from(grid.values, (value) => (value === null ? NaN : value));
  const number = writerOf(values);
  /** @param {number} value */
  const whole = (value) => (Number.isInteger(value) ? String(value) : "");
  /** @param {number} value */
  const text = (value) => (grid.whole ? whole(value) : `${number(value)} ${grid.unit}`.trim());
  /** @param {string} key */
  const pair = (key) => translations(`strategy.${key}`);
  const ordered = grid.form !== "parallel";
  return {
    rows: grid.rows, columns: grid.columns, values, scale: scaleOf(values), square: true, keep: "max",
    rowName: (row) => grid.rowNames[row] || "", columnName: (column) => grid.columnNames[column] || "",
    rowTitle: pair(ordered ? "rows_order" : "rows_pp"), columnTitle: pair(grid.named ? "columns_dp" : "columns_order"),
    none: pair("no_value"), title: [0, 1].map((at) => `${pair("grid")[at]} · ${grid.name[at]}`), said: grid.said, text,
    short: (value) => (grid.whole ? whole(value) : number(value)),
    about(row, column) {
      const at = row * grid.columns + column;
      const rank = grid.ranks[at];
      if (rank < 0) return [translate("strategy.no_value")];
      const places = Object.entries(grid.places).filter(([, own]) => own[at] >= 0).map(([name, own]) => `${name} ${own[at]}`);
      const value = values[at];
      const name = grid.name[language() === "zh" ? 1 : 0];
      return [
        translate("strategy.picked", { n: rank }), ...(places.length ? [places.join(" · ")] : []),
        `${name}: ${Number.isNaN(value) ? translate("strategy.no_value") : text(value)}`,
      ];
    },
    press(row, column) {
      const rank = grid.ranks[row * grid.columns + column];
      if (rank >= 0) press(rank);
    },
  };
}

/** @param {StrategyPage.Page} page */
function drawGrid(page) {
  const { grid, metrics, metric } = page.said;
  page.shownIn = language();
  fillChoices(page.metrics, metrics.map(([name, texts]) => [name, texts[language() === "zh" ? 1 : 0]]), metric);
  page.find('[data-card="grid"]').hidden = !grid;
  if (!grid) return;
  const rows = Math.min(24, Math.max(3, grid.rows));
  page.find('[data-card="grid"]').style.setProperty("--ms-rows", String(rows));
  const press = (rank) => page.change({ picked: get(page, "picked") === String(rank) ? [] : [String(rank)] });
  page.heat.show(contentOf(grid, press));
}

/** @type {Record<string, (page: StrategyPage.Page, answer: any) => void>} */
const answers = {
  summary(page, answer) {
    if (!answer.sections) return;
    fill(page, answer.sections);
    page.said = answer;
    profiling.offer(page, answer.offered);
    drawGrid(page);
  },
  drawing: (page, answer) => graph.take(page, answer),
  node: (page, answer) => fill(page, answer.sections),
};

const pageOf = profiling.define("strategy", { fields, build, draw, answers });

Object.assign(functionsOf("mindscope_strategy"), {
  /** @param {string} rootId */
  answered(answer, rootId) {
    const page = pageOf(rootId);
    if (page && answer) answered(page, answer);
  },
});

// Keys --------------------------------------------------------------------------------------------------------------

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const target = event.target instanceof Element ? event.target : null;
  const root = document.querySelector(".ms-shell .ms-strategy") || (target && target.closest(".ms-strategy"));
  const page = root && pageOf(root.id);
  if (!page || !page.asked || event.defaultPrevented) return;
  const large = get(page, "full");
  if (event.key === "Escape" && large) full(page, large);
  else if (target && target.closest("input, select, textarea, summary")) return;
  else if (event.key === "f") {
    const near = (target && target.closest("[data-card]")) || root.querySelector("[data-card]:hover");
    full(page, large || (near ? near.dataset.card : "graph"));
  } else if (!(target && target.closest(".ms-graph-canvas") && graph.key(page, event.key, event.shiftKey))) return;
  event.preventDefault();
});
