// The communication page: controls, the matrix of ranks, and what is asked for again when. Counterpart of
// layouts/jobs/communication and app/routes/jobs/communication.py.

import { functionsOf, noUpdate, setProps } from "../../kit/dash.js";
import { fillSelect, make, pressSegment, segments, select, takesText, words } from "../../kit/elements.js";
import * as files from "../../kit/files.js";
import { reasonOf } from "../../kit/reasons.js";
import { count, duration, prefixed, rate } from "../../kit/units.js";
import { setLabel, translate, translations } from "../../kit/i18n.js";
import { notYet } from "../../kit/pages.js";
import { same } from "../../kit/state.js";
import { Heat } from "../../profiles/heat.js";
import { scaleOf, unpacked } from "../../profiles/heat_parts.js";
import * as profiling from "../../profiles/profiles.js";

const MEASURES = ["bandwidth", "bytes", "time"];
const CLASSES = ["total", "top1", "middle", "bottom1", "bottom2", "bottom3"];
const HOWS = ["min", "max", "mean", "sum"];
const LEVELS = ["group", "kind", "operation", "rank"];
const SETTINGS = ["hccs", "pcie", "rdma", "small", "small_rdma", "slow", "held"];
/** Keys of the ask that only some parts depend on. */
const OF_MATRIX = ["measure", "class", "inner", "how"];
const OF_TOTALS = ["by", "sort"];
const NAMING = ["run", "session", "rank", "group", "step", "kind", "op", ...OF_MATRIX, ...OF_TOTALS, ...SETTINGS];
const SLOWEST = "of_reference:asc";
const OTHER = "communication.other_transport";
const AGAIN_MS = 500;
const TYPING_MS = 400;

// Numbers --------------------------------------------------------------------------------------------------------------

const TEXTS = {
  bandwidth: (value) => rate(value, "B"), bytes: (value) => prefixed(value, "B"), time: (value) => duration(value / 1e9),
};
const SCALES = { bandwidth: [1e9, 1e6, 1], bytes: [1e9, 1e6, 1e3, 1], time: [1e9, 1e6, 1e3, 1] };

/**
 * A value of a measure with its unit.
 * @param {number} value
 */
export const withUnit = (measure, value) => TEXTS[measure](value);

/**
 * What writes values without a unit, all in that of the highest: three digits.
 * @param {number} highest
 */
export function plainly(measure, highest) {
  const scale = SCALES[measure].find((one) => highest >= one) || 1;
  return (value) => String(Number((value / scale).toPrecision(3)));
}

/**
 * Drop keys of a query.
 * @param {string[]} keys
 */
export const without = (query, keys) => Object.fromEntries(Object.entries(query).filter(([key]) => !keys.includes(key)));

/**
 * The URL of a plain route for an ask.
 * @param {string} routes
 * @param {string} name
 */
export function urlOf(routes, name, ask, more = {}) {
  const query = new URLSearchParams();
  for (const key of NAMING) for (const value of ask[key] || []) query.append(key, value);
  for (const [key, value] of Object.entries(more)) query.set(key, String(value));
  return `${routes}communication/${name}?${query}`;
}

// The matrix -----------------------------------------------------------------------------------------------------------

/** What names a place on the axis of a matrix: [English, Chinese] in full, and short. */
export function placeOf({ ranks, block, first }, index) {
  const [from, to] = [index * block, Math.min((index + 1) * block, ranks.length) - 1];
  if (from < to) {
    const full = translations("communication.ranks_n", { first: ranks[from], last: ranks[to] });
    return { full, brief: `${ranks[from]}–${ranks[to]}` };
  }
  const rank = ranks[from];
  if (rank >= 0) return { full: translations("communication.rank_n", { n: rank }), brief: String(rank) };
  const number = first + from;
  return { full: translations("communication.number_n", { n: number }), brief: `#${number}` };
}

