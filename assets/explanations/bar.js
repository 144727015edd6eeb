// The bar of a page about explanations: run, labels, true labels, outcomes, threshold, search, order and explainers.
// Counterpart of layouts/explanations/bar.py.

import { icon, iconButton, make, option, select, words } from "../kit/elements.js";
import { count } from "../kit/units.js";
import { setLabel, writeText } from "../kit/i18n.js";
import { fillRuns } from "../kit/run_select.js";
import { last, toggled } from "../kit/state.js";
import { labelPicker } from "./labels.js";

const OUTCOMES = ["tp", "fn", "fp", "tn"];
const SORTS = [
  "id", "confidence", "confidence_up", "uncertainty", "uncertainty_up", "disagreement", "disagreement_up",
];
const TYPING_MS = 200;
const HALF = 0.5;
/** Keys of the state that the button which clears filters forgets. */
const CLEARED = ["label", "outcome", "truth", "predicted", "q", "p", "sd"];

/**
 * The children of the bar.
 * @param {Explanations.Page} page
 */
export function barOf(page) {
  const controls = {
    run: select("explanations.run", (key) => page.change({
      of: [key], sample: [], label: [], truth: [], predicted: [], explainer: [],
    })),
    label: labelPicker("labels", (values) => page.change({ label: values }), 2),
    truth: labelPicker("truth", (values) => page.change({ truth: values }), 3),
    predicted: labelPicker("predicted", (values) => page.change({ predicted: values }), 4),
    outcome: outcomes(page),
    threshold: threshold(page),
    search: search(page),
    sort: select("explanations.sort", (value) => page.change({ sort: value === "id" ? [] : [value] })),
    explainer: make("span", "ms-segments ms-explanations-explainers", [], { role: "group" }),
  };
  setLabel(controls.explainer, "aria-label", "explanations.explainers");
  controls.sort.append(...SORTS.map((name) => option(name, `explanations.sort.${name}`)));
  page.controls = controls;
  page.total = make("span", "ms-muted ms-explanations-total", [], { role: "status" });
  page.clear = make("button", "ms-button ms-button-quiet", [icon("cross"), words("explanations.reset")], { type: "button" });
  page.clear.addEventListener("click", () => page.change(Object.fromEntries(CLEARED.map((key) => [key, []]))));
  const elements = {
    label: controls.label.element, truth: controls.truth.element, predicted: controls.predicted.element,
    outcome: controls.outcome,
    threshold: controls.threshold.element, search: controls.search, sort: controls.sort, explainer: controls.explainer,
  };
  const offered = Object.entries(elements).filter(([name]) => page.offered.includes(name)).map(([, element]) => element);
  return [
    controls.run, page.left, ...offered, page.clear, make("span", "ms-explanations-end", [page.total, page.tools]),
  ];
}

/** @param {Explanations.Page} page */
function outcomes(page) {
  const buttons = OUTCOMES.map((name) => {
    const button = make("button", "ms-button", words(`explanations.${name}`), { type: "button", "data-outcome": name });
    setLabel(button, "title", `explanations.${name}.tip`);
    button.addEventListener("click", () => page.change({ outcome: toggled(page.state, "outcome", name) }));
    return button;
  });
  const group = make("span", "ms-segments ms-explanations-outcomes", buttons, { role: "group" });
  setLabel(group, "aria-label", "explanations.outcomes");
  return group;
}

/** @param {Explanations.Page} page */
function threshold(page) {
  const range = make("input", "ms-slider", [], { type: "range", min: "0", max: "1", step: "0.01" });
  const field = make("input", "ms-input ms-explanations-threshold", [], { type: "number", min: "0", max: "1", step: "0.01" });
  let timer = 0;
  /** @param {string} value */
  const take = (value) => {
    const number = Math.min(1, Math.max(0, Number(value)));
    if (value === "" || Number.isNaN(number)) return;
    page.change({ t: number === HALF ? [] : [String(number)] });
  };
  for (const input of [range, field]) {
    setLabel(input, "aria-label", "explanations.threshold");
    setLabel(input, "title", "explanations.threshold.tip");
  }
  range.addEventListener("input", () => {
    field.value = range.value;
    window.clearTimeout(timer);
    timer = window.setTimeout(() => take(range.value), TYPING_MS / 2);
  });
  field.addEventListener("change", () => take(field.value));
  const element = make("span", "ms-field", [words("explanations.threshold", {}, "span", "ms-field-name"), range, field]);
  return { element, range, field };
}

