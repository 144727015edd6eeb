// One timeline on screen: what it shows, asking for what is to be drawn, and drawing it. All times are ns from the start of the
// trace; `line` is what everything else in this folder works on.

import { penOf } from "../../kit/canvases.js";
import { notYet } from "../../kit/pages.js";
import { currentPrefs } from "../../kit/prefs.js";
import { reasonOf } from "../../kit/reasons.js";
import * as camera from "./camera.js";
import { paint, paintCurve } from "./canvas.js";
import { paletteOf } from "./colours.js";
import { pinnedHeight, placeOf, ratioOf, rowsOnScreen, timeAt } from "./geometry.js";
import { drawLabels } from "./labels.js";
import { drawBands, drawGrid, drawOverlay, drawRuler } from "./overlay.js";
import { drawStrip } from "./strip.js";
import { idsOf, lanesOf, rowsOf } from "./tracks.js";
import { numbersOf, spans, viewOf } from "./wire.js";

/** Share of the range that is asked for and drawn beyond either end, so that dragging shows it at once. */
const MARGIN = 0.25;
/** A picture that takes longer than this (ms) is stretched while zooming, and drawn anew afterwards. */
const QUICK_MS = 10;
const SETTLE_MS = 90;
const SAVE_MS = 350;
const AGAIN_MS = 2000;
const MOST_LANES = 4000;

/**
 * A line over what the server said of traces. host: elements by name; save(range) is called when the range is at rest.
 * @param {Timeline.Line["server"]} server
 * @param {Timeline.Facts} facts
 * @param {Timeline.Process[]} tree
 * @param {Timeline.Line["names"]} names
 * @param {Timeline.Host} host
 * @param {(range: Timeline.Range) => void} save
 * @returns {Timeline.Line}
 */
export function makeLine(server, facts, tree, names, host, save) {
  return {
    server, facts, tree, names, host, save, ids: idsOf(facts.tracks, facts.parts), shiftOf: shiftsOf(facts),
    range: camera.whole(facts), way: new camera.Way(), layout: notYet, look: notYet, places: new Map(), version: 0,
    view: null, asking: false, wanted: false, picture: null, cost: 0, frame: 0, restTimer: 0, saveTimer: 0,
    width: 0, height: 0, ratio: 0, top: 0, theme: "light", palette: notYet, inks: notYet, inksOf: "", curves: new Map(),
    pointer: null, dragging: false, dragged: null, draggedOver: [], over: [], hover: null, selected: null,
    chosen: null, hits: null, marks: [], named: [],
    labels: new Map(), related: new Map(), words: { step: "" }, ticks: [],
    zero: 0, strip: null, drawn: { slices: 0, buckets: 0, labels: 0 }, closed: false, error: "",
  };
}

/**
 * How far the times of a lane are moved (ns); null if none is.
 * @param {Timeline.Facts} facts
 */
function shiftsOf({ tracks }) {
  if (tracks.every((track) => !track.shift)) return null;
  /** @type {Map<number, number>} */
  const shifts = new Map();
  for (const track of tracks) {
    for (let depth = 0; depth < track.lanes; depth += 1) shifts.set(track.first_lane + depth, track.shift || 0);
  }
  return (/** @type {number} */ lane) => shifts.get(lane) || 0;
}

/**
 * Lay the rows out anew for a look: the part of the state that is about tracks.
 * @param {Timeline.Line} line
 * @param {Timeline.Look} look
 */
export function arrange(line, look) {
  line.look = look;
  line.layout = rowsOf(line.tree, look);
  line.host.sizer.style.height = `${line.layout.pinned.height + line.layout.rows.height}px`;
  line.places = new Map();
  for (const row of line.layout.pinned.rows) line.places.set(row.id, row);
  for (const row of line.layout.rows.rows) if (!line.places.has(row.id)) line.places.set(row.id, row);
  refresh(line);
}

/**
 * Draw everything anew.
 * @param {Timeline.Line} line
 */
export function refresh(line) {
  line.version += 1;
  redraw(line);
}

/**
 * Ask for what is on screen again; until it comes, what is known is drawn.
 * @param {Timeline.Line} line
 */
export function renew(line) {
  if (line.view) line.view.old = true;
  redraw(line);
}

/**
 * Draw in the next frame.
 * @param {Timeline.Line} line
 */
