// The board page: the list of boards, or one of them. Counterpart of layouts/runs/board. frames.js has the cards of pages,
// texts.js those of text, moving.js drags and keys, saving.js what goes to the server, grid.js where cards are.

import * as boards from "../../kit/boards.js";
import { functionsOf } from "../../kit/dash.js";
import { icon, make, menu, words } from "../../kit/elements.js";
import { count, size } from "../../kit/units.js";
import { setLabel, translate, writeText } from "../../kit/i18n.js";
import { go } from "../../kit/navigation.js";
import { refusal } from "../../kit/notes.js";
import { keeper, notYet } from "../../kit/pages.js";
import { last } from "../../kit/state.js";
import * as cards from "./cards.js";
import * as frames from "./frames.js";
import { freePlace, settled } from "./grid.js";
import * as moving from "./moving.js";
import { renaming } from "./renaming.js";
import { otherRuns } from "./runs_of_cards.js";
import * as saving from "./saving.js";
import * as texts from "./texts.js";

const NARROW = 600;  // px of the page: one column
const COPY = 10;  // characters that are added to the name of a copy
const TIDY = [1, 2, 3, 4];  // columns
const LARGEST_BYTES = 4 * 2 ** 20;  // of a file

/**
 * @param {HTMLElement} root
 * @param {Boards.Page} page
 * @returns {OwnFields<Boards.Page>}
 */
function fresh(root, page) {
  const routes = String(root.dataset.routes);
  return {
    book: notYet, rows: null, board: notYet, key: null, lost: null, deleted: null, saving: 0, mine: new Map(),
    editable: false, stepped: null, stepping: 0, elements: new Map(), texts: "", routes,
    app: root.closest(".ms-shell") ? routes.replace(/api\/$/, "") : `${routes}app/`,
    nameOf: cards.nameOf,
    take: (board, mine) => { if (board) take(page, board, mine); },
    fetch: () => load(page),
    missing: () => missing(page),
    remove: (key) => remove(page, key),
  };
}

const { pages, pageOf } = keeper(fresh, (page) => {
  writeText(page.find(".ms-board-keys"), "board.keys");
  texts.watch(page);
  new ResizeObserver(() => page.root.classList.toggle("ms-board-narrow", page.root.clientWidth < NARROW)).observe(page.root);
});

// What is on screen --------------------------------------------------------------------------------------------------

/**
 * The shell has no run picker while no board is open.
 * @param {Boards.Page} page
 */
function markOpen(page) {
  page.root.closest(".ms-shell")?.classList.toggle("ms-board-open", page.find(".ms-board-grid") !== null);
}

/** @param {Boards.Page} page */
function clear(page) {
  for (const element of page.elements.values()) cards.removeElement(element);
  page.elements.clear();
  page.board = notYet;
}

/** @param {Boards.Page} page */
function show(page) {
  const { book, state } = page;
  const key = last(state, "board", "") || "";
  page.editable = book.kept && !document.documentElement.hasAttribute("data-embed");
  if (page.key !== key) {
    clear(page);
    page.key = key;
    page.lost = null;
    page.mine.clear();
    page.find(".ms-board-said").replaceChildren();
  }
  if (!key) list(page);
  else showOpen(page, key);
  markOpen(page);
}

/**
 * @param {Boards.Page} page
 * @param {string} key
 */
function showOpen(page, key) {
  const { book } = page;
  const head = book.boards.find((one) => one.key === key);
  if (!head) missing(page);
  else if (!page.board) load(page);
  else if (!page.saving && !page.stepped && head.version !== page.board.mark) load(page);
  if (!page.board) return;
  drawBar(page);
  for (const card of page.board.cards) {
    const element = page.elements.get(card.key);
    if (element) cards.update(page, element, card);
  }
}

/** @param {Boards.Page} page */
async function load(page) {
  const { key } = page;
  let board = null;
  try {
    const answer = await fetch(`${page.routes}board.json?board=${encodeURIComponent(String(key))}`);
    if (answer.ok) board = await answer.json();
    else if (answer.status !== 404) return;
  } catch {
    return;  // the header says that the server does not answer
  }
  if (page.key !== key || page.saving || page.stepped) return;
  if (board) take(page, board);
  else missing(page);
}

