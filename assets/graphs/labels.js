// Labels of a graph at any zoom: never smaller on the screen than SMALLEST_PX. Where a box has no room for its label, the label
// is shortened; where it has room for none, only scopes have titles, as many as do not overlap, and never none at all.

import { Names, fitted } from "../kit/names.js";

export const SMALLEST_PX = 10;
const LETTER = 0.56;
export const LINE = 1.2;
const VALUE_LINE = 1.1;
const LEAST_LETTERS = 3;
const MARGIN_PX = 3;
export const FRAME_LEFT = 12;
export const FRAME_TOP = 8;
const MOST_TITLES = 200;
const OF_TYPE = /-op\d+$/;
const MOST_ALIKE = 40;  // names that share a short form; if more share it, all keep it

/**
 * The width of a text in px; letters of Chinese are twice as wide.
 * @param {string} text
 * @param {number} size
 */
export function textWidth(text, size) {
  let letters = 0;
  for (const one of text) letters += one > "\u2e7f" ? 2 : 1;
  return letters * LETTER * size;
}

/**
 * A label with at most this many letters: first without its count, of an operator without its number, then with its middle left
 * out; "" for fewer than three.
 * @param {string} label
 * @param {number} letters
 */
export function shortened(label, letters) {
  if (textWidth(label, 1) <= letters * LETTER) return label;
  const text = label.split("  ")[0].replace(/…/, "");
  if (textWidth(text, 1) <= letters * LETTER) return text;
  if (letters < LEAST_LETTERS) return "";
  const type = text.replace(OF_TYPE, "…");
  if (textWidth(type, 1) <= letters * LETTER) return type;
  return fitted(text, letters * LETTER, (one) => textWidth(one, 1));
}

/**
 * A label with the value that its box is painted by: below it, or behind the title of an open box.
 * @param {{ frame: boolean, value?: string }} options
 * @param {string} text
 */
export function withValue({ frame, value }, text) {
  return value ? `${text}${frame ? "  ·  " : "\n"}${value}` : text;
}

/**
 * Whether a box has room for a second line, or an open one for a longer title.
 * @param {Graphs.Labelled} box
 * @param {string} text
 * @param {number} size
 * @param {number} zoom
 */
function hasRoom(box, text, size, zoom) {
  const wide = Math.max(...withValue(box, text).split("\n").map((line) => textWidth(line, size)));
  const room = box.w - (2 * MARGIN_PX) / zoom - (box.frame ? 2 * FRAME_LEFT : 0);
  return wide <= Math.max(room, textWidth(text, size)) && (box.frame || box.h >= 2 * size * VALUE_LINE);
}

/**
 * @param {Graphs.Rectangle} one
 * @param {Graphs.Rectangle} other
 */
export function overlaps(one, other) {
  return one.x1 < other.x2 && other.x1 < one.x2 && one.y1 < other.y2 && other.y1 < one.y2;
}

/**
 * The text of a box at a zoom, and whether its box is high enough for it; room is that of a shortened label in letters, else 0.
 * @param {Graphs.Labelled} box
 * @param {number} zoom
 */
function cutAt(box, zoom) {
  const px = Math.max(SMALLEST_PX, box.size * zoom);
  const size = px / zoom;
  const room = Math.floor((box.w * zoom - 2 * MARGIN_PX - (box.frame ? 2 * FRAME_LEFT * zoom : 0)) / (px * LETTER));
  const fits = box.frame ? FRAME_TOP + 22 >= size * LINE : box.h * zoom >= px - 1;
  const shorter = (box.shorter || []).find((one) => textWidth(one, 1) <= room * LETTER);
  const full = size === box.size || textWidth(box.label, 1) <= room * LETTER;
  const text = full ? box.label : shorter || shortened(box.label, room);
  return { text, size, fits, room: full || shorter ? 0 : room, name: box.label.split("  ")[0] };
}

/**
 * Tell apart different names whose short forms are equal, where the room allows it: layer1-SequentialCell and
 * layer2-SequentialCell are not both "…-SequentialCell". Operators of one type are called by their type.
 * @param {ReturnType<typeof cutAt>[]} labels
 */
function toldApart(labels) {
  /** @type {Map<string, ReturnType<typeof cutAt>[]>} */
  const alike = new Map();
  for (const one of labels) {
    if (!one.room || !one.text || OF_TYPE.test(one.name)) continue;
    const others = alike.get(one.text);
    if (others) others.push(one);
    else alike.set(one.text, [one]);
  }
  for (const group of alike.values()) {
    const different = new Set(group.map(({ name }) => name));
    if (different.size < 2 || different.size > MOST_ALIKE) continue;
    const names = new Names(different);
    for (const one of group) {
      const form = names.short(one.name, one.room * LETTER, (text) => textWidth(text, 1));
      if (textWidth(form, 1) <= one.room * LETTER) one.text = form;
    }
  }
  return labels;
}

