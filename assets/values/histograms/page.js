// The histograms page, with one card per tag. Counterpart of layouts/values/histograms.

import { badge, icon, make, option, pressSegment, segments, select, words } from "../../kit/elements.js";
import { count, percent, short } from "../../kit/units.js";
import { setLabel, writeText } from "../../kit/i18n.js";
import { entry, last, withEntry } from "../../kit/state.js";
import { numbersOf } from "../../kit/typed_arrays.js";
import * as cards from "../../kit/cards/cards.js";
import * as histogramHover from "../../kit/cards/histogram_hover.js";
import * as histogramLegend from "../../kit/cards/histogram_legend.js";
import { isLinked } from "../../kit/cards/layout_menu.js";
import * as slots from "../../kit/cards/slots.js";
import * as zooming from "./zoom.js";

const VIEWS = ["auto", "heat", "ridge", "overlay", "step", "numbers"];
const AXES = ["step", "relative", "absolute"];
const SCALES = ["linear", "symlog", "quantile"];
const AUTO = "auto";
const COLOURS = [AUTO, "root", "log", "robust"];
/** @type {[string, string][]} */
const APART = [[AUTO, "auto"], ["0", "shared"], ["1", "apart"]];
const KINDS = ["NaN", "+Inf", "-Inf"];
const SLIDER_WAIT_MS = 40;

// The bar ------------------------------------------------------------------------------------------------------------

/** @param {Histograms.Page} page */
function build(page) {
  /** @param {HTMLElement} card */
  const figureOf = (card) => page.drawings.get(Number(card.dataset.slot)) || null;
  histogramHover.build(page, figureOf, () => isLinked(page));
  histogramLegend.listen(page, figureOf);
  /**
   * @param {string} name
   * @param {string} standard
   */
  const set = (name, standard) => (/** @type {string} */ value) => page.change({ [name]: value === standard ? [] : [value] });
  const view = segments("histograms.view", VIEWS.map((name) => [name, `histograms.${name}`]), set("view", "auto"));
  setLabel(view.children[0], "title", "histograms.auto.title");
  const axis = select("histograms.axis",
    (value) => page.change({ x: value === "step" ? [] : [value], zoom: zooming.withoutPlaces(page) }), { "data-control": "x" });
  axis.replaceChildren(...AXES.map((name) => option(name, `histograms.axis.${name}`)));
  const runs = segments("histograms.runs", [["over", "histograms.over"], ["beside", "histograms.beside"]],
    (value) => page.change({ beside: value === "beside" ? ["1"] : [] }));
  const scale = dropdown("histograms.value_scale", SCALES, (value) => {
    page.change({ scale: value === SCALES[0] ? [] : [value], zoom: zooming.withoutValues(page) });
  });
  const colour = dropdown("histograms.colour", COLOURS, set("colour", COLOURS[0]));
  const apart = segments("histograms.bins", APART.map(([value, key]) => [value, `histograms.bins.${key}`]),
    (value) => page.change({ apart: value === AUTO ? [] : [value] }));
  page.histogramControls = { view, axis, runs, scale, colour, apart };
  return { left: [view, axis, runs, scale, colour, apart], right: [] };
}

/**
 * A select with its name before it.
 * @param {string} key
 * @param {string[]} names
 * @param {(value: string) => void} choose
 */
function dropdown(key, names, choose) {
  const choice = select(`${key}.title`, choose);
  choice.replaceChildren(...names.map((name) => option(name, `${key}.${name}`)));
  return make("label", "ms-field", [words(key, {}, "span", "ms-field-name"), choice]);
}

/** @param {Histograms.Page} page */
function draw(page) {
  const { view, axis, runs, scale, colour, apart } = page.histogramControls;
  const now = last(page.state, "view", "auto");
  pressSegment(view, now);
  axis.value = last(page.state, "x", "step");
  pressSegment(runs, last(page.state, "beside", "0") === "1" ? "beside" : "over");
  runs.hidden = now !== "step";
  axis.hidden = now === "step" || now === "overlay";
  scale.querySelector("select").value = last(page.state, "scale", SCALES[0]);
  colour.querySelector("select").value = last(page.state, "colour", COLOURS[0]);
  colour.hidden = now !== "heat" && now !== "auto";
  pressSegment(apart, last(page.state, "apart", AUTO));
  const several = page.catalogue && page.catalogue.runs.length > 1;
  apart.hidden = !several || now === "numbers" || (now === "step" && last(page.state, "beside", "0") !== "1");
}

