// The table at the pointer, for all runs of a chart: hover_place.js has its place, hover_settings.js its order and columns.

import { make, words } from "../../kit/elements.js";
import { dateTime } from "../../kit/moments.js";
import { count, elapsed, number as short } from "../../kit/units.js";
import { translate } from "../../kit/i18n.js";
import { nameElement } from "../../kit/name_elements.js";
import { last } from "../../kit/state.js";
import * as cards from "../../kit/cards/cards.js";
import * as crosshair from "../../kit/cards/crosshair.js";
import { number } from "../../kit/cards/curves.js";
import { isLinked } from "../../kit/cards/layout_menu.js";
import { exact, foundAt, linesIn, MARK_PX, marksIn, nearestIndex, placeOf } from "../../kit/cards/lines.js";
import * as slots from "../../kit/cards/slots.js";
import { members, named } from "./grouping.js";
import { hidden, placed, roomBeside } from "./hover_place.js";
import { COLUMNS, ordered, settings } from "./hover_settings.js";
import * as runList from "./run_list.js";

export { exact, nearestIndex };

/** @import { Line } from "../../kit/cards/lines.js" */

/**
 * A line of the table: what is at the pointer, and how far away.
 * @typedef {object} HoverRow
 * @property {Line} line
 * @property {number} i
 * @property {number} px
 * @property {number} py
 * @property {number} shown
 * @property {number} value
 * @property {string} label
 * @property {number} away
 */

/**
 * The column with the place on an axis; "step" for others.
 * @type {Record<string, string>}
 */
const PLACES = { relative: "relative", absolute: "absolute", tag: "x" };

const MOST_ROWS = 14;
const WIDER_PX = 24;
const BRIEF_PX = 300;  // in a narrower table values have four digits, so that names have room

// Where on the plane -------------------------------------------------------------------------------------------------

/** @param {HTMLElement} card */
export function plane(card) {
  const plot = slots.plotOf(card);
  const area = plot && plot.querySelector(".nsewdrag");
  if (!area || !plot.layout || !plot.layout.xaxis || !plot.layout.xaxis.range) return null;
  const box = area.getBoundingClientRect();
  const [left, right] = plot.layout.xaxis.range.map(number);
  /** @param {string} name */
  const vertical = (name) => {
    const axis = plot.layout[name === "y2" ? "yaxis2" : "yaxis"] || plot.layout.yaxis;
    const [low, high] = ((axis && axis.range) || []).map(Number);
    const log = Boolean(axis && axis.type === "log");
    /** @param {number} value */
    const share = (value) => ((log ? Math.log10(value) : value) - low) / (high - low);
    return (/** @type {number} */ value) => box.bottom - share(value) * box.height;
  };
  return {
    box, left, right,
    /** @param {number} pixel */
    x: (pixel) => left + ((pixel - box.left) / box.width) * (right - left),
    /** @param {number} value */
    toX: (value) => box.left + ((value - left) / (right - left)) * box.width,
    toY: { y: vertical("y"), y2: vertical("y2") },
  };
}

/**
 * @param {Drawing} figure
 * @param {Curves.Plane} view
 * @param {Curves.Pointer} pointer
 */
function rowsAt(figure, view, pointer) {
  const [place, marks] = [placeAt(view, pointer), marksIn(figure)];
  const rows = [];
  for (const line of linesIn(figure)) {
    const { i } = foundAt(line, place, marks);
    if (i < 0) continue;
    const shown = line.values[i];
    const [px, py] = [view.toX(line.x(i)), view.toY[line.axis](shown)];
    rows.push({
      line,
      i,
      px,
      py,
      shown,
      value: line.raw ? line.raw[i] : shown,
      label: line.meta.label,
      away: Math.abs(py - pointer.y),
    });
  }
  return rows.sort((a, b) => a.away - b.away);
}

/**
 * @param {Curves.Plane} view
 * @param {Curves.Pointer} pointer
 */