/** The text alternative of a matrix: its measure, and the pairs of ranks with the highest and the lowest value. */
export function saidOf(matrix, values, title) {
  const { measure, rows } = matrix;
  const known = Array.from(values.keys()).filter((at) => !Number.isNaN(values[at]));
  const named = translations(`communication.measure.${measure}`);
  const group = title ? [title, title] : translations("communication.whole_job");
  if (!known.length) return translations("communication.matrix_none");
  const most = known.reduce((best, at) => (values[at] > values[best] ? at : best));
  const least = known.reduce((best, at) => (values[at] < values[best] ? at : best));
  /** @param {number} language */
  const pair = (at, language) => {
    const [from, to] = [Math.floor(at / rows), at % rows].map((index) => placeOf(matrix, index).full[language]);
    return `${from} → ${to} ${withUnit(measure, values[at])}`;
  };
  return [0, 1].map((language) => translations("communication.matrix_said", {
    measure: named[language], group: group[language], n: count(known.length), most: pair(most, language),
    least: pair(least, language),
  })[language]);
}

/** What heat.js draws of a matrix. */
export function contentOf(matrix, ask, title) {
  const { measure, rows } = matrix;
  // Bandwidths of few bytes are negative: no colour, so that they do not pass for slow links.
  const values = matrix.values.map((value) => (value < 0 ? NaN : value));
  const of = (ask.class || ["total"])[0];
  const scale = scaleOf(values);
  const language = document.documentElement.lang.startsWith("zh") ? 1 : 0;
  const per = measure !== "bandwidth" && of === "total" && matrix.steps > 1;
  const name = (index) => placeOf(matrix, index).brief;
  /** @param {string} key */
  const named = (key) => translations(`communication.${key}`);
  /** @param {string} key */
  const texts = (key, values_) => translations(`communication.${key}`, values_);
  return {
    rows, columns: rows, values, scale, square: true, keep: measure === "bandwidth" ? "min" : "max",
    rowName: name, columnName: name, rowTitle: named("sends"), columnTitle: named("receives"),
    none: named(matrix.values.some((value) => value < 0) ? "few_traffic" : "no_traffic"),
    title: [0, 1].map((at) => texts("matrix_of", {
      measure: named(`measure.${measure}`)[at], group: title ? title : named("whole_job")[at], class: named(`class.${of}`)[at],
    })[at]),
    said: saidOf(matrix, values, title),
    text: (value) => withUnit(measure, value),
    short: plainly(measure, scale.high),
    about(row, column) {
      const value = matrix.values[row * rows + column];
      const [source, target] = [row, column].map((index) => placeOf(matrix, index).full[language]);
      const lines = [translate("communication.pair", { source, target })];
      if (Number.isNaN(value)) return [...lines, translate("communication.no_traffic")];
      const told = withUnit(measure, Math.abs(value));
      lines.push(value < 0 ? translate("communication.few", { value: told })
        : per ? translate("communication.per_step", { value: told }) : told);
      if (matrix.block > 1) lines.push(translate(`communication.block.${matrix.how}`));
      return lines;
    },
  };
}

/** @param {Traffic.Page} page */
async function fetchMatrix(page, more = {}) {
  const url = urlOf(page.root.dataset.routes, "matrix", without(page.asked, [...OF_TOTALS, "op", ...SETTINGS]), more);
  const key = `${url} ${page.asked.mark} ${page.asked.whole || ""}`;
  if (key === page.matrixKey) return;
  page.matrixKey = key;
  page.window = more;
  if (page.fetching) page.fetching.abort();
  page.fetching = new AbortController();
  try {
    const answer = await fetch(url, { signal: page.fetching.signal, credentials: "same-origin" });
    if (!answer.ok) throw new Error((await answer.json().catch(() => ({}))).error || String(answer.status));
    page.matrix = unpacked(await answer.arrayBuffer());
    drawMatrix(page);
  } catch (error) {
    if (error.name === "AbortError") return;
    page.matrixKey = "";
    page.heat.show(null);
    page.find(".ms-communication-map").hidden = true;
    page.notes.replaceChildren(words("communication.failed", { reason: reasonOf(error) }, "p", "ms-body-wrong"));
  }
}

/** @param {Traffic.Page} page */
function drawMatrix(page) {
  const { matrix, heat, notes } = page;
  if (!matrix) return;
  const lines = [];
  const empty = !matrix.cells;
  if (empty) lines.push(words("communication.matrix_none", {}, "p"));
  if (matrix.block > 1) {
    fillSelect(page.how, HOWS.map((one) => [one, translate(`communication.block.${one}`)]), matrix.how);
    lines.push(words("communication.blocks", { n: matrix.block }), " ", page.how);
  }
  if (matrix.unplaced) lines.push(words("communication.unplaced", { n: count(matrix.unplaced) }, "p"));
  if (Object.keys(page.window).length) {
    const whole = make("button", "ms-button ms-button-small", words("communication.all_ranks"), { type: "button" });
    whole.addEventListener("click", () => fetchMatrix(page));
    lines.push(" ", whole);
  }
  notes.replaceChildren(...lines);
  page.find(".ms-communication-map").hidden = empty;
  heat.show(empty ? null : contentOf(matrix, page.asked, page.facts ? page.facts.title : ""));
}

