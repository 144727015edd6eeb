// The table of settings: one bar per measure, the strongest setting first.

import { make, words } from "../../kit/elements.js";
import { language, setLabel } from "../../kit/i18n.js";
import { sortHead } from "../../kit/sort_heads.js";
import { last, same } from "../../kit/state.js";
import { count, percent } from "../../kit/units.js";
import { cut } from "../columns.js";
import { drawFitting, drawNote } from "./fitting.js";
import { MEASURES, RUNNING, chosenSetting, measure, named, shapeOf, ranked, sorted, strength } from "./settings.js";

const TINY = 0.001;  // a share that may be none is not written out below it
const SAYS_NOTHING = ["constant", "unique", "identifier"];
/** @type {Record<string, string>} */
const ARROWS = { up: "↗", down: "↘", peak: "∩", valley: "∪" };

/** @param {Lineage.ResultPage} page */
export function table(page) {
  const by = measure(page);
  const shown = [page.sheet.stamp, by, chosenSetting(page), language(), page.fitting, shapeOf(page, null), page.state.rest];
  if (same(shown, page.shown)) return;
  page.shown = shown;
  const box = page.find(".ms-optimisation-settings");
  const focused = document.activeElement && box.contains(document.activeElement) ? document.activeElement : null;
  const measures = measuresOf(page, by);
  const header = make("tr", "", [
    make("th", "", words("optimisation.setting"), { scope: "col" }),
    ...measures.map((name) => head(name, by)),
  ]);
  const rows = sorted(page);
  const few = rows.filter((row) => !SAYS_NOTHING.includes(row.reason) || row.setting === chosenSetting(page));
  const rest = rows.filter((row) => !few.includes(row));
  const parts = [make("thead", "", header), make("tbody", "", few.map((row) => line(page, row, measures)))];
  if (rest.length) parts.push(...folded(page, rest, measures));
  const built = make("table", "ms-optimisation-table", parts, { "data-measures": String(measures.length) });
  setLabel(built, "aria-label", "optimisation.importance");
  box.replaceChildren(built);
  if (focused) refocus(box, focused.dataset);
  drawNote(page);
  drawFitting(page);
}

/**
 * The measures with a column: the share has none once it is known that there is none.
 * @param {Lineage.ResultPage} page
 * @param {string} by
 */
function measuresOf(page, by) {
  const { fitting } = page;
  const none = fitting && fitting.target === page.sheet.target && !RUNNING.includes(fitting.state) && !fitting.judged;
  return none && by !== "share" ? MEASURES.filter((name) => name !== "share") : MEASURES;
}

/**
 * Settings that cannot be related to a result, below a button that shows them.
 * @param {Lineage.ResultPage} page
 * @param {Lineage.SettingRow[]} rows
 * @param {Lineage.Measure[]} measures
 */
function folded(page, rows, measures) {
  const open = last(page.state, "rest", "") === "1";
  const same = rows.filter((row) => row.reason === "constant").length;
  const closed = same === rows.length ? "optimisation.rest_constant" : "optimisation.rest";
  const press = make("button", "ms-button ms-button-small", words(open ? "optimisation.less" : closed, {
    n: count(rows.length), same: count(same), own: count(rows.length - same),
  }), { type: "button", "data-act": "rest", "aria-expanded": String(open) });
  const button = make("tr", "", make("td", "ms-optimisation-rest", press, { colspan: String(measures.length + 1) }));
  const body = make("tbody", "", rows.map((row) => line(page, row, measures)));
  body.hidden = !open;
  return [make("tbody", "", button), body];
}

/**
 * @param {HTMLElement} box
 * @param {DOMStringMap} focused
 */
function refocus(box, { setting, by }) {
  const again = Array.from(box.querySelectorAll("[data-setting], [data-by]"))
    .find((one) => one.dataset.setting === setting && one.dataset.by === by);
  if (again) again.focus();
}

/**
 * @param {string} name
 * @param {string} by
 */
function head(name, by) {
  const order = name === by ? "descending" : "";
  const cell = sortHead(words(`optimisation.${name}`), { "data-act": "by", "data-by": name }, { order });
  setLabel(/** @type {HTMLElement} */ (cell.firstElementChild), "title", `optimisation.${name}_tip`);
  return cell;
}

/**
 * @param {Lineage.ResultPage} page
 * @param {Lineage.SettingRow} row
 * @param {Lineage.Measure[]} measures
 */
