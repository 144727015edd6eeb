// The histograms page in the browser, a page with one card per tag (cards.js). Counterpart of layouts/training/histograms.
(function () {
  "use strict";
  const mindscope = window.mindscope;
  const { cards, slots } = mindscope;
  const { make, words, badge, last, entry, withEntry, segments, pressSegment, count } = cards;
  const VIEWS = ["auto", "heat", "ridge", "overlay", "step", "numbers"];
  const AXES = ["step", "relative", "absolute"];
  const KINDS = ["NaN", "+Inf", "-Inf"];
  const SLIDER_WAIT_MS = 40;

  // The bar ------------------------------------------------------------------------------------------------------------

  function build(page) {
    mindscope.histogramHover.build(page, (card) => page.drawings.get(Number(card.dataset.slot)) || null);
    const set = (name, standard) => (value) => page.change({ [name]: value === standard ? [] : [value] });
    const view = segments("histograms.view", VIEWS.map((name) => [name, `histograms.${name}`]), set("view", "auto"));
    mindscope.i18n.label(view.firstChild, "title", "histograms.auto.title");
    const axis = segments("histograms.axis", AXES.map((name) => [name, `histograms.axis.${name}`]), set("x", "step"));
    const runs = segments("histograms.runs", [["over", "histograms.over"], ["beside", "histograms.beside"]],
      (value) => page.change({ beside: value === "beside" ? ["1"] : [] }));
    page.histogramControls = { view, axis, runs };
    return { left: [view, axis, runs], right: [] };
  }

  function draw(page) {
    const { view, axis, runs } = page.histogramControls;
    const now = last(page.state, "view", "auto");
    pressSegment(view, now);
    pressSegment(axis, last(page.state, "x", "step"));
    pressSegment(runs, last(page.state, "beside", "0") === "1" ? "beside" : "over");
    runs.hidden = now !== "step";
    axis.hidden = now === "step" || now === "overlay";
  }

  function ask(page, key) {
    const { state } = page;
    const wanted = {};
    const view = last(state, "view", "auto");
    const axis = last(state, "x", "step");
    const at = entry(state, "at", key);
    if (view !== "auto") wanted.view = [view];
    if (axis !== "step") wanted.x = [axis];
    if (axis === "absolute") wanted.zone = [String(-new Date().getTimezoneOffset())];
    if (view === "step" && at) wanted.at = [at];
    if (view === "step" && last(state, "beside", "0") === "1") wanted.beside = ["1"];
    return wanted;
  }

  // What a card says ---------------------------------------------------------------------------------------------------

  function painted(page, card, key, meta) {
    drawSlider(page, card, key, meta);
    mindscope.histogramHover.refresh(page, card);
    return { badges: warnings(meta), notes: notes(meta) };
  }

  function warnings(meta) {
    const result = [];
    const bad = KINDS.map((name, at) => [name, meta.bad[at]]).filter(([, n]) => n > 0).map(([name, n]) => `${count(n)} ${name}`);
    if (bad.length) {
      const element = make("span", "ms-badge ms-badge-wrong", bad.join(" · "));
      mindscope.i18n.label(element, "title", "histograms.bad.title");
      result.push(element);
    }
    if (meta.empty) result.push(badge("histograms.empty", { n: count(meta.empty) }, "histograms.empty.title", "wrong"));
    if (meta.unread) result.push(withTitle(badge("histograms.unread", { n: count(meta.unread) }, null, "wrong"), meta.reason));
    if (meta.problem) result.push(withTitle(make("span", "ms-badge ms-badge-wrong", "!"), meta.problem));
    return result;
  }

  function withTitle(element, text) {
    element.title = text;
    return element;
  }

  function notes(meta) {
    const result = [];
    if (meta.shown < meta.runs) {
      result.push(badge("histograms.of_runs", { shown: count(meta.shown), total: count(meta.runs) }, "histograms.of_runs.title", "accent"));
    }
    if (meta.view === "step") {
      result.push(...(meta.shown > 1 && meta.panels.length ? legend(meta) : []));
    } else if (meta.drawn < meta.steps) {
      result.push(badge("histograms.shown", { drawn: count(meta.drawn), steps: count(meta.steps) }, "histograms.shown.title", "accent"));
    } else result.push(badge("histograms.steps", { n: count(meta.steps) }));
    if (meta.newest) result.push(newest(meta.newest));
    return result;
  }

  function legend(meta) {
    return meta.panels.map((panel) => {
      const dot = make("span", "ms-dot", [], { "aria-hidden": "true" });
      dot.style.background = panel.colour;
      return make("span", "ms-histogram-run ms-cut", [dot, make("span", "ms-cut", panel.label)], { title: panel.label });
    });
  }

  function newest(facts) {
    if (facts.mean === undefined) return badge("histograms.newest.bad", { step: count(facts.step), n: count(facts.total) });
    const four = (value) => (value === null ? "?" : mindscope.histogramHover.short(value));
    return badge("histograms.newest", {
      step: count(facts.step), min: four(facts.min), max: four(facts.max), mean: four(facts.mean), n: count(facts.total),
    });
  }

  // The step slider of the view of one step ----------------------------------------------------------------------------

  function drawSlider(page, card, key, meta) {
    const host = card.querySelector(".ms-histogram-step");
    const steps = meta.choices ? Array.from(mindscope.histogramHover.array(meta.choices)) : [];
    host.hidden = steps.length === 0;
    card.classList.toggle("ms-with-step", !host.hidden);
    if (host.hidden) return;
    let slider = host.querySelector("input");
    if (!slider || slider.dataset.key !== key) {
      slider = make("input", "ms-slider", [], { type: "range", min: "0", step: "1" });
      slider.dataset.key = key;
      mindscope.i18n.label(slider, "aria-label", "histograms.slider");
      mindscope.i18n.label(slider, "title", "histograms.slider");
      let timer = 0;
      slider.addEventListener("input", () => {
        const step = host.steps[Number(slider.value)];
        host.querySelector(".ms-histogram-at").textContent = count(step);
        const newestStep = Number(slider.value) === host.steps.length - 1;
        window.clearTimeout(timer);
        timer = window.setTimeout(() => page.change({ at: withEntry(page.state, "at", key, newestStep ? "" : String(step)) }), SLIDER_WAIT_MS);
      });
      host.replaceChildren(words("histograms.axis.step", {}, "span", "ms-muted"), slider, make("output", "ms-histogram-at ms-number"));
    }
    host.steps = steps;
    slider.max = String(steps.length - 1);
    if (document.activeElement === slider && entry(page.state, "at", key)) return;
    const at = entry(page.state, "at", key) ? Number(entry(page.state, "at", key)) : steps[steps.length - 1];
    const index = Math.max(0, steps.findLastIndex((step) => step <= at));
    slider.value = String(index);
    host.querySelector(".ms-histogram-at").textContent = count(steps[index]);
  }

  cards.define("histograms", {
    build,
    draw,
    ask,
    painted,
    tools: () => [],
    press: () => {},
    files: () => [...slots.imageItems(), ...slots.links([["histograms.csv", "histograms.csv"]])],
  });
})();
