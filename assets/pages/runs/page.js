// The runs page: an AG Grid of all runs whose selection is that of the run picker. Counterpart of layouts/pages/runs.

import { cellRenderers, gridFunctions } from "../../base/ag_grid.js";
import { callbackContext, functionsOf, noUpdate, setProps } from "../../base/dash.js";
import { age } from "../../base/format.js";
import { linkTo, pagesOf } from "../../base/grid.js";
import { inLanguage, translate, translations, writeText } from "../../base/i18n.js";
import { go } from "../../base/navigation.js";
import * as runNotes from "../../base/notes.js";
import * as picker from "../../base/picker.js";
import { currentPrefs } from "../../base/prefs.js";
import { setState } from "../../base/state.js";
import * as strict from "../../base/strictness.js";

const functions = functionsOf("mindscope");
const AGE_MS = 15000;
const ASK_MS = 300;
const LOST_MS = 20000;
const MOST_ASKED = 40;
const READ = ["live", "idle"];

// Functions that the grid calls by name ------------------------------------------------------------------------------

gridFunctions.mindscopeFilters = ({ api }) => Boolean(viewOf(api) && viewOf(api).filtering());
gridFunctions.mindscopePasses = ({ data }) => views.get(data.grid).passes(data);
gridFunctions.mindscopeCount = (value) => (value ? Number(value).toLocaleString("en") : "");
gridFunctions.mindscopeTags = (row, kind) => (row && row.tags[kind]) || 0;
gridFunctions.mindscopeInsights = (row) => {
  const kinds = row && views.has(row.grid) ? views.get(row.grid).insightsOf(row) : null;
  return kinds && kinds.length;
};
gridFunctions.mindscopeKinds = (row) =>
  row ? otherKinds(row).map(([kind, n]) => `${translate(`kind.${kind}`)} ${n.toLocaleString("en")}`).join(", ") : "";
gridFunctions.mindscopePath = (row) => (row && row.real ? `${row.path} → ${row.real}` : row && row.path);
gridFunctions.mindscopeAgo = (value) => {
  if (!value) return "";
  const seconds = Date.now() / 1000 - value;
  if (seconds < 5) return translate("age.now");
  return translate("age.ago", { age: inLanguage(age(seconds)) });
};
gridFunctions.mindscopeMoment = (value) =>
  value ? new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" }).format(new Date(value * 1000)) : "";

function otherKinds(row) {
  return Object.entries(row.tags).filter(([kind, n]) => kind !== "scalar" && !kind.startsWith("profile.") && n > 0);
}

// Cells -------------------------------------------------------------------------------------------------------------

const make = (...args) => window.React.createElement(...args);

function words(key, values) {
  const [english, chinese] = translations(key, values);
  return make(
    "span",
    { className: "t" },
    make("span", { className: "en" }, english),
    make("span", { className: "zh" }, chinese),
  );
}

cellRenderers.MindscopeRun = ({ data }) => {
  const background = picker.paint(data.members, views.get(data.grid).drawnIn);
  const [first] = pagesOf(data);
  return make("span", { className: "ms-run" },
    make("span", { className: background ? "ms-dot" : "ms-dot ms-dot-off", style: { background } }),
    first ? linkTo(data, first, () => ({ className: "ms-cut ms-run-name", tabIndex: -1 }), data.name)
      : make("span", { className: "ms-cut", title: data.name }, data.name));
};

cellRenderers.MindscopeState = ({ data }) =>
  make("span", { className: "ms-run" },
    make("span", { className: `ms-state ms-state-${data.state}` }, words(`state.${data.state}`)),
    data.problems > 0
    && make("button", { type: "button", "data-action": "health", "data-run": data.key,
      className: `ms-badge ms-badge-button ${["empty", "outside"].includes(data.state) ? "" : "ms-badge-wrong"}`,
      title: translate("health.problems", { n: data.problems }) }, data.problems.toLocaleString("en")));

cellRenderers.MindscopeValue = ({ data }) =>
  make("span", { className: "ms-last", title: data.tag ? `${data.tag} = ${data.valueExact}` : "" },
    make("span", { className: "ms-last-tag ms-cut" }, data.tag),
    make("span", { className: data.value === null && data.valueText ? "ms-bad-number" : "" }, data.valueText));

