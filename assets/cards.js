// Pages with one card per tag: from the state and the catalogue of tags to what each card asks the server for.
// Counterpart of layouts/training/cards.py. tags.js has the list of tags, cards_slots.js the heads and tools of the cards.
//
// A page joins with mindscope.cards.define(<Page.name>, kind), where kind has
//   build(page)                     once; gives {left: [...], right: [...]}, the page's controls in the bar
//   draw(page)                      those controls, after every change of the state
//   ask(page, key)                  what the card of a tag asks for beside {tag, columns, run}: {name: [text, ...]}
//   tools(key)                      buttons in the card's head, <button data-act>; see iconButton
//   files(key)                      items of its download menu: imageItems(), links(...)
//   press(page, card, key)          the state of those tools
//   painted(page, card, key, meta)  {badges: [...], notes: [...]} for the head; meta is the drawing's own (see cards.py)
// and, where there is a need,
//   acts: {name(page, card, key, button)}   what its buttons do
//   moved(page, card, key, change)          plotly's relayoutData
//   forFile(page, card, key, figure)        the figure as an image file has it
//   fileTags(page, key), fileRange(page, key)  what a link of the download menu covers: [tag, ...], {from, to}
//   title(key)                              the text key of the title of a card that is not of one tag
//   cards(page)                             null, or the keys of the cards instead of one per tag
//   bare(page)                              whether something else stands in place of the cards
//   sides(page), putOn(page, side, tag)     tags are put on a left and a right axis instead of being ticked
//
// page.state is the state, page.chosen the tags that pass filter and ticks, page.shown the keys on this page of cards,
// page.asks what they ask for, page.drawings what the server answered (by slot), page.change({key: [...]}) writes the state.
(function () {
  "use strict";
  const mindscope = (window.mindscope = window.mindscope || {});
  const dash = (window.dash_clientside = window.dash_clientside || {});
  const NOT_A_CARD = null;
  // Columns are asked for in these sizes, so that a window one pixel wider asks for nothing new.
  const WIDTHS = [300, 420, 600, 850, 1200, 1700, 2400, 3400, 4800];
  const MARGINS = 68;
  const GAP = 8;
  const kinds = new Map();

  function define(name, kind) {
    kinds.set(name, kind);
  }

  // Pages on screen by the id of their root element; there may be several in somebody's own layout. fresh(root) is what a new
  // page has beside root, state, store(part), find(selector) and change({key: [...]}); begin(page) is called once for each.
  function keeper(fresh, begin) {
    const pages = new Map();

    function pageOf(rootId) {
      const root = document.getElementById(rootId);
      if (!root) return null;
      let page = pages.get(rootId);
      if (!page || page.root !== root) {
        page = {
          root, state: {},
          store: (part) => rootId.replace(/-root$/, `-${part}`),
          find: (selector) => root.querySelector(selector),
          ...fresh(root),
        };
        page.change = (changes) => { page.state = mindscope.state.set(page.store("state"), page.state, changes); };
        pages.set(rootId, page);
        begin(page);
      }
      return page;
    }

    return { pages, pageOf };
  }

  const { pageOf } = keeper((root) => ({
    kind: kinds.get(root.dataset.page), catalogue: null, shown: [], asks: [], chosen: [], drawings: new Map(), answered: new Map(),
    part: (part, slot) => ({ ms: root.dataset.instance, page: root.dataset.page, part, key: String(slot) }),
    slot: (number) => root.querySelector(`.ms-slot[data-slot="${number}"]`),
  }), (page) => {
    page.root.querySelectorAll(".ms-slot").forEach(furnish);
    new ResizeObserver(() => measure(page)).observe(page.find(".ms-slots"));
    buildBar(page);
    mindscope.tags.build(page);
  });

  // What stands in a card beside what the server draws.
  function furnish(card) {
    const body = card.querySelector(".ms-card-body");
    const cursor = make("div", "ms-plot-cursor", [], { hidden: "" });
    card.prepend(make("header", "ms-card-head"));
    body.prepend(make("div", "ms-skeleton"));
    body.append(cursor);
  }

  function pageAround(element) {
    const root = element instanceof Element && element.closest(".ms-tagged");
    return root ? pageOf(root.id) : null;
  }

  // Pages of one name that are on screen.
  function all(name) {
    return Array.from(document.querySelectorAll(`.ms-tagged[data-page="${name}"]`), (root) => pageOf(root.id));
  }

  // Widths -------------------------------------------------------------------------------------------------------------

  function measure(page) {
    if (!page.find(".ms-slots").clientWidth) return;
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
    return page.find(".ms-slots").clientWidth || 1200;
  }

  // Cards beside each other, as the grid of cards.css has it: of at least 340 px, at least 2 and at most 4.
  function across(page, count) {
    const width = gridWidth(page);
    const narrowest = Math.max(Math.min(340, (width - GAP) / 2), (width - 3 * GAP) / 4);
    return Math.min(Math.floor((width + GAP) / (narrowest + GAP) + 1e-6), Math.max(1, count));
  }

  function columns(page, count, full) {
    return bucketOf(full ? window.innerWidth : gridWidth(page) / across(page, count));
  }

  // Which tags ---------------------------------------------------------------------------------------------------------

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

  // Entries of the state about one card --------------------------------------------------------------------------------

  // They are "value:key"; the key of a card that is not of one tag is empty, "*" stands for all.
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

  // The plan -----------------------------------------------------------------------------------------------------------

  function ask(page, key) {
    const { state } = page;
    const wanted = { tag: [key], columns: [String(columns(page, page.shown.length, listed(state, "full", key)))] };
    if (state.run) wanted.run = state.run;
    return Object.assign(wanted, page.kind.ask(page, key));
  }

  function wantedCards(page) {
    const { state, catalogue, kind } = page;
    page.chosen = matching(catalogue.tags, last(state, "q", "")).filter(ticked(state));
    const own = kind.cards ? kind.cards(page) : null;
    const keys = own || page.chosen;
    page.paged = !own;
    page.size = page.root.querySelectorAll(".ms-slot").length;
    const most = Math.max(0, Math.ceil(keys.length / page.size) - 1);
    const number = own ? 0 : Math.min(most, Math.max(0, (Number(last(state, "page", "1")) || 1) - 1));
    page.first = number * page.size;
    page.shown = keys.slice(page.first, page.first + page.size);
    page.asks = page.shown.map((key) => ask(page, key));
  }

  function showState(page) {
    const { catalogue } = page;
    let name = "";
    if (!catalogue.runs.length) name = catalogue.total ? "no-runs" : "no-tags";
    else if (!catalogue.tags.length) name = catalogue.waiting ? "reading" : "no-tags";
    else if (!page.shown.length && !(page.kind.bare && page.kind.bare(page))) name = "no-match";
    for (const element of page.root.querySelectorAll("[data-state]")) element.hidden = element.dataset.state !== name;
    const reading = page.find('[data-state="reading"]');
    if (name === "reading") mindscope.i18n.write(reading, "cards.reading", { n: count(catalogue.waiting) });
    page.root.classList.toggle("ms-no-tags", name === "no-runs" || name === "no-tags");
  }

  // The bar above the cards --------------------------------------------------------------------------------------------

  function buildBar(page) {
    const fold = iconButton("menu", "cards.fold_tags", "tags");
    fold.addEventListener("click", () => page.change({ tags: last(page.state, "tags", "1") === "0" ? [] : ["0"] }));
    const { left, right } = page.kind.build(page);
    page.find(".ms-cards-controls").replaceChildren(fold, ...left, make("div", "ms-cards-right", [...right, pager(page)]));
  }

  function pager(page) {
    const range = make("span", "ms-range ms-muted");
    const buttons = [["left", "previous", -1], ["right", "next", 1]].map(([name, key, by]) => {
      const button = iconButton(name, `cards.${key}`, key);
      button.addEventListener("click", () => {
        const number = Math.floor(page.first / page.size) + 1 + by;
        page.change({ page: number > 1 ? [String(number)] : [] });
      });
      return button;
    });
    return make("div", "ms-pager", [buttons[0], range, buttons[1]]);
  }

  function drawBar(page) {
    page.root.classList.toggle("ms-tags-folded", last(page.state, "tags", "1") === "0");
    page.kind.draw(page);
    const element = page.find(".ms-pager");
    element.hidden = !page.paged || page.chosen.length <= page.size;
    if (element.hidden) return;
    const [first, end] = [page.first + 1, page.first + page.shown.length];
    mindscope.i18n.write(element.querySelector(".ms-range"), "cards.range",
      { first: count(first), last: count(end), total: count(page.chosen.length) });
    element.querySelector('[data-act="previous"]').disabled = page.first === 0;
    element.querySelector('[data-act="next"]').disabled = end >= page.chosen.length;
  }

  // Called by Dash -----------------------------------------------------------------------------------------------------

  dash.mindscope_cards = {
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
      wantedCards(page);
      showState(page);
      mindscope.tags.draw(page);
      drawBar(page);
      mindscope.slots.assign(page);
      const { same } = mindscope.state;
      return asks.map((old, slot) => {
        const next = slot < page.asks.length ? page.asks[slot] : NOT_A_CARD;
        return same(old === undefined ? null : old, next) ? window.dash_clientside.no_update : next;
      });
    },

    painted(drawing, id, rootId) {
      const page = pageOf(rootId);
      if (!page || !drawing) return;
      const slot = Number(id.key);
      page.answered.set(slot, page.asks[slot]);
      mindscope.slots.painted(page, slot, drawing);
    },

    // The first figure brings the graph with it; the graph stays and takes those that follow.
    placed(figure, id, rootId) {
      const page = pageOf(rootId);
      const place = page && page.slot(id.key).querySelector("[data-graph]");
      const { no_update: nothing, set_props: set } = window.dash_clientside;
      if (!place || !figure) return nothing;
      if (place.firstChild) {
        set(page.part("graph", id.key), { figure });
        return nothing;
      }
      const graph = JSON.parse(place.dataset.graph);
      return { ...graph, props: { ...graph.props, figure } };
    },

    moved(change, id, rootId) {
      const page = pageOf(rootId);
      const card = page && page.slot(id.key);
      if (!change || !page) return;
      if (card && page.kind.moved) page.kind.moved(page, card, card.dataset.key, change);
      // Dash tells of no change to what a property is already: the same drag once more would be lost.
      window.dash_clientside.set_props(id, { relayoutData: null });
    },
  };

  // Building blocks ----------------------------------------------------------------------------------------------------

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

  // Buttons of which one is on: [[value, text key], ...].
  function segments(label, choices, choose) {
    const buttons = choices.map(([value, key]) => {
      const button = make("button", "ms-button", words(key), { type: "button", "data-value": value });
      button.addEventListener("click", () => choose(value));
      return button;
    });
    const group = make("div", "ms-segments", buttons, { role: "group" });
    mindscope.i18n.label(group, "aria-label", label);
    return group;
  }

  function pressSegment(group, value) {
    for (const button of group.children) button.setAttribute("aria-pressed", String(button.dataset.value === value));
  }

  function badge(key, values, titleKey, tone = "plain") {
    const element = words(key, values, "span", `ms-badge ms-badge-${tone}`);
    if (titleKey) mindscope.i18n.label(element, "title", titleKey, values);
    return element;
  }

  function count(value) {
    return value.toLocaleString("en");
  }

  // The address of a plain route over the runs on screen; name is that of the file: "scalars.csv".
  function exportUrl(page, name, tags, extra = {}) {
    const query = new URLSearchParams();
    if (!(page.state.run || []).includes("*")) for (const run of page.catalogue.runs) query.append("run", run);
    for (const tag of tags || []) query.append("tag", tag);
    for (const [key, value] of Object.entries(extra)) query.append(key, value);
    return `${page.root.dataset.routes}${name}?${query}`;
  }

  mindscope.cards = {
    define, keeper, pageOf, pageAround, all, measure, across, last, pattern, matching, ticked, tick, entry, withEntry, listed, toggled,
    make, words, icon, iconButton, menu, segments, pressSegment, badge, count, exportUrl,
  };
})();
