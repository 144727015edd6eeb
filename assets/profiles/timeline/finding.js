// Slices, ranges and what a search found: asking for them, going to them, and showing them in the panel.

import { make, words } from "../../kit/elements.js";
import { reasonOf } from "../../kit/reasons.js";
import { count, exactTime, percent } from "../../kit/units.js";
import { writeText } from "../../kit/i18n.js";
import { last, same } from "../../kit/state.js";
import { duration } from "../axis.js";
import * as camera from "./camera.js";
import { tracksOf } from "./geometry.js";
import * as lines from "./line.js";
import { linksOf } from "./links.js";
import { namesIn } from "./labels.js";
import { closeMenu, fold, unfold } from "./menus.js";
import { searchedTracks } from "./tracks.js";
import { spans } from "./wire.js";
import { rowOf, rowText } from "./traces.js";
import { BY, showHint, showHits, showRange, showSlice, trackTitle } from "./panel.js";

const KNOWN_SLICES = 2000;
const LEAST_NS = 10;
const HOST = ["step", "scope", "python", "cann", "host", "host_queue"];

/**
 * @param {Timeline.Page} page
 * @param {string} key
 * @param {string} [fallback]
 */
const get = (page, key, fallback = "") => last(page.state, key, fallback);

// A slice ------------------------------------------------------------------------------------------------------------

/**
 * The row a place stands for: the slice, or the longest of those in a pixel.
 * @param {Timeline.Page} page
 * @param {Timeline.Place | null} place
 */
function rowUnder(page, place) {
  const { view } = page.line;
  if (!place || !place.found || !view) return null;
  const { slice, bucket } = place.found;
  if (slice !== undefined) return view.slices.row[slice];
  return bucket === undefined ? null : view.buckets.row[bucket];
}

/**
 * @param {Timeline.Page} page
 * @param {Timeline.Place | null} place
 * @param {MouseEvent} event
 */
export function clicked(page, place, event) {
  const row = rowUnder(page, place);
  closeMenu(page);
  if (row !== null) choose(page, row, false);
  else if (place && place.row.kind === "process") fold(page, place.row.id);
  else if (!event.shiftKey) page.change({ slice: [] });
}

/**
 * @param {Timeline.Page} page
 * @param {number} row
 * @param {boolean} moving
 */
export function choose(page, row, moving) {
  page.moving = moving;
  page.change({ slice: [rowText(page.line.facts, row)], tab: [] });
}

/**
 * @param {Timeline.Page} page
 * @param {number} row
 * @param {boolean} brief
 */
async function fetchSlice(page, row, brief) {
  const key = `${row} ${brief}`;
  const known = page.slices.get(key);
  if (known) return known;
  const asked = page.line.server.json("slice", { row, brief: brief ? 1 : "" });
  if (page.slices.size > KNOWN_SLICES) page.slices.clear();
  page.slices.set(key, asked);
  asked.catch(() => page.slices.delete(key));
  return asked;
}

/**
 * begun: the page has just been opened.
 * @param {Timeline.Page} page
 * @param {string} text
 * @param {boolean} begun
 */
export async function loadSlice(page, text, begun) {
  const { line } = page;
  const row = rowOf(line.facts, text);
  if (row === null) {
    line.selected = null;
    if (page.panel.shown === "slice") drawPanel(page);
    return;
  }
  const go = page.moving || begun;
  const moving = page.moving || !get(page, "span");
  page.moving = false;
  try {
    const slice = await fetchSlice(page, row, false);
    if (page.line !== line || get(page, "slice") !== text) return;
    line.selected = slice;
  } catch {
    line.selected = null;
  }
  drawPanel(page, "slice");
  if (go && line.selected) unfold(page, line.selected.track);
  // The panel may have made the canvas smaller.
  if (go && line.selected) {
    window.requestAnimationFrame(() => { if (line.selected) lines.reveal(line, line.selected, moving); });
  }
  lines.redraw(line);
}

/**
 * @param {Timeline.Page} page
 * @param {number} by
 */
export async function chooseSame(page, by) {
  const { selected } = page.line;
  const row = selected && selected.same && (by < 0 ? selected.same.previous : selected.same.next);
  if (row !== null && row !== undefined) choose(page, row, true);
}

/**
 * @param {Timeline.Page} page
 * @param {Timeline.Slice} slice
 */
const zoomTo = (page, slice) => lines.show(page.line, camera.around(slice.start, Math.max(slice.duration, LEAST_NS)));

/**
 * @param {Timeline.Page} page
 * @param {string} [what]
 */
