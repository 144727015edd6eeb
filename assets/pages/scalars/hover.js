// The table under the pointer, for all runs of a chart: the nearest first, then by value.

import { make, words } from "../../base/elements.js";
import { count, dateTime } from "../../base/format.js";
import { translate } from "../../base/i18n.js";
import { last } from "../../base/state.js";
import { numbersOf } from "../../base/typed_arrays.js";
import * as cards from "../../cards/cards.js";
import { linesOf, number, tracesOf } from "../../cards/curves.js";
import * as slots from "../../cards/slots.js";
import { members, named } from "./grouping.js";

const MOST_ROWS = 14;
const REACH_PX = 24;
const KINDS = ["NaN", "+Inf", "-Inf"];
const decoded = new WeakMap();  // figure -> lines and marks

// Accessor for numbers sent as an array, or as first value and distance.
function column(spec, even) {
  if (even && even.dx !== undefined) return (i) => even.x0 + i * even.dx;
  const values = numbersOf(spec);
  return values ? (i) => values[i] : null;
}

// Seconds, sent as differences in milliseconds.
function durations({ first, steps, seconds }) {
  if (seconds) return column(seconds);
  let now = first;
  const times = Float64Array.from(numbersOf(steps), (step) => (now += step) / 1000);
  return (i) => times[i];
}

// Of a hundred lines the table shows fourteen.
function lazily(make) {
  let made = null;
  return (i) => (made = made || make())(i);
}

function series(figure) {
  if (decoded.has(figure)) return decoded.get(figure);
  const traces = tracesOf(figure);
  const lines = linesOf(traces).map((trace) => {
    const values = numbersOf(trace.y);
    const x = column(trace.x, trace);
    let rising = true;
    if (trace.x) for (let i = 1; i < values.length && rising; i += 1) rising = x(i) >= x(i - 1);
    const { meta } = trace;
    return {
      meta, values, x, rising, size: values.length, exact: trace.y.dtype === "f8", axis: trace.yaxis || "y",
      raw: meta.raw === null || meta.raw === undefined ? null : numbersOf(traces[meta.raw].y),
      rawExact: meta.raw !== null && meta.raw !== undefined && traces[meta.raw].y.dtype === "f8",
      step: meta.step ? column(meta.step, meta.step) : x,
      time: meta.time ? lazily(() => durations(meta.time)) : null,
      n: meta.n ? column(meta.n) : null, low: numbersOf(meta.low), high: numbersOf(meta.high),
    };
  });
  const marks = traces
    .filter((trace) => trace.meta && trace.meta.mark !== undefined)
    .map((trace) => ({
      kind: KINDS[trace.meta.mark],
      low: numbersOf(trace.x),
      high: numbersOf(trace.meta.high),
      count: numbersOf(trace.meta.count),
      runs: trace.meta.runs,
    }));
  decoded.set(figure, { lines, marks });
  return decoded.get(figure);
}

// Where on the plane -------------------------------------------------------------------------------------------------

export function plane(card) {
  const plot = slots.plotOf(card);
  const area = plot && plot.querySelector(".nsewdrag");
  if (!area || !plot.layout || !plot.layout.xaxis || !plot.layout.xaxis.range) return null;
  const box = area.getBoundingClientRect();
  const [left, right] = plot.layout.xaxis.range.map(number);
  const vertical = (name) => {
    const axis = plot.layout[name === "y2" ? "yaxis2" : "yaxis"] || plot.layout.yaxis;
    const [low, high] = axis.range.map(Number);
    return (value) => box.bottom - (((axis.type === "log" ? Math.log10(value) : value) - low) / (high - low)) * box.height;
  };
  return {
    box, left, right,
    x: (pixel) => left + ((pixel - box.left) / box.width) * (right - left),
    toX: (value) => box.left + ((value - left) / (right - left)) * box.width,
    toY: { y: vertical("y"), y2: vertical("y2") },
  };
}

export function nearestIndex(line, x, toX, toY, pointer) {
  if (!line.rising) {
    let best = -1;
    let distance = Infinity;
    for (let i = 0; i < line.size; i += 1) {
      if (Number.isNaN(line.values[i])) continue;
      const away = Math.hypot(toX(line.x(i)) - pointer.x, toY(line.values[i]) - pointer.y);
      if (away < distance) [best, distance] = [i, away];
    }
    return best;
  }
  let low = 0;
  let high = line.size - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (line.x(middle) < x) low = middle + 1;
    else high = middle;
  }
  let best = -1;
  for (const i of [low - 2, low - 1, low, low + 1]) {
    if (i < 0 || i >= line.size || Number.isNaN(line.values[i])) continue;
    if (best < 0 || Math.abs(line.x(i) - x) < Math.abs(line.x(best) - x)) best = i;
  }
  return best;
}

