// The comparison of the chosen tensor with another one. State: with, with_rank, with_step, with_node and with_io name the other
// one (what is missing is as chosen), tolerance is in percent.

import { fillSelect, icon, make, select, words } from "../../kit/elements.js";
import { count } from "../../kit/units.js";
import { setLabel, translate } from "../../kit/i18n.js";
import { nearest, numberPicker } from "../../kit/number_picker.js";
import { fillRuns } from "../../kit/run_select.js";
import { last, same } from "../../kit/state.js";
import * as debugging from "../dumps.js";
import { drawProgress } from "../../kit/progress.js";

const KEYS = ["with", "with_rank", "with_step", "with_node", "with_io"];
const NOTHING = { ...Object.fromEntries(KEYS.map((key) => [key, []])), tolerance: [], values: [] };
const RANK = {
  label: "debugger.compare.rank_label", previous: "debugging.rank_previous", next: "debugging.rank_next",
  absent: "debugging.rank_absent", total: "debugging.of_total",
};
const STEP = {
  label: "debugger.compare.step_label", previous: "debugging.step_previous", next: "debugging.step_next",
  absent: "debugging.step_absent", total: "debugging.of_total",
};
const FACTS = [
  "cosine", "max_absolute", "max_relative", "mean_absolute", "root_mean_square",
];
const SHARES = ["thousandth", "five_thousandths"];

/** @param {Debugger.Page} page */
const comparing = (page) => KEYS.some((key) => (page.state[key] || []).length);

/**
 * The tensor that the chosen one is compared with value by value, { run, row, mark } as texts; null for none.
 * @param {Debugger.Page} page
 */
export function matched(page) {
  const { comparison } = page.selected;
  if (!comparing(page) || !comparison || !comparison.with || comparison.problem) return null;
  const { run, row, mark } = comparison.with;
  return { run, row: String(row), mark };
}

/**
 * Differences up to this count as 0.
 * @param {Debugger.Page} page
 */
export function limitOf(page) {
  const { comparison, tolerance } = page.selected;
  const largest = comparison && comparison.result && comparison.result.values.max_absolute;
  return largest && tolerance ? (tolerance / 100) * Number(largest[1]) : 0;
}

// Controls ------------------------------------------------------------------------------------------------------------

/** @param {Debugger.Page} page */
export function build(page) {
  const put = (key) => (number) => page.change({ [key]: [String(number)] });
  const offer = select("debugger.compare", (name) => choose(page, name));
  const close = make("button", "ms-button ms-button-icon", icon("close"), { type: "button" });
  for (const name of ["title", "aria-label"]) setLabel(close, name, "debugger.compare.stop");
  close.addEventListener("click", () => page.change(NOTHING));
  const controls = {
    offer,
    run: select("debugger.compare.run_label", (key) => page.change({ with: [key] })),
    rank: numberPicker(RANK, debugging.rankName, put("with_rank")),
    step: numberPicker(STEP, debugging.stepName, put("with_step")),
    io: select("debugger.compare.io_label", (id) => page.change({ with_io: [id] })),
    close,
  };
  const node = make("span", "ms-mono ms-cut ms-name ms-selected-with-node");
  const line = make("span", "ms-selected-with",
    [controls.run, controls.rank.element, controls.step.element, node, controls.io, close]);
  const field = make("label", "ms-field", [words("debugger.compare", {}, "span", "ms-field-name"), offer]);
  page.selected.part("bar").prepend(field, line);
  const range = make("input", "", [], { type: "range", min: "0", max: "100", step: "1" });
  const tolerance = make("input", "ms-input ms-tensor-box", [], { type: "number", min: "0", max: "100", step: "any" });
  for (const input of [range, tolerance]) {
    setLabel(input, "aria-label", "debugger.compare.tolerance");
    input.addEventListener("change", () => setTolerance(page, input.value));
  }
  range.addEventListener("input", () => { tolerance.value = range.value; });
  const slider = make("span", "ms-selected-tolerance", [
    words("debugger.compare.tolerance", {}, "span", "ms-field-name"), range, tolerance, "%", make("span", "ms-muted"),
  ]);
  setLabel(slider, "title", "debugger.compare.tolerance.tip");
  const facts = make("div", "ms-selected-facts");
  const places = make("details", "ms-selected-places");
  page.selected.part("comparison").append(facts, slider, places);
  const compare = { controls, line, node, range, tolerance, slider, facts, places };
  page.selected.compare = compare;
}

/** @param {Debugger.Page} page */
function setTolerance(page, text) {
  const value = Number(text);
  if (text !== "" && value >= 0 && value <= 100) page.change({ tolerance: value ? [String(value)] : [] });
}

