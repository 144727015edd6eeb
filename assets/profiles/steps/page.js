// The steps page: controls, choice of step, zoom. Counterpart of layouts/profiles/steps.

import { functionsOf, noUpdate } from "../../kit/dash.js";
import { badge, icon, iconButton, make, menu, pressSegment, segments, words } from "../../kit/elements.js";
import { count } from "../../kit/units.js";
import { setLabel, translate, writeText } from "../../kit/i18n.js";
import { notYet } from "../../kit/pages.js";
import { formatQuery } from "../../kit/state.js";
import * as plots from "../plots.js";
import * as profiling from "../profiles.js";
import { zoom } from "../zooming.js";

const FIGURES = ["bars", "trends", "streams"];
const MANY_STREAMS = 8;

/** @returns {Omit<StepTimes.Page, keyof Profiles.Page>} */
const fields = () => ({
  units: notYet, traces: notYet, average: notYet, previous: notYet, next: notYet, number: notYet, stepping: notYet,
  outliersLabel: notYet, outliers: notYet, all: notYet, timeline: notYet, files: notYet, filesOf: "", facts: null, bars: null,
});

/** @param {StepTimes.Page} page */
function build(page) {
  const measures = ["time", "share"].map((value) => [value, `steps.measure.${value}`]);
  page.units = segments("steps.measure", measures, (unit) => page.change({ unit: unit === "time" ? [] : [unit] }));
  page.traces = make("select", "ms-input", [], {});
  for (const name of ["title", "aria-label"]) setLabel(page.traces, name, "steps.trace");
  page.traces.addEventListener("change", () => page.change({ trace: [page.traces.value], step: [], from: [], to: [] }));
  page.average = make("button", "ms-button", words("steps.average"), { type: "button", "data-pick": "average" });
  page.average.addEventListener("click", () => pick(page, null));
  page.previous = iconButton("left", "steps.previous", "previous");
  page.previous.addEventListener("click", () => pick(page, page.facts.previous));
  page.next = iconButton("right", "steps.next", "next");
  page.next.addEventListener("click", () => pick(page, page.facts.next));
  page.number = make("input", "ms-input ms-breakdown-number", [], { type: "number", step: "1" });
  setLabel(page.number, "aria-label", "steps.step");
  page.number.addEventListener("change", () =>
    pick(page, page.number.value === "" ? null : Math.trunc(Number(page.number.value))),
  );
  const step = make("label", "ms-field", [words("steps.step", {}, "span", "ms-field-name"), page.number]);
  page.stepping = make("span", "ms-pager", [page.previous, step, page.next]);
  page.outliersLabel = make("span");
  page.outliers = menu(make("summary", "ms-button", [page.outliersLabel, icon("down")]), []);
  setLabel(page.outliers.querySelector("summary"), "title", "composition.outliers_tip");
  page.all = make("button", "ms-button", [icon("zoom"), words("steps.all")], { type: "button" });
  page.all.addEventListener("click", () => page.change({ from: [], to: [] }));
  page.timeline = make("a", "ms-button", [icon("timeline"), words("steps.timeline")], { "data-page": "timeline" });
  const summary = make("summary", "ms-button", [icon("download"), make("span", "", "CSV"), icon("down")]);
  page.files = menu(summary, []);
  page.find(".ms-breakdown-bar-tools").replaceChildren(
    page.average, page.stepping, page.outliers, page.all, make("span", "ms-grow"), page.timeline,
    page.traces, page.units, page.files);
  plots.furnish(page);
  plots.watch(page);
}

/**
 * Choose a step, or null for the average; ignore steps that do not exist.
 * @param {StepTimes.Page} page
 * @param {number | null} step
 */
function pick(page, step) {
  if (step === undefined) return;
  if (step !== null && !Number.isFinite(step)) return;
  page.change({ step: step === null ? [] : [String(step)] });
}

/** @param {StepTimes.Page} page */
function draw(page) {
  pressSegment(page.units, profiling.get(page, "unit", "time"));
  plots.drawFull(page);
  page.all.hidden = !profiling.get(page, "to");
  /**
   * @param {string} frame
   * @param {string} key
   */
  const item = (frame, key) => make("a", "ms-menu-item", words(key), { href: plots.csv(page, frame), download: "" });
  const items = [
    ["steps", "steps.csv"],
    ["reduces", "steps.csv_reduces"],
  ].filter(([frame]) => page.profile.frames.includes(frame));
  const wanted = JSON.stringify([items, plots.csv(page, "")]);
  if (page.filesOf !== wanted) {
    page.filesOf = wanted;
    page.files.querySelector(".ms-menu-items").replaceChildren(...items.map(([frame, key]) => item(frame, key)));
  }
}

/**
 * The link to the picked step on the timeline.
 * @param {StepTimes.Page} page
 */
function drawTimeline(page) {
  const { step } = page.facts;
  page.timeline.hidden = step === null || !page.profile.frames.includes("trace");
  if (page.timeline.hidden) return;
  const { run, profile, state } = page;
  const query = formatQuery({
    ...(state.run ? { run: state.run } : {}), of: [run.key], session: [profile.session], rank: [String(profile.rank)],
    step: [String(step)],
  });
  page.timeline.dataset.query = query;
  page.timeline.href = `${page.root.dataset.routes.replace(/api\/$/, "")}timeline?${query}`;
}

