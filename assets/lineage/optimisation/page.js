// The optimisation page: what a result has to do with settings of runs. Counterpart of layouts/lineage/optimisation.

import { handMark } from "../../kit/colours.js";
import { listDamage } from "../../kit/damage.js";
import { functionsOf, noUpdate, setProps } from "../../kit/dash.js";
import { icon, make, menu, words } from "../../kit/elements.js";
import { inLanguage, language, setLabel, writeText } from "../../kit/i18n.js";
import { escapeMarkup } from "../../kit/markup.js";
import { keeper, notYet } from "../../kit/pages.js";
import { last, same } from "../../kit/state.js";
import { count } from "../../kit/units.js";
import { cut } from "../columns.js";
import { answer } from "./answer.js";
import { save } from "./files.js";
import { pairs } from "./pairs.js";
import { RUNNING, chosenSetting, named, targetLabel } from "./settings.js";
import { table } from "./table.js";

const TICK_MS = 700;
const nothing = () => noUpdate();

/**
 * @param {HTMLElement} _root
 * @param {Lineage.ResultPage} page
 * @returns {OwnFields<Lineage.ResultPage>}
 */
const fresh = (_root, page) => ({
  sheet: notYet, runs: null, fitting: null, drawing: notYet, act: "", shown: null, listed: "", timer: 0, tools: build(page),
});

const { pageOf } = keeper(fresh);

/** @param {Lineage.ResultPage} page */
export function build(page) {
  const target = make("select", "ms-input", [], { "data-control": "target" });
  target.addEventListener("change", () => page.change({ target: [target.value] }));
  const countLabel = make("span", "t ms-optimisation-count");
  page.find(".ms-optimisation-bar").append(
    make("label", "ms-field", [words("optimisation.target", {}, "span", "ms-field-name"), target]), countLabel,
  );
  saving(page, "importance", ["png", "svg", "csv"]);
  saving(page, "spread", ["png", "svg"]);
  saving(page, "over", ["png", "svg", "csv"]);
  const log = make("button", "ms-button ms-button-small", words("optimisation.log"), { type: "button", "data-act": "log" });
  setLabel(log, "title", "optimisation.log_tip");
  page.find(".ms-optimisation-over .ms-card-tools").prepend(log);
  page.root.addEventListener("click", (event) => {
    if (!(event.target instanceof Element)) return;
    const pressed = event.target.closest("[data-act]");
    if (pressed) acts[pressed.dataset.act](page, pressed);
    else choose(page, event.target.closest("tr[data-setting]"));
  });
  page.find(".ms-optimisation-settings").addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => key(page, event));
  return { target, countLabel, log };
}

/**
 * @param {Lineage.ResultPage} page
 * @param {string} card
 * @param {string[]} kinds
 */
function saving(page, card, kinds) {
  const summary = make("summary", "ms-button ms-button-icon", icon("download"));
  for (const attribute of ["title", "aria-label"]) setLabel(summary, attribute, "optimisation.save");
  const items = kinds.map((kind) => make("button", "ms-menu-item", words(`optimisation.save.${kind}`),
    { type: "button", "data-act": "save", "data-card": card, "data-kind": kind }));
  page.find(`.ms-optimisation-${card} .ms-card-tools`).append(menu(summary, items));
}

/** @type {Record<string, (page: Lineage.ResultPage, pressed: HTMLElement) => unknown>} */
const acts = {
  log: (page) => page.change({ log: [page.drawing.figure && page.drawing.figure.layout.meta.log ? "0" : "1"] }),
  by: (page, { dataset: { by = "" } }) => page.change({ by: by === last(page.state, "by", "") ? [] : [by] }),
  rest: (page) => page.change({ rest: last(page.state, "rest", "") === "1" ? [] : ["1"] }),
  stop: (page) => act(page, "stop"),
  again: (page) => act(page, "again"),
  save: (page, { dataset: { card = "", kind = "" } }) => save(page, card, kind),
};

/**
 * An action on the fitting of shares is sent with one request.
 * @param {Lineage.ResultPage} page
 * @param {string} name
 */
function act(page, name) {
  page.act = name;
  setProps(page.store("fitting-ask"), { data: fittingAsk(page) });
}

/**
 * @param {Lineage.ResultPage} page
 * @param {HTMLElement | null} row
 */
function choose(page, row) {
  if (row) page.change({ setting: [String(row.dataset.setting)], log: [] });
}

