// Final values: last and best value of every run or group, by tag, in place of the cards.

import { make, words } from "../../kit/elements.js";
import { count } from "../../kit/units.js";
import { inLanguage, language, setLabel } from "../../kit/i18n.js";
import { byValue, sortHead } from "../../kit/sort_heads.js";
import { last } from "../../kit/state.js";
import { inMatrix, inTable, named } from "./grouping.js";

/** @param {Curves.Page} page */
export function build(page) {
  const host = make("div", "ms-finals", [], { hidden: "", tabindex: "0" });
  setLabel(host, "aria-label", "final.table");
  host.addEventListener("click", (event) => {
    const button = event.target instanceof Element && event.target.closest("[data-sort]");
    if (!button) return;
    const [name, now] = [button.dataset.sort, last(page.state, "sort", "")];
    page.change({ sort: now === name ? [`-${name}`] : now === `-${name}` ? [] : [name] });
  });
  return host;
}

/**
 * @param {string[]} names
 * @param {boolean} grouped
 * @param {string} sort
 */
function header(names, grouped, sort) {
  const cells = ["name", ...names].map((name) => {
    const key = name === "name" ? (grouped ? "final.group" : "hover.run") : `final.${name}`;
    const order = sort === name ? "ascending" : sort === `-${name}` ? "descending" : "";
    const head = sortHead(words(key), { "data-sort": name }, { className: name === "name" ? "" : "ms-number", order });
    if (name !== "name") setLabel(/** @type {HTMLElement} */ (head.firstElementChild), "title", `final.${name}.title`);
    return head;
  });
  return make("thead", "", make("tr", "", cells));
}

/**
 * @param {string[]} names
 * @param {string} sort
 * @returns {(a: Curves.FinalRow, b: Curves.FinalRow) => number}
 */
function compare(names, sort) {
  const at = names.indexOf(sort.replace(/^-/, ""));
  return byValue((row) => (at < 0 ? row.label : row.cells[at].value), sort.startsWith("-"));
}

/**
 * @param {Curves.FinalCell} data
 * @param {boolean} winner
 */
function cell(data, winner) {
  const classes = ["ms-number"];
  if (data.wrong) classes.push("ms-bad-number");
  if (data.few) classes.push("ms-group-few");
  if (winner) classes.push("ms-final-best");
  const element = make("td", classes.join(" "), data.text);
  if (data.few) setLabel(element, "title", "groups.few", { n: 5 });
  else if (data.tip) element.title = inLanguage(data.tip);
  else if (data.title) element.title = data.title;
  return element;
}

/**
 * Best value of each column, if the tag tells what is better.
 * @param {Curves.FinalRow[]} rows
 * @param {string[]} names
 */
function winners(rows, names) {
  return names.map((name, at) => {
    const values = rows.map((row) => row.cells[at].value).filter((value) => value !== null);
    if (!["last", "best"].includes(name) || !rows[0].better || values.length < 2) return null;
    return rows[0].better === "min" ? Math.min(...values) : Math.max(...values);
  });
}

/**
 * @param {string} tag
 * @param {Curves.FinalRow[]} rows
 * @param {Curves.FinalTable} table
 * @param {string} sort
 */
function section(tag, rows, table, sort) {
  const best = winners(rows, table.columns);
  const ordered = sort ? [...rows].sort(compare(table.columns, sort)) : rows;
  const said = rows[0].better ? [words(`final.better.${rows[0].better}`, {}, "span", "ms-muted")] : [];
  const title = make(
    "th",
    "ms-final-tag",
    make("div", "ms-final-tag-name", [make("span", "ms-cut ms-name", tag, { title: tag }), ...said]),
    { colspan: String(table.columns.length + 1), scope: "rowgroup" },
  );
  const lines = ordered.map((row) => {
    const dot = make("span", "ms-dot");
    dot.style.background = row.colour;
    const label = table.grouped ? named(row.label) : row.label;
    const name = make(
      "th",
      "ms-final-name",
      make("span", "ms-final-run", [dot, make("span", "ms-cut ms-name", label, { title: label })]),
      { scope: "row" },
    );
    return make("tr", "", [name, ...row.cells.map((data, at) => cell(data, best[at] !== null && data.value === best[at]))]);
  });
  return make("tbody", "", [make("tr", "", title), ...lines]);
}

/** @param {Curves.Page} page */
export function draw(page) {
  const host = page.find(".ms-finals");
  const shown = inTable(page) && !inMatrix(page) && page.catalogue && page.catalogue.tags.length > 0;
  host.hidden = !shown;
  const table = page.sheet && page.sheet.table;
  if (!shown || !table) return;
  const sort = last(page.state, "sort", "");
  const key = JSON.stringify([sort, language()]);
  if (page.tableDrawn === table && host.dataset.drawn === key) return;
  page.tableDrawn = table;
  host.dataset.drawn = key;
  const tags = new Map();
  for (const row of table.rows) tags.set(row.tag, [...(tags.get(row.tag) || []), row]);
  const bodies = Array.from(tags, ([tag, rows]) => section(tag, rows, table, sort));
  const notes = [];
  if (table.total > table.rows.length) {
    notes.push(words("final.shown", { n: count(table.rows.length), total: count(table.total) }, "p", "ms-muted"));
  }
  if (!table.rows.length) notes.push(words("cards.no_match", {}, "p", "ms-muted"));
  const focused = host.contains(document.activeElement) ? document.activeElement.dataset.sort : null;
  host.replaceChildren(make("table", "", [header(table.columns, table.grouped, sort), ...bodies]), ...notes);
  const again = focused && host.querySelector(`[data-sort="${focused}"]`);
  if (again) again.focus({ preventScroll: true });
}
