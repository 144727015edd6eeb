// Everything that uses cytoscape: camera, marks, pointer, minimap and PNG; lettering.js puts labels on what it draws. The
// server computes all positions.

import { setDescription } from "../kit/alternatives.js";
import { fileName, saveBlob } from "../kit/files.js";
import { translate } from "../kit/i18n.js";
import * as cameras from "./camera.js";
import { letter, letterEdges, letterWhole } from "./lettering.js";
import "./own_wheel.js";
import { withBar } from "./picture_bar.js";
import * as view from "./view.js";
import { linked, middle, nextBox } from "./walking.js";

/**
 * Show a node and center it.
 * @param {Graphs.CanvasPage} page
 * @param {string} name
 */
export const go = (page, name) => {
  if (view.get(page, "node") === name && view.drawn(page, name)) {
    centre(page, name);
    return;
  }
  page.sought = null;
  page.centre = true;
  page.change({ node: [name] });
};
const CLOSE = 0.9;
const LEAST = 0.25;
const READABLE = 0.62;
const READABLE_ON_PHONES = 0.4;
const PHONE_PX = 480;
const EDGE = 24;
const STEP = 80;
const MOST_WAITS = 300;
const LOOK_MS = 160;
const FEW = 400;
const known = new WeakSet();

/**
 * @param {Graphs.CanvasPage} page
 * @returns {Graphs.Cytoscape | null}
 */
function cyOf(page) {
  const host = page.find(".ms-graph-cytoscape");
  const cy = host && host._cyreg && host._cyreg.cy;
  if (!cy) return null;
  if (!known.has(cy)) {
    known.add(cy);
    listen(page, cy);
  }
  return cy;
}

/**
 * Cytoscape where a drawing is known to be on screen.
 * @param {Graphs.CanvasPage} page
 */
function cyOn(page) {
  const cy = cyOf(page);
  if (!cy) throw new Error("Cytoscape has no drawing");
  return cy;
}

/**
 * Map of names of boxes, and rows beside them, to element keys.
 * @param {Graphs.DrawnElement[]} elements
 */
export function keys(elements) {
  const found = new Map();
  for (const { data } of elements) {
    if (data.name) found.set(data.name, data.id);
    else if (data.rows) for (const row of data.rows) if (!found.has(`n${row}`)) found.set(`n${row}`, data.id);
  }
  return found;
}

/** @param {Graphs.CanvasPage} page */
export function build(page) {
  new ResizeObserver(() => {
    const cy = cyOf(page);
    if (!cy) return;
    cy.resize();
    if (page.turned) cy.panBy({ x: (cy.width() - page.turned[0]) / 2, y: (cy.height() - page.turned[1]) / 2 });
    page.turned = null;
    if (page.there && page.there === page.drawing) settle(page);
  }).observe(page.find(".ms-graph-canvas"));
  // In the capture phase: cytoscape's own zoom goes three times as far with each notch.
  const capture = { capture: true, passive: false };
  page.find(".ms-graph-canvas").addEventListener("wheel", (/** @type {WheelEvent} */ event) => turnWheel(page, event), capture);
  page.find(".ms-graph-minimap").addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => moveTo(page, event));
  page.find(".ms-graph-minimap").addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
    if (event.buttons) moveTo(page, event);
  });
}

const NOTCH = 1.2;
const NOTCH_PX = 100;
const NOTCH_LINES = 3;

/**
 * By how much to zoom for an event of the wheel: a notch of a mouse is 1.2 times, a touchpad goes in small parts of one.
 * @param {{ deltaY: number, deltaMode: number }} options
 */
export function wheelFactor({ deltaY, deltaMode }) {
  const notches = deltaMode === 1 ? deltaY / NOTCH_LINES : deltaMode === 2 ? Math.sign(deltaY) : deltaY / NOTCH_PX;
  // A notch is 50 to 150 px, depending on the system.
  const whole = Math.abs(notches) >= 0.5 ? Math.sign(notches) * Math.max(1, Math.round(Math.abs(notches) / 1.2)) : notches;
  return NOTCH ** -Math.max(-5, Math.min(5, whole));
}

