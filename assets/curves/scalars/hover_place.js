// Where the table at the pointer lies: in its own card, so that it hides no curve of another one; beside the pointer, so that
// what is pointed at stays visible; and at the end of the plane where it hides the least of its own curves.

import { nearestIndex } from "../../kit/cards/lines.js";

/** @import { Line } from "../../kit/cards/lines.js" */

/** @typedef {{ left: number, top: number, right: number, bottom: number }} Box in px of the window */
/** @typedef {{ side: "left" | "right", width: number, height: number, top: number, bottom: number, edge: number }} Room */

const GAP = 16;  // from the pointer
const MARGIN = 4;  // from the ends of the window
const SAMPLES = 24;  // places across the table at which the lines are looked up
const MOST_LINES = 60;

/**
 * The room beside the pointer, on the side that has more of it: between the top of the plane and the lower end of the card.
 * @param {Box} card
 * @param {Box} plane
 * @param {{ innerWidth: number, innerHeight: number }} window
 * @param {Curves.Pointer} pointer
 * @returns {Room}
 */
export function roomBeside(card, plane, window, pointer) {
  const [left, right] = [Math.max(MARGIN, card.left), Math.min(window.innerWidth - MARGIN, card.right)];
  const [top, bottom] = [Math.max(MARGIN, plane.top), Math.min(window.innerHeight - MARGIN, card.bottom)];
  const side = right - pointer.x >= pointer.x - left ? "right" : "left";
  const edge = pointer.x + (side === "right" ? GAP : -GAP);
  return { side, width: side === "right" ? right - edge : edge - left, height: bottom - top, top, bottom, edge };
}

/**
 * How many of the points, looked up at even distances, lie below the table.
 * @param {Line[]} lines
 * @param {Curves.Plane} view
 * @param {Box} box
 */
export function hidden(lines, view, box) {
  let found = 0;
  for (let k = 0; k < SAMPLES; k += 1) {
    const pixel = box.left + ((k + 0.5) / SAMPLES) * (box.right - box.left);
    if (pixel < view.box.left || pixel > view.box.right) continue;
    const x = view.x(pixel);
    for (const line of lines.slice(0, MOST_LINES)) {
      const i = line.size ? nearestIndex(line, x) : -1;
      if (i < 0) continue;
      const y = view.toY[line.axis](line.values[i]);
      if (y >= box.top && y <= box.bottom) found += 1;
    }
  }
  return found;
}

/**
 * Where a table of this size is placed in its room. It stays at the end where it was unless the other one hides less than half
 * as much, so that it does not jump while the pointer moves along a curve.
 * @param {{ width: number, height: number }} size
 * @param {Room} room
 * @param {"top" | "bottom" | undefined} before
 * @param {(box: Box) => number} hides
 * @returns {{ left: number, top: number, end: "top" | "bottom" }}
 */
export function placed(size, room, before, hides) {
  const left = room.side === "right" ? room.edge : room.edge - size.width;
  /** @param {number} top */
  const at = (top) => hides({ left, top, right: left + size.width, bottom: top + size.height });
  const ends = { top: room.top, bottom: Math.max(room.top, room.bottom - size.height) };
  const [top, bottom] = [at(ends.top), at(ends.bottom)];
  const end = before === "top" ? (bottom < top / 2 ? "bottom" : "top")
    : before === "bottom" ? (top < bottom / 2 ? "top" : "bottom") : bottom < top ? "bottom" : "top";
  return { left, top: ends[end], end };
}
