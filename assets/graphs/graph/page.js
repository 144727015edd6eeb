// The computation graph page: choice of graph, controls, empty states. Counterpart of layouts/graphs/graph. canvas.js draws,
// side.js has search and results, tree.js the tree of scopes, treemap.js the statistics.

import { listDamage } from "../../kit/damage.js";
import { functionsOf, noUpdate, setProps } from "../../kit/dash.js";
import { badge, fillSelect, icon, make, menu, pressSegment, segments, select, takesText, words } from "../../kit/elements.js";
import { count, size } from "../../kit/units.js";
import { language, setLabel, translate, translations, writeText } from "../../kit/i18n.js";
import { nameElement, namesIn } from "../../kit/name_elements.js";
import { keeper, notYet } from "../../kit/pages.js";
import { drawProgress } from "../../kit/progress.js";
import { showPlainHtml } from "../../kit/plain_html.js";
import { currentPrefs } from "../../kit/prefs.js";
import { busy } from "../../kit/page_parts.js";
import { fillRuns } from "../../kit/run_select.js";
import { same } from "../../kit/state.js";
import * as canvas from "../canvas.js";
import * as view from "../view.js";
import * as paint from "./paint.js";
import * as side from "./side.js";
import * as sides from "./sides.js";
import { drawTree, markTree } from "./tree.js";
import * as treemap from "./treemap.js";

const MOST_COMPARABLE = 500;

/**
 * @param {HTMLElement} _root
 * @param {Graphs.Page} page
 * @returns {OwnFields<Graphs.Page>}
 */
const fresh = (_root, page) => ({
  catalogue: notYet, run: null, graph: null, against: null, drawing: notYet, keys: new Map(), opened: [], asked: null,
  sent: null, there: null, fit: true, anchor: null, centre: false, sought: null, turned: null, turns: 0, home: undefined,
  looked: null, painted: null, mini: 1, walked: null, language: "", listing: 0, saved: 0, marked: markTree,
  asksAgain: 0, askedAgain: 0, reading: false,
  ...controls(page), ...paint.fields(page), ...side.fields(page), ...treemap.fields(page),
});

const { pages, pageOf } = keeper(fresh, build);

// What is shown -----------------------------------------------------------------------------------------------------

/** @param {Graphs.Page} page */
function choose(page) {
  const { runs } = page.catalogue;
  page.run = runs.find((one) => one.key === view.get(page, "of")) || runs[0] || null;
  const graphs = page.run ? page.run.graphs : [];
  /** @param {string} name */
  const named = (name) => graphs.find((one) => one.name === name);
  page.graph = named(view.get(page, "graph")) || named(page.run && page.run.first) || graphs[0] || null;
  const other = [view.get(page, "with"), view.get(page, "other")];
  page.against = other.every(Boolean) ? [other[0], other[1]] : null;
}

/**
 * The run and the graph on screen; only called where there are such.
 * @param {Graphs.Page} page
 */
function shownIn({ run, graph }) {
  if (!run || !graph) throw new Error("No graph is shown");
  return { run, graph };
}

/** @param {Graphs.Page} page */
function of(page) {
  const { run, graph } = shownIn(page);
  /** @type {Wire.Query} */
  const found = { run: [run.key], graph: [graph.name], mark: [graph.mark] };
  const simple = view.get(page, "simple", "auto");
  if (simple !== "0") found.simple = [simple];
  if (page.against) [found.with, found.other] = page.against.map((one) => [one]);
  return found;
}

/**
 * @param {Wire.Query} one
 * @param {Wire.Query | null} other
 */
function sameGraph(one, other) {
  if (!other) return false;
  /** @param {string} key */
  const alike = (key) => same(one[key] || [], other[key] || []);
  return ["run", "graph", "mark", "with", "other"].every(alike);
}

/**
 * All other graphs, those of the same run first: [[run, graph], ...].
 * @param {Graphs.Page} page
 * @returns {[string, string][]}
 */
function comparable(page) {
  const { run: own, graph } = shownIn(page);
  const all = [own, ...page.catalogue.runs.filter((run) => run !== own)];
  /** @type {[string, string][]} */
  const pairs = all.flatMap((run) => run.graphs.map((one) => /** @type {[string, string]} */ ([run.key, one.name])));
  return pairs.slice(0, MOST_COMPARABLE + 1).filter(([key, name]) => key !== own.key || name !== graph.name);
}