export function zoomToChosen(page, what = "") {
  const { line } = page;
  const slice = line.selected;
  if (what === "range" || (!slice && line.chosen)) {
    if (line.chosen) lines.show(line, camera.around(line.chosen.from, line.chosen.to - line.chosen.from, 0.96));
  } else if (slice) zoomTo(page, slice);
}

/**
 * @param {Timeline.Page} page
 * @param {Timeline.Place | null} place
 */
export function twice(page, place) {
  const row = rowUnder(page, place);
  if (row !== null) {
    fetchSlice(page, row, true).then((slice) => zoomTo(page, slice), () => {});
  }
}

/**
 * The step at a time: zoom to it, or choose it as a range.
 * @param {Timeline.Page} page
 * @param {number} time
 * @param {boolean} ranged
 */
export function stepAt(page, time, ranged) {
  const at = page.line.facts.steps.findIndex(([, start, length]) => start <= time && time < start + length);
  if (at < 0) return;
  if (ranged) {
    const [, from, length] = page.line.facts.steps[at];
    page.change({ range: [camera.formatRange({ from, to: from + length })], over: [], tab: [] });
  } else zoomToStep(page, at);
}

/**
 * @param {Timeline.Page} page
 * @param {number} at
 */
export function zoomToStep(page, at) {
  const { line } = page;
  const step = line.facts.steps[at];
  if (step && line.facts.axis === "step" && line.facts.parts.length > 1 && step[0] && step[0] !== line.facts.at) {
    // This step is aligned in all traces, and shown then.
    page.zoomStep = step[0];
    page.change({ at: [step[0]] });
  } else if (step && page.stepSelect.value !== undefined) lines.show(page.line, camera.around(step[1], step[2], 0.96));
  page.stepSelect.value = "";
}

// Hovering -----------------------------------------------------------------------------------------------------------

/**
 * @param {Timeline.Page} page
 * @param {Timeline.Place | null} place
 * @param {number} x
 * @param {number} y
 */
export async function hover(page, place, x, y) {
  const { line } = page;
  if (!line) return;
  const row = rowUnder(page, place);
  page.host.overlay.style.cursor = row === null ? "" : "pointer";
  if (row === null) {
    page.hovered = null;
    line.hover = null;
    page.host.tip.hidden = true;
    lines.redraw(line);
    return;
  }
  page.hovered = row;
  let slice;
  try {
    slice = await fetchSlice(page, row, true);
  } catch {
    return;
  }
  if (page.hovered !== row || page.line !== line) return;
  const { view } = line;
  const several = place && place.found && view ? place.found.bucket : undefined;
  line.hover = several === undefined ? { slice } : {};
  drawTip(page, slice, several === undefined || !view ? null : {
    count: view.buckets.count[several], share: view.buckets.busy[several] / 255,
  }, x, y);
  lines.redraw(line);
}

/**
 * @param {Timeline.Page} page
 * @param {Timeline.Slice} slice
 * @param {{ count: number, share: number } | null} several
 * @param {number} x
 * @param {number} y
 */
function drawTip(page, slice, several, x, y) {
  const { tip, canvasHost } = page.host;
  const rows = [];
  if (several) {
    const key = several.count ? "timeline.several" : "timeline.ends_here";
    rows.push(words(key, { n: count(several.count), share: percent(several.share) }, "p", "ms-muted"));
  }
  const name = make("p", "ms-timeline-tip-name", slice.name || "–");
  if (several && several.count > 1) name.prepend(words("timeline.longest", {}, "span", "ms-muted"), " ");
  rows.push(name);
  /**
   * @param {string} key
   * @param {string} value
   */
  const pair = (key, value) => [words(key, {}, "dt"), make("dd", "", value)];
  rows.push(make("dl", "ms-timeline-tip-facts", [
    ...pair("timeline.duration", duration(slice.duration)), ...pair("timeline.self", duration(slice.self)),
    ...pair("timeline.start", exactTime(slice.start - page.line.zero)),
  ]));
  rows.push(make("p", "ms-muted ms-cut", trackTitle(page.line.facts.tracks[slice.track])));
  tip.replaceChildren(...rows);
  tip.hidden = false;
  const left = canvasHost.offsetLeft + x;
  const body = tip.parentElement || page.host.root;
  const beside = left + 16 + tip.offsetWidth < body.clientWidth ? left + 16 : left - 12 - tip.offsetWidth;
  tip.style.left = `${Math.max(4, beside)}px`;
  tip.style.top = `${Math.max(4, Math.min(y + 16, body.clientHeight - tip.offsetHeight - 6))}px`;
}

