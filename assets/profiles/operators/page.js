// The operators page: tabs, toolbars, columns and cells. Counterpart of layouts/profiles/operators.

import { cellRenderers } from "../../kit/ag_grid.js";
import "../../kit/grid.js";
import { functionsOf, noUpdate, setProps } from "../../kit/dash.js";
import { icon, make, pressSegment, segments, takesText, words } from "../../kit/elements.js";
import * as files from "../../kit/files.js";
import { count, percent, prefixed } from "../../kit/units.js";
import { inLanguage, setLabel, translate, translations, writeText } from "../../kit/i18n.js";
import { notYet } from "../../kit/pages.js";
import { formatQuery } from "../../kit/state.js";
import { duration } from "../axis.js";
import * as efficiency from "../efficiency.js";
import * as profiling from "../profiles.js";

const react = (...args) => window.React.createElement(...args);
const WAIT_MS = 250;
const NUMBER = { type: "rightAligned", filter: "agNumberColumnFilter", initialWidth: 104 };
const WIDTHS = {
  name: 260,
  type: 200,
  full_name: 420,
  core: 150,
  self_ns: 150,
  device_ns: 140,
  device_self_ns: 160,
  input_shapes: 240,
  output_shapes: 200,
  stack: 320,
  start_ns: 180,
  duration_ns: 124,
  difference_ns: 128,
  with_total_ns: 140,
  with_mean_ns: 140,
  with_count: 116,
};

/** @returns {Omit<OperatorTable.Page, keyof Profiles.Page>} */
const fields = () => ({
  tabs: notYet, use: notYet, chart: notYet, by: notYet, amount: notYet, form: notYet, views: notYet, input: notYet,
  within: notYet, csv: notYet, count: notYet, sheet: notYet, facts: null, made: false, api: null, columnKey: "", saved: 0,
});

/** @param {OperatorTable.Page} page */
function build(page) {
  page.tabs = page.find(".ms-operators-tabs");
  buildTypes(page);
  buildScopes(page);
  buildTable(page);
  buildUse(page);
  page.root.addEventListener("click", (event) => {
    const button = event.target instanceof Element && event.target.closest("[data-act]");
    if (!button) return;
    if (button.dataset.act.startsWith("full-")) full(page, button.dataset.act.slice(5));
    if (button.dataset.act === "png-roofline") saveRoofline(page);
    if (button.dataset.act.startsWith("to-")) goTo(page, button.dataset.act.slice(3));
  });
}

const BESIDE_PX = 420;  // width of a card with room for the legend beside the ring
const CARDS = ["types", "scopes", "table", "bound", "slow", "roofline"];

/** @param {OperatorTable.Page} page */
function buildUse(page) {
  efficiency.build(page);
  page.find(".ms-operators-bound-card").addEventListener("click", (event) => {
    if (event.target instanceof Element && event.target.closest("[data-set]")) goTo(page, "table");
  });
  page.use = segments("efficiency.by", [["types", "efficiency.by.types"], ["shapes", "efficiency.by.shapes"]],
    (value) => page.change({ use: value === "types" ? [] : [value] }));
  page.find(".ms-operators-bound-card .ms-card-tools").prepend(page.use);
}

/**
 * Show a card that is not on the screen, and continue there with the keys.
 * @param {OperatorTable.Page} page
 */
function goTo(page, name) {
  const card = page.find(`.ms-operators-${name}-card`);
  card.scrollIntoView({ block: "start" });
  card.focus({ preventScroll: true });
}

/**
 * Where there is no room for the legend beside the ring, it is below.
 * @param {{ find: (selector: string) => HTMLElement }} page
 * @param {{ data: { type?: string }[], layout: { legend?: object } }} figure
 */
function underneath(page, figure) {
  const [trace] = figure.data;
  if (!trace || trace.type !== "pie" || page.find(".ms-operators-plot").clientWidth >= BESIDE_PX) return figure;
  const legend = { ...figure.layout.legend, x: 0, yref: "container", y: 0, yanchor: "bottom" };
  return { data: [{ ...trace, domain: { x: [0, 1] } }], layout: { ...figure.layout, legend } };
}

/** @param {OperatorTable.Page} page */
function drawUse(page) {
  const use = profiling.get(page, "use", "types");
  pressSegment(page.use, use);
  page.find(".ms-operators-bound-card [data-efficiency-csv]").dataset.efficiencyCsv = use;
  efficiency.draw(page);
}

