// The pipeline page: controls, the chart, and what is asked for when. Counterpart of layouts/jobs/pipeline and
// app/routes/jobs/pipeline.py.

import { functionsOf, noUpdate } from "../../kit/dash.js";
import { badge, icon, make, menu, takesText, words } from "../../kit/elements.js";
import * as files from "../../kit/files.js";
import { reasonOf } from "../../kit/reasons.js";
import { count } from "../../kit/units.js";
import { setLabel, translate, writeText } from "../../kit/i18n.js";
import { notYet } from "../../kit/pages.js";
import { same } from "../../kit/state.js";
import * as profiling from "../../profiles/profiles.js";
import { duration } from "../../profiles/axis.js";
import { Chart } from "./chart.js";
import { foldedOf, unpacked } from "./bands.js";

const NAMING = ["run", "session", "rank", "step", "stage", "align", "m", "from", "to"];
/** Keys that only the chart depends on. */
const OF_CHART = ["stage", "from", "to", "theme"];
const TYPING_MS = 400;
const RESIZED_MS = 150;

/**
 * Drop keys of a query.
 * @param {string[]} keys
 */
const without = (query, keys) => Object.fromEntries(Object.entries(query).filter(([key]) => !keys.includes(key)));

/**
 * The URL of a plain route for an ask.
 * @param {string} routes
 * @param {string} name
 */
export function urlOf(routes, name, ask, more = {}) {
  const query = new URLSearchParams();
  for (const key of NAMING) for (const value of ask[key] || []) query.append(key, value);
  for (const [key, value] of Object.entries(more)) query.set(key, String(value));
  return `${routes}pipeline/${name}?${query}`;
}

// The chart ------------------------------------------------------------------------------------------------------------

/** @param {PipelinePage.Page} page */
async function fetchView(page) {
  if (!page.asked || !page.root.isConnected) return;
  const columns = page.chart.columns;
  const url = urlOf(page.root.dataset.routes, "view", page.asked, { columns });
  const key = `${url} ${page.asked.mark}`;
  if (key === page.viewKey) return;
  page.viewKey = key;
  if (page.viewMark !== String(page.asked.mark)) page.view = null;  // that of another job
  page.viewMark = String(page.asked.mark);
  if (page.fetching) page.fetching.abort();
  page.fetching = new AbortController();
  try {
    const answer = await fetch(url, { signal: page.fetching.signal, credentials: "same-origin" });
    if (!answer.ok) throw new Error((await answer.json().catch(() => ({}))).error || String(answer.status));
    page.view = unpacked(await answer.arrayBuffer());
    drawView(page);
  } catch (error) {
    if (error.name === "AbortError") return;
    page.viewKey = "";
    page.view = null;
    page.chart.show(null, null);
    note(page, "pipeline.failed", { reason: reasonOf(error) });
  }
}

/**
 * @param {PipelinePage.Page} page
 * @param {string} key
 * @param {{ reason: string }} [values]
 */
function note(page, key, values) {
  const element = page.find(".ms-pipeline-note");
  element.hidden = !key;
  if (key) writeText(element, key, values);
}

/** @param {PipelinePage.Page} page */
function drawView(page) {
  const { view, facts } = page;
  if (!view || !facts) return;
  const drawn = view.length > 0 && view.rows.length > 0;
  note(page, drawn ? "" : "pipeline.none");
  page.find('[data-card="chart"]').dataset.drawn = drawn ? "1" : "0";
  page.chart.show(drawn ? view : null, facts);
  const pixel = { time: duration((view.end - view.begin) / view.columns) };
  const badges = drawn ? [badge("pipeline.column", pixel, "pipeline.column_tip")] : [];
  if (view.total > view.rows.length) {
    badges.push(badge("pipeline.rows_n", { n: count(view.rows.length), total: count(view.total) }, null, "accent"));
  }
  page.find('[data-card="chart"] .ms-card-badges').replaceChildren(...badges);
  page.find(".ms-pipeline-legend").replaceChildren(...legendOf(page).map(([name]) => {
    const dot = make("span", `ms-pipeline-dot ms-pipeline-dot-${name}`);
    if (facts.colours[name]) dot.style.background = facts.colours[name];
    const item = make("li", "", [dot, words(`pipeline.band.${name}`)]);
    setLabel(item, "title", `pipeline.tip.${name}`);
    return item;
  }));
  drawControls(page);
}