// A range ------------------------------------------------------------------------------------------------------------

/**
 * Ids of the tracks that a range is restricted to by dragging over them: [] if that is all tracks on screen.
 * @param {Timeline.Page} page
 * @param {string[]} over
 */
export function restricted(page, over) {
  const { line } = page;
  const counted = new Set(searchedTracks(line.tree, over));
  const { pinned, rows } = line.layout;
  const shown = [...pinned.rows, ...rows.rows].flatMap((row) => tracksOf(line, row));
  return shown.every((track) => counted.has(track)) ? [] : over;
}

/**
 * The tracks that statistics are of: all, or those shown if some are hidden or filtered, or those the range is restricted to.
 * @param {Timeline.Page} page
 */
function countedTracks(page) {
  const { line } = page;
  const look = line.look;
  const over = new Set(searchedTracks(line.tree, line.over));
  if (!look.filter && !look.hidden.size && !over.size) return "";
  const shown = line.tree.filter((one) => !look.hidden.has(one.id)).flatMap((one) => one.tracks)
    .filter((track) => !look.hidden.has(track.id) && track.slices)
    .filter((track) => (over.size ? over.has(track.index) : !look.filter || line.places.has(track.id)));
  return shown.map((track) => track.index).sort((a, b) => a - b).join(",");
}

/**
 * @param {Timeline.Page} page
 * @param {Timeline.Range | null} range
 */
export async function chooseRange(page, range) {
  const { line } = page;
  const before = line.chosen;
  line.chosen = range;
  line.over = searchedTracks(line.tree, page.state.over || []).length ? page.state.over : [];
  page.rangeFound = null;
  if (!range) {
    if (page.panel.shown === "range") drawPanel(page);
    return;
  }
  const turn = (page.rangeTurn = (page.rangeTurn || 0) + 1);
  if (!same(before, range)) drawPanel(page, "range");
  try {
    const [route, asked] = rangeAsked(page, range);
    const found = await line.server.json(route, asked);
    if (turn !== page.rangeTurn || page.line !== line) return;
    page.rangeFound = found;
  } catch (error) {
    page.rangeFound = { error: reasonOf(error) };
  }
  if (page.panel.shown === "range") drawPanel(page, "range");
}

/**
 * The statistics that the state asks for: the route and its parameters.
 * @param {Timeline.Page} page
 * @param {Timeline.Range} range
 * @returns {[string, Timeline.Parameters]}
 */
function rangeAsked(page, { from, to }) {
  const by = byOf(page);
  const { line } = page;
  const part = Math.min(Number(get(page, "part")) || 0, line.facts.parts.length - 1);
  if (by === "critical") return ["critical", { from, to, part: part || "" }];
  if (by === "gaps") {
    const stream = line.ids.indexOf(get(page, "stream"));
    const over = searchedTracks(line.tree, line.over);
    const known = stream >= 0 && (!over.length || over.includes(stream));
    return ["gaps", { from, to, track: known ? stream : "", tracks: spans(over) }];
  }
  const tracks = countedTracks(page);
  if (by === "flame") return ["flame", { from, to, tracks: tracks || hostTracks(page.line.facts) }];
  if (by === "difference") return ["difference", { from, to, tracks, clip: get(page, "clip", "1"), a: 0, b: otherOf(page) }];
  return ["range", { from, to, tracks, clip: get(page, "clip", "1"), by }];
}

/**
 * The threads of the host, which have stacks; all tracks if there are none.
 * @param {Timeline.Facts} facts
 */
function hostTracks(facts) {
  return facts.tracks.flatMap((track, at) => (HOST.includes(track.kind) && track.slices ? [at] : [])).join(",");
}

/**
 * The trace that the first one is compared with.
 * @param {Timeline.Page} page
 */
const otherOf = (page) => Math.min(Math.max(Number(get(page, "other")) || 1, 1), page.line.facts.parts.length - 1);

/** @param {Timeline.Page} page */
function byOf(page) {
  const by = get(page, "by");
  const known = BY.includes(by) && (by !== "difference" || page.line.facts.parts.length > 1);
  return known ? by : "name";
}

// Search -------------------------------------------------------------------------------------------------------------

