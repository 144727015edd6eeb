// Slots beyond the usual number of a page. Every component costs time at each answer of the server, so they are made when the
// user first has more cards on a page, or pins some.

import { setProps } from "../dash.js";

/**
 * Slots that a page may have, and those that it has.
 * @param {CardsPage} page
 */
export const mostOf = (page) => Number(page.root.dataset.most);
/** @param {CardsPage} page */
export const countOf = (page) => page.root.querySelectorAll(".ms-slot").length;

/**
 * Make all further slots, and call ready once they are there.
 * @param {any} page
 * @param {(cards: HTMLElement[]) => void} ready
 */
export function makeMore(page, ready) {
  if (page.makingSlots) return;
  page.makingSlots = true;
  const place = page.find(".ms-more-slots");
  const [first, most] = [countOf(page), mostOf(page)];
  const made = Array.from({ length: most - first }, (_, at) =>
    JSON.parse(place.dataset.slotMade.replaceAll("%slot%", String(first + at))));
  const look = () => {
    if (place.childElementCount < made.length) return;
    observer.disconnect();
    ready(Array.from(place.children));
  };
  const observer = new MutationObserver(look);
  observer.observe(place, { childList: true });
  setProps(page.store("more"), { children: made });
}
