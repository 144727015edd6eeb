// What is in the row of a sample: its picture, its labels, and a heat map per explainer.

import { iconButton, make, words } from "../../kit/elements.js";
import { count } from "../../kit/units.js";
import { setLabel, translate } from "../../kit/i18n.js";
import { address, explainersOf, get, labelName } from "../explanations.js";
import { drawMap, drawPicture, notesOf, pictureAt } from "../maps.js";
import { lookOf } from "./map_controls.js";

const [LABELS, WIDEST, GAP, SMALLEST, LARGEST] = [236, 420, 12, 92, 176];  // px
const [HEAD, EDGES, LINE] = [24, 18, 24];                      // px of a row beside its pictures; of a label
const HALF = 0.5;
const NEAR = 1e-4;  // of a hundredth

/** Side of pictures, width of labels, and height of a row for a width of the list. Labels take what pictures leave. */
export function sides(width, explainers) {
  const room = (width - LABELS - 34 - GAP * (explainers + 1)) / (explainers + 1);
  const side = Math.floor(Math.min(LARGEST, Math.max(SMALLEST, room)));
  const labels = Math.floor(Math.min(WIDEST, LABELS + Math.max(0, room - side) * (explainers + 1)));
  return { side, labels, height: side + HEAD + EDGES };
}

/** @param {Saliency.Page} page */
export function row(page, sample) {
  const chosen = String(sample.id) === get(page, "sample");
  const label = shownLabel(page, sample);
  const title = words("saliency.sample", { n: sample.id }, "h3", "ms-card-title");
  const head = make("header", "ms-saliency-title", [
    title, make("span", "ms-cut ms-name ms-muted ms-mono", sample.image, { title: sample.image }), ...badges(sample),
    iconButton("full", "saliency.enlarge", "large"),
  ]);
  const figures = explainersOf(page).map((explainer) => mapFigure(page, sample, explainer, label));
  const element = make("section", "ms-card ms-saliency-row", [
    head, make("div", "ms-saliency-cells", [pictureFigure(page, sample), labelList(page, sample, label), ...figures]),
  ], { "data-sample": String(sample.id), tabindex: "0" });
  setLabel(element, "aria-label", "saliency.sample", { n: sample.id });
  element.classList.toggle("ms-chosen", chosen);
  Object.assign(element, { sample });
  paint(page, element);
  return element;
}

function badges(sample) {
  const found = [];
  if (!sample.inferred) found.push(words("saliency.no_inference", {}, "span", "ms-badge ms-badge-plain"));
  else if (!sample.labels.some(([, , , , , isTrue]) => isTrue)) {
    found.push(words("saliency.no_truth", {}, "span", "ms-badge ms-badge-plain"));
  }
  if (Number.isFinite(sample.disagreement)) {
    const badge = words("saliency.disagreement", { n: sample.disagreement.toFixed(3) }, "span", "ms-badge ms-badge-plain");
    setLabel(badge, "title", "saliency.disagreement.tip");
    found.push(badge);
  }
  return found;
}

// Labels ------------------------------------------------------------------------------------------------------------

/**
 * Labels that a filter names: these are always shown.
 * @param {Saliency.Page} page
 */
function filteredOf(page) {
  return [page.state.label, page.state.predicted, page.state.truth].flatMap((labels) => labels || []).map(Number);
}

/**
 * The label whose maps are shown: that of the state for the chosen sample, else a filtered one, first one that has a map; else
 * the most probable one with a map; null if no label has one.
 * @param {Saliency.Page} page
 */
export function shownLabel(page, sample) {
  const having = new Set(sample.maps.map(([, label]) => label));
  const wanted = Number(get(page, "shown", "NaN"));
  if (String(sample.id) === get(page, "sample") && having.has(wanted)) return wanted;
  return mapped(sample, having, filteredOf(page));
}

/**
 * The label whose maps are shown if none is chosen: of filtered ones, if there are any.
 * @param {{ labels: Saliency.LabelCells[] }} sample
 * @param {Set<number>} having
 * @param {number[]} filtered
 */
