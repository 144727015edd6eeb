// What all pages about a profile share: choosing run, session and rank, the progress of reading, and missing files. Counterpart
// of layouts/profiling/body.py. A page calls define(name, { build(page), draw(page) }): build runs once, draw after every
// change of the state, the catalogue or the reading. A page has state, profile (the chosen entry of the catalogue), against,
// reading, change({ key: [...] }), find(selector) and store(part).

import { listDamage } from "../base/damage.js";
import { functionsOf, noUpdate, setProps } from "../base/dash.js";
import { fillSelect, icon, make, select, words } from "../base/elements.js";
import { count } from "../base/format.js";
import { setLabel, translate, translations, writeText } from "../base/i18n.js";
import { keeper } from "../base/pages.js";
import { currentPrefs } from "../base/prefs.js";
import { last, same } from "../base/state.js";

const AGAIN_MS = 400;
const MB = 1e6;
const kinds = new Map();

export function define(name, kind) {
  kinds.set(name, kind);
}

export const { pageOf } = keeper((root) => ({
  catalogue: null, run: null, profile: null, against: null, reading: null, wanted: null, asked: null,
  kind: kinds.get(root.dataset.page) || {},
  frames: root.dataset.frames.split(" "),
  keys: root.dataset.keys.split(" ").filter(Boolean),
}), (page) => {
  build(page);
  if (page.kind.build) page.kind.build(page);
});

export function get(page, key, fallback = "") {
  return last(page.state, key, fallback);
}

// Which profile -----------------------------------------------------------------------------------------------------

// Whether a profile has any frame that the page shows.
const serves = (page, profile) => page.frames.some((name) => profile.frames.includes(name));

function choose(page) {
  page.all = page.catalogue.runs.flatMap((run) => run.profiles.map((profile) => ({ run, profile })));
  const asked = { of: get(page, "of"), session: get(page, "session"), rank: get(page, "rank") };
  const chosen = chosenOf(page.all, asked, (profile) => serves(page, profile));
  page.run = chosen ? chosen.run : null;
  page.profile = chosen ? chosen.profile : null;
  page.ranks = chosen ? ranksOf(page.all, chosen.profile.job) : [];
  page.others = others(page);
  const name = get(page, "with");
  page.against = name ? page.others.find((one) => one.name === name) || null : null;
}

// The profiles of one job by rank, in whatever runs and sessions they are.
export function ranksOf(all, job) {
  return all.filter((one) => one.profile.job === job).sort((a, b) => a.profile.rank - b.profile.rank);
}

// Of all profiles ({ run, profile }) the one asked for by run, session and rank. By default the newest job that serves the
// page, and its lowest rank; a rank that the job has stands above a session, which names one of its directories.
export function chosenOf(all, { of, session, rank }, serving) {
  const run = (all.find((one) => one.run.key === of) || all.find((one) => serving(one.profile)) || all[0] || {}).run;
  const own = all.filter((one) => one.run === run);
  const named = own.find((one) => one.profile.session === session);
  const newest = {};
  for (const { profile } of all) newest[profile.job] = Math.max(newest[profile.job] || 0, profile.updated);
  const best = (list, ...keys) => list.slice().sort((a, b) => {
    const key = keys.find((one) => one(a) !== one(b));
    return key ? key(b) - key(a) : 0;
  })[0] || null;
  const serves = (one) => Number(serving(one.profile));
  const job = (named || best(own, serves, (one) => newest[one.profile.job]) || { profile: {} }).profile.job;
  return best(
    ranksOf(all, job),
    (one) => Number(rank !== "" && String(one.profile.rank) === rank),
    (one) => Number(Boolean(named) && one.profile.session === session && one.run === run),
    serves,
  );
}

const entryName = ({ run, profile }) => nameOf(run, profile);

// The state that names a profile; rank: the one to keep if the job has it.
function addressOf({ run, profile }, rank = "") {
  return { of: [run.key], session: [profile.session], rank: [rank || String(profile.rank)] };
}

function nameOf(run, profile) {
  return `${run.key}|${profile.session}|${profile.rank}`;
}

function shown(run, profile) {
  const session = profile.session === "." ? "" : ` · ${profile.session}`;
  return `${run.name}${session} · ${translate("profiling.rank_n", { n: profile.rank })}`;
}

function others(page) {
  const own = page.profile ? nameOf(page.run, page.profile) : "";
  const all = page.all.map((one) => ({ ...one, name: entryName(one) }));
  return all.filter((one) => one.name !== own && serves(page, one.profile));
}

