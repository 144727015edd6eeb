// View files in the list of views: the page on screen as TOML, and files like that opened. Counterpart of
// app/routes/runs/view_files.py, which reads and writes them.

import { icon, make, words } from "../kit/elements.js";
import { fileName, pageTitle, saveBlob } from "../kit/files.js";
import { setLabel, writeText } from "../kit/i18n.js";
import { post } from "../kit/notes.js";
import { reasonOf } from "../kit/reasons.js";
import * as shell from "./shell.js";

/**
 * @param {string} name of an icon
 * @param {string} key of its text
 * @param {string} tip key of what it says when it is pointed at
 */
function quietButton(name, key, tip) {
  const button = make("button", "ms-button ms-button-quiet", [icon(name), words(key)], { type: "button" });
  setLabel(button, "title", tip);
  return button;
}

/** @param {string} routes */
async function download(routes) {
  const answer = await window.fetch(`${routes}view-file.toml?place=${encodeURIComponent(shell.place())}`);
  if (!answer.ok) throw new Error((await answer.json().catch(() => ({}))).error || String(answer.status));
  saveBlob(await answer.blob(), `${fileName(pageTitle(), "view")}.toml`);
}

/**
 * The two buttons, and the line below them that says what went wrong.
 * @param {() => string} routesNow
 * @param {() => void} opened is called once the page of a file is on screen
 * @returns {HTMLElement[]}
 */
export function viewFiles(routesNow, opened) {
  const saving = quietButton("copy", "view_file.save", "view_file.save_tip");
  const opening = quietButton("right", "view_file.open", "view_file.open_tip");
  const chosen = make("input", "ms-views-chosen", [], { type: "file", accept: ".toml,text/plain", hidden: "" });
  const said = make("p", "ms-view-said ms-note-wrong", [], { role: "status" });
  saving.classList.add("ms-views-save-file");
  opening.classList.add("ms-views-open-file");
  opening.addEventListener("click", () => chosen.click());
  saving.addEventListener("click", async () => {
    said.replaceChildren();
    try {
      await download(routesNow());
    } catch (error) {
      writeText(said, "view_file.unsaved", { text: reasonOf(error) });
    }
  });
  chosen.addEventListener("change", async () => {
    const file = chosen.files && chosen.files[0];
    if (!file) return;
    said.replaceChildren();
    try {
      const { place } = await post(routesNow(), "view-file", { text: await file.text() });
      if (shell.open(place)) opened();
    } catch (error) {
      writeText(said, "view_file.failed", { name: file.name, text: reasonOf(error) });
    }
    chosen.value = "";
  });
  return [saving, opening, chosen, said];
}
