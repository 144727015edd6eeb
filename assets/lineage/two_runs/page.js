// The two runs page: choose and swap both runs. Counterpart of layouts/lineage/two_runs. curves.js has the run list.

import { showUnknown } from "../../kit/body.js";
import { functionsOf } from "../../kit/dash.js";
import { make, takesText } from "../../kit/elements.js";
import { selected, unknownRun } from "../../kit/run_selection.js";
import { runSelect, setRuns } from "../../kit/run_select.js";
import { notYet } from "../../kit/pages.js";
import { last, setState } from "../../kit/state.js";
import * as curves from "./curves.js";

/** @type {(key: string, name: string) => [string, string]} */
const pair = (key, name) => [key, name];

/** @type {Map<string, Lineage.PairView>} */
const views = new Map();  // root id -> {root, runs, state, hidden, rows} and what curves.js adds

/** @param {string} rootId */
const storeOf = (rootId) => rootId.replace(/-root$/, "-state");

/**
 * @param {string} rootId
 * @param {string[]} runs
 */
function set(rootId, [one, other]) {
  const view = views.get(rootId);
  if (view) setState(storeOf(rootId), view.state, { one: [one], other: [other] });
}

/**
 * Chosen runs first, then all others; every run can be compared with every other.
 * @param {RunList} runs
 * @param {Wire.Query | null} state
 */
function options(runs, state) {
  const chosen = selected(state, runs);
  const all = runs.rows.flatMap((row) => row.members.map((key) => pair(key, row.members.length === 1 ? row.name : key)));
  return [...all.filter(([key]) => chosen.has(key)), ...all.filter(([key]) => !chosen.has(key))];
}

/**
 * @param {HTMLElement} root
 * @param {number} at
 * @param {[string, string][]} all
 * @param {Lineage.PairView} view
 * @param {string} colour
 */
function select(root, at, all, view, colour) {
  const host = root.querySelector(at === 0 ? ".ms-two-runs-one" : ".ms-two-runs-other");
  let box = host.querySelector("select");
  if (!box) {
    const { element, select: made } = runSelect(at === 0 ? "two_runs.one" : "two_runs.other");
    made.addEventListener("change", () => {
      const { runs: [...runs] } = views.get(root.id) || view;
      if (made.value === runs[1 - at]) runs.reverse();
      else runs[at] = made.value;
      set(root.id, runs);
    });
    host.replaceChildren(make("span", "ms-dot"), make("span", "ms-two-runs-letter", "AB"[at]), element);
    box = made;
  }
  setRuns(box, all, view.runs[at]);
  host.querySelector(".ms-dot").style.background = colour;
}

/**
 * The rows of the run list: both runs, as the server drew them.
 * @param {Lineage.TwoRuns} two
 * @param {RunList} runs
 * @param {string[]} hidden
 */
function rowsOf(two, runs, hidden) {
  const of = new Map(runs.rows.flatMap((row) => row.members.map((key) => [key, row])));
  return two.runs.map((key, at) => {
    const row = of.get(key);
    const name = row && row.members.length === 1 ? row.name : key;
    const byHand = Boolean(row && row.hand[key]);
    return { key, name, letter: "AB"[at], colour: two.colours[at], byHand, target: { run: key }, on: !hidden.includes(key) };
  });
}

/**
 * @param {Lineage.TwoRuns | null} two
 * @param {RunList | null} runs
 * @param {Wire.Query | null} state
 * @param {string} rootId
 */
function shown(two, runs, state, rootId) {
  const root = document.getElementById(rootId);
  if (!root || !two || !runs) return;
  root.classList.remove("ms-two-runs-opening");
  const [unknown = ""] = ["one", "other"].map((key) => unknownRun(last(state || {}, key, ""), runs.rows)).filter(Boolean);
  root.classList.toggle("ms-two-runs-empty", !two.runs.length || unknown !== "");
  showUnknown(root.querySelector(".ms-two-runs-none"), unknown);
  if (!two.runs.length || unknown) {
    views.delete(rootId);
    return;
  }
  const before = views.get(rootId);
  const hidden = (state && state.hide) || [];
  const now = { runs: two.runs, state, hidden, rows: rowsOf(two, runs, hidden) };
  const fresh = { root, list: notYet, tag: "", place: null, ...now };
  const view = before && before.root === root ? Object.assign(before, now) : fresh;
  views.set(rootId, view);
  const all = options(runs, state);
  two.runs.forEach((_run, at) => select(root, at, all, view, two.colours[at]));
  if (view === before) curves.drawn(view);
  else curves.build(view, (hide) => setState(storeOf(rootId), (views.get(rootId) || view).state, { hide }));
}

/** @param {HTMLElement} root */
function swap(root) {
  const view = views.get(root.id);
  if (view) set(root.id, view.runs.slice().reverse());
}

document.addEventListener("click", (event) => {
  const element = event.target instanceof Element ? event.target : null;
  const root = element && element.closest(".ms-two-runs");
  if (!root) return;
  if (element.closest(".ms-two-runs-swap")) swap(root);
  // Without the shell there is nowhere to go.
  if (element.closest("a[data-page]") && !root.closest(".ms-shell")) event.preventDefault();
});

document.addEventListener("keydown", (event) => {
  const target = event.target;
  if (event.key !== "x" || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (!(target instanceof Element) || takesText(target)) return;
  const root = target.closest(".ms-two-runs") || document.querySelector(".ms-shell .ms-two-runs");
  if (root && !document.querySelector("dialog[open]")) swap(root);
});

Object.assign(functionsOf("mindscope_two_runs"), { shown });
