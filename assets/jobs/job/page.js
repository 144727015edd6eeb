// The job overview: a cell for each rank, what is known of the one chosen or pointed at, and links to other pages about it.
// Counterpart of layouts/jobs/job.

import { setDescription } from "../../kit/alternatives.js";
import { penOf } from "../../kit/canvases.js";
import { functionsOf, setProps } from "../../kit/dash.js";
import { badge, icon, iconButton, make, menu, words } from "../../kit/elements.js";
import * as files from "../../kit/files.js";
import { count } from "../../kit/units.js";
import { setLabel, translate, writeText } from "../../kit/i18n.js";
import { notYet } from "../../kit/pages.js";
import { same } from "../../kit/state.js";
import * as profiling from "../../profiles/profiles.js";
import * as whatIf from "./what_if.js";
import { cellAt, gridOf, LABELLED, labelledRows, moved, placeOf, ranksIn } from "./grid.js";

// Pages that show a rank, and the frames of which they need one.
const OPENED = {
  profile_overview: null, timeline: ["trace"], operators: ["operators", "operator_types", "kernels"], steps: ["steps"],
  memory: ["memory", "operator_memory", "static_memory"], communication: ["collectives", "links"], advice: null,
};
const AGAIN_MS = 700;
const TABLES = ["groups", "cluster_steps", "ranks", "collectives", "packets", "links"];
const STATES = ["whole", "lacking", "missing", "told"];

/** @returns {Omit<JobOverview.Page, keyof Profiles.Page>} */
const fields = () => ({
  canvas: notYet, tip: notYet, mark: notYet, cursor: -1, tables: notYet, grid: notYet, known: null, facts: null,
  chosenShown: "", timerOfCauses: 0, job: null, sum: null,
});

/** @param {JobOverview.Page} page */
function build(page) {
  page.canvas = page.find(".ms-job-canvas");
  page.tip = page.find(".ms-job-tip");
  page.mark = page.find(".ms-job-cursor");
  const summary = make("summary", "ms-button", [icon("download"), make("span", "", "CSV"), icon("down")]);
  setLabel(summary, "title", "job.csv");
  page.tables = menu(summary, []);
  page.tools.replaceChildren(page.tables);
  const png = iconButton("download", "job.png", "png");
  png.addEventListener("click", () => save(page));
  page.find(".ms-job-ranks .ms-card-tools").replaceChildren(png);
  page.find(".ms-job-legend").replaceChildren(...[...STATES, "most"].map((state) =>
    make("span", "ms-job-key", [make("span", `ms-job-mark ms-job-${state}`), words(`job.legend.${state}`)])));
  whatIf.build(page);
  new ResizeObserver(() => drawGrid(page)).observe(page.find(".ms-job-grid"));
  new MutationObserver(() => drawGrid(page)).observe(document.documentElement, {
    attributes: true, attributeFilter: ["data-mantine-color-scheme"],
  });
  page.canvas.addEventListener("pointermove", (event) => point(page, cellAt(page.grid, event.offsetX, event.offsetY)));
  page.canvas.addEventListener("pointerleave", () => point(page, -1));
  page.canvas.addEventListener("click", (event) => choose(page, cellAt(page.grid, event.offsetX, event.offsetY)));
  page.canvas.addEventListener("keydown", (event) => key(page, event));
  page.canvas.addEventListener("blur", () => point(page, -1));
}

/** @param {JobOverview.Page} page */
function draw(page) {
  // What is shown of a job is the same for all of its ranks, so it is asked for by the first one.
  const [{ run, profile }] = page.ranks;
  const job = { run: [run.key], session: [profile.session], rank: [String(profile.rank)], mark: [profile.whole] };
  /** @param {"job" | "sum"} store */
  const request = (store) => {
    if (same(job, page[store])) return;
    page[store] = job;
    setProps(page.store(store), { data: job });
  };
  request("job");
  if (page.asked && page.asked.mark[0] === profile.whole) {
    request("sum");
    whatIf.draw(page, job, page.asked);
  }
  drawTables(page);
  drawGrid(page);
}

/**
 * Why a rank is late is being read: ask again what limits the job.
 * @param {JobOverview.Page} page
 */
function sumAgain(page) {
  if (page.root.isConnected && page.sum) setProps(page.store("sum"), { data: { ...page.sum, turn: [String(Date.now())] } });
}

/** @param {JobOverview.Page} page */
function drawTables(page) {
  const { run, profile } = page;
  /** @param {string} frame */
  const query = (frame) => new URLSearchParams({
    run: run.key, session: profile.session, rank: String(profile.rank), frame,
  });
  /** @param {string} frame */
  const item = (frame) => make("a", "ms-menu-item", words(`job.csv.${frame}`),
    { href: `${page.root.dataset.routes}profile.csv?${query(frame)}`, download: "" });
  const items = TABLES.filter((frame) => profile.frames.includes(frame)).map(item);
  page.tables.hidden = !items.length;
  page.tables.querySelector(".ms-menu-items").replaceChildren(...items);
}

