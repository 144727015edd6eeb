// The cells of the list of runs, and the functions that its grid calls by name.

import { cellRenderers, gridFunctions } from "../../kit/ag_grid.js";
import { age } from "../../kit/moments.js";
import { linkTo, nameIn, pagesOf } from "../../kit/grid.js";
import { inLanguage, translate, translations } from "../../kit/i18n.js";
import * as runNotes from "../../kit/notes.js";
import { cellText, count as countText, number } from "../../kit/units.js";
import { paint } from "../../kit/run_selection.js";
import { textOf } from "./group_numbers.js";

/**
 * The views of the lists on screen by the id of their grid.
 * @type {Map<string, RunTable.View>}
 */
export const views = new Map();

/** @param {GridApi} api */
function viewOf(api) {
  return Array.from(views.values()).find((view) => view.api === api);
}

/**
 * The view of a row, which is there as long as its rows are.
 * @param {{ grid: string }} row
 */
const viewIn = ({ grid }) => /** @type {RunTable.View} */ (views.get(grid));

// Functions that the grid calls by name ------------------------------------------------------------------------------

gridFunctions.mindscopeFilters = ({ api }) => Boolean(viewOf(api)?.filtering());
gridFunctions.mindscopePasses = ({ data }) => viewIn(data).passes(data);
gridFunctions.mindscopeRunValue = (row, column) =>
  row && !row.group && views.has(row.grid) ? viewIn(row).values.get(column, row.key) : null;
// A setting is written as it is; of results every number of a column has four digits.
gridFunctions.mindscopeRunNumber = (value, column) => {
  if (typeof value !== "number") return "";
  return column === "duration" ? cellText(value, "s") : column.startsWith("setting:") ? cellText(value, "") : number(value);
};
gridFunctions.mindscopeRunExact = (row, column, value) => {
  const tip = row && !row.group && views.has(row.grid) ? viewIn(row).values.tipOf(column, row.key) : null;
  return tip ? inLanguage(tip) : value === null || value === undefined ? "" : String(value);
};
// Values of different metrics are not compared: runs of one metric stay together, in the order of its values.
gridFunctions.mindscopeByMetric = (a, b, nodeA, nodeB, descending) => {
  /** @param {{ data?: { tag?: string } } | undefined} node */
  const metric = (node) => (node && node.data && node.data.tag) || "";
  const [one, other] = [metric(nodeA), metric(nodeB)];
  if (one === other) return gridFunctions.mindscopeOrder(a, b, nodeA, nodeB, descending);
  const order = !one ? 1 : !other ? -1 : one < other ? -1 : 1;
  return descending ? -order : order;
};
gridFunctions.mindscopeRunWrong = (value) => typeof value === "number" && !Number.isFinite(value);
gridFunctions.mindscopeTextMatches = ({ data, filterOption, value, filterText }) =>
  viewIn(data).textMatches(filterOption, String(value), filterText);
gridFunctions.mindscopeIsGroup = ({ rowNode }) => Boolean(rowNode.data && rowNode.data.group);
gridFunctions.mindscopeArrangeGroups = ({ nodes }) => {
  if (nodes.length && views.has(nodes[0].data.grid)) viewIn(nodes[0].data).groups.arrange(nodes);
};
gridFunctions.mindscopeCount = (value) => (value ? countText(Number(value)) : "");
gridFunctions.mindscopeTags = (row, kind) => (row && row.tags[kind]) || 0;
gridFunctions.mindscopeInsights = (row) => {
  const kinds = row && views.has(row.grid) ? viewIn(row).insightsOf(row) : null;
  return kinds && kinds.length;
};
gridFunctions.mindscopeKinds = (row) =>
  row ? otherKinds(row).map(([kind, n]) => `${translate(`kind.${kind}`)} ${countText(n)}`).join(", ") : "";
gridFunctions.mindscopePath = (row) => (row && row.real ? `${row.path} → ${row.real}` : row && row.path);
gridFunctions.mindscopeAgo = (value) => {
  if (!value) return "";
  const seconds = Date.now() / 1000 - value;
  if (seconds < 5) return translate("age.now");
  return translate("age.ago", { age: inLanguage(age(seconds)) });
};
gridFunctions.mindscopeMoment = (value) =>
  value ? new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" }).format(new Date(value * 1000)) : "";

/** @param {RunTable.Row} row */
function otherKinds(row) {
  return Object.entries(row.tags).filter(([kind, n]) => kind !== "scalar" && !kind.startsWith("profile.") && n > 0);
}

// Cells -------------------------------------------------------------------------------------------------------------

/** @param {...unknown} args */
const make = (...args) => window.React.createElement(...args);

/**
 * @param {string} key
 * @param {TextValues} [values]
 */
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
  const view = viewIn(data);
  const background = paint(data.members, view.drawnIn);
  const [first] = pagesOf(data);
  const name = nameIn(view.rows, data);
  return make("span", { className: "ms-run ms-runs-run" },
    make("span", { className: background ? "ms-dot" : "ms-dot ms-dot-off", style: { background } }),
    first ? linkTo(data, first, () => ({ className: "ms-cut ms-run-name", tabIndex: -1 }), name)
      : make("span", { className: "ms-cut", title: data.name }, name),
    data.note && !data.note.remark && noteButton(data));
};

