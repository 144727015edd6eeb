// AG Grid keeps only the rows on screen in the page. While a page is copied for a file, its grids have all rows that go there.

import { MOST_ROWS } from "./page_copy.js";

/** After two frames a grid has drawn what it was asked for. */
const drawn = () => new Promise((done) => window.requestAnimationFrame(() => window.requestAnimationFrame(done)));

/**
 * Have the grids below an element hold their first rows, not only those on screen.
 * @param {Element} root
 * @returns {Promise<() => void>} puts them back
 */
export async function wholeGrids(root) {
  /** @type {(() => void)[]} */
  const back = [];
  for (const wrapper of root.querySelectorAll(".ag-root-wrapper")) {
    const host = wrapper.closest("[id]");
    if (!host || !window.dash_ag_grid) continue;
    const api = await window.dash_ag_grid.getApiAsync(host.id);
    const before = api.getGridOption("rowBuffer");
    api.setGridOption("rowBuffer", MOST_ROWS);
    back.push(() => { if (!api.isDestroyed()) api.setGridOption("rowBuffer", before); });
  }
  if (back.length) await drawn();
  return () => back.forEach((act) => act());
}
