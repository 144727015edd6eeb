// Which runs of the table are chosen, hidden, shown and selected.

import { selected } from "../kit/run_selection.js";

/** @type {("remark" | "tags")[]} */
export const NOTES = ["remark", "tags"];

/**
 * Selected runs; all by default.
 * @param {Lineage.Page} page
 */
export function chosenKeys(page) {
  if (!page.state.run || !page.state.run.length) return page.sheet.keys;
  const chosenRuns = selected(page.state, page.runs);
  return page.sheet.keys.filter((key) => chosenRuns.has(key));
}

/**
 * Selected runs that are hidden.
 * @param {Lineage.Page} page
 */
export function hidden(page) {
  const keys = new Set(chosenKeys(page));
  return (page.state.hide || []).filter((key) => keys.has(key));
}

/**
 * Runs that are not shown, regardless of brushes.
 * @param {Lineage.Page} page
 */
export function absent(page) {
  const keys = new Set(chosenKeys(page));
  const out = new Set(page.state.hide || []);
  return page.sheet.keys.filter((key) => out.has(key) || !keys.has(key));
}

/**
 * Which of the columns remark and tags are shown: by default those that a run has something in.
 * @param {Lineage.Page} page
 */
export function notesOf(page) {
  const { notes } = page.runs.notebook;
  const without = page.state.without || NOTES.filter((name) => !Object.values(notes).some((note) => note[name].length));
  return NOTES.filter((name) => !without.includes(name));
}

/** @param {Lineage.Page} page */
export function alive(page) {
  return page.api && !page.api.isDestroyed();
}

/** @param {Lineage.Page} page */
export function shownKeys(page) {
  /** @type {string[]} */
  const keys = [];
  if (alive(page)) page.api.forEachNodeAfterFilterAndSort((node) => keys.push(...node.data.members));
  return keys;
}

/** @param {Lineage.Page} page */
export function selectedKeys(page) {
  /** @type {Lineage.Row[]} */
  const rows = alive(page) ? page.api.getSelectedRows() : [];
  return rows.flatMap((row) => row.members);
}

/**
 * Key of a run -> key of its job, or of itself.
 * @param {Lineage.Page} page
 */
export function jobsOf(page) {
  if (page.jobsIn !== page.runs.rows) {
    page.jobsIn = page.runs.rows;
    page.jobs = new Map(page.runs.rows.flatMap((row) => row.members.map((key) => [key, row.key])));
  }
  return (/** @type {string} */ key) => page.jobs.get(key) || key;
}
