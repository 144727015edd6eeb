// Cards with one plot each, shared by the steps page and the profile overview, and the request for their figures. Counterpart
// of layouts/profiles/plots.py.

import { functionsOf, noUpdate, setProps } from "../kit/dash.js";
import { iconButton, make } from "../kit/elements.js";
import * as files from "../kit/files.js";
import { language } from "../kit/i18n.js";
import { same } from "../kit/state.js";
import * as profiling from "./profiles.js";

// Widths are rounded up to these, so that small changes of the window cause no request.
const WIDTHS = [400, 600, 850, 1200, 1700, 2400, 3400, 4800];

/**
 * Keep the width of the widest plot in the store `screen`.
 * @param {KeptPage} page
 */
export function watch(page) {
  let width = "";
  const measure = () => {
    const [plot] = page.root.querySelectorAll(".ms-breakdown-plot");
    if (!plot || !plot.clientWidth) return;
    const size = String(WIDTHS.find((one) => one >= plot.clientWidth) || WIDTHS[WIDTHS.length - 1]);
    if (size === width) return;
    width = size;
    setProps(page.store("screen"), { data: size });
  };
  new ResizeObserver(measure).observe(page.find(".ms-body-content"));
}

/**
 * Add tools to the heads of the cards; extra(name) returns further ones.
 * @param {Profiles.Page} page
 * @param {(name: string) => HTMLElement[]} [extra]
 */
export function furnish(page, extra) {
  for (const card of page.root.querySelectorAll("[data-plot]")) {
    const name = card.dataset.plot || "";
    const tools = make(
      "span",
      "ms-card-tools",
      [
        ...(extra ? extra(name) : []),
        iconButton("download", "composition.png", "png"),
        iconButton("full", "composition.full", "full"),
      ],
      { role: "toolbar" },
    );
    card.querySelector(".ms-card-head").append(tools);
    card.addEventListener("click", (/** @type {MouseEvent} */ event) => {
      const button = event.target instanceof Element && event.target.closest("[data-act]");
      if (!button || !card.contains(button)) return;
      if (button.dataset.act === "full") full(page, name);
      if (button.dataset.act === "png") png(page, card);
    });
  }
}

/**
 * @param {Profiles.Page} page
 * @param {string} name
 */
function full(page, name) {
  page.change({ full: profiling.get(page, "full") === name ? [] : [name] });
}

/** @param {Profiles.Page} page */
export function drawFull(page) {
  const name = profiling.get(page, "full");
  for (const card of page.root.querySelectorAll("[data-plot]")) card.classList.toggle("ms-full", card.dataset.plot === name);
}

/**
 * @param {Profiles.Page} page
 * @param {HTMLElement} card
 */
async function png(page, card) {
  const plot = card.querySelector(".js-plotly-plot");
  if (!plot || !plot.data || !plot.data.length) return;
  const subject = `${page.run.name} ${page.profile.rank}`;
  await files.saveImage(plot, plot, "png", subject, plot, { grid: "--ms-line", nameOf: page.nameOfLine });
}

/**
 * Address of a frame of the current profile as CSV.
 * @param {Profiles.Page} page
 * @param {string} frame
 */
export function csv(page, frame) {
  const { run, profile } = page;
  const query = new URLSearchParams({ run: run.key, session: profile.session, rank: String(profile.rank), frame });
  return `${page.root.dataset.routes}profile.csv?${query}`;
}

/**
 * Show a card with its figure, or hide it if there is none.
 * @param {KeptPage} page
 * @param {string} name
 * @param {PlotlyFigure | null} figure
 */
export function place(page, name, figure) {
  const card = page.find(`[data-plot="${name}"]`);
  card.hidden = !figure;
  card.classList.toggle("ms-breakdown-drawn", Boolean(figure));
  return figure || noUpdate();
}

/**
 * The request for figures: that of profiles.js with language and width.
 * @param {Wire.Query | null} ask
 * @param {string | null} screen
 * @param {unknown} _prefs
 * @param {Wire.Query | null} now
 * @param {string} rootId
 */
function plan(ask, screen, _prefs, now, rootId) {
  const page = profiling.pageOf(rootId);
  if (!page || !ask || !screen) return noUpdate();
  const next = { ...ask, lang: [language()], columns: [screen] };
  return same(next, now) ? noUpdate() : next;
}

/**
 * Handle f and Escape for the plot under focus or pointer, on pages whose root has this class.
 * @param {string} rootClass
 * @param {(page: Profiles.Page, event: KeyboardEvent) => boolean} [more]
 */
export function keys(rootClass, more) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const target = event.target instanceof Element ? event.target : null;
    const root = document.querySelector(`.ms-shell .${rootClass}`) || (target && target.closest(`.${rootClass}`));
    if (!root || (target && target.closest("input, select, summary, textarea"))) return;
    const page = profiling.pageOf(root.id);
    if (!page) return;
    const large = profiling.get(page, "full");
    if (event.key === "Escape" && large) full(page, large);
    else if (event.key === "f") {
      const near
        = (target && target.closest("[data-plot]"))
          || root.querySelector("[data-plot]:hover")
          || root.querySelector("[data-plot]");
      full(page, large || near.dataset.plot);
    } else if (!more || !more(page, event)) return;
    event.preventDefault();
  });
}
Object.assign(functionsOf("mindscope_steps"), { plan });
