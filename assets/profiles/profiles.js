// What all pages about a profile or a job share: choosing run, job, rank, group and step, the progress of reading, missing
// files. Counterpart of layouts/profiles/body.py; what it has in common with other subjects is kit/body.js. A page calls
// define(name, { fields(page), build(page), draw(page) }). It has state, run and profile (what is chosen), against
// ({ run, profile } to compare with, or null), ranks (those of the job, by rank), reading, change({ key: [...] }),
// find(selector) and store(part).

import { bodies, compareButton, drawElsewhere, fill, get, listOf, look, numberTexts, pageLink } from "../kit/body.js";
import { setProps } from "../kit/dash.js";
import { make, select } from "../kit/elements.js";
import { drawProgress } from "../kit/progress.js";
import { count } from "../kit/units.js";
import { translate, translations, writeText } from "../kit/i18n.js";
import { nearest, numberPicker } from "../kit/number_picker.js";
import { notYet } from "../kit/pages.js";
import { busy } from "../kit/page_parts.js";
import { fillRuns } from "../kit/run_select.js";
import { same } from "../kit/state.js";
import { bookOf, chosenOf, nameOf, ranksOf, runsOf } from "./jobs.js";
import { groupPicker } from "./pickers.js";

export { get };

// Which profile -----------------------------------------------------------------------------------------------------

/**
 * Whether a profile has any frame that the page shows.
 * @param {Profiles.Page} page
 * @param {Profiles.Profile} profile
 */
const serves = (page, profile) => page.frames.some((name) => profile.frames.includes(name));

/**
 * Choose what the state names; false if there is no profile.
 * @param {Profiles.Page} page
 */
function choose(page) {
  page.jobBook = bookOf(page.catalogue);
  page.entries = page.jobBook.all;
  const asked = { of: get(page, "of"), session: get(page, "session"), rank: get(page, "rank") };
  const chosen = chosenOf(page.jobBook, asked, (profile) => serves(page, profile));
  page.run = chosen ? chosen.run : notYet;
  page.profile = chosen ? chosen.profile : notYet;
  page.ranks = chosen ? ranksOf(page.jobBook, chosen.profile.job) : [];
  const against = againstOf(page);
  page.against = against && chosen !== against && serves(page, against.profile) ? against : null;
  return Boolean(chosen);
}

/**
 * The profile to compare with that the address names, or the first one of the run that it names; undefined for none.
 * @param {Profiles.Page} page
 */
function againstOf(page) {
  const name = get(page, "with");
  return page.jobBook.named.get(name) || page.entries.find((one) => one.run.key === name && other(page, one));
}

/**
 * The run that the address names and that has no profile, or the profile to compare with that is not there; "" for none.
 * @param {Profiles.Page} page
 */
function unknownOf(page) {
  const [of, against] = [get(page, "of"), get(page, "with")];
  if (of !== "" && !page.catalogue.runs.some((run) => run.key === of)) return of;
  return page.compared && against !== "" && !againstOf(page) ? against : "";
}

/**
 * The profile of a rank of the chosen job, { run, profile }; undefined if the job lacks it.
 * @param {Profiles.Page} page
 * @param {number} rank
 */
export const memberOf = (page, rank) => page.jobBook.jobs.get(page.profile.job)?.byRank.get(rank);

/**
 * What to call a rank.
 * @param {number} rank
 */
export const rankName = (rank) => rank < 0 ? translate("profiling.all_ranks") : translate("profiling.rank_n", { n: rank });

/**
 * The attributes of a link to a page about a profile of this page, { run, profile }, with further state of that page.
 * Group and step of the job go with it if that page keeps them.
 * @param {Profiles.Page} page
 * @param {string} name
 * @param {Profiles.Entry} entry
 * @param {Wire.Query} [more]
 */
export function linkTo(page, name, entry, more = {}) {
  const { run, profile } = entry;
  return pageLink(name, [run.key], { ...addressOf({ run, profile }), ...more });
}

/**
 * Open another page about a profile, as a press on a link does.
 * @param {Profiles.Page} page
 * @param {string} name
 * @param {Profiles.Entry} entry
 * @param {Wire.Query} [more]
 */
export function open(page, name, entry, more = {}) {
  const link = make("a", "", [], linkTo(page, name, entry, more));
  link.hidden = true;
  page.root.append(link);
  link.click();
  link.remove();
}

