// A select of runs. A browser cuts the chosen name at its end, where runs of a sweep differ; here an element above the select
// shows it, cut as names are everywhere (names.js). The options have whole names.

import { make } from "./elements.js";
import { setLabel } from "./i18n.js";
import { nameElement, namesIn } from "./name_elements.js";

/** @type {WeakMap<HTMLSelectElement, { text: string, rows: { name: string }[], name: HTMLElement }>} */
const shown = new WeakMap();  // select -> { text, rows, name }

/**
 * @param {string} label text key of its name
 * @returns {{ element: HTMLElement, select: HTMLSelectElement }} the element contains the select
 */
export function runSelect(label) {
  const select = /** @type {HTMLSelectElement} */ (make("select", "ms-input"));
  setLabel(select, "aria-label", label);
  return { element: make("span", "ms-run-select", [select, nameOver(select)]), select };
}

/**
 * Set the runs to choose from and the chosen one.
 * @param {HTMLSelectElement} select
 * @param {[string, string][]} runs key and name of each
 * @param {string} chosen
 */
export function setRuns(select, runs, chosen) {
  const state = shown.get(select);
  if (!state) return;
  const text = JSON.stringify(runs);
  if (state.text !== text) {
    Object.assign(state, { text, rows: runs.map(([, name]) => ({ name })) });
    select.replaceChildren(...runs.map(([key, name]) => make("option", "", name, { value: key })));
  }
  select.value = chosen;
  draw(select);
}

/**
 * Have a select in the controls of a page offer runs, [[key, name], ...]; it is hidden if there is no choice.
 * @param {HTMLSelectElement} select
 * @param {[string, string][]} runs
 * @param {string} chosen
 */
export function fillRuns(select, runs, chosen) {
  if (!shown.has(select)) {
    const name = nameOver(select);
    const element = make("span", "ms-run-select");
    select.replaceWith(element);
    element.append(select, name);
  }
  setRuns(select, runs, chosen);
  select.hidden = runs.length < 2;
  if (select.parentElement) select.parentElement.hidden = select.hidden;  // a bar of nothing else takes no room
}

/**
 * The element that shows the chosen name.
 * @param {HTMLSelectElement} select
 */
function nameOver(select) {
  const name = make("span", "ms-run-select-name", [], { "aria-hidden": "true" });
  select.addEventListener("change", () => draw(select));
  shown.set(select, { text: "", rows: [], name });
  return name;
}

/** @param {HTMLSelectElement} select */
function draw(select) {
  const state = shown.get(select);
  if (!state) return;
  const { rows, name } = state;
  const row = rows[select.selectedIndex];
  name.replaceChildren(...(row ? [nameElement(row.name, namesIn(rows))] : []));
  select.title = row ? row.name : "";
}