/** @param {OperatorTable.Page} page */
function saveRoofline(page) {
  const plot = page.find(".ms-operators-roof .js-plotly-plot");
  if (!plot || !plot.data || !plot.data.length) return;
  files.saveImage(plot, plot, "png", page.run.name, plot, { grid: "--ms-plot-grid" });
}

/** @param {OperatorTable.Page} page */
function full(page, name) {
  page.change({ full: profiling.get(page, "full") === name ? [] : [name] });
}

/** @param {OperatorTable.Page} page */
function buildTypes(page) {
  page.chart = segments("operators.chart", [["pie", "operators.chart.pie"], ["bar", "operators.chart.bar"]],
    (value) => page.change({ chart: value === "pie" ? [] : [value] }));
  page.by = segments("operators.by", [["total", "operators.by.total"], ["mean", "operators.by.mean"]],
    (value) => page.change({ by: value === "total" ? [] : [value] }));
  setLabel(page.by, "title", "operators.by.tip");
  page.find(".ms-operators-types-card .ms-card-tools").prepend(page.by, page.chart);
}

/** @param {OperatorTable.Page} page */
function buildScopes(page) {
  page.amount = segments("operators.amount", [["time", "operators.amount.time"], ["flops", "operators.amount.flops"]],
    (value) => page.change({ amount: value === "time" ? [] : [value] }));
  page.form = segments("operators.form", [["treemap", "operators.form.treemap"], ["icicle", "operators.form.icicle"]],
    (value) => page.change({ form: value === "treemap" ? [] : [value] }));
  page.find(".ms-operators-scopes-card .ms-card-tools").prepend(page.amount, page.form);
}

/**
 * Draw scopes as rectangles; the server sends relative positions.
 * @param {OperatorTable.Page} page
 */
function drawScopes(page, data) {
  page.amount.hidden = !data.flops && data.amount === "time";
  drawCrumbs(page, data);
  const host = page.find(".ms-operators-scopes");
  if (!data.tiles.length) {
    host.replaceChildren(words("operators.no_scopes", {}, "p", "ms-muted ms-operators-note"));
    return;
  }
  const format = data.amount === "time" ? duration : (value) => prefixed(value, "FLOPs");
  host.classList.toggle("ms-operators-levels", data.form === "icicle");
  const side = (value) => `${100 * value}%`;
  host.replaceChildren(...data.tiles.map(([x, y, width, height, depth, name, path, amount, inner]) => {
    const share = data.total ? amount / data.total : 0;
    const tile = make(inner ? "button" : "div", `ms-operators-tile ms-operators-depth-${depth}`,
      make("span", "ms-cut ms-name", name),
      inner ? { type: "button" } : {});
    tile.title = `${path || name}\n${format(amount)} · ${percent(share)}`;
    Object.assign(tile.style, { left: side(x), top: side(y), width: side(width), height: side(height) });
    if (inner) tile.addEventListener("click", () => page.change({ scope: [path] }));
    else if (path) {
      tile.addEventListener("dblclick", () => page.change({ view: ["operators"], q: [path], in: ["full_name"], sort: [] }));
    }
    return tile;
  }));
}

/** @param {OperatorTable.Page} page */
function drawCrumbs(page, data) {
  const parts = data.scope ? data.scope.split("/") : [];
  const crumb = (name, path) => {
    const button = make("button", "ms-operators-link", name, { type: "button" });
    button.addEventListener("click", () => page.change({ scope: path ? [path] : [] }));
    return button;
  };
  const trail = parts.flatMap((name, place) => [" / ", crumb(name, parts.slice(0, place + 1).join("/"))]);
  const sums = data.summary.map(({ unit, flops, flops_per_s: speed, flops_use: use }) => words(`operators.flops.${unit}`,
    {
      flops: flops === null ? "?" : prefixed(flops, "FLOPs"), rate: speed === null ? "?" : prefixed(speed, "FLOPS"),
      use: use === null ? "" : `, ${percent(use)}`,
    }, "span", "ms-muted"));
  page
    .find(".ms-operators-crumbs")
    .replaceChildren(crumb(words("operators.all_scopes"), ""), ...trail, make("span", "ms-grow"), ...sums);
}

