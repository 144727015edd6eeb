// The landscape page: choice of landscapes, controls, empty states. Counterpart of layouts/values/landscape.

import { listDamage } from "../../kit/damage.js";
import { functionsOf, noUpdate, setProps } from "../../kit/dash.js";
import { badge, fillSelect, icon, iconButton, make, menu, pressSegment, segments, select, words } from "../../kit/elements.js";
import { count } from "../../kit/units.js";
import { language, setLabel, translate, translations, writeText } from "../../kit/i18n.js";
import { nameElement, namesIn } from "../../kit/name_elements.js";
import { whenPlotted } from "../../kit/cards/plots.js";
import { surfacesLoaded } from "../../kit/page_files.js";
import { keeper, notYet } from "../../kit/pages.js";
import { currentPrefs } from "../../kit/prefs.js";
import { fillRuns } from "../../kit/run_select.js";
import { same } from "../../kit/state.js";
import * as saving from "./files.js";
import * as path from "./path.js";
import { DEFAULTS, get, put } from "./view.js";

const MOST_COMPARED = 3;
const WAIT_MS = 80;
const MARKS = { start: "○", end: "●", convergence: "☆", missing: "▨" };

/**
 * @param {HTMLElement} root
 * @returns {OwnFields<Landscape.Page>}
 */
const fresh = (root) => ({
  catalogue: notYet, sheets: [], figure: null, camera: null,
  plot: () => root.querySelector(".ms-landscape-main .js-plotly-plot"),
  playing: 0, moving: null, views: notYet, modes: notYet, overs: notYet, scales: notYet, runs: notYet, intervals: notYet,
  maps: notYet, picks: notYet, picked: "", plans: "",
  solid: "",
});

const { pageOf } = keeper(fresh, build);

// What is shown -----------------------------------------------------------------------------------------------------

/** @param {Landscape.Page} page */
function comparing(page) {
  return get(page, "mode") === "final";
}

/**
 * @param {Landscape.Page} page
 * @returns {Landscape.Shown[]}
 */
function finals(page) {
  return page.catalogue.runs.flatMap((run) => {
    const sheet = run.sheets.filter((one) => one.final && !one.broken && !one.of).pop();
    return sheet ? [{ run, sheet }] : [];
  });
}

/** @param {Landscape.Page} page */
function compared(page) {
  const all = finals(page);
  const named = all.filter(({ run }) => (page.state.final || []).includes(run.key));
  return (named.length ? named : all).slice(0, MOST_COMPARED);
}

/** @param {Landscape.Page} page */
function focus(page) {
  const { runs } = page.catalogue;
  const run = runs.find((one) => one.key === get(page, "of")) || runs.find((one) => one.sheets.some((sheet) => !sheet.final))
    || runs[0];
  if (!run) return [];
  const at = get(page, "at");
  // A landscape that was computed while it was looked at has become a recorded one of its tag.
  const sheet = run.sheets.find((one) => one.tag === at) || run.sheets.find((one) => at.endsWith(`/${one.name}`))
    || run.sheets.find((one) => !one.broken && !one.of) || run.sheets.find((one) => one.done < one.of) || run.sheets[0];
  return [{ run, sheet }];
}

/**
 * @param {Landscape.Page} page
 * @param {boolean} withVersions
 */
function asked(page, withVersions) {
  const sheets = page.sheets.map(({ run, sheet }) => JSON.stringify([run.key, sheet.tag]));
  const mark = page.sheets.map(({ run, sheet }) =>
    [sheet.mark, run.colour, ...(withVersions ? [run.version] : [])].join(" "));
  /** @type {Record<string, string[]>} */
  const ask = { sheet: sheets, mark };
  if (page.state.run) ask.run = page.state.run;
  return ask;
}

/** @param {Landscape.Page} page */
function drawing(page) {
  const ask = asked(page, false);
  for (const key of Object.keys(DEFAULTS)) if (get(page, key) !== DEFAULTS[key]) ask[key] = [get(page, key)];
  if (overlaid(page)) ask.over = ["1"];
  if (get(page, "same") === "1") ask.same = ["1"];
  const { lang, theme } = currentPrefs();
  return { ...ask, lang: [lang], theme: [theme] };
}

/**
 * Whether the page is to show a surface before plotly.js can draw one; if so, the surface is asked for once it can.
 * @param {Landscape.Page} page
 */
function awaitsSurfaces(page) {
  if (get(page, "view") !== "surface" || page.solid === "ready") return false;
  // Dash replaces what it finds when it loads plotly.js itself, so the whole of it comes after Dash's first drawing.
  if (!page.solid) whenPlotted(page.find(".ms-landscape-main"), () => void drawSurfaces(page));
  page.solid = "loading";
  return true;
}