/**
 * @param {Graphs.CanvasPage} page
 * @param {WheelEvent} event
 */
function turnWheel(page, event) {
  const cy = cyOf(page);
  if (!cy || !(event.target instanceof Element) || !event.target.closest(".ms-graph-cytoscape")) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  const box = cy.container().getBoundingClientRect();
  const at = { x: event.clientX - box.left, y: event.clientY - box.top };
  cy.zoom({ level: cy.zoom() * wheelFactor(event), renderedPosition: at });
}

/**
 * Remember the size before toggling full screen, to keep the center.
 * @param {Graphs.CanvasPage} page
 */
export function turn(page) {
  const cy = cyOf(page);
  page.turned = cy && page.there ? [cy.width(), cy.height()] : null;
}

/**
 * Called with a new drawing: move the camera, then set marks.
 * @param {Graphs.CanvasPage} page
 * @param {Graphs.Drawn | null} before
 */
export function placed(page, before) {
  const old = before && page.anchor ? position(before, page.anchor) : null;
  const now = page.anchor ? position(page.drawing, page.anchor) : null;
  const cy = cyOf(page);
  tip(page, null);
  if (old && now && cy && !page.fit) {
    // Keep the corner of the toggled box in place, and all of it on screen.
    const zoom = cy.zoom();
    const pan = cy.pan();
    const kept = { zoom, pan: { x: pan.x + (old.x - now.x) * zoom, y: pan.y + (old.y - now.y) * zoom } };
    cy.viewport(cameras.withBox(now, screenOf(cy), kept));
  }
  page.anchor = null;
  // Another drawing may have the same elements: the last one tells when they have been replaced.
  const last = page.drawing.elements[page.drawing.elements.length - 1];
  if (last) last.data.turn = page.turns = (page.turns || 0) + 1;
  whenThere(page, page.drawing, 0);
}

/**
 * Top left corner of a named box in a drawing.
 * @param {Graphs.Drawn} drawing
 * @param {string} name
 */
function position(drawing, name) {
  const wanted = name.slice(1);
  const element = drawing.elements.find(({ data }) => data.name === name)
    || drawing.elements.find(({ data }) => data.name && data.name.slice(1) === wanted);
  if (!element) return null;
  const { w, h } = element.data;
  return { x: element.position.x - w / 2, y: element.position.y - h / 2, w, h };
}

/** @param {Graphs.Cytoscape} cy */
function screenOf(cy) {
  return { width: cy.width(), height: cy.height() };
}

/**
 * Whether cytoscape has the last element of a drawing. The drawing before may have the same elements with other marks: then a
 * turn, or the stamp of the drawing, in the data of the last one tells them apart.
 * @param {Graphs.Cytoscape} cy
 * @param {Graphs.Drawn} drawn
 */
function arrived(cy, { elements, stamp }) {
  if (!elements.length) return true;
  const { id, turn } = elements[elements.length - 1].data;
  const last = cy.getElementById(id);
  return last.nonempty() && last.data("stamp") === stamp && last.data("turn") === turn;
}

/**
 * @param {Graphs.CanvasPage} page
 * @param {Graphs.Drawn} drawing
 * @param {number} waits
 */
function whenThere(page, drawing, waits) {
  if (page.drawing !== drawing || !page.root.isConnected) return;
  const cy = cyOf(page);
  const there = cy && cy.elements().length === drawing.elements.length && arrived(cy, drawing);
  if (!there) {
    if (waits < MOST_WAITS) window.setTimeout(() => whenThere(page, drawing, waits + 1), 16);
    return;
  }
  page.there = drawing;
  cy.resize();
  paint(page);
  minimap(page);
  settle(page);
  page.root.classList.add("ms-graph-drawn");
  page.find(".ms-graph-canvas").dataset.boxes = String(drawing.meta.boxes || 0);
  if (!page.painted) setDescription(page.find(".ms-graph-canvas"), drawing.meta.alternative);
}

/**
 * Move the camera once the canvas is visible.
 * @param {Graphs.CanvasPage} page
 */
function settle(page) {
  if (!page.find(".ms-graph-canvas").clientWidth) return;
  if (page.fit && !restored(page)) begin(page);
  page.fit = false;
  letter(cyOn(page));
  mark(page);
  window.setTimeout(() => look(page), LOOK_MS);
}

