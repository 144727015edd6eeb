// The tuning page: choice of study and target, table of trials, charts. Counterpart of layouts/tuning/tuning.

import { functionsOf } from "../../kit/dash.js";
import { fillSelect, icon, make, pressSegment, segments, select, takesText, words } from "../../kit/elements.js";
import { dateTime } from "../../kit/moments.js";
import { count, number } from "../../kit/units.js";
import { language, setLabel, translate } from "../../kit/i18n.js";
import { keeper, notYet } from "../../kit/pages.js";
import { answered, request } from "../../kit/page_parts.js";
import { showPlainHtml } from "../../kit/plain_html.js";
import { plotCards } from "../../kit/plot_cards.js";
import { currentPrefs } from "../../kit/prefs.js";
import { formatQuery, last } from "../../kit/state.js";
import { numbersOf } from "../../kit/typed_arrays.js";
import { valueAt } from "../../lineage/brushes.js";
import { parallelPlot } from "../../lineage/parallel.js";

/** @type {Tuning.Key[]} */
const KEYS = ["study", "target", "trial", "sort", "show", "x", "y", "by"];
/** @type {Tuning.Key[]} */
const OF_TABLE = ["trial", "sort", "show"];
/** @type {Asked.StudyRequest["by"][]} */
const METHODS = ["fanova", "mdi", "pedanova"];
/** @type {Asked.StudyRequest["show"][]} */
const STATES = ["complete", "running", "pruned", "failed"];

/**
 * @param {Tuning.Page} page
 * @param {Tuning.Key} key
 * @param {string} [fallback]
 */
const get = (page, key, fallback = "") => last(page.state, key, fallback);

const { pageOf } = keeper(fresh, build);
const plots = plotCards(pageOf, (page) => (page.shown ? page.shown.study : "study"), (page) => page.shown !== null);

/**
 * @param {HTMLElement} _root
 * @param {Tuning.Page} page
 * @returns {OwnFields<Tuning.Page>}
 */
function fresh(_root, page) {
  return {
    parts: new Map(), kind: { answers }, version: 0, shown: null,
    studies: select("tuning.study", (study) => page.change({ study: [study], trial: [], target: [], x: [], y: [] })),
    targets: select("tuning.target", (target) => page.change({ target: [target] })),
    settings: ["x", "y"].map((key) => select(`tuning.${key}`, (name) => page.change({ [key]: [name] }))),
    sort: segments("tuning.sort", [["best", "tuning.sort.best"], ["newest", "tuning.sort.newest"]],
      (sort) => page.change({ sort: sort === "best" ? [] : [sort] })),
    show: select("tuning.show", (show) => page.change({ show: show ? [show] : [] })),
    by: select("tuning.by", (by) => page.change({ by: by ? [by] : [] })),
    lines: notYet, parallel: null,
    csv: make("a", "ms-button ms-button-quiet", [icon("download"), words("tuning.csv")], { download: "" }),
  };
}

/** @param {Tuning.Page} page */
function build(page) {
  plots.furnish(page);
  const card = page.find("[data-plot=parallel]");
  page.lines = parallelPlot(card.querySelector(".ms-plot"), actsOf(page));
  for (const button of card.querySelectorAll("[data-act=png], [data-act=svg]")) {
    button.addEventListener("click", () => {
      if (page.parallel && page.shown) page.lines.save(button.dataset.act, page.shown.study);
    });
  }
  page.find(".ms-tuning-bar").append(labelled("tuning.study", page.studies), labelled("tuning.target", page.targets));
  page.find(".ms-tuning-bar").append(...page.settings.map((one, at) => labelled(`tuning.${"xy"[at]}`, one)));
  page.find("[data-card=trials] .ms-tuning-tools").append(page.show, page.sort, page.csv);
  page.find("[data-plot=importance] .ms-card-tools").prepend(page.by);
  page.root.addEventListener("click", (event) => {
    const button = event.target instanceof Element && event.target.closest("[data-act=trial]");
    if (button) page.change({ trial: [button.dataset.trial] });
  });
}

/**
 * @param {string} key
 * @param {HTMLElement} control
 */
function labelled(key, control) {
  const label = make("label", "ms-field", [words(key, {}, "span", "ms-field-name"), control]);
  setLabel(label, "title", key);
  return label;
}

