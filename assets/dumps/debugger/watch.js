// The watchpoints at the right: the list, and the form that adds or changes one. They are saved for the dump of the run beside
// its notes; where that is not possible they stay in the page. Until somebody changes them they are the recommended ones.

import { icon, iconButton, make, words } from "../../kit/elements.js";
import { reasonOf } from "../../kit/reasons.js";
import { count } from "../../kit/units.js";
import { setLabel, translate } from "../../kit/i18n.js";
import { post } from "../../kit/notes.js";
import { notYet } from "../../kit/pages.js";
import { askOf, get, redraw, request } from "../dumps.js";
import * as choice from "./number_ranges.js";
import { drawForm, formOf } from "./watch_form.js";
import { limitsText, shortName } from "./display_names.js";

/** @returns {Debugger.WatchFields} */
export const fields = () => ({ watching: null, draft: null, watchTools: notYet, nameTurn: 0, addedLine: "" });

/** @param {Debugger.Page} page */
export function build(page) {
  const tools = page.find(".ms-debugger-watch-tools");
  const add = make("button", "ms-button ms-button-small", [icon("plus"), words("debugger.add")], { type: "button" });
  add.addEventListener("click", () => edit(page, null));
  const usual = make("button", "ms-button ms-button-small", words("debugger.recommended"), { type: "button" });
  setLabel(usual, "title", "debugger.recommended.tip");
  usual.addEventListener("click", () => recommend(page));
  const clear = iconButton("trash", "debugger.clear", "clear_watchpoints");
  clear.addEventListener("click", () => {
    if (page.watching && page.watching.list.length && window.confirm(translate("debugger.clear_sure"))) put(page, []);
  });
  page.watchTools = { usual, clear };
  tools.replaceChildren(add, usual, clear);
}

/** @param {Debugger.Page} page */
export const enabled = (page) => page.watching ? page.watching.list.filter((one) => one.enabled) : [];
/** @param {Debugger.Page} page */
export const enabledJson = (page) => page.watching ? page.watching.json : "[]";

/** @param {Debugger.Page} page */
const conditionOf = (page, { condition }) => page.watching.conditions.find((one) => one.name === condition);
/** @param {Debugger.Page} page */
export const shortOf = (page, watchpoint) => conditionOf(page, watchpoint).short;

/** What a watchpoint is called: its condition and limits. */
export function title(watchpoint) {
  const limits = limitsText(watchpoint);
  return translate(`debugger.condition.${watchpoint.condition}`) + (limits ? ` · ${limits}` : "");
}

// A watchpoint that only says which operators it is about.
const ofNames = (names) => ({ condition: "tensor_overflow", names });

/**
 * The watchpoint whose operators are marked in the graph, as JSON; "" for none.
 * @param {Debugger.Page} page
 */
export function markedJson(page) {
  const { draft } = page;
  if (draft && !["all", "pattern"].includes(draft.by) && draft.names) return JSON.stringify([ofNames(draft.names)]);
  const marked = page.watching && get(page, "only_watch") !== "" ? enabled(page)[Number(get(page, "only_watch"))] : null;
  return marked && marked.names ? JSON.stringify([marked]) : "";
}

/** @param {Debugger.Page} page */
export function take(page, answer) {
  if (page.watching && page.watching.run === page.dump.key && page.watching.unsaved) return;
  page.watching = {
    run: page.dump.key, list: answer.watchpoints, version: answer.version, saved: answer.saved, kept: answer.kept,
    conditions: answer.conditions, recommended: answer.recommended, unsaved: false, message: "", json: "[]",
  };
  renew(page);
  redraw(page);
}

/** @param {Debugger.Page} page */
function renew(page) {
  page.watching.json = JSON.stringify(enabled(page));
}

/**
 * Replace the list: shown at once, then saved.
 * @param {Debugger.Page} page
 */
