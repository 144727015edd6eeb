// The panel below the timeline: a slice with its arguments, the statistics of a range, what a search found.

import { fillSelect, icon, iconButton, make, pressSegment, segments, select, words } from "../../kit/elements.js";
import { count, exactDuration, exactTime, percent } from "../../kit/units.js";
import { setLabel, writeText } from "../../kit/i18n.js";
import { byValue, sortHeads } from "../../kit/sort_heads.js";
import { duration, signed } from "../axis.js";
import { differenceParts } from "./difference.js";
import { flameParts } from "./flame.js";
import { criticalParts, gapParts } from "./gaps.js";
import { titleOf } from "./labels.js";

const MOST_ROWS = 500;
const LONG_TEXT = 80;

/** @param {Timeline.SentTrack} track */
export const trackTitle = (track) => [track.where, track.process, titleOf(track)].filter(Boolean).join(" · ");

/**
 * A panel with acts: close(), tab(name), go(row), same(by), zoomSlice(), zoomRange(), clearRange(), setBy(by), setClip(clip),
 * setStream(track), setPart(key, number), showTime(from, length), hit(place), searchFor(name).
 * @param {HTMLElement} host
 * @param {Timeline.PanelActs} acts
 */
export function makePanel(host, acts) {
  const tabs = segments("timeline.panel", ["slice", "range", "search"].map((name) => [name, `timeline.tab.${name}`]), acts.tab);
  const close = iconButton("close", "timeline.close", "close");
  close.addEventListener("click", acts.close);
  const tools = make("span", "ms-timeline-panel-tools");
  const body = make("div", "ms-timeline-panel-body", [], { tabindex: "0" });
  setLabel(body, "aria-label", "timeline.panel");
  host.replaceChildren(grip(host), make("div", "ms-timeline-panel-head", [tabs, tools, close]), body);
  return { host, tabs, tools, body, acts, shown: "" };
}

/**
 * The upper edge of the panel, which changes its height.
 * @param {HTMLElement} host
 */