/**
 * On opening, the camera of the link.
 * @param {Graphs.CanvasPage} page
 */
function restored(page) {
  const cy = cyOn(page);
  const wanted = page.home === undefined && cameras.read(view.get(page, "camera"), screenOf(cy));
  if (!wanted) return false;
  cy.viewport(wanted);
  page.home = "";
  page.centre = false;
  return true;
}

/**
 * Write labels anew, in another language.
 * @param {Graphs.CanvasPage} page
 */
export function relabel(page) {
  if (page.there && page.there === page.drawing) letter(cyOn(page));
}

/**
 * What follows the camera once it stands still: labels of edges, and the link.
 * @param {Graphs.CanvasPage} page
 */
function look(page) {
  const cy = cyOf(page);
  if (!cy || !page.there || page.there !== page.drawing || !page.find(".ms-graph-canvas").clientWidth) return;
  if (page.find(".ms-graph-canvas").dataset.boxes > FEW) letter(cy);
  letterEdges(cy);
  // A window of another size is no move.
  const raw = JSON.stringify([cy.zoom(), cy.pan()]);
  if (raw === page.looked) return;
  page.looked = raw;
  page.change({ camera: raw === page.home ? [] : [cameras.written({ zoom: cy.zoom(), pan: cy.pan() }, screenOf(cy))] });
}

/** @param {Graphs.CanvasPage} page */
export function fit(page) {
  const cy = cyOf(page);
  if (!cy || !cy.elements().length) return;
  cy.fit(undefined, 24);
  if (cy.zoom() > 1.2) {
    cy.zoom(1.2);
    cy.center();
  }
}

/**
 * Initial camera: fit the graph if it stays readable, else show its top.
 * @param {Graphs.CanvasPage} page
 */
function first(page) {
  fit(page);
  const cy = cyOn(page);
  const least = cy.width() < PHONE_PX ? READABLE_ON_PHONES : READABLE;
  if (!cy.elements().length || cy.zoom() >= least) return;
  cy.zoom(least);
  cy.center();
  const { width, height } = page.drawing.meta;
  const pan = cy.pan();
  const room = { x: cy.width() - width * least, y: cy.height() - height * least };
  cy.pan({ x: room.x < 0 && width > 2 * height ? EDGE : pan.x, y: room.y < 0 ? EDGE : pan.y });
}

/** @param {Graphs.CanvasPage} page */
function begin(page) {
  first(page);
  const cy = cyOn(page);
  page.home = JSON.stringify([cy.zoom(), cy.pan()]);
  page.looked = null;
}

/**
 * @param {Graphs.CanvasPage} page
 * @param {number} factor
 */
export function zoom(page, factor) {
  const cy = cyOf(page);
  if (cy) cy.zoom({ level: cy.zoom() * factor, renderedPosition: { x: cy.width() / 2, y: cy.height() / 2 } });
}

/**
 * @param {Graphs.CanvasPage} page
 * @param {string} name
 */
function element(page, name) {
  const cy = cyOf(page);
  const key = name && page.keys.get(name);
  const found = cy && cy.getElementById(key || (page.drawing && page.drawing.meta.chosen) || "");
  return found && found.nonempty() ? found : null;
}

/**
 * @param {Graphs.CanvasPage} page
 * @param {string} name
 */
export function centre(page, name) {
  const found = element(page, name);
  if (!found) return;
  const cy = cyOn(page);
  if (!found.hasClass("frame")) {
    if (cy.zoom() < CLOSE) cy.zoom(CLOSE);
    cy.center(found);
    return;
  }
  cy.fit(found, 32);
  if (cy.zoom() > 1.2) cy.zoom(1.2);
  cy.center(found);
  const box = position(page.drawing, found.data("name") || "");
  if (box) cy.viewport(cameras.withBox(box, screenOf(cy), { zoom: Math.max(cy.zoom(), LEAST), pan: cy.pan() }));
}

/**
 * Mark the chosen box, its edges and their ends.
 * @param {Graphs.CanvasPage} page
 */