/** @param {Graphs.Page} page */
function ask(page) {
  const found = of(page);
  for (const key of ["open", "page", "hide", "trace"]) if ((page.state[key] || []).length) found[key] = page.state[key];
  const node = view.get(page, "node");
  const fresh = !page.asked || !sameGraph(found, page.asked) || !same(found.simple, page.asked.simple);
  if (node && (fresh || !view.drawn(page, node)) && node !== page.sought) found.node = [node];
  if (currentPrefs().theme === "dark") found.theme = ["dark"];
  return found;
}

const PARTS = ["about", "query", "count", "map", "flags", "trace"];

/**
 * What to ask of the parts beside the canvas; nothing of what is as it was, or waits until the graph is read.
 * @param {Graphs.Page} page
 */
function askRest(page) {
  if (page.reading) return PARTS.map(noUpdate);
  const known = page.sent || [];
  const whole = of(page);
  const tables = view.get(page, "view") === "statistics" ? [whole, ...treemap.asks(page, whole)] : known.slice(2, 5);
  const asks = [about(page), query(page), ...tables];
  page.sent = asks;
  while (asks.length < 5) asks.push(null);
  asks[5] = page.state.trace || known[5] ? { ...of(page), trace: page.state.trace || [] } : null;
  return asks.map((one, place) => (!one || same(one, known[place]) ? noUpdate() : one));
}

/**
 * The graph is read: ask for what had to wait, and again for what was asked before.
 * @param {Graphs.Page} page
 */
function catchUp(page) {
  page.reading = false;
  page.sent = null;
  askRest(page).forEach((data, place) => { if (data !== noUpdate()) setProps(page.store(PARTS[place]), { data }); });
}

/** @param {Graphs.Page} page */
function about(page) {
  const node = view.get(page, "node");
  /** @type {Record<string, string[]>} */
  const known = { ...of(page), ...paint.told(page) };
  if (known.paint && page.painted) known.painted = [page.painted.state];
  return node ? { ...known, node: [node] } : known;
}

/** @param {Graphs.Page} page */
function query(page) {
  /** @type {Record<string, string[]>} */
  const found = { ...of(page), q: [view.get(page, "q")] };
  if (view.get(page, "regex") === "1") found.regex = ["1"];
  return found;
}

/**
 * The run that the address names and that has no graph; "" for none.
 * @param {Graphs.Page} page
 */
function unknownOf(page) {
  const name = view.get(page, "of");
  return page.catalogue.runs.some((one) => one.key === name) ? "" : name;
}

/** @param {Graphs.Page} page */
function showState(page) {
  const { catalogue } = page;
  let name = "";
  const unknown = unknownOf(page);
  page.find(".ms-body-unknown").textContent = unknown;
  if (unknown) name = catalogue.waiting || catalogue.listing ? "reading" : "unknown";
  else if (!catalogue.chosen) name = "no-runs";
  else if (!page.graph && (catalogue.waiting || catalogue.listing)) name = "reading";
  else if (!page.graph) name = catalogue.damage.length ? "damaged" : "none";
  for (const element of page.root.querySelectorAll("[data-state]")) element.hidden = element.dataset.state !== name;
  const tables = view.get(page, "view") === "statistics";
  page.find(".ms-graph-body").hidden = name !== "" || tables;
  page.find(".ms-graph-statistics").hidden = name !== "" || !tables;
  page.find(".ms-graph-controls").hidden = name !== "";
  listDamage(page.root, catalogue.damage);
  for (const host of page.root.querySelectorAll(".ms-graph-elsewhere")) {
    host.replaceChildren(...(host.closest("[data-state]").hidden ? [] : others(page)));
  }
  page.find(".ms-graph-refused").replaceChildren(...catalogue.empty.map(([file, reason]) =>
    make("p", "", [make("span", "ms-mono", file), " ", reason])));
}

/**
 * What is being waited for, which css shows after a moment.
 * @param {Graphs.Page} page
 */
