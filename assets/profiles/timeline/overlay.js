// What lies over and beside the slices: the ruler with steps and ticks, grid lines, the selection and its arrows, the chosen
// range, marks and the pointer.

import { penOf } from "../../kit/canvases.js";
import { drawArrows } from "./arrows.js";
import { duration, niceStep, ticks } from "../axis.js";
import { FONT } from "./canvas.js";
import { covered, drawFlags, flagsOf } from "./flags.js";
import { bandsOf, pinnedHeight, placeOf, xOf } from "./geometry.js";
import { searchedTracks } from "./tracks.js";

export const STEPS_HEIGHT = 18;
const LEAST_STEP = 3;
const LEAST_NUMBER = 26;

/**
 * @param {Timeline.Line} line
 * @param {string} name
 */
const styleOf = (line, name) => getComputedStyle(line.host.root).getPropertyValue(name).trim();

/**
 * Colours of lines and texts, read from css once for each theme.
 * @param {Timeline.Line} line
 */
function inks(line) {
  if (line.inksOf !== line.theme) {
    line.inksOf = line.theme;
    line.inks = {
      text: styleOf(line, "--ms-text"), muted: styleOf(line, "--ms-muted"), line: styleOf(line, "--ms-line"),
      strong: styleOf(line, "--ms-line-strong"), accent: styleOf(line, "--ms-accent"), back: styleOf(line, "--ms-card"),
      band: styleOf(line, "--ms-hover"), grid: styleOf(line, "--ms-plot-grid"), chosen: styleOf(line, "--ms-accent-back"),
    };
  }
  return line.inks;
}

/**
 * @param {Timeline.Line} line
 * @param {HTMLCanvasElement} canvas
 */
function begin(line, canvas) {
  const context = penOf(canvas);
  context.setTransform(line.ratio, 0, 0, line.ratio, 0, 0);
  context.clearRect(0, 0, line.width, canvas.height / line.ratio);
  context.font = FONT;
  return context;
}

/**
 * The steps that are at least partly in sight: those from the first to before the last.
 * @param {Timeline.Step[]} steps
 * @param {number} from
 * @param {number} to
 */
export function stepsWithin(steps, from, to) {
  let low = 0;
  let high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps[middle][1] + steps[middle][2] <= from) low = middle + 1;
    else high = middle;
  }
  let last = low;
  while (last < steps.length && steps[last][1] < to) last += 1;
  return [low, last];
}

/** @param {Timeline.Line} line */
export function drawRuler(line) {
  const context = begin(line, line.host.ruler);
  const ink = inks(line);
  const { steps } = line.facts;
  const stepsHeight = steps.length ? STEPS_HEIGHT : 0;
  if (steps.length) drawSteps(line, context, ink);
  const found = ticks(line.range.from, line.range.to, line.width, line.zero);
  line.ticks = found.ticks;
  const flags = flagsOf(line, context);
  context.fillStyle = ink.muted;
  context.strokeStyle = ink.strong;
  context.textBaseline = "middle";
  context.textAlign = "left";
  context.beginPath();
  const bottom = line.host.ruler.height / line.ratio;
  for (const { at, label } of found.ticks) {
    const x = Math.round(xOf(line, at)) + 0.5;
    context.moveTo(x, bottom - 7);
    context.lineTo(x, bottom);
    if (flags.length && covered(flags, x + 3, x + 3 + context.measureText(label).width)) continue;
    context.fillText(label, x + 3, stepsHeight + (bottom - stepsHeight) / 2);
  }
  context.stroke();
  if (line.host.base.textContent !== found.base) line.host.base.textContent = found.base;
  drawFlags(context, flags, ink, bottom);
  drawBand(line, context, ink, stepsHeight, bottom, true);
}

/**
 * @param {Timeline.Line} line
 * @param {Timeline.Pen} context
 * @param {Timeline.Inks} ink
 */
