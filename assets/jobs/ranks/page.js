// The page of ranks: controls, sentences, the table, and what is asked of the server when. Counterpart of layouts/jobs/ranks
// and app/routes/jobs/ranks.py; the chart is chart.js.

import { functionsOf } from "../../kit/dash.js";
import { fillSelect, iconButton, make, select, takesText, words } from "../../kit/elements.js";
import * as files from "../../kit/files.js";
import { reasonOf } from "../../kit/reasons.js";
import { count } from "../../kit/units.js";
import { setLabel, translate, writeText } from "../../kit/i18n.js";
import { notYet } from "../../kit/pages.js";
import * as profiling from "../../profiles/profiles.js";
import { duration, signed } from "../../profiles/axis.js";
import { Chart } from "./chart.js";
import * as parts from "./rank_rows.js";
import { drawDrawn, drawHead, drawLegend, drawTable, lineOf, LINES, MOST_RANKS, rowsWhere, textOf } from "./telling.js";

const NAMING = ["run", "session", "rank", "step", "rows", "stage", "aligned"];
const MEMORY = "memory";
const MOST_POINTS = 600;
const FIRST = 8;
const AGAIN_MS = 300;
const REST_MS = 120;
const TYPING_MS = 600;

// Asking ---------------------------------------------------------------------------------------------------------------

/** The URL of a plain route for an ask. */
export function urlOf(routes, name, ask, more = {}) {
  const query = new URLSearchParams();
  for (const key of NAMING) for (const value of ask[key] || []) query.append(key, value);
  for (const [key, value] of Object.entries(more)) query.set(key, String(value));
  return `${routes}ranks/${name}?${query}`;
}

/**
 * What a plain route answers; throws its reason.
 * @param {Ranks.Page} page
 * @param {string} name
 * @param {Record<string, string | number>} more
 * @param {AbortSignal} [signal]
 */
async function ask(page, name, more, signal) {
  const answer = await fetch(urlOf(page.root.dataset.routes, name, page.asked, more), { signal, credentials: "same-origin" });
  if (answer.ok) return answer;
  throw new Error((await answer.json().catch(() => ({}))).error || String(answer.status));
}

/** @param {Ranks.Page} page */
async function fetchFacts(page) {
  window.clearTimeout(page.polling);
  if (page.fetching) page.fetching.abort();
  page.fetching = new AbortController();
  try {
    const facts = await (await ask(page, "facts", {}, page.fetching.signal)).json();
    if (facts.state === "reading") {
      const progress = make("progress", "", [], { max: facts.total, value: facts.done });
      setLabel(progress, "aria-label", "ranks.reading", facts);
      page.head.replaceChildren(words("ranks.reading", facts, "p", "ms-muted"), progress);
      shown(page, false);
      page.polling = window.setTimeout(() => page.root.isConnected && fetchFacts(page), AGAIN_MS);
      return;
    }
    opened(page, facts);
  } catch (error) {
    if (error.name === "AbortError") return;
    page.head.replaceChildren(words("ranks.failed", { text: reasonOf(error) }, "p", "ms-body-wrong"));
  }
}

/**
 * Whether there is more to see than the progress of reading.
 * @param {Ranks.Page} page
 */
function shown(page, there) {
  page.bar.hidden = !there;
  for (const card of page.root.querySelectorAll("[data-card]")) card.hidden = !there;
}

/** @param {Ranks.Page} page */
function opened(page, facts) {
  page.facts = facts;
  page.names = new Map();
  profiling.offer(page, { groups: [], steps: facts.steps });
  const some = facts.length > 0;
  shown(page, true);
  page.find('[data-card="chart"]').hidden = !some;
  page.chart.line = lineOf(page);
  page.chart.under = profiling.get(page, "lines") === MEMORY;
  page.chart.alone = profiling.get(page, "alone") === "1";
  page.chart.open(facts);
  page.chart.picked = null;
  drawHead(page);
  drawTable(page);
  drawLegend(page);
  drawControls(page);
  page.window = null;
  if (some) follow(page);
}