function sayWaiting(page) {
  const host = page.find(".ms-graph-waiting");
  window.clearTimeout(page.asksAgain);
  drawProgress(page.find(".ms-graph-progress"), null);
  host.hidden = false;
  const { meta } = page.drawing || {};
  const here = meta && page.run && page.graph && meta.of.run === page.run.key && meta.of.graph === page.graph.name;
  if (here && meta.counts) {
    const { operators, parameters, constants } = meta.counts;
    writeText(host, "graph.drawing_n", { n: count(operators + parameters + constants) });
  } else writeText(host, "graph.reading_file", { name: page.graph?.name || "", size: size(page.graph?.bytes ?? null) });
}

const AGAIN_MS = 300;

/**
 * Show how far a large graph is read, and ask for the drawing again until it is.
 * @param {Graphs.Page} page
 * @param {Body.Progress} reading
 */
function waitFor(page, reading) {
  page.reading = true;
  /** @param {Wire.Query} more */
  const again = (more) => {
    window.clearTimeout(page.asksAgain);
    page.askedAgain += 1;
    page.root.classList.add("ms-graph-busy");
    setProps(page.store("ask"), { data: { ...page.asked, ...more, turn: [String(page.askedAgain)] } });
  };
  page.find(".ms-graph-waiting").hidden = true;
  drawProgress(page.find(".ms-graph-progress"), reading, again, { bytes: true });
  page.root.classList.toggle("ms-graph-busy", busy(reading));
  if (!busy(reading)) return;
  page.asksAgain = window.setTimeout(() => { if (page.root.isConnected) again({}); }, AGAIN_MS);
}

const LIST_MS = 700;

/**
 * Ask again for the graphs of dumps that are still being listed.
 * @param {Graphs.Page} page
 */
function listAgain(page) {
  window.clearTimeout(page.listing);
  if (!page.catalogue.listing) return;
  page.listing = window.setTimeout(() => {
    if (!page.root.isConnected) return;
    setProps(page.store("digest"), { data: null });
    setProps(page.store("chosen"), { data: page.state.run ? { run: page.state.run } : {} });
  }, LIST_MS);
}

/**
 * Buttons for runs with graphs that are not selected.
 * @param {Graphs.Page} page
 */
function others(page) {
  const { elsewhere } = page.catalogue;
  if (!elsewhere.length) return [];
  return [words("graph.elsewhere", {}, "span", "ms-muted"), ...elsewhere.map(({ key, name }) => {
    const button = make("button", "ms-button", nameElement(name), { type: "button", title: name });
    button.addEventListener("click", () => page.change({ run: [key] }));
    return button;
  })];
}

// Controls ----------------------------------------------------------------------------------------------------------

const FRESH = { open: [], page: [], node: [], with: [], other: [], into: [], flag: [], camera: [], trace: [],
  ...paint.NONE };

/**
 * @param {string} name
 * @param {() => void} press
 */
function toggleButton(name, press) {
  const button = make("button", "ms-button", words(`graph.${name}`), {
    type: "button",
    "data-control": name,
    "aria-pressed": "false",
  });
  setLabel(button, "title", `graph.${name}.tip`);
  button.addEventListener("click", press);
  return button;
}

/**
 * @param {Graphs.Page} page
 * @param {string} kind
 */
function hide(page, kind) {
  const hidden = page.state.hide || [];
  page.change({ hide: hidden.includes(kind) ? hidden.filter((one) => one !== kind) : [...hidden, kind] });
}

/** @param {Graphs.Page} page */
function controls(page) {
  const runs = select("graph.run", (key) => page.change({ ...FRESH, of: [key], graph: [] }), { "data-control": "of" });
  const graphs = select("graph.graph", (name) => page.change({ ...FRESH, graph: [name] }), { "data-control": "graph" });
  const views = segments("graph.view", [["", "graph.view.graph"], ["statistics", "graph.view.statistics"]],
    (view) => page.change({ view: view ? [view] : [] }));
  const simple = toggleButton("simple", () => simplify(page, !simplified(page)));
  const parameters = toggleButton("parameters", () => hide(page, "parameter"));
  const constants = toggleButton("constants", () => hide(page, "constant"));
  const compare = toggleButton("compare", () => against(page, page.against ? null : comparable(page)[0]));
  const others = select("graph.with", (pair) => against(page, JSON.parse(pair)), { "data-control": "with" });
  const hiddenCount = make("span", "ms-muted ms-graph-hidden");
  const collapse = make("button", "ms-button", words("graph.collapse"), { type: "button", "data-control": "collapse" });
  collapse.addEventListener("click", () => {
    page.fit = true;
    page.change({ open: [""], page: [], node: [] });
  });
  return {
    runs, graphs, views, simple, parameters, constants, compare, others, hiddenCount, collapse,
    counts: make("span", "ms-muted ms-graph-counts"), left: make("span", "ms-muted"), painting: make("label", "ms-graph-by"),
  };
}

