// The selected operator: its tensors with statistics, their history and distribution, its source lines. Counterpart of
// layouts/dumps/debugger/selected.py. State: node, io (which tensor), stat (the statistic over iterations).

import { functionsOf } from "../../kit/dash.js";
import { make, option, select, words } from "../../kit/elements.js";
import { count } from "../../kit/units.js";
import { setLabel, translate } from "../../kit/i18n.js";
import { expectFigure, expectNone, showFigure } from "../../kit/late_graphs.js";
import { notYet } from "../../kit/pages.js";
import * as debugging from "../dumps.js";
import { busy } from "../../kit/page_parts.js";
import { drawProgress } from "../../kit/progress.js";
import * as comparing from "./selected_compare.js";
import * as values from "./selected_values.js";

const COLUMNS = [
  "min", "max", "mean", "std", "l2", "negative", "zero", "positive", "nan", "positive_inf", "negative_inf",
];
const BAD = ["nan", "positive_inf", "negative_inf"];
const TRENDS = ["l2", "mean", "std", "min", "max", "abs_mean", "zero", "negative", "positive", ...BAD];

/** @param {Debugger.Page} page */
export function build(page) {
  const root = page.find(".ms-debugger-selected");
  /** @param {string} name */
  const part = (name) => root.querySelector(`.ms-selected-${name}`);
  const stat = select("debugger.trend.statistic", (value) => page.change({ stat: value === "l2" ? [] : [value] }));
  part("trend").querySelector(".ms-selected-tools").append(stat);
  page.selected = {
    root, part, stat, answer: null, hits: new Map(), tensor: notYet, comparison: null, asked: null, tolerance: 0,
    compare: notYet, values: notYet,
  };
  values.build(page);
  comparing.build(page);
}

/**
 * Mark the tensors of which watchpoints say something: row of the tensor -> texts.
 * @param {Debugger.Page} page
 * @param {Map<number, string[]>} hits
 */
export function markHits(page, hits) {
  page.selected.hits = hits;
  if (page.selected.answer) drawTensors(page);
}

// What is asked -------------------------------------------------------------------------------------------------------

/** @param {Debugger.Page} page */
export function draw(page) {
  const node = debugging.get(page, "node");
  const { part, answer } = page.selected;
  const here = answer && answer.name === node;
  part("none").hidden = Boolean(node);
  part("head").hidden = !node;
  part("body").hidden = !node || !here;
  if (!node) return;
  const ask = debugging.askOf(page);
  const plain = { of: ask.of, rank: ask.rank, step: ask.step, mark: ask.mark };
  debugging.request(page, "tensors", { ...plain, node: [node], io: page.state.io || [] });
  if (here) drawRest(page);
}

/**
 * What parts about the chosen tensor are asked with.
 * @param {Debugger.Page} page
 */
function askOfTensor(page) {
  const { answer } = page.selected;
  const { of, rank, step, mark } = debugging.askOf(page);
  return { of, rank, step, mark, row: [String(answer.row)], node: [answer.name], io: [answer.chosen] };
}

// The chosen tensor, once the server has answered for the present selection.
const chosenTensor = ({ answer }) => answer && answer.tensors.find((one) => one.row === answer.row);

/** @param {Debugger.Page} page */
function drawRest(page) {
  const { part, answer } = page.selected;
  const tensor = chosenTensor(page.selected);
  part("cards").hidden = !tensor;
  if (!tensor) return;
  // The listing may be newer than the answer; another one follows.
  if (answer.mark !== page.listed.mark) return;
  const ask = askOfTensor(page);
  drawTrendChoice(page);
  comparing.draw(page, tensor, ask);
  const other = comparing.matched(page);
  const beside = other ? { with_run: [other.run], with_row: [other.row], with_mark: [other.mark] } : {};
  expectFigure(page, "trend-plot");
  debugging.request(page, "trend", { ...ask, ...beside, stat: [statistic(page)] });
  values.draw(page, tensor, ask);
}

/** @param {Debugger.Page} page */
const statistic = (page) => TRENDS.includes(debugging.get(page, "stat")) ? debugging.get(page, "stat") : "l2";

/** @param {Debugger.Page} page */
function drawTrendChoice(page) {
  const { stat } = page.selected;
  if (!stat.options.length) {
    stat.append(...TRENDS.map((name) => option(name, `debugger.stat.${name}`)));
  }
  stat.value = statistic(page);
}

// Answers -------------------------------------------------------------------------------------------------------------

/**
 * @param {Debugger.Page} page
 * @param {string} part
 */