function line(page, row, measures) {
  const chosen = row.setting === chosenSetting(page);
  const parts = [make("span", "ms-cut", cut(named(page, row.setting), 200), { title: cut(row.setting, 400) })];
  if (row.text && row.levels > 1 && row.reason !== "unique") {
    parts.push(words("optimisation.levels", { n: row.levels }, "span", "ms-badge"));
  }
  if (row.runs < page.sheet.runs && row.reason !== "few") {
    parts.push(words("optimisation.of_runs", { n: count(row.runs) }, "span", "ms-badge"));
  }
  if (row.for.length) {
    const others = row.for.map((name) => cut(named(page, name), 40));
    const key = others.length > 1 ? "optimisation.for_more" : "optimisation.for";
    const badge = words(key, { other: others[0], n: count(others.length - 1) }, "span", "ms-badge");
    setLabel(badge, "title", "optimisation.for_tip", { names: others.slice(0, 20).join(", ") });
    parts.push(badge);
  }
  if (row.strength !== null) {
    const other = { other: cut(named(page, row.with), 40), strength: row.strength.toFixed(2) };
    const near = words("optimisation.near", other, "span", "ms-badge ms-badge-accent");
    setLabel(near, "title", "optimisation.near_tip", other);
    parts.push(near);
  }
  const name = make("th", "", make("div", "ms-optimisation-name", parts), { scope: "row" });
  const cells = row.reason
    ? [
        make(
          "td",
          "ms-optimisation-reason",
          words(`optimisation.reason.${row.reason}`, { n: count(row.runs), other: cut(named(page, row.with), 60) }),
          { colspan: String(measures.length) },
        ),
      ]
    : measures.map((by) => bar(page, row, by));
  return make("tr", row.reason ? "ms-optimisation-quiet" : "", [name, ...cells], {
    "data-setting": row.setting,
    tabindex: "0",
    "aria-selected": String(chosen),
  });
}

/**
 * @param {Lineage.ResultPage} page
 * @param {Lineage.SettingRow} row
 * @param {Lineage.Measure} by
 */
function bar(page, row, by) {
  const found = strength(page, row, by);
  const share = by === "share";
  if (!found) {
    return make("td", "ms-optimisation-cell", !share && row.eta ? words("optimisation.no_order", {}, "span", "ms-muted") : []);
  }
  const [value, low, high] = found;
  /** @param {number} part */
  const at = (part) => `${Math.min(100, Math.max(0, part * 100)).toFixed(2)}%`;
  const fill = make("span", `ms-optimisation-fill ms-optimisation-${by}`);
  fill.style.width = at(value);
  const parts = [fill];
  if (low !== null && high !== null) {
    const whisker = make("span", "ms-optimisation-whisker");
    whisker.style.left = at(low);
    whisker.style.width = `max(1px, ${at(Math.min(1, high) - Math.max(0, low))})`;
    parts.push(whisker);
  }
  const exact = share ? percent(value) : value.toFixed(4);
  const tiny = share && !ranked(found) && Math.abs(value) < TINY;
  const text = tiny ? "< 0.1 %" : share ? exact : value.toFixed(2);
  const shape = by === "rank" ? shapeOf(page, row) : "";
  const [least, most] = row.tried;
  const number = make("span", "ms-optimisation-value", [
    by === "linear" && row.eta ? make("span", "ms-muted", "η ") : "",
    text,
  ]);
  const arrow = make("span", "ms-optimisation-sign", ARROWS[shape] || "", shape ? { role: "img" } : { "aria-hidden": "true" });
  if (shape) for (const name of ["title", "aria-label"]) setLabel(arrow, name, `optimisation.shape.${shape}`, { least, most });
  const cell = make("td", "ms-optimisation-cell", make("div", "ms-optimisation-measure", [
    number, arrow, make("span", "ms-optimisation-track", parts),
  ]));
  const ends
    = low === null || high === null
      ? { low: "–", high: "–" }
      : {
          low: share ? percent(low) : low.toFixed(3),
          high: share ? percent(high) : high.toFixed(3),
        };
  if (share && !ranked(found)) {
    number.classList.add("ms-muted");
    fill.classList.add("ms-optimisation-unranked");
  }
  const tied = page.fitting?.tied.includes(row.setting);
  const known = !ranked(found) ? "optimisation.unranked" : tied ? "optimisation.tied" : "optimisation.middle";
  setLabel(cell, "title", share ? known : "optimisation.interval", {
    value: exact,
    ...ends,
  });
  return cell;
}
