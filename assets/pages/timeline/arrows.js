// The arrows of the selected slice. Few are drawn one by one; of many, those that end near each other in one lane are a bundle,
// as thick as it has many, and at most some bundles are drawn: how many arrows there are is said at the foot of the canvas.

import { count } from "../../base/format.js";
import { translate } from "../../base/i18n.js";
import { pinnedHeight, placeOf, xOf } from "./geometry.js";

/** Arrows that are drawn one by one. */
const FEW = 40;
/** Bundles drawn, those of the most arrows. */
const MOST = 60;
/** Ends within so many pixels are one. */
const NEAR = 6;
const BEYOND = 200;

/**
 * What to draw: { arrows: [{ x1, y1, x2, y2, many }], drawn, total, out }; drawn is how many arrows these are, out how many
 * have their other end where it is not shown. whereOf(track, depth) is the height of a lane on screen, or null.
 */
export function bundlesOf(slice, { xAt, width, whereOf }) {
  const { arrows } = slice;
  const { total, arriving, start, duration, track, depth } = arrows;
  const near = start.length > FEW ? NEAR : 0;
  const heights = new Map();
  const heightOf = (of, at) => {
    const key = of * 1e6 + at;
    if (!heights.has(key)) heights.set(key, whereOf(of, at));
    return heights.get(key);
  };
  const own = whereOf(slice.track, slice.depth);
  const bundles = new Map();
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
    const end = arrives ? x1 : x2;
    const key = near ? `${arrives} ${other} ${Math.floor(end / near)}` : i;
    const known = bundles.get(key);
    if (known) known.many += 1;
    else bundles.set(key, { x1, y1: arrives ? other : own, x2, y2: arrives ? own : other, many: 1 });
  }
  const found = [...bundles.values()].sort((a, b) => b.many - a.many).slice(0, near ? MOST : FEW);
  return { arrows: found, drawn: found.reduce((sum, one) => sum + one.many, 0), total, out };
}

export function drawArrows(line, context, ink) {
  const pinned = pinnedHeight(line);
  const whereOf = (track, depth) => {
    const place = placeOf(line, track, depth);
    return place && Math.max(place.top + place.height / 2, place.row.pinned ? 0 : pinned);
  };
  const found = bundlesOf(line.selected, { xAt: (time) => xOf(line, time), width: line.width, whereOf });
  context.strokeStyle = ink.accent;
  context.fillStyle = ink.accent;
  for (const { x1, y1, x2, y2, many } of found.arrows) {
    context.lineWidth = 1.5 + Math.min(5, Math.log2(many) * 0.6);
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
  line.host.root.dataset.arrows = String(found.arrows.length);
  if (found.total > FEW) say(line, context, ink, found);
}

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
