// The form of a watchpoint: condition, parameters (several are alternatives), and the operators it is about.

import { make, pressSegment, segments, select, words } from "../../kit/elements.js";
import { count } from "../../kit/units.js";
import { setLabel, translate } from "../../kit/i18n.js";
import * as choice from "./number_ranges.js";
import { refusal } from "./numbers.js";

const TARGETS = ["tensor", "weight", "gradient", "activation"];

/**
 * What is edited: a watchpoint, null for a new one, and its place in the list.
 * @param {Debugger.Page} page
 */
export function formOf(page, one, place) {
  const draft = {
    place, condition: one ? one.condition : "tensor_overflow", values: {}, pattern: one ? one.pattern : "",
    by: one ? one.pattern ? "pattern" : one.names ? one.by === "all" ? "nodes" : one.by : "all" : "all",
    said: one ? one.said : "", names: one ? one.names : null, ranges: [], enabled: one ? one.enabled : true, wrong: {},
    limits: () => Object.fromEntries(Object.entries(draft.values).filter(([, text]) => text.trim() !== "")
      .map(([name, text]) => [name, Number(text)])),
    made: () => made(page, draft),
  };
  if (one) for (const [name, value] of Object.entries(one.limits)) draft.values[name] = String(value);
  else fillDefaults(page, draft);
  return draft;
}

/**
 * @param {Debugger.Page} page
 * @param {string} name
 */
const conditionOf = (page, name) => page.watching.conditions.find((one) => one.name === name);

/** @param {Debugger.Page} page */
function fillDefaults(page, draft) {
  draft.values = {};
  for (const { name, default: usual } of conditionOf(page, draft.condition).limits) {
    if (usual !== null) draft.values[name] = shownNumber(usual);
  }
}

const shownNumber = (value) => Math.abs(value) < 1e-3 && value !== 0 ? value.toExponential() : String(value);

/**
 * The watchpoint if every value is allowed, else null; draft.wrong has what is refused, by parameter.
 * @param {Debugger.Page} page
 */
function made(page, draft) {
  const { limits } = conditionOf(page, draft.condition);
  draft.wrong = {};
  for (const limit of limits) {
    const text = (draft.values[limit.name] || "").trim();
    const refused = text === "" ? null : refusal(text, limit);
    if (refused) draft.wrong[limit.name] = refused;
  }
  const set = limits.filter(({ name }) => (draft.values[name] || "").trim() !== "");
  for (const { name, needs } of set) {
    for (const needed of needs) if (!(draft.values[needed] || "").trim()) draft.wrong[needed] = ["debugger.wrong.needed", {}];
    const backwards = Number(draft.values.range_start_inclusive) > Number(draft.values[name]);
    if (name === "range_end_inclusive" && !draft.wrong[name] && backwards) draft.wrong[name] = ["debugger.wrong.order", {}];
  }
  if (limits.length && !set.some(({ range }) => !range)) draft.wrong[""] = ["debugger.wrong.none", {}];
  if (draft.by === "pattern") {
    try {
      new RegExp(draft.pattern.replace(/^\(\?i\)/, ""));
    } catch {
      draft.wrong.pattern = ["debugger.wrong.pattern", {}];
    }
    if (!draft.pattern.trim()) draft.wrong.pattern = ["debugger.wrong.empty_pattern", {}];
  }
  const chosen = !["all", "pattern"].includes(draft.by);
  if (chosen && (!draft.names || !draft.names.length)) draft.wrong.nodes = ["debugger.wrong.no_nodes", {}];
  if (Object.keys(draft.wrong).length) return null;
  return {
    condition: draft.condition, limits: draft.limits(), names: chosen ? draft.names : null,
    pattern: draft.by === "pattern" ? draft.pattern : "", enabled: draft.enabled, by: draft.by,
    said: draft.by === "pattern" ? draft.pattern : chosen ? draft.said : "",
  };
}

/**
 * Draw the form of page.draft; acts: keep(page), close(page), setRanges(page, ranges).
 * @param {Debugger.Page} page
 */
export function drawForm(page, acts) {
  const host = page.find(".ms-debugger-watchpoints");
  const form = make("form", "ms-debugger-form", [
    conditionField(page, acts), ...parameters(page), nodesField(page, acts), buttons(page, acts),
  ]);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    acts.keep(page);
  });
  const focused = host.contains(document.activeElement) ? document.activeElement.getAttribute("name") : null;
  host.replaceChildren(form);
  const wrong = form.querySelector('[aria-invalid="true"]');
  const again = focused && form.querySelector(`[name="${focused}"]`);
  (wrong || again || form.querySelector("select")).focus({ preventScroll: true });
}

