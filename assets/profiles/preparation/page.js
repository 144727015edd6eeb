// The data preparation page: choice of operation and steps, sorting of tables. Counterpart of layouts/profiles/preparation.

import { functionsOf } from "../../kit/dash.js";
import { make, takesText, words } from "../../kit/elements.js";
import * as files from "../../kit/files.js";
import { setLabel } from "../../kit/i18n.js";
import { BUTTON, byValue, markOrder } from "../../kit/sort_heads.js";
import * as profiling from "../profiles.js";

const WAIT_MS = 400;

/**
 * @param {Profiles.PreparationPage} page
 * @returns {Omit<Profiles.PreparationPage, keyof Profiles.Page>}
 */
function fields(page) {
  const inputs = ["from", "to"].map((name) => {
    const input = make("input", "ms-input ms-preparation-step-input", [], { type: "number", min: "0", step: "1" });
    setLabel(input, "aria-label", `preparation.${name}`);
    let timer = 0;
    input.addEventListener("input", () => {
      window.clearTimeout(timer);
      timer = window.setTimeout(() => page.change({ [name]: input.value === "" ? [] : [input.value] }), WAIT_MS);
    });
    return input;
  });
  const reset = make("button", "ms-button", words("preparation.all_steps"), { type: "button" });
  reset.addEventListener("click", () => page.change({ from: [], to: [] }));
  return { inputs, reset };
}

/** @param {Profiles.PreparationPage} page */
function build(page) {
  page
    .find(".ms-preparation-steps")
    .replaceChildren(
      words("preparation.from", {}, "span", "ms-muted"),
      page.inputs[0],
      words("preparation.to", {}, "span", "ms-muted"),
      page.inputs[1],
      page.reset,
    );
  page.root.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    const box = target && target.closest("[data-op]");
    if (box) page.change({ op: [box.dataset.op] });
    const act = target && target.closest("[data-act]");
    const card = target && target.closest("[data-card]");
    if (act && act.dataset.act === "full") toggle(page, card.dataset.card);
    if (act && act.dataset.act === "png") png(page, card);
    const stage = target && target.closest("[data-to]");
    if (stage) go(page, stage.dataset.to);
    const title = target && target.closest(`.${BUTTON}`);
    if (title) press(page, card, title.closest("th"));
  });
}

/**
 * @param {Profiles.PreparationPage} page
 * @param {string} name
 */
function go(page, name) {
  const card = page.find(`[data-card="${name}"]`);
  card.scrollIntoView({ block: "start" });
  card.focus({ preventScroll: true });
}

/**
 * Save every plot of a card as a file.
 * @param {Profiles.PreparationPage} page
 * @param {any} card
 */
async function png(page, card) {
  for (const [at, plot] of [...card.querySelectorAll(".js-plotly-plot")].entries()) {
    if (!plot.data || !plot.data.length) continue;
    const subject = `${page.run.name} ${page.profile.rank}${at ? ` ${at + 1}` : ""}`;
    await files.saveImage(plot, plot, "png", subject, plot, { grid: "--ms-plot-grid" });
  }
}

/**
 * Sort: the state has card, column and direction. Numbers start with the largest.
 * @param {Profiles.PreparationPage} page
 * @param {HTMLElement} card
 * @param {HTMLTableCellElement} title
 */
function press(page, card, title) {
  const column = title.cellIndex;
  const [old, way] = profiling.get(page, `sort-${card.dataset.card}`).split(":");
  /** @type {NodeListOf<HTMLTableRowElement>} */
  const rows = card.querySelectorAll("tbody tr");
  const numeric = valuesOf(rows, column).some((value) => typeof value === "number");
  const first = numeric ? "desc" : "asc";
  const next = old !== String(column) ? first : way === first ? (numeric ? "asc" : "desc") : "";
  page.change({ [`sort-${card.dataset.card}`]: next ? [`${column}:${next}`] : [] });
}

/**
 * @param {Iterable<HTMLTableRowElement>} rows
 * @param {number} column
 */
