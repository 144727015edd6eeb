// The state of a page: a dcc.Store whose data is a URL query as {key: [text, ...]}. Reading, writing, and binding to controls.
(function () {
  "use strict";
  const mindscope = (window.mindscope = window.mindscope || {});

  // What each control was last given. A control that the state has not reached yet must not write its default over it.
  const given = new Map();

  function same(a, b) {
    return JSON.stringify(a) === JSON.stringify(b);
  }

  function decode(values, kind, fallback) {
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

  function encode(value, kind) {
    if (value === null || value === undefined) return [];
    if (kind === "list") return Array.from(value, String);
    if (kind === "flag") return [value ? "1" : "0"];
    return [String(value)];
  }

  // A new state with these keys replaced; null, undefined or an empty list removes a key.
  function changed(state, changes) {
    const next = Object.assign({}, state || {});
    for (const [key, values] of Object.entries(changes)) {
      if (values && values.length) next[key] = values;
      else delete next[key];
    }
    return next;
  }

  // The new state, given at once: a second change may come before Dash has told of the first.
  function set(storeId, state, changes) {
    const next = changed(state, changes);
    if (!same(next, state || {})) window.dash_clientside.set_props(storeId, { data: next });
    return next;
  }

  function fromQuery(query) {
    const state = {};
    for (const [key, value] of new URLSearchParams(query)) {
      if (key === "embed" || key === "token") continue;
      (state[key] = state[key] || []).push(value);
    }
    return state;
  }

  function toQuery(state) {
    const query = new URLSearchParams();
    for (const key of Object.keys(state || {})) for (const value of state[key]) query.append(key, value);
    // The characters of paths may stand as they are in a query, and a readable link is worth more than a short rule.
    return query.toString().replace(/%2F/g, "/").replace(/%3A/g, ":").replace(/%2C/g, ",");
  }

  mindscope.state = { decode, encode, changed, set, fromQuery, toQuery, same };

  // layouts/state.py writes the constants of a binding into the name of its function.
  function byName(make) {
    return new Proxy({}, {
      get(made, name) {
        if (typeof name !== "string" || !name.startsWith("[")) return undefined;
        if (!made[name]) made[name] = make(name, ...JSON.parse(name));
        return made[name];
      },
      has(_made, name) {
        return typeof name === "string" && name.startsWith("[");
      },
    });
  }

  const dash = (window.dash_clientside = window.dash_clientside || {});

  dash.mindscope_to_control = byName((name, _store, control, _prop, key, kind, fallback) => (state, now) => {
    // What somebody is typing is newer than what the state has heard of it.
    const typing = given.has(name) && document.activeElement && document.activeElement.id === control;
    if (typing) return window.dash_clientside.no_update;
    const value = decode((state || {})[key], kind, fallback);
    given.set(name, value);
    return same(value, now) ? window.dash_clientside.no_update : value;
  });

  dash.mindscope_to_state = byName((name, store, _control, _prop, key, kind, fallback) => (value, state) => {
    if (!given.has(name) || same(value, given.get(name))) return;
    given.set(name, value);
    const standard = value === null || value === undefined || same(value, fallback);
    set(store, state, { [key]: standard ? [] : encode(value, kind) });
  });
})();
