// The figure of parallel axes: its width, colours of the theme, brushes and titles.

import { setProps } from "../kit/dash.js";
import { escapeMarkup } from "../kit/markup.js";
import { translate } from "../kit/i18n.js";
import { widthIn } from "../kit/name_elements.js";
import { CUT, fitted, Names } from "../kit/names.js";
import { brushes, stretches } from "./brushes.js";
import { shortOf } from "./columns.js";

export const AXIS_WIDTH = 92;
const KEY_WIDTH = 104;
const FEWEST_AXES = 3;
const BETWEEN = 10;  // pixels between the titles of two axes
const BESIDE_TICK = 14;  // pixels from a tick to its text, and to the axis before
const WIDTH_STEP = 16;

/**
 * Note the width of the plot: the number of axes by default and the lengths of their titles depend on it.
 * @param {Lineage.Page} page
 */
export function measure(page) {
  const width = page.find(".ms-lineage-scroll").clientWidth;
  const stepped = Math.floor(width / WIDTH_STEP) * WIDTH_STEP;
  if (!width || stepped === page.stepped) return;
  const beside = page.find(".ms-lineage-plot").clientWidth - KEY_WIDTH;  // also before there is a key
  Object.assign(page, { stepped, width, room: Math.max(FEWEST_AXES, Math.floor(beside / AXIS_WIDTH)) });
  window.setTimeout(() => { if (page.root.isConnected) setProps(page.store("wide"), { data: stepped }); }, 0);
}

/**
 * The figure with colours of the theme, brushes, and names in the current language.
 * @param {Lineage.Page} page
 */
export function dressed(page) {
  const figure = structuredClone(page.figure);
  const style = window.getComputedStyle(page.root);
  /** @param {string} name */
  const colour = (name) => style.getPropertyValue(name).trim();
  const wanted = brushes(page);
  const [trace] = figure.data;
  const font = { family: colour("--ms-font"), color: colour("--ms-muted"), size: 11 };
  const { margin } = figure.layout;
  const plotWidth = Math.max(page.width, trace.dimensions.length * AXIS_WIDTH) - margin.l - margin.r;
  const apart = plotWidth / Math.max(1, trace.dimensions.length - 1) - BETWEEN;
  const pen = widthIn(`11px ${font.family}`);
  const { axes } = figure.layout.meta;
  const titles = new Names(axes.map((axis) => shortOf(page, axis.name)));
  trace.dimensions.forEach((dimension, i) => {
    const axis = axes[i];
    const scale = axis.scale === "linear" ? "" : ` (${translate(`lineage.${axis.scale}`)})`;
    const beside = i === 0 ? margin.l : i === trace.dimensions.length - 1 ? margin.r : Infinity;
    dimension.label = escapeMarkup(
      titleWithin(titles, shortOf(page, axis.name), scale, Math.min(apart, 2 * beside - 4), font.family));
    const texts = dimension.ticktext.map((text) =>
      text === "missing" && "missing" in axis.apart ? translate("lineage.apart.missing") : text,
    );
    const room = (i === 0 ? margin.l : apart) - BESIDE_TICK;
    const ticks = new Names(texts);
    dimension.ticktext = texts.map((text) => {
      const short = ticks.short(text, room, pen);
      return pen(short) <= room ? short : fitted(text, room, pen) || CUT;
    });
    const brush = wanted.get(axis.name);
    if (!brush) return;
    const parts = stretches(axis, brush);
    if (parts.length) dimension.constraintrange = parts;
  });
  Object.assign(trace, {
    labelfont: { ...font, size: 12, color: colour("--ms-text") },
    tickfont: font,
    rangefont: { ...font, size: 1, color: "rgba(0,0,0,0)" },
    unselected: { line: { color: colour("--ms-line-strong"), opacity: 0.35 } },
  });
  figure.layout.meta.turn = page.turn;
  Object.assign(figure.layout, { paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font });
  return figure;
}

/**
 * The title of an axis, its name shortened so that all of it fits into a width in pixels.
 * @param {Names} titles of all axes
 * @param {string} name
 * @param {string} scale
 * @param {number} width
 * @param {string} family
 */
function titleWithin(titles, name, scale, width, family) {
  const pen = widthIn(`500 12px ${family}`);
  for (const after of [scale, ""]) {
    const short = `${titles.short(name, width - pen(after), pen)}${after}`;
    if (pen(short) <= width) return short;
  }
  return fitted(name, width, pen) || CUT;
}
