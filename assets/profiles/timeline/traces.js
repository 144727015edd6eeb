// Which traces one timeline shows: other ranks, sessions, runs and files beside the trace of the page, chosen in a menu, and
// how they lie on one axis. The state has `source` (the file of the page's own profile), `also` (a query for each other trace),
// `axis`, `at` (the step that is aligned) and `clocks`.

import { fillSelect, icon, iconButton, make, menu, pressSegment, segments, select, words } from "../../kit/elements.js";
import { count } from "../../kit/units.js";
import { setLabel, translate, writeText } from "../../kit/i18n.js";
import { MOST_LISTED, numberPicker } from "../../kit/number_picker.js";
import { last } from "../../kit/state.js";
import { nameOf } from "../jobs.js";
import { memberOf, rankName } from "../profiles.js";
import { duration, signed } from "../axis.js";

/** As many as the server shows together. */
const MOST = 16;
/** As many are listed to add. */
const MOST_OFFERED = 256;
/** @type {("run" | "session" | "rank")[]} */
const SHARED = ["run", "session", "rank"];
/** @type {(keyof Timeline.Trace)[]} */
const KEYS = ["run", "session", "rank", "source"];
const AXES = ["clock", "start", "step"];

/**
 * @param {Timeline.Page} page
 * @param {string} key
 */
const get = (page, key) => last(page.state, key, "");

/**
 * The session of a profile: the one that is named, or that of the first trace, or the only one that has this rank.
 * @param {Record<string, string>} query
 * @param {Timeline.Trace} first
 * @param {Profiles.Entry[]} ranks
 */
function sessionOf(query, first, ranks) {
  if (query.session !== undefined) return query.session;
  return ranks.length === 1 ? ranks[0].profile.session : first.session;
}

/**
 * The traces of the state after the first: [{ run, session, rank, source }, ...], of those that are in `all`, each once.
 * @param {Timeline.Trace} first
 * @param {string[]} also
 * @param {Profiles.Entry[]} all
 */
export function tracesBeside(first, also, all) {
  const seen = new Set([JSON.stringify([first.run, first.session, first.rank, first.source])]);
  const found = [];
  for (const text of also) {
    const query = Object.fromEntries(new URLSearchParams(text));
    const [run, rank] = [query.run ?? first.run, query.rank ?? first.rank];
    const ranks = all.filter((of) => of.run.key === run && String(of.profile.rank) === rank);
    const one = { run, session: sessionOf(query, first, ranks), rank, source: query.source ?? "" };
    const key = JSON.stringify(Object.values(one));
    const known = ranks.some(({ profile }) => profile.session === one.session);
    if (known && !seen.has(key) && found.length < MOST - 1) found.push(one);
    seen.add(key);
  }
  return found;
}

/**
 * Such a trace as the state has it: what it has in common with the first is left out.
 * @param {Timeline.Trace} first
 * @param {Timeline.Trace} one
 */
export function alsoText(first, one) {
  const query = new URLSearchParams();
  for (const key of SHARED) if (one[key] !== first[key]) query.set(key, one[key]);
  if (one.source) query.set("source", one.source);
  return query.toString() || `rank=${one.rank}`;
}

/**
 * The state without one of the traces after the first: what is kept of others gets their new numbers.
 * @param {Wire.Query} state
 * @param {number} number
 */
export function withoutPart(state, number) {
  /** @param {string} id */
  const renumbered = (id) => {
    const found = /^(part)?(\d+)(?=\.|$)/.exec(id);
    if (!found || (!found[1] && !id.includes("."))) return id;
    const part = Number(found[2]);
    if (part === number) return null;
    return part > number ? `${found[1] || ""}${part - 1}${id.slice(found[0].length)}` : id;
  };
  /** @type {Wire.Query} */
  const changes = { also: state.also.filter((_, at) => at !== number - 1) };
  for (const key of ["fold", "open", "hide", "in", "pin", "order", "tall", "slice", "stream"]) {
    if (state[key]) changes[key] = state[key].flatMap((id) => renumbered(id) ?? []);
  }
  return changes;
}

