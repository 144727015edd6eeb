// Runs over columns: axes, table and toolbars of both lineage pages. Counterpart of layouts/lineage.

import { cellRenderers, gridFunctions } from "../kit/ag_grid.js";
import { penOf } from "../kit/canvases.js";
import { coloursOf, handMark } from "../kit/colours.js";
import { listDamage } from "../kit/damage.js";
import { functionsOf, noUpdate, setProps } from "../kit/dash.js";
import { icon, iconButton, make, menu, pressSegment, segments, words } from "../kit/elements.js";
import * as files from "../kit/files.js";
import { escapeMarkup } from "../kit/markup.js";
import { cellText, count } from "../kit/units.js";
import { linkTo, nameIn, pagesOf } from "../kit/grid.js";
import { inLanguage, language, setLabel, translate, writeText } from "../kit/i18n.js";
import * as runNotes from "../kit/notes.js";
import { keeper } from "../kit/pages.js";
import { encode, matcher, selected } from "../kit/run_selection.js";
import { same } from "../kit/state.js";
import { brushes, filter, meaning, stretches } from "./brushes.js";
import {
  axesOf, chosen, colourOf, cut, differingOnly, fullOf, labelOf, pairOf, scaleOf, shortOf, sortOf, together,
  usualSort, viewOf,
} from "./columns.js";
import { drawKey } from "./key.js";
import { programmed } from "./programmed.js";
import * as scatter from "./scatter.js";

const MOST_AXES = 60;
const AXIS_WIDTH = 92;
const KEY_WIDTH = 104;
const FEWEST_AXES = 3;
const BETWEEN = 10;  // pixels between the titles of two axes
const WIDTH_STEP = 16;
const NOTES = ["remark", "tags"];
const nothing = () => noUpdate();

const { pages, pageOf } = keeper(() => /** @type {UndeclaredFields} */ ({
  sheet: null, runs: null, api: null, axes: [], passing: null, drawn: "", rows: [], room: 12, width: 1000,
}), (page) => {
  build(page);
  attach(page);
  measure(page);
  new ResizeObserver(() => measure(page)).observe(page.find(".ms-lineage-scroll"));
});

// Note the width of the plot: the number of axes by default and the lengths of their titles depend on it.
function measure(page) {
  const width = page.find(".ms-lineage-scroll").clientWidth;
  const stepped = Math.floor(width / WIDTH_STEP) * WIDTH_STEP;
  if (!width || stepped === page.stepped) return;
  const beside = page.find(".ms-lineage-plot").clientWidth - KEY_WIDTH;  // also before there is a key
  Object.assign(page, { stepped, width, room: Math.max(FEWEST_AXES, Math.floor(beside / AXIS_WIDTH)) });
  window.setTimeout(() => { if (page.root.isConnected) setProps(page.store("wide"), { data: stepped }); }, 0);
}

function take(page, state, sheet, runs) {
  page.state = state || {};
  page.runs = runs;
  if (sheet && sheet !== page.sheet) {
    page.sheet = sheet;
    page.columns = new Map(sheet.columns.map((column) => [column.name, column]));
    page.places = new Map(sheet.keys.map((key, i) => [key, i]));
  }
  return Boolean(page.sheet && page.runs);
}

// Selected runs; all by default.
function chosenKeys(page) {
  if (!page.state.run || !page.state.run.length) return page.sheet.keys;
  const chosenRuns = selected(page.state, page.runs);
  return page.sheet.keys.filter((key) => chosenRuns.has(key));
}

// Selected runs that are hidden.
function hidden(page) {
  const keys = new Set(chosenKeys(page));
  return (page.state.hide || []).filter((key) => keys.has(key));
}

// Runs that are not shown, regardless of brushes.
function absent(page) {
  const keys = new Set(chosenKeys(page));
  const out = new Set(page.state.hide || []);
  return page.sheet.keys.filter((key) => out.has(key) || !keys.has(key));
}

// Which of the columns remark and tags are shown: by default those that a run has something in.
function notesOf(page) {
  const { notes } = page.runs.notebook;
  const without = page.state.without || NOTES.filter((name) => !Object.values(notes).some((note) => note[name].length));
  return NOTES.filter((name) => !without.includes(name));
}

gridFunctions.mindscopeLineageBrushed = ({ api }) =>
  Array.from(pages.values()).some((page) => page.api === api && page.passing !== null);