/**
 * @param {Histograms.Page} page
 * @param {string} key
 */
function ask(page, key) {
  const { state } = page;
  /** @type {Wire.Query} */
  const wanted = {};
  const view = last(state, "view", "auto");
  const axis = last(state, "x", "step");
  const at = entry(state, "at", key);
  if (view !== "auto") wanted.view = [view];
  if (axis !== "step") wanted.x = [axis];
  if (axis === "absolute") wanted.zone = [String(-new Date().getTimezoneOffset())];
  const zoom = zooming.viewOf(page, key);
  if (zoom) wanted.zoom = [zoom];
  const scale = last(state, "scale", SCALES[0]);
  const colour = last(state, "colour", COLOURS[0]);
  if (scale !== SCALES[0]) wanted.scale = [scale];
  if (colour !== COLOURS[0]) wanted.colour = [colour];
  if (last(state, "apart", AUTO) !== AUTO) wanted.apart = [last(state, "apart", AUTO)];
  if (last(state, "first", "0") !== "0") wanted.first = [last(state, "first", "0")];
  if (view === "step" && at) wanted.at = [at];
  if (view === "step" && last(state, "beside", "0") === "1") wanted.beside = ["1"];
  if (state.hide) wanted.hide = state.hide;
  return wanted;
}

/**
 * What a card says that has been drawn.
 * @param {Histograms.Page} page
 * @param {HTMLElement} card
 */
function metaOf(page, card) {
  const { layout } = /** @type {Histograms.Figure} */ (page.drawings.get(Number(card.dataset.slot)));
  return layout.meta;
}

// What a card says ---------------------------------------------------------------------------------------------------

/**
 * @param {Histograms.Page} page
 * @param {HTMLElement} card
 * @param {string} key
 * @param {Wire.HistogramMeta} meta
 */
function painted(page, card, key, meta) {
  drawSlider(page, card, key, meta);
  histogramLegend.draw(card, meta);
  drawNote(page, card, meta);
  histogramHover.refresh(page, card);
  return { badges: warnings(card, meta), notes: notes(page, meta) };
}

/**
 * @param {HTMLElement} card
 * @param {Wire.HistogramMeta} meta
 */
function warnings(card, meta) {
  const result = [];
  const bad = KINDS.flatMap((name, at) => (meta.bad[at] > 0 ? `${count(meta.bad[at])} ${name}` : []));
  if (bad.length) {
    const element = make("span", "ms-badge ms-badge-wrong", bad.join(" · "));
    setLabel(element, "title", "histograms.bad.title");
    result.push(element);
  }
  if (meta.empty) result.push(badge("histograms.empty", { n: count(meta.empty) }, "histograms.empty.title", "wrong"));
  if (meta.unread) result.push(opener(card, "histograms.unread", meta.unread, meta.reason));
  if (meta.damaged) result.push(opener(card, "histograms.damaged", meta.damaged, meta.problem));
  return result;
}

/**
 * A badge that toggles its explanation.
 * @param {HTMLElement} card
 * @param {string} key
 * @param {number} n
 * @param {string} title
 */
function opener(card, key, n, title) {
  return make("button", "ms-badge ms-badge-wrong ms-badge-button", words(key, { n: count(n) }),
    { type: "button", "data-act": "damage", "aria-expanded": String(card.dataset.damage === card.dataset.key), title });
}

/**
 * Explanation of damage: shown at once if nothing can be drawn, else on request.
 * @param {Histograms.Page} page
 * @param {HTMLElement} card
 * @param {Wire.HistogramMeta} meta
 */
function drawNote(page, card, meta) {
  const note = card.querySelector(".ms-histogram-note");
  const nothing = meta.unread > 0 && meta.panels.every((panel) => numbersOf(panel.step).length === 0);
  card.classList.toggle("ms-histogram-nothing", nothing);
  note.hidden = !nothing && card.dataset.damage !== card.dataset.key;
  /** @type {[string, number, string][]} */
  const said = [
    ["histograms.unread.first", meta.unread, meta.reason],
    ["histograms.damaged.first", meta.damaged, meta.problem],
  ];
  note.replaceChildren(...said.filter(([, n]) => n).map(([key, n, text]) => words(key, { n: count(n), text }, "p")));
  if (!note.childElementCount) note.hidden = true;
}

