// The ranks of a job as a grid of cells: where each cell is, and which one is where. Two ranks are large cells with numbers,
// ten thousand small ones; either way a row has a multiple of eight, as hosts have.

/** [most ranks, size of a cell in pixels] */
const SIZES = [[16, 52], [64, 36], [256, 24], [1280, 16], [4096, 11], [Infinity, 8]];
export const LABELLED = 22;  // least size of a cell with a number
const GUTTER = 52;  // room for the first rank of a row, where cells have no number

/**
 * Ranks of a text such as 0-3,8, in order.
 * @param {string} text
 */
export function ranksIn(text) {
  const found = [];
  for (const part of text ? text.split(",") : []) {
    const [first, last = first] = part.split("-").map(Number);
    for (let rank = first; rank <= last; rank += 1) found.push(rank);
  }
  return found.sort((a, b) => a - b);
}

/**
 * Lays out `count` cells in a grid `width` pixels wide: { count, size, left, columns, rows, width, height }.
 * @param {number} width
 */
export function gridOf(count, width) {
  const [, size] = SIZES.find(([most]) => count <= most);
  const left = size < LABELLED ? GUTTER : 0;
  const fit = Math.max(1, Math.floor((width - left) / size));
  const columns = Math.min(Math.max(count, 1), fit >= 8 ? fit - fit % 8 : fit);
  const rows = Math.ceil(count / columns);
  return { count, size, left, columns, rows, width: left + columns * size, height: rows * size };
}

/**
 * The left upper corner of a cell.
 * @param {number} cell
 */
export function placeOf(grid, cell) {
  return { x: grid.left + (cell % grid.columns) * grid.size, y: Math.floor(cell / grid.columns) * grid.size };
}

/** The cell at a position; -1 for none. */
export function cellAt(grid, x, y) {
  const column = Math.floor((x - grid.left) / grid.size);
  const row = Math.floor(y / grid.size);
  if (column < 0 || column >= grid.columns || row < 0) return -1;
  const cell = row * grid.columns + column;
  return cell < grid.count ? cell : -1;
}

/**
 * The cell that a key leads to; -1 for a key that does not move.
 * @param {string} key
 */
export function moved(grid, cell, key) {
  const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -grid.columns, ArrowDown: grid.columns }[key];
  if (by !== undefined) return cell + by >= 0 && cell + by < grid.count ? cell + by : cell;
  if (key === "Home") return 0;
  return key === "End" ? grid.count - 1 : -1;
}

/** Rows whose first rank is written beside them: no nearer to each other than a line of text. */
export const labelledRows = (grid) => {
  if (!grid.left) return [];
  const every = Math.max(1, Math.ceil(14 / grid.size));
  return Array.from({ length: Math.ceil(grid.rows / every) }, (_, place) => place * every);
};
