// Pictures and heat maps: fetched once, blended on a canvas. The server sends a heat map as grey PNG without loss, so the
// values here are exactly those it decoded; colour tables come from layouts/explanations/colours.py.

import { penOf } from "../kit/canvases.js";
import { make } from "../kit/elements.js";
import { translate } from "../kit/i18n.js";

const LEVELS = 256;
const MOST_BYTES = 96 * 2 ** 20;  // pictures and maps that are kept
const END_OF_JPEG = new Uint8Array([0xff, 0xd9]);
const known = new Map();          // address -> promise of a picture
let bytes = 0;

/**
 * The colours of a map: a table of RGBA for 256 levels, as text of base64.
 * @param {string} text
 */
export function tableOf(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

/**
 * The level that is shown for each value of a map: its own from lowest to highest, or as recorded.
 * @param {number} low
 * @param {number} high
 * @param {boolean} own
 */
export function levels(low, high, own) {
  const found = new Uint8Array(LEVELS);
  for (let value = 0; value < LEVELS; value += 1) {
    const scaled = own && high > low ? (value - low) / (high - low) * (LEVELS - 1) : value;
    found[value] = Math.round(Math.min(LEVELS - 1, Math.max(0, scaled)));
  }
  return found;
}

/**
 * Put a map over the pixels of a picture: pixel · (1 - a) + colour · a, with a = opacity · alpha of the level.
 * @param {Uint8ClampedArray} pixels RGBA, changed in place; without a picture they become the colours alone
 * @param {Uint8Array} grey a value for each pixel
 * @param {Uint8Array} table RGBA for each level
 * @param {Uint8Array} shown the level for each value
 * @param {number} opacity 0 to 1
 * @param {boolean} over whether there is a picture below
 */
export function blend(pixels, grey, table, shown, opacity, over) {
  const keep = new Float32Array(LEVELS);
  const add = new Float32Array(3 * LEVELS);
  for (let value = 0; value < LEVELS; value += 1) {
    const at = 4 * shown[value];
    const part = over ? opacity * table[at + 3] / (LEVELS - 1) : 1;
    keep[value] = 1 - part;
    for (let channel = 0; channel < 3; channel += 1) add[3 * value + channel] = table[at + channel] * part;
  }
  for (let place = 0, at = 0; place < grey.length; place += 1, at += 4) {
    const value = grey[place];
    const left = keep[value];
    const from = 3 * value;
    pixels[at] = pixels[at] * left + add[from];
    pixels[at + 1] = pixels[at + 1] * left + add[from + 1];
    pixels[at + 2] = pixels[at + 2] * left + add[from + 2];
    pixels[at + 3] = 255;
  }
}

/**
 * Lowest and highest value of a map.
 * @param {Uint8Array<ArrayBuffer>} grey
 */
export function ends(grey) {
  let low = 255;
  let high = 0;
  for (const value of grey) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return grey.length ? [low, high] : [0, 0];
}

// Fetching ----------------------------------------------------------------------------------------------------------

/**
 * A picture by its address: { bitmap, width, height, problem }, or { reason } if it cannot be shown. Never rejects; an answer
 * that did not come is asked for again next time.
 */
export function pictureAt(url) {
  const found = known.get(url);
  if (found) {
    known.delete(url);
    known.set(url, found);
    return found;
  }
  const asked = fetched(url);
  known.set(url, asked);
  asked.then((picture) => {
    if (picture.lost) known.delete(url);
    if (!picture.bitmap) return;
    bytes += 5 * picture.width * picture.height;
    evict();
  });
  return asked;
}

async function fetched(url) {
  try {
    const answer = await fetch(url);
    if (!answer.ok) return { reason: (await answer.json()).error, lost: answer.status >= 500 };
    const problem = decodeURIComponent(answer.headers.get("Mindscope-Problem") || "");
    const data = await answer.blob();
    // With an end marker added, browsers decode the part of a cut JPEG that is there.
    const bitmap = await createImageBitmap(data).catch(() => problem && createImageBitmap(new Blob([data, END_OF_JPEG])))
      .catch(() => null);
    if (!bitmap) return { reason: problem || translate("explanations.undecodable") };
    return { bitmap, width: bitmap.width, height: bitmap.height, problem };
  } catch (error) {
    return { reason: translate("explanations.unanswered"), lost: true };
  }
}

function evict() {
  for (const [url, asked] of known) {
    if (bytes <= MOST_BYTES) return;
    known.delete(url);
    asked.then(({ bitmap, width, height }) => {
      if (bitmap) bytes -= 5 * width * height;
    });
    return;  // sizes are known later: the next picture drops the next one
  }
}

/**
 * The grey values of a map: of its own pixels, or (width, height) resampled. Kept with the map.
 * @param {number} [width]
 * @param {number} [height]
 */
export function greyOf(map, width = map.width, height = map.height) {
  const own = width === map.width && height === map.height;
  if (own && map.grey) return map.grey;
  const context = canvasOf(width, height);
  context.drawImage(map.bitmap, 0, 0, width, height);
  const { data } = context.getImageData(0, 0, width, height);
  const grey = new Uint8Array(width * height);
  for (let place = 0; place < grey.length; place += 1) grey[place] = data[4 * place];
  if (own) {
    map.grey = grey;
    [map.low, map.high] = ends(grey);
  }
  return grey;
}

/**
 * @param {number} width
 * @param {number} height
 */
function canvasOf(width, height) {
  const canvas = make("canvas");
  Object.assign(canvas, { width, height });
  return penOf(canvas, { willReadFrequently: true });
}

// Drawing -----------------------------------------------------------------------------------------------------------

/**
 * Draw a map on a canvas, over its picture if look.over is set and there is one. look: { table, over, opacity, own }.
 * most is the longest side in px (0: as large as the picture).
 * @param {number} [most]
 */
export function drawMap(canvas, picture, map, look, most = 0) {
  const below = look.over && picture && picture.bitmap ? picture : null;
  const { width, height } = sizeOf(below || map, most);
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const context = penOf(canvas, { willReadFrequently: true });
  if (below) context.drawImage(below.bitmap, 0, 0, width, height);
  const image = below ? context.getImageData(0, 0, width, height) : context.createImageData(width, height);
  greyOf(map);
  blend(image.data, greyOf(map, width, height), look.table, levels(map.low, map.high, look.own), look.opacity, Boolean(below));
  context.putImageData(image, 0, 0);
}

/**
 * Draw a picture without a map.
 * @param {number} [most]
 */
export function drawPicture(canvas, picture, most = 0) {
  const { width, height } = sizeOf(picture, most);
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  penOf(canvas).drawImage(picture.bitmap, 0, 0, width, height);
}

export function sizeOf({ width, height }, most) {
  const ratio = most ? Math.min(1, most / Math.max(width, height)) : 1;
  return { width: Math.max(1, Math.round(width * ratio)), height: Math.max(1, Math.round(height * ratio)) };
}

/** What is wrong with a map and its picture, as texts: damage, other sizes, a constant map. */
export function notesOf(picture, map) {
  const found = [picture && picture.problem, map && map.problem].filter(Boolean);
  if (map && map.bitmap) {
    greyOf(map);
    if (map.low === map.high) found.push(translate("explanations.constant", { n: map.low }));
    if (picture && picture.bitmap && (picture.width !== map.width || picture.height !== map.height)) {
      const sides = { w: map.width, h: map.height, width: picture.width, height: picture.height };
      found.push(translate("explanations.sizes", sides));
    }
  }
  return found;
}