/**
 * Begin to compare; what the state does not name is as chosen.
 * @param {Debugger.Page} page
 */
function choose(page, name) {
  const { answer, tensor } = page.selected;
  const fresh = { ...NOTHING, values: page.state.values || [] };
  const { ranks, steps } = page.listed;
  const before = steps[Math.max(0, nearest(steps, page.step ?? 0) - 1)];
  const changes = {
    "": NOTHING,
    before: { ...fresh, with_step: [String(answer.before)] },
    producer: tensor.from && {
      ...fresh, with_step: [String(tensor.from.step)], with_node: [tensor.from.node], with_io: [tensor.from.io],
    },
    rank: { ...fresh, with_rank: [String(ranks.find((one) => one !== page.rank))] },
    step: { ...fresh, with_step: [String(before === page.step ? steps[1] : before)] },
    run: { ...fresh, with: [(page.catalogue.dumps.find(([key]) => key !== page.dump.key) || [""])[0]] },
    pin: {
      ...fresh, with: [page.dump.key], with_rank: [String(page.rank)], with_step: page.step === null ? [] : [String(page.step)],
      with_node: [answer.name], with_io: [tensor.id],
    },
  }[name];
  if (changes) page.change(changes);
}

/**
 * What can be compared with from here: [value, text].
 * @param {Debugger.Page} page
 */
function offers(page) {
  const { answer, tensor } = page.selected;
  const { ranks, steps } = page.listed;
  const found = [["", translate("debugger.compare.nothing")]];
  const add = (name, values = {}) => found.push([name, translate(`debugger.compare.${name}`, values)]);
  if (answer.before !== null) add("before", { step: count(answer.before) });
  if (tensor.from) add("producer", { name: tensor.from.node.split("/").pop() });
  if (steps.length > 1) add("step");
  if (ranks.length > 1) add("rank");
  if (page.catalogue.dumps.some(([key]) => key !== page.dump.key)) add("run");
  add("pin");
  return found;
}

/** @param {Debugger.Page} page */
export function draw(page, tensor, ask) {
  const { compare, part } = page.selected;
  page.selected.tensor = tensor;
  const on = comparing(page);
  const choices = offers(page);
  if (on) choices.push(["chosen", translate("debugger.compare.chosen")]);
  fillSelect(compare.controls.offer, choices, on ? "chosen" : "");
  part("comparison").hidden = !on;
  compare.line.hidden = !on;
  part("bar").classList.toggle("ms-selected-comparing", on);
  page.selected.tolerance = Number(last(page.state, "tolerance", "0")) || 0;
  if (!on) {
    page.selected.comparison = null;
    debugging.forget(page, "comparison");
    return;
  }
  const named = Object.fromEntries(KEYS.map((key) => [key, page.state[key] || []]));
  const tolerance = page.state.tolerance || [];
  const wanted = { ...ask, ...named, tolerance };
  // The former result stays while only the tolerance changes.
  const { asked } = page.selected;
  if (asked && !same({ ...asked, tolerance: [] }, { ...wanted, tolerance: [] })) page.selected.comparison = null;
  page.selected.asked = wanted;
  debugging.request(page, "comparison", wanted);
  drawChoice(page);
  drawResult(page);
}

/**
 * @param {string} key
 * @param {string} name
 * @returns {[string, string]}
 */
const pair = (key, name) => [key, name];

/** @param {Debugger.Page} page */
function drawChoice(page) {
  const { compare, comparison } = page.selected;
  const { run, rank, step, io } = compare.controls;
  const dumps = page.catalogue.dumps.map(([key, name]) => pair(key, name));
  fillRuns(run, dumps, last(page.state, "with", page.dump.key));
  compare.node.hidden = io.hidden = !comparison;
  if (!comparison) return;
  rank.draw(comparison.ranks.length > 1 ? comparison.ranks : [], comparison.rank);
  step.draw(comparison.steps.length > 1 ? comparison.steps : [], comparison.step);
  compare.node.hidden = comparison.node === page.selected.answer.name;
  compare.node.textContent = comparison.node.split("/").pop();
  compare.node.title = comparison.node;
  const ids = comparison.ids.includes(comparison.io) ? comparison.ids : [comparison.io, ...comparison.ids];
  fillSelect(io, ids.map((id) => [id, id]), comparison.io);
  io.hidden = ids.length < 2 && comparison.io === page.selected.answer.chosen;
}

// Result --------------------------------------------------------------------------------------------------------------

