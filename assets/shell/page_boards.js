// A board saved as a file: the cards of a board are frames, which hold a card only while it is in view. Each is brought into
// view and copied as soon as it is drawn; in the file it is an element as any other.

import { copyOf } from "./page_copy.js";
import { styledAttributes } from "./page_text.js";

/** @typedef {import("./page_copy.js").Copying} Copying */

const LED = "ms-file-led";
const CARD = ".ms-card.ms-only";
const DRAWN_MS = 15000;  // after which a card that is not drawn is left out
const QUIET_MS = 500;  // without a change, after which a card is drawn
const LOOK_MS = 50;
/** @type {Set<string>} */
const sheets = new Set();  // style sheets of the frames that were copied

/** @param {number} time */
const pause = (time) => new Promise((done) => window.setTimeout(done, time));

/**
 * The document of a frame once its card is drawn; null if that does not happen.
 * @param {Element} host
 * @returns {Promise<Document | null>}
 */
async function drawnIn(host) {
  const until = Date.now() + DRAWN_MS;
  let last = "";
  let since = Date.now();
  while (Date.now() < until) {
    const shown = host.querySelector("iframe")?.contentDocument;
    const card = shown && shown.querySelector(`html[data-found] ${CARD}, html:not([data-part]) .ms-page:has(.ms-card)`);
    const pending = card && (card.matches(".ms-pending") || card.querySelector(".ms-skeleton:not([hidden])"));
    const now = card && !pending ? `${card.querySelectorAll("*").length} ${card.textContent}` : "";
    if (now !== last) [last, since] = [now, Date.now()];
    else if (now && Date.now() - since >= QUIET_MS) return shown;
    await pause(LOOK_MS);
  }
  return host.querySelector("iframe")?.contentDocument || null;
}

/**
 * @param {Document} shown
 * @param {Copying} copying
 */
async function noteSheets(shown, copying) {
  for (const { href } of shown.querySelectorAll("link[rel=stylesheet]")) {
    if (sheets.has(href)) continue;
    sheets.add(href);
    const text = await (await window.fetch(href, { credentials: "same-origin" })).text();
    for (const name of styledAttributes(text)) copying.styled.add(name);
  }
}

/**
 * @param {Document} shown
 * @param {Copying} copying
 */
function cardOf(shown, copying) {
  const card = shown.querySelector(`html[data-found] ${CARD}`) || shown.querySelector(".ms-page");
  const copied = card && /** @type {HTMLElement | null} */ (copyOf(card, copying));
  if (!copied) return null;
  Object.assign(copied.style, { position: "absolute", inset: "0", width: "100%", height: "100%", zIndex: "auto" });
  return copied;
}

/**
 * Copy the cards of a board, each when it is in view; false for another page.
 * @param {Element} main
 * @param {Copying} copying
 */
export async function copyBoard(main, copying) {
  const hosts = Array.from(main.querySelectorAll(".ms-board-content"));
  const place = window.scrollY;
  sheets.clear();
  for (const host of hosts) {
    if (!host.querySelector(".ms-skeleton, iframe")) continue;  // a text
    host.scrollIntoView({ block: "nearest" });
    const shown = await drawnIn(host);
    if (!shown) continue;
    await noteSheets(shown, copying);
    const card = cardOf(shown, copying);
    if (!card) continue;
    const copy = document.createElement("div");
    copy.className = `${host.className} ${LED}`;
    copy.append(card);
    copying.made.set(host, copy);
  }
  window.scrollTo(0, place);
  return hosts.length > 0;
}

/** Addresses of the style sheets of the cards that were copied. */
export const boardSheets = () => Array.from(sheets);

/**
 * Style sheets in which what holds for the window of a card holds for its element.
 * @param {string} css
 */
export const boardSheet = (css) => css.replaceAll("html[data-led]", `.${LED}`);
