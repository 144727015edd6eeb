// The names of processes and tracks beside the canvas, with their folding buttons and menus. Only those on screen are elements.

import { icon, make, words } from "../../kit/elements.js";
import { setLabel } from "../../kit/i18n.js";
import { count } from "../../kit/units.js";
import { signed } from "../axis.js";

/**
 * The title of a track: its thread, or number where it has no name.
 * @param {Timeline.SentTrack} track
 */
export function titleOf(track) {
  if (track.thread) return track.thread;
  return track.thread_id || track.process;
}

/**
 * The names of the processes and tracks that ids stand for.
 * @param {Timeline.Process[]} tree
 * @param {string[]} ids
 */
export function namesIn(tree, ids) {
  const wanted = new Set(ids);
  return tree.flatMap((process) => [
    ...(wanted.has(process.id) ? [process.name || process.tracks[0].process_id] : []),
    ...process.tracks.filter((track) => wanted.has(track.id)).map(titleOf),
  ]);
}

/**
 * @param {Timeline.Row} row
 * @param {string} name
 */
function button(row, name) {
  const element = make("button", "ms-timeline-fold", icon(row.folded ? "right" : "down"), {
    type: "button", "data-act": "fold", "data-id": row.id, "aria-expanded": String(!row.folded),
  });
  setLabel(element, "aria-label", row.folded ? "timeline.open" : "timeline.fold", { name });
  return element;
}

/**
 * The head of a trace: its name, and how far the clock of its device has been moved.
 * @param {Timeline.Line} line
 * @param {Timeline.PartRow} row
 */
function partLabel(line, row) {
  const part = line.facts.parts[row.part];
  const name = make("span", "ms-timeline-name ms-cut ms-name", part.name);
  const more = part.device
    ? words("timeline.device_moved", { time: signed(part.device) }, "span", "ms-timeline-about ms-timeline-moved") : "";
  const element = make("div", "ms-timeline-label ms-timeline-label-part", [button(row, part.name), name, more], {
    "data-id": row.id,
  });
  element.title = part.file;
  return element;
}

/**
 * Title, name, number of tracks and tip of a process.
 * @param {Timeline.Process} process
 */
function processTexts({ name, tracks }) {
  const title = name || tracks[0].process_id;
  return [title, title, count(tracks.length), `${name} (${tracks[0].process_id})`];
}

/**
 * Title, name, number of slices and tip of a track.
 * @param {Timeline.TrackRow} row
 */
function trackTexts({ track, pinned }) {
  const name = titleOf(track);
  const title = pinned ? [track.where, track.process, name].filter(Boolean).join(" · ") : name;
  const tip = `${track.process} · ${track.thread || "–"} (${track.thread_id})`;
  return [title, name, track.slices ? count(track.slices) : "", tip];
}

/**
 * @param {Timeline.Line} line
 * @param {Timeline.Row} row
 */
function labelOf(line, row) {
  if (row.kind === "part") return partLabel(line, row);
  const [title, name, parts, tip] = row.kind === "process" ? processTexts(row.process) : trackTexts(row);
  const many = row.kind === "process" || row.track.lanes > 1;
  const fold = many ? button(row, name) : make("span", "ms-timeline-fold");
  const text = make("span", "ms-timeline-name ms-cut ms-name", title);
  const about = make("span", "ms-timeline-about", parts);
  const more = make("button", "ms-button ms-button-icon ms-timeline-more", icon("more"), {
    type: "button", "data-act": "menu", "data-id": row.id, "aria-haspopup": "menu",
  });
  setLabel(more, "aria-label", "timeline.track_menu", { name });
  const pin = row.pinned ? icon("pin") : "";
  const element = make("div", `ms-timeline-label ms-timeline-label-${row.kind}`, [fold, pin, text, about, more], {
    "data-id": row.id,
  });
  element.title = tip;
  return element;
}

/** @type {("pinned" | "rows")[]} */
const PARTS = ["pinned", "rows"];

/**
 * Put the labels of the rows on screen in their places.
 * @param {Timeline.Line} line
 * @param {Timeline.Seen} seen
 */
export function drawLabels(line, seen) {
  const known = line.labels;
  const wanted = new Set();
  const hosts = { pinned: line.host.pinnedLabels, rows: line.host.labels };
  for (const part of PARTS) {
    for (const [row, top] of seen[part]) {
      const key = `${part} ${row.id}`;
      const look = `${row.folded} ${row.height} ${row.pinned}`;
      wanted.add(key);
      let label = known.get(key);
      if (!label || label.look !== look) {
        if (label) label.element.remove();
        label = { look, element: labelOf(line, row), top: NaN };
        known.set(key, label);
        hosts[part].append(label.element);
        label.element.style.height = `${row.height}px`;
      }
      if (label.top !== top) {
        label.top = top;
        label.element.style.transform = `translateY(${top}px)`;
      }
    }
  }
  for (const [key, label] of known) {
    if (wanted.has(key)) continue;
    label.element.remove();
    known.delete(key);
  }
}