function rowsAt(figure, view, pointer) {
  const x = view.x(pointer.x);
  const rows = [];
  for (const line of series(figure).lines) {
    const i = nearestIndex(line, x, view.toX, view.toY[line.axis], pointer);
    if (i < 0) continue;
    const [place, shown] = [line.x(i), line.values[i]];
    const [px, py] = [view.toX(place), view.toY[line.axis](shown)];
    if (
      px < view.box.left - 1
      || px > view.box.right + 1
      || Math.abs(px - pointer.x) > Math.max(REACH_PX, spacing(line, i, view))
    ) { continue; }
    rows.push({
      line,
      i,
      px,
      py,
      shown,
      value: line.raw ? line.raw[i] : shown,
      away: Math.abs(py - pointer.y),
    });
  }
  // The nearest row first, then those the table has room for, by descending value; the others are only counted.
  rows.sort((a, b) => a.away - b.away);
  const shown = rows.slice(1, MOST_ROWS).sort((a, b) => b.value - a.value);
  return [...rows.slice(0, 1), ...shown, ...rows.slice(MOST_ROWS)];
}

function spacing(line, i, view) {
  const near = [i - 1, i + 1]
    .filter((k) => k >= 0 && k < line.size)
    .map((k) => Math.abs(view.toX(line.x(k)) - view.toX(line.x(i))));
  return near.length ? Math.max(...near) : 0;
}

// Seconds since the start of the run.
function timeOf(line, i, axis) {
  if (axis === "relative") return line.x(i);
  if (axis === "absolute") return line.x(i) / 1000 + new Date().getTimezoneOffset() * 60 - line.meta.started;
  return line.time ? line.time(i) : NaN;
}

// Text ---------------------------------------------------------------------------------------------------------------

// Shortest text that reads back as the same float32 or float64.
export function exact(value, isDouble) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
  if (!isDouble) {
    for (let digits = 6; digits < 10; digits += 1) {
      const text = Number(value.toPrecision(digits));
      if (Math.fround(text) === value) return readable(text);
    }
  }
  return readable(value);
}

function readable(value) {
  const size = Math.abs(value);
  return size >= 1e4 && size < 1e15 && Number.isInteger(value) ? count(value) : String(value);
}

export function smoothed(value) {
  return String(Number(value.toPrecision(6)));
}

export function span(seconds) {
  if (!Number.isFinite(seconds)) return "";
  const size = Math.abs(seconds);
  const sign = seconds < 0 ? "-" : "";
  if (size < 60) return `${sign}${size.toFixed(3)} s`;
  const two = (part) => String(Math.floor(part)).padStart(2, "0");
  const minutes = Math.floor(size / 60) % 60;
  if (size < 3600) return `${sign}${minutes} m ${two(size % 60)} s`;
  return `${sign}${count(Math.floor(size / 3600))} h ${two(minutes)} m ${two(size % 60)} s`;
}

function cell(text, className = "ms-number") {
  return make("td", className, text);
}

// Row of a group: value, band, number of runs.
function groupRow({ line, i, shown }, several, axis) {
  const dot = make("span", "ms-dot");
  dot.style.background = line.meta.colour;
  const cells = [make("td", "ms-hover-run", [dot, make("span", "ms-cut", named(line.meta.label))])];
  if (several) cells.push(cell(line.meta.tag, "ms-cut"));
  const ends = line.low && Number.isFinite(line.low[i]) ? `${smoothed(line.low[i])} – ${smoothed(line.high[i])}` : "";
  cells.push(cell(smoothed(shown)), cell(ends), cell(count(line.n(i))), cell(placeOf(line.x(i), axis)));
  return make("tr", "", cells);
}

function placeOf(x, axis) {
  if (axis === "relative") return span(x);
  if (axis === "absolute") return dateTime(x / 1000 + new Date().getTimezoneOffset() * 60);
  return axis === "step" ? count(x) : readable(Number(x.toPrecision(6)));
}

function bodyRow(row, wide, several, axis) {
  const { line, i } = row;
  const time = timeOf(line, i, axis);
  const dot = make("span", "ms-dot");
  dot.style.background = line.meta.colour;
  const name = make("td", "ms-hover-run", [dot, make("span", "ms-cut", line.meta.label)]);
  const cells = [name];
  if (several) cells.push(cell(line.meta.tag, "ms-cut"));
  cells.push(cell(exact(row.value, line.raw ? line.rawExact : line.exact)));
  if (wide) cells.push(cell(smoothed(row.shown)));
  cells.push(cell(count(line.step(i))), cell(span(time)), cell(dateTime(line.meta.started + time)));
  return make("tr", "", cells);
}

function markRows(figure, view, pointer, columns) {
  const x = view.x(pointer.x);
  const reach = ((view.right - view.left) / view.box.width) * 6;
  const rows = [];
  for (const mark of series(figure).marks) {
    for (let i = 0; i < mark.low.length && rows.length < 3; i += 1) {
      if (x < mark.low[i] - reach || x > mark.high[i] + reach) continue;
      const text = translate("hover.count", { n: count(mark.count[i]), kind: mark.kind });
      const place = mark.low[i] === mark.high[i] ? "" : ` ${text}`;
      const name = make("td", "ms-hover-run ms-hover-bad", [make("span", "ms-cut", mark.runs[i])]);
      const what = make("td", "ms-hover-bad", place || mark.kind);
      what.colSpan = columns - 1;
      rows.push(make("tr", "", [name, what]));
    }
  }
  return rows;
}

