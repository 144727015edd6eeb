// Draw the lines of a figure without plotly: a card with many lines has them in `canvas` beside `data`, as the traces that
// plotly would draw below `data`; see on_canvas of layouts/curves/lines.py. plotly draws axes and marks, and images for files.

import { numbersOf } from "../typed_arrays.js";
import { finish, segment } from "./strokes.js";

/** @typedef {{ first: number, factor: number, begin: number, log: boolean }} Scale */
/** @typedef {{ pattern: number[], part: number, left: number }} Pen */
/** @typedef {ReturnType<typeof import("./strokes.js").sheet>} Sheet */

const FAR = 1e5;  // px; segments are cut here, since coordinates beyond lose the digits that matter
const LEAST_DASH = 3;  // px, as in plotly
/** @type {Record<string, number[]>} */
const DASHES = {
  dot: [1, 1], dash: [3, 3], dashdot: [3, 1, 1, 1], longdash: [5, 5], longdashdot: [5, 2, 1, 2],
};  // in multiples of the width

/**
 * All traces of a drawing, from bottom to top.
 * @param {Drawing} drawing
 */
export function tracesOf({ canvas, data }) {
  return canvas ? [...canvas, ...data] : data;
}

/**
 * The lines among the traces of a canvas that stand for a run or a group.
 * @param {SentTrace[]} canvas
 */
export function linesOf(canvas) {
  return canvas.filter((trace) => trace.meta && trace.meta.key !== undefined);
}

/**
 * What plotly draws of a drawing: instead of the lines on the canvas, lines of no width that make the axes as long.
 * @param {Drawing} drawing
 */
export function figureOf({ canvas, data, layout }) {
  return canvas ? { data: [...extents(canvas, layout), ...data], layout } : { data, layout };
}

/**
 * For each value axis a trace from the lowest to the highest value drawn.
 * @param {any[]} traces
 * @param {any} layout
 */