gridFunctions.mindscopeLineagePasses = ({ data }) => data.members.some((key) => pages.get(data.root).passing.has(key));
gridFunctions.mindscopeLineageClass = ({ data, colDef, value }) => {
  const { columns } = pages.get(data.root);
  const { usual } = columns.get(colDef.colId.slice(1));
  const shown = Number.isNaN(value) ? "NaN" : value === undefined ? null : value;
  const odd
    = shown !== usual[0]
      && !(usual[0] === "Infinity" && value === Infinity)
      && !(usual[0] === "-Infinity" && value === -Infinity);
  const classes = [
    columns.get(colDef.colId.slice(1)).numeric && "ag-right-aligned-cell",
    odd && "ms-lineage-unusual",
    shown === null && "ms-lineage-absent",
  ];
  return classes.filter(Boolean).join(" ");
};
gridFunctions.mindscopeLineageNumber = (value, unit) => (typeof value === "number" ? cellText(value, unit) : "");
gridFunctions.mindscopeLineageExact = (value) => (value === null || value === undefined ? "" : String(value));

cellRenderers.MindscopeLineageRun = ({ data }) => {
  const element = (...args) => window.React.createElement(...args);
  const [first] = pagesOf(data);
  const name = nameIn(pages.get(data.root).runs.rows, data);
  if (data.members.length > 1) {
    return element(
      "span",
      { className: "ms-run", title: data.members.slice(0, 100).join("\n") },
      element("span", { className: "ms-dot", style: { background: data.colour } }),
      element(
        "span",
        { className: "ms-cut ms-run-name" },
        translate("data_lineage.of_runs", { n: count(data.members.length) }),
      ),
    );
  }
  return element("span", { className: "ms-run" },
    element("span", { className: "ms-dot", style: { background: data.colour } }),
    first ? linkTo(data, first, () => ({ className: "ms-cut ms-run-name", tabIndex: -1 }), name)
      : element("span", { className: "ms-cut", title: data.name }, name));
};

function rowsOf(page) {
  const gone = new Set(absent(page));
  const drawnIn = coloursOf(page.state, page.runs.rows);
  const jobs = new Map(page.runs.rows.flatMap((row) => row.members.map((key) => [key, [row, drawnIn.get(key)]])));
  const columns = page.sheet.columns.map(({ name, numeric, values }) => [name, numeric, values]);
  const marks = together(page) ? page.columns.get("dataset_mark").values : page.sheet.keys;
  const byMark = new Map();
  return page.sheet.keys.flatMap((key, i) => {
    if (gone.has(key)) return [];
    const known = byMark.get(marks[i]);
    if (known) {
      known.members.push(key);
      known.note = null;  // a note belongs to one run
      for (const [name, , values] of columns) if (values[i] !== values[page.places.get(known.key)]) known[`=${name}`] = null;
      return [];
    }
    const [job, colour] = jobs.get(key) || [{ tags: {} }, "var(--ms-muted)"];
    const note = runNotes.noteOf(page.runs.notebook, key);
    const row = { key, name: key, members: [key], root: page.root.id, tags: job.tags, colour, note };
    byMark.set(marks[i], row);
    for (const [name, numeric, values] of columns) {
      row[`=${name}`] = numeric && typeof values[i] === "string" ? Number(values[i]) : values[i];
    }
    return [row];
  });
}

function columnOf(page, column) {
  const label = labelOf(column);
  const pinned = (page.state.pin || []).includes(column.name);
  const common = {
    pinned: pinned ? "left" : null,
    ...(column.usual.length ? { cellClass: { function: "mindscopeLineageClass(params)" } } : {}),
    field: `=${column.name}`,
    colId: `=${column.name}`,
    headerName: cut(label, 60),
    headerTooltip: cut(column.name, 400),
    comparator: { function: "mindscopeOrder" },
    tooltipValueGetter: { function: "mindscopeLineageExact(params.value)" },
    initialWidth: Math.min(220, Math.max(column.numeric ? 96 : 120, 40 + 8 * cut(label, 24).length)),
  };
  if (!column.numeric) return { ...common, filter: "agTextColumnFilter" };
  return {
    ...common, type: "rightAligned", filter: "agNumberColumnFilter",
    valueFormatter: { function: `mindscopeLineageNumber(params.value, ${JSON.stringify(column.unit)})` },
  };
}

function columnDefs(page) {
  const shown = new Set(chosen(page));
  const run = {
    field: "name", colId: "name", headerName: translate("lineage.column.run"), pinned: "left", lockPinned: true,
    cellRenderer: "MindscopeLineageRun", initialWidth: 240, minWidth: 140, filter: "agTextColumnFilter",
  };
  const links = {
    field: "open", colId: "open", headerName: translate("lineage.column.open"), cellRenderer: "MindscopeLinks",
    initialWidth: 300, sortable: false, hide: !document.querySelector(".ms-shell"),
  };
  const groups = page.sheet.groups
    .map(([group, title]) => ({
      headerName: inLanguage(title),
      groupId: group,
      marryChildren: true,
      children: page.sheet.columns
        .filter((column) => column.group === group && shown.has(column.name))
        .map((column) => columnOf(page, column)),
    }))
    .filter((group) => group.children.length);
  const notes = {
    headerName: translate("notes.group"), groupId: "notes", marryChildren: true,
    children: runNotes.columns().filter(({ colId }) => notesOf(page).includes(colId)),
  };
  return [run, ...(notes.children.length ? [notes] : []), ...groups, links];
}