/** @param {Graphs.Page} page */
function build(page) {
  paint.build(page);
  page.painting.append(words("graph.paint"), " ", page.metric);
  page.find(".ms-graph-controls").replaceChildren(
    page.views, page.runs, page.graphs, page.left, page.simple, page.hiddenCount, page.parameters, page.constants,
    page.collapse, page.compare, page.others, page.painting,
    make("span", "ms-grow"), page.counts,
  );
  buildHead(page);
  side.build(page);
  sides.build(page);
  canvas.build(page);
  treemap.build(page);
}

/** @param {Graphs.Page} page */
function simplified(page) {
  const wanted = view.get(page, "simple", "auto");
  return wanted === "auto" ? Boolean(page.drawing && page.drawing.meta.simple) : wanted === "1";
}

/**
 * @param {Graphs.Page} page
 * @param {boolean} on
 */
function simplify(page, on) {
  page.fit = true;
  page.change({ simple: [on ? "1" : "0"] });
}

/**
 * @param {Graphs.Page} page
 * @param {[string, string] | null} pair
 */
function against(page, pair) {
  page.fit = true;
  page.change({ page: [], node: [], with: pair ? [pair[0]] : [], other: pair ? [pair[1]] : [] });
}

const FORMS = ["svg", "png", "dot", "json", "all.dot", "all.json"];

/** @param {Graphs.Page} page */
function buildHead(page) {
  const summary = make("summary", "ms-button ms-button-icon", icon("download"));
  for (const attribute of ["title", "aria-label"]) setLabel(summary, attribute, "graph.save");
  const items = FORMS.map((form) =>
    make("button", "ms-menu-item", words(`graph.save.${form}`), { type: "button", "data-save": form }),
  );
  page.find(".ms-graph-main .ms-card-tools").prepend(menu(summary, items));
  page.root.addEventListener("click", (event) => {
    const button = event.target instanceof Element && event.target.closest("[data-act], [data-save]");
    if (!button) return;
    if (button.dataset.save) save(page, button.dataset);
    else if (acts[button.dataset.act]) acts[button.dataset.act](page);
  });
}

/** @type {Record<string, (page: Graphs.Page) => void>} */
const acts = {
  fit: (page) => canvas.fit(page),
  full: (page) => page.change({ full: view.get(page, "full") === "1" ? [] : ["1"] }),
  tree: (page) => sides.hide(page, "tree"),
  panel: (page) => sides.hide(page, "panel"),
  before: (page) => paint.move(page, -1),
  after: (page) => paint.move(page, 1),
};

/**
 * Save in a form; data are the data attributes of the button: form, name of a box, name of an attribute.
 * @param {Graphs.Page} page
 * @param {DOMStringMap} data
 */
function save(page, data) {
  const form = data.save || "";
  if (form === "png") {
    canvas.png(page);
    return;
  }
  const opened = page.opened.length ? page.opened : [""];
  page.saved = (page.saved || 0) + 1;
  /** @type {Record<string, string[]>} */
  const wanted = { ...ask(page), ...paint.told(page), open: opened, into: page.state.into || [], form: [form],
    turn: [String(page.saved)] };
  if (data.node !== undefined) wanted.node = [data.node];
  if (data.attribute !== undefined) wanted.attribute = [data.attribute];
  setProps(page.store("save"), { data: wanted });
}

