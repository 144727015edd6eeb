// The values of the chosen tensor, of the one it is compared with, or their difference, and the distribution of these. State:
// values ("other", "difference", "relative"), dims ("0,..,2..5:TENSOR", of the tensor shown last), format and digits.

import { icon, make, pressSegment, segments, takesText, words } from "../../kit/elements.js";
import { setLabel, translate, writeText } from "../../kit/i18n.js";
import { expectFigure, expectNone, showFigure } from "../../kit/late_graphs.js";
import { entry, same } from "../../kit/state.js";
import * as debugging from "../dumps.js";
import { isLive } from "../live.js";
import { busy } from "../../kit/page_parts.js";
import { drawProgress } from "../../kit/progress.js";
import { boxesText, boxGroup, clearBoxes, dimsOf, drawBoxes } from "../../kit/tensor_grid/boxes.js";
import { lookControls, lookOf } from "../../kit/tensor_grid/number_format.js";
import { createValues } from "../../kit/tensor_grid/values.js";
import { limitOf, matched } from "./selected_compare.js";

const ROW = 22;    // px, as in tensor_grid/table.js
const BARS = 18;   // px, a scroll bar
const SHOWN = ["this", "other", "difference", "relative"];

/** @param {Debugger.Page} page */
export function build(page) {
  const { part } = page.selected;
  const table = part("table").querySelector(".ms-tensor-table");
  const readout = make("output", "ms-tensor-readout ms-mono");
  const look = lookControls(page.change);
  const boxes = boxGroup("tensor_grid.dims");
  const dims = make("label", "ms-field", [words("tensor_grid.dims", {}, "span", "ms-field-name"), boxes]);
  const show = segments("debugger.compare.show", SHOWN.map((name) => [name, `debugger.compare.show.${name}`]),
    (name) => page.change({ values: name === "this" ? [] : [name] }));
  const bad = make("button", "ms-badge ms-badge-wrong ms-badge-button", words("tensor_grid.next_bad"), { type: "button" });
  setLabel(bad, "title", "tensor_grid.next_bad.title");
  bad.addEventListener("click", () => nextBad(page));
  const save = make("a", "ms-button ms-button-quiet", [icon("download"), words("debugger.npy")], { download: "" });
  setLabel(save, "title", "debugger.npy.tip");
  part("values").querySelector(".ms-selected-tools").append(bad, save);
  part("bar").append(show, dims, ...look.elements);
  part("foot").append(readout, words("tensor_grid.keys", {}, "span", "ms-muted"));
  const grid = createValues({
    table, readout, id: page.store("selected-table"),
    url: (query) => `${page.root.dataset.routes}dump-values?${query}`,
    choose: (texts) => chooseDims(page, texts),
    failed: (text) => message(page, text),
  });
  page.selected.values = {
    grid, look, boxes, dims, show, bad, save,
    key: "", keyShown: "", about: null, which: "", asked: "", wanted: null, loading: false,
  };
}

/**
 * The boxes belong to one tensor: another one may have other dimensions.
 * @param {Debugger.Page} page
 * @param {string[]} texts
 */
function chooseDims(page, texts) {
  page.change({ dims: [`${boxesText(texts)}:${page.selected.values.key}`] });
}

/**
 * What is shown of both tensors.
 * @param {Debugger.Page} page
 */
export function shownOf(page) {
  const name = debugging.get(page, "values", "this");
  return matched(page) && SHOWN.includes(name) ? name : "this";
}

/**
 * Whether the boxes of the tensor that is shown cannot be those of the chosen one.
 * @param {Debugger.Page} page
 * @param {string} shown
 */
function ownShape(page, shown) {
  const { comparison } = page.selected;
  return shown === "other" && !same(comparison.shapes[0], comparison.shapes[1]);
}

