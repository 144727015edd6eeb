// The cards of pages on a board (layouts/runs/board): drawn in the board's own document where their page allows it (apart.js),
// else in a frame of that page, of which at most AT_ONCE are made at a time. A card is made when it comes into view. It gets
// new data only while it is in view, and is removed some time after it has left.

import { setLabel } from "../../kit/i18n.js";
import { make, words } from "../../kit/elements.js";
import * as apart from "./apart.js";
import { forgetAnswers } from "./calls.js";

const AT_ONCE = 2;
const FOUND_MS = 4000;  // after which the next frame begins, whether or not the card is drawn
const SEEN_MS = 1500;  // after which a page without its card is shown, to say what it waits for
const LEFT_MS = 20000;  // out of view, until a frame is taken away
const NEAR = "150px";
const NO_PAGE = 404;
const PATH = /^([a-z][a-z0-9_-]{0,63})?$/;

/** @type {Map<Element, Boards.Held>} */
const held = new Map();  // element that holds a frame -> { page, card, ... }
/** @type {Boards.Held[]} */
const waiting = [];
let loading = 0;
/** @type {unknown} */
let version = null;  // version of the data that Dash last told the board

/**
 * Address of the page of a card; its card fills the window if there is a part.
 * @param {Boards.Page} page
 * @param {string} place
 * @param {string | null} part
 */
export function address(page, place, part) {
  const [path, ...query] = place.split("?");
  if (!PATH.test(path)) throw new Error(`expected a page of this application, found ${path}`);
  const rest = part === null ? [] : ["embed=1", `card=${encodeURIComponent(part)}`];
  const all = [query.join("?"), ...rest].filter(Boolean).join("&");
  return `${page.app}${path}${all ? `?${all}` : ""}`;
}

const observer = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    const one = held.get(target);
    if (!one) continue;
    one.inView = isIntersecting;
    window.clearTimeout(one.leaving);
    if (isIntersecting) enter(one);
    else if (one.frame || one.apart) one.leaving = window.setTimeout(() => release(one), LEFT_MS);
  }
}, { rootMargin: NEAR });

/** @param {Boards.Held} one */
function enter(one) {
  if (one.apart || one.frame) {
    if (one.stale) tell(one);
  } else if (apart.fits(one.card) && !one.framed) begin(one);
  else if (!waiting.includes(one)) {
    waiting.push(one);
    next();
  }
}

function next() {
  while (loading < AT_ONCE) {
    const one = waiting.shift();
    if (!one) return;
    if (one.inView && held.has(one.host) && !one.frame) beginFrame(one);
  }
}

/**
 * Draw a card in the document of the board.
 * @param {Boards.Held} one
 */
function begin(one) {
  const { host, page, card } = one;
  one.touched = false;
  one.stale = false;
  const place = String(one.live || card.place);
  const made = apart.begin(page, host, card, place, version, (now) => {
    if (!one.touched || one.apart !== made.apart) return;
    one.live = apart.samePlace(now, String(one.card.place)) ? null : now;
    one.changed(one.live);
  });
  one.apart = made.apart;
  made.begun.catch((error) => {
    console.error(error);
    if (one.apart !== made.apart) return;
    release(one);
    one.framed = true;
    if (one.inView) enter(one);
  });
}

/** @param {Boards.Held} one */
function beginFrame(one) {
  const { host, page, card } = one;
  const frame = make("iframe", "ms-board-frame", [], { src: address(page, String(one.live || card.place), card.part) });
  setLabel(frame, "title", "board.frame", { name: one.name });
  one.frame = frame;
  one.touched = false;
  one.stale = false;
  host.classList.add("ms-board-loading");
  host.append(frame);
  loading += 1;
  let ended = false;
  const end = () => {
    if (ended) return;
    ended = true;
    loading -= 1;
    next();
  };
  one.end = end;
  window.setTimeout(end, FOUND_MS);
  frame.addEventListener("load", () => {
    if (isMissing(frame)) sayGone(one);
    else watch(one, frame);
  });
  let paged = 0;
  const look = () => {
    if (one.frame !== frame || !frame.isConnected) return;
    const shown = frame.contentDocument;
    const found = shown && shown.querySelector("html[data-found] .ms-only");
    if (shown && !paged && shown.querySelector(".ms-frame")) paged = Date.now();
    if (found || (paged && Date.now() - paged > SEEN_MS)) host.classList.remove("ms-board-loading");
    if (found) {
      end();
      one.named(found.querySelector(".ms-card-title"));
    } else window.setTimeout(look, host.classList.contains("ms-board-loading") ? 100 : 1000);
  };
  look();
}