async function attach(page) {
  page.api = await window.dash_ag_grid.getApiAsync(page.root.dataset.grid);
  const events = ["filterChanged", "rowDataUpdated", "selectionChanged"];
  for (const name of events) page.api.addEventListener(name, () => drawSummary(page));
  runNotes.attach(page.api);
  page.api.addEventListener("sortChanged", ({ source }) => sorted(page, source));
  page.api.addEventListener("filterChanged", (event) => { if (event.source === "columnFilter") filtered(page); });
  page.api.addEventListener("columnPinned", (event) => { if (String(event.source).startsWith("ui")) pinned(page); });
  page.api.addEventListener("gridColumnsChanged", () => { resort(page); restore(page); });
  page.api.addEventListener("cellClicked", (event) => opened(page, event));
  page.api.addEventListener("cellKeyDown", (event) => { if (event.event && event.event.key === "Enter") opened(page, event); });
  page.api.addEventListener("rowDataUpdated", () => resort(page));
  resort(page);
  restore(page);
  refilter(page);
}

// Column filters of the state as models of AG Grid.
function filters(page) {
  const found = {};
  for (const text of page.state.filter || []) {
    try {
      const [name, model] = JSON.parse(text);
      if (typeof name === "string" && model && typeof model === "object" && page.api.getColumn(name)) found[name] = model;
    } catch {
      continue; // a damaged link
    }
  }
  return found;
}

function filtered(page) {
  const shown = Object.entries(page.api.getFilterModel()).map((pair) => JSON.stringify(pair));
  page.change({ filter: shown });
}

function restore(page) {
  if (!alive(page) || !page.api.getColumns()) return;
  const wanted = filters(page);
  if (!same(wanted, page.api.getFilterModel())) page.api.setFilterModel(wanted);
}

function pinned(page) {
  page.change({
    pin: page.api
      .getColumnState()
      .filter((one) => one.pinned && one.colId.startsWith("="))
      .map((one) => one.colId.slice(1)),
  });
}

// Clicking a cell of an operation opens its parameters.
function opened(page, { data, column }) {
  const of = page.columns.get(column.getColId().slice(1));
  const nodes = of && page.sheet.nodes && page.sheet.nodes[of.group];
  if (!nodes) return;
  const mark = page.columns.get("dataset_mark").values[page.places.get(data.key)];
  if (mark in nodes) page.change({ node: [`${mark}:${nodes[mark]}`] });
}

function alive(page) {
  return page.api && !page.api.isDestroyed();
}

function sortOfGrid(page) {
  return page.api.getColumnState().filter((one) => one.sort).sort((a, b) => a.sortIndex - b.sortIndex)
    .map((one) => `${one.sort === "desc" ? "-" : "+"}${one.colId}`);
}

function sorted(page, source) {
  const now = sortOfGrid(page);
  if (String(source).startsWith("ui")) {
    page.change({ sort: same(now, usualSort(page)) ? [] : now.length ? now : [""] });
  }
  drawSummary(page);
}

function resort(page) {
  if (!alive(page) || !page.sheet) return;
  const wanted = sortOf(page);
  if (same(wanted, sortOfGrid(page))) return;
  const state = wanted.map((text, sortIndex) => ({ colId: text.slice(1), sort: text[0] === "-" ? "desc" : "asc", sortIndex }));
  page.api.applyColumnState({ state, defaultState: { sort: null } });
}

function refilter(page) {
  page.passing = filter(page);
  if (alive(page)) page.api.onFilterChanged();
  if (scatter.mark) scatter.mark(page);
  drawSummary(page);
}

function shownKeys(page) {
  const keys = [];
  if (alive(page)) page.api.forEachNodeAfterFilterAndSort((node) => keys.push(...node.data.members));
  return keys;
}

function selectedKeys(page) {
  return alive(page) ? page.api.getSelectedRows().flatMap((row) => row.members) : [];
}

// Toolbars ----------------------------------------------------------------------------------------------------------

function button(key, act, tip) {
  const element = make("button", "ms-button", words(key), { type: "button", "data-act": act });
  if (tip) setLabel(element, "title", tip);
  return element;
}

