// The list of hits, and of checks that were not possible.

import { fillSelect, make, pressSegment, segments, select } from "../../kit/elements.js";
import { nameElement, namesIn } from "../../kit/name_elements.js";
import { count } from "../../kit/units.js";
import { translate, writeText } from "../../kit/i18n.js";
import { askOf, get, rankName, request } from "../dumps.js";
import { drawProgress } from "../../kit/progress.js";
import { notYet } from "../../kit/pages.js";
import { rowList } from "../rows.js";
import * as watch from "./watch.js";
import { foundText, shortName, tensorName, whyText } from "./display_names.js";

const HEIGHT = 44;
const SORTS = ["severity", "iteration", "order", "condition"];
const FILTERS = ["show", "sort", "only_rank", "only_graph", "only_watch"];

/** @returns {Debugger.HitFields} */
export const fields = () => ({
  hits: null, hitRows: notYet, hitNames: [], hitControls: notYet, hitsAsked: "", hitsListed: "", hitAt: null,
});

/** @param {Debugger.Page} page */
export function build(page) {
  const pane = page.find('[data-pane="hits"]');
  const show = segments("debugger.show", [["", "debugger.show.hits"], ["unchecked", "debugger.show.unchecked"]],
    (value) => page.change({ show: value ? [value] : [] }));
  const controls = {
    show,
    sort: select("debugger.sort", (value) => page.change({ sort: value === SORTS[0] ? [] : [value] })),
    step: segments("debugger.where", [["", "debugger.where.all"], ["1", "debugger.where.here"]],
      (value) => page.change({ only_step: value ? [value] : [] })),
    rank: select("debugger.only_rank", (value) => page.change({ only_rank: value ? [value] : [] })),
    graph: select("debugger.only_graph", (value) => page.change({ only_graph: value ? [value] : [] })),
    watch: select("debugger.only_watch", (value) => page.change({ only_watch: value ? [value] : [] })),
  };
  page.hitControls = controls;
  for (const name of ["sort", "rank", "graph", "watch"]) controls[name].hidden = true;
  pane.querySelector(".ms-debugger-tools").replaceChildren(
    show, controls.step, controls.sort, controls.watch, controls.rank, controls.graph);
  page.hitRows = rowList(pane.querySelector(".ms-debugger-rows"), {
    height: HEIGHT,
    draw: (row, number) => line(page, row, number),
    ask: (first, many) => send(page, first, many),
  });
}

/**
 * What is asked of the hits, without the part of the list.
 * @param {Debugger.Page} page
 */
export function ask(page) {
  /** @type {Wire.Query} */
  const found = { ...askOf(page), watch: [watch.enabledJson(page)] };
  for (const key of FILTERS) if ((page.state[key] || []).length) found[key] = page.state[key];
  if (get(page, "only_step") === "1" && page.step !== null) found.only_step = [String(page.step)];
  return found;
}

/** @param {Debugger.Page} page */
function send(page, first, many, options = {}) {
  const node = get(page, "node") ? { node: [get(page, "node")] } : {};
  request(page, "hits", { ...ask(page), ...node, first: [String(first)], count: [String(many)] }, options);
}

/**
 * What watchpoints say of the tensors of the selected operator in this iteration: row -> texts.
 * @param {Debugger.Page} page
 */
export function ofNode(page) {
  const found = new Map();
  for (const hit of page.hits.node) {
    const condition = watch.enabled(page)[hit.watch];
    if (!condition || hit.why) continue;
    found.set(hit.row, [...(found.get(hit.row) || []), `${watch.title(condition)}: ${foundText(hit, condition)}`]);
  }
  return found;
}

/** @param {Debugger.Page} page */
export function draw(page) {
  const wanted = JSON.stringify(ask(page));
  if (page.hitsAsked !== wanted) {
    page.hitsAsked = wanted;
    // Another iteration on screen, or a dump that has grown, keeps the place in the list.
    const listed = JSON.stringify({ ...ask(page), step: [], mark: [] });
    if (page.hitsListed !== listed) page.hitRows.reset();
    page.hitsListed = listed;
  }
  const [first, many] = page.hitRows.window();
  send(page, first, many);
  page.hitRows.repaint();
  if (page.hits) drawControls(page);  // in another language
}

/** @param {Debugger.Page} page */
export function take(page, answer) {
  page.hits = answer;
  page.hitNames = answer.rows.map((/** @type {{ name: string }} */ row) => ({ name: shortName(row.name) }));
  page.hitRows.put(answer);
  drawControls(page);
  const pane = page.find('[data-pane="hits"]');
  drawProgress(pane.querySelector(".ms-body-status"), answer.progress, (more) => {
    const [first, many] = page.hitRows.window();
    send(page, first, many, { more });
  });
  const note = pane.querySelector(".ms-debugger-note");
  const text = noteOf(page, answer);
  note.hidden = !text;
  if (text) writeText(note, ...text);
  const badge = page.find('[data-tab="hits"] .ms-debugger-count');
  badge.textContent = answer.hits ? count(answer.hits) : "";
}

