// What `mindscope save` asks of a page by way of the browser's debugging pipe (app/saving/page.py): whether it is drawn, where
// a card is, and its file. The user's own way to a file is page_file.js.

import { cardNamed } from "../kit/alone.js";
import { saveImage, taken } from "../kit/files.js";
import { listOf } from "../kit/runs.js";
import { PENDING, isDrawn, isInWindow } from "./page_boards.js";
import { pageFile } from "./page_file_maker.js";

const QUIET_FRAMES = 15;  // without a change, after which a page is drawn
const NAMED_CARDS = 12;
const SVG_ITEMS = '[data-act="svg"], [data-save="svg"], [data-file="svg"]';
const SAVED_MS = 10000;  // in which a card makes its picture

const frame = () => new Promise((done) => window.requestAnimationFrame(done));
/** @param {Element} element */
const isSeen = (element) => element.checkVisibility();
/** @param {string} selector */
const seen = (selector) => Array.from(document.querySelectorAll(selector)).some(isSeen);

/**
 * What a page waits for: "page", "runs", "cards", "images" or "reading"; "" for nothing.
 */
export function waitsFor() {
  const page = document.querySelector(".ms-page");
  const routes = page instanceof HTMLElement && page.dataset.routes;
  if (!page || !routes) return document.querySelector(".ms-main .ms-empty") ? "" : "page";
  if (!listOf(routes)) return "runs";
  const pending = Array.from(document.querySelectorAll(PENDING)).filter(isSeen);
  // The cards of a board are drawn once they are in view; those of pages when they are near.
  if (pending.some((one) => !one.closest(".ms-board-grid") || isInWindow(one))) return "cards";
  const frames = Array.from(document.querySelectorAll("iframe.ms-board-frame")).filter(isInWindow);
  if (frames.some(({ contentDocument: framed }) => !framed || !isDrawn(framed))) return "cards";
  if (Array.from(document.images).some((one) => !one.complete && isSeen(one))) return "images";
  return seen(".ms-body-status[data-going]") ? "reading" : "";
}

/**
 * Wait at most this long until the page waits for nothing and no longer changes from frame to frame.
 * @param {number} time ms
 * @returns {Promise<string>} what it still waits for, "change" if it only changes, "" if it is drawn
 */
export async function drawn(time) {
  const until = performance.now() + time;
  let changes = 0;
  const observer = new MutationObserver(() => { changes += 1; });
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  let quiet = 0;
  let waiting = waitsFor();
  while (quiet < QUIET_FRAMES && performance.now() < until) {
    const before = changes;
    await frame();
    quiet = changes === before && !waiting ? quiet + 1 : 0;
    waiting = waitsFor();
  }
  observer.disconnect();
  return waiting || (quiet < QUIET_FRAMES ? "change" : "");
}

/** Bring every part of the page into view once, so that cards which are drawn when they are near are drawn. */
export async function unrolled() {
  const step = Math.max(200, window.innerHeight);
  for (let top = 0; top < document.documentElement.scrollHeight; top += step) {
    window.scrollTo(0, top);
    await frame();
    await frame();
  }
  window.scrollTo(0, 0);
}

/** @returns {{ width: number, height: number, board: boolean }} the size of the page in px */
export function extent() {
  const { scrollWidth: width, scrollHeight: height } = document.documentElement;
  return { width, height, board: Boolean(document.querySelector(".ms-board-grid")) };
}

/** Titles of the cards of the page, the first ones. */
export function cardTitles() {
  const titles = Array.from(document.querySelectorAll(".ms-page .ms-card:not(.ms-card .ms-card)"), (card) =>
    card instanceof HTMLElement && isSeen(card) ? card.dataset.key || card.querySelector(".ms-card-title")?.textContent : "");
  return titles.filter(Boolean).slice(0, NAMED_CARDS);
}

/** Whether the card that the address names is on the page. */
export const hasCard = () => document.documentElement.hasAttribute("data-found");

/**
 * A drawing as SVG: of a card, or of the page if it has only one. A card that offers a file makes it by itself.
 * @param {string} name of the card, "" for the page
 * @returns {Promise<string | null>} null for a card that is no drawing of lines, and for a page of several
 */
export async function svgText(name) {
  const page = document.querySelector(".ms-frame");
  const place = page instanceof HTMLElement && name ? cardNamed(page, name) : document.querySelector(".ms-page");
  const items = Array.from(place ? place.querySelectorAll(SVG_ITEMS) : [])
    .filter((item) => isSeen(item.closest(".ms-card") || item.closest(".ms-page") || item));
  const plots = /** @type {PlotlyDrawn[]} */ (Array.from(place ? place.querySelectorAll(".js-plotly-plot") : []))
    .filter((plot) => isSeen(plot) && plot.data && plot.data.length);
  const [item, plot] = [items[0], plots[0]];
  if (items.length > 1 || (!items.length && plots.length !== 1)) return null;
  return taken(SAVED_MS, () => {
    if (item instanceof HTMLElement) item.click();
    else return saveImage(plot, plot, "svg", "");
  });
}

/**
 * The page as one HTML file, which is what the button makes.
 * @param {string} address that the file names as its origin
 */
export async function fileText(address) {
  const { blob } = await pageFile({ address });
  return blob.text();
}