function placeAt({ box, left, right, x }, pointer) {
  return { x: x(pointer.x), unit: (right - left) / box.width, left, right };
}

/**
 * Seconds since the start of the run.
 * @param {Line} line
 * @param {number} i
 * @param {string} axis
 */
function timeOf(line, i, axis) {
  if (axis === "relative") return line.x(i);
  if (axis === "absolute") return line.x(i) / 1000 + new Date().getTimezoneOffset() * 60 - line.meta.started;
  return line.time ? line.time(i) : NaN;
}

/**
 * @param {string} text
 * @param {string} [className]
 */
function cell(text, className = "ms-number") {
  return make("td", className, text);
}

/**
 * @param {Line} line
 * @param {number} i
 */
function runsOf({ n, lost, meta }, i) {
  if (!n) return "";
  return lost && lost(i) ? `${count(n(i))} / ${count(meta.members || 0)}` : count(n(i));
}

/**
 * Row of a group: value, band, number of runs.
 * @param {HoverRow} row
 * @param {boolean} several
 * @param {string} axis
 */
function groupRow({ line, i, shown }, several, axis) {
  const dot = make("span", "ms-dot");
  dot.style.background = line.meta.colour || "";
  const cells = [make("td", "ms-hover-run", [dot, make("span", "ms-cut ms-name", named(line.meta.label))])];
  if (several) cells.push(cell(line.meta.tag, "ms-cut"));
  const { low, high } = line;
  const ends = low && high && Number.isFinite(low[i]) ? `${short(low[i])} – ${short(high[i])}` : "";
  cells.push(cell(short(shown)), cell(ends), cell(runsOf(line, i)), cell(placeOf(line.x(i), axis)));
  return make("tr", "", cells);
}

/**
 * @param {Curves.Page} page
 * @param {HoverRow} row
 * @param {string[]} names
 * @param {string} axis
 * @param {boolean} brief
 */
function bodyRow(page, row, names, axis, brief) {
  const { line, i } = row;
  const time = timeOf(line, i, axis);
  const dot = make("span", "ms-dot");
  dot.style.background = line.meta.colour || "";
  /** @type {Record<string, () => HTMLElement>} */
  const cells = {
    run: () => make("td", "ms-hover-run", [dot, nameElement(line.meta.label, page.runList?.names)]),
    tag: () => cell(line.meta.tag, "ms-cut"),
    value: () => cell(brief ? short(row.value) : exact(row.value, line.raw ? line.rawExact : line.exact)),
    smoothed: () => cell(short(row.shown)),
    step: () => cell(count(line.step(i))),
    relative: () => cell(elapsed(time)),
    absolute: () => cell(dateTime(line.meta.started + time)),
  };
  return make("tr", "", names.map((name) => cells[name]()));
}

/**
 * @param {Drawing} figure
 * @param {Curves.Plane} view
 * @param {Curves.Pointer} pointer
 * @param {number} columns
 */
function markRows(figure, view, pointer, columns) {
  const x = view.x(pointer.x);
  const reach = ((view.right - view.left) / view.box.width) * MARK_PX;
  const rows = [];
  for (const mark of marksIn(figure)) {
    for (let i = 0; i < mark.low.length && rows.length < 3; i += 1) {
      if (x < mark.low[i] - reach || x > mark.high[i] + reach) continue;
      const text = translate("hover.count", { n: count(mark.count[i]), kind: mark.kind });
      const place = mark.low[i] === mark.high[i] ? "" : ` ${text}`;
      const name = make("td", "ms-hover-run ms-hover-bad", [make("span", "ms-cut ms-name", mark.runs[i])]);
      const what = make("td", "ms-hover-bad", place || mark.kind);
      what.colSpan = columns - 1;
      rows.push(make("tr", "", [name, what]));
    }
  }
  return rows;
}

/**
 * Columns of the table: those that the user chose. If there is no room for all, the least needed are left out first.
 * @param {Curves.Page} page
 * @param {Drawing} figure
 * @param {HoverRow[]} rows
 * @param {number} left
 */
