// The code that records data, for the framework that the user chose, and the way to the demo. Counterpart of
// layouts/kit/recording.py.

import { currentPrefs, setPrefs } from "./prefs.js";

const boxes = document.getElementsByClassName("ms-recording");
const demoLines = document.getElementsByClassName("ms-demo-line");

/** @param {HTMLElement} box */
function paintBox(box) {
  const parts = Array.from(box.querySelectorAll(":scope > [data-tool]"));
  const wanted = currentPrefs().tool;
  const shown = parts.some((part) => part.dataset.tool === wanted) ? wanted : parts[0].dataset.tool;
  for (const part of parts) part.hidden = part.dataset.tool !== shown;
  for (const tab of box.querySelectorAll(".ms-recording-tab")) {
    tab.setAttribute("aria-pressed", String(tab.dataset.tool === shown));
  }
}

/**
 * Where the demo is: its address, "here" if this is the demo, "" if it has to be started.
 */
function demo() {
  const meta = document.querySelector('meta[name="mindscope-demo"]');
  return meta instanceof HTMLMetaElement ? meta.content : "";
}

/** @param {HTMLElement} line */
function paintDemo(line) {
  const address = demo();
  const [start, link] = [line.querySelector(".ms-demo-start"), line.querySelector(".ms-demo-link")];
  line.hidden = address === "here";
  start.hidden = address !== "";
  link.hidden = address === "" || line.hidden;
  if (!link.hidden) link.href = address + link.dataset.demoPage;
}

/** @param {(element: HTMLElement) => boolean} wanted */
function paint(wanted) {
  for (const [elements, act] of /** @type {const} */ ([[boxes, paintBox], [demoLines, paintDemo]])) {
    for (const element of elements) {
      if (!(element instanceof HTMLElement) || !wanted(element)) continue;
      element.dataset.painted = "";
      act(element);
    }
  }
}

/** @param {HTMLElement} tab */
export const chooseTool = (tab) => setPrefs({ tool: tab.dataset.tool });

new MutationObserver(() => paint((element) => !("painted" in element.dataset)))
  .observe(document.documentElement, { childList: true, subtree: true });
window.addEventListener("mindscope:prefs", () => paint(() => true));
