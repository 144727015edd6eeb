// What two traces differ in: the table of their names in a range, and what both come to.

import { make, words } from "../../kit/elements.js";
import { count, exactDuration, percent } from "../../kit/units.js";
import { duration, signed } from "../axis.js";

/** Columns in the order of the page: key, and how a value is shown. */
const COLUMNS = [
  ["name", "name"], ["count", "count"], ["other_count", "count"], ["total_ns", "time"], ["other_total_ns", "time"],
  ["total_difference_ns", "change"], ["self_ns", "time"], ["other_self_ns", "time"], ["difference_ns", "change"],
];

function change(ns) {
  const tone = ns > 0 ? "ms-timeline-more-time" : ns < 0 ? "ms-timeline-less-time" : "ms-muted";
  return make("td", `ms-number ${tone}`, signed(ns), { title: exactDuration(ns) });
}

function cell(kind, value, find) {
  if (kind === "name") {
    const button = make("button", "ms-timeline-link ms-cut", value, { type: "button", title: value });
    button.addEventListener("click", () => find(value.split("0x…")[0]));
    return make("td", "ms-timeline-cell-name", button);
  }
  if (kind === "change") return change(value);
  if (kind === "count") return make("td", value ? "ms-number" : "ms-number ms-muted", count(value));
  return make("td", value ? "ms-number" : "ms-number ms-muted", duration(value), { title: exactDuration(value) });
}

/** Rows by a column; names rise, numbers fall by their size, so that what differs the most comes first. */
export function byColumn(rows, at, kind, turned) {
  const value = (row) => (kind === "change" ? Math.abs(row[at]) : row[at]);
  const found = rows.slice().sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    return x === y ? 0 : (x < y ? -1 : 1) * (kind === "name" ? 1 : -1);
  });
  return turned ? found.reverse() : found;
}

/** The parts of the panel: found is what the server said of the traces `first` and `other`. acts: searchFor(name). */
export function differenceParts(found, first, other, acts) {
  if (!found.rows.length) return [words("timeline.range_none", {}, "p", "ms-muted")];
  const place = new Map(found.columns.map((column, at) => [column, at]));
  const rows = found.rows.map((row) => COLUMNS.map(([column]) => row[place.get(column)]));
  const body = make("tbody");
  const fill = (sorted) => body.replaceChildren(...sorted.map((row) =>
    make("tr", "", row.map((value, at) => cell(COLUMNS[at][1], value, acts.searchFor)))));
  let order = { at: -1, turned: false };
  const heads = COLUMNS.map(([column, kind], at) => {
    const title = words(`timeline.difference.${column.replace(/_ns$/, "")}`);
    const button = make("button", "ms-timeline-sort", title, { type: "button" });
    const head = make("th", kind === "name" ? "" : "ms-number", button, { scope: "col" });
    button.addEventListener("click", () => {
      order = { at, turned: order.at === at && !order.turned };
      heads.forEach((one) => one.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", (kind === "name") === order.turned ? "descending" : "ascending");
      fill(byColumn(rows, at, kind, order.turned));
    });
    return head;
  });
  heads[COLUMNS.length - 1].setAttribute("aria-sort", "descending");
  fill(rows);
  const side = (letter, part, ns) => make("span", "ms-timeline-key", [
    make("strong", "", letter), make("span", "ms-cut", part.name, { title: part.file }), make("span", "", duration(ns)),
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
