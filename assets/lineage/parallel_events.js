// Pointer and keys on parallel axes: lines are pointed out and opened, brushes and axes moved.

import { drawAxes, placeAxes, point } from "./parallel_axes.js";
import { dragged, joined, pressed, stepped } from "./parallel_brushes.js";
import { nearest, placeAt, reordered } from "./parallel_geometry.js";
import { dimensionsOf, drawHeld, drawSoon } from "./parallel_lines.js";

const REACH = 8;
const CLICK = 4;
const NOWHERE = [0, 0];

/**
 * @param {Lineage.ParallelPlot} plot
 * @param {MouseEvent} event
 */
function at(plot, event) {
  const box = plot.svg.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

/**
 * @param {Lineage.ParallelPlot} plot
 * @param {number[]} place
 */
const rowAt = ({ across, heights, held }, place) => nearest(across, heights, held, place, REACH);

/**
 * @param {Lineage.ParallelPlot} plot
 * @param {string} name of an axis
 * @param {Lineage.Stretch[]} stretches
 */
function brush(plot, name, stretches) {
  if (stretches.length) plot.brushes.set(name, joined(stretches));
  else plot.brushes.delete(name);
}

/** @param {Lineage.ParallelPlot} plot */
function brushed(plot) {
  drawAxes(plot);
  drawHeld(plot);
  plot.acts.brushed(plot.brushes);
}

/**
 * @param {Lineage.ParallelPlot} plot
 * @param {string[]} order names of axes
 */
function arrange(plot, order) {
  if (!plot.figure) return;
  const changed = order.some((name, i) => name !== dimensionsOf(plot)[i].name);
  const [data, ...more] = plot.figure.data;
  const dimensions = order.flatMap((name) => data.dimensions.filter((one) => one.name === name));
  plot.figure = { ...plot.figure, data: [{ ...data, dimensions }, ...more] };
  plot.redraw();
  if (changed) plot.acts.reordered(order);
}

/**
 * @param {Lineage.ParallelPlot} plot
 * @param {PointerEvent} event
 */
function press(plot, event) {
  const element = /** @type {Element} */ (event.target);
  const group = /** @type {SVGElement | null} */ (element.closest(".y-axis"));
  const axis = dimensionsOf(plot).findIndex(({ name }) => group && name === group.dataset.axis);
  if (event.button || axis === -1) return;
  const from = at(plot, event);
  const { name, range } = dimensionsOf(plot)[axis];
  const here = placeAt(range, plot.height, from[1]);
  const before = plot.brushes.get(name) || [];
  const title = element.matches(".axis-title");
  const held = title ? -1 : before.findIndex(([low, high]) => low <= here && here <= high);
  plot.svg.setPointerCapture(event.pointerId);
  plot.dragged = { axis, from, place: here, before, held, x: title ? from[0] : null, title };
  point(plot, -1, NOWHERE);
}

/**
 * @param {Lineage.ParallelPlot} plot
 * @param {PointerEvent} event
 */
function move(plot, event) {
  const place = at(plot, event);
  const drag = plot.dragged;
  if (!drag) {
    point(plot, rowAt(plot, place), place);
    return;
  }
  if (drag.title) {
    drag.x = place[0];
    placeAxes(plot);
    drawSoon(plot, "all");
  } else {
    const { name, range } = dimensionsOf(plot)[drag.axis];
    brush(plot, name, dragged(drag.before, drag.held, range, drag.place, placeAt(range, plot.height, place[1])));
    drawSoon(plot, "held");
  }
  drawAxes(plot);
}

/**
 * @param {Lineage.ParallelPlot} plot
 * @param {PointerEvent} event
 */
function release(plot, event) {
  const drag = plot.dragged;
  const [x, y] = at(plot, event);
  if (!drag) {
    const row = rowAt(plot, [x, y]);
    if (row !== -1 && !event.button) plot.acts.opened(row);
    return;
  }
  plot.dragged = null;
  const names = dimensionsOf(plot).map(({ name }) => name);
  const still = Math.hypot(x - drag.from[0], y - drag.from[1]) < CLICK;
  if (drag.title) {
    arrange(plot, still ? names : reordered(names, plot.across, drag.axis, x));
    return;
  }
  if (still) brush(plot, names[drag.axis], pressed(drag.before, drag.held));
  brushed(plot);
}

/** @param {Lineage.ParallelPlot} plot */
function cancel(plot) {
  const drag = plot.dragged;
  if (drag && !drag.title) brush(plot, dimensionsOf(plot)[drag.axis].name, drag.before);
  plot.dragged = null;
  plot.redraw();
}

/**
 * @param {Lineage.ParallelPlot} plot
 * @param {KeyboardEvent} event
 */
function key(plot, event) {
  const names = dimensionsOf(plot).map(({ name }) => name);
  const axis = names.indexOf(String(/** @type {SVGElement} */ (event.target).dataset.axis));
  if (axis === -1 || event.ctrlKey || event.metaKey || event.altKey) return;
  if (["ArrowLeft", "ArrowRight"].includes(event.key)) {
    const to = axis + (event.key === "ArrowLeft" ? -1 : 1);
    if (to < 0 || to >= names.length) return;
    [names[axis], names[to]] = [names[to], names[axis]];
    event.preventDefault();
    arrange(plot, names);
    return;
  }
  const next = stepped(plot.brushes.get(names[axis]) || [], dimensionsOf(plot)[axis].range, event.key, event.shiftKey);
  if (!next) return;
  event.preventDefault();
  brush(plot, names[axis], next);
  brushed(plot);
}

/**
 * Let pointer and keys act on a plot.
 * @param {Lineage.ParallelPlot} plot
 */
export function attach(plot) {
  const { svg } = plot;
  svg.addEventListener("pointerdown", (event) => press(plot, event));
  svg.addEventListener("pointermove", (event) => move(plot, event));
  svg.addEventListener("pointerup", (event) => release(plot, event));
  svg.addEventListener("pointercancel", () => cancel(plot));
  svg.addEventListener("pointerleave", () => { if (!plot.dragged) point(plot, -1, NOWHERE); });
  svg.addEventListener("keydown", (event) => key(plot, event));
}
