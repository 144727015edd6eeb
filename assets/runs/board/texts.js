// Cards of text. dcc.Markdown renders them, with HTML off, into an element that is not shown; what it has drawn is copied to
// the cards, since the cards are no components of Dash.

import { setProps } from "../../kit/dash.js";
import { make, words } from "../../kit/elements.js";
import { setLabel } from "../../kit/i18n.js";

export const LONGEST = 20000;  // layouts/runs/boards.py
const SCHEMES = ["http:", "https:", "mailto:"];

/**
 * @param {string} namespace
 * @param {string} type
 * @param {Record<string, unknown>} props
 */
const component = (namespace, type, props) => ({ namespace, type, props });

/**
 * Have the texts of a board rendered.
 * @param {Boards.Page} page
 */
export function render(page) {
  const cards = page.board ? page.board.cards.filter((card) => card.place === null) : [];
  const drawn = JSON.stringify(cards.map(({ key, text }) => [key, text]));
  if (page.texts === drawn) return;
  page.texts = drawn;
  setProps(page.store("texts"), { children: cards.map(({ key, text }) => component("dash_html_components", "Div", {
    "data-card": key,
    children: component("dash_core_components", "Markdown", { children: text, link_target: "_blank", dedent: false }),
  })) });
}

/**
 * Links lead to the web, to a mail, or to pages of ours, and to nothing else.
 * @param {Element} copy
 */
function harmless(copy) {
  for (const link of copy.querySelectorAll("a")) {
    if (!SCHEMES.includes(link.protocol)) link.removeAttribute("href");
    link.rel = "noopener noreferrer";
  }
  return copy;
}

// What was copied last to the text of a card.
/** @type {WeakMap<Element, Node>} */
const copied = new WeakMap();

/**
 * Copy what has been rendered to the cards.
 * @param {Boards.Page} page
 */
export function copy(page) {
  for (const drawn of page.find(".ms-board-drawn").querySelectorAll("[data-card]")) {
    const shown = page.find(`.ms-board-card[data-card="${CSS.escape(drawn.dataset.card)}"] .ms-board-text`);
    const before = shown && copied.get(shown);
    if (!shown || (before && before.isEqualNode(drawn))) continue;
    copied.set(shown, drawn.cloneNode(true));
    const made = harmless(/** @type {Element} */ (drawn.cloneNode(true)));
    shown.replaceChildren(...made.childNodes);
  }
}

/**
 * Copy texts whenever Dash has rendered some.
 * @param {Boards.Page} page
 */
export function watch(page) {
  new MutationObserver(() => copy(page)).observe(page.find(".ms-board-drawn"), {
    childList: true, subtree: true, characterData: true,
  });
}

/**
 * Edit the text of a card; save(text) and cancel() end it.
 * @param {HTMLElement} host
 * @param {string} text
 * @param {(text: string) => void} save
 * @param {() => void} cancel
 */
export function edit(host, text, save, cancel) {
  const field = make("textarea", "ms-input ms-board-field", [], { maxlength: String(LONGEST), spellcheck: "false" });
  setLabel(field, "aria-label", "board.text");
  field.value = text;
  const saving = make("button", "ms-button ms-button-small", words("board.save"), { type: "button" });
  const leaving = make("button", "ms-button ms-button-small", words("board.cancel"), { type: "button" });
  saving.addEventListener("click", () => save(field.value));
  leaving.addEventListener("click", cancel);
  field.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Escape") cancel();
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save(field.value);
  });
  const hint = words("board.text_hint", {}, "span", "ms-muted ms-grow");
  host.append(make("div", "ms-board-editor", [field, make("div", "ms-note-foot", [hint, leaving, saving])]));
  field.focus();
  return field;
}