export function mark(page) {
  const cy = cyOf(page);
  if (!cy || !page.drawing) return;  // pressed before the first drawing came
  const name = view.get(page, "node");
  cy.batch(() => {
    cy.elements(".chosen, .near").removeClass("chosen near").edges().removeStyle("font-size");
    const found = name ? element(page, name) : null;
    if (!found) return;
    found.addClass("chosen");
    const box = found.hasClass("small") ? cy.getElementById(found.data("box")) : found;
    if (box !== found) box.addClass("near");
    found.connectedEdges().addClass("chosen");
    found.connectedEdges().connectedNodes().not(found).addClass("near");
    cy.nodes(".small").filter((small) => small.data("kind") === "proxy" && small.data("box") === found.id()).addClass("near");
  });
  letterEdges(cy);
  markTrace(page, cy);
  if (page.centre && page.there === page.drawing && page.find(".ms-graph-canvas").clientWidth) {
    page.centre = false;
    centre(page, name);
  }
  page.marked(page);
}

/**
 * @param {string} english
 * @param {string} chinese
 * @returns {Wire.Texts}
 */
const both = (english, chinese) => [english, chinese];

const PLAIN = ["more", "earlier", "later", "proxy", "badge"];

/**
 * Give boxes the colours and values of page.painted, or their own again; open boxes have a value only.
 * @param {Graphs.CanvasPage} page
 */
export function paint(page) {
  const cy = cyOf(page);
  if (!cy || !page.there || page.there !== page.drawing) return;
  const painted = page.painted && page.painted.bar ? page.painted : null;
  cy.batch(() => cy.nodes().forEach((node) => {
    const data = node.data();
    if (PLAIN.includes(data.kind) || (!painted && data.plain === undefined)) return;
    const quiet = painted ? painted.quiet : undefined;
    const [value, colour, ink] = (painted && painted.boxes[data.id]) || ["", painted ? quiet : data.plain, ""];
    const frame = node.hasClass("frame");
    node.data({ plain: data.plain === undefined ? data.fill : data.plain, value });
    if (!frame) node.data({ fill: colour, ink: ink || quiet });
    node.toggleClass("painted", Boolean(ink) && !frame);
  }));
  letter(cy);
  const { alternative } = page.drawing.meta;
  const said = painted && painted.said;
  const [english, chinese] = alternative;
  const whole = said ? both(`${english} ${said[0]}`, `${chinese} ${said[1]}`) : alternative;
  setDescription(page.find(".ms-graph-canvas"), whole);
}

/**
 * Mark the boxes that hold a node of a trace, and the edges between them; all else is pale.
 * @param {Graphs.CanvasPage} page
 * @param {Graphs.Cytoscape} cy
 */
function markTrace(page, cy) {
  const { traced } = page.drawing.meta;
  cy.batch(() => {
    cy.elements(".traced, .pale").removeClass("traced pale");
    if (!traced) return;
    const boxes = cy.collection(traced.map((key) => cy.getElementById(key)[0]).filter(Boolean));
    const all = boxes.union(boxes.edgesWith(boxes));
    all.addClass("traced");
    cy.elements().not(all).not(".frame").addClass("pale");
  });
}

/**
 * @param {Graphs.CanvasPage} page
 * @param {Graphs.Cytoscape} cy
 */