/** @param {OperatorTable.Page} page */
function buildTable(page) {
  page.views = make("span", "");
  const input = make("input", "ms-input ms-filter", [], { type: "search", autocomplete: "off", spellcheck: "false" });
  for (const name of ["placeholder", "aria-label"]) setLabel(input, name, "operators.search");
  let timer = 0;
  input.addEventListener("input", () => {
    const { value } = input; // the state may overwrite the field before the timer fires
    window.clearTimeout(timer);
    timer = window.setTimeout(() => page.change({ q: value ? [value] : [] }), WAIT_MS);
  });
  page.input = input;
  page.within = make("select", "ms-input", [], {});
  setLabel(page.within, "aria-label", "operators.in");
  page.within.addEventListener("change", () => page.change({ in: page.within.value === "name" ? [] : [page.within.value] }));
  page.csv = make("a", "ms-button", [icon("download"), words("operators.csv")], { download: "" });
  page.csv.addEventListener("click", (event) => {
    if (!page.made && !narrowed(page)) return;
    event.preventDefault();
    page.saved += 1;
    const filters = page.api ? page.api.getFilterModel() : {};
    setProps(page.store("save"), { data: { ...page.asked, filters, turn: [String(page.saved)] } });
  });
  page.count = make("span", "ms-muted");
  page.find(".ms-operators-bar").replaceChildren(page.views, input, page.within, page.count, make("span", "ms-grow"), page.csv);
}

/**
 * Whether the table is filtered to few enough rows to save them as shown.
 * @param {OperatorTable.Page} page
 */
function narrowed(page) {
  const filtered = page.api && Object.keys(page.api.getFilterModel()).length > 0;
  return Boolean(filtered || profiling.get(page, "q")) && (!page.api || page.api.getDisplayedRowCount() <= page.sheet.most);
}

/** @param {OperatorTable.Page} page */
function nameSaved(page) {
  writeText(
    page.csv.querySelector(".t") || page.csv.lastElementChild,
    narrowed(page) ? "operators.csv_found" : "operators.csv",
  );
}

// Controls after every change of the state ----------------------------------------------------------------------------

/** @param {OperatorTable.Page} page */
function draw(page) {
  pressSegment(page.chart, profiling.get(page, "chart", "pie"));
  pressSegment(page.by, profiling.get(page, "by", "total"));
  pressSegment(page.amount, profiling.get(page, "amount", "time"));
  pressSegment(page.form, profiling.get(page, "form", "treemap"));
  page.chart.hidden = page.by.hidden = Boolean(page.against);
  writeText(page.find(".ms-operators-types-card .ms-card-title"), page.against ? "operators.compared" : "operators.types");
  drawUse(page);
  for (const name of CARDS) {
    page.find(`.ms-operators-${name}-card`).classList.toggle("ms-full", profiling.get(page, "full") === name);
  }
  if (document.activeElement !== page.input) page.input.value = profiling.get(page, "q");
}

/** @param {OperatorTable.Page} page */
function drawSheet(page, sheet) {
  page.sheet = sheet;
  const press = (part, value) => (event) => { event.preventDefault(); page.change({ [part]: [value], open: [], sort: [] }); };
  page.tabs.replaceChildren(...sheet.variants.map((name) => {
    const button = make("button", "ms-button", words(`operators.variant.${name}`), {
      type: "button",
      "aria-pressed": String(name === sheet.variant),
    });
    button.addEventListener("click", press("core", name));
    return button;
  }), sums(sheet));
  page.tabs.hidden = !sheet.variants.length;
  writeText(
    page.by.querySelector('[data-value="total"]').firstElementChild,
    hasSelf(sheet) ? "operators.by.self" : "operators.by.total",
  );
  const able = sheet.views.filter((view) => view !== "counters" || sheet.view === view || (page.facts && page.facts.counters));
  const views = segments("operators.view", able.map((view) => [view, `operators.view.${view}`]),
    (view) => page.change({ view: view === "types" ? [] : [view], sort: [] }));
  pressSegment(views, sheet.view);
  page.views.replaceChildren(views);
  const named = sheet.view === "operators" || sheet.view === "executions";
  page.within.hidden = !named;
  const fields = sheet.view === "executions" ? ["name", "type"] : ["name", "type", "full_name"];
  page.within.replaceChildren(...fields.map((name) => make("option", "", translate(`operators.in.${name}`), { value: name })));
  page.within.value = profiling.get(page, "in", "name");
  const frame = { types: "operator_types", executions: "kernels" }[sheet.view] || "operators";
  const { run, profile } = page;
  const query = new URLSearchParams({ run: run.key, session: profile.session, rank: String(profile.rank), frame });
  // Rows of computed tables come from a callback, not from the CSV route.
  page.made = sheet.view === "shapes" || sheet.view === "counters" || (Boolean(page.against) && sheet.view !== "executions");
  page.csv.href = `${page.root.dataset.routes}profile.csv?${query}`;
  nameSaved(page);
  const empty = !sheet.variants.length;
  for (const part of [page.find(".ms-operators-figures"), page.find(".ms-operators-grid"), page.input, page.csv]) {
    part.hidden = empty;
  }
  writeText(page.count, sheet.rows ? "operators.rows" : "operators.nothing", { n: count(sheet.rows) });
}