/** @param {Landscape.Page} page */
async function drawSurfaces(page) {
  page.solid = "loading";
  const isLoaded = await surfacesLoaded().then(() => true, () => false);
  page.solid = isLoaded ? "ready" : "";  // tried again with the next choice
  sayLacking(page, !isLoaded && get(page, "view") === "surface");
  if (isLoaded && page.root.isConnected && page.sheets.length) setProps(page.store("ask"), { data: drawing(page) });
}

/**
 * @param {Landscape.Page} page
 * @param {boolean} lacking whether there is nothing to draw the surface with
 */
function sayLacking(page, lacking) {
  const message = page.find(".ms-landscape-message");
  const before = page.root.classList.contains("ms-landscape-lacking");
  page.root.classList.toggle("ms-landscape-lacking", lacking);
  if (!lacking) {
    if (before && page.figure) drawProblems(page, page.figure.layout.meta.problems);
    else if (before) message.hidden = true;
    return;
  }
  const button = make("button", "ms-button", words("landscape.again"), { type: "button" });
  button.addEventListener("click", () => void drawSurfaces(page));
  message.replaceChildren(words("landscape.no_surfaces"), " ", button);
  message.hidden = false;
}

/** @param {Landscape.Page} page */
function overlaid(page) {
  return comparing(page) && get(page, "over") === "1";
}

/** @param {Landscape.Page} page */
function showState(page) {
  const { catalogue } = page;
  let name = "";
  const of = get(page, "of");
  const unknown = comparing(page) || catalogue.runs.some((run) => run.key === of) ? "" : of;
  page.find(".ms-body-unknown").textContent = unknown;
  if (unknown) name = catalogue.waiting ? "reading" : "unknown";
  else if (!catalogue.chosen) name = "no-runs";
  else if (!catalogue.runs.length) {
    const otherwise = catalogue.plans.some((plan) => !plan.problem) ? "planned" : "none";
    name = catalogue.waiting ? "reading" : catalogue.damage.length ? "damaged" : otherwise;
  } else if (!page.sheets.length) name = "no-final";
  for (const element of page.root.querySelectorAll("[data-state]")) element.hidden = element.dataset.state !== name;
  listDamage(page.root, catalogue.damage);
  page.find(".ms-landscape-body").hidden = name !== "";
  page.find(".ms-landscape-controls").hidden = !catalogue.runs.length;
}

// Controls ----------------------------------------------------------------------------------------------------------

/**
 * @param {Landscape.Page} page
 * @param {string} key
 * @param {{ min: string, max: string, step: string }} bounds
 */
function slider(page, key, bounds) {
  const input = make("input", "ms-slider", [], { type: "range", ...bounds, "data-control": key });
  let timer = 0;
  input.addEventListener("input", () => {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => put(page, key, input.value), WAIT_MS);
  });
  return make("label", `ms-field ms-landscape-${key}`, [words(`landscape.${key}`, {}, "span", "ms-field-name"), input]);
}

/** @param {Landscape.Page} page */
function build(page) {
  /**
   * @param {string} name
   * @param {string[]} values
   */
  const choices = (name, values) => values.map((value) => [value, `landscape.${name}.${value}`]);
  page.views = segments("landscape.view", choices("view", ["filled", "isolines", "surface"]), (view) =>
    put(page, "view", view),
  );
  page.modes = segments(
    "landscape.mode",
    [
      ["", "landscape.path"],
      ["final", "landscape.compare"],
    ],
    (mode) => put(page, "mode", mode),
  );
  page.overs = segments(
    "landscape.arrangement",
    [
      ["", "landscape.beside"],
      ["1", "landscape.over"],
    ],
    (over) => put(page, "over", over),
  );
  page.scales = segments(
    "landscape.scales",
    [
      ["", "landscape.own_scale"],
      ["1", "landscape.one_scale"],
    ],
    (same) => put(page, "same", same),
  );
  page.runs = select("landscape.run", (key) => page.change({ of: [key], at: [] }), { "data-control": "of" });
  page.intervals = select("landscape.interval", (tag) => page.change({ at: [tag] }), { "data-control": "at" });
  page.maps = select("landscape.map", (map) => put(page, "map", map), { "data-control": "map" });
  page.picks = menu(make("summary", "ms-button", [make("span", "ms-landscape-compared"), icon("down")]), []);
  page.find(".ms-landscape-controls").replaceChildren(
    page.modes, page.runs, page.intervals, page.picks, page.overs, page.scales,
    make("span", "ms-landscape-look", [
      page.views, page.maps,
      slider(page, "lines", { min: "5", max: "80", step: "5" }),
      slider(page, "opacity", { min: "0.1", max: "1", step: "0.05" }),
    ]),
  );
  buildHead(page);
}