function listen(page, cy) {
  cy.on("onetap", (event) => {
    if (event.target === cy) view.chooseNode(page, "");
  });
  cy.on("tap", "node", (event) => {
    page.find(".ms-graph-canvas").focus({ preventScroll: true });
    const data = event.target.data();
    if (data.to) view.turn(page, data.to);
    // The links of a hub are listed in its panel.
    else if (data.hub) view.chooseNode(page, data.hub);
    else if (data.kind === "proxy") jumpTo(page, cy, data.box);
    else if (data.name) view.chooseNode(page, data.name);
    else if (data.rows && data.rows.length) view.chooseNode(page, `n${data.rows[0]}`);
  });
  cy.on("tap", "edge", (event) => {
    cy.elements(".chosen, .near").removeClass("chosen near into out");
    event.target.addClass("chosen");
    event.target.connectedNodes().addClass("near");
  });
  cy.on("dbltap", "node", (event) => {
    const { name } = event.target.data();
    if (name) view.toggle(page, name, !event.target.hasClass("frame"));
  });
  cy.on("mouseover mousemove", "node, edge", (event) => {
    // An open scope is the ground on which its nodes stand.
    tip(page, event.target.hasClass("frame") ? null : event.target, event.renderedPosition);
  });
  cy.on("mouseout", "node, edge", () => tip(page, null));
  let waiting = 0;
  let standing = 0;
  let zoom = 0;
  cy.on("viewport", () => {
    tip(page, null);
    window.clearTimeout(standing);
    standing = window.setTimeout(() => look(page), LOOK_MS);
    if (waiting) return;
    waiting = window.requestAnimationFrame(() => {
      waiting = 0;
      frame(page);
      if (cy.zoom() !== zoom && cy.nodes().length <= FEW) letter(cy);
      zoom = cy.zoom();
    });
  });
}

/**
 * @param {Graphs.CanvasPage} page
 * @param {Graphs.Cytoscape} cy
 * @param {string} key
 */
function jumpTo(page, cy, key) {
  const box = cy.getElementById(key);
  const name = box.data("name");
  if (box.nonempty() && name) go(page, name);
}

/**
 * @param {Graphs.CanvasPage} page
 * @param {Graphs.Elements | null} target
 * @param {Graphs.Point | null} [at]
 */
function tip(page, target, at = null) {
  const element = page.find(".ms-graph-tip");
  const text = target ? target.data("tip") || (target.isEdge() ? edgeTip(target) : target.data("label")) : "";
  const painted = page.painted && page.painted.bar ? page.painted : null;
  const value = text && painted && target && target.isNode() && target.data("value");
  element.textContent = value ? `${text}  ·  ${translate(`graph.paint.${painted.metric}`)} ${value}` : text || "";
  element.hidden = !text;
  if (text && at) {
    const canvas = page.find(".ms-graph-canvas");
    const size = { width: element.offsetWidth, height: element.offsetHeight };
    const { left, top } = cameras.besidePointer(at, size, { width: canvas.clientWidth, height: canvas.clientHeight });
    Object.assign(element.style, { left: `${left}px`, top: `${top}px` });
  }
  page.find(".ms-graph-canvas").style.cursor = target && target.isNode() ? "pointer" : "";
}

/** @param {Graphs.Elements} edge */
function edgeTip(edge) {
  const ends = [edge.source(), edge.target()].map((node) => node.data("label"));
  return `${ends[0]} → ${ends[1]}  ·  ${edge.data("label")}`;
}

// Minimap -----------------------------------------------------------------------------------------------------------

