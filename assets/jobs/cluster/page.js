// The cluster page: controls, picking a rank, zoom. Counterpart of layouts/jobs/cluster.

import { functionsOf, noUpdate, setProps } from "../../kit/dash.js";
import { badge, fillSelect, icon, iconButton, make, menu, pressSegment, segments, select, words } from "../../kit/elements.js";
import { count, size } from "../../kit/units.js";
import { language, setLabel, translate, writeText } from "../../kit/i18n.js";
import { notYet } from "../../kit/pages.js";
import { same } from "../../kit/state.js";
import * as plots from "../../profiles/plots.js";
import * as profiling from "../../profiles/profiles.js";
import { zoom } from "../../profiles/zooming.js";

const FIGURES = ["bars", "grid", "heat"];
const FRAMES = ["cluster_steps", "collectives", "groups", "ranks"];
const ROWS = ["rank", "host", "stage", "group"];
const AGAIN_MS = 600;

/** @returns {Omit<Cluster.Page, keyof Profiles.Page>} */
const fields = () => ({
  metrics: notYet, orders: notYet, rows: notYet, number: notYet, previous: notYet, next: notYet, finding: notYet,
  whole: notYet, limited: notYet, files: notYet, filesOf: "", facts: null, timerOfRanks: 0,
});

/** @param {Cluster.Page} page */
function build(page) {
  page.metrics = select("cluster.metric", (metric) => page.change({ metric: [metric], from: [], to: [] }));
  page.orders = segments("cluster.order", [["value", "cluster.order.value"], ["rank", "cluster.order.rank"]],
    (order) => page.change({ order: order === "value" ? [] : [order], from: [], to: [] }));
  page.rows = segments("cluster.rows", ROWS.map((value) => [value, `cluster.rows.${value}`]),
    (rows) => page.change({ rows: rows === "rank" ? [] : [rows], from: [], to: [] }));
  page.number = make("input", "ms-input ms-breakdown-number", [], { type: "number", min: "0", step: "1" });
  setLabel(page.number, "aria-label", "cluster.find");
  setLabel(page.number, "title", "cluster.find_tip");
  page.number.addEventListener("change", () => {
    const rank = Math.trunc(Number(page.number.value));
    pick(page, page.number.value === "" || !(rank >= 0) ? null : String(rank));
  });
  page.previous = iconButton("left", "cluster.previous", "previous");
  page.previous.addEventListener("click", () => step(page, "previous"));
  page.next = iconButton("right", "cluster.next", "next");
  page.next.addEventListener("click", () => step(page, "next"));
  const find = make("label", "ms-field", [words("cluster.find", {}, "span", "ms-field-name"), page.number]);
  page.finding = make("span", "ms-pager", [page.previous, find, page.next]);
  page.whole = make("button", "ms-button", [icon("zoom"), words("cluster.all")], { type: "button" });
  page.whole.addEventListener("click", () => page.change({ from: [], to: [] }));
  page.limited = make("span", "ms-muted");
  page.files = menu(make("summary", "ms-button", [icon("download"), make("span", "", "CSV"), icon("down")]), []);
  page.find(".ms-cluster-bar").replaceChildren(
    page.metrics, page.rows, page.orders, page.finding, page.whole, page.limited, make("span", "ms-grow"), page.files);
  page.find(".ms-breakdown-head").addEventListener("click", (event) => {
    const button = event.target instanceof Element && event.target.closest("[data-pick]");
    if (button) pick(page, button.dataset.pick);
  });
  page.find(".ms-cluster-panel").addEventListener("click", (event) => {
    if (event.target instanceof Element && event.target.closest('[data-act="close"]')) pick(page, null);
  });
  plots.furnish(page);
  plots.watch(page);
}

/**
 * Pick a rank by its number as text, or null for none.
 * @param {Cluster.Page} page
 * @param {string | null} rank
 */
function pick(page, rank) {
  page.change({ picked: rank === null ? [] : [rank] });
}