/** @param {Landscape.Page} page */
function buildHead(page) {
  const summary = make("summary", "ms-button ms-button-icon", icon("download"));
  setLabel(summary, "title", "landscape.save");
  setLabel(summary, "aria-label", "landscape.save");
  /** @type {HTMLElement[]} */
  const items = ["png", "svg", "csv"].map((name) => make("button", "ms-menu-item", words(`landscape.save.${name}`),
    { type: "button", "data-act": name }));
  items.push(make("div", "ms-landscape-arrays"));
  const tools = make("span", "ms-card-tools", [
    iconButton("restore", "landscape.restore", "restore"), menu(summary, items), iconButton("full", "landscape.full", "full"),
  ], { role: "toolbar" });
  setLabel(tools, "aria-label", "landscape.tools");
  const play = iconButton("play", "landscape.play", "play");
  page.find(".ms-landscape-main .ms-card-head").append(play, make("span", "ms-card-badges"), tools);
  const message = make("div", "ms-landscape-message ms-wrong-text", [], { role: "alert" });
  message.hidden = true;
  page.find(".ms-landscape-main .ms-card-head").after(message);
  page.find(".ms-landscape-main").addEventListener("click", (event) => {
    const button = event.target instanceof Element && event.target.closest("[data-act]");
    if (button) acts[button.dataset.act](page);
  });
}

/** @type {Record<string, (page: Landscape.Page) => void>} */
const acts = {
  play: (page) => path.toggle(page),
  restore: (page) => path.restore(page),
  full: (page) => put(page, "full", get(page, "full") === "1" ? "" : "1"),
  png: (page) => saving.image(page, "png"),
  svg: (page) => saving.image(page, "svg"),
  csv: (page) => saving.csv(page),
};

/** @param {Landscape.Sheet} sheet */
function listedName(sheet) {
  const name = sheetName(sheet);
  return sheet.of ? translate("landscape.growing", { name, n: count(sheet.done), total: count(sheet.of) }) : name;
}

/** @param {Landscape.Sheet} sheet */
function sheetName(sheet) {
  if (sheet.broken) return translate("landscape.broken", { tag: sheet.tag });
  if (!sheet.unit) return `${translate(sheet.line ? "landscape.line" : "landscape.final")} (${sheet.name})`;
  const unit = translate(sheet.unit === "epoch" ? "landscape.epoch" : "landscape.step");
  const steps = { unit, first: count(sheet.first), last: count(sheet.last) };
  return translate(sheet.line ? "landscape.line_of" : "landscape.interval_of", steps);
}

/** @param {Landscape.Page} page */
function drawControls(page) {
  const { runs } = page.catalogue;
  const final = comparing(page);
  pressSegment(page.modes, final ? "final" : "");
  pressSegment(page.views, get(page, "view"));
  pressSegment(page.overs, get(page, "over"));
  pressSegment(page.scales, get(page, "same"));
  page.intervals.hidden = final;
  page.overs.hidden = !final || page.sheets.length < 2;
  page.scales.hidden = page.overs.hidden || Boolean(get(page, "over"));
  page.picks.hidden = !final || finals(page).length < 2;
  const [shown] = page.sheets;
  page.runs.hidden = true;
  if (!final && shown) {
    fillRuns(page.runs, runs.map((run) => [run.key, run.name]), shown.run.key);
    fillSelect(page.intervals, shown.run.sheets.map((sheet) => [sheet.tag, listedName(sheet)]), shown.sheet.tag);
  }
  fillSelect(
    page.maps,
    ["viridis", "cividis", "diverging"].map((map) => [map, translate(`landscape.map.${map}`)]),
    get(page, "map"),
  );
  // Overlaid landscapes have the colours of their runs.
  const line = page.sheets.some(({ sheet }) => sheet.line);
  page.views.hidden = line;
  page.find(".ms-landscape-lines").hidden = line;
  page.maps.hidden = line || overlaid(page);
  page.find(".ms-landscape-opacity").hidden = line
    || get(page, "view") === "isolines" || (overlaid(page) && get(page, "view") === "filled");
  for (const key of ["lines", "opacity"]) page.find(`[data-control="${key}"]`).value = get(page, key);
  if (final) drawPicks(page);
  page.find(".ms-landscape-main").classList.toggle("ms-full", get(page, "full") === "1");
}