export function redraw(line) {
  if (!line.frame && !line.closed) line.frame = window.requestAnimationFrame(() => drawFrame(line));
}

// Moving -------------------------------------------------------------------------------------------------------------

/**
 * Show a range; rest: whether it is one of those to come back to.
 * @param {Timeline.Line} line
 * @param {Timeline.Range} range
 * @param {boolean} [rest]
 */
export function show(line, range, rest = true) {
  line.range = camera.within(range, line.facts.end);
  window.clearTimeout(line.saveTimer);
  line.saveTimer = window.setTimeout(() => {
    if (rest) line.way.add(line.range);
    line.save(line.range);
  }, SAVE_MS);
  redraw(line);
}

/**
 * @param {Timeline.Line} line
 * @param {number} factor
 * @param {number} [x]
 */
export function zoom(line, factor, x = line.width / 2) {
  show(line, camera.zoomed(line.range, factor, timeAt(line, x)));
}

/**
 * @param {Timeline.Line} line
 * @param {number} pixels
 */
export function pan(line, pixels) {
  show(line, camera.moved(line.range, (pixels / line.width) * (line.range.to - line.range.from)));
}

/**
 * Go back (-1) or forward (1) among the ranges seen.
 * @param {Timeline.Line} line
 * @param {number} by
 */
export function travel(line, by) {
  window.clearTimeout(line.saveTimer);
  const place = line.way.go(by);
  if (!place) return;
  line.range = camera.within(place, line.facts.end);
  line.save(line.range);
  redraw(line);
}

/**
 * @param {Timeline.Line} line
 * @param {number} pixels
 */
export function scrollBy(line, pixels) {
  line.host.scroll.scrollTop += pixels;
}

/**
 * Scroll, and move in time if `moving`, just enough that a slice is in sight.
 * @param {Timeline.Line} line
 * @param {Timeline.Slice} slice
 * @param {boolean} [moving]
 */
export function reveal(line, slice, moving = true) {
  const place = placeOf(line, slice.track, slice.depth);
  if (place && !place.row.pinned) {
    const pinned = pinnedHeight(line);
    if (place.top < pinned || place.top + place.height > line.height) {
      line.host.scroll.scrollTop += place.top - (pinned + line.height) / 2;
    }
  }
  const span = line.range.to - line.range.from;
  const seen = slice.start < line.range.to && slice.start + slice.duration > line.range.from;
  if (!seen && moving) show(line, camera.showing(line.range, slice.start + Math.min(slice.duration, span) / 2));
}

// Rows ---------------------------------------------------------------------------------------------------------------

/** @type {Timeline.Curve} */
const NO_CURVE = { asking: false, series: [], from: 0, to: 0, least: 0, most: 0 };

/**
 * The rows that are tracks, of counters or of slices.
 * @param {Timeline.Placed[]} rows
 * @param {boolean} curve
 * @returns {[Timeline.TrackRow, number][]}
 */
const kindIn = (rows, curve) => rows.flatMap(([row, top]) =>
  (row.kind === "track" && row.curve === curve ? [([row, top])] : []));

/** @param {Timeline.Placed[]} rows */
const curvesIn = (rows) => kindIn(rows, true);

/** @param {Timeline.Placed[]} rows */
const tracksIn = (rows) => kindIn(rows, false);

// Asking -------------------------------------------------------------------------------------------------------------

/** @param {Timeline.Line} line */
function wish(line) {
  const columns = Math.round(line.width * ratioOf());
  const { k, b0, n } = camera.bucketsFor(line.range, columns, MARGIN, line.facts.end);
  const near = lanesAround(line, line.height);
  const lanes = [...new Set([...lanesAround(line), ...near])].slice(0, MOST_LANES).sort((a, b) => a - b);
  return { k, b0, n, lanes };
}

/**
 * The lanes on screen that are drawn; more is how many pixels beyond it count too.
 * @param {Timeline.Line} line
 * @param {number} [more]
 */
function lanesAround(line, more = 0) {
  const { pinned, rows } = rowsOnScreen(line, more);
  return lanesOf([...pinned, ...rows], -more, line.height + more).slice(0, MOST_LANES);
}

/**
 * Whether a view has all that is on screen.
 * @param {Timeline.Line} line
 * @param {Timeline.View | null} view
 */
