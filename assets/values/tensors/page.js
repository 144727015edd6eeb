// The tensors page: one card per tag with a table or a histogram of a tensor, or of its difference to another one. Counterpart
// of layouts/values/tensors. The server sends when tensors were recorded (cards/stepping.js); facts, statistics and rectangles
// of values come over plain routes (table.js).
//
// State, as "value:tag": of (the run), dims (with ".." for ":"), minus ("prev", "at.STEP" or "run.KEY"). rel lists tags.

import { setProps } from "../../kit/dash.js";
import { badge, make, pressSegment, segments, takesText, words } from "../../kit/elements.js";
import { count } from "../../kit/units.js";
import { setLabel, translate } from "../../kit/i18n.js";
import { entry, listed } from "../../kit/state.js";
import * as cards from "../../kit/cards/cards.js";
import * as slots from "../../kit/cards/slots.js";
import * as stepping from "../../kit/cards/stepping.js";
import { clearBoxes, dimsOf } from "../../kit/tensor_grid/boxes.js";
import { lookControls, lookOf } from "../../kit/tensor_grid/number_format.js";
import { createValues } from "../../kit/tensor_grid/values.js";
import { address, json, message, plain, seriesOf, setBoxes } from "./card.js";
import * as controls from "./controls.js";
import * as histograms from "./histograms.js";

const STATISTICS = ["min", "max", "mean", "std", "count", "zeros", "nan", "pos_inf", "neg_inf"];
const BAD = ["nan", "pos_inf", "neg_inf"];

/**
 * Second tensor of a difference: { series, place }; null for none, place -1 if there is none that early.
 * @param {CardsPage} page
 */
function minusOf(page, card, key, series, place, position) {
  const [how, ...rest] = entry(page.state, "minus", key).split(".");
  const what = rest.join(".");
  if (how === "prev") return { series, place: place - 1 };
  if (how === "at") return { series, place: stepping.placeAt(series, { step: Number(what), nth: Infinity }) };
  const other = how === "run" && card.stepped.find((one) => one.run === plain(what));
  return other ? { series: other, place: stepping.placeAt(other, position) } : null;
}

function named(prefix, { series, place }) {
  const result = { [`${prefix}run`]: series.run, [`${prefix}place`]: String(place) };
  // Steps above 2^53 are not exact in a browser.
  if (Number.isSafeInteger(series.steps[place])) result[`${prefix}step`] = String(series.steps[place]);
  return result;
}

/**
 * Request of a card in two parts, the tensor and the part of it, or the reason why there is none.
 * @param {CardsPage} page
 */
function wanted(page, card, key) {
  const series = seriesOf(page, card, key);
  if (!series) return { reason: ["tensors.none", {}] };
  const position = stepping.positionOf(page, card);
  const place = stepping.placeAt(series, position);
  if (place < 0) return { reason: ["tensors.not_yet", { run: series.label, step: count(series.order[0]) }] };
  const minus = minusOf(page, card, key, series, place, position);
  if (minus && minus.place < 0) return { reason: ["tensors.nothing_before", { step: count(series.steps[place]) }] };
  const which = new URLSearchParams({ tag: key, ...named("", { series, place }), ...(minus ? named("minus_", minus) : {}) });
  if (minus && listed(page.state, "rel", key)) which.set("how", "relative");
  const dims = dimsOf(entry(page.state, "dims", key));
  return { series, place, minus, which: which.toString(), part: dims ? `&dims=${encodeURIComponent(dims)}` : "" };
}

// One card ------------------------------------------------------------------------------------------------------------

/** @param {CardsPage} page */
function tensorOf(page, card) {
  if (card.tensor) return card.tensor;
  const host = card.querySelector(".ms-tensor");
  const find = (name) => host.querySelector(`.ms-tensor-${name}`);
  const t = {
    page,
    card,
    host,
    find,
    drawHead: () => head(t),
    about: null,
    summary: null,
    asked: "",
    summed: "",
    mode: "",
    readout: make("output", "ms-tensor-readout ms-mono"),
  };
  t.over = histograms.fresh();
  t.values = createValues({
    table: find("table"), readout: t.readout, id: page.store(`table-${card.dataset.slot}`),
    url: (query) => address(page, "tensor", query), choose: (boxes) => setBoxes(t, boxes), failed: (text) => message(t, text),
  });
  controls.build(t);
  card.tensor = t;
  return t;
}

