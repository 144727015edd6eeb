// Files of a lineage page: the plot as PNG or SVG, the table as CSV or JSON.

import { penOf } from "../kit/canvases.js";
import { make } from "../kit/elements.js";
import { translate } from "../kit/i18n.js";
import * as files from "../kit/files.js";
import { widthIn } from "../kit/name_elements.js";
import { same } from "../kit/state.js";
import { count } from "../kit/units.js";
import { Vector } from "../kit/vector.js";
import { chosen, viewOf } from "./columns.js";
import { drawOn } from "./scatter.js";
import { notesOf, shownKeys } from "./shown_runs.js";

/**
 * Save the plot above the table, "png" or "svg".
 * @param {Lineage.Page} page
 * @param {string} format
 */
export async function savePlot(page, format) {
  const { length } = shownKeys(page);
  const subject = translate("lineage.of_runs", { n: count(length) });
  if (!viewOf(page)) {
    await page.plot.save(format, subject);
    return;
  }
  const style = window.getComputedStyle(page.root);
  const [background, font] = ["--ms-card", "--ms-font"].map((name) => style.getPropertyValue(name).trim());
  const { name } = files.called(page.root, subject);
  const source = page.find(".ms-lineage-scatter canvas");
  if (format === "svg") {
    const drawing = new Vector((text, css) => widthIn(css)(text));
    const { clientWidth: width, clientHeight: height } = source;
    drawing.fillStyle = background;
    drawing.fillRect(0, 0, width, height);
    drawOn(page, drawing);
    files.saveBlob(new Blob([drawing.text(width, height, font)], { type: "image/svg+xml" }), `${name}.svg`);
    return;
  }
  const copy = make("canvas", "", [], { width: source.width, height: source.height });
  const pen = penOf(copy);
  pen.fillStyle = background;
  pen.fillRect(0, 0, copy.width, copy.height);
  pen.drawImage(source, 0, 0);
  files.save(copy.toDataURL("image/png"), `${name}.png`);
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
