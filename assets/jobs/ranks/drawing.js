// How the chart of ranks is drawn: axis, rows, joins, bands and bars, the operator that is picked, and lines of values.

import { coloursAt } from "../../kit/files.js";
import { translate } from "../../kit/i18n.js";
import { duration, ticks } from "../../profiles/axis.js";
import * as parts from "./rank_rows.js";

export const FONT_PX = 11;
export const GAP = 6;
export const LINE_WIDTH = 132;
const FADED = 0.14;

export const themeNow = () => (document.documentElement.dataset.mantineColorScheme === "dark" ? "dark" : "light");

/**
 * Draw what a chart shows.
 * @param {Ranks.Chart} chart
 * @param {CanvasRenderingContext2D} context
 */
export function render(chart, context) {
  const { colour, font } = coloursAt(chart.host);
  const theme = themeNow();
  context.font = `${FONT_PX}px ${font}`;
  axis(chart, context, colour);
  tracks(chart, context, colour);
  context.save();
  context.beginPath();
  context.rect(chart.plot.left, 0, chart.plot.width, chart.grid.height);
  context.clip();
  if (chart.view) {
    joins(chart, chart.view, context, theme);
    cells(chart, chart.view, context, theme);
    bars(chart, chart.view, context, theme);
    chain(chart, context, theme, colour);
  }
  if (chart.under && chart.memory) memories(chart, chart.memory, context, colour);
  context.restore();
  if (chart.line) besides(chart, chart.line, context, colour);
}

/**
 * @param {Ranks.Chart} chart
 * @param {CanvasRenderingContext2D} context
 * @param {Ranks.Colour} colour
 */
function axis(chart, context, colour) {
  const { left, width } = chart.plot;
  const { ticks: marks, base } = ticks(chart.range.from, chart.range.to, width);
  context.textBaseline = "middle";
  context.textAlign = "center";
  for (const { at, label } of marks) {
    const x = chart.xOf(at);
    context.fillStyle = colour("--ms-plot-grid");
    context.fillRect(Math.round(x), chart.grid.top - 6, 1, chart.grid.height - chart.grid.top);
    const half = context.measureText(label).width / 2;
    context.fillStyle = colour("--ms-muted");
    context.fillText(label, Math.min(x, left + width - half), 8);
  }
  context.textAlign = "left";
  context.fillText(base, 0, 8);
}

/**
 * @param {Ranks.Chart} chart
 * @param {CanvasRenderingContext2D} context
 * @param {Ranks.Colour} colour
 */
function tracks(chart, context, colour) {
  const { left, width } = chart.plot;
  chart.grid.rows.forEach(({ stage, top, split, bottom }, at) => {
    const { rank } = chart.facts.ranks[at];
    context.fillStyle = colour("--ms-hover");
    context.fillRect(left, top, width, bottom - top);
    context.fillStyle = colour("--ms-line");
    context.fillRect(left, split, width, 0.5);
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillStyle = colour(chart.picked && chart.picked.rank === rank ? "--ms-text" : "--ms-muted");
    if (chart.grid.pitch >= FONT_PX + 2) context.fillText(chart.nameOf({ rank }), left - GAP, (top + bottom) / 2);
    if (stage >= 0 && (!at || stage !== chart.grid.rows[at - 1].stage)) stageOf(chart, context, colour, at);
  });
}

/**
 * The stage of rows, written upwards beside them.
 * @param {Ranks.Chart} chart
 * @param {CanvasRenderingContext2D} context
 * @param {Ranks.Colour} colour
 * @param {number} first
 */
function stageOf(chart, context, colour, first) {
  const { rows } = chart.grid;
  let last = first;
  while (last + 1 < rows.length && rows[last + 1].stage === rows[first].stage) last += 1;
  const [from, to] = [rows[first].top, rows[last].bottom];
  const text = translate("ranks.stage_n", { n: rows[first].stage });
  context.fillStyle = colour("--ms-line-strong");
  context.fillRect(12, from, 1, to - from);
  if (context.measureText(text).width > to - from + 10) return;
  context.save();
  context.translate(5, (from + to) / 2);
  context.rotate(-Math.PI / 2);
  context.textAlign = "center";
  context.fillStyle = colour("--ms-muted");
  context.fillText(text, 0, 0);
  context.restore();
}

/**
 * @param {Ranks.Chart} chart
 * @param {Ranks.View} view
 * @param {CanvasRenderingContext2D} context
 * @param {Ranks.Theme} theme
 */