function drawSteps(line, context, ink) {
  const { steps } = line.facts;
  const [first, last] = stepsWithin(steps, line.range.from, line.range.to);
  context.textBaseline = "middle";
  context.textAlign = "center";
  const pixel = (line.range.to - line.range.from) / line.width;
  // Too many to tell apart: only every n-th is drawn.
  const mean = (steps[steps.length - 1][1] - steps[0][1]) / steps.length;
  const stride = Math.max(1, Math.ceil((LEAST_STEP * pixel) / Math.max(1, mean)));
  const each = line.width / Math.max(1, last - first);
  const numbered = niceStep(LEAST_NUMBER / each);
  let free = -Infinity;
  for (let i = first - (first % stride); i < last; i += stride) {
    const [label, start, length] = steps[i];
    const left = Math.max(xOf(line, start), -1);
    const right = Math.min(xOf(line, start + length), line.width + 1);
    context.fillStyle = ink.band;
    context.fillRect(left + 0.5, 2, Math.max(1, right - left - 1), STEPS_HEIGHT - 4);
    const text = right - left > 70 ? `${line.words.step} ${label}` : label;
    const room = context.measureText(text).width;
    const middle = (left + right) / 2;
    const round = numbered <= 1 || (Number(label) || i) % numbered === 0;
    if (!(round || right - left > room + LEAST_NUMBER) || middle - room / 2 < free) continue;
    context.fillStyle = ink.text;
    context.fillText(text, middle, STEPS_HEIGHT / 2);
    free = middle + room / 2 + 6;
  }
}

/**
 * Lines of the ticks, beneath the slices. context has device pixels.
 * @param {Timeline.Line} line
 * @param {Timeline.Pen} context
 */
export function drawGrid(line, context) {
  const ink = inks(line);
  context.fillStyle = ink.grid;
  const { ticks: found } = ticks(line.range.from, line.range.to, line.width, line.zero);
  for (const { at } of found) context.fillRect(Math.round(xOf(line, at) * line.ratio), 0, 1, line.host.canvas.height);
  const [first, last] = stepsWithin(line.facts.steps, line.range.from, line.range.to);
  if (last - first > line.width / 20) return;
  context.fillStyle = ink.strong;
  for (const [, start] of line.facts.steps.slice(first, last)) {
    const x = Math.round(xOf(line, start) * line.ratio);
    for (let y = 0; y < line.host.canvas.height; y += 6) context.fillRect(x, y, 1, 3);
  }
}

/**
 * The bands of processes and the lines between tracks, at the top of a picture.
 * @param {Timeline.Line} line
 * @param {Timeline.Pen} context
 * @param {Timeline.Placed[]} rows
 * @param {number} columns
 */
export function drawBands(line, context, rows, columns) {
  const ink = inks(line);
  for (const [row, top] of rows) {
    const y = Math.round(top * line.ratio);
    if (row.kind !== "track") {
      context.fillStyle = row.kind === "part" ? ink.chosen : ink.band;
      context.fillRect(0, y, columns, Math.round(row.height * line.ratio));
    }
    context.fillStyle = ink.line;
    context.fillRect(0, Math.round((top + row.height) * line.ratio) - 1, columns, 1);
  }
}

/** @param {Timeline.Line} line */
export function drawOverlay(line) {
  const context = begin(line, line.host.overlay);
  const ink = inks(line);
  drawBand(line, context, ink, 0, line.height, false);
  drawMarks(line, context, ink);
  const pinned = line.layout.pinned.height ? pinnedHeight(line) : 0;
  if (pinned) {
    context.fillStyle = ink.strong;
    context.fillRect(0, pinned - 1, line.width, 1);
  }
  const { selected } = line;
  if (selected && selected.arrows) drawArrows(line, context, ink, { ...selected, arrows: selected.arrows });
  if (line.hover && line.hover.slice) outline(line, context, line.hover.slice, ink.text, 1);
  if (line.selected) outline(line, context, line.selected, ink.accent, 2);
  if (line.pointer && !line.dragging) {
    context.fillStyle = ink.strong;
    context.fillRect(Math.round(line.pointer.x), 0, 1, line.height);
  }
}

/**
 * A slice's rectangle on screen, cut at its edges; null if it is not shown.
 * @param {Timeline.Line} line
 * @param {Timeline.Slice} slice
 */