/**
 * @param {Lineage.ResultPage} page
 * @param {KeyboardEvent} event
 */
function key(page, event) {
  const row = event.target && event.target.closest("tr[data-setting]");
  if (!row || event.target !== row) return;
  if (event.key === "Enter" || event.key === " ") choose(page, row);
  else if (event.key === "ArrowDown" && row.nextElementSibling) row.nextElementSibling.focus();
  else if (event.key === "ArrowUp" && row.previousElementSibling) row.previousElementSibling.focus();
  else return;
  event.preventDefault();
}

/** @param {Lineage.ResultPage} page */
function furnish(page) {
  const { sheet } = page;
  const none = sheet.damage.length ? "damaged" : "none";
  const name = sheet.target ? "" : sheet.chosen || !sheet.total ? none : "no-runs";
  listDamage(page.root, sheet.damage);
  for (const element of page.root.querySelectorAll("[data-state]")) element.hidden = element.dataset.state !== name;
  page.find(".ms-optimisation-body").hidden = name !== "";
  if (name) return;
  const shape = JSON.stringify([sheet.targets, language()]);
  if (shape !== page.listed) {
    page.listed = shape;
    page.tools.target.replaceChildren(
      ...sheet.targets.map((one) => make("option", "", cut(inLanguage(one.label), 80), { value: one.name })),
    );
  }
  page.tools.target.value = sheet.target;
  const key = sheet.jobs < sheet.chosen ? "count_ranks" : sheet.chosen === sheet.total ? "count" : "count_chosen";
  writeText(page.tools.countLabel, `optimisation.${key}`, {
    jobs: count(sheet.jobs),
    n: count(sheet.runs),
    chosen: count(sheet.chosen),
    total: count(sheet.total),
  });
  const [least, middle, most] = sheet.summary;
  const spread = { runs: count(sheet.runs), least, middle, most };
  page.find(".ms-optimisation-spread .ms-optimisation-told").replaceChildren(words("optimisation.summary", spread));
  table(page);
  title(page);
  answer(page);
}

/** @param {Lineage.ResultPage} page */
function title(page) {
  const head = page.find(".ms-optimisation-over .ms-card-title");
  const setting = chosenSetting(page);
  const names = { target: cut(targetLabel(page), 60), setting: cut(named(page, setting), 60) };
  head.replaceChildren(words(setting ? "optimisation.over" : "optimisation.over_none", names));
  page.find(".ms-optimisation-nearest .ms-card-title").replaceChildren(words("optimisation.pairs_of", names));
}

/** @param {Lineage.ResultPage} page */
function drawSummary(page) {
  const { drawing } = page;
  const summary = page.find(".ms-optimisation-over .ms-optimisation-told");
  const meta = drawing.figure && drawing.figure.layout.meta;
  page.tools.log.hidden = !meta || !meta.logs;
  page.tools.log.setAttribute("aria-pressed", String(Boolean(meta && meta.log)));
  const parts = [];
  if (meta) {
    parts.push(words("optimisation.drawn", { n: count(meta.runs) }));
    const [least, most] = meta.tried;
    if (least !== most) parts.push(words("optimisation.tried", { least, most }));
    if (meta.best) {
      const [at, low, high, end] = meta.best;
      const key = end < 0 ? "optimisation.best_low" : end > 0 ? "optimisation.best_high" : "optimisation.best";
      parts.push(words(key, { at, low, high }, "span", "ms-optimisation-best"));
    }
    if (meta.slope) parts.push(words(meta.log ? "optimisation.per_decade" : "optimisation.per_unit", { slope: meta.slope }));
    if (meta.left) parts.push(words("optimisation.left", { n: count(meta.left) }));
  }
  summary.replaceChildren(...parts);
}

/**
 * Apply colours of the theme that css cannot set.
 * @param {Lineage.ResultPage} page
 * @param {PlotlyFigure} figure
 * @param {Record<string, string>} titles
 */
function dressed(page, figure, titles) {
  const style = window.getComputedStyle(page.root);
  /** @param {string} name */
  const colour = (name) => style.getPropertyValue(name).trim();
  const font = { family: colour("--ms-font"), color: colour("--ms-text"), size: 12 };
  /** @type {PlotlyLayout} */
  const layout = {
    ...figure.layout,
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { ...font, color: colour("--ms-muted"), size: 11 },
    hoverlabel: { bgcolor: colour("--ms-raised"), bordercolor: colour("--ms-line"), font, align: "left" },
  };
  for (const [axis, text] of Object.entries(titles)) {
    layout[axis] = { ...layout[axis], title: { text: escapeMarkup(cut(text, 60)), standoff: 6, font: { size: 12 } } };
  }
  return { data: figure.data, layout };
}