/** @param {Debugger.Page} page */
export function draw(page, tensor, ask) {
  const v = page.selected.values;
  const other = matched(page);
  const shown = shownOf(page);
  v.show.hidden = !other;
  pressSegment(v.show, shown);
  v.look.draw(page.state);
  v.key = `${page.selected.answer.name} ${tensor.id}${ownShape(page, shown) ? " other" : ""}`;
  const run = ask.of[0];
  const plain = { run, row: String(tensor.row), mark: ask.mark[0] };
  const which = new URLSearchParams(shown === "other" ? other : plain);
  if (shown === "difference" || shown === "relative") {
    for (const [name, value] of Object.entries(other)) which.set(`with_${name}`, value);
    if (shown === "relative") which.set("how", "relative");
  }
  drawTools(page, tensor, shown, plain);
  const dims = dimsOf(entry(page.state, "dims", v.key));
  v.wanted = { which: which.toString(), part: dims ? `&dims=${encodeURIComponent(dims)}` : "", tensor, shown };
  askHistogram(page, ask, shown, other);
  if (tensor.status !== "values" && shown !== "other") return why(page, tensor);
  return load(page);
}

/** @param {Debugger.Page} page */
function why(page, tensor) {
  const v = page.selected.values;
  v.asked = "";
  if (tensor.status === "statistics") message(page, translate("debugger.only_statistics"), "plain");
  else message(page, tensor.problem, tensor.status === "unfetched" ? "plain" : "wrong");
}

/**
 * @param {Debugger.Page} page
 * @param {string} shown
 */
function drawTools(page, tensor, shown, plain) {
  const v = page.selected.values;
  v.bad.hidden = !mayBeBad(page, tensor, shown);
  v.save.hidden = tensor.status !== "values";
  v.save.href = `${page.root.dataset.routes}dump.npy?${new URLSearchParams(plain)}`;
}

/**
 * Whether there may be NaN or Inf in what is shown; it is not known of the other tensor.
 * @param {Debugger.Page} page
 * @param {string} shown
 */
function mayBeBad(page, tensor, shown) {
  /** @param {string[]} names */
  const some = (counts, names) => names.some((name) => counts[name] && counts[name][1] !== "0");
  if (shown === "other") return true;
  if (shown === "this") return tensor.status === "values" && some(tensor.statistics, ["nan", "positive_inf", "negative_inf"]);
  const { result } = page.selected.comparison;
  return Boolean(result) && (shown === "relative" || some(result.counts, ["unlike", "alike"]));
}

/**
 * Show a message instead of values; a plain tone if the data is not at fault.
 * @param {Debugger.Page} page
 * @param {string} text
 * @param {string} [tone]
 */
function message(page, text, tone = "wrong") {
  const { part, values: v } = page.selected;
  v.grid.hide();
  const element = part("message");
  element.textContent = text;
  element.classList.toggle("ms-wrong-text", tone === "wrong");
  element.hidden = false;
  part("table").hidden = true;
  part("foot").hidden = true;
  v.dims.hidden = !v.about || !v.about.refused;
}

/**
 * Ask what the tensor is, one request at a time, and show its values.
 * @param {Debugger.Page} page
 */
async function load(page) {
  const v = page.selected.values;
  if (v.loading) return;
  if (v.wanted.which + v.wanted.part === v.asked) {
    show(page);
    return;
  }
  v.loading = true;
  while (v.asked !== v.wanted.which + v.wanted.part) {
    const { which, part } = v.wanted;
    const about = await json(page, "dump-about", which + part);
    if (which !== v.wanted.which || part !== v.wanted.part) continue;
    if (about.changed) break;  // the listing that the page is about to get has other rows
    if (v.which !== which) {
      v.grid.restart(v.key !== v.keyShown);
      v.keyShown = v.key;
      clearBoxes(v.boxes);
    }
    Object.assign(v, { about, which, asked: which + part });
    show(page);
  }
  v.loading = false;
}

/**
 * @param {Debugger.Page} page
 * @param {string} route
 */
async function json(page, route, query) {
  try {
    const answer = await fetch(`${page.root.dataset.routes}${route}?${query}`);
    if (answer.status === 204) return {};  // the rows are others now, and are asked for again
    const content = await answer.json();
    return answer.ok ? content : { problem: content.error || String(answer.status) };
  } catch (error) {
    return { problem: translate("tensor_grid.unanswered") };
  }
}

