// Files of the page: its charts as pictures, strengths and points as CSV.

import * as files from "../../kit/files.js";
import { translate } from "../../kit/i18n.js";
import { escapeMarkup } from "../../kit/markup.js";
import { numbersOf } from "../../kit/typed_arrays.js";
import { cut } from "../columns.js";
import { measure, named, numbered, shares, sorted, targetLabel } from "./settings.js";

/**
 * @param {Lineage.ResultPage} page
 * @param {string} card
 */
const plotOf = (page, card) => page.find(`.ms-optimisation-${card} .js-plotly-plot`);

/**
 * @param {Lineage.ResultPage} page
 * @param {string} card
 * @param {string} kind
 */
export function save(page, card, kind) {
  const subject = card === "over" ? `${page.sheet.target} ${page.drawing.setting}` : page.sheet.target;
  const { name } = files.called(plotOf(page, card) || page.find(".ms-optimisation-importance"), subject);
  if (kind === "csv") files.saveCsv(card === "over" ? points(page) : strengths(page), name);
  else if (card === "importance") {
    files.saveImage(bars(page), page.find(".ms-optimisation-importance"), kind, subject, {
      clientWidth: 820,
      clientHeight: 90 + 24 * numbered(page).length,
    });
  } else files.saveImage(plotOf(page, card), plotOf(page, card), kind, subject);
}

/** @param {Lineage.ResultPage} page */
function strengths(page) {
  /** @param {string} name */
  const ends = (name) => [name, `${name}_low`, `${name}_high`];
  const header = [
    "setting",
    "kind",
    "levels",
    "runs",
    ...ends("linear"),
    ...ends("monotonic"),
    ...ends("share"),
    "shape",
    "reason",
    "with",
    "with_strength",
  ];
  return [header, ...sorted(page).map((row) => [
    row.setting, row.text ? "categorical" : "numeric", row.levels, row.runs,
    ...row.linear, ...row.rank, ...(shares(page)[row.setting] || ["", "", ""]), row.shape, row.reason, row.with, row.strength,
  ])];
}

/** @param {Lineage.ResultPage} page */
function points(page) {
  const trace = runsIn(plotOf(page, "over"));
  const values = trace ? numbersOf(trace.y) : [];
  /** @param {string} text */
  const value = (text) =>
    text
      .slice(text.indexOf("<br>") + 4)
      .replace(/&lt;/g, "<")
      .replace(/&gt;/g, ">")
      .replace(/&amp;/g, "&");
  const rows = trace ? trace.customdata.map((run, i) => [run, value(trace.text[i]), values[i]]) : [];
  return [["run", page.drawing.setting, page.drawing.target], ...rows];
}

/**
 * The points of runs in a plot.
 * @param {{ data: Lineage.RunTrace[] }} plot
 */
function runsIn({ data }) {
  return data.find(({ meta }) => meta && meta.role === "runs");
}

/**
 * The bars of the table as a figure, for image files.
 * @param {Lineage.ResultPage} page
 */
function bars(page) {
  const by = measure(page) || "linear";
  const rows = numbered(page);
  const found = rows.map(({ ends }) => ends);
  const names = rows.map(({ row }) => escapeMarkup(cut(named(page, row.setting), 40)));
  const data = [{
    type: "bar", orientation: "h", x: found.map(([value]) => value), y: rows.map((_row, i) => i), marker: { color: "#4e7fd6" },
    error_x: { type: "data", symmetric: false, color: "#8b95a1", thickness: 1.5, width: 3,
      array: found.map(([value, , high]) => (high === null ? 0 : Math.max(0, high - value))),
      arrayminus: found.map(([value, low]) => (low === null ? 0 : Math.max(0, value - low))) },
  }];
  const layout = {
    margin: { l: 200, r: 24, t: 36, b: 32 },
    title: { text: escapeMarkup(`${targetLabel(page)}: ${translate(`optimisation.${by}`)}`), font: { size: 13 }, x: 0.02 },
    xaxis: { range: [0, 1] },
    yaxis: { autorange: "reversed", tickvals: rows.map((_row, i) => i), ticktext: names, automargin: true },
  };
  return { data, layout };
}