function wantedOf(page) {
  const found = {
    run: [page.run.key], session: [page.profile.session], rank: [String(page.profile.rank)], mark: [page.profile.mark],
  };
  if (page.against) {
    const { run, profile } = page.against;
    Object.assign(found, {
      with_run: [run.key],
      with_session: [profile.session],
      with_rank: [String(profile.rank)],
      with_mark: [profile.mark],
    });
  }
  return found;
}

// Controls ----------------------------------------------------------------------------------------------------------

function build(page) {
  const controls = {
    run: select("profiling.run", (key) => page.change({ of: [key], session: [] })),
    session: select("profiling.session", (job) => page.change(addressOf(ranksOf(page.all, job)[0], get(page, "rank")))),
    rank: select("profiling.rank", (name) => page.change(addressOf(page.ranks.find((one) => entryName(one) === name)))),
    with: select("profiling.with", (name) => page.change({ with: [name] })),
  };
  const compare = make("button", "ms-button", [icon("compare"), words("profiling.compare")], {
    type: "button",
    "aria-pressed": "false",
  });
  setLabel(compare, "title", "profiling.compare.tip");
  compare.addEventListener("click", () => page.change({ with: page.against ? [] : [page.others[0].name] }));
  page.controls = { ...controls, compare };
  page.left = make("span", "ms-muted");
  page.device = make("span", "ms-badge");
  page.tools = make("span", "ms-toolbar ms-profiling-tools");
  page
    .find(".ms-profiling-bar")
    .replaceChildren(
      controls.run,
      controls.session,
      controls.rank,
      page.device,
      compare,
      controls.with,
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

// Ask for the progress of reading.
function look(page, more) {
  if (!page.root.isConnected || !page.profile) return;
  page.turn = (page.turn || 0) + 1;
  setProps(page.store("wanted"), { data: { ...wantedOf(page), ...more, turn: [String(page.turn)] } });
}

function offer(control, choices, chosen) {
  fillSelect(control, choices, chosen);
  control.hidden = choices.length < 2;
}

// The first profile of each job, by the job.
function leadsOf(all) {
  const leads = new Map();
  for (const one of all) {
    const known = leads.get(one.profile.job);
    if (!known || one.profile.rank < known.profile.rank) leads.set(one.profile.job, one);
  }
  return leads;
}

// The runs to choose from: one for each job, so that runs that are ranks of one job are a single choice.
function runsOf(page, leads) {
  const spans = (one) => page.all.some((other) => other.profile.job === one.profile.job && other.run !== one.run);
  return [...new Map([...leads.values()].map((one) => [one.run.key, spans(one) ? one.profile.title : one.run.name]))];
}

function drawControls(page) {
  const { controls, run, profile } = page;
  const leads = leadsOf(page.all);
  const lead = leads.get(profile.job).run;
  offer(controls.run, runsOf(page, leads), lead.key);
  const jobs = [...leads.values()].filter((one) => one.run === lead);
  offer(controls.session, jobs.map((one) => [one.profile.job, one.profile.title]), profile.job);
  const ranks = page.ranks.map((one) => [entryName(one), translate("profiling.rank_n", { n: one.profile.rank })]);
  offer(controls.rank, ranks, nameOf(run, profile));
  page.device.textContent = profile.device;
  const able = page.root.dataset.compared === "1" && page.others.length > 0;
  controls.compare.hidden = !able;
  controls.compare.setAttribute("aria-pressed", String(Boolean(page.against)));
  if (page.against) {
    offer(
      controls.with,
      page.others.map((one) => [one.name, shown(one.run, one.profile)]),
      page.against.name,
    );
  }
  controls.with.hidden = !page.against;
  const total = page.catalogue.left;
  page.left.hidden = !total && run.total <= run.profiles.length;
  if (run.total > run.profiles.length) {
    writeText(page.left, "profiling.first_of", { n: count(run.profiles.length), total: count(run.total) });
  } else if (total) writeText(page.left, "profiling.left", { n: count(total) });
}

// States ------------------------------------------------------------------------------------------------------------

// Whether the last answer belongs to the current selection.
function current(page) {
  const { reading, profile, run } = page;
  return Boolean(reading && profile) && same(reading.of, [run.key, profile.session, profile.rank, profile.mark]);
}

function stateOf(page) {
  const { catalogue } = page;
  if (!catalogue.chosen) return "no-runs";
  if (!page.profile) return catalogue.waiting ? "loading" : catalogue.damage.length ? "damaged" : "none";
  if (!current(page)) return page.asked ? "" : "opening";
  if (page.reading.state === "missing") return "missing";
  return page.reading.state === "ready" || page.asked ? "" : "opening";
}

function showState(page) {
  const name = stateOf(page);
  for (const element of page.root.querySelectorAll("[data-state]")) element.hidden = element.dataset.state !== name;
  const content = page.find(".ms-profiling-content");
  content.hidden = name !== "";
  const behind = name === "" && !(current(page) && page.reading.state === "ready");
  content.classList.toggle("ms-profiling-behind", behind);
  page.find(".ms-profiling-bar").hidden = !page.profile;
  if (name === "damaged") listDamage(page.root, page.catalogue.damage);
  drawStatus(page);
  if (name === "missing") drawMissing(page);
  const elsewhere = name === "none" ? page.catalogue.elsewhere : [];
  const press = ({ key, name: title }) => {
    const button = make("button", "ms-button ms-cut", title, { type: "button", title });
    button.addEventListener("click", () => page.change({ run: [key], of: [], session: [], rank: [] }));
    return button;
  };
  page.find('[data-state="none"] .ms-profiling-elsewhere').replaceChildren(
    ...(elsewhere.length ? [words("profiling.elsewhere", {}, "span", "ms-muted"), ...elsewhere.map(press)] : []));
}

function drawStatus(page) {
  const status = page.find(".ms-profiling-status");
  const { reading } = page;
  const state = current(page) ? reading.state : "ready";
  status.hidden = !["reading", "waiting", "cancelled", "failed"].includes(state);
  if (status.hidden) return;
  const text = status.querySelector(".ms-profiling-text");
  const bytes = (value) => (value / MB).toFixed(value < 10 * MB ? 1 : 0);
  const key = state === "reading" && (!reading.done || reading.done >= reading.total) ? "preparing" : state;
  writeText(text, `profiling.${key}`, { done: bytes(reading.done || 0), total: bytes(reading.total || 0), text: reading.text });
  text.classList.toggle("ms-profiling-wrong", state === "failed");
  const busy = state === "reading" || state === "waiting";
  const progress = status.querySelector("progress");
  progress.hidden = !busy;
  progress.value = reading.total ? reading.done / reading.total : 0;
  status.querySelector('[data-act="cancel"]').hidden = !busy;
  status.querySelector('[data-act="again"]').hidden = busy;
  if (busy) {
    window.clearTimeout(page.timer);
    page.timer = window.setTimeout(() => look(page, {}), AGAIN_MS);
  }
}

function drawMissing(page) {
  const { wanted, which } = page.reading;
  const profile = which ? page.against.profile : page.profile;
  const listed = (language) => wanted.join(translations("profiling.or")[language]);
  const title = translations(page.root.dataset.title);
  const texts = translations(which ? "profiling.needs_with" : "profiling.needs", {});
  const filled = texts.map((one, language) => one.replace("{page}", title[language]).replace("{wanted}", listed(language)));
  const parts = filled.map((one, language) => make("span", language ? "zh" : "en", one, { lang: language ? "zh-CN" : "en" }));
  page.find(".ms-profiling-wanted").replaceChildren(make("span", "t", parts));
  writeText(page.find(".ms-profiling-found"), profile.more ? "profiling.found_more" : "profiling.found",
    { files: profile.files.join(", "), n: count(profile.more) });
  const able = page.run.profiles.filter((one) => serves(page, one)).slice(0, 8).map((one) => {
    const button = make("button", "ms-button ms-cut", shown(page.run, one), { type: "button" });
    button.addEventListener("click", () => page.change({ session: [one.session], rank: [String(one.rank)] }));
    return button;
  });
  page.find('[data-state="missing"] .ms-profiling-elsewhere').replaceChildren(
    ...(able.length ? [words("profiling.elsewhere", {}, "span", "ms-muted"), ...able] : []));
}

function drawDamage(page) {
  const host = page.find(".ms-profiling-damage");
  if (!host || !current(page)) return;
  const { problems, more } = page.reading;
  host.hidden = !problems.length;
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
   * @param {any} _prefs
   * @param {string} rootId
   */
  plan(state, catalogue, reading, _prefs, rootId) {
    const page = pageOf(rootId);
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
    let ask = noUpdate();
    if (!fresh && current(page) && reading.state === "ready") {
      const next = { ...page.wanted, frames: reading.frames };
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