/**
 * A window of blocks of ranks is asked for anew, with more detail.
 * @param {Traffic.Page} page
 */
function closer(page) {
  const { matrix, heat } = page;
  if (!matrix || matrix.block < 2 || heat.isWhole) return;
  const { top, bottom, left, right } = heat.part;
  const from = matrix.first + Math.min(top, left) * matrix.block;
  const to = matrix.first + Math.max(bottom, right) * matrix.block;
  if (to - from < matrix.rows * matrix.block) fetchMatrix(page, { from, to });
}

// Controls -------------------------------------------------------------------------------------------------------------

/** @returns {Omit<Traffic.Page, keyof Profiles.Page>} */
const fields = () => ({
  notes: notYet, heat: notYet, measure: notYet, of: notYet, how: notYet, inner: notYet, by: notYet, slowest: notYet,
  name: notYet, kinds: notYet, inputs: [], facts: null, matrix: null, matrixKey: "", window: {}, fetching: null, near: false,
  nearAsked: null, draws: null, lists: null,
});

/** @param {Traffic.Page} page */
function build(page) {
  const { find } = page;
  page.notes = find(".ms-communication-notes");
  page.heat = new Heat(find(".ms-communication-map"), "communication.matrix_map");
  find(".ms-communication-map").addEventListener("ms-heat-part", () => closer(page));
  /**
   * @param {string} key
   * @param {string} usual
   */
  const set = (key, usual) => (value) => page.change({ [key]: value === usual ? [] : [value] });
  page.measure = segments("communication.measure", MEASURES.map((one) => [one, `communication.measure.${one}`]),
    set("measure", "bandwidth"));
  page.of = select("communication.class", set("class", "total"));
  page.how = select("communication.how", (value) => page.change({ how: [value] }));
  page.inner = make("button", "ms-button", words("communication.inner"), { type: "button", "aria-pressed": "false" });
  page.inner.addEventListener("click", () => page.change({ inner: profiling.get(page, "inner") === "1" ? [] : ["1"] }));
  tools(page, "matrix").append(page.measure, page.of, page.inner);
  page.by = segments("communication.by", LEVELS.map((one) => [one, `communication.by.${one}`]), (value) => {
    page.change({ by: value === "kind" ? [] : [value], sort: [] });
  });
  page.slowest = make("button", "ms-button", words("communication.slowest"), { type: "button", "aria-pressed": "false" });
  setLabel(page.slowest, "title", "communication.slowest_tip");
  page.slowest.addEventListener("click", () => {
    page.change(isSlowest(page) ? { by: [], sort: [] } : { by: ["operation"], sort: [SLOWEST] });
  });
  tools(page, "totals").append(words("communication.per", {}, "span", "ms-muted"), page.by, page.slowest);
  page.name = select("communication.choose", set("op", ""));
  tools(page, "operation").append(page.name);
  tools(page, "links").append(words("communication.sums", {}, "span", "ms-muted"));
  tools(page, "packets").append(words("communication.sums_ranks", {}, "span", "ms-muted"));
  page.kinds = select("communication.kind", (value) => page.change({ kind: value ? [value] : [], op: [] }));
  find(".ms-communication-bar").replaceChildren(page.kinds, settings(page));
  page.root.addEventListener("click", (event) => press(page, event));
  new IntersectionObserver((entries) => {
    page.near = entries.some((one) => one.isIntersecting);
    if (page.near) askNear(page);
  }).observe(find('[data-card="contention"]'));
}

/** @param {Traffic.Page} page */
const isSlowest = (page) => profiling.get(page, "by") === "operation" && profiling.get(page, "sort") === SLOWEST;

/**
 * @param {Traffic.Page} page
 * @param {string} card
 */
const tools = (page, card) => page.find(`[data-card="${card}"] .ms-communication-tools`);

