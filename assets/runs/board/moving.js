// Moving and resizing cards: by the head and the corner with the pointer, by arrow keys.

import { words } from "../../kit/elements.js";
import { COLUMNS, moved, resized, settled, shifted, stepped, tidied } from "./grid.js";
import * as saving from "./saving.js";

export const GAP = 8;  // px, as in page.css
export const ROW = 48;  // px of a row with the gap below it
const EDGE = 40;  // px of the window's edges that scroll while a card is dragged
const SAVED_MS = 500;  // after the last key

/**
 * Arrange all cards of a board in rows of some columns; the former arrangement can be brought back.
 * @param {Boards.Page} page
 * @param {number} columns
 */
export function tidy(page, columns) {
  const before = settled(page.board.cards);
  const changes = shifted(before, tidied(before, columns));
  if (!changes.length) return;
  saving.changeCards(page, changes);
  const back = () => saving.changeCards(page, before.map(({ key, x, y, w, h }) => ({ key, x, y, w, h })));
  saving.say(page, "board.tidied", {}, [["board.undo", back]]);
}

/** @param {Boards.Page} page */
const isNarrow = (page) => page.root.classList.contains("ms-board-narrow");

/**
 * Put the elements of cards at their places.
 * @param {Boards.Page} page
 * @param {Boards.Placed[]} cards
 */
export function arrange(page, cards) {
  for (const { key, x, y, w, h } of cards) {
    const element = page.elements.get(key);
    if (!element) continue;
    element.style.gridArea = `${y + 1} / ${x + 1} / span ${h} / span ${w}`;
    element.style.setProperty("--ms-board-rows", String(h));
    element.style.order = String(y * COLUMNS + x);
  }
}

/**
 * @param {Boards.Page} page
 * @param {Boards.Placed[]} before
 * @param {Boards.Placed[]} after
 */
function save(page, before, after) {
  const changes = shifted(before, after);
  if (changes.length) saving.changeCards(page, changes);
}

/**
 * Follow the pointer from its press on; draw(dx, dy) in px, end(whether it was not cancelled).
 * @param {Boards.Page} page
 * @param {HTMLElement} handle
 * @param {PointerEvent} press
 * @param {(dx: number, dy: number) => void} draw
 * @param {(done: boolean) => void} end
 */
function follow(page, handle, press, draw, end) {
  page.root.classList.add("ms-board-dragging");
  handle.setPointerCapture(press.pointerId);
  const from = { x: press.clientX, y: press.clientY + window.scrollY };
  /** @param {PointerEvent} event */
  const move = (event) => {
    if (event.clientY < EDGE) window.scrollBy(0, -12);
    else if (event.clientY > window.innerHeight - EDGE) window.scrollBy(0, 12);
    draw(event.clientX - from.x, event.clientY + window.scrollY - from.y);
  };
  /** @param {KeyboardEvent} event */
  const key = (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    stop(false);
  };
  const up = () => stop(true);
  const lost = () => stop(false);
  /** @param {boolean} done */
  function stop(done) {
    page.root.classList.remove("ms-board-dragging");
    handle.removeEventListener("pointermove", move);
    handle.removeEventListener("pointerup", up);
    handle.removeEventListener("pointercancel", lost);
    window.removeEventListener("keydown", key, true);
    end(done);
  }
  handle.addEventListener("pointermove", move);
  handle.addEventListener("pointerup", up);
  handle.addEventListener("pointercancel", lost);
  window.addEventListener("keydown", key, true);
}

/**
 * @param {Boards.Page} page
 * @param {HTMLElement} element
 * @param {PointerEvent} press
 * @param {HTMLElement} handle
 * @param {Boards.Step} next
 */
function dragged(page, element, press, handle, next) {
  const before = settled(page.board.cards);
  const card = before.find(({ key }) => key === element.dataset.card);
  if (!card) return;
  const column = (page.find(".ms-board-grid").clientWidth + GAP) / COLUMNS;
  let after = before;
  element.classList.add("ms-board-held");
  follow(page, handle, press, (/** @type {number} */ dx, /** @type {number} */ dy) => {
    after = next(before, card, Math.round(dx / column), Math.round(dy / ROW));
    arrange(page, after);
  }, (done) => {
    element.classList.remove("ms-board-held");
    if (done) save(page, page.board.cards, after);
    else arrange(page, before);
  });
}

/**
 * Have a card be moved by its head and resized by its corner and by keys.
 * @param {Boards.Page} page
 * @param {HTMLElement} element
 * @param {HTMLElement} head
 * @param {HTMLSpanElement} corner
 */
export function attach(page, element, head, corner) {
  /**
   * @param {HTMLElement} handle
   * @param {Boards.Step} next
   */
  const start = (handle, next) => (/** @type {PointerEvent} */ event) => {
    if (event.button !== 0 || !page.editable || isNarrow(page) || element.classList.contains("ms-full")) return;
    if (handle === head && event.target && event.target.closest("button, a, input, summary, details")) return;
    event.preventDefault();
    element.focus({ preventScroll: true });
    dragged(page, element, event, handle, next);
  };
  head.addEventListener("pointerdown", start(head, (cards, { key, x, y }, dx, dy) => moved(cards, key, x + dx, y + dy)));
  corner.addEventListener("pointerdown", start(corner, (cards, { key, w, h }, dx, dy) => resized(cards, key, w + dx, h + dy)));
  element.addEventListener("keydown", (event) => pressed(page, element, event));
}

/** @type {Record<string, [number, number]>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/**
 * @param {Boards.Page} page
 * @param {HTMLElement} element
 * @param {KeyboardEvent} event
 */
function pressed(page, element, event) {
  if (event.target !== element || !page.editable || event.ctrlKey || event.metaKey || event.altKey) return;
  const key = String(element.dataset.card);
  if (event.key === "Delete") {
    event.preventDefault();
    page.remove(key);
    return;
  }
  const arrow = ARROWS[event.key];
  if (!arrow || element.classList.contains("ms-full")) return;
  event.preventDefault();
  const [dx, dy] = arrow;
  if (!page.stepped) page.stepped = page.board.cards;
  const now = settled(page.stepped);
  const card = now.find((one) => one.key === key);
  if (!card) return;
  page.stepped = event.shiftKey ? resized(now, key, card.w + dx, card.h + dy) : stepped(now, key, dx, dy);
  arrange(page, page.stepped);
  element.scrollIntoView({ block: "nearest" });
  const { x, y, w, h } = page.stepped.find((one) => one.key === key) || card;
  page.find(".ms-board-said").replaceChildren(
    words("board.by_key", { name: element.getAttribute("aria-label") || "", x: x + 1, y: y + 1, w, h }, "span", "ms-silent"));
  window.clearTimeout(page.stepping);
  page.stepping = window.setTimeout(() => finish(page), SAVED_MS);
}

/**
 * Save what keys have moved.
 * @param {Boards.Page} page
 */
export function finish(page) {
  window.clearTimeout(page.stepping);
  if (!page.stepped) return;
  const after = page.stepped;
  page.stepped = null;
  save(page, page.board.cards, after);
}
