// The state of a page, a dcc.Store with a URL query as { key: [text, ...] }: read it, write it, and bind it to controls.

import { functionsOf, noUpdate, setProps } from "./dash.js";

/**
 * Last value set on each control. A control must not overwrite the state before it received it.
 * @type {Map<string, unknown>}
 */
const lastSet = new Map();

/**
 * @param {unknown} a
 * @param {unknown} b
 */
export function same(a, b) {
  return JSON.stringify(a) === JSON.stringify(b);
}

/**
 * @param {string[] | undefined} values
 * @param {string} kind
 * @param {unknown} fallback
 */
export function decode(values, kind, fallback) {
  if (!Array.isArray(values) || values.length === 0) return fallback;
  const last = values[values.length - 1];
  if (kind === "list") return values;
  if (kind === "flag") return last === "1";
  if (kind === "number") {
    const value = Number(last);
    return last !== "" && Number.isFinite(value) ? value : fallback;
  }
  return last;
}

/**
 * @param {unknown} value
 * @param {string} kind
 */
export function encode(value, kind) {
  if (value === null || value === undefined) return [];
  if (kind === "list") return Array.from(/** @type {Iterable<unknown>} */ (value), String);
  if (kind === "flag") return [value ? "1" : "0"];
  return [String(value)];
}

/**
 * Copy of a state with some keys replaced; null, undefined or an empty list removes a key.
 * @param {Wire.Query | null} state
 * @param {Wire.Query} changes
 * @returns {Wire.Query}
 */
export function changedState(state, changes) {
  const next = Object.assign({}, state || {});
  for (const [key, values] of Object.entries(changes)) {
    if (values && values.length) next[key] = values;
    else delete next[key];
  }
  return next;
}

/**
 * Write a state and return it, since a second change may come before Dash reports the first.
 * @param {string} storeId
 * @param {Wire.Query | null} state
 * @param {Wire.Query} changes
 * @returns {Wire.Query}
 */
export function setState(storeId, state, changes) {
  const next = changedState(state, changes);
  if (!same(next, state || {})) setProps(storeId, { data: next });
  return next;
}

/**
 * What every object has, such as `__proto__` or `constructor`, is the key of no page and left out.
 *
 * @param {string} query
 * @returns {Wire.Query}
 */
export function parseQuery(query) {
  /** @type {Wire.Query} */
  const state = {};
  for (const [key, value] of new URLSearchParams(query)) {
    if (key === "embed" || key === "token" || key === "card" || key in Object.prototype) continue;
    (state[key] = state[key] || []).push(value);
  }
  return state;
}

/** @param {Wire.Query | null} state */
export function formatQuery(state) {
  const query = new URLSearchParams();
  for (const [key, values] of Object.entries(state || {})) for (const value of values) query.append(key, value);
  // Characters of paths are legal in a query; leave them readable.
  return query.toString().replace(/%2F/g, "/").replace(/%3A/g, ":").replace(/%2C/g, ",");
}

/** @typedef {(first: any, second: any) => unknown} Bound what Dash calls with the value of a control and the state */
/** @typedef {[string, string, string, string, string, unknown]} Constants store, control, property, key, kind, fallback */

/**
 * layouts/kit/state.py encodes the constants of a binding in the name of its function.
 * @param {(name: string, ...constants: Constants) => Bound} make
 */
function byName(make) {
  /** @type {Record<string, Bound>} */
  const none = {};
  return new Proxy(none, {
    get(made, name) {
      if (typeof name !== "string" || !name.startsWith("[")) return undefined;
      /** @type {Constants} */
      const constants = JSON.parse(name);
      const known = made[name] || make(name, ...constants);
      made[name] = known;
      return known;
    },
    has(_made, name) {
      return typeof name === "string" && name.startsWith("[");
    },
  });
}

functionsOf("mindscope_to_control", byName((name, _store, control, _prop, key, kind, fallback) => (state, now) => {
  // Do not overwrite a field while the user types in it.
  const typing = lastSet.has(name) && document.activeElement && document.activeElement.id === control;
  if (typing) return noUpdate();
  const value = decode((state || {})[key], kind, fallback);
  lastSet.set(name, value);
  return same(value, now) ? noUpdate() : value;
}));

functionsOf("mindscope_to_state", byName((name, store, _control, _prop, key, kind, fallback) => (value, state) => {
  if (!lastSet.has(name) || same(value, lastSet.get(name))) return;
  lastSet.set(name, value);
  const standard = value === null || value === undefined || same(value, fallback);
  setState(store, state, { [key]: standard ? [] : encode(value, kind) });
}));

// Single values ------------------------------------------------------------------------------------------------------

/**
 * @param {Wire.Query} state
 * @param {string} key
 * @template [F=undefined]
 * @param {F} [fallback]
 * @returns {string | F}
 */
export function last(state, key, fallback) {
  const values = state[key];
  return values && values.length ? values[values.length - 1] : /** @type {F} */ (fallback);
}

// Entries of the state about one card --------------------------------------------------------------------------------

/**
 * Entries are "value:key"; key is the tag, empty for a card without one, "*" for all cards.
 * @param {Wire.Query} state
 * @param {string} name
 * @param {string} key
 */
export function entry(state, name, key) {
  let found = "";
  for (const text of state[name] || []) {
    const at = text.indexOf(":");
    const owner = text.slice(at + 1);
    if (owner === key || owner === "*") found = text.slice(0, at);
  }
  return found;
}

/**
 * @param {Wire.Query} state
 * @param {string} name
 * @param {string} key
 * @param {string} value
 */
export function withEntry(state, name, key, value) {
  const others = (state[name] || []).filter((text) => text.slice(text.indexOf(":") + 1) !== key);
  const covered = others.some((text) => text.endsWith(":*"));
  return value || covered ? [...others, `${value}:${key}`] : others;
}

/**
 * @param {Wire.Query} state
 * @param {string} name
 * @param {string} key
 */
export function listed(state, name, key) {
  return (state[name] || []).includes(key);
}

/**
 * @param {Wire.Query} state
 * @param {string} name
 * @param {string} key
 */
export function toggled(state, name, key) {
  const values = state[name] || [];
  return values.includes(key) ? values.filter((value) => value !== key) : [...values, key];
}

/**
 * The runs in a state: chosen ones (run), and those named beside them (of, with: a run, or run|session|rank).
 * @param {Wire.Query} state
 */
export function runsIn(state) {
  /** @type {Wire.Query} */
  const found = state.run ? { run: state.run } : {};
  const chosen = state.run || [];
  for (const key of ["of", "with"]) {
    const named = (state[key] || []).filter((value) =>
      value !== "" && !chosen.some((run) => run === "*" || run === value || value.startsWith(`${run}|`)));
    if (named.length) found[key] = named;
  }
  return found;
}

Object.assign(functionsOf("mindscope"), {
  /**
   * The part of a state about runs: those chosen, and others that it names. Its store changes only if these do, so other
   * changes of the state request no catalogue.
   * @param {Wire.Query | null} state
   * @param {Wire.Query | null} now
   */
  runs_chosen(state, now) {
    const found = runsIn(state || {});
    return same(found, now) ? noUpdate() : found;
  },
});