// Whether the times that add up are self times: calls of the host contain each other.
const hasSelf = (sheet) => typeof sheet.sums.self_ns === "number";

function sums(sheet) {
  const { types, count: many, total_ns: total, self_ns: own } = sheet.sums;
  if (types === undefined) return "";
  return words(
    own === null ? "operators.sums" : "operators.sums_self",
    { types: count(types), count: many ? count(Math.round(many)) : "?", total: duration(total), own: duration(own || 0) },
    "span",
    "ms-muted",
  );
}

// Four significant digits, thousands separated.
export function number(value) {
  if (value === null || value === undefined) return "";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e15 || size < 1e-4) return value.toExponential(3);
  if (size >= 999.95) return value.toLocaleString("en", { maximumFractionDigits: 0 });
  return value.toPrecision(4);
}

// Columns -----------------------------------------------------------------------------------------------------------

const WHOLE = new Set(["start_ns", "step", "stream", "task", "device", "model", "blocks"]);

/**
 * The first of many columns is pinned; the first of few grows.
 * @param {OperatorTable.Page} page
 */
function place(page, name) {
  if (name !== page.sheet.columns[0].name) return { pinned: null };
  return page.sheet.columns.length > 11 ? { pinned: "left", flex: null } : { pinned: null, flex: 1, minWidth: 220 };
}

