// What the page of ranks says: sentences, the note below the picture, the legend, the table, and values as text.

import { make, icon, words } from "../../kit/elements.js";
import { count, prefixed, size } from "../../kit/units.js";
import { setLabel, translate } from "../../kit/i18n.js";
import { duration, signed } from "../../profiles/axis.js";
import * as profiling from "../../profiles/profiles.js";
import * as parts from "./rank_rows.js";

export const MOST_RANKS = 64;
export const LINES = ["peak_bytes", "flops", "flops_per_s", "computing_ns"];
const COLUMNS = [
  "rank", "stage", "operators", "computing_ns", "communication_ns", "begin_ns", "end_ns", "joined_below", "alone", "shift_ns",
  "residual_ns", "worst_ns", "peak_bytes", "flops", "flops_per_s",
];
const MOST_TOLD = 5;

/**
 * The ranks of rows that pass a test.
 * @param {Ranks.Facts} facts
 * @param {(one: Ranks.Rank) => unknown} test
 */
export const rowsWhere = (facts, test) => facts.ranks.filter(test).map((one) => one.rank);

/** @param {Ranks.Page} page */
export function drawHead(page) {
  const { facts } = page;
  const { ranks } = facts;
  /** @type {HTMLElement[]} */
  const said = [];
  /**
   * @param {string} key
   * @param {TextValues} values
   * @param {string} [tone]
   */
  const say = (key, values, tone = "") => said.push(words(key, values, "p", tone));
  /** @param {string} name */
  const sum = (name) => ranks.reduce((total, one) => total + Math.max(0, one[name] ?? 0), 0);
  if (!facts.length) say("ranks.none", {});
  else {
    say("ranks.head", {
      operators: count(sum("operators")), ranks: count(ranks.length), time: duration(facts.length),
      joined: count(sum("joined_below")),
    }, "ms-ranks-sentence");
  }
  aligned(facts, say);
  const total = facts.order.length;
  if (ranks.length < total) say("ranks.of_total", { n: count(ranks.length), total: count(total) }, "ms-muted");
  if (facts.left_out) say("ranks.left_out", { n: count(facts.left_out), most: MOST_RANKS });
  if (facts.absent.length) say("ranks.absent", { ranks: parts.rankText(facts.absent) }, "ms-body-wrong");
  for (const [rank, text] of Object.entries(facts.wrong)) say("ranks.wrong", { rank, text }, "ms-body-wrong");
  for (const { rank, text } of facts.problems.slice(0, MOST_TOLD)) say("ranks.damaged", { rank, text }, "ms-body-wrong");
  const empty = rowsWhere(facts, (one) => !one.operators && !facts.wrong[one.rank]);
  if (empty.length && facts.length) say("ranks.empty", { ranks: parts.rankText(empty) });
  const without = rowsWhere(facts, (one) => one.operators && !one.kernels && !one.traced && !facts.wrong[one.rank]);
  if (without.length) say("ranks.without", { ranks: parts.rankText(without) });
  const traced = rowsWhere(facts, (one) => one.traced);
  if (traced.length) say("ranks.traced", { ranks: parts.rankText(traced) });
  if (facts.zeros) say("ranks.zeros", {});
  const many = rowsWhere(facts, (one) => one.left_out);
  if (many.length) say("ranks.too_many", { ranks: parts.rankText(many) });
  if (sum("untimed")) say("ranks.untimed", { n: count(sum("untimed")) });
  if (sum("uneven_below")) say("ranks.uneven", { n: count(sum("uneven_below")) });
  page.head.replaceChildren(...said);
}

/**
 * @param {Ranks.Facts} facts
 * @param {Ranks.Say} say
 */
function aligned(facts, say) {
  const { ranks } = facts;
  if (!facts.aligned) {
    if (ranks.length > 1) say("ranks.recorded", {}, "ms-muted");
    return;
  }
  const moved = ranks.filter((one) => one.residual_ns !== null);
  if (!moved.length) {
    say("ranks.aligned_none", {});
    return;
  }
  const residuals = moved.flatMap((one) => one.residual_ns ?? []).sort((one, other) => one - other);
  say("ranks.aligned", {
    shift: duration(Math.max(...ranks.map((one) => Math.abs(one.shift_ns)))),
    residual: duration(residuals[Math.floor(residuals.length / 2)]),
    worst: duration(Math.max(...moved.map((one) => one.worst_ns))),
  });
  const unmoved = rowsWhere(facts, (one) => one.part < 0);
  if (unmoved.length) say("ranks.unmoved", { ranks: parts.rankText(unmoved) });
  /** @type {Map<number, Set<number>>} */
  const sets = new Map();
  for (const { stage, part } of ranks) if (part >= 0) sets.set(stage, (sets.get(stage) || new Set()).add(part));
  for (const [stage, found] of sets) if (found.size > 1) say("ranks.parts", { stage: stage < 0 ? "–" : stage, n: found.size });
  if (sets.size > 1) say("ranks.stages_apart", {}, "ms-muted");
}

