// Flags of the named marks on the ruler.

import { xOf } from "./geometry.js";

const GAP = 8;

/** Flags with names on the ruler, where they do not cover each other. */
export function drawNamed(line, context, ink, bottom) {
  const { from, to } = line.range;
  const seen = (line.named || []).filter(({ times }) => times[times.length - 1] >= from && times[0] <= to);
  let free = -Infinity;
  context.textAlign = "left";
  context.textBaseline = "middle";
  for (const { name, times } of seen) {
    const left = Math.round(xOf(line, times[0]));
    const right = Math.round(xOf(line, times[times.length - 1]));
    context.fillStyle = ink.accent;
    context.fillRect(left, bottom - 4, Math.max(right - left, 1), 2);
    context.beginPath();
    context.moveTo(left, bottom - 13);
    context.lineTo(left + 7, bottom - 10);
    context.lineTo(left, bottom - 7);
    context.fill();
    context.fillRect(left, bottom - 13, 1, 13);
    const room = context.measureText(name).width;
    if (left < free) continue;
    context.fillStyle = ink.back;
    context.globalAlpha = 0.85;
    context.fillRect(left + 9, bottom - 16, room + 3, 13);
    context.globalAlpha = 1;
    context.fillStyle = ink.accent;
    context.fillText(name, left + 10, bottom - 9);
    free = left + 10 + room + GAP;
  }
}
