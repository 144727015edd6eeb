// The canvas below plotly's plot in cards with many lines. plotly spends 4 ms on each trace, which is 4 s for ten cards of a
// hundred runs; here they take 0.5 s. The grid is copied below the canvas, since plotly's own would be above the lines.

import { make } from "../elements.js";
import { linesOf, paint, pointsOf, scaleOf } from "./curves.js";
import { whenPlotted } from "./plots.js";
import { sheet, straight } from "./strokes.js";

/** @import { Scale } from "./curves.js" */
/**
 * The canvas of a card.
 * @typedef {object} Layer
 * @property {HTMLElement} body
 * @property {PlotlyDrawn | null} plot
 * @property {HTMLElement | null} host
 * @property {boolean} followed
 * @property {SentTrace[] | null} canvas the traces
 * @property {((trace: SentTrace) => boolean) | null} mine which lines are lit
 * @property {SentTrace[] | null} drawn
 * @property {string} look
 * @property {HTMLCanvasElement} element
 * @property {Element} grid
 * @property {Record<string, Scale>} scales
 */

const SVG = "http://www.w3.org/2000/svg";
/** @type {WeakMap<HTMLElement, Layer>} */
const layers = new WeakMap();  // body of a card -> { canvas: the traces, host, grid, element, plot }

/**
 * The context of a canvas for two dimensions, whose pixels are written one by one.
 * @param {HTMLCanvasElement} canvas
 */
const contextOf = (canvas) => /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { willReadFrequently: true }));

/**
 * Show the lines of a drawing when plotly draws the rest of it.
 * @param {HTMLElement} body of a card
 * @param {any[] | undefined} canvas the traces, none for a drawing that plotly draws alone
 */
export function give(body, canvas) {
  let layer = layers.get(body);
  if (!layer && !canvas) return;
  if (!layer) {
    layer = {
      body, plot: null, host: null, followed: false, canvas: null, mine: null, drawn: null, look: "", scales: {},
      element: document.createElement("canvas"), grid: document.createElementNS(SVG, "svg"),
    };
    layers.set(body, layer);
  }
  layer.canvas = canvas || null;
  if (!layer.followed) follow(layer);
}

/** @param {Layer} layer */
function follow(layer) {
  layer.followed = true;
  whenPlotted(layer.body, (plot) => {
    layer.plot = plot;
    plot.on("plotly_afterplot", () => draw(layer));
    plot.on("plotly_relayouting", (/** @type {any} */ change) => plot.layout.dragmode === "pan" && draw(layer, change));
    draw(layer);
  });
}

/**
 * Draw some lines of a card once more, above all of them.
 * @param {HTMLElement} body of the card
 * @param {((trace: any) => boolean) | null} mine which, null for none
 */
export function light(body, mine) {
  const layer = layers.get(body);
  if (!layer || !layer.canvas) return;
  layer.mine = mine;
  if (layer.host) drawLit(layer);
}

/**
 * @param {PlotlyDrawn} plot
 * @returns {Element | null}
 */
const areaOf = (plot) => plot.querySelector(".nsewdrag");

/** @param {Layer} layer */
function furnish(layer) {
  const host = make("div", "ms-lines", [layer.grid, layer.element], { "aria-hidden": "true" });
  layer.host = host;
  layer.body.querySelector("[data-graph]").before(host);
  return host;
}

/**
 * Draw all lines in the ranges of the axes, or in those that they are being moved to.
 * @param {Layer} layer
 * @param {Record<string, number>} [change]
 */
