// The runs page: an AG Grid of all runs whose selection is that of the run picker. Counterpart of layouts/runs/runs.

import { callbackContext, functionsOf, noUpdate, setProps } from "../../kit/dash.js";
import { pagesOf } from "../../kit/grid.js";
import { language, setLabel, writeText } from "../../kit/i18n.js";
import { go } from "../../kit/navigation.js";
import * as runNotes from "../../kit/notes.js";
import { colours, encode, matcher, selected } from "../../kit/run_selection.js";
import { notYet } from "../../kit/pages.js";
import { currentPrefs } from "../../kit/prefs.js";
import { same, setState } from "../../kit/state.js";
import * as strict from "../../kit/strictness.js";
import { views } from "./cells.js";
import { Columns } from "./columns.js";
import { divergedOf, numbersOf, OWN } from "./group_numbers.js";
import { Groups, isGroup } from "./groups.js";
import { Patterns, Values, patternOf, stampOf } from "./values.js";
import { count as countText } from "../../kit/units.js";

const functions = functionsOf("mindscope");
const AGE_MS = 15000;
const ASK_MS = 300;
const LOST_MS = 20000;
const MOST_ASKED = 40;
const MOST_LEVELS = 4;
const READ = ["live", "idle"];

// One view per grid on screen ---------------------------------------------------------------------------------------

export class View {
  /**
   * @param {string} gridId
   * @param {HTMLElement} body
   */
  constructor(gridId, body) {
    this.gridId = gridId;
    this.body = body;
    /** @type {Pick<RunList, "rows" | "default"> & { notebook?: Wire.Notebook }} */
    this.runs = { rows: [], default: [] };
    /** @type {Wire.RunRow[]} */
    this.rows = [];
    /** @type {Map<string, string>} */
    this.drawnIn = new Map();
    /** @type {Map<string, number>} */
    this.order = new Map();
    /** @type {Map<string, RunTable.Insights>} */
    this.found = new Map();
    /**
     * Stamps of the rows whose insights were asked for.
     * @type {Map<string, string>}
     */
    this.asked = new Map();
    /**
     * Keys of chosen runs.
     * @type {Set<string>}
     */
    this.chosen = notYet;
    this.filter = "";
    this.language = "";
    this.asking = 0;
    /**
     * Searchable texts of notes by run.
     * @type {Map<string, string>}
     */
    this.said = new Map();
    /** @type {Wire.Query} */
    this.state = {};
    /** @type {string} */
    this.store = notYet;
    /** @type {GridApi} */
    this.api = notYet;
    /** @type {(text: string) => boolean} */
    this.test = () => true;
    /** @type {RunTable.Row[]} */
    this.own = [];
    this.groups = new Groups();
    this.values = new Values(gridId, (columns) => this.valued(columns));
    this.patterns = new Patterns(gridId, () => this.refilter());
    /** @type {HTMLInputElement} */
    this.search = body.querySelector(".ms-filter input");
    /** @type {HTMLElement} */
    this.regex = body.querySelector(".ms-runs-search button");
    this.search.addEventListener("keydown", (event) => this.searchKey(event));
    this.regex.addEventListener("click", () => this.write({ re: this.isRegex() ? [] : ["1"] }));
    /** @type {HTMLElement} */
    this.only = body.querySelector('[data-act="only"]');
    this.only.addEventListener("click", () => this.chooseMatching());
    /** @type {HTMLElement} */
    this.ungroup = body.querySelector('[data-act="ungroup"]');
    this.ungroup.addEventListener("click", () => this.write({ group: [] }));
    /** @type {HTMLElement} */
    this.trouble = body.querySelector(".ms-runs-trouble");
    this.columns = new Columns(this);
    body.querySelector('[data-act="clear"]').addEventListener("click", () => this.write({ run: [""] }));
    this.aging = window.setInterval(() => this.age(), AGE_MS);
    this.attach();
  }

