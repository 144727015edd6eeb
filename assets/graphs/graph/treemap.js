// Statistics of the graph: the treemap of parameters as SVG, and the search for precision flags. The server computes the
// position of every rectangle (layouts/graphs/graph/treemap.py); labels are cut here to the space there is.

import { penOf } from "../../kit/canvases.js";
import { make, words } from "../../kit/elements.js";
import { language, setLabel } from "../../kit/i18n.js";
import { fitted } from "../../kit/names.js";
import { notYet } from "../../kit/pages.js";
import { currentPrefs } from "../../kit/prefs.js";
import * as canvas from "../canvas.js";
import * as view from "../view.js";

const SVG = "http://www.w3.org/2000/svg";
const WAIT_MS = 180;
const ruler = penOf(document.createElement("canvas"));
/** @type {Record<string, number[]>} */
const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** @param {Graphs.Page} page */
export function fields(page) {
  const flag = make("input", "ms-input ms-filter", [], {
    type: "search", autocomplete: "off", spellcheck: "false", "data-control": "flag",
  });
  for (const name of ["placeholder", "aria-label"]) setLabel(flag, name, "graph.flag");
  const every = make("button", "ms-button", words("graph.every"), {
    type: "button", "aria-pressed": "false", "data-control": "flagged",
  });
  setLabel(every, "title", "graph.every.tip");
  every.addEventListener("click", () => page.change({ flagged: view.get(page, "flagged") ? [] : ["all"] }));
  const tip = make("div", "ms-graph-tip ms-graph-map-tip", [], { hidden: "" });
  return { tip, flag, every, tiles: notYet, mapWidth: 0, areas: [], entered: false };
}

/** @param {Graphs.Page} page */
export function build(page) {
  const host = page.find(".ms-graph-map");
  host.addEventListener("click", (/** @type {Event} */ event) => act(page, tileOf(event)));
  host.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => key(page, event));
  for (const name of ["pointermove", "focusin"]) {
    host.addEventListener(name, (/** @type {Event} */ event) => tip(page, tileOf(event)));
  }
  for (const name of ["pointerleave", "focusout"]) host.addEventListener(name, () => tip(page, null));
  new ResizeObserver(() => { if (page.tiles && host.clientWidth !== page.mapWidth) draw(page, page.tiles); }).observe(host);
  buildFlags(page);
}

/**
 * @param {Graphs.Page} page
 * @param {Wire.Query} of
 */
export function asks(page, of) {
  /** @type {Wire.Query} */
  const map = { ...of, into: page.state.into || [] };
  if (currentPrefs().theme === "dark") map.theme = ["dark"];
  const flags = { ...of, flag: page.state.flag || [], flagged: page.state.flagged || [] };
  drawFlags(page);
  return [map, flags];
}

// Treemap -----------------------------------------------------------------------------------------------------------

/**
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 * @param {Element[]} [children]
 */
function svg(tag, attributes, children = []) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/**
 * @param {Graphs.Page} page
 * @param {Graphs.Treemap} data
 */
export function draw(page, data) {
  page.tiles = data;
  const host = page.find(".ms-graph-map");
  const width = (page.mapWidth = host.clientWidth);
  crumbs(page, data);
  const unsized = page.find(".ms-graph-unsized");
  unsized.hidden = !data.unsized;
  if (data.unsized) unsized.replaceChildren(make("span", "en", data.unsized[0]), make("span", "zh", data.unsized[1]));
  if (!width) return;
  if (!data.tiles.length) {
    host.replaceChildren(words("graph.no_parameters", {}, "p", "ms-muted ms-graph-note"));
    return;
  }
  const focused = host.contains(document.activeElement) && document.activeElement.dataset.place;
  ruler.font = `11px ${getComputedStyle(page.root).fontFamily}`;
  const scale = width / data.width;
  page.areas = data.tiles.map(([, , , , x, y, across, down]) => [x * scale, y, across * scale, down]);
  const drawn = data.tiles.map((tile, place) => rectangle(tile, page.areas[place], place));
  host.replaceChildren(svg("svg", { width, height: data.height }, drawn), page.tip);
  const first = drawn[focused || 0];
  first.setAttribute("tabindex", "0");
  // Keep keyboard focus after entering a scope by key.
  if (focused || page.entered) first.focus();
  page.entered = false;
}

/**
 * @param {Graphs.Tile} tile
 * @param {Graphs.Area} area
 * @param {number} place
 */
function rectangle(tile, [x, y, width, height], place) {
  const [, kind, label, , , , , , fill, , opened] = tile;
  const text = cut(label, width - 8);
  const parts = [svg("rect", { x: 0.5, y: 0.5, width: Math.max(0, width - 1), height: Math.max(0, height - 1), rx: 2, fill })];
  if (text && height >= 15) {
    const written = svg("text", { x: 4, y: opened ? 12.5 : Math.min(height / 2 + 4, 14) });
    written.textContent = text;
    parts.push(written);
  }
  return svg(
    "g",
    {
      class: `ms-graph-tile ms-graph-tile-${kind}`,
      transform: `translate(${x} ${y})`,
      tabindex: "-1",
      role: kind === "rest" ? "img" : "button",
      "data-place": place,
      "aria-label": description(tile),
    },
    parts,
  );
}

/** @param {Graphs.Tile} tile */
function description(tile) {
  const [path, texts] = [tile[3], tile[9]];
  return `${path || "/"} · ${texts[language() === "zh" ? texts.length - 1 : 0]}`;
}

