// Pointer and wheel on the canvas. The wheel scrolls the tracks as everywhere; with Ctrl it zooms, with Shift it moves in time.

import { moved, within } from "./camera.js";
import { at, idsBetween, timeAt } from "./geometry.js";
import { pan, redraw, show, zoom } from "./line.js";

/**
 * @typedef {object} PointerActs
 * @property {(place: Timeline.Place | null, event: MouseEvent) => void} choose
 * @property {(range: Timeline.Range, over: string[]) => void} range over: ids of the tracks dragged over, none on the ruler
 * @property {(place: Timeline.Place | null, x: number, y: number) => void} hover
 * @property {(place: Timeline.Place | null) => void} twice
 * @property {(time: number, ranged: boolean) => void} step ranged: whether it is chosen as a range
 */

/**
 * @typedef {object} Drag
 * @property {number} x
 * @property {number} y
 * @property {Timeline.Range} range
 * @property {number} top
 * @property {number} time
 * @property {boolean} ranging
 * @property {boolean} all whether the range is one of all tracks
 * @property {boolean} moved
 */

const CLICK_PIXELS = 4;
const HOVER_MS = 40;

/**
 * acts: choose(place, event), range(range), hover(place, x, y), twice(place), step(time, whether as a range).
 * @param {Timeline.Line} line
 * @param {PointerActs} acts
 */
export function listen(line, acts) {
  const { overlay, scroll, ruler } = line.host;
  /** @type {Drag | null} */
  let drag = null;
  let hoverTimer = 0;

  /** @param {MouseEvent} event */
  const placeOf = (event) => {
    const box = overlay.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  const leave = () => {
    window.clearTimeout(hoverTimer);
    line.pointer = null;
    acts.hover(null, 0, 0);
    redraw(line);
  };

  /** @param {PointerEvent} event */
  function down(event) {
    if (event.button !== 0) return;
    const { x, y } = placeOf(event);
    if (event.currentTarget instanceof Element) event.currentTarget.setPointerCapture(event.pointerId);
    const ruled = event.currentTarget === ruler;
    const ranging = event.shiftKey || ruled;
    drag = { x, y, range: line.range, top: scroll.scrollTop, time: timeAt(line, x), ranging, all: ruled, moved: false };
  }

  /** @param {PointerEvent} event */
  function move(event) {
    const { x, y } = placeOf(event);
    line.pointer = { x, y };
    if (!drag) {
      window.clearTimeout(hoverTimer);
      hoverTimer = window.setTimeout(() => {
        if (line.pointer && event.currentTarget !== ruler) acts.hover(at(line, x, y), x, y);
      }, HOVER_MS);
      redraw(line);
      return;
    }
    if (!drag.moved && Math.hypot(x - drag.x, y - drag.y) < CLICK_PIXELS) return;
    if (!drag.moved) {
      drag.moved = true;
      line.dragging = true;
      acts.hover(null, 0, 0);
      overlay.classList.toggle("ms-timeline-grabbing", !drag.ranging);
    }
    if (drag.ranging) {
      const time = Math.min(Math.max(timeAt(line, x), line.range.from), line.range.to);
      line.dragged = { from: Math.min(time, drag.time), to: Math.max(time, drag.time) };
      line.draggedOver = drag.all ? [] : idsBetween(line, drag.y + drag.top - scroll.scrollTop, y);
      redraw(line);
      return;
    }
    const perPixel = (drag.range.to - drag.range.from) / line.width;
    show(line, within(moved(drag.range, (drag.x - x) * perPixel), line.facts.end));
    scroll.scrollTop = drag.top + drag.y - y;
  }

  /** @param {PointerEvent} event */
  function up(event) {
    if (!drag) return;
    const { x, y } = placeOf(event);
    const was = drag;
    drag = null;
    line.dragging = false;
    overlay.classList.remove("ms-timeline-grabbing");
    if (!was.moved) {
      if (event.currentTarget === ruler) acts.step(timeAt(line, x), event.shiftKey);
      else acts.choose(at(line, x, y), event);
    } else if (was.ranging && line.dragged) {
      const { from, to } = line.dragged;
      line.dragged = null;
      acts.range({ from: Math.round(from), to: Math.max(Math.round(to), Math.round(from) + 1) }, line.draggedOver);
    }
    redraw(line);
  }

  for (const element of [overlay, ruler]) {
    element.addEventListener("pointerdown", down);
    element.addEventListener("pointermove", move);
    element.addEventListener("pointerup", up);
    element.addEventListener("pointercancel", () => {
      drag = null;
      line.dragging = false;
      line.dragged = null;
      redraw(line);
    });
    element.addEventListener("pointerleave", () => { if (!drag) leave(); });
  }
  overlay.addEventListener("dblclick", (event) => {
    const { x, y } = placeOf(event);
    acts.twice(at(line, x, y));
  });

  /** @param {WheelEvent} event */
  const wheel = (event) => {
    const { x } = placeOf(event);
    const lines = event.deltaMode === 1 ? 16 : 1;
    const across = event.deltaX * lines;
    const along = event.deltaY * lines;
    if (event.ctrlKey || event.metaKey || event.currentTarget !== overlay) {
      event.preventDefault();
      zoom(line, Math.exp(Math.max(-1, Math.min(1, along * 0.0025))), x);
    } else if (event.shiftKey || Math.abs(across) > Math.abs(along)) {
      event.preventDefault();
      pan(line, across || along);
    } else {
      const room = scroll.scrollHeight - scroll.clientHeight;
      const next = Math.min(Math.max(scroll.scrollTop + along, 0), room);
      if (next === scroll.scrollTop) return;
      event.preventDefault();
      scroll.scrollTop = next;
    }
    acts.hover(null, 0, 0);
  };
  for (const element of [overlay, ruler, line.host.strip]) element.addEventListener("wheel", wheel, { passive: false });
  scroll.addEventListener("scroll", () => {
    acts.hover(null, 0, 0);
    redraw(line);
  }, { passive: true });
}