  async attach() {
    this.api = await window.dash_ag_grid.getApiAsync(this.gridId);
    this.api.addEventListener("selectionChanged", (event) => this.selected(event));
    this.api.addEventListener("rowDataUpdated", () => this.show());
    this.api.addEventListener("filterChanged", () => this.show());
    this.api.addEventListener("rowDataUpdated", () => this.ask());
    this.api.addEventListener("bodyScrollEnd", () => this.ask());
    this.ask();
    // Column filters leave the rows of groups alone. dash-ag-grid knows this option as a value only.
    this.api.setGridOption("alwaysPassFilter",
      (/** @type {RunTable.RowNode} */ { data }) => Boolean(data && isGroup(data) && this.groups.shows(data)));
    /** @param {GridEvent} event */
    const byUser = ({ source }) => String(source).startsWith("ui") || source === "autosizeColumns";
    this.api.addEventListener("columnMoved", (event) => {
      if (event.finished && byUser(event)) this.columns.moved(this.columnIds());
    });
    this.api.addEventListener("columnResized", (event) => {
      const { column } = event;
      if (event.finished && byUser(event) && column) this.columns.resized(column.getColId(), column.getActualWidth());
    });
    this.api.addEventListener("sortChanged", (event) => { if (byUser(event)) this.write({ sort: this.sortOfGrid() }); });
    this.api.addEventListener("filterChanged", ({ source }) => {
      if (source === "columnFilter") this.write({ filter: this.filters() });
    });
    for (const name of ["gridColumnsChanged", "newColumnsLoaded"]) this.api.addEventListener(name, () => this.restore());
    this.restore();
    runNotes.attach(this.api);
    this.api.addEventListener("rowDoubleClicked", (event) => {
      if (!event.data.group && !runNotes.isCell(event)) this.open(event.data);
    });
    this.api.addEventListener("cellKeyDown", (event) => {
      if (event.data.group || runNotes.isCell(event)) return;
      const { key, target } = event.event;
      if (key === "Enter" && target?.closest("a,button") === null) this.open(event.data);
      // As in the column of remarks, which is not there before the first one.
      if (key === "F2") target?.closest(".ag-cell")?.querySelector(".ms-runs-note")?.click();
    });
    // The grid may have filtered rows before the view was known.
    if (this.filtering()) this.api.onFilterChanged();
    this.show();
  }

  /**
   * Rows keep their places while the page is open, so that nothing moves under the pointer; new ones come on top.
   * @param {RunList} runs
   */
  arrange(runs) {
    const { rows, notebook } = runs;
    const fresh = rows.filter((row) => !this.order.has(row.key));
    const least = Math.min(0, ...this.order.values());
    const first = this.order.size ? least - fresh.length : 0;
    fresh.forEach((row, i) => this.order.set(row.key, first + i));
    this.runs = runs;
    this.rows = rows;
    this.choose();
    this.said = new Map(
      Object.entries(notebook.notes).map(([key, note]) => [key, `${note.remark}\n${runNotes.tagsText(note.tags)}`]),
    );
    /** @param {Wire.RunRow} row */
    const own = (row) => ({ ...row, grid: this.gridId, note: runNotes.noteOf(notebook, row.key) });
    this.own = rows.map(own).sort((a, b) => (this.order.get(a.key) ?? 0) - (this.order.get(b.key) ?? 0));
    return this.grouped();
  }

  // Runs and the rows of their groups.
  grouped() {
    /** @type {(column: string, key: string) => RunTable.Value} */
    const valueOf = (column, key) => this.values.get(column, key);
    /** @param {RunTable.Row[]} runs */
    const toldOf = (runs) => ({
      numbers: numbersOf(runs, this.numeric(), (id, run) => (OWN.includes(id) ? Object(run)[id] : valueOf(id, run.key)),
        (id) => this.columns.nameOf(id)),
      diverged: divergedOf(runs),
    });
    return [...this.groups.rows(this.own, valueOf, this.gridId, toldOf), ...this.own];
  }

  // Numeric columns of the table, those that users added first.
  numeric() {
    const shown = this.columns.shown();
    const added = shown.filter((id) => this.columns.custom().includes(id) && !this.groups.levels.includes(id));
    return [...added.filter((id) => this.values.isNumeric(id)), ...OWN.filter((id) => shown.includes(id))];
  }