function build(page) {
  page.count = make("span", "t");
  page.search = make("input", "ms-input ms-lineage-find", [], { type: "search" });
  for (const attribute of ["placeholder", "aria-label"]) setLabel(page.search, attribute, "lineage.find");
  page.search.addEventListener("input", () => list(page));
  page.list = make("div", "ms-lineage-list");
  const sets = make("div", "ms-lineage-sets", [
    button("lineage.default", "default"),
    button("lineage.all", "all"),
    button("lineage.clear", "clear"),
  ]);
  const opener = make("summary", "ms-button", [page.count, icon("down")]);
  setLabel(opener, "title", "lineage.columns_tip");
  page.chooser = menu(opener, [page.search, sets, page.list]);
  page.chooser.classList.add("ms-lineage-columns");
  page.chooser.addEventListener("toggle", () => { if (page.chooser.open) page.search.focus(); });
  page.differ = button("lineage.differing", "differ", "lineage.differing_tip");
  page.colour = make("select", "ms-input", [], { "data-control": "colour" });
  setLabel(page.colour, "aria-label", "lineage.colour");
  page.colour.addEventListener("change", () => {
    page.change({ colour: page.colour.value === page.sheet.colour ? [] : [page.colour.value] });
  });
  page.note = make("span", "ms-lineage-told");
  page.views = segments(
    "lineage.view",
    [
      ["", "lineage.view.axes"],
      ["matrix", "lineage.view.matrix"],
      ["scatter", "lineage.view.scatter"],
    ],
    (value) => page.change({ view: value ? [value] : [] }),
  );
  page.pair = ["x", "y"].map((key) => {
    const select = make("select", "ms-input", [], { "data-control": key });
    setLabel(select, "aria-label", `lineage.${key}`);
    select.addEventListener("change", () => page.change({ [key]: [select.value] }));
    return select;
  });
  page.pairFields = page.pair.map((select, i) =>
    make("label", "ms-field", [words(`lineage.${i ? "y" : "x"}`, {}, "span", "ms-field-name"), select]),
  );
  page
    .find(".ms-lineage-bar")
    .append(
      page.views,
      ...page.pairFields,
      page.chooser,
      page.differ,
      make("label", "ms-field", [words("lineage.colour", {}, "span", "ms-field-name"), page.colour]),
      page.note,
    );
  page.summary = make("span", "ms-lineage-told");
  page.acts = Object.fromEntries([
    ["unbrush", "lineage.unbrush"], ["keep", "lineage.keep"], ["hide", "lineage.hide"], ["unhide", "lineage.unhide"],
    ["everyone", "lineage.everyone", "lineage.everyone_tip"],
    ["together", "data_lineage.together", "data_lineage.together_tip"], ["choose", "lineage.choose", "lineage.choose_tip"],
    ["unchoose", "lineage.unchoose", "lineage.unchoose_tip"],
  ].map(([act, key, tip]) => [act, button(key, act, tip)]));
  page.marked = make("span", "ms-muted ms-cut");
  page.elsewhere = make("span", "ms-muted ms-cut");
  page.compare = make("a", "ms-button", words("data_lineage.compare"), { href: "#", "data-page": "dataset" });
  setLabel(page.compare, "title", "data_lineage.compare_tip");
  const summary = make("summary", "ms-button ms-button-icon", icon("download"));
  for (const attribute of ["title", "aria-label"]) setLabel(summary, attribute, "lineage.save");
  /** @type {HTMLElement[]} */
  const items = ["csv", "json"].map((kind) => {
    const link = make("a", "ms-menu-item", words(`lineage.save_${kind}`), { href: "#", "data-kind": kind, download: "" });
    link.addEventListener("click", () => { link.href = exported(page, kind); });
    return link;
  });
  const picture = make("button", "ms-menu-item", words("lineage.save_png"), { type: "button", "data-act": "png" });
  items.push(picture);
  page
    .find(".ms-lineage-rows")
    .append(
      page.summary,
      page.acts.unbrush,
      page.acts.keep,
      page.acts.hide,
      page.acts.unhide,
      page.acts.everyone,
      page.compare,
      page.acts.together,
      page.marked,
      make("span", "ms-grow"),
      page.elsewhere,
      page.acts.unchoose,
      page.acts.choose,
      menu(summary, items),
    );
  page.root.addEventListener("click", (event) => {
    const pressed = event.target instanceof Element && event.target.closest("[data-act]");
    if (pressed && acts[pressed.dataset.act]) acts[pressed.dataset.act](page, pressed);
  });
  const pane = page.find(".ms-lineage-detail");
  if (pane) {
    page.openGraph = make("a", "ms-button ms-button-small", words("data_lineage.open"), { href: "#", "data-page": "dataset" });
    pane.prepend(
      make("div", "ms-lineage-detail-bar", [
        page.openGraph,
        make("span", "ms-grow"),
        iconButton("close", "data_lineage.close", "unnode"),
      ]),
    );
    pane.addEventListener("click", (event) => {
      const jump = event.target instanceof Element && event.target.closest("[data-node]");
      if (jump) page.change({ node: [jump.dataset.node] });
    });
  }
  page.list.addEventListener("change", ({ target }) => {
    if (target.dataset.note) {
      const without = NOTES.filter((name) => (name === target.value ? !target.checked : !notesOf(page).includes(name)));
      page.change({ without: without.length ? without : [""] });
    } else pick(page, target.value, target.checked);
  });
}

