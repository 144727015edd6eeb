// Makes one HTML file of the page on screen, which opens without a server: a copy of what is seen, the style sheets as they are
// served, plotly.js for figures, and a policy that lets nothing be asked of a network. Loaded when a page is first saved.

import { pictureOf, penOf } from "../kit/canvases.js";
import { make, words } from "../kit/elements.js";
import { wholeFigures } from "../kit/every_point.js";
import { fileName, pageTitle } from "../kit/files.js";
import { translate } from "../kit/i18n.js";
import { dateTime } from "../kit/moments.js";
import { alone } from "../kit/prefs.js";
import { listOf } from "../kit/runs.js";
import { selected } from "../kit/run_selection.js";
import { parseQuery } from "../kit/state.js";
import { size } from "../kit/units.js";
import { boardSheet, copyBoard } from "./page_boards.js";
import { cardName, copyOf } from "./page_copy.js";
import { wholeGrids } from "./page_grids.js";
import { longTables } from "./page_rows.js";
import { fetched, sheetsOf } from "./page_sheets.js";
import { firstNames, policy, scriptJson, styledAttributes, withoutMenu, withoutTurns } from "./page_text.js";

/** @typedef {import("./page_copy.js").Copying} Copying */
/** @typedef {{ version: string, loader: string, plotly: string, hashes: string[] }} Furniture of app/routes/page_files.py */
/** @typedef {{ key: string, name: string, bytes: number }} Part of a file, with its text key */

export const LARGEST = 25e6;  // bytes
const NAMED_RUNS = 20;
const NAMED_PARTS = 3;
const ROOT = /^(lang|class|style|data-(?!embed|alone|part|found|folded))/;  // attributes of the root that a file has, too

/** A file that would be too large, and what takes most of it. */
export class TooLarge extends Error {
  /**
   * @param {number} bytes
   * @param {Part[]} parts
   */
  constructor(bytes, parts) {
    super(translate("page_file.too_large", {
      size: size(bytes), most: size(LARGEST),
      parts: parts.map(({ key, name, bytes: own }) => translate(key, { name, size: size(own) })).join(", ")
        || translate("page_file.rest"),
    }));
    this.name = "TooLarge";
  }
}

/** @param {Blob} blob */
function dataUrl(blob) {
  return new Promise((done, fail) => {
    const reader = new FileReader();
    reader.onload = () => done(String(reader.result));
    reader.onerror = () => fail(reader.error);
    reader.readAsDataURL(blob);
  });
}

/**
 * The picture that an image shows as a data URL: the file it came from, or what is drawn of it.
 * @param {HTMLImageElement} image
 */
async function imageData(image) {
  if (!image.src.startsWith("blob:")) {
    const blob = await (await fetched(image.currentSrc || image.src)).blob();
    if (blob.type.startsWith("image/")) return dataUrl(blob);
  }
  const canvas = Object.assign(document.createElement("canvas"), { width: image.naturalWidth, height: image.naturalHeight });
  penOf(canvas).drawImage(image, 0, 0);
  return dataUrl(await pictureOf(canvas));
}

/**
 * @param {Copying} copying
 * @param {Part[]} parts
 */
async function embedImages({ images }, parts) {
  let bytes = 0;
  for (const { image, copy } of images) {
    copy.src = await imageData(image);
    parts.push({ key: "page_file.images", name: cardName(image), bytes: copy.src.length });
    bytes += copy.src.length;
    if (bytes > 4 * LARGEST) break;  // it will not be saved
  }
}

/** Names of the runs on screen. */
function runNames() {
  const routes = document.querySelector(".ms-page")?.dataset.routes;
  /** @type {RunList | null} */
  const list = routes ? listOf(routes) : null;
  if (!list) return [];
  const chosen = selected(parseQuery(window.location.search), list);
  return list.rows.flatMap((row) => {
    const members = row.members.filter((key) => chosen.has(key));
    return members.length === row.members.length ? [row.name] : members;
  }).map(withoutTurns);
}

/**
 * @param {string} version
 * @param {string} address
 */
function head(version, address) {
  const names = runNames();
  const { names: named, n } = firstNames(names, NAMED_RUNS);
  const key = !names.length ? "page_file.no_runs" : n ? "page_file.more_runs" : "page_file.runs";
  const about = { time: dateTime(Date.now() / 1000), address: withoutTurns(address), version };
  const failed = words("page_file.undrawn", {}, "p", "ms-file-failed");
  Object.assign(failed, { id: "ms-file-failed", hidden: true });
  return make("header", "ms-file-head", [
    make("h1", "ms-file-title", pageTitle() || "Mindscope"),
    words(key, { names: named, n }, "p", "ms-file-runs"),
    words("page_file.about", about, "p", "ms-muted"),
    failed,
  ]);
}

/**
 * @param {string} id
 * @param {string} type "" for a script that runs
 * @param {string} text
 */
function script(id, type, text) {
  const element = document.createElement("script");
  if (id) element.id = id;
  if (type) element.type = type;
  element.textContent = text;
  return element;
}