/** @param {Traffic.Page} page */
function settings(page) {
  page.inputs = SETTINGS.map((name) => {
    const input = make("input", "ms-input", [], { type: "number", min: "0", step: "any", id: `${page.root.id}-${name}` });
    let timer = 0;
    input.addEventListener("input", () => {
      window.clearTimeout(timer);
      timer = window.setTimeout(() => page.change({ [name]: input.value === "" ? [] : [input.value] }), TYPING_MS);
    });
    return input;
  });
  const fields = SETTINGS.flatMap((name, at) => {
    const label = words(`communication.setting.${name}`, {}, "label", "ms-muted");
    label.htmlFor = page.inputs[at].id;
    return [label, page.inputs[at]];
  });
  const summary = make("summary", "ms-button", words("communication.references"));
  return make("details", "ms-details", [summary, make("div", "ms-popover", make("div", "ms-communication-settings", fields))]);
}

/** @param {Traffic.Page} page */
function press(page, event) {
  const target = event.target instanceof Element ? event.target : null;
  const button = target && target.closest("button");
  if (!button || !page.root.contains(button)) return;
  if (button.dataset.set) {
    const state = JSON.parse(button.dataset.set);
    // A group has other kinds and operations.
    page.change({ ..."group" in state ? { kind: [], op: [] } : {}, ...Object.fromEntries(
      Object.entries(state).map(([key, value]) => [key, [value]])) });
  } else if (button.dataset.sort) sort(page, button.dataset.sort);
  const card = button.closest("[data-card]");
  if (card && button.dataset.act === "full") full(page, card.dataset.card);
  if (card && button.dataset.act === "png") png(page, card);
}

/**
 * @param {Traffic.Page} page
 * @param {string} name
 */
function sort(page, name) {
  const [column, way] = (profiling.get(page, "sort") || "elapse_ns:desc").split(":");
  const text = ["group", "kind", "name", "rank"].includes(name);
  const first = text ? "asc" : "desc";
  const next = column !== name ? first : way === "desc" ? "asc" : "desc";
  page.change({ sort: [`${name}:${next}`] });
}

/**
 * @param {Traffic.Page} page
 * @param {string} name
 */
function full(page, name) {
  page.change({ full: profiling.get(page, "full") === name ? [] : [name] });
}

/** @param {Traffic.Page} page */
function png(page, card) {
  const plot = card.querySelector(".js-plotly-plot");
  if (card.dataset.card === "matrix") page.heat.save(page.run.name);
  else if (plot && plot.data && plot.data.length) {
    files.saveImage(plot, plot, "png", page.run.name, plot, { grid: "--ms-plot-grid" });
  }
}

/** @param {Traffic.Page} page */
function draw(page) {
  pressSegment(page.measure, profiling.get(page, "measure", "bandwidth"));
  pressSegment(page.by, profiling.get(page, "by", "kind"));
  page.slowest.setAttribute("aria-pressed", String(isSlowest(page)));
  page.inner.setAttribute("aria-pressed", String(profiling.get(page, "inner") === "1"));
  const classes = CLASSES.map((one) => [one, translate(`communication.class.${one}`)]);
  fillSelect(page.of, classes, profiling.get(page, "class", "total"));
  for (const card of page.root.querySelectorAll("[data-card]")) {
    card.classList.toggle("ms-full", card.dataset.card === profiling.get(page, "full"));
  }
  drawOffers(page);
}

/** @param {Traffic.Page} page */
function drawOffers(page) {
  const { facts } = page;
  if (!facts) return;
  const kind = profiling.get(page, "kind");
  const kinds = kind && !facts.kinds.includes(kind) ? [kind, ...facts.kinds] : facts.kinds;
  fillSelect(page.kinds, [["", translate("communication.every_kind")], ...kinds.map((one) => [one, one])], kind);
  page.kinds.hidden = kinds.length < 2 && !kind;
  const chosen = profiling.get(page, "op");
  const names = chosen && !facts.names.includes(chosen) ? [chosen, ...facts.names] : facts.names;
  fillSelect(page.name, [["", translate("communication.most_waiting")], ...names.map((one) => [one, one])], chosen);
  page.name.hidden = !names.length;
  SETTINGS.forEach((name, at) => {
    const input = page.inputs[at];
    input.placeholder = String(facts.settings[name]);
    if (document.activeElement !== input) input.value = profiling.get(page, name);
  });
  page.find('[data-card="matrix"]').hidden = !facts.links;
  page.find('[data-card="links"]').hidden = !facts.links;
  for (const link of page.root.querySelectorAll("[data-csv]")) {
    if (page.asked) link.href = urlOf(page.root.dataset.routes, `${link.dataset.csv}.csv`, page.asked);
  }
}