/**
 * Cut a label to the available width; "" if only few letters fit.
 * @param {string} label
 * @param {number} room
 */
function cut(label, room) {
  return fitted(label.replace(/\s+/g, " ").slice(0, 300), room, (text) => ruler.measureText(text).width);
}

/**
 * @param {Graphs.Page} page
 * @param {Graphs.Treemap} treemap
 */
function crumbs(page, { crumbs: above, legend, weight }) {
  const links = [["", ""], ...above].map(([name, label], place, all) => {
    const text = name ? make("span", "ms-cut ms-name", label) : words("graph.whole", {}, "span", "");
    const last = place === all.length - 1;
    const button = make("button", "ms-graph-crumb", text, { type: "button", title: name.slice(2) });
    if (last) button.setAttribute("aria-current", "true");
    button.addEventListener("click", () => enter(page, name));
    return button;
  });
  const shown = above.length ? above[above.length - 1][0] : "";
  const show = make("button", "ms-graph-jump ms-graph-show", words("graph.show"), { type: "button", "data-go": shown });
  page.find(".ms-graph-crumbs").replaceChildren(...links, ...(shown ? [show] : []));
  const tints = legend.map(([name, size, fill]) => {
    const mark = make("span", "ms-graph-mark");
    mark.style.background = fill;
    return make("span", "ms-graph-tint", [mark, make("span", "", name), make("span", "ms-muted ms-number", size)]);
  });
  const said = weight ? [words(`graph.weight.${weight}`, {}, "span", "ms-muted")] : [];
  page.find(".ms-graph-tints").replaceChildren(...(legend.length ? said : []), ...tints);
}

/** @param {Event} event */
function tileOf(event) {
  return event.target instanceof Element ? event.target.closest(".ms-graph-tile") : null;
}

/**
 * @param {Graphs.Page} page
 * @param {string} name
 */
function enter(page, name) {
  page.change({ into: name ? [name.slice(2)] : [] });
}

/**
 * Enter a scope, or show a parameter in the graph.
 * @param {Graphs.Page} page
 * @param {HTMLElement | null} tile
 */
function act(page, tile) {
  if (!tile) return;
  const [name, kind] = page.tiles.tiles[Number(tile.dataset.place)];
  if (kind === "scope") enter(page, name);
  else if (kind === "parameter") {
    page.change({ view: [] });
    canvas.go(page, name);
  }
}

/**
 * @param {Graphs.Page} page
 * @param {HTMLElement | null} tile
 */
function tip(page, tile) {
  const element = page.tip;
  element.hidden = !tile;
  if (!tile) return;
  element.textContent = description(page.tiles.tiles[Number(tile.dataset.place)]);
  const [x, y, width, height] = page.areas[Number(tile.dataset.place)];
  const below = y + height + 4;
  const high = element.offsetHeight;
  const top = below + high <= page.tiles.height ? below : Math.max(0, y - high - 4);
  const left = Math.max(0, Math.min(x + width / 2 - element.offsetWidth / 2, page.mapWidth - element.offsetWidth));
  Object.assign(element.style, { left: `${left}px`, top: `${top}px` });
}

/**
 * @param {Graphs.Page} page
 * @param {KeyboardEvent} event
 */
function key(page, event) {
  const tile = tileOf(event);
  if (!tile || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Enter" || event.key === " ") {
    page.entered = true;
    act(page, tile);
  } else if (event.key === "Backspace") {
    const above = page.tiles.crumbs;
    if (!above.length) return;
    page.entered = true;
    enter(page, above.length > 1 ? above[above.length - 2][0] : "");
  } else if (MOVES[event.key]) move(page, tile, MOVES[event.key]);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/**
 * Move to the nearest tile in a direction; sideways distance counts double.
 * @param {Graphs.Page} page
 * @param {HTMLElement} tile
 * @param {number[]} options
 */
function move(page, tile, [right, down]) {
  /** @param {Graphs.Area} area */
  const middle = ([x, y, width, height]) => [x + width / 2, y + height / 2];
  const [x, y] = middle(page.areas[Number(tile.dataset.place)]);
  let best = null;
  let least = Infinity;
  page.areas.forEach((area, place) => {
    const [a, b] = middle(area);
    const ahead = (a - x) * right + (b - y) * down;
    if (ahead <= 0.5) return;
    const far = ahead + 2 * Math.abs((a - x) * down + (b - y) * right);
    if (far < least) [best, least] = [place, far];
  });
  if (best === null) return;
  tile.setAttribute("tabindex", "-1");
  const next = page.find(`.ms-graph-tile[data-place="${best}"]`);
  next.setAttribute("tabindex", "0");
  next.focus();
}

// Precision flags ---------------------------------------------------------------------------------------------------

/** @param {Graphs.Page} page */
function buildFlags(page) {
  const input = page.flag;
  let timer = 0;
  input.addEventListener("input", () => {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => page.change({ flag: input.value ? [input.value] : [] }), WAIT_MS);
  });
  page.find(".ms-graph-flags").replaceChildren(input, page.every);
}

/** @param {Graphs.Page} page */
function drawFlags(page) {
  const wanted = view.get(page, "flag");
  if (document.activeElement !== page.flag && page.flag.value !== wanted) page.flag.value = wanted;
  page.every.setAttribute("aria-pressed", String(view.get(page, "flagged") === "all"));
}