/** @param {Timeline.Page} page */
export async function search(page) {
  const { line } = page;
  const q = get(page, "q");
  const shortest = Math.round(Number(get(page, "shortest")) * 1000) || 0;
  line.hits = null;
  page.hitAt = -1;
  page.search.removeAttribute("aria-invalid");
  if (q || shortest > 0) {
    const turn = (page.searchTurn = (page.searchTurn || 0) + 1);
    try {
      const tracks = spans(searchedTracks(line.tree, page.state.in || []));
      const hits = await line.server.json("search", { q, regex: get(page, "regex"), shortest: shortest || "", tracks });
      if (turn !== page.searchTurn || page.line !== line) return;
      line.hits = hits;
    } catch (error) {
      if (turn !== page.searchTurn) return;
      page.search.setAttribute("aria-invalid", "true");
      page.search.title = reasonOf(error);
    }
  } else page.searchTurn = (page.searchTurn || 0) + 1;
  drawHits(page);
  if (line.hits || page.panel.shown === "search") drawPanel(page, line.hits ? "search" : "");
  lines.redraw(line);
}

/** @param {Timeline.Page} page */
export function drawHits(page) {
  const { hits } = page.line;
  page.hitTools.classList.toggle("ms-timeline-found-some", Boolean(hits));
  if (!hits) return;
  const none = !hits.row.length;
  page.previousHit.disabled = page.nextHit.disabled = none;
  if (none) writeText(page.hitCount, "timeline.hits_none");
  else {
    const total = `${count(hits.row.length)}${hits.more ? "+" : ""}`;
    writeText(page.hitCount, "timeline.hits", { place: page.hitAt < 0 ? "–" : count(page.hitAt + 1), n: total });
  }
  if (page.panel.shown === "search") showHits(page.panel, hits, page.line.names, page.line.facts.tracks, page.hitAt);
}

/**
 * @param {Timeline.Page} page
 * @param {number} place
 */
export function goToHit(page, place) {
  const { hits } = page.line;
  if (!hits || !hits.row.length) return;
  page.hitAt = (place + hits.row.length) % hits.row.length;
  page.moving = true;
  page.change({ slice: [rowText(page.line.facts, hits.row[page.hitAt])], tab: ["search"] });
  drawHits(page);
}

/**
 * The next hit after the one selected, or after what is at the left of the screen.
 * @param {Timeline.Page} page
 * @param {number} by
 */
export function nextHit(page, by) {
  const { hits, range } = page.line;
  if (!hits || !hits.row.length) return;
  if (page.hitAt >= 0) goToHit(page, page.hitAt + by);
  else {
    const first = hits.start.findIndex((start) => start >= range.from);
    goToHit(page, by > 0 ? Math.max(0, first) : (first < 0 ? hits.row.length : first) - 1);
  }
}

// The panel ----------------------------------------------------------------------------------------------------------

/**
 * @param {Timeline.Page} page
 * @param {string} name
 */
export function openTab(page, name) {
  page.change({ tab: [name] });
  drawPanel(page, name);
}

/** @param {Timeline.Page} page */
export function closePanel(page) {
  page.panel.host.hidden = true;
  page.panel.shown = "";
  page.change({ slice: [], range: [], over: [], tab: [] });
  if (page.line) lines.redraw(page.line);
}

/**
 * Show a tab: the one named, the one the state names, or that of what there is.
 * @param {Timeline.Page} page
 * @param {string} [wanted]
 */
export function drawPanel(page, wanted = "") {
  const { line, panel } = page;
  const { selected, hits, chosen } = line;
  /** @type {Record<string, boolean>} */
  const has = { slice: Boolean(line.selected), range: Boolean(line.chosen), search: Boolean(line.hits) };
  const named = get(page, "tab");
  const name = named || (has[wanted] ? wanted : "") || ["slice", "range", "search"].find((one) => has[one]) || "";
  if (!name) {
    panel.host.hidden = true;
    panel.shown = "";
    lines.redraw(line);
    return;
  }
  if (name === "slice" && selected) showSlice(panel, selected, line.facts, linksOf(page, selected));
  else if (name === "search" && hits) {
    panel.shown = "search";
    showHits(panel, hits, line.names, line.facts.tracks, page.hitAt);
  } else if (name === "range" && chosen) {
    const [route, asked] = rangeAsked(page, chosen);
    const links = { csv: line.server.url(`${route}.csv`, asked), trace: line.server.url("trace.json", { ...chosen }) };
    const shown = {
      range: chosen, over: namesIn(line.tree, line.over), clip: get(page, "clip", "1"), by: byOf(page),
      parts: line.facts.parts, part: Number(asked.part || 0),
      other: otherOf(page),
    };
    showRange(panel, shown, page.rangeFound, links, line.facts.tracks, { palette: line.palette, ratio: line.ratio });
  } else showHint(panel, name);
  lines.redraw(line);
}
