// "Add to board": a button in the head of every card, and the box that asks which board. Counterpart of
// app/routes/runs/boards.py; the page with the boards is assets/runs/board.

import { partOf } from "./alone.js";
import { stateOf } from "./chrome.js";
import { icon, iconButton, make, words } from "./elements.js";
import { count } from "./units.js";
import { setLabel } from "./i18n.js";
import * as notes from "./notes.js";
import { go } from "./navigation.js";
import { poll } from "./polling.js";
import { alone } from "./prefs.js";
import { changedState, formatQuery } from "./state.js";

/** @import { NoteBox } from "./notes.js" */

export const LONGEST_NAME = 100;  // layouts/runs/notes.py
const COLUMNS = 12;  // layouts/runs/boards.py
const ROW = 48;  // px, as in assets/runs/board/page.css
/** @type {[number, number]} */
const ROWS = [4, 16];
const FURNISHED_MS = 150;  // after a page has changed
const WHOLE = { w: COLUMNS, h: 14 };
/** Cards without a head, which say something: the button stands beside their text. */
const HEADLESS = [
  'section[class="ms-card"]', ".ms-memory-head", ".ms-tuning-head", ".ms-optimisation-answer", ".ms-uncertainty-said",
].map((one) => `.ms-page ${one}:not([data-board])`).join(", ");

let latest = "";  // the board that something was added to last

/** A new key of a board or a card. */
export function newKey() {
  return Array.from(window.crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Change boards. Resolves to the answer of the server, rejects with an Error for the user.
 * @param {string} routes
 * @param {Record<string, any>} change
 * @returns {Promise<{ done: boolean, now: Wire.Board | null, overridden: Wire.BoardCard[] }>}
 */
export async function change(routes, change) {
  const answer = await notes.post(routes, "board", change);
  poll();
  return answer;
}

/**
 * Columns and rows of a card that is as large on the board as it is on its page.
 * @param {HTMLElement} card
 */
function sizeOf(card) {
  const { width, height } = card.getBoundingClientRect();
  const whole = card.closest(".ms-page").clientWidth || width;
  /**
   * @param {number} value
   * @param {number} least
   * @param {number} most
   */
  const clamp = (value, least, most) => Math.min(most, Math.max(least, Math.round(value)));
  if (card.classList.contains("ms-full")) return { w: 6, h: 8 };
  return { w: clamp((width / whole) * COLUMNS, 3, COLUMNS), h: clamp((height + 30) / ROW, ...ROWS) };
}

/** @param {string} frame */
function placeOf(frame) {
  const { path } = document.getElementById(`${frame}-frame`).dataset;
  const query = formatQuery(changedState(stateOf(frame), { full: [] }));
  return query ? `${path}?${query}` : path;
}

/**
 * Ask which board a card goes to; without a card the page goes there as it is.
 * @param {HTMLElement} anchor
 * @param {HTMLElement | null} [card]
 */
export function ask(anchor, card = null) {
  const frame = card ? notes.frameOf(card) : document.querySelector(".ms-frame").dataset.frame;
  const wanted = { key: newKey(), place: placeOf(frame), part: card ? partOf(card) : "", ...(card ? sizeOf(card) : WHOLE) };
  notes.openBox({
    what: "board", anchor, frame, key: "", label: "boards.add", name: "",
    back: () => anchor.focus(), fill: (box) => fill(box, wanted),
  });
}

/**
 * @param {NoteBox} box
 * @param {{ key: string, place: string, part: string, w: number, h: number }} wanted
 */
function fill(box, wanted) {
  const trouble = make("div", "ms-note-trouble", [], { role: "alert", hidden: "" });
  /** @param {Record<string, unknown>} change_ */
  const run = async (change_) => {
    try {
      const { done, now } = await change(box.routes, change_);
      if (done && now) added(box, now);
      else notes.showFailure(box, trouble, new Error(words("boards.gone").textContent));
    } catch (error) {
      notes.showFailure(box, trouble, error);
    }
  };
  const field = make("input", "ms-input ms-grow", [], { type: "text", maxlength: String(LONGEST_NAME), autocomplete: "off" });
  for (const name of ["placeholder", "aria-label"]) setLabel(field, name, "boards.new_name");
  const form = make("form", "ms-boards-form", [field, make("button", "ms-button", words("boards.create"), { type: "submit" })]);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (field.value.trim()) run({ create: field.value, key: newKey(), cards: [{ ...wanted, x: 0, y: 0 }] });
    else field.focus();
  });
  const list = make("ul", "ms-boards-list");
  const update = () => {
    const boards = notes.bookOfFrame(box.frame)?.boards || [];
    const ordered = [...boards].sort((one, other) => Number(other.key === latest) - Number(one.key === latest));
    list.replaceChildren(...ordered.map((board) => {
      const button = make("button", "ms-menu-item", [
        icon("board"), make("span", "ms-cut ms-name ms-grow", board.name),
        words("boards.cards", { n: count(board.count) }, "span", "ms-muted"),
      ], { type: "button" });
      button.addEventListener("click", () => run({ board: board.key, change: [wanted] }));
      return make("li", "", button);
    }));
    list.hidden = !boards.length;
  };
  update();
  box.element.append(words("boards.add", {}, "div", "ms-boards-title"), list, form, trouble);
  (list.querySelector("button") || field).focus();
}