/**
 * @param {Lineage.ResultPage} page
 * @param {string[]} keys
 */
function part(page, keys) {
  return Object.fromEntries(keys.filter((name) => page.state[name]).map((name) => [name, page.state[name]]));
}

/** @param {Lineage.ResultPage} page */
function fittingAsk(page) {
  const ask = { ...part(page, ["run"]), target: [page.sheet.target], mark: [page.sheet.stamp] };
  return page.act ? { ...ask, act: [page.act] } : ask;
}

Object.assign(functionsOf("mindscope_optimisation"), {
  /**
   * @param {Wire.Query | null} state
   * @param {Wire.Query | null} known
   */
  chosen(state, known) {
    /** @type {Wire.Query} */
    const next = {};
    for (const key of ["run", "target"]) if (state && state[key]) next[key] = state[key];
    return same(next, known) ? nothing() : next;
  },

  /**
   * @param {Wire.Query | null} state
   * @param {Lineage.ResultSheet | null} sheet
   * @param {RunList | null} runs
   * @param {Preferences | null} _prefs
   * @param {Wire.Query | null} ask
   * @param {Wire.Query | null} asked
   * @param {string} rootId
   */
  plan(state, sheet, runs, _prefs, ask, asked, rootId) {
    const page = pageOf(rootId);
    if (!page || !sheet) return [nothing(), nothing()];
    Object.assign(page, { state: state || {}, sheet, runs });
    furnish(page);
    if (!sheet.target) return [nothing(), nothing()];
    /** @type {Wire.Query} */
    const next = { ...part(page, ["run", "log"]), target: [sheet.target], setting: [chosenSetting(page)], mark: [sheet.stamp] };
    if (runs) next.hand = [handMark(runs.rows)];
    const wanted = fittingAsk(page);
    return [same(next, ask) ? nothing() : next, same(wanted, asked) ? nothing() : wanted];
  },

  /**
   * @param {Lineage.ResultSheet | null} sheet
   * @param {Preferences | null} _prefs
   * @param {string} rootId
   */
  distribution(sheet, _prefs, rootId) {
    const page = pageOf(rootId);
    if (!page || !sheet || !sheet.target) return nothing();
    page.find(".ms-optimisation-spread .ms-skeleton").hidden = true;
    return dressed(page, sheet.figure, {});
  },

  /**
   * @param {Lineage.SettingDrawing | null} drawing
   * @param {Preferences | null} _prefs
   * @param {string} rootId
   */
  over(drawing, _prefs, rootId) {
    const page = pageOf(rootId);
    if (!page || !drawing || !page.sheet || !page.sheet.target) return nothing();
    page.drawing = drawing;
    page.find(".ms-optimisation-over .ms-skeleton").hidden = true;
    drawSummary(page);
    answer(page);
    table(page);
    pairs(page);
    if (!drawing.figure) {
      return dressed(page, { data: [], layout: { xaxis: { visible: false }, yaxis: { visible: false } } }, {});
    }
    return dressed(page, drawing.figure, { xaxis: named(page, drawing.setting), yaxis: targetLabel(page) });
  },

  /**
   * Ask again some time after an answer; at fixed intervals a slow answer would never be shown.
   * @param {Lineage.Fitting | null} fitting
   * @param {string} rootId
   */
  fitted(fitting, rootId) {
    const page = pageOf(rootId);
    if (!page || !page.sheet || !fitting) return;
    if (fitting.act && fitting.act === page.act) {
      page.act = "";
      window.setTimeout(() => {
        if (page.root.isConnected) setProps(page.store("fitting-ask"), { data: fittingAsk(page) });
      }, 0);
    }
    page.fitting = fitting;
    if (page.sheet.target) {
      table(page);
      answer(page);
    }
    window.clearTimeout(page.timer);
    if (!RUNNING.includes(fitting.state) && fitting.target === page.sheet.target) return;
    page.timer = window.setTimeout(() => {
      if (document.getElementById(rootId) === page.root) setProps(page.store("tick"), { data: Date.now() });
    }, TICK_MS);
  },
});
