// Figures of plotly in a page saved as a file: their data and layout as JSON, which the file's own script draws again.

import { markup } from "./page_text.js";

/**
 * What the script of a file draws.
 * @typedef {object} SavedFigure
 * @property {string} host id of its element
 * @property {unknown[]} data
 * @property {Record<string, unknown>} layout
 * @property {Record<string, unknown>} config
 */
/** @typedef {"none" | "flat" | "all"} Charts how much of plotly.js figures need: none, that for two dimensions, or all of it */

const FLAT = new Set(["scatter", "bar", "heatmap", "histogram", "histogram2d", "box", "violin", "contour", "image", "pie",
  "histogram2dcontour", "scatterternary"]);
const SPATIAL = new Set(["surface", "scatter3d", "mesh3d"]);

/**
 * What of plotly.js draws these traces again; null if they stay the picture they are.
 * @param {{ type?: string }[]} data
 * @returns {Charts | null}
 */
export function chartsFor(data) {
  const types = data.map(({ type }) => type || "scatter");
  if (types.every((type) => FLAT.has(type))) return "flat";
  return types.every((type) => FLAT.has(type) || SPATIAL.has(type)) ? "all" : null;
}

/** @type {Record<string, string>} */
const DTYPES = {
  Int8Array: "i1", Uint8Array: "u1", Uint8ClampedArray: "u1c", Int16Array: "i2", Uint16Array: "u2", Int32Array: "i4",
  Uint32Array: "u4", Float32Array: "f4", Float64Array: "f8",
};  // by name, because an array of another window is of no class of this one
const PART = 0x8000;  // bytes that are made a text at once

/** @param {ArrayBufferView} array */
function base64(array) {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  const parts = [];
  for (let at = 0; at < bytes.length; at += PART) parts.push(String.fromCharCode(...bytes.subarray(at, at + PART)));
  return btoa(parts.join(""));
}

/**
 * A value of a figure as JSON has it: numbers as plotly reads them packed, and without what plotly notes for itself.
 * @param {unknown} value
 * @returns {unknown}
 */
export function plain(value) {
  if (ArrayBuffer.isView(value)) {
    const dtype = DTYPES[value.constructor.name];
    return dtype ? { dtype, bdata: base64(value) } : Array.from(/** @type {BigInt64Array} */ (value), String);
  }
  if (Array.isArray(value)) return value.map(plain);
  if (!value || typeof value !== "object" || value instanceof Date) return value;
  const kept = Object.entries(value).filter(([name, one]) => !name.startsWith("_") && typeof one !== "function");
  return Object.fromEntries(kept.map(([name, one]) => [name, plain(one)]));
}

/**
 * A trace that names its run when it is pointed at: on the page a script does this for lines that plotly leaves out.
 * @param {PlotlyTrace} trace
 */
function savedTrace(trace) {
  const { meta, ...rest } = trace;
  const label = /** @type {{ label?: unknown } | undefined} */ (meta)?.label;
  const named = trace.hoverinfo === "skip" && typeof label === "string" && label;
  const used = String(trace.hovertemplate || "").includes("%{meta");
  return plain({
    ...rest,
    ...(used ? { meta } : {}),
    ...(named ? { name: markup(label), hoverinfo: "x+y+name", hoverlabel: { namelength: -1 } } : {}),
  });
}

/**
 * A drawn figure as a file has it; it takes the size of its element.
 * @param {string} host id of its element in the file
 * @param {PlotlyFigure & { _context?: Record<string, unknown> }} plot
 * @returns {SavedFigure}
 */
export function savedFigure(host, plot) {
  const layout = { ...plot.layout };
  for (const name of ["meta", "width", "height"]) delete layout[name];
  const { scrollZoom, staticPlot, doubleClick } = plot._context || {};
  return {
    host,
    data: plot.data.map(savedTrace),
    layout: /** @type {Record<string, unknown>} */ (plain({
      ...layout, autosize: true, hovermode: layout.hovermode || "closest", dragmode: layout.dragmode || "zoom",
    })),
    config: { displayModeBar: false, displaylogo: false, responsive: true, scrollZoom, staticPlot, doubleClick },
  };
}