function serves(line, view) {
  if (!view) return false;
  const { k } = camera.bucketsFor(line.range, Math.round(line.width * ratioOf()), 0, line.facts.end);
  if (view.k !== k || view.old) return false;
  const from = Math.max(0, line.range.from);
  const to = Math.min(line.facts.end + 1, line.range.to);
  if (view.from > from || view.to < to) return false;
  return lanesAround(line).every((lane) => view.index.has(lane));
}

/** @param {Timeline.Line} line */
async function ask(line) {
  if (line.asking) {
    line.wanted = true;
    return;
  }
  const wanted = wish(line);
  if (!wanted.lanes.length) return;
  line.asking = true;
  try {
    const { k, b0, n } = wanted;
    const answer = await line.server.ask("view", { lanes: spans(wanted.lanes), k, b0, n });
    const pending = new Set(numbersOf(answer.headers.get("Mindscope-Pending")));
    const bytes = await answer.arrayBuffer();
    if (line.closed) return;
    line.view = viewOf(bytes, { ...wanted, shiftOf: line.shiftOf }, pending);
    line.error = "";
    line.version += 1;
  } catch (error) {
    line.error = reasonOf(error);
  }
  line.asking = false;
  line.wanted = false;
  // A request that failed is repeated after a while.
  if (line.error) window.setTimeout(() => redraw(line), AGAIN_MS);
  else redraw(line);
}

/**
 * @param {Timeline.Line} line
 * @param {Timeline.Placed[]} rows
 */
function askCurves(line, rows) {
  const room = (line.range.to - line.range.from) * MARGIN;
  const from = Math.floor(line.range.from - room);
  const to = Math.ceil(line.range.to + room);
  const columns = Math.min(8000, Math.round(line.width * (1 + 2 * MARGIN)));
  for (const row of curvesIn(rows).map(([one]) => one)) {
    const key = row.track.index;
    const known = line.curves.get(key) || NO_CURVE;
    const scale = (known.to - known.from) / (to - from);
    const covers = known.from <= line.range.from && known.to >= line.range.to && scale < 1.5 && scale > 0.6;
    if (known.asking || covers) continue;
    line.curves.set(key, { ...known, asking: true });
    line.server.json("curve", { track: key, from, to, columns }).then((/** @type {Timeline.Series[]} */ series) => {
      const values = series.flatMap((one) => [...one.low, ...one.high]).flatMap((value) => (value === null ? [] : [value]));
      const least = Math.min(0, ...values.slice(0, 1), values.reduce((a, b) => Math.min(a, b), Infinity));
      const most = values.reduce((a, b) => Math.max(a, b), -Infinity);
      line.curves.set(key, { asking: false, from, to, series, least, most });
      refresh(line);
    }, () => line.curves.set(key, { ...known, asking: false, from, to }));
  }
}

// Drawing ------------------------------------------------------------------------------------------------------------

/** @param {Timeline.Line} line */
function measure(line) {
  const { scroll, canvas, overlay, ruler } = line.host;
  const width = canvas.parentElement ? canvas.parentElement.clientWidth : 0;
  const height = scroll.clientHeight;
  const ratio = ratioOf();
  if (width === line.width && height === line.height && ratio === line.ratio) return;
  Object.assign(line, { width, height, ratio });
  const above = ruler.parentElement ? ruler.parentElement.clientHeight : 0;
  for (const { element, tall } of [
    { element: canvas, tall: height }, { element: overlay, tall: height }, { element: ruler, tall: above },
  ]) {
    element.width = Math.round(width * ratio);
    element.height = Math.round(tall * ratio);
    element.style.width = `${width}px`;
    element.style.height = `${tall}px`;
  }
  line.version += 1;
}

/** @param {Timeline.Line} line */
function drawFrame(line) {
  line.frame = 0;
  if (line.closed || !line.host.canvas.isConnected || !line.layout) return;
  measure(line);
  if (!line.width || !line.height) return;
  line.top = line.host.scroll.scrollTop;
  line.theme = currentPrefs().theme === "dark" ? "dark" : "light";
  line.palette = paletteOf(line.theme);
  const seen = rowsOnScreen(line);
  drawRows(line, seen);
  drawLabels(line, seen);
  drawRuler(line);
  drawOverlay(line);
  drawStrip(line);
  if (!serves(line, line.view)) ask(line);
  askCurves(line, [...seen.pinned, ...seen.rows]);
  line.host.root.dataset.slices = String(line.drawn.slices);
  line.host.root.dataset.labels = String(line.drawn.labels);
  line.host.root.dataset.settled = String(serves(line, line.view) && !line.asking);
}

