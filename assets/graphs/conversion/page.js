// The conversion page: which conversion, its graph with the code beside it, differences and tables. Counterpart of
// layouts/graphs/conversion.

import { bodies, fill as fillChoices, get, listedState } from "../../kit/body.js";
import { setProps } from "../../kit/dash.js";
import { make, pressSegment, segments, select, words } from "../../kit/elements.js";
import { language } from "../../kit/i18n.js";
import { notYet } from "../../kit/pages.js";
import { assume, request } from "../../kit/page_parts.js";
import { showPlainHtml } from "../../kit/plain_html.js";
import { plotCards } from "../../kit/plot_cards.js";
import { currentPrefs } from "../../kit/prefs.js";
import { fillRuns } from "../../kit/run_select.js";
import * as canvas from "../canvas.js";

const COLOURS = ["state", "difference"];
/** Keys of the state that are about one conversion. */
const OWN = ["node", "open", "page", "camera"];
const FORGOTTEN = Object.fromEntries(OWN.map((key) => [key, []]));

/**
 * The last answer if it is about the chosen conversion.
 * @param {Conversions.Page} page
 */
const current = ({ reading, run }) => reading && reading.of === run.key && reading.model === run.model ? reading : null;

/**
 * Choose what the state names; false if there is none.
 * @param {Conversions.Page} page
 */
function choose(page) {
  const { runs } = page.catalogue;
  const found = runs.find(([key]) => key === get(page, "of")) || runs[0];
  const models = found ? found[3] : [];
  const model = get(page, "model");
  const chosen = models.includes(model) ? model : models[0] || "";
  page.run = found ? { key: found[0], name: found[1], version: found[2], model: chosen } : notYet;
  const answer = page.run ? current(page) : null;
  page.listed = answer && answer.state === "ready" ? answer : notYet;
  return Boolean(found);
}

/**
 * What the state names and no chosen run has.
 * @param {Conversions.Page} page
 */
function unknownOf(page) {
  const { runs } = page.catalogue;
  const [of, model] = [get(page, "of"), get(page, "model")];
  if (of && !runs.some(([key]) => key === of)) return of;
  const run = runs.find(([key]) => key === of) || runs[0];
  return model && run && !run[3].includes(model) ? model : "";
}

/** @param {Conversions.Page} page */
function controls(page) {
  page.runChoice = select("conversion.run", (key) => page.change({ ...FORGOTTEN, of: [key], model: [] }));
  page.modelChoice = select("conversion.model", (name) => page.change({ ...FORGOTTEN, model: [name] }));
  return [page.runChoice, page.modelChoice, page.left];
}

/**
 * The name of a model, of that of its report.
 * @param {string} name
 */
const modelOf = (name) => name.replace(/^conversion_of_/, "").replace(/\.json$/, "");

/** @param {Conversions.Page} page */
function drawControls(page) {
  const { runs } = page.catalogue;
  fillRuns(page.runChoice, runs.map(([key, name]) => [key, name]), page.run.key);
  const [, , , models] = runs.find(([key]) => key === page.run.key) || ["", "", "", []];
  fillChoices(page.modelChoice, models.map((name) => [name, modelOf(name)]), page.run.model);
  page.find(".ms-body-bar").hidden = page.runChoice.hidden && page.modelChoice.hidden && page.left.hidden;
}

/** @type {Body.Subject<Conversions.Page>} */
const CONVERSION = {
  name: "conversion",
  forgets: ["model", ...OWN],
  fields: () => ({
    run: notYet, listed: notYet, parts: new Map(), runChoice: notYet, modelChoice: notYet, colours: notYet, graph: notYet,
  }),
  controls,
  choose,
  unknownOf,
  wantedOf: ({ run }) => ({ of: [run.key], model: [run.model], version: [run.version] }),
  drawControls,
  stateOf: (page) => page.listed ? "" : listedState(current(page)?.state || "reading"),
  wrongOf: ({ reading }) => reading || {},
  damageOf: ({ reading }) => reading,
  isReady: (page) => Boolean(page.listed),
  isUnfinished: () => false,
};

const family = bodies(CONVERSION);
const { define, pageOf } = family;
const plots = plotCards(pageOf, (page) => page.run.name, (page) => page.listed !== null);