function grip(host) {
  const element = make("div", "ms-timeline-grip");
  element.addEventListener("pointerdown", (event) => {
    element.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  element.addEventListener("pointermove", (event) => {
    if (!element.hasPointerCapture(event.pointerId)) return;
    host.style.setProperty("--ms-timeline-panel", `${Math.round(host.getBoundingClientRect().bottom - event.clientY)}px`);
  });
  return element;
}

/**
 * @param {Timeline.Panel} panel
 * @param {string} name
 * @param {(Node | string)[]} tools
 * @param {Node[]} body
 */
function put(panel, name, tools, body) {
  panel.host.hidden = false;
  panel.shown = name;
  pressSegment(panel.tabs, name);
  panel.tools.replaceChildren(...tools);
  panel.body.replaceChildren(...body);
  panel.body.dataset.tab = name;
  panel.body.scrollTop = 0;
}

// A slice ------------------------------------------------------------------------------------------------------------

/** @param {string[][]} rows */
function facts(rows) {
  return make("dl", "ms-timeline-facts", rows.flatMap(([key, value, title]) => {
    const cell = make("dd", "", value);
    if (title) cell.title = title;
    return [words(key, {}, "dt"), cell];
  }));
}

/**
 * @param {Timeline.NamedRow} slice
 * @param {Timeline.Panel} panel
 * @param {string} [text]
 */
function link(slice, panel, text = slice.name) {
  const button = make("button", "ms-timeline-link ms-cut ms-name", text, { type: "button", title: text });
  button.addEventListener("click", () => panel.acts.go(slice.row));
  return button;
}

/**
 * Arguments as rows; what has several lines (call stacks) keeps them.
 * @param {Record<string, unknown>} values
 */
function argumentRows(values) {
  return Object.entries(values).flatMap(([name, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    const lines = /stack/i.test(name) ? text.replace(/;\s*\n?/g, "\n") : text;
    const long = lines.includes("\n") || lines.length > LONG_TEXT;
    return [make("dt", "", name), make("dd", long ? "ms-mono ms-timeline-long" : "ms-mono", lines)];
  });
}

/**
 * @param {Timeline.Flow} other
 * @param {Timeline.Slice} slice
 * @param {Timeline.Panel} panel
 * @param {Timeline.SentTrack[]} tracks
 */
function flowRow(other, slice, panel, tracks) {
  const gap = other.way === "to" ? other.start - slice.start : slice.start - other.start;
  const key = gap < 0 ? "timeline.earlier" : "timeline.later";
  const when = words(key, { time: duration(Math.abs(gap)) }, "span", "ms-muted ms-timeline-when");
  const where = trackTitle(tracks[other.track]) + (other.kind ? ` · ${other.kind}` : "");
  return make("li", gap < 0 ? "ms-timeline-flow ms-timeline-backwards" : "ms-timeline-flow", [
    words(`timeline.flow.${other.way}`, {}, "span", "ms-timeline-way"), link(other, panel), when,
    make("span", "ms-muted ms-cut ms-timeline-where", where),
  ]);
}

/**
 * A collective on the other ranks: which of them came when, and went.
 * @param {Timeline.RankTime} other
 * @param {Timeline.Slice} slice
 * @param {Timeline.Panel} panel
 * @param {Timeline.Part[]} parts
 */
function rankRow(other, slice, panel, parts) {
  const part = parts[other.part];
  const late = other.start - slice.start;
  const times = words("timeline.rank_times", { start: signed(late), end: signed(other.end - slice.start - slice.duration) },
    "span", "ms-muted ms-timeline-when");
  const name = other.row === slice.row
    ? make("strong", "ms-cut ms-name", part.name) : link({ row: other.row, name: part.name }, panel);
  return make("li", "ms-timeline-rank", [name, other.row === slice.row ? "" : times]);
}

/**
 * @param {Timeline.Panel} panel
 * @param {Timeline.Slice} slice
 * @param {Timeline.Facts} facts
 * @param {Node[]} more
 */
export function showSlice(panel, slice, { tracks, parts }, more) {
  const { same } = slice;
  const previous = iconButton("left", "timeline.previous_same", "previous");
  const next = iconButton("right", "timeline.next_same", "next");
  previous.disabled = !same || same.previous === null;
  next.disabled = !same || same.next === null;
  previous.addEventListener("click", () => panel.acts.same(-1));
  next.addEventListener("click", () => panel.acts.same(1));
  const zoom = iconButton("zoom", "timeline.zoom_slice", "zoom");
  zoom.addEventListener("click", panel.acts.zoomSlice);
  const place = same
    ? words("timeline.same", {
        place: count(same.place), count: count(same.count), median: duration(same.median), total: duration(same.total),
      }, "span", "ms-muted ms-timeline-place ms-cut")
    : "";
  const name = make("span", "ms-timeline-title ms-mono ms-cut ms-name", slice.name, { title: slice.name });
  const rows = [
    ["timeline.start", exactTime(slice.start)],
    ["timeline.duration", duration(slice.duration), exactDuration(slice.duration)],
    ["timeline.self", duration(slice.self), exactDuration(slice.self)],
    ["timeline.track", trackTitle(tracks[slice.track])],
  ];
  if (slice.category) rows.push(["timeline.category", slice.category]);
  if (slice.step) rows.push(["timeline.of_step", slice.step]);
  /** @type {HTMLElement[]} */
  const left = [facts(rows)];
  if (slice.half) left.unshift(words(`timeline.${slice.half}`, {}, "p", "ms-muted"));
  if (slice.around && slice.around.length) {
    left.push(words("timeline.inside", {}, "h4"), make("ul", "ms-timeline-list", slice.around.map((one) =>
      make("li", "", [link(one, panel), make("span", "ms-muted", duration(one.duration))]))));
  }
  const given = slice.arguments ? argumentRows(slice.arguments) : [];
  const middle = [
    words("timeline.arguments", {}, "h4"),
    given.length ? make("dl", "ms-timeline-arguments", given) : words("timeline.no_arguments", {}, "p", "ms-muted"),
  ];
  const parts_ = [make("div", "", left), make("div", "", middle)];
  if (slice.flows && slice.flows.length) {
    const all = slice.arrows ? slice.arrows.total : slice.flows.length;
    const cut = all > slice.flows.length;
    const numbers = { n: count(slice.flows.length), total: count(all) };
    const title = words(cut ? "timeline.flows_of" : "timeline.flows", numbers, "h4");
    parts_.push(make("div", "", [title,
      make("ul", "ms-timeline-list", slice.flows.map((other) => flowRow(other, slice, panel, tracks)))]));
  }
  if (slice.ranks && slice.ranks.length > 1) {
    const last = slice.ranks.reduce((a, b) => (b.start > a.start ? b : a));
    parts_.push(make("div", "", [words("timeline.ranks", { name: parts[last.part].name }, "h4"),
      make("ul", "ms-timeline-list", slice.ranks.map((other) => rankRow(other, slice, panel, parts)))]));
  }
  put(panel, "slice", [name, previous, place, next, zoom, ...more], [make("div", "ms-timeline-columns", parts_)]);
}

// A range ------------------------------------------------------------------------------------------------------------

const DURATIONS = /_ns$/;

/** @param {string} column */
function headOf(column) {
  return words(`timeline.column.${column.replace(/_ns$/, "")}`);
}

/**
 * @param {string} column
 * @param {Timeline.Cell} value
 */
function cellOf(column, value) {
  if (value === null || value === undefined) return make("td", "ms-number ms-muted", "–");
  if (typeof value === "string") {
    return make("td", "ms-timeline-cell-name", make("span", "ms-cut ms-name", value, { title: value }));
  }
  if (DURATIONS.test(column)) return make("td", "ms-number", duration(value), { title: exactDuration(value) });
  if (/share/.test(column)) return make("td", "ms-number", percent(value));
  return make("td", "ms-number", count(value));
}

/**
 * The rows of a table in order of a column; texts rise, numbers fall at first.
 * @param {Timeline.Cell[][]} rows
 * @param {number} column
 * @param {boolean} falling
 */
export function sorted(rows, column, falling) {
  return rows.slice().sort(byValue((row) => row[column], falling));
}

/**
 * @param {string[]} columns
 * @param {Timeline.Cell[][]} rows
 * @param {(row: Timeline.Cell[]) => void} find
 */
function tableOf(columns, rows, find) {
  const body = make("tbody");
  /** @param {Timeline.Cell[][]} shown */
  const fill = (shown) => body.replaceChildren(...shown.map((row) => {
    const line = make("tr", "", columns.map((column, at) => cellOf(column, row[at])));
    line.addEventListener("dblclick", () => find(row));
    return line;
  }));
  const heads = sortHeads(columns.map((column, at) => {
    const falling = typeof (rows[0] || [])[at] !== "string";
    return { title: headOf(column), className: falling ? "ms-number" : "", falling };
  }), (at, falling) => fill(sorted(rows, at, falling)));
  fill(rows);
  return make("table", "ms-timeline-table", [make("thead", "", make("tr", "", heads)), body]);
}

/**
 * @param {HTMLElement} element
 * @param {string} name
 * @param {string} key
 */
function tool(element, name, key) {
  for (const attribute of ["title", "aria-label"]) setLabel(element, attribute, key);
  element.classList.add(name);
  return element;
}

/** What statistics there are of a range. */
export const BY = ["name", "track", "gaps", "critical", "flame", "difference"];

/**
 * asked: { range, over, clip, by }, found: what the server said or null while it is asked; links: addresses of files;
 * tracks: those of the trace; look: palette and ratio.
 * @param {Timeline.Panel} panel
 * @param {Timeline.RangeAsked} asked
 * @param {Timeline.RangeFound | { error: string } | null} found
 * @param {{ csv: string, trace: string }} links
 * @param {Timeline.SentTrack[]} tracks
 * @param {{ palette: Timeline.Palette, ratio: number }} look
 */
export function showRange(panel, asked, found, links, tracks, look) {
  const { range, clip, by, parts } = asked;
  const text = words("timeline.range_length", {
    from: duration(range.from), length: duration(range.to - range.from),
  }, "span", "ms-timeline-title ms-timeline-range ms-cut");
  text.title = `${exactTime(range.from)} – ${exactTime(range.to)} (${exactDuration(range.to - range.from)})`;
  const choices = parts.length > 1 ? BY : BY.filter((one) => one !== "difference");
  const rows = segments("timeline.by", choices.map((one) => [one, `timeline.by.${one}`]), (one) => panel.acts.setBy(one));
  pressSegment(rows, by);
  const clips = ["1", "0"].map((one) => [one, `timeline.clip.${one}`]);
  const edges = segments("timeline.clip", clips, (one) => panel.acts.setClip(one));
  setLabel(edges, "title", "timeline.clip_tip");
  pressSegment(edges, clip);
  edges.hidden = by !== "name" && by !== "difference";
  const csv = make("a", "ms-button", [icon("download"), words("timeline.csv")], { href: links.csv, download: "" });
  const trace = make("a", "ms-button", [icon("download"), words("timeline.trace_short")], { href: links.trace, download: "" });
  setLabel(trace, "title", "timeline.trace_json");
  const zoom = iconButton("zoom", "timeline.range_zoom", "zoom");
  zoom.addEventListener("click", panel.acts.zoomRange);
  const clear = iconButton("trash", "timeline.range_clear", "clear");
  clear.addEventListener("click", panel.acts.clearRange);
  const body = [];
  if (!found) body.push(words("timeline.loading", {}, "p", "ms-muted"));
  else if ("error" in found) body.push(make("p", "ms-timeline-wrong", found.error));
  else if (by === "gaps" && asked.over.length && "streams" in found && !found.streams.length) {
    body.push(words("timeline.gaps_none_here", {}, "p", "ms-muted"));
  } else if (by === "gaps") body.push(...gapParts(found, panel.acts, parts));
  else if (by === "critical") body.push(...criticalParts(found, panel.acts));
  else if (by === "difference") body.push(...differenceParts(found, parts[0], parts[asked.other], panel.acts));
  else if (by === "flame") body.push(...flameParts(found, { ...look, find: panel.acts.searchFor }));
  else if (!found.rows.length) body.push(words("timeline.range_none", {}, "p", "ms-muted"));
  else {
    body.push(tableOf(found.columns, found.rows, (row) => panel.acts.searchFor(String(row[0]))));
    if (found.total > found.rows.length) {
      body.push(words("timeline.range_first", { n: count(found.rows.length), total: count(found.total) }, "p", "ms-muted"));
    }
  }
  const several = by === "gaps" && found && "streams" in found && found.streams.length > 1;
  const stream = several ? streamSelect(panel, found, tracks) : "";
  csv.hidden = by === "flame";
  const which = parts.length < 2 ? ""
    : by === "critical" ? partSelect(panel, "part", parts, asked.part, 0)
      : by === "difference" && parts.length > 2 ? partSelect(panel, "other", parts, asked.other, 1) : "";
  tool(csv, "ms-timeline-csv", "timeline.csv_tip");
  const over = by === "critical" ? "" : overButton(panel, asked.over);
  put(panel, "range", [text, over, rows, edges, stream, which, csv, trace, zoom, clear], body);
}

/**
 * In which tracks a range is counted, if not in all; a press counts all again.
 * @param {Timeline.Panel} panel
 * @param {string[]} names
 */
function overButton(panel, names) {
  if (!names.length) return "";
  const key = names.length > 1 ? "timeline.in_tracks" : "timeline.in_track";
  const button = make("button", "ms-button ms-timeline-in", [
    words(key, { name: names[0], n: count(names.length) }, "span", "ms-cut"), icon("close"),
  ], { type: "button", "data-act": "over", title: names.join("\n") });
  button.addEventListener("click", panel.acts.clearOver);
  return button;
}

/**
 * Which trace a table is about.
 * @param {Timeline.Panel} panel
 * @param {string} key
 * @param {Timeline.Part[]} parts
 * @param {number} chosen
 * @param {number} first
 */
function partSelect(panel, key, parts, chosen, first) {
  const element = select("timeline.part", (part) => panel.acts.setPart(key, part));
  fillSelect(element, parts.slice(first).map((part, at) => [String(at + first), part.name]), String(chosen));
  return element;
}

/**
 * @param {Timeline.Panel} panel
 * @param {Timeline.Causes} found
 * @param {Timeline.SentTrack[]} tracks
 */
function streamSelect(panel, found, tracks) {
  const element = select("timeline.stream", (track) => panel.acts.setStream(track));
  fillSelect(element, found.streams.map((track) => [
    String(track), [tracks[track].where, titleOf(tracks[track])].filter(Boolean).join(" · "),
  ]), String(found.track));
  return element;
}

// A search -----------------------------------------------------------------------------------------------------------

/**
 * @param {Timeline.Panel} panel
 * @param {Timeline.Hits} hits
 * @param {Timeline.Line["names"]} names
 * @param {Timeline.SentTrack[]} tracks
 * @param {number} at
 */
export function showHits(panel, hits, names, tracks, at) {
  const text = words(hits.row.length ? (hits.more ? "timeline.hits_more" : "timeline.hits_n") : "timeline.hits_none",
    { n: count(hits.row.length) }, "span", "ms-timeline-title");
  const rows = hits.row.slice(0, MOST_ROWS).map((row, place) => {
    const name = names.get(hits.name[place]) ?? "…";
    const button = make("button", "ms-timeline-link ms-cut ms-name", name, { type: "button", title: name });
    const line = make("tr", place === at ? "ms-timeline-now" : "", [
      make("td", "ms-timeline-cell-name", button), make("td", "ms-number", exactTime(hits.start[place])),
      make("td", "ms-number", duration(hits.duration[place]), { title: exactDuration(hits.duration[place]) }),
      make("td", "ms-timeline-cell-name ms-muted", trackTitle(tracks[hits.track[place]])),
    ]);
    button.addEventListener("click", () => panel.acts.hit(place));
    return line;
  });
  const heads = ["column.name", "start", "duration", "column.track"].map((one) =>
    make("th", one.startsWith("column") ? "" : "ms-number", words(`timeline.${one}`), { scope: "col" }));
  const table = make("table", "ms-timeline-table", [make("thead", "", make("tr", "", heads)), make("tbody", "", rows)]);
  put(panel, "search", [text], rows.length ? [table] : []);
  const now = panel.body.querySelector(".ms-timeline-now");
  if (now) now.scrollIntoView({ block: "nearest" });
}

/**
 * What a tab says before there is anything in it.
 * @param {Timeline.Panel} panel
 * @param {string} name
 */
export function showHint(panel, name) {
  put(panel, name, [], [writeText(make("p", "ms-muted"), "timeline.hint")]);
}
