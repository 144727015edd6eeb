// Draws rows: slices that are at least a pixel wide one by one, with their names where they fit; narrower ones as the share of
// each pixel that is busy. A picture wider than the screen is kept, so that dragging draws nothing anew.

import { penOf } from "../../kit/canvases.js";
import { drawBusy, shapeBusy } from "./busy.js";
import { begun } from "../../kit/names.js";
import { fillOfKind, fillOfName, pace, pacesOf } from "./colours.js";
import { share } from "./wire.js";

const MOST_CUT = 20_000;
/** @type {Map<string, string>} */
const cutTexts = new Map();  // room and text -> what fits

export const FONT = '11px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Noto Sans CJK SC", sans-serif';
const LEAST_LABEL = 28;
const PADDING = 4;
const EDGE_FROM = 3;
const LEAST_TEXT_LANE = 12;

/**
 * Busy share of each of `columns` pixels from the buckets of one lane; from is the time at the left, pixel ns per pixel.
 * @param {Timeline.View} view
 * @param {number} at
 * @param {number} columns
 * @param {number} from
 * @param {number} pixel
 */
export function columnsOf(view, at, columns, from, pixel) {
  const found = new Float32Array(columns);
  const { begin, places } = view.bucketsOf;
  const { bucket: position, busy } = view.buckets;
  const width = view.bucket / pixel;
  const offset = (view.base - from) / pixel + view.late[at] * width;
  for (let i = begin[at]; i < begin[at + 1]; i += 1) {
    const place = places[i];
    const left = offset + position[place] * width;
    const right = left + width;
    if (right <= 0 || left >= columns) continue;
    const part = share(busy[place]);
    const first = Math.max(0, Math.floor(left));
    const last = Math.min(columns - 1, Math.ceil(right) - 1);
    for (let column = first; column <= last; column += 1) {
      found[column] += part * (Math.min(right, column + 1) - Math.max(left, column));
    }
  }
  return found;
}

/**
 * Whole pixels of a slice, at least one: [left, right).
 * @param {number} left
 * @param {number} width
 */
export function pixelsOf(left, width) {
  const first = Math.round(left);
  return [first, Math.max(first + 1, Math.round(left + width))];
}

/**
 * A text that fits into `room`, cut with an ellipsis after its beginning; "" if not even a few letters fit. widthOf measures.
 * @param {string} text
 * @param {number} room
 * @param {(text: string) => number} widthOf
 */
export function fitted(text, room, widthOf) {
  if (widthOf(text) <= room) return text;
  const key = `${Math.floor(room)} ${text}`;
  let short = cutTexts.get(key);
  if (short === undefined) {
    if (cutTexts.size >= MOST_CUT) cutTexts.clear();
    short = begun(text, Math.floor(room), widthOf);
    cutTexts.set(key, short);
  }
  return short;
}

/**
 * Widths of texts in a font, each measured once.
 * @param {{ measureText(text: string): { width: number } }} context
 * @param {number} [most]
 */
export function ruler(context, most = 20000) {
  let known = new Map();
  return (/** @type {string} */ text) => {
    let width = known.get(text);
    if (width === undefined) {
      if (known.size >= most) known = new Map();
      width = context.measureText(text).width;
      known.set(text, width);
    }
    return width;
  };
}

/**
 * The number of the fill of a big slice.
 * @param {Timeline.Scene} scene
 * @param {Timeline.View} view
 * @returns {(place: number, track: Timeline.Track) => number}
 */
function fillsOf(scene, view) {
  const { colour, names } = scene;
  const { name, category, width } = view.slices;
  if (colour === "category") return (place) => category[place] % 12;
  if (colour === "kind") return (_place, track) => fillOfKind(track.kind);
  if (colour === "pace") return (place) => pace(width[place] * view.bucket, names.median(name[place]) || 0);
  /** @type {Map<number, number>} */
  const byName = new Map();
  return (place) => {
    const at = name[place];
    let fill = byName.get(at);
    if (fill === undefined) {
      const text = names.get(at);
      if (text === null) return 11;
      fill = fillOfName(text);
      byName.set(at, fill);
    }
    return fill;
  };
}

/**
 * Draw rows on a context. scene: { view, rows: [[row, top]], from, to (ns), width, height, ratio (device pixels per pixel),
 * colour, names, palette, theme, clip: [top, bottom] }. Returns how many slices and labels were drawn.
 * @param {Timeline.Pen} context
 * @param {Timeline.Scene} scene
 */
