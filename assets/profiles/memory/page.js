// The memory page: controls, curve, treemap, map of the pool, static plan. Counterpart of layouts/profiles/memory.

import { functionsOf, noUpdate, setProps } from "../../kit/dash.js";
import { badge, fillSelect, icon, iconButton, make, menu, pressSegment, segments, select, words } from "../../kit/elements.js";
import { language, setLabel, translate } from "../../kit/i18n.js";
import { notYet } from "../../kit/pages.js";
import { showPlainHtml } from "../../kit/plain_html.js";
import { same } from "../../kit/state.js";
import * as plots from "../plots.js";
import * as profiling from "../profiles.js";
import { drawPool, drawTiles } from "./tiles.js";

const WAIT_MS = 500;
const AGAIN_MS = 600;
const MARK = "#2f5fd0";
const MARKED = "moment";
const PARTS = ["head", "modules", "absent", "plan-said", "plan-at"];
const MOMENT_PARTS = ["at", "table", "blocks", "pool-said"];
// What each request depends on, beside the profile.
const SHARED = ["run", "session", "rank", "mark", "with_run", "with_session", "with_rank", "with_mark", "theme", "component",
  "device", "clock"];
const REQUESTS = {
  about: [...SHARED, "capacity", "graph", "node"],
  draw: [...SHARED, "capacity", "from", "to"],
  press: [...SHARED, "at", "by", "part", "view"],
};

// Controls ----------------------------------------------------------------------------------------------------------

/** @returns {Omit<Memory.Page, keyof Profiles.Page>} */
const fields = () => ({
  component: notYet, deviceChoice: notYet, clock: notYet, graph: notYet, zoomOut: notYet, files: notYet, filesOf: "",
  capacity: notYet, previous: notYet, next: notYet, peak: notYet, by: notYet, view: notYet, moment: null, curve: null,
  curveShapes: [], marked: null, requests: {}, later: 0, saved: 0,
});

/** @param {Memory.Page} page */
function build(page) {
  const afresh = { from: [], to: [], at: [], part: [] };
  page.component = select("memory.component", (name) => page.change({ component: [name], part: [] }));
  page.deviceChoice = select("memory.device", (name) => page.change({ device: [name], ...afresh }));
  page.clock = select("memory.clock", (name) => page.change({ clock: [name], component: [], ...afresh }));
  page.graph = select("memory.graph", (name) => page.change({ graph: [name], node: [] }));
  page.zoomOut = make("button", "ms-button", [icon("zoom"), words("memory.all")], { type: "button" });
  page.zoomOut.addEventListener("click", () => page.change({ from: [], to: [] }));
  const summary = make("summary", "ms-button", [icon("download"), make("span", "", "CSV"), icon("down")]);
  page.files = menu(summary, []);
  page.find(".ms-memory-tools").replaceChildren(
    page.clock, page.deviceChoice, page.component, page.zoomOut, make("span", "ms-grow"), buildCapacity(page), page.files);
  buildMoment(page);
  page.find(".ms-memory-plan .ms-card-head").append(page.graph);
  plots.furnish(page);
  plots.watch(page);
  page.root.addEventListener("click", (event) => {
    const target = event.target instanceof Element && !event.target.closest("details, summary") ? event.target : null;
    const row = target && target.closest("[data-part]");
    if (row) choosePart(page, row.dataset.part);
  });
}

/** @param {Memory.Page} page */
function buildCapacity(page) {
  const input = make("input", "ms-input ms-memory-capacity", [], { type: "number", min: "0", step: "any" });
  setLabel(input, "aria-label", "memory.capacity.tip");
  let timer = 0;
  input.addEventListener("input", () => {
    const { value } = input;
    window.clearTimeout(timer);
    timer = window.setTimeout(() => page.change({ capacity: Number(value) > 0 ? [value] : [] }), WAIT_MS);
  });
  page.capacity = input;
  const unit = make("span", "ms-muted", "GiB");
  const field = make("label", "ms-field", [words("memory.capacity", {}, "span", "ms-field-name"), input, unit]);
  setLabel(field, "title", "memory.capacity.tip");
  return field;
}

