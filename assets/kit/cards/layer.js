// The canvas below plotly's plot in cards with many lines. plotly spends 4 ms on each trace, which is 4 s for ten cards of a
// hundred runs; here they take 0.5 s. The grid is copied below the canvas, since plotly's own would be above the lines.

import { make } from "../elements.js";
import { linesOf, paint, pointsOf, scaleOf } from "./curves.js";
import { whenPlotted } from "./plots.js";
import { sheet, straight } from "./strokes.js";

const layers = new WeakMap();  // body of a card -> { canvas: the traces, host, grid, element, plot }

/**
 * Show the lines of a drawing when plotly draws the rest of it.
 * @param {HTMLElement} body of a card
 * @param {any[] | undefined} canvas the traces, none for a drawing that plotly draws alone
 */
export function give(body, canvas) {
  let layer = layers.get(body);
  if (!layer && !canvas) return;
  if (!layer) {
    layer = { body, plot: null, host: null, followed: false };
    layers.set(body, layer);
  }
  layer.canvas = canvas || null;
  if (!layer.followed) follow(layer);
}

function follow(layer) {
  layer.followed = true;
  whenPlotted(layer.body, (plot) => {
    layer.plot = plot;
    plot.on("plotly_afterplot", () => draw(layer));
    plot.on("plotly_relayouting", (change) => plot.layout.dragmode === "pan" && draw(layer, change));
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

const areaOf = (plot) => plot.querySelector(".nsewdrag");

function furnish(layer) {
  const element = document.createElement("canvas");
  const grid = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  layer.host = make("div", "ms-lines", [], { "aria-hidden": "true" });
  layer.host.append(grid, element);
  layer.body.querySelector("[data-graph]").before(layer.host);
  return Object.assign(layer, { element, grid });
}

// Draw all lines in the ranges of the axes, or in those that they are being moved to.
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
  const area = areaOf(plot);
  const [left, top, width, height] = ["x", "y", "width", "height"].map((name) => area && Number(area.getAttribute(name)));
  if (!(width > 0 && height > 0)) return;
  const ratio = window.devicePixelRatio || 1;
  const size = { width: Math.round(width * ratio), height: Math.round(height * ratio) };
  const scales = scalesOf(plot.layout, change, size);
  if (!canvas.every((trace) => scales[trace.yaxis || "y"])) return;  // plotly has not placed its axes yet
  const grids = Array.from(plot.querySelectorAll(".gridlayer, .zerolinelayer"));
  const ticks = grids.flatMap((of) => Array.from(of.querySelectorAll("path"), (path) => path.getAttribute("transform")));
  // plotly may draw again what is as it was.
  const look = JSON.stringify([left, top, size, ratio, scales, ticks]);
  if (layer.drawn === canvas && layer.look === look) return;
  Object.assign(layer, { drawn: canvas, look });
  const { element, host, grid } = layer.host ? layer : furnish(layer);
  grid.replaceChildren(...grids.map((of) => of.cloneNode(true)));
  Object.assign(element, size);
  Object.assign(element.style, {
    left: `${left}px`, top: `${top}px`, width: `${size.width / ratio}px`, height: `${size.height / ratio}px`,
  });
  const context = element.getContext("2d", { willReadFrequently: true });
  const bands = canvas.filter((trace) => trace.fill);
  for (const band of bands) fill(context, band, scales);
  const on = sheet(size.width, size.height);
  paint(on, canvas.filter((trace) => !trace.fill), scales, ratio);
  lay(context, new ImageData(straight(on), size.width, size.height), bands.length > 0);
  host.dataset.lines = linesOf(canvas).length;
  layer.scales = scales;
  if (layer.mine) drawLit(layer);
}

function drawLit(layer) {
  const { element, host, mine, canvas, scales } = layer;
  const before = host.querySelector(".ms-lines-lit");
  if (before) before.remove();
  if (!mine) return;
  const { width, height } = element;
  const above = Object.assign(document.createElement("canvas"), { width, height, className: "ms-lines-lit" });
  above.style.cssText = element.style.cssText;
  const on = sheet(width, height);
  paint(on, canvas.filter((trace) => !trace.fill && mine(trace)), scales, window.devicePixelRatio || 1);
  above.getContext("2d").putImageData(new ImageData(straight(on), width, height), 0, 0);
  host.append(above);
}

function scalesOf(layout, change, { width, height }) {
  const range = (name) => layout[name].range.map((end, i) => change[`${name}.range[${i}]`] ?? end);
  const scales = { x: scaleOf(range("xaxis"), 0, width) };
  for (const name of ["yaxis", "yaxis2"].filter((key) => layout[key] && layout[key].range)) {
    scales[name.replace("axis", "")] = scaleOf(range(name), height, 0, layout[name].type === "log");
  }
  return scales;
}

function fill(context, trace, scales) {
  const { xs, ys } = pointsOf(trace, scales);
  context.globalAlpha = trace.opacity;
  context.fillStyle = trace.fillcolor;
  context.beginPath();
  for (let i = 0, begun = false; i < xs.length; i += 1) {
    const there = !Number.isNaN(xs[i]);
    if (there && begun) context.lineTo(xs[i], ys[i]);
    else if (there) context.moveTo(xs[i], ys[i]);
    begun = there;
  }
  context.fill();
}

function lay(context, image, above) {
  if (!above) {
    context.putImageData(image, 0, 0);
    return;
  }
  const { width, height } = image;
  const lines = Object.assign(document.createElement("canvas"), { width, height });
  lines.getContext("2d", { willReadFrequently: true }).putImageData(image, 0, 0);
  context.globalAlpha = 1;
  context.drawImage(lines, 0, 0);
}

// The pixels of the screen may be others now.
window.addEventListener("resize", () => {
  for (const body of document.querySelectorAll(".ms-on-canvas")) draw(layers.get(body));
});