/**
 * Show the window and the operator in the address.
 * @param {Ranks.Page} page
 */
function follow(page) {
  const { chart, facts } = page;
  const asked = parts.parseWindow(profiling.get(page, "zoom"));
  const window_ = parts.within(asked || { from: 0, to: facts.length }, facts.length);
  if (!chart.range || !page.window || window_.from !== page.window.from || window_.to !== page.window.to) {
    chart.range = window_;
    page.window = window_;
    fetchView(page);
  }
  const picked = parts.parsePick(profiling.get(page, "pick"));
  const now = chart.picked;
  if (!picked) {
    if (now) showPicked(page, null);
  } else if (!now || now.rank !== picked.rank || now.operator !== picked.operator) fetchOperator(page, picked);
}

/** @param {Ranks.Page} page */
async function fetchView(page) {
  const { chart } = page;
  if (page.viewing) page.viewing.abort();
  page.viewing = new AbortController();
  const { from, to } = chart.range;
  try {
    const alone = profiling.get(page, "alone") === "1" ? 1 : 0;
    const answer = await ask(page, "view", { from, to, columns: chart.columns, alone }, page.viewing.signal);
    chart.view = { ...parts.unpacked(await answer.arrayBuffer()), from, to };
    drawDrawn(page);
    chart.later();
    fetchMemory(page);
  } catch (error) {
    if (error.name !== "AbortError") writeText(page.drawn, "ranks.failed", { text: reasonOf(error) });
  }
}

/** @param {Ranks.Page} page */
async function fetchOperator(page, { rank, operator, spoken = false }) {
  page.chart.picked = { rank, operator };
  try {
    const found = await (await ask(page, "operator", { at: rank, operator })).json();
    const now = page.chart.picked;
    if (now && now.rank === rank && now.operator === operator) showPicked(page, found, spoken);
  } catch {
    if (page.chart.picked && page.chart.picked.rank === rank) showPicked(page, null);  // the address is of other ranks
  }
}

/**
 * Memory below the rows, of the window on screen.
 * @param {Ranks.Page} page
 */
async function fetchMemory(page) {
  const { chart } = page;
  window.clearTimeout(page.remembering);
  if (!chart.under || !page.facts || !page.facts.length) return;
  const { from, to } = chart.range;
  const columns = Math.min(MOST_POINTS, chart.columns);
  try {
    const found = await (await ask(page, "memory", { from, to, columns })).json();
    if (!chart.under || chart.range.from !== from || chart.range.to !== to) return;
    if (found.state === "reading") {
      page.remembering = window.setTimeout(() => page.root.isConnected && fetchMemory(page), AGAIN_MS);
      return;
    }
    chart.memory = { ...found, from, to };
    drawLegend(page);
    chart.later();
  } catch (error) {
    writeText(page.drawn, "ranks.failed", { text: reasonOf(error) });
  }
}

/**
 * An operator with its name, or null while that is on its way.
 * @param {Ranks.Page} page
 * @param {number} rank
 * @param {number} operator
 */
function nameOf(page, rank, operator) {
  const key = `${rank},${operator}`;
  const known = page.names.get(key);
  if (known) return known.name ? /** @type {Ranks.Operator} */ (known) : null;
  page.names.set(key, {});
  window.setTimeout(async () => {
    try {
      page.names.set(key, await (await ask(page, "operator", { at: rank, operator })).json());
      page.chart.arrived();
    } catch {
      page.names.delete(key);
    }
  }, REST_MS);
  return null;
}

/**
 * The window has changed on the chart: the address follows when it rests.
 * @param {Ranks.Page} page
 */
function looked(page, range, resized = false) {
  if (!range || !page.facts) return;
  window.clearTimeout(page.resting);
  page.resting = window.setTimeout(() => {
    if (resized) {
      fetchView(page);
      return;
    }
    page.window = range;
    fetchView(page);
    const whole = range.from <= 0 && range.to >= page.facts.length;
    page.change({ zoom: whole ? [] : [`${range.from},${range.to}`] });
  }, resized ? REST_MS : 0);
}