/** @param {Tuning.Page} page */
function question(page) {
  /** @type {Wire.Query} */
  const ask = { version: [String(page.version)], lang: [language()] };
  if (currentPrefs().theme === "dark") ask.theme = ["dark"];
  for (const key of KEYS) if (get(page, key)) ask[key] = [get(page, key)];
  return ask;
}

/**
 * A question without these keys, which do not change its answer.
 * @param {Wire.Query} ask
 * @param {Tuning.Key[]} keys
 */
function without(ask, keys) {
  return Object.fromEntries(Object.entries(ask).filter(([key]) => !keys.some((one) => one === key)));
}

/**
 * @param {Wire.Query | null} state
 * @param {number | null} version
 * @param {unknown} _prefs
 * @param {string} rootId
 */
function plan(state, version, _prefs, rootId) {
  const page = pageOf(rootId);
  if (!page || version === null || version === undefined) return;
  page.state = state || {};
  page.version = version;
  plots.drawFull(page);
  request(page, "study", question(page));
}

/**
 * @param {Tuning.Page} page
 * @param {Tuning.ReadyStudy | Tuning.PendingStudy} answer
 */
function choose(page, answer) {
  fillSelect(page.studies, answer.studies.map(([key, name, trials, running]) => [key, translate(
    running ? "tuning.option_running" : "tuning.option",
    { name: key === name ? name : key, n: count(trials), running: count(running) },
  )]), answer.state === "ready" ? answer.study : get(page, "study"));
  const { targets, target } = answer.state === "ready" ? answer : { targets: [], target: "" };
  fillSelect(page.targets, targets.map((name) => [name, name]), target);
  page.targets.closest("label").hidden = targets.length < 2;
  page.find(".ms-tuning-bar").hidden = !answer.studies.length;
  pressSegment(page.sort, get(page, "sort", "best"));
  const methods = METHODS.map((one) => [one, translate(`tuning.by.${one}`)]);
  const own = [["", "shares"], ["association", "association"]].map(([key, name]) => [key, translate(`tuning.by.${name}`)]);
  fillSelect(page.by, [...own, ...methods], get(page, "by"));
  fillSelect(page.show, [["", translate("tuning.show.all")], ...STATES.map((one) => [one, translate(`tuning.state.${one}`)])],
    get(page, "show"));
}

/**
 * The focus stays on the button of the same trial when the table is made anew.
 * @param {Tuning.Page} page
 * @param {Tuning.ReadyStudy["sections"]} sections
 */
function fill(page, sections) {
  const focused = document.activeElement;
  const trial = focused instanceof HTMLElement && page.root.contains(focused) ? focused.dataset.trial : undefined;
  const scroll = page.find(".ms-tuning-scroll");
  const [left, top] = scroll ? [scroll.scrollLeft, scroll.scrollTop] : [0, 0];
  for (const [name, content] of Object.entries(sections)) {
    const host = page.find(`[data-section="${name}"]`);
    const text = JSON.stringify(content);
    if (host.dataset.content === text) continue;
    host.dataset.content = text;
    showPlainHtml(host, content);
    for (const time of host.querySelectorAll("time")) time.textContent = dateTime(Number(time.dataset.seconds));
  }
  const anew = page.find(".ms-tuning-scroll");
  if (anew) anew.scrollTo(left, top);
  if (trial !== undefined && !focused.isConnected) {
    const button = page.find(`[data-act=trial][data-trial="${trial}"]`);
    if (button) button.focus({ preventScroll: true });
  }
}

/**
 * What is done with lines of trials. A press on one shows its trial; brushes and the order of axes are those of the card.
 * @param {Tuning.Page} page
 * @returns {Lineage.ParallelActs}
 */
const actsOf = (page) => ({
  brushed: () => undefined,
  reordered: () => undefined,
  opened(row) {
    if (page.parallel) page.change({ trial: [page.parallel.layout.meta.keys[row]] });
  },
  tip(row, colour) {
    if (!page.parallel) return [];
    const { data: [{ dimensions }], layout: { meta } } = page.parallel;
    const lines = meta.axes.map((axis, i) => {
      const place = numbersOf(dimensions[i].values)[row];
      const apart = Object.keys(axis.apart).find((name) => axis.apart[name] === place);
      const value = axis.kind === "category" ? axis.categories[place] : number(valueAt(axis, place));
      const text = apart === "missing" ? translate("lineage.apart.missing") : apart || value;
      return make("div", "ms-lineage-tip-line", [make("span", "ms-muted", axis.name), make("span", "", text)]);
    });
    const dot = make("span", "ms-dot");
    dot.style.background = colour;
    return [make("div", "ms-run", [dot, words("tuning.trial_n", { n: meta.keys[row] })]), ...lines];
  },
});