/**
 * @param {NoteBox} box
 * @param {Wire.Board} board
 */
function added(box, board) {
  latest = board.key;
  const open = make("a", "ms-button", words("boards.open"), { href: `?board=${board.key}` });
  open.addEventListener("click", (event) => {
    event.preventDefault();
    notes.close(box);
    go("board", { board: [board.key] });
  });
  const said = words("boards.added", { name: board.name }, "p", "ms-cut");
  const shell = document.querySelector(".ms-shell");
  box.element.replaceChildren(make("div", "ms-note-foot", [said, ...(shell ? [open] : [])], { role: "status" }));
  if (shell) open.focus();
  else box.element.focus();
}

// The button in the head of each card, and in the bar of a page whose parts stand together only ------------------------

/** @param {Element} place */
function addButton(place) {
  const button = iconButton("board", "boards.add", "");
  delete button.dataset.act;
  button.classList.add("ms-board-add");
  place.append(button);
  return button;
}

function furnish() {
  for (const bar of document.querySelectorAll(".ms-page .ms-adds-page")) {
    if (!bar.querySelector(":scope > .ms-board-add")) addButton(bar);
  }
  for (const head of document.querySelectorAll(".ms-page .ms-card:not([data-board]) > .ms-card-head")) {
    const tools = head.querySelector(".ms-card-tools");
    const found = head.querySelector(".ms-board-add");
    if (found && (!tools || tools.contains(found))) continue;
    const button = found || addButton(head);
    const full = tools && tools.querySelector('[data-act^="full"]');
    if (full) full.before(button);
    else if (tools) tools.append(button);  // scripts may make the tools after the first look
  }
  // A link must not have a button in it, so the button of a card that is a link stands beside its head.
  for (const tile of document.querySelectorAll(".ms-page .ms-card:not([data-board]):has(> a > .ms-card-head)")) {
    if (!tile.querySelector(":scope > .ms-board-add")) addButton(tile);
  }
  for (const card of document.querySelectorAll(HEADLESS)) {
    if (card.querySelector(".ms-card-head, .ms-board-add") || !partOf(card)) continue;
    card.classList.add("ms-board-beside");
    addButton(card);
  }
}

if (!alone) {
  let waiting = false;
  new MutationObserver(() => {
    if (waiting) return;
    waiting = true;
    window.setTimeout(() => {
      waiting = false;
      furnish();
    }, FURNISHED_MS);
  }).observe(document.documentElement, { childList: true, subtree: true });
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element && event.target.closest(".ms-board-add");
    if (button) ask(button, button.parentElement.classList.contains("ms-adds-page") ? null : button.closest(".ms-card"));
  });
}