// The bands of the chart, [[name, colour], ...].
function legendOf({ view, facts, root }) {
  const { colour } = files.coloursAt(root.querySelector(".ms-pipeline-chart"));
  return facts.bands.filter((/** @type {string} */ name) => view.bands.includes(name))
    .map((/** @type {string} */ name) => [name, facts.colours[name] || colour(`--ms-pipeline-${name}`)]);
}

/** @param {PipelinePage.Page} page */
async function moment(page, rank, at) {
  try {
    const answer = await fetch(urlOf(page.root.dataset.routes, "moment", page.asked, { of: rank, at: Math.round(at) }),
      { credentials: "same-origin" });
    return answer.ok ? await answer.json() : null;
  } catch {
    return null;  // the shares are shown all the same
  }
}

/** @param {PipelinePage.Page} page */
const openStages = (page) => [...new Set(page.view.rows.filter((row) => row.rank >= 0).map((row) => row.stage))];

// Controls -------------------------------------------------------------------------------------------------------------

/** @returns {Omit<PipelinePage.Page, keyof Profiles.Page>} */
const fields = () => ({
  chart: notYet, folding: notYet, aligning: notYet, micro: notYet, microField: notYet, files: notYet, facts: null, view: null,
  viewKey: "", viewMark: "", fetching: null,
});

/** @param {PipelinePage.Page} page */
function build(page) {
  const { find } = page;
  page.chart = new Chart(find(".ms-pipeline-chart"), {
    window: (part) => page.change(part ? { from: [String(part.begin)], to: [String(part.end)] } : { from: [], to: [] }),
    fold: (stage) => page.change({ stage: foldedOf(openStages(page), stage) }),
    moment: (rank, at) => moment(page, rank, at),
  });
  page.folding = make("button", "ms-button", [], { type: "button" });
  page.folding.addEventListener("click", () => {
    const folded = page.folding.dataset.folds === "1";
    page.change({ stage: folded ? ["none"] : page.facts.stages.map(String) });
  });
  page.aligning = make("button", "ms-button", words("pipeline.align"), { type: "button", "aria-pressed": "false" });
  setLabel(page.aligning, "title", "pipeline.align_tip");
  page.aligning.addEventListener("click", () => page.change({ align: profiling.get(page, "align") === "1" ? [] : ["1"] }));
  page.micro = make("input", "ms-input ms-pipeline-number", [], { type: "number", min: "1", step: "1" });
  let timer = 0;
  page.micro.addEventListener("input", () => {
    window.clearTimeout(timer);
    const typed = Math.trunc(Number(page.micro.value));
    timer = window.setTimeout(() => page.change({ m: typed >= 1 && typed <= 1e6 ? [String(typed)] : [] }), TYPING_MS);
  });
  page.microField = make("label", "ms-field", [words("pipeline.m", {}, "span", "ms-field-name"), page.micro]);
  setLabel(page.microField, "title", "pipeline.m_tip");
  page.files = menu(make("summary", "ms-button", [icon("download"), make("span", "", "CSV"), icon("down")]), []);
  find(".ms-pipeline-bar").replaceChildren(
    page.folding, page.aligning, page.microField, make("span", "ms-grow"), page.files);
  page.root.addEventListener("click", (event) => press(page, event));
  let resized = 0;
  new ResizeObserver(() => {
    window.clearTimeout(resized);
    resized = window.setTimeout(() => fetchView(page), RESIZED_MS);
  }).observe(find(".ms-pipeline-card"));
}

