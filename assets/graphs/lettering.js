// Puts the labels of labels.js on the boxes and edges that cytoscape draws.

import { language, translate } from "../kit/i18n.js";
import {
  FRAME_LEFT, FRAME_TOP, LINE, SMALLEST_PX, carried, edgeLabels, labelsAt, textWidth, titleAt, withValue,
} from "./labels.js";

/** Zoom from which on edges show what they carry. */
export const DETAIL = 0.8;
const EDGE_PX = 12.5;  // font size of edge.detail in layouts/graphs/figure/elements.py
const FAR = 22;
/** @type {Record<Graphs.Place, string>} */
const CLASSES = { mid: "detail", out: "detail-out", into: "detail-into" };
const ALL = Object.values(CLASSES).join(" ");

/** @param {Graphs.Cytoscape} cy */
const boxesOf = (cy) => cy.nodes().map((node) => {
  const data = node.data();
  return {
    ...node.position(), id: data.id, label: labelOf(data), size: node.hasClass("small") ? 9.5 : 12, w: data.w, h: data.h,
    kind: data.kind, frame: node.hasClass("frame"), depth: data.z || 0, count: data.count, shorter: shorterOf(data),
    value: node.hasClass("small") ? "" : data.value || "",
  };
});

/** @param {Graphs.ElementData} data */
function labelOf({ label, also }) {
  return also ? `${label} · ${alsoUsed(also)}` : label;
}

/** @param {Graphs.ElementData} data */
function shorterOf({ label, also }) {
  const name = label.split("  ")[0];
  return also ? [`${name} · ${alsoUsed(also)}`, `${name} · ${translate("graphs.also.short", { n: also })}`] : [];
}

/**
 * The sentence about later layers that use a scope too, "1–23".
 * @param {string} also
 */
export function alsoUsed(also) {
  return translate("graphs.also", { n: language() === "zh" ? also : also.replaceAll("–", " to ") });
}

/**
 * Label all boxes for the zoom of now; only those whose label differs are touched.
 * @param {Graphs.Cytoscape} cy
 */
export function letter(cy) {
  const boxes = boxesOf(cy);
  const found = labelsAt(boxes, cy.zoom());
  cy.batch(() => {
    for (const box of boxes) put(cy.getElementById(box.id), found.get(box.id), box);
  });
}

/**
 * @param {Graphs.Elements} node
 * @param {Graphs.Label} label
 * @param {Graphs.Labelled} box
 */
function put(node, { text, size }, box) {
  const data = node.data();
  if (data.shown === text && Math.abs(data.fs - size) < 0.01) return;
  node.data({ shown: text, fs: size, ...(box.frame ? titleAt({ text, size }, box.w) : {}) });
}

/**
 * Label all boxes as if there were room, for a picture of the whole.
 * @param {Graphs.Cytoscape} cy
 */
export function letterWhole(cy) {
  cy.batch(() => {
    for (const box of boxesOf(cy)) put(cy.getElementById(box.id), { text: withValue(box, box.label), size: box.size }, box);
  });
}

/**
 * Label the edges on screen with type and shape if they are seen closely, and those of the chosen box in any case, each where
 * it overlaps nothing.
 * @param {Graphs.Cytoscape} cy
 */
export function letterEdges(cy) {
  const before = cy.edges(`.${ALL.replaceAll(" ", ", .")}`);
  const zoom = cy.zoom();
  /** @type {Map<string, Graphs.Place>} */
  const found = edgeLabels(edgesOf(cy, zoom), obstacles(cy, zoom), Math.max(SMALLEST_PX, EDGE_PX * zoom));
  cy.batch(() => {
    before.filter((edge) => !found.has(edge.id())).removeClass(ALL);
    for (const [id, place] of found) {
      const edge = cy.getElementById(id);
      edge.data("short", carried(edge.data("label")));
      edge.removeClass(ALL).addClass(CLASSES[place]);
      if (edge.hasClass("chosen")) edge.style("font-size", Math.max(EDGE_PX, SMALLEST_PX / zoom));
    }
  });
}

/**
 * Where a label at the end of an edge is drawn: FAR along the edge, of which the first part may be level.
 * @param {Graphs.Point[]} points of the edge, from this end on
 */
function along(points) {
  let left = FAR;
  for (const [at, from] of points.slice(0, -1).entries()) {
    const [x, y] = [points[at + 1].x - from.x, points[at + 1].y - from.y];
    const length = Math.hypot(x, y);
    if (length >= left) return { x: from.x + (x * left) / length, y: from.y + (y * left) / length };
    left -= length;
  }
  return points[points.length - 1];
}

/**
 * @param {Graphs.Cytoscape} cy
 * @param {number} zoom
 */
function edgesOf(cy, zoom) {
  const seen = cy.extent();
  /** @param {Graphs.Point} point */
  const inside = ({ x, y }) => Number.isFinite(x) && x > seen.x1 && x < seen.x2 && y > seen.y1 && y < seen.y2;
  /** @param {Graphs.Point} point */
  const screen = ({ x, y }) => ({ x: x * zoom, y: y * zoom });
  const chosen = cy.edges(".chosen");
  return chosen.union(zoom < DETAIL ? chosen : cy.edges()).filter((edge) => /^[^×]/.test(edge.data("label"))).map((edge) => {
    const [begin, end] = [edge.sourceEndpoint(), edge.targetEndpoint()];
    const bends = edge.segmentPoints() || edge.controlPoints() || [];
    const points = [begin, ...bends, end];
    const [out, into] = [along(points), along(points.reverse())];
    // At the far end from the chosen box the labels of its edges are furthest apart.
    const far = edge.source().hasClass("chosen") ? { into, mid: edge.midpoint(), out } : { out, mid: edge.midpoint(), into };
    const all = edge.hasClass("chosen") ? far : { mid: edge.midpoint(), out, into };
    const places = Object.entries(all).filter(([, at]) => inside(at)).map(([name, at]) => [name, screen(at)]);
    return { id: edge.id(), text: carried(edge.data("label")), places: Object.fromEntries(places) };
  });
}

/**
 * @param {Graphs.Cytoscape} cy
 * @param {number} zoom
 */
function obstacles(cy, zoom) {
  return cy.nodes().map((node) => {
    const [{ x, y }, { w, h, shown, fs }] = [node.position(), node.data()];
    const [left, top] = [x - w / 2, y - h / 2];
    const ends = node.hasClass("frame")
      ? { x: left + FRAME_LEFT + textWidth(shown || "", fs), y: top + FRAME_TOP + LINE * fs } : { x: x + w / 2, y: y + h / 2 };
    return { x1: left * zoom, x2: ends.x * zoom, y1: top * zoom, y2: ends.y * zoom };
  });
}
