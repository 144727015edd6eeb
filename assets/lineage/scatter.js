// Runs as points, for every pair of the first columns or for two columns. Drawn on a canvas, because a matrix of a thousand
// runs has fifteen thousand points. Dragging a box brushes both of its columns.

import { setDescription } from "../kit/alternatives.js";
import { penOf } from "../kit/canvases.js";
import { make } from "../kit/elements.js";
import { count } from "../kit/units.js";
import { translate } from "../kit/i18n.js";
import { CUT, fitted as fittedName } from "../kit/names.js";
import { numbersOf } from "../kit/typed_arrays.js";
import { brushes, meaning, stretches } from "./brushes.js";
import { axesOf, colourOf, columnNamed, cut, fullOf, pairOf, valueText, viewOf } from "./columns.js";
import { coloursOf } from "./line_colours.js";

const MOST = 6;
const GAP = 10;
const BOTTOM = 34;
const NEAR = 10;
const CLICK = 4;
const GREY = "#8b95a1";

/**
 * @param {Lineage.Board} board
 * @param {string} name of an axis of its figure
 */
const axisOf = (board, name) => /** @type {Lineage.ScatterAxis} */ (board.axes.get(name));

// Text of the note beside the views: [text key, values].
/** @type {(page: Lineage.Page) => [string, TextValues?]} */
export const hint = (page) => {
  const axes = axesOf(page).length;
  if (viewOf(page) === "matrix" && axes > MOST) return ["lineage.matrix_cut", { n: MOST, total: count(axes) }];
  if (viewOf(page) === "matrix" && axes < 2) return ["lineage.matrix_none", {}];
  return ["lineage.box_tip", {}];
};

/** @param {Lineage.Page} page */
function boardOf(page) {
  if (page.board) return page.board;
  const host = page.find(".ms-lineage-scatter");
  const canvas = make("canvas", "", [], { role: "img" });
  const tip = make("div", "ms-lineage-tip", [], { hidden: "" });
  host.replaceChildren(canvas, tip);
  /** @type {Lineage.Board} */
  const board = { host, canvas, tip, panels: [], box: null, figure: null, axes: new Map(), colours: [] };
  page.board = board;
  new ResizeObserver(() => draw(page)).observe(host);
  canvas.addEventListener("pointerdown", (event) => press(page, event));
  canvas.addEventListener("pointermove", (event) => move(page, event));
  canvas.addEventListener("pointerup", (event) => release(page, event));
  canvas.addEventListener("pointercancel", () => { board.box = null; draw(page); });
  canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
  return board;
}

/**
 * @param {Lineage.Axis} meta
 * @param {Lineage.Dimension} dimension
 * @returns {Lineage.ScatterAxis}
 */
function scatterAxis(meta, { values, range, tickvals, ticktext }) {
  const ticks = tickvals.map((at, n) => ({ at, text: ticktext[n] }));
  return { meta, places: numbersOf(values), range, ticks };
}

/** @param {Lineage.Page} page */
export const scatter = (page) => {
  const board = boardOf(page);
  const { figure } = page;
  if (board.figure !== figure) {
    board.figure = figure;
    const { dimensions } = figure.data[0];
    board.axes = new Map(figure.layout.meta.axes.map((meta, i) => [meta.name, scatterAxis(meta, dimensions[i])]));
    board.colours = coloursOf(figure);
  }
  draw(page);
};

/** @param {Lineage.Page} page */
export const mark = (page) => {
  if (page.board && page.board.figure && viewOf(page)) draw(page);
};

// Drawing -----------------------------------------------------------------------------------------------------------

/**
 * Columns of the matrix: the first ones, always including the one that colours.
 * @param {Lineage.Page} page
 */
function namesOf(page) {
  const axes = axesOf(page);
  const colour = colourOf(page);
  return axes.indexOf(colour) < MOST ? axes.slice(0, MOST) : [...axes.slice(0, MOST - 1), colour];
}

