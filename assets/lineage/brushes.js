// Brushes on axes: their meaning, their position, and the runs they leave.
import { numbersOf } from "../kit/typed_arrays.js";

// Brushes: {column: {ranges: [[from, to], ...], names: [category or what stands apart, ...]}} --------------------------

/** @param {Lineage.Page} page */
export function brushes(page) {
  /** @type {Map<string, Lineage.Brush>} */
  const found = new Map();
  for (const text of page.state.brush || []) {
    try {
      const [name, ranges, names] = JSON.parse(text);
      if (typeof name === "string" && Array.isArray(ranges) && Array.isArray(names)) found.set(name, { ranges, names });
    } catch {
      continue; // a damaged link
    }
  }
  return found;
}

/**
 * @param {Lineage.Axis} axis
 * @param {number} place
 */
export function valueAt(axis, place) {
  if (axis.scale === "log") return 10 ** place;
  return axis.scale === "symlog" ? Math.sign(place) * axis.constant * (10 ** Math.abs(place) - 1) : place;
}

/**
 * @param {Lineage.Axis} axis
 * @param {number} value
 */
export function placeOf(axis, value) {
  if (axis.scale === "log") return Math.log10(value);
  return axis.scale === "symlog" ? Math.sign(value) * Math.log10(1 + Math.abs(value) / axis.constant) : value;
}

/**
 * Meaning of a brush, from the stretches of the axis it covers.
 * @param {Lineage.Axis} axis
 * @param {number[][]} stretches
 */
export function meaning(axis, stretches) {
  /** @param {number} place */
  const inside = (place) => stretches.some(([from, to]) => from <= place && place <= to);
  const names = Object.entries(axis.apart).filter(([, place]) => inside(place)).map(([name]) => `:${name}`);
  if (axis.kind === "category") {
    axis.categories.forEach((text, place) => { if (inside(place)) names.push(`=${text}`); });
    return { ranges: [], names };
  }
  /** @param {number} place */
  const value = (place) => Number(valueAt(axis, place).toPrecision(9));
  const ranges = stretches.map(([from, to]) => [Math.max(from, axis.low), Math.min(to, axis.high)])
    .filter(([from, to]) => from <= to)
    .map(([from, to]) => [from <= axis.low ? null : value(from), to >= axis.high ? null : value(to)]);
  return { ranges, names };
}

/**
 * Stretches of the axis that a brush covers.
 * @param {Lineage.Axis} axis
 * @param {Lineage.Brush} brush
 */
export function stretches(axis, { ranges, names }) {
  const found = [];
  const width = (axis.high - axis.low) * 0.02;
  for (const name of names) {
    const at = name.startsWith(":") ? axis.apart[name.slice(1)] : axis.categories.indexOf(name.slice(1));
    const half = name.startsWith(":") ? width : 0.25;
    if (at !== undefined && at !== -1) found.push([at - half, at + half]);
  }
  /** @param {number} value */
  const place = (value) => placeOf(axis, value);
  if (axis.kind === "number") {
    for (const range of ranges) {
      if (!Array.isArray(range)) continue;
      const from = typeof range[0] === "number" ? place(range[0]) : axis.low;
      const to = typeof range[1] === "number" ? place(range[1]) : axis.high;
      if (from <= to) found.push([from, to]);
    }
  }
  return found.sort((a, b) => a[0] - b[0]);
}

/**
 * Keys of the runs that pass all brushes; null if there is none.
 * @param {Lineage.Page} page
 */
export function filter(page) {
  const { figure } = page;
  if (!figure) return null;
  const wanted = brushes(page);
  const tests = figure.layout.meta.axes.flatMap((axis, i) => {
    const brush = wanted.get(axis.name);
    return brush ? [{ places: numbersOf(figure.data[0].dimensions[i].values), parts: stretches(axis, brush) }] : [];
  });
  if (!tests.length) return null;
  /** @param {number} row */
  const passes = (row) =>
    tests.every(({ places, parts }) => parts.some(([from, to]) => from <= places[row] && places[row] <= to));
  return new Set(figure.layout.meta.keys.filter((_key, row) => passes(row)));
}