export function extents(traces, layout) {
  /** @type {Map<string, [number, number]>} */
  const found = new Map();
  for (const trace of traces) {
    const name = trace.yaxis || "y";
    const floor = isLog(layout, name) ? 0 : -Infinity;
    const values = numbersOf(trace.y);
    let [low, high] = found.get(name) || [Infinity, -Infinity];
    for (let i = 0; i < values.length; i += 1) {
      const value = values[i];
      if (!(value > floor && value < Infinity)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    found.set(name, [low, high]);
  }
  return [...found].filter(([, [low, high]]) => low <= high).map(([yaxis, y]) => ({
    type: "scatter", mode: "lines", x: layout.xaxis.range, y, yaxis, line: { width: 0 }, hoverinfo: "skip",
  }));
}

/**
 * @param {PlotlyLayout} layout
 * @param {string} name
 */
function isLog(layout, name) {
  const axis = layout[name.replace("y", "yaxis")];
  return Boolean(axis) && axis.type === "log";
}

/**
 * A place on an axis of plotly, whose dates are texts, as a number.
 * @param {string | number} value
 */
export function number(value) {
  return typeof value === "string" ? Date.parse(`${value.replace(" ", "T")}Z`) : Number(value);
}

/**
 * The scale from the values of an axis to pixels, in proportion to the value or, on a log axis, to its logarithm.
 * @param {(number | string)[]} range of the axis, as in plotly's layout
 * @param {number} begin pixel of the first end
 * @param {number} end pixel of the second end
 * @param {boolean} log
 */
export function scaleOf(range, begin, end, log = false) {
  const [first, second] = range.map(number);
  return { first, factor: (end - begin) / (second - first), begin, log };
}

/**
 * The pixels of the points of a trace; x is NaN for those without a place.
 * @param {SentTrace} trace
 * @param {Record<string, Scale>} scales
 */
export function pointsOf(trace, scales) {
  const y = numbersOf(trace.y);
  const size = y.length;
  const xs = new Float64Array(size);
  const ys = new Float64Array(size);
  const across = scales.x;
  if (trace.x) {
    const x = numbersOf(trace.x);
    for (let i = 0; i < size; i += 1) xs[i] = across.begin + (x[i] - across.first) * across.factor;
  } else {
    const begin = across.begin + ((trace.x0 || 0) - across.first) * across.factor;
    const step = (trace.dx || 0) * across.factor;
    for (let i = 0; i < size; i += 1) xs[i] = begin + i * step;
  }
  const { begin, first, factor, log } = scales[trace.yaxis || "y"];
  for (let i = 0; i < size; i += 1) {
    ys[i] = begin + ((log ? Math.log10(y[i]) : y[i]) - first) * factor;
    if (ys[i] - ys[i] !== 0 || xs[i] - xs[i] !== 0) xs[i] = NaN;  // not finite
  }
  return { xs, ys };
}

/**
 * Draw lines and their shadows, each over those before it.
 * @param {ReturnType<typeof import("./strokes.js").sheet>} on
 * @param {any[]} traces
 * @param {Record<string, any>} scales of x and of each value axis, to device pixels
 * @param {number} ratio device pixels per pixel
 */
export function paint(on, traces, scales, ratio) {
  for (const trace of traces) {
    const { xs, ys } = pointsOf(trace, scales);
    const style = trace.mode === "markers" ? trace.marker : trace.line;
    if (trace.mode === "markers") dots(on, xs, ys, style.size * ratio);
    else line(on, xs, ys, style.width * ratio, dashes(style, ratio));
    finish(on, rgb(style.color), trace.opacity === undefined ? 1 : trace.opacity);
  }
}

/**
 * Red, green and blue of #rrggbb.
 * @param {string} colour
 * @returns {[number, number, number]}
 */
export function rgb(colour) {
  const part = (/** @type {number} */ at) => parseInt(colour.slice(at, at + 2), 16);
  return [part(1), part(3), part(5)];
}

/**
 * @param {Sheet} on
 * @param {Float64Array} xs
 * @param {Float64Array} ys
 * @param {number} size
 */
function dots(on, xs, ys, size) {
  for (let i = 0; i < xs.length; i += 1) {
    const [x, y] = [xs[i], ys[i]];
    if (near(on, x, y, x, y, size)) segment(on, x, y, x, y, size);
  }
}

/**
 * @param {{ dash?: string, width: number }} style
 * @param {number} ratio
 */
function dashes({ dash, width }, ratio) {
  const pattern = dash ? DASHES[dash] : undefined;
  return pattern ? pattern.map((part) => part * Math.max(width, LEAST_DASH) * ratio) : null;
}

/**
 * Whether a segment may touch the sheet; false if an end has no place.
 * @param {Sheet} sheet
 * @param {number} x0
 * @param {number} y0
 * @param {number} x1
 * @param {number} y1
 * @param {number} thick
 */
function near({ width, height }, x0, y0, x1, y1, thick) {
  return (x0 > -thick || x1 > -thick) && (x0 < width + thick || x1 < width + thick)
    && (y0 > -thick || y1 > -thick) && (y0 < height + thick || y1 < height + thick) && x0 === x0 && x1 === x1;
}

/**
 * @param {Sheet} on
 * @param {Float64Array} xs
 * @param {Float64Array} ys
 * @param {number} width
 * @param {number[] | null} pattern
 */
function line(on, xs, ys, width, pattern) {
  const pen = pattern ? { pattern, part: 0, left: pattern[0] } : null;
  for (let i = 1; i < xs.length; i += 1) {
    const x0 = xs[i - 1];
    const y0 = ys[i - 1];
    const x1 = xs[i];
    const y1 = ys[i];
    if (x0 !== x0 || x1 !== x1) {
      if (pen) Object.assign(pen, { part: 0, left: pen.pattern[0] });
    } else if (pen) dashed(on, cut(x0, y0, x1, y1), width, pen);
    else if (near(on, x0, y0, x1, y1, width)) {
      const far = Math.abs(x0) > FAR || Math.abs(y0) > FAR || Math.abs(x1) > FAR || Math.abs(y1) > FAR;
      const part = far ? cut(x0, y0, x1, y1) : null;
      if (part) segment(on, part[0], part[1], part[2], part[3], width);
      else if (!far) segment(on, x0, y0, x1, y1, width);
    }
  }
}

/**
 * Move the pen on without drawing: whole patterns change nothing.
 * @param {Pen} pen
 * @param {number} length
 */
function skip(pen, length) {
  let rest = length % pen.pattern.reduce((sum, part) => sum + part, 0);
  while (rest >= pen.left) {
    rest -= pen.left;
    pen.part = (pen.part + 1) % pen.pattern.length;
    pen.left = pen.pattern[pen.part];
  }
  pen.left -= rest;
}

/**
 * Round ends are part of a dash, so that it is as long as one of plotly. Dashes off the sheet are not walked.
 * @param {Sheet} on
 * @param {number[] | null} ends
 * @param {number} width
 * @param {Pen} pen
 */
function dashed(on, ends, width, pen) {
  if (!ends) return;
  const [x0, y0, x1, y1] = ends;
  const length = Math.hypot(x1 - x0, y1 - y0);
  const [first, last] = within([x0, y0, x1, y1], [-width, -width, on.width + width, on.height + width]) || [1, 1];
  const round = width / 2;
  let at = first * length;
  skip(pen, at);
  while (at < last * length) {
    const end = Math.min(length, at + pen.left);
    const isEnd = at + pen.left <= length;
    if (pen.part % 2 === 0) {
      const begun = pen.left === pen.pattern[pen.part];
      const [from, to] = [at + (begun ? round : 0), end - (isEnd ? round : 0)];
      const middle = (from + to) / 2;
      const [low, high] = from <= to ? [from / length, to / length] : [middle / length, middle / length];
      const part = [x0 + (x1 - x0) * low, y0 + (y1 - y0) * low, x0 + (x1 - x0) * high, y0 + (y1 - y0) * high];
      if (near(on, part[0], part[1], part[2], part[3], width)) segment(on, part[0], part[1], part[2], part[3], width);
    }
    if (isEnd) {
      pen.part = (pen.part + 1) % pen.pattern.length;
      pen.left = pen.pattern[pen.part];
    } else pen.left -= end - at;
    at = end;
  }
  skip(pen, Math.max(0, length - at));
}

/**
 * The part of a segment that is inside of a box, as shares of its length: [from, to], or null (Liang and Barsky).
 * @param {number[]} segment x0, y0, x1, y1
 * @param {number[]} box left, top, right, bottom
 */
function within([x0, y0, x1, y1], [left, top, right, bottom]) {
  const [dx, dy] = [x1 - x0, y1 - y0];
  let [from, to] = [0, 1];
  for (const [delta, room] of [[-dx, x0 - left], [dx, right - x0], [-dy, y0 - top], [dy, bottom - y0]]) {
    if (delta === 0 && room < 0) return null;
    if (delta < 0) from = Math.max(from, room / delta);
    if (delta > 0) to = Math.min(to, room / delta);
  }
  return from <= to ? [from, to] : null;
}

/**
 * The part of a segment that is less than FAR from the origin on both axes, or null.
 * @returns {number[] | null}
 * @param {number} x0
 * @param {number} y0
 * @param {number} x1
 * @param {number} y1
 */
export function cut(x0, y0, x1, y1) {
  // From an end within reach, so that this end stays where it is.
  if (Math.abs(x1) < FAR && Math.abs(y1) < FAR && (Math.abs(x0) > FAR || Math.abs(y0) > FAR)) {
    const found = cut(x1, y1, x0, y0);
    return found && [found[2], found[3], found[0], found[1]];
  }
  const [dx, dy] = [x1 - x0, y1 - y0];
  const [from, to] = within([x0, y0, x1, y1], [-FAR, -FAR, FAR, FAR]) || [];
  return from === undefined ? null : [x0 + from * dx, y0 + from * dy, x0 + to * dx, y0 + to * dy];
}
