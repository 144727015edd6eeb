// Where cards are on a board: 12 columns, rows without an end, cards as high up as those above them allow. Pure functions of
// { key, x, y, w, h }, in columns and rows; the other fields of a card stay as they are.

export const COLUMNS = 12;  // layouts/runs/boards.py
export const ROWS = [2, 60];

/**
 * @param {number} value
 * @param {number} least
 * @param {number} most
 */
const clamp = (value, least, most) => Math.min(most, Math.max(least, value));
/**
 * @param {Boards.Placed} one
 * @param {Boards.Placed} other
 */
const byPlace = (one, other) => one.y - other.y || one.x - other.x;

/**
 * Each card falls upwards, in order, until it meets one that has fallen before.
 * @param {Wire.BoardCard[]} ordered
 */
function fallen(ordered) {
  const free = new Array(COLUMNS).fill(0);
  return ordered.map((card) => {
    const columns = Array.from({ length: card.w }, (_, at) => card.x + at);
    const y = Math.max(...columns.map((column) => free[column]));
    for (const column of columns) free[column] = y + card.h;
    return { ...card, y };
  });
}

/**
 * Cards without gaps above them and without one covering another, by rows.
 * @param {Wire.BoardCard[]} cards
 * @returns {Wire.BoardCard[]}
 */
export const settled = (cards) => fallen([...cards].sort(byPlace));

/**
 * The board after a card was moved to a column and a row: it goes above a card whose middle is below its top.
 * @param {Wire.BoardCard[]} cards
 * @param {string} key
 * @param {number} x
 * @param {number} y
 * @returns {Wire.BoardCard[]}
 */
export function moved(cards, key, x, y) {
  const card = cards.find((one) => one.key === key);
  if (!card) return settled(cards);
  const there = { ...card, x: clamp(x, 0, COLUMNS - card.w), y: Math.max(0, y) };
  const others = settled(cards.filter((one) => one.key !== key));
  const above = others.filter((one) => one.y + one.h / 2 <= there.y);
  return fallen([...above, there, ...others.filter((one) => !above.includes(one))]);
}

/**
 * The board after a card was given another width and height.
 * @param {Wire.BoardCard[]} cards
 * @param {string} key
 * @param {number} w
 * @param {number} h
 * @returns {Wire.BoardCard[]}
 */
export function resized(cards, key, w, h) {
  return settled(cards.map((card) => (card.key === key
    ? { ...card, w: clamp(w, 1, COLUMNS - card.x), h: clamp(h, ROWS[0], ROWS[1]) }
    : card)));
}

/**
 * The next place of a card that the arrow keys move: a column to the side, or past its neighbour above or below.
 * @param {Wire.BoardCard[]} cards
 * @param {string} key
 * @param {number} dx
 * @param {number} dy
 * @returns {Wire.BoardCard[]}
 */
export function stepped(cards, key, dx, dy) {
  const now = settled(cards);
  const card = now.find((one) => one.key === key);
  if (!card) return now;
  if (!dy) return moved(now, key, card.x + dx, card.y);
  const beside = now.filter((one) => one.key !== key && one.x < card.x + card.w && card.x < one.x + one.w);
  const above = beside.filter((one) => one.y < card.y).sort(byPlace).pop();
  const below = beside.filter((one) => one.y > card.y).sort(byPlace)[0];
  if (dy < 0) return above ? moved(now, key, card.x, above.y) : now;
  return below ? moved(now, key, card.x, Math.max(0, below.y - card.h) + Math.ceil(below.h / 2)) : now;
}

/** @type {readonly ("x" | "y" | "w" | "h")[]} */
const SIDES = ["x", "y", "w", "h"];

/**
 * What of place and size in `after` is another than in `before`, as changes for the server. Only that is sent, so that a width
 * and a height that two windows change at once are both kept.
 * @param {Boards.Placed[]} before
 * @param {Boards.Placed[]} after
 * @returns {Boards.Change[]}
 */
export function shifted(before, after) {
  const old = new Map(before.map((card) => [card.key, card]));
  return after.flatMap((card) => {
    const was = old.get(card.key);
    const other = SIDES.filter((side) => !was || was[side] !== card[side]);
    return other.length ? [Object.assign({ key: card.key }, ...other.map((side) => ({ [side]: card[side] })))] : [];
  });
}

/**
 * The board in rows of `columns` cards that are equally wide and high, in the order in which they are read now.
 * @param {Wire.BoardCard[]} cards
 * @param {number} columns a divisor of COLUMNS
 * @returns {Wire.BoardCard[]}
 */
export function tidied(cards, columns) {
  const heights = cards.map((card) => card.h).sort((one, other) => one - other);
  const h = heights[Math.floor(heights.length / 2)] || ROWS[0];
  const w = COLUMNS / columns;
  return settled(cards).map((card, at) => ({ ...card, x: (at % columns) * w, y: Math.floor(at / columns) * h, w, h }));
}

/**
 * The first place, by rows, of a card of this size.
 * @param {Boards.Placed[]} cards
 * @param {number} w
 * @param {number} h
 */
export function freePlace(cards, w, h) {
  const rows = [0, ...cards.map((card) => card.y + card.h)].sort((one, other) => one - other);
  for (const y of rows) {
    const beside = cards.filter((card) => card.y < y + h && y < card.y + card.h);
    for (let x = 0; x <= COLUMNS - w; x += 1) {
      if (!beside.some((card) => card.x < x + w && x < card.x + card.w)) return { x, y };
    }
  }
  return { x: 0, y: rows[rows.length - 1] };
}
