// Runs over columns: the pages of lineage. Counterpart of layouts/lineage.

import { cellRenderers, gridFunctions } from "../kit/ag_grid.js";
import { penOf } from "../kit/canvases.js";
import { handMark } from "../kit/colours.js";
import { functionsOf, noUpdate } from "../kit/dash.js";
import { make } from "../kit/elements.js";
import { inLanguage, language } from "../kit/i18n.js";
import { keeper, notYet } from "../kit/pages.js";
import { same } from "../kit/state.js";
import { cellText, number } from "../kit/units.js";
import { AXIS_WIDTH, brushed, dressed, measure } from "./axes.js";
import { meaning } from "./brushes.js";
import { axesOf, chosen, colourOf, columnNamed, cut, fullOf, pairOf, together, valueText, viewOf } from "./columns.js";
import { drawKey } from "./key.js";
import { parallelPlot } from "./parallel.js";
import * as scatter from "./scatter.js";
import { absent, notesOf } from "./shown_runs.js";
import { attach, cellClass, columnDefs, refilter, resort, restore, rowsOf, runCell } from "./table.js";
import { MOST_AXES, build, furnish } from "./toolbars.js";

const nothing = () => noUpdate();

/**
 * @param {HTMLElement} _root
 * @param {Lineage.Page} page
 * @returns {OwnFields<Lineage.Page>}
 */
const fresh = (_root, page) => ({
  sheet: notYet, runs: notYet, api: notYet, columns: new Map(), places: new Map(), figure: notYet, passing: null,
  tools: build(page), board: notYet, pen: penOf(document.createElement("canvas")), width: 1000, stepped: 0, room: 12,
  listed: "", rowMark: "", columnMark: "", drawnFigure: null, look: null, plot: notYet, chosen: [], before: undefined,
  jobs: new Map(), jobsIn: null,
});

const { pages, pageOf } = keeper(fresh, (page) => {
  page.plot = parallelPlot(page.find(".ms-lineage-axes"), actsOf(page));
  attach(page);
  measure(page);
  new ResizeObserver(() => measure(page)).observe(page.find(".ms-lineage-scroll"));
});

/**
 * What is done with the lines: brushes and the order of axes are in the state.
 * @param {Lineage.Page} page
 * @returns {Lineage.ParallelActs}
 */
const actsOf = (page) => ({
  brushed(stretches) {
    const brush = page.figure.layout.meta.axes.flatMap((axis) => {
      const parts = stretches.get(axis.name);
      if (!parts) return [];
      const { ranges, names } = meaning(axis, parts);
      return [JSON.stringify([axis.name, ranges, names])];
    });
    if (same(brush, page.state.brush || [])) return;
    // the plot already shows its brushes
    if (page.look) page.look = [page.look[0], page.look[1], brush, page.stepped];
    page.change({ brush });
  },
  reordered: (order) => page.change({ col: [...order, ...chosen(page).filter((name) => !order.includes(name))] }),
  opened: (row) => scatter.show(page, page.figure.layout.meta.keys[row]),
  tip(row, colour) {
    const key = page.figure.layout.meta.keys[row];
    const dot = make("span", "ms-dot");
    dot.style.background = colour;
    const lines = page.figure.layout.meta.axes.map(({ name }) => {
      const column = columnNamed(page, name);
      return make("div", "ms-lineage-tip-line", [
        make("span", "ms-muted", cut(fullOf(column), 40)),
        make("span", "", valueText(column, /** @type {number} */ (page.places.get(key)))),
      ]);
    });
    return [make("div", "ms-run", [dot, make("span", "ms-cut ms-name", key)]), ...lines];
  },
});

/**
 * @param {Lineage.Page} page
 * @param {Wire.Query | null} state
 * @param {Lineage.Sheet | null} sheet
 * @param {RunList | null} runs
 */
function take(page, state, sheet, runs) {
  page.state = state || {};
  if (runs) page.runs = runs;
  if (sheet && sheet !== page.sheet) {
    page.sheet = sheet;
    page.columns = new Map(sheet.columns.map((column) => [column.name, column]));
    page.places = new Map(sheet.keys.map((key, i) => [key, i]));
  }
  return Boolean(page.sheet && runs);
}

/**
 * The page of a row; rows are made by pages on screen.
 * @param {Lineage.Row} row
 */
const ownerOf = (row) => /** @type {Lineage.Page} */ (pages.get(row.root));

gridFunctions.mindscopeLineageBrushed = ({ api }) =>
  Array.from(pages.values()).some((page) => page.api === api && page.passing !== null);
gridFunctions.mindscopeLineagePasses = ({ data }) => {
  const { passing } = ownerOf(data);
  return passing === null || data.members.some((/** @type {string} */ key) => passing.has(key));
};
gridFunctions.mindscopeLineageClass = ({ data, colDef, value }) => cellClass(ownerOf(data), colDef.colId.slice(1), value);
// A setting is written as it is; of results every number of a column has four digits.
gridFunctions.mindscopeLineageNumber = (value, group, unit) => {
  if (typeof value !== "number") return "";
  return group === "metric" ? number(value) : cellText(value, unit);
};
gridFunctions.mindscopeLineageWrong = (value) => typeof value === "number" && !Number.isFinite(value);
gridFunctions.mindscopeLineageExact = ({ data, colDef, value }) => {
  const { tips = {} } = ownerOf(data).sheet;
  const tip = (tips[data.key] || {})[colDef.colId.slice(1)];
  return tip ? inLanguage(tip) : value === null || value === undefined ? "" : String(value);
};