function boxOf(line, slice) {
  const place = placeOf(line, slice.track, slice.depth);
  if (!place || !place.inside) return null;
  const left = Math.max(xOf(line, slice.start), -4);
  const right = Math.min(xOf(line, slice.start + slice.duration), line.width + 4);
  if (right < -3 || left > line.width + 3) return null;
  const least = !place.row.pinned ? pinnedHeight(line) : 0;
  const bottom = place.top + place.height;
  if (bottom < least) return null;
  const top = Math.max(place.top, least);
  return { left, top, width: Math.max(right - left, 1), height: bottom - top };
}

/**
 * @param {Timeline.Line} line
 * @param {Timeline.Pen} context
 * @param {Timeline.Slice} slice
 * @param {string} colour
 * @param {number} width
 */
function outline(line, context, slice, colour, width) {
  const box = boxOf(line, slice);
  if (!box) return;
  context.strokeStyle = colour;
  context.lineWidth = width;
  const room = width / 2;
  context.strokeRect(box.left - room + 0.5, box.top - room + 0.5, box.width + width - 1, box.height + width - 1);
}

/**
 * @param {Timeline.Line} line
 * @param {Timeline.Pen} context
 * @param {Timeline.Inks} ink
 * @param {number} top
 * @param {number} bottom
 * @param {boolean} head
 */
function drawBand(line, context, ink, top, bottom, head) {
  const chosen = line.dragged || line.chosen;
  if (!chosen) return;
  const tracks = searchedTracks(line.tree, line.dragged ? line.draggedOver : line.over);
  if (!head && tracks.length) {
    for (const { top: y, height } of bandsOf(line, new Set(tracks))) {
      drawBox(line, context, ink, chosen, Math.max(y, top), Math.min(y + height, bottom), head);
    }
    return;
  }
  drawBox(line, context, ink, chosen, top, bottom, head);
}

/**
 * @param {Timeline.Line} line
 * @param {Timeline.Pen} context
 * @param {Timeline.Inks} ink
 * @param {Timeline.Range} chosen
 * @param {number} top
 * @param {number} bottom
 * @param {boolean} head
 */
function drawBox(line, context, ink, chosen, top, bottom, head) {
  const left = xOf(line, chosen.from);
  const right = xOf(line, chosen.to);
  if (right < 0 || left > line.width) return;
  context.fillStyle = ink.accent;
  context.globalAlpha = head ? 0.22 : 0.08;
  context.fillRect(left, top, right - left, bottom - top);
  context.globalAlpha = 0.9;
  context.fillRect(Math.round(left), top, 1, bottom - top);
  context.fillRect(Math.round(right) - 1, top, 1, bottom - top);
  context.globalAlpha = 1;
  if (!head) return;
  const text = duration(chosen.to - chosen.from);
  const room = context.measureText(text).width + 10;
  const middle = Math.min(Math.max((Math.max(left, 0) + Math.min(right, line.width)) / 2, room / 2), line.width - room / 2);
  context.fillStyle = ink.accent;
  context.fillRect(middle - room / 2, bottom - 18, room, 16);
  context.fillStyle = ink.back;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(text, middle, bottom - 10);
}

/**
 * @param {Timeline.Line} line
 * @param {Timeline.Pen} context
 * @param {Timeline.Inks} ink
 */
function drawMarks(line, context, ink) {
  context.fillStyle = ink.accent;
  line.marks.forEach((time) => {
    const x = Math.round(xOf(line, time));
    if (x < 0 || x > line.width) return;
    context.fillRect(x, 0, 1, line.height);
    context.beginPath();
    context.moveTo(x - 5, 0);
    context.lineTo(x + 6, 0);
    context.lineTo(x + 0.5, 7);
    context.fill();
  });
  if (line.marks.length !== 2) return;
  const [left, right] = line.marks.map((time) => xOf(line, time)).sort((a, b) => a - b);
  const text = duration(Math.abs(line.marks[1] - line.marks[0]));
  const room = context.measureText(text).width + 10;
  const middle = (Math.max(left, 0) + Math.min(right, line.width)) / 2;
  if (right < 0 || left > line.width) return;
  context.fillRect(left, 11, right - left, 1);
  context.fillRect(middle - room / 2, 3, room, 16);
  context.fillStyle = ink.back;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(text, middle, 11);
}
