// The page about two jobs: choice of value, bars, sections. Counterpart of layouts/jobs/two_jobs.

import { functionsOf, noUpdate } from "../../kit/dash.js";
import { fillSelect, iconButton, pressSegment, segments, select, takesText } from "../../kit/elements.js";
import { count } from "../../kit/units.js";
import { translate, writeText } from "../../kit/i18n.js";
import { showPlainHtml } from "../../kit/plain_html.js";
import { nameOf } from "../../profiles/jobs.js";
import * as plots from "../../profiles/plots.js";
import * as profiling from "../../profiles/profiles.js";

/**
 * @param {TwoJobs.Page} page
 * @returns {Omit<TwoJobs.Page, keyof Profiles.Page>}
 */
function fields(page) {
  return {
    metric: select("two_jobs.metric", (metric) => page.change({ metric: [metric] })),
    by: segments("two_jobs.by", [["group", "two_jobs.by.group"], ["rank", "two_jobs.by.rank"]],
      (value) => page.change({ by: value === "group" ? [] : [value] })),
    swap: iconButton("swap", "two_jobs.swap", "swap"),
  };
}

/** @param {TwoJobs.Page} page */
function build(page) {
  plots.furnish(page, () => []);
  page.find('[data-plot="ranks"] .ms-card-head').insertBefore(page.metric, page.find('[data-plot="ranks"] .ms-card-tools'));
  page.find('[data-card="operations"] .ms-two-jobs-tools').append(page.by);
  page.swap.addEventListener("click", () => swap(page));
  page.tools.append(page.swap);
  plots.watch(page);
}

/**
 * The first profile of the next job that has something to compare, as the state names it; null for none.
 * @param {TwoJobs.Page} page
 */
function nextJob(page) {
  for (const { name, members } of page.jobBook.jobs.values()) {
    const found = members.find(({ profile }) => page.frames.some((frame) => profile.frames.includes(frame)));
    if (found && name !== page.profile.job) return nameOf(found);
  }
  return null;
}

/** @param {TwoJobs.Page} page */
function swap(page) {
  if (!page.against) return;
  const { run, profile } = page.against;
  const now = nameOf({ run: page.run, profile: page.profile });
  page.change({ of: [run.key], session: [profile.session], rank: [String(profile.rank)], with: [now], step: [] });
}

/** @param {TwoJobs.Page} page */
function draw(page) {
  plots.drawFull(page);
  page.controls.compare.hidden = true;
  page.swap.hidden = !page.against;
  pressSegment(page.by, profiling.get(page, "by", "group"));
  // Two jobs are what this page is about: the next one is chosen at once.
  const second = page.against || !page.profile ? null : nextJob(page);
  if (second) page.change({ with: [second] });
  const two = Boolean(page.against || second);
  page.find(".ms-two-jobs-none").hidden = two;
  page.find(".ms-two-jobs-cards").hidden = !two;
}

const pageOf = profiling.define("two_jobs", { fields, build, draw });

/**
 * @param {TwoJobs.Figure | null} figure
 * @param {TwoJobs.Facts | null} facts
 * @param {string} rootId
 */
function painted(figure, facts, rootId) {
  const page = pageOf(rootId);
  if (!page || !facts) return noUpdate();
  for (const [name, content] of Object.entries(facts.sections)) showPlainHtml(page.find(`[data-section="${name}"]`), content);
  fillSelect(page.metric, facts.metrics.map((name) => [name, translate(`two_jobs.metric.${name}`)]), facts.metric);
  profiling.offer(page, facts.offers);
  const status = page.find(".ms-two-jobs-status");
  const { ranks, drawn, alike } = figure ? figure.layout.meta : { ranks: 0, drawn: 0, alike: false };
  if (!figure) writeText(status, "two_jobs.undrawn");
  else if (alike) writeText(status, "two_jobs.alike");
  else if (drawn < ranks) writeText(status, "two_jobs.drawn", { n: count(drawn), total: count(ranks) });
  else writeText(status, "two_jobs.sorted");
  page.find('[data-plot="ranks"]').classList.toggle("ms-two-jobs-undrawn", !figure);
  if (figure) return plots.place(page, "ranks", figure);
  page.find('[data-plot="ranks"]').classList.remove("ms-breakdown-drawn");
  return noUpdate();
}

/**
 * A press on a bar opens that rank.
 * @param {{ points?: { customdata: unknown }[] } | null} click
 * @param {string} rootId
 */
function picked(click, rootId) {
  const page = pageOf(rootId);
  const point = page && click && click.points && click.points[0];
  const entry = point ? profiling.memberOf(page, Number(point.customdata)) : null;
  if (page && entry) profiling.open(page, "profile_overview", entry);
}

Object.assign(functionsOf("mindscope_two_jobs"), { painted, picked });

plots.keys("ms-two-jobs", (/** @type {TwoJobs.Page} */ page, event) => {
  if (event.key !== "x" || takesText(event.target)) return false;
  swap(page);
  return true;
});
