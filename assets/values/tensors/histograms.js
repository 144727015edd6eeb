// The histogram view of the tensors page: one step of a run with all statistics, or the steps of all chosen runs in the views
// of the histograms page. The server computes histograms on request, so a card asks again until none is pending. State: hist
// (the view, "auto" by default), x (the axis of steps), hide and first (runs left out, and the first one shown).

import { setProps } from "../../kit/dash.js";
import { badge, make, pressSegment, segments } from "../../kit/elements.js";
import { count } from "../../kit/units.js";
import { setLabel, translate } from "../../kit/i18n.js";
import { last } from "../../kit/state.js";
import * as histogramHover from "../../kit/cards/histogram_hover.js";
import * as histogramLegend from "../../kit/cards/histogram_legend.js";
import { json, message } from "./card.js";

const VIEWS = ["auto", "heat", "ridge", "overlay", "numbers", "step"];
const AXES = ["step", "relative", "absolute"];
const KINDS = ["NaN", "+Inf", "-Inf"];

/** @param {CardsPage} page */
export function histogram(page) {
  return last(page.state, "view", "") === "histogram";
}

/** @param {CardsPage} page */
export function overSteps(page) {
  return histogram(page) && last(page.state, "hist", "auto") !== "step";
}

// Controls ----------------------------------------------------------------------------------------------------------

/** @param {CardsPage} page */
export function build(page) {
  const set = (name, standard) => (value) => page.change({ [name]: value === standard ? [] : [value] });
  const view = segments("histograms.view", VIEWS.map((name) => [name, `histograms.${name}`]), set("hist", "auto"));
  setLabel(view.children[0], "title", "histograms.auto.title");
  const axis = segments("histograms.axis", AXES.map((name) => [name, `histograms.axis.${name}`]), set("x", "step"));
  view.classList.add("ms-tensor-hist");
  page.tensorHistogram = { view, axis };
  const figureOf = (card) => (card.tensor && overSteps(page) ? card.tensor.over.figure : null);
  histogramHover.build(page, figureOf);
  histogramLegend.listen(page, figureOf);
  return [view, axis];
}

/** @param {CardsPage} page */
export function draw(page) {
  const { view, axis } = page.tensorHistogram;
  const now = last(page.state, "hist", "auto");
  pressSegment(view, now);
  pressSegment(axis, last(page.state, "x", "step"));
  view.hidden = !histogram(page);
  axis.hidden = !overSteps(page) || now === "overlay";
  page.root.classList.toggle("ms-view-histogram", histogram(page));
  page.root.classList.toggle("ms-view-steps", overSteps(page));
}

// The figure --------------------------------------------------------------------------------------------------------

export function fresh() {
  return { figure: null, asked: "", answered: "", problem: "", loading: false };
}

function query(t) {
  const { state, asks } = t.page;
  const wanted = new URLSearchParams();
  for (const [name, values] of Object.entries(asks[Number(t.card.dataset.slot)] || {})) {
    values.forEach((value) => wanted.append(name, value));
  }
  const axis = last(state, "x", "step");
  wanted.append("view", last(state, "hist", "auto"));
  wanted.append("x", axis);
  if (axis === "absolute") wanted.append("zone", String(-new Date().getTimezoneOffset()));
  for (const run of state.hide || []) wanted.append("hide", run);
  if (last(state, "first", "0") !== "0") wanted.append("first", last(state, "first", "0"));
  return wanted.toString();
}

export function show(t) {
  const { over } = t;
  // The address does not change when steps are added.
  over.asked = `${query(t)} ${t.card.stepped.map((one) => one.steps.length).join()}`;
  if (over.answered === over.asked && !over.problem) paint(t);
  else load(t);
}

async function load(t) {
  const { over, key } = t;
  if (over.loading) return;
  over.loading = true;
  over.problem = "";
  let before = Infinity;
  while (t.over === over && overSteps(t.page) && over.answered !== over.asked) {
    const { asked } = over;
    const answer = await json(t.page, "tensor-histograms", asked.split(" ")[0]);
    if (t.over !== over || t.key !== key) return;
    if (over.asked !== asked) before = Infinity;
    else {
      over.problem = answer.problem || "";
      if (!over.problem) over.figure = answer;
      const waiting = over.problem ? 0 : answer.layout.meta.waiting;
      if (!waiting || waiting >= before) over.answered = asked;
      before = waiting;
      if (overSteps(t.page)) paint(t);
    }
  }
  over.loading = false;
}

function paint(t) {
  const { figure, problem } = t.over;
  t.drawHead();
  if (problem) return message(t, problem);
  for (const [name, hidden] of [["message", true], ["body", false], ["foot", true]]) t.find(name).hidden = hidden;
  if (t.over.painted !== figure) {
    t.over.painted = figure;
    setProps(t.page.part("graph", t.card.dataset.slot), { figure });
  }
  histogramLegend.draw(t.card, figure.layout.meta);
  return histogramHover.refresh(t.page, t.card);
}

/** Show the runs before or after those of a card. */
export function turn(card, by) {
  const { page, over } = card.tensor;
  histogramLegend.turn(page, over.figure.layout.meta, by);
}

function withTitle(element, text) {
  element.title = text;
  return element;
}

// Notes for the head of a card.
export function notes(t) {
  const { figure, problem } = t.over;
  if (!figure || problem) return [];
  const { meta } = figure.layout;
  const result = [];
  if (meta.shown < meta.runs) result.push(...histogramLegend.pager(meta));
  if (meta.waiting) result.push(badge("tensors.waiting", { n: count(meta.waiting) }, "tensors.waiting.title", "accent"));
  if (meta.drawn < meta.steps) {
    result.push(
      badge("histograms.shown", { drawn: count(meta.drawn), steps: count(meta.steps) }, "histograms.shown.title", "accent"),
    );
  } else result.push(badge("histograms.steps", { n: count(meta.steps) }));
  const bad = KINDS.map((name, at) => [name, meta.bad[at]]).filter(([, n]) => n > 0).map(([name, n]) => `${count(n)} ${name}`);
  if (bad.length) {
    result.push(withTitle(make("span", "ms-badge ms-badge-wrong", bad.join(" · ")), translate("histograms.bad.title")));
  }
  if (meta.unread) result.push(withTitle(badge("histograms.unread", { n: count(meta.unread) }, null, "wrong"), meta.reason));
  if (meta.problem) result.push(withTitle(badge("tensors.damaged", {}, null, "wrong"), meta.problem));
  return result;
}
