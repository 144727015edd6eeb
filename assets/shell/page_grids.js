// AG Grid keeps only the rows and columns on screen in the page. While a page is copied for a file, its grids have all that go
// there: columns out of view as if the grid were wide enough for them, within a place that scrolls.

import { MOST_ROWS } from "./page_rows.js";

const HEADS = ".ag-header-cell[col-id]";
const LONGEST_FRAMES = 150;  // pairs of frames, five seconds

/** After two frames a grid has drawn what it was asked for. */
const drawn = () => new Promise((done) => window.requestAnimationFrame(() => window.requestAnimationFrame(done)));

/**
 * Make a grid as wide as its columns; it scrolls as a whole then, in the page and in the copy.
 * @param {HTMLElement} wrapper of the grid
 * @returns {() => void} puts it back
 */
function widened(wrapper) {
  const [root, middle] = [".ag-root", ".ag-center-cols-viewport"].map((one) => wrapper.querySelector(one));
  const hidden = middle ? middle.scrollWidth - middle.clientWidth : 0;
  if (!(root instanceof HTMLElement) || hidden <= 0) return () => {};
  const before = [wrapper.style.overflowX, root.style.minWidth];
  wrapper.style.overflowX = "auto";
  root.style.minWidth = `${root.offsetWidth + hidden}px`;
  return () => { [wrapper.style.overflowX, root.style.minWidth] = before; };
}

/**
 * Whether rows that go into a file are still asked for; a grid whose rows a server sorts has them in blocks.
 * @param {GridApi} api
 */
function isLoading(api) {
  const last = Math.min(MOST_ROWS, api.getDisplayedRowCount()) - 1;
  return last >= 0 && !api.getDisplayedRowAtIndex(last)?.data;
}

/**
 * Whether a row is there whose cells are still to be drawn.
 * @param {Element} wrapper
 */
function hasEmptyRow(wrapper) {
  return Array.from(wrapper.querySelectorAll(".ag-center-cols-container > .ag-row")).some((row) => !row.textContent);
}

/**
 * Have the grids below an element hold all columns and their first rows, not only those on screen.
 * @param {Element} root
 * @returns {Promise<() => void>} puts them back
 */
export async function wholeGrids(root) {
  /** @type {(() => void)[]} */
  const back = [];
  /** @type {(() => boolean)[]} */
  const lacking = [];  // whether columns are not drawn yet
  for (const wrapper of root.querySelectorAll(".ag-root-wrapper")) {
    const host = wrapper.closest("[id]");
    if (!host || !window.dash_ag_grid) continue;
    const api = await window.dash_ag_grid.getApiAsync(host.id);
    const before = api.getGridOption("rowBuffer");
    api.setGridOption("rowBuffer", MOST_ROWS);
    if (wrapper instanceof HTMLElement) back.push(widened(wrapper));
    lacking.push(() => wrapper.querySelectorAll(HEADS).length < api.getAllDisplayedColumns().length || isLoading(api)
      || hasEmptyRow(wrapper));
    back.push(() => { if (!api.isDestroyed()) api.setGridOption("rowBuffer", before); });
  }
  if (back.length) await drawn();
  // A grid notices some frames later that it is wider, and a server takes its time.
  for (let turn = 0; turn < LONGEST_FRAMES && lacking.some((isLacking) => isLacking()); turn += 1) await drawn();
  return () => back.forEach((act) => act());
}