cellRenderers.MindscopeLineageRun = ({ data }) => runCell(ownerOf(data), data);

Object.assign(functionsOf("mindscope_lineage"), {
  /**
   * @param {Wire.Query | null} state
   * @param {Lineage.Sheet | null} sheet
   * @param {Preferences | null} prefs
   * @param {RunList | null} runs
   * @param {number | null} _wide
   * @param {Wire.Query | null} ask
   * @param {string} rootId
   */
  plan(state, sheet, prefs, runs, _wide, ask, rootId) {
    const page = pageOf(rootId);
    if (!page || !take(page, state, sheet, runs)) return nothing();
    furnish(page);
    const axes = axesOf(page).slice(0, MOST_AXES);
    const more = viewOf(page) === "scatter" ? pairOf(page).filter((name) => name && !axes.includes(name)) : [];
    /** @type {Wire.Query} */
    const next = {
      col: [...more, ...axes].slice(0, MOST_AXES),
      mark: [page.sheet.stamp],
      theme: [prefs ? prefs.theme : "light"],
    };
    for (const key of ["log", "linear"]) if (page.state[key]) next[key] = page.state[key];
    if (absent(page).length) next.hide = absent(page);
    if (colourOf(page) === "run") {
      next.hand = [handMark(page.runs.rows)];
      if (page.state.run) next.run = page.state.run;
    }
    if (colourOf(page) !== "none") next.colour = [colourOf(page)];
    page.find(".ms-lineage-wide").style.minWidth = `${Math.max(0, next.col.length * AXIS_WIDTH)}px`;
    return same(next, ask) ? nothing() : next;
  },

  /**
   * @param {Wire.Query | null} state
   * @param {Lineage.Sheet | null} sheet
   * @param {Preferences | null} _prefs
   * @param {RunList | null} runs
   * @param {string} rootId
   */
  fill(state, sheet, _prefs, runs, rootId) {
    const page = pageOf(rootId);
    if (!page || !take(page, state, sheet, runs)) return [nothing(), nothing()];
    const [lang, { stamp }, { rows, notebook }] = [language(), page.sheet, page.runs];
    const rowMark = JSON.stringify([
      stamp, absent(page), together(page), lang, rows.map((row) => [row.key, row.tags, row.colours, row.hand]), page.state.run,
      notebook.notes,
    ]);
    const columnMark = JSON.stringify([stamp, chosen(page).slice().sort(), notesOf(page), page.state.pin, lang]);
    const rowData = rowMark === page.rowMark ? nothing() : rowsOf(page);
    const columns = columnMark === page.columnMark ? nothing() : columnDefs(page);
    Object.assign(page, { rowMark, columnMark });
    window.setTimeout(() => { resort(page); restore(page); }, 0);
    return [rowData, columns];
  },

  /**
   * @param {Lineage.Figure | null} figure
   * @param {Wire.Query | null} state
   * @param {Lineage.Sheet | null} sheet
   * @param {Preferences | null} prefs
   * @param {RunList | null} runs
   * @param {number | null} _wide
   * @param {string} rootId
   */
  draw(figure, state, sheet, prefs, runs, _wide, rootId) {
    const page = pageOf(rootId);
    if (!page || !figure || !take(page, state, sheet, runs)) return;
    if (!figure.layout.meta.axes.every(({ name }) => page.columns.has(name))) return;
    page.figure = figure;
    refilter(page);
    drawKey(page.find(".ms-lineage-key"), figure.layout.meta.key, page);
    page.root.classList.toggle("ms-lineage-drawn", true);
    if (viewOf(page)) {
      page.drawnFigure = null;
      scatter.scatter(page);
      return;
    }
    const look = [prefs && prefs.theme, language(), page.state.brush || [], page.stepped];
    if (page.drawnFigure === figure && same(look, page.look)) return;
    Object.assign(page, { drawnFigure: figure, look });
    page.plot.show(dressed(page), brushed(page));
  },

  /**
   * The operation that is open beside the table.
   * @param {Wire.Query | null} state
   * @param {Lineage.Sheet | null} sheet
   * @param {Wire.Query | null} known
   * @param {string} rootId
   */
  node(state, sheet, known, rootId) {
    const page = pageOf(rootId);
    if (!page || !sheet) return nothing();
    const node = (state && state.node) || [];
    page.find(".ms-lineage-detail").hidden = !node.length;
    const target = document.querySelector('.ms-menu-link[data-page="dataset"]');
    const marks = sheet.columns.find(({ name }) => name === "dataset_mark");
    const run = node.length && marks ? sheet.keys[marks.values.indexOf(node[0].split(":")[0])] : undefined;
    const { openGraph } = page.tools;
    if (openGraph) openGraph.hidden = !target || run === undefined;
    if (openGraph && target && run !== undefined) {
      openGraph.href = `${target.getAttribute("href")}?${new URLSearchParams({ run, node: node[0] })}`;
    }
    return !node.length || same(known, { node }) ? nothing() : { node };
  },
});
