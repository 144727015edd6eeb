// One card of a board: its head with title, badges and tools, and what is in it.

import * as boards from "../../kit/boards.js";
import { badge, icon, iconButton, make, menu, words } from "../../kit/elements.js";
import { setLabel } from "../../kit/i18n.js";
import { go } from "../../kit/navigation.js";
import { gone } from "../../kit/run_selection.js";
import { parseQuery } from "../../kit/state.js";
import * as frames from "./frames.js";
import { freePlace } from "./grid.js";
import * as moving from "./moving.js";
import { renaming } from "./renaming.js";
import * as saving from "./saving.js";
import * as texts from "./texts.js";

const LONGEST_TITLE = 200;  // layouts/runs/boards.py

/** @param {string} place */
const queryOf = (place) => parseQuery(place.split("?").slice(1).join("?"));

/**
 * The name of a card: its title, or what it shows.
 * @param {Pick<Wire.BoardCard, "title" | "place" | "text" | "part">} card
 */
export function nameOf(card) {
  if (card.title) return card.title;
  if (card.place === null) return (card.text.match(/^\W*(.{1,60})/mu) || ["", ""])[1].trim() || "…";
  const of = card.part.startsWith("key:") ? card.part.slice(4) : "";
  return of || pageTitle(card.place.split("?")[0]);
}

/**
 * The name of a page in the menu, if our menu is there; the list of runs opens at "" and at "runs".
 * @param {string} path
 */
const menuText = (path) =>
  document.querySelector(`.ms-menu-link[data-page="${path === "runs" ? "" : CSS.escape(path)}"] .ms-menu-text`);

/**
 * Title of a page, in both languages if our menu is there.
 * @param {string} path
 */
function pageTitle(path) {
  const link = menuText(path);
  return link ? link.textContent : path || "runs";
}

/**
 * In both languages: the title of the page, and that which the card has there (`own`, nodes).
 * @param {Wire.BoardCard} card
 * @param {Node[] | null} own
 */
function titleOf(card, own) {
  if (card.title || (card.place !== null && card.part.startsWith("key:"))) return [make("bdi", "", nameOf(card))];
  if (card.place === null) return [];  // a text says itself what it is about
  const link = menuText(card.place.split("?")[0]);
  const page = link ? make("span", "", Array.from(link.cloneNode(true).childNodes)) : nameOf(card);
  if (!own) return [page];
  const inBoth = own.some((node) => node instanceof Element && node.className === "en");
  return [page, " · ", make("span", inBoth ? "t" : "", own)];
}

/**
 * @param {string} name
 * @param {string} label
 * @param {() => void} act
 */
function tool(name, label, act) {
  const button = iconButton(name, label, "");
  delete button.dataset.act;
  button.addEventListener("click", act);
  return button;
}

/**
 * @param {string} key
 * @param {() => void} act
 */
function item(key, act) {
  const button = make("button", "ms-menu-item", words(key), { type: "button" });
  button.addEventListener("click", act);
  return button;
}

/**
 * @param {Boards.Page} page
 * @param {string} place
 */
function openPage(page, place) {
  const [path] = place.split("?");
  if (page.root.closest(".ms-shell")) go(path, { run: [], board: [], ...queryOf(place) });
  else window.open(frames.address(page, place, null), "_blank", "noopener");
}

/**
 * @param {Boards.Page} page
 * @param {HTMLElement} element
 * @param {() => Wire.BoardCard} cardOf
 */
function tools(page, element, cardOf) {
  const shown = cardOf().place !== null;
  const more = make("summary", "ms-button ms-button-icon", icon("more"));
  for (const name of ["title", "aria-label"]) setLabel(more, name, "board.more");
  const editing = page.editable ? [
    ...(shown ? [] : [tool("pencil", "board.edit", () => editText(page, element, cardOf))]),
    menu(more, [
      item("board.rename", () => rename(page, element, cardOf())),
      item("board.duplicate", () => duplicate(page, cardOf())),
      item("board.delete", () => page.remove(cardOf().key)),
    ]),
  ] : [];
  return [
    ...(shown ? [tool("right", "board.open_page", () => openPage(page, String(cardOf().place)))] : []),
    tool("full", "board.full", () => toggleFull(page, element)),
    ...editing,
  ];
}

