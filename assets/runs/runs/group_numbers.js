// What the row of a group says of its runs: mean, lowest and highest value of every numeric column, and how many diverged.

import { cellText, count, number, size } from "../../kit/units.js";

/** Columns of the list itself that are numbers of a run. */
export const OWN = ["value", "steps", "size"];

/**
 * The numbers of a group, columns without a finite value left out.
 * @param {RunTable.Row[]} runs
 * @param {string[]} columns
 * @param {(column: string, run: RunTable.Row) => unknown} valueOf
 * @param {(column: string) => string} nameOf
 * @returns {RunTable.GroupNumber[]}
 */
export function numbersOf(runs, columns, valueOf, nameOf) {
  return columns.flatMap((id) => {
    // Last values of several scalars have no mean.
    const tags = new Set(id === "value" ? runs.map((run) => run.tag) : []);
    if (tags.size > 1) return [];
    const values = runs.map((run) => valueOf(id, run));
    const finite = values.filter((value) => typeof value === "number" && Number.isFinite(value)).map(Number);
    if (!finite.length) return [];
    const mean = finite.reduce((sum, value) => sum + value / finite.length, 0);
    const name = id === "value" ? Array.from(tags)[0] || nameOf(id) : nameOf(id);
    return [{ id, name, n: finite.length, mean, low: Math.min(...finite), high: Math.max(...finite) }];
  });
}

/**
 * How many runs have a main scalar that ended with a value that is not finite.
 * @param {RunTable.Row[]} runs
 */
export function divergedOf(runs) {
  return runs.filter((run) => run.value === null && run.valueText !== "").length;
}

/**
 * A number of a column as text.
 * @param {string} id
 * @param {number} value
 */
export function textOf(id, value) {
  if (id === "size") return size(value);
  if (id === "duration") return cellText(value, "s");
  if (id === "steps") return count(Math.round(value));
  return number(value);
}