/**
 * @param {Histograms.Page} page
 * @param {HTMLElement} card
 * @param {string} key
 * @param {HTMLElement} button
 */
function toggleNote(page, card, key, button) {
  card.dataset.damage = card.dataset.damage === key ? "" : key;
  button.setAttribute("aria-expanded", String(card.dataset.damage === key));
  drawNote(page, card, metaOf(page, card));
}

/**
 * @param {Histograms.Page} page
 * @param {Wire.HistogramMeta} meta
 */
function notes(page, meta) {
  const result = [];
  result.push(...outside(meta));
  if (meta.shown < meta.runs) result.push(...histogramLegend.pager(meta));
  const one = meta.runs === 1 && page.catalogue.runs.length > 1;
  if (one) result.push(...meta.panels.map((panel) => histogramLegend.named(panel)));
  if (meta.view !== "step" && meta.drawn < meta.steps) {
    result.push(
      badge("histograms.shown", { drawn: count(meta.drawn), steps: count(meta.steps) }, "histograms.shown.title", "accent"),
    );
  } else if (meta.view !== "step") {
    result.push(badge(meta.steps === 1 ? "histograms.steps_one" : "histograms.steps", { n: count(meta.steps) }));
  }
  if (meta.scale) result.push(...scale(meta, meta.scale));
  if (meta.newest && meta.shown === 1) result.push(newest(meta.newest));
  return result;
}

/**
 * Number of values outside of the drawn range, and a button to show all.
 * @param {Wire.HistogramMeta} meta
 */
function outside(meta) {
  if (meta.limits === "all") return [];
  let [values, steps] = [0, 0];
  for (const panel of meta.panels) {
    const away = numbersOf(panel.outside);
    for (let row = 0; row < away.length; row += 2) {
      const both = away[row] + away[row + 1];
      values += both;
      steps += both > 0 ? 1 : 0;
    }
  }
  if (!values) return [];
  const said = badge(
    "histograms.outside",
    { n: values < 10 || values > 1e12 ? short(values) : count(Math.round(values)), steps: count(steps) },
    "histograms.outside.title",
    "accent",
  );
  return [said, make("button", "ms-badge ms-badge-button", words("histograms.whole"), { type: "button", "data-act": "whole" })];
}

/**
 * @param {Histograms.Page} page
 * @param {HTMLElement} card
 * @param {number} by
 */
function turn(page, card, by) {
  histogramLegend.turn(page, metaOf(page, card), by);
}

/**
 * Legend of colours: shares in a heat map, else oldest to newest step.
 * @param {Wire.HistogramMeta} meta
 * @param {Wire.ColourScale} colours
 */
function scale(meta, colours) {
  const steps = meta.panels.flatMap((panel) => Array.from(numbersOf(panel.step)));
  if (!steps.length) return [];
  const ends = meta.view === "heat" ? ["0 %", `${colours.more ? "≥ " : ""}${percent(colours.most)}`]
    : [steps.reduce((a, b) => Math.min(a, b)), steps.reduce((a, b) => Math.max(a, b))].map(count);
  const bar = make("span", "ms-histogram-scale", [], { "aria-hidden": "true" });
  const stops = colours.stops.map(([at, colour]) => `${colour} ${100 * at}%`);
  bar.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
  const whole = make("span", "ms-badge ms-badge-plain", [`${ends[0]} `, bar, ` ${ends[1]}`]);
  setLabel(whole, "title", meta.view === "heat" ? "histograms.scale.shares" : "histograms.scale.steps");
  return [whole];
}

/** @param {Wire.NewestStep} facts */
function newest(facts) {
  if (facts.mean === undefined) return badge("histograms.newest.bad", { step: count(facts.step), n: count(facts.total) });
  /** @param {number | null | undefined} value */
  const four = (value) => (value === null || value === undefined ? "?" : short(value));
  return badge("histograms.newest", {
    step: count(facts.step), min: four(facts.min), max: four(facts.max), mean: four(facts.mean), n: count(facts.total),
  });
}

// The step slider of the view of one step ----------------------------------------------------------------------------

/**
 * Positions as in the state: a step, or "step~n" for one that was recorded again later.
 * @param {Wire.HistogramMeta} meta
 */
