// The range of time on screen, in ns from the start of the trace: zoom, drag, limits, and the way back.

const LEAST_NS = 20;
const MOST_STEPS = 100;
/** How much of the trace's length may be seen beyond either end. */
const BEYOND = 0.02;

/**
 * The range within the limits of a trace that ends at `end`.
 * @param {Timeline.Range} range
 * @param {number} end
 */
export function within({ from, to }, end) {
  const length = Math.max(end, LEAST_NS);
  const low = -length * BEYOND;
  const high = length * (1 + BEYOND);
  const span = Math.min(Math.max(to - from, LEAST_NS), high - low);
  const middle = (from + to) / 2;
  const start = Math.min(Math.max(middle - span / 2, low), high - span);
  return { from: start, to: start + span };
}

/**
 * All slices of a trace, with a little room at their ends.
 * @param {{ first: number, last: number, end: number }} options
 */
export function whole({ first, last, end }) {
  const room = Math.max(last - first, LEAST_NS) * BEYOND;
  return within({ from: first - room, to: last + room }, end);
}

/**
 * The range with `factor` of its length, in which the time `at` stays where it is.
 * @param {Timeline.Range} range
 * @param {number} factor
 * @param {number} at
 */
export function zoomed({ from, to }, factor, at) {
  return { from: at - (at - from) * factor, to: at + (to - at) * factor };
}

/**
 * @param {Timeline.Range} range
 * @param {number} by
 */
export const moved = ({ from, to }, by) => ({ from: from + by, to: to + by });

/**
 * A range around a slice, which then takes `share` of the width.
 * @param {number} start
 * @param {number} length
 * @param {number} [share]
 */
export function around(start, length, share = 0.6) {
  const span = Math.max(length / share, LEAST_NS);
  const middle = start + length / 2;
  return { from: middle - span / 2, to: middle + span / 2 };
}

/**
 * The range moved just enough to show a time; the same object if it does already.
 * @param {Timeline.Range} range
 * @param {number} at
 */
export function showing(range, at) {
  const span = range.to - range.from;
  if (at >= range.from + span * 0.05 && at <= range.to - span * 0.05) return range;
  return { from: at - span / 2, to: at + span / 2 };
}

/**
 * Buckets for a range on `pixels`, with `margin` of its length on both sides: no bucket is wider than a pixel.
 * @param {Timeline.Range} range
 * @param {number} pixels
 * @param {number} margin
 * @param {number} end
 */
export function bucketsFor({ from, to }, pixels, margin, end) {
  const k = Math.max(0, Math.floor(Math.log2((to - from) / Math.max(1, pixels))));
  const size = 2 ** k;
  const room = (to - from) * margin;
  const b0 = Math.max(0, Math.floor((from - room) / size));
  const last = Math.min(Math.ceil((to + room) / size), Math.floor(end / size) + 1);
  return { k, b0, n: Math.max(1, last - b0) };
}

/** Ranges seen before and after the present one. */
export class Way {
  constructor() {
    /** @type {Timeline.Range[]} */
    this.places = [];
    this.at = -1;
  }

  /** @param {Timeline.Range} range */
  add(range) {
    const now = this.places[this.at];
    if (now && now.from === range.from && now.to === range.to) return;
    this.places = [...this.places.slice(0, this.at + 1), range].slice(-MOST_STEPS);
    this.at = this.places.length - 1;
  }

  get back() {
    return this.at > 0;
  }

  get forward() {
    return this.at < this.places.length - 1;
  }

  /** @param {number} by */
  go(by) {
    this.at = Math.min(Math.max(this.at + by, 0), this.places.length - 1);
    return this.places[this.at];
  }
}

/**
 * "from,to" as the state has it, in whole ns; null for anything else.
 * @param {string | undefined} text
 */
export function parseRange(text) {
  const found = /^(-?\d{1,18}),(-?\d{1,18})$/.exec(text || "");
  if (!found) return null;
  const [from, to] = [Number(found[1]), Number(found[2])];
  return from < to ? { from, to } : null;
}

/** @param {Timeline.Range} range */
export const formatRange = ({ from, to }) => `${Math.round(from)},${Math.max(Math.round(to), Math.round(from) + 1)}`;