// What is drawn ------------------------------------------------------------------------------------------------------

// What is known of the ranks from the names of files; also those that only files about all ranks name, once these are read.
function known(told, facts) {
  const missing = new Set(ranksIn(told.missing));
  const lacking = new Map();
  for (const [file, ranks] of told.lacking) {
    for (const rank of ranksIn(ranks)) lacking.set(rank, [...lacking.get(rank) || [], file]);
  }
  const hosts = new Map(told.hosts.flatMap(([host, ranks]) => ranksIn(ranks).map((rank) => [rank, host])));
  const own = ranksIn(told.drawn);
  const others = new Set(own.length ? [] : ranksIn(facts ? facts.told : ""));
  const cells = own.length ? own : [...others];
  return { told, facts, missing, lacking, hosts, others, cells, cellOf: new Map(cells.map((rank, cell) => [rank, cell])) };
}

function stateOf({ missing, lacking, others }, rank) {
  if (others.has(rank)) return "told";
  return missing.has(rank) ? "missing" : lacking.has(rank) ? "lacking" : "whole";
}

/** @param {JobOverview.Page} page */
function drawGrid(page) {
  const host = page.find(".ms-job-ranks");
  host.hidden = !page.known || !page.known.cells.length;
  if (host.hidden || !page.profile) return;
  drawBadges(page);
  const width = page.find(".ms-job-grid").clientWidth;
  if (!width) return;
  const { cells } = page.known;
  const grid = page.grid = gridOf(cells.length, width);
  const { canvas } = page;
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.ceil(grid.width * scale);
  canvas.height = Math.ceil(grid.height * scale);
  canvas.style.width = `${grid.width}px`;
  canvas.style.height = `${grid.height}px`;
  const paint = penOf(canvas);
  paint.scale(scale, scale);
  const style = getComputedStyle(page.root);
  /** @param {string} name */
  const colour = (name) => style.getPropertyValue(name).trim();
  const colours = { whole: colour("--ms-job-whole"), lacking: colour("--ms-job-lacking"), told: colour("--ms-line-strong") };
  const gap = grid.size > 12 ? 2 : 1;
  const side = grid.size - gap;
  paint.font = `12px ${colour("--ms-font")}`;
  paint.textBaseline = "middle";
  for (const [cell, rank] of cells.entries()) {
    const state = stateOf(page.known, rank);
    const { x, y } = placeOf(grid, cell);
    if (state === "missing") {
      paint.strokeStyle = colour("--ms-wrong");
      paint.lineWidth = grid.size > 12 ? 1.5 : 1;
      paint.strokeRect(x + 1, y + 1, side - 2, side - 2);
    } else {
      paint.fillStyle = colours[state];
      paint.fillRect(x, y, side, side);
    }
    if (grid.size < LABELLED) continue;
    paint.textAlign = "center";
    paint.fillStyle = state === "missing" ? colour("--ms-wrong") : colour("--ms-text");
    if (paint.measureText(String(rank)).width < side) paint.fillText(String(rank), x + side / 2, y + side / 2 + 0.5);
  }
  paint.textAlign = "right";
  paint.fillStyle = colour("--ms-muted");
  for (const row of labelledRows(grid)) {
    paint.fillText(count(cells[row * grid.columns]), grid.left - 8, Math.max(7, row * grid.size + side / 2) + 0.5);
  }
  /**
   * @param {number} line
   * @param {string} name
   */
  const frame = (rank, line, name) => {
    const cell = page.known.cellOf.get(rank);
    if (cell === undefined) return;
    const { x, y } = placeOf(grid, cell);
    paint.strokeStyle = colour(name);
    paint.lineWidth = line;
    paint.strokeRect(x + line / 2, y + line / 2, side - line, side - line);
  };
  if (page.facts && page.facts.most >= 0) frame(page.facts.most, 3, "--ms-job-most");
  frame(page.profile.rank, 2, "--ms-text");
  setDescription(canvas, page.known.told.alternative);
  drawChosen(page);
}

/** @param {JobOverview.Page} page */
function drawBadges(page) {
  const { told, lacking, cells, missing, others } = page.known;
  const [n, total] = [count(others.size || page.ranks.length), count(told.size)];
  const badges = [badge(others.size ? "job.told" : told.size ? "job.found_of" : "job.found", { n, total })];
  if (!told.size && !others.size) badges.push(badge("job.size_unknown"));
  if (told.missing_n) badges.push(badge("job.missing_n", { n: count(told.missing_n) }, null, "wrong"));
  if (lacking.size) badges.push(badge("job.lacking_n", { n: count(lacking.size) }));
  page.find(".ms-job-ranks .ms-card-badges").replaceChildren(...badges);
  const listed = page.find(".ms-job-without");
  listed.hidden = !told.missing_n;
  const shown = told.missing.split(",");
  writeText(listed, "job.missing", { ranks: shown.length > 12 ? `${shown.slice(0, 12).join(", ")}, …` : shown.join(", ") });
  const there = {
    whole: !others.size, told: others.size > 0, lacking: lacking.size > 0, missing: cells.some((rank) => missing.has(rank)),
    most: Boolean(page.facts) && page.facts.most >= 0,
  };
  for (const [state, shownToo] of Object.entries(there)) {
    page.find(`.ms-job-legend .ms-job-${state}`).parentElement.hidden = !shownToo;
  }
}

