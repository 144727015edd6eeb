// Save files made in the browser: plots as images, tables as CSV, and blobs.
import { pictureOf } from "./canvases.js";
import { make } from "./elements.js";

const KEEP_MS = 10000;  // the browser reads the blob some time after the click

/**
 * A text as the name of a file, without what file systems refuse; otherwise: the name where nothing is left.
 * @param {string} text
 * @param {string} otherwise
 * @param {number} [longest]
 */
export function fileName(text, otherwise, longest = 80) {
  return text.replace(/[^\p{L}\p{N}.-]+/gu, "_").replace(/^[._]+|_+$/g, "").slice(0, longest) || otherwise;
}

/**
 * @param {string} url
 * @param {string} name
 */
export function save(url, name) {
  make("a", "", [], { href: url, download: name }).click();
}

/**
 * @param {Blob} blob
 * @param {string} name
 */
export function saveBlob(blob, name) {
  const url = URL.createObjectURL(blob);
  save(url, name);
  window.setTimeout(() => URL.revokeObjectURL(url), KEEP_MS);
}

/**
 * Save the picture on a canvas as PNG.
 * @param {HTMLCanvasElement} canvas
 * @param {string} name without suffix
 */
export async function savePicture(canvas, name) {
  saveBlob(await pictureOf(canvas), `${name}.png`);
}

/**
 * Values of css variables where an element stands.
 * @param {Element} element
 */
export function coloursAt(element) {
  const style = getComputedStyle(element);
  return { colour: (/** @type {string} */ name) => style.getPropertyValue(name).trim(), font: style.fontFamily };
}

/**
 * A figure with the colours in it that css gives a plot on the page; grid and zero are css variables of lines.
 * @param {PlotlyFigure} figure
 * @param {Element} near
 * @param {{ grid?: string, zero?: string }} [lines]
 * @returns {PlotlyFigure}
 */
export function withColours({ data, layout }, near, { grid = "", zero = "" } = {}) {
  const { colour, font } = coloursAt(near);
  const dressed = structuredClone(layout);
  for (const name of Object.keys(dressed).filter((key) => /^[xy]axis\d*$/.test(key))) {
    const axis = /** @type {PlotlyAxis} */ (dressed[name]);
    if (grid) axis.gridcolor = colour(grid);
    if (zero) axis.zerolinecolor = colour(zero);
  }
  Object.assign(dressed, {
    paper_bgcolor: colour("--ms-card"), plot_bgcolor: colour("--ms-card"), autosize: false,
    font: { size: 11, color: colour("--ms-text"), family: font },
  });
  return { data, layout: dressed };
}

/**
 * Save a figure as it is, "png" or "svg", in pixels of the page.
 * @param {PlotlyFigure} figure
 * @param {string} format
 * @param {string} name
 * @param {number} width
 * @param {number} height
 */
export async function saveFigure(figure, format, name, width, height) {
  const options = { format, width, height, scale: format === "png" ? 2 : 1 };
  save(await window.Plotly.toImage(figure, options), `${name}.${format}`);
}

/**
 * Save a figure in the colours of the page around an element, in the size of another.
 * @param {PlotlyFigure} figure
 * @param {Element} near
 * @param {string} format
 * @param {string} name
 * @param {{ clientWidth: number, clientHeight: number }} [size]
 * @param {{ grid?: string, zero?: string }} [lines]
 */
export function saveImage(figure, near, format, name, size = near, lines = {}) {
  return saveFigure(withColours(figure, near, lines), format, name, size.clientWidth, size.clientHeight);
}

/**
 * Escape texts that a spreadsheet would take for a formula.
 * @param {unknown} value
 */
function cell(value) {
  if (typeof value === "number" && Number.isFinite(value)) return String(value);
  const text = value === null || value === undefined ? "" : String(value);
  const plain = /^[=+\-@\t\r]/.test(text) && !/^[+-]?Inf$/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replace(/"/g, '""')}"` : plain;
}

/**
 * Rows of numbers and texts as CSV.
 * @param {unknown[][]} table
 */
export function csvText(table) {
  return table.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

/**
 * @param {unknown[][]} table
 * @param {string} name
 */
export function saveCsv(table, name) {
  saveBlob(new Blob([csvText(table)], { type: "text/csv" }), `${name}.csv`);
}
