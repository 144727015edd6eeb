// Names on the page. The text of an element is the whole name, for reading aloud, copying and finding; where it has no room,
// css shows the short form in its place (names.js), so the width of the element does not depend on what it shows. The whole
// name is its title, and appears beside it when it, or the button or link it is in, has the focus of the keyboard.

import { make } from "./elements.js";
import { Names } from "./names.js";

/** @typedef {HTMLElement & { msNames?: Names }} NameElement an element of class ms-name, and the names it is shown with */

const LISTS = "[data-names], table, [role=list], [role=listbox], ul, ol, .ms-card";
const pen = document.createElement("canvas").getContext("2d");
/** @type {Map<string, number>} */
const widths = new Map();  // font and text -> px
const MOST_WIDTHS = 50_000;
const LONGEST = 40;  // names that are measured of a list
/** @type {WeakMap<object, Names>} */
const known = new WeakMap();
/** @type {Map<Element, Map<string, Names>>} */
const lists = new Map();  // of the elements that are fitted together, by list and column

/**
 * The names of rows, prepared once for a list.
 * @param {{ name: string }[]} rows
 */
export function namesIn(rows) {
  const names = known.get(rows) || new Names(rows.map((row) => row.name));
  known.set(rows, names);
  return names;
}

/**
 * The font of an element for a canvas. The property `font` is empty where figures have a width of their own.
 * @param {Element} element
 */
export function fontOf(element) {
  const { fontStyle, fontWeight, fontSize, fontFamily } = getComputedStyle(element);
  return `${fontStyle} ${fontWeight} ${fontSize} ${fontFamily}`;
}

/**
 * The width of texts in a font, in px.
 * @param {string} font
 */
export function widthIn(font) {
  return (/** @type {string} */ text) => {
    const key = `${font}\n${text}`;
    let width = widths.get(key);
    if (width === undefined) {
      if (widths.size > MOST_WIDTHS) widths.clear();
      if (pen) pen.font = font;
      width = pen ? pen.measureText(text).width : 0;
      widths.set(key, width);
    }
    return width;
  };
}

/**
 * The room that the longest of these names need with all that differs, in px, or to be told apart at all.
 * @param {Names} names
 * @param {string} font
 * @param {boolean} [least]
 */
export function needOf(names, font, least = false) {
  const width = widthIn(font);
  const longest = [...names.all].sort((one, other) => other.length - one.length).slice(0, LONGEST);
  return Math.ceil(Math.max(0, ...longest.map((name) => width(least ? names.short(name, 0, width) : names.telling(name))))) + 1;
}

const sizes = typeof ResizeObserver === "undefined" ? null : new ResizeObserver((entries) => {
  const elements = entries.map(({ target }) => /** @type {NameElement} */ (target));
  const known = elements.map((one) => ({ room: one.getBoundingClientRect().width, font: fontOf(one) }));
  lists.clear();
  elements.forEach((element, at) => fit(element, known[at].room, known[at].font));
});

/**
 * Show an element's name as its room allows.
 * @param {NameElement} element
 * @param {number} room
 * @param {string} font
 */
function fit(element, room, font) {
  const name = element.textContent || "";
  const width = widthIn(font);
  const least = parseFloat(element.style.minWidth) || 0;
  if (least && room > least + 1) element.style.minWidth = "";
  if (!room || width(name) <= room + 1) {
    if (element.title === name) element.removeAttribute("title");
    delete element.dataset.short;
    return;
  }
  const short = namesOf(element).short(name, room, width);
  element.dataset.short = short;
  if (width(short) > room + 1) element.style.minWidth = `${Math.ceil(width(short))}px`;
  if (!element.title && !element.closest("[title]")) element.title = name;
}

/** @param {NameElement} element */
function namesOf(element) {
  if (element.msNames) return element.msNames;
  const cell = element.closest(".ag-cell");
  const list = (cell && cell.closest(".ag-root")) || element.closest(LISTS) || element.parentElement || element;
  const column = cell ? `.ag-cell[col-id=${JSON.stringify(cell.getAttribute("col-id"))}] ` : "";
  const known = lists.get(list) || new Map();
  const all = () => Array.from(list.querySelectorAll(`${column}.ms-name`), (one) => one.textContent || "");
  const names = known.get(column) || new Names(all());
  lists.set(list, known.set(column, names));
  return names;
}

/**
 * Follow the room of an element of class ms-name.
 * @param {NameElement} element
 * @param {Names} [names] it is shown with; by default those in the same list, table or card
 */
export function follow(element, names) {
  if (names) element.msNames = names;
  element.style.minWidth = "";
  if (sizes) {
    sizes.unobserve(element);
    sizes.observe(element);
  }
  return element;
}

/**
 * The element of a name.
 * @param {string} name
 * @param {Names} [names] it is shown with; by default those in the same list, table or card
 * @returns {HTMLElement}
 */
export function nameElement(name, names) {
  return follow(/** @type {NameElement} */ (make("bdi", "ms-name", name)), names);
}

// Elements that the server or a component has made --------------------------------------------------------------------

/** @type {Set<Element>} */
const fresh = new Set();

function followFresh() {
  for (const part of fresh) {
    if (!part.isConnected) continue;
    if (part.matches(".ms-name")) follow(/** @type {HTMLElement} */ (part));
    for (const element of part.querySelectorAll(".ms-name")) follow(/** @type {HTMLElement} */ (element));
  }
  fresh.clear();
}

if (typeof MutationObserver !== "undefined") {
  new MutationObserver((changes) => {
    if (!fresh.size) window.requestAnimationFrame(followFresh);
    for (const { target, addedNodes } of changes) {
      for (const node of addedNodes) if (node instanceof Element) fresh.add(node);
      if (target instanceof Element && target.matches(".ms-name")) fresh.add(target);  // its text is another one
      else if (target instanceof Text && target.parentElement?.matches(".ms-name")) fresh.add(target.parentElement);
    }
  }).observe(document.documentElement, { childList: true, characterData: true, subtree: true });
}

// The whole name at the focus -----------------------------------------------------------------------------------------

const tip = make("div", "ms ms-name-tip", [], { role: "tooltip", hidden: "" });

/** @param {FocusEvent} event */
function showWhole({ target }) {
  tip.hidden = true;
  if (!(target instanceof HTMLElement) || !target.matches(":focus-visible")) return;
  const around = target.closest(".ms-chip") || target;
  const cut = target.matches(".ms-name[data-short]") ? target : around.querySelector(".ms-name[data-short]");
  if (!(cut instanceof HTMLElement) || around.querySelectorAll(".ms-name").length > 1) return;
  tip.textContent = cut.textContent;
  document.body.append(tip);
  tip.hidden = false;
  const at = cut.getBoundingClientRect();
  const { width, height } = tip.getBoundingClientRect();
  const below = at.bottom + 4 + height <= window.innerHeight;
  tip.style.left = `${Math.max(4, Math.min(at.left, window.innerWidth - width - 4))}px`;
  tip.style.top = `${below ? at.bottom + 4 : at.top - height - 4}px`;
}

function hideWhole() {
  tip.hidden = true;
}

document.addEventListener("focusin", showWhole);
document.addEventListener("focusout", hideWhole);
document.addEventListener("scroll", hideWhole, { capture: true, passive: true });
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") hideWhole();
});