/**
 * @param {Boards.Page} page
 * @param {HTMLElement} element
 */
export function toggleFull(page, element) {
  const on = !element.classList.contains("ms-full");
  for (const other of page.elements.values()) other.classList.remove("ms-full");
  element.classList.toggle("ms-full", on);
  element.focus({ preventScroll: true });
}

/**
 * @param {Boards.Page} page
 * @param {HTMLElement} element
 * @param {Wire.BoardCard} card
 */
function rename(page, element, card) {
  const title = element.querySelector(".ms-card-title");
  const field = renaming("ms-input ms-board-title", LONGEST_TITLE, card.title, title, (name) => {
    element.focus({ preventScroll: true });
    if (name === null || name === card.title) return;
    saving.changeCards(page, [{ key: card.key, title: name, was: card.version, seen: { title: card.title } }]);
  });
  field.placeholder = nameOf({ ...card, title: "" });
}

/**
 * Edit the text of a card; the text is based on what the board had when editing began.
 * @param {Boards.Page} page
 * @param {HTMLElement} element
 * @param {() => Wire.BoardCard} cardOf
 */
export function editText(page, element, cardOf) {
  const body = element.querySelector(".ms-board-content");
  if (body.querySelector(".ms-board-editor")) return;
  const begun = cardOf();
  const end = () => {
    body.querySelector(".ms-board-editor").remove();
    element.classList.remove("ms-board-editing");
    element.focus({ preventScroll: true });
  };
  element.classList.add("ms-board-editing");
  texts.edit(body, begun.text, (text) => {
    end();
    if (text.trim() === begun.text) return;
    if (page.board.cards.some((card) => card.key === begun.key)) {
      saving.changeCards(page, [{ key: begun.key, text, was: begun.version, seen: { text: begun.text } }]);
    } else {
      const name = nameOf({ ...begun, text });
      saving.addCard(page, { ...begun, text }).then((done) => done && saving.say(page, "board.came_back", { name }));
    }
  }, end);
}

/**
 * What a card has that the board does not: the head offers to keep it.
 * @param {Boards.Page} page
 * @param {HTMLElement} element
 * @param {() => Wire.BoardCard} cardOf
 * @param {string | null} place
 */
function offer(page, element, cardOf, place) {
  const host = element.querySelector(".ms-board-changed");
  const host_ = element.querySelector(".ms-board-content");
  if (place === null || !page.editable) {
    host.replaceChildren();
    return;
  }
  /**
   * @param {string} key
   * @param {string} title
   * @param {() => void} act
   */
  const button = (key, title, act) => {
    const made = make("button", "ms-badge ms-badge-button", words(key), { type: "button" });
    setLabel(made, "title", title);
    made.addEventListener("click", () => {
      host.replaceChildren();
      element.focus({ preventScroll: true });
      act();
    });
    return made;
  };
  host.replaceChildren(
    button("board.keep", "board.keep.title", () => {
      const card = cardOf();
      frames.settle(host_, { ...card, place });
      element.dataset.shown = JSON.stringify([place, card.part]);
      saving.changeCards(page, [{ key: card.key, place, was: card.version }]);
    }),
    button("board.reset", "board.reset.title", () => frames.reload(host_, cardOf())),
  );
}

/** @type {WeakMap<HTMLElement, Node[] | null>} */
const titles = new WeakMap();  // card -> the title that its page has given it

/**
 * The element of a card, without a place on the board.
 * @param {Boards.Page} page
 * @param {Wire.BoardCard} card
 */