const again = (page, part) => (more) => debugging.request(page, part, page.parts.get(part).ask, { more });

/** @type {Record<string, (page: Debugger.Page, answer: any) => void>} */
export const answers = {
  tensors(page, answer) {
    const { part } = page.selected;
    page.selected.answer = answer;
    drawHead(page);
    drawTensors(page);
    drawStack(page);
    drawProgress(part("body").querySelector(":scope > .ms-body-status"), answer, again(page, "tensors"));
    draw(page);
  },
  trend(page, answer) {
    const { part } = page.selected;
    const card = part("trend");
    drawProgress(card.querySelector(".ms-body-status"), answer, again(page, "trend"));
    if (!answer.figure) {
      if (!busy(answer)) expectNone(page, "trend-plot");
      return;
    }
    const once = answer.iterations < 2 ? [words("debugger.trend.once", {}, "span", "ms-muted")] : [];
    card.querySelector(".ms-card-badges").replaceChildren(...once);
    card.classList.toggle("ms-selected-short", answer.iterations < 2);
    if (answer.iterations < 2) expectNone(page, "trend-plot");
    else showFigure(page, "trend-plot", answer.figure);
  },
  histogram: (page, answer) => values.takeHistogram(page, answer, again(page, "histogram")),
  comparison(page, answer) {
    comparing.take(page, answer, again(page, "comparison"));
    draw(page);
  },
};

// The operator ----------------------------------------------------------------------------------------------------------

/** @param {Debugger.Page} page */
function drawHead(page) {
  const { part, answer } = page.selected;
  const badges = [];
  if (answer.type) badges.push(make("span", "ms-badge", answer.type));
  if (answer.graph >= 0) badges.push(words("debugger.graph_n", { n: answer.graph }, "span", "ms-badge"));
  if (answer.recorded && answer.recorded !== answer.name && !sameName(answer)) {
    badges.push(words("debugger.recorded", { name: answer.recorded }, "span", "ms-muted"));
  }
  part("head").replaceChildren(make("h2", "ms-selected-name ms-mono", answer.name, { title: answer.name }), ...badges);
}

// Files have _ for every / of a name.
const sameName = ({ name, recorded }) => name.replace(/[/.]/g, "_") === recorded.replace(/[/.]/g, "_");

/** @param {Debugger.Page} page */
function drawTensors(page) {
  const { part, answer } = page.selected;
  const host = part("tensors");
  if (!answer.tensors.length) {
    const known = Number.isInteger(answer.other);
    const line = words(known ? "debugger.no_tensors" : "debugger.no_tensors_ever", { step: count(page.step ?? 0) }, "p", "");
    const button = make("button", "ms-button", words("debugger.go_step", { step: answer.other }), { type: "button" });
    button.addEventListener("click", () => page.change({ step: [String(answer.other)] }));
    host.replaceChildren(line, ...(known ? [button] : []));
    return;
  }
  const names = ["tensor", "dtype", "shape", ...COLUMNS.map((name) => `stat.${name}`), "from"];
  const head = make("tr", "", names.map((name) => {
    const cell = words(`debugger.${name}`, {}, "th", name.startsWith("stat.") ? "ms-selected-number" : "");
    if (["stat.min", "stat.max", "stat.mean", "stat.std", "stat.l2"].includes(name)) {
      setLabel(cell, "title", "debugger.stat.tip");
    }
    return cell;
  }));
  const rows = answer.tensors.map((tensor) => tensorRow(page, tensor));
  const more = answer.more ? [words("debugger.more_tensors", { n: count(answer.more) }, "p", "ms-muted")] : [];
  host.replaceChildren(make("table", "ms-selected-list", [make("thead", "", head), make("tbody", "", rows)]), ...more);
}

/** @param {Debugger.Page} page */
function tensorRow(page, tensor) {
  const chosen = tensor.row === page.selected.answer.row;
  const bad = tensor.non_finite === 1;
  const name = make("button", "ms-selected-link", nameOf(tensor), { type: "button", "aria-pressed": String(chosen) });
  const notes = [];
  const hits = page.selected.hits.get(tensor.row) || [];
  if (hits.length) {
    notes.push(make("span", "ms-badge ms-badge-wrong", words("debugger.hit"), { title: hits.join("\n") }));
  }
  const { parameter } = tensor;
  if (parameter && !tensor.from) notes.push(make("span", "ms-muted ms-mono ms-cut ms-name", parameter, { title: parameter }));
  if (tensor.occurrence) notes.push(words("debugger.occurrence", { n: tensor.occurrence + 1 }, "span", "ms-muted"));
  const row = make("tr", `${chosen ? "ms-selected-chosen" : ""}${bad ? " ms-selected-bad" : ""}`.trim(), [
    make("td", "ms-selected-tensor", make("span", "", [name, ...notes])),
    make("td", "ms-mono", tensor.dtype),
    make("td", "ms-mono", shapeOf(tensor), { title: tensor.size }),
    ...statisticCells(tensor),
    make("td", "ms-selected-from", fromOf(page, tensor)),
  ]);
  row.addEventListener("click", (event) => {
    if (event.target instanceof Element && event.target.closest("a, .ms-selected-producer")) return;
    if (!chosen) page.change({ io: [tensor.id] });
  });
  return row;
}

