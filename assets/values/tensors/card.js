// What the parts of a card of the tensors page share: its run and dimensions in the state, requests, messages.

import { translate } from "../../kit/i18n.js";
import { entry, withEntry } from "../../kit/state.js";
import { boxesText } from "../../kit/tensor_grid/boxes.js";

// What the state says of a card ---------------------------------------------------------------------------------------

export const escaped = (text) => text.replace(/~/g, "~0").replace(/:/g, "~1");
export const plain = (text) => text.replace(/~1/g, ":").replace(/~0/g, "~");

/** @param {CardsPage} page */
export function seriesOf(page, card, key) {
  const run = plain(entry(page.state, "of", key));
  return card.stepped.find((one) => one.run === run) || card.stepped[0];
}

/** @param {CardsPage} page */
export function setEntry(page, name, key, value) {
  page.change({ [name]: withEntry(page.state, name, key, value) });
}

/** @param {CardsPage} page */
export function address(page, route, query) {
  return `${page.root.dataset.routes}${route}?${query}`;
}

/** @param {CardsPage} page */
export async function json(page, route, query) {
  try {
    const answer = await fetch(address(page, route, query));
    const content = await answer.json();
    return answer.ok ? content : { problem: content.error || String(answer.status) };
  } catch (error) {
    return { problem: translate("tensor_grid.unanswered") };
  }
}

// Show a message instead of values; a plain tone if the data is not at fault.
export function message(t, text, tone = "wrong") {
  t.values.hide();
  const element = t.find("message");
  element.textContent = text;
  element.classList.toggle("ms-wrong-text", tone === "wrong");
  element.hidden = false;
  t.find("body").hidden = true;
  t.find("foot").hidden = true;
}

export function setBoxes(t, boxes) {
  setEntry(t.page, "dims", t.key, boxesText(boxes));
}