/** @param {Graphs.Page} page */
function drawControls(page) {
  const { runs, left } = page.catalogue;
  const { run, graph } = shownIn(page);
  fillRuns(page.runs, runs.map((one) => [one.key, one.name]), run.key);
  /** @param {Graphs.Graph} one */
  const staged = ({ stage, name, final }) =>
    (stage ? translate(final ? "graph.stage.final" : "graph.stage", { stage, name }) : name);
  /** @param {Graphs.Graph} one */
  const named = (one) => (one.label ? one.label[language() === "zh" ? 1 : 0] : staged(one));
  fillSelect(page.graphs, run.graphs.map((one) => [one.name, named(one)]), graph.name);
  if (run.total > run.graphs.length) {
    writeText(page.left, "graph.first_of", { n: count(run.graphs.length), total: count(run.total) });
  } else if (left) writeText(page.left, "graph.left", { n: count(left) });
  page.left.hidden = !left && run.total <= run.graphs.length;
  /**
   * @param {HTMLButtonElement} button
   * @param {boolean} on
   */
  const press = (button, on) => button.setAttribute("aria-pressed", String(on));
  pressSegment(page.views, view.get(page, "view"));
  const tables = view.get(page, "view") === "statistics";
  for (const control of [page.parameters, page.constants, page.collapse, page.painting]) control.hidden = tables;
  press(page.simple, simplified(page));
  press(page.parameters, !(page.state.hide || []).includes("parameter"));
  press(page.constants, !(page.state.hide || []).includes("constant"));
  drawCompared(page);
  const full = view.get(page, "full") === "1";
  if (page.root.classList.contains("ms-full") !== full) canvas.turn(page);
  page.root.classList.toggle("ms-full", full);
  sides.draw(page);
}

/** @param {Graphs.Page} page */
function drawCompared(page) {
  const pairs = comparable(page);
  page.compare.disabled = !pairs.length && !page.against;
  setLabel(page.compare, "title", page.compare.disabled ? "graph.compare.needs" : "graph.compare.tip");
  page.compare.setAttribute("aria-pressed", String(Boolean(page.against)));
  page.others.hidden = !page.against;
  page.root.classList.toggle("ms-graph-compared", Boolean(page.against));
  if (!page.against) return;
  const named = new Map(page.catalogue.runs.map((run) => [run.key, run.name]));
  const choices = pairs.map((pair) => [
    JSON.stringify(pair),
    translate("graph.of_run", { run: named.get(pair[0]) || "", graph: pair[1] }),
  ]);
  const chosen = JSON.stringify(page.against);
  if (!choices.some(([value]) => value === chosen)) choices.unshift([chosen, page.against.join(" · ")]);
  fillSelect(page.others, choices, chosen);
}

// The head of the canvas --------------------------------------------------------------------------------------------

/** @param {Graphs.Page} page */
function drawHead(page) {
  const { meta } = page.drawing;
  const title = page.find(".ms-graph-main .ms-card-title");
  title.replaceChildren(...(page.run && page.graph
    ? [
        nameElement(page.run.name, namesIn(page.catalogue.runs)),
        make("span", "ms-cut", `\u00a0· ${meta.title || page.graph.name}`),  // a space at the beginning would not be drawn
      ]
    : []));
  title.title = title.textContent;
  const badges = [];
  if (meta.closed) badges.push(badge("graph.closed", { n: count(meta.closed) }, "graph.closed.tip", "accent"));
  if (meta.bare) badges.push(badge("graph.bare", {}, "graph.bare.tip", "accent"));
  if (meta.problems.length) badges.push(badge("graph.damaged", {}, null, "wrong"));
  page.find(".ms-graph-main .ms-card-badges").replaceChildren(...badges);
  const message = page.find(".ms-graph-message");
  const lines = meta.problems.map((problem) => make("p", "", problem));
  if (!meta.broken && !meta.boxes) lines.push(words("graph.empty_graph", {}, "p", "ms-muted"));
  message.replaceChildren(...lines);
  message.hidden = !lines.length;
  drawSaid(page, meta);
  if (meta.counts) {
    const numbers = Object.fromEntries(Object.entries(meta.counts).map(([name, many]) => [name, count(many)]));
    const roles = Object.entries(meta.roles).filter(([, many]) => many).map(([name, many]) =>
      translations(`graph.role.${name}`, { n: count(many) }));
    if (!roles.length) roles.push(translations("graph.role.weights", { n: "0" }));
    const both = [0, 1].map((which) =>
      translations("graph.counts", { ...numbers, roles: roles.map((part) => part[which]).join(" · ") })[which]);
    page.counts.classList.add("t");
    page.counts.replaceChildren(make("span", "en", both[0], { lang: "en" }), make("span", "zh", both[1], { lang: "zh-CN" }));
  }
  drawHidden(page, meta.hidden || {}, meta.kept);
}

