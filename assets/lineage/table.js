// The grid below the plot: its rows, columns, order and filters.

import { coloursOf } from "../kit/colours.js";
import { count } from "../kit/units.js";
import { linkTo, nameIn, pagesOf } from "../kit/grid.js";
import { inLanguage, translate } from "../kit/i18n.js";
import { namesIn, needOf } from "../kit/name_elements.js";
import * as runNotes from "../kit/notes.js";
import { same } from "../kit/state.js";
import { filter } from "./brushes.js";
import { chosen, columnNamed, cut, labelOf, sortOf, together, usualSort } from "./columns.js";
import * as scatter from "./scatter.js";
import { absent, alive, notesOf } from "./shown_runs.js";
import { drawSummary } from "./summary.js";

const LEAST_NAME_PX = 240;
const PHONE_PX = 600;  // of the window
const NARROW_NAME_PX = 140;
const MOST_PINNED_PX = 200;
const BESIDE_NAME_PX = 56;  // of mark and margins of a cell
const BESIDE_LABEL_PX = 36;  // of a heading, with an arrow where it is sorted
const BESIDE_SORTED_PX = 52;
const LINK_PX = 28;
const BESIDE_LINKS_PX = 24;
const MOST_LINKS = 3;  // of a run; the first one is the overview, which has the others

/**
 * @param {Lineage.Page} page
 * @param {string} name
 * @param {Lineage.Value | undefined} value
 */
export function cellClass(page, name, value) {
  const { numeric, usual: [usual] } = columnNamed(page, name);
  const shown = Number.isNaN(value) ? "NaN" : value === undefined ? null : value;
  const isUsual = shown === usual || (typeof value === "number" && String(value) === usual);
  return [
    numeric ? "ag-right-aligned-cell" : "", isUsual ? "" : "ms-lineage-unusual", shown === null ? "ms-lineage-absent" : "",
  ].filter(Boolean).join(" ");
}

/**
 * @param {Lineage.Page} page
 * @param {Lineage.Row} row
 */
export function runCell(page, row) {
  const element = window.React.createElement;
  const [first] = pagesOf(row);
  const name = nameIn(page.runs.rows, row);
  const dot = element("span", { className: "ms-dot", style: { background: row.colour } });
  if (row.members.length > 1) {
    const text = translate("data_lineage.of_runs", { n: count(row.members.length) });
    return element("span", { className: "ms-run", title: row.members.slice(0, 100).join("\n") }, dot,
      element("span", { className: "ms-cut ms-run-name" }, text));
  }
  return element("span", { className: "ms-run" }, dot,
    first ? linkTo(row, first, () => ({ className: "ms-cut ms-run-name", tabIndex: -1 }), name)
      : element("span", { className: "ms-cut", title: row.name }, name));
}

/**
 * @param {Lineage.Page} page
 * @returns {Lineage.Row[]}
 */
export function rowsOf(page) {
  const { keys, columns } = page.sheet;
  const gone = new Set(absent(page));
  const drawnIn = coloursOf(page.state, page.runs.rows);
  const jobs = new Map(page.runs.rows.flatMap((row) => row.members.map((key) => [key, row])));
  const marks = together(page) ? columnNamed(page, "dataset_mark").values : keys;
  /** @type {Map<Lineage.Value, { row: Lineage.Row, place: number }>} */
  const byMark = new Map();
  keys.forEach((key, i) => {
    if (gone.has(key)) return;
    const known = byMark.get(marks[i]);
    if (known) {
      known.row.members.push(key);
      known.row.note = null;  // a note belongs to one run
      for (const { name, values } of columns) if (values[i] !== values[known.place]) known.row[`=${name}`] = null;
      return;
    }
    const job = jobs.get(key);
    /** @type {Lineage.Row} */
    const row = {
      key, name: key, members: [key], root: page.root.id, tags: job ? job.tags : {},
      colour: job ? drawnIn.get(key) : "var(--ms-muted)", note: runNotes.noteOf(page.runs.notebook, key),
    };
    byMark.set(marks[i], { row, place: i });
    for (const { name, numeric, values } of columns) {
      row[`=${name}`] = numeric && typeof values[i] === "string" ? Number(values[i]) : values[i];
    }
  });
  return Array.from(byMark.values(), ({ row }) => row);
}

/**
 * @param {Lineage.Page} page
 * @param {Lineage.Column} column
 */
function columnOf(page, column) {
  const label = labelOf(column);
  const pinned = (page.state.pin || []).includes(column.name);
  const beside = sortOf(page).some((text) => text.slice(1) === `=${column.name}`) ? BESIDE_SORTED_PX : BESIDE_LABEL_PX;
  const common = {
    pinned: pinned ? "left" : null,
    ...(column.usual.length ? { cellClass: { function: "mindscopeLineageClass(params)" } } : {}),
    field: `=${column.name}`,
    colId: `=${column.name}`,
    headerName: cut(label, 60),
    headerTooltip: cut(column.name, 400),
    comparator: { function: "mindscopeOrder" },
    tooltipValueGetter: { function: "mindscopeLineageExact(params)" },
    initialWidth: Math.min(220, Math.max(column.numeric ? 76 : 100, beside + 7 * cut(label, 24).length)),
  };
  if (!column.numeric) return { ...common, filter: "agTextColumnFilter", cellRenderer: "MindscopeText" };
  return {
    ...common, type: "rightAligned", filter: "agNumberColumnFilter",
    valueFormatter: { function: `mindscopeLineageNumber(params.value, '${column.group}', ${JSON.stringify(column.unit)})` },
    cellClassRules: { "ms-bad-number": { function: "mindscopeLineageWrong(params.value)" } },
  };
}