/** @param {Memory.Page} page */
function buildMoment(page) {
  page.previous = iconButton("left", "memory.previous", "previous");
  page.previous.addEventListener("click", () => go(page, page.moment && page.moment.previous));
  page.next = iconButton("right", "memory.next", "next");
  page.next.addEventListener("click", () => go(page, page.moment && page.moment.next));
  page.peak = make("button", "ms-button", words("memory.peak"), { type: "button" });
  setLabel(page.peak, "title", "memory.peak.tip");
  page.peak.addEventListener("click", () => page.change({ at: [] }));
  page.by = select("memory.by", (by) => page.change({ by: [by], part: [] }));
  page.view = segments("memory.view", ["alive", "changed"].map((one) => [one, `memory.view.${one}`]),
    (view) => page.change({ view: view === "alive" ? [] : [view] }));
  setLabel(page.view, "title", "memory.view.tip");
  page.find('[data-card="moment"] .ms-memory-card-tools').replaceChildren(
    make("span", "ms-pager", [page.previous, page.peak, page.next]), page.by, page.view);
}

/**
 * Explain the moment of a record, by its offset.
 * @param {Memory.Page} page
 */
function go(page, offset) {
  if (offset !== null && offset !== undefined) page.change({ at: [String(offset)] });
}

/**
 * @param {Memory.Page} page
 * @param {string} key
 */
function choosePart(page, key) {
  page.change({ part: page.moment && page.moment.part === key ? [] : [key] });
}

/** @param {Memory.Page} page */
function draw(page) {
  plots.drawFull(page);
  page.zoomOut.hidden = !profiling.get(page, "to");
  if (document.activeElement !== page.capacity) page.capacity.value = profiling.get(page, "capacity");
  pressSegment(page.view, profiling.get(page, "view", "alive"));
  drawFiles(page);
}

/** @param {Memory.Page} page */
function drawFiles(page) {
  const frames = page.frames.filter((one) => page.profile.frames.includes(one));
  const blocks = page.moment && page.moment.blocks;
  const made = blocks ? ["groups", ...(page.moment.part === null ? [] : ["part"]), "changed"] : [];
  const wanted = JSON.stringify([frames, made, plots.csv(page, "")]);
  if (page.filesOf === wanted) return;
  page.filesOf = wanted;
  const link = (frame) =>
    make("a", "ms-menu-item", words(`memory.csv.${frame}`), { href: plots.csv(page, frame), download: "" });
  /** @param {string} what */
  const button = (what) => {
    const item = make("button", "ms-menu-item", words(`memory.csv.${what}`), { type: "button", "data-save": what });
    item.addEventListener("click", () => save(page, what));
    return item;
  };
  page.files.querySelector(".ms-menu-items").replaceChildren(...made.map(button), ...frames.map(link));
}

/**
 * @param {Memory.Page} page
 * @param {string} what
 */
function save(page, what) {
  page.files.open = false;
  page.saved += 1;
  setProps(page.store("save"), { data: { ...page.asked, what: [what], turn: [String(page.saved)] } });
}

/**
 * Offer what the profile has; the first is the default.
 * @param {Memory.Page} page
 */
function drawOffers(page, facts) {
  /** @param {string} chosen */
  const offer = (control, choices, chosen) => {
    fillSelect(control, choices, chosen);
    control.hidden = choices.length < 2;
  };
  offer(page.clock, facts.clocks.map((one) => [one, translate(`memory.clock.${one}`)]), facts.clock);
  const devices = facts.devices.map((one) => [String(one), translate("memory.device_n", { n: one })]);
  offer(page.deviceChoice, devices, String(facts.device));
  offer(page.component, facts.components.map((one) => [one, one || translate("memory.component.all")]), facts.component);
  const graphs = facts.graphs || [];
  offer(page.graph, graphs.map((one) => [String(one), translate("memory.graph_n", { n: one })]), String(facts.graph));
  page.find(".ms-memory-plans").hidden = !graphs.length;
  page.capacity.parentElement.hidden = !facts.components.length;
}

