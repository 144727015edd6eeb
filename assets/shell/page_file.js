// "Save as file" in the list of views: one HTML file of the page on screen. page_file_maker.js makes it.

import { icon, make, words } from "../kit/elements.js";
import { wholeFigures } from "../kit/every_point.js";
import { saveBlob } from "../kit/files.js";
import { setLabel, writeText } from "../kit/i18n.js";
import { reasonOf } from "../kit/reasons.js";
import { size } from "../kit/units.js";

/**
 * The choice of all points, with what they take in the file; not shown where the screen has all of them.
 * @returns {{ line: HTMLElement, box: HTMLInputElement, look: () => void }}
 */
function everyPoint() {
  const box = make("input", "", [], { type: "checkbox" });
  const text = make("span");
  const line = make("label", "ms-file-every", [box, text], { hidden: "" });
  setLabel(line, "title", "page_file.every_tip");
  const look = () => {
    const main = document.querySelector(".ms-main");
    const bytes = main ? Array.from(wholeFigures(main).values()).reduce((sum, whole) => sum + whole.bytes, 0) : 0;
    line.hidden = !bytes;
    if (bytes) writeText(text, "page_file.every", { size: size(bytes) });
    else box.checked = false;
  };
  return { line, box, look };
}

/**
 * The button, the choice beside it, and the line that says what came of it. look is to be called when they come into view.
 * @returns {{ elements: HTMLElement[], look: () => void }}
 */
export function fileSaving() {
  const label = words("page_file.save");
  const button = make("button", "ms-button ms-button-quiet ms-views-file", [icon("download"), label], { type: "button" });
  setLabel(button, "title", "page_file.save_tip");
  const every = everyPoint();
  const said = make("p", "ms-file-said ms-muted", [], { role: "status" });
  button.addEventListener("click", async () => {
    button.disabled = true;
    writeText(said, "page_file.saving");
    try {
      const { pageFile } = await import("./page_file_maker.js");
      const { blob, name } = await pageFile({ every: every.box.checked });
      saveBlob(blob, name);
      writeText(said, "page_file.saved", { name, size: size(blob.size) });
    } catch (error) {
      if (error instanceof Error && error.name === "TooLarge") said.replaceChildren(error.message);
      else writeText(said, "page_file.failed", { text: reasonOf(error) });
    }
    button.disabled = false;
  });
  return { elements: [button, every.line, said], look: every.look };
}