/** @param {Debugger.Page} page */
function show(page) {
  const { part, values: v } = page.selected;
  const { about } = v;
  // Live training is asked for what it has not sent yet.
  if (about.problem) return message(page, about.problem, isLive(page.dump.key) ? "plain" : "wrong");
  v.dims.hidden = !about.shape.length;
  drawBoxes(v.boxes, about, (texts) => chooseDims(page, texts));
  if (about.refused) return message(page, about.refused);
  if (about.shape.includes(0)) {
    return message(page, translate("tensor_grid.empty", { shape: `[${about.shape.join(", ")}]` }), "plain");
  }
  part("message").hidden = true;
  part("table").hidden = false;
  part("table").style.height = `${((about.free[0] ? about.free[0].count : 1) + 1) * ROW + BARS}px`;
  part("foot").hidden = false;
  const { shown, tensor } = v.wanted;
  const look = { ...lookOf(page.state), whole: false };
  const limit = shown === "difference" ? limitOf(page) : 0;
  v.grid.show(about, v.asked, look, { largest: largestOf(page, shown, tensor), limit });
  return undefined;
}

/**
 * The largest magnitude, for colours: both tensors have those of the chosen one, so that they can be compared.
 * @param {Debugger.Page} page
 */
function largestOf(page, shown, { statistics }) {
  const { comparison } = page.selected;
  const size = (pair) => (pair ? Math.abs(Number(pair[1])) || 0 : 0);
  if (shown === "difference") return size(comparison.result && comparison.result.values.max_absolute);
  if (shown === "relative") return size(comparison.result && comparison.result.values.max_relative);
  return Math.max(size(statistics.min), size(statistics.max));
}

/** @param {Debugger.Page} page */
async function nextBad(page) {
  const v = page.selected.values;
  const { index, problem } = await json(page, "dump-bad", v.wanted.which + v.grid.after());
  if (problem) message(page, problem);
  else if (index) v.grid.goTo(index);
}

// Distribution --------------------------------------------------------------------------------------------------------

/**
 * @param {Debugger.Page} page
 * @param {string} shown
 */
function askHistogram(page, ask, shown, other) {
  const { of, rank, step, mark, row } = ask;
  const found = { of, rank, step, mark, row };
  if (shown === "other") Object.assign(found, { of: [other.run], row: [other.row], mark: [other.mark] });
  else if (shown !== "this") Object.assign(found, { with_run: [other.run], with_row: [other.row], with_mark: [other.mark] });
  const { status } = page.selected.values.wanted.tensor;
  page.selected.part("histogram").hidden = status !== "values" && shown === "this";
  if (page.selected.part("histogram").hidden) return;
  expectFigure(page, "histogram-plot");
  debugging.request(page, "histogram", found);
}

/** @param {Debugger.Page} page */
export function takeHistogram(page, answer, again) {
  const card = page.selected.part("histogram");
  drawProgress(card.querySelector(".ms-body-status"), answer, again);
  const note = card.querySelector(".ms-card-badges");
  const none = answer.state === "ready" && !answer.figure;
  card.classList.toggle("ms-selected-short", none);
  const shown = shownOf(page);
  note.replaceChildren(...(shown === "this" ? [] : [
    words("debugger.histogram.of", { what: translate(`debugger.compare.show.${shown}`) }, "span", "ms-badge"),
  ]));
  if (answer.problem) note.append(make("span", "ms-muted", answer.problem));
  else if (none) note.append(writeText(make("span", "ms-muted"), "debugger.histogram.none"));
  if (answer.figure) showFigure(page, "histogram-plot", answer.figure);
  else if (!busy(answer)) expectNone(page, "histogram-plot");
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "n" || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (!(event.target instanceof Element) || takesText(event.target)) return;
  // Elsewhere on the page the key goes to the next hit.
  const root = event.target.closest(".ms-selected-values") && event.target.closest(".ms-debugger");
  // Pages of this root are the debugger's.
  const page = root && /** @type {Debugger.Page | null} */ (debugging.pageOf(root.id));
  if (!page || !page.selected.answer || page.selected.values.bad.hidden) return;
  event.stopImmediatePropagation();
  nextBad(page);
});