/**
 * @param {Timeline.Line} line
 * @param {Timeline.Seen} seen
 */
function drawRows(line, seen) {
  const context = penOf(line.host.canvas);
  const { picture, range } = line;
  const span = range.to - range.from;
  const key = `${line.version} ${line.top} ${line.theme}`;
  const fresh = picture && picture.key === key;
  const covers = fresh && picture.from <= range.from && picture.to >= range.to;
  const exact = covers && Math.abs((picture.to - picture.from) / picture.part - span) < span * 1e-9;
  if (!exact && fresh && line.cost > QUICK_MS) {
    stretch(line, context, picture);
    window.clearTimeout(line.restTimer);
    line.restTimer = window.setTimeout(() => { line.version += 1; redraw(line); }, SETTLE_MS);
    return;
  }
  const now = exact && picture ? picture : newPicture(line, seen, key);
  line.picture = now;
  stretch(line, context, now);
}

/**
 * The picture has MARGIN of the range on both sides.
 * @param {Timeline.Line} line
 * @param {Timeline.Seen} seen
 * @param {string} key
 */
function newPicture(line, seen, key) {
  const { range, ratio } = line;
  const room = (range.to - range.from) * MARGIN;
  const part = 1 + 2 * MARGIN;
  const columns = Math.round(line.width * ratio * part);
  const canvas = (line.picture && line.picture.canvas) || document.createElement("canvas");
  canvas.width = columns;
  canvas.height = Math.round(line.height * ratio);
  const context = penOf(canvas);
  const begun = performance.now();
  const drawn = drawScene(line, seen, context, { from: range.from - room, to: range.to + room, width: columns / ratio, ratio });
  line.cost = line.cost * 0.5 + (performance.now() - begun) * 0.5;
  line.drawn = drawn;
  return { canvas, key, from: range.from - room, to: range.to + room, part };
}

/**
 * Draw rows for a range of time on a context; returns how many slices, buckets and labels were drawn.
 * @param {Timeline.Line} line
 * @param {Timeline.Seen} seen
 * @param {Timeline.Pen} context
 * @param {Timeline.Range & { width: number, ratio: number }} options
 */
export function drawScene(line, seen, context, { from, to, width, ratio }) {
  const columns = Math.round(width * ratio);
  const common = {
    view: line.view, from, to, width, ratio, palette: line.palette, theme: line.theme, colour: line.look.colour,
    names: line.names,
  };
  const pinned = pinnedHeight(line);
  const drawn = { slices: 0, buckets: 0, labels: 0 };
  for (const { rows, top, bottom } of [
    { rows: seen.pinned, top: 0, bottom: pinned }, { rows: seen.rows, top: pinned, bottom: line.height },
  ]) {
    if (bottom <= top) continue;
    context.save();
    context.beginPath();
    context.rect(0, top * ratio, columns, (bottom - top) * ratio);
    context.clip();
    drawBands(line, context, rows, columns);
    const done = paint(context, { ...common, rows: tracksIn(rows) });
    drawn.slices += done.slices;
    drawn.buckets += done.buckets;
    drawn.labels += done.labels;
    for (const [row, y] of curvesIn(rows)) {
      const curve = line.curves.get(row.track.index);
      if (curve && curve.series.length) paintCurve(context, curve, common, y, row.height);
    }
    context.restore();
  }
  return drawn;
}

/**
 * @param {Timeline.Line} line
 * @param {CanvasRenderingContext2D} context
 * @param {Timeline.Picture} picture
 */
function stretch(line, context, picture) {
  const { width, height } = line.host.canvas;
  context.clearRect(0, 0, width, height);
  const perPixel = (line.range.to - line.range.from) / width;
  const left = (picture.from - line.range.from) / perPixel;
  const size = (picture.to - picture.from) / perPixel;
  const whole = Math.abs(size - picture.canvas.width) < 0.5;
  drawGrid(line, context);
  context.imageSmoothingEnabled = !whole;
  context.drawImage(picture.canvas, whole ? Math.round(left) : left, 0, whole ? picture.canvas.width : size, height);
}

/** @param {Timeline.Line} line */
export function close(line) {
  line.closed = true;
  window.cancelAnimationFrame(line.frame);
  window.clearTimeout(line.saveTimer);
  window.clearTimeout(line.restTimer);
}
