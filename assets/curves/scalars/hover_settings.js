// What the user chose for the table under the pointer, once for all pages: the order of its rows, and its columns.

import { icon, make, pressSegment, segments, words } from "../../kit/elements.js";
import { setLabel } from "../../kit/i18n.js";
import { currentPrefs, setPrefs } from "../../kit/prefs.js";

const ORDERS = ["nearest", "value", "name"];
export const COLUMNS = ["smoothed", "step", "relative", "absolute"];  // beside name and value, which are always there

/** @returns {{ order: string, columns: string[] }} */
export function settings() {
  const { order, columns } = currentPrefs().hover;
  return {
    order: order && ORDERS.includes(order) ? order : ORDERS[0],
    columns: Array.isArray(columns) ? COLUMNS.filter((name) => columns.includes(name)) : COLUMNS,
  };
}

// A menu, filled when it opens.
export function control() {
  const summary = make("summary", "ms-button ms-button-icon", icon("more"));
  for (const name of ["title", "aria-label"]) setLabel(summary, name, "hover.settings");
  const items = make("div", "ms-menu-items");
  const details = make("details", "ms-details ms-menu-down ms-hover-settings", [summary, items]);
  details.addEventListener("toggle", () => items.replaceChildren(...(details.open ? choices() : [])));
  return details;
}

function choices() {
  const order = segments("hover.order", ORDERS.map((name) => [name, `hover.order.${name}`]), (name) => {
    setPrefs({ hover: { ...settings(), order: name } });
    pressSegment(order, name);
  });
  pressSegment(order, settings().order);
  const boxes = COLUMNS.map((name) => {
    const box = make("input", "", [], { type: "checkbox", "data-column": name });
    box.checked = settings().columns.includes(name);
    box.addEventListener("change", () => {
      const { columns } = settings();
      setPrefs({ hover: { ...settings(), columns: box.checked ? [...columns, name] : columns.filter((one) => one !== name) } });
    });
    return make("label", "ms-hover-column", [box, words(`hover.${name}`)]);
  });
  return [words("hover.order", {}, "div", "ms-muted"), order, words("hover.columns", {}, "div", "ms-muted"), ...boxes];
}

/**
 * Rows in the order that was chosen; they come with the nearest first.
 * @template {{ value: number, label: string }} Row
 * @param {Row[]} rows
 * @param {string} order
 */
export function ordered(rows, order) {
  /**
   * @param {Row} a
   * @param {Row} b
   */
  const byValue = (a, b) => b.value - a.value;
  if (order === "value") return [...rows].sort(byValue);
  if (order === "name") return [...rows].sort((a, b) => a.label.localeCompare(b.label, "en", { numeric: true }));
  return [...rows.slice(0, 1), ...rows.slice(1).sort(byValue)];
}