/**
 * Show a board. mine: with changes of this window that are not saved yet.
 * @param {Boards.Page} page
 * @param {Wire.Board} board
 * @param {boolean} [mine]
 */
function take(page, board, mine = false) {
  const first = !page.board;
  page.board = mine ? { ...board, mark: "" } : board;
  page.lost = board;
  if (first || !page.find(".ms-board-grid")) frame(page);
  drawBar(page);
  const wanted = new Set(board.cards.map(({ key }) => key));
  for (const [key, element] of page.elements) {
    if (wanted.has(key) || element.classList.contains("ms-board-editing")) continue;
    const focused = element.contains(document.activeElement);
    cards.removeElement(element);
    page.elements.delete(key);
    if (focused) page.find(".ms-board-grid").focus({ preventScroll: true });
  }
  const grid = page.find(".ms-board-grid");
  const placed = settled(board.cards);
  for (const card of placed) {
    let element = page.elements.get(card.key);
    if (!element) {
      element = cards.cardElement(page, card);
      page.elements.set(card.key, element);
      grid.append(element);
    }
    cards.update(page, element, card);
  }
  if (!page.stepped) moving.arrange(page, placed);
  if (!mine && !page.saving) saving.tellLost(page, board);
  page.find(".ms-board-none").hidden = board.cards.length > 0;
  texts.render(page);
  texts.copy(page);
}

/** @param {Boards.Page} page */
function frame(page) {
  const hint = [words("board.empty", {}, "p", "ms-empty-sentence"), words("board.empty_hint", {}, "p", "ms-empty-hint")];
  const first = [];
  if (page.editable) {
    if (page.root.closest(".ms-shell")) first.push(button("scalars", "board.to_scalars", () => go("scalars")));
    first.push(button("text", "board.add_text", () => cards.addText(page, freePlace(page.board.cards, 4, 5))));
  }
  const none = make("div", "ms-empty ms-board-none", [...hint, make("p", "ms-empty-act", first)], { hidden: "" });
  page.find(".ms-board-body").replaceChildren(none, make("div", "ms-board-grid", [], { tabindex: "-1" }));
  markOpen(page);
}

/** @param {Boards.Page} page */
function missing(page) {
  if (page.board) page.lost = page.board;
  clear(page);
  page.find(".ms-board-bar").replaceChildren(all(page));
  const { lost } = page;
  const act = lost && page.editable ? [button("refresh", "board.restore", () => restore(page, lost))] : [];
  page.find(".ms-board-body").replaceChildren(make("div", "ms-empty", [
    words("board.missing", {}, "p", "ms-empty-sentence"), make("p", "ms-empty-act", act)]));
  markOpen(page);
}

/** @param {Wire.BoardCard} card */
const plain = ({ version: _version, ...card }) => card;

/**
 * @param {Boards.Page} page
 * @param {Record<string, unknown>} asked
 */
async function create(page, asked) {
  try {
    const { now } = await boards.change(page.routes, asked);
    if (now) page.change({ board: [now.key] });
  } catch (error) {
    saving.sayFailure(page, asked.import === undefined ? "board.failed" : "board.no_file", error);
  }
}

/**
 * @param {Boards.Page} page
 * @param {Wire.Board} board
 */
async function restore(page, board) {
  await create(page, { create: board.name, key: board.key, cards: board.cards.map(plain) });
  if (page.key === board.key) load(page);
}

/**
 * @param {Boards.Page} page
 * @param {string} key
 */
async function remove(page, key) {
  const card = page.board.cards.find((one) => one.key === key);
  if (card) saving.removeCard(page, card);
}

// The bar and the list -----------------------------------------------------------------------------------------------

/**
 * @param {string} name
 * @param {string} key
 * @param {() => void} act
 * @param {string} [className]
 */
function button(name, key, act, className = "ms-button") {
  const made = make("button", className, [icon(name), words(key)], { type: "button" });
  made.addEventListener("click", act);
  return made;
}

