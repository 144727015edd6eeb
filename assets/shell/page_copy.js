// The copy of a page for a file: elements that show something, without what only a server or a script could answer. All of it
// is made anew from names that are known to be harmless; texts become text nodes, so that no data can become anything else.

import { centred, fieldCopy, gap, isAction, isBare, withLook } from "./page_controls.js";
import { chartsFor, savedFigure } from "./page_figures.js";
import { MOST_ROWS, rowsNote } from "./page_rows.js";

/** @typedef {import("./page_figures.js").SavedFigure} SavedFigure */
/** @typedef {import("./page_figures.js").Charts} Charts */
/**
 * What the parts of a copy share.
 * @typedef {object} Copying
 * @property {Set<string>} styled data attributes that style sheets look at
 * @property {SavedFigure[]} figures
 * @property {string[]} names of the cards of these figures
 * @property {Charts} charts
 * @property {Map<Element, Element>} made copies of elements that were made before
 * @property {Map<Element, PlotlyTrace[]>} whole traces with every point by their plot
 * @property {Map<Element, { total: number, csv?: string }>} long tables with more rows than a file shows
 * @property {{ image: HTMLImageElement, copy: HTMLImageElement }[]} images that are not read yet
 */

const SVG = "http://www.w3.org/2000/svg";
const HTML = "http://www.w3.org/1999/xhtml";
const SILENT = "script, style, link, meta, base, noscript, template, iframe, object, embed, audio, video, dialog, "
  + "foreignObject, animate, set, animateTransform, animateMotion";