/**
 * What names need to be told apart, at most half of the window. On a phone wide names scroll with the other columns, as those
 * would have no room beside them.
 * @param {Lineage.Page} page
 */
function nameColumn(page) {
  const font = `13px ${getComputedStyle(document.documentElement).getPropertyValue("--ms-font")}`;
  const room = document.documentElement.clientWidth;
  const names = namesIn(page.runs.rows);
  if (room <= PHONE_PX) {
    const width = Math.max(NARROW_NAME_PX, needOf(names, font, true) + BESIDE_NAME_PX);
    return { initialWidth: width, ...(width > MOST_PINNED_PX ? {} : { pinned: "left" }) };
  }
  const width = Math.max(LEAST_NAME_PX, Math.min(needOf(names, font) + BESIDE_NAME_PX, 0.5 * room));
  return { initialWidth: width, pinned: "left" };
}

/** @param {Lineage.Page} page */
export function columnDefs(page) {
  const shown = new Set(chosen(page));
  const run = {
    field: "name", colId: "name", headerName: translate("lineage.column.run"), lockPinned: true,
    cellRenderer: "MindscopeLineageRun", ...nameColumn(page), minWidth: 140, filter: "agTextColumnFilter",
  };
  const links = {
    field: "open", colId: "open", headerName: translate("lineage.column.open"), cellRenderer: "MindscopeLinks",
    cellRendererParams: { most: MOST_LINKS }, initialWidth: (MOST_LINKS + 1) * LINK_PX + BESIDE_LINKS_PX,
    sortable: false, hide: !document.querySelector(".ms-shell"),
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
    children: runNotes.columns().filter(({ colId }) => notesOf(page).some((name) => name === colId)),
  };
  return [run, ...(notes.children.length ? [notes] : []), ...groups, links];
}

/** @param {Lineage.Page} page */
export async function attach(page) {
  page.api = await window.dash_ag_grid.getApiAsync(String(page.root.dataset.grid));
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

/**
 * Column filters of the state as models of AG Grid.
 * @param {Lineage.Page} page
 */
function filters(page) {
  /** @type {Record<string, object>} */
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

/** @param {Lineage.Page} page */
function filtered(page) {
  const shown = Object.entries(page.api.getFilterModel() || {}).map((pair) => JSON.stringify(pair));
  page.change({ filter: shown });
}

/** @param {Lineage.Page} page */
export function restore(page) {
  if (!alive(page) || !page.api.getColumns()) return;
  const wanted = filters(page);
  if (!same(wanted, page.api.getFilterModel())) page.api.setFilterModel(wanted);
}

/** @param {Lineage.Page} page */
function pinned(page) {
  page.change({
    pin: page.api
      .getColumnState()
      .filter((one) => one.pinned && one.colId.startsWith("="))
      .map((one) => one.colId.slice(1)),
  });
}

/**
 * Clicking a cell of an operation opens its parameters.
 * @param {Lineage.Page} page
 * @param {GridEvent} event
 */
function opened(page, { data, column }) {
  const of = page.columns.get(column.getColId().slice(1));
  const nodes = of && page.sheet.nodes && page.sheet.nodes[of.group];
  if (!nodes) return;
  const mark = String(columnNamed(page, "dataset_mark").values[/** @type {number} */ (page.places.get(data.key))]);
  if (mark in nodes) page.change({ node: [`${mark}:${nodes[mark]}`] });
}

/** @param {Lineage.Page} page */
function sortOfGrid(page) {
  return page.api.getColumnState().filter((one) => one.sort).sort((a, b) => a.sortIndex - b.sortIndex)
    .map((one) => `${one.sort === "desc" ? "-" : "+"}${one.colId}`);
}

/**
 * @param {Lineage.Page} page
 * @param {unknown} source
 */
function sorted(page, source) {
  const now = sortOfGrid(page);
  if (String(source).startsWith("ui")) {
    page.change({ sort: same(now, usualSort(page)) ? [] : now.length ? now : [""] });
  }
  drawSummary(page);
}

/** @param {Lineage.Page} page */
export function resort(page) {
  if (!alive(page) || !page.sheet) return;
  const wanted = sortOf(page);
  if (same(wanted, sortOfGrid(page))) return;
  const state = wanted.map((text, sortIndex) => ({ colId: text.slice(1), sort: text[0] === "-" ? "desc" : "asc", sortIndex }));
  page.api.applyColumnState({ state, defaultState: { sort: null } });
}

/** @param {Lineage.Page} page */
export function refilter(page) {
  page.passing = filter(page);
  if (alive(page)) page.api.onFilterChanged();
  if (scatter.mark) scatter.mark(page);
  drawSummary(page);
}
