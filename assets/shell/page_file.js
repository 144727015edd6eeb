// "Save as file" in the list of views: one HTML file of the page on screen. page_file_maker.js makes it.

import { icon, make, words } from "../kit/elements.js";
import { wholeFigures } from "../kit/every_point.js";
import { saveBlob } from "../kit/files.js";
import { setLabel, writeText } from "../kit/i18n.js";
import { reasonOf } from "../kit/reasons.js";
import { count, size } from "../kit/units.js";

/**
 * A choice of more that goes into the file, with what it takes; not shown where there is no more.
 * @param {string} name of its text, and its tip
 * @param {() => Promise<Record<string, string> | null>} found values of its text; null for no more
 * @returns {{ line: HTMLElement, box: HTMLInputElement, look: () => Promise<void> }}
 */
function choice(name, found) {
  const box = make("input", "", [], { type: "checkbox" });
  const text = make("span");
  const line = make("label", `ms-file-choice ms-file-${name}`, [box, text], { hidden: "" });
  setLabel(line, "title", `page_file.${name}_tip`);
  const look = async () => {
    const values = await found();
    line.hidden = !values;
    if (values) writeText(text, `page_file.${name}`, values);
    else box.checked = false;
  };
  return { line, box, look };
}

/** What all points of the curves on screen take beyond those that the screen shows. */
async function morePoints() {
  const main = document.querySelector(".ms-main");
  const bytes = main ? Array.from(wholeFigures(main).values()).reduce((sum, whole) => sum + whole.bytes, 0) : 0;
  return bytes ? { size: size(bytes) } : null;
}

/** How many rows the tables have of which the file shows the first ones. */
async function moreRows() {
  const main = document.querySelector(".ms-main");
  if (!main) return null;
  const { longTables } = await import("./page_rows.js");
  const tables = Array.from((await longTables(main)).values());
  return tables.length ? { n: count(tables.reduce((sum, { total }) => sum + total, 0)) } : null;
}

/**
 * The button, the choices below it, and the line that says what came of it. look is to be called when they come into view.
 * @returns {{ elements: HTMLElement[], look: () => void }}
 */
export function fileSaving() {
  const label = words("page_file.save");
  const button = make("button", "ms-button ms-button-quiet ms-views-file", [icon("download"), label], { type: "button" });
  setLabel(button, "title", "page_file.save_tip");
  const [every, rows] = [choice("every", morePoints), choice("rows", moreRows)];
  const said = make("p", "ms-file-said ms-muted", [], { role: "status" });
  button.addEventListener("click", async () => {
    button.disabled = true;
    writeText(said, "page_file.saving");
    try {
      const { pageFile } = await import("./page_file_maker.js");
      const { blob, name } = await pageFile({ every: every.box.checked, rows: rows.box.checked });
      saveBlob(blob, name);
      writeText(said, "page_file.saved", { name, size: size(blob.size) });
    } catch (error) {
      if (error instanceof Error && error.name === "TooLarge") said.replaceChildren(error.message);
      else writeText(said, "page_file.failed", { text: reasonOf(error) });
    }
    button.disabled = false;
  });
  const look = () => {
    every.look();
    rows.look();
  };
  return { elements: [button, every.line, rows.line, said], look };
}
