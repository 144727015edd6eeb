// What all pages about a profile or a job share: choosing run, job, rank, group and step, the progress of reading, missing
// files. Counterpart of layouts/profiles/body.py. A page calls define(name, { build(page), draw(page) }): build runs once,
// draw after every change of the state, the catalogue or the reading. A page has state, run and profile (what is chosen),
// against ({ run, profile } to compare with, or null), ranks (those of the job, by rank), reading, change({ key: [...] }),
// find(selector) and store(part).

import { listDamage } from "../kit/damage.js";
import { functionsOf, noUpdate, setProps } from "../kit/dash.js";
import { fillSelect, icon, make, select, words } from "../kit/elements.js";
import { count, size } from "../kit/units.js";
import { setLabel, translate, translations, writeText } from "../kit/i18n.js";
import { nearest, numberPicker } from "../kit/number_picker.js";
import { keeper, notYet } from "../kit/pages.js";
import { currentPrefs } from "../kit/prefs.js";
import { formatQuery, last, same } from "../kit/state.js";
import { bookOf, chosenOf, nameOf, ranksOf, runsOf } from "./jobs.js";
import { groupPicker } from "./pickers.js";

const AGAIN_MS = 400;
/** @type {Map<string, Profiles.Kind<Profiles.Page>>} */
const kinds = new Map();

/**
 * Register a page by its name. Returns the function that finds such a page on screen by the id of its root.
 * @template {Profiles.Page} Own
 * @param {string} name
 * @param {Profiles.Kind<Own>} kind
 * @returns {(rootId: string) => Own | null}
 */
export function define(name, kind) {
  const known = /** @type {Profiles.Kind<Profiles.Page>} */ (kind);
  kinds.set(name, known);
  return (rootId) => {
    const page = kept.pageOf(rootId);
    // Only `fields` of this kind has made the record.
    return page && page.kind === known ? /** @type {Own} */ (page) : null;
  };
}

/**
 * @param {HTMLElement} root
 * @param {Profiles.Page} page
 * @returns {OwnFields<Profiles.Page>}
 */
function fresh(root, page) {
  const choices = (root.dataset.choices || "").split(" ").filter(Boolean);
  const kind = kinds.get(root.dataset.page || "") || {};
  return {
    catalogue: notYet, run: notYet, profile: notYet, against: null, reading: null, wanted: null, asked: null, kind, choices,
    frames: (root.dataset.frames || "").split(" "), keys: (root.dataset.keys || "").split(" ").filter(Boolean),
    ranked: choices.includes("rank"), ofJob: root.dataset.whole === "1", offered: { groups: [], steps: [] },
    jobBook: notYet, entries: [], ranks: [], controls: controlsOf(root, page), left: make("span", "ms-muted"),
    device: make("span", "ms-badge"), tools: make("span", "ms-toolbar ms-profiling-tools"), turn: 0, timer: 0,
    ...(kind.fields ? kind.fields(page) : {}),
  };
}

const kept = keeper(fresh, (page) => {
  build(page);
  if (page.kind.build) page.kind.build(page);
});

/**
 * A page on screen by the id of its root, for pages whose record is not declared; the others take what `define` returns.
 * @type {(rootId: string) => UndeclaredFields}
 */
export const pageOf = kept.pageOf;

/**
 * @param {Profiles.Page} page
 * @param {string} key
 * @param {string} [fallback]
 */
export function get(page, key, fallback = "") {
  return last(page.state, key, fallback);
}

// Which profile -----------------------------------------------------------------------------------------------------

/**
 * Whether a profile has any frame that the page shows.
 * @param {Profiles.Page} page
 * @param {Profiles.Profile} profile
 */
const serves = (page, profile) => page.frames.some((name) => profile.frames.includes(name));