/** @param {Explanations.Page} page */
function search(page) {
  const input = make("input", "ms-input ms-filter ms-explanations-search", [], { type: "search", spellcheck: "false" });
  for (const name of ["placeholder", "aria-label"]) setLabel(input, name, "explanations.search");
  let timer = 0;
  input.addEventListener("input", () => {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => page.change({ q: input.value ? [input.value] : [] }), TYPING_MS);
  });
  return input;
}

/**
 * Draw the controls as state and listing have them.
 * @param {Explanations.Page} page
 */
export function drawBar(page) {
  const { controls, catalogue, listed, state } = page;
  fillRuns(controls.run, catalogue.runs.map(([key, name]) => [key, name]), page.run.key);
  for (const button of controls.outcome.querySelectorAll(":scope > *")) {
    button.setAttribute("aria-pressed", String((state.outcome || []).includes(button.dataset.outcome)));
  }
  const at = last(state, "t", String(HALF));
  if (document.activeElement !== controls.threshold.field) controls.threshold.field.value = at;
  if (document.activeElement !== controls.threshold.range) controls.threshold.range.value = at;
  if (document.activeElement !== controls.search) controls.search.value = last(state, "q", "");
  for (const { element } of [controls.label, controls.truth, controls.predicted]) element.inert = !listed;
  if (!listed) {
    controls.explainer.hidden = page.clear.hidden = true;
    return;
  }
  controls.label.draw(listed.labels, state.label || []);
  controls.truth.draw(listed.labels, state.truth || []);
  controls.predicted.draw(listed.labels, state.predicted || []);
  /** @param {string} name */
  const offered = (name) => (!name.startsWith("uncertainty") || listed.uncertain)
    && (!name.startsWith("disagreement") || listed.explainers.length > 1);
  for (const choice of controls.sort.options) choice.hidden = choice.disabled = !offered(choice.value);
  controls.sort.value = last(state, "sort", "id");
  drawExplainers(page);
  page.clear.hidden = !CLEARED.some((key) => (state[key] || []).length);
  page.find(".ms-explanations-bounds").hidden = listed.complete || Number(at) >= HALF;
}

/** @param {Explanations.Page} page */
function drawExplainers(page) {
  const { controls, listed, state } = page;
  const host = controls.explainer;
  host.hidden = listed.explainers.length < 2;
  const wanted = JSON.stringify(listed.explainers);
  if (host.dataset.names !== wanted) {
    host.dataset.names = wanted;
    host.replaceChildren(...listed.explainers.map((/** @type {string} */ name) => {
      const button = make("button", "ms-button", name, { type: "button", "data-explainer": name });
      button.addEventListener("click", () => {
        const chosen = page.state.explainer || [];
        const now = chosen.length ? chosen : page.listed.explainers;
        const next = page.listed.explainers.filter((one) => now.includes(one) !== (one === name));
        page.change({ explainer: next.length === page.listed.explainers.length ? [] : next });
      });
      return button;
    }));
  }
  const chosen = (state.explainer || []).filter((/** @type {string} */ name) => listed.explainers.includes(name));
  for (const button of host.querySelectorAll(":scope > *")) {
    button.setAttribute("aria-pressed", String(!chosen.length || chosen.includes(button.dataset.explainer)));
  }
}

/**
 * Say how many samples of how many the filters keep.
 * @param {Explanations.Page} page
 * @param {number} kept
 * @param {number} total
 */
export function drawTotal(page, kept, total) {
  writeText(page.total, "explanations.of_total", { n: count(kept), total: count(total) });
}

/**
 * A tool at the right end of the bar.
 * @param {Explanations.Page} page
 * @param {string} name
 * @param {string} label
 * @param {() => void} act
 */
export function tool(page, name, label, act) {
  const button = iconButton(name, label, "");
  button.removeAttribute("data-act");
  button.addEventListener("click", act);
  page.tools.append(button);
  return button;
}
