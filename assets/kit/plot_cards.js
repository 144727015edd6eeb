// Cards with one plot each. Counterpart of layouts/kit/plot_cards.py.

import { setProps } from "./dash.js";
import * as files from "./files.js";
import { last } from "./state.js";

/**
 * What pages of a family do with these cards. pageOf(id of the root) is a page of the family, nameOf(page) what it shows, for
 * the names of files; isReady(page) is whether it shows anything.
 * @template {KeptPage} P
 * @param {(rootId: string) => P | null} pageOf
 * @param {(page: P) => string} nameOf
 * @param {(page: P) => boolean} isReady
 */
export function plotCards(pageOf, nameOf, isReady) {
  /** @param {P} page */
  const large = (page) => last(page.state, "full", "");

  /**
   * @param {P} page
   * @param {string} name
   */
  function full(page, name) {
    page.change({ full: large(page) === name ? [] : [name] });
  }

  /**
   * @param {P} page
   * @param {HTMLElement} card
   */
  async function png(page, card) {
    const plot = card.querySelector(".js-plotly-plot");
    if (!plot || !plot.data || !plot.data.length) return;
    await files.saveImage(plot, plot, "png", nameOf(page), plot, { grid: "--ms-line" });
  }

  /**
   * Make the tools of the cards work.
   * @param {P} page
   */
  function furnish(page) {
    for (const card of page.root.querySelectorAll("[data-plot]")) {
      card.addEventListener("click", (/** @type {MouseEvent} */ event) => {
        const button = event.target instanceof Element && event.target.closest("[data-act]");
        if (!button || !card.contains(button)) return;
        if (button.dataset.act === "full") full(page, card.dataset.plot);
        if (button.dataset.act === "png") png(page, card);
      });
    }
  }

  /** @param {P} page */
  function drawFull(page) {
    const name = large(page);
    for (const card of page.root.querySelectorAll("[data-plot]")) card.classList.toggle("ms-full", card.dataset.plot === name);
  }

  /**
   * Show a card with its figure, or hide it if there is none. part is that of its graph.
   * @param {P} page
   * @param {string} name
   * @param {string} part
   * @param {PlotlyFigure | null} figure
   */
  function place(page, name, part, figure) {
    const card = page.find(`[data-plot="${name}"]`);
    card.hidden = !figure;
    card.classList.toggle("ms-plot-drawn", Boolean(figure));
    if (figure) setProps(page.store(part), { figure });
  }

  /**
   * Handle f and Escape for the plot under focus or pointer on pages whose root has this class, and other keys by more.
   * @param {string} rootClass
   * @param {((page: P, event: KeyboardEvent) => boolean) | null} [more]
   */
  function keys(rootClass, more = null) {
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
      const target = event.target instanceof Element ? event.target : null;
      const root = document.querySelector(`.ms-shell .${rootClass}`) || (target && target.closest(`.${rootClass}`));
      if (!root || (target && target.closest("input, select, textarea"))) return;
      const page = pageOf(root.id);
      if (!page || !isReady(page)) return;
      const shown = large(page);
      if (event.key === "Escape" && shown) full(page, shown);
      else if (event.key === "f") {
        const there = "[data-plot]:not([hidden])";
        const near = (target && target.closest(there)) || root.querySelector(`${there}:hover`) || root.querySelector(there);
        if (!near && !shown) return;
        full(page, shown || near.dataset.plot);
      } else if (!more || !more(page, event)) return;
      event.preventDefault();
    });
  }

  return { furnish, drawFull, place, keys };
}
