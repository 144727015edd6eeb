// The lines of a drawing as numbers, places on them, and their values as texts.

import { dateTime } from "../moments.js";
import { count, elapsed } from "../units.js";
import { numbersOf } from "../typed_arrays.js";
import { linesOf, tracesOf } from "./curves.js";

/** @typedef {(i: number) => number} Accessor of numbers */
/**
 * A line of a drawing with its points.
 * @typedef {object} Line
 * @property {SentMeta} meta
 * @property {Numbers} values
 * @property {Accessor} x
 * @property {boolean} rising
 * @property {number} size
 * @property {boolean} exact
 * @property {string} axis
 * @property {Numbers | null} raw
 * @property {boolean} rawExact
 * @property {Accessor} step
 * @property {Accessor | null} time
 * @property {Accessor | null} n
 * @property {Accessor | null} lost of a group, runs whose last value is not finite
 * @property {Numbers | null} low
 * @property {Numbers | null} high
 */

/**
 * A mark at values that are not finite.
 * @typedef {{ kind: string, low: Numbers, high: Numbers, count: Numbers, runs: string[] }} Mark
 */

const KINDS = ["NaN", "+Inf", "-Inf"];
/** @type {WeakMap<Drawing, { lines: Line[], marks: Mark[] }>} */
const decoded = new WeakMap();  // figure -> lines and marks

/**
 * Accessor for numbers sent as an array, or as first value and distance.
 * @param {SentColumn} spec
 * @param {{ x0?: number, dx?: number }} [even]
 * @returns {Accessor}
 */
function column(spec, even) {
  if (even && even.dx !== undefined) {
    const { x0 = 0, dx } = even;
    return (i) => x0 + i * dx;
  }
  const values = numbersOf(spec);
  return (i) => (values ? values[i] : NaN);
}

/**
 * Seconds, sent as differences in milliseconds.
 * @param {{ first: number, steps: Wire.SentArray, seconds?: Wire.SentArray }} times
 * @returns {Accessor}
 */
function durations({ first, steps, seconds }) {
  if (seconds) return column(seconds);
  let now = first;
  const times = Float64Array.from(numbersOf(steps), (step) => (now += step) / 1000);
  return (i) => times[i];
}

/**
 * Of a hundred lines the table shows fourteen.
 * @param {() => Accessor} make
 * @returns {Accessor}
 */
function lazily(make) {
  /** @type {Accessor | null} */
  let made = null;
  return (i) => (made = made || make())(i);
}

/** @param {Drawing} figure */
function series(figure) {
  const known = decoded.get(figure);
  if (known) return known;
  const traces = tracesOf(figure);
  const lines = linesOf(traces).map((trace) => {
    const values = numbersOf(trace.y);
    const x = column(trace.x, trace);
    let rising = true;
    if (trace.x) for (let i = 1; i < values.length && rising; i += 1) rising = x(i) >= x(i - 1);
    const { meta } = trace;
    return {
      meta, values, x, rising, size: values.length, exact: trace.y.dtype === "f8", axis: trace.yaxis || "y",
      raw: meta.raw === null || meta.raw === undefined ? null : numbersOf(traces[meta.raw].y),
      rawExact: meta.raw !== null && meta.raw !== undefined && traces[meta.raw].y.dtype === "f8",
      step: meta.step ? column(meta.step, meta.step) : x,
      time: meta.time ? lazily(durations.bind(null, meta.time)) : null,
      n: meta.n ? column(meta.n) : null, lost: meta.lost ? column(meta.lost) : null,
      low: numbersOf(meta.low), high: numbersOf(meta.high),
    };
  });
  const marks = traces
    .filter((trace) => trace.meta && trace.meta.mark !== undefined)
    .map((trace) => ({
      kind: KINDS[trace.meta.mark || 0],
      low: numbersOf(trace.x) || [],
      high: numbersOf(trace.meta.high) || [],
      count: numbersOf(trace.meta.count) || [],
      runs: trace.meta.runs || [],
    }));
  const found = { lines, marks };
  decoded.set(figure, found);
  return found;
}

/**
 * The lines of a drawing with their points.
 * @param {Drawing} drawing
 */
export const linesIn = (drawing) => series(drawing).lines;

/**
 * The marks at values that are not finite.
 * @param {Drawing} drawing
 */
export const marksIn = (drawing) => series(drawing).marks;

// Places on a line --------------------------------------------------------------------------------------------------

/**
 * @param {Line} line
 * @param {number} x
 * @param {(x: number) => number} toX
 * @param {(y: number) => number} toY
 * @param {{ x: number, y: number }} pointer
 */
export function nearestIndex(line, x, toX, toY, pointer) {
  if (!line.rising) {
    let best = -1;
    let distance = Infinity;
    for (let i = 0; i < line.size; i += 1) {
      if (Number.isNaN(line.values[i])) continue;
      const away = Math.hypot(toX(line.x(i)) - pointer.x, toY(line.values[i]) - pointer.y);
      if (away < distance) [best, distance] = [i, away];
    }
    return best;
  }
  let low = 0;
  let high = line.size - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (line.x(middle) < x) low = middle + 1;
    else high = middle;
  }
  let best = -1;
  for (const i of [low - 2, low - 1, low, low + 1]) {
    if (i < 0 || i >= line.size || Number.isNaN(line.values[i])) continue;
    if (best < 0 || Math.abs(line.x(i) - x) < Math.abs(line.x(best) - x)) best = i;
  }
  return best;
}

/**
 * The last point at or before a place on the x axis, null for the last of all; -1 if there is none.
 * @param {Line} line
 * @param {number | null} x
 */
export function upTo(line, x) {
  let best = -1;
  if (line.rising) {
    let [low, high] = [0, line.size];
    while (x !== null && low < high) {
      const half = (low + high) >> 1;
      if (line.x(half) <= x) low = half + 1;
      else high = half;
    }
    best = (x === null ? line.size : low) - 1;
    while (best >= 0 && Number.isNaN(line.values[best])) best -= 1;
    return best;
  }
  for (let i = 0; i < line.size; i += 1) {
    if (Number.isNaN(line.values[i]) || (x !== null && line.x(i) > x)) continue;
    if (best < 0 || line.x(i) >= line.x(best)) best = i;
  }
  return best;
}

// Texts ---------------------------------------------------------------------------------------------------------------

/**
 * Shortest text that reads back as the same float32 or float64.
 * @param {number} value
 * @param {boolean} isDouble
 */
export function exact(value, isDouble) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
  if (!isDouble) {
    for (let digits = 6; digits < 10; digits += 1) {
      const text = Number(value.toPrecision(digits));
      if (Math.fround(text) === value) return readable(text);
    }
  }
  return readable(value);
}

/** @param {number} value */
function readable(value) {
  const size = Math.abs(value);
  return size >= 1e4 && size < 1e15 && Number.isInteger(value) ? count(value) : String(value);
}

/** @param {number} value */
export function smoothed(value) {
  return String(Number(value.toPrecision(6)));
}

/**
 * @param {number} x
 * @param {string} axis
 */
export function placeOf(x, axis) {
  if (axis === "relative") return elapsed(x);
  if (axis === "absolute") return dateTime(x / 1000 + new Date().getTimezoneOffset() * 60);
  return axis === "step" ? count(x) : readable(Number(x.toPrecision(6)));
}