/**
 * What names the traces to the server: [[parameter, value], ...]; ask is the profile of the page.
 * @param {Timeline.Page} page
 * @param {Wire.Query} ask
 */
export function queryOf(page, ask) {
  const first = { run: ask.run[0], session: ask.session[0], rank: ask.rank[0], source: get(page, "source") };
  const others = tracesBeside(first, page.state.also || [], page.entries);
  page.parts = [first, ...others];
  /** @type {[string, any][]} */
  const query = Object.entries(first).filter(([, value]) => value !== "");
  for (const one of others) query.push(["also", alsoText(first, one)]);
  if (!others.length) return query;
  if (AXES.includes(get(page, "axis"))) query.push(["axis", get(page, "axis")]);
  if (get(page, "at")) query.push(["at", get(page, "at")]);
  if (get(page, "clocks") === "1") query.push(["devices", "1"]);
  return query;
}

/**
 * The name of the best trace of its profile, once the server has said it.
 * @param {Timeline.Page} page
 * @param {Timeline.Trace} one
 */
const bestOf = (page, one) => page.known?.[page.parts.indexOf(one)]?.sources[0];

/**
 * The profile of a trace in the catalogue.
 * @param {Timeline.Page} page
 * @param {Timeline.Trace} one
 */
const entryOf = (page, one) => page.entries.find(({ run, profile }) =>
  run.key === one.run && profile.session === one.session && String(profile.rank) === one.rank);

/**
 * The run and the profile of a trace by its number, as the catalogue has them.
 * @param {Timeline.Page} page
 * @param {number} part
 */
export const profileOf = (page, part) => entryOf(page, page.parts[part]);

/**
 * What to call traces: what they differ in.
 * @param {Timeline.Page} page
 */
export function namesOf(page) {
  /** @param {keyof Timeline.Trace} key */
  const differ = (key) => new Set(page.parts.map((one) => one[key])).size > 1;
  const [run, session, rank, source] = KEYS.map(differ);
  return page.parts.map((one) => {
    const entry = entryOf(page, one);
    const sameJob = rank && page.parts.every((other) => entryOf(page, other)?.profile.job === entry?.profile.job);
    const names = [];
    if (run && !sameJob) names.push(entry ? entry.run.name : one.run);
    if (session && !sameJob) names.push(one.session);
    if (rank) names.push(rankName(Number(one.rank)));
    if (source) names.push(one.source || (bestOf(page, one) ?? translate("timeline.best")));
    return names.join(" · ");
  });
}

// The menu -----------------------------------------------------------------------------------------------------------

/**
 * The menu of traces and its parts.
 * @param {Timeline.Page} page
 * @returns {Timeline.PartFields}
 */
export function partFields(page) {
  const partsName = make("span");
  const summary = make("summary", "ms-button ms-timeline-parts", [icon("compare"), partsName, icon("down")]);
  setLabel(summary, "title", "timeline.parts_tip");
  const partList = make("ul", "ms-timeline-part-list");
  /** @param {Profiles.Entry | undefined} entry */
  const addOne = (entry) => { if (entry) add(page, [entry]); };
  const partAdd = select("timeline.parts_add", (name) => addOne(page.jobBook.named.get(name)));
  const partRank = numberPicker(PART_RANK, rankName, (rank) => addOne(rank === null ? undefined : memberOf(page, rank)));
  const partAll = make("button", "ms-button", [], { type: "button" });
  partAll.addEventListener("click", () => add(page, ranksLeft(page)));
  const adding = make("div", "ms-timeline-part-row", [partAdd, partRank.element, partAll]);
  const axes = segments("timeline.axis", AXES.map((one) => [one, `timeline.axis.${one}`]),
    (axis) => page.change(axis === "clock" ? { axis: [axis] } : { axis: [axis], clocks: [] }));
  const atSelect = select("timeline.axis_step", (at) => page.change({ at: [at] }));
  const clocks = make("button", "ms-button", words("timeline.clocks"), { type: "button", "aria-pressed": "false" });
  setLabel(clocks, "title", "timeline.clocks_tip");
  clocks.addEventListener("click", () => page.change({ clocks: get(page, "clocks") === "1" ? [] : ["1"] }));
  const clocksNote = make("p", "ms-muted ms-timeline-part-note");
  const axisBox = make("div", "ms-timeline-part-axis", [
    words("timeline.axis", {}, "span", "ms-muted"),
    make("div", "ms-timeline-part-row", [axes, atSelect, clocks]),
    clocksNote,
  ]);
  const partsMenu = menu(summary, [partList, adding, axisBox]);
  partsMenu.classList.add("ms-timeline-parts-menu");
  return {
    partsName, partList, partAdd, partRank, partAll, axes, atSelect, clocks, clocksNote, axisBox, partsMenu, parts: [],
    known: [],
  };
}

