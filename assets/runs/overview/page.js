// The overview page: choice of run, its key numbers, tiles and insights. Counterpart of layouts/runs/overview.

import { functionsOf, setProps } from "../../kit/dash.js";
import { make, takesText } from "../../kit/elements.js";
import { showUnknown } from "../../kit/body.js";
import { inLanguage, setLabel, writeText } from "../../kit/i18n.js";
import * as runNotes from "../../kit/notes.js";
import { selected, unknownRun } from "../../kit/run_selection.js";
import { currentPrefs, setPrefs } from "../../kit/prefs.js";
import { runSelect, setRuns } from "../../kit/run_select.js";
import { last, setState } from "../../kit/state.js";
import * as strict from "../../kit/strictness.js";
import { count as countText } from "../../kit/units.js";

/**
 * By root id.
 * @type {Map<string, Overview.View>}
 */
const views = new Map();

/** @param {string} rootId */
const storeOf = (rootId) => rootId.replace(/-root$/, "-state");

/**
 * The chosen runs in the order of the list: [key, name, place of its row]. Ranks of a job are one run, as everywhere.
 * @param {RunList} runs
 * @param {Wire.Query} state
 * @returns {[string, string, number][]}
 */
function chosen(runs, state) {
  const keys = selected(state, runs);
  return runs.rows.flatMap((row, place) =>
    row.members.filter((key) => keys.has(key)).map((key) => [key, row.members.length === 1 ? row.name : key, place]),
  );
}

/**
 * @param {string} rootId
 * @param {string} key
 */
function show(rootId, key) {
  const view = views.get(rootId);
  if (view && key) setState(storeOf(rootId), view.state, { of: key === view.runs[0][0] ? [] : [key] });
}

/**
 * @param {string} rootId
 * @param {number} by
 */
function move(rootId, by) {
  const view = views.get(rootId);
  const now = view ? view.runs.findIndex(([key]) => key === view.of) : -1;
  const next = view && now >= 0 ? view.runs[now + by] : undefined;
  if (next) show(rootId, next[0]);
  return Boolean(next);
}

/**
 * @param {HTMLElement} root
 * @param {Overview.View} view
 */
function select(root, view) {
  const host = root.querySelector(".ms-overview-run");
  let box = host.querySelector("select");
  if (!box) {
    const { element, select: made } = runSelect("overview.run");
    box = made;
    box.addEventListener("change", () => show(root.id, made.value));
    host.replaceChildren(make("span", "ms-dot"), element);
  }
  setRuns(box, view.runs.map(([key, name]) => [key, name]), view.of);
  const at = view.runs.findIndex(([key]) => key === view.of);
  root.querySelector(".ms-overview-previous").disabled = at <= 0;
  root.querySelector(".ms-overview-next").disabled = at >= view.runs.length - 1;
  root.querySelector(".ms-overview-selector").classList.toggle("ms-overview-alone", view.runs.length < 2);
  const places = [...new Set(view.runs.map(([, , place]) => place))];
  writeText(root.querySelector(".ms-overview-of"), "overview.of", {
    n: countText(at < 0 ? 0 : places.indexOf(view.runs[at][2]) + 1),
    total: countText(places.length),
  });
}

/**
 * @param {string} name
 * @param {HTMLElement} value
 * @param {Wire.Texts} [tip]
 */
function fact(name, value, tip) {
  const box = make("div", `ms-fact ms-fact-${name}`);
  const label = writeText(make("span", "ms-fact-name"), `overview.${name}`);
  value.classList.add("ms-fact-value");
  box.append(label, value);
  if (tip) {
    Object.assign(box.dataset, { enTitle: tip[0], zhTitle: tip[1] });
    box.title = inLanguage(tip);
  }
  return box;
}

/** @param {number} seconds */
function moment(seconds) {
  const time = make(
    "time",
    "",
    new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" }).format(seconds * 1000),
  );
  time.dateTime = new Date(seconds * 1000).toISOString();
  time.title = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" }).format(seconds * 1000);
  return time;
}

/** @param {Wire.RunHead} head */
function problems(head) {
  const button = make("button", `ms-badge ms-badge-button ${head.wrong ? "ms-badge-wrong" : ""}`, head.problems);
  button.type = "button";
  Object.assign(button.dataset, { action: "health", run: head.of });
  setLabel(button, "title", "overview.problems_tip");
  return button;
}

/** @param {Wire.RunHead} head */
function facts(head) {
  const known = head.facts.map(({ name, text, key, values, tip }) =>
    fact(name, key ? writeText(make("span"), key, { n: text, ...values }) : make("span", "", text), tip));
  const state = writeText(make("span", `ms-state ms-state-${head.state}`), `state.${head.state}`);
  const began = head.started;
  const started = began && Math.abs(began) < 8.64e12 ? [fact("started", moment(began))] : [];
  const path = make("span", "ms-mono ms-cut ms-name", head.path);
  path.title = head.real ? `${head.path}\n${head.real}` : head.path;
  return [fact("state", state), ...known, ...started, fact("problems", problems(head)), fact("path", path)];
}

/**
 * @param {Wire.RunHead | Wire.NoRun | null} head
 * @param {RunList | null} runs
 * @param {Wire.Query} state
 * @param {string} rootId
 */