/**
 * @param {Lineage.Page} page
 * @param {number} width
 * @param {number} height
 * @param {number} left
 */
function panelsOf(page, width, height, left) {
  const { axes } = page.board;
  if (viewOf(page) === "scatter") {
    const [x, y] = pairOf(page);
    return axes.has(x) && axes.has(y)
      ? [{ x, y, left, top: GAP, width: width - left - GAP, height: height - GAP - BOTTOM, low: true, first: true }]
      : [];
  }
  const names = namesOf(page).filter((name) => axes.has(name));
  const side = names.length - 1;
  const across = (width - left - GAP) / side;
  const down = (height - GAP - BOTTOM) / side;
  const panels = [];
  for (let row = 0; row < side; row += 1) {
    for (let column = 0; column <= row; column += 1) {
      panels.push({
        x: names[column],
        y: names[row + 1],
        left: left + column * across,
        top: GAP + row * down,
        width: across - GAP,
        height: down - GAP,
        low: row === side - 1,
        first: column === 0,
      });
    }
  }
  return panels;
}

/**
 * @param {Lineage.Panel} panel
 * @param {Lineage.ScatterAxis} axis
 * @param {number} place
 */
const acrossOf = (panel, axis, place) => panel.left + ((place - axis.range[0]) / (axis.range[1] - axis.range[0])) * panel.width;
/**
 * @param {Lineage.Panel} panel
 * @param {Lineage.ScatterAxis} axis
 * @param {number} place
 */
const upOf = (panel, axis, place) =>
  panel.top + panel.height - ((place - axis.range[0]) / (axis.range[1] - axis.range[0])) * panel.height;

/**
 * @param {string} text
 * @param {Lineage.ScatterAxis} axis
 */
function missing(text, axis) {
  return text === "missing" && "missing" in axis.meta.apart ? translate("lineage.apart.missing") : text;
}

/** @param {Lineage.Page} page */
function draw(page) {
  const { board } = page;
  const { clientWidth: width, clientHeight: height } = board.host;
  if (!board.figure || !width || !height) return;
  const scale = window.devicePixelRatio || 1;
  Object.assign(board.canvas, { width: Math.round(width * scale), height: Math.round(height * scale) });
  const pen = penOf(board.canvas);
  pen.scale(scale, scale);
  drawOn(page, pen);
  const pairs = board.panels.map(({ x, y }) => `${title(page, y, "")} / ${title(page, x, "")}`);
  board.canvas.setAttribute("aria-label", `${pairs.join(", ")}: ${page.figure.layout.meta.keys.length}`);
  setDescription(board.canvas, page.figure.layout.meta.alternative);
  board.canvas.dataset.panels = String(board.panels.length);
  board.canvas.dataset.shown = String(page.passing === null ? page.figure.layout.meta.keys.length : page.passing.size);
}

/**
 * Draw the view in the size that it has on the page.
 * @param {Lineage.Page} page
 * @param {Lineage.Pen} pen
 */
export function drawOn(page, pen) {
  const { board } = page;
  const { clientWidth: width, clientHeight: height } = board.host;
  const style = window.getComputedStyle(page.root);
  /** @param {string} name */
  const colour = (name) => style.getPropertyValue(name).trim();
  const look = {
    font: colour("--ms-font"), text: colour("--ms-text"), muted: colour("--ms-muted"), line: colour("--ms-line"),
    strong: colour("--ms-line-strong"), accent: colour("--ms-accent"),
  };
  const names = viewOf(page) === "scatter" ? [pairOf(page)[1]] : namesOf(page).slice(1);
  pen.font = `11px ${look.font}`;
  const longest = Math.max(
    0,
    ...names.flatMap((name) =>
      board.axes.has(name) ? axisOf(board, name).ticks.map(({ text }) => pen.measureText(text).width) : [],
    ),
  );
  board.panels = panelsOf(page, width, height, Math.min(140, longest) + 34);
  const keys = page.figure.layout.meta.keys;
  const shown = page.passing;
  const brushed = brushes(page);
  const radius = board.panels.length > 1 ? (keys.length > 200 ? 1.5 : 2.5) : keys.length > 400 ? 2.5 : 4;
  for (const panel of board.panels) paint(page, pen, panel, { look, keys, shown, brushed, radius });
  if (board.box) outline(pen, board.box, look);
}

