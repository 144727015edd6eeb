// Which runs are on screen, in which colours, and how a search finds them. Everything here computes; picker.js draws.

import { coloursOf } from "./colours.js";
import { runsIn } from "./state.js";

/** Names all runs in a state. */
const EVERY = "*";
const FEW = 10;  // more runs than these are named as all of them

/**
 * Colour of a run, or slices of the colours of a job; "" if it is not on screen.
 * @param {string[]} members
 * @param {Map<string, string>} drawn
 */
export function paint(members, drawn) {
  const shown = members.flatMap((key) => drawn.get(key) || []).slice(0, 4);
  if (shown.length < 2) return shown[0] || "";
  const part = 100 / shown.length;
  return `conic-gradient(${shown.map((colour, i) => `${colour} ${i * part}% ${(i + 1) * part}%`).join(", ")})`;
}

/**
 * The run in a value of `of` or `with`, which is a run, or run|session|rank of a profile.
 * @param {string} value
 */
const runOf = (value) => value.split("|").length > 2 ? value.split("|").slice(0, -2).join("|") : value;

/**
 * The runs on screen: those the state names, or else those that the server chose for this page (`selected_runs` in
 * layouts/runs/chosen_runs.py), which are `default` in the list of runs; and those named beside them (of, with).
 * @param {Wire.Query | null | undefined} state
 * @param {Pick<RunList, "rows" | "default">} runs
 * @returns {Set<string>} keys of members
 */
export function selected(state, { rows, default: chosen }) {
  const { run = [], ...named } = runsIn(state || {});
  const wanted = new Set([...run, ...Object.values(named).flat().map(runOf)]);
  const whole = run.includes(EVERY);
  const found = rows.flatMap((row) =>
    whole || wanted.has(row.key) ? row.members : row.members.filter((key) => wanted.has(key)));
  return new Set(run.length ? found : [...chosen, ...found]);
}

/**
 * What else changes with the chosen runs: a page names (of, with) no run that is not among them. Names with a colon are
 * live sessions, or entries of the state about one card.
 * @param {Wire.Query} state
 * @param {string[]} run
 * @param {Wire.RunRow[]} rows
 * @returns {Wire.Query}
 */
export function forgotten(state, run, rows) {
  const left = selected({ run }, { rows, default: [] });
  const named = Object.entries(runsIn({ ...state, run: [] })).filter(([key]) => key !== "run");
  /** @param {string} name */
  const lost = (name) => unknownRun(name, rows) ? !name.includes(":") : !left.has(name) && !run.includes(name);
  return Object.fromEntries(named.flatMap(([key, values]) => values.map(runOf).some(lost) ? [[key, []]] : []));
}

/**
 * Keys that the state names and no run has.
 * @param {Wire.Query | null | undefined} state
 * @param {Wire.RunRow[]} rows
 */
export function gone(state, rows) {
  const there = new Set(rows.flatMap((row) => [row.key, ...row.members]));
  return ((state || {}).run || []).filter((key) => key && key !== EVERY && !there.has(key));
}

/**
 * A name in the address if no run has it, else "": another run in its place would be taken for it.
 * @param {string} name
 * @param {Wire.RunRow[]} rows
 */
export function unknownRun(name, rows) {
  return rows.some((row) => row.key === name || row.members.includes(name)) ? "" : name;
}

/**
 * Map of member key -> colour, for the selected runs on a page with this state.
 * @param {Set<string>} chosen
 * @param {Wire.RunRow[]} rows
 * @param {Wire.Query | null} [state]
 */
export function colours(chosen, rows, state = null) {
  return new Map([...coloursOf(state, rows)].filter(([key]) => chosen.has(key)));
}

/**
 * The selection as a state names it.
 * @param {Set<string>} chosen
 * @param {Wire.RunRow[]} rows
 */
export function encode(chosen, rows) {
  const total = rows.reduce((sum, row) => sum + row.members.length, 0);
  if (chosen.size === 0) return [""];
  if (chosen.size === total && rows.length > FEW) return [EVERY];
  return rows.flatMap((row) => {
    const members = row.members.filter((key) => chosen.has(key));
    return members.length === row.members.length ? [row.key] : members;
  });
}

/**
 * Predicate of a search; null for an invalid pattern.
 * @overload
 * @param {string} text
 * @param {false} regex
 * @returns {(name: string) => boolean}
 *
 * @overload
 * @param {string} text
 * @param {boolean} regex
 * @returns {((name: string) => boolean) | null}
 *
 * @param {string} text
 * @param {boolean} regex
 */
export function matcher(text, regex) {
  if (!text) return () => true;
  if (!regex) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    return (/** @type {string} */ name) => words.every((word) => name.toLowerCase().includes(word));
  }
  try {
    const pattern = new RegExp(text, "i");
    return (/** @type {string} */ name) => pattern.test(name);
  } catch (error) {
    return null;
  }
}