// One operator ---------------------------------------------------------------------------------------------------------

/** @param {Ranks.Page} page */
function pick(page, picked) {
  page.change({ pick: picked ? [`${picked.rank},${picked.operator}`] : [] });
  if (picked) fetchOperator(page, picked);
  else showPicked(page, null);
}

/** @param {Ranks.Page} page */
function showPicked(page, found, spoken = false) {
  const { chart, panel } = page;
  chart.picked = found;
  panel.hidden = !found;
  chart.later();
  if (!found) return;
  const { from, to } = chart.range;
  const end = found.begin + found.duration;
  if (spoken && (end < from || found.begin > to)) {
    const middle = (found.begin + end) / 2;
    chart.look({ from: middle - (to - from) / 2, to: middle + (to - from) / 2 });
  }
  const category = translate(`ranks.category.${found.category}`);
  const lines = [
    words("ranks.operator_of", { type: found.type || "–", category, n: found.occurrence + 1 }),
    ...found.step >= 0 ? [" · ", words("ranks.operator_step", { n: count(found.step) })] : [],
    ...found.group ? [" · ", words("ranks.operator_group", { name: found.group })] : [],
  ];
  const spread = parts.spreadOf(found.same);
  const times = Object.fromEntries(Object.entries(spread).map(([key, ns]) => [key, duration(ns)]));
  const values = { n: count(found.same.length), ...times };
  const others = found.same.length > 1 ? words("ranks.spread", values, "p") : words("ranks.spread_one", {}, "p");
  const close = iconButton("close", "ranks.close", "close");
  close.addEventListener("click", () => pick(page, null));
  const listed = make("ul", "", found.same.map((one) => make("li", one.rank === found.rank ? "ms-ranks-own" : "", [
    words("ranks.rank_n", { n: one.rank }), ` ${duration(one.duration)}`,
    make("span", "ms-muted", ` ${one.rank === found.rank ? "" : signed(one.begin - found.begin)}`),
  ])));
  const title = make("h4", "ms-mono", found.name || "–");
  panel.replaceChildren(make("div", "ms-ranks-operator-head", [title, close]), make("p", "ms-muted", lines), others, listed);
  if (spoken) {
    chart.say([chart.nameOf(found), found.name, category, duration(found.duration), others.textContent && translate(
      found.same.length > 1 ? "ranks.spread" : "ranks.spread_one", values)]);
  }
}

// Controls -------------------------------------------------------------------------------------------------------------

/** @returns {Omit<Ranks.Page, keyof Profiles.Page>} */
const fields = () => ({
  facts: notYet, names: new Map(), chart: notYet, head: notYet, drawn: notYet, panel: notYet, rows: notYet, first: notYet,
  stage: notYet, align: notYet, alone: notYet, lines: notYet, bar: notYet, window: null, factsOf: null, fetching: null,
  viewing: null, polling: 0, remembering: 0, resting: 0,
});

