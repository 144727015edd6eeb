// View files in the list of views: the page on screen as TOML, and files like that opened. Counterpart of
// app/routes/runs/view_files.py, which reads and writes them.

import { cardNamed } from "../kit/alone.js";
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

const PATIENCE_MS = 30000;  // in which the card of a view has to appear

/**
 * Bring the card that a view names into view and give it the keyboard, once the page has it: by its tag, or else its title, as
 * `mindscope save` finds it. Text of the file is only compared with names of cards.
 * @param {string} page
 * @param {string} name
 * @returns {Promise<boolean>} false if the page has no such card
 */
async function reach(page, name) {
  const until = performance.now() + PATIENCE_MS;
  let there = false;
  while (performance.now() < until) {
    const left = there;
    there = shell.place().split("?")[0] === page;
    if (left && !there) return true;  // who has gone elsewhere no longer looks for it
    const frame = there && document.querySelector(".ms-frame");
    const names = frame instanceof HTMLElement ? [name, `key:${name}`, `title:${name}`] : [];
    const card = names.map((one) => cardNamed(/** @type {HTMLElement} */ (frame), one)).find((one) => one && !one.hidden);
    // Pages put their cards in order before they draw them, which takes the keyboard from a card.
    if (card && !card.matches(".ms-pending, [aria-busy=true]")) {
      card.tabIndex = card.tabIndex < 0 ? -1 : card.tabIndex;
      card.scrollIntoView({ block: "center" });
      card.focus({ preventScroll: true });
      return true;
    }
    await new Promise((done) => window.setTimeout(done, 100));
  }
  return false;
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
 * @param {(open: boolean) => void} unfold shows or hides the list of views
 * @returns {HTMLElement[]}
 */
export function viewFiles(routesNow, unfold) {
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
      const { place, card } = await post(routesNow(), "view-file", { text: await file.text() });
      chosen.value = "";
      if (!shell.open(place)) return;
      unfold(false);
      if (!card || await reach(place.split("?")[0], card)) return;
      writeText(said, "view_file.no_card", { name: card });
      unfold(true);
    } catch (error) {
      writeText(said, "view_file.failed", { name: file.name, text: reasonOf(error) });
    }
    chosen.value = "";
  });
  return [saving, opening, chosen, said];
}
