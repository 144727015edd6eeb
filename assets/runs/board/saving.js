// Changes of a board: on screen at once, then on the server. The last change of a card wins; whatever that replaces can be
// brought back from the line at the bottom, in the window that replaced it and in the one whose change is lost.

import * as boards from "../../kit/boards.js";
import { iconButton, make, words } from "../../kit/elements.js";

/**
 * Say something at the bottom of the page, with actions [[text key, act], ...]; until the next thing is said.
 * @param {Boards.Page} page
 * @param {string} key
 * @param {TextValues} values
 * @param {Boards.Offer[]} [actions]
 * @param {boolean} [wrong]
 */
export function say(page, key, values, actions = [], wrong = false) {
  const host = page.find(".ms-board-said");
  const buttons = actions.map(([name, act]) => {
    const button = make("button", "ms-button ms-button-small", words(name), { type: "button" });
    button.addEventListener("click", () => {
      host.replaceChildren();
      act();
    });
    return button;
  });
  const close = iconButton("close", "board.dismiss", "");
  close.addEventListener("click", () => host.replaceChildren());
  const said = words(key, values, "span", wrong ? "ms-note-wrong" : "");
  host.replaceChildren(make("div", "ms-board-toast", [said, ...buttons, close]));
}

/**
 * Say why a request has failed.
 * @param {Boards.Page} page
 * @param {string} key
 * @param {unknown} error
 */
export function sayFailure(page, key, error) {
  say(page, key, { text: error instanceof Error ? error.message : String(error) }, [], true);
}

/**
 * The texts of a card that an overriding change replaces, as a change.
 * @param {Wire.BoardCard} card
 */
const content = ({ key, place, part, title, text }) => ({ key, part, title, ...(place === null ? { text } : { place }) });

/**
 * Send a change of the board on screen. Resolves to whether it was saved; what went wrong is said.
 * @param {Boards.Page} page
 * @param {Record<string, unknown>} change fields of a request beside `board`
 */
export async function save(page, change) {
  const { key, lost } = page.board;
  const known = lost.length ? lost[lost.length - 1].number : 0;
  page.saving += 1;
  try {
    const { done, now, overridden } = await boards.change(page.routes, { board: key, ...change });
    page.saving -= 1;
    if (!page.board || page.board.key !== key) return done;
    if (!done) {
      page.missing();
      return false;
    }
    remember(page, /** @type {Boards.Change[]} */ (change.change || []), known);
    if (!page.saving) page.take(now);
    for (const card of overridden) {
      const theirs = () => save(page, { change: [content(card)] });
      say(page, "board.overridden", { name: page.nameOf(card) }, [["board.theirs", theirs]]);
    }
    return true;
  } catch (error) {
    page.saving -= 1;
    sayFailure(page, "board.failed", error);
    page.fetch();
    return false;
  }
}

/**
 * Keep what this window has set, to notice that another one replaces it. A card that only made way for another one was not set.
 * @param {Boards.Page} page
 * @param {Boards.Change[]} changes
 * @param {number} known of the last loss before
 */
function remember(page, changes, known) {
  for (const { key, ...fields } of changes) {
    delete fields.was;
    delete fields.seen;
    if (changes.length > 1 && Object.keys(fields).join() === "y") continue;
    for (const [name, value] of Object.entries(fields)) page.mine.set(`${key} ${name}`, { key, name, value, known });
  }
}

/**
 * The losses after the last one that was known. All of them if that one is not among them: it is older than those, or of a
 * server that has been started anew since, whose clock may have been set back.
 * @template {{ number: number }} T
 * @param {T[]} lost oldest first
 * @param {number} known
 */
export const after = (lost, known) => lost.slice(lost.findIndex(({ number }) => number === known) + 1);

/**
 * Say which card another window has changed without having seen the change of this one, and offer what this window had set.
 * What was changed in the knowledge of ours is not lost.
 * @param {Boards.Page} page
 * @param {Wire.Board} board as the server has it
 */
export function tellLost(page, board) {
  const cards = new Map(board.cards.map((card) => [card.key, card]));
  /** @type {Map<string, Boards.Change>} */
  const lost = new Map();
  for (const [place, { key, name, value, known }] of page.mine) {
    const card = cards.get(key);
    if (card && Reflect.get(card, name) === value) continue;
    page.mine.delete(place);
    const unseen = after(board.lost, known).some((one) => one.key === key && one.name === name && one.value === value);
    if (card && unseen) lost.set(key, Object.assign(lost.get(key) || { key }, { [name]: value }));
  }
  const [first] = lost.keys();
  const card = cards.get(first);
  if (card) say(page, "board.lost", { name: page.nameOf(card) }, [["board.mine", () => changeCards(page, [...lost.values()])]]);
}

/**
 * What is on screen of the fields that a change sets, unless it says so itself.
 * @param {Boards.Change} change
 * @param {Wire.BoardCard | undefined} card
 * @returns {Boards.Change}
 */
function withSeen(change, card) {
  if (change.seen || !card) return change;
  const fields = Object.keys(change).filter((name) => name !== "key" && name !== "was");
  return { ...change, seen: Object.fromEntries(fields.map((name) => [name, Reflect.get(card, name)])) };
}

/**
 * Change cards: on screen at once, and on the server.
 * @param {Boards.Page} page
 * @param {Boards.Change[]} changes
 */
export function changeCards(page, changes) {
  const by = new Map(changes.map((change) => [change.key, change]));
  const before = new Map(page.board.cards.map((card) => [card.key, card]));
  const cards = page.board.cards.map((card) => {
    const changed = { ...card, ...by.get(card.key) };
    delete changed.was;
    delete changed.seen;
    return changed;
  });
  page.take({ ...page.board, cards }, true);
  return save(page, { change: changes.map((change) => withSeen(change, before.get(change.key))) });
}

/**
 * Add a card; resolves to whether it was saved.
 * @param {Boards.Page} page
 * @param {Wire.BoardCard} card
 */
export function addCard(page, card) {
  page.take({ ...page.board, cards: [...page.board.cards, card] }, true);
  /** @type {Boards.Change} */
  const fields = { ...card };
  delete fields.version;
  return save(page, { change: [fields] });
}

/**
 * Delete a card, which can be undone.
 * @param {Boards.Page} page
 * @param {Wire.BoardCard} card
 */
export async function removeCard(page, card) {
  page.take({ ...page.board, cards: page.board.cards.filter((one) => one.key !== card.key) }, true);
  const name = page.nameOf(card);
  if (await save(page, { remove: [card.key] })) {
    say(page, "board.deleted", { name }, [["board.undo", () => addCard(page, card)]]);
  }
}