/**
 * Whether the server has no page at the address of a frame.
 * @param {HTMLIFrameElement} frame
 */
function isMissing(frame) {
  if (!frame.contentDocument || !frame.contentWindow) return false;  // what a browser shows without a server is not ours
  const [loaded] = /** @type {PerformanceNavigationTiming[]} */ (
    frame.contentWindow.performance.getEntriesByType("navigation"));
  return Boolean(loaded) && loaded.responseStatus === NO_PAGE;
}

/**
 * Say that the application has no such page: the server answers so, and no script would ever draw a card. The board may have
 * been made by another version, or elsewhere.
 * @param {Boards.Held} one
 */
function sayGone(one) {
  const page = String(one.card.place).split("?")[0];
  one.end();
  one.host.classList.remove("ms-board-loading");
  one.host.replaceChildren(make("div", "ms-empty", [words("board.no_page", { page }, "p", "ms-empty-sentence")]));
}

/**
 * What users do in a frame: it closes menus around it, and what the page becomes from then on is their change.
 * @param {Boards.Held} one
 * @param {HTMLIFrameElement} frame
 */
function watch(one, frame) {
  const inside = frame.contentWindow;
  if (!inside) return;  // taken away meanwhile
  const touch = () => { one.touched = true; };
  for (const name of ["pointerdown", "keydown", "wheel"]) inside.addEventListener(name, touch, { capture: true });
  inside.addEventListener("pointerdown", () => {
    for (const open of document.querySelectorAll("details.ms-details[open]")) open.open = false;
  }, true);
}

/** @param {Boards.Held} one */
function release(one) {
  if (one.apart) one.apart.end();
  one.apart = null;
  if (!one.host.isConnected) {  // the board was left
    observer.unobserve(one.host);
    held.delete(one.host);
  }
  if (!one.frame) return;
  one.end();
  one.frame.remove();
  one.frame = null;
}

/** @param {Boards.Held} one */
function tell(one) {
  one.stale = !one.inView;
  if (one.apart && one.inView) one.apart.news(version);
  const inside = one.frame && one.frame.contentWindow;
  if (inside && one.inView) inside.dispatchEvent(new CustomEvent("mindscope:news"));
}

/**
 * Show a card in an element; changed(place) is called when users have made another state of the page, named(title) with the
 * title that the card has on its page, null for none.
 * @param {Boards.Page} page
 * @param {HTMLElement} host
 * @param {Wire.BoardCard} card
 * @param {string} name
 * @param {{ changed: (place: string | null) => void, named: (title: Element | null) => void }} acts
 */
export function hold(page, host, card, name, acts) {
  const touch = () => { one.touched = true; };
  for (const name of ["pointerdown", "keydown", "wheel"]) host.addEventListener(name, touch, { capture: true, passive: true });
  /** @type {Boards.Held} */
  const one = {
    page, host, card, name, ...acts, frame: null, apart: null, framed: false, live: null, inView: false, touched: false,
    stale: false, leaving: 0, end: () => {},
  };
  held.set(host, one);
  observer.observe(host);
}

/**
 * Take the frame of an element away, and forget it.
 * @param {HTMLElement} host
 */
export function drop(host) {
  const one = held.get(host);
  if (!one) return;
  observer.unobserve(host);
  held.delete(host);
  window.clearTimeout(one.leaving);
  release(one);
}

/**
 * Show the card in an element as it is saved.
 * @param {HTMLElement} host
 * @param {Wire.BoardCard} card
 */
export function reload(host, card) {
  const one = held.get(host);
  if (!one) return;
  Object.assign(one, { card, live: null, framed: false });
  release(one);
  if (one.inView) enter(one);
}

/**
 * What a card has become is what is saved.
 * @param {HTMLElement} host
 * @param {Wire.BoardCard} card
 */
export function settle(host, card) {
  const one = held.get(host);
  if (one) Object.assign(one, { card, live: null });
}

/**
 * Tell the cards of a page that there are new data: those in view at once, the others when they come into view.
 * @param {Boards.Page} page
 * @param {unknown} now the version of the data
 */
export function news(page, now) {
  if (now !== version) forgetAnswers();
  version = now;
  for (const one of held.values()) if (one.page === page) tell(one);
}

window.addEventListener("mindscope:card", ({ detail: { frame, place } }) => {
  const one = Array.from(held.values()).find((other) => other.frame === frame);
  if (!one || !one.touched) return;
  one.live = place === one.card.place ? null : place;
  one.changed(one.live);
});
