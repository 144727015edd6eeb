// The dynamic shapes page: types drawn, the chosen operator, the highlighted shape. Counterpart of layouts/profiles/shapes.

import { functionsOf, noUpdate } from "../../kit/dash.js";
import { badge, icon, make, pressSegment, segments, words } from "../../kit/elements.js";
import { count } from "../../kit/units.js";
import { language, setLabel } from "../../kit/i18n.js";
import { notYet } from "../../kit/pages.js";
import { plotCards } from "../../kit/plot_cards.js";
import { same } from "../../kit/state.js";
import * as profiling from "../profiles.js";

const WAIT_MS = 300;
const PHONE_PX = 600;
const NAMING = ["run", "session", "rank", "unit", "by", "scale", "type", "op", "shape", "q"];
/** @param {Shapes.Page} page */
const nameOf = (page) => `${page.run.name} ${page.profile.rank}`;
/** @returns {Shapes.Page | null} */
const pageOf = (/** @type {string} */ rootId) => known(rootId);
const plots = plotCards(pageOf, nameOf, (page) => Boolean(page.facts));

/**
 * The types drawn after a press on one: it is added or left out; the last one stays.
 * @param {string} name
 */
export function toggled(drawn, name, most) {
  if (!drawn.includes(name)) return drawn.length < most ? [...drawn, name] : drawn;
  return drawn.length > 1 ? drawn.filter((one) => one !== name) : drawn;
}

/**
 * The address of a table of the page as CSV.
 * @param {string} routes
 * @param {string} name
 */
export function urlOf(routes, name, ask) {
  const query = new URLSearchParams();
  for (const key of NAMING) for (const value of ask[key] || []) query.append(key, value);
  return `${routes}shapes/${name}.csv?${query}`;
}

/** @returns {Omit<Shapes.Page, keyof Profiles.Page>} */
const fields = () => ({
  unit: notYet, by: notYet, scale: notYet, search: notYet, links: new Map(), facts: null, about: {},
});

/** @param {Shapes.Page} page */
function build(page) {
  /**
   * @param {string} key
   * @param {string} usual
   */
  const set = (key, usual) => (value) => page.change({ [key]: value === usual ? [] : [value] });
  page.unit = segments("shapes.unit", [["operator", "shapes.unit.operator"], ["kernel", "shapes.unit.kernel"]],
    (value) => page.change({ unit: value === "operator" ? [] : [value], type: [], op: [], shape: [], q: [] }));
  page.by = segments("shapes.by", [["total", "shapes.by.total"], ["mean", "shapes.by.mean"]], set("by", "total"));
  page.scale = segments("shapes.scale", [["linear", "shapes.scale.linear"], ["log", "shapes.scale.log"]],
    set("scale", "linear"));
  page.find(".ms-shapes-bar").replaceChildren(page.unit, page.scale);
  page.find("[data-plot=steps] .ms-card-tools").prepend(page.by);
  page.search = make("input", "ms-input ms-filter", [], { type: "search", autocomplete: "off", spellcheck: "false" });
  for (const name of ["placeholder", "aria-label"]) setLabel(page.search, name, "shapes.search");
  let timer = 0;
  page.search.addEventListener("input", () => {
    const { value } = page.search;
    window.clearTimeout(timer);
    timer = window.setTimeout(() => page.change({ q: value ? [value] : [] }), WAIT_MS);
  });
  /**
   * @param {string} name
   * @param {string} key
   */
  const link = (name, key) => {
    const made = make("a", "ms-button ms-button-small", [icon("download"), words(key)], { download: "", "data-csv": name });
    page.links.set(name, made);
    return made;
  };
  page.find("[data-plot=steps] .ms-card-tools").prepend(link("steps", "shapes.csv"));
  page.find("[data-plot=operator] .ms-card-tools").prepend(link("executions", "shapes.csv"));
  for (const name of ["types", "operators", "shapes"]) {
    const tools = page.find(`[data-card=${name}] .ms-shapes-tools`);
    tools.append(...name === "operators" ? [page.search] : [], link(name, "shapes.csv"));
  }
  page.root.addEventListener("click", (event) => press(page, event));
  plots.furnish(page);
}

/** @param {Shapes.Page} page */
function press(page, event) {
  const button = event.target instanceof Element && event.target.closest(".ms-shapes-press");
  if (!button || !page.facts) return;
  const { type, op, shape } = button.dataset;
  if (type !== undefined) page.change({ type: toggled(page.facts.drawn, type, page.facts.most) });
  if (op !== undefined) page.change({ op: [op], shape: [] });
  if (shape !== undefined) page.change({ shape: profiling.get(page, "shape") === shape ? [] : [shape] });
}

/** @param {Shapes.Page} page */
function draw(page) {
  pressSegment(page.by, profiling.get(page, "by", "total"));
  pressSegment(page.scale, profiling.get(page, "scale", "linear"));
  plots.drawFull(page);
  if (document.activeElement !== page.search) page.search.value = profiling.get(page, "q");
}

/** @param {Shapes.Page} page */
function drawFacts(page) {
  const { facts } = page;
  page.unit.hidden = facts.units.length < 2;
  pressSegment(page.unit, facts.unit);
  for (const [name, link] of page.links) link.href = urlOf(page.root.dataset.routes, name, page.about);
  for (const card of page.root.querySelectorAll("[data-card]")) card.hidden = !facts.found;
}

/** @param {Shapes.Page} page */
function drawBadges(page, operator) {
  if (!operator) return;
  const { drawn, total } = operator.layout.meta;
  const badges = [make("span", "ms-shapes-name ms-mono ms-cut ms-name", page.facts.operator, { title: page.facts.operator })];
  if (drawn < total) {
    const values = { n: count(drawn), total: count(total) };
    badges.push(badge("shapes.thinned", values));
  }
  page.find("[data-plot=operator] .ms-card-badges").replaceChildren(...badges);
}

/**
 * On a phone a legend beside the plot leaves no room for it; the table of shapes has colours and symbols, too.
 * @param {PlotlyFigure} figure
 */
function withRoom(figure) {
  return window.innerWidth > PHONE_PX ? figure : { ...figure, layout: { ...figure.layout, showlegend: false } };
}

const known = profiling.define("shapes", { fields, build, draw });

Object.assign(functionsOf("mindscope_shapes"), {
  /**
   * @param {unknown} _prefs
   * @param {string} rootId
   */
  plan(ask, _prefs, now, rootId) {
    const page = pageOf(rootId);
    if (!page || !ask) return noUpdate();
    const next = { ...ask, lang: [language()] };
    page.about = next;
    return same(next, now) ? noUpdate() : next;
  },

  /** @param {string} rootId */
  painted(steps, operator, facts, rootId) {
    const page = pageOf(rootId);
    if (!page || !facts) return;
    page.facts = facts;
    drawFacts(page);
    drawBadges(page, operator);
    plots.place(page, "steps", "steps-plot", steps);
    plots.place(page, "operator", "operator-plot", operator && withRoom(operator));
  },

  /** @param {string} rootId */
  picked(click, rootId) {
    const page = pageOf(rootId);
    const point = click && click.points && click.points[0];
    if (!page || !point || !point.customdata) return;
    const shape = point.customdata[2];
    page.change({ shape: profiling.get(page, "shape") === shape ? [] : [shape] });
  },
});

plots.keys("ms-shapes");