/** @param {Profiles.Page} page */
function choose(page) {
  page.jobBook = bookOf(page.catalogue);
  page.entries = page.jobBook.all;
  const asked = { of: get(page, "of"), session: get(page, "session"), rank: get(page, "rank") };
  const chosen = chosenOf(page.jobBook, asked, (profile) => serves(page, profile));
  page.run = chosen ? chosen.run : notYet;
  page.profile = chosen ? chosen.profile : notYet;
  page.ranks = chosen ? ranksOf(page.jobBook, chosen.profile.job) : [];
  const against = page.jobBook.named.get(get(page, "with"));
  page.against = against && chosen !== against && serves(page, against.profile) ? against : null;
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
  const query = formatQuery({ of: [run.key], session: [profile.session], rank: [String(profile.rank)], ...more });
  return { href: `${name}?${formatQuery({ run: [run.key] })}&${query}`, "data-page": name, "data-query": query };
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

/** @type {{ label: string, previous: string, next: string, absent: string, total: string }} */
const RANK = {
  label: "profiling.rank", previous: "profiling.rank_previous", next: "profiling.rank_next", absent: "profiling.rank_absent",
  total: "profiling.of_total",
};
const STEP = {
  label: "profiling.step", previous: "profiling.step_previous", next: "profiling.step_next", absent: "profiling.step_absent",
  total: "profiling.of_total",
  none: "profiling.step_mean",
};

/**
 * @param {HTMLElement} root
 * @param {Profiles.Page} page
 */
function controlsOf(root, page) {
  const compare = make("button", "ms-button", [icon("compare"), words("profiling.compare")], {
    type: "button", "aria-pressed": "false",
  });
  return {
    compare,
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
function build(page) {
  const { controls } = page;
  const { compare } = controls;
  setLabel(compare, "title", page.ranked ? "profiling.compare.tip" : "profiling.compare.tip_job");
  compare.addEventListener("click", () => {
    const first = page.against ? undefined : firstOther(page);
    page.change({ with: first ? [nameOf(first)] : [] });
  });
  page
    .find(".ms-profiling-bar")
    .replaceChildren(
      controls.run,
      controls.job,
      controls.rank.element,
      page.device,
      controls.group.element,
      controls.step.element,
      compare,
      controls.with,
      controls.withRank.element,
      page.left,
      make("span", "ms-grow"),
      page.tools,
    );
  const status = page.find(".ms-profiling-status");
  status.querySelector('[data-act="cancel"]').addEventListener("click", () => {
    setProps(page.store("cancel"), { data: { ...wantedOf(page), turn: [String(Date.now())] } });
  });
  status.querySelector('[data-act="again"]').addEventListener("click", () => look(page, { again: ["1"] }));
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
 * (layouts/profiles/job_choices.py).
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

/**
 * Ask for the progress of reading.
 * @param {Profiles.Page} page
 * @param {Wire.Query} more
 */
function look(page, more) {
  if (!page.root.isConnected || !page.profile) return;
  page.turn = (page.turn || 0) + 1;
  setProps(page.store("wanted"), { data: { ...wantedOf(page), ...more, turn: [String(page.turn)] } });
}

/**
 * @param {HTMLSelectElement} control
 * @param {[string, string][]} choices
 * @param {string} chosen
 */
function fill(control, choices, chosen) {
  fillSelect(control, choices, chosen);
  control.hidden = choices.length < 2;
}

/** @param {Profiles.Page} page */
function drawControls(page) {
  const { controls, run, profile, jobBook: book } = page;
  const lead = page.ranks[0].run;
  fill(controls.run, runsOf(book), lead.key);
  const jobs = [...book.jobs.values()].filter((one) => one.members[0].run === lead);
  fill(controls.job, jobs.map((one) => [one.name, one.title]), profile.job);
  controls.rank.draw(page.ranked ? numbersOf(page.ranks) : [], profile.rank, absentRank(page));
  drawOffered(page);
  page.device.textContent = profile.rank < 0 ? rankName(profile.rank) : profile.device;
  page.device.hidden = !page.device.textContent;
  const able = page.root.dataset.compared === "1" && Boolean(firstOther(page));
  controls.compare.hidden = !able;
  controls.compare.setAttribute("aria-pressed", String(Boolean(page.against)));
  if (page.against) {
    const { job } = page.against.profile;
    fill(controls.with, othersOf(page).map((one) => [one.name, jobName(page, one)]), job);
    const ranks = page.ranked ? numbersOf(ranksOf(book, job).filter((one) => other(page, one))) : [];
    controls.withRank.draw(ranks, page.against.profile.rank);
  } else controls.withRank.draw([], null);
  controls.with.hidden = !page.against;
  const total = page.catalogue.left;
  page.left.hidden = !total && run.total <= run.listed;
  if (run.total > run.listed) {
    writeText(page.left, "profiling.first_of", { n: count(run.listed), total: count(run.total) });
  } else if (total) writeText(page.left, "profiling.left", { n: count(total) });
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
  const { catalogue } = page;
  if (!catalogue.chosen) return "no-runs";
  if (!page.profile) return catalogue.waiting ? "loading" : catalogue.damage.length ? "damaged" : "none";
  const reading = current(page);
  if (!reading) return page.asked ? "" : "opening";
  if (reading.state === "missing") return "missing";
  return reading.state === "ready" || page.asked ? "" : "opening";
}

/** @param {Profiles.Page} page */
function showState(page) {
  const name = stateOf(page);
  for (const element of page.root.querySelectorAll("[data-state]")) element.hidden = element.dataset.state !== name;
  const content = page.find(".ms-profiling-content");
  content.hidden = name !== "";
  const behind = name === "" && current(page)?.state !== "ready";
  content.classList.toggle("ms-profiling-behind", behind);
  page.find(".ms-profiling-bar").hidden = !page.profile;
  if (name === "damaged") listDamage(page.root, page.catalogue.damage);
  drawStatus(page);
  if (name === "missing") drawMissing(page);
  const elsewhere = name === "none" ? page.catalogue.elsewhere : [];
  /** @param {Wire.KeyAndName} name */
  const press = ({ key, name: title }) => {
    const button = make("button", "ms-button ms-cut", title, { type: "button", title });
    button.addEventListener("click", () => page.change({ run: [key], of: [], session: [], rank: [] }));
    return button;
  };
  page.find('[data-state="none"] .ms-profiling-elsewhere').replaceChildren(
    ...(elsewhere.length ? [words("profiling.elsewhere", {}, "span", "ms-muted"), ...elsewhere.map(press)] : []));
}

/** @param {Profiles.Page} page */
function drawStatus(page) {
  const status = page.find(".ms-profiling-status");
  const reading = current(page);
  const state = reading ? reading.state : "ready";
  status.hidden = !["reading", "waiting", "cancelled", "failed"].includes(state);
  if (status.hidden || !reading) return;
  const { done = 0, total = 0 } = reading;
  const text = status.querySelector(".ms-profiling-text");
  const key = state === "reading" && (!done || done >= total) ? "preparing" : state;
  writeText(text, `profiling.${key}`, { done: size(done), total: size(total), text: reading.text || "" });
  text.classList.toggle("ms-profiling-wrong", state === "failed");
  const busy = state === "reading" || state === "waiting";
  const progress = status.querySelector("progress");
  progress.hidden = !busy;
  progress.value = total ? done / total : 0;
  status.querySelector('[data-act="cancel"]').hidden = !busy;
  status.querySelector('[data-act="again"]').hidden = busy;
  if (busy) {
    window.clearTimeout(page.timer);
    page.timer = window.setTimeout(() => look(page, {}), AGAIN_MS);
  }
}

/** @param {Profiles.Page} page */
function drawMissing(page) {
  const { wanted = [], which } = current(page) || {};
  const profile = which && page.against ? page.against.profile : page.profile;
  /** @param {number} language */
  const listed = (language) => wanted.join(translations("profiling.or")[language]);
  const title = translations(page.root.dataset.title || "");
  const texts = translations(which ? "profiling.needs_with" : "profiling.needs", {});
  const filled = texts.map((one, language) => one.replace("{page}", title[language]).replace("{wanted}", listed(language)));
  const parts = filled.map((one, language) => make("span", language ? "zh" : "en", one, { lang: language ? "zh-CN" : "en" }));
  page.find(".ms-profiling-wanted").replaceChildren(make("span", "t", parts));
  writeText(page.find(".ms-profiling-found"), profile.more ? "profiling.found_more" : "profiling.found",
    { files: filesOf(profile).join(", "), n: count(profile.more) });
  const able = page.entries.filter((one) => one.run === page.run && serves(page, one.profile)).slice(0, 8).map((one) => {
    const button = make("button", "ms-button ms-cut", shown(one), { type: "button" });
    button.addEventListener("click", () => page.change(addressOf(one)));
    return button;
  });
  page.find('[data-state="missing"] .ms-profiling-elsewhere').replaceChildren(
    ...(able.length ? [words("profiling.elsewhere", {}, "span", "ms-muted"), ...able] : []));
}

/**
 * The names of files of a rank: its kind has `_*` for `_<rank>`.
 * @param {Profiles.Profile} profile
 */
const filesOf = ({ files, rank }) => files.map((name) => name.replaceAll("_*", `_${rank}`));

/** @param {Profiles.Page} page */
function drawDamage(page) {
  const host = page.find(".ms-profiling-damage");
  const reading = current(page);
  if (!host || !reading) return;
  const { problems, more } = reading;
  host.hidden = !problems.length;
  // At the foot of a page the list opens below the window.
  host.ontoggle = () => host.open && host.querySelector(".ms-popover").scrollIntoView({ block: "nearest" });
  writeText(host.querySelector("summary"), "profiling.damaged_n", { n: count(problems.length + more) });
  host.querySelector(".ms-popover").replaceChildren(
    ...problems.map(({ path, text }) => make("p", "", [make("span", "ms-mono", path), " ", text])));
}

// Called by Dash ----------------------------------------------------------------------------------------------------

Object.assign(functionsOf("mindscope_profiling"), {
  /**
   * @param {Wire.Query | null} state
   * @param {Wire.ProfileCatalogue | null} catalogue
   * @param {Wire.Reading | null} reading
   * @param {unknown} _prefs
   * @param {string} rootId
   */
  plan(state, catalogue, reading, _prefs, rootId) {
    const page = kept.pageOf(rootId);
    if (!page || !catalogue) return noUpdate();
    Object.assign(page, { state: state || {}, catalogue, reading });
    choose(page);
    let fresh = false;
    if (page.profile) {
      drawControls(page);
      const wanted = wantedOf(page);
      fresh = !same(wanted, page.wanted);
      page.wanted = wanted;
      if (fresh) look(page, {});
    }
    /** @type {Wire.Query | NoUpdate} */
    let ask = noUpdate();
    const read = fresh ? null : current(page);
    if (read && read.state === "ready") {
      /** @type {Wire.Query} */
      const next = { ...page.wanted, frames: read.frames || [] };
      for (const key of page.keys) if ((page.state[key] || []).length) next[key] = page.state[key];
      if (currentPrefs().theme === "dark") next.theme = ["dark"];
      if (!same(next, page.asked)) ask = page.asked = next;
    }
    showState(page);
    drawDamage(page);
    if (page.kind.draw && page.profile) page.kind.draw(page);
    return ask;
  },
});