function shown(head, runs, state, rootId) {
  const root = document.getElementById(rootId);
  if (!root || !head || !runs) return;
  root.classList.remove("ms-overview-opening");
  const unknown = unknownRun(last(state, "of", ""), runs.rows);
  root.classList.toggle("ms-overview-empty", !head.of || unknown !== "");
  showUnknown(root.querySelector(".ms-overview-none"), unknown);
  if (!("facts" in head) || unknown) {
    views.delete(rootId);
    return;
  }
  const view = { of: head.of, runs: chosen(runs, state), state };
  views.set(rootId, view);
  const named = view.runs.find(([key]) => key === head.of);
  if (!named) return;  // the answer to this state has not arrived yet
  select(root, view);
  root.querySelector(".ms-overview-run .ms-dot").style.background = head.colour;
  runNotes.line(root.querySelector(".ms-notes-line"), runs.notebook, head.of, named[1]);
  const text = JSON.stringify(head);
  const host = root.querySelector(".ms-overview-facts");
  if (host.dataset.head !== text) {
    host.dataset.head = text;
    host.replaceChildren(...facts(head));
  }
}

document.addEventListener("click", (event) => {
  const element = event.target instanceof Element ? event.target : null;
  const root = element && element.closest(".ms-overview");
  if (!root) return;
  if (element.closest(".ms-overview-previous")) move(root.id, -1);
  if (element.closest(".ms-overview-next")) move(root.id, 1);
  // Without the shell there is nowhere to go.
  if (element.closest(".ms-tile-link") && !root.closest(".ms-shell")) event.preventDefault();
});

// j and k move the focus between tiles; Enter opens a page.
document.addEventListener("keydown", (event) => {
  const { target } = event;
  if (event.key !== "Enter" || !(target instanceof Element) || !target.matches(".ms-tile")) return;
  const link = target.querySelector(".ms-tile-link");
  if (link) link.click();
});

document.addEventListener("keydown", (event) => {
  const by = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
  const target = event.target;
  if (!by || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.defaultPrevented) return;
  if (!(target instanceof Element) || takesText(target)) return;
  const root = target.closest(".ms-overview") || document.querySelector(".ms-shell .ms-overview");
  if (!root || document.querySelector("dialog[open]")) return;
  if (move(root.id, by)) event.preventDefault();
});

// load and error do not bubble, so capture them.
for (const { name, failed } of [{ name: "error", failed: true }, { name: "load", failed: false }]) {
  document.addEventListener(name, ({ target }) => {
    if (target instanceof HTMLImageElement && target.matches(".ms-tile-image")) {
      target.parentElement?.classList.toggle("ms-tile-failed", failed);
    }
  }, true);
}

// Insights: the server lists them, the user sets how strict to be.
const AGAIN_MS = 300;

function chosenStrictness() {
  return strict.strictness(currentPrefs().insights.split(","));
}

/** @param {Overview.Strict} box */
function drawStrict(box) {
  if (!box.firstChild) {
    const made = strict.control(chosenStrictness, (chosen) => setPrefs({ insights: strict.listed(chosen).join(",") }));
    box.append(made.box);
    box.draw = made.draw;
  }
  box.draw?.();
}

/** @param {HTMLElement} root */
function sift(root) {
  /** @type {Overview.Card | null} */
  const card = root.querySelector(".ms-insights");
  const state = card && card.state;
  if (!state) return;
  card.hidden = !state.scalars;
  const wanted = chosenStrictness();
  const rows = Array.from(card.querySelectorAll("li"));
  for (const row of rows) row.hidden = !strict.passes(wanted, row.dataset.kind, Number(row.dataset.score));
  const shown = rows.filter((row) => !row.hidden).length;
  const count = card.querySelector(".ms-insights-count");
  count.hidden = shown === 0;
  count.textContent = countText(shown);
  const none = card.querySelector(".ms-insights-none");
  none.hidden = shown > 0 || state.left > 0 || strict.off(wanted);
  writeText(none, state.judged ? "insights.none" : "insights.few", { n: countText(state.fewest) });
  const left = card.querySelector(".ms-insights-left");
  left.hidden = !state.left;
  writeText(left, "insights.reading", { n: countText(state.left) });
  const csv = card.querySelector(".ms-insights-csv");
  csv.href = `${csv.dataset.routes}insights.csv?${new URLSearchParams({ run: state.run })}`;
  drawStrict(card.querySelector(".ms-insights-strict"));
}

/**
 * @param {Wire.InsightsLeft | null} state
 * @param {unknown} _entries
 * @param {string} rootId
 */
function insights(state, _entries, rootId) {
  const root = document.getElementById(rootId);
  /** @type {Overview.Card | null} */
  const card = root && root.querySelector(".ms-insights");
  if (!card || !state) return;
  const fresh = card.state !== state;
  card.state = state;
  // The entries are added to the page shortly after this call.
  window.requestAnimationFrame(() => sift(root));
  window.setTimeout(() => sift(root), 60);
  if (!fresh || !state.left) return;
  window.setTimeout(() => {
    if (root.isConnected) setProps(rootId.replace(/-root$/, "-insights-again"), { data: Date.now() });
  }, AGAIN_MS);
}

/**
 * Show the severest symptoms if there are any, and ask again while something is being read.
 * @param {{ found: number, left: boolean } | null} state
 * @param {string} rootId
 */
function symptoms(state, rootId) {
  const root = document.getElementById(rootId);
  const card = root && root.querySelector(".ms-symptoms");
  if (!(card instanceof HTMLElement) || !state) return;
  card.hidden = !state.found;
  if (!state.left) return;
  window.setTimeout(() => {
    if (root?.isConnected) setProps(rootId.replace(/-root$/, "-symptoms-again"), { data: Date.now() });
  }, 2 * AGAIN_MS);
}

window.addEventListener("mindscope:prefs", () => document.querySelectorAll(".ms-overview").forEach(sift));

Object.assign(functionsOf("mindscope_overview"), { shown, insights, symptoms });