  /**
   * New values have arrived in these columns.
   * @param {string[]} columns
   */
  valued(columns) {
    if (!this.api || this.api.isDestroyed()) return;
    this.columns.refresh();
    const lacking = this.wantedValues();
    if (this.groups.levels.length) setProps(this.gridId, { rowData: this.grouped() });
    else if (!this.filters().length && !this.sortOfGrid().length) this.api.refreshCells({ columns });
    // Sorting and filtering once, when all are known.
    else if (!lacking) this.api.refreshClientSideRowModel("filter");
    if (Object.keys(this.values.wrong).length || !this.trouble.hidden) this.show();
    this.ask();
  }

  /** @param {string} key */
  toggleGroup(key) {
    this.groups.toggle(key);
    this.api.onFilterChanged();
    this.api.redrawRows({ rowNodes: [this.api.getRowNode(key)].filter(Boolean) });
  }

  levelsOfState() {
    return (this.state.group || []).filter((id) => id.startsWith("setting:")).slice(0, MOST_LEVELS);
  }

  /** @param {string} column */
  groupBy(column) {
    const levels = this.levelsOfState();
    const others = levels.filter((one) => one !== column);
    this.write({ group: levels.includes(column) ? others : [...others, column].slice(-MOST_LEVELS) });
  }

  // State of the grid -----------------------------------------------------------------------------------------------

  columnIds() {
    /** @type {{ getColId(): string }[]} */
    const columns = this.api.getAllGridColumns();
    return columns.map((column) => column.getColId()).filter((id) => !id.startsWith("ag-Grid"));
  }

  sortOfGrid() {
    return this.api.getColumnState().filter((one) => one.sort).sort((a, b) => a.sortIndex - b.sortIndex)
      .map((one) => `${one.sort === "desc" ? "-" : "+"}${one.colId}`);
  }

  filters() {
    return Object.entries(this.api.getFilterModel() || {}).map((pair) => JSON.stringify(pair));
  }

  // Sort and filter as the state says.
  restore() {
    if (!this.api || this.api.isDestroyed() || !this.api.getColumns() || !this.store) return;
    /** @param {string} id */
    const there = (id) => Boolean(this.api.getColumn(id));
    const sort = (this.state.sort || []).filter((text) => there(text.slice(1)));
    if (!same(sort, this.sortOfGrid())) {
      const state = sort
        .map((text, sortIndex) => ({ colId: text.slice(1), sort: text[0] === "-" ? "desc" : "asc", sortIndex }));
      this.api.applyColumnState({ state, defaultState: { sort: null } });
    }
    /** @type {Record<string, GridFilter>} */
    const model = {};
    for (const text of this.state.filter || []) {
      try {
        const [id, one] = JSON.parse(text);
        // Whether a setting has numbers is known when its values are.
        const fits = !id.startsWith("setting:") || this.values.isNumeric(id) === (one.filterType === "number");
        if (there(id) && one && typeof one === "object" && fits) model[id] = one;
      } catch {
        continue;  // a damaged link
      }
    }
    if (!same(model, this.api.getFilterModel())) this.api.setFilterModel(model);
  }

  /**
   * The text filter of a column; a text between slashes is a regular expression.
   * @param {string} option
   * @param {string} value
   * @param {string} wanted
   */
  textMatches(option, value, wanted) {
    const pattern = patternOf(wanted);
    if (pattern !== null) {
      const found = this.patterns.matches(pattern, value);
      return option.startsWith("not") ? !found : found;
    }
    const [text, part] = [value.toLowerCase(), wanted.toLowerCase()];
    /** @type {Record<string, () => boolean>} */
    const tests = {
      contains: () => text.includes(part), notContains: () => !text.includes(part), equals: () => text === part,
      notEqual: () => text !== part, startsWith: () => text.startsWith(part), endsWith: () => text.endsWith(part),
    };
    return tests[option]();
  }

  refilter() {
    if (this.api && !this.api.isDestroyed()) this.api.onFilterChanged();
  }

