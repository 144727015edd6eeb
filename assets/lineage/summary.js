// What the bar above the table says of the runs in it, and which of its buttons can be used.

import { count } from "../kit/units.js";
import { setLabel, writeText } from "../kit/i18n.js";
import { same } from "../kit/state.js";
import { together } from "./columns.js";
import { alive, chosenKeys, hidden, jobsOf, selectedKeys, shownKeys } from "./shown_runs.js";

/**
 * Write another text on a button.
 * @param {HTMLElement} button
 * @param {string} key
 * @param {TextValues} values
 */
function rename(button, key, values) {
  writeText(/** @type {HTMLElement} */ (button.firstElementChild), key, values);
}

/** @param {Lineage.Page} page */
export function drawSummary(page) {
  if (!page.sheet || !page.runs) return;
  const total = page.sheet.keys.length;
  const here = chosenKeys(page).length;
  const gone = hidden(page).length;
  const shown = alive(page) ? shownKeys(page).length : here - gone;
  const some = selectedKeys(page).length > 0;
  const jobs = jobsOf(page);
  const all = new Set(page.sheet.keys.map(jobs)).size;
  const values = { n: count(shown), total: count(total), all: count(all) };
  if (here && all < total) {
    const keys = alive(page) ? shownKeys(page) : chosenKeys(page);
    writeText(page.tools.summary, "lineage.shown_ranks", { ...values, runs: count(new Set(keys.map(jobs)).size) });
    setLabel(page.tools.summary, "title", "lineage.ranks_tip");
  } else writeText(page.tools.summary, here ? "lineage.shown" : "lineage.none_chosen", values);
  page.tools.acts.unbrush.hidden = page.passing === null && !(page.state.filter || []).length;
  page.tools.acts.together.hidden = !page.sheet.nodes;
  const { left } = page.sheet;
  if (left && left.runs + left.columns) {
    writeText(page.tools.marked, "data_lineage.left", { runs: count(left.runs), columns: count(left.columns) });
  } else if (left) writeText(page.tools.marked, "data_lineage.tip");
  page.tools.acts.together.setAttribute("aria-pressed", String(together(page)));
  const on = page.before !== undefined && same(page.state.run, page.chosen);
  page.tools.acts.everyone.hidden = on || here === total;
  rename(page.tools.acts.everyone, "lineage.everyone", { n: count(total) });
  page.tools.acts.unchoose.hidden = !on;
  page.tools.acts.choose.hidden = on;
  if (on) writeText(page.tools.elsewhere, "lineage.chosen", { n: count(page.state.run.length === 0 ? 0 : shown) });
  else page.tools.elsewhere.replaceChildren();
  const target = document.querySelector('.ms-menu-link[data-page="dataset"]');
  const compared = selectedKeys(page);
  page.tools.compare.hidden = !(page.sheet.nodes && target && compared.length > 1);
  if (!page.tools.compare.hidden) {
    page.tools.compare.href = `${target.getAttribute("href")}?${new URLSearchParams(compared.map((key) => ["run", key]))}`;
  }
  page.tools.acts.keep.hidden = page.tools.acts.hide.hidden = !some;
  page.tools.acts.unhide.hidden = gone === 0;
  rename(page.tools.acts.unhide, "lineage.unhide", { n: count(gone) });
}