/**
 * What a reader should know of what is shown, and nobody asked for: that it is simplified, what its writer leaves out.
 * @param {Graphs.Page} page
 * @param {Graphs.DrawingMeta} meta
 */
function drawSaid(page, meta) {
  const lines = (meta.notes || []).map((note) => make("p", "", note));
  if (meta.simple && view.get(page, "simple", "auto") === "auto") {
    const all = make("button", "ms-graph-jump", words("graph.said.all"), { type: "button", "data-control": "all" });
    all.addEventListener("click", () => simplify(page, false));
    lines.push(make("p", "", [words("graph.said.simple"), " ", all]));
  }
  const said = page.find(".ms-graph-said");
  said.replaceChildren(...lines);
  said.hidden = !lines.length;
  page.simple.setAttribute("aria-pressed", String(simplified(page)));
}

/**
 * @param {Graphs.Page} page
 * @param {Record<string, number>} hidden
 * @param {number} kept
 */
function drawHidden(page, hidden, kept) {
  const rules = Object.entries(hidden);
  page.hiddenCount.hidden = !rules.length;
  if (!rules.length) return;
  const total = rules.reduce((sum, [, many]) => sum + many, 0);
  writeText(page.hiddenCount, "graph.hidden", { n: count(total) });
  /** @param {number} language */
  const named = (language) => Object.entries(kept ? { ...hidden, kept } : hidden).map(([rule, many]) => {
    const key = ["gradient", "optimizer", "unused", "kept"].includes(rule) ? `graph.hidden.${rule}` : "graph.hidden.other";
    return translations(key, { rule, n: count(many) })[language];
  }).join("\n");
  const element = page.hiddenCount;
  [element.dataset.enTitle, element.dataset.zhTitle] = [named(0), named(1)];
  element.title = named(language() === "zh" ? 1 : 0);
}

/**
 * @param {string} rootId
 * @param {Graphs.PlainHtml[] | null} data
 * @param {string} place
 * @param {(page: Graphs.Page) => void} [then]
 */
function put(rootId, data, place, then) {
  const page = pageOf(rootId);
  if (!page || !data) return;
  showPlainHtml(page.find(place), data);
  if (then) then(page);
}

// Called by Dash ----------------------------------------------------------------------------------------------------

