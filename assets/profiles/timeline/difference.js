// What two traces differ in: the table of their names in a range, and what both come to.

import { make, words } from "../../kit/elements.js";
import { byValue, sortHeads } from "../../kit/sort_heads.js";
import { count, exactDuration, percent } from "../../kit/units.js";
import { duration, signed } from "../axis.js";

/** Columns in the order of the page: key, and how a value is shown. */
const COLUMNS = [
  ["name", "name"], ["count", "count"], ["other_count", "count"], ["total_ns", "time"], ["other_total_ns", "time"],
  ["total_difference_ns", "change"], ["self_ns", "time"], ["other_self_ns", "time"], ["difference_ns", "change"],
];

/** @param {number} ns */
function change(ns) {
  const tone = ns > 0 ? "ms-timeline-more-time" : ns < 0 ? "ms-timeline-less-time" : "ms-muted";
  return make("td", `ms-number ${tone}`, signed(ns), { title: exactDuration(ns) });
}

/**
 * @param {string} kind
 * @param {Timeline.Cell} value
 * @param {(name: string) => void} find
 */
function cell(kind, value, find) {
  if (kind === "name") {
    const name = String(value);
    const button = make("button", "ms-timeline-link ms-cut ms-name", name, { type: "button", title: name });
    button.addEventListener("click", () => find(name.split("0x…")[0]));
    return make("td", "ms-timeline-cell-name", button);
  }
  const number = Number(value);
  if (kind === "change") return change(number);
  if (kind === "count") return make("td", value ? "ms-number" : "ms-number ms-muted", count(number));
  return make("td", value ? "ms-number" : "ms-number ms-muted", duration(number), { title: exactDuration(number) });
}

/**
 * Rows by a column; a change counts by its size, so that what differs the most comes first.
 * @param {Timeline.Cell[][]} rows
 * @param {number} at
 * @param {string} kind
 * @param {boolean} falling
 */
export function byColumn(rows, at, kind, falling) {
  /** @param {Timeline.Cell[]} row */
  const value = (row) => (kind === "change" ? Math.abs(Number(row[at])) : row[at] ?? 0);
  return rows.slice().sort(byValue(value, falling));
}

/**
 * The parts of the panel: found is what the server said of the traces `first` and `other`. acts: searchFor(name).
 * @param {Timeline.Differences} found
 * @param {Timeline.Part} first
 * @param {Timeline.Part} other
 * @param {Timeline.PanelActs} acts
 */
export function differenceParts(found, first, other, acts) {
  if (!found.rows.length) return [words("timeline.range_none", {}, "p", "ms-muted")];
  const place = new Map(found.columns.map((column, at) => [column, at]));
  const rows = found.rows.map((row) => COLUMNS.map(([column]) => row[place.get(column) ?? -1]));
  const body = make("tbody");
  /** @param {Timeline.Cell[][]} sorted */
  const fill = (sorted) => body.replaceChildren(...sorted.map((row) =>
    make("tr", "", row.map((value, at) => cell(COLUMNS[at][1], value, acts.searchFor)))));
  const heads = sortHeads(COLUMNS.map(([column, kind]) => ({
    title: words(`timeline.difference.${column.replace(/_ns$/, "")}`),
    className: kind === "name" ? "" : "ms-number",
    falling: kind !== "name",
  })), (at, falling) => fill(byColumn(rows, at, COLUMNS[at][1], falling)), COLUMNS.length - 1);
  fill(rows);
  /**
   * @param {string} letter
   * @param {Timeline.Part} part
   * @param {number} ns
   */
  const side = (letter, part, ns) => make("span", "ms-timeline-key", [
    make("strong", "", letter), make("span", "ms-cut ms-name", part.name, { title: part.file }), make("span", "", duration(ns)),
  ]);
  const { sums } = found;
  const [own, others] = [sums.self_ns, sums.other_self_ns];
  const share = own ? ` (${percent((others - own) / own, { signed: true })})` : "";
  const head = make("div", "ms-timeline-sides", [
    words("timeline.difference.own", {}, "span", "ms-muted"), side("A", first, own), side("B", other, others),
    make("span", others > own ? "ms-timeline-more-time" : "ms-timeline-less-time", `${signed(others - own)}${share}`),
  ]);
  const table = make("table", "ms-timeline-table ms-timeline-differences", [make("thead", "", make("tr", "", heads)), body]);
  const parts = [head, table];
  if (found.total > rows.length) {
    parts.push(words("timeline.range_first", { n: count(rows.length), total: count(found.total) }, "p", "ms-muted"));
  }
  return parts;
}