function nameOf({ io, slot, key }) {
  return [words(`debugger.io.${io}`, { slot }), ...(key ? [" ", make("span", "ms-mono", key)] : [])];
}

const PLAIN = ["", "DefaultFormat", "ND"];
const shapeOf = ({ shape, format }) => shape.replaceAll("x", "×") + (PLAIN.includes(format) ? "" : ` ${format}`);

function statisticCells(tensor) {
  const { statistics, source, problem, status } = tensor;
  if (!Object.keys(statistics).length) {
    const asked = status === "unfetched";
    const why = words(asked ? "debugger.unfetched" : "debugger.unreadable");
    return [make("td", asked ? "ms-muted" : "ms-wrong-text", why, { colspan: COLUMNS.length, title: problem })];
  }
  const cells = COLUMNS.map((name) => {
    const [text, exact] = statistics[name] || ["", ""];
    const wrong = (BAD.includes(name) && exact !== "0" && exact !== "") || /NaN|Inf/.test(text);
    const empty = BAD.includes(name) && exact === "0";
    return make("td", `ms-selected-number${wrong ? " ms-selected-wrong" : ""}${empty ? " ms-selected-zero" : ""}`, text,
      { title: exact });
  });
  if (tensor.non_finite === 1 && BAD.every((name) => !statistics[name])) {
    const cell = cells[COLUMNS.indexOf("nan")];
    cell.replaceChildren(words("debugger.bad_unknown"));
    cell.classList.add("ms-selected-wrong");
  }
  if (source && source !== "computed") {
    for (const cell of cells) if (cell.title) cell.title += `\n${translate("debugger.stated", { source })}`;
  }
  return cells;
}

/** @param {Debugger.Page} page */
function fromOf(page, tensor) {
  if (!tensor.from) return "";
  const { node, io, step } = tensor.from;
  const short = node.split("/").pop();
  const link = make("button", "ms-selected-link ms-selected-producer ms-mono ms-cut ms-name", short, { type: "button" });
  link.title = `${node} ${io}\n${translate("debugger.from.tip", { step })}`;
  link.addEventListener("click", () => page.change({ node: [node], io: [io], step: [String(step)] }));
  return link;
}

// Source lines --------------------------------------------------------------------------------------------------------

/** @param {Debugger.Page} page */
function drawStack(page) {
  const { part, answer } = page.selected;
  const lines = answer.stack || [];
  const own = lines.filter((line) => line.own);
  const others = lines.filter((line) => !line.own);
  const nearest = own.findLast((line) => line.first === line.last) || own[own.length - 1];
  const parts = [];
  if (!lines.length) parts.push(words("debugger.stack.none", {}, "p", "ms-muted"));
  if (own.length) parts.push(make("ol", "ms-selected-stack", own.map((line) => stackLine(line, line === nearest))));
  if (others.length) {
    const summary = make("summary", "", words("debugger.stack.packages", { n: count(others.length) }));
    const list = make("ol", "ms-selected-stack", others.map((line) => stackLine(line, false)));
    parts.push(make("details", "", [summary, list], own.length ? {} : { open: "" }));
  }
  part("lines").replaceChildren(...parts);
}

function stackLine({ file, first, last, code }, nearest) {
  const place = first ? `${file.split("/").pop()}:${first}${last > first ? `–${last}` : ""}` : "";
  return make("li", nearest ? "ms-selected-nearest" : "", [
    make("span", "ms-muted ms-mono", place, { title: file }), " ", make("code", "", code),
  ]);
}

// Called by Dash --------------------------------------------------------------------------------------------------------

Object.assign(functionsOf("mindscope_debugger_selected"), {
  /** @param {string} rootId */
  pressed(pressed, rootId) {
    const page = debugging.pageOf(rootId);
    const point = pressed && pressed.points && pressed.points[0];
    if (page && point && Number.isInteger(point.x) && point.x !== page.step) page.change({ step: [String(point.x)] });
  },
});