// Building ----------------------------------------------------------------------------------------------------------

/** @param {Conversions.Page} page */
function build(page) {
  const root = page.find(".ms-conversion-graph");
  page.graph = {
    root, store: page.store, find: (selector) => root.querySelector(selector), marked: () => {},
    keys: new Map(), opened: [], drawing: notYet, there: null, fit: true, anchor: null, centre: false, sought: null,
    turned: null, turns: 0, home: undefined, looked: null, painted: null, mini: 1, walked: null, run: null,
    of: "", kept: null, wanted: null,
    get state() { return page.state; },
    change: (changes) => page.change(changes),
  };
  page.colours = segments("conversion.colour", COLOURS.map((one) => [one, `conversion.colour.${one}`]),
    (value) => page.change({ colour: value === COLOURS[0] ? [] : [value] }));
  const collapse = make("button", "ms-button ms-button-small", words("conversion.collapse"), { type: "button" });
  collapse.addEventListener("click", () => {
    page.graph.fit = true;
    page.change({ open: [""], page: [], node: [] });
  });
  page.find(".ms-conversion-bar").replaceChildren(words("conversion.colour", {}, "span", "ms-muted"), page.colours, collapse);
  canvas.build(page.graph);
  plots.furnish(page);
  page.root.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target.closest("[data-go], .ms-conversion-graph [data-act]") : null;
    if (!(target instanceof HTMLElement)) return;
    const { act, go } = target.dataset;
    if (act === "png") canvas.png(page.graph);
    else if (act === "fit") canvas.fit(page.graph);
    else if (act === "full") full(page);
    else if (go) {
      canvas.go(page.graph, go);
      root.scrollIntoView({ block: "nearest" });
    }
  });
}

/** @param {Conversions.Page} page */
const full = (page) => page.change({ full: get(page, "full") === "graph" ? [] : ["graph"] });

// Asking ------------------------------------------------------------------------------------------------------------

/**
 * @param {Conversions.Page} page
 * @returns {Wire.Query}
 */
function about(page) {
  const { key, model } = page.run;
  return { of: [key], model: [model], mark: [page.listed.mark] };
}

/** @returns {Wire.Query} */
function look() {
  return { lang: [language()], ...(currentPrefs().theme === "dark" ? { theme: ["dark"] } : {}) };
}

/**
 * What the canvas shows.
 * @param {Conversions.Page} page
 * @returns {Wire.Query}
 */
function wantedDrawing(page) {
  /** @type {Wire.Query} */
  const found = { ...about(page), ...look() };
  for (const key of ["open", "page", "colour"]) if ((page.state[key] || []).length) found[key] = page.state[key];
  if (!found.open && page.graph.kept) found.open = page.graph.kept;
  const node = get(page, "node");
  if (node && !page.graph.keys.has(node) && page.graph.sought !== node) found.node = [node];
  return found;
}

/** @param {Conversions.Page} page */
function draw(page) {
  plots.drawFull(page);
  const { graph, run } = page;
  const name = `${run.key} ${run.model}`;
  if (graph.of !== name) Object.assign(graph, { of: name, kept: null, keys: new Map(), sought: null, fit: true });
  graph.root.classList.toggle("ms-full", get(page, "full") === "graph");
  graph.run = { name: `${run.name}_${modelOf(run.model)}` };
  pressSegment(page.colours, get(page, "colour", COLOURS[0]));
  request(page, "summary", about(page));
  request(page, "values", { ...about(page), ...look() });
  graph.wanted = wantedDrawing(page);
  request(page, "drawing", graph.wanted);
  request(page, "code", { ...about(page), node: [get(page, "node")] });
  for (const link of page.root.querySelectorAll("[data-csv]")) {
    if (!(link instanceof HTMLAnchorElement)) continue;
    const query = new URLSearchParams({ run: run.key, model: run.model });
    link.href = `${page.root.dataset.routes}conversion/${link.dataset.csv}.csv?${query}`;
  }
  if (graph.drawing) canvas.mark(graph);
}

// Answers -----------------------------------------------------------------------------------------------------------

