// The list of columns, of which some are shown, and the choices of columns beside it.

import { iconButton, make, words } from "../kit/elements.js";
import { inLanguage, setLabel, translate } from "../kit/i18n.js";
import { matcher } from "../kit/run_selection.js";
import { chosen, columnNamed, cut, fullOf, labelOf, scaleOf } from "./columns.js";
import { NOTES, notesOf } from "./shown_runs.js";

/**
 * @param {string} key
 * @param {string} act
 * @param {string} [tip]
 */
export function button(key, act, tip) {
  const element = make("button", "ms-button", words(key), { type: "button", "data-act": act });
  if (tip) setLabel(element, "title", tip);
  return element;
}

/**
 * Sort columns in the order of the axes: settings first, results last.
 * @param {Lineage.Page} page
 * @param {string[]} names
 */
export function byAxis(page, names) {
  /** @param {string} name */
  const place = (name) => page.sheet.axes.indexOf(columnNamed(page, name).group);
  return [...names].sort((a, b) => place(a) - place(b));
}

/**
 * @param {Lineage.Page} page
 * @param {string} name
 * @param {boolean} on
 */
export function pick(page, name, on) {
  const now = page.state.col ? page.state.col.filter((one) => page.columns.has(one)) : page.sheet.default;
  const next = on ? byAxis(page, [...now, name]) : now.filter((one) => one !== name);
  page.change({ col: next.length ? next : [""] });
}

/** @param {Lineage.Page} page */
export function list(page) {
  const shown = new Set(chosen(page));
  const test = matcher(page.tools.search.value, false);
  const lines = page.sheet.groups.flatMap(([group, title]) => {
    const columns = page.sheet.columns.filter(
      (column) => column.group === group && test(`${column.name} ${column.label.join(" ")}`),
    );
    if (!columns.length) return [];
    return [make("h4", "", inLanguage(title)), ...columns.map((column) => line(page, column, shown.has(column.name)))];
  });
  const notes = NOTES.filter((name) => test(`${name} ${translate(`notes.${name}`)}`)).map((name) => noteLine(page, name));
  if (notes.length) lines.unshift(make("h4", "", words("notes.group")), ...notes);
  page.tools.list.replaceChildren(...lines);
}

/**
 * @param {Lineage.Page} page
 * @param {Lineage.Column} column
 * @param {boolean} on
 */
function line(page, column, on) {
  const box = make("input", "", [], { type: "checkbox", value: column.name });
  box.checked = on;
  /** @type {HTMLElement[]} */
  const parts = [make("label", "", [box, make("span", "ms-cut", cut(labelOf(column), 200), { title: cut(column.name, 400) })])];
  const scale = scaleOf(page, column.name);
  const pin = iconButton("pin", "lineage.pin", "pin");
  pin.dataset.name = column.name;
  pin.setAttribute("aria-pressed", String((page.state.pin || []).includes(column.name)));
  if (on) parts.push(pin);
  if (column.numeric && (column.scale !== "linear" || column.values.some((value) => Number(value) > 0))) {
    const press = button(
      scale === "symlog" ? "lineage.symlog" : "lineage.log",
      "log",
      scale === "symlog" ? "lineage.symlog_tip" : "lineage.log_tip",
    );
    press.classList.add("ms-button-small");
    press.dataset.name = column.name;
    press.setAttribute("aria-pressed", String(scale !== "linear"));
    parts.push(press);
  }
  return make("div", "ms-lineage-column", parts);
}

/**
 * @param {Lineage.Page} page
 * @param {"remark" | "tags"} name
 */
function noteLine(page, name) {
  const box = make("input", "", [], { type: "checkbox", value: name, "data-note": name });
  box.checked = notesOf(page).includes(name);
  return make("div", "ms-lineage-column", [make("label", "", [box, words(`notes.${name}`)])]);
}

/** @param {Lineage.Page} page */
export function colourChoices(page) {
  /**
   * @param {string} value
   * @param {string} text
   */
  const option = (value, text) => {
    const element = make("option", "", text, { value });
    return element;
  };
  const fixed = [option("run", translate("lineage.colour.run")), option("none", translate("lineage.colour.none"))];
  const columns = () =>
    page.sheet.columns.filter((column) => column.axis).map((column) => option(column.name, cut(fullOf(column), 60)));
  page.tools.colour.replaceChildren(...fixed, ...columns());
  for (const select of page.tools.pair) select.replaceChildren(...columns());
}
