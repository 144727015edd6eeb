// Moving by keys among the cells of the matrix.

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/**
 * The next cell in the direction of a key, or null. rows are lists of cells, null where there is none to press; sideways the
 * next one of the row counts, up and down the nearest column of the next row that has any. Home and End are the ends of a row.
 * @param {any[][]} rows
 * @param {any} from
 * @param {string} key
 */
export function neighbour(rows, from, key) {
  const row = rows.findIndex((one) => one.includes(from));
  if (row < 0) return null;
  const column = rows[row].indexOf(from);
  const there = rows[row].filter(Boolean);
  if (key === "Home") return there[0];
  if (key === "End") return there[there.length - 1];
  const step = STEPS[key];
  if (!step) return null;
  const [down, right] = step;
  if (right) {
    for (let at = column + right; at >= 0 && at < rows[row].length; at += right) if (rows[row][at]) return rows[row][at];
    return null;
  }
  for (let at = row + down; at >= 0 && at < rows.length; at += down) {
    const places = rows[at].flatMap((one, place) => one ? [place] : []);
    if (places.length) return rows[at][places.reduce((a, b) => Math.abs(b - column) < Math.abs(a - column) ? b : a)];
  }
  return null;
}
