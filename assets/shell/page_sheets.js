// The style sheets of a page that is saved as a file, as they are served: rules read back from a browser have lost what they
// say in short.

import { sheetText } from "./page_text.js";

/** @param {string} url */
export async function fetched(url) {
  const answer = await window.fetch(url, { credentials: "same-origin" });
  if (!answer.ok) throw new Error(`${answer.status} ${url}`);
  return answer;
}

/**
 * The style sheets of a document, safe within a style element, in their order: by their address, or by their text if they have
 * none. Those that are known are not fetched again.
 * @param {Document} shown
 * @param {Map<string, string>} [known]
 * @returns {Promise<Map<string, string>>}
 */
export async function sheetsOf(shown, known = new Map()) {
  const elements = Array.from(shown.querySelectorAll("link[rel=stylesheet], style"));
  const found = await Promise.all(elements.map(async ({ href, sheet, textContent }) => {
    if (href) return [href, known.get(href) ?? sheetText(await (await fetched(href)).text())];
    // What scripts put in rule by rule has no text.
    const text = sheetText(textContent || Array.from(sheet?.cssRules || [], ({ cssText }) => cssText).join("\n"));
    return [text, text];
  }));
  return new Map(/** @type {[string, string][]} */ (found));
}