/** @param {Boards.Page} page */
function all(page) {
  return button("left", "board.all", () => page.change({ board: [] }), "ms-button ms-button-quiet");
}

/** @param {Boards.Page} page */
function importer(page) {
  const field = make("input", "ms-silent", [], { type: "file", accept: ".json,application/json", tabindex: "-1" });
  setLabel(field, "aria-label", "board.import");
  field.addEventListener("change", async () => {
    const [file] = field.files || [];
    field.value = "";
    if (!file) return;
    if (file.size > LARGEST_BYTES) {
      saving.say(page, "board.too_large", { size: size(LARGEST_BYTES) }, [], true);
      return;
    }
    try {
      create(page, { import: JSON.parse(await file.text()) });
    } catch (error) {
      saving.sayFailure(page, "board.no_file", error);
    }
  });
  const opening = button("plus", "board.import", () => field.click());
  setLabel(opening, "title", "board.import.title");
  return [opening, field];
}

/** @param {Boards.Page} page */
function drawBar(page) {
  const { board } = page;
  const bar = page.find(".ms-board-bar");
  const others = page.editable && page.root.closest(".ms-shell") ? otherRuns(board.cards, chosenRuns(page)) : [];
  const drawn = JSON.stringify([board.key, board.name, page.editable, others.length > 0]);
  if (bar.dataset.drawn === drawn && bar.firstChild) return;
  bar.dataset.drawn = drawn;
  const more = make("summary", "ms-button ms-button-icon", icon("more"));
  for (const name of ["title", "aria-label"]) setLabel(more, name, "board.more");
  const file = make("a", "ms-menu-item", words("board.export"), {
    href: `${page.routes}board.json?board=${encodeURIComponent(board.key)}&download=1`, download: "",
  });
  const items = page.editable ? [
    menuItem("board.rename", () => rename(page)), menuItem("board.duplicate", () => duplicate(page)), file,
    ...TIDY.map((n) => menuItem(n === 1 ? "board.tidy_one" : "board.tidy", () => moving.tidy(page, n), { n: String(n) })),
    menuItem("board.delete_board", () => removeBoard(page)),
  ] : [file];
  bar.replaceChildren(
    all(page), make("h2", "ms-board-name ms-cut ms-name", board.name, { title: board.name }), make("span", "ms-grow"),
    ...(others.length ? [useRuns(page)] : []),
    ...(page.editable ? [button("text", "board.add_text", () => cards.addText(page, freePlace(page.board.cards, 4, 5)))] : []),
    menu(more, items),
  );
}

/** @param {Boards.Page} page */
const chosenRuns = (page) => page.state.run || [];

/** @param {Boards.Page} page */
function useRuns(page) {
  const made = button("runs", "board.use_runs", () => {
    const changes = otherRuns(page.board.cards, chosenRuns(page));
    const had = new Map(page.board.cards.map(({ key, place }) => [key, place]));
    saving.changeCards(page, changes);
    const back = () => saving.changeCards(page, changes.map(({ key }) => ({ key, place: had.get(key) || "" })));
    saving.say(page, "board.runs_used", {}, [["board.undo", back]]);
  });
  setLabel(made, "title", "board.use_runs.title");
  return made;
}

/** @param {Boards.Page} page */
function duplicate(page) {
  const { name, cards: shown } = page.board;
  const copies = shown.map((card) => ({ ...plain(card), key: boards.newKey() }));
  const short = Array.from(name).slice(0, boards.LONGEST_NAME - COPY).join("");
  create(page, { create: translate("board.copy_of", { name: short }), key: boards.newKey(), cards: copies });
}

/**
 * @param {string} key
 * @param {() => void} act
 * @param {TextValues} [values]
 */
function menuItem(key, act, values = {}) {
  const made = make("button", "ms-menu-item", words(key, values), { type: "button" });
  made.addEventListener("click", act);
  return made;
}