// What is said of an empty list: nothing found differs from not checkable, and from not checked yet.
/**
 * @param {Debugger.Page} page
 * @returns {[string, TextValues?] | null}
 */
function noteOf(page, answer) {
  if (answer.state !== "ready" || answer.total) return null;
  if (!answer.checked.length) return ["debugger.none_watched"];
  const many = answer.checked.reduce((sum, one) => sum + one, 0);
  if (get(page, "show") === "unchecked") return ["debugger.all_checked", { n: count(many) }];
  if (!many) return ["debugger.none_matched"];
  const key = answer.unchecked ? "debugger.nothing_but" : answer.hits ? "debugger.nothing_here" : "debugger.nothing_found";
  return [key, { n: count(many), unchecked: count(answer.unchecked) }];
}

/** @param {Debugger.Page} page */
function drawControls(page) {
  const { hits, hitControls: controls, listed } = page;
  pressSegment(controls.show, get(page, "show"));
  pressSegment(controls.step, get(page, "only_step"));
  const [found, not] = Array.from(controls.show.children);
  writeText(found, "debugger.show.hits_n", { n: count(hits.hits) });
  writeText(not, "debugger.show.unchecked_n", { n: count(hits.unchecked) });
  not.hidden = !hits.unchecked && get(page, "show") !== "unchecked";
  controls.sort.hidden = false;
  fillSelect(controls.sort, SORTS.map((one) => [one, translate(`debugger.sort.${one}`)]), get(page, "sort", SORTS[0]));
  /** @param {string} key */
  const all = (key, choices) => [["", translate(key)], ...choices];
  fillSelect(controls.rank, all("debugger.all_ranks", listed.ranks.map((rank) => [String(rank), rankName(rank)])),
    get(page, "only_rank"));
  controls.rank.hidden = listed.ranks.length < 2;
  const graphs = hits.graphs.map((graph) => [String(graph), translate("debugger.strip.graph", { n: graph })]);
  fillSelect(controls.graph, all("debugger.all_graphs", graphs), get(page, "only_graph"));
  controls.graph.hidden = graphs.length < 2;
  const watchpoints = watch.enabled(page).map((one, place) => {
    const [found, unchecked] = hits.counts[place] || [0, 0];
    const many = get(page, "show") === "unchecked" ? unchecked : found;
    return [String(place), `${watch.title(one)} (${count(many)})`];
  });
  fillSelect(controls.watch, all("debugger.all_watchpoints", watchpoints), get(page, "only_watch"));
  controls.watch.hidden = watchpoints.length < 2;
}

/** @param {Debugger.Page} page */
function line(page, hit, number) {
  const condition = watch.enabled(page)[hit.watch];
  const chosen = hit.name === get(page, "node") && hit.step === page.step && hit.rank === page.rank
    && (get(page, "io") === "" || get(page, "io") === hit.io);
  const short = make("span", "ms-badge ms-debugger-short", condition ? watch.shortOf(page, condition) : "");
  if (condition) short.title = watch.title(condition);
  const ranks = page.listed.ranks.length > 1 ? [rankName(hit.rank)] : [];
  const said = hit.why ? whyText(hit.why) : foundText(hit, condition);
  const facts = [tensorName(hit.io), translate("debugging.step_n", { n: count(hit.step) }), ...ranks, said];
  const name = make("strong", "ms-debugger-hit-name", nameElement(shortName(hit.name), namesIn(page.hitNames)));
  const made = make("button", "ms-debugger-hit", [
    make("span", "ms-debugger-hit-head", [name, short]),
    make("span", "ms-cut ms-muted", facts.join(" · ")),
  ], { type: "button", title: `${hit.name}\n${facts.join(" · ")}`, "aria-current": String(chosen) });
  made.classList.toggle("ms-debugger-unchecked", Boolean(hit.why));
  made.addEventListener("click", () => go(page, hit, number));
  return made;
}

/** @param {Debugger.Page} page */
function go(page, hit, number) {
  page.hitAt = number;
  page.change({ rank: [String(hit.rank)], step: [String(hit.step)], node: [hit.name], io: [hit.io], box: [] });
}

/**
 * Go to the next hit, or the one before.
 * @param {Debugger.Page} page
 * @param {number} by
 */
export function move(page, by) {
  const next = Math.max(0, Math.min(page.hitRows.total - 1, (page.hitAt ?? -1) + by));
  page.hitRows.seek(next);
  window.setTimeout(() => {
    const row = page.find(`[data-pane="hits"] [data-row="${next}"]`);
    if (row) row.click();
  }, 80);
}