const FIELDS = "input, select, textarea";
const TYPED = "input:not([type=checkbox], [type=radio], [type=range]), textarea";
const PRESSABLE = "button, a[href], [role=button], [role=tab], [role=switch], [role=option], [role=combobox]";
const TAGS = new Set([
  "div span p h1 h2 h3 h4 h5 h6 ul ol li dl dt dd table thead tbody tfoot tr th td caption colgroup col section article header",
  "footer main nav aside figure figcaption strong em b i u s small sub sup code pre kbd samp var mark bdi bdo br hr wbr time",
  "details summary legend fieldset output abbr a",  // an "a" leads nowhere without its address
].join(" ").split(" "));
const UNWANTED = new RegExp(`^(${[
  "on.*|xmlns.*|data-(en|zh)-.*|aria-(controls|owns|activedescendant|haspopup|expanded)|src|srcset|srcdoc|action|data",
  "formaction|poster|ping|target|background|contenteditable|tabindex|for|name|nonce|type|value|draggable|accesskey|autofocus",
  "popover.*|xml:base",
].join("|")})$`, "i");
const PLACED = [
  "position", "left", "top", "z-index", "opacity", "margin", "display", "vertical-align", "image-rendering", "box-sizing",
  "transform", "transform-origin",
];
const PLACES = /url\(\s*["']?\s*([^)]*)/gi;  // in a style, and in attributes of SVG
const INSIDE = /^(#|data:image\/)/i;

/**
 * Whether an attribute goes into a file.
 * @param {string} name
 * @param {string} value
 * @param {Set<string>} styled
 */
export function isKept(name, value, styled) {
  if (UNWANTED.test(name)) return false;
  if (name === "href" || name === "xlink:href") return /^#./.test(value);
  if (name.startsWith("data-")) return styled.has(name);
  if (name === "title" || name.startsWith("aria-")) return true;
  return Array.from(value.matchAll(PLACES)).every(([, place]) => INSIDE.test(place));
}

/**
 * @param {Element} from
 * @param {Element} to
 * @param {Copying} copying
 */
function copyAttributes(from, to, { styled }) {
  for (const { name, value, namespaceURI } of from.attributes) {
    if (!isKept(name, value, styled)) continue;
    if (namespaceURI) to.setAttributeNS(namespaceURI, name, value);
    else to.setAttribute(name, value);
  }
}

/**
 * A canvas as the picture on it, with its text alternative.
 * @param {HTMLCanvasElement} canvas
 * @param {CSSStyleDeclaration} style
 */
function picture(canvas, style) {
  if (!canvas.width || !canvas.height || !canvas.clientWidth) return null;
  const copy = document.createElement("img");
  copy.src = canvas.toDataURL("image/png");
  copy.alt = alternativeOf(canvas);
  copy.className = canvas.className;
  for (const name of PLACED) {
    copy.style.setProperty(name, style.getPropertyValue(name));
  }
  if (style.position === "static") copy.style.removeProperty("left");
  Object.assign(copy.style, { width: style.width, height: style.height, pointerEvents: "none" });
  return copy;
}

/**
 * What a screen reader says of a drawing: its own name, its description, or those of the element that holds it.
 * @param {Element} element
 */
function alternativeOf(element) {
  for (let at = /** @type {Element | null} */ (element), up = 0; at && up < 4; at = at.parentElement, up += 1) {
    const described = at.getAttribute("aria-describedby");
    const told = [at.getAttribute("aria-label"), described && at.ownerDocument.getElementById(described)?.innerText];
    const text = told.filter(Boolean).join(". ");
    if (text) return text;
  }
  return "";
}

/**
 * @param {HTMLImageElement} image
 * @param {CSSStyleDeclaration} style
 * @param {Copying} copying
 */
function imageCopy(image, style, copying) {
  const copy = document.createElement("img");
  copyAttributes(image, copy, copying);
  copy.alt = image.alt;
  Object.assign(copy.style, { width: style.width, height: style.height });
  if (image.src.startsWith("data:image/")) copy.src = image.src;
  else copying.images.push({ image, copy });
  return copy;
}

/**
 * The title of the card around an element, "" for none.
 * @param {Element} element
 */
export function cardName(element) {
  const title = element.closest(".ms-card")?.querySelector(".ms-card-title");
  return title ? String(title.innerText).trim().slice(0, 80) : "";
}

/**
 * The place of a figure that the script of the file draws again; null if it is a picture there: with lines on a canvas, and
 * of kinds that the file cannot draw.
 * @param {HTMLElement & PlotlyFigure} plot
 * @param {Copying} copying
 */
function figureCopy(plot, copying) {
  const card = plot.closest(".ms-card");
  const canvas = card && card.querySelector(".ms-lines canvas");
  const whole = copying.whole.get(plot);
  const { _context } = /** @type {{ _context?: Record<string, unknown> }} */ (plot);
  const drawn = whole ? { data: whole, layout: plot.layout, _context } : plot;
  const onCanvas = !whole && canvas && canvas.clientWidth;
  const charts = plot.data && plot.layout && !onCanvas ? chartsFor(drawn.data) : null;
  if (!charts || charts === "none") return null;
  const copy = document.createElement("div");
  copyAttributes(plot, copy, copying);
  copy.id = `ms-figure-${copying.figures.length + 1}`;
  copy.style.height = `${plot.offsetHeight}px`;
  copying.figures.push(savedFigure(copy.id, drawn));
  copying.names.push(cardName(plot));
  if (charts === "all" || copying.charts === "none") copying.charts = charts;
  return copy;
}

/**
 * Whether the figure of the card around an element has every point, so that plotly draws the lines that are on a canvas here.
 * @param {Element} element
 * @param {Copying} copying
 */
function hasWhole(element, { whole }) {
  const plot = element.closest(".ms-card")?.querySelector(".js-plotly-plot");
  return Boolean(plot && whole.has(plot));
}

/**
 * What stands for an element that can be pressed or filled in; undefined for any other one.
 * @param {HTMLElement} element
 * @param {CSSStyleDeclaration} style
 * @param {Copying} copying
 */
function controlCopy(element, style, copying) {
  if (element.matches("details.ms-details")) return badgeOf(element, copying) || gap(element, style);
  if (element.matches(PRESSABLE) && isAction(element)) return gap(element, style);
  if (element.matches(FIELDS)) return fieldCopy(/** @type {HTMLInputElement} */ (element), style) || gap(element, style);
  if (!element.matches("button")) return undefined;
  const copy = document.createElement("span");
  copyAttributes(element, copy, copying);
  withLook(copy, style);
  centred(element, copy, style);
  copyChildren(element, copy, copying);
  return copy;
}

/**
 * The badge that opens a menu, which says something by itself; null for any other menu.
 * @param {HTMLElement} details
 * @param {Copying} copying
 */
function badgeOf(details, copying) {
  const summary = details.querySelector(":scope > summary.ms-badge");
  if (!summary) return null;
  const style = getComputedStyle(summary);
  const copy = document.createElement("span");
  copyAttributes(summary, copy, copying);
  withLook(copy, style);
  copyChildren(summary, copy, copying);
  return copy;
}

/**
 * @param {HTMLElement} copy
 * @param {CSSStyleDeclaration} style
 */
function emptied(copy, style) {
  copy.replaceChildren();
  copy.style.display = style.display;
  return copy;
}

/**
 * @param {HTMLElement} element
 * @param {CSSStyleDeclaration} style
 * @param {Copying} copying
 */
function htmlCopy(element, style, copying) {
  if (element.matches(".ms-lines") && hasWhole(element, copying)) return null;
  if (element.localName === "canvas") return picture(/** @type {HTMLCanvasElement} */ (element), style);
  if (element.localName === "img") return imageCopy(/** @type {HTMLImageElement} */ (element), style, copying);
  const special = controlCopy(element, style, copying);
  if (special !== undefined) return special;
  if (element.matches(".js-plotly-plot")) {
    const figure = figureCopy(/** @type {any} */ (element), copying);
    if (figure) return figure;
  }
  const copy = document.createElement(TAGS.has(element.localName) ? element.localName : "div");
  copyAttributes(element, copy, copying);
  copyChildren(element, copy, copying);
  const long = element.matches(".ag-root-wrapper") && copying.long.get(element);
  if (long) {
    const both = document.createDocumentFragment();
    const told = document.createElement("p");
    told.className = "ms-file-long";
    told.append(rowsNote(element, long.total, long.csv));
    both.append(copy, told);
    return both;
  }
  if (!isBare(copy) || !element.querySelector(TYPED)) return copy;
  // Without a size it still has a distance to its neighbours.
  return gap(element, style) || (element.offsetHeight ? null : emptied(copy, style));
}

/**
 * @param {Element} from
 * @param {Element} to
 * @param {Copying} copying
 */
function copyChildren(from, to, copying) {
  const all = from.childNodes;
  const total = from.childElementCount;
  let rows = 0;
  for (const child of all) {
    if (child.nodeType === Node.ELEMENT_NODE && (rows += 1) > MOST_ROWS && to.namespaceURI === HTML) break;
    const copy = copyOf(child, copying);
    if (copy) to.append(copy);
  }
  // A grid draws some rows more than are asked for, and says below how many it has.
  if (total > MOST_ROWS && to.namespaceURI === HTML && !from.closest(".ag-root-wrapper")) to.append(note(from, to, copying));
}

/**
 * @param {Element} list of the page
 * @param {Element} copy
 * @param {Copying} copying
 */
function note(list, copy, { long }) {
  const inside = { TBODY: "tr", UL: "li", OL: "li" }[copy.tagName] || "p";
  const told = rowsNote(list, list.childElementCount, long.get(list)?.csv);
  const row = document.createElement(inside);
  if (inside !== "tr") row.append(told);
  else {
    const cell = document.createElement("td");
    cell.colSpan = 1000;
    cell.append(told);
    row.append(cell);
  }
  return row;
}

/**
 * What is not seen, without its content: style sheets count it among its neighbours. Of two languages only one is kept.
 * @param {Element} element
 * @param {Copying} copying
 */
function hiddenCopy(element, copying) {
  if (element.matches(".en, .zh, option, button, input, select, textarea")) return null;
  const copy = document.createElement(TAGS.has(element.localName) ? element.localName : "div");
  copyAttributes(element, copy, copying);
  copy.removeAttribute("id");
  copy.hidden = true;
  copy.style.display = "none";
  return copy;
}

/**
 * The copy of a node as it is on screen; null for what is not seen or does nothing in a file.
 * @param {Node} node
 * @param {Copying} copying
 * @returns {Node | null}
 */
export function copyOf(node, copying) {
  // A card of a board is of another window, so that its nodes are of no class of this one.
  if (node.nodeType === Node.TEXT_NODE) return document.createTextNode(node.nodeValue || "");
  if (node.nodeType !== Node.ELEMENT_NODE) return null;
  const element = /** @type {Element} */ (node);
  const made = copying.made.get(element);
  if (made) return made;
  if (element.matches(SILENT)) return null;
  const style = getComputedStyle(element);
  if (style.display === "none" && element.namespaceURI === HTML) return hiddenCopy(element, copying);
  if (element.namespaceURI === HTML) return htmlCopy(/** @type {HTMLElement} */ (element), style, copying);
  if (element.namespaceURI !== SVG) return null;
  const copy = document.createElementNS(SVG, element.localName === "a" ? "g" : element.localName);
  copyAttributes(element, copy, copying);
  copyChildren(element, copy, copying);
  return copy;
}