const acts = {
  default: (page) => page.change({ col: [], without: [] }),
  all: (page) => page.change({ col: byAxis(page, page.sheet.columns.map((column) => column.name)), without: [""] }),
  clear: (page) => page.change({ col: [""], without: NOTES }),
  differ: (page) => page.change({ differ: differingOnly(page) ? [] : ["1"] }),
  log: (page, pressed) => {
    const { name } = pressed.dataset;
    const [log, linear] = ["log", "linear"].map((key) => (page.state[key] || []).filter((one) => one !== name));
    const usual = page.columns.get(name).scale;
    if (scaleOf(page, name) !== "linear") {
      if (usual !== "linear") linear.push(name);
    } else if (usual === "linear") log.push(name);
    page.change({ log, linear });
  },
  pin: (page, pressed) => {
    const { name } = pressed.dataset;
    const now = page.state.pin || [];
    page.change({ pin: now.includes(name) ? now.filter((one) => one !== name) : [...now, name] });
  },
  together: (page) => page.change({ together: together(page) ? [] : ["1"] }),
  png: (page) => savePicture(page),
  unnode: (page) => page.change({ node: [] }),
  unbrush: (page) => {
    page.change({ brush: [], filter: [] });
    restore(page);
  },
  keep: (page) => {
    const kept = new Set(selectedKeys(page));
    page.change({ hide: chosenKeys(page).filter((key) => !kept.has(key)) });
  },
  hide: (page) => page.change({ hide: [...hidden(page), ...selectedKeys(page)] }),
  unhide: (page) => page.change({ hide: [] }),
  everyone: (page) => page.change({ run: [] }),
  choose: (page) => {
    page.before = page.state.run || [];
    page.chosen = encode(new Set(shownKeys(page)), page.runs.rows);
    page.change({ run: page.chosen });
    drawSummary(page);
  },
  unchoose: (page) => {
    page.change({ run: page.before });
    page.before = undefined;
    drawSummary(page);
  },
};

// Sort columns in the order of the axes: settings first, results last.
function byAxis(page, names) {
  const place = (name) => page.sheet.axes.indexOf(page.columns.get(name).group);
  return [...names].sort((a, b) => place(a) - place(b));
}

function pick(page, name, on) {
  const now = page.state.col ? page.state.col.filter((one) => page.columns.has(one)) : page.sheet.default;
  const next = on ? byAxis(page, [...now, name]) : now.filter((one) => one !== name);
  page.change({ col: next.length ? next : [""] });
}

function list(page) {
  const shown = new Set(chosen(page));
  const test = matcher(page.search.value, false);
  const lines = page.sheet.groups.flatMap(([group, title]) => {
    const columns = page.sheet.columns.filter(
      (column) => column.group === group && test(`${column.name} ${column.label.join(" ")}`),
    );
    if (!columns.length) return [];
    return [make("h4", "", inLanguage(title)), ...columns.map((column) => line(page, column, shown.has(column.name)))];
  });
  const notes = NOTES.filter((name) => test(`${name} ${translate(`notes.${name}`)}`)).map((name) => noteLine(page, name));
  if (notes.length) lines.unshift(make("h4", "", words("notes.group")), ...notes);
  page.list.replaceChildren(...lines);
}

function line(page, column, on) {
  const box = make("input", "", [], { type: "checkbox", value: column.name });
  box.checked = on;
  /** @type {HTMLElement[]} */
  const parts = [make("label", "", [box, make("span", "ms-cut", cut(labelOf(column), 200), { title: cut(column.name, 400) })])];
  const scale = scaleOf(page, column.name);
  const pin = iconButton("pin", "lineage.pin", "pin");
  pin.dataset.name = column.name;
  pin.setAttribute("aria-pressed", String((page.state.pin || []).includes(column.name)));
  if (on) parts.push(pin);
  if (column.numeric && (column.scale !== "linear" || column.values.some((value) => value > 0))) {
    const press = button(
      scale === "symlog" ? "lineage.symlog" : "lineage.log",
      "log",
      scale === "symlog" ? "lineage.symlog_tip" : "lineage.log_tip",
    );
    press.classList.add("ms-button-small");
    press.dataset.name = column.name;
    press.setAttribute("aria-pressed", String(scale !== "linear"));
    parts.push(press);
  }
  return make("div", "ms-lineage-column", parts);
}

function noteLine(page, name) {
  const box = make("input", "", [], { type: "checkbox", value: name, "data-note": name });
  box.checked = notesOf(page).includes(name);
  return make("div", "ms-lineage-column", [make("label", "", [box, words(`notes.${name}`)])]);
}

