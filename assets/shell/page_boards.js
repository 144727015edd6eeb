// A board saved as a file: cards are elements of the board or frames in it, which hold a card only while it is in view. Each is
// brought into view and copied as soon as it is drawn; in the file it is an element as any other.

import { copyOf } from "./page_copy.js";
import { sheetsOf } from "./page_sheets.js";
import { styledAttributes } from "./page_text.js";

/** @typedef {import("./page_copy.js").Copying} Copying */

const LED = "ms-file-led";  // stands for the window of a card
const PART = "ms-file-part";  // of one card of its page
const CARD = ".ms-card.ms-only";
const APART = ".ms-apart, .ms-apart-gone";  // a card in the document of the board: assets/runs/board/apart.js
export const PENDING = ".ms-pending, .ms-skeleton, [aria-busy=true]";
const DRAWN_MS = 15000;  // after which a card that is not drawn is copied as it is
const QUIET_MS = 500;  // without a change, after which a card is drawn
const LOOK_MS = 50;
const NARROW = /@media\s*(\(max-width:\s*[\d.]+px\))\s*\{/g;
const TOKENS = /\/\*[^]*?\*\/|"(?:\\[^]|[^"\\])*"|'(?:\\[^]|[^'\\])*'|[{}]/g;

/** @param {number} time */
const pause = (time) => new Promise((done) => window.setTimeout(done, time));

/**
 * What the frame of a card shows: the card, or the page around it if that is to be seen whole or says why the card is not
 * there; null as long as there is nothing.
 * @param {Document} framed
 * @returns {HTMLElement | null}
 */
function shownIn(framed) {
  const card = framed.querySelector(`html[data-found] ${CARD}`);
  if (card) return card;
  const page = framed.querySelector(".ms-page[data-routes]");
  const whole = (page && !framed.documentElement.hasAttribute("data-part"))
    || Array.from(framed.querySelectorAll(".ms-empty")).some((one) => one.checkVisibility());
  return whole ? framed.querySelector(".ms-frame") : null;
}

/**
 * Whether an element of the page, or of a frame in it, is in the window: what is not may never be drawn.
 * @param {Element} element
 */
export function isInWindow(element) {
  const { top, bottom } = element.getBoundingClientRect();
  const frame = element.ownerDocument === document ? null : element.ownerDocument.defaultView?.frameElement;
  const hole = frame ? frame.getBoundingClientRect() : { top: 0, bottom: window.innerHeight };
  const start = frame ? hole.top : 0;
  return Math.max(start + top, hole.top, 0) < Math.min(start + bottom, hole.bottom, window.innerHeight);
}

/**
 * Whether all that is in view in the frame of a card is drawn.
 * @param {Document} framed
 */
export function isDrawn(framed) {
  return isComplete(shownIn(framed));
}

/** @param {HTMLElement | null} shown */
function isComplete(shown) {
  if (!shown || !shown.innerText.trim()) return false;
  return ![shown, ...shown.querySelectorAll(PENDING)].some((one) =>
    one.matches(PENDING) && one.checkVisibility() && isInWindow(one));
}

/**
 * What the element of a card shows, in the document of the board or in a frame.
 * @param {Element} host
 * @returns {HTMLElement | null}
 */
function shownBy(host) {
  const [here] = Array.from(host.querySelectorAll(APART)).filter((one) => one.checkVisibility());
  const framed = host.querySelector("iframe")?.contentDocument;
  return here || (framed ? shownIn(framed) : null);
}

/**
 * Wait until the card of an element is drawn; not longer than it may take.
 * @param {Element} host
 */
async function drawnIn(host) {
  const until = Date.now() + DRAWN_MS;
  let last = "";
  let since = Date.now();
  while (Date.now() < until) {
    const shown = shownBy(host);
    const now = shown && isComplete(shown) ? `${shown.querySelectorAll("*").length} ${shown.textContent}` : "";
    if (now !== last) [last, since] = [now, Date.now()];
    else if (now && Date.now() - since >= QUIET_MS) return;
    await pause(LOOK_MS);
  }
}

/**
 * The copy of what a frame shows, in an element that stands for its window.
 * @param {Element} host
 * @param {Document} framed
 * @param {Copying} copying
 */
