// The threshold dialog. The server parses and validates thresholds (parsers/analysis/curves/thresholds.py).

import { setProps } from "../../kit/dash.js";
import { make, words } from "../../kit/elements.js";
import { setLabel, translate, writeText } from "../../kit/i18n.js";
import { entry, withEntry } from "../../kit/state.js";

/** @typedef {ReturnType<typeof condition>} Condition */

/**
 * The dialog.
 * @typedef {object} Parts
 * @property {string} key
 * @property {Condition} first
 * @property {Condition} second
 * @property {HTMLSelectElement} logic
 * @property {HTMLInputElement} all
 * @property {HTMLElement} error
 * @property {HTMLDialogElement} dialog
 * @property {number} number of the last proposal
 */

/** @type {Record<string, string>} */
const REASONS = { or: "threshold.or_reason", and: "threshold.and_reason" };
let proposals = 0;

/** @param {[string, string][]} names */
function choice(names) {
  return make("select", "ms-input", names.map(([value, key]) => {
    const option = make("option", "", [], { value });
    option.textContent = translate(key);
    return option;
  }));
}

/** @param {string} part */
function condition(part) {
  const comparator = choice([[">", "threshold.above"], ["<", "threshold.below"]]);
  const value = make("input", "ms-input", [], { inputmode: "decimal", autocomplete: "off" });
  setLabel(value, "aria-label", "threshold.value");
  return { comparator, value, row: make("div", `ms-threshold-row ms-threshold-${part}`, [comparator, value]) };
}

/**
 * @param {string} key
 * @param {string} className
 * @param {() => void} act
 */
function button(key, className, act) {
  const element = make("button", `ms-button ${className}`, words(key), { type: "button" });
  element.addEventListener("click", act);
  return element;
}

/**
 * @param {Curves.Page} page
 * @param {string} key
 */
function build(page, key) {
  const first = condition("first");
  const second = condition("second");
  const logic = choice([["", "threshold.single"], ["&", "threshold.and"], ["|", "threshold.or"]]);
  const all = make("input", "", [], { type: "checkbox" });
  const error = make("p", "ms-threshold-error", [], { role: "alert" });
  const dialog = make("dialog", "ms ms-dialog ms-threshold");
  /** @type {Parts} */
  const parts = { key, first, second, logic, all, error, dialog, number: 0 };
  logic.addEventListener("change", () => { second.row.hidden = !logic.value; });
  const close = () => parts.dialog.close();
  const form = make("form", "ms-dialog-body", [
    words("threshold.hint", {}, "p", "ms-muted"),
    first.row,
    logic,
    second.row,
    make("label", "ms-field", [all, words("threshold.all")]),
    error,
    make("div", "ms-threshold-buttons", [
      button("threshold.delete", "", () => {
        apply(page, parts, "");
        close();
      }),
      make("span", "ms-grow"),
      button("threshold.cancel", "", close),
      make("button", "ms-button ms-button-main", words("threshold.set"), { type: "submit" }),
    ]),
  ]);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    propose(page, parts);
  });
  const title = make("h2", "ms-dialog-title ms-cut", [words("threshold.title"), key ? ` · ${key}` : ""]);
  dialog.append(make("header", "ms-dialog-head", title), form);
  setLabel(dialog, "aria-label", "threshold.title");
  return parts;
}

/**
 * @param {Curves.Page} page
 * @param {string} key
 */
export function open(page, key) {
  const parts = build(page, key);
  const now = entry(page.state, "threshold", key).match(/^([<>])([^&|]+)(?:([&|])([<>])(.+))?$/);
  if (now) {
    [, parts.first.comparator.value, parts.first.value.value] = now;
    parts.logic.value = now[3] || "";
    if (now[3]) [parts.second.comparator.value, parts.second.value.value] = [now[4], now[5]];
  }
  if (!now || !now[3]) parts.second.comparator.value = "<";
  parts.second.row.hidden = !parts.logic.value;
  page.find(".ms-dialogs").replaceChildren(parts.dialog);
  page.threshold = { /** @param {Curves.Verdict} verdict */ judged: (verdict) => judged(page, parts, verdict) };
  parts.dialog.showModal();
  parts.first.value.focus();
}

/**
 * Operators inside of a value would change the threshold.
 * @param {Condition} condition
 */
function written({ comparator, value }) {
  return comparator.value + value.value.replace(/[&|<>]/g, "?");
}

/**
 * @param {Curves.Page} page
 * @param {Parts} parts
 */
function propose(page, parts) {
  const { logic } = parts;
  const text = logic.value ? written(parts.first) + logic.value + written(parts.second) : written(parts.first);
  proposals += 1;
  parts.number = proposals;
  setProps(page.store("proposal"), { data: { text, number: proposals } });
}

/**
 * Show the answer to a proposal, or take the threshold.
 * @param {Curves.Page} page
 * @param {Parts} parts
 * @param {Curves.Verdict} verdict
 */
function judged(page, parts, verdict) {
  if (verdict.number !== parts.number) return;
  if (verdict.reason) {
    writeText(parts.error, REASONS[verdict.reason] || `threshold.${verdict.reason}`);
    return;
  }
  apply(page, parts, verdict.threshold);
  parts.dialog.close();
}

/**
 * @param {Curves.Page} page
 * @param {Parts} parts
 * @param {string} threshold
 */
function apply(page, parts, threshold) {
  const { state } = page;
  if (!parts.all.checked) return page.change({ threshold: withEntry(state, "threshold", parts.key, threshold) });
  if (page.chosen.length === page.catalogue.tags.length) return page.change({ threshold: threshold ? [`${threshold}:*`] : [] });
  const changed = page.chosen.reduce((now, tag) =>
    ({ threshold: withEntry(now, "threshold", tag, threshold) }), { threshold: state.threshold });
  page.change(changed);
}