/**
 * What each box is labelled with at a zoom: { text, size } by id, sizes in px of the drawing.
 * boxes: { id, label, shorter, size, x, y, w, h, kind, frame, depth, count, value }; x and y are the middle, all in px of the
 * drawing, shorter other labels for less room, the longest first, value what the box is painted by.
 * @param {Graphs.Labelled[]} boxes
 * @param {number} zoom
 */
export function labelsAt(boxes, zoom) {
  const found = new Map();
  const titles = [];
  const texts = toldApart(boxes.map((box) => cutAt(box, zoom)));
  for (const [at, box] of boxes.entries()) {
    const { text, size, fits } = texts[at];
    const told = box.value && text && hasRoom(box, text, size, zoom) ? withValue(box, text) : text;
    if (fits && text) found.set(box.id, { text: told, size });
    else {
      found.set(box.id, { text: "", size });
      if (box.frame || box.kind === "scope" || box.kind === "stack") titles.push(box);
    }
  }
  place(found, titles, zoom, titles.length ? boxes : []);
  const none = ![...found.values()].some(({ text }) => text);
  if (none) place(found, titles.length ? titles : boxes, zoom, []);
  return found;
}

/**
 * Give boxes that are too small titles at their places, as long as these do not overlap. The boxes in a frame cover its title.
 * @param {Map<string, Graphs.Label>} found
 * @param {Graphs.Labelled[]} boxes
 * @param {number} zoom
 * @param {Graphs.Labelled[]} above
 */
function place(found, boxes, zoom, above) {
  const order = [...boxes].sort((a, b) =>
    Number(Boolean(b.frame)) - Number(Boolean(a.frame)) || (a.depth || 0) - (b.depth || 0) || (b.count || 0) - (a.count || 0));
  /** @type {Graphs.Rectangle[]} */
  const taken = [];
  for (const box of order) {
    if (taken.length >= MOST_TITLES) return;
    const text = shortened(box.label.split("  ")[0], 24);
    const [wide, high] = [textWidth(text, SMALLEST_PX), SMALLEST_PX * LINE];
    const left = box.frame ? (box.x - box.w / 2 + FRAME_LEFT) * zoom : box.x * zoom - wide / 2;
    const top = box.frame ? (box.y - box.h / 2 + FRAME_TOP) * zoom : box.y * zoom - high / 2;
    const rect = { x1: left - 4, y1: top, x2: left + wide + 4, y2: top + high };
    if (box.frame && covered(box, rect, above, zoom)) continue;
    if (taken.some((one) => overlaps(one, rect))) continue;
    taken.push(rect);
    found.set(box.id, { text, size: SMALLEST_PX / zoom });
  }
}

/**
 * @param {Graphs.Labelled} frame
 * @param {Graphs.Rectangle} rect
 * @param {Graphs.Labelled[]} above
 * @param {number} zoom
 */
function covered(frame, rect, above, zoom) {
  return above.some((box) => (!box.frame || box.depth > frame.depth) && overlaps(rect, {
    x1: (box.x - box.w / 2) * zoom,
    x2: (box.x + box.w / 2) * zoom,
    y1: (box.y - box.h / 2) * zoom,
    y2: (box.y + box.h / 2) * zoom,
  }));
}

/**
 * Where the title of a frame is, from the middle of its upper edge as cytoscape places it: at the left, below the edge.
 * @param {Graphs.Label} label
 * @param {number} width
 */
export function titleAt({ text, size }, width) {
  return { tx: textWidth(text, size) / 2 + FRAME_LEFT - width / 2, ty: FRAME_TOP + LINE * size };
}

/**
 * The type and shape that an edge carries, without the word for a tensor that nearly all have, and not longer than a box.
 * @param {string} label
 */
export function carried(label) {
  return shortened(label.replace(/^(?:Tensor|Ref|Parameter)\[([^[\]]*)\]/, "$1"), 32);
}

/**
 * At which of its places each edge's label overlaps nothing: ids with "mid", "out" or "into"; the others have none.
 * edges: { id, text, places: { mid, out, into } } with places as { x, y } in px of the screen; boxes: rectangles to leave free.
 * @param {Graphs.LabelledEdge[]} edges
 * @param {Graphs.Rectangle[]} boxes
 * @param {number} px
 */
export function edgeLabels(edges, boxes, px) {
  const found = new Map();
  const taken = [...boxes];
  for (const { id, text, places } of edges) {
    const half = { x: textWidth(text, px) / 2 + 2, y: (px * LINE) / 2 };
    for (const [name, at] of Object.entries(places)) {
      const rect = { x1: at.x - half.x, y1: at.y - half.y, x2: at.x + half.x, y2: at.y + half.y };
      if (taken.some((one) => overlaps(one, rect))) continue;
      taken.push(rect);
      found.set(id, name);
      break;
    }
  }
  return found;
}