function columnsOf(page, figure, rows, left) {
  const several = figure.layout.meta.tags.length > 1;
  const { axis, grouped } = figure.layout.meta;
  const place = PLACES[axis] || "step";
  const tag = several ? ["tag"] : [];
  if (grouped) return ["group", ...tag, last(page.state, "line", "mean"), "band", "n", place];
  const wide = rows.some((row) => row.line.raw);
  const chosen = settings().columns.filter((name) => wide || name !== "smoothed");
  return ["run", ...tag, "value", ...chosen.slice(0, Math.max(0, chosen.length - left))];
}

/**
 * Show the rows that the table has room for: the nearest ones, in the order that the user chose; the others are counted.
 * @param {Curves.Page} page
 * @param {HTMLElement} table
 * @param {Drawing} figure
 * @param {HoverRow[]} rows
 * @param {number} most
 * @param {number} left
 * @param {boolean} brief
 * @param {Curves.Pointer} pointer
 * @param {Curves.Plane} view
 */
function fill(page, table, figure, rows, most, left, brief, pointer, view) {
  const { axis, grouped, tags } = figure.layout.meta;
  const names = columnsOf(page, figure, rows, left);
  const header = make(
    "tr",
    "",
    names.map((name) => words(`hover.${name}`, {}, "th", ["run", "group", "tag"].includes(name) ? "" : "ms-number")),
  );
  /** @param {HoverRow} row */
  const rowOf = (row) => (grouped ? groupRow(row, tags.length > 1, axis) : bodyRow(page, row, names, axis, brief));
  const body = ordered(rows.slice(0, most), settings().order).map((row) => {
    const element = rowOf(row);
    element.classList.toggle("ms-hover-nearest", row === rows[0]);
    return element;
  });
  if (grouped && rows.length) {
    const of = make("td", "ms-muted ms-hover-members", members(page, rows[0].line.meta.label));
    of.colSpan = names.length;
    body.push(make("tr", "", of));
  }
  body.push(...markRows(figure, view, pointer, names.length));
  if (rows.length > most) {
    const more = words("hover.more", { n: count(rows.length - most) }, "td", "ms-muted");
    more.colSpan = names.length;
    body.push(make("tr", "", more));
  }
  const head = rows.length ? [make("thead", "", header)] : [];
  table.replaceChildren(make("table", "", [...head, make("tbody", "", body)]));
}

/**
 * Fill the table and place it; columns and rows are left out until it fits its room.
 * @param {Curves.Page} page
 * @param {DOMRect} box
 * @param {HTMLElement} table
 * @param {Drawing} figure
 * @param {HoverRow[]} rows
 * @param {Curves.Plane} view
 * @param {Curves.Pointer} pointer
 */
function lay(page, box, table, figure, rows, view, pointer) {
  const room = roomBeside(box, view.box, window, pointer);
  table.style.maxWidth = `${room.width}px`;
  const brief = room.width < BRIEF_PX;
  table.style.setProperty("--ms-hover-name", `${Math.max(64, Math.min(240, brief ? room.width - 84 : room.width * 0.5))}px`);
  const before = page.hoverBefore && page.hoverBefore.figure === figure ? page.hoverBefore : null;
  // As many rows as fitted the same room before: to find that takes a table that is too high, which is half the cost of a move.
  let most = before && before.height === room.height ? before.most : MOST_ROWS;
  // Columns that had no room stay out until there is markedly more of it: each try is measured.
  const known = before && room.width < before.width + WIDER_PX ? before : null;
  let left = known ? known.left : 0;
  const draw = () => fill(page, table, figure, rows, most, left, brief, pointer, view);
  draw();
  table.hidden = table.querySelector("tbody").childElementCount === 0;
  const inner = table.firstElementChild;
  const wide = () => table.querySelector("table").offsetWidth > room.width - 18;
  while (inner && wide() && left < COLUMNS.length) {
    left += 1;
    draw();
  }
  const over = table.offsetHeight - room.height;
  if (over > 0) {
    const [row] = table.querySelectorAll("tbody tr");
    most = Math.max(1, Math.min(rows.length, most) - Math.ceil(over / Math.max(1, row.offsetHeight)) - 1);
    draw();
  }
  const size = { width: table.offsetWidth, height: table.offsetHeight };
  const at = placed(size, room, before?.end, (covered) => hidden(linesIn(figure), view, covered));
  const width = Math.min(room.width, known ? known.width : Infinity);
  page.hoverBefore = { figure, width, height: room.height, left, most, end: at.end };
  table.style.transform = `translate(${at.left}px, ${at.top}px)`;
}

