// The scalars page, with one card per tag. Counterpart of layouts/pages/scalars. controls.js has the bar, tools.js a card,
// zoom.js its view, hover.js the table under the pointer, groups.js groups and baseline, table.js final values.

import { functionsOf } from "../../base/dash.js";
import { entry, last, listed } from "../../base/state.js";
import * as cards from "../../cards/cards.js";
import { MARGINS } from "../../cards/widths.js";
import * as controls from "./controls.js";
import { asked, inTable } from "./grouping.js";
import * as runGroups from "./groups.js";
import * as hover from "./hover.js";
import * as insights from "./insights.js";
import * as thresholdDialog from "./threshold.js";
import * as cardTools from "./tools.js";
import { ONE, oneChart, synthesis, thresholds } from "./view.js";
import { moved } from "./zoom.js";

const DEFAULT_AXIS = "step";

function putOn(page, side, tag) {
  const [left, right] = synthesis(page);
  const was = side === "left" ? left.includes(tag) : right.includes(tag);
  const changes = { left: left.filter((name) => name !== tag), right: right.filter((name) => name !== tag) };
  if (!was) changes[side].push(tag);
  page.change(changes);
}

function ask(page, key) {
  const { state } = page;
  const axis = last(state, "x", DEFAULT_AXIS);
  const wanted = {};
  if (key === ONE) {
    const [left, right] = synthesis(page);
    wanted.tag = left;
    if (right.length) wanted.right = right;
  }
  if (axis !== DEFAULT_AXIS) wanted.x = [axis];
  if (axis === "absolute") wanted.zone = [String(-new Date().getTimezoneOffset())];
  if (Number(last(state, "smooth", "0")) > 0) wanted.smooth = [last(state, "smooth", "0")];
  const limits = thresholds(page, key);
  if (limits.length) wanted.threshold = limits;
  Object.assign(wanted, asked(page));
  const view = entry(state, "zoom", key);
  if (view) wanted.view = [view];
  for (const flag of ["log", "every", "pan", "outliers"]) if (listed(state, flag, key)) wanted[flag] = ["1"];
  return wanted;
}

function tagsOf(page, key) {
  return key === ONE ? synthesis(page).flat() : [key];
}

const TWO_AXES = 108;  // px beside the plot area, as in layouts/figures/lines.py

cards.define("scalars", {
  margins(page, key) {
    return key === ONE && synthesis(page)[1].length ? TWO_AXES : MARGINS;
  },
  build(page) {
    page.trails = new Map();  // card key -> earlier views
    hover.build(page);
    return controls.build(page);
  },
  draw(page) {
    controls.draw(page);
    insights.draw(page);
  },
  cards(page) {
    if (inTable(page)) return [];
    if (!oneChart(page)) return null;
    return tagsOf(page, ONE).length ? [ONE] : [];
  },
  bare: (page) => inTable(page),
  sides: (page) => (oneChart(page) ? synthesis(page) : null),
  putOn,
  ask,
  title: () => "scalars.one",
  tools: () => cardTools.buttons(),
  files: () => cardTools.files(),
  press: (page, card, key) => cardTools.press(page, card, key),
  painted: (page, card, key, meta) => cardTools.painted(page, card, key, meta),
  moved: (page, card, key, change) => moved(page, key, change),
  forFile: (page, card, key, figure) => cardTools.forFile(page, key, figure),
  fileTags: tagsOf,
  fileRange: (page, key) => cardTools.fileRange(page, key),
  get acts() {
    return cardTools.acts;
  },
});

Object.assign(functionsOf("mindscope_scalars"), {
  marks(answer, rootId) {
    const page = cards.pageOf(rootId);
    if (page && answer) insights.received(page, answer);
  },

  filled(sheet, rootId) {
    const page = cards.pageOf(rootId);
    if (page && sheet) runGroups.filled(page, sheet);
  },

  judged(verdict, rootId) {
    const page = cards.pageOf(rootId);
    if (page && verdict) thresholdDialog.judged(page, verdict);
  },
});