const PART_RANK = {
  label: "timeline.parts_rank", total: "profiling.of_total", absent: "profiling.rank_absent", none: "timeline.parts_rank",
};

/**
 * @param {Timeline.Trace} one
 * @param {Profiles.Entry} entry
 */
const sameProfile = (one, { run, profile }) =>
  run.key === one.run && profile.session === one.session && String(profile.rank) === one.rank;

/**
 * Profiles with a trace that is not shown, those of the same job first.
 * @param {Timeline.Page} page
 */
function addable(page) {
  const left = page.entries.filter((entry) =>
    entry.profile.frames.includes("trace") && !page.parts.some((one) => sameProfile(one, entry)));
  const own = left.filter((entry) => entry.profile.job === page.profile.job);
  return [...own, ...left.filter((entry) => entry.profile.job !== page.profile.job)];
}

/** @param {Timeline.Page} page */
const ranksLeft = (page) => addable(page).filter((entry) => entry.profile.job === page.profile.job);

/**
 * @param {Timeline.Page} page
 * @param {Profiles.Entry[]} entries
 */
function add(page, entries) {
  const [first] = page.parts;
  const texts = entries.slice(0, MOST - page.parts.length).map(({ run, profile }) =>
    alsoText(first, { run: run.key, session: profile.session, rank: String(profile.rank), source: "" }));
  page.change({ also: [...page.parts.slice(1).map((one) => alsoText(first, one)), ...texts] });
}

/**
 * @param {Timeline.Page} page
 * @param {number} number
 * @param {string} source
 */
function setSource(page, number, source) {
  if (!number) {
    page.change({ source: source ? [source] : [], slice: [], range: [], over: [], span: [], mark: [] });
    return;
  }
  const [first, ...others] = page.parts;
  page.change({ also: others.map((one, at) => alsoText(first, at === number - 1 ? { ...one, source } : one)) });
}

/**
 * @param {Timeline.Page} page
 * @param {number} number
 */
function remove(page, number) {
  // The state may name traces that are not there any more.
  const [first, ...others] = page.parts;
  page.change(withoutPart({ ...page.state, also: others.map((one) => alsoText(first, one)) }, number));
}

/**
 * @param {Timeline.Page} page
 * @param {Timeline.Trace} one
 * @param {number} number
 */
function partItem(page, one, number) {
  const about = (page.known || [])[number];
  const part = page.line && page.line.facts.parts[number];
  const entry = entryOf(page, one);
  const title = page.parts.length > 1 ? namesOf(page)[number] : "";
  const name = title || `${entry ? entry.run.name : one.run} · ${rankName(Number(one.rank))}`;
  const row = [make("span", "ms-timeline-part-name ms-cut ms-name", name, {
    title: `${one.run} · ${one.session} · ${one.rank}`,
  })];
  if (about && about.sources.length > 1) {
    const files = select("timeline.source", (source) => setSource(page, number, source === about.sources[0] ? "" : source));
    fillSelect(files, about.sources.map((source) => [source, source]), one.source || about.sources[0]);
    row.push(files);
  } else row.push(make("span", "ms-muted ms-cut ms-name ms-timeline-part-file", about ? about.sources[0] || "" : ""));
  if (number) {
    const button = iconButton("close", "timeline.parts_remove", "remove");
    button.addEventListener("click", () => remove(page, number));
    row.push(button);
  } else row.push(make("span"));
  if (part && part.align) {
    row.push(words("timeline.aligned", {
      time: signed(part.align.ns), n: count(part.align.collectives), spread: duration(part.align.spread),
    }, "span", "ms-muted ms-timeline-part-align"));
  } else if (part && number && get(page, "clocks") === "1" && page.line.facts.axis === "clock") {
    row.push(words("timeline.unaligned", {}, "span", "ms-muted ms-timeline-part-align"));
  }
  return make("li", "ms-timeline-part-row", row);
}