function traceName([, form, device]) {
  const name = translate(`steps.trace.${form}`);
  return device < 0 ? name : `${name} · ${translate("steps.device", { n: device })}`;
}

/** @param {StepTimes.Page} page */
function drawFacts(page) {
  const { facts } = page;
  const none = !facts.traces.length;
  page.find(".ms-breakdown-bar-tools").hidden = none || !facts.total;
  if (none) return;
  page.traces.hidden = facts.traces.length < 2;
  page.traces.replaceChildren(...facts.traces.map((one) => make("option", "", traceName(one), { value: one[0] })));
  page.traces.value = facts.trace;
  page.average.setAttribute("aria-pressed", String(facts.step === null));
  page.stepping.hidden = facts.first === null;
  page.previous.disabled = facts.previous === null;
  page.next.disabled = facts.next === null;
  page.number.min = String(facts.first ?? "");
  page.number.max = String(facts.last ?? "");
  if (document.activeElement !== page.number) page.number.value = String(facts.step ?? "");
  drawOutliers(page);
  drawTimeline(page);
}

/** @param {StepTimes.Page} page */
function drawOutliers(page) {
  const { outliers, outliers_total: total } = page.facts;
  page.outliers.hidden = !total;
  if (!total) return;
  writeText(page.outliersLabel, "composition.outliers", { n: count(total) });
  /** @type {HTMLElement[]} */
  const items = outliers.map(({ step, long, text: [english, chinese] }) => {
    const both = make("span", "t", [
      make("span", "en", english, { lang: "en" }),
      make("span", "zh", chinese, { lang: "zh-CN" }),
    ]);
    const mark = make("span", long ? "ms-breakdown-long" : "ms-breakdown-short", long ? "▼ " : "▲ ", { "aria-hidden": "true" });
    const button = make("button", "ms-menu-item", [mark, both], { type: "button" });
    button.addEventListener("click", () => { page.outliers.open = false; pick(page, step); });
    return button;
  });
  const left = total - outliers.length;
  if (left > 0) items.push(words("composition.outliers_more", { n: count(left) }, "p", "ms-muted ms-breakdown-more"));
  page.outliers.querySelector(".ms-menu-items").replaceChildren(...items);
}

/** @param {StepTimes.Page} page */
function drawBadges(page, bars, streams) {
  const badges = [];
  if (bars) {
    const { bin, total, beyond, unsound } = bars.layout.meta;
    if (bin > 1) badges.push(badge("steps.binned", { n: count(bin), total: count(total) }, "steps.binned_tip", "accent"));
    if (beyond) badges.push(badge("steps.beyond", { n: count(beyond) }));
    if (unsound) badges.push(badge("composition.word.unknown", {}, null, "wrong"));
  }
  page.find('[data-plot="bars"] .ms-card-badges').replaceChildren(...badges);
  const host = page.find('[data-plot="streams"]');
  page
    .find(".ms-breakdown-row")
    .classList.toggle("ms-breakdown-many", Boolean(streams) && streams.layout.meta.streams > MANY_STREAMS);
  if (!streams) return;
  const { boxes, marks } = streams.layout.meta;
  const notes = [badge("steps.step_n", { n: count(page.facts.streams_of) })];
  if (boxes < marks) notes.push(badge("steps.merged", { n: count(marks), boxes: count(boxes) }, null, "accent"));
  host.querySelector(".ms-card-badges").replaceChildren(...notes);
  host.style.setProperty("--ms-rows", String(streams.layout.meta.streams + 1));
}

const pageOf = profiling.define("steps", { fields, build, draw });

Object.assign(functionsOf("mindscope_steps"), {
  painted(...values) {
    const rootId = values[FIGURES.length + 1];
    const facts = values[FIGURES.length];
    const page = pageOf(rootId);
    const nothing = FIGURES.map(() => noUpdate());
    if (!page || !facts) return nothing;
    Object.assign(page, { facts, bars: values[0] });
    drawFacts(page);
    drawBadges(page, values[0], values[2]);
    return FIGURES.map((name, at) => plots.place(page, name, values[at]));
  },

  /** @param {string} rootId */
  picked(click, rootId) {
    const page = pageOf(rootId);
    const point = click && click.points && click.points[0];
    if (!page || !point || !page.bars) return;
    // A bar of several steps stands for its outlier.
    const roleOf = (one) => (page.bars.data[one.curveNumber] || { meta: {} }).meta.role;
    const { customdata } = click.points.find((one) => ["long", "short"].includes(roleOf(one))) || point;
    if (Number.isFinite(customdata) && customdata >= 0) pick(page, customdata);
  },

  /** @param {string} rootId */
  moved(change, rootId) {
    const page = pageOf(rootId);
    if (page && change) zoom(page, change);
  },
});

plots.keys("ms-breakdown", (found, event) => {
  const page = pageOf(found.root.id);
  if (!page || !page.facts || (event.key !== "ArrowLeft" && event.key !== "ArrowRight")) return false;
  const step = event.key === "ArrowLeft" ? page.facts.previous : page.facts.next;
  if (step === null || page.find(".ms-breakdown-bar-tools").hidden) return false;
  pick(page, step);
  return true;
});