// Insights by kind, the most frequent first, in red if one is an error.
cellRenderers.MindscopeInsights = ({ data, value }) => {
  if (value === null) return make("span", { className: "ms-muted" }, "…");
  if (!value) return make("span", { className: "ms-muted", title: translate("runs.insights_none") }, "0");
  const counts = new Map();
  for (const kind of views.get(data.grid).insightsOf(data)) counts.set(kind, (counts.get(kind) || 0) + 1);
  const kinds = Array.from(counts).sort((a, b) => b[1] - a[1])
    .map(([kind, n]) => `${translate(`insights.kind.${kind}`)} ${n}`).join(", ");
  const worst = counts.has("non_finite") || counts.has("divergence");
  return make("span", { className: worst ? "ms-bad-number" : "", title: translate("runs.insights_tip", { n: value, kinds }) },
    value.toLocaleString("en"));
};

// One view per grid on screen ---------------------------------------------------------------------------------------

const views = new Map();

function viewOf(api) {
  return Array.from(views.values()).find((view) => view.api === api);
}

class View {
  constructor(gridId, body) {
    this.gridId = gridId;
    this.body = body;
    this.runs = { rows: [], default: [] };
    this.rows = [];
    this.drawnIn = new Map();
    this.order = new Map();
    this.found = new Map();  // key -> { stamp, found: [[kind, score], ...] }
    this.asking = 0;
    this.said = new Map();  // key -> searchable text of its note
    this.state = {};
    this.store = null;
    this.api = null;
    /** @type {(text: string) => boolean} */
    this.test = () => true;
    this.search = body.querySelector(".ms-filter input");
    this.regex = body.querySelector(".ms-runs-search button");
    this.search.addEventListener("keydown", (event) => this.searchKey(event));
    this.regex.addEventListener("click", () => this.write({ re: this.isRegex() ? [] : ["1"] }));
    this.only = body.querySelector('[data-act="only"]');
    this.only.addEventListener("click", () => this.chooseMatching());
    body.querySelector('[data-act="clear"]').addEventListener("click", () => this.write({ run: [""] }));
    this.aging = window.setInterval(() => this.age(), AGE_MS);
    this.attach();
  }

  async attach() {
    this.api = await window.dash_ag_grid.getApiAsync(this.gridId);
    if (!document.querySelector(".ms-shell")) this.api.setColumnsVisible(["open"], false);
    this.api.addEventListener("selectionChanged", (event) => this.selected(event));
    this.api.addEventListener("rowDataUpdated", () => this.show());
    this.api.addEventListener("filterChanged", () => this.show());
    this.api.addEventListener("rowDataUpdated", () => this.ask());
    this.api.addEventListener("bodyScrollEnd", () => this.ask());
    this.ask();
    runNotes.attach(this.api);
    this.api.addEventListener("rowDoubleClicked", (event) => { if (!runNotes.isCell(event)) this.open(event.data); });
    this.api.addEventListener("cellKeyDown", (event) => {
      if (runNotes.isCell(event)) return;
      if (event.event.key === "Enter" && event.event.target.closest("a,button") === null) this.open(event.data);
    });
    // The grid may have filtered rows before the view was known.
    if (this.filtering()) this.api.onFilterChanged();
    this.show();
  }

