// Save files made in the browser: plots as images, tables as CSV, and blobs.
import { pictureOf } from "./canvases.js";
import { make } from "./elements.js";
import { language } from "./i18n.js";
import { escapeMarkup } from "./markup.js";
import { widthIn } from "./name_elements.js";
import { fitted, middle } from "./names.js";

const TITLE_PX = 26;  // of a picture, above the figure
const LEGEND_PX = 24;
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

/** @type {((file: string | Blob) => void) | null} */
let taker = null;  // who gets the next file instead of the user

/**
 * The file that an action saves, as text, instead of saving it.
 * @param {number} time ms in which it must be there
 * @param {() => unknown} act
 * @returns {Promise<string>}
 */
export async function taken(time, act) {
  try {
    const file = await new Promise((done, fail) => {
      taker = done;
      window.setTimeout(() => fail(new Error(`No file after ${time / 1000} s`)), time);
      Promise.resolve(act()).catch(fail);
    });
    // A policy lets pages fetch no address of data, not even their own.
    return typeof file === "string" ? decodeURIComponent(file.slice(file.indexOf(",") + 1)) : await file.text();
  } finally {
    taker = null;
  }
}

/**
 * @param {string} url
 * @param {string} name
 */
export function save(url, name) {
  if (taker) taker(url);
  else make("a", "", [], { href: url, download: name }).click();
}

/**
 * @param {Blob} blob
 * @param {string} name
 */
export function saveBlob(blob, name) {
  if (taker) {
    taker(blob);
    return;
  }
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

/** The title of the page on screen; "" in another application. */
export function pageTitle() {
  const title = document.querySelector(`.ms-page-title .${language()}`);
  return title && title.textContent ? title.textContent.trim() : "";
}

/**
 * What a picture or table of a card is called: what it shows, such as a run, its page and its card, where they are known.
 * @param {Element} near an element of the card
 * @param {string} subject
 * @returns {{ name: string, title: string }} name of a file without suffix, and title in a picture
 */
export function called(near, subject) {
  const card = near.closest(".ms-card");
  const title = card && card.querySelector(".ms-card-title");
  const said = [subject, pageTitle(), title instanceof HTMLElement ? title.innerText.trim() : ""];
  const parts = said.filter((part, at) => part && said.indexOf(part) === at);
  const short = parts.map((part, at) => (at ? part : middle(part, 40)));
  return { name: fileName(short.join("_"), "chart", 120), title: parts.join(" · ") };
}

/**
 * A figure as it is in a file: with a title, and with a legend of its named lines where the page has one beside the plot.
 * @param {PlotlyFigure} figure
 * @param {string} title
 * @param {number} width
 * @param {((trace: PlotlyTrace) => string) | null} [nameOf] names of lines that the figure does not name; "" for none
 * @returns {{ figure: PlotlyFigure, more: number }} more: px of height that title and legend take
 */
export function entitled({ data, layout }, title, width, nameOf = null) {
  const names = data.map((trace) => (nameOf ? nameOf(trace) : ""));
  const listed = names.filter(Boolean);
  /** @type {PlotlyLayout & { margin: { t?: number, b?: number } }} */
  const own = { ...layout, margin: { ...layout.margin } };
  const short = fitted(title, width - 24, widthIn(`13px ${layout.font?.family || "sans-serif"}`)) || title;
  own.title = { text: escapeMarkup(short), font: { size: 13 }, x: 0.01, xanchor: "left", y: 1, yanchor: "top", pad: { t: 8 } };
  own.margin.t = (own.margin.t || 0) + TITLE_PX;
  if (!listed.length) return { figure: { data, layout: own }, more: TITLE_PX };
  own.margin.b = (own.margin.b || 0) + LEGEND_PX;
  own.legend = { orientation: "h", x: 0, xanchor: "left", y: 0, yref: "container", yanchor: "bottom", font: { size: 11 } };
  const named = data.map((trace, at) => ({ ...trace, name: escapeMarkup(names[at]), showlegend: Boolean(names[at]) }));
  return { figure: { data: named, layout: { ...own, showlegend: true } }, more: TITLE_PX + LEGEND_PX };
}

/**
 * Save a figure in the colours of the page around an element, in the size of another, with what it is called as title and name.
 * @param {PlotlyFigure} figure
 * @param {Element} near
 * @param {string} format
 * @param {string} subject what it shows, such as a run
 * @param {{ clientWidth: number, clientHeight: number }} [size]
 * @param {{ grid?: string, zero?: string, nameOf?: ((trace: PlotlyTrace) => string) | null }} [look]
 */
export function saveImage(figure, near, format, subject, size = near, { nameOf = null, ...lines } = {}) {
  const { name, title } = called(near, subject);
  const { figure: whole, more } = entitled(withColours(figure, near, lines), title, size.clientWidth, nameOf);
  return saveFigure(whole, format, name, size.clientWidth, size.clientHeight + more);
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