/**
 * @param {Conversions.Page} page
 * @param {Conversions.Answer} answer
 */
function fill(page, answer) {
  for (const [name, content] of Object.entries(answer.sections || {})) {
    const host = page.find(`[data-section="${name}"]`);
    if (host) showPlainHtml(host, content);
  }
}

/**
 * @param {Conversions.Page} page
 * @param {Conversions.Drawing} answer
 */
function place(page, answer) {
  const { graph } = page;
  const { elements, meta, turn: stamp } = answer;
  const before = graph.drawing;
  if (elements.length) elements[elements.length - 1].data.stamp = stamp;
  graph.drawing = { elements, meta, stamp, stylesheet: answer.stylesheet };
  graph.keys = canvas.keys(elements);
  graph.opened = meta.opened || [];
  if (graph.wanted && graph.wanted.node) {
    graph.sought = graph.wanted.node[0];
    if (meta.chosen) graph.centre = true;
    graph.kept = graph.opened.length ? graph.opened : [""];
    if (page.state.open) page.change({ open: graph.kept, page: meta.pages });
    graph.wanted = wantedDrawing(page);
    assume(page, "drawing", graph.wanted);
  }
  drawLegend(page, answer);
  const message = graph.find(".ms-graph-message");
  message.replaceChildren(...meta.problems.map((problem) => make("p", "", problem)));
  message.hidden = !meta.problems.length;
  canvas.placed(graph, before);
  setProps(page.store("canvas"), { elements, stylesheet: answer.stylesheet });
}

/**
 * @param {Conversions.Page} page
 * @param {Conversions.Drawing} answer
 */
function drawLegend(page, { meta: { legend } }) {
  const at = language() === "zh" ? 1 : 0;
  const keys = legend.keys.map(([texts, colour]) => {
    const key = make("span", "ms-conversion-key");
    key.style.background = colour;
    return make("div", "", [key, texts[at]]);
  });
  /** @type {HTMLElement[]} */
  const bar = [];
  if (legend.bar) {
    const ramp = make("div", "ms-conversion-ramp");
    ramp.style.background = `linear-gradient(90deg, ${legend.bar.colours.join(", ")})`;
    const ticks = legend.bar.ticks.map(([, text]) => make("span", "", text));
    bar.push(words("conversion.legend.difference", {}, "div"), ramp, make("div", "ms-conversion-ticks", ticks));
  }
  page.find(".ms-conversion-legend").replaceChildren(...bar, ...keys);
}

/** @type {Record<string, (page: Conversions.Page, answer: PartAnswer) => void>} */
const answers = {
  summary: fill,
  values(page, answer) {
    fill(page, answer);
    plots.place(page, "differences", "differences-plot", /** @type {Conversions.Answer} */ (answer).figure || null);
  },
  drawing(page, answer) {
    if (answer.state === "ready") place(page, /** @type {Conversions.Drawing} */ (answer));
  },
  code(page, answer) {
    fill(page, answer);
    showLines(page.find('[data-section="code"]'));
  },
};

/**
 * Scroll to the lines of the node; its facts stay in sight where the lines fit below them.
 * @param {HTMLElement} host
 */
function showLines(host) {
  const own = host.querySelector(".ms-conversion-own");
  host.scrollLeft = 0;
  host.scrollTop = 0;
  if (!(own instanceof HTMLElement)) return;
  const below = own.getBoundingClientRect().bottom - host.getBoundingClientRect().top;
  if (below > host.clientHeight) host.scrollTop = below - host.clientHeight / 2;
}

define("conversion", { build, draw, answers });

// Keys --------------------------------------------------------------------------------------------------------------

plots.keys("ms-conversion", (page, event) => {
  const target = event.target instanceof Element ? event.target : null;
  if (!target || !target.closest(".ms-conversion-graph .ms-graph-canvas") || !page.graph.drawing) return false;
  const { graph } = page;
  if (event.key === "0") canvas.fit(graph);
  else if (event.key === "+" || event.key === "=") canvas.zoom(graph, 1.25);
  else if (event.key === "-") canvas.zoom(graph, 0.8);
  else return canvas.key(graph, event.key, event.shiftKey);
  return true;
});
