// "Save as file" in the list of views: one HTML file of the page on screen. page_file_maker.js makes it.

import { icon, make, words } from "../kit/elements.js";
import { saveBlob } from "../kit/files.js";
import { setLabel, writeText } from "../kit/i18n.js";
import { reasonOf } from "../kit/reasons.js";
import { size } from "../kit/units.js";

/**
 * The button, and the line below it that says what came of it.
 * @returns {HTMLElement[]}
 */
export function fileSaving() {
  const label = words("page_file.save");
  const button = make("button", "ms-button ms-button-quiet ms-views-file", [icon("download"), label], { type: "button" });
  setLabel(button, "title", "page_file.save_tip");
  const said = make("p", "ms-file-said ms-muted", [], { role: "status" });
  button.addEventListener("click", async () => {
    button.disabled = true;
    writeText(said, "page_file.saving");
    try {
      const { pageFile } = await import("./page_file_maker.js");
      const { blob, name } = await pageFile();
      saveBlob(blob, name);
      writeText(said, "page_file.saved", { name, size: size(blob.size) });
    } catch (error) {
      if (error instanceof Error && error.name === "TooLarge") said.replaceChildren(error.message);
      else writeText(said, "page_file.failed", { text: reasonOf(error) });
    }
    button.disabled = false;
  });
  return [button, said];
}