/**
 * @param {Lineage.Page} page
 * @param {string} name
 * @param {string} scale
 */
function title(page, name, scale) {
  const text = cut(fullOf(columnNamed(page, name)), 24);
  return scale && scale !== "linear" ? `${text} (${translate(`lineage.${scale}`)})` : text;
}

/**
 * @param {Lineage.Page} page
 * @param {Lineage.Pen} pen
 * @param {Lineage.Panel} panel
 * @param {Lineage.Drawn} drawn
 */
function paint(page, pen, panel, { look, keys, shown, brushed, radius }) {
  const { board } = page;
  const [x, y] = [axisOf(board, panel.x), axisOf(board, panel.y)];
  pen.save();
  pen.lineWidth = 1;
  pen.font = `11px ${look.font}`;
  ticks(pen, panel, x, y, look);
  pen.strokeStyle = look.strong;
  pen.strokeRect(panel.left + 0.5, panel.top + 0.5, panel.width, panel.height);
  const [across, up] = [brushed.get(panel.x), brushed.get(panel.y)];
  if (across) band(pen, panel, x, stretches(x.meta, across), true, look);
  if (up) band(pen, panel, y, stretches(y.meta, up), false, look);
  pen.fillStyle = look.text;
  pen.font = `500 12px ${look.font}`;
  pen.textAlign = "center";
  if (panel.low) {
    pen.fillText(
      fitted(pen, title(page, panel.x, x.meta.scale), panel.width),
      panel.left + panel.width / 2,
      panel.top + panel.height + 29,
    );
  }
  if (panel.first) {
    pen.translate(12, panel.top + panel.height / 2);
    pen.rotate(-Math.PI / 2);
    pen.fillText(fitted(pen, title(page, panel.y, y.meta.scale), panel.height), 0, 0);
    pen.rotate(Math.PI / 2);
    pen.translate(-12, -panel.top - panel.height / 2);
  }
  /** @param {number} row */
  const dot = (row) => {
    pen.beginPath();
    pen.arc(acrossOf(panel, x, x.places[row]), upOf(panel, y, y.places[row]), radius, 0, 2 * Math.PI);
    pen.fill();
  };
  const passes = keys.map((key) => shown === null || shown.has(key));
  pen.fillStyle = GREY;
  pen.globalAlpha = 0.25;
  keys.forEach((_key, row) => { if (!passes[row]) dot(row); });
  pen.globalAlpha = keys.length > 400 ? 0.7 : 0.9;
  keys.forEach((_key, row) => {
    if (!passes[row]) return;
    pen.fillStyle = board.colours[row];
    dot(row);
  });
  pen.restore();
}

/**
 * @param {Lineage.Pen} pen
 * @param {string} text
 * @param {number} width
 */
function fitted(pen, text, width) {
  return fittedName(text, width, (one) => pen.measureText(one).width) || CUT;
}

/**
 * @param {Lineage.Pen} pen
 * @param {Lineage.Panel} panel
 * @param {Lineage.ScatterAxis} x
 * @param {Lineage.ScatterAxis} y
 * @param {Lineage.Look} look
 */
