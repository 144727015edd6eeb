// The columns of the list of runs: which are shown, their order and widths, and the menu that chooses them. A layout is in the
// state, and kept in the browser for the next visit.

import { make, menu, icon, words } from "../../kit/elements.js";
import { setProps } from "../../kit/dash.js";
import { inLanguage, language, setLabel, translate } from "../../kit/i18n.js";
import { namesIn, needOf } from "../../kit/name_elements.js";
import { same } from "../../kit/state.js";
import { Expressions } from "./expressions.js";
import { count as countText } from "../../kit/units.js";

const KEY = "mindscope.runs";
const FIXED = ["name", "open"];
/** @type {("remark" | "tags")[]} */
const NOTES = ["remark", "tags"];

/** @param {string} id */
const isNote = (id) => NOTES.some((name) => name === id);
const CUSTOM = /^(duration$|(setting|last|best|min|max):)/;
const MOST_CUSTOM = 40;
const LEAST_NAME_PX = 260;
const NARROW_NAME_PX = 170;
const MOST_PINNED_PX = 220;
const NARROW_OPEN_PX = 76;
const BESIDE_NAME_PX = 48;  // of mark and margins of a cell
const PHONE = 600;  // pixels of the window
const FIND_MS = 200;

/** @returns {RunTable.Layout} */
function kept() {
  try {
    const found = JSON.parse(window.localStorage.getItem(KEY) || "null");
    /** @param {unknown} value */
    const texts = (value) => (Array.isArray(value) ? value.filter((one) => typeof one === "string") : undefined);
    return found && typeof found === "object" ? { col: texts(found.col), width: texts(found.width) } : {};
  } catch {
    return {};  // storage is unavailable or holds something else
  }
}

/** @param {RunTable.Layout} layout */
function keep(layout) {
  try {
    if (layout.col?.length || layout.width?.length) window.localStorage.setItem(KEY, JSON.stringify(layout));
    else window.localStorage.removeItem(KEY);
  } catch {
    // storage is unavailable: the layout lasts as long as the page
  }
}

export class Columns {
  /** @param {RunTable.View} view */
  constructor(view) {
    this.view = view;
    /** @type {RunTable.Definition[]} */
    this.base = [];
    this.defs = "";
    this.listed = "";
    this.finding = 0;
    this.kept = kept();
    /** @type {Wire.ColumnChoices} */
    this.choices = { settings: [], tags: [], left: 0, find: "" };
    this.expressions = new Expressions(this);
    this.search = make("input", "ms-input ms-runs-find", [], { type: "search" });
    this.lines = make("div", "ms-runs-choices");
    this.opener = make("summary", "ms-button", [words("runs.columns"), icon("down")]);
    this.menu = this.build();
    this.settings = make("div", "ms-runs-choices");
    this.grouping = this.buildGrouping();
  }

  // What is shown ---------------------------------------------------------------------------------------------------

  layout() {
    const { col, width } = this.view.state;
    return col || width ? { col, width } : this.kept;
  }

  // All columns of the layout in order, also those without contents.
  order() {
    const usual = this.base.map(({ colId }) => colId);
    const chosen = (this.layout().col || usual).filter((id) => usual.includes(id) || CUSTOM.test(id));
    const custom = chosen.filter((id) => CUSTOM.test(id)).slice(0, MOST_CUSTOM);
    const rest = chosen.filter((id) => !FIXED.includes(id) && (!CUSTOM.test(id) || custom.includes(id)));
    return [...FIXED, ...new Set(rest)];
  }

  shown() {
    const used = this.used();
    return this.order().filter((id) => !isNote(id) || used.some((name) => name === id));
  }

  // Which of remark and tags any run has.
  used() {
    const { notebook } = this.view.runs;
    const notes = notebook ? Object.values(notebook.notes) : [];
    return NOTES.filter((name) => notes.some((note) => note[name].length));
  }

  custom() {
    return this.order().filter((id) => CUSTOM.test(id));
  }