/** @param {Debugger.Page} page */
function conditionField(page, acts) {
  const { draft } = page;
  const list = select("debugger.condition", (name) => {
    draft.condition = name;
    draft.wrong = {};
    fillDefaults(page, draft);
    drawForm(page, acts);
  }, { name: "condition" });
  list.append(...TARGETS.map((target) => {
    const options = page.watching.conditions.filter((one) => one.target === target)
      .map((one) => make("option", "", `${translate(`debugger.condition.${one.name}`)} (${one.short})`, { value: one.name }));
    const group = make("optgroup", "", options);
    group.label = translate(`debugger.target.${target}`);
    return group;
  }));
  list.value = draft.condition;
  const about = words(`debugger.about.${draft.condition}`, {}, "p", "ms-muted");
  return make("div", "ms-debugger-field", [make("label", "ms-debugger-label", [words("debugger.condition"), list]), about]);
}

/** @param {Debugger.Page} page */
function parameters(page) {
  const { draft } = page;
  const { limits } = conditionOf(page, draft.condition);
  const fields = limits.map((limit) => {
    const field = make("input", "ms-input ms-number", [], {
      type: "text", inputmode: "decimal", autocomplete: "off", name: limit.name, size: "10",
    });
    field.value = draft.values[limit.name] || "";
    field.addEventListener("input", () => { draft.values[limit.name] = field.value; });
    const wrong = draft.wrong[limit.name];
    if (wrong) field.setAttribute("aria-invalid", "true");
    const label = words(`debugger.parameter.${limit.name}`);
    /** @type {HTMLElement[]} */
    const parts = [make("label", "ms-debugger-label", [label, field])];
    if (wrong) parts.push(words(wrong[0], { ...wrong[1] }, "p", "ms-wrong-text"));
    return make("div", "ms-debugger-field", parts);
  });
  const several = limits.filter(({ range }) => !range).length > 1;
  if (several) fields.unshift(words("debugger.any_of", {}, "p", "ms-muted"));
  if (draft.wrong[""]) fields.push(words(draft.wrong[""][0], {}, "p", "ms-wrong-text"));
  return fields;
}

/** @param {Debugger.Page} page */
function nodesField(page, acts) {
  const { draft } = page;
  const mode = draft.by === "all" || draft.by === "pattern" ? draft.by : "nodes";
  const ways = [["all", "debugger.nodes.all"], ["nodes", "debugger.nodes.some"], ["pattern", "debugger.nodes.pattern"]];
  const by = segments("debugger.nodes", ways, (value) => {
    draft.by = value;
    draft.wrong = {};
    if (value === "nodes") page.change({ tab: ["nodes"] });
    drawForm(page, acts);
  });
  pressSegment(by, mode);
  const parts = [words("debugger.nodes", {}, "span", "ms-debugger-label"), by];
  if (mode === "nodes") {
    const many = choice.size(draft.ranges) || (draft.names || []).length;
    parts.push(words("debugger.chosen_n", { n: count(many) }, "p"));
    parts.push(words("debugger.choose_hint", {}, "p", "ms-muted"));
    const none = make("button", "ms-button ms-button-small", words("debugger.choose_none"), { type: "button" });
    none.addEventListener("click", () => acts.setRanges(page, []));
    if (many) parts.push(none);
  } else if (mode === "pattern") {
    const field = make("input", "ms-input ms-mono", [], {
      type: "text", name: "pattern", autocomplete: "off", spellcheck: "false",
    });
    field.value = draft.pattern;
    setLabel(field, "aria-label", "debugger.nodes.pattern");
    setLabel(field, "placeholder", "debugger.pattern_hint");
    field.addEventListener("input", () => { draft.pattern = field.value; });
    if (draft.wrong.pattern) field.setAttribute("aria-invalid", "true");
    parts.push(field, words("debugger.pattern_about", {}, "p", "ms-muted"));
  }
  const wrong = draft.wrong.nodes || draft.wrong.pattern;
  if (wrong) parts.push(words(wrong[0], wrong[1], "p", "ms-wrong-text"));
  return make("div", "ms-debugger-field", parts);
}

/** @param {Debugger.Page} page */
function buttons(page, acts) {
  const label = words(page.draft.place === null ? "debugger.add" : "debugger.save");
  const save = make("button", "ms-button ms-button-main", label, { type: "submit" });
  const cancel = make("button", "ms-button", words("debugger.cancel"), { type: "button" });
  cancel.addEventListener("click", () => acts.close(page));
  return make("div", "ms-debugger-buttons", [save, cancel]);
}