/**
 * The state that names a profile; rank: the one to keep if the job has it.
 * @param {Profiles.Entry} entry
 * @param {string} [rank]
 */
function addressOf({ run, profile }, rank = "") {
  return { of: [run.key], session: [profile.session], rank: [rank || String(profile.rank)] };
}

/**
 * The state that chooses a job: its lead, or the rank chosen so far. Groups and steps are those of a job.
 * @param {Profiles.Page} page
 * @param {string} name
 */
function toJob(page, name) {
  const change = addressOf(ranksOf(page.jobBook, name)[0], get(page, "rank"));
  return page.choices.length > 1 ? { ...change, group: [], step: [] } : change;
}

/** @param {Profiles.Entry} entry */
function shown({ run, profile }) {
  const session = profile.session === "." ? "" : ` · ${profile.session}`;
  return `${run.name}${session} · ${rankName(profile.rank)}`;
}

/**
 * Whether a profile can be compared with the chosen one: another one, or of another job on a page without a choice of ranks.
 * @param {Profiles.Page} page
 * @param {Profiles.Entry} entry
 */
const other = (page, entry) => serves(page, entry.profile)
  && (page.ranked ? entry.profile !== page.profile : entry.profile.job !== page.profile.job);

/**
 * The profile to compare with first: the next rank of the job, else what comes first of the other jobs.
 * @param {Profiles.Page} page
 */
function firstOther(page) {
  return (page.ranked && page.ranks.find((one) => one.profile.rank > page.profile.rank && other(page, one)))
    || (page.ranked && page.ranks.find((one) => other(page, one)))
    || page.entries.find((one) => other(page, one));
}

/**
 * The jobs to compare with, by name.
 * @param {Profiles.Page} page
 */
const othersOf = (page) => [...page.jobBook.jobs.values()].filter((job) => job.members.some((one) => other(page, one)));

/**
 * The mark of what a page shows of a profile: of its files, or of those of all ranks if the page shows frames of the job.
 * @param {Profiles.Page} page
 * @param {Profiles.Profile} profile
 */
const markOf = (page, profile) => page.ofJob ? profile.whole : profile.mark;

/** @param {Profiles.Page} page */
function wantedOf(page) {
  const { run, profile } = page;
  /** @type {Wire.Query} */
  const found = {
    run: [run.key], session: [profile.session], rank: [String(profile.rank)], mark: [markOf(page, profile)],
  };
  if (page.against) {
    const { run: other, profile: second } = page.against;
    Object.assign(found, {
      with_run: [other.key],
      with_session: [second.session],
      with_rank: [String(second.rank)],
      with_mark: [markOf(page, second)],
    });
  }
  return found;
}

// Controls ----------------------------------------------------------------------------------------------------------

const RANK = numberTexts("profiling", "rank");
const STEP = { ...numberTexts("profiling", "step"), none: "profiling.step_mean" };

/**
 * Whether a rank can be chosen on a page.
 * @param {HTMLElement} root
 */
const isRanked = (root) => listOf(root.dataset.choices).includes("rank");

/**
 * @param {HTMLElement} root
 * @param {Profiles.Page} page
 */
function controlsOf(root, page) {
  const tip = isRanked(root) ? "profiling.compare.tip" : "profiling.compare.tip_job";
  return {
    compare: compareButton("profiling", tip, () => {
      const first = page.against ? undefined : firstOther(page);
      page.change({ with: first ? [nameOf(first)] : [] });
    }),
    run: select("profiling.run", (key) => page.change({ of: [key], session: [] })),
    job: select("profiling.job", (name) => page.change(toJob(page, name))),
    rank: numberPicker(RANK, rankName, (rank) => {
      const entry = rank === null ? undefined : memberOf(page, rank);
      if (entry) page.change(addressOf(entry));
    }),
    group: groupPicker(`${root.id}-groups`, (group) => page.change({ group: group ? [group] : [] })),
    step: numberPicker(STEP, (step) => translate("profiling.step_n", { n: count(step) }),
      (step) => page.change({ step: step === null ? [] : [String(step)] })),
    with: select("profiling.with", (name) => against(page, name, page.profile.rank)),
    withRank: numberPicker(RANK, rankName, (rank) => {
      if (page.against && rank !== null) against(page, page.against.profile.job, rank);
    }),
  };
}