/** @param {Ranks.Page} page */
export function drawDrawn(page) {
  const { view } = page.chart;
  if (!view) return;
  const alone = view.operators - view.merged;
  const width = duration(((view.to - view.from) / view.columns) * view.wide);
  const numbers = { alone, merged: view.merged, joined: view.joined, bundled: view.bundled };
  const values = { width, ...Object.fromEntries(Object.entries(numbers).map(([key, value]) => [key, count(value)])) };
  /** @type {(Node | string)[]} */
  const said = [words(view.merged ? "ranks.drawn" : "ranks.drawn_all", values)];
  if (view.bundled) said.push(" ", words("ranks.bundled", values));
  page.drawn.replaceChildren(...said);
}

/** @param {Ranks.Page} page */
export function drawLegend(page) {
  const theme = document.documentElement.dataset.mantineColorScheme === "dark" ? "dark" : "light";
  /**
   * @param {string} style
   * @param {string} key
   */
  const swatch = (style, key) => make("li", "", [make("span", "ms-ranks-swatch", [], { style }), words(key, {})]);
  const listed = page.facts.categories.map((name) => (
    swatch(`background: ${parts.colourOf(parts.CATEGORIES.indexOf(name), theme)}`, `ranks.category.${name}`)));
  const idle = swatch("background: var(--ms-hover); box-shadow: inset 0 0 0 1px var(--ms-line)", "ranks.idle");
  const { memory } = page.chart;
  if (page.chart.under && memory) {
    const line = make("span", "ms-ranks-swatch ms-ranks-swatch-line");
    const { rows, without } = memory;
    const missing = without.length ? ["; ", words("ranks.memory_without", { ranks: parts.rankText(without) })] : [];
    const named = words(rows.length ? "ranks.memory" : "ranks.memory_none", { most: textOf("peak_bytes", memory.most) });
    listed.push(idle, make("li", "", [line, make("span", "", [named, ...rows.length ? missing : []])]));
  } else listed.push(idle);
  page.find(".ms-ranks-legend").replaceChildren(...listed);
}

/**
 * A value of a column as text; "" for unknown.
 * @param {string} name
 * @param {number | null | undefined} value
 */
export function textOf(name, value) {
  if (value === null || value === undefined) return "";
  if (name === "shift_ns") return signed(value);
  if (name === "residual_ns" || name === "worst_ns") return duration(value);
  if (name.endsWith("_ns")) return value < 0 ? "" : duration(value);
  if (name === "peak_bytes") return value < 0 ? "" : size(value);
  if (name === "flops") return prefixed(value, "FLOPs");
  if (name === "flops_per_s") return prefixed(value, "FLOPS");
  return value < 0 ? "" : count(value);
}

/** @param {Ranks.Page} page */
export function drawTable(page) {
  const { facts } = page;
  const moving = ["shift_ns", "residual_ns", "worst_ns"];
  const columns = COLUMNS.filter((name) => {
    if (moving.includes(name)) return facts.aligned;
    return name === "rank" || facts.ranks.some((one) => textOf(name, one[name]) !== "");
  });
  const head = make("tr", "", columns.map((name) => {
    const cell = words(`ranks.col.${name}`, {}, "th", name === "rank" ? "" : "ms-number");
    cell.scope = "col";
    return cell;
  }));
  const rows = facts.ranks.map((one) => make("tr", "", columns.map((name) => {
    if (name === "rank") return make("th", "", rankCell(page, one.rank), { scope: "row" });
    const unmoved = moving.includes(name) && one.part < 0;
    return make("td", "ms-number", unmoved ? "–" : textOf(name, one[name]));
  })));
  page.find(".ms-ranks-table").replaceChildren(make("table", "", [make("thead", "", head), make("tbody", "", rows)]));
}

/**
 * A rank, with a link to its timeline if it has one.
 * @param {Ranks.Page} page
 * @param {number} rank
 */
function rankCell(page, rank) {
  const entry = profiling.memberOf(page, rank);
  if (!entry || !entry.profile.frames.includes("trace")) return String(rank);
  const link = make("a", "ms-ranks-link", [String(rank), " ", icon("timeline")], profiling.linkTo(page, "timeline", entry));
  setLabel(link, "title", "ranks.timeline");
  return link;
}

/** @param {Ranks.Page} page */
export function lineOf(page) {
  const name = profiling.get(page, "lines");
  if (!LINES.includes(name) || !page.facts) return null;
  const values = page.facts.ranks.map((one) => (textOf(name, one[name]) === "" ? null : one[name]));
  return { title: translate(`ranks.lines.${name}`), values, text: (/** @type {number} */ value) => textOf(name, value) };
}