function colourChoices(page) {
  const option = (value, text) => {
    const element = make("option", "", text, { value });
    return element;
  };
  const fixed = [option("run", translate("lineage.colour.run")), option("none", translate("lineage.colour.none"))];
  const columns = () =>
    page.sheet.columns.filter((column) => column.axis).map((column) => option(column.name, cut(fullOf(column), 60)));
  page.colour.replaceChildren(...fixed, ...columns());
  for (const select of page.pair) select.replaceChildren(...columns());
}

// Key of a run -> key of its job, or of itself.
function jobsOf(page) {
  if (page.jobsIn !== page.runs.rows) {
    page.jobsIn = page.runs.rows;
    page.jobs = new Map(page.runs.rows.flatMap((row) => row.members.map((key) => [key, row.key])));
  }
  return (key) => page.jobs.get(key) || key;
}

function drawSummary(page) {
  if (!page.sheet || !page.runs) return;
  const total = page.sheet.keys.length;
  const here = chosenKeys(page).length;
  const gone = hidden(page).length;
  const shown = alive(page) ? shownKeys(page).length : here - gone;
  const some = selectedKeys(page).length > 0;
  const jobs = jobsOf(page);
  const all = new Set(page.sheet.keys.map(jobs)).size;
  const values = { n: count(shown), total: count(total), all: count(all) };
  if (here && all < total) {
    const keys = alive(page) ? shownKeys(page) : chosenKeys(page);
    writeText(page.summary, "lineage.shown_ranks", { ...values, runs: count(new Set(keys.map(jobs)).size) });
    setLabel(page.summary, "title", "lineage.ranks_tip");
  } else writeText(page.summary, here ? "lineage.shown" : "lineage.none_chosen", values);
  page.acts.unbrush.hidden = page.passing === null && !(page.state.filter || []).length;
  page.acts.together.hidden = !page.sheet.nodes;
  const { left } = page.sheet;
  if (left && left.runs + left.columns) {
    writeText(page.marked, "data_lineage.left", { runs: count(left.runs), columns: count(left.columns) });
  } else if (left) writeText(page.marked, "data_lineage.tip");
  page.acts.together.setAttribute("aria-pressed", String(together(page)));
  const on = page.before !== undefined && same(page.state.run, page.chosen);
  page.acts.everyone.hidden = on || here === total;
  writeText(page.acts.everyone.firstElementChild, "lineage.everyone", { n: count(total) });
  page.acts.unchoose.hidden = !on;
  page.acts.choose.hidden = on;
  if (on) writeText(page.elsewhere, "lineage.chosen", { n: count(page.state.run.length === 0 ? 0 : shown) });
  else page.elsewhere.replaceChildren();
  const target = document.querySelector('.ms-menu-link[data-page="dataset"]');
  const compared = selectedKeys(page);
  page.compare.hidden = !(page.sheet.nodes && target && compared.length > 1);
  if (!page.compare.hidden) {
    page.compare.href = `${target.getAttribute("href")}?${new URLSearchParams(compared.map((key) => ["run", key]))}`;
  }
  page.acts.keep.hidden = page.acts.hide.hidden = !some;
  page.acts.unhide.hidden = gone === 0;
  writeText(page.acts.unhide.firstElementChild, "lineage.unhide", { n: count(gone) });
}

function furnish(page) {
  page.root.classList.remove("ms-lineage-waiting");
  const none = page.sheet.keys.length === 0;
  page.root.classList.toggle("ms-lineage-empty", none);
  const damaged = none && page.sheet.damage.length > 0;
  page.find(".ms-lineage-none").hidden = !none || damaged;
  page.find(".ms-lineage-damaged").hidden = !damaged;
  listDamage(page.root, page.sheet.damage);
  const view = viewOf(page);
  pressSegment(page.views, view);
  page.root.classList.toggle("ms-lineage-scattered", view !== "");
  page.root.classList.toggle("ms-lineage-tall", view === "matrix");
  for (const field of page.pairFields) field.hidden = view !== "scatter";
  const axes = axesOf(page).length;
  const columns = chosen(page).length;
  writeText(page.count, "lineage.columns", { n: columns, total: page.sheet.columns.length });
  page.differ.setAttribute("aria-pressed", String(differingOnly(page)));
  const hint = scatter.hint(page);
  if (view) writeText(page.note, ...hint);
  else if (axes > MOST_AXES) writeText(page.note, "lineage.too_many", { n: MOST_AXES, total: columns });
  else writeText(page.note, axes ? "lineage.brush_tip" : "lineage.no_axes");
  const shape = JSON.stringify([
    chosen(page),
    notesOf(page),
    page.state.log,
    page.state.linear,
    page.state.pin,
    page.sheet.stamp,
    language(),
  ]);
  if (shape !== page.listed) {
    page.listed = shape;
    list(page);
    colourChoices(page);
  }
  page.colour.value = colourOf(page);
  page.pair.forEach((select, i) => { select.value = pairOf(page)[i]; });
}

