// The bird's-eye strip: the whole trace with its busy share, what of it is on screen, and where search found something.

import { penOf } from "../../kit/canvases.js";
import { setLabel, writeText } from "../../kit/i18n.js";
import { share } from "./wire.js";

const COLUMNS = 1200;
const EDGE = 6;
/** The pointer over each part of the strip that can be dragged. */
const CURSORS = { from: "ew-resize", to: "ew-resize", both: "grab", new: "crosshair" };

/**
 * @param {Timeline.Line} line
 * @param {(line: Timeline.Line) => void} redraw
 */
export async function loadStrip(line, redraw) {
  try {
    const answer = await line.server.ask("strip", { columns: COLUMNS });
    const any = answer.headers.get("Mindscope-Counted") !== "device";
    writeText(line.host.stripName, any ? "timeline.busy_any" : "timeline.busy");
    for (const element of [line.host.stripName, line.host.strip]) {
      setLabel(element, "title", any ? "timeline.busy_any_tip" : "timeline.busy_tip");
    }
    line.strip = new Uint8Array(await answer.arrayBuffer());
  } catch {
    line.strip = new Uint8Array(0);
  }
  redraw(line);
}

/**
 * @param {Timeline.Line} line
 * @param {number} time
 * @param {number} width
 */
const xAt = (line, time, width) => (time / Math.max(1, line.facts.end)) * width;

/** @param {Timeline.Line} line */
export function drawStrip(line) {
  const { strip } = line.host;
  const host = strip.parentElement || strip;
  const { clientWidth: width, clientHeight: height } = host;
  const { ratio } = line;
  if (strip.width !== Math.round(width * ratio) || strip.height !== Math.round(height * ratio)) {
    strip.width = Math.round(width * ratio);
    strip.height = Math.round(height * ratio);
  }
  const context = penOf(strip);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  const { inks: ink } = line;
  const [left, right] = [line.range.from, line.range.to].map((time) => xAt(line, time, width));
  if (line.strip && line.strip.length) {
    context.fillStyle = ink.muted;
    context.globalAlpha = 0.55;
    context.beginPath();
    context.moveTo(0, height);
    const size = width / line.strip.length;
    line.strip.forEach((busy, column) => {
      const y = height - 1 - share(busy) * (height - 5);
      context.lineTo(column * size, y);
      context.lineTo((column + 1) * size, y);
    });
    context.lineTo(width, height);
    context.fill();
    context.globalAlpha = 1;
  }
  if (line.hits) {
    context.fillStyle = ink.accent;
    let last = -1;
    for (const start of line.hits.start) {
      const x = Math.round(xAt(line, start, width));
      if (x === last) continue;
      last = x;
      context.fillRect(x, 0, 1, 6);
    }
  }
  if (line.chosen) {
    context.fillStyle = ink.accent;
    context.globalAlpha = 0.25;
    const from = xAt(line, line.chosen.from, width);
    context.fillRect(from, 0, Math.max(1, xAt(line, line.chosen.to, width) - from), height);
    context.globalAlpha = 1;
  }
  // What is not on screen is dimmed.
  context.fillStyle = ink.back;
  context.globalAlpha = 0.6;
  context.fillRect(0, 0, Math.max(0, left), height);
  context.fillRect(right, 0, Math.max(0, width - right), height);
  context.globalAlpha = 1;
  context.strokeStyle = ink.accent;
  context.lineWidth = 1;
  context.strokeRect(Math.max(left, 0) + 0.5, 0.5, Math.max(3, Math.min(right, width) - Math.max(left, 0)) - 1, height - 1);
}

/**
 * Drag on the strip: the edges of what is on screen, its middle, or a new range, which show(line, range) gets.
 * @param {Timeline.Line} line
 * @param {(line: Timeline.Line, range: Timeline.Range) => void} show
 */
export function listenToStrip(line, show) {
  const { strip } = line.host;
  /** @type {{ what: keyof typeof CURSORS, at: number, range: Timeline.Range, moved: boolean } | null} */
  let drag = null;
  /** @param {PointerEvent} event */
  const timeOf = (event) => {
    const box = strip.getBoundingClientRect();
    return ((event.clientX - box.left) / box.width) * line.facts.end;
  };
  /** @param {PointerEvent} event */
  const grip = (event) => {
    const width = strip.clientWidth;
    const x = event.clientX - strip.getBoundingClientRect().left;
    const [left, right] = [line.range.from, line.range.to].map((time) => xAt(line, time, width));
    if (Math.abs(x - left) < EDGE) return "from";
    if (Math.abs(x - right) < EDGE) return "to";
    return x > left && x < right && right - left < width * 0.98 ? "both" : "new";
  };
  strip.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    strip.setPointerCapture(event.pointerId);
    drag = { what: grip(event), at: timeOf(event), range: line.range, moved: false };
  });
  strip.addEventListener("pointermove", (event) => {
    if (!drag) {
      strip.style.cursor = CURSORS[grip(event)];
      return;
    }
    const time = timeOf(event);
    const by = time - drag.at;
    drag.moved = drag.moved || Math.abs(by) > line.facts.end / strip.clientWidth * 3;
    if (!drag.moved) return;
    const { from, to } = drag.range;
    if (drag.what === "both") show(line, { from: from + by, to: to + by });
    else if (drag.what === "new") show(line, { from: Math.min(drag.at, time), to: Math.max(drag.at, time) });
    else {
      const edge = drag.what === "from" ? { from: time, to } : { from, to: time };
      if (edge.to > edge.from) show(line, edge);
    }
  });
  strip.addEventListener("pointerup", (event) => {
    if (drag && !drag.moved && drag.what !== "both") {
      const span = drag.range.to - drag.range.from;
      show(line, { from: timeOf(event) - span / 2, to: timeOf(event) + span / 2 });
    }
    drag = null;
  });
  strip.addEventListener("pointercancel", () => { drag = null; });
}