  definitions() {
    const widths = new Map((this.layout().width || []).map((/** @type {string} */ text) => {
      const at = text.lastIndexOf(":");
      return [text.slice(0, at), Number(text.slice(at + 1))];
    }));
    const inShell = document.querySelector(".ms-shell") !== null;
    return this.shown().filter((id) => id !== "open" || inShell).map((id) => {
      const own = this.base.find(({ colId }) => colId === id);
      const { label, ...def } = own || { ...this.added(id), label: null };
      const width = widths.get(id);
      const usual = this.usual(id, document.documentElement.clientWidth <= PHONE);
      const sized = width && width > 0 ? { width, flex: null } : usual;
      const tip = id === "value" ? { headerTooltip: translate("runs.value.tip") } : {};
      const named = label ? { headerName: inLanguage(label), ...tip } : {};
      return { ...def, ...named, ...(def.filter === "agTextColumnFilter" ? this.searchable() : {}), ...sized };
    });
  }

  /**
   * What a column has where nobody changed its width. On a phone part of the next column is seen beside that of links.
   * @param {string} id
   * @param {boolean} narrow
   */
  usual(id, narrow) {
    if (id === "name") return narrow ? this.narrowName() : { minWidth: this.nameWidth() };
    return narrow && id === "open" ? { width: NARROW_OPEN_PX, cellRendererParams: { most: 1 } } : {};
  }

  /**
   * What names need to be told apart.
   * @param {boolean} [least]
   */
  nameNeed(least = false) {
    const font = `13px ${getComputedStyle(document.documentElement).getPropertyValue("--ms-font")}`;
    return needOf(namesIn(this.view.runs.rows), font, least) + BESIDE_NAME_PX;
  }

  nameWidth() {
    return Math.max(LEAST_NAME_PX, Math.min(this.nameNeed(), 0.5 * document.documentElement.clientWidth));
  }

  // On a phone wide names scroll with the other columns, which would have no room beside them.
  narrowName() {
    const width = Math.max(NARROW_NAME_PX, this.nameNeed(true));
    return { minWidth: 150, width, flex: null, ...(width > MOST_PINNED_PX ? { pinned: null, lockPinned: false } : {}) };
  }

  searchable() {
    return {
      filterParams: {
        textMatcher: { function: "mindscopeTextMatches(params)" }, caseSensitive: true, debounceMs: 300,
        filterPlaceholder: translate("runs.filter_hint"),
      },
    };
  }

  /**
   * Definition of a column that the list does not have by itself.
   * @param {string} id
   */
  added(id) {
    const name = this.nameOf(id);
    const common = {
      colId: id, headerName: name, headerTooltip: id, comparator: { function: "mindscopeOrder" },
      valueGetter: { function: `mindscopeRunValue(params.data, ${JSON.stringify(id)})` },
      initialWidth: Math.min(220, Math.max(96, 44 + 7.5 * name.length)),
    };
    if (!this.view.values.isNumeric(id)) return { ...common, filter: "agTextColumnFilter", cellRenderer: "MindscopeText" };
    const name_ = JSON.stringify(id);
    return {
      ...common, type: "rightAligned", filter: "agNumberColumnFilter",
      valueFormatter: { function: `mindscopeRunNumber(params.value, ${name_})` },
      tooltipValueGetter: { function: `mindscopeRunExact(params.data, ${name_}, params.value)` },
      cellClassRules: { "ms-bad-number": { function: "mindscopeRunWrong(params.value)" } },
    };
  }

  /** @param {string} id */
  nameOf(id) {
    const own = this.base.find(({ colId }) => colId === id);
    if (own) return inLanguage(own.label);
    if (id === "duration") return translate("runs.duration");
    const name = id.slice(id.indexOf(":") + 1);
    if (!id.startsWith("setting:")) return translate(`runs.${id.split(":", 1)[0]}_of`, { tag: name });
    return inLanguage(this.view.values.labels[id] || [name, name]);
  }

  /** Definitions if they are others than the grid has, else null. */
  next() {
    const defs = this.definitions();
    const text = JSON.stringify(defs);
    if (text === this.defs) return null;
    this.defs = text;
    return defs;
  }

  // After a change of values or of the layout.
  refresh() {
    const defs = this.base.length ? this.next() : null;
    if (defs) setProps(this.view.gridId, { columnDefs: defs });
    this.list();
  }

  // Changes ---------------------------------------------------------------------------------------------------------

  /** @param {RunTable.Layout} layout */
  change(layout) {
    const usual = this.base.map(({ colId }) => colId);
    const { col = this.order(), width = this.layout().width || [] } = layout;
    const next = { col: same(col, usual) ? [] : col, width };
    keep(next);
    this.kept = next.col.length ? next : { width };
    this.view.write({ col: next.col, width });
    this.refresh();
    this.view.ask();
  }

