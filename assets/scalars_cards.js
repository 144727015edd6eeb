// One card of the scalars page: its head, what it says about its points, its tools, its zoom.
(function () {
  "use strict";
  const mindscope = window.mindscope;
  const scalars = mindscope.scalars;
  const { make, words, icon, iconButton, menu, entry, withEntry, listed, toggled, count } = scalars;
  const HEIGHTS = [460, 340, 272];  // px, by rows of cards
  const KINDS = [["nan", "NaN"], ["above", "+Inf"], ["below", "-Inf"]];

  function keyOf(card) {
    return card.dataset.key;
  }

  function plotOf(card) {
    return card.querySelector(".js-plotly-plot");
  }

  // Slots and heads ----------------------------------------------------------------------------------------------------

  function assign(page) {
    const cards = page.root.querySelectorAll(".ms-scalar-card");
    const full = scalars.last(page.state, "full", null);
    cards.forEach((card, slot) => {
      const used = slot < page.shown.length;
      card.hidden = !used;
      if (!used) return;
      const key = page.shown[slot];
      if (card.dataset.key !== key) {
        card.dataset.key = key;
        head(page, card, key);
        card.classList.add("ms-pending");
      }
      const filled = page.figures.get(slot);
      if (filled && key && filled.layout.meta.tags[0] === key) painted(page, slot, filled);
      card.classList.toggle("ms-full", full === key);
      tools(page, card, key);
    });
    page.find(".ms-scalar-grid").style.setProperty("--ms-card-height", `${height(page)}px`);
    scalars.measure(page);
  }

  // One or two rows of cards need not leave half of the screen empty.
  function height(page) {
    const rows = Math.ceil(page.shown.length / scalars.across(page, page.shown.length));
    return HEIGHTS[Math.min(rows, HEIGHTS.length) - 1] || HEIGHTS[0];
  }

  function head(page, card, key) {
    const title = make("h3", "ms-card-title");
    if (key) {
      title.textContent = key;
      title.title = key;
    } else mindscope.i18n.write(title, "scalars.one");
    const header = card.querySelector(".ms-card-head");
    header.replaceChildren(title, make("span", "ms-card-badges"), make("span", "ms-card-notes"), toolbar(key));
    if (key) card.setAttribute("aria-label", key);
    else mindscope.i18n.label(card, "aria-label", "scalars.one");
  }

  function toolbar(key) {
    const buttons = [["back", "back"], ["restore", "restore"], ["zoom", "zoom"], ["log", "log"], ["threshold", "threshold"]]
      .map(([name, act]) => iconButton(name, `scalars.${act}`, act));
    const summary = make("summary", "ms-button ms-button-icon", icon("download"));
    mindscope.i18n.label(summary, "title", "scalars.save");
    mindscope.i18n.label(summary, "aria-label", "scalars.save");
    const image = ["png", "svg"].map((format) => make("button", "ms-menu-item", words(`scalars.save.${format}`),
      { type: "button", "data-act": format }));
    const data = ["csv", "json"].map((format) => make("a", "ms-menu-item", words(`scalars.save.${format}`),
      { "data-save": format, download: "" }));
    const bar = make("span", "ms-card-tools", [...buttons, menu(summary, [...image, ...data]), iconButton("full", "scalars.full", "full")],
      { role: "toolbar" });
    mindscope.i18n.label(bar, "aria-label", "scalars.tools");
    return bar;
  }

  function press(card, act, on) {
    const button = card.querySelector(`[data-act="${act}"]`);
    if (button) button.setAttribute("aria-pressed", String(on));
  }

  function tools(page, card, key) {
    press(card, "full", listed(page.state, "full", key));
    press(card, "log", listed(page.state, "log", key));
    press(card, "zoom", !listed(page.state, "pan", key));
    press(card, "threshold", entry(page.state, "threshold", key) !== "");
    const zoomed = entry(page.state, "zoom", key) !== "";
    for (const act of ["back", "restore"]) card.querySelector(`[data-act="${act}"]`).disabled = !zoomed;
    card.classList.toggle("ms-zoomed", zoomed);
  }

  // What the figure says -----------------------------------------------------------------------------------------------

  function painted(page, slot, figure) {
    page.figures.set(slot, figure);
    const card = page.slot(slot);
    const meta = figure.layout && figure.layout.meta;
    if (!card || !meta || card.hidden) return;
    const key = keyOf(card);
    const wanted = key ? [key] : scalars.synthesis(page).flat();
    if (!mindscope.state.same(meta.tags, wanted)) return;
    card.classList.remove("ms-pending");
    card.querySelector(".ms-card-badges").replaceChildren(...warnings(meta));
    card.querySelector(".ms-card-notes").replaceChildren(...legend(meta), ...notes(page, key, meta));
    mindscope.scalars.hover.refresh(page, card);
  }

  function badge(key, values, titleKey, tone = "plain") {
    const element = words(key, values, "span", `ms-badge ms-badge-${tone}`);
    if (titleKey) mindscope.i18n.label(element, "title", titleKey, values);
    return element;
  }

  function warnings(meta) {
    const result = [];
    const bad = KINDS.filter(([name]) => meta[name] > 0).map(([name, text]) => `${count(meta[name])} ${text}`).join(" · ");
    if (bad) result.push(jump(bad, meta.first));
    if (meta.interval) {
      const values = { interval: meta.interval, n: count(meta.satisfied) };
      result.push(badge("scalars.satisfied", values, "scalars.satisfied.title", meta.satisfied ? "wrong" : "plain"));
    }
    return result;
  }

  function notes(page, key, meta) {
    const result = [];
    if (meta.lines < meta.series) {
      result.push(badge("scalars.lines", { shown: count(meta.lines), total: count(meta.series) }, null, "accent"));
      result.push(make("button", "ms-badge ms-badge-button", words("scalars.every"), { type: "button", "data-act": "every" }));
    }
    const values = { n: count(meta.points - meta.unplaced), inside: count(meta.inside) };
    const zoomed = entry(page.state, "zoom", key) !== "";
    const points = zoomed ? "scalars.points.part" : meta.whole ? "scalars.points" : "scalars.points.drawn";
    result.push(badge(points, values, meta.whole ? "scalars.points.whole" : "scalars.points.title"));
    if (meta.hidden) result.push(badge("scalars.hidden", { n: count(meta.hidden) }));
    if (meta.unplaced) result.push(badge("scalars.unplaced", { n: count(meta.unplaced) }));
    return result;
  }

  function jump(what, first) {
    const button = make("button", "ms-badge ms-badge-wrong ms-badge-button", what, { type: "button", "data-act": "jump" });
    if (!first) {
      button.disabled = true;
      return button;
    }
    button.dataset.low = first.low;
    button.dataset.high = first.high;
    mindscope.i18n.label(button, "title", "scalars.bad.title", { what, step: count(first.step), run: first.label });
    return button;
  }

  function legend(meta) {
    return meta.legend.map((item) => {
      const stroke = make("span", `ms-stroke ms-stroke-${item.stroke}`, [], { "aria-hidden": "true" });
      if (item.colour) stroke.style.color = item.colour;
      const side = item.axis === 2 ? " → R" : "";
      return make("span", "ms-legend ms-cut", [stroke, make("span", "ms-cut", item.tag + side)], { title: item.tag });
    });
  }

  // Zoom ---------------------------------------------------------------------------------------------------------------

  function zoneMs(page) {
    return scalars.last(page.state, "x", "") === "absolute" ? -new Date().getTimezoneOffset() * 60000 : null;
  }

  // What plotly calls a place on the axis, as the state writes it.
  function toState(page, value) {
    const zone = zoneMs(page);
    if (zone === null) return Number(value);
    const ms = typeof value === "number" ? value : Date.parse(`${value.replace(" ", "T")}Z`);
    return (ms - zone) / 1000;
  }

  function short(value, digits = 9) {
    return String(Number(value.toPrecision(digits)));
  }

  function setView(page, key, view, remember) {
    const now = entry(page.state, "zoom", key);
    if (view === now) return;
    const trail = page.trails.get(key) || [];
    if (remember) page.trails.set(key, [...trail, now]);
    page.change({ zoom: withEntry(page.state, "zoom", key, view) });
  }

  function moved(page, slot, change) {
    const card = page.slot(slot);
    const key = keyOf(card);
    if (change["xaxis.autorange"] || change["yaxis.autorange"]) {
      if (entry(page.state, "zoom", key)) setView(page, key, "", true);
      return;
    }
    const [x0, x1, y0, y1] = ["xaxis", "yaxis"].flatMap((axis) => [change[`${axis}.range[0]`], change[`${axis}.range[1]`]]);
    if (x0 === undefined && y0 === undefined) return;
    const view = (entry(page.state, "zoom", key) || ",,,").split(",");
    if (x0 !== undefined) {
      const digits = zoneMs(page) === null ? 9 : 14;
      view[0] = short(toState(page, x0), digits);
      view[1] = short(toState(page, x1), digits);
    }
    if (y0 !== undefined && y1 !== undefined) {
      const log = listed(page.state, "log", key);
      [view[2], view[3]] = [y0, y1].map((value) => short(log ? 10 ** value : Number(value)));
    }
    if (Number(view[0]) < Number(view[1]) || (view[0] === "" && view[2] !== "")) setView(page, key, view.join(","), true);
  }

  function back(page, key) {
    const trail = page.trails.get(key) || [];
    const view = trail.length ? trail[trail.length - 1] : "";
    page.trails.set(key, trail.slice(0, -1));
    setView(page, key, view, false);
  }

  function restore(page, key) {
    setView(page, key, "", true);
  }

  function jumpTo(page, key, button) {
    const [low, high] = [Number(button.dataset.low), Number(button.dataset.high)];
    const half = (high - low) / 2 || 1;
    const zone = zoneMs(page);
    const place = (value) => (zone === null ? short(value) : short((value - zone) / 1000, 14));
    setView(page, key, `${place(low === high ? low - half : low)},${place(low === high ? high + half : high)},,`, true);
  }

  // Saving -------------------------------------------------------------------------------------------------------------

  function fileName(text) {
    return text.replace(/[^\p{L}\p{N}._-]+/gu, "_").replace(/^[._]+/, "").slice(0, 80) || "chart";
  }

  // plotly takes some of html for markup in its texts.
  function plain(text) {
    return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  }

  // On the page css colours the plot; a file needs the colours in it.
  function forFile(card, key) {
    const plot = plotOf(card);
    const style = getComputedStyle(card);
    const colour = (name) => style.getPropertyValue(name).trim();
    const layout = structuredClone(plot.layout);
    for (const name of ["xaxis", "yaxis", "yaxis2"]) {
      if (layout[name]) Object.assign(layout[name], { gridcolor: colour("--ms-plot-grid"), zerolinecolor: colour("--ms-plot-zero") });
    }
    const names = card.querySelector(".ms-card-title").textContent;
    Object.assign(layout, {
      paper_bgcolor: colour("--ms-card"), plot_bgcolor: colour("--ms-card"), autosize: false,
      font: { size: 11, color: colour("--ms-text"), family: style.fontFamily },
      title: { text: plain(key || names), font: { size: 13 }, x: 0.01, xanchor: "left", y: 1, yanchor: "top", pad: { t: 8 } },
    });
    layout.margin = { ...layout.margin, t: 30 };
    const lines = plot.data.filter((trace) => trace.meta && trace.meta.key !== undefined);
    layout.showlegend = lines.length > 1 && lines.length <= 20;
    const data = plot.data.map((trace) => (lines.includes(trace)
      ? { ...trace, name: plain(key ? trace.meta.label : `${trace.meta.label} ${trace.meta.tag}`) }
      : { ...trace, showlegend: false }));
    return { data, layout };
  }

  async function saveImage(card, key, format) {
    const plot = plotOf(card);
    const { clientWidth: width, clientHeight: height } = plot;
    const url = await window.Plotly.toImage(forFile(card, key), { format, width, height: height + 22, scale: format === "png" ? 2 : 1 });
    make("a", "", [], { href: url, download: `${fileName(key)}.${format}` }).click();
  }

  function drawLinks(page, card) {
    const key = keyOf(card);
    const tags = key ? [key] : scalars.synthesis(page).flat();
    const view = entry(page.state, "zoom", key).split(",");
    const bySteps = scalars.last(page.state, "x", "step") === "step" && view[0];
    const range = bySteps ? { from: String(Math.ceil(Number(view[0]))), to: String(Math.floor(Number(view[1]))) } : {};
    for (const element of card.querySelectorAll("[data-save]")) {
      element.href = scalars.exportUrl(page, element.dataset.save, tags, range);
    }
  }

  // Events -------------------------------------------------------------------------------------------------------------

  const acts = {
    full: (page, card, key) => page.change({ full: toggled(page.state, "full", key).slice(-1) }),
    log: (page, card, key) => page.change({ log: toggled(page.state, "log", key), zoom: withoutY(page, key) }),
    zoom: (page, card, key) => page.change({ pan: toggled(page.state, "pan", key) }),
    every: (page, card, key) => page.change({ every: toggled(page.state, "every", key) }),
    back: (page, card, key) => back(page, key),
    restore: (page, card, key) => restore(page, key),
    jump: (page, card, key, button) => jumpTo(page, key, button),
    threshold: (page, card, key) => scalars.threshold.open(page, key),
    png: (page, card, key) => saveImage(card, key, "png"),
    svg: (page, card, key) => saveImage(card, key, "svg"),
  };

  function withoutY(page, key) {
    const [x0, x1] = entry(page.state, "zoom", key).split(",");
    return withEntry(page.state, "zoom", key, x0 ? `${x0},${x1},,` : "");
  }

  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element && event.target.closest(".ms-scalar-card [data-act]");
    if (!button || !acts[button.dataset.act]) return;
    const card = button.closest(".ms-scalar-card");
    acts[button.dataset.act](scalars.pageAround(card), card, keyOf(card), button);
  });

  document.addEventListener("toggle", (event) => {
    const card = event.target instanceof Element && event.target.closest(".ms-scalar-card");
    if (card && event.target.open) drawLinks(scalars.pageAround(card), card);
    if (card) card.classList.toggle("ms-menu-open", Boolean(card.querySelector("details[open]")));
  }, true);

  function typing(target) {
    return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || document.querySelector("dialog[open]")) return;
    if (event.key !== "f" && event.key !== "Escape") return;
    const large = document.querySelector(".ms-scalar-card.ms-full:not([hidden])");
    const card = large || (event.key === "f" && document.activeElement.closest(".ms-scalar-card"))
      || (event.key === "f" && document.querySelector(".ms-scalar-card:hover"));
    if (!card || (event.key === "Escape" && !large)) return;
    event.preventDefault();
    acts.full(scalars.pageAround(card), card, keyOf(card));
  });

  scalars.cards = { assign, painted, moved, keyOf, plotOf };
})();
