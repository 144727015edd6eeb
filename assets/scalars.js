// The scalars page in the browser, a page with one card per tag (cards.js). Counterpart of layouts/training/scalars.
// scalars_*.js hold the parts: controls (the bar), groups, table, tools (of a card), hover, threshold.
(function () {
  "use strict";
  const mindscope = window.mindscope;
  const cards = mindscope.cards;
  const { last, entry, listed } = cards;
  const dash = (window.dash_clientside = window.dash_clientside || {});
  const DEFAULT_AXIS = "step";
  const ONE = "";  // the key of the one chart of several tags

  function oneChart(page) {
    return last(page.state, "mode", "") === "one";
  }

  // Tags of the one chart: [those on the left axis, those on the right one].
  function synthesis(page) {
    const left = page.state.left || [];
    const right = page.state.right || [];
    if (left.length || right.length) return [left, right];
    return [page.chosen.slice(0, 1), page.chosen.slice(1, 2)];
  }

  function putOn(page, side, tag) {
    const [left, right] = synthesis(page);
    const was = side === "left" ? left.includes(tag) : right.includes(tag);
    const changes = { left: left.filter((name) => name !== tag), right: right.filter((name) => name !== tag) };
    if (!was) changes[side].push(tag);
    page.change(changes);
  }

  function ask(page, key) {
    const { state } = page;
    const axis = last(state, "x", DEFAULT_AXIS);
    const wanted = {};
    if (key === ONE) {
      const [left, right] = synthesis(page);
      wanted.tag = left;
      if (right.length) wanted.right = right;
    }
    if (axis !== DEFAULT_AXIS) wanted.x = [axis];
    if (axis === "absolute") wanted.zone = [String(-new Date().getTimezoneOffset())];
    if (Number(last(state, "smooth", "0")) > 0) wanted.smooth = [last(state, "smooth", "0")];
    const limits = thresholds(page, key);
    if (limits.length) wanted.threshold = limits;
    Object.assign(wanted, mindscope.scalars.groups.asked(page));
    const view = entry(state, "zoom", key);
    if (view) wanted.view = [view];
    for (const flag of ["log", "every", "pan"]) if (listed(state, flag, key)) wanted[flag] = ["1"];
    return wanted;
  }

  // That of the card; in the one chart, unless it has its own, those that its tags have on their cards.
  function thresholds(page, key) {
    const own = entry(page.state, "threshold", key);
    if (own || key !== ONE) return own ? [own] : [];
    return synthesis(page).flat().map((tag) => [entry(page.state, "threshold", tag), tag])
      .filter(([limit]) => limit).map(([limit, tag]) => `${limit}:${tag}`);
  }

  function tagsOf(page, key) {
    return key === ONE ? synthesis(page).flat() : [key];
  }

  cards.define("scalars", {
    build(page) {
      page.trails = new Map();  // card key -> views to go back to
      mindscope.scalars.hover.build(page);
      return mindscope.scalars.controls.build(page);
    },
    draw(page) {
      mindscope.scalars.controls.draw(page);
      mindscope.scalars.insights.draw(page);
    },
    cards(page) {
      if (mindscope.scalars.groups.inTable(page)) return [];
      if (!oneChart(page)) return null;
      return tagsOf(page, ONE).length ? [ONE] : [];
    },
    bare: (page) => mindscope.scalars.groups.inTable(page),
    sides: (page) => (oneChart(page) ? synthesis(page) : null),
    putOn,
    ask,
    title: () => "scalars.one",
    tools: () => mindscope.scalars.tools.buttons(),
    files: () => mindscope.scalars.tools.files(),
    press: (page, card, key) => mindscope.scalars.tools.press(page, card, key),
    painted: (page, card, key, meta) => mindscope.scalars.tools.painted(page, card, key, meta),
    moved: (page, card, key, change) => mindscope.scalars.tools.moved(page, key, change),
    forFile: (page, card, key, figure) => mindscope.scalars.tools.forFile(page, key, figure),
    fileTags: tagsOf,
    fileRange: (page, key) => mindscope.scalars.tools.fileRange(page, key),
    get acts() {
      return mindscope.scalars.tools.acts;
    },
  });

  dash.mindscope_scalars = {
    marks(answer, rootId) {
      const page = cards.pageOf(rootId);
      if (page && answer) mindscope.scalars.insights.received(page, answer);
    },

    filled(sheet, rootId) {
      const page = cards.pageOf(rootId);
      if (page && sheet) mindscope.scalars.groups.filled(page, sheet);
    },

    judged(verdict, rootId) {
      const page = cards.pageOf(rootId);
      if (page && verdict) mindscope.scalars.threshold.judged(page, verdict);
    },
  };

  mindscope.scalars = { oneChart, synthesis, thresholds };
})();