export function cardElement(page, card) {
  const cardOf = () => page.board.cards.find(({ key }) => key === card.key) || card;
  const head = make("header", "ms-card-head ms-board-head");
  const content = make("div", `ms-card-body ms-board-content${card.place === null ? "" : " ms-board-page"}`,
    card.place === null ? make("div", "ms-board-text") : make("div", "ms-skeleton"));
  const corner = make("span", "ms-board-corner", [], { "aria-hidden": "true" });
  setLabel(corner, "title", "board.resize");
  const element = make("section", "ms-card ms-board-card", [head, content, corner], {
    "data-card": card.key, "data-board": "", tabindex: "0", role: "group",
  });
  if (page.editable) element.setAttribute("aria-describedby", page.store("moving"));
  const bar = make("span", "ms-card-tools", [], { role: "toolbar" });
  setLabel(bar, "aria-label", "board.tools");
  head.append(make("h3", "ms-card-title"), make("span", "ms-card-badges"), make("span", "ms-board-changed"), bar);
  bar.append(...tools(page, element, cardOf));
  corner.hidden = !page.editable;
  moving.attach(page, element, head, corner);
  element.dataset.shown = JSON.stringify([card.place, card.part]);
  if (card.place !== null) {
    frames.hold(page, content, card, nameOf(card), {
      changed: (place) => offer(page, element, cardOf, place),
      named: (title) => {
        titles.set(element, title && title.textContent ? Array.from(title.childNodes, (node) => node.cloneNode(true)) : null);
        delete element.dataset.name;
        update(page, element, cardOf());
      },
    });
  } else {
    content.addEventListener("dblclick", () => page.editable && editText(page, element, cardOf));
  }
  return element;
}

/**
 * Write what may have changed of a card.
 * @param {Boards.Page} page
 * @param {HTMLElement} element
 * @param {Wire.BoardCard} card
 */
export function update(page, element, card) {
  const title = element.querySelector(".ms-card-title");
  const name = nameOf(card);
  if (title && element.dataset.name !== `${name}\n${card.title}`) {
    element.dataset.name = `${name}\n${card.title}`;
    const titled = titles.get(element);
    title.replaceChildren(...titleOf(card, titled ? titled.map((node) => node.cloneNode(true)) : null));
    title.title = name;
  }
  setLabel(element, "aria-label", "board.card", { name });
  const content = element.querySelector(".ms-board-content");
  const shown = JSON.stringify([card.place, card.part]);
  if (card.place !== null && element.dataset.shown !== shown) {
    element.dataset.shown = shown;
    frames.reload(content, card);
    element.querySelector(".ms-board-changed").replaceChildren();
  }
  const lost = card.place === null || !page.rows ? [] : gone(queryOf(card.place), page.rows);
  element.querySelector(".ms-card-badges").replaceChildren(
    ...(lost.length ? [badge("board.run_gone", {}, "board.run_gone.title", "wrong")] : []));
  if (lost.length) {
    setLabel(element.querySelector(".ms-card-badges > *"), "title", "board.run_gone.title", { names: lost.join(", ") });
  }
}

/**
 * Take the element of a card off the board.
 * @param {HTMLElement} element
 */
export function removeElement(element) {
  frames.drop(element.querySelector(".ms-board-content"));
  element.remove();
}

/**
 * Add a copy of a card, at the first free place of its size.
 * @param {Boards.Page} page
 * @param {Wire.BoardCard} card
 */
async function duplicate(page, card) {
  const key = boards.newKey();
  if (!await saving.addCard(page, { ...card, key, ...freePlace(page.board.cards, card.w, card.h) })) return;
  const element = page.elements.get(key);
  if (!element) return;
  element.scrollIntoView({ block: "nearest" });
  element.focus({ preventScroll: true });
}

/**
 * A new card of text, which is edited at once.
 * @param {Boards.Page} page
 * @param {{ x: number, y: number }} place
 */
export async function addText(page, place) {
  const card = { key: boards.newKey(), place: null, part: "", title: "", text: "", w: 4, h: 5, version: "", ...place };
  saving.addCard(page, card);
  const element = page.elements.get(card.key);
  if (!element) return;
  element.scrollIntoView({ block: "nearest" });
  editText(page, element, () => page.board.cards.find(({ key }) => key === card.key) || card);
}
