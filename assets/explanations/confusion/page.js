// The confusion page: matrix with its samples, labels, reliability, changes between runs. Counterpart of
// layouts/explanations/confusion.

import { fillSelect, icon, iconButton, make, pressSegment, segments, select, takesText, words } from "../../kit/elements.js";
import { language, translate } from "../../kit/i18n.js";
import { go } from "../../kit/navigation.js";
import { request } from "../../kit/page_parts.js";
import { notYet } from "../../kit/pages.js";
import { plotCards } from "../../kit/plot_cards.js";
import { showPlainHtml } from "../../kit/plain_html.js";
import { currentPrefs } from "../../kit/prefs.js";
import { parseQuery } from "../../kit/state.js";
import { drawTotal } from "../bar.js";
import { address, define, get } from "../explanations.js";
import { labelPicker } from "../labels.js";
import { neighbour } from "./cells.js";

const CELLS = ["count", "true", "predicted"];
const QUESTIONS = ["top", "each"];
const KINDS = ["all", "worse", "better"];
const BINS = ["5", "10", "20"];
const MOST_RUNS = 8;
const WIDE = 6;  // labels of a matrix that has the whole width
const ALL = "*";

const plots = plotCards((rootId) => pageOf(rootId), (page) => page.run.name, (page) => Boolean(page.listed));

// Building ----------------------------------------------------------------------------------------------------------

/** @returns {Omit<Confusion.Page, keyof Explanations.Page>} */
const fields = () => ({
  shades: notYet, shown: notYet, questions: notYet, question: "", bins: notYet, against: notYet, kinds: notYet,
});

/** @param {Confusion.Page} page */
function build(page) {
  plots.furnish(page);
  // The filters of other pages do not apply here: this page counts all samples.
  page.clear.remove();
  const choose = (key, first) => (value) => page.change({ [key]: value === first ? [] : [value] });
  page.shades = segments("confusion.cells", CELLS.map((one) => [one, `confusion.cells.${one}`]), choose("cells", CELLS[0]));
  page.shown = labelPicker("labels", (values) => page.change({ show: values }), 3);
  toolsOf(page, "matrix").append(page.shown.element, page.shades);
  const close = iconButton("cross", "confusion.close", "");
  close.addEventListener("click", () => page.change({ cell: [] }));
  page.find("[data-card=cell] header").append(close);
  page.questions = segments("confusion.question", QUESTIONS.map((one) => [one, `confusion.question.${one}`]),
    (value) => page.change({ question: [value] }));
  page.bins = select("confusion.bins", choose("bins", "10"));
  fillSelect(page.bins, BINS.map((one) => [one, one]), "10");
  const save = make("button", "ms-button ms-button-quiet", [icon("download"), words("confusion.csv")],
    { type: "button", "data-act": "csv" });
  page.find("[data-plot=reliability] .ms-card-badges").append(
    page.questions, make("label", "ms-field", [words("confusion.bins", {}, "span", "ms-field-name"), page.bins]), save);
  page.against = select("confusion.with", (value) => page.change({ with: value === ALL ? others(page) : [value] }));
  page.kinds = segments("confusion.kind", KINDS.map((one) => [one, `confusion.kind.${one}`]), choose("kind", KINDS[0]));
  toolsOf(page, "changes").append(page.against, page.kinds);
  page.root.addEventListener("click", (event) => pressed(page, event));
  page.root.addEventListener("keydown", (event) => moved(page, event));
  page.root.addEventListener("error", missing, true);
}

/** @param {Confusion.Page} page */
const toolsOf = (page, name) => page.find(`[data-card="${name}"] .ms-confusion-tools`);

/** @param {Confusion.Page} page */
function pressed(page, event) {
  const target = event.target instanceof Element ? event.target : null;
  if (!target) return;
  const cell = target.closest("[data-cell]");
  if (cell) {
    const chosen = get(page, "cell") === cell.dataset.cell ? [] : [cell.dataset.cell];
    page.change({ cell: chosen });
    return;
  }
  const save = target.closest("[data-act=csv]");
  if (save) download(page, save.closest("[data-card], [data-plot]"));
  const link = target.closest("a[data-clear]");
  if (link) follow(event, link);
}

// A link to the saliency page, without selections of the uncertainty page that would filter its samples further.
function follow(event, link) {
  if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  if (!document.querySelector(".ms-shell")) return;
  event.preventDefault();
  event.stopPropagation();
  go(link.dataset.page, { label: [], truth: [], outcome: [], p: [], sd: [], sample: [], ...parseQuery(link.dataset.query) });
}

/**
 * Arrow keys move from cell to cell of the matrix; only one of them is reached by Tab.
 * @param {Confusion.Page} page
 */
function moved(page, event) {
  const from = event.target instanceof Element && event.target.closest("[data-cell]");
  if (!from || event.ctrlKey || event.metaKey || event.altKey) return;
  const cellsOf = (row) => Array.from(row.cells, (one) => one.querySelector("[data-cell]"));
  const rows = Array.from(from.closest("tbody").rows, cellsOf);
  const next = neighbour(rows, from, event.key);
  if (!next) return;
  event.preventDefault();
  event.stopPropagation();
  rove(page, next.dataset.cell);
  next.focus();
}

/** @param {Confusion.Page} page */
function rove(page, name) {
  const cells = Array.from(page.root.querySelectorAll("[data-cell]"));
  const chosen = cells.find((one) => one.dataset.cell === name) || cells[0];
  for (const one of cells) one.tabIndex = one === chosen ? 0 : -1;
}

// A picture that cannot be shown; errors do not bubble.
function missing(event) {
  const thumb = event.target instanceof HTMLImageElement && event.target.closest(".ms-confusion-thumb");
  if (thumb) thumb.replaceChildren(make("span", "ms-muted", "–"));
}

