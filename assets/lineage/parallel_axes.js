// Parallel axes as SVG above their lines: places and texts, brushes, and the line near the pointer.

import { setLabel } from "../kit/i18n.js";
import { widthIn } from "../kit/name_elements.js";
import { CUT, fitted, Names } from "../kit/names.js";
import { BOTTOM, TOP, acrossOf, heightOf, heightsOf, spaced, spanOf } from "./parallel_geometry.js";
import { dimensionsOf } from "./parallel_lines.js";

const SVG = "http://www.w3.org/2000/svg";
const GRIP = 24;  // px of an axis that takes the pointer
export const BESIDE = 10;  // px from an axis to the texts of its ticks
export const TITLE = 26;

/**
 * @param {string} name
 * @param {Record<string, string | number>} attributes
 * @param {(Node | string)[]} [children]
 */
export function shape(name, attributes, children = []) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}

/**
 * Set where axes are from left to right.
 * @param {Lineage.ParallelPlot} plot
 */
export function placeAxes(plot) {
  const { figure, dragged, width } = plot;
  plot.across = acrossOf(dimensionsOf(plot).length, width, figure ? figure.layout.margin : { l: 0, r: 0 });
  if (dragged && dragged.x !== null) plot.across[dragged.axis] = dragged.x;
}

/**
 * Set where axes, lines and texts are, and the texts as they fit.
 * @param {Lineage.ParallelPlot} plot
 */
export function place(plot) {
  placeAxes(plot);
  plot.heights = dimensionsOf(plot).map((dimension) => heightsOf(dimension, plot.height));
  fit(plot);
}

/** @param {Lineage.ParallelPlot} plot */
function fit(plot) {
  const { across, figure, height } = plot;
  const dimensions = dimensionsOf(plot);
  const family = plot.css("--ms-font");
  const { l, r } = figure ? figure.layout.margin : { l: 0, r: 0 };
  const count = dimensions.length;
  const apart = count > 1 ? across[1] - across[0] : Infinity;
  const [large, small] = [widthIn(`500 12px ${family}`), widthIn(`11px ${family}`)];
  const titles = new Names(dimensions.map(({ label }) => label));
  plot.titles = dimensions.map(({ label, scale = "" }, i) => {
    const beside = i === 0 ? 2 * l - 4 : i === count - 1 ? 2 * r - 4 : Infinity;
    const room = Math.min(apart - 10, beside);
    for (const after of [scale, ""]) {
      const text = `${titles.short(label, room - large(after), large)}${after}`;
      if (large(text) <= room) return text;
    }
    return fitted(label, room, large) || CUT;
  });
  plot.ticks = dimensions.map(({ tickvals, ticktext, range }, i) => {
    const names = new Names(ticktext);
    const room = (i === 0 ? l : apart) - BESIDE - 4;
    return spaced(tickvals.map((at, tick) => {
      const short = names.short(ticktext[tick], room, small);
      const text = small(short) <= room ? short : fitted(ticktext[tick], room, small) || CUT;
      return { y: heightOf(range, height, at), text: ticktext[tick] ? text : "", whole: ticktext[tick] };
    }));
  });
}

/**
 * @param {Lineage.ParallelPlot} plot
 * @param {number} i number of an axis
 */
function brushShapes(plot, i) {
  const { name, range } = dimensionsOf(plot)[i];
  return (plot.brushes.get(name) || []).map((part) => {
    const [top, bottom] = spanOf(range, plot.height, part);
    return shape("rect", { class: "highlight", x: -4, width: 8, y: top, height: Math.max(2, bottom - top) });
  });
}

/** @param {Lineage.ParallelPlot} plot */
export function drawAxes(plot) {
  const { svg, width, height, across } = plot;
  const focused = document.activeElement instanceof SVGElement ? document.activeElement.dataset.axis : undefined;
  svg.setAttribute("width", String(width));
  svg.setAttribute("height", String(height));
  const inner = height - TOP - BOTTOM;
  const groups = dimensionsOf(plot).map(({ name, label }, i) => {
    const ticks = plot.ticks[i].map(({ y, text, whole }) => shape("g", { class: "tick" }, [
      shape("line", { x1: -4, x2: 0, y1: y, y2: y }),
      shape("text", { x: -BESIDE, y, dy: "0.32em", "text-anchor": "end" }, [shape("title", {}, [whole]), text]),
    ]));
    const group = shape("g", { class: "y-axis", transform: `translate(${across[i]},0)`, tabindex: 0, role: "group" }, [
      shape("text", { class: "axis-title", y: TITLE, "text-anchor": "middle" }, [plot.titles[i]]),
      shape("g", { class: "axis" }, [shape("line", { class: "domain", y1: TOP, y2: TOP + inner }), ...ticks]),
      shape("g", { class: "axis-brush" }, [
        shape("rect", { class: "background", x: -GRIP / 2, width: GRIP, y: TOP, height: inner }), ...brushShapes(plot, i),
      ]),
    ]);
    group.dataset.axis = name;
    setLabel(/** @type {any} */ (group), "aria-label", "lineage.axis_keys", { name: label });
    return group;
  });
  svg.replaceChildren(...groups, plot.near);
  if (focused !== undefined) groups.find((group) => group.dataset.axis === focused)?.focus({ preventScroll: true });
}

/**
 * Point out a line and say what it is.
 * @param {Lineage.ParallelPlot} plot
 * @param {number} row -1 for none
 * @param {number[]} at x and y of the pointer
 */
export function point(plot, row, [x, y]) {
  const { tip, near, across, heights, colours, width, height } = plot;
  tip.hidden = row === -1;
  near.setAttribute("d", row === -1 ? "" : `M${across.map((one, i) => `${one},${heights[i][row]}`).join("L")}`);
  plot.above.dataset.near = row === -1 || !plot.figure ? "" : plot.figure.layout.meta.keys[row];
  plot.svg.style.cursor = row === -1 ? "" : "pointer";
  if (row === -1) return;
  near.setAttribute("stroke", colours[row]);
  tip.replaceChildren(...plot.acts.tip(row, colours[row]));
  tip.style.left = `${Math.max(0, Math.min(x + 14, width - tip.offsetWidth))}px`;
  tip.style.top = `${Math.max(0, Math.min(y + 14, height - tip.offsetHeight))}px`;
}