/**
 * @param {Cluster.Page} page
 * @param {string} way
 */
function step(page, way) {
  const to = page.facts && page.facts[way];
  if (to) pick(page, to);
}

/** @param {Cluster.Page} page */
function draw(page) {
  plots.drawFull(page);
  pressSegment(page.orders, profiling.get(page, "order", "value"));
  pressSegment(page.rows, profiling.get(page, "rows", "rank"));
  page.whole.hidden = !profiling.get(page, "to");
  if (document.activeElement !== page.number) page.number.value = profiling.get(page, "picked");
  const frames = FRAMES.filter((frame) => page.profile.frames.includes(frame));
  const wanted = JSON.stringify([frames, plots.csv(page, "")]);
  if (page.filesOf === wanted) return;
  page.filesOf = wanted;
  page.files.querySelector(".ms-menu-items").replaceChildren(...frames.map((frame) =>
    make("a", "ms-menu-item", words(`cluster.csv.${frame}`), { href: plots.csv(page, frame), download: "" })));
}

/** @param {Cluster.Page} page */
function drawFacts(page) {
  const { facts } = page;
  profiling.offer(page, facts.offered);
  page.find(".ms-cluster-bar").hidden = !facts.ranks;
  if (!facts.ranks) return;
  const { metric } = facts;
  for (const measure of page.root.querySelectorAll(".ms-cluster-measure")) writeText(measure, `cluster.metric.${metric}`);
  const metrics = facts.metrics.includes(metric) ? facts.metrics : [...facts.metrics, metric];
  fillSelect(page.metrics, metrics.map((/** @type {string} */ name) => [name, translate(`cluster.metric.${name}`)]), metric);
  for (const button of page.rows.querySelectorAll("button")) button.hidden = !facts.rows.includes(button.dataset.value);
  page.rows.hidden = facts.rows.length < 2;
  page.finding.hidden = facts.kind !== "rank";
  page.previous.disabled = !facts.previous;
  page.next.disabled = !facts.next;
  page.limited.hidden = !facts.limited;
  if (facts.limited) writeText(page.limited, "cluster.limited", { n: facts.limited[0], group: facts.limited[1] });
  page.find(".ms-cluster-legend").replaceChildren(...facts.legend.map(([key, colour]) => {
    const dot = make("span", "ms-breakdown-dot");
    dot.style.background = colour;
    return make("li", "", [dot, words(key)]);
  }));
  drawReading(page);
  if (page.facts.causes) askAgain(page);  // why a rank is late is being read
  drawDamage(page);
}

/**
 * Damage in the files of ranks that were read for what is shown; profiles.js lists that in the others.
 * @param {Cluster.Page} page
 */
function drawDamage(page) {
  const { damage, damaged } = page.facts;
  const host = page.find(".ms-cluster-damage");
  host.hidden = !damaged;
  if (!damaged) return;
  writeText(host.querySelector("summary"), "profiling.damaged_n", { n: count(damaged) });
  host.querySelector(".ms-popover").replaceChildren(
    ...damage.map(([path, text]) => make("p", "", [make("span", "ms-mono", path), " ", text])));
}

/**
 * The progress of reading the files of all ranks; while they are read, the figures are asked for again.
 * @param {Cluster.Page} page
 */
function drawReading(page) {
  const { reading, nothing } = page.facts;
  const status = page.find(".ms-cluster-status");
  status.hidden = !reading && !nothing;
  if (reading) {
    const [state, done, total, text] = reading;
    const known = ["failed", "sessions"].includes(state) ? state : "";
    const key = known || (state === "reading" && total ? "reading" : "preparing");
    writeText(status, `cluster.${key}`, { done: size(done), total: size(total), text });
    if (state !== "failed" && state !== "cancelled") askAgain(page);
  } else if (nothing) writeText(status, "cluster.no_values", { files: nothing.join(" / ") });
}

/**
 * Ask for the figures again in a moment.
 * @param {Cluster.Page} page
 */