function fill(page, table, figure, rows, view, pointer) {
  const wide = rows.some((row) => row.line.raw);
  const several = figure.layout.meta.tags.length > 1;
  const { axis, grouped } = figure.layout.meta;
  const place = { relative: "relative", absolute: "absolute", tag: "x" }[axis] || "step";
  const names = grouped ? ["group", ...(several ? ["tag"] : []), last(page.state, "line", "mean"), "band", "n", place]
    : ["run", ...(several ? ["tag"] : []), "value", ...(wide ? ["smoothed"] : []), "step", "relative", "absolute"];
  const header = make(
    "tr",
    "",
    names.map((name) => words(`hover.${name}`, {}, "th", ["run", "group", "tag"].includes(name) ? "" : "ms-number")),
  );
  const rowOf = (row) => (grouped ? groupRow(row, several, axis) : bodyRow(row, wide, several, axis));
  const body = rows.slice(0, MOST_ROWS).map(rowOf);
  if (grouped && rows.length) {
    const of = make("td", "ms-muted ms-hover-members", members(page, rows[0].line.meta.label));
    of.colSpan = names.length;
    body.push(make("tr", "", of));
  }
  body.push(...markRows(figure, view, pointer, names.length));
  if (rows.length > MOST_ROWS) {
    const more = words("hover.more", { n: count(rows.length - MOST_ROWS) }, "td", "ms-muted");
    more.colSpan = names.length;
    body.push(make("tr", "", more));
  }
  const head = rows.length ? [make("thead", "", header)] : [];
  table.replaceChildren(make("table", "", [...head, make("tbody", "", body)]));
}

function place(table, pointer) {
  const { offsetWidth: width, offsetHeight: height } = table;
  const gap = 16;
  const left = pointer.x + gap + width > window.innerWidth ? pointer.x - gap - width : pointer.x + gap;
  const top = Math.min(pointer.y + gap, window.innerHeight - height - 8);
  table.style.transform = `translate(${Math.max(4, left)}px, ${Math.max(4, top)}px)`;
}

// Events -------------------------------------------------------------------------------------------------------------

function hide(page) {
  page.find(".ms-hover-table").hidden = true;
  for (const cursor of page.root.querySelectorAll(".ms-plot-cursor")) cursor.hidden = true;
  page.hovered = null;
}

function show(page, card, pointer) {
  const figure = page.drawings.get(Number(card.dataset.slot));
  const view = !card.classList.contains("ms-pending") && figure && plane(card);
  const inside
    = view
      && pointer.x >= view.box.left
      && pointer.x <= view.box.right
      && pointer.y >= view.box.top - 4
      && pointer.y <= view.box.bottom + 4;
  if (!inside) return hide(page);
  const rows = rowsAt(figure, view, pointer);
  if (page.hovered && page.hovered.card !== card) hide(page);
  page.hovered = { card, pointer };
  const table = page.find(".ms-hover-table");
  fill(page, table, figure, rows, view, pointer);
  table.hidden = table.querySelector("tbody").childElementCount === 0;
  place(table, pointer);
  drawCursor(card, view, rows[0]);
}

function drawCursor(card, view, nearest) {
  const cursor = card.querySelector(".ms-plot-cursor");
  cursor.hidden = !nearest;
  if (!nearest) return;
  const body = cursor.parentElement.getBoundingClientRect();
  cursor.style.left = `${nearest.px - body.left}px`;
  cursor.style.top = `${view.box.top - body.top}px`;
  cursor.style.height = `${view.box.height}px`;
  cursor.style.setProperty("--ms-dot-top", `${nearest.py - view.box.top}px`);
  cursor.style.setProperty("--ms-dot-colour", nearest.line.meta.colour);
}

export function build(page) {
  let frame = 0;
  let latest = null;
  page.root.addEventListener("mousemove", (event) => {
    latest = event;
    if (!frame) {
      frame = window.requestAnimationFrame(() => {
        frame = 0;
        const card = latest.target instanceof Element && latest.target.closest(".ms-slot");
        if (card && latest.buttons === 0 && latest.target.closest(".ms-card-body") && !latest.target.closest(".ms-mark")) {
          show(page, card, { x: latest.clientX, y: latest.clientY });
        } else hide(page);
      });
    }
  });
  page.root.addEventListener("mouseleave", () => hide(page));
}

document.addEventListener("scroll", () => {
  for (const page of cards.all("scalars")) if (page.hovered) hide(page);
}, true);

// Update the table when new points arrive under a resting pointer.
export function refresh(page, card) {
  if (page.hovered && page.hovered.card === card) {
    window.requestAnimationFrame(() => page.hovered && show(page, card, page.hovered.pointer));
  }
}