  /**
   * The order that the grid has after a column was dragged; columns without contents stay where they were.
   * @param {string[]} ids
   */
  moved(ids) {
    const next = [...FIXED, ...ids.filter((id) => !FIXED.includes(id))];
    this.order().forEach((id, at) => { if (!next.includes(id)) next.splice(at, 0, id); });
    this.change({ col: next });
  }

  /**
   * @param {string} id
   * @param {number} width
   */
  resized(id, width) {
    const others = (this.layout().width || []).filter((/** @type {string} */ text) => !text.startsWith(`${id}:`));
    this.change({ width: [...others, `${id}:${Math.round(width)}`] });
  }

  /** @param {string} id */
  toggle(id) {
    const now = this.order();
    if (now.includes(id)) {
      this.change({ col: now.filter((one) => one !== id) });
      return;
    }
    // A new column stands where it is seen: after the insights.
    const at = now.indexOf(CUSTOM.test(id) && now.includes("insights") ? "insights" : now[now.length - 1]) + 1;
    const place = CUSTOM.test(id) ? now.reduce((last, one, i) => (CUSTOM.test(one) ? i + 1 : last), at) : at;
    this.change({ col: [...now.slice(0, place), id, ...now.slice(place)] });
  }

  reset() {
    keep({ col: [], width: [] });
    this.kept = {};
    this.view.write({ col: [], width: [], group: [] });
    this.refresh();
  }

  // Menu ------------------------------------------------------------------------------------------------------------

  build() {
    for (const name of ["placeholder", "aria-label"]) setLabel(this.search, name, "runs.columns_find");
    this.search.addEventListener("input", () => {
      window.clearTimeout(this.finding);
      this.finding = window.setTimeout(() => this.find(), FIND_MS);
    });
    const attributes = { type: "button", "data-act": "columns-reset" };
    const reset = make("button", "ms-button ms-button-small", words("runs.columns_reset"), attributes);
    setLabel(reset, "title", "runs.columns_reset.tip");
    reset.addEventListener("click", () => this.reset());
    setLabel(this.opener, "title", "runs.columns_tip");
    const finder = make("div", "ms-runs-finder", [this.search, this.expressions.button(), reset]);
    const made = menu(this.opener, [finder, this.lines]);
    made.classList.add("ms-runs-columns");
    made.addEventListener("toggle", () => {
      if (!made.open) return;
      this.search.focus();
      this.find();
    });
    this.view.body.querySelector(".ms-runs-bar").insertBefore(made, this.view.body.querySelector(".ms-runs-open"));
    this.lines.addEventListener("change", ({ target }) => {
      if (target instanceof HTMLInputElement) this.toggle(target.value);
    });
    this.lines.addEventListener("click", (event) => {
      const button = event.target instanceof Element && event.target.closest("[data-group]");
      if (button instanceof HTMLElement) this.view.groupBy(button.dataset.group || "");
    });
    return made;
  }

  // The settings that can group rows, one press from the page.
  buildGrouping() {
    const opener = make("summary", "ms-button ms-runs-group-by", [words("runs.group"), icon("down")]);
    setLabel(opener, "title", "runs.group_by.tip");
    const made = menu(opener, [this.settings]);
    made.classList.add("ms-runs-grouping");
    made.addEventListener("toggle", () => {
      if (!made.open) return;
      this.search.value = "";
      this.find();
    });
    this.settings.addEventListener("click", (event) => {
      const button = event.target instanceof Element && event.target.closest("[data-by]");
      if (button instanceof HTMLElement) this.view.groupBy(button.dataset.by || "");
    });
    this.menu.before(made);
    return made;
  }

  listSettings() {
    if (!this.grouping.open) return;
    const { levels } = this.view.groups;
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.by : undefined;
    this.settings.replaceChildren(...this.choices.settings.map(([name, label, runs]) => {
      const at = levels.indexOf(`setting:${name}`);
      const text = inLanguage(label);
      return make("button", "ms-menu-item", [
        make("span", "ms-cut ms-name", text, { title: name }), make("span", "ms-grow"),
        at < 0 ? this.number(runs) : make("span", "", `✓ ${at + 1}`),
      ], { type: "button", "data-by": `setting:${name}`, "aria-pressed": String(at >= 0) });
    }));
    const again = Array.from(this.settings.querySelectorAll("[data-by]")).find((one) => one.dataset.by === focused);
    if (focused && again instanceof HTMLElement) again.focus();
  }