/**
 * @param {Tuning.Page} page
 * @param {Lineage.Figure | null} figure
 */
function showLines(page, figure) {
  const card = page.find("[data-plot=parallel]");
  card.hidden = !figure;
  card.classList.toggle("ms-plot-drawn", Boolean(figure));
  page.parallel = figure;
  if (figure) page.lines.show(figure);
}

const answers = {
  /**
   * @param {Tuning.Page} page
   * @param {Tuning.Answer<Tuning.ReadyStudy | Tuning.PendingStudy>} answer
   */
  study(page, answer) {
    if (answer.state === "reading" && page.shown) return;
    for (const element of page.root.querySelectorAll("[data-state]")) element.hidden = element.dataset.state !== answer.state;
    page.find(".ms-tuning-body").hidden = answer.state !== "ready";
    choose(page, answer);
    if (answer.state !== "ready") return;
    page.shown = answer;
    fill(page, answer.sections);
    page.find("[data-section=problems]").hidden = !answer.damaged;
    page.csv.href = `${page.root.dataset.routes}study/trials.csv?${formatQuery({ study: [answer.study] })}`;
    for (const [name, figure] of Object.entries(answer.figures)) plots.place(page, name, `${name}-plot`, figure);
    request(page, "curves", without(question(page), [...OF_TABLE, "x", "y", "target", "by"]));
    request(page, "settings", without(question(page), OF_TABLE));
    if (get(page, "by") !== "association") request(page, "importance", without(question(page), [...OF_TABLE, "x", "y"]));
  },

  /**
   * @param {Tuning.Page} page
   * @param {Tuning.Answer<Tuning.ReadySettings | Tuning.NoFigure>} answer
   */
  settings(page, answer) {
    if (answer.state !== "ready") return;
    const { parallel, ...figures } = answer.figures;
    for (const [name, figure] of Object.entries(figures)) plots.place(page, name, `${name}-plot`, figure);
    showLines(page, /** @type {any} */ (parallel));
    page.settings.forEach((one, at) => {
      fillSelect(one, answer.settings.map((name) => [name, name]), answer.shown[at] || "");
      one.closest("label").hidden = answer.settings.length < 2;
    });
  },

  /**
   * @param {Tuning.Page} page
   * @param {Tuning.Answer<Tuning.StudyFigure | Tuning.NoFigure>} answer
   */
  importance(page, answer) {
    if (answer.state === "missing" || !answer.figure || get(page, "by") === "association") return;
    plots.place(page, "importance", "importance-plot", answer.figure);
  },

  /**
   * @param {Tuning.Page} page
   * @param {Tuning.Answer<Tuning.StudyFigure | Tuning.NoFigure>} answer
   */
  curves(page, answer) {
    if (answer.state === "ready") plots.place(page, "curves", "curves-plot", answer.figure);
  },
};

/**
 * A press on a point shows its trial.
 * @param {PlotlyEvent | null} click
 * @param {string} rootId
 */
function picked(click, rootId) {
  const page = pageOf(rootId);
  const point = page && click && click.points && click.points[0];
  if (point && Number.isInteger(point.customdata)) page.change({ trial: [String(point.customdata)] });
}

Object.assign(functionsOf("mindscope_tuning"), {
  plan, picked,
  /**
   * @param {PartAnswer | null} answer
   * @param {string} rootId
   */
  answered(answer, rootId) {
    const page = pageOf(rootId);
    if (page && answer) answered(page, answer);
  },
});

// j and k go through the trials of the table.
plots.keys("ms-tuning", (page, event) => {
  if (takesText(event.target) || !["j", "k"].includes(event.key)) return false;
  const buttons = Array.from(page.root.querySelectorAll("[data-act=trial]"));
  const at = buttons.findIndex((one) => one.getAttribute("aria-pressed") === "true");
  const next = buttons[at + (event.key === "j" ? 1 : -1)];
  if (!next) return false;
  next.focus();
  next.click();
  return true;
});
