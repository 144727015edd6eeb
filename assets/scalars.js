// The scalars page in the browser: from the state to what each card asks the server for. Counterpart of layouts/training/scalars.
// scalars_*.js hold the parts: tags (the list), controls (the bar), cards (heads, tools, zoom), hover, threshold.
(function () {
  "use strict";
  const mindscope = (window.mindscope = window.mindscope || {});
  const dash = (window.dash_clientside = window.dash_clientside || {});
  const NOT_A_CARD = null;
  // Columns are asked for in these sizes, so that a window one pixel wider asks for nothing new.
  const WIDTHS = [300, 420, 600, 850, 1200, 1700, 2400, 3400, 4800];
  const MARGINS = 68;
  const GAP = 8;
  const DEFAULT_AXIS = "step";
  const pages = new Map();

  // One page on screen; there may be several in somebody's own layout.
  function pageOf(rootId) {
    const root = document.getElementById(rootId);
    if (!root) return null;
    let page = pages.get(rootId);
    if (!page || page.root !== root) {
      page = {
        root,
        state: {},
        catalogue: null,
        shown: [],         // tags on this page of cards, by slot
        chosen: [],        // tags that pass filter and ticks
        figures: new Map(),  // slot -> figure as the server sent it
        trails: new Map(),   // card key -> views to go back to
        store: (part) => rootId.replace(/-root$/, `-${part}`),
        part: (part, slot) => ({ ms: root.dataset.instance, page: root.dataset.page, part, key: String(slot) }),
        find: (selector) => root.querySelector(selector),
        slot: (number) => root.querySelector(`.ms-scalar-card[data-slot="${number}"]`),
      };
      page.change = (changes) => mindscope.state.set(page.store("state"), page.state, changes);
      pages.set(rootId, page);
      new ResizeObserver(() => measure(page)).observe(page.find(".ms-scalar-grid"));
      mindscope.scalars.controls.build(page);
      mindscope.scalars.tags.build(page);
      mindscope.scalars.hover.build(page);
    }
    return page;
  }

  function pageAround(element) {
    const root = element instanceof Element && element.closest(".ms-scalars");
    return root ? pageOf(root.id) : null;
  }

  function measure(page) {
    if (!page.find(".ms-scalar-grid").clientWidth) return;
    const bucket = String(columns(page, page.shown.length, false));
    if (bucket === page.bucket) return;
    page.bucket = bucket;
    window.dash_clientside.set_props(page.store("screen"), { data: bucket });
  }

  function bucketOf(width) {
    const wanted = (width - MARGINS) * Math.min(window.devicePixelRatio || 1, 2);
    return WIDTHS.find((size) => size >= wanted) || WIDTHS[WIDTHS.length - 1];
  }

  function gridWidth(page) {
    return page.find(".ms-scalar-grid").clientWidth || 1200;
  }

  // Cards beside each other, as the grid of scalars.css has it: of at least 340 px, at least 2 and at most 4.
  function across(page, count) {
    const width = gridWidth(page);
    const narrowest = Math.max(Math.min(340, (width - GAP) / 2), (width - 3 * GAP) / 4);
    return Math.min(Math.floor((width + GAP) / (narrowest + GAP) + 1e-6), Math.max(1, count));
  }

  function columns(page, count, full) {
    return bucketOf(full ? window.innerWidth : gridWidth(page) / across(page, count));
  }

  // Which tags --------------------------------------------------------------------------------------------------------

  function last(state, key, fallback) {
    const values = state[key];
    return values && values.length ? values[values.length - 1] : fallback;
  }

  function pattern(text) {
    if (!text) return null;
    try {
      return new RegExp(text, "i");
    } catch (error) {
      return undefined;
    }
  }

  function matching(tags, text) {
    const expression = pattern(text);
    return expression ? tags.filter((tag) => expression.test(tag)) : tags;
  }

  // The state names the ticked tags or the unticked ones, whichever are fewer; neither means all.
  function ticked(state) {
    if (state.tag) {
      const names = new Set(state.tag);
      return (tag) => names.has(tag);
    }
    if (state.hide) {
      const names = new Set(state.hide);
      return (tag) => !names.has(tag);
    }
    return () => true;
  }

  function tick(page, isTicked) {
    const tags = page.catalogue ? page.catalogue.tags : [];
    const on = tags.filter(isTicked);
    const off = tags.filter((tag) => !isTicked(tag));
    // "tag=" alone means: none.
    const changes = { page: [], tag: [], hide: [] };
    if (off.length && on.length <= off.length) changes.tag = on.length ? on : [""];
    else if (off.length) changes.hide = off;
    page.change(changes);
  }

  // What a card asks for ----------------------------------------------------------------------------------------------

  // Entries of the state about one card are "value:key"; the key of the one-chart card is empty, "*" stands for all.
  function entry(state, name, key) {
    let found = "";
    for (const text of state[name] || []) {
      const at = text.indexOf(":");
      const owner = text.slice(at + 1);
      if (owner === key || owner === "*") found = text.slice(0, at);
    }
    return found;
  }

  function withEntry(state, name, key, value) {
    const others = (state[name] || []).filter((text) => text.slice(text.indexOf(":") + 1) !== key);
    const covered = others.some((text) => text.endsWith(":*"));
    return value || covered ? [...others, `${value}:${key}`] : others;
  }

  function listed(state, name, key) {
    return (state[name] || []).includes(key);
  }

  function toggled(state, name, key) {
    const values = state[name] || [];
    return values.includes(key) ? values.filter((value) => value !== key) : [...values, key];
  }

  function ask(page, key, tags, right, count) {
    const state = page.state;
    const axis = last(state, "x", DEFAULT_AXIS);
    const full = listed(state, "full", key);
    const wanted = { tag: tags, columns: [String(columns(page, count, full))] };
    if (right.length) wanted.right = right;
    if (state.run) wanted.run = state.run;
    if (axis !== DEFAULT_AXIS) wanted.x = [axis];
    if (axis === "absolute") wanted.zone = [String(-new Date().getTimezoneOffset())];
    if (Number(last(state, "smooth", "0")) > 0) wanted.smooth = [last(state, "smooth", "0")];
    const threshold = entry(state, "threshold", key);
    if (threshold) wanted.threshold = [threshold];
    const view = entry(state, "zoom", key);
    if (view) wanted.view = [view];
    for (const [flag, name] of [["log", "log"], ["every", "every"], ["pan", "pan"]]) {
      if (listed(state, name, key)) wanted[flag] = ["1"];
    }
    return wanted;
  }

  function synthesis(page) {
    const left = page.state.left || [];
    const right = page.state.right || [];
    if (left.length || right.length) return [left, right];
    return [page.chosen.slice(0, 1), page.chosen.slice(1, 2)];
  }

  function wantedCards(page) {
    const { state, catalogue } = page;
    const isTicked = ticked(state);
    page.chosen = matching(catalogue.tags, last(state, "q", "")).filter(isTicked);
    page.synthesis = last(state, "mode", "") === "one";
    if (page.synthesis) {
      const [left, right] = synthesis(page);
      page.shown = left.length || right.length ? [""] : [];
      page.first = 0;
      return page.shown.map(() => ask(page, "", left, right, 1));
    }
    const size = page.root.querySelectorAll(".ms-scalar-card").length;
    const most = Math.max(0, Math.ceil(page.chosen.length / size) - 1);
    const number = Math.min(most, Math.max(0, (Number(last(state, "page", "1")) || 1) - 1));
    page.first = number * size;
    page.size = size;
    page.shown = page.chosen.slice(page.first, page.first + size);
    return page.shown.map((tag) => ask(page, tag, [tag], [], page.shown.length));
  }

  function showState(page) {
    const { catalogue } = page;
    let name = "";
    if (!catalogue.runs.length) name = "no-runs";
    else if (!catalogue.tags.length) name = catalogue.waiting ? "reading" : "no-scalars";
    else if (!page.shown.length) name = "no-match";
    for (const element of page.root.querySelectorAll("[data-state]")) element.hidden = element.dataset.state !== name;
    const reading = page.find('[data-state="reading"]');
    if (name === "reading") mindscope.i18n.write(reading, "scalars.reading", { n: catalogue.waiting.toLocaleString("en") });
    page.root.classList.toggle("ms-no-tags", name === "no-runs" || name === "no-scalars");
  }

  // Called by Dash ----------------------------------------------------------------------------------------------------

  const functions = {
    chosen(state, now) {
      const runs = JSON.stringify((state && state.run) || []);
      return runs === now ? window.dash_clientside.no_update : runs;
    },

    plan(state, catalogue, _screen, asks, rootId) {
      const unchanged = asks.map(() => window.dash_clientside.no_update);
      const page = pageOf(rootId);
      if (!page) return unchanged;
      page.state = state || {};
      page.catalogue = catalogue;
      if (!catalogue) return unchanged;
      const wanted = wantedCards(page);
      showState(page);
      mindscope.scalars.tags.draw(page);
      mindscope.scalars.controls.draw(page);
      mindscope.scalars.cards.assign(page);
      const { same } = mindscope.state;
      return asks.map((old, slot) => {
        const next = slot < wanted.length ? wanted[slot] : NOT_A_CARD;
        return same(old === undefined ? null : old, next) ? window.dash_clientside.no_update : next;
      });
    },

    painted(figure, id, rootId) {
      const page = pageOf(rootId);
      if (page && figure) mindscope.scalars.cards.painted(page, Number(id.key), figure);
    },

    moved(change, id, rootId) {
      const page = pageOf(rootId);
      if (page && change) mindscope.scalars.cards.moved(page, Number(id.key), change);
    },

    judged(verdict, rootId) {
      const page = pageOf(rootId);
      if (page && verdict) mindscope.scalars.threshold.judged(page, verdict);
    },
  };
  dash.mindscope_scalars = functions;

  // Building blocks of the parts ---------------------------------------------------------------------------------------

  function make(tag, className, children = [], attributes = {}) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...[].concat(children));
    return element;
  }

  function words(key, values, tag = "span", className = "") {
    return mindscope.i18n.write(make(tag, className), key, values);
  }

  function icon(name) {
    return make("span", `ms-icon ms-icon-${name}`, [], { "aria-hidden": "true" });
  }

  function iconButton(name, label, act) {
    const button = make("button", "ms-button ms-button-icon", icon(name), { type: "button", "data-act": act });
    mindscope.i18n.label(button, "title", label);
    mindscope.i18n.label(button, "aria-label", label);
    return button;
  }

  // A menu that opens below its button; frame.js closes it.
  function menu(summary, items) {
    return make("details", "ms-details ms-menu-down", [summary, make("div", "ms-menu-items", items)]);
  }

  function count(value) {
    return value.toLocaleString("en");
  }

  function exportUrl(page, suffix, tags, extra = {}) {
    const query = new URLSearchParams();
    if (!(page.state.run || []).includes("*")) for (const run of page.catalogue.runs) query.append("run", run);
    for (const tag of tags || []) query.append("tag", tag);
    for (const [key, value] of Object.entries(extra)) query.append(key, value);
    return `${page.root.dataset.routes}scalars.${suffix}?${query}`;
  }

  mindscope.scalars = {
    pageOf, pageAround, measure, across, last, pattern, matching, ticked, tick, entry, withEntry, listed, toggled, synthesis,
    make, words, icon, iconButton, menu, count, exportUrl,
  };
})();