/** @param {Profiles.Page} page */
function barOf({ controls, device, left, tools }) {
  const { run, job, rank, group, step, compare, with: other, withRank } = controls;
  return [
    run, job, rank.element, device, group.element, step.element, compare, other, withRank.element, left,
    make("span", "ms-grow"), tools,
  ];
}

/**
 * Compare with a rank of a job, or with the one nearest to it that can be.
 * @param {Profiles.Page} page
 * @param {string} name
 * @param {number} rank
 */
function against(page, name, rank) {
  const able = ranksOf(page.jobBook, name).filter((one) => other(page, one));
  const found = able[nearest(able.map((one) => one.profile.rank), rank)];
  if (found) page.change({ with: [nameOf(found)] });
}

/**
 * Offer groups and steps of the job to choose from, as the page's part of the server tells them
 * (parsers/analysis/jobs/job_choices.py).
 * @param {Profiles.Page} page
 * @param {{ groups: [string, string][], steps: number[] } | null} offered
 */
export function offer(page, offered) {
  page.offered = offered || { groups: [], steps: [] };
  drawOffered(page);
}

/** @param {Profiles.Page} page */
function drawOffered(page) {
  const { groups, steps } = page.offered;
  page.controls.group.draw(page.choices.includes("group") ? groups : [], get(page, "group"));
  const step = get(page, "step");
  page.controls.step.draw(page.choices.includes("step") ? steps : [], step === "" ? null : Number(step));
}

/** @param {Profiles.Page} page */
function drawControls(page) {
  const { controls, run, profile, jobBook: book } = page;
  const lead = page.ranks[0].run;
  fillRuns(controls.run, runsOf(book), lead.key);
  const jobs = [...book.jobs.values()].filter((one) => one.members[0].run === lead);
  fill(controls.job, jobs.map((one) => [one.name, one.title]), profile.job);
  controls.rank.draw(page.ranked ? numbersOf(page.ranks) : [], profile.rank, absentRank(page));
  drawOffered(page);
  page.device.textContent = profile.rank < 0 ? rankName(profile.rank) : profile.device;
  page.device.hidden = !page.device.textContent;
  const able = page.compared && Boolean(firstOther(page));
  controls.compare.hidden = !able;
  controls.compare.setAttribute("aria-pressed", String(Boolean(page.against)));
  if (page.against) {
    const { job } = page.against.profile;
    fillRuns(controls.with, othersOf(page).map((one) => [one.name, jobName(page, one)]), job);
    const ranks = page.ranked ? numbersOf(ranksOf(book, job).filter((one) => other(page, one))) : [];
    controls.withRank.draw(ranks, page.against.profile.rank);
  } else controls.withRank.draw([], null);
  controls.with.hidden = !page.against;
  if (run.total > run.listed) {
    page.left.hidden = false;
    writeText(page.left, "profiling.first_of", { n: count(run.listed), total: count(run.total) });
  }
}

/**
 * The rank in the address, if the chosen job lacks it; null otherwise.
 * @param {Profiles.Page} page
 */
function absentRank(page) {
  const asked = get(page, "rank");
  const here = get(page, "of") === "" || page.ranks.some((one) => one.run.key === get(page, "of"));
  return here && asked !== "" && Number.isInteger(Number(asked)) && Number(asked) !== page.profile.rank ? Number(asked) : null;
}

/** @param {Profiles.Entry[]} members */
const numbersOf = (members) => members.map((one) => one.profile.rank);

/**
 * What to call a job to compare with; one with a single rank to compare with has no choice of ranks, so that one is named.
 * @param {Profiles.Page} page
 * @param {Profiles.Job} job
 */
function jobName(page, { title, members }) {
  const [one, another] = page.ranked ? members.filter((entry) => other(page, entry)) : [];
  const parts = [members[0].run.name, title === "." ? "" : title, one && !another ? rankName(one.profile.rank) : ""];
  return parts.filter(Boolean).join(" · ");
}

// States ------------------------------------------------------------------------------------------------------------

/**
 * The last answer about reading if it belongs to the current selection.
 * @param {Profiles.Page} page
 */
function current(page) {
  const { reading, profile, run } = page;
  const here = reading && profile && same(reading.of, [run.key, profile.session, profile.rank, markOf(page, profile)]);
  return here ? reading : null;
}

/** @param {Profiles.Page} page */
function stateOf(page) {
  const reading = current(page);
  if (reading && reading.state === "missing") return "missing";
  return page.asked || (reading && reading.state === "ready") ? "" : "opening";
}