  // Patterns of the column filters, and the first thing that is wrong with one.
  wrongPattern() {
    for (const [id, model] of Object.entries(this.api.getFilterModel() || {})) {
      const parts = model.conditions || [model];
      const patterns = parts.flatMap(({ filter }) => (typeof filter === "string" && patternOf(filter)) || []);
      const text = this.patterns.trouble(patterns);
      if (text) return { name: this.columns.nameOf(id), text };
    }
    return null;
  }

  /**
   * @param {Wire.Query} state
   * @param {string} store
   */
  update(state, store) {
    this.state = state || {};
    this.store = store;
    const text = (this.state.q || [""])[0];
    this.regex.setAttribute("aria-pressed", String(this.isRegex()));
    const test = matcher(text, this.isRegex());
    this.search.setAttribute("aria-invalid", String(test === null));
    const filter = `${text}\n${this.isRegex()}`;
    if (test !== null && filter !== this.filter) {
      this.filter = filter;
      this.test = test;
      if (this.api) this.api.onFilterChanged();
    }
    if (this.rows.length) this.choose();
    if (this.groups.take(this.levelsOfState())) {
      setProps(this.gridId, { rowData: this.grouped() });
      this.columns.list();
      this.ask();
    }
    this.ungroup.hidden = !this.groups.levels.length;
    this.restore();
    this.show();
    if (this.api && !this.api.isDestroyed()) this.api.refreshCells({ columns: ["name"], force: true });
  }

  isRegex() {
    return (this.state.re || [])[0] === "1";
  }

  filtering() {
    return Boolean((this.state.q || [""])[0]) || this.groups.closed.size > 0;
  }

  /**
   * Names are paths below the base directory, so the rest is not searched.
   * @param {RunTable.Row | RunTable.GroupRow} row
   */
  passes(row) {
    if (isGroup(row)) return this.groups.shows(row);
    if (this.groups.hides(row)) return false;
    const said = [row.key, ...row.members].flatMap((key) => this.said.get(key) || []);
    return [row.name, ...row.members, ...said].some(this.test) || (row.real !== "" && this.test(row.real));
  }

  /** @param {Wire.Query} changes */
  write(changes) {
    this.state = setState(this.store, this.state, changes);
  }

  /** @param {KeyboardEvent} event */
  searchKey(event) {
    if (!this.api) return;
    if (event.key === "ArrowDown") {
      const first = this.api.getDisplayedRowAtIndex(0);
      if (first) {
        event.preventDefault();
        this.api.setFocusedCell(0, "name");
      }
    } else if (event.key === "Enter") {
      const first = this.api.getDisplayedRowAtIndex(0);
      if (first && this.api.getDisplayedRowCount() === 1) this.open(first.data);
    }
  }

  choose() {
    this.chosen = selected(this.state, this.runs);
    this.drawnIn = colours(this.chosen, this.rows, this.state);
  }

  show() {
    if (!this.rows.length) return;
    const { chosen } = this;
    const count = this.rows.filter((row) => row.members.some((key) => chosen.has(key))).length;
    const summary = this.body.querySelector(".ms-runs-chosen");
    const there = this.api && !this.api.isDestroyed();
    const filtered = Boolean(there && this.api.isAnyFilterPresent());
    this.only.hidden = !filtered;
    const total = countText(this.rows.length);
    const n = countText(count);
    const ranks = this.rows.reduce((sum, { members }) => sum + members.length, 0);
    if (filtered) {
      writeText(summary, "runs.matching", { n: countText(this.matching().length), total, chosen: n });
    } else if (ranks > this.rows.length) {
      writeText(summary, "runs.chosen_ranks", { n, total, ranks: countText(ranks) });
      setLabel(summary, "title", "runs.ranks_tip");
    } else writeText(summary, this.rows.length === 1 ? "runs.chosen_one" : "runs.chosen", { n, total });
    if (!there) return;
    const wrong = this.wrongPattern();
    const expression = wrong ? null : this.columns.expressions.wrong();
    if (wrong) writeText(this.trouble, "runs.pattern_wrong", wrong);
    if (expression) writeText(this.trouble, "runs.expression_wrong", expression);
    this.trouble.hidden = !wrong && !expression;
    /** @type {RunTable.RowNode[]} */
    const on = [];
    /** @type {RunTable.RowNode[]} */
    const off = [];
    // The row of a group is selected if all its runs are, so that the box in the header tells of the runs.
    const partial = this.groups.having(this.own.filter((row) => !row.members.every((key) => chosen.has(key))));
    this.api.forEachNode((/** @type {RunTable.RowNode} */ node) => {
      const wanted = node.data.group ? !partial.has(node.data.key) : node.data.members.every((key) => chosen.has(key));
      if (Boolean(node.isSelected()) !== wanted) (wanted ? on : off).push(node);
    });
    if (on.length) this.api.setNodesSelected({ nodes: on, newValue: true, source: "api" });
    if (off.length) this.api.setNodesSelected({ nodes: off, newValue: false, source: "api" });
  }