const pageOf = profiling.define("communication", { fields, build, draw });

// Called by Dash -------------------------------------------------------------------------------------------------------

/**
 * What is only looked at further down is asked for when it is on screen.
 * @param {Traffic.Page} page
 * @param {number} [turn]
 */
function askNear(page, turn = 0) {
  if (!page.asked || !page.near || !page.root.isConnected) return;  // a page that was left meanwhile
  const next = without(page.asked, [...OF_MATRIX, ...OF_TOTALS]);
  if (!turn && same(next, page.nearAsked)) return;
  page.nearAsked = next;
  setProps(page.store("near"), { data: turn ? { ...next, turn: [String(turn)] } : next });
}

Object.assign(functionsOf("mindscope_communication"), {
  /** @param {string} rootId */
  plan(ask, rootId) {
    const page = pageOf(rootId);
    if (!page || !ask) return [noUpdate(), noUpdate(), noUpdate()];
    page.asked = ask;
    fetchMatrix(page);
    window.setTimeout(() => askNear(page), 0);
    const draws = without(ask, [...OF_MATRIX, ...OF_TOTALS]);
    const lists = without(ask, [...OF_MATRIX, "op"]);
    /** @param {string} key */
    const changed = (key, next) => {
      if (same(next, page[key])) return noUpdate();
      page[key] = next;
      return next;
    };
    drawOffers(page);
    return [changed("draws", draws), changed("lists", lists), noUpdate()];
  },

  /** @param {string} rootId */
  offered(facts, rootId) {
    const page = pageOf(rootId);
    if (!page || !facts) return;
    page.facts = facts;
    profiling.offer(page, facts.offers);
    drawOffers(page);
    drawMatrix(page);
    for (const [name, there] of [["operation", facts.found], ["packets", facts.packets]]) {
      page.find(`[data-card="${name}"] .ms-communication-plot`).hidden = !there;
    }
  },

  /** @param {string} rootId */
  again(wanted, rootId) {
    const page = pageOf(rootId);
    if (!page || !wanted) return;
    window.setTimeout(() => askNear(page, Date.now()), AGAIN_MS);
  },

  /**
   * @param {unknown} _prefs
   * @param {string} rootId
   */
  dress(figure, _prefs, rootId) {
    const page = pageOf(rootId);
    if (!page || !figure) return noUpdate();
    const { colour, font } = files.coloursAt(page.root);
    const { layout } = figure;
    const lines = { gridcolor: colour("--ms-plot-grid"), zerolinecolor: colour("--ms-plot-zero") };
    const hover = { bgcolor: colour("--ms-raised"), bordercolor: colour("--ms-line"), font: { color: colour("--ms-text") } };
    return {
      ...figure,
      data: figure.data.map((trace) => (trace.meta === OTHER ? { ...trace, name: translate(OTHER) } : trace)),
      layout: {
        ...layout, font: { ...layout.font, color: colour("--ms-text"), family: font }, hoverlabel: hover,
        xaxis: { ...layout.xaxis, ...lines, title: { text: translate((layout.meta && layout.meta.axis) || "") || undefined } },
        yaxis: { ...layout.yaxis, ...lines },
      },
    };
  },

  /** @param {string} rootId */
  pressed(click, rootId) {
    const page = pageOf(rootId);
    const rank = page && click && click.points[0] && String(click.points[0].x);
    const entry = rank ? profiling.memberOf(page, Number(rank)) : null;
    if (entry) page.change({ of: [entry.run.key], session: [entry.profile.session], rank: [rank] });
  },
});

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (!["f", "Escape"].includes(key) || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (!(target instanceof Element) || takesText(target) || document.querySelector("dialog[open]")) return;
  const root = document.querySelector(".ms-communication");
  const page = root && pageOf(root.id);
  if (!page) return;
  const card = target.closest("[data-card]");
  if (key === "Escape" && profiling.get(page, "full")) page.change({ full: [] });
  else if (key === "f" && card && page.root.contains(card)) full(page, card.dataset.card);
});