function ticks(pen, panel, x, y, look) {
  pen.strokeStyle = look.line;
  pen.fillStyle = look.muted;
  let free = -Infinity;
  for (const { at, text: words } of x.ticks) {
    const place = Math.round(acrossOf(panel, x, at)) + 0.5;
    stroke(pen, place, panel.top, place, panel.top + panel.height);
    if (!panel.low) continue;
    const text = fitted(pen, missing(words, x), 90);
    const half = pen.measureText(text).width / 2;
    const middle = Math.max(panel.left + half - 2, Math.min(panel.left + panel.width - half + 2, place));
    if (middle - half < free) continue;
    pen.textAlign = "center";
    pen.fillText(text, middle, panel.top + panel.height + 14);
    free = middle + half + 6;
  }
  free = Infinity;
  for (const { at, text: words } of y.ticks) {
    const place = Math.round(upOf(panel, y, at)) + 0.5;
    stroke(pen, panel.left, place, panel.left + panel.width, place);
    if (!panel.first || place > free) continue;
    pen.textAlign = "right";
    pen.fillText(fitted(pen, missing(words, y), 140), panel.left - 5, place + 3.5);
    free = place - 13;
  }
}

/**
 * @param {Lineage.Pen} pen
 * @param {...number} points
 */
function stroke(pen, ...points) {
  pen.beginPath();
  pen.moveTo(points[0], points[1]);
  pen.lineTo(points[2], points[3]);
  pen.stroke();
}

/**
 * @param {Lineage.Pen} pen
 * @param {Lineage.Panel} panel
 * @param {Lineage.ScatterAxis} axis
 * @param {Lineage.Stretch[]} parts
 * @param {boolean} along
 * @param {Lineage.Look} look
 */
function band(pen, panel, axis, parts, along, look) {
  pen.fillStyle = look.accent;
  pen.globalAlpha = 0.1;
  for (const [from, to] of parts) {
    const [low, high] = [from, to].map((place) => Math.min(axis.range[1], Math.max(axis.range[0], place)));
    const ends = along
      ? [acrossOf(panel, axis, low), acrossOf(panel, axis, high)]
      : [upOf(panel, axis, high), upOf(panel, axis, low)];
    if (along) pen.fillRect(ends[0], panel.top, ends[1] - ends[0], panel.height);
    else pen.fillRect(panel.left, ends[0], panel.width, ends[1] - ends[0]);
  }
  pen.globalAlpha = 1;
}

/**
 * @param {Lineage.Pen} pen
 * @param {Lineage.Box} box
 * @param {Lineage.Look} look
 */
function outline(pen, { panel, from, to }, look) {
  const [left, right] = [from[0], to[0]].sort((a, b) => a - b);
  const [top, bottom] = [from[1], to[1]].sort((a, b) => a - b);
  pen.strokeStyle = look.accent;
  pen.setLineDash([4, 3]);
  pen.strokeRect(left, top, right - left, bottom - top);
  pen.setLineDash([]);
  return panel;
}

// Boxes and points --------------------------------------------------------------------------------------------------

/** @param {PointerEvent} event */
const at = (event) => [event.offsetX, event.offsetY];
/** @type {(panel: Lineage.Panel, place: Lineage.Place) => boolean} */
const inside = (panel, [x, y]) =>
  x >= panel.left && x <= panel.left + panel.width && y >= panel.top && y <= panel.top + panel.height;

/**
 * @param {Lineage.Page} page
 * @param {PointerEvent} event
 */
function press(page, event) {
  const panel = event.button === 0 && page.board.panels.find((one) => inside(one, at(event)));
  if (!panel) return;
  page.board.canvas.setPointerCapture(event.pointerId);
  page.board.box = { panel, from: at(event), to: at(event) };
}

/**
 * @param {Lineage.Page} page
 * @param {PointerEvent} event
 */
function move(page, event) {
  const { board } = page;
  if (!board.box) {
    hover(page, event);
    return;
  }
  const { panel } = board.box;
  const [x, y] = at(event);
  board.box.to = [
    Math.min(panel.left + panel.width, Math.max(panel.left, x)),
    Math.min(panel.top + panel.height, Math.max(panel.top, y)),
  ];
  board.tip.hidden = true;
  draw(page);
}

/**
 * @param {Lineage.Page} page
 * @param {PointerEvent} event
 */