  /** @param {GridEvent} event */
  selected(event) {
    // dash-ag-grid clears the selection when rows change.
    if (event.source === "apiSelectAll") this.show();
    if (event.source.startsWith("api") || event.source.startsWith("rowDataChanged") || !this.chosen) return;
    const next = new Set(this.chosen);
    this.api.forEachNode((/** @type {RunTable.RowNode} */ node) => {
      if (node.data.group) return;
      const was = node.data.members.every((key) => this.chosen.has(key));
      const is = Boolean(node.isSelected());
      if (was === is) return;
      for (const key of node.data.members) {
        if (is) next.add(key);
        else next.delete(key);
      }
    });
    this.write({ run: encode(next, this.rows) });
  }

  /**
   * Kinds of the insights of a row that pass the chosen strictness; null before they are known.
   * @param {RunTable.Row} row
   */
  insightsOf(row) {
    const known = this.found.get(row.key);
    if (!known) return row.tags.scalar ? null : [];
    const chosen = strict.strictness(currentPrefs().insights.split(","));
    return known.found.filter(([kind, score]) => strict.passes(chosen, kind, score)).map(([kind]) => kind);
  }

  // Ask for the insights of some rows that have new data, those on screen first.
  ask() {
    if (this.api && !this.api.isDestroyed() && !document.hidden) this.values.ask(...this.wanted());
    this.askInsights();
  }

  /**
   * [rows that are read, those on screen first; columns whose values are needed]
   * @returns {[RunTable.Row[], string[]]}
   */
  wanted() {
    const columns = [...new Set([...this.groups.levels, ...this.columns.custom()])];
    if (!columns.length) return [[], []];
    const rows = this.own.filter(({ state }) => READ.includes(state));
    const shown = new Set(this.onScreen().map(({ key }) => key));
    return [[...rows.filter(({ key }) => shown.has(key)), ...rows.filter(({ key }) => !shown.has(key))], columns];
  }

  // Whether values are lacking.
  wantedValues() {
    return this.values.lacking(...this.wanted());
  }

  onScreen() {
    /** @type {RunTable.Row[]} */
    const rows = [];
    const last = this.api.getLastDisplayedRowIndex();
    for (let at = Math.max(0, this.api.getFirstDisplayedRowIndex()); at <= last; at += 1) {
      const node = this.api.getDisplayedRowAtIndex(at);
      if (node && node.data && !node.data.group) rows.push(node.data);
    }
    return rows;
  }

  askInsights() {
    // A request that failed is not answered.
    if (Date.now() - this.asking < LOST_MS || !this.api || this.api.isDestroyed() || document.hidden) return;
    const next = this.unknown().slice(0, MOST_ASKED);
    if (!next.length) return;
    this.asking = Date.now();
    this.asked = new Map(next.map((row) => [row.key, stampOf(row)]));
    const data = { run: next.map(({ key }) => key), again: [String(this.asking)] };
    window.setTimeout(() => {
      if (this.body.isConnected) setProps(this.gridId.replace(/-grid$/, "-insights-ask"), { data });
    }, ASK_MS);
  }