  // Rows keep their places while the page is open, so that nothing moves under the pointer; new ones come on top.
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
    const own = (row) => ({ ...row, grid: this.gridId, note: runNotes.noteOf(notebook, row.key) });
    return rows.map(own).sort((a, b) => this.order.get(a.key) - this.order.get(b.key));
  }

  update(state, store) {
    this.state = state || {};
    this.store = store;
    const text = (this.state.q || [""])[0];
    this.regex.setAttribute("aria-pressed", String(this.isRegex()));
    const test = picker.matcher(text, this.isRegex());
    this.search.setAttribute("aria-invalid", String(test === null));
    const filter = `${text}\n${this.isRegex()}`;
    if (test !== null && filter !== this.filter) {
      this.filter = filter;
      this.test = test;
      if (this.api) this.api.onFilterChanged();
    }
    if (this.rows.length) this.choose();
    this.show();
    if (this.api && !this.api.isDestroyed()) this.api.refreshCells({ columns: ["name"], force: true });
  }

  isRegex() {
    return (this.state.re || [])[0] === "1";
  }

  filtering() {
    return Boolean((this.state.q || [""])[0]);
  }

  // Names are paths below the base directory, so the rest is not searched.
  passes(row) {
    const said = [row.key, ...row.members].map((key) => this.said.get(key)).filter(Boolean);
    return [row.name, ...row.members, ...said].some(this.test) || (row.real !== "" && this.test(row.real));
  }

  write(changes) {
    setState(this.store, this.state, changes);
  }

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
    this.chosen = picker.selected(this.state, this.runs);
    this.drawnIn = picker.colours(this.chosen, this.rows);
  }

  show() {
    if (!this.rows.length) return;
    const { chosen } = this;
    const count = this.rows.filter((row) => row.members.some((key) => chosen.has(key))).length;
    const summary = this.body.querySelector(".ms-runs-chosen");
    const there = this.api && !this.api.isDestroyed();
    const filtered = Boolean(there && this.api.isAnyFilterPresent());
    this.only.hidden = !filtered;
    const total = this.rows.length.toLocaleString("en");
    const n = count.toLocaleString("en");
    if (filtered) {
      writeText(summary, "runs.matching", { n: this.matching().length.toLocaleString("en"), total, chosen: n });
    } else writeText(summary, this.rows.length === 1 ? "runs.chosen_one" : "runs.chosen", { n, total });
    if (!there) return;
    const on = [];
    const off = [];
    this.api.forEachNode((node) => {
      const wanted = node.data.members.every((key) => chosen.has(key));
      if (Boolean(node.isSelected()) !== wanted) (wanted ? on : off).push(node);
    });
    if (on.length) this.api.setNodesSelected({ nodes: on, newValue: true, source: "api" });
    if (off.length) this.api.setNodesSelected({ nodes: off, newValue: false, source: "api" });
  }

  selected(event) {
    // dash-ag-grid clears the selection when rows change.
    if (event.source === "apiSelectAll") this.show();
    if (event.source.startsWith("api") || event.source.startsWith("rowDataChanged") || !this.chosen) return;
    const next = new Set(this.chosen);
    this.api.forEachNode((node) => {
      const was = node.data.members.every((key) => this.chosen.has(key));
      const is = Boolean(node.isSelected());
      if (was === is) return;
      for (const key of node.data.members) {
        if (is) next.add(key);
        else next.delete(key);
      }
    });
    this.write({ run: picker.encode(next, this.rows) });
  }

  // Kinds of the insights of a row that pass the chosen strictness; null before they are known.
  insightsOf(row) {
    const known = this.found.get(row.key);
    if (!known) return row.tags.scalar ? null : [];
    const chosen = strict.strictness(currentPrefs().insights.split(","));
    return known.found.filter(([kind, score]) => strict.passes(chosen, kind, score)).map(([kind]) => kind);
  }

  // Ask for the insights of some rows that have new data, those on screen first.
  ask() {
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
    const known = (row) => this.found.has(row.key) && this.found.get(row.key).stamp === stampOf(row);
    const fresh = (row) => READ.includes(row.state) && row.tags.scalar && !known(row);
    const first = this.api.getFirstDisplayedRowIndex();
    const rows = [];
    this.api.forEachNodeAfterFilterAndSort((node) => rows.push(node.data));
    const shown = rows.slice(Math.max(0, first), this.api.getLastDisplayedRowIndex() + 1);
    return [...shown.filter(fresh), ...rows.filter((row) => fresh(row) && !shown.includes(row))];
  }

  answered({ runs }) {
    this.asking = 0;
    for (const [key, { found }] of Object.entries(runs)) this.found.set(key, { stamp: this.asked.get(key), found });
    if (this.api && !this.api.isDestroyed()) this.api.refreshCells({ columns: ["insights"] });
    this.ask();
  }

  // Rows that pass search and column filters.
  matching() {
    const rows = [];
    this.api.forEachNodeAfterFilter((node) => rows.push(node.data));
    return rows;
  }

  chooseMatching() {
    this.write({ run: picker.encode(new Set(this.matching().flatMap((row) => row.members)), this.rows) });
  }

  open(row) {
    const [first] = row ? pagesOf(row) : [];
    if (first) go(first.page, { run: [row.key] });
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

// Differs whenever a row has new data.
function stampOf({ points, updated, steps }) {
  return `${points} ${steps} ${updated}`;
}

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

functions.runs_headers = function (prefs, headers, columns) {
  if (!prefs) return noUpdate();
  for (const shown of views.values()) shown.redrawTexts();
  const place = prefs.lang === "zh" ? 1 : 0;
  const next = columns.map((column) => ({ ...column, headerName: headers[column.field][place] }));
  return next.every((column, i) => column.headerName === columns[i].headerName) ? noUpdate() : next;
};
