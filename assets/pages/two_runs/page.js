// The two runs page: choose and swap both runs. Counterpart of layouts/pages/two_runs.

import { functionsOf } from "../../base/dash.js";
import { takesText } from "../../base/elements.js";
import { setLabel } from "../../base/i18n.js";
import * as picker from "../../base/picker.js";
import { setState } from "../../base/state.js";

const views = new Map();  // root id -> {runs, state}

const storeOf = (rootId) => rootId.replace(/-root$/, "-state");

function set(rootId, [one, other]) {
  const view = views.get(rootId);
  if (view) setState(storeOf(rootId), view.state, { one: [one], other: [other] });
}

// Chosen runs first, then all others; every run can be compared with every other.
function options(runs, state) {
  const chosen = picker.selected(state, runs);
  const all = runs.rows.flatMap((row) => row.members.map((key) => [key, row.members.length === 1 ? row.name : key]));
  return [...all.filter(([key]) => chosen.has(key)), ...all.filter(([key]) => !chosen.has(key))];
}

function select(root, at, all, view, colour) {
  const host = root.querySelector(at === 0 ? ".ms-two-runs-one" : ".ms-two-runs-other");
  const text = JSON.stringify(all);
  let box = host.querySelector("select");
  if (!box || host.dataset.runs !== text) {
    host.dataset.runs = text;
    box = document.createElement("select");
    box.className = "ms-input";
    setLabel(box, "aria-label", at === 0 ? "two_runs.one" : "two_runs.other");
    box.append(...all.map(([key, name]) => Object.assign(document.createElement("option"), { value: key, textContent: name })));
    box.addEventListener("change", () => {
      const runs = views.get(root.id).runs.slice();
      if (box.value === runs[1 - at]) runs.reverse();
      else runs[at] = box.value;
      set(root.id, runs);
    });
    const letter = Object.assign(document.createElement("span"), { className: "ms-two-runs-letter", textContent: "AB"[at] });
    const dot = Object.assign(document.createElement("span"), { className: "ms-dot" });
    host.replaceChildren(dot, letter, box);
  }
  box.value = view.runs[at];
  host.querySelector(".ms-dot").style.background = colour;
}

function shown(two, runs, state, rootId) {
  const root = document.getElementById(rootId);
  if (!root || !two || !runs) return;
  root.classList.remove("ms-two-runs-opening");
  root.classList.toggle("ms-two-runs-empty", !two.runs.length);
  if (!two.runs.length) {
    views.delete(rootId);
    return;
  }
  const view = { runs: two.runs, state };
  views.set(rootId, view);
  const all = options(runs, state);
  two.runs.forEach((_run, at) => select(root, at, all, view, two.colours[at]));
}

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