/**
 * @param {Node | null} body
 * @param {string} css
 * @param {Copying} copying
 * @param {Furniture} furniture
 * @param {string} address
 */
function documentOf(body, css, { figures }, furniture, address) {
  const whole = document.implementation.createHTMLDocument(document.title);
  const root = whole.documentElement;
  for (const { name, value } of document.documentElement.attributes) {
    if (ROOT.test(name) || (alone && name !== "data-embed")) root.setAttribute(name, value);
  }
  const element = (/** @type {string} */ tag, /** @type {Record<string, string>} */ attributes) => {
    const made = whole.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  };
  const style = whole.createElement("style");
  style.textContent = css;
  whole.head.prepend(
    element("meta", { charset: "utf-8" }),
    element("meta", { "http-equiv": "Content-Security-Policy", content: policy(furniture.hashes) }),
    element("meta", { name: "viewport", content: "width=device-width" }),
    element("meta", { name: "referrer", content: "no-referrer" }),
  );
  whole.head.append(style);
  whole.body.className = document.body.className;
  if (alone) whole.body.style.overflow = "visible";
  whole.body.append(make("div", "ms ms-shell ms-file", [head(furniture.version, address), ...(body ? [body] : [])]));
  if (figures.length) {
    whole.body.append(
      script("ms-file-figures", "application/json", scriptJson(figures)),
      script("ms-file-plotly", "application/octet-stream", furniture.plotly),
      script("", "", furniture.loader),
    );
  }
  return `<!DOCTYPE html>\n${root.outerHTML}\n`;
}

/**
 * @param {Part[]} parts
 * @returns {Part[]} the largest, those of one card together
 */
export function largest(parts) {
  /** @type {Map<string, Part>} */
  const sums = new Map();
  for (const part of parts) {
    const id = `${part.key} ${part.name}`;
    sums.set(id, { ...part, bytes: part.bytes + (sums.get(id)?.bytes || 0) });
  }
  return Array.from(sums.values()).sort((a, b) => b.bytes - a.bytes).slice(0, NAMED_PARTS);
}

/**
 * The traces with every point of the plots below an element; one after the other, as each is large.
 * @param {Element} root
 */
async function wholeTraces(root) {
  const found = new Map();
  for (const [plot, whole] of wholeFigures(root)) found.set(plot, await whole.traces());
  return found;
}

/**
 * A card that is alone in its window is fixed to it: in a file it is to an element of the same height.
 * @param {Node | null} copied
 */
function holdCard(copied) {
  if (!(copied instanceof HTMLElement)) return;
  Object.assign(copied.style, { transform: "translate(0)", height: `${window.innerHeight}px` });
}

/**
 * The page on screen, or the card that is alone there, as one file that names this address as its origin.
 * With every its curves have all their points, with rows it offers all rows of long tables as CSV.
 * @param {{ address?: string, every?: boolean, rows?: boolean }} [options]
 * @returns {Promise<{ blob: Blob, name: string }>}
 */
export async function pageFile({ address = window.location.href, every = false, rows = false } = {}) {
  const main = document.querySelector(".ms-main");
  const routes = document.querySelector(".ms-page")?.dataset.routes;
  if (!main || !routes) throw new Error(translate("shell.no_page"));
  /** @type {Copying} */
  const copying = {
    styled: new Set(), figures: [], charts: "none", images: [], names: [], made: new Map(), whole: new Map(), long: new Map(),
  };
  const menu = Math.max(0, main.getBoundingClientRect().left);
  const own = await sheetsOf(document);
  let css = withoutMenu(Array.from(own.values()).join("\n"), menu);
  copying.styled = styledAttributes(css);
  const cards = await copyBoard(main, copying);
  if (cards) css = boardSheet(own, cards);
  if (every) copying.whole = await wholeTraces(main);
  for (const [table, { total, csv }] of await longTables(main)) {
    copying.long.set(table, { total, ...(rows ? { csv: await csv() } : {}) });
  }
  const restore = await wholeGrids(main);
  const copied = copyOf(main, copying);
  if (alone) holdCard(copied);
  restore();
  /** @type {Part[]} */
  const parts = copying.figures.map((figure, at) => ({
    key: "page_file.figures", name: copying.names[at], bytes: JSON.stringify(figure.data).length,
  }));
  for (const [table, { csv = "" }] of copying.long) {
    if (csv) parts.push({ key: "page_file.rows_of", name: cardName(table), bytes: csv.length * 4 / 3 });
  }
  await embedImages(copying, parts);
  /** @type {Furniture} */
  const furniture = await (await fetched(`${routes}page-file.json?charts=${copying.charts}`)).json();
  const blob = new Blob([documentOf(copied, css, copying, furniture, address)], { type: "text/html" });
  if (blob.size > LARGEST) throw new TooLarge(blob.size, largest(parts));
  return { blob, name: `${fileName(`mindscope_${pageTitle()}_${dateTime(Date.now() / 1000)}`, "page", 120)}.html` };
}
