// The computation graph page in the browser: which graph is shown, the controls, and what stands where there is none.
// Counterpart of layouts/training/graph. graph_canvas.js draws, graph_side.js has what stands beside the canvas.
(function () {
  "use strict";
  const mindscope = (window.mindscope = window.mindscope || {});
  const dash = (window.dash_clientside = window.dash_clientside || {});
  const { make, words, icon, menu, badge, segments, pressSegment, last, count } = mindscope.cards;
  const MOST_COMPARABLE = 500;
  const graph = (mindscope.graph = {});

  const { pages, pageOf } = mindscope.cards.keeper(() => ({
    catalogue: null, run: null, graph: null, drawing: null, keys: new Map(), opened: [], asked: null, there: null, fit: true,
    anchor: null, centre: false,
  }), build);

  function get(page, key, fallback = "") {
    return last(page.state, key, fallback);
  }

  // What is shown -----------------------------------------------------------------------------------------------------

  function choose(page) {
    const { runs } = page.catalogue;
    page.run = runs.find((one) => one.key === get(page, "of")) || runs[0] || null;
    const graphs = page.run ? page.run.graphs : [];
    page.graph = graphs.find((one) => one.name === get(page, "graph")) || graphs[0] || null;
    page.against = get(page, "with") ? [get(page, "with"), get(page, "other")] : null;
  }

  function of(page) {
    const found = { run: [page.run.key], graph: [page.graph.name], mark: [page.graph.mark] };
    if (get(page, "simple") === "1") found.simple = ["1"];
    if (page.against) [found.with, found.other] = page.against.map((one) => [one]);
    return found;
  }

  function sameGraph(one, other) {
    const same = (key) => mindscope.state.same(one[key] || [], other[key] || []);
    return Boolean(one && other) && ["run", "graph", "mark", "with", "other"].every(same);
  }

  // All graphs but the one shown, those of its own run first: [[run, graph], ...].
  function comparable(page) {
    const all = [page.run, ...page.catalogue.runs.filter((run) => run !== page.run)];
    const pairs = all.flatMap((run) => run.graphs.map((one) => [run.key, one.name]));
    return pairs.slice(0, MOST_COMPARABLE + 1).filter(([key, name]) => key !== page.run.key || name !== page.graph.name);
  }

  // Whether what a name is of can be pointed at on the canvas.
  function drawn(page, name) {
    return page.keys.has(name);
  }

  function ask(page) {
    const found = of(page);
    for (const key of ["open", "page", "hide"]) if ((page.state[key] || []).length) found[key] = page.state[key];
    const node = get(page, "node");
    const fresh = !sameGraph(found, page.asked) || Boolean(found.simple) !== Boolean(page.asked.simple);
    if (node && (fresh || !drawn(page, node)) && node !== page.sought) found.node = [node];
    if (mindscope.prefs.current().theme === "dark") found.theme = ["dark"];
    return found;
  }

  function about(page) {
    const node = get(page, "node");
    return node ? { ...of(page), node: [node] } : of(page);
  }

  function query(page) {
    const found = { ...of(page), q: [get(page, "q")] };
    if (get(page, "regex") === "1") found.regex = ["1"];
    return found;
  }

  // Opens the view that shows a name, and puts it in the middle.
  graph.go = (page, name) => {
    if (get(page, "node") === name && drawn(page, name)) {
      graph.canvas.centre(page, name);
      return;
    }
    page.sought = null;
    page.centre = true;
    page.change({ node: [name] });
  };

  graph.choose = (page, name) => page.change({ node: name ? [name] : [] });

  // Opens or closes a box; with its element where it is to stay in its place.
  graph.toggle = (page, name, open) => {
    if (!/^[skf]/.test(name)) return;
    const rest = page.opened.filter((one) => one !== name);
    const opened = open ? [...rest, name] : rest;
    page.anchor = name;
    page.change({ open: opened.length ? opened : [""], node: [name] });
  };

  graph.turn = (page, to) => {
    const name = to.replace(/^\d+:/, "");
    const rest = (page.state.page || []).filter((one) => one.replace(/^\d+:/, "") !== name);
    page.fit = !name;
    page.change({ page: [...rest, to], open: page.opened.length ? page.opened : [""] });
  };

  function showState(page) {
    const { catalogue } = page;
    let name = "";
    if (!catalogue.chosen) name = "no-runs";
    else if (!page.graph) name = catalogue.waiting ? "reading" : "none";
    for (const element of page.root.querySelectorAll("[data-state]")) element.hidden = element.dataset.state !== name;
    const tables = get(page, "view") === "statistics";
    page.find(".ms-graph-body").hidden = name !== "" || tables;
    page.find(".ms-graph-statistics").hidden = name !== "" || !tables;
    page.find(".ms-graph-controls").hidden = name !== "";
    page.find(".ms-graph-elsewhere").replaceChildren(...others(page));
    page.find(".ms-graph-refused").replaceChildren(...catalogue.refused.map(([file, reason]) =>
      make("p", "", [make("span", "ms-mono", file), " ", reason])));
  }

  // Runs that are not chosen and have graphs, a press away.
  function others(page) {
    const { elsewhere } = page.catalogue;
    if (!elsewhere.length) return [];
    return [words("graph.elsewhere", {}, "span", "ms-muted"), ...elsewhere.map(({ key, name }) => {
      const button = make("button", "ms-button ms-cut", name, { type: "button", title: name });
      button.addEventListener("click", () => page.change({ run: [key] }));
      return button;
    })];
  }

  // Controls ----------------------------------------------------------------------------------------------------------

  const FRESH = { open: [], page: [], node: [], with: [], other: [], into: [], flag: [] };

  function select(name, label, chosen) {
    const element = make("select", "ms-input", [], { "data-control": name });
    for (const attribute of ["title", "aria-label"]) mindscope.i18n.label(element, attribute, label);
    element.addEventListener("change", () => chosen(element.value));
    return element;
  }

  function options(element, choices, chosen) {
    const wanted = JSON.stringify(choices);
    if (element.dataset.choices !== wanted) {
      element.dataset.choices = wanted;
      element.replaceChildren(...choices.map(([value, text]) => make("option", "", text, { value })));
    }
    element.value = chosen;
  }

  function toggleButton(name, press) {
    const button = make("button", "ms-button", words(`graph.${name}`), { type: "button", "data-control": name, "aria-pressed": "false" });
    mindscope.i18n.label(button, "title", `graph.${name}.tip`);
    button.addEventListener("click", press);
    return button;
  }

  function hide(page, kind) {
    const hidden = page.state.hide || [];
    page.change({ hide: hidden.includes(kind) ? hidden.filter((one) => one !== kind) : [...hidden, kind] });
  }

  function build(page) {
    page.runs = select("of", "graph.run", (key) => page.change({ ...FRESH, of: [key], graph: [] }));
    page.graphs = select("graph", "graph.graph", (name) => page.change({ ...FRESH, graph: [name] }));
    page.views = segments("graph.view", [["", "graph.view.graph"], ["statistics", "graph.view.statistics"]],
      (view) => page.change({ view: view ? [view] : [] }));
    page.simple = toggleButton("simple", () => {
      page.fit = true;
      page.change({ simple: get(page, "simple") === "1" ? [] : ["1"] });
    });
    page.parameters = toggleButton("parameters", () => hide(page, "parameter"));
    page.constants = toggleButton("constants", () => hide(page, "constant"));
    page.compare = toggleButton("compare", () => against(page, page.against ? null : comparable(page)[0]));
    page.others = select("with", "graph.with", (pair) => against(page, JSON.parse(pair)));
    page.hiddenCount = make("span", "ms-muted ms-graph-hidden");
    const collapse = page.collapse = make("button", "ms-button", words("graph.collapse"), { type: "button", "data-control": "collapse" });
    collapse.addEventListener("click", () => {
      page.fit = true;
      page.change({ open: [""], page: [], node: [] });
    });
    page.counts = make("span", "ms-muted ms-graph-counts");
    page.left = make("span", "ms-muted");
    page.find(".ms-graph-controls").replaceChildren(
      page.views, page.runs, page.graphs, page.left, page.simple, page.hiddenCount, page.parameters, page.constants, collapse,
      page.compare, page.others,
      make("span", "ms-grow"), page.counts,
    );
    buildHead(page);
    graph.side.build(page);
    graph.canvas.build(page);
    graph.treemap.build(page);
  }

  function against(page, pair) {
    page.fit = true;
    page.change({ page: [], node: [], with: pair ? [pair[0]] : [], other: pair ? [pair[1]] : [] });
  }

  const FORMS = ["svg", "png", "dot", "json", "all.dot", "all.json"];

  function buildHead(page) {
    const summary = make("summary", "ms-button ms-button-icon", icon("download"));
    for (const attribute of ["title", "aria-label"]) mindscope.i18n.label(summary, attribute, "graph.save");
    const items = FORMS.map((form) => make("button", "ms-menu-item", words(`graph.save.${form}`), { type: "button", "data-save": form }));
    page.find(".ms-graph-main .ms-card-tools").prepend(menu(summary, items));
    page.root.addEventListener("click", (event) => {
      const button = event.target instanceof Element && event.target.closest("[data-act], [data-save]");
      if (!button) return;
      if (button.dataset.save) save(page, button.dataset);
      else if (acts[button.dataset.act]) acts[button.dataset.act](page);
    });
  }

  const acts = {
    fit: (page) => graph.canvas.fit(page),
    full: (page) => page.change({ full: get(page, "full") === "1" ? [] : ["1"] }),
  };

  // data: what stands on the pressed button: the form, of what is about one box its name, and the name of an attribute.
  function save(page, data) {
    const form = data.save;
    if (form === "png") {
      graph.canvas.png(page);
      return;
    }
    const opened = page.opened.length ? page.opened : [""];
    page.saved = (page.saved || 0) + 1;
    const wanted = { ...ask(page), open: opened, into: page.state.into || [], form: [form], turn: [String(page.saved)] };
    if (data.node !== undefined) wanted.node = [data.node];
    if (data.attribute !== undefined) wanted.attribute = [data.attribute];
    window.dash_clientside.set_props(page.store("save"), { data: wanted });
  }

  function drawControls(page) {
    const { runs, left } = page.catalogue;
    page.runs.hidden = runs.length < 2;
    options(page.runs, runs.map((run) => [run.key, run.name]), page.run.key);
    const { text } = mindscope.i18n;
    const named = (one) => (one.stage ? text("graph.stage", { name: one.name, stage: one.stage }) : one.name);
    options(page.graphs, page.run.graphs.map((one) => [one.name, named(one)]), page.graph.name);
    if (page.run.total > page.run.graphs.length) {
      mindscope.i18n.write(page.left, "graph.first_of", { n: count(page.run.graphs.length), total: count(page.run.total) });
    } else if (left) mindscope.i18n.write(page.left, "graph.left", { n: count(left) });
    page.left.hidden = !left && page.run.total <= page.run.graphs.length;
    const press = (button, on) => button.setAttribute("aria-pressed", String(on));
    pressSegment(page.views, get(page, "view"));
    const tables = get(page, "view") === "statistics";
    for (const control of [page.parameters, page.constants, page.collapse]) control.hidden = tables;
    press(page.simple, get(page, "simple") === "1");
    press(page.parameters, !(page.state.hide || []).includes("parameter"));
    press(page.constants, !(page.state.hide || []).includes("constant"));
    drawCompared(page);
    const [main, full] = [page.find(".ms-graph-main"), get(page, "full") === "1"];
    if (main.classList.contains("ms-full") !== full) graph.canvas.turn(page);
    main.classList.toggle("ms-full", full);
  }

  function drawCompared(page) {
    const pairs = comparable(page);
    page.compare.hidden = !pairs.length && !page.against;
    page.compare.setAttribute("aria-pressed", String(Boolean(page.against)));
    page.others.hidden = !page.against;
    page.root.classList.toggle("ms-graph-compared", Boolean(page.against));
    if (!page.against) return;
    const named = new Map(page.catalogue.runs.map((run) => [run.key, run.name]));
    const choices = pairs.map((pair) => [JSON.stringify(pair), mindscope.i18n.text("graph.of_run", { run: named.get(pair[0]), graph: pair[1] })]);
    const chosen = JSON.stringify(page.against);
    if (!choices.some(([value]) => value === chosen)) choices.unshift([chosen, page.against.join(" · ")]);
    options(page.others, choices, chosen);
  }

  // The head of the canvas --------------------------------------------------------------------------------------------

  function drawHead(page) {
    const { meta } = page.drawing;
    const title = page.find(".ms-graph-main .ms-card-title");
    title.textContent = page.run ? `${page.run.name} · ${meta.title || page.graph.name}` : "";
    title.title = title.textContent;
    const badges = [];
    if (meta.closed) badges.push(badge("graph.closed", { n: count(meta.closed) }, "graph.closed.tip", "accent"));
    if (meta.bare) badges.push(badge("graph.bare", {}, "graph.bare.tip", "accent"));
    if (meta.problems.length) badges.push(badge("graph.damaged", {}, null, "wrong"));
    page.find(".ms-graph-main .ms-card-badges").replaceChildren(...badges);
    const message = page.find(".ms-graph-message");
    const lines = meta.problems.map((problem) => make("p", "", problem));
    if (!meta.broken && !meta.boxes) lines.push(words("graph.empty_graph", {}, "p", "ms-muted"));
    message.replaceChildren(...lines);
    message.hidden = !lines.length;
    if (meta.counts) {
      const numbers = Object.fromEntries(Object.entries(meta.counts).map(([name, many]) => [name, count(many)]));
      mindscope.i18n.write(page.counts, "graph.counts", numbers);
    }
    drawHidden(page, meta.hidden || {}, meta.kept);
  }

  function drawHidden(page, hidden, kept) {
    const rules = Object.entries(hidden);
    page.hiddenCount.hidden = !rules.length;
    if (!rules.length) return;
    const total = rules.reduce((sum, [, many]) => sum + many, 0);
    mindscope.i18n.write(page.hiddenCount, "graph.hidden", { n: count(total) });
    const named = (language) => [...rules, ...(kept ? [["kept", kept]] : [])].map(([rule, many]) => {
      const key = ["gradient", "optimizer", "unused", "kept"].includes(rule) ? `graph.hidden.${rule}` : "graph.hidden.other";
      return mindscope.i18n.both(key, { rule, n: count(many) })[language];
    }).join("\n");
    const element = page.hiddenCount;
    [element.dataset.enTitle, element.dataset.zhTitle] = [named(0), named(1)];
    element.title = named(mindscope.i18n.language() === "zh" ? 1 : 0);
  }

  function put(rootId, data, place, then) {
    const page = pageOf(rootId);
    if (!page || !data) return;
    mindscope.markup(page.find(place), data);
    if (then) then(page);
  }

  // Called by Dash ----------------------------------------------------------------------------------------------------

  dash.mindscope_graph = {
    chosen(state, now) {
      const runs = state && state.run ? { run: state.run } : {};
      return mindscope.state.same(runs, now) ? window.dash_clientside.no_update : runs;
    },

    plan(state, catalogue, _prefs, rootId) {
      const { no_update } = window.dash_clientside;
      const page = pageOf(rootId);
      const nothing = Array(6).fill(no_update);
      if (!page || !catalogue) return nothing;
      page.state = state || {};
      page.catalogue = catalogue;
      choose(page);
      showState(page);
      if (!page.graph) return nothing;
      drawControls(page);
      graph.side.drawSearch(page);
      const wanted = ask(page);
      const { same } = mindscope.state;
      const known = page.sent || [];
      const counted = get(page, "view") === "statistics" ? [of(page), ...graph.treemap.asks(page, of(page))] : known.slice(2, 5);
      const asks = [about(page), query(page), ...counted];
      page.sent = asks;
      while (asks.length < 5) asks.push(null);
      const rest = asks.map((one, place) => (!one || same(one, known[place]) ? no_update : one));
      if (same(wanted, page.asked)) {
        graph.canvas.mark(page);
        return [no_update, ...rest];
      }
      if (!sameGraph(wanted, page.asked)) page.fit = true;
      page.asked = wanted;
      page.root.classList.add("ms-graph-busy");
      return [wanted, ...rest];
    },

    // Called with what the server drew: where the camera is to be is decided before anything is on screen.
    place(drawing, rootId) {
      const { no_update } = window.dash_clientside;
      const page = pageOf(rootId);
      if (!page || !drawing || !page.graph) return [no_update, no_update];
      const { meta } = drawing;
      const other = page.against || [];
    if (meta.of.run !== page.run.key || meta.of.graph !== page.graph.name || !mindscope.state.same(meta.of.against, other)) return [no_update, no_update];
      const before = page.drawing;
      page.drawing = drawing;
      page.root.classList.remove("ms-graph-busy");
      page.keys = graph.canvas.keys(drawing.elements);
      page.opened = meta.opened || [];
      if (page.asked && page.asked.node) {
        // What was opened to show a box is part of the view from now on, and of its link.
        page.sought = page.asked.node[0];
        if (meta.chosen) page.centre = true;
        if (page.state.open || before) page.change({ open: page.opened.length ? page.opened : [""], page: meta.pages });
        page.asked = ask(page);
      }
      drawHead(page);
      graph.side.drawTree(page);
      graph.canvas.placed(page, before);
      return [drawing.elements, drawing.stylesheet];
    },

    panel(data, rootId) {
      put(rootId, data, ".ms-graph-panel");
    },

    results(data, rootId) {
      put(rootId, data, ".ms-graph-results", graph.side.found);
    },

    tables(data, rootId) {
      ["types", "scopes", "parameters"].forEach((name, place) => put(rootId, data && data[place], `[data-table="${name}"]`));
    },

    flagged(data, rootId) {
      put(rootId, data, '[data-table="flagged"]');
    },

    tiles(data, rootId) {
      const page = pageOf(rootId);
      if (page && data) graph.treemap.draw(page, data);
    },
  };

  // Keys --------------------------------------------------------------------------------------------------------------

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const target = event.target instanceof Element ? event.target : null;
    const root = document.querySelector(".ms-shell .ms-graph") || (target && target.closest(".ms-graph"));
    const page = root && pages.get(root.id);
    if (!page || !page.drawing) return;
    if (event.key === "Escape" && get(page, "full") === "1") acts.full(page);
    else if (event.key === "Escape" && !(target && target.closest("input, details[open]"))) graph.choose(page, "");
    if (target && target.closest("input, select, button, summary, a, textarea")) return;
    const act = { f: acts.full, 0: acts.fit, "+": (one) => graph.canvas.zoom(one, 1.25), "=": (one) => graph.canvas.zoom(one, 1.25),
      "-": (one) => graph.canvas.zoom(one, 0.8) }[event.key];
    const inside = target && target.closest(".ms-graph-canvas");
    if (act) act(page);
    else if (!inside || !graph.canvas.key(page, event.key)) return;
    event.preventDefault();
  });

  graph.get = get;
})();