/**
 * @param {Memory.Page} page
 * @param {string[]} names
 */
function fillParts(page, data, names) {
  for (const name of names) {
    const host = page.find(`[data-part-of="${name}"]`);
    const parts = data[name] || [];
    showPlainHtml(host, parts);
    host.hidden = !parts.length;
  }
}

/**
 * @param {Memory.Page} page
 * @param {string} name
 */
const showCard = (page, name, shown) => { page.find(`[data-card="${name}"]`).hidden = !shown; };

// Curve -------------------------------------------------------------------------------------------------------------

/**
 * @param {Memory.Page} page
 * @param {string} name
 */
const plotOf = (page, name) => page.find(`[data-plot="${name}"] .js-plotly-plot`);

/**
 * The line at the chosen moment.
 * @param {Memory.Page} page
 */
function markOf(page) {
  const { curve, moment } = page;
  if (!curve || !moment) return [];
  const x = moment.at / curve.layout.meta.scale;
  const line = { color: MARK, width: 1.5 };
  return [{ name: MARKED, type: "line", xref: "x", yref: "paper", x0: x, x1: x, y0: 0, y1: 1, line }];
}

/**
 * Move the line; also after each drawing, as a figure may be drawn after the moment has changed.
 * @param {Memory.Page} page
 */
function mark(page) {
  const plot = plotOf(page, "curve");
  if (!page.curve || !plot || !plot.layout || !plot.on) return;
  if (page.marked !== plot) {
    page.marked = plot;
    plot.on("plotly_afterplot", () => mark(page));
  }
  const wanted = markOf(page)[0];
  const drawn = (plot.layout.shapes || []).find((shape) => shape.name === MARKED);
  const ready = plot.layout.meta && plot.layout.meta.scale;
  if (!ready || (wanted && drawn && wanted.x0 === drawn.x0)) return;
  window.Plotly.relayout(plot, { shapes: [...page.curveShapes, ...markOf(page)] });
}

/** @param {Memory.Page} page */
function drawLegend(page, { names, reduced, least }) {
  // In a picture the legend is in the figure.
  page.nameOfLine = ({ meta }) => (meta && names.includes(meta.role) ? translate(`memory.word.${meta.role}`) : "");
  /** @param {string} name */
  const tint = (name) => make("span", `ms-memory-key ms-memory-key-${name}`, words(`memory.word.${name}`));
  const shown = names.slice().reverse();
  page.find('[data-plot="curve"] .ms-card-badges').replaceChildren(
    ...[...shown, ...(least ? ["least"] : [])].map(tint),
    ...(reduced ? [badge("memory.reduced", {}, "memory.reduced.tip", "accent")] : []));
}

// Called by Dash ----------------------------------------------------------------------------------------------------

const pageOf = profiling.define("memory", { fields, build, draw });