/**
 * What is known of a rank, as one line.
 * @param {JobOverview.Page} page
 */
function about(page, rank) {
  const { hosts, lacking, missing } = page.known;
  const parts = [profiling.rankName(rank)];
  if (missing.has(rank)) parts.push(translate("job.at.missing"));
  else if (page.known.others.has(rank)) parts.push(translate("job.at.told"));
  else {
    if (hosts.has(rank)) parts.push(translate("job.at.host", { host: hosts.get(rank) }));
    if (lacking.has(rank)) parts.push(translate("job.at.lacks", { files: lacking.get(rank).join(", ") }));
    if (page.facts && page.facts.most === rank) parts.push(translate("job.at.most"));
  }
  return parts.join(" · ");
}

/** @param {JobOverview.Page} page */
function drawChosen(page) {
  const { profile } = page;
  const entry = profiling.memberOf(page, profile.rank);
  /** @param {string} name */
  const able = (name) => !OPENED[name] || OPENED[name].some((frame) => profile.frames.includes(frame));
  const names = page.find(".ms-job-ranks").dataset.opened.split(" ").filter(able);
  const wanted = JSON.stringify([about(page, profile.rank), profile.session, names]);
  if (wanted === page.chosenShown) return;
  page.chosenShown = wanted;
  /** @param {string} name */
  const link = (name) => make("a", "ms-button", [icon(name), words(`${name}.title`)], profiling.linkTo(page, name, entry));
  const links = names.map(link);
  page.find(".ms-job-chosen").replaceChildren(
    ...(profile.rank >= 0 ? [make("span", "ms-job-about", about(page, profile.rank)), ...links] : []));
}

// Pointer and keys ---------------------------------------------------------------------------------------------------

/**
 * @param {JobOverview.Page} page
 * @param {number} cell
 */
function point(page, cell) {
  if (cell === page.cursor) return;
  page.cursor = cell;
  page.tip.hidden = page.mark.hidden = cell < 0;
  page.canvas.style.cursor = cell >= 0 && profiling.memberOf(page, page.known.cells[cell]) ? "pointer" : "";
  if (cell < 0) return;
  page.tip.textContent = about(page, page.known.cells[cell]);
  const { x, y } = placeOf(page.grid, cell);
  const { size } = page.grid;
  Object.assign(page.mark.style, { left: `${x - 1}px`, top: `${y - 1}px`, width: `${size}px`, height: `${size}px` });
  const room = page.find(".ms-job-grid").clientWidth - page.tip.offsetWidth;
  page.tip.style.left = `${Math.max(0, Math.min(x, room))}px`;
  page.tip.style.top = `${y + page.grid.size + 6}px`;
}

/**
 * @param {JobOverview.Page} page
 * @param {number} cell
 */
function choose(page, cell) {
  const entry = cell >= 0 ? profiling.memberOf(page, page.known.cells[cell]) : undefined;
  if (!entry) return;
  page.change({ of: [entry.run.key], session: [entry.profile.session], rank: [String(entry.profile.rank)] });
}

/** @param {JobOverview.Page} page */
function key(page, event) {
  if (event.ctrlKey || event.metaKey || event.altKey || !page.grid) return;
  if (event.key === "Enter" || event.key === " ") choose(page, page.cursor);
  else {
    const start = page.cursor >= 0 ? page.cursor : page.known.cellOf.get(page.profile.rank) || 0;
    const next = moved(page.grid, start, event.key);
    if (next < 0) return;
    point(page, next);
    page.canvas.setAttribute("aria-label", about(page, page.known.cells[next]));
  }
  event.preventDefault();
}

/** @param {JobOverview.Page} page */
function save(page) {
  void files.savePicture(page.canvas, files.called(page.canvas, `${page.run.name} ${page.profile.title}`).name);
}

const pageOf = profiling.define("job", { fields, build, draw });

Object.assign(functionsOf("mindscope_job"), {
  /** @param {string} rootId */
  listed(told, facts, rootId) {
    const page = pageOf(rootId);
    if (!page) return;
    page.facts = facts && told && facts.of === told.of ? facts : null;  // those of the job shown before come first
    if (told && (!page.known || page.known.told !== told || page.known.facts !== page.facts)) {
      page.known = known(told, page.facts);
    }
    if (page.known && page.profile) drawGrid(page);
    window.clearTimeout(page.timerOfCauses);
    if (page.facts && page.facts.causes) page.timerOfCauses = window.setTimeout(() => sumAgain(page), AGAIN_MS);
  },

  /**
   * @param {Body.Progress | null} progress
   * @param {string} rootId
   */
  again(progress, rootId) {
    const page = pageOf(rootId);
    if (page && progress) whatIf.again(page, progress);
  },
});