async function put(page, list) {
  const { watching } = page;
  watching.list = list;
  watching.message = "";
  renew(page);
  page.change({ only_watch: [] });
  redraw(page);
  draw(page);
  try {
    const { done, now } = await post(page.root.dataset.routes, "watchpoints", {
      run: page.dump.key, was: watching.version, watchpoints: list.map(plain),
    });
    watching.version = now ? now.version : "";
    watching.unsaved = false;
    watching.saved = Boolean(list.length);
    if (!done) {
      // Somebody else changed them meanwhile: theirs are shown.
      watching.list = now.watchpoints;
      watching.message = translate("debugger.changed_elsewhere");
      renew(page);
      redraw(page);
    }
  } catch (error) {
    watching.unsaved = true;
    watching.message = translate("debugger.not_saved", { why: reasonOf(error) });
  }
  draw(page);
}

const plain = ({ condition, limits, names, pattern, enabled: on, by, said }) =>
  ({ condition, limits, names, pattern, enabled: on, by, said });

const keyOf = ({ condition, limits, names, pattern }) => JSON.stringify([condition, limits, names, pattern]);

/** @param {Debugger.Page} page */
function recommend(page) {
  const { list, recommended } = page.watching;
  const known = new Set(list.map(keyOf));
  put(page, [...list, ...recommended.filter((one) => !known.has(keyOf(one)))]);
}

// The form ------------------------------------------------------------------------------------------------------------

/**
 * Edit the watchpoint at a place of the list, null for a new one.
 * @param {Debugger.Page} page
 */
function edit(page, place) {
  page.draft = formOf(page, place === null ? null : page.watching.list[place], place);
  if (page.draft.names && page.draft.names.length) {
    askNames(page, "known", { names: [JSON.stringify([ofNames(page.draft.names)])] });
  }
  draw(page);
  redraw(page);
}

/** @param {Debugger.Page} page */
export function close(page) {
  page.draft = null;
  draw(page);
  redraw(page);
}

/**
 * Save what the form has.
 * @param {Debugger.Page} page
 */
export function keep(page) {
  const { draft } = page;
  const made = draft.made();
  if (!made) return draw(page);
  const list = [...page.watching.list];
  if (draft.place === null) list.push(made);
  else list[draft.place] = made;
  page.draft = null;
  put(page, list);
}

/**
 * Names and their numbers in the tree are translated by the server.
 * @param {Debugger.Page} page
 * @param {string} act
 */
function askNames(page, act, more) {
  page.nameTurn += 1;
  request(page, "names", { ...askOf(page), act: [act], asked: [String(page.nameTurn)], ...more });
}

/**
 * @param {Debugger.Page} page
 * @param {string[]} [said]
 */
export function setRanges(page, ranges, said = null) {
  const { draft } = page;
  draft.ranges = ranges;
  draft.by = "nodes";
  if (said) [draft.by, draft.said] = said;
  draft.names = choice.size(ranges) ? null : [];
  if (choice.size(ranges)) askNames(page, "names", { ranges: [choice.written(ranges)] });
  draw(page);
  redraw(page);
}

/**
 * Add the operators of a search.
 * @param {Debugger.Page} page
 */
export function addFound(page) {
  const { q, regex, kind } = page.state;
  askNames(page, "search", { ...(q ? { q } : {}), ...(regex ? { regex } : {}), ...(kind ? { kind } : {}) });
}

/**
 * Add the operators of a source line.
 * @param {Debugger.Page} page
 * @param {string} key
 */
export function addLine(page, key) {
  page.addedLine = key;
  askNames(page, "line", { line: [key] });
}

/** @param {Debugger.Page} page */
export function takeNames(page, answer) {
  const { draft } = page;
  if (!draft || answer.state !== "ready") return;
  if (answer.act === "names") {
    draft.names = answer.names;
    draw(page);
    redraw(page);
  } else if (answer.act === "known") {
    draft.ranges = answer.ranges;
    draw(page);
    redraw(page);
  } else {
    const said = answer.act === "line" ? ["line", shortName(page.addedLine)] : ["search", get(page, "q") || get(page, "kind")];
    setRanges(page, choice.joined(draft.ranges, answer.ranges), said);
  }
}

// The list ------------------------------------------------------------------------------------------------------------