  find() {
    setProps(this.view.gridId.replace(/-grid$/, "-choices-ask"), {
      data: { find: [this.search.value], again: [String(Date.now())] },
    });
    this.list();
  }

  /** @param {Wire.ColumnChoices} choices */
  answered(choices) {
    this.choices = choices;
    for (const [name, label] of choices.settings) this.view.values.labels[`setting:${name}`] = label;
    this.list();
  }

  list() {
    this.listSettings();
    if (!this.menu.open) return;
    const { levels } = this.view.groups;
    const mark = JSON.stringify([this.choices, this.order(), levels, this.used(), language(), this.search.value]);
    if (mark === this.listed) return;
    this.listed = mark;
    const shown = new Set(this.order());
    const text = this.search.value.trim().toLowerCase();
    const own = [...this.base.map(({ colId }) => colId), "duration"]
      .filter((id) => !FIXED.includes(id) && this.nameOf(id).toLowerCase().includes(text));
    const used = this.used();
    /**
     * @param {string} key
     * @param {HTMLElement[]} lines
     */
    const part = (key, lines) => (lines.length ? [make("h4", "", words(key)), ...lines] : []);
    const parts = [
      ...part("runs.columns_runs", own.map((id) => this.line(
        [this.box(id, shown, this.nameOf(id))],
        isNote(id) && !used.some((name) => name === id) ? words("runs.columns_used", {}, "span", "ms-muted") : null,
      ))),
      ...part("runs.columns_derived", this.expressions.lines(shown, text)),
      ...part("runs.columns_settings", this.choices.settings.map(([name, label, runs]) => this.line(
        [this.box(`setting:${name}`, shown, inLanguage(label), name)], this.number(runs), this.grouper(`setting:${name}`),
      ))),
      ...part("runs.columns_scalars", this.choices.tags.map(([tag, best, runs]) => this.line([
        make("span", "ms-cut ms-name ms-runs-tag", tag, { title: tag }),
        this.box(`last:${tag}`, shown, translate("runs.column_last"), this.nameOf(`last:${tag}`)),
        ...(best ? [this.box(`best:${tag}`, shown, translate("runs.column_best"), this.nameOf(`best:${tag}`))] : []),
      ], this.number(runs)))),
    ];
    const left = countText(this.choices.left);
    if (this.choices.left) parts.push(words("runs.columns_left", { n: left }, "p", "ms-muted"));
    const focused = document.activeElement;
    const value = focused instanceof HTMLInputElement && this.lines.contains(focused) ? focused.value : null;
    this.lines.replaceChildren(...parts);
    if (value !== null) {
      const again = Array.from(this.lines.querySelectorAll("input")).find((one) => one.value === value);
      if (again) again.focus();
    }
  }

  /**
   * @param {HTMLLabelElement[] | HTMLSpanElement[]} boxes
   * @param {...HTMLSpanElement | null} more
   */
  line(boxes, ...more) {
    return make("div", "ms-runs-choice", [...boxes, make("span", "ms-grow"), ...more.flatMap((one) => one || [])]);
  }

  /**
   * @param {string} id
   * @param {Set<string>} shown
   * @param {string} text
   * @param {string} [title]
   */
  box(id, shown, text, title = text) {
    const input = make("input", "", [], { type: "checkbox", value: id, "aria-label": title });
    input.checked = shown.has(id);
    return make("label", "", [input, make("span", "ms-cut ms-name", text, { title })]);
  }

  /** @param {number} runs */
  number(runs) {
    const element = make("span", "ms-muted", countText(runs));
    setLabel(element, "title", "runs.columns_of.tip", { n: countText(runs) });
    return element;
  }

  /** @param {string} id */
  grouper(id) {
    const at = this.view.groups.levels.indexOf(id);
    const button = make("button", "ms-button ms-button-small", [words("runs.group"), at < 0 ? "" : ` ${at + 1}`], {
      type: "button", "data-group": id, "aria-pressed": String(at >= 0), lang: language(),
    });
    setLabel(button, "title", "runs.group.tip");
    return button;
  }
}