  unknown() {
    /** @param {RunTable.Row} row */
    const known = (row) => this.found.get(row.key)?.stamp === stampOf(row);
    /** @param {RunTable.Row} row */
    const fresh = (row) => READ.includes(row.state) && row.tags.scalar && !known(row);
    /** @type {RunTable.Row[]} */
    const rows = [];
    this.api.forEachNodeAfterFilterAndSort((/** @type {RunTable.RowNode} */ { data }) => {
      if (!isGroup(data)) rows.push(data);
    });
    const shown = new Set(this.onScreen());
    return [...Array.from(shown).filter(fresh), ...rows.filter((row) => fresh(row) && !shown.has(row))];
  }

  /** @param {{ runs: Record<string, { found: [string, number][] }> }} answer */
  answered({ runs }) {
    this.asking = 0;
    for (const [key, { found }] of Object.entries(runs)) this.found.set(key, { stamp: this.asked.get(key), found });
    if (this.api && !this.api.isDestroyed()) this.api.refreshCells({ columns: ["insights"] });
    this.ask();
  }

  // Rows that pass search and column filters.
  matching() {
    /** @type {RunTable.Row[]} */
    const rows = [];
    this.api.forEachNodeAfterFilter((/** @type {RunTable.RowNode} */ { data }) => { if (!isGroup(data)) rows.push(data); });
    return rows;
  }

  chooseMatching() {
    this.write({ run: encode(new Set(this.matching().flatMap((row) => row.members)), this.rows) });
  }

  /** @param {RunTable.Row | undefined} row */
  open(row) {
    const [first] = row ? pagesOf(row) : [];
    if (row && first) go(first.page, { run: [row.key] });
  }

  // Redraw plain text cells after a change of language.
  redrawTexts() {
    if (!this.api || this.api.isDestroyed()) return;
    this.api.refreshCells({ columns: ["others", "updated", "started", "insights"], force: true });
    this.ask();
  }

  age() {
    if (!this.body.isConnected) {
      window.clearInterval(this.aging);
      if (views.get(this.gridId) === this) views.delete(this.gridId);
    } else if (!document.hidden) this.redrawTexts();
  }
}

/**
 * @param {string} gridId
 * @param {string} bodyId
 */
function view(gridId, bodyId) {
  const body = document.getElementById(bodyId);
  let found = views.get(gridId);
  if (body && (!found || found.body !== body)) {
    found = new View(gridId, body);
    views.set(gridId, found);
  }
  return found;
}

/**
 * @param {RunList | null} runs
 * @param {string} gridId
 * @param {string} bodyId
 */
functions.runs_rows = function (runs, gridId, bodyId) {
  const shown = view(gridId, bodyId);
  if (!runs || !shown) return noUpdate();
  shown.body.classList.remove("ms-runs-waiting");
  return shown.arrange(runs);
};

functions.runs_state = function (state, runs, gridId, bodyId) {
  const shown = view(gridId, bodyId);
  if (shown) shown.update(state, callbackContext().inputs_list[0].id);
};

functions.runs_insights = function (answer, gridId, bodyId) {
  const shown = view(gridId, bodyId);
  if (shown && answer) shown.answered(answer);
};

functions.runs_columns = function (prefs, state, runs, base, gridId, bodyId) {
  const shown = view(gridId, bodyId);
  if (!shown || !base) return noUpdate();
  shown.state = state || {};
  shown.columns.base = base;
  if (runs) shown.runs = runs;
  if (shown.language !== language()) shown.redrawTexts();
  shown.language = language();
  return shown.columns.next() || noUpdate();
};

/**
 * @param {Wire.ColumnValues | null} answer
 * @param {string} gridId
 * @param {string} bodyId
 */
functions.runs_values = function (answer, gridId, bodyId) {
  const shown = view(gridId, bodyId);
  if (shown && answer) shown.values.answered(answer);
};

/**
 * @param {Wire.ColumnChoices | null} answer
 * @param {string} gridId
 * @param {string} bodyId
 */
functions.runs_choices = function (answer, gridId, bodyId) {
  const shown = view(gridId, bodyId);
  if (shown && answer) shown.columns.answered(answer);
};

/**
 * @param {Wire.MatchedTexts | null} answer
 * @param {string} gridId
 * @param {string} bodyId
 */
functions.runs_matched = function (answer, gridId, bodyId) {
  const shown = view(gridId, bodyId);
  if (shown && answer) shown.patterns.answered(answer);
};