function draw(layer, change = {}) {
  const { body, canvas, plot } = layer;
  body.classList.toggle("ms-on-canvas", Boolean(canvas));
  if (!canvas) {
    if (layer.host) {
      layer.host.remove();
      Object.assign(layer, { host: null, drawn: null });
    }
    return;
  }
  if (!plot) return;
  const area = areaOf(plot);
  const [left, top, width, height] = ["x", "y", "width", "height"].map((name) => (area ? Number(area.getAttribute(name)) : 0));
  if (!(width > 0 && height > 0)) return;
  const ratio = window.devicePixelRatio || 1;
  const size = { width: Math.round(width * ratio), height: Math.round(height * ratio) };
  /** @type {Record<string, Scale>} */
  const scales = scalesOf(plot.layout, change, size);
  if (!canvas.every((trace) => scales[trace.yaxis || "y"])) return;  // plotly has not placed its axes yet
  const grids = Array.from(plot.querySelectorAll(".gridlayer, .zerolinelayer"));
  const ticks = grids.flatMap((of) => Array.from(of.querySelectorAll("path"), (path) => path.getAttribute("transform")));
  // plotly may draw again what is as it was.
  const look = JSON.stringify([left, top, size, ratio, scales, ticks]);
  if (layer.drawn === canvas && layer.look === look) return;
  Object.assign(layer, { drawn: canvas, look });
  const host = layer.host || furnish(layer);
  const { element, grid } = layer;
  grid.replaceChildren(...grids.map((of) => of.cloneNode(true)));
  Object.assign(element, size);
  Object.assign(element.style, {
    left: `${left}px`, top: `${top}px`, width: `${size.width / ratio}px`, height: `${size.height / ratio}px`,
  });
  const context = contextOf(element);
  const bands = canvas.filter((trace) => trace.fill);
  for (const band of bands) fill(context, band, scales);
  const on = sheet(size.width, size.height);
  paint(on, canvas.filter((trace) => !trace.fill), scales, ratio);
  lay(context, new ImageData(straight(on), size.width, size.height), bands.length > 0);
  host.dataset.lines = String(linesOf(canvas).length);
  layer.scales = scales;
  if (layer.mine) drawLit(layer);
}

/** @param {Layer} layer */
function drawLit(layer) {
  const { element, host, mine, canvas, scales } = layer;
  if (!host || !canvas) return;
  const before = host.querySelector(".ms-lines-lit");
  if (before) before.remove();
  if (!mine) return;
  const { width, height } = element;
  const above = Object.assign(document.createElement("canvas"), { width, height, className: "ms-lines-lit" });
  above.style.cssText = element.style.cssText;
  const on = sheet(width, height);
  paint(on, canvas.filter((trace) => !trace.fill && mine(trace)), scales, window.devicePixelRatio || 1);
  contextOf(above).putImageData(new ImageData(straight(on), width, height), 0, 0);
  host.append(above);
}

/**
 * @param {PlotlyLayout} layout
 * @param {string} axis
 * @returns {(number | string)[]}
 */
const rangeOf = (layout, axis) => layout[axis].range;

/**
 * @param {PlotlyLayout} layout
 * @param {Record<string, number>} change
 * @param {{ width: number, height: number }} size
 */
function scalesOf(layout, change, { width, height }) {
  /** @param {string} name */
  const range = (name) => rangeOf(layout, name).map((end, i) => change[`${name}.range[${i}]`] ?? end);
  /** @type {Record<string, Scale>} */
  const scales = { x: scaleOf(range("xaxis"), 0, width) };
  for (const name of ["yaxis", "yaxis2"].filter((key) => layout[key] && layout[key].range)) {
    scales[name.replace("axis", "")] = scaleOf(range(name), height, 0, layout[name].type === "log");
  }
  return scales;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {SentTrace} trace
 * @param {Record<string, Scale>} scales
 */
function fill(context, trace, scales) {
  const { xs, ys } = pointsOf(trace, scales);
  context.globalAlpha = trace.opacity ?? 1;
  context.fillStyle = trace.fillcolor || "";
  context.beginPath();
  for (let i = 0, begun = false; i < xs.length; i += 1) {
    const there = !Number.isNaN(xs[i]);
    if (there && begun) context.lineTo(xs[i], ys[i]);
    else if (there) context.moveTo(xs[i], ys[i]);
    begun = there;
  }
  context.fill();
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {ImageData} image
 * @param {boolean} above
 */
function lay(context, image, above) {
  if (!above) {
    context.putImageData(image, 0, 0);
    return;
  }
  const { width, height } = image;
  const lines = Object.assign(document.createElement("canvas"), { width, height });
  contextOf(lines).putImageData(image, 0, 0);
  context.globalAlpha = 1;
  context.drawImage(lines, 0, 0);
}

// The pixels of the screen may be others now.
window.addEventListener("resize", () => {
  for (const body of document.querySelectorAll(".ms-on-canvas")) {
    const layer = layers.get(body);
    if (layer) draw(layer);
  }
});
