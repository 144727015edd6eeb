// The runs page: AG Grid over the list of runs, its selection one with the run picker's. Counterpart of layouts/training/runs.py.
(function () {
  "use strict";
  const mindscope = (window.mindscope = window.mindscope || {});
  const dash = (window.dash_clientside = window.dash_clientside || {});
  const functions = (dash.mindscope = dash.mindscope || {});
  const grids = (window.dashAgGridFunctions = window.dashAgGridFunctions || {});
  const cells = (window.dashAgGridComponentFunctions = window.dashAgGridComponentFunctions || {});
  const { pagesOf, linkTo } = mindscope.grid;
  const AGE_MS = 15000;

  // Functions that the grid calls by name ------------------------------------------------------------------------------

  grids.mindscopeFilters = ({ api }) => Boolean(viewOf(api) && viewOf(api).filtering());
  grids.mindscopePasses = ({ data }) => views.get(data.grid).passes(data);
  grids.mindscopeCount = (value) => (value ? Number(value).toLocaleString("en") : "");
  grids.mindscopeTags = (row, kind) => (row && row.tags[kind]) || 0;
  grids.mindscopeKinds = (row) =>
    row ? otherKinds(row).map(([kind, n]) => `${mindscope.i18n.text(`kind.${kind}`)} ${n.toLocaleString("en")}`).join(", ") : "";
  grids.mindscopePath = (row) => (row && row.real ? `${row.path} → ${row.real}` : row && row.path);
  grids.mindscopeAgo = (value) => {
    if (!value) return "";
    const { i18n } = mindscope;
    const seconds = Date.now() / 1000 - value;
    if (seconds < 5) return i18n.text("age.now");
    const [english, chinese] = mindscope.frame.age(seconds);
    return i18n.text("age.ago", { age: i18n.language() === "zh" ? chinese : english });
  };
  grids.mindscopeMoment = (value) =>
    value ? new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" }).format(new Date(value * 1000)) : "";

  function otherKinds(row) {
    return Object.entries(row.tags).filter(([kind, n]) => kind !== "scalar" && !kind.startsWith("profile.") && n > 0);
  }

  // Cells -------------------------------------------------------------------------------------------------------------

  const make = (...args) => window.React.createElement(...args);

  function words(key, values) {
    const [english, chinese] = mindscope.i18n.both(key, values);
    return make("span", { className: "t" }, make("span", { className: "en" }, english), make("span", { className: "zh" }, chinese));
  }

  cells.MindscopeRun = ({ data }) => {
    const background = mindscope.picker.paint(data.members, views.get(data.grid).drawnIn);
    const [first] = pagesOf(data);
    return make("span", { className: "ms-run" },
      make("span", { className: background ? "ms-dot" : "ms-dot ms-dot-off", style: { background } }),
      first ? linkTo(data, first, () => ({ className: "ms-cut ms-run-name", tabIndex: -1 }), data.name)
        : make("span", { className: "ms-cut", title: data.name }, data.name));
  };

  cells.MindscopeState = ({ data }) =>
    make("span", { className: "ms-run" },
      make("span", { className: `ms-state ms-state-${data.state}` }, words(`state.${data.state}`)),
      data.problems > 0 &&
        make("button", { type: "button", "data-action": "health", "data-run": data.key,
          className: `ms-badge ms-badge-button ${data.state === "empty" ? "" : "ms-badge-wrong"}`,
          title: mindscope.i18n.text("health.problems", { n: data.problems }) }, data.problems.toLocaleString("en")));

  cells.MindscopeValue = ({ data }) =>
    make("span", { className: "ms-last", title: data.tag ? `${data.tag} = ${data.valueExact}` : "" },
      make("span", { className: "ms-last-tag ms-cut" }, data.tag),
      make("span", { className: data.value === null && data.valueText ? "ms-bad-number" : "" }, data.valueText));

  // One view per grid on screen ---------------------------------------------------------------------------------------

  const views = new Map();

  function viewOf(api) {
    return Array.from(views.values()).find((view) => view.api === api);
  }

  class View {
    constructor(gridId, body) {
      this.gridId = gridId;
      this.body = body;
      this.rows = [];
      this.drawnIn = new Map();
      this.order = new Map();
      this.said = new Map();  // key -> its remark and tags as they are searched
      this.state = {};
      this.store = null;
      this.api = null;
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
      mindscope.notes.attach(this.api);
      this.api.addEventListener("rowDoubleClicked", (event) => { if (!mindscope.notes.isCell(event)) this.open(event.data); });
      this.api.addEventListener("cellKeyDown", (event) => {
        if (mindscope.notes.isCell(event)) return;
        if (event.event.key === "Enter" && event.event.target.closest("a,button") === null) this.open(event.data);
      });
      // The grid may have filtered its rows before it was known whose they are.
      if (this.filtering()) this.api.onFilterChanged();
      this.show();
    }

    // Rows keep their places while the page is open, so that nothing moves under the pointer; new ones come on top.
    arrange({ rows, notebook }) {
      const fresh = rows.filter((row) => !this.order.has(row.key));
      const least = Math.min(0, ...this.order.values());
      const first = this.order.size ? least - fresh.length : 0;
      fresh.forEach((row, i) => this.order.set(row.key, first + i));
      this.rows = rows;
      this.choose();
      this.said = new Map(Object.entries(notebook.notes).map(([key, note]) => [key, `${note.remark}\n${mindscope.notes.tagsText(note.tags)}`]));
      const own = (row) => ({ ...row, grid: this.gridId, note: mindscope.notes.noteOf(notebook, row.key) });
      return rows.map(own).sort((a, b) => this.order.get(a.key) - this.order.get(b.key));
    }

    update(state, store) {
      this.state = state || {};
      this.store = store;
      const text = (this.state.q || [""])[0];
      this.regex.setAttribute("aria-pressed", String(this.isRegex()));
      const test = mindscope.picker.matcher(text, this.isRegex());
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

    // A name is the path below the base directory; what is above that is the same for all and tells nothing.
    passes(row) {
      const said = [row.key, ...row.members].map((key) => this.said.get(key)).filter(Boolean);
      return [row.name, ...row.members, ...said].some(this.test) || (row.real !== "" && this.test(row.real));
    }

    write(changes) {
      mindscope.state.set(this.store, this.state, changes);
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
      this.chosen = mindscope.picker.selected(this.state, this.rows);
      this.drawnIn = mindscope.picker.colours(this.chosen, this.rows);
    }

    show() {
      if (!this.rows.length) return;
      const { chosen } = this;
      const count = this.rows.filter((row) => row.members.some((key) => chosen.has(key))).length;
      const told = this.body.querySelector(".ms-runs-chosen");
      const there = this.api && !this.api.isDestroyed();
      const filtered = Boolean(there && this.api.isAnyFilterPresent());
      this.only.hidden = !filtered;
      const total = this.rows.length.toLocaleString("en");
      const n = count.toLocaleString("en");
      if (filtered) {
        mindscope.i18n.write(told, "runs.matching", { n: this.matching().length.toLocaleString("en"), total, chosen: n });
      } else mindscope.i18n.write(told, this.rows.length === 1 ? "runs.chosen_one" : "runs.chosen", { n, total });
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
      // With new rows dash-ag-grid applies its own idea of the selection, which is none.
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
      this.write({ run: mindscope.picker.encode(next, this.rows) });
    }

    // Rows that search and column filters leave.
    matching() {
      const rows = [];
      this.api.forEachNodeAfterFilter((node) => rows.push(node.data));
      return rows;
    }

    chooseMatching() {
      this.write({ run: mindscope.picker.encode(new Set(this.matching().flatMap((row) => row.members)), this.rows) });
    }

    open(row) {
      const [first] = row ? pagesOf(row) : [];
      if (first) mindscope.shell.go(first.page, { run: [row.key] });
    }

    // Cells that are plain text do not follow the language by themselves.
    retell() {
      if (this.api && !this.api.isDestroyed()) this.api.refreshCells({ columns: ["others", "updated", "started"], force: true });
    }

    age() {
      if (!this.body.isConnected) {
        window.clearInterval(this.aging);
        if (views.get(this.gridId) === this) views.delete(this.gridId);
      } else if (!document.hidden) this.retell();
    }
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

  functions.runs_rows = function (runs, gridId, bodyId) {
    const shown = view(gridId, bodyId);
    if (!runs || !shown) return window.dash_clientside.no_update;
    shown.body.classList.remove("ms-runs-waiting");
    return shown.arrange(runs);
  };

  functions.runs_state = function (state, runs, gridId, bodyId) {
    const shown = view(gridId, bodyId);
    if (shown) shown.update(state, window.dash_clientside.callback_context.inputs_list[0].id);
  };

  functions.runs_headers = function (prefs, headers, columns) {
    if (!prefs) return window.dash_clientside.no_update;
    for (const shown of views.values()) shown.retell();
    const place = prefs.lang === "zh" ? 1 : 0;
    const next = columns.map((column) => ({ ...column, headerName: headers[column.field][place] }));
    return next.every((column, i) => column.headerName === columns[i].headerName) ? window.dash_clientside.no_update : next;
  };
})();
