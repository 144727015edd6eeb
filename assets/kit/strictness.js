// How strict insights are: one level for all rules, and levels of single rules that differ from it.
//
// In the state and in the preferences this is a list such as ["normal", "spike:low", "plateau:off"].

import { fillSelect, make, menu, words } from "./elements.js";
import { setLabel, translate } from "./i18n.js";

/** @typedef {"off" | "low" | "normal" | "high"} Level */
/** @typedef {{ level: Level, kinds: Record<string, Level> }} Strictness by kind of insight, if not as all others */

/**
 * Least scores, as in parsers/analysis/curves/insights/rules.py; the server sends none below "high".
 * @type {Record<string, number>}
 */
const LEVELS = { off: Infinity, low: 1.5, normal: 1, high: 0 };
export const KINDS = [
  "non_finite", "divergence", "unmoved", "overfitting", "frozen", "stall", "spike", "shift", "oscillation",
  "noisier", "slower", "speed", "plateau", "gap",
];

/**
 * @param {string} name
 * @returns {name is Level}
 */
const isLevel = (name) => Object.hasOwn(LEVELS, name);

/**
 * @param {string[] | null | undefined} values
 * @returns {Strictness}
 */
export function strictness(values) {
  /** @type {Strictness} */
  const found = { level: "normal", kinds: {} };
  for (const value of values || []) {
    const [first, second] = value.split(":");
    if (second === undefined && isLevel(first)) found.level = first;
    else if (KINDS.includes(first) && isLevel(second)) found.kinds[first] = second;
  }
  return found;
}

/** @param {Strictness} strict */
export function listed({ level, kinds }) {
  return [level, ...KINDS.filter((kind) => kind in kinds).map((kind) => `${kind}:${kinds[kind]}`)];
}

/**
 * @param {Strictness} strict
 * @param {string} kind
 * @param {number} score
 */
export function passes({ level, kinds }, kind, score) {
  return score >= LEVELS[kinds[kind] || level];
}

/** @param {Strictness} strict */
export function off({ level, kinds }) {
  return KINDS.every((kind) => (kinds[kind] || level) === "off");
}

/**
 * Two controls: a menu with one level per rule, and the level of all others. `current` returns the strictness, `set` takes a
 * new one.
 * @param {() => Strictness} current
 * @param {(chosen: Strictness) => void} set
 */
export function control(current, set) {
  const all = make("select", "ms-input", [], { "data-control": "insights" });
  all.addEventListener("change", () => set({ ...current(), level: /** @type {Level} */ (all.value) }));
  const rules = KINDS.map((kind) => {
    const select = make("select", "ms-input", [], { "data-kind": kind });
    select.addEventListener("change", () => {
      const kinds = { ...current().kinds };
      if (isLevel(select.value)) kinds[kind] = select.value;
      else delete kinds[kind];
      set({ ...current(), kinds });
    });
    return make("label", "ms-strict-rule", [words(`insights.kind.${kind}`), select]);
  });
  for (const name of ["title", "aria-label"]) setLabel(all, name, name === "title" ? "insights.strict_tip" : "insights.strict");
  const summary = make("summary", "ms-field-name ms-strict-more", words("insights.strict"));
  setLabel(summary, "title", "insights.per_rule");
  const box = make("span", "ms-field ms-strict", [menu(summary, rules), all]);
  return { box, draw: () => draw(box, current()) };
}

/**
 * @param {Element} box
 * @param {Strictness} strict
 */
function draw(box, { level, kinds }) {
  /** @type {[string, string][]} */
  const levels = Object.keys(LEVELS).map((name) => [name, translate(`insights.${name}`)]);
  fillSelect(box.querySelector("[data-control]"), levels, level);
  /** @type {[string, string]} */
  const same = ["", translate("insights.same", { level: translate(`insights.${level}`) })];
  for (const select of box.querySelectorAll("[data-kind]")) {
    fillSelect(select, [same, ...levels], kinds[select.dataset.kind] || "");
  }
  box.querySelector("summary").classList.toggle("ms-strict-some", Object.keys(kinds).length > 0);
}
