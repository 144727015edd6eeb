// Controls of a card of the tensors page: run, dimensions, tensor to subtract.

import { make, pressSegment, segments, words } from "../../kit/elements.js";
import { fillRuns } from "../../kit/run_select.js";
import { count } from "../../kit/units.js";
import { setLabel, translate, writeText } from "../../kit/i18n.js";
import { entry, listed, toggled } from "../../kit/state.js";
import * as stepping from "../../kit/cards/stepping.js";
import { boxGroup, drawBoxes } from "../../kit/tensor_grid/boxes.js";
import { escaped, seriesOf, setBoxes, setEntry } from "./card.js";

function field(label, control) {
  return make("label", "ms-field", [words(label, {}, "span", "ms-field-name"), control]);
}

function select(label, change) {
  const element = make("select", "ms-input");
  setLabel(element, "aria-label", label);
  element.addEventListener("change", () => change(element.value));
  return element;
}

export function build(t) {
  const { page } = t;
  const set = (name, value) => setEntry(page, name, t.key, value);
  t.run = select("tensors.run", (value) => set("of", value));
  t.minus = select("tensors.minus", (value) => {
    if (value !== "at") return set("minus", value);
    const { series, place } = t.wanted;
    return set("minus", `at.${series.steps[Math.max(0, place - 1)]}`);
  });
  t.minusStep = make("input", "ms-input ms-tensor-step", [], { type: "number", step: "1" });
  setLabel(t.minusStep, "aria-label", "tensors.minus.step");
  t.minusStep.addEventListener("change", () => {
    if (/^-?\d+$/.test(t.minusStep.value)) set("minus", `at.${t.minusStep.value}`);
  });
  t.how = segments("tensors.how", [["absolute", "tensors.how.absolute"], ["relative", "tensors.how.relative"]], (value) => {
    if ((value === "relative") !== listed(page.state, "rel", t.key)) page.change({ rel: toggled(page.state, "rel", t.key) });
  });
  t.boxes = boxGroup("tensor_grid.dims");
  t.runField = field("tensors.run", t.run);
  t.minusWith = make("span", "ms-tensor-minus-step ms-muted");
  const minus = make("span", "ms-field", [field("tensors.minus", t.minus), t.minusStep, t.minusWith, t.how]);
  const now = make("span", "ms-tensor-now");
  const dims = field("tensor_grid.dims", t.boxes);
  dims.classList.add("ms-tensor-dims");
  t.find("bar").replaceChildren(t.runField, now, dims, minus, stepping.ownSlider(page, t.card));
  t.find("foot").replaceChildren(t.readout, words("tensor_grid.keys", {}, "span", "ms-muted"));
}

function fillOrFirst(control, choices, value) {
  fillRuns(control, choices, choices.some(([name]) => name === value) ? value : choices[0][0]);
}

function drawRuns(t) {
  const series = seriesOf(t.page, t.card, t.key);
  fillOrFirst(t.run, t.card.stepped.map((one) => [escaped(one.run), one.label]), series ? escaped(series.run) : "");
  t.runField.hidden = t.card.stepped.length < 2;
}

function drawMinus(t) {
  const chosen = entry(t.page.state, "minus", t.key);
  const series = seriesOf(t.page, t.card, t.key);
  const others = t.card.stepped.filter((one) => one !== series);
  const list = [
    ["", translate("tensors.minus.nothing")],
    ["prev", translate("tensors.minus.previous")],
    ["at", translate("tensors.minus.at")],
    ...others.map((one) => [`run.${escaped(one.run)}`, translate("tensors.minus.run", { run: one.label })]),
  ];
  const atStep = chosen.startsWith("at.");
  fillOrFirst(t.minus, list, atStep ? "at" : chosen);
  t.minusStep.hidden = !atStep;
  if (atStep && document.activeElement !== t.minusStep) t.minusStep.value = chosen.slice(3);
  const { minus } = t.wanted;
  t.minusWith.hidden = !minus || minus.place < 0;
  if (!t.minusWith.hidden) writeText(t.minusWith, "step_slider.now", { step: count(minus.series.steps[minus.place]) });
  t.how.hidden = !minus;
  pressSegment(t.how, listed(t.page.state, "rel", t.key) ? "relative" : "absolute");
}

function drawNow(t) {
  const { series, place } = t.wanted;
  const element = t.find("now");
  element.hidden = !series;
  if (!series) return;
  writeText(element, "step_slider.now", { step: count(series.steps[place]) });
  element.title = new Date(series.walls[place]).toLocaleString();
}

function drawDimensions(t) {
  const { about } = t;
  if (!about || !about.shape) return;
  t.boxes.parentElement.hidden = !about.shape.length;
  drawBoxes(t.boxes, about, (boxes) => setBoxes(t, boxes));
}

export function draw(t) {
  drawRuns(t);
  drawNow(t);
  drawMinus(t);
  drawDimensions(t);
}