/** @param {Ranks.Page} page */
function build(page) {
  const { find } = page;
  page.head = find(".ms-ranks-head");
  page.drawn = find(".ms-ranks-drawn");
  page.panel = find(".ms-ranks-operator");
  setLabel(page.panel, "aria-label", "ranks.operator");
  page.chart = new Chart(find(".ms-ranks-chart"), {
    look: (range, resized) => looked(page, range, resized),
    pick: (picked) => pick(page, picked),
    name: (rank, operator) => nameOf(page, rank, operator),
  });
  const anew = (change) => page.change({ ...change, zoom: [], pick: [] });
  page.rows = make("input", "ms-input ms-ranks-rows", [], { type: "text", spellcheck: "false", inputmode: "text" });
  for (const name of ["title", "aria-label"]) setLabel(page.rows, name, "ranks.rows_tip");
  let timer = 0;
  const typed = () => {
    window.clearTimeout(timer);
    const text = page.rows.value.replaceAll("–", "-").replace(/\s/g, "");
    const fine = /^(\d{1,7}(-\d{1,7})?(,\d{1,7}(-\d{1,7})?)*)?$/.test(text);
    page.rows.setCustomValidity(fine ? "" : translate("ranks.rows_wrong"));
    page.rows.toggleAttribute("aria-invalid", !fine);
    if (fine && text !== profiling.get(page, "rows")) anew({ rows: text ? [text] : [] });
    else if (!fine) page.rows.reportValidity();
  };
  page.rows.addEventListener("input", () => {
    window.clearTimeout(timer);
    timer = window.setTimeout(typed, TYPING_MS);
  });
  page.rows.addEventListener("change", typed);
  page.first = make("span", "ms-ranks-first");
  page.stage = select("ranks.stage", (value) => anew({ stage: value === "" ? [] : [value], rows: [] }));
  page.align = toggle(page, "aligned", "ranks.align", (pressed) => anew({ aligned: pressed ? ["1"] : [] }));
  page.alone = toggle(page, "alone", "ranks.alone", (pressed) => page.change({ alone: pressed ? ["1"] : [] }));
  page.lines = select("ranks.lines", (value) => page.change({ lines: value ? [value] : [] }));
  /** @type {[string, string, () => void][]} */
  const choices = [["plus", "ranks.in", () => page.chart.zoom(0.5)], ["minus", "ranks.out", () => page.chart.zoom(2)],
    ["restore", "ranks.whole", () => page.chart.whole()]];
  const zooms = choices.map(([name, label, act]) => {
    const button = iconButton(name, label, name);
    button.addEventListener("click", () => page.facts && page.facts.length && act());
    return button;
  });
  const named = make("label", "ms-ranks-label", [words("ranks.rows", {}, "span", "ms-muted"), page.rows]);
  page.bar = find(".ms-ranks-bar");
  shown(page, false);
  page.bar.replaceChildren(named, page.first, page.stage, page.align, page.alone, page.lines, make("span", "ms-grow"),
    make("span", "ms-segments", zooms));
  page.root.addEventListener("click", (event) => press(page, event));
  new MutationObserver(() => page.facts && drawLegend(page)).observe(document.documentElement, {
    attributes: true, attributeFilter: ["data-mantine-color-scheme"],
  });
}

/** @param {Ranks.Page} page */
function toggle(page, key, label, act) {
  const button = make("button", "ms-button", words(label), { type: "button", "aria-pressed": "false" });
  setLabel(button, "title", `${label}_tip`);
  button.addEventListener("click", () => act(profiling.get(page, key) !== "1"));
  return button;
}

/** @param {Ranks.Page} page */
function press(page, event) {
  const target = event.target instanceof Element ? event.target : null;
  const button = target && target.closest("button");
  const card = button && button.closest("[data-card]");
  if (!card) return;
  if (button.dataset.act === "full") full(page, card.dataset.card);
  if (button.dataset.act === "png") {
    const title = `${page.run.name} · ${translate("ranks.title")}`;
    /** @type {[number, string][]} */
    const legend = page.facts.categories.map((name) => [parts.CATEGORIES.indexOf(name), translate(`ranks.category.${name}`)]);
    page.chart.save(files.called(card, page.run.name).name, title, legend);
  }
}

/** @param {Ranks.Page} page */
function full(page, name) {
  page.change({ full: profiling.get(page, "full") === name ? [] : [name] });
}