function valuesOf(rows, column) {
  return Array.from(rows, (row) => {
    const { dataset, textContent } = row.cells[column];
    if (dataset.value === "nan") return null;
    return dataset.value && Number.isFinite(Number(dataset.value)) ? Number(dataset.value) : textContent;
  });
}

/** @param {Profiles.PreparationPage} page */
function sort(page) {
  for (const table of page.root.querySelectorAll(".ms-preparation-table")) {
    const [column, way] = profiling.get(page, `sort-${table.closest("[data-card]").dataset.card}`).split(":");
    if ((table.dataset.sorted || "") === (way ? `${column}:${way}` : "")) continue;
    const [titles, body] = [table.tHead.rows[0].cells, table.tBodies[0]];
    const rows = [...body.rows];
    rows.forEach((row, at) => { row.dataset.at = row.dataset.at || String(at); });
    rows.sort((a, b) => a.dataset.at - b.dataset.at);
    const known = way && titles[Number(column)];
    if (known) {
      const value = new Map(valuesOf(rows, Number(column)).map((one, at) => [rows[at], one]));
      rows.sort(byValue((row) => value.get(row), way === "desc"));
    }
    for (const [at, title] of [...titles].entries()) {
      markOrder(title, known && at === Number(column) ? (way === "desc" ? "descending" : "ascending") : "");
    }
    body.append(...rows);
    table.dataset.sorted = way ? `${column}:${way}` : "";
  }
}

/**
 * @param {Profiles.PreparationPage} page
 * @param {string} name
 */
function toggle(page, name) {
  page.change({ full: profiling.get(page, "full") === name ? [] : [name] });
}

/**
 * Update what depends on the content of the cards.
 * @param {Profiles.PreparationPage} page
 */
function furnish(page) {
  for (const box of page.root.querySelectorAll("[data-to]")) box.disabled = page.find(`[data-card="${box.dataset.to}"]`).hidden;
  for (const tool of page.root.querySelectorAll('[data-act="png"]')) {
    tool.hidden = !tool.closest("[data-card]").querySelector(".dash-graph");
  }
  page.find(".ms-preparation-steps").hidden = Boolean(page.find("[data-unnumbered]"));
  // Values may have changed.
  for (const table of page.root.querySelectorAll("[data-sorted]")) table.dataset.sorted = "stale";
  sort(page);
}

/** @param {Profiles.PreparationPage} page */
function draw(page) {
  for (const [at, name] of ["from", "to"].entries()) {
    if (document.activeElement !== page.inputs[at]) page.inputs[at].value = profiling.get(page, name);
  }
  page.reset.hidden = !profiling.get(page, "from") && !profiling.get(page, "to");
  for (const card of page.root.querySelectorAll("[data-card]")) {
    card.classList.toggle("ms-full", card.dataset.card === profiling.get(page, "full"));
  }
  sort(page);
}

const pageOf = profiling.define("preparation", { fields, build, draw });

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (!["f", "Escape"].includes(key) || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (!(target instanceof Element) || takesText(target)) return;
  const root = document.querySelector(".ms-preparation");
  const page = root && pageOf(root.id);
  if (!page || document.querySelector("dialog[open]")) return;
  const card = target.closest("[data-card]");
  if (key === "Escape" && profiling.get(page, "full")) page.change({ full: [] });
  else if (key === "f" && card) toggle(page, card.dataset.card);
});

Object.assign(functionsOf("mindscope_preparation"), {
  /**
   * Hide cards without content.
   * @param {any[]} args
   */
  shown(...args) {
    const root = document.getElementById(args.pop());
    if (!root) return;
    const cards = root.querySelectorAll("[data-card]");
    args.forEach((children, at) => { cards[at].hidden = children === null || children === undefined; });
    const page = pageOf(root.id);
    // Dash calls this before it renders the new children.
    if (page) window.requestAnimationFrame(() => furnish(page));
  },
});