function release(page, event) {
  const { board } = page;
  if (!board.box) return;
  const { panel, from, to } = board.box;
  board.box = null;
  const others = (page.state.brush || []).filter(
    (text) => ![panel.x, panel.y].some((name) => text.startsWith(`[${JSON.stringify(name)},`)),
  );
  if (Math.hypot(to[0] - from[0], to[1] - from[1]) < CLICK) {
    const row = nearest(page, panel, at(event));
    if (row === -1) page.change({ brush: others });
    else show(page, page.figure.layout.meta.keys[row]);
    return;
  }
  const [x, y] = [axisOf(board, panel.x), axisOf(board, panel.y)];
  /** @param {number} px */
  const placeAcross = (px) => x.range[0] + ((px - panel.left) / panel.width) * (x.range[1] - x.range[0]);
  /** @param {number} px */
  const placeUp = (px) => y.range[0] + ((panel.top + panel.height - px) / panel.height) * (y.range[1] - y.range[0]);
  /** @type {(axis: Lineage.ScatterAxis, a: number, b: number) => string} */
  const written = ({ meta }, a, b) => {
    const { ranges, names } = meaning(meta, [[Math.min(a, b), Math.max(a, b)]]);
    return JSON.stringify([meta.name, ranges, names]);
  };
  const brush = [written(x, placeAcross(from[0]), placeAcross(to[0])), written(y, placeUp(from[1]), placeUp(to[1]))];
  page.change({ brush: [...others, ...(panel.x === panel.y ? brush.slice(0, 1) : brush)] });
}

/**
 * Row of the point near a position in a panel, among those that pass the brushes; -1 for none.
 * @param {Lineage.Page} page
 * @param {Lineage.Panel} panel
 * @param {Lineage.Place} place
 */
function nearest(page, panel, place) {
  const [px, py] = place;
  const [x, y] = [axisOf(page.board, panel.x), axisOf(page.board, panel.y)];
  let best = NEAR;
  let found = -1;
  page.figure.layout.meta.keys.forEach((key, row) => {
    if (page.passing !== null && !page.passing.has(key)) return;
    const distance = Math.hypot(acrossOf(panel, x, x.places[row]) - px, upOf(panel, y, y.places[row]) - py);
    if (distance < best) [best, found] = [distance, row];
  });
  return found;
}

/**
 * @param {Lineage.Page} page
 * @param {PointerEvent} event
 */
function hover(page, event) {
  const { board } = page;
  const panel = board.panels.find((one) => inside(one, at(event)));
  const row = panel ? nearest(page, panel, at(event)) : -1;
  board.tip.hidden = row === -1;
  board.canvas.style.cursor = row === -1 ? "crosshair" : "pointer";
  if (!panel || row === -1) return;
  const key = page.figure.layout.meta.keys[row];
  const names = [...new Set([panel.x, panel.y, colourOf(page)])].filter((name) => page.columns.has(name));
  const lines = names.map((name) => {
    const column = columnNamed(page, name);
    return make("div", "ms-lineage-tip-line", [
      make("span", "ms-muted", cut(fullOf(column), 40)),
      make("span", "", valueText(column, /** @type {number} */ (page.places.get(key)))),
    ]);
  });
  const dot = make("span", "ms-dot", []);
  dot.style.background = board.colours[row];
  board.tip.replaceChildren(make("div", "ms-run", [dot, make("span", "ms-cut ms-name", key)]), ...lines);
  const [x, y] = at(event);
  const { clientWidth: width, clientHeight: height } = board.host;
  board.tip.style.left = `${x + 14 + board.tip.offsetWidth > width ? Math.max(0, x - 14 - board.tip.offsetWidth) : x + 14}px`;
  board.tip.style.top = `${Math.max(0, Math.min(y + 10, height - board.tip.offsetHeight))}px`;
}

/**
 * @param {Lineage.Page} page
 * @param {string} key
 */
export function show(page, key) {
  const node = page.api && page.api.getRowNode(key);
  if (!node) return;
  page.api.ensureNodeVisible(node, "middle");
  node.setSelected(!node.isSelected());
}
