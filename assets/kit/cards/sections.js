// Heads of sections among the cards, and pins. arrangement.js says which there are.

import { icon, make } from "../elements.js";
import { count } from "../units.js";
import { setLabel, writeText } from "../i18n.js";
import { listed } from "../state.js";
import { fold } from "./arrangement.js";

/** @import { Head, Item } from "./arrangement.js" */

const PINNED = "\0pinned";

/**
 * Rows that items take in a grid, without those of heads.
 * @param {Item[]} items
 * @param {number} across
 */
export function rowsOf(items, across) {
  let [rows, run] = [0, 0];
  for (const item of items) {
    if ("head" in item) [rows, run] = [rows + Math.ceil(run / across), 0];
    else run += 1;
  }
  return rows + Math.ceil(run / across);
}

/**
 * @param {CardsPage} page
 * @param {Head} head
 */
function build(page, head) {
  const ofTags = !head.pinned && head.prefix;  // others have a text in two languages, of which one is shown
  const name = make("span", `ms-section-name ms-cut${ofTags ? " ms-name" : ""}`);
  const number = make("span", "ms-section-count ms-muted");
  const part = make("span", "ms-section-part ms-muted");
  if (head.pinned) return make("h2", "ms-section", [icon("pin"), name, number, part]);
  const button = make("button", "ms-section-fold", [icon("down"), name, number, part], { type: "button" });
  setLabel(button, "title", "cards.fold");
  button.addEventListener("click", () => {
    page.change(fold(page.state, head.prefix || "", button.getAttribute("aria-expanded") === "true"));
  });
  return make("h2", "ms-section", button);
}

/**
 * The element of a head, made once for each section.
 * @param {CardsPage} page
 * @param {Head} head
 */
export function headOf(page, head) {
  const key = head.pinned ? PINNED : head.prefix || "";
  const element = page.heads.get(key) || build(page, head);
  page.heads.set(key, element);
  const name = element.querySelector(".ms-section-name");
  if (head.pinned || !head.prefix) writeText(name, head.pinned ? "cards.pinned" : "cards.others");
  else name.textContent = head.prefix;
  name.title = head.prefix || "";
  element.querySelector(".ms-section-count").textContent = count(head.count);
  const part = element.querySelector(".ms-section-part");
  part.hidden = head.pinned || head.folded
    || head.from === undefined || head.to === undefined || head.to - head.from === head.count;
  if (!part.hidden) {
    const { from = 0, to = 0 } = head;
    writeText(part, "cards.range", { first: count(from + 1), last: count(to), total: count(head.count) });
  }
  const button = element.querySelector("button");
  if (button) button.setAttribute("aria-expanded", String(!head.folded));
  return element;
}

/**
 * Take away heads that are not among these elements.
 * @param {CardsPage} page
 * @param {HTMLElement[]} elements
 */
export function removeOthers(page, elements) {
  const kept = new Set(elements);
  for (const [key, element] of page.heads) {
    if (kept.has(element)) continue;
    element.remove();
    page.heads.delete(key);
  }
}

/**
 * @param {CardsPage} page
 * @param {HTMLElement} card
 * @param {string} key
 */
export function pressPin(page, card, key) {
  const button = card.querySelector('[data-act="pin"]');
  if (!button) return;
  const on = listed(page.state, "pin", key);
  button.setAttribute("aria-pressed", String(on));
  button.disabled = !on && (page.state.pin || []).length >= page.usual;
  setLabel(button, "title", button.disabled ? "cards.pin.full" : "cards.pin", { n: page.usual });
}