/**
 * The column of remarks takes no space until there is one, so the first is written from here.
 * @param {RunTable.Row} row
 */
function noteButton({ key, name }) {
  const label = translate("runs.add_remark", { name });
  return make("button", {
    type: "button", className: "ms-button ms-button-icon ms-runs-note", title: label, "aria-label": label, tabIndex: -1,
    /** @param {{ currentTarget: HTMLElement }} event */
    onClick: ({ currentTarget }) => runNotes.open("remark", currentTarget, key, name, () => currentTarget.focus()),
    /** @param {Event} event */
    onDoubleClick: (event) => event.stopPropagation(),
  }, make("span", { className: "ms-icon ms-icon-pencil" }));
}

// The row of a group: its setting and value, and how many runs it has.
cellRenderers.MindscopeRunGroup = ({ data }) => {
  const view = viewIn(data);
  const { value, column, count, depth, numbers, diverged } = data.group;
  const told = numbers.map((/** @type {RunTable.GroupNumber} */ one) => said(one, count)).join("\n");
  const open = !view.groups.closed.has(data.key);
  const text = value === null ? translate("lineage.apart.missing") : typeof value === "number" ? cellText(value, "") : value;
  return make("button", {
    type: "button", className: "ms-runs-group", "aria-expanded": open, style: { paddingLeft: `${24 * depth - 8}px` },
    onClick: () => view.toggleGroup(data.key),
  },
  make("span", { className: "ms-runs-group-name", style: { width: `${336 - 24 * depth}px` } },
    make("span", { className: `ms-icon ms-icon-${open ? "down" : "right"}` }),
    make("span", { className: "ms-muted ms-cut" }, view.columns.nameOf(column)),
    make("strong", { className: "ms-cut" }, text),
    make("span", { className: "ms-muted" }, words(`runs.group_run${count === 1 ? "" : "s"}`, { n: countText(count) })),
    diverged > 0 && make("span", { className: "ms-bad-number" }, words("runs.group_diverged", { n: countText(diverged) }))),
  make("span", { className: "ms-runs-group-numbers", title: told },
    numbers.map((/** @type {RunTable.GroupNumber} */ one) => make("span", { key: one.id, className: "ms-runs-group-number" },
      make("span", { className: "ms-muted ms-cut" }, one.name), make("span", {}, textOf(one.id, one.mean)),
      one.low < one.high && make("span", { className: "ms-muted" }, rangeOf(one))))));
};

/** @param {RunTable.GroupNumber} one */
function rangeOf({ id, low, high }) {
  return `${textOf(id, low)} – ${textOf(id, high)}`;
}

/**
 * A number of a group in a sentence.
 * @param {RunTable.GroupNumber} one
 * @param {number} count runs of the group
 */
function said({ id, name, n, mean, low, high }, count) {
  const [middle, least, most] = [mean, low, high].map((value) => textOf(id, value));
  const numbers = { mean: middle, low: least, high: most, n: countText(n), count: countText(count) };
  return translate("runs.group_number", { name, ...numbers });
}

cellRenderers.MindscopeState = ({ data }) =>
  make("span", { className: "ms-run" },
    make("span", { className: `ms-state ms-state-${data.state}` }, words(`state.${data.state}`)),
    data.problems > 0
    && make("button", { type: "button", "data-action": "health", "data-run": data.key,
      className: `ms-badge ms-badge-button ${["empty", "outside"].includes(data.state) ? "" : "ms-badge-wrong"}`,
      title: translate("health.problems", { n: data.problems }) }, countText(data.problems)));

cellRenderers.MindscopeValue = ({ data }) =>
  make("span", { className: "ms-last", title: data.valueTip ? `${data.tag}: ${inLanguage(data.valueTip)}` : data.tag },
    make("span", { className: "ms-last-tag ms-cut ms-name" }, data.tag),
    make("span", { className: data.value === null && data.valueText ? "ms-bad-number" : "" }, data.valueText));

// Insights by kind, the most frequent first, in red if one is an error.
cellRenderers.MindscopeInsights = ({ data, value }) => {
  if (value === null) return make("span", { className: "ms-muted" }, "…");
  if (!value) return make("span", { className: "ms-muted", title: translate("runs.insights_none") }, "0");
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const kind of viewIn(data).insightsOf(data) || []) counts.set(kind, (counts.get(kind) || 0) + 1);
  const kinds = Array.from(counts).sort((a, b) => grave(b[0]) - grave(a[0]) || b[1] - a[1])
    .map(([kind, n]) => ({ n: countText(n), kind: within(translate(`insights.kind.${kind}`)) }))
    .map((some) => translate("runs.insights_some", some))
    .join(translate("runs.insights_join"));
  const worst = Array.from(counts.keys()).some(grave);
  return make("span", {
    className: worst ? "ms-cut ms-bad-number" : "ms-cut", title: translate("runs.insights_tip", { n: value, kinds }),
  }, kinds);
};

/**
 * A term as it stands within a sentence.
 * @param {string} term
 */
function within(term) {
  return term.replace(/^[A-Z](?=[a-z]+( |$))/, (letter) => letter.toLowerCase());
}

/** @param {string} kind */
function grave(kind) {
  return Number(kind === "non_finite" || kind === "divergence");
}
