// What the curves of a card do, in words: the description of its plot, and "Copy as text".

import { make, words } from "../../kit/elements.js";
import { copyText } from "../../kit/health.js";
import { inLanguage } from "../../kit/i18n.js";
import { synthesis } from "./view.js";

/**
 * The sentences about the curves of a card that are not hidden, in both languages; null if they are not known.
 * @param {Curves.Page} page
 * @param {string} key
 * @returns {Wire.Texts | null}
 */
function textsOf(page, key) {
  const tags = new Set(key ? [key] : synthesis(page).flat());
  const hidden = new Set(page.state.hide || []);
  const said = (page.digests || []).filter(({ run, tag }) => tags.has(tag) && !hidden.has(run));
  if (!said.length) return null;
  const several = new Set(said.map(({ run }) => run)).size > 1;
  const [english, chinese] = [": ", "："].map((joint, at) => (
    said.map(({ label, text }) => (several ? label + joint : "") + text[at]).join("\n")
  ));
  return [english, chinese];
}

/**
 * @param {Curves.Page} page
 * @param {HTMLElement} card
 */
export function describe(page, card) {
  const plot = card.querySelector(".js-plotly-plot");
  if (!plot) return;
  const texts = textsOf(page, card.dataset.key || "");
  const names = ["data-en-aria-description", "data-zh-aria-description"];
  if (!texts) {
    for (const name of [...names, "aria-description"]) plot.removeAttribute(name);
    return;
  }
  names.forEach((name, at) => plot.setAttribute(name, texts[at]));
  plot.setAttribute("aria-description", inLanguage(texts));
}

/** Item of the menu of a card. */
export function item() {
  return make("button", "ms-menu-item", [words("scalars.copy_text")], { type: "button", "data-act": "copy_text" });
}

/**
 * Copy the sentences, or, until they are known, what the chart says to a screen reader.
 * @param {Curves.Page} page
 * @param {HTMLElement} card
 * @param {string} key
 * @param {HTMLElement} button
 */
export function copy(page, card, key, button) {
  const texts = textsOf(page, key);
  const plot = card.querySelector(".js-plotly-plot");
  return copyText(button, texts ? inLanguage(texts) : (plot && plot.getAttribute("aria-label")) || "");
}