/** @param {OperatorTable.Page} page */
function definition(page, column) {
  const { name, text, unit, scale } = column;
  const own = page.against && hasSelf(page.sheet) ? name.replace("total_ns", "self_ns") : name;
  const known = translations(`operators.col.${own}`);
  const title = known[0] === `operators.col.${own}` ? name.replace(/^pmu\//, "") : inLanguage(known);
  const shared = {
    field: name, colId: name, headerName: unit && unit !== "%" ? `${title} (${unit})` : title, headerTooltip: title,
    sort: page.sheet.sort[0] === name ? page.sheet.sort[1] : null, sortingOrder: text ? ["asc", "desc"] : ["desc", "asc"],
  };
  if (text) {
    return {
      ...shared,
      filter: "agTextColumnFilter",
      initialWidth: WIDTHS[name] || 150,
      tooltipField: name,
      cellRenderer: "MindscopeOperator",
      ...place(page, name),
    };
  }
  return {
    ...shared,
    ...NUMBER,
    initialWidth: WIDTHS[name] || NUMBER.initialWidth,
    cellRenderer: name === "share" ? "MindscopeShare" : "MindscopeNumber",
    cellRendererParams: { scale, unit, whole: WHOLE.has(name) },
  };
}

cellRenderers.MindscopeNumber = ({ value, scale, unit, whole, colDef }) => {
  if (value === null || value === undefined) return "";
  const share = unit === "%";
  const signed = colDef.field === "difference_ns" || colDef.field === "change";
  const plus = signed && value > 0 ? "+" : "";
  const amount = () => (!unit && Number.isInteger(value) ? count(value) : number(value / scale));
  const shown = share ? percent(value, { signed }) : `${plus}${whole ? value : amount()}`;
  const tone = !signed || !value ? "" : value > 0 ? "ms-operators-longer" : "ms-operators-shorter";
  return react("span", { title: `${value / (whole ? 1 : scale)}${share ? " %" : ""}`, className: tone }, shown);
};

cellRenderers.MindscopeShare = ({ value, data }) => {
  if (value === null || value === undefined || data.below) return value ? percent(value) : "";
  return react("span", { className: "ms-operators-share", title: `${100 * value} %` },
    react("span", { style: { width: `${Math.min(100, 100 * value)}%` } }), react("span", {}, percent(value)));
};

/**
 * A link to the first slice of an operator on the timeline, of an execution to its own; null without a trace.
 * @param {OperatorTable.Page} page
 */
function onTimeline(page, data) {
  if (!page.profile || !page.profile.frames.includes("trace") || !data.name) return null;
  const { run, profile, state } = page;
  const near = typeof data.start_ns === "number" && data.start_ns >= 0 ? { near: [String(data.start_ns)] } : {};
  const query = formatQuery({
    ...(state.run ? { run: state.run } : {}), of: [run.key], session: [profile.session], rank: [String(profile.rank)],
    first: [data.full_name || data.name], ...near,
  });
  const label = translate("operators.timeline");
  const href = `${page.root.dataset.routes.replace(/api\/$/, "")}timeline?${query}`;
  return react("a", { href, className: "ms-button ms-button-icon ms-operators-when", "data-page": "timeline",
    "data-query": query, title: label, "aria-label": label }, react("span", { className: "ms-icon ms-icon-timeline" }));
}

// Text cells: the first column opens types, and full names can be copied.
cellRenderers.MindscopeOperator = ({ value, data, colDef, api }) => {
  if (!data) return "";
  const root = api.getGridId && document.querySelector(".ms-operators");
  const page = root && pageOf(root.id);
  if (!page || !page.sheet) return value || "";
  const first = page.sheet.columns[0].name === colDef.field;
  if (data.more && first) {
    const show = () => page.change({ view: ["operators"], q: [data.of], in: ["type"], sort: [] });
    return react(
      "span",
      { className: "ms-operators-name ms-operators-below" },
      react(
        "button",
        { type: "button", className: "ms-operators-link", onClick: show },
        translate("operators.more", { n: count(data.more) }),
      ),
    );
  }
  const counters = page.sheet.view === "counters";
  if (data.below && first) {
    const name = counters && !data.name ? translate("efficiency.no_shape") : data.label || data.name;
    return react("span", { className: "ms-operators-name ms-operators-below", title: data.full_name },
      react("span", { className: "ms-cut ms-name" }, name), counters ? null : onTimeline(page, data));
  }
  if (colDef.field === "bound" && value) return translate(`operators.bound.${value}`);
  if (first && (counters || (page.sheet.view === "types" && !page.against))) {
    const opened = (page.state.open || []).includes(data.type);
    const toggle = () =>
      page.change({
        open: opened ? page.state.open.filter((one) => one !== data.type) : [...(page.state.open || []), data.type],
      });
    const label = translate(opened ? "operators.close" : "operators.open");
    return react(
      "span",
      { className: "ms-operators-name" },
      react(
        "button",
        {
          type: "button",
          className: "ms-button ms-button-icon",
          onClick: toggle,
          "aria-expanded": String(opened),
          "aria-label": label,
          title: label,
        },
        react("span", { className: `ms-icon ms-icon-${opened ? "down" : "right"}` }),
      ),
      react("span", { className: "ms-cut ms-name" }, value),
    );
  }
  if (colDef.field === "name" && value) {
    const text = react("span", { className: "ms-cut ms-name" }, data.label || value);
    return react("span", { className: "ms-operators-name" }, text, onTimeline(page, data));
  }
  if (colDef.field === "type" && value) return react("span", { className: "ms-cut ms-name" }, value);
  if (colDef.field === "input_shapes" && data.shapes > 1) {
    const show = () => page.change({ view: ["shapes"], q: [data.type], in: ["type"], sort: [] });
    return react(
      "button",
      { type: "button", className: "ms-operators-link", title: translate("operators.shapes_open"), onClick: show },
      translate("operators.shapes_n", { n: count(data.shapes) }),
    );
  }
  if (colDef.field === "stack" && value) return react("span", { title: value }, ownLine(value).replace(/^.*\//, ""));
  if (colDef.field === "full_name" && value) {
    const copy = () => navigator.clipboard && navigator.clipboard.writeText(value);
    return react(
      "button",
      {
        type: "button",
        className: "ms-operators-link ms-cut ms-name",
        title: `${value}\n${translate("operators.copy")}`,
        onClick: copy,
      },
      value,
    );
  }
  return value || "";
};

const LIBRARIES = ["site-packages", "dist-packages", "/lib/python", "<frozen"];

// The first line of a call stack in a file of the program itself; libraries call the operator.
export function ownLine(stack) {
  const lines = stack.split("\n").map((line) => line.trim().replace(/;$/, "")).filter(Boolean);
  return lines.find((line) => !LIBRARIES.some((part) => line.includes(part))) || lines[0] || "";
}

const pageOf = profiling.define("operators", { fields, build, draw });

// Called by Dash ----------------------------------------------------------------------------------------------------

/** @param {OperatorTable.Page} page */
function attach(page) {
  if (page.api || !window.dash_ag_grid) return Promise.resolve(page.api);
  return window.dash_ag_grid.getApiAsync(page.store("grid")).then((api) => {
    page.api = api;
    api.addEventListener("sortChanged", () => {
      const sorted = api.getColumnState().find((column) => column.sort);
      const wanted = sorted ? `${sorted.colId}:${sorted.sort}` : "";
      if (wanted && wanted !== page.sheet.sort.join(":")) page.change({ sort: [wanted] });
    });
    const renamed = () => api.isDestroyed() || nameSaved(page);  // a grid tells of its last model when the page is left
    for (const event of ["filterChanged", "modelUpdated"]) api.addEventListener(event, renamed);
    return api;
  });
}

Object.assign(functionsOf("mindscope_operators"), {
  columns(sheet, _prefs, rootId) {
    const page = pageOf(rootId);
    if (!page || !sheet) return noUpdate();
    drawSheet(page, sheet);
    const made = sheet.columns.map((column) => definition(page, column));
    const key = JSON.stringify(made.map(({ field, headerName }) => [field, headerName]));
    attach(page).then((api) => api && api.purgeInfiniteCache());
    if (key === page.columnKey) return noUpdate();
    page.columnKey = key;
    return made;
  },

  // Without kernels there is nothing to limit and nothing far from a median; without counters, no view of them.
  useful(facts, rootId) {
    const page = pageOf(rootId);
    if (!page || !facts) return;
    page.facts = facts;
    page.find(".ms-operators-use").hidden = page.find(".ms-operators-shortcuts").hidden = !facts.kernels;
    if (page.sheet) drawSheet(page, page.sheet);
  },

  roof(figure, _prefs, rootId) {
    const page = pageOf(rootId);
    if (!page) return noUpdate();
    page.find(".ms-operators-roof").hidden = !figure;
    for (const tool of page.root.querySelectorAll('[data-act="png-roofline"], [data-efficiency-csv="roofline"]')) {
      tool.hidden = !figure;
    }
    if (!figure) return noUpdate();
    const { colour, font } = files.coloursAt(page.root);
    const { layout } = figure;
    const lines = { gridcolor: colour("--ms-plot-grid"), zerolinecolor: colour("--ms-plot-zero") };
    const data = figure.data.map((trace) => (trace.meta.role === "others"
      ? { ...trace, name: translate("operators.said_others") } : trace));
    const [across, up] = layout.meta.axes.map((key) => ({ title: { text: translate(key) } }));
    return {
      data,
      layout: {
        ...layout, font: { ...layout.font, color: colour("--ms-text"), family: font },
        hoverlabel: { ...layout.hoverlabel, font: { color: colour("--ms-text") } },
        xaxis: { ...layout.xaxis, ...lines, ...across }, yaxis: { ...layout.yaxis, ...lines, ...up },
      },
    };
  },

  draw(figure, _prefs, rootId) {
    const page = pageOf(rootId);
    if (!page || !figure) return noUpdate();
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const { layout } = figure;
    const axis = (one) => one && { gridcolor: colour("--ms-plot-grid"), zerolinecolor: colour("--ms-plot-zero"), ...one };
    const hoverlabel = {
      bgcolor: colour("--ms-raised"),
      bordercolor: colour("--ms-line"),
      font: { color: colour("--ms-text") },
    };
    const font = { ...layout.font, color: colour("--ms-text"), family: colour("--ms-font") };
    const drawn = { ...layout, font, hoverlabel };
    for (const name of ["xaxis", "yaxis"]) if (layout[name]) drawn[name] = axis(layout[name]);
    return underneath(page, { ...figure, layout: drawn });
  },

  place(data, rootId) {
    const page = pageOf(rootId);
    if (page && data) drawScopes(page, data);
  },

  pressed(click, rootId) {
    const page = pageOf(rootId);
    const name = page && click && click.points[0] && click.points[0].customdata;
    if (name) page.change({ view: ["operators"], q: [String(name)], in: ["type"], sort: [] });
  },
});

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  const root = document.querySelector(".ms-operators");
  const page = root && pageOf(root.id);
  if (!page) return;
  if (key === "Escape" && profiling.get(page, "full")) page.change({ full: [] });
  if (key !== "f" || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (!(target instanceof Element) || takesText(target)) return;
  const card = target.closest(".ms-card");
  const name = CARDS.find((one) => card && card.classList.contains(`ms-operators-${one}-card`));
  if (name && page.root.contains(card)) full(page, name);
});
