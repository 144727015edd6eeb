// The names of processes and tracks beside the canvas, with their folding buttons and menus. Only those on screen are elements.

import { icon, make, words } from "../../kit/elements.js";
import { setLabel } from "../../kit/i18n.js";
import { count } from "../../kit/units.js";
import { signed } from "../axis.js";

/** The title of a track: its thread, or number where it has no name. */
export function titleOf(track) {
  if (track.thread) return track.thread;
  return track.thread_id || track.process;
}

function button(row, name) {
  const element = make("button", "ms-timeline-fold", icon(row.folded ? "right" : "down"), {
    type: "button", "data-act": "fold", "data-id": row.id, "aria-expanded": String(!row.folded),
  });
  setLabel(element, "aria-label", row.folded ? "timeline.open" : "timeline.fold", { name });
  return element;
}

// The head of a trace: its name, and how far the clock of its device has been moved.
function partLabel(line, row) {
  const part = line.facts.parts[row.part];
  const name = make("span", "ms-timeline-name ms-cut", part.name);
  const more = part.device
    ? words("timeline.device_moved", { time: signed(part.device) }, "span", "ms-timeline-about ms-timeline-moved") : "";
  const element = make("div", "ms-timeline-label ms-timeline-label-part", [button(row, part.name), name, more], {
    "data-id": row.id,
  });
  element.title = part.file;
  return element;
}

function labelOf(line, row) {
  if (row.kind === "part") return partLabel(line, row);
  const process = row.kind === "process";
  const name = process ? row.process.name || row.process.tracks[0].process_id : titleOf(row.track);
  const many = process || row.track.lanes > 1;
  const fold = many ? button(row, name) : make("span", "ms-timeline-fold");
  const title = row.pinned ? [row.track.where, row.track.process, name].filter(Boolean).join(" · ") : name;
  const text = make("span", "ms-timeline-name ms-cut", title);
  const about = process
    ? make("span", "ms-timeline-about", count(row.process.tracks.length))
    : make("span", "ms-timeline-about", row.track.slices ? count(row.track.slices) : "");
  const more = make("button", "ms-button ms-button-icon ms-timeline-more", icon("more"), {
    type: "button", "data-act": "menu", "data-id": row.id, "aria-haspopup": "menu",
  });
  setLabel(more, "aria-label", "timeline.track_menu", { name });
  const pin = row.pinned ? icon("pin") : "";
  const element = make("div", `ms-timeline-label ms-timeline-label-${row.kind}`, [fold, pin, text, about, more], {
    "data-id": row.id,
  });
  const track = row.track;
  element.title = process ? `${row.process.name} (${row.process.tracks[0].process_id})`
    : `${track.process} · ${track.thread || "–"} (${track.thread_id})`;
  return element;
}

/** Put the labels of the rows on screen in their places. */
export function drawLabels(line, seen) {
  const known = line.labels || (line.labels = new Map());
  const wanted = new Set();
  for (const [part, rows] of [["pinned", seen.pinned], ["rows", seen.rows]]) {
    for (const [row, top] of rows) {
      const key = `${part} ${row.id}`;
      const look = `${row.folded} ${row.height} ${row.pinned}`;
      wanted.add(key);
      let label = known.get(key);
      if (!label || label.look !== look) {
        if (label) label.element.remove();
        label = { look, element: labelOf(line, row), top: NaN };
        known.set(key, label);
        line.host[part === "pinned" ? "pinnedLabels" : "labels"].append(label.element);
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