/** @param {PipelinePage.Page} page */
function press(page, event) {
  const button = event.target instanceof Element && event.target.closest("[data-act]");
  const card = button && button.closest("[data-card]");
  if (!card || !page.root.contains(card)) return;
  const acts = {
    zoom_in: () => page.chart.zoom(2), zoom_out: () => page.chart.zoom(0.5), whole: () => page.chart.zoom(0),
    full: () => full(page, card.dataset.card),
    png: () => {
      const { name } = files.called(card, `${page.run.name} ${profiling.get(page, "step")}`);
      const legend = legendOf(page).map(([one, shade]) => [translate(`pipeline.band.${one}`), shade]);
      const step = profiling.get(page, "step");
      const of = step ? `, ${translate("pipeline.said_step", { n: step })}` : "";
      if (page.view) page.chart.save(name, `${page.run.name}: ${translate("pipeline.chart")}${of}`, legend);
    },
  };
  const act = acts[button.dataset.act];
  if (act) act();
}

/**
 * @param {PipelinePage.Page} page
 * @param {string} name
 */
function full(page, name) {
  page.change({ full: profiling.get(page, "full") === name ? [] : [name] });
}

/** @param {PipelinePage.Page} page */
function draw(page) {
  for (const card of page.root.querySelectorAll("[data-card]")) {
    card.classList.toggle("ms-full", card.dataset.card === profiling.get(page, "full"));
  }
  drawControls(page);
}

/** @param {PipelinePage.Page} page */
function drawControls(page) {
  const { facts, view } = page;
  page.aligning.setAttribute("aria-pressed", String(profiling.get(page, "align") === "1"));
  if (!facts) return;
  page.aligning.hidden = !facts.clocks;
  page.microField.hidden = !facts.staged;
  page.micro.placeholder = facts.micro ? String(facts.micro) : "";
  if (document.activeElement !== page.micro) page.micro.value = profiling.get(page, "m");
  const several = view && (view.rows.some((row) => row.rank < 0) || view.total > facts.stages.length);
  page.folding.hidden = !several || !facts.staged;
  const folds = view && !view.rows.some((row) => row.rank < 0);
  page.folding.dataset.folds = folds ? "1" : "0";
  page.folding.replaceChildren(words(folds ? "pipeline.fold" : "pipeline.unfold"));
  if (!page.asked) return;
  /** @param {string} name */
  const link = (name) => make("a", "ms-menu-item", words(`pipeline.csv.${name}`),
    { href: urlOf(page.root.dataset.routes, `${name}.csv`, page.asked), download: "" });
  page.files.querySelector(".ms-menu-items").replaceChildren(link("summary"), link("bands"));
}

const pageOf = profiling.define("pipeline", { fields, build, draw });

// Called by Dash -------------------------------------------------------------------------------------------------------

Object.assign(functionsOf("mindscope_pipeline"), {
  /** @param {string} rootId */
  plan(ask, now, rootId) {
    const page = pageOf(rootId);
    if (!page || !ask) return noUpdate();
    window.requestAnimationFrame(() => fetchView(page));  // once the content is shown, it has a width
    drawControls(page);
    const next = without(ask, OF_CHART);
    return same(next, now) ? noUpdate() : next;
  },

  /** @param {string} rootId */
  told(facts, rootId) {
    const page = pageOf(rootId);
    if (!page || !facts) return;
    page.facts = facts;
    profiling.offer(page, facts.offers);
    drawView(page);
    drawControls(page);
  },
});

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (!["f", "Escape"].includes(key) || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (!(target instanceof Element) || takesText(target) || document.querySelector("dialog[open]")) return;
  const root = document.querySelector(".ms-pipeline");
  const page = root && pageOf(root.id);
  if (!page) return;
  const card = target.closest("[data-card]");
  if (key === "Escape" && profiling.get(page, "full")) page.change({ full: [] });
  else if (key === "f" && card && page.root.contains(card)) full(page, card.dataset.card);
});
