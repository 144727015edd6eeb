// The matrix of last values: a run per row, a tag per column. Counterpart of layouts/curves/scalars/matrix.py, which makes the
// table: a heading sorts, a cell or the button of a heading opens the card of its tag.

import { iconButton, make, pressSegment, segments, words } from "../../kit/elements.js";
import { setLabel, writeText } from "../../kit/i18n.js";
import { showPlainHtml } from "../../kit/plain_html.js";
import { count } from "../../kit/units.js";
import { inMatrix, inTable } from "./grouping.js";

/**
 * Part of the request for the sheet.
 * @param {Curves.Page} page
 * @returns {Wire.Query}
 */
export function asked(page) {
  if (!inMatrix(page)) return {};
  const { by, rows } = page.state;
  return { matrix: ["1"], ...(by && by.length ? { by } : {}), ...(rows && rows.length ? { from: rows } : {}) };
}

/**
 * @param {Curves.Page} page
 * @param {string} tag
 */
function open(page, tag) {
  page.change({ mode: [], full: [tag] });
}

/**
 * The strip above the table, and the place of the matrix.
 * @param {Curves.Page} page
 */
export function build(page) {
  const view = segments(
    "final.view",
    [["tags", "final.by_tag"], ["runs", "final.by_run"]],
    (name) => page.change({ table: name === "tags" ? [] : [name], rows: [] }),
  );
  view.classList.add("ms-final-view");
  const before = iconButton("left", "final.previous", "rows-before");
  const after = iconButton("right", "final.next", "rows-after");
  for (const [button, way] of /** @type {[HTMLButtonElement, number][]} */ ([[before, -1], [after, 1]])) {
    button.addEventListener("click", () => {
      const matrix = page.sheet && page.sheet.matrix;
      if (matrix) page.change({ rows: [String(matrix.first + way * matrix.page)].filter((first) => first !== "0") });
    });
  }
  const pager = make("div", "ms-matrix-pager", [before, make("span", "ms-range ms-muted", [], { role: "status" }), after]);
  const bar = make("div", "ms-final-bar", [view, pager, words("final.columns", {}, "span", "ms-muted ms-matrix-columns")]);
  const host = make("div", "ms-matrix", [], { hidden: "", tabindex: "0", role: "region" });
  setLabel(host, "aria-label", "final.matrix");
  host.addEventListener("click", ({ target }) => {
    const sorter = target instanceof Element && target.closest("[data-by]");
    if (sorter instanceof HTMLElement) page.change({ by: [sorter.dataset.by || ""], rows: [] });
    const opener = target instanceof Element && target.closest("[data-card]");
    if (opener instanceof HTMLElement) open(page, opener.dataset.card || "");
    const cell = target instanceof Element && target.closest("td");
    const head = cell && host.querySelectorAll("thead th")[cell.cellIndex].querySelector("[data-card]");
    if (head && cell.textContent && window.getSelection()?.isCollapsed) open(page, head.dataset.card);
  });
  return [bar, host];
}

/** @param {Curves.Page} page */
export function draw(page) {
  const bar = page.find(".ms-final-bar");
  const host = page.find(".ms-matrix");
  const known = page.catalogue && page.catalogue.tags.length > 0;
  bar.hidden = !(inTable(page) && known);
  host.hidden = !(inMatrix(page) && known);
  pressSegment(bar.querySelector(".ms-final-view"), inMatrix(page) ? "runs" : "tags");
  const matrix = (page.sheet && page.sheet.matrix) || null;
  const pager = bar.querySelector(".ms-matrix-pager");
  const columns = bar.querySelector(".ms-matrix-columns");
  pager.hidden = host.hidden || !matrix || matrix.runs <= matrix.page;
  columns.hidden = host.hidden || !matrix || matrix.columns === matrix.tags;
  if (host.hidden || !matrix || page.matrixDrawn === matrix) return;
  page.matrixDrawn = matrix;
  const { first, shown, runs } = matrix;
  writeText(pager.querySelector(".ms-range"), "final.runs", {
    first: count(Math.min(first + 1, runs)), last: count(first + shown), total: count(runs),
  });
  const [before, after] = pager.querySelectorAll("button");
  before.disabled = first === 0;
  after.disabled = first + shown >= runs;
  writeText(columns, "final.columns", { n: count(matrix.columns), total: count(matrix.tags) });
  const focused = host.contains(document.activeElement) ? document.activeElement : null;
  const [by, card] = focused instanceof HTMLElement ? [focused.dataset.by, focused.dataset.card] : [];
  const beside = by ? by.replace(/^-/, "") : "";
  showPlainHtml(host, matrix.content);
  const again = by
    ? [...host.querySelectorAll("[data-by]")].find((one) => one.dataset.by.replace(/^-/, "") === beside)
    : card && [...host.querySelectorAll("[data-card]")].find((one) => one.dataset.card === card);
  if (again) again.focus({ preventScroll: true });
}