/**
 * @param {Profiles.Page} page
 * @param {string} name
 */
function drawState(page, name) {
  const reading = current(page);
  page.find(".ms-body-content").classList.toggle("ms-body-behind", name === "" && reading?.state !== "ready");
  drawProgress(page.find(".ms-body-status"), reading, (more) => {
    if (more.cancel) setProps(page.store("cancel"), { data: { ...page.wanted, turn: [String(Date.now())] } });
    else look(page, more);
  }, { bytes: true, ranks: page.ofJob ? numbersOf(page.ranks).filter((rank) => rank >= 0).length : 1 });
  if (name === "missing") drawMissing(page);
}

/**
 * Write a text whose values are in the language of the text.
 * @param {HTMLElement} element
 * @param {string} key
 * @param {(language: number) => Record<string, string>} valuesIn
 */
function writeBoth(element, key, valuesIn) {
  const parts = translations(key, {}).map((text, language) => {
    const filled = text.replace(/\{(\w+)\}/g, (whole, name) => valuesIn(language)[name] ?? whole);
    return make("span", language ? "zh" : "en", filled, { lang: language ? "zh-CN" : "en" });
  });
  element.replaceChildren(make("span", "t", parts));
}

/** @param {Profiles.Page} page */
function drawMissing(page) {
  const { wanted = [], which, torch = false } = current(page) || {};
  const profile = which && page.against ? page.against.profile : page.profile;
  const title = translations(page.root.dataset.title || "");
  const lacks = page.find(".ms-profiling-lacks");
  const said = which ? "profiling.lacks_with" : "profiling.lacks";
  writeBoth(lacks, torch ? "profiling.lacks_torch" : said, (language) => ({ page: title[language] }));
  for (const part of [".ms-recording", ".ms-profiling-files"]) page.find(`[data-state="missing"] ${part}`).hidden = torch;
  const traced = page.find(".ms-profiling-traced");
  traced.hidden = !profile.frames.includes("trace") || !document.querySelector(".ms-shell");
  const address = linkTo(page, "timeline", which && page.against ? page.against : { run: page.run, profile });
  for (const [name, value] of Object.entries(address)) traced.querySelector("a").setAttribute(name, value);
  const or = translations("profiling.or");
  writeBoth(page.find(".ms-profiling-wanted"), wanted.length ? "profiling.needs" : "profiling.needs_other",
    (language) => ({ wanted: wanted.join(or[language]) }));
  writeText(page.find(".ms-profiling-found"), profile.more ? "profiling.found_more" : "profiling.found",
    { files: filesOf(profile).join(", "), n: count(profile.more) });
  const able = page.entries.filter((one) => one.run === page.run && serves(page, one.profile)).slice(0, 8);
  drawElsewhere(page, "missing", "profiling", able.map((one) => (
    { text: shown(one), act: () => page.change(addressOf(one)) })));
}

/**
 * The names of files of a rank: its kind has `_*` for `_<rank>`.
 * @param {Profiles.Profile} profile
 */
const filesOf = ({ files, rank }) => files.map((name) => name.replaceAll("_*", `_${rank}`));

/**
 * What a page is about once everything is read.
 * @param {Profiles.Page} page
 * @param {boolean} fresh
 * @returns {Wire.Query | null}
 */
function askOf(page, fresh) {
  const read = fresh ? null : current(page);
  return read && read.state === "ready" ? { ...page.wanted, frames: read.frames || [] } : null;
}

/** @type {Body.Subject<Profiles.Page>} */
const PROFILES = {
  name: "profiling",
  forgets: ["session", "rank"],
  fields: (root, page) => ({
    run: notYet, profile: notYet, against: null, frames: listOf(root.dataset.frames), ranked: isRanked(root),
    ofJob: root.dataset.whole === "1", offered: { groups: [], steps: [] }, jobBook: notYet, entries: [], ranks: [],
    controls: controlsOf(root, page), device: make("span", "ms-badge"), nameOfLine: null,
  }),
  controls: barOf,
  choose,
  unknownOf,
  wantedOf,
  drawControls,
  stateOf,
  drawState,
  damageOf: current,
  askOf,
  isReady: (page) => page.chosen,
  isUnfinished(page) {
    const reading = current(page);
    return reading ? busy(reading) : false;
  },
};

/** `pageOf` knows what all pages have; a page finds its own record by what `define` returns. */
export const { define, pages, pageOf } = bodies(PROFILES);