export function positions(meta) {
  const steps = meta.choices ? Array.from(numbersOf(meta.choices)) : [];
  let nth = 0;
  return steps.map((step, at) => {
    nth = at && steps[at - 1] === step ? nth + 1 : 1;
    const newest = steps[at + 1] !== step;
    const of = steps.filter((one) => one === step).length;
    return { step, nth, of, text: newest ? `${step}` : `${step}~${nth}` };
  });
}

/**
 * Index of a position, or of the last one before it; of the newest if text is empty.
 * @param {Histograms.SliderPosition[]} list
 * @param {string} text
 */
function indexOf(list, text) {
  const exact = list.findIndex((position) => position.text === text);
  if (exact >= 0) return exact;
  const step = text ? Number(text.split("~")[0]) : Infinity;
  return Math.max(0, list.findLastIndex((position) => position.step <= step));
}

/**
 * @param {HTMLElement} host
 * @param {Histograms.SliderPosition} position
 */
function sayPosition(host, { step, nth, of }) {
  const output = host.querySelector(".ms-histogram-at");
  writeText(output, of > 1 ? "histograms.again" : "histograms.once", { step: count(step), nth, of });
  if (of > 1) setLabel(output, "title", "histograms.again.title", { of });
  else output.removeAttribute("title");
}

/**
 * @param {Histograms.Page} page
 * @param {HTMLElement} card
 * @param {string} key
 * @param {Wire.HistogramMeta} meta
 */
function drawSlider(page, card, key, meta) {
  /** @type {Histograms.SliderHost} */
  const host = card.querySelector(".ms-histogram-step");
  const list = positions(meta);
  host.hidden = list.length === 0;
  card.classList.toggle("ms-with-step", !host.hidden);
  if (host.hidden) return;
  let slider = host.querySelector("input");
  if (!slider || slider.dataset.key !== key) {
    slider = make("input", "ms-slider", [], { type: "range", min: "0", step: "1" });
    slider.dataset.key = key;
    setLabel(slider, "aria-label", "histograms.slider");
    setLabel(slider, "title", "histograms.slider");
    let timer = 0;
    slider.addEventListener("input", () => {
      const position = host.positions[Number(slider.value)];
      sayPosition(host, position);
      const newestOne = Number(slider.value) === host.positions.length - 1;
      const text = newestOne ? "" : position.text;
      window.clearTimeout(timer);
      // Linked cards have one stepper.
      timer = window.setTimeout(() => page.change({
        at: isLinked(page) ? (text ? [`${text}:*`] : []) : withEntry(page.state, "at", key, text),
      }), SLIDER_WAIT_MS);
    });
    /** @param {number} by */
    const step = (by) => {
      slider.value = String(Number(slider.value) + by);
      slider.dispatchEvent(new Event("input"));
    };
    const [back, on] = [["left", "previous", -1], ["right", "next", 1]].map(([shape, name, by]) => {
      const button = make("button", "ms-button ms-button-icon", icon(String(shape)), { type: "button" });
      for (const attribute of ["title", "aria-label"]) setLabel(button, attribute, `histograms.${name}`);
      button.addEventListener("click", () => step(Number(by)));
      return button;
    });
    host.replaceChildren(
      words("histograms.axis.step", {}, "span", "ms-muted"),
      back,
      slider,
      on,
      make("output", "ms-histogram-at ms-number"),
    );
  }
  host.positions = list;
  slider.max = String(list.length - 1);
  if (document.activeElement === slider && entry(page.state, "at", key)) return;
  const index = indexOf(list, entry(page.state, "at", key));
  slider.value = String(index);
  sayPosition(host, list[index]);
}

cards.define("histograms", {
  build,
  draw,
  ask,
  painted,
  tools: () => zooming.buttons(),
  press: (page, card, key) => zooming.press(page, card, key),
  moved: (page, card, key, change) => zooming.moved(page, card, key, change),
  linked: (page, on) => zooming.linked(page, on),
  acts: {
    back: (page, card, key) => zooming.acts.back(page, card, key),
    restore: (page, card, key) => zooming.acts.restore(page, card, key),
    whole: (page, card, key) => zooming.acts.whole(page, card, key),
    earlier: (page, card) => turn(page, card, -1),
    later: (page, card) => turn(page, card, 1),
    damage: toggleNote,
  },
  files: () => [...slots.imageItems(), ...slots.links([["histograms.csv", "histograms.csv"]])],
});
