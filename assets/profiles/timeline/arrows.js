// The arrows of the selected slice. Few are drawn one by one; of many, those that end near each other in one lane are a bundle,
// as thick as it has many. Bundles are as wide as it takes to draw few of them; how many arrows there are is said below.

import { count } from "../../kit/units.js";
import { translate } from "../../kit/i18n.js";
import { pinnedHeight, placeOf, xOf } from "./geometry.js";

/** @typedef {Timeline.Slice & { arrows: Timeline.Arrows }} ArrowedSlice */

/**
 * @typedef {object} Screen
 * @property {(time: number) => number} xAt
 * @property {number} width
 * @property {(track: number, depth: number) => number | null} whereOf height of a lane, null if it is not shown
 */

/** Arrows drawn one by one, or bundles; of more bundles, those of the most arrows. */
const MOST = 40;
/** Arrows whose ends lie less than this many pixels apart are drawn as one. */
const NEAR = 6;
const BEYOND = 200;

/**
 * What to draw: { arrows: [{ x1, y1, x2, y2, many }], drawn, total, out }; drawn is how many arrows these are, out how many
 * have their other end where it is not shown. whereOf(track, depth) is the height of a lane on screen, or null.
 * @param {ArrowedSlice} slice
 * @param {Screen} screen
 */
export function bundlesOf(slice, { xAt, width, whereOf }) {
  const { arrows } = slice;
  const { total, arriving, start, duration, track, depth } = arrows;
  /** @type {Map<number, number | null>} */
  const heights = new Map();
  /**
   * @param {number} of
   * @param {number} at
   */
  const heightOf = (of, at) => {
    const key = of * 1e6 + at;
    if (!heights.has(key)) heights.set(key, whereOf(of, at));
    return heights.get(key) ?? null;
  };
  const own = whereOf(slice.track, slice.depth);
  const seen = [];
  let out = total - start.length;
  for (let i = 0; i < start.length; i += 1) {
    const arrives = i < arriving;
    const other = heightOf(track[i], depth[i]);
    if (other === null || own === null) {
      out += 1;
      continue;
    }
    const [source, length, target] = arrives ? [start[i], duration[i], slice.start] : [slice.start, slice.duration, start[i]];
    const x1 = xAt(Math.min(source + length, Math.max(source, target)));
    const x2 = xAt(target);
    if (Math.max(x1, x2) < -BEYOND || Math.min(x1, x2) > width + BEYOND) {
      out += 1;
      continue;
    }
    seen.push({ x1, y1: arrives ? other : own, x2, y2: arrives ? own : other, many: 1, arrives });
  }
  let found = seen;
  for (let near = NEAR; found.length > MOST && near < width * 2; near *= 2) found = bundled(seen, near);
  found = found.slice().sort((a, b) => b.many - a.many).slice(0, MOST);
  return { arrows: found, drawn: found.reduce((sum, one) => sum + one.many, 0), total, out };
}

/**
 * Arrows that go the same way, and whose other ends are in one lane and within `near` pixels, as one in their middle.
 * @param {Timeline.Arrow[]} arrows
 * @param {number} near
 */
function bundled(arrows, near) {
  const bundles = new Map();
  for (const { x1, y1, x2, y2, arrives } of arrows) {
    const [end, lane] = arrives ? [x1, y1] : [x2, y2];
    const key = `${arrives} ${lane} ${Math.floor(end / near)}`;
    const known = bundles.get(key);
    if (!known) bundles.set(key, { x1, y1, x2, y2, many: 1, arrives });
    else {
      known.many += 1;
      known.x1 += (x1 - known.x1) / known.many;
      known.x2 += (x2 - known.x2) / known.many;
    }
  }
  return [...bundles.values()];
}

/**
 * @param {Timeline.Line} line
 * @param {Timeline.Pen} context
 * @param {Timeline.Inks} ink
 * @param {ArrowedSlice} slice
 */
export function drawArrows(line, context, ink, slice) {
  const pinned = pinnedHeight(line);
  /**
   * @param {number} track
   * @param {number} depth
   */
  const whereOf = (track, depth) => {
    const place = placeOf(line, track, depth);
    return place && Math.max(place.top + place.height / 2, place.row.pinned ? 0 : pinned);
  };
  const found = bundlesOf(slice, { xAt: (time) => xOf(line, time), width: line.width, whereOf });
  context.strokeStyle = ink.accent;
  context.fillStyle = ink.accent;
  context.globalAlpha = found.total > MOST ? 0.7 : 1;
  for (const { x1, y1, x2, y2, many } of found.arrows) {
    context.lineWidth = 1.5 + Math.min(4, Math.log2(many) * 0.4);
    const bow = Math.max(24, Math.min(120, Math.abs(x2 - x1) / 2));
    const head = 4 + context.lineWidth / 2;
    context.beginPath();
    context.moveTo(x1, y1);
    context.bezierCurveTo(x1 + bow, y1, x2 - bow, y2, x2 - 5, y2);
    context.stroke();
    context.beginPath();
    context.moveTo(x2, y2);
    context.lineTo(x2 - 7, y2 - head);
    context.lineTo(x2 - 7, y2 + head);
    context.fill();
  }
  context.globalAlpha = 1;
  line.host.root.dataset.arrows = String(found.arrows.length);
  if (found.total > MOST) say(line, context, ink, found);
}

/**
 * @param {Timeline.Line} line
 * @param {Timeline.Pen} context
 * @param {Timeline.Inks} ink
 * @param {Timeline.Bundles} bundles
 */
function say(line, context, ink, { arrows, drawn, total }) {
  const text = translate("timeline.arrows", { total: count(total), drawn: count(drawn), bundles: count(arrows.length) });
  const room = context.measureText(text).width + 12;
  context.fillStyle = ink.back;
  context.globalAlpha = 0.9;
  context.fillRect(6, line.height - 24, room, 18);
  context.globalAlpha = 1;
  context.fillStyle = ink.muted;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillText(text, 12, line.height - 15);
}