/** @param {CardsPage} page */
function show(page, card, key) {
  const t = tensorOf(page, card);
  if (t.key !== key) forget(t);
  t.key = key;
  t.wanted = wanted(page, card, key);
  changeMode(t);
  if (histograms.overSteps(page)) return histograms.show(t);
  controls.draw(t);
  const { which, part, reason } = t.wanted;
  if (reason) {
    t.asked = "";
    t.summed = "";
    t.find("stats").replaceChildren();
    const [key, values] = reason;
    return message(t, translate(key, values), "plain");
  }
  // Retry failed requests.
  if (t.about && t.about.problem) t.asked = "";
  if (!t.summary) t.summed = "";
  if (which + part === t.asked) draw(t);
  else load(t);
  return loadSummary(t);
}

// All views except the table share a graph, so redraw it when the view changes.
function changeMode(t) {
  const mode = `${histogram(t.page)} ${histograms.overSteps(t.page)}`;
  if (mode === t.mode) return;
  Object.assign(t, { mode, summed: "", over: histograms.fresh() });
  if (t.about) head(t);
}

// Reset a card that shows another tag now.
function forget(t) {
  Object.assign(t, { about: null, summary: null, asked: "", summed: "" });
  t.over = histograms.fresh();
  t.values.hide();
  t.values.restart();
  clearBoxes(t.boxes);
  t.find("stats").replaceChildren();
  for (const name of ["message", "body", "foot"]) t.find(name).hidden = true;
}

// One request at a time, so that dragging a slider skips intermediate steps.
async function load(t) {
  if (t.loading) return;
  t.loading = true;
  while (t.wanted.which && t.asked !== t.wanted.which + t.wanted.part) {
    const { which, part } = t.wanted;
    const { key } = t;
    const about = await json(t.page, "tensor-about", which + part);
    if (t.key !== key) continue;
    t.about = about;
    t.asked = which + part;
    if (t.which !== which) t.values.restart();
    t.which = which;
    if (t.wanted.reason || histograms.overSteps(t.page)) break;
    controls.draw(t);
    draw(t);
    head(t);
    if (t.summary) drawSummary(t);  // it came first, and did not know the type of the values
  }
  t.loading = false;
}

function summaryWanted(t) {
  if (histograms.overSteps(t.page)) return "";
  return t.wanted.which ? t.wanted.which + (histogram(t.page) ? "&figure=1" : "") : "";
}

async function loadSummary(t) {
  if (t.summing) return;
  t.summing = true;
  while (summaryWanted(t) && t.summed !== summaryWanted(t)) {
    const asked = summaryWanted(t);
    const { key } = t;
    const summary = await json(t.page, "tensor-statistics", asked);
    if (t.key !== key || asked !== summaryWanted(t)) continue;
    t.summed = asked;
    t.summary = summary.problem ? null : summary;
    drawSummary(t);
    if (summary.figure) summary.figure.data[0].marker.color = seriesOf(t.page, t.card, t.key).colour;
    if (summary.figure) setProps(t.page.part("graph", t.card.dataset.slot), { figure: summary.figure });
    if (t.about && t.asked && !t.wanted.reason) draw(t);
  }
  t.summing = false;
}

/** @param {CardsPage} page */
function histogram(page) {
  return histograms.histogram(page);
}

function draw(t) {
  const { about } = t;
  if (about.problem) return message(t, about.problem);
  const isHistogram = histogram(t.page);
  if (about.refused && !isHistogram) return message(t, about.refused);
  if (about.shape.includes(0)) {
    return message(t, translate("tensor_grid.empty", { shape: `[${about.shape.join(", ")}]` }), "plain");
  }
  t.find("message").hidden = true;
  t.find("body").hidden = false;
  t.find("foot").hidden = isHistogram;
  return isHistogram ? undefined : drawTable(t);
}

function drawTable(t) {
  const look = { ...lookOf(t.page.state), whole: wholeNumbers(t) };
  t.values.show(t.about, t.asked, look, { largest: t.summary ? t.summary.largest : 0 });
}

// Integers may be stored as float32 in the event file.
function wholeNumbers({ about, wanted: { minus, which } }) {
  return /int/.test(about.dtype) && !(minus && which.includes("how=relative"));
}

async function nextBad(t) {
  const { index, problem } = await json(t.page, "tensor-bad", t.wanted.which + t.values.after());
  if (problem) return message(t, problem);
  if (index) t.values.goTo(index);
  return undefined;
}

// What is said about it -----------------------------------------------------------------------------------------------

