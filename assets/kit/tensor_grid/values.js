// The values of a tensor in a table: fetched in rectangles, formatted, with the current one in full precision below.

import { setLabel } from "../i18n.js";
import * as numbers from "./numbers.js";
import { createTable } from "./table.js";

/**
 * The table of values in the element `table`, and the current one in `readout`.
 * @param {{ table: any, readout: any, id: string, url: (query: string) => string, choose: (boxes: string[]) => void,
 *   failed: (text: string) => void }} parts url gives the address of a rectangle, choose takes other dimension boxes.
 */
export function createValues({ table: host, readout, id, url, choose, failed }) {
  let about = null;   // what the server says of the tensor
  let shown = "";     // query of the values in the table
  let after = null;   // index of the current value, once the user moved
  let target = null;  // where to go once the part is shown
  host.id = id;
  setLabel(host, "aria-label", "tensor_grid.table");
  const table = createTable(host, { fetch: block, moved });

  async function block(rows, columns, signal) {
    const answer = await fetch(url(`${shown}&rows=${rows.join(":")}&cols=${columns.join(":")}`), { signal });
    // The tensors are numbered anew: the page is about to ask by the new number.
    if (answer.status === 204) throw new Error("changed");
    if (!answer.ok) {
      const { error } = await answer.json();
      if (!signal.aborted) failed(error);
      throw new Error(error);
    }
    const got = JSON.parse(answer.headers.get("Mindscope-Block"));
    const at = numbers.reader(got.dtype, await answer.arrayBuffer());
    const width = got.cols[1] - got.cols[0];
    window.setTimeout(read, 0);
    return (row, column) => at((row - got.rows[0]) * width + column - got.cols[0]);
  }

  /**
   * @param {number} row
   * @param {number} column
   */
  function indexOf(row, column) {
    const index = [...about.fixed];
    about.free.forEach((part, i) => { index[part.dim] = part.start + [row, column][i]; });
    return index;
  }

  function moved(row, column) {
    after = indexOf(row, column);
    read();
  }

  // Show the current cell in full precision.
  function read() {
    if (!about || !about.fixed) return;
    const [row, column] = table.current;
    const value = table.valueAt(row, column);
    readout.textContent
      = value === undefined ? "" : `[${indexOf(row, column).join(", ")}] = ${numbers.exact(value, about.kept)}`;
  }

  /**
   * Show a part of a tensor.
   * @param {any} next what the server says of it
   * @param {string} query of its values
   * @param {{ scientific: boolean, digits: number, whole: boolean }} look
   * @param {{ largest?: number, limit?: number }} sizes the largest magnitude, for colours, and up to which a value counts as 0
   */
  function show(next, query, look, { largest = 0, limit = 0 } = {}) {
    about = next;
    const [rows, columns] = about.free;
    const format = numbers.formatter(about.kept, look, largest);
    const kept = shown === query;
    shown = query;
    const head = (part) => (/** @type {number} */ i) => (part ? String(part.start + i) : "");
    const lastColumn = columns ? String(columns.start + columns.count - 1).length : 1;
    /** @param {number} value */
    const within = (value) => limit > 0 && numbers.finite(value) && Math.abs(numbers.size(value)) <= limit;
    table.show({
      rows: rows ? rows.count : 1, columns: columns ? columns.count : 1, rowHead: head(rows), columnHead: head(columns),
      width: 18 + 7.4 * Math.max(format.characters, lastColumn, 4),
      /** @param {number} value */
      format: (value) => (within(value) ? { text: "0", kind: " ms-within" } : format.cell(value)),
      /** @param {number} value */
      heat: (value) => (largest && !within(value) ? Math.max(-1, Math.min(1, numbers.size(value) / largest)) : 0),
    }, kept);
    const there = target;
    target = null;
    if (there) table.goTo(...there);
    else read();
  }

  /** Go to a value of the tensor; change the dimensions if it is not in the part that is shown. */
  function goTo(index) {
    const inside = (part) => index[part.dim] >= part.start && index[part.dim] < part.start + part.count;
    const free = new Map(about.free.map((part) => [part.dim, part]));
    const boxes = index.map((number, dim) => {
      if (!free.has(dim)) return String(number);
      return inside(free.get(dim)) ? about.boxes[dim] : ":";
    });
    const there = about.free.map((part) => index[part.dim] - (inside(part) ? part.start : 0));
    while (there.length < 2) there.push(0);
    const same = about.free.every(inside) && index.every((number, dim) => free.has(dim) || number === about.fixed[dim]);
    if (same) return table.goTo(...there);
    target = there;
    return choose(boxes);
  }

  return {
    show,
    goTo,
    /** Where to continue the search for values that are not finite, as a part of a query. */
    after: () => (after ? `&after=${after.join(",")}` : ""),
    /** Forget where the search was: another tensor is shown, or (home) one of another name, from its beginning. */
    restart(home = false) {
      after = null;
      if (home) target = [0, 0];
    },
    hide() {
      table.hide();
      [shown, target] = ["", null];
    },
  };
}