/** @param {Landscape.Page} page */
function drawPicks(page) {
  const all = finals(page);
  const on = page.sheets.map(({ run }) => run.key);
  writeText(page.find(".ms-landscape-compared"), "landscape.compared", { n: on.length, total: all.length });
  const wanted = JSON.stringify([all.map(({ run }) => run.key), on]);
  if (page.picked === wanted) return;
  page.picked = wanted;
  page.picks.querySelector(".ms-menu-items").replaceChildren(...all.map(({ run }) => {
    const box = make("input", "", [], { type: "checkbox" });
    box.checked = on.includes(run.key);
    box.disabled = box.checked ? on.length === 1 : on.length >= MOST_COMPARED;
    box.addEventListener("change", () =>
      page.change({ final: box.checked ? [...on, run.key] : on.filter((/** @type {string} */ key) => key !== run.key) }),
    );
    const name = make("span", "ms-cut ms-name", run.name);
    return make("label", "ms-menu-item ms-landscape-pick", [box, name], { title: run.name });
  }));
}

// Landscapes that could be computed ---------------------------------------------------------------------------------

/**
 * A path as one word of a shell.
 * @param {string} path
 */
const quoted = (path) => /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;

function plan(item) {
  if (item.problem) return make("section", "ms-card ms-landscape-plan", make("p", "ms-wrong-text", item.problem));
  /** @param {number} language */
  const unit = (language) => translations(item.unit === "epoch" ? "landscape.epoch" : "landscape.step")[language].toLowerCase();
  const values = {
    run: item.name,
    n: count(item.checkpoints),
    intervals: item.intervals,
    size: item.size,
    samples: count(item.samples),
  };
  const english = words("landscape.plan", { ...values, unit: unit(language() === "zh" ? 1 : 0) }, "p");
  const code
    = `from mindspore.train import SummaryLandscape\n\nlandscape = SummaryLandscape(${JSON.stringify(item.directory)})\n`
      + "landscape.gen_landscapes_with_multi_process(callback_fn, device_ids=[0])";
  const place = quoted(item.directory);
  const command = `mindscope landscape ${place} --script loss.py --out ${place} --jobs 4`;
  return make("section", "ms-card ms-landscape-plan", [
    english, words("landscape.plan_command", {}, "p", "ms-muted"), make("pre", "ms-code", make("code", "", command)),
    words("landscape.plan_hint", values, "p", "ms-muted"), make("pre", "ms-code", make("code", "", code)),
  ], { tabindex: "-1" });
}

/**
 * Buttons for runs with landscapes that are not selected.
 * @param {Landscape.Page} page
 */
function others(page, runs) {
  const buttons = runs.map(({ key, name }) => {
    const button = make("button", "ms-button", nameElement(name), { type: "button", title: name });
    button.addEventListener("click", () => page.change({ run: [key] }));
    return button;
  });
  return make("div", "ms-landscape-elsewhere", [words("landscape.elsewhere", {}, "span", "ms-muted"), ...buttons]);
}

/** @param {Landscape.Page} page */
function drawPlans(page) {
  const { plans, left, elsewhere } = page.catalogue;
  const wanted = JSON.stringify([plans, left, elsewhere, language()]);
  if (page.plans === wanted) return;
  page.plans = wanted;
  const more = left ? [words("landscape.left", { n: count(left) }, "p", "ms-muted")] : [];
  if (elsewhere.length) more.push(others(page, elsewhere));
  page.find(".ms-landscape-plans").replaceChildren(...more, ...plans.map(plan));
}

// The head of the plot ----------------------------------------------------------------------------------------------

// What the marks on the figure are.
function legend(figure) {
  const drawn = new Set(figure.data.map((trace) => trace.meta && trace.meta.role));
  return Object.entries(MARKS).filter(([role]) => drawn.has(role)).map(([role, sign]) =>
    make("span", "ms-landscape-mark", [
      make("span", `ms-landscape-${role}`, sign, { "aria-hidden": "true" }), words(`landscape.${role}`),
    ]));
}

/**
 * How much of a landscape is computed, and when its last point came.
 * @param {{ done: number, of: number, updated: number }} sheet
 */
function finished({ done, of, updated }) {
  const time = new Date(updated * 1000).toLocaleTimeString();
  return badge("landscape.done", { n: count(done), total: count(of), time }, "landscape.done.title", "accent");
}

