// Flags of the named marks on the ruler.

import { xOf } from "./geometry.js";

const GAP = 8;
const FLAG = 10;

/**
 * The marks in sight: { left, right (pixels), name, end }; end is where its name ends, `left` where it has no room.
 * @param {Timeline.Line} line
 * @param {Timeline.Pen} context
 */
export function flagsOf(line, context) {
  const { from, to } = line.range;
  let free = -Infinity;
  return (line.named || []).filter(({ times }) => times[times.length - 1] >= from && times[0] <= to).map(({ name, times }) => {
    const left = Math.round(xOf(line, times[0]));
    const right = Math.round(xOf(line, times[times.length - 1]));
    const end = left < free ? left : left + FLAG + context.measureText(name).width;
    if (end > left) free = end + GAP;
    return { left, right, name, end };
  });
}

/**
 * Whether a text from `left` to `right` would lie under a flag.
 * @param {Timeline.Flag[]} flags
 * @param {number} left
 * @param {number} right
 */
export const covered = (flags, left, right) => flags.some((flag) => left < flag.end + GAP / 2 && right > flag.left - GAP / 2);

/**
 * @param {Timeline.Pen} context
 * @param {Timeline.Flag[]} flags
 * @param {Timeline.Inks} ink
 * @param {number} bottom
 */
export function drawFlags(context, flags, ink, bottom) {
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillStyle = ink.accent;
  for (const { left, right, name, end } of flags) {
    context.fillRect(left, bottom - 3, Math.max(right - left, 1), 2);
    context.fillRect(left, bottom - 16, 1, 16);
    context.beginPath();
    context.moveTo(left, bottom - 16);
    context.lineTo(left + 8, bottom - 12.5);
    context.lineTo(left, bottom - 9);
    context.fill();
    if (end > left) context.fillText(name, left + FLAG, bottom - 11);
  }
}
