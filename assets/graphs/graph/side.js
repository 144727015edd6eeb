// Beside the canvas of the graph: search, its results, and links of the panel.

import { make } from "../../kit/elements.js";
import { setLabel } from "../../kit/i18n.js";
import * as canvas from "../canvas.js";
import * as view from "../view.js";

const WAIT_MS = 180;
const CONDITIONS = ["type", "shape", "dtype", "kind"];

/**
 * A search with a condition to be completed at its end, and without the same one before.
 * @param {string} text
 * @param {string} name
 */
export function withCondition(text, name) {
  const others = text.split(/\s+/).filter((word) => word && !word.toLowerCase().startsWith(`${name}:`));
  return [...others, `${name}:`].join(" ");
}

/** @param {Graphs.Page} page */
export function fields(page) {
  const regex = make("button", "ms-button ms-mono", ".*", { type: "button", "aria-pressed": "false" });
  for (const name of ["title", "aria-label"]) setLabel(regex, name, "graph.regex");
  regex.addEventListener("click", () => page.change({ regex: view.get(page, "regex") === "1" ? [] : ["1"] }));
  const more = { type: "search", autocomplete: "off", spellcheck: "false" };
  return { regex, input: make("input", "ms-input ms-filter ms-grow", [], more) };
}

/** @param {Graphs.Page} page */
export function build(page) {
  const { input } = page;
  for (const name of ["placeholder", "aria-label"]) setLabel(input, name, "graph.search");
  setLabel(input, "title", "graph.search.tip");
  let timer = 0;
  const put = () => page.change({ q: input.value ? [input.value] : [] });
  input.addEventListener("input", () => {
    window.clearTimeout(timer);
    timer = window.setTimeout(put, WAIT_MS);
  });
  input.addEventListener("keydown", (event) => {
    const first = page.find(".ms-graph-result");
    if (event.key === "Enter" && first) first.click();
    else if (event.key === "ArrowDown" && first) first.focus();
    else if (event.key === "Escape") {
      input.value = "";
      put();
    } else return;
    event.preventDefault();
  });
  const hints = CONDITIONS.map((name) => {
    const hint = make("button", "ms-graph-hint ms-mono", `${name}:`, { type: "button" });
    setLabel(hint, "title", `graph.hint.${name}`);
    hint.addEventListener("click", () => {
      input.value = withCondition(input.value, name);
      input.focus();
    });
    return hint;
  });
  page.find(".ms-graph-search").replaceChildren(input, page.regex, make("div", "ms-graph-hints", hints));
  for (const part of ["body", "statistics"]) {
    page.find(`.ms-graph-${part}`).addEventListener("click", (/** @type {MouseEvent} */ event) => pressed(page, event));
  }
  page.find(".ms-graph-left").addEventListener("keydown", walk);
  page.find(".ms-graph-right").addEventListener("keydown", walk);
}

/**
 * @param {Graphs.Page} page
 * @param {MouseEvent} event
 */
function pressed(page, event) {
  const acts = "[data-go], [data-open], [data-find], [data-toggle], [data-regex], [data-trace]";
  const button = event.target instanceof Element && event.target.closest(acts);
  if (!button) return;
  if (button.dataset.trace !== undefined) return page.change({ trace: button.dataset.trace ? [button.dataset.trace] : [] });
  if (button.dataset.regex) return page.change({ regex: ["1"] });
  const { go, open, find, toggle } = button.dataset;
  // Links in tables switch to the canvas.
  if (view.get(page, "view")) page.change({ view: [] });
  if (go) canvas.go(page, go);
  else if (open) {
    page.centre = true;
    view.toggle(page, open, true);
  } else if (find) page.change({ q: [find] });
  else view.toggle(page, toggle, button.getAttribute("aria-expanded") !== "true");
}

/**
 * Give a path of which only one end is chosen its other end, once another node is chosen.
 * @param {Graphs.Page} page
 */
export function completeTrace(page) {
  const begin = /^path:([nf]\d+):$/.exec(view.get(page, "trace"));
  const node = view.get(page, "node");
  if (begin && /^[nf]\d+$/.test(node) && node !== begin[1]) page.change({ trace: [`path:${begin[1]}:${node}`] });
}

/**
 * Arrow keys move between the lines of a list.
 * @param {KeyboardEvent} event
 */
function walk(event) {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  const line = event.target instanceof Element && event.target.closest("button");
  if (!line) return;
  const list = event.currentTarget;
  if (!(list instanceof Element)) return;
  const lines = Array.from(list.querySelectorAll(".ms-graph-result, .ms-graph-name, .ms-graph-line"));
  const next = lines[lines.indexOf(line) + (event.key === "ArrowDown" ? 1 : -1)];
  if (next) next.focus();
  else return;
  event.preventDefault();
}

/** @param {Graphs.Page} page */
export function drawSearch(page) {
  const wanted = view.get(page, "q");
  if (document.activeElement !== page.input && page.input.value !== wanted) page.input.value = wanted;
  page.regex.setAttribute("aria-pressed", String(view.get(page, "regex") === "1"));
}

/** @param {Graphs.Page} page */
export function found(page) {
  page.find(".ms-graph-left").classList.toggle("ms-graph-found", Boolean(page.find(".ms-graph-results > *")));
}