/** @param {Debugger.Page} page */
export function draw(page) {
  const host = page.find(".ms-debugger-watchpoints");
  if (!page.watching) return;
  if (page.draft) {
    drawForm(page, { keep, close, setRanges });
    return;
  }
  const { list, saved, message, recommended } = page.watching;
  const parts = [];
  if (message) parts.push(make("p", "ms-debugger-note ms-wrong-text", message, { role: "alert" }));
  if (!saved && list.length) parts.push(words("debugger.proposed", {}, "p", "ms-debugger-note ms-muted"));
  if (!list.length) parts.push(words("debugger.no_watchpoints", {}, "p", "ms-debugger-note ms-muted"));
  parts.push(...list.map((one, place) => item(page, one, place)));
  const known = new Set(list.map(keyOf));
  page.watchTools.usual.hidden = recommended.every((one) => known.has(keyOf(one)));
  page.watchTools.clear.hidden = !list.length;
  host.replaceChildren(...parts);
  drawCounts(page);
}

function about(watchpoint, condition) {
  const parts = [translate(`debugger.target.${condition.target}`)];
  if (watchpoint.names) parts.push(translate("debugger.of_operators", { n: count(watchpoint.names.length) }));
  if (watchpoint.pattern) parts.push(watchpoint.pattern);
  else if (watchpoint.said) parts.push(watchpoint.said);
  return parts.join(" · ");
}

/** @param {Debugger.Page} page */
function item(page, one, place) {
  const condition = conditionOf(page, one);
  const on = make("input", "", [], { type: "checkbox" });
  on.checked = one.enabled;
  setLabel(on, "aria-label", "debugger.enable");
  setLabel(on, "title", "debugger.enable");
  on.addEventListener("change", () => put(page, page.watching.list.map((each, at) =>
    at === place ? { ...each, enabled: on.checked } : each)));
  const number = one.enabled ? enabled(page).indexOf(one) : -1;
  const pick = make("button", "ms-debugger-watch-name", [
    make("span", "", [make("span", "ms-badge ms-debugger-short", condition.short), " ", make("span", "", title(one))]),
    make("span", "ms-muted", about(one, condition)),
    make("span", "ms-debugger-watch-count", [], { "data-watch": String(number) }),
  ], { type: "button", "aria-pressed": String(number >= 0 && get(page, "only_watch") === String(number)) });
  pick.disabled = number < 0;
  setLabel(pick, "title", "debugger.filter_by");
  pick.addEventListener("click", () => {
    page.change({ only_watch: get(page, "only_watch") === String(number) ? [] : [String(number)], tab: [] });
  });
  const change = iconButton("pencil", "debugger.edit", "");
  const remove = iconButton("trash", "debugger.delete", "");
  for (const button of [change, remove]) button.removeAttribute("data-act");
  change.addEventListener("click", () => edit(page, place));
  remove.addEventListener("click", () => put(page, page.watching.list.filter((_, at) => at !== place)));
  return make("div", "ms-debugger-watchpoint", [on, pick, change, remove]);
}

/**
 * The numbers of hits in the list.
 * @param {Debugger.Page} page
 */
export function drawCounts(page) {
  for (const element of page.root.querySelectorAll("[data-watch]")) {
    const number = Number(element.dataset.watch);
    const known = page.hits && number >= 0 && page.hits.counts[number];
    const parts = [];
    if (known && known[0]) parts.push(words("debugger.hits_n", { n: count(known[0]) }, "span", "ms-badge ms-badge-wrong"));
    if (known && known[1]) parts.push(words("debugger.unchecked_n", { n: count(known[1]) }, "span", "ms-badge"));
    if (known && !known[0] && !known[1]) {
      const checked = page.hits.checked[number];
      const filtered = ["only_step", "only_rank", "only_graph"].some((name) => get(page, name) !== "");
      const key = checked ? (filtered ? "debugger.none_here" : "debugger.none_of") : "debugger.no_tensor";
      parts.push(words(key, { n: count(checked) }, "span", "ms-muted"));
    }
    element.replaceChildren(...parts);
  }
}