export function mapped(sample, having, filtered) {
  const listed = [...sample.labels.map(([label]) => label), ...having].filter((label) => having.has(label));
  return filtered.find((label) => having.has(label)) ?? filtered[0] ?? listed[0] ?? null;
}

/**
 * Labels of a sample, the most probable first; most of them if it is set.
 * @param {Saliency.Page} page
 */
export function labelList(page, sample, shown, most = Math.floor((page.side + 4) / LINE)) {
  const having = new Set(sample.maps.map(([, label]) => label));
  const recorded = new Set(sample.labels.map(([label]) => label));
  const filtered = filteredOf(page);
  const others = [...new Set([...having, ...filtered])].filter((label) => !recorded.has(label))
    .map((label) => [label, null, null, null, null, false, ""]);
  const every = [...sample.labels, ...others];
  const room = every.length > most || sample.more ? most - 1 : most;  // a line says how many are left
  const lines = important(every, room, filtered).map((label) => labelLine(page, label, having, shown, filtered));
  const left = every.length - lines.length + sample.more;
  if (left) lines.push(words("saliency.more", { n: count(left) }, "li", "ms-muted"));
  return make("ul", "ms-saliency-labels", lines);
}

/**
 * As many labels as there is room for, in their order: filtered ones, true ones, and then the first others.
 * @param {Saliency.LabelCells[]} labels
 * @param {number} room
 * @param {number[]} [filtered]
 */
export function important(labels, room, filtered = []) {
  /** @param {Saliency.LabelCells} cells */
  const rank = ([number, , , , , isTrue]) => filtered.includes(number) ? 0 : isTrue ? 1 : 2;
  const ranked = [0, 1, 2].flatMap((at) => labels.filter((label) => rank(label) === at));
  const most = Math.max(room, labels.filter((label) => rank(label) === 0).length);
  const chosen = ranked.slice(0, most);
  return labels.filter((label) => chosen.includes(label));
}

/** @param {Saliency.Page} page */
function labelLine(page, [number, probability, sd, low, high, isTrue, outcome], having, shown, filtered) {
  const name = labelName(page, number);
  const hasMap = having.has(number);
  const absent = !hasMap && filtered.includes(number) ? [words("saliency.without_map", {}, "span", "ms-muted")] : [];
  const named = make("span", "ms-saliency-named", [make("span", "ms-cut ms-name ms-saliency-label-name", name), ...absent]);
  const parts = [named, probabilityBar(page, probability, low, high)];
  parts.push(make("span", "ms-number", probability === null ? "–" : probability.toFixed(3)));
  parts.push(make("span", outcome ? `ms-outcome ms-outcome-${outcome}` : "", outcome));
  const line = hasMap
    ? make("button", "ms-saliency-label", parts, { type: "button", "data-act": "label", "data-label": String(number) })
    : make("span", "ms-saliency-label", parts);
  if (hasMap) line.setAttribute("aria-pressed", String(number === shown));
  line.title = factsOf(name, probability, sd, low, high, isTrue, outcome);
  return make("li", "", line);
}

/** Everything that was recorded of a label, in a sentence. */
export function factsOf(name, probability, sd, low, high, isTrue, outcome) {
  const facts = [probability === null ? `${name}: ${translate("saliency.unknown")}`
    : translate("saliency.probability", { label: name, p: String(Number(probability.toPrecision(7))) })];
  if (sd !== null) {
    facts.push(translate("saliency.uncertainty", { sd: sd.toFixed(6), low: floored(low), high: ceiled(high) }));
  }
  if (isTrue) facts.push(translate("saliency.true"));
  if (outcome) facts.push(translate(`explanations.${outcome.toLowerCase()}.tip`));
  return facts.join("; ");
}

// As mindspore-xai's viewer rounds the ends of an interval: outwards, to 0.01. Files have single precision.
const floored = (value) => value === null ? "–" : (Math.floor(value * 100 + NEAR) / 100).toFixed(2);
const ceiled = (value) => value === null ? "–" : (Math.ceil(value * 100 - NEAR) / 100).toFixed(2);