function joins(chart, view, context, theme) {
  const { joins } = view;
  const { rows } = chart.grid;
  const x = chart.scale(view);
  const faint = chart.alone ? FADED * 0.3 : theme === "dark" ? 0.2 : 0.17;
  for (let category = 0; category < parts.CATEGORIES.length; category += 1) {
    context.fillStyle = parts.colourOf(category, theme);
    context.globalAlpha = chart.picked ? faint * 0.7 : faint;
    for (let i = 0; i < joins.length; i += 1) {
      if (joins.category[i] !== category) continue;
      const [top, bottom] = [rows[joins.row[i]].bottom, rows[joins.row[i] + 1].top];
      const [a0, b0] = [x(joins.a0[i]), x(joins.b0[i])];
      context.beginPath();
      context.moveTo(a0, top);
      context.lineTo(Math.max(x(joins.a1[i]), a0 + 0.8), top);
      context.lineTo(Math.max(x(joins.b1[i]), b0 + 0.8), bottom);
      context.lineTo(b0, bottom);
      context.fill();
    }
  }
  context.globalAlpha = 1;
}

/**
 * @param {Ranks.Chart} chart
 * @param {Ranks.View} view
 * @param {CanvasRenderingContext2D} context
 * @param {Ranks.Theme} theme
 */
function cells(chart, view, context, theme) {
  const { cells } = view;
  const x = chart.scale(view);
  for (let i = 0; i < cells.length; i += 1) {
    const { top, split, bottom } = chart.grid.rows[cells.row[i]];
    const from = x(cells.x0[i]);
    context.fillStyle = parts.colourOf(cells.category[i], theme);
    context.globalAlpha = 0.2 + 0.75 * (cells.share[i] / parts.LEVELS);
    const [y, end] = cells.lane[i] ? [split, bottom] : [top, split];
    context.fillRect(from, y, Math.max(x(cells.x1[i]) - from, 0.5), end - y);
  }
  context.globalAlpha = 1;
}

/**
 * @param {Ranks.Chart} chart
 * @param {Ranks.View} view
 * @param {CanvasRenderingContext2D} context
 * @param {Ranks.Theme} theme
 */
function bars(chart, view, context, theme) {
  const { bars } = view;
  const x = chart.scale(view);
  const { colour } = coloursAt(chart.host);
  const card = colour("--ms-card");
  for (let i = 0; i < bars.length; i += 1) {
    const { top, split, bottom } = chart.grid.rows[bars.row[i]];
    const from = x(bars.x0[i]);
    const wide = Math.max(x(bars.x1[i]) - from, 1);
    const [y, end] = bars.lane[i] ? [split, bottom] : [top, split];
    context.fillStyle = parts.colourOf(bars.category[i], theme);
    context.globalAlpha = chart.alone && bars.joined[i] ? FADED : 1;
    context.fillRect(from, y, wide, end - y);
    if (wide > 4) {  // where one ends and the next begins
      context.fillStyle = card;
      context.fillRect(from + wide - 0.5, y, 0.5, end - y);
    }
  }
  context.globalAlpha = 1;
}

/**
 * The operator that is picked, on all ranks that have it.
 * @param {Ranks.Chart} chart
 * @param {CanvasRenderingContext2D} context
 * @param {Ranks.Theme} theme
 * @param {Ranks.Colour} colour
 */
function chain(chart, context, theme, colour) {
  const { picked } = chart;
  if (!picked || !picked.same) return;
  const category = parts.CATEGORIES.indexOf(picked.category || "");
  const lane = parts.communicates(category);
  const places = picked.same.map(({ rank, begin, duration: length }) => {
    const at = chart.rowOf(rank);
    const { top, split, bottom } = chart.grid.rows[at];
    const from = chart.xOf(begin);
    const to = Math.max(chart.xOf(begin + length), from + 2);
    return { at, from, to, top: lane ? split : top, end: lane ? bottom : split, bottom };
  }).sort((one, other) => one.at - other.at);
  places.forEach((one, place) => {
    const next = places[place + 1];
    if (next && next.at === one.at + 1) {
      context.beginPath();
      context.moveTo(one.from, one.bottom);
      context.lineTo(one.to, one.bottom);
      context.lineTo(next.to, chart.grid.rows[next.at].top);
      context.lineTo(next.from, chart.grid.rows[next.at].top);
      context.closePath();
      context.fillStyle = parts.colourOf(category, theme);
      context.globalAlpha = 0.55;
      context.fill();
      context.globalAlpha = 1;
      context.strokeStyle = parts.colourOf(category, theme);
      context.lineWidth = 1;
      context.stroke();
    }
    context.fillStyle = parts.colourOf(category, theme);
    context.fillRect(one.from, one.top, one.to - one.from, one.end - one.top);
    context.strokeStyle = colour("--ms-text");
    context.lineWidth = 1.5;
    context.strokeRect(one.from - 0.75, one.top - 0.75, one.to - one.from + 1.5, one.end - one.top + 1.5);
  });
}

/**
 * Least and most memory in each column, below its row.
 * @param {Ranks.Chart} chart
 * @param {Ranks.Memory} memory
 * @param {CanvasRenderingContext2D} context
 * @param {Ranks.Colour} colour
 */
