// The scalars page, with one card per tag. Counterpart of layouts/curves/scalars. controls.js has the bar, tools.js a card,
// zoom.js its view, hover.js the table under the pointer, groups.js groups and baseline, table.js final values.

import { functionsOf } from "../../kit/dash.js";
import { last, listed } from "../../kit/state.js";
import * as cards from "../../kit/cards/cards.js";
import { MARGINS } from "../../kit/cards/widths.js";
import "./every_point.js";
import * as controls from "./controls.js";
import * as derived from "./derived.js";
import { asked, inTable } from "./grouping.js";
import * as runGroups from "./groups.js";
import * as hover from "./hover.js";
import * as insights from "./insights.js";
import * as judging from "./judging.js";
import * as ranking from "./ranking.js";
import * as runList from "./run_list.js";
import * as cardTools from "./tools.js";
import { ONE, oneChart, synthesis, thresholds } from "./view.js";
import { linked, moved, viewOf } from "./zoom.js";

const DEFAULT_AXIS = "step";

/**
 * @param {Curves.Page} page
 * @param {"left" | "right"} side
 * @param {string} tag
 */
function putOn(page, side, tag) {
  const [left, right] = synthesis(page);
  const was = side === "left" ? left.includes(tag) : right.includes(tag);
  /** @type {Record<string, string[]>} */
  const changes = { left: left.filter((name) => name !== tag), right: right.filter((name) => name !== tag) };
  if (!was) changes[side].push(tag);
  page.change(changes);
}

/**
 * @param {Curves.Page} page
 * @param {string} key
 */
function ask(page, key) {
  const { state } = page;
  const axis = last(state, "x", DEFAULT_AXIS);
  /** @type {Wire.Query} */
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
  const view = viewOf(page, key);
  if (view) wanted.view = [view];
  if (state.hide) wanted.hide = state.hide;
  for (const flag of ["log", "every", "pan", "outliers"]) if (listed(state, flag, key)) wanted[flag] = ["1"];
  return wanted;
}

/**
 * @param {Curves.Page} page
 * @param {string} key
 */
function tagsOf(page, key) {
  return key === ONE ? synthesis(page).flat() : [key];
}

const TWO_AXES = 108;  // px beside the plot area, as in layouts/curves/lines.py

/**
 * @param {Curves.Page} page
 * @returns {Omit<Curves.Page, keyof CardsPage> & Pick<Curves.Page, "trails" | "runList">}
 */
const fields = (page) => ({
  extended: null, strict: insights.levels(page), marked: null, marks: [], digests: [], looked: 0, askingAgain: 0,
  rankings: 0, ranking: null, judgings: 0, sheetAsk: null, sheet: null, tableDrawn: null, matrixDrawn: null, hoverBefore: null,
  trails: new Map(),
  runList: runList.fresh(page),
});

cards.define("scalars", {
  catalogue: (page, catalogue) => derived.extended(page, catalogue),
  tagTools: (page) => [derived.adder(page)],
  margins(page, key) {
    return key === ONE && synthesis(page)[1].length ? TWO_AXES : MARGINS;
  },
  fields,
  build(page) {
    hover.build(page);
    runList.build(page);
    return controls.build(page);
  },
  draw(page) {
    controls.draw(page);
    insights.draw(page);
    ranking.draw(page);
    window.setTimeout(() => page.root.isConnected && runList.draw(page), 0);  // once the slots have their cards
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
  tools: (key) => cardTools.buttons(key),
  files: () => cardTools.files(),
  press: (page, card, key) => cardTools.press(page, card, key),
  painted: (page, card, key, meta) => cardTools.painted(page, card, key, meta),
  moved: (page, card, key, change) => moved(page, key, change),
  linked,
  ranked: (page) => ranking.ranks(page),
  forFile: (page, card, key, figure) => cardTools.forFile(page, key, figure),
  fileTags: tagsOf,
  fileRange: (page, key) => cardTools.fileRange(page, key),
  get acts() {
    return cardTools.acts;
  },
});

Object.assign(functionsOf("mindscope_scalars"), {
  /**
   * @param {Curves.Marks | null} answer
   * @param {string} rootId
   */
  marks(answer, rootId) {
    const page = cards.pageNamed("scalars", rootId);
    if (page && answer) insights.received(page, answer);
  },

  /**
   * @param {Curves.Judged | null} answer
   * @param {string} rootId
   */
  judging(answer, rootId) {
    const page = cards.pageNamed("scalars", rootId);
    if (page && answer) judging.received(page, answer);
  },

  /**
   * @param {Curves.RankingAnswer | null} answer
   * @param {string} rootId
   */
  ranking(answer, rootId) {
    const page = cards.pageNamed("scalars", rootId);
    if (page && answer) ranking.received(page, answer);
  },

  /**
   * @param {Curves.Sheet | null} sheet
   * @param {string} rootId
   */
  filled(sheet, rootId) {
    const page = cards.pageNamed("scalars", rootId);
    if (page && sheet) runGroups.filled(page, sheet);
  },

  /**
   * @param {Curves.Verdict | null} verdict
   * @param {string} rootId
   */
  judged(verdict, rootId) {
    const page = cards.pageNamed("scalars", rootId);
    if (page && verdict && page.threshold) page.threshold.judged(verdict);
  },
});
