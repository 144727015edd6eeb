// A page that shows one of its cards and nothing else: a frame of a board, or any window at an address with embed=1&card=PART.
// The card covers the window and counts as in full screen. Until the page has it, the page itself is seen, so that it can say
// what it waits for or what is missing.

import { alone, led } from "./prefs.js";

/** The name of the card, "" for the whole page. */
export const part = (alone && new URLSearchParams(window.location.search).get("card")) || "";
/** The tag of a card of a page with one card per tag; null for any other card. */
export const onlyTag = alone && part.startsWith("key:") ? part.slice(4) : null;

const ATTRIBUTES = ["key", "card", "plot", "rule", "state", "mark"];
const PASSING = /^ms-(board-beside|card|full|only|pending|failed|outdated|zoomed|menu-open)$/;

/**
 * Names of a card by what its page gives it: an attribute, the id of it or in it, a class, its title in English.
 * @param {HTMLElement} card
 * @param {HTMLElement} frame
 */
function names(card, frame) {
  const found = ATTRIBUTES.filter((name) => card.dataset[name] !== undefined).map((name) => `${name}:${card.dataset[name]}`);
  const start = `${frame.dataset.frame}-`;
  const identified = card.id.startsWith(start) ? card : card.querySelector(`[id^="${CSS.escape(start)}"]`);
  if (identified) found.push(`id:${identified.id.slice(start.length)}`);
  found.push(...Array.from(card.classList).filter((name) => !PASSING.test(name)).map((name) => `class:${name}`));
  const title = card.querySelector(".ms-card-title .en") || card.querySelector(".ms-card-title");
  return title && title.textContent ? [...found, `title:${title.textContent.slice(0, 200)}`] : found;
}

/**
 * @param {Element} frame
 * @returns {HTMLElement[]}
 */
const cardsOf = (frame) => Array.from(frame.querySelectorAll(".ms-page .ms-card"));

/**
 * The card of a page with this name, null if there is none.
 * @param {HTMLElement} frame
 * @param {string} name
 */
export function cardNamed(frame, name) {
  return cardsOf(frame).find((card) => names(card, frame).includes(name)) || null;
}

/**
 * The name by which `cardNamed` finds a card again, "" if it has none.
 * @param {HTMLElement} card
 */
export function partOf(card) {
  const frame = card.closest(".ms-frame");
  return names(card, frame).find((name) => cardNamed(frame, name) === card) || "";
}

/**
 * Tell the board around this frame what the page has become.
 * @param {string} place
 */
export function report(place) {
  if (!led) return;
  window.parent.dispatchEvent(new CustomEvent("mindscope:card", { detail: { frame: window.frameElement, place } }));
}

/** @type {HTMLElement | null} */
let shown = null;

function show() {
  const frame = document.querySelector(".ms-frame");
  const found = frame && (shown && shown.isConnected && names(shown, frame).includes(part) ? shown : cardNamed(frame, part));
  const card = found && !found.hidden ? found : null;
  if (shown && shown !== card) shown.classList.remove("ms-only", "ms-full");
  shown = card;
  document.documentElement.toggleAttribute("data-found", Boolean(card));
  // Pages set and clear the class of full screen by their state; another change of the class comes back here once.
  const classes = ["ms-only", "ms-full"];
  if (card && !classes.every((name) => card.classList.contains(name))) card.classList.add(...classes);
}

if (part) {
  document.documentElement.setAttribute("data-part", "");
  let waiting = false;
  const soon = () => {
    if (waiting) return;
    waiting = true;
    queueMicrotask(() => {
      waiting = false;
      show();
    });
  };
  const watched = { childList: true, subtree: true, attributes: true, attributeFilter: ["class", "hidden", "data-key"] };
  new MutationObserver(soon).observe(document.documentElement, watched);
  // Full screen is what a card is here: there is no way out of it.
  window.addEventListener("keydown", (event) => {
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.target?.closest("input, textarea, select");
    if (plain && event.key === "f") event.stopImmediatePropagation();
  }, true);
}