/**
 * Bring the menu in step with the state and with what has been read.
 * @param {Timeline.Page} page
 */
export function drawParts(page) {
  const together = page.parts.length > 1;
  writeText(page.partsName, together ? "timeline.parts_n" : "timeline.parts", { n: page.parts.length });
  page.partList.replaceChildren(...page.parts.map((one, number) => partItem(page, one, number)));
  const left = addable(page);
  const ranks = left.filter((entry) => entry.profile.job === page.profile.job);
  const files = page.known && page.known[0] ? page.known[0].sources.length : 1;
  page.partsMenu.hidden = !together && !left.length && files < 2;
  const full = page.parts.length >= MOST;
  /** @param {Profiles.Entry} entry */
  const title = ({ run, profile }) => [
    run.name, profile.session === "." ? "" : profile.session, rankName(profile.rank),
  ].filter(Boolean).join(" · ");
  // Ranks of a large job are typed, not listed.
  const many = ranks.length > MOST_LISTED;
  const listed = (many ? left.filter((entry) => entry.profile.job !== page.profile.job) : left).slice(0, MOST_OFFERED);
  fillSelect(page.partAdd, [["", translate("timeline.parts_add")], ...listed.map((one) => [nameOf(one), title(one)])], "");
  page.partAdd.hidden = many && !listed.length;
  page.partAdd.disabled = !listed.length || full;
  page.partRank.draw(many && !full ? ranks.map((one) => one.profile.rank) : [], null);
  page.partAll.hidden = ranks.length < 1 || ranks.length > MOST - page.parts.length;
  writeText(page.partAll, "timeline.parts_ranks", { n: ranks.length + 1 });
  page.axisBox.hidden = !together;
  const facts = page.line && page.line.facts;
  if (!together || !facts) return;
  pressSegment(page.axes, facts.axis);
  const steps = [...new Set(facts.steps.slice(0, 2000).map(([label]) => label).filter(Boolean))];
  page.atSelect.hidden = facts.axis !== "step" || !steps.length;
  const labels = steps.map((label) => [label, translate("timeline.step_n", { n: label })]);
  fillSelect(page.atSelect, labels, get(page, "at") || facts.at);
  page.axes.querySelector('[data-value="step"]').disabled = !steps.length;
  const clock = page.axes.querySelector('[data-value="clock"]');
  clock.disabled = !facts.comparable;
  page.clocks.hidden = facts.axis !== "clock";
  const aligned = get(page, "clocks") === "1";
  page.clocks.setAttribute("aria-pressed", String(aligned));
  page.clocksNote.hidden = facts.comparable && facts.axis !== "clock";
  const note = !facts.comparable ? "incomparable" : aligned ? "clocks_aligned" : "clocks_recorded";
  writeText(page.clocksNote, `timeline.note.${note}`);
}

// Slices in the address ----------------------------------------------------------------------------------------------

/**
 * The row of a slice as the state has it: "7" in the first trace, "2.7" in the third.
 * @param {{ parts: Timeline.Part[] }} options
 * @param {number} row
 */
export function rowText({ parts }, row) {
  const part = parts.findLastIndex((one) => one.row <= row && one.slices > 0);
  return part > 0 ? `${part}.${row - parts[part].row}` : String(row);
}

/**
 * The row that such a text names; null for anything else.
 * @param {{ parts: Timeline.Part[] }} options
 * @param {string} text
 */
export function rowOf({ parts }, text) {
  const found = /^(?:(\d{1,2})\.)?(\d{1,10})$/.exec(text);
  const part = found && parts[Number(found[1] || 0)];
  return part && Number(found[2]) < part.slices ? part.row + Number(found[2]) : null;
}