/** @param {Ranks.Page} page */
function drawControls(page) {
  const { facts } = page;
  if (!facts) return;
  const pressed = (button, key) => button.setAttribute("aria-pressed", String(profiling.get(page, key) === "1"));
  pressed(page.align, "aligned");
  pressed(page.alone, "alone");
  if (document.activeElement !== page.rows) page.rows.value = profiling.get(page, "rows");
  page.rows.placeholder = parts.rankText(rowsWhere(facts, () => true).sort((one, other) => one - other));
  const stage = profiling.get(page, "stage");
  fillSelect(page.stage, [["", translate("ranks.stage_all")], ...facts.stages.map((ranks, n) => (
    [String(n), translate("ranks.stage_ranks", { n, ranks: parts.rankText(ranks) })]))], stage);
  page.stage.hidden = facts.stages.length < 2;
  const inside = stage === "" ? facts.order : facts.stages[Number(stage)] || [];
  const steps = [FIRST, 16, 32, MOST_RANKS].filter((n, at, all) => at > 0 && inside.length > all[at - 1]);
  page.first.replaceChildren(...steps.map((n) => {
    const ranks = inside.slice(0, n);
    const button = make("button", "ms-button ms-button-small", words("ranks.every", { n: ranks.length }), { type: "button" });
    const text = parts.rankText([...ranks].sort((one, other) => one - other)).replaceAll("–", "-").replaceAll(" ", "");
    button.addEventListener("click", () => page.change({ rows: [text], zoom: [], pick: [] }));
    return button;
  }));
  const missing = (name) => facts.ranks.every((one) => textOf(name, one[name]) === "");
  const first = [["", translate("ranks.lines.none")], [MEMORY, translate("ranks.lines.memory")]];
  fillSelect(page.lines, [...first, ...LINES.map((name) => {
    const title = translate(`ranks.lines.${name}`);
    return [name, missing(name) ? translate("ranks.lines.absent", { name: title }) : title];
  })], profiling.get(page, "lines"));
  for (const option of page.lines.options) option.disabled = LINES.includes(option.value) && missing(option.value);
}

/** @param {Ranks.Page} page */
function draw(page) {
  for (const card of page.root.querySelectorAll("[data-card]")) {
    const now = card.dataset.card === profiling.get(page, "full");
    if (now === card.classList.contains("ms-full")) continue;
    card.classList.toggle("ms-full", now);
    if (card.dataset.card !== "chart" || !page.facts || !page.facts.length) continue;
    page.chart.open(page.facts);
    fetchView(page);
  }
  if (!page.facts) return;
  drawControls(page);
  const line = lineOf(page);
  const under = profiling.get(page, "lines") === MEMORY;
  const alone = profiling.get(page, "alone") === "1";
  const changed = Boolean(line) !== Boolean(page.chart.line) || under !== page.chart.under || alone !== page.chart.alone;
  page.chart.line = line;
  if (under !== page.chart.under) {
    page.chart.under = under;
    page.chart.place();
    drawLegend(page);
  }
  page.chart.alone = alone;
  if (changed && page.facts.length) fetchView(page);
  page.chart.later();
  if (page.facts.length && page.factsOf === page.asked) follow(page);
  links(page);
}

/** @param {Ranks.Page} page */
function links(page) {
  for (const link of page.root.querySelectorAll("[data-csv]")) {
    if (!page.asked) continue;
    const { range } = page.chart;
    const window_ = link.dataset.csv === "chart" && range && !page.chart.isWhole ? { from: range.from, to: range.to } : {};
    const name = link.dataset.csv === "chart" ? "operators.csv" : "ranks.csv";
    link.href = urlOf(page.root.dataset.routes, name, page.asked, window_);
  }
}

const pageOf = profiling.define("ranks", { fields, build, draw });

// Called by Dash -------------------------------------------------------------------------------------------------------

Object.assign(functionsOf("mindscope_ranks"), {
  opened(ask_, rootId) {
    const page = pageOf(rootId);
    if (!page || !ask_) return;
    page.asked = ask_;
    page.factsOf = ask_;
    links(page);
    fetchFacts(page);
  },
});

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (!["f", "Escape"].includes(key) || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (!(target instanceof Element) || takesText(target) || document.querySelector("dialog[open]")) return;
  const root = document.querySelector(".ms-ranks");
  const page = root && pageOf(root.id);
  if (!page) return;
  const card = target.closest("[data-card]");
  if (key === "Escape" && profiling.get(page, "full")) page.change({ full: [] });
  else if (key === "f" && card && page.root.contains(card)) full(page, card.dataset.card);
});