/** @param {Landscape.Page} page */
function drawHead(page) {
  const { meta } = page.figure.layout;
  const title = page.find(".ms-landscape-main .ms-card-title");
  const [only] = page.sheets;
  const one = page.sheets.length === 1 && only;
  title.replaceChildren(...(one
    ? [nameElement(only.run.name, namesIn(page.catalogue.runs)), make("span", "", ` · ${sheetName(only.sheet)}`)]
    : [translate("landscape.compare")]));
  title.title = title.textContent;
  const badges = meta.sheets.filter((sheet) => sheet.of).map(finished);
  badges.push(...meta.bad.filter((bad) => bad > 0).map((bad) =>
    badge("landscape.bad", { n: count(bad) }, "landscape.bad.title", "wrong")));
  if (meta.sheets.some((sheet) => sheet.partly)) {
    badges.push(badge("landscape.partly.badge", {}, "landscape.partly.title", "accent"));
  }
  const whole = meta.sheets.every((sheet) => !sheet.of);
  for (const [n, total] of [...meta.points, ...meta.passed].filter(([drawn, all]) => whole && drawn < all)) {
    badges.push(badge("landscape.thinned", { n: count(n), total: count(total) }, "landscape.thinned.title", "accent"));
  }
  if (meta.problems.length) badges.push(badge("landscape.problem", {}, null, "wrong"));
  badges.push(...legend(page.figure));
  page.root.classList.remove("ms-landscape-lacking");
  drawProblems(page, meta.problems);
  page.root.classList.toggle("ms-landscape-bare", !meta.sheets.length);
  page.find(".ms-landscape-main .ms-card-badges").replaceChildren(...badges);
  page.find(".ms-landscape-arrays").replaceChildren(...meta.sheets.filter((sheet) => !sheet.of).map((sheet) => {
    const label = meta.sheets.length > 1 ? words("landscape.save.npz_of", { run: sheet.label }) : words("landscape.save.npz");
    const query = new URLSearchParams({ run: sheet.run, tag: sheet.tag });
    return make("a", "ms-menu-item", label, { href: `${page.root.dataset.routes}landscape.npz?${query}`, download: "" });
  }));
  const moves = meta.sheets.some((sheet) => sheet.path.length > 1 && !sheet.line);
  page.find('[data-act="play"]').hidden = !moves;
}

/**
 * @param {Landscape.Page} page
 * @param {string[]} problems
 */
function drawProblems(page, problems) {
  const message = page.find(".ms-landscape-message");
  message.replaceChildren(...problems.map((problem) => make("p", "", problem)));
  message.hidden = !problems.length;
}

// Called by Dash ----------------------------------------------------------------------------------------------------

Object.assign(functionsOf("mindscope_landscape"), {
  /**
   * @param {Wire.Query | null} state
   * @param {unknown} _prefs
   * @param {string} rootId
   */
  plan(state, catalogue, _prefs, askNow, sideNow, rootId) {
    const page = pageOf(rootId);
    if (!page || !catalogue) return [noUpdate(), noUpdate()];
    page.state = state || {};
    page.catalogue = catalogue;
    page.sheets = comparing(page) ? compared(page) : focus(page);
    showState(page);
    drawControls(page);
    drawPlans(page);
    if (get(page, "view") !== "surface") sayLacking(page, false);
    if (!page.sheets.length) return [noUpdate(), noUpdate()];
    const next = awaitsSurfaces(page) ? askNow : drawing(page);
    return [[next, askNow], [asked(page, true), sideNow]].map(([next, now]) => (same(next, now) ? noUpdate() : next));
  },

  /** @param {string} rootId */
  painted(figure, rootId) {
    const page = pageOf(rootId);
    if (!page || !figure || !page.catalogue || !figure.layout.meta) return;
    path.forget(page);
    page.figure = figure;
    // Copy the layout, since plotly writes the camera into it.
    page.camera = structuredClone((figure.layout.scene || {}).camera);
    drawHead(page);
    page.root.classList.add("ms-landscape-drawn");
  },

  /** @param {string} rootId */
  picked(click, figure, rootId) {
    const page = pageOf(rootId);
    const point = click && click.points && click.points[0];
    if (!page || !point || !figure) return;
    const inside = (figure.layout.meta.bands || []).find((band) => band.from <= point.x && point.x <= band.to);
    if (inside) page.change({ at: [inside.tag] });
  },
});

// Keys --------------------------------------------------------------------------------------------------------------

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const target = event.target instanceof Element ? event.target : null;
  const root = document.querySelector(".ms-shell .ms-landscape") || (target && target.closest(".ms-landscape"));
  const page = root && pageOf(root.id);
  if (!page || !page.figure) return;
  if (event.key === "Escape" && get(page, "full") === "1") acts.full(page);
  if (target && target.closest("input, select, button, summary, a, textarea")) return;
  const act = { " ": acts.play, f: acts.full }[event.key];
  if (!act) return;
  event.preventDefault();
  act(page);
});