function drawSummary(t) {
  const texts = t.summary ? t.summary.texts : {};
  // Omit statistics that do not exist and counts that are zero.
  const known = (name) => texts[name] && texts[name][1] !== (BAD.includes(name) ? "0" : "NaN");
  const parts = STATISTICS.filter(known).map((name) => {
    const [text, exact] = texts[name];
    const wrong = BAD.includes(name);
    const value = make("b", "", text, { title: exact });
    return make("span", `ms-tensor-stat${wrong ? " ms-wrong-text" : ""}`, [words(`tensors.${name}`), " ", value]);
  });
  if (parts.length && t.about && t.about.dtype.startsWith("complex")) {
    parts.unshift(words("tensors.of_magnitudes", {}, "span", "ms-muted"));
  }
  if (t.summary && !t.summary.bad) parts.push(words("tensors.all_finite", {}, "span", "ms-muted"));
  if (t.summary && t.summary.bad) {
    const button = make("button", "ms-badge ms-badge-wrong ms-badge-button", words("tensor_grid.next_bad"), {
      type: "button",
      "data-act": "bad",
    });
    setLabel(button, "title", "tensor_grid.next_bad.title");
    parts.push(button);
  }
  t.find("stats").replaceChildren(...parts);
}

function notesOf(t) {
  const { about } = t;
  if (histograms.overSteps(t.page)) return histograms.notes(t);
  if (!about || about.problem) return [];
  const result = [badge("tensors.shape", { shape: `[${about.shape.join(", ")}]`, dtype: about.dtype })];
  for (const part of [about, about.minus].filter(Boolean)) {
    if (part.twin) result.push(badge("tensors.twin", { name: part.twin }, "tensors.twin.title", "accent"));
    else if (part.stored) result.push(badge("tensors.stored", { dtype: part.stored }, "tensors.stored.title", "accent"));
    if (part.note) result.push(make("span", "ms-badge ms-badge-wrong", part.note));
  }
  return result;
}

export function head(t) {
  t.card.querySelector(".ms-card-notes").replaceChildren(...notesOf(t));
}

// The page ------------------------------------------------------------------------------------------------------------

/** @param {CardsPage} page */
function build(page) {
  const view = segments("tensors.view", [["table", "tensors.view.table"], ["histogram", "tensors.view.histogram"]],
    (value) => page.change({ view: value === "histogram" ? ["histogram"] : [] }));
  view.classList.add("ms-tensor-view");
  page.tensorLook = lookControls(page.change);
  return { left: [...stepping.control(page), view, ...histograms.build(page), ...page.tensorLook.elements], right: [] };
}

cards.define("tensors", {
  build,
  draw(page) {
    stepping.draw(page);
    pressSegment(page.find(".ms-tensor-view"), histogram(page) ? "histogram" : "table");
    page.tensorLook.draw(page.state);
    histograms.draw(page);
  },
  ask: () => ({}),
  tools: () => [],
  files: () => [
    ...slots.imageItems(),
    ...[
      ["npy", "shown"],
      ["csv", "shown"],
      ["npy", "all"],
      ["csv", "all"],
    ].map(([suffix, part]) =>
      make("a", "ms-menu-item", words(`tensors.save.${suffix}_${part}`), {
        "data-tensor-file": suffix,
        "data-part": part,
        download: "",
      }),
    ),
  ],
  press: () => {},
  painted(page, card, key, meta) {
    stepping.take(page, card, meta);
    return { badges: [], notes: card.tensor ? notesOf(card.tensor) : [] };
  },
  show,
  acts: {
    bad: (page, card) => nextBad(card.tensor),
    earlier: (page, card) => histograms.turn(card, -1),
    later: (page, card) => histograms.turn(card, 1),
  },
});

document.addEventListener("toggle", (event) => {
  const card = event.target instanceof Element && event.target.open && event.target.closest(".ms-slot");
  if (!card || !card.tensor || !card.tensor.wanted.which) return;
  for (const element of card.querySelectorAll("[data-tensor-file]")) {
    const { tensorFile: suffix, part } = element.dataset;
    const { which, part: dims } = card.tensor.wanted;
    element.href = address(card.tensor.page, `tensor.${suffix}`, which + (part === "all" ? "&part=all" : dims));
  }
}, true);

document.addEventListener("keydown", (event) => {
  if (event.key !== "n" || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (!(event.target instanceof Element) || takesText(event.target)) return;
  const card = event.target.closest(".ms-slot") || document.querySelector(".ms-slot.ms-full:not([hidden]), .ms-slot:hover");
  if (card && card.tensor && card.tensor.summary && card.tensor.summary.bad) nextBad(card.tensor);
});

window.addEventListener("mindscope:prefs", () => {
  for (const page of cards.all("tensors")) if (page && page.catalogue) stepping.showAll(page);
});