// Save the plot above the table.
async function savePicture(page) {
  const background = window.getComputedStyle(page.root).getPropertyValue("--ms-card").trim();
  if (viewOf(page)) {
    const source = page.find(".ms-lineage-scatter canvas");
    const copy = make("canvas", "", [], { width: source.width, height: source.height });
    const pen = penOf(copy);
    pen.fillStyle = background;
    pen.fillRect(0, 0, copy.width, copy.height);
    pen.drawImage(source, 0, 0);
    files.save(copy.toDataURL("image/png"), "lineage.png");
    return;
  }
  const plot = page.find(".js-plotly-plot");
  const { clientWidth: width, clientHeight: height } = plot;
  const layout = { ...plot.layout, width, height, paper_bgcolor: background };
  await files.saveFigure({ data: plot.data, layout }, "png", "lineage", width, height);
}

function exported(page, kind) {
  const query = new URLSearchParams();
  const shown = new Set(chosen(page));
  if (Object.keys(page.runs.notebook.notes).length) for (const name of notesOf(page)) query.append("col", name);
  for (const { name } of page.sheet.columns) if (shown.has(name)) query.append("col", name);
  const keys = shownKeys(page);
  const all = keys.length === page.sheet.keys.length && !page.state.sort;
  if (!all && !same(keys, page.sheet.keys)) for (const key of keys) query.append("run", key);
  return `${page.root.dataset.export}.${kind}?${query}`;
}

// Callbacks ---------------------------------------------------------------------------------------------------------

// The figure with colours of the theme, brushes, and names in the current language.
function dressed(page) {
  const figure = structuredClone(page.figure);
  const style = window.getComputedStyle(page.root);
  const colour = (name) => style.getPropertyValue(name).trim();
  const wanted = brushes(page);
  const [trace] = figure.data;
  const font = { family: colour("--ms-font"), color: colour("--ms-muted"), size: 11 };
  const { margin } = figure.layout;
  const plotWidth = Math.max(page.width, trace.dimensions.length * AXIS_WIDTH) - margin.l - margin.r;
  const apart = plotWidth / Math.max(1, trace.dimensions.length - 1) - BETWEEN;
  trace.dimensions.forEach((dimension, i) => {
    const axis = figure.layout.meta.axes[i];
    const scale = axis.scale === "linear" ? "" : ` (${translate(`lineage.${axis.scale}`)})`;
    const beside = i === 0 ? margin.l : i === trace.dimensions.length - 1 ? margin.r : Infinity;
    dimension.label = escapeMarkup(titleWithin(page, shortOf(page, axis.name), scale, Math.min(apart, 2 * beside - 4)));
    dimension.ticktext = dimension.ticktext.map((text) =>
      text === "missing" && "missing" in axis.apart ? translate("lineage.apart.missing") : text,
    );
    if (!wanted.has(axis.name)) return;
    const parts = stretches(axis, wanted.get(axis.name));
    if (parts.length) dimension.constraintrange = parts;
  });
  Object.assign(trace, {
    labelfont: { ...font, size: 12, color: colour("--ms-text") },
    tickfont: font,
    rangefont: { ...font, size: 1, color: "rgba(0,0,0,0)" },
    unselected: { line: { color: colour("--ms-line-strong"), opacity: 0.35 } },
  });
  figure.layout.meta.turn = page.turn;
  Object.assign(figure.layout, { paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font });
  return figure;
}

// The title of an axis, its name shortened so that all of it fits into a width in pixels.
function titleWithin(page, name, scale, width) {
  page.pen = page.pen || penOf(document.createElement("canvas"));
  page.pen.font = `500 12px ${window.getComputedStyle(page.root).getPropertyValue("--ms-font").trim()}`;
  for (let longest = Math.min(name.length, 60); longest > 2; longest -= 1) {
    const title = `${middle(name, longest)}${scale}`;
    if (page.pen.measureText(title).width <= width) return title;
  }
  return middle(name, 3);
}

// A text with its middle left out, so that names that begin alike stay different.
function middle(text, longest) {
  if (text.length <= longest) return text;
  const end = Math.floor((longest - 1) / 2);
  return `${text.slice(0, longest - 1 - end)}…${end ? text.slice(-end) : ""}`;
}