function askAgain(page) {
  window.clearTimeout(page.timerOfRanks);
  page.timerOfRanks = window.setTimeout(() => {
    if (page.root.isConnected) setProps(page.store("again"), { data: Date.now() });
  }, AGAIN_MS);
}

/** @param {Cluster.Page} page */
function drawBadges(page, bars, grid, heat) {
  const tall = [0];
  /**
   * @param {string} name
   * @param {HTMLSpanElement[]} badges
   */
  const place = (name, badges) => page.find(`[data-plot="${name}"] .ms-card-badges`).replaceChildren(...badges);
  if (bars) {
    const { bin, total, unknown } = bars.layout.meta;
    place("bars", [
      ...(bin > 1 ? [badge("cluster.binned", { n: count(bin), total: count(total) }, "cluster.binned_tip", "accent")] : []),
      ...(unknown ? [badge("cluster.unknown_n", { n: count(unknown) })] : []),
    ]);
  }
  if (grid) {
    const { rows, unknown } = grid.layout.meta;
    place("grid", unknown ? [badge("cluster.unknown_n", { n: count(unknown) })] : []);
    tall.push(rows);
  }
  if (heat) {
    const { wide, rows } = heat.layout.meta;
    place("heat", wide > 1 ? [badge("cluster.cells_binned", { n: count(wide) }, "cluster.cells_tip", "accent")] : []);
    tall.push(rows);
  }
  page.find(".ms-cluster-row").style.setProperty("--ms-rows", String(Math.max(...tall)));
}

// What the pressed bar or cell stands for; "" for nothing.
function keyOf(click) {
  const point = click && (click.points || []).find((one) => one.customdata !== undefined && one.customdata !== null);
  return point ? String(point.customdata) : "";
}

const pageOf = profiling.define("cluster", { fields, build, draw });

Object.assign(functionsOf("mindscope_cluster"), {
  /**
   * @param {unknown} _prefs
   * @param {string} rootId
   */
  plan(ask, screen, _prefs, again, now, rootId) {
    const page = pageOf(rootId);
    if (!page || !ask || !screen) return noUpdate();
    const next = { ...ask, lang: [language()], columns: [screen], ...(again ? { again: [String(again)] } : {}) };
    return same(next, now) ? noUpdate() : next;
  },

  painted(...values) {
    const facts = values[FIGURES.length];
    const page = pageOf(values[FIGURES.length + 1]);
    const nothing = FIGURES.map(() => noUpdate());
    if (!page || !facts) return nothing;
    page.facts = facts;
    drawFacts(page);
    drawBadges(page, values[0], values[1], values[2]);
    return FIGURES.map((name, at) => plots.place(page, name, values[at]));
  },

  /**
   * A press on a bar picks its rank, or shows the ranks of its group.
   * @param {string} rootId
   */
  barPressed(click, rootId) {
    const page = pageOf(rootId);
    const key = keyOf(click);
    if (!page || !page.facts || !key) return;
    if (page.facts.kind === "group") page.change({ group: [key], rows: [], from: [], to: [] });
    else if (page.facts.kind === "rank") pick(page, key);
  },

  /** @param {string} rootId */
  cellPressed(click, rootId) {
    const page = pageOf(rootId);
    const key = keyOf(click);
    if (page && key && key !== "-1") pick(page, key);
  },

  /** @param {string} rootId */
  moved(change, rootId) {
    const page = pageOf(rootId);
    if (page && change) zoom(page, change);
  },
});

plots.keys("ms-cluster", (found, event) => {
  const page = pageOf(found.root.id);
  if (!page) return false;
  if (event.key === "Escape" && profiling.get(page, "picked")) {
    pick(page, null);
    return true;
  }
  if (!page.facts || (event.key !== "ArrowLeft" && event.key !== "ArrowRight")) return false;
  step(page, event.key === "ArrowLeft" ? "previous" : "next");
  return true;
});
