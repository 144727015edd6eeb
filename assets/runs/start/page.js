// The start page: parts that the server made, of which those that changed replace what is shown. Counterpart of
// layouts/runs/start.

import { functionsOf } from "../../kit/dash.js";
import { keeper } from "../../kit/pages.js";
import { showPlainHtml } from "../../kit/plain_html.js";

/** @typedef {KeptPage & { drawn: Record<string, string> }} StartPage */

const { pageOf } = keeper(fresh, listen);

/** @returns {{ drawn: Record<string, string> }} */
function fresh() {
  return { drawn: {} };
}

/** @param {StartPage} page */
function listen(page) {
  page.root.addEventListener("click", (event) => {
    const button = event.target instanceof Element && event.target.closest("[data-record]");
    if (button instanceof HTMLElement && button.classList.contains("ms-start-choice")) {
      page.change({ record: [button.dataset.record || ""] });
    }
  });
}

/**
 * Replace a part, and keep the focus where it was.
 * @param {HTMLElement} host
 * @param {any[]} content
 */
function replace(host, content) {
  const active = document.activeElement;
  const focused = active instanceof HTMLElement && host.contains(active) ? active.dataset.key : undefined;
  showPlainHtml(host, content);
  if (focused) {
    const again = host.querySelector(`[data-key="${CSS.escape(focused)}"]`);
    if (again instanceof HTMLElement) again.focus({ preventScroll: true });
  }
}

/**
 * @param {Wire.StartParts | null} found
 * @param {Wire.Query | null} state
 * @param {string} rootId
 */
functionsOf("mindscope_start").shown = function (found, state, rootId) {
  const page = pageOf(rootId);
  if (!page || !found) return;
  page.state = state || {};
  for (const [name, content] of Object.entries(found.parts)) {
    const made = JSON.stringify(content);
    const host = page.find(`[data-part="${name}"]`);
    if (page.drawn[name] === made) continue;
    page.drawn[name] = made;
    replace(host, content);
  }
  page.find(".ms-start-asks").hidden = !(found.parts.answers || []).length;
};