/** @param {Debugger.Page} page */
export function take(page, answer, again) {
  if (answer.state === "stale") return;
  page.selected.comparison = answer;
  const line = page.selected.part("comparison").querySelector(".ms-body-status");
  drawProgress(line, answer.reason ? null : answer, again);
}

const bracketed = (shape) => `[${shape.join(", ")}]`;

function sentence(key, values = {}, tone = "") {
  return words(`debugger.compare.${key}`, values, "p", tone);
}

// Why nothing is compared, or what to know about the comparison.
function remarks(comparison) {
  const { reason, problem, shapes, dtypes, sizes, result } = comparison;
  if (reason === "unmatched") return [sentence(reason, comparison, "ms-wrong-text")];
  if (reason) return [sentence(reason, {}, reason === "failed" ? "ms-wrong-text" : "")];
  if (problem) return [make("p", "ms-wrong-text", problem)];
  const [first, second] = shapes.map(bracketed);
  const found = [];
  if (sizes[0] !== sizes[1]) found.push(sentence("sizes", { first, second }, "ms-wrong-text"));
  else if (!same(shapes[0], shapes[1])) found.push(sentence("shapes", { first, second }));
  if (dtypes[0] !== dtypes[1]) found.push(sentence("dtypes", { first: dtypes[0], second: dtypes[1] }));
  if (!result) return found;
  const { counts } = result;
  if (result.identical) found.push(sentence("identical", { n: counts.count[0] }, "ms-selected-same"));
  if (counts.unlike[1] !== "0") found.push(sentence("unlike", { n: counts.unlike[0] }, "ms-wrong-text"));
  if (counts.alike[1] !== "0") found.push(sentence("alike", { n: counts.alike[0] }));
  if (counts.zero_other[1] !== "0") found.push(sentence("zero_other", { n: counts.zero_other[0] }, "ms-muted"));
  return found;
}

function factsOf(result) {
  const stat = (name, text, exact) => make("span", "ms-tensor-stat",
    [words(`debugger.compare.${name}`), " ", make("b", "", text, { title: exact })]);
  const values = FACTS.map((name) => {
    const pair = result.values[name];
    if (!pair && name === "cosine") return stat(name, translate("debugger.compare.cosine.none"), "");
    return pair ? stat(name, ...pair) : null;
  });
  return [...values, ...SHARES.map((name) => stat(name, result.shares[name], result.counts[name][1]))].filter(Boolean);
}

/** @param {Debugger.Page} page */
function drawResult(page) {
  const { compare, comparison } = page.selected;
  const result = comparison && comparison.result;
  const plain = result && !result.identical && result.counts.finite[1] !== "0";
  compare.facts.replaceChildren(...(comparison ? remarks(comparison) : []),
    ...(plain ? [make("div", "ms-selected-measures", factsOf(result))] : []));
  compare.slider.hidden = !plain;
  compare.places.hidden = !result || !result.places.length;
  if (!plain && !(result && result.places.length)) return;
  const now = String(page.selected.tolerance);
  for (const input of [compare.range, compare.tolerance]) if (document.activeElement !== input) input.value = now;
  const [beyond, share] = result.beyond[now] || [result.counts.beyond[0], result.shares.beyond];
  compare.slider.lastChild.replaceChildren(
    words("debugger.compare.beyond", { n: beyond, total: result.counts.finite[0], share }));
  drawPlaces(page, result.places);
}

/** @param {Debugger.Page} page */
function drawPlaces(page, places) {
  const { compare } = page.selected;
  if (same(places, compare.drawn)) return;
  compare.drawn = places;
  const head = make("tr", "", ["place", "show.this", "show.other", "difference", "relative"].map((name) =>
    words(`debugger.compare.${name}`, {}, "th", name === "place" ? "" : "ms-selected-number")));
  const rows = places.map((one) => {
    const text = bracketed(one.index) + (one.other_index ? ` ↔ ${bracketed(one.other_index)}` : "");
    const button = make("button", "ms-selected-link ms-mono", text, { type: "button" });
    setLabel(button, "title", "debugger.compare.go");
    button.addEventListener("click", () => page.selected.values.grid.goTo(one.index));
    const number = (value) => make("td", `ms-selected-number${/nan|inf/i.test(value) ? " ms-selected-wrong" : ""}`, value);
    return make("tr", "", [make("td", "", button), ...[one.this, one.other, one.difference, one.relative].map(number)]);
  });
  compare.places.replaceChildren(make("summary", "", words("debugger.compare.places")),
    make("table", "ms-selected-list", [make("thead", "", head), make("tbody", "", rows)]));
}
