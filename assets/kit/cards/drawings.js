// Requests for drawings and their answers. Cards are asked for in two requests: "near" those in the window, then "far" the
// others; see layouts/kit/cards/cards.py. Dash drops an answer when its callback is asked again, so a request repeats what
// waits.

import { setProps } from "../dash.js";
import { same } from "../state.js";
import { figureOf } from "./curves.js";
import * as layer from "./layer.js";
import { NO_CARD } from "./places.js";
import { holdSize, whenPlotted } from "./plots.js";
import * as slots from "./slots.js";

const nextTask = () => new Promise((resolve) => window.setTimeout(resolve));

/** @param {HTMLElement} card */
const inWindow = (card) => card.getBoundingClientRect().top < window.innerHeight;

/**
 * Cards further away than the height of the window are asked for when they come nearer.
 * @param {HTMLElement} card
 */
function isNear(card) {
  const { top, bottom } = card.getBoundingClientRect();
  return top < 2 * window.innerHeight && bottom > -window.innerHeight;
}

const SETTLED_MS = 80;

/**
 * Ask for the drawing of a card that was too far away, once it is near and stays there.
 * @param {CardsPage} page
 * @param {HTMLElement} card
 */
export function watch(page, card) {
  const observer = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    window.clearTimeout(page.nearing);
    page.nearing = window.setTimeout(() => {
      /** @param {number} slot */
      const stale = (slot) => page.asks[slot] && !same(page.asks[slot], page.requested[slot]);
      if (page.root.isConnected) request(page, page.asks.map((_, slot) => slot).filter(stale));
    }, SETTLED_MS);
  }, { rootMargin: "100% 0px" });
  observer.observe(card);
}

/**
 * Ask for the drawings of these slots.
 * @param {any} page
 * @param {number[]} slotsWanted
 */
export function request(page, slotsWanted) {
  const wanted = slotsWanted.filter((slot) => isNear(page.slot(slot)));
  if (!wanted.length) return;
  const touched = new Set(wanted.map((slot) => page.waiting.get(slot)));
  for (const slot of wanted) {
    const wave = inWindow(page.slot(slot)) ? "near" : "far";
    page.requested[slot] = page.asks[slot];
    page.waiting.set(slot, wave);
    touched.add(wave);
  }
  for (const slot of [...page.waiting.keys()]) {
    if (page.asks[slot] !== NO_CARD || !touched.has(page.waiting.get(slot))) continue;
    page.waiting.delete(slot);  // left the screen before it was answered: it is asked for when it is back
    page.requested[slot] = NO_CARD;
  }
  tell(page);
  if (touched.has("near")) send(page, "near");
  if (!touched.has("far")) return;
  page.held = true;
  if (!isNearOpen(page)) release(page);
}

/** @param {CardsPage} page */
const isNearOpen = (page) => [...page.waiting.values()].includes("near");

/**
 * Send the request for the cards outside the window, if it waits for those in it.
 * @param {CardsPage} page
 */
export function release(page) {
  if (!page.held) return;
  page.held = false;
  send(page, "far");
}

/**
 * @param {CardsPage} page
 * @param {string} wave
 */
function send(page, wave) {
  const pairs = [...page.waiting].filter(([, of]) => of === wave).map(([slot]) => [slot, page.requested[slot]]);
  if (pairs.length) setProps(page.store(wave), { data: { cards: pairs, number: ++page.requests } });
}

/**
 * Show the answer of a request, unless something else is wanted by now.
 * @param {any} page
 * @param {[number, any, string][]} answer
 * @param {{ cards: [number, any][] }} asked
 */
export function take(page, answer, asked) {
  const asks = new Map(asked.cards);
  const current = answer.filter(([slot]) => same(asks.get(slot), page.requested[slot]));
  for (const [slot] of current) page.waiting.delete(slot);
  if (!isNearOpen(page)) release(page);
  show(page, current);
}

/**
 * Drawings of cards whose data have changed. What was not on screen has none: it is asked for when it is back.
 * @param {any} page
 * @param {[number, any, string][]} changed
 */
export function grown(page, changed) {
  const current = changed.filter(([slot]) => page.requested[slot] && !page.waiting.has(slot));
  const outdated = current.filter(([, drawing]) => drawing === null).map(([slot]) => slot);
  for (const slot of outdated) page.requested[slot] = NO_CARD;
  show(page, current.filter(([, drawing]) => drawing !== null));
  const back = outdated.filter((slot) => page.asks[slot] !== NO_CARD);
  if (back.length) request(page, back);
  else if (outdated.length) tell(page);
}

/**
 * What each slot shows or waits for; the server looks at the data of these cards.
 * @param {CardsPage} page
 */
function tell(page) {
  setProps(page.store("asks"), { data: page.requested.map((ask) => ask || NO_CARD) });
}

/**
 * One card per task, so that the page stays responsive.
 * @param {CardsPage} page
 * @param {Answer[]} answer
 */
async function show(page, answer) {
  page.stamps = page.requested.map((_, slot) => page.stamps[slot] || null);
  for (const [slot, drawing, stamp] of answer) if (drawing !== null) page.stamps[slot] = stamp;
  setProps(page.store("drawn"), { data: page.stamps });
  for (const [slot, drawing, stamp] of answer) page.queue.set(slot, { drawing, stamp, ask: page.requested[slot] });
  if (page.showing) return;
  page.showing = true;
  while (page.queue.size) {
    const [[slot, next]] = page.queue;
    page.queue.delete(slot);
    if (page.root.isConnected && same(next.ask, page.requested[slot])) place(page, slot, next);
    await nextTask();
  }
  page.showing = false;
}

/**
 * @param {CardsPage} page
 * @param {number} slot
 * @param {{ drawing: Drawing | null, stamp: string, ask: Wire.Query | null }} answer
 */
function place(page, slot, { drawing, stamp, ask }) {
  if (drawing === null) {
    slots.fail(page, [slot], stamp);
    return;
  }
  page.answered.set(slot, ask);
  const plot = page.slot(slot).querySelector("[data-graph]");
  if (plot) fill(page, slot, plot, drawing);
  slots.painted(page, slot, drawing);
  slots.markOutdated(page, slot);
}

/**
 * @param {CardsPage} page
 * @param {number} slot
 * @param {HTMLElement} plot
 * @param {Drawing} drawing
 */
function fill(page, slot, plot, drawing) {
  const figure = figureOf(drawing);
  const body = /** @type {HTMLElement} */ (plot.parentElement);
  layer.give(body, drawing.canvas);
  if (plot.firstChild) {
    setProps(page.part("graph", slot), { figure });
    return;
  }
  whenPlotted(body, holdSize);
  const graph = JSON.parse(plot.dataset.graph || "null");
  setProps(page.part("plot", slot), { children: { ...graph, props: { ...graph.props, figure } } });
}
