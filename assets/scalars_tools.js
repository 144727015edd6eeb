// One card of the scalars page: its tools, what it says about its points, its zoom.
(function () {
  "use strict";
  const mindscope = window.mindscope;
  const { scalars, cards, slots } = mindscope;
  const { make, words, iconButton, badge, entry, withEntry, listed, toggled, count } = cards;
  const KINDS = [["nan", "NaN"], ["above", "+Inf"], ["below", "-Inf"]];

  function buttons() {
    return [["back", "back"], ["restore", "restore"], ["zoom", "zoom"], ["log", "log"], ["threshold", "threshold"]]
      .map(([name, act]) => iconButton(name, `scalars.${act}`, act));
  }

  function files() {
    return [...slots.imageItems(), ...slots.links([["scalars.csv", "scalars.save.csv"], ["scalars.json", "scalars.save.json"]])];
  }

  function press(page, card, key) {
    slots.press(card, "log", listed(page.state, "log", key));
    slots.press(card, "zoom", !listed(page.state, "pan", key));
    slots.press(card, "threshold", scalars.thresholds(page, key).length > 0);
    const zoomed = entry(page.state, "zoom", key) !== "";
    for (const act of ["back", "restore"]) card.querySelector(`[data-act="${act}"]`).disabled = !zoomed;
    card.classList.toggle("ms-zoomed", zoomed);
  }

  // What the figure says -----------------------------------------------------------------------------------------------

  function painted(page, card, key, meta) {
    scalars.hover.refresh(page, card);
    window.requestAnimationFrame(() => scalars.insights.painted(page, card));
    title(card, meta);
    return { badges: warnings(meta), notes: [...legend(meta), ...notes(page, key, meta)] };
  }

  // What curves are differences to is told where the tag is.
  function title(card, meta) {
    const heading = card.querySelector(".ms-card-title");
    const minus = heading.querySelector(".ms-minus");
    if (minus) minus.remove();
    if (meta.base !== null) heading.append(make("span", "ms-minus", ` − ${scalars.groups.named(meta.base)}`));
  }

  function warnings(meta) {
    const result = [];
    if (meta.beyond) result.push(badge("scalars.beyond", { n: count(meta.beyond) }, "scalars.beyond.title"));
    const bad = KINDS.filter(([name]) => meta[name] > 0).map(([name, text]) => `${count(meta[name])} ${text}`).join(" · ");
    if (bad) result.push(jump(bad, meta.first));
    for (const { text, interval, satisfied, tags } of meta.thresholds) {
      const condition = text.replace(/([<>])/g, "$1 ").replace(/[&|]/, " $& ");
      const values = { condition, interval, n: count(satisfied), tags: tags.join(", ") };
      result.push(badge("scalars.satisfied", values, "scalars.satisfied.title", satisfied ? "wrong" : "plain"));
    }
    if (meta.hidden) result.push(badge("scalars.hidden", { n: count(meta.hidden) }));
    if (meta.unplaced) result.push(badge("scalars.unplaced", { n: count(meta.unplaced) }));
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
    if (meta.points > 0 && meta.sent === 0) return [...result, badge(zoomed ? "scalars.points.outside" : "scalars.points.none", values)];
    const all = meta.points - meta.unplaced === 1 ? "scalars.point" : "scalars.points";
    const points = zoomed ? "scalars.points.part" : meta.whole ? all : "scalars.points.drawn";
    result.push(badge(points, values, meta.whole ? "scalars.points.whole" : "scalars.points.title"));
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
    return cards.last(page.state, "x", "") === "absolute" ? -new Date().getTimezoneOffset() * 60000 : null;
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

  function moved(page, key, change) {
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

  function forFile(page, key, { data, layout }) {
    const lines = data.filter((trace) => trace.meta && trace.meta.key !== undefined);
    if (layout.meta.base !== null) layout.title.text += slots.plain(` − ${scalars.groups.named(layout.meta.base)}`);
    layout.showlegend = lines.length > 1 && lines.length <= 20;
    layout.legend = { orientation: "h", x: 0, y: -0.14, yanchor: "top", font: { size: 10 } };
    const axis = cards.last(page.state, "x", "step");
    const titled = { standoff: 6, font: { size: 10 } };
    layout.xaxis.title = { ...titled, text: slots.plain(axis.startsWith("tag:") ? axis.slice(4) : mindscope.i18n.text(`scalars.x.${axis}`)) };
    for (const [name, number] of [["yaxis", 1], ["yaxis2", 2]]) {
      const tags = new Set(lines.filter((trace) => (trace.yaxis || "y") === name.replace("axis", "")).map((trace) => trace.meta.tag));
      if (!key && layout[name]) layout[name].title = { ...titled, text: slots.plain([...tags].join(", ")), standoff: number };
    }
    layout.margin = { ...layout.margin, l: layout.margin.l + 14, r: layout.margin.r + 14, b: 46 + (layout.showlegend ? 18 * Math.ceil(lines.length / 3) : 0) };
    const named = data.map((trace) => (lines.includes(trace)
      ? { ...trace, name: slots.plain(key ? labelOf(trace.meta) : `${labelOf(trace.meta)} ${trace.meta.tag}`) }
      : { ...trace, showlegend: false }));
    return { data: named, layout };
  }

  function labelOf(meta) {
    return meta.members ? scalars.groups.named(meta.label) : meta.label;
  }

  // The steps in view, where steps are what is in view.
  function fileRange(page, key) {
    const view = entry(page.state, "zoom", key).split(",");
    if (cards.last(page.state, "x", "step") !== "step" || !view[0]) return {};
    return { from: String(Math.ceil(Number(view[0]))), to: String(Math.floor(Number(view[1]))) };
  }

  // Buttons -------------------------------------------------------------------------------------------------------------

  const acts = {
    log: (page, card, key) => page.change({ log: toggled(page.state, "log", key), zoom: withoutY(page, key) }),
    zoom: (page, card, key) => page.change({ pan: toggled(page.state, "pan", key) }),
    every: (page, card, key) => page.change({ every: toggled(page.state, "every", key) }),
    back: (page, card, key) => back(page, key),
    restore: (page, card, key) => restore(page, key),
    mark: (page, card, key, button) => scalars.insights.press(page, key, button),
    jump: (page, card, key, button) => jumpTo(page, key, button),
    threshold: (page, card, key) => scalars.threshold.open(page, key),
  };

  function withoutY(page, key) {
    const [x0, x1] = entry(page.state, "zoom", key).split(",");
    return withEntry(page.state, "zoom", key, x0 ? `${x0},${x1},,` : "");
  }

  scalars.tools = { buttons, files, press, painted, moved, forFile, fileRange, acts, setView };
})();
