// Files of a lineage page: the plot as a picture, the table as CSV or JSON.

import { penOf } from "../kit/canvases.js";
import { make } from "../kit/elements.js";
import { translate } from "../kit/i18n.js";
import * as files from "../kit/files.js";
import { same } from "../kit/state.js";
import { count } from "../kit/units.js";
import { chosen, viewOf } from "./columns.js";
import { notesOf, shownKeys } from "./shown_runs.js";

/**
 * Save the plot above the table.
 * @param {Lineage.Page} page
 */
export async function savePicture(page) {
  const background = window.getComputedStyle(page.root).getPropertyValue("--ms-card").trim();
  const { length } = shownKeys(page);
  const subject = translate("lineage.of_runs", { n: count(length) });
  if (viewOf(page)) {
    const source = page.find(".ms-lineage-scatter canvas");
    const copy = make("canvas", "", [], { width: source.width, height: source.height });
    const pen = penOf(copy);
    pen.fillStyle = background;
    pen.fillRect(0, 0, copy.width, copy.height);
    pen.drawImage(source, 0, 0);
    files.save(copy.toDataURL("image/png"), `${files.called(page.root, subject).name}.png`);
    return;
  }
  await page.plot.save(subject);
}

/**
 * @param {Lineage.Page} page
 * @param {string} kind
 */
export function exported(page, kind) {
  const query = new URLSearchParams();
  const shown = new Set(chosen(page));
  if (Object.keys(page.runs.notebook.notes).length) for (const name of notesOf(page)) query.append("col", name);
  for (const { name } of page.sheet.columns) if (shown.has(name)) query.append("col", name);
  const keys = shownKeys(page);
  const all = keys.length === page.sheet.keys.length && !page.state.sort;
  if (!all && !same(keys, page.sheet.keys)) for (const key of keys) query.append("run", key);
  return `${page.root.dataset.export}.${kind}?${query}`;
}