/** @param {Boards.Page} page */
function rename(page) {
  renaming("ms-input", boards.LONGEST_NAME, page.board.name, page.find(".ms-board-name"), (name) => {
    if (!name || name === page.board.name) return;
    page.take({ ...page.board, name }, true);
    saving.save(page, { name });
  });
}

/** @param {Boards.Page} page */
async function removeBoard(page) {
  const { key, name } = page.board;
  try {
    const { now } = await boards.change(page.routes, { delete: key });
    page.change({ board: [] });
    page.deleted = now && { text: name, board: now };
  } catch (error) {
    saving.sayFailure(page, "board.failed", error);
  }
}

/** @param {Boards.Page} page */
function list(page) {
  const { book } = page;
  const drawn = JSON.stringify([book.boards, page.editable, book.whyNot]);
  const body = page.find(".ms-board-body");
  if (body.dataset.list !== drawn || !body.querySelector(".ms-board-list, .ms-empty")) {
    body.dataset.list = drawn;
    drawList(page, body);
  }
  if (page.deleted) {
    const { text, board } = page.deleted;
    page.deleted = null;
    saving.say(page, "board.deleted", { name: text }, [["board.undo", () => restore(page, board)]]);
  }
}

/**
 * @param {Boards.Page} page
 * @param {HTMLElement} body
 */
function drawList(page, body) {
  const { book } = page;
  const typed = body.querySelector(".ms-board-new input");
  const value = typed ? typed.value : "";
  const focused = typed && document.activeElement === typed;
  const field = make("input", "ms-input ms-grow", [], {
    type: "text", maxlength: String(boards.LONGEST_NAME), autocomplete: "off",
  });
  for (const name of ["placeholder", "aria-label"]) setLabel(field, name, "board.name");
  field.value = value;
  const form = make("form", "ms-board-new", [
    field, make("button", "ms-button", [icon("plus"), words("board.create")], { type: "submit" }), ...importer(page)]);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (field.value.trim()) create(page, { create: field.value, key: boards.newKey() });
    else field.focus();
  });
  const parts = page.editable ? [form] : book.kept ? [] : [make("p", "", refusal(book))];
  page.find(".ms-board-bar").replaceChildren();
  delete page.find(".ms-board-bar").dataset.drawn;
  if (book.boards.length) {
    body.replaceChildren(...parts, make("ul", "ms-board-list", book.boards.map((board) => tile(page, board))));
  } else {
    body.replaceChildren(make("div", "ms-empty", [
      words("board.none", {}, "p", "ms-empty-sentence"),
      ...(book.readOnly ? [] : [words("board.none_hint", {}, "p", "ms-empty-hint")]), ...parts]));
  }
  if (focused) field.focus();
}

/**
 * @param {Boards.Page} page
 * @param {Wire.BoardHead} board
 */
function tile(page, board) {
  const link = make("a", "ms-board-tile", [
    icon("board"), make("span", "ms-cut ms-name ms-grow", board.name),
    words(board.count === 1 ? "board.one_card" : "board.cards", { n: count(board.count) }, "span", "ms-muted"),
    ...(board.by ? [make("span", "ms-muted ms-cut", board.by)] : []),
  ], { href: `?board=${board.key}` });
  link.addEventListener("click", (event) => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    page.change({ board: [board.key] });
  });
  return make("li", "", link);
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented || document.querySelector("dialog[open]")) return;
  for (const page of pages.values()) {
    for (const element of page.elements.values()) element.classList.remove("ms-full");
  }
});

// Called by Dash -----------------------------------------------------------------------------------------------------

Object.assign(functionsOf("mindscope_board"), {
  /**
   * @param {Wire.Query | null} state
   * @param {RunList | null} runs
   * @param {string} rootId
   */
  shown(state, runs, rootId) {
    const page = pageOf(rootId);
    if (!page || !runs) return;
    page.state = state || {};
    page.book = runs.notebook;
    page.rows = runs.rows;
    show(page);
  },

  /**
   * @param {unknown} version
   * @param {string} rootId
   */
  news(version, rootId) {
    const page = pageOf(rootId);
    if (page && version !== null) frames.news(page, version);
  },
});
