// Where things are on screen: rows, lanes and times of a line (line.js).

import { laneAt, partId, rowsWithin } from "./tracks.js";
import { hit } from "./wire.js";

/**
 * @param {Timeline.Row} row
 * @param {number} top
 * @returns {Timeline.Placed}
 */
const placed = (row, top) => [row, top];

/** How near (pixels) a slice narrower than a pixel has to be. */
const NEAR = 3;

/** Device pixels per pixel. */
export const ratioOf = () => Math.min(3, Math.max(1, window.devicePixelRatio || 1));

/**
 * Height of the pinned rows on screen: at most half of it.
 * @param {Timeline.Line} line
 */
export const pinnedHeight = (line) => Math.min(line.layout.pinned.height, Math.floor(line.height / 2));

/**
 * The rows on screen with their top; more is how many pixels beyond the screen count too.
 * @param {Timeline.Line} line
 * @param {number} [more]
 * @returns {Timeline.Seen}
 */
export function rowsOnScreen(line, more = 0) {
  const pinned = pinnedHeight(line);
  const first = rowsWithin(line.layout.pinned, 0, pinned).map((row) => placed(row, row.y));
  const begin = line.top - more;
  const rest = rowsWithin(line.layout.rows, begin, line.height - pinned + 2 * more);
  return { pinned: first, rows: rest.map((row) => placed(row, row.y - line.top + pinned)) };
}

/**
 * The row at a height on screen with the height within it, or null.
 * @param {Timeline.Line} line
 * @param {number} y
 */
export function rowAt(line, y) {
  const { pinned, rows } = rowsOnScreen(line);
  const part = y < pinnedHeight(line) ? pinned : rows;
  const found = part.find(([row, top]) => y >= top && y < top + row.height);
  return found ? { row: found[0], y: y - found[1], top: found[1] } : null;
}

/**
 * Top and height on screen of the rows of some tracks, with the heads of folded processes that have any of them.
 * @param {Timeline.Line} line
 * @param {Set<number>} tracks
 */
export function bandsOf(line, tracks) {
  const { pinned, rows } = rowsOnScreen(line);
  return [...pinned, ...rows].filter(([row]) => tracksOf(line, row).some((track) => tracks.has(track)))
    .map(([row, top]) => ({ top, height: row.height }));
}

/**
 * Ids of what lies between two heights on screen: tracks, and processes whose tracks are folded.
 * @param {Timeline.Line} line
 * @param {number} y
 * @param {number} other
 */
export function idsBetween(line, y, other) {
  const [from, to] = [Math.min(y, other), Math.max(y, other)];
  const pinned = pinnedHeight(line);
  const beyond = Math.max(0, -from, to - line.height);
  const { pinned: first, rows } = rowsOnScreen(line, beyond);
  /** @param {Timeline.Placed} placed */
  const touched = ([row, top]) => top <= to && top + row.height > from;
  const found = [
    ...first.filter(touched),
    ...rows.filter(([row, top]) => touched([row, top]) && to >= pinned && top + row.height > pinned),
  ];
  return found.flatMap(([row]) => {
    if (row.kind === "part") return row.folded ? line.tree.filter((one) => one.part === row.part).map((one) => one.id) : [];
    return tracksOf(line, row).length ? [row.id] : [];
  });
}

/**
 * Numbers of the tracks that a row stands for; none for the head of tracks that are on screen themselves.
 * @param {Timeline.Line} line
 * @param {Timeline.Row} row
 */
export function tracksOf(line, row) {
  if (row.kind === "track") return [row.track.index];
  if (!row.folded) return [];
  const own = row.kind === "process" ? [row.process] : line.tree.filter((one) => one.part === row.part);
  return own.flatMap((process) => process.tracks.map((track) => track.index));
}

/**
 * What is at a place on screen: { row, lane, time, found } with found as in `hit`; null outside of all rows.
 * @param {Timeline.Line} line
 * @param {number} x
 * @param {number} y
 */
export function at(line, x, y) {
  const time = timeAt(line, x);
  const place = rowAt(line, y);
  if (!place) return null;
  const lane = laneAt(place.row, place.y);
  const within = ((line.range.to - line.range.from) / line.width) * NEAR;
  const found = lane >= 0 && line.view ? hit(line.view, lane, time, within) : null;
  return { ...place, lane, time, found };
}

/**
 * @param {Timeline.Line} line
 * @param {number} x
 */
export const timeAt = (line, x) => line.range.from + (x / line.width) * (line.range.to - line.range.from);
/**
 * @param {Timeline.Line} line
 * @param {number} time
 */
export const xOf = (line, time) => ((time - line.range.from) / (line.range.to - line.range.from)) * line.width;

/**
 * Top and height on screen of the lane of a slice; null if its track is not shown. A row out of sight has its place too.
 * @param {Timeline.Line} line
 * @param {number} track
 * @param {number} depth
 */
export function placeOf(line, track, depth) {
  const row = line.places.get(line.ids[track]);
  if (row) {
    const top = row.pinned ? row.y : row.y - line.top + pinnedHeight(line);
    const lane = Math.min(depth, Math.max(0, row.lanes - 1));
    return { top: top + lane * row.lane, height: row.lane - 1, row, inside: depth < row.lanes };
  }
  const process = line.tree.find((one) => one.tracks.some((each) => each.index === track));
  const head = process && (line.places.get(process.id) || line.places.get(partId(process.part)));
  return head ? { top: head.y - line.top + pinnedHeight(line), height: head.height, row: head, inside: false } : null;
}
