// The dialog that sets the range of a card's y axis by hand. It is part of the view, beside the zoomed range of x.

import { make, words } from "../../kit/elements.js";
import { setLabel, writeText } from "../../kit/i18n.js";
import { setView, short, viewOf } from "./zoom.js";

const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/**
 * The range that two texts name, or why they name none.
 * @param {string} low
 * @param {string} high
 * @param {boolean} log
 * @returns {{ range: [number, number] } | { reason: string }}
 */
export function parsed(low, high, log) {
  const ends = [low, high].map((text) => (DECIMAL.test(text.trim()) ? Number(text) : NaN));
  if (!ends.every(Number.isFinite)) return { reason: "range.numbers" };
  if (log && ends[0] <= 0) return { reason: "range.positive" };
  return ends[0] < ends[1] ? { range: [ends[0], ends[1]] } : { reason: "range.order" };
}

/**
 * The view with another range of y; null for the automatic one.
 * @param {string} view
 * @param {[number, number] | null} range
 */
export function withRange(view, range) {
  const [x0, x1] = view.split(",");
  const y = range ? range.map((end) => short(end)).join(",") : ",";
  return x0 || range ? `${x0 || ""},${x1 || ""},${y}` : "";
}

/**
 * @param {string} key
 * @param {string} value
 */
function field(key, value) {
  const input = make("input", "ms-input", [], { inputmode: "decimal", autocomplete: "off", value });
  setLabel(input, "aria-label", key);
  return { input, row: make("label", "ms-field", [words(key, {}, "span", "ms-field-name"), input]) };
}

/**
 * @param {string} key
 * @param {string} className
 * @param {(() => void) | null} act
 * @param {string} [type]
 */
function button(key, className, act, type = "button") {
  const element = make("button", `ms-button ${className}`, words(key), { type });
  if (act) element.addEventListener("click", act);
  return element;
}

/**
 * @param {Curves.Page} page
 * @param {string} key
 * @param {[number, number]} shown
 * @param {boolean} log
 */
export function open(page, key, shown, log) {
  const now = viewOf(page, key);
  const [low, high] = shown.map((end) => short(log ? 10 ** end : end, 5));
  const [first, second] = [field("range.low", low), field("range.high", high)];
  const error = make("p", "ms-threshold-error", [], { role: "alert" });
  const dialog = make("dialog", "ms ms-dialog ms-threshold");
  setLabel(dialog, "aria-label", "range.title");
  /** @param {[number, number] | null} range */
  const set = (range) => {
    setView(page, key, withRange(now, range), true);
    dialog.close();
  };
  const form = make("form", "ms-dialog-body", [
    second.row, first.row, error,
    make("div", "ms-threshold-buttons", [
      button("range.auto", "", () => set(null)), make("span", "ms-grow"), button("threshold.cancel", "", () => dialog.close()),
      button("threshold.set", "ms-button-main", null, "submit"),
    ]),
  ]);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const found = parsed(first.input.value, second.input.value, log);
    if ("reason" in found) writeText(error, found.reason);
    else set(found.range);
  });
  const title = make("h2", "ms-dialog-title ms-cut", [words("range.title"), key ? ` · ${key}` : ""]);
  dialog.append(make("header", "ms-dialog-head", title), form);
  page.find(".ms-dialogs").replaceChildren(dialog);
  dialog.showModal();
  second.input.select();
}
