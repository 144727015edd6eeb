// What all pages about a profile share: choosing run, session and rank, the progress of reading, and missing files. Counterpart
// of layouts/profiling/body.py. A page calls define(name, { build(page), draw(page) }): build runs once, draw after every
// change of the state, the catalogue or the reading. A page has state, profile (the chosen entry of the catalogue), against,
// reading, change({ key: [...] }), find(selector) and store(part).

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
  const { runs } = page.catalogue;
  const able = (run) => run.profiles.some((one) => serves(page, one));
  page.run = runs.find((one) => one.key === get(page, "of")) || runs.find(able) || runs[0] || null;
  page.profile = page.run ? chosenOf(page, page.run) : null;
  page.others = others(page);
  const name = get(page, "with");
  page.against = name ? page.others.find((one) => one.name === name) || null : null;
}

// By default the newest session, and its lowest rank.
function chosenOf(page, run) {
  const named = (key, of) => !get(page, key) || String(of) === get(page, key);
  const fits = run.profiles.filter((one) => named("session", one.session) && named("rank", one.rank));
  const all = fits.length ? fits : run.profiles;
  const able = all.filter((one) => serves(page, one));
  const newest = {};
  for (const one of run.profiles) newest[one.session] = Math.max(newest[one.session] || 0, one.updated);
  return (able.length ? able : all).slice().sort((a, b) => newest[b.session] - newest[a.session] || a.rank - b.rank)[0] || null;
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
  const all = page.catalogue.runs.flatMap((run) =>
    run.profiles.map((profile) => ({ run, profile, name: nameOf(run, profile) })),
  );
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
    run: select("profiling.run", (key) => page.change({ of: [key], session: [], rank: [] })),
    session: select("profiling.session", (name) => page.change({ session: [name], rank: [] })),
    rank: select("profiling.rank", (rank) => page.change({ rank: [rank], session: [page.profile.session] })),
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

function drawControls(page) {
  const { controls, run, profile } = page;
  offer(controls.run, page.catalogue.runs.map((one) => [one.key, one.name]), run.key);
  offer(controls.session, [...new Set(run.profiles.map((one) => one.session))].map((one) => [one, one]), profile.session);
  const ranks = run.profiles.filter((one) => one.session === profile.session).map((one) => one.rank);
  offer(controls.rank, ranks.map((rank) => [String(rank), translate("profiling.rank_n", { n: rank })]), String(profile.rank));
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
  if (!page.profile) return catalogue.waiting ? "loading" : "none";
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
