// The page about the first cause of bad values: tables, choice of iteration and tensor, charts. Counterpart of
// layouts/dumps/first_cause.

import { words } from "../../kit/elements.js";
import { count } from "../../kit/units.js";
import { language, writeText } from "../../kit/i18n.js";
import { showPlainHtml } from "../../kit/plain_html.js";
import { currentPrefs } from "../../kit/prefs.js";
import { define, get, request } from "../dumps.js";
import * as plots from "../plots.js";
import { drawProgress } from "../../kit/progress.js";

/** @returns {Omit<FirstCause.Page, keyof Dumps.Page>} */
const fields = () => ({ rows: [], found: false, first: null, departed: null });

/** @param {FirstCause.Page} page */
function build(page) {
  plots.furnish(page);
  page.root.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("[data-act=pick], [data-act=tensor]") : null;
    if (!(button instanceof HTMLElement)) return;
    const { act, rank = "", step = "", kind = "", node = "", io = "" } = button.dataset;
    if (act === "pick") page.change({ rank: [rank], step: [step], kind: kind === "non_finite" ? [] : [kind] });
    else page.change({ rank: [rank], step: [step], node: [node], io: [io] });
  });
}

/**
 * What every part is asked about. Rank and iteration are those of the chosen row, not of the bar.
 * @param {FirstCause.Page} page
 */
const about = (page) => ({ of: [page.dump.key], mark: [page.listed.mark] });

const look = () => ({ lang: [language()], ...(currentPrefs().theme === "dark" ? { theme: ["dark"] } : {}) });

/**
 * The row of the table of causes that the state names (links from curves know no rank), else the first one.
 * @param {FirstCause.Page} page
 */
function chosen(page) {
  const [rank, step, kind] = [get(page, "rank"), get(page, "step"), get(page, "kind", "non_finite")];
  const there = page.rows.filter((row) => String(row[1]) === step && (rank === "" || String(row[0]) === rank));
  return there.find((row) => row[2] === kind) || there[0] || page.rows[0];
}

/**
 * The tensor whose norm is drawn: that of the state, else the first whose norm left its history, else the first cause.
 * @param {FirstCause.Page} page
 * @returns {FirstCause.Tensor | null}
 */
function tensorOf(page) {
  const node = get(page, "node");
  if (node) return { rank: Number(get(page, "rank", "0")), node, io: get(page, "io", "output.0") };
  return page.departed || page.first || null;
}

/** @param {FirstCause.Page} page */
function draw(page) {
  plots.drawFull(page);
  request(page, "causes", about(page));
  if (page.found) drawChosen(page);
}

/** @param {FirstCause.Page} page */
function drawChosen(page) {
  const row = chosen(page);
  page.find("[data-card=spread]").hidden = !row;
  if (!row) page.find("[data-plot=spread]").hidden = true;
  if (row) {
    const [rank, step, kind] = row;
    request(page, "spread", { ...about(page), ...look(), rank: [String(rank)], step: [String(step)], kind: [kind] });
  }
  request(page, "departures", about(page));
  const tensor = tensorOf(page);
  if (tensor) {
    const { rank, node, io } = tensor;
    request(page, "norms", { ...about(page), ...look(), rank: [String(rank)], node: [node], io: [io] });
  } else plots.place(page, "norms", "norms-plot", null);
  press(page);
}

/**
 * Mark the rows whose spread and whose norm are shown.
 * @param {FirstCause.Page} page
 */
function press(page) {
  const row = chosen(page);
  const tensor = tensorOf(page);
  /** @param {DOMStringMap} dataset */
  const pressed = ({ act, rank, step, kind, node, io }) => act === "pick"
    ? Boolean(row) && [rank, step, kind].every((value, place) => value === String(row[place]))
    : tensor !== null && rank === String(tensor.rank) && node === tensor.node && io === tensor.io;
  for (const button of page.root.querySelectorAll("[data-act=pick], [data-act=tensor]")) {
    const on = pressed(button.dataset);
    button.setAttribute("aria-pressed", String(on));
    button.closest("tr").classList.toggle("ms-chosen", on);
  }
}

/**
 * @param {FirstCause.Page} page
 * @param {FirstCause.Answer["sections"]} sections
 */
function fill(page, sections) {
  for (const [name, content] of Object.entries(sections || {})) showPlainHtml(page.find(`[data-section="${name}"]`), content);
}

/** @type {Record<string, (page: FirstCause.Page, answer: any) => void>} */
const answers = {
  causes(page, /** @type {FirstCause.Causes} */ answer) {
    /** @param {Wire.Query} more */
    const resume = (more) => request(page, "causes", about(page), { more });
    drawProgress(page.find(".ms-first-cause-status"), answer, resume);
    if (!answer.sections) return;
    fill(page, answer.sections);
    page.rows = answer.rows;
    page.first = answer.tensor;
    page.found = answer.state === "ready";
    page.find('[data-card="causes"]').hidden = !answer.rows.length;
    for (const name of ["spread", "departures"]) page.find(`[data-card="${name}"]`).hidden = !page.found;
    for (const card of page.root.querySelectorAll("[data-plot]")) if (!page.found) card.hidden = true;
    if (page.found) drawChosen(page);
    else press(page);
  },

  spread(page, /** @type {FirstCause.Spread} */ answer) {
    if (!answer.sections) return;
    fill(page, answer.sections);
    plots.place(page, "spread", "spread-plot", answer.figure);
    const values = { n: count(answer.step), rank: count(answer.rank) };
    const table = answer.kind === "non_finite" ? "operators" : "departed";
    for (const [card, title] of [["[data-plot=spread]", "spread"], ["[data-card=spread]", table]]) {
      page.find(`${card} .ms-card-title`).replaceChildren(words(`first_cause.${title}${answer.ranked ? "_rank" : ""}`, values));
    }
  },

  departures(page, /** @type {FirstCause.Departures} */ answer) {
    if (!answer.sections) return;
    fill(page, answer.sections);
    page.departed = answer.tensor;
    drawChosen(page);
  },

  norms(page, /** @type {FirstCause.Norms} */ answer) {
    if (answer.state !== "ready") return;
    plots.place(page, "norms", "norms-plot", answer.figure);
    const card = page.find('[data-plot="norms"]');
    const name = card.querySelector(".ms-card-badges");
    name.textContent = `${answer.node} ${answer.io}`;
    name.title = name.textContent;
    const note = page.find(".ms-first-cause-note");
    writeText(note, answer.loss ? "first_cause.loss_note" : "first_cause.usual_note", { tag: answer.loss });
  },
};

define("first_cause", { fields, build, draw, answers });

plots.keys("ms-first-cause");