Object.assign(functionsOf("mindscope_graph"), {
  /**
   * @param {Wire.Query | null} state
   * @param {Graphs.Catalogue | null} catalogue
   * @param {unknown} _prefs
   * @param {string} rootId
   */
  plan(state, catalogue, _prefs, rootId) {
    const page = pageOf(rootId);
    const nothing = Array(7).fill(noUpdate());
    if (!page || !catalogue) return nothing;
    page.state = state || {};
    page.catalogue = catalogue;
    choose(page);
    showState(page);
    listAgain(page);
    if (!page.graph) return nothing;
    drawControls(page);
    if (page.language !== language()) canvas.relabel(page);
    page.language = language();
    side.drawSearch(page);
    side.completeTrace(page);
    const wanted = ask(page);
    if (!sameGraph(wanted, page.asked)) page.reading = false;
    const rest = askRest(page);
    if (same(wanted, page.asked)) {
      canvas.mark(page);
      paint.request(page, wanted);
      return [noUpdate(), ...rest];
    }
    if (!sameGraph(wanted, page.asked)) page.fit = true;
    page.asked = wanted;
    page.root.classList.add("ms-graph-busy");
    sayWaiting(page);
    return [wanted, ...rest];
  },

  /**
   * The server drew the graph: decide where the camera goes before anything is shown.
   * @param {Graphs.Drawn | null} drawing
   * @param {string} rootId
   */
  place(drawing, rootId) {
    const page = pageOf(rootId);
    if (!page || !drawing || !page.graph) return [noUpdate(), noUpdate()];
    const { meta } = drawing;
    const other = page.against || [];
    if (!page.run || meta.of.run !== page.run.key || meta.of.graph !== page.graph.name || !same(meta.of.against, other)) {
      return [noUpdate(), noUpdate()];
    }
    if (meta.reading) {
      waitFor(page, meta.reading);
      return [noUpdate(), noUpdate()];
    }
    const before = page.drawing;
    page.drawing = drawing;
    page.root.classList.remove("ms-graph-busy");
    drawProgress(page.find(".ms-graph-progress"), null);
    if (page.reading) catchUp(page);
    page.keys = canvas.keys(drawing.elements);
    page.opened = meta.opened || [];
    const hides = !before && !meta.chosen && meta.simple && view.get(page, "simple", "auto") === "auto";
    // A link to what Simplify hides shows it.
    if (page.asked && page.asked.node && hides) page.change({ simple: ["0"] });
    else if (page.asked && page.asked.node) {
      // Scopes opened to show a box become part of the state.
      page.sought = page.asked.node[0];
      if (meta.chosen) page.centre = true;
      if (page.state.open || before) page.change({ open: page.opened.length ? page.opened : [""], page: meta.pages });
      page.asked = ask(page);
    }
    drawHead(page);
    drawTree(page);
    canvas.placed(page, before);
    paint.request(page, ask(page));
    return [drawing.elements, drawing.stylesheet];
  },

  /**
   * @param {Graphs.PlainHtml[] | null} data
   * @param {string} rootId
   */
  panel(data, rootId) {
    put(rootId, data, ".ms-graph-panel");
  },

  /**
   * @param {Graphs.PlainHtml[] | null} data
   * @param {string} rootId
   */
  results(data, rootId) {
    put(rootId, data, ".ms-graph-results", side.found);
  },

  /**
   * @param {Graphs.PlainHtml[] | null} data
   * @param {string} rootId
   */
  traced(data, rootId) {
    put(rootId, data, ".ms-graph-traced");
  },

  /**
   * @param {Graphs.PlainHtml[][] | null} data
   * @param {string} rootId
   */
  tables(data, rootId) {
    ["types", "scopes", "parameters"].forEach((name, place) => put(rootId, data && data[place], `[data-table="${name}"]`));
  },

  /**
   * @param {Graphs.PlainHtml[] | null} data
   * @param {string} rootId
   */
  flagged(data, rootId) {
    put(rootId, data, '[data-table="flagged"]');
  },

  /**
   * @param {Graphs.Painted | null} data
   * @param {string} rootId
   */
  painted(data, rootId) {
    const page = pageOf(rootId);
    if (!page || !data || !page.graph) return;
    paint.draw(page, data);
    // The panel has the value of the chosen box.
    const asked = about(page);
    if (!page.sent || same(asked, page.sent[0])) return;
    page.sent[0] = asked;
    setProps(page.store("about"), { data: asked });
  },

  /**
   * @param {Graphs.Treemap | null} data
   * @param {string} rootId
   */
  tiles(data, rootId) {
    const page = pageOf(rootId);
    if (page && data) treemap.draw(page, data);
  },
});

// Keys --------------------------------------------------------------------------------------------------------------

/** @param {Graphs.Page} page */
const closer = (page) => canvas.zoom(page, 1.25);
/** @type {Record<string, (page: Graphs.Page) => void>} */
const KEYS = {
  ",": acts.before, ".": acts.after, f: acts.full, "[": acts.tree, "]": acts.panel, 0: acts.fit, "+": closer, "=": closer,
  "-": (page) => canvas.zoom(page, 0.8),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const target = event.target instanceof Element ? event.target : null;
  const root = document.querySelector(".ms-shell .ms-graph") || (target && target.closest(".ms-graph"));
  const page = root && pages.get(root.id);
  if (!page || !page.drawing || event.defaultPrevented) return;
  if (event.key === "Escape" && view.get(page, "full") === "1") acts.full(page);
  else if (event.key === "Escape" && !(target && target.closest("input, details[open]"))) view.chooseNode(page, "");
  if (takesText(target)) return;
  const act = KEYS[event.key];
  const inside = target && target.closest(".ms-graph-canvas");
  if (act) act(page);
  else if (!inside || !canvas.key(page, event.key, event.shiftKey)) return;
  event.preventDefault();
});