export function paint(context, scene) {
  const { view, rows, from, to, width, ratio, palette } = scene;
  const columns = Math.round(width * ratio);
  const pixel = (to - from) / columns;
  const drawn = { slices: 0, buckets: 0, labels: 0 };
  if (!view) return drawn;
  const fills = scene.colour === "pace" ? pacesOf(scene.theme) : palette.fills;
  const fillOf = fillsOf(scene, view);
  /** @type {number[][]} */
  const groups = fills.map(() => []);
  const edges = [];
  const busy = [];
  const labels = [];
  const { slices, slicesOf } = view;
  const scale = view.bucket / pixel;
  const offset = (view.base - from) / pixel;
  for (const [row, top] of rows) {
    for (let depth = 0; depth < row.lanes; depth += 1) {
      const at = view.index.get(row.track.first_lane + depth);
      if (at === undefined) continue;
      const y = Math.round((top + depth * row.lane) * ratio);
      const height = Math.round((row.lane - 1) * ratio);
      if (view.pending.has(row.track.first_lane + depth)) hatch(context, scene, columns, y, height);
      const count = view.bucketsOf.begin[at + 1] - view.bucketsOf.begin[at];
      if (count) busy.push({ shares: columnsOf(view, at, columns, from, pixel), y, height });
      drawn.buckets += count;
      for (let i = slicesOf.begin[at]; i < slicesOf.begin[at + 1]; i += 1) {
        const place = slicesOf.places[i];
        const left = offset + slices.x[place] * scale;
        const size = slices.width[place] * scale;
        if (left + size < 0) continue;
        if (left > columns) break;
        const [first, last] = pixelsOf(Math.max(left, -2), left + size - Math.max(left, -2));
        const end = Math.min(last, columns + 2);
        groups[fillOf(place, row.track)].push(first, y, end - first, height);
        drawn.slices += 1;
        if (last - first >= EDGE_FROM) edges.push(first, y, height);
        if (row.lane >= LEAST_TEXT_LANE && (Math.min(last, columns) - Math.max(first, 0)) / ratio >= LEAST_LABEL) {
          labels.push([place, Math.max(first, 0), Math.min(last, columns), y, height]);
        }
      }
    }
  }
  if ("drawImage" in context) drawBusy(context, busy, columns, palette.several);
  else for (const lane of busy) shapeBusy(context, lane, palette.several);
  groups.forEach((group, number) => {
    context.fillStyle = fills[number];
    for (let i = 0; i < group.length; i += 4) context.fillRect(group[i], group[i + 1], group[i + 2], group[i + 3]);
  });
  // A line within the left edge keeps neighbours of one colour apart.
  context.fillStyle = palette.edge;
  for (let i = 0; i < edges.length; i += 3) context.fillRect(edges[i], edges[i + 1], 1, edges[i + 2]);
  drawn.labels = write(context, scene, view, labels);
  return drawn;
}

/**
 * A lane that the server cannot draw yet.
 * @param {Timeline.Pen} context
 * @param {Timeline.Scene} scene
 * @param {number} columns
 * @param {number} y
 * @param {number} height
 */
function hatch(context, scene, columns, y, height) {
  const [red, green, blue] = scene.palette.several;
  const step = Math.round(8 * scene.ratio);
  context.save();
  context.beginPath();
  context.rect(0, y, columns, height);
  context.clip();
  context.beginPath();
  for (let x = -height; x < columns; x += step) {
    context.moveTo(x, y + height);
    context.lineTo(x + height, y);
  }
  context.lineWidth = scene.ratio;
  context.strokeStyle = `rgba(${red}, ${green}, ${blue}, 0.35)`;
  context.stroke();
  context.restore();
}

/** Widths of names in FONT, by a context of its own: those that draw set other fonts too. */
/** @type {((text: string) => number) | null} */
let measured = null;

function measuring() {
  const context = penOf(document.createElement("canvas"));
  context.font = FONT;
  return ruler(context);
}

/**
 * @param {Timeline.Pen} context
 * @param {Timeline.Scene} scene
 * @param {Timeline.View} view
 * @param {number[][]} labels
 */
function write(context, scene, view, labels) {
  const { names, ratio, palette } = scene;
  context.save();
  context.scale(ratio, ratio);
  context.font = FONT;
  context.textBaseline = "middle";
  context.fillStyle = palette.text;
  const widthOf = measured || measuring();
  measured = widthOf;
  let written = 0;
  for (const [place, left, right, y, height] of labels) {
    const name = names.get(view.slices.name[place]);
    if (name === null) continue;
    const room = (right - left) / ratio - 2 * PADDING;
    const text = fitted(name, room, widthOf);
    if (!text) continue;
    context.fillText(text, left / ratio + PADDING, (y + height / 2) / ratio + 0.5);
    written += 1;
  }
  context.restore();
  return written;
}

/**
 * Draw a counter: for each column the range of its values, and the last one until the next. top is in pixels.
 * @param {Timeline.Pen} context
 * @param {Timeline.Curve} curve
 * @param {Omit<Timeline.Scene, "rows">} options
 * @param {number} top
 * @param {number} height
 */
export function paintCurve(context, curve, { from, to, width, ratio, palette }, top, height) {
  const columns = Math.round(width * ratio);
  const scale = columns / (to - from);
  const { least, most, series } = curve;
  const span = most - least || 1;
  const room = (height - 8) * ratio;
  const base = (top + height - 3) * ratio;
  /** @param {number | null} value */
  const yOf = (value) => base - (((value ?? 0) - least) / span) * room;
  series.slice(0, palette.fills.length).forEach((one, number) => {
    const { time, low, high } = one;
    if (!time.length) return;
    context.beginPath();
    context.moveTo((time[0] - from) * scale, base);
    for (let i = 0; i < time.length; i += 1) {
      const x = (time[i] - from) * scale;
      const next = i + 1 < time.length ? (time[i + 1] - from) * scale : columns;
      context.lineTo(x, yOf(high[i]));
      if (low[i] !== high[i]) context.lineTo(x + 0.5, yOf(low[i]));
      context.lineTo(next, yOf(one.last[i]));
    }
    context.lineTo(columns, base);
    context.closePath();
    context.globalAlpha = series.length > 1 ? 0.4 : 0.75;
    context.fillStyle = palette.fills[number];
    context.fill();
    context.globalAlpha = 1;
  });
}