Object.assign(functionsOf("mindscope_memory"), {
  /**
   * @param {unknown} _prefs
   * @param {string} rootId
   */
  plan(ask, screen, _prefs, rootId) {
    const page = pageOf(rootId);
    if (!page || !ask || !screen) return [noUpdate(), noUpdate(), noUpdate()];
    return Object.entries(REQUESTS).map(([name, keys]) => {
      const wanted = name === "press" && profiling.get(page, "view") === "changed" ? [...keys, "from", "to"] : keys;
      const next = Object.fromEntries(wanted.filter((key) => key in ask).map((key) => [key, ask[key]]));
      next.lang = [language()];
      if (name === "draw") next.columns = [screen];
      if (same(next, page.requests[name])) return noUpdate();
      page.requests[name] = next;
      return next;
    });
  },

  /** @param {string} rootId */
  overall(data, rootId) {
    const page = pageOf(rootId);
    if (!page || !data) return;
    fillParts(page, data, PARTS);
    showCard(page, "modules", (data.modules || []).length);
    showCard(page, "absent", (data.absent || []).length);
    drawOffers(page, data.facts);
    drawFiles(page);
    window.clearTimeout(page.later);
    if (!data.facts.again) return;
    // Steps are still being read: ask for what shows them again.
    page.later = window.setTimeout(() => {
      for (const name of ["about", "draw"]) {
        if (page.root.isConnected) setProps(page.store(name), { data: { ...page.requests[name], turn: [String(Date.now())] } });
      }
    }, AGAIN_MS);
  },

  /** @param {string} rootId */
  moment(data, rootId) {
    const page = pageOf(rootId);
    if (!page || !data) return;
    page.moment = data.facts;
    showCard(page, "moment", data.facts);
    showCard(page, "pool", data.pool && data.pool.length);
    if (!data.facts) return;
    fillParts(page, data, MOMENT_PARTS);
    drawTiles(page, data, choosePart);
    drawPool(page, data.pool);
    const { facts } = data;
    fillSelect(page.by, facts.groupings.map((one) => [one, translate(`memory.by.${one}`)]), facts.by);
    page.by.hidden = facts.view !== "alive" || !facts.blocks;
    page.view.hidden = !facts.blocks;
    page.previous.disabled = facts.previous === null;
    page.next.disabled = facts.next === null;
    page.peak.setAttribute("aria-pressed", String(facts.peak));
    page.find(".ms-memory-both").hidden = !data.table.length;
    drawFiles(page);
    mark(page);
  },

  /** @param {string} rootId */
  painted_curve(figure, rootId) {
    const page = pageOf(rootId);
    if (!page) return noUpdate();
    page.curve = figure;
    if (!figure) return plots.place(page, "curve", null);
    page.curveShapes = figure.layout.shapes;
    drawLegend(page, figure.layout.meta);
    const layout = { ...figure.layout, shapes: [...page.curveShapes, ...markOf(page)] };
    return plots.place(page, "curve", { ...figure, layout });
  },

  /** @param {string} rootId */
  painted_plan(figure, rootId) {
    const page = pageOf(rootId);
    return page ? plots.place(page, "plan", figure) : noUpdate();
  },

  /**
   * The server chooses the highest record of the pixel column.
   * @param {string} rootId
   */
  pressed_curve(click, rootId) {
    const page = pageOf(rootId);
    const point = click && click.points && click.points[0];
    if (!page || !point || !page.curve) return;
    const { scale, column } = page.curve.layout.meta;
    page.change({ at: [`${Math.round(point.x * scale)},${column}`] });
  },

  /** @param {string} rootId */
  pressed_plan(click, rootId) {
    const page = pageOf(rootId);
    const point = click && click.points && click.points.find((one) => Number.isFinite(one.customdata));
    if (page && point) page.change({ node: [String(point.customdata)] });
  },

  /** @param {string} rootId */
  moved(change, rootId) {
    const page = pageOf(rootId);
    if (!page || !change || !page.curve) return;
    const { scale } = page.curve.layout.meta;
    const [from, to] = [change["xaxis.range[0]"], change["xaxis.range[1]"]];
    if (from !== undefined && to !== undefined) {
      const first = Math.round(from * scale);
      page.change({ from: [String(first)], to: [String(Math.max(Math.round(to * scale), first + 1))] });
    } else if (change["xaxis.autorange"] && profiling.get(page, "to")) page.change({ from: [], to: [] });
  },
});

plots.keys("ms-memory", (found, event) => {
  const page = pageOf(found.root.id);
  if (!page || !page.moment) return false;
  if (event.key === "ArrowLeft") go(page, page.moment.previous);
  else if (event.key === "ArrowRight") go(page, page.moment.next);
  else if (event.key === "h") page.change({ at: [] });
  else return false;
  return true;
});
