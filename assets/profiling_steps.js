// What the step page and the profile overview share: cards of one plot (layouts/profiler/plots.py), and what is asked for them.
(function () {
  "use strict";
  const mindscope = (window.mindscope = window.mindscope || {});
  const dash = (window.dash_clientside = window.dash_clientside || {});
  const { make, iconButton } = mindscope.cards;
  // Pixels are asked for in these numbers, so that a window one pixel wider asks for nothing new.
  const WIDTHS = [400, 600, 850, 1200, 1700, 2400, 3400, 4800];

  // The width of the widest plot of a page, in the store `screen`.
  function watch(page) {
    const measure = () => {
      const [plot] = page.root.querySelectorAll(".ms-breakdown-plot");
      const width = plot && plot.clientWidth;
      if (!width) return;
      const size = String(WIDTHS.find((one) => one >= width) || WIDTHS[WIDTHS.length - 1]);
      if (size === page.width) return;
      page.width = size;
      window.dash_clientside.set_props(page.store("screen"), { data: size });
    };
    new ResizeObserver(measure).observe(page.find(".ms-profiling-content"));
  }

  // The tools in the heads of the cards; extra(name) gives more of them.
  function furnish(page, extra) {
    for (const card of page.root.querySelectorAll("[data-plot]")) {
      const name = card.dataset.plot;
      const tools = make("span", "ms-card-tools", [
        ...(extra ? extra(name) : []), iconButton("download", "composition.png", "png"), iconButton("full", "composition.full", "full"),
      ], { role: "toolbar" });
      card.querySelector(".ms-card-head").append(tools);
      card.addEventListener("click", (event) => {
        const button = event.target instanceof Element && event.target.closest("[data-act]");
        if (!button || !card.contains(button)) return;
        if (button.dataset.act === "full") full(page, name);
        if (button.dataset.act === "png") png(page, card);
      });
    }
  }

  function full(page, name) {
    page.change({ full: mindscope.profiling.get(page, "full") === name ? [] : [name] });
  }

  function drawFull(page) {
    const name = mindscope.profiling.get(page, "full");
    for (const card of page.root.querySelectorAll("[data-plot]")) card.classList.toggle("ms-full", card.dataset.plot === name);
  }

  // On the page css colours the plot; a file needs the colours in it.
  async function png(page, card) {
    const plot = card.querySelector(".js-plotly-plot");
    if (!plot || !plot.data || !plot.data.length) return;
    const style = getComputedStyle(plot);
    const colour = (name) => style.getPropertyValue(name).trim();
    const layout = structuredClone(plot.layout);
    Object.assign(layout, {
      paper_bgcolor: colour("--ms-card"), plot_bgcolor: colour("--ms-card"), autosize: false,
      font: { size: 11, color: colour("--ms-text"), family: style.fontFamily },
    });
    for (const axis of Object.keys(layout).filter((key) => /^[xy]axis/.test(key))) layout[axis].gridcolor = colour("--ms-line");
    const { clientWidth: width, clientHeight: height } = plot;
    const href = await window.Plotly.toImage({ data: plot.data, layout }, { format: "png", width, height, scale: 2 });
    const said = `${page.run.name}_${page.profile.rank}_${card.dataset.plot}`;
    const safe = said.replace(/[^\p{L}\p{N}.-]+/gu, "_").replace(/^[._]+|_+$/g, "").slice(0, 80);
    make("a", "", [], { href, download: `${safe || "plot"}.png` }).click();
  }

  // The address of a frame of the profile that is shown, as CSV.
  function csv(page, frame) {
    const { run, profile } = page;
    const query = new URLSearchParams({ run: run.key, session: profile.session, rank: String(profile.rank), frame });
    return `${page.root.dataset.routes}profile.csv?${query}`;
  }

  // The figure of a card, or none: then the card is not there.
  function place(page, name, figure) {
    const card = page.find(`[data-plot="${name}"]`);
    card.hidden = !figure;
    card.classList.toggle("ms-breakdown-drawn", Boolean(figure));
    return figure || window.dash_clientside.no_update;
  }

  // What the server is asked to draw: what `profiling.js` asks with, the language, and the pixels there are.
  function plan(ask, screen, _prefs, now, rootId) {
    const { no_update } = window.dash_clientside;
    const page = mindscope.profiling.pageOf(rootId);
    if (!page || !ask || !screen) return no_update;
    const next = { ...ask, lang: [mindscope.i18n.language()], columns: [screen] };
    return mindscope.state.same(next, now) ? no_update : next;
  }

  // `f` and Escape for the plot under focus or pointer, on the pages whose root has this class.
  function keys(rootClass, more) {
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
      const target = event.target instanceof Element ? event.target : null;
      const root = document.querySelector(`.ms-shell .${rootClass}`) || (target && target.closest(`.${rootClass}`));
      if (!root || (target && target.closest("input, select, summary, textarea"))) return;
      const page = mindscope.profiling.pageOf(root.id);
      const large = mindscope.profiling.get(page, "full");
      if (event.key === "Escape" && large) full(page, large);
      else if (event.key === "f") {
        const near = (target && target.closest("[data-plot]")) || root.querySelector("[data-plot]:hover") || root.querySelector("[data-plot]");
        full(page, large || near.dataset.plot);
      } else if (!more || !more(page, event)) return;
      event.preventDefault();
    });
  }

  mindscope.plots = { watch, furnish, drawFull, csv, place, keys };
  dash.mindscope_steps = { plan };
})();
