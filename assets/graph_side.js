// What stands beside the canvas of the computation graph: search with its results, the tree of scopes, the panel's jumps.
(function () {
  "use strict";
  const mindscope = window.mindscope;
  const graph = mindscope.graph;
  const { make, words, iconButton, count } = mindscope.cards;
  const WAIT_MS = 180;

  function build(page) {
    const input = make("input", "ms-input ms-filter ms-grow", [], { type: "search", autocomplete: "off", spellcheck: "false" });
    for (const name of ["placeholder", "aria-label"]) mindscope.i18n.label(input, name, "graph.search");
    mindscope.i18n.label(input, "title", "graph.search.tip");
    let timer = 0;
    const put = () => page.change({ q: input.value ? [input.value] : [] });
    input.addEventListener("input", () => {
      window.clearTimeout(timer);
      timer = window.setTimeout(put, WAIT_MS);
    });
    input.addEventListener("keydown", (event) => {
      const first = page.find(".ms-graph-result");
      if (event.key === "Enter" && first) first.click();
      else if (event.key === "ArrowDown" && first) first.focus();
      else if (event.key === "Escape") {
        input.value = "";
        put();
        input.blur();
      } else return;
      event.preventDefault();
    });
    page.regex = make("button", "ms-button ms-mono", ".*", { type: "button", "aria-pressed": "false" });
    for (const name of ["title", "aria-label"]) mindscope.i18n.label(page.regex, name, "graph.regex");
    page.regex.addEventListener("click", () => page.change({ regex: graph.get(page, "regex") === "1" ? [] : ["1"] }));
    page.input = input;
    page.find(".ms-graph-search").replaceChildren(input, page.regex);
    for (const part of ["body", "statistics"]) {
      page.find(`.ms-graph-${part}`).addEventListener("click", (event) => pressed(page, event));
    }
    page.find(".ms-graph-left").addEventListener("keydown", walk);
    page.find(".ms-graph-right").addEventListener("keydown", walk);
  }

  function pressed(page, event) {
    const button = event.target instanceof Element && event.target.closest("[data-go], [data-open], [data-find], [data-toggle]");
    if (!button) return;
    const { go, open, find, toggle } = button.dataset;
    // A table leads to the canvas.
    if (graph.get(page, "view")) page.change({ view: [] });
    if (go) graph.go(page, go);
    else if (open) {
      page.centre = true;
      graph.toggle(page, open, true);
    } else if (find) page.change({ q: [find] });
    else graph.toggle(page, toggle, button.getAttribute("aria-expanded") !== "true");
  }

  // Up and down go through the lines of a list.
  function walk(event) {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const line = event.target instanceof Element && event.target.closest("button");
    if (!line) return;
    const lines = Array.from(event.currentTarget.querySelectorAll(".ms-graph-result, .ms-graph-name, .ms-graph-line"));
    const next = lines[lines.indexOf(line) + (event.key === "ArrowDown" ? 1 : -1)];
    if (next) next.focus();
    else return;
    event.preventDefault();
  }

  function drawSearch(page) {
    const wanted = graph.get(page, "q");
    if (document.activeElement !== page.input && page.input.value !== wanted) page.input.value = wanted;
    page.regex.setAttribute("aria-pressed", String(graph.get(page, "regex") === "1"));
  }

  function found(page) {
    page.find(".ms-graph-left").classList.toggle("ms-graph-found", Boolean(page.find(".ms-graph-results > *")));
  }

  // The tree: what can be opened, as the canvas has it.
  function drawTree(page) {
    const lines = page.drawing.meta.tree.map(([name, depth, kind, label, many, members, opened, mark]) => {
      const arrow = iconButton(opened ? "down" : "right", opened ? "graph.close" : "graph.open", "");
      arrow.removeAttribute("data-act");
      arrow.dataset.toggle = name;
      arrow.setAttribute("aria-expanded", String(opened));
      const shown = members > 1 ? `${label} ×${count(members)}` : label;
      const dot = mark && mark !== "same" ? [make("span", `ms-graph-mark ms-graph-mark-${mark}`)] : [];
      const text = make("button", "ms-graph-name", [...dot, make("span", "ms-cut", shown), make("span", "ms-muted ms-number", count(many))],
        { type: "button", "data-go": name, title: name.replace(/^[sk]:/, "") });
      const line = make("div", `ms-graph-branch ms-graph-branch-${kind}`, [arrow, text],
        { role: "treeitem", "aria-expanded": String(opened), "aria-level": String(depth + 1), "data-name": name });
      line.style.paddingLeft = `${Math.min(depth, 12) * 12}px`;
      return line;
    });
    const host = page.find(".ms-graph-tree");
    const focused = host.contains(document.activeElement) && document.activeElement.closest(".ms-graph-branch");
    const [name, toggle] = focused ? [focused.dataset.name, Boolean(document.activeElement.dataset.toggle)] : [null, false];
    host.replaceChildren(words("graph.tree", {}, "h4"), ...lines);
    const again = name && lines.find((line) => line.dataset.name === name);
    if (again) again.querySelector(toggle ? "[data-toggle]" : ".ms-graph-name").focus();
    markTree(page);
  }

  function markTree(page) {
    const chosen = graph.get(page, "node");
    for (const line of page.root.querySelectorAll(".ms-graph-branch")) {
      const on = line.dataset.name === chosen;
      if (on && line.getAttribute("aria-selected") !== "true") line.scrollIntoView({ block: "nearest" });
      line.setAttribute("aria-selected", String(on));
    }
  }

  graph.side = { build, drawSearch, found, drawTree, markTree };
})();