Object.assign(functionsOf("mindscope_lineage"), {
  plan(state, sheet, prefs, runs, _wide, ask, rootId) {
    const page = pageOf(rootId);
    if (!page || !take(page, state, sheet, runs)) return nothing();
    furnish(page);
    const axes = axesOf(page).slice(0, MOST_AXES);
    const more = viewOf(page) === "scatter" ? pairOf(page).filter((name) => name && !axes.includes(name)) : [];
    const next = {
      col: [...more, ...axes].slice(0, MOST_AXES),
      mark: [page.sheet.stamp],
      theme: [prefs ? prefs.theme : "light"],
    };
    for (const key of ["log", "linear"]) if (page.state[key]) next[key] = page.state[key];
    if (absent(page).length) next.hide = absent(page);
    if (colourOf(page) === "run") {
      next.hand = [handMark(runs.rows)];
      if (page.state.run) next.run = page.state.run;
    }
    if (colourOf(page) !== "none") next.colour = [colourOf(page)];
    page.find(".ms-lineage-wide").style.minWidth = `${Math.max(0, next.col.length * AXIS_WIDTH)}px`;
    return same(next, ask) ? nothing() : next;
  },

  fill(state, sheet, _prefs, runs, rootId) {
    const page = pageOf(rootId);
    if (!page || !take(page, state, sheet, runs)) return [nothing(), nothing()];
    const lang = language();
    const rowMark = JSON.stringify([
      sheet.stamp,
      absent(page),
      together(page),
      lang,
      runs.rows.map((row) => [row.key, row.tags, row.colours, row.hand]),
      page.state.run,
      runs.notebook.notes,
    ]);
    const columnMark = JSON.stringify([sheet.stamp, chosen(page).slice().sort(), notesOf(page), page.state.pin, lang]);
    const rows = rowMark === page.rowMark ? nothing() : rowsOf(page);
    const columns = columnMark === page.columnMark ? nothing() : columnDefs(page);
    Object.assign(page, { rowMark, columnMark });
    window.setTimeout(() => { resort(page); restore(page); }, 0);
    return [rows, columns];
  },

  async draw(figure, state, sheet, prefs, runs, _wide, rootId) {
    await programmed();
    const page = pageOf(rootId);
    if (!page || !figure || !take(page, state, sheet, runs)) return nothing();
    if (!figure.layout.meta.axes.every(({ name }) => page.columns.has(name))) return nothing();
    page.figure = figure;
    refilter(page);
    drawKey(page.find(".ms-lineage-key"), figure.layout.meta.key, page);
    page.root.classList.toggle("ms-lineage-drawn", true);
    if (viewOf(page)) {
      page.drawnFigure = null;
      scatter.scatter(page);
      return nothing();
    }
    const look = [prefs && prefs.theme, language(), page.state.brush || [], page.stepped];
    // Dash drops outdated answers, so check what the plot actually shows.
    const { layout } = page.find(".js-plotly-plot") || {};
    const there = Boolean(layout && layout.meta && layout.meta.turn === page.turn);
    if (there && page.drawnFigure === figure && same(look, page.look)) return nothing();
    Object.assign(page, { drawnFigure: figure, look, turn: (page.turn || 0) + 1 });
    return dressed(page);
  },

  // The operation that is open beside the table.
  node(state, sheet, known, rootId) {
    const page = pageOf(rootId);
    if (!page || !sheet) return nothing();
    const node = (state && state.node) || [];
    page.find(".ms-lineage-detail").hidden = !node.length;
    const target = document.querySelector('.ms-menu-link[data-page="dataset"]');
    const marks = sheet.columns.find(({ name }) => name === "dataset_mark");
    const run = node.length && marks ? sheet.keys[marks.values.indexOf(node[0].split(":")[0])] : undefined;
    page.openGraph.hidden = !target || run === undefined;
    if (!page.openGraph.hidden) {
      page.openGraph.href = `${target.getAttribute("href")}?${new URLSearchParams({ run, node: node[0] })}`;
    }
    return !node.length || same(known, { node }) ? nothing() : { node };
  },

  // A brush was changed or an axis dragged.
  moved(_change, rootId) {
    const page = pageOf(rootId);
    const plot = page && page.find(".js-plotly-plot");
    if (!plot || !plot.data || !plot.data.length || !page.figure) return;
    const axes = new Map(page.figure.layout.meta.axes.map((axis) => [axis.name, axis]));
    const dimensions = plot.data[0].dimensions.filter((dimension) => axes.has(dimension.name));
    const brush = dimensions.filter((one) => one.constraintrange && one.constraintrange.length).map((one) => {
      const ranges = Array.isArray(one.constraintrange[0]) ? one.constraintrange : [one.constraintrange];
      const { ranges: values, names } = meaning(axes.get(one.name), ranges);
      return JSON.stringify([one.name, values, names]);
    });
    const changes = {};
    if (!same(brush.slice().sort(), (page.state.brush || []).slice().sort())) changes.brush = brush;
    const order = dimensions.map((one) => one.name);
    if (!same(order, page.figure.layout.meta.axes.map(({ name }) => name))) {
      changes.col = [...order, ...chosen(page).filter((name) => !order.includes(name))];
    }
    if (!Object.keys(changes).length) return;
    // the plot already shows its brushes
    if (changes.brush && page.look) page.look = [page.look[0], page.look[1], changes.brush, page.stepped];
    page.change(changes);
  },
});