function windowOf(host, framed, copying) {
  const shown = shownIn(framed) || framed.querySelector(".ms-frame");
  const copied = shown && /** @type {HTMLElement | null} */ (copyOf(shown, copying));
  if (!copied) return null;
  Object.assign(copied.style, { position: "absolute", inset: "0", width: "100%", height: "100%", zIndex: "auto" });
  const copy = document.createElement("div");
  copy.className = `${host.className} ${LED}${framed.documentElement.hasAttribute("data-part") ? ` ${PART}` : ""}`;
  const { clientWidth, clientHeight } = framed.documentElement;
  copy.style.setProperty("--ms-vw", `${clientWidth / 100}px`);
  copy.style.setProperty("--ms-vh", `${clientHeight / 100}px`);
  copy.append(copied);
  // What a card has fixed to its window is fixed to this element: the runs below its curves.
  Object.assign(copy.style, { transform: "translate(0)", containerType: "size", containerName: LED });
  const below = framed.querySelector("html[data-found] .ms-run-list-below");
  const runs = below && copyOf(below, copying);
  if (runs) copy.append(runs);
  return copy;
}

/**
 * Copy the cards of a board, each when it is in view; null for another page.
 * @param {Element} main
 * @param {Copying} copying
 * @returns {Promise<Map<string, string> | null>} the style sheets of their windows, as sheetsOf has them
 */
export async function copyBoard(main, copying) {
  const hosts = Array.from(main.querySelectorAll(".ms-board-content"));
  const place = window.scrollY;
  /** @type {Map<string, string>} */
  const sheets = new Map();
  for (const host of hosts) {
    if (!host.classList.contains("ms-board-page")) continue;  // a text
    host.scrollIntoView({ block: "nearest" });
    await drawnIn(host);
    const shown = host.querySelector("iframe")?.contentDocument;
    if (!shown) {
      const copy = host.querySelector(APART) && copyOf(host, copying);
      if (copy) copying.made.set(host, /** @type {HTMLElement} */ (copy));
      continue;
    }
    for (const [key, text] of await sheetsOf(shown, sheets)) {
      if (sheets.has(key)) continue;
      sheets.set(key, text);
      for (const name of styledAttributes(text)) copying.styled.add(name);
    }
    const copy = windowOf(host, shown, copying);
    if (copy) copying.made.set(host, copy);
  }
  window.scrollTo(0, place);
  return hosts.length ? sheets : null;
}

/**
 * Where the block ends that begins at a place of a style sheet.
 * @param {string} css
 * @param {number} at after its brace
 */
function endOfBlock(css, at) {
  let depth = 1;
  TOKENS.lastIndex = at;
  for (let found = TOKENS.exec(css); found; found = TOKENS.exec(css)) {
    if (found[0] === "{") depth += 1;
    else if (found[0] === "}") depth -= 1;
    if (!depth) return TOKENS.lastIndex;
  }
  return css.length;
}

/**
 * A style sheet in which what holds for narrow windows holds in narrow cards, too.
 * @param {string} css
 */
function narrowCards(css) {
  let made = "";
  let from = 0;
  for (const found of css.matchAll(NARROW)) {
    if (found.index < from) continue;
    const start = found.index + found[0].length;
    const end = endOfBlock(css, start);
    made += `${css.slice(from, end)}\n@container ${LED} ${found[1]} {${css.slice(start, end)}`;
    from = end;
  }
  return made + css.slice(from);
}

/**
 * The style sheets of a board and its cards, in which what holds for the window of a card holds for its element.
 * @param {Map<string, string>} own
 * @param {Map<string, string>} cards
 */
export function boardSheet(own, cards) {
  const more = Array.from(cards).filter(([key]) => !own.has(key)).map(([, text]) => text);
  const joined = [...more, ...own.values()].join("\n").replace(/@media(?=[^{;]*\{\s*html\[data-led\])/g, "@container");
  return narrowCards(joined)
    .replace(/html\[(?:data-led|data-alone)\]/g, `:is($&, .${LED})`)
    .replaceAll("html[data-part]", `:is(html[data-part], .${PART})`)
    .replace(/(?<![\w.#-])([\d.]+)(vw|vh)\b/g, "calc($1 * var(--ms-$2, 1$2))");
}