// Events -------------------------------------------------------------------------------------------------------------

/** @param {Curves.Page} page */
function hide(page) {
  page.find(".ms-hover-table").hidden = true;
  for (const cursor of page.root.querySelectorAll(".ms-plot-cursor")) cursor.hidden = true;
  page.hovered = null;
  crosshair.show(page, null);
  if (page.runList) runList.point(page, page.runList.key, null);
}

/**
 * @param {Curves.Page} page
 * @param {HTMLElement} card
 * @param {Curves.Pointer} pointer
 */
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
  // The table comes last, since it is measured once it is filled: everything else reads sizes before anything is written.
  const room = card.getBoundingClientRect();
  drawCursor(card, view, rows[0], card.querySelector(".ms-card-body").getBoundingClientRect());
  runList.point(page, card.dataset.key || "", placeAt(view, pointer));
  const place = rows.length ? rows[0].line.x(rows[0].i) : view.x(pointer.x);
  const { axis } = figure.layout.meta;
  const text = axis === "step" ? count(Math.round(place)) : placeOf(place, axis);
  if (isLinked(page)) crosshair.show(page, place, text, card);
  const table = page.find(".ms-hover-table");
  table.hidden = false;
  lay(page, room, table, figure, rows, view, pointer);
}

/**
 * @param {HTMLElement} card
 * @param {Curves.Plane} view
 * @param {HoverRow | undefined} nearest
 * @param {DOMRect} body
 */
function drawCursor(card, view, nearest, body) {
  const cursor = card.querySelector(".ms-plot-cursor");
  cursor.hidden = !nearest;
  if (!nearest) return;
  cursor.style.left = `${nearest.px - body.left}px`;
  cursor.style.top = `${view.box.top - body.top}px`;
  cursor.style.height = `${view.box.height}px`;
  cursor.style.setProperty("--ms-dot-top", `${nearest.py - view.box.top}px`);
  cursor.style.setProperty("--ms-dot-colour", nearest.line.meta.colour);
}

/** @param {Curves.Page} page */
export function build(page) {
  let frame = 0;
  /** @type {MouseEvent | null} */
  let latest = null;
  page.root.addEventListener("mousemove", (event) => {
    latest = event;
    if (!frame) {
      frame = window.requestAnimationFrame(() => {
        frame = 0;
        const now = latest;
        const target = now && now.target instanceof Element ? now.target : null;
        const card = target && target.closest(".ms-slot");
        if (now && target && card && now.buttons === 0 && target.closest(".ms-card-body") && !target.closest(".ms-mark")) {
          show(page, card, { x: now.clientX, y: now.clientY });
        } else hide(page);
      });
    }
  });
  page.root.addEventListener("mouseleave", () => hide(page));
}

document.addEventListener("scroll", () => {
  for (const page of cards.all("scalars")) if (page.hovered) hide(page);
}, true);

/**
 * Update the table when new points arrive under a resting pointer.
 * @param {Curves.Page} page
 * @param {HTMLElement} card
 */
export function refresh(page, card) {
  if (page.hovered && page.hovered.card === card) {
    window.requestAnimationFrame(() => page.hovered && show(page, card, page.hovered.pointer));
  }
}