function memories(chart, memory, context, colour) {
  const { rows: told, levels, from, to } = memory;
  context.strokeStyle = colour("--ms-text");
  context.fillStyle = colour("--ms-text");
  context.lineWidth = 1;
  for (const { rank, low, high } of told) {
    const at = chart.rowOf(rank);
    if (at < 0) continue;
    const base = chart.grid.rows[at].bottom + chart.grid.room - 3;
    const each = (to - from) / low.length;
    /** @param {number} value */
    const y = (value) => base - (value / levels) * Math.max(3, chart.grid.room - 6);
    context.globalAlpha = 0.06;
    context.beginPath();
    context.moveTo(chart.xOf(from), base);
    high.forEach((most, column) => {
      context.lineTo(chart.xOf(from + column * each), y(Math.max(0, most)));
      context.lineTo(chart.xOf(from + (column + 1) * each), y(Math.max(0, most)));
    });
    context.lineTo(chart.xOf(to), base);
    context.fill();
    context.globalAlpha = 0.75;
    context.beginPath();
    let open = false;
    low.forEach((least, column) => {
      if (least < 0) { open = false; return; }
      const x = chart.xOf(from + (column + 0.5) * each);
      if (open) context.lineTo(x, y(least)); else context.moveTo(x, y(least));
      if (high[column] > least) context.lineTo(x, y(high[column]));
      open = true;
    });
    context.stroke();
  }
  context.globalAlpha = 1;
}

/**
 * A value of each rank beside its row, joined by a line.
 * @param {Ranks.Chart} chart
 * @param {Ranks.Line} line
 * @param {CanvasRenderingContext2D} context
 * @param {Ranks.Colour} colour
 */
function besides(chart, line, context, colour) {
  const { title, values, text } = line;
  const known = values.flatMap((value) => value ?? []);
  const left = chart.plot.left + chart.plot.width + 3 * GAP;
  const wide = LINE_WIDTH - 5 * GAP;
  context.textBaseline = "middle";
  context.textAlign = "left";
  context.fillStyle = colour("--ms-muted");
  context.fillText(title, left, 8);
  if (!known.length) return;
  const high = Math.max(...known) || 1;
  if (chart.grid.pitch < 20) context.fillText(`≤ ${text(high)}`, left + GAP, 22);
  /** @param {number} value */
  const place = (value) => left + (value / high) * wide;
  context.fillStyle = colour("--ms-plot-zero");
  context.fillRect(left, chart.grid.top - 4, 1, chart.grid.height - chart.grid.top);
  context.strokeStyle = colour("--ms-accent");
  context.fillStyle = colour("--ms-accent");
  context.lineWidth = 1.5;
  context.beginPath();
  let open = false;
  values.forEach((value, at) => {
    const y = (chart.grid.rows[at].top + chart.grid.rows[at].bottom) / 2;
    if (value === null) open = false;
    else if (open) context.lineTo(place(value), y);
    else context.moveTo(place(value), y);
    open = value !== null;
  });
  context.stroke();
  values.forEach((value, at) => {
    if (value === null) return;
    const y = (chart.grid.rows[at].top + chart.grid.rows[at].bottom) / 2;
    context.fillStyle = colour("--ms-accent");
    context.beginPath();
    context.arc(place(value), y, 2.5, 0, 7);
    context.fill();
    if (chart.grid.pitch < 20) return;
    const words = text(value);
    const size = context.measureText(words).width;
    context.fillStyle = colour("--ms-text");
    context.fillText(words, place(value) - left > size + GAP ? left + 4 : place(value) + GAP, y - 9);
  });
}

/**
 * Draw what is being dragged over, or the row that keys act on.
 * @param {Ranks.Chart} chart
 * @param {CanvasRenderingContext2D} context
 */
export function outline(chart, context) {
  const { colour } = coloursAt(chart.host);
  if (chart.drag && chart.drag.moved) {
    const [from, to] = [chart.drag.x, chart.drag.to].sort((one, other) => one - other);
    context.fillStyle = colour("--ms-accent");
    context.globalAlpha = 0.14;
    context.fillRect(from, chart.grid.top - 6, to - from, chart.grid.height);
    context.globalAlpha = 1;
    context.fillRect(from, chart.grid.top - 6, 1, chart.grid.height);
    context.fillRect(to, chart.grid.top - 6, 1, chart.grid.height);
    context.textAlign = "center";
    context.fillText(duration(chart.timeAt(to) - chart.timeAt(from)), (from + to) / 2, chart.grid.top - 2);
  } else if (document.activeElement === chart.canvas && chart.canvas.matches(":focus-visible") && chart.grid.rows[chart.row]) {
    const { top, bottom } = chart.grid.rows[chart.row];
    context.strokeStyle = colour("--ms-accent");
    context.lineWidth = 1.5;
    context.strokeRect(chart.plot.left - 1.5, top - 2.5, chart.plot.width + 3, bottom - top + 5);
  }
}