/** @param {Saliency.Page} page */
function probabilityBar(page, probability, low, high) {
  const bar = make("span", "ms-saliency-bar", [], { "aria-hidden": "true" });
  const percent = (value) => `${100 * Math.min(1, Math.max(0, value))}%`;
  const fill = make("span", "ms-saliency-fill");
  fill.style.width = probability === null ? "0" : percent(probability);
  const mark = make("span", "ms-saliency-mark");
  mark.style.left = percent(Number(get(page, "t", String(HALF))));
  bar.append(fill, mark);
  if (low !== null && high !== null) {
    const whisker = make("span", "ms-saliency-whisker");
    whisker.style.left = `min(100% - 2px, ${percent(low)})`;
    whisker.style.width = `max(2px, ${percent(high - low)})`;
    bar.append(whisker);
  }
  return bar;
}

// Pictures ----------------------------------------------------------------------------------------------------------

function figure(name) {
  const canvas = make("canvas", "", [], { role: "img", "aria-label": name, title: name });
  return make("figure", "ms-saliency-figure", [canvas, make("p", "ms-saliency-note", [], { role: "status", hidden: "" })]);
}

/** @param {Saliency.Page} page */
export function pictureFigure(page, sample) {
  const element = figure(translate("saliency.picture_of", { n: sample.id }));
  if (sample.image) element.dataset.picture = address(page, "image", { sample: sample.id, v: page.listed.mark });
  else fail(element, translate("saliency.no_picture"));
  return element;
}

/** @param {Saliency.Page} page */
export function mapFigure(page, sample, explainer, label) {
  const place = page.listed.explainers.indexOf(explainer);
  const found = label !== null && sample.maps.some(([at, of]) => at === place && of === label);
  const name = label === null ? "" : labelName(page, label);
  const element = figure(translate("saliency.map_of", { n: sample.id, explainer, label: name }));
  element.dataset.explainer = explainer;
  if (sample.image) element.dataset.picture = address(page, "image", { sample: sample.id, v: page.listed.mark });
  if (found) element.dataset.map = address(page, "heatmap", { sample: sample.id, explainer, label, v: page.listed.mark });
  else {
    delete element.dataset.picture;
    element.classList.add("ms-saliency-absent");
    fail(element, label === null ? "–" : translate("saliency.no_map", { label: name }));
  }
  return element;
}

/**
 * Draw the pictures of a row, once they are there; most is the longest side in px, 0 for as large as they are.
 * @param {Saliency.Page} page
 */
export function paint(page, element, most = Math.ceil(page.side * window.devicePixelRatio)) {
  for (const one of element.querySelectorAll(".ms-saliency-figure")) fill(page, one, most);
}

/** @param {Saliency.Page} page */
async function fill(page, element, most) {
  const { picture: pictureUrl, map: mapUrl } = element.dataset;
  if (!pictureUrl && !mapUrl) return;
  const [picture, map] = await Promise.all([pictureUrl ? pictureAt(pictureUrl) : null, mapUrl ? pictureAt(mapUrl) : null]);
  if (element.dropped) return;
  const main = mapUrl ? map : picture;
  if (main.reason) {
    fail(element, main.reason);
    return;
  }
  const canvas = element.querySelector("canvas");
  if (mapUrl) drawMap(canvas, picture, map, lookOf(page), most);
  else drawPicture(canvas, picture, most);
  Object.assign(element, { picture, map });
  element.classList.add("ms-saliency-drawn");
  // A damaged or missing picture is said once, at the picture itself.
  const notes = mapUrl ? notesOf(picture ? { ...picture, problem: "" } : null, map) : notesOf(picture, null);
  note(element, notes.join(" "));
  if (element.onDrawn) element.onDrawn();
}

function note(element, text) {
  const line = element.querySelector(".ms-saliency-note");
  line.hidden = !text;
  line.textContent = text;
  line.title = text;
}

function fail(element, reason) {
  element.classList.add("ms-saliency-failed");
  note(element, reason);
}

/** Nothing is drawn any more on a row that leaves the screen. */
export function cut(element) {
  for (const one of element.querySelectorAll(".ms-saliency-figure")) one.dropped = true;
}
