// All rows of long tables in a page saved as a file, as CSV that the file offers below their first rows.

import { make, words } from "../kit/elements.js";
import { called, csvText } from "../kit/files.js";
import { count } from "../kit/units.js";

export const MOST_ROWS = 1000;  // of a table or list that go into a file as they are
const BLOCK_ROWS = 5000;  // that a server is asked for at once
const GRID = ".ag-root-wrapper";
const LISTS = "tbody, ul, ol";

/**
 * A table of which a file has only the first rows.
 * @typedef {object} LongTable
 * @property {number} total its rows
 * @property {() => Promise<string>} csv all of them
 */

/** @param {unknown} value */
const plain = (value) => (value !== null && typeof value === "object" ? JSON.stringify(value) : value);

/**
 * @param {GridApi} api
 * @param {number} total
 * @returns {Promise<string>}
 */
async function gridCsv(api, total) {
  const columns = /** @type {any[]} */ (api.getAllDisplayedColumns()).filter((column) => column.getColDef().headerName);
  const rows = [columns.map((column) => column.getColDef().headerName)];
  const source = api.getGridOption("datasource");
  if (!source) {
    api.forEachNodeAfterFilterAndSort((rowNode) => {
      rows.push(columns.map((colKey) => plain(api.getCellValue({ rowNode, colKey }))));
    });
    return csvText(rows);
  }
  const sorted = api.getColumnState().filter((one) => one.sort);
  const sortModel = sorted.map(({ colId, sort }) => ({ colId, sort }));
  const fields = columns.map((column) => column.getColDef().field || column.getColId());
  for (let startRow = 0; startRow < total;) {
    const endRow = Math.min(total, startRow + BLOCK_ROWS);
    const place = `rows ${startRow} to ${endRow}`;
    /** @type {Record<string, unknown>[]} */
    const found = await new Promise((successCallback, fail) => {
      const failCallback = () => fail(new Error(place));
      source.getRows({ startRow, endRow, sortModel, filterModel: api.getFilterModel() || {}, successCallback, failCallback });
    });
    if (!found.length) throw new Error(place);
    for (const data of found) rows.push(fields.map((field) => plain(data[field])));
    startRow += found.length;
  }
  return csvText(rows);
}

/** @param {Element} row */
const texts = (row) => (row instanceof HTMLTableRowElement
  ? Array.from(row.cells, (cell) => cell.innerText.trim())
  : [row instanceof HTMLElement ? row.innerText.trim() : ""]);

/** @param {Element} list */
function listCsv(list) {
  const head = list.closest("table")?.tHead;
  return csvText([...(head ? Array.from(head.rows) : []), ...list.children].map(texts));
}

/**
 * The tables and lists below an element that have more rows than go into a file.
 * @param {Element} root
 * @returns {Promise<Map<Element, LongTable>>}
 */
export async function longTables(root) {
  /** @type {Map<Element, LongTable>} */
  const found = new Map();
  for (const list of root.querySelectorAll(LISTS)) {
    const total = list.childElementCount;
    if (total > MOST_ROWS && list.checkVisibility()) found.set(list, { total, csv: async () => listCsv(list) });
  }
  for (const wrapper of root.querySelectorAll(GRID)) {
    const host = wrapper.closest("[id]");
    if (!host || !window.dash_ag_grid || !wrapper.checkVisibility()) continue;
    const api = await window.dash_ag_grid.getApiAsync(host.id);
    const total = api.getDisplayedRowCount();
    if (total > MOST_ROWS) found.set(wrapper, { total, csv: () => gridCsv(api, total) });
  }
  return found;
}

/**
 * What a file says of a long table: how many rows it has, and all of them if the user wanted.
 * @param {Element} element of the page
 * @param {number} total
 * @param {string | undefined} csv
 */
export function rowsNote(element, total, csv) {
  const told = words("page_file.first_rows", { n: count(MOST_ROWS), total: count(total) }, "span", "ms-muted");
  if (csv === undefined) return told;
  const bytes = new TextEncoder().encode(`\ufeff${csv}`);
  const parts = [];
  for (let at = 0; at < bytes.length; at += 0x8000) parts.push(String.fromCharCode(...bytes.subarray(at, at + 0x8000)));
  const link = words("page_file.all_rows", { total: count(total) }, "a", "ms-file-rows");
  link.setAttribute("href", `data:text/csv;base64,${btoa(parts.join(""))}`);
  link.setAttribute("download", `${called(element, "").name}.csv`);
  return make("span", "", [told, " ", link]);
}