/** @param {Graphs.CanvasPage} page */
function minimap(page) {
  const host = page.find(".ms-graph-minimap");
  const { meta } = page.drawing;
  host.hidden = !meta.minimap || !meta.boxes;
  if (host.hidden) return;
  const image = document.createElement("img");
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(meta.minimap)}`;
  image.alt = "";
  image.draggable = false;
  const scale = Math.min(160 / meta.width, 140 / meta.height);
  page.mini = Math.max(scale, 1e-6);
  image.style.width = `${meta.width * page.mini}px`;
  image.style.height = `${meta.height * page.mini}px`;
  const view = document.createElement("div");
  view.className = "ms-graph-view";
  host.replaceChildren(image, view);
  frame(page);
}

/**
 * Draw the visible part into the minimap.
 * @param {Graphs.CanvasPage} page
 */
function frame(page) {
  const cy = cyOf(page);
  const view = page.find(".ms-graph-view");
  if (!cy || !view) return;
  const seen = cy.extent();
  const { width, height } = page.drawing.meta;
  const whole = seen.x1 <= 0 && seen.y1 <= 0 && seen.x2 >= width && seen.y2 >= height;
  page.find(".ms-graph-minimap").classList.toggle("ms-graph-whole", whole);
  /** @param {number} most */
  /** @type {(value: number, most: number) => number} */
  const clamp = (value, most) => Math.min(Math.max(value, 0), most) * page.mini;
  const [left, right] = [clamp(seen.x1, width), clamp(seen.x2, width)];
  const [top, bottom] = [clamp(seen.y1, height), clamp(seen.y2, height)];
  Object.assign(view.style, { left: `${left}px`, top: `${top}px`, width: `${right - left}px`, height: `${bottom - top}px` });
}

/**
 * @param {Graphs.CanvasPage} page
 * @param {PointerEvent} event
 */
function moveTo(page, event) {
  const cy = cyOf(page);
  const image = page.find(".ms-graph-minimap img");
  if (!cy || !image) return;
  const box = image.getBoundingClientRect();
  const x = (event.clientX - box.left) / page.mini;
  const y = (event.clientY - box.top) / page.mini;
  cy.pan({ x: cy.width() / 2 - x * cy.zoom(), y: cy.height() / 2 - y * cy.zoom() });
  event.preventDefault();
}

// Keys and files ----------------------------------------------------------------------------------------------------

/**
 * shift: arrows move the drawing also while a box is chosen, Tab goes back.
 * @param {Graphs.CanvasPage} page
 * @param {string} name
 * @param {boolean} [shift]
 */
export function key(page, name, shift = false) {
  const cy = cyOf(page);
  if (cy && !(shift && name.startsWith("Arrow")) && walk(page, cy, name, shift)) return true;
  /** @type {Record<string, number[]>} */
  const moves = { ArrowLeft: [STEP, 0], ArrowRight: [-STEP, 0], ArrowUp: [0, STEP], ArrowDown: [0, -STEP] };
  const move = moves[name];
  if (cy && move) {
    cy.panBy({ x: move[0], y: move[1] });
    return true;
  }
  const node = view.get(page, "node");
  if (name !== "Enter" || !node) return false;
  view.toggle(page, node, !page.opened.includes(node));
  return true;
}

/**
 * Go from the chosen box along edges or to the next box; whether the key did.
 * @param {Graphs.CanvasPage} page
 * @param {Graphs.Cytoscape} cy
 * @param {string} name
 * @param {boolean} back
 */
function walk(page, cy, name, back) {
  const chosen = element(page, view.get(page, "node"));
  const boxes = cy.nodes().filter((node) => Boolean(node.data("name")))
    .map((node) => ({ name: node.data("name") || "", ...node.position() }));
  if (!chosen || !view.get(page, "node")) {
    if (name !== "Enter") return false;
    const { x1, x2, y1, y2 } = cy.extent();
    return step(page, cy, middle(boxes, { x: (x1 + x2) / 2, y: (y1 + y2) / 2 }));
  }
  if (name === "Tab") return step(page, cy, nextBox(boxes, chosen.data("name") || "", back));
  const links = cy.edges().map((edge) => [edge.source().data("name"), edge.target().data("name")]);
  const found = linked(links, boxes, chosen.data("name") || "", name, page.walked);
  if (!found) return ["ArrowUp", "ArrowDown"].includes(name);
  page.walked = found;
  return step(page, cy, found.names[found.at]);
}

/**
 * Choose a box, and have it on screen; false if there is none.
 * @param {Graphs.CanvasPage} page
 * @param {Graphs.Cytoscape} cy
 * @param {string | undefined} name
 */
function step(page, cy, name) {
  if (!name) return false;
  const box = position(page.drawing, name);
  if (box) cy.viewport(cameras.withBox(box, screenOf(cy), { zoom: cy.zoom(), pan: cy.pan() }));
  view.chooseNode(page, name);
  return true;
}

/** @param {Graphs.CanvasPage} page */
export function png(page) {
  const cy = cyOf(page);
  if (!cy) return;
  const bg = getComputedStyle(page.find(".ms-graph-canvas").closest(".ms-card")).backgroundColor;
  letterWhole(cy);
  const blob = cy.png({ output: "blob", full: true, bg, scale: 2, maxWidth: 8000, maxHeight: 8000 });
  letter(cy);
  const name = `${fileName(page.run ? page.run.name : "", "graph")}.png`;
  const { painted } = page;
  if (!painted || !painted.bar) saveBlob(blob, name);
  else withBar(blob, painted, painted.bar, bg, getComputedStyle(page.root).color).then((whole) => saveBlob(whole, name));
}