/** @param {Confusion.Page} page */
function download(page, card) {
  const name = card.dataset.card || card.dataset.plot;
  const filters = Object.fromEntries(["t", "q"].map((key) => [key, page.state[key] || []]));
  /** @type {Record<string, [string, Record<string, string | string[]>]>} */
  const asked = {
    matrix: ["confusion.csv", filters], labels: ["labels.csv", filters],
    cell: ["cell.csv", { ...filters, cell: page.state.cell || [] }],
    reliability: ["calibration.csv", { q: filters.q, question: page.question || "top", bins: get(page, "bins", "10") }],
    changes: ["changes.csv", { ...filters, with: compared(page) }],
  };
  window.location.assign(address(page, ...asked[name]));
}

// Drawing -----------------------------------------------------------------------------------------------------------

/** @param {Confusion.Page} page */
const others = (page) => page.catalogue.runs.map(([key]) => key).filter((key) => key !== page.run.key).slice(0, MOST_RUNS);

/**
 * The runs that are compared with the shown one: those of the state that are chosen, else the next one.
 * @param {Confusion.Page} page
 */
function compared(page) {
  const known = others(page);
  const wanted = (page.state.with || []).filter((key) => known.includes(key));
  return wanted.length ? wanted : known.slice(0, 1);
}

/** @param {Confusion.Page} page */
function draw(page) {
  plots.drawFull(page);
  pressSegment(page.shades, get(page, "cells", CELLS[0]));
  pressSegment(page.kinds, get(page, "kind", KINDS[0]));
  page.bins.value = get(page, "bins", "10");
  page.shown.draw(page.listed.labels, page.state.show || []);
  page.shown.element.hidden = page.listed.labels.length <= WIDE && !(page.state.show || []).length;
  const ask = asking(page);
  request(page, "counts", ask({}, "t", "q", "cells", "show", "by", "cell"));
  const theme = currentPrefs().theme === "dark" ? { theme: ["dark"] } : {};
  request(page, "reliability", ask({ lang: [language()], ...theme }, "q", "question", "bins"));
  const cell = get(page, "cell");
  page.find("[data-card=cell]").hidden = !cell;
  if (cell) request(page, "cell", ask({ lang: [language()] }, "t", "q", "cell"));
  drawOthers(page, ask);
}

/**
 * What a part is asked about: the run, and these keys of the state.
 * @param {Confusion.Page} page
 */
const asking = (page) => (more, ...keys) => ({
  of: [page.run.key], mark: [page.listed.mark], ...more,
  ...Object.fromEntries(keys.map((key) => [key, page.state[key] || []]).filter(([, values]) => values.length)),
});

/** @param {Confusion.Page} page */
function drawOthers(page, ask) {
  const known = others(page);
  const card = page.find("[data-card=changes]");
  card.hidden = !known.length;
  if (!known.length) return;
  const chosen = compared(page);
  const names = new Map(page.catalogue.runs.map(([key, name]) => [key, name]));
  const all = known.length > 1 ? [[ALL, translate("confusion.with_all", { n: known.length })]] : [];
  fillSelect(page.against, [...known.map((key) => [key, names.get(key)]), ...all], chosen.length > 1 ? ALL : chosen[0]);
  // Versions of the other runs: their records may grow, too.
  const versions = page.catalogue.runs.filter(([key]) => chosen.includes(key)).map(([, , version]) => version);
  request(page, "outcomes", ask({ with: chosen, versions }, "t", "q", "kind"));
}

/** @param {Confusion.Page} page */
function fill(page, sections) {
  for (const [name, content] of Object.entries(sections || {})) showPlainHtml(page.find(`[data-section="${name}"]`), content);
}

/** @type {Record<string, (page: Confusion.Page, answer: any) => void>} */
const answers = {
  counts(page, answer) {
    if (!answer.sections) return;
    const within = document.activeElement instanceof HTMLElement && page.root.contains(document.activeElement);
    const cell = within ? document.activeElement.dataset.cell : "";
    fill(page, answer.sections);
    const title = answer.single ? "confusion.matrix" : "confusion.pairs";
    page.find("[data-card=matrix] .ms-card-title").replaceChildren(words(title));
    page.find(".ms-confusion-pair").classList.toggle("ms-confusion-wide", answer.labels > WIDE);
    drawTotal(page, answer.counted, answer.all);
    rove(page, cell || get(page, "cell"));
    // The element with the focus was made anew.
    const again = cell && page.find(`[data-cell="${CSS.escape(cell)}"]`);
    if (again) again.focus({ preventScroll: true });
  },

  cell(page, answer) {
    fill(page, answer.sections);
    for (const picture of page.root.querySelectorAll("img[data-src]")) {
      picture.loading = "lazy";
      picture.src = picture.dataset.src;
    }
  },

  reliability(page, answer) {
    if (answer.state !== "ready") return;
    page.question = answer.question;
    pressSegment(page.questions, answer.question);
    fill(page, answer.sections);
    const card = page.find("[data-plot=reliability]");
    plots.place(page, "reliability", "plot", answer.figure);
    // Without probabilities that count, the card says so.
    card.hidden = false;
    card.classList.toggle("ms-confusion-empty", !answer.figure);
  },

  outcomes(page, answer) {
    fill(page, answer.sections);
  },
};

const pageOf = define("confusion", { fields, build, draw, answers });

plots.keys("ms-confusion", (page, event) => {
  if (event.key !== "Escape" || takesText(event.target) || !get(page, "cell")) return false;
  page.change({ cell: [] });
  return true;
});
