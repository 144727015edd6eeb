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

export const MARK_PX = 6;  // a mark is noticed from so far
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
 * A place on the x axis of a chart: x, how much of x a pixel is, and the ends of the axis.
 * @typedef {{ x: number, unit: number, left: number, right: number }} Place
 */

export const REACH_PX = 24;

/**
 * The drawn point nearest in x, of several at one x the last; -1 if there is none.
 * @param {Line} line
 * @param {number} x
 */
export function nearestIndex(line, x) {
  let [first, end] = [0, line.size];
  if (line.rising) {
    const at = firstFrom(line, x);
    [first, end] = [Math.max(0, at - 2), Math.min(line.size, at + 2)];
  }
  let best = -1;
  for (let i = first; i < end; i += 1) {
    if (Number.isNaN(line.values[i]) || Number.isNaN(line.x(i))) continue;
    if (best < 0 || Math.abs(line.x(i) - x) <= Math.abs(line.x(best) - x)) best = i;
  }
  return best;
}

/**
 * The first point of a rising line that is not left of x.
 * @param {Line} line
 * @param {number} x
 */
function firstFrom(line, x) {
  let [low, high] = [0, Math.max(0, line.size - 1)];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (line.x(middle) < x) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The point of a line that the table at the pointer and the run list show: the nearest in x, unless it is out of reach or of
 * the axis; -1 if there is none.
 * @param {Line} line
 * @param {Place} place
 */
export function pointAt(line, { x, unit, left, right }) {
  const i = nearestIndex(line, x);
  if (i < 0) return -1;
  const at = line.x(i);
  const near = Math.abs(at - x) <= Math.max(REACH_PX * unit, spacing(line, i));
  return near && at >= left - unit && at <= right + unit ? i : -1;
}

/**
 * How far apart points are around a point, in the unit of x.
 * @param {Line} line
 * @param {number} i
 */
function spacing(line, i) {
  const near = [i - 1, i + 1].filter((k) => k >= 0 && k < line.size).map((k) => Math.abs(line.x(k) - line.x(i)));
  return near.length ? Math.max(...near) : 0;
}

/**
 * What a line has at a place: a point, or the mark of values that are not finite; neither where it has no values.
 * @param {Line} line
 * @param {Place} place
 * @param {Mark[]} marks
 * @returns {{ i: number, bad: Mark | null }}
 */
export function foundAt(line, place, marks) {
  const i = pointAt(line, place);
  if (line.n || (i >= 0 && Math.abs(line.x(i) - place.x) <= place.unit)) return { i, bad: null };
  const reach = MARK_PX * place.unit;
  /** @type {(mark: Mark) => boolean} */
  const isHere = ({ runs, low, high }) => runs.some(
    (run, k) => run === line.meta.label && place.x >= low[k] - reach && place.x <= high[k] + reach,
  );
  const bad = marks.find(isHere) || null;
  return { i: bad ? -1 : i, bad };
}

/**
 * The last drawn point, -1 if there is none.
 * @param {Line} line
 */
export function lastIndex(line) {
  let best = -1;
  for (let i = 0; i < line.size; i += 1) {
    if (!Number.isNaN(line.values[i]) && (best < 0 || line.x(i) >= line.x(best))) best = i;
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

/**
 * @param {number} x
 * @param {string} axis
 */
export function placeOf(x, axis) {
  if (axis === "relative") return elapsed(x);
  if (axis === "absolute") return dateTime(x / 1000 + new Date().getTimezoneOffset() * 60);
  return axis === "step" ? count(x) : readable(Number(x.toPrecision(6)));
}
