// Pixels in which several slices run: their busy share as opacity. The pixels of all lanes are one image, a row for each lane,
// which is stretched to the height of the lane: a call for a lane instead of one for a pixel.

import { penOf } from "../../kit/canvases.js";

/** The least that a pixel shows where anything ran. */
const LEAST = 0.22;
const LEVELS = 255;
/** Pixels written at once; more lanes take several images. */
const MOST = 4_000_000;

/** @type {HTMLCanvasElement | null} */
let sheet = null;

/**
 * Opacity of a pixel, 0..255, by its busy share in LEVELS parts; 0 for none.
 * @param {number} level
 */
export const opacity = (level) => (level ? Math.round(255 * (LEAST + (1 - LEAST) * (level / LEVELS))) : 0);

const OPACITIES = Uint8Array.from({ length: LEVELS + 1 }, (_, level) => opacity(level));

/**
 * The share as a level: at least 1 where anything ran.
 * @param {number} share
 */
export const levelOf = (share) => (share > 0 ? Math.max(1, Math.round(Math.min(1, share) * LEVELS)) : 0);

/**
 * Pixels of shares in a colour [r, g, b], as an image has them (red in the lowest byte), into `into`.
 * @param {ArrayLike<number>} shares
 * @param {Timeline.Rgb} rgb
 * @param {Uint32Array} into
 */
export function pixelsOf(shares, [red, green, blue], into) {
  const colour = (blue << 16) | (green << 8) | red;
  for (let column = 0; column < shares.length; column += 1) {
    const share = shares[column];
    into[column] = share > 0 ? ((OPACITIES[levelOf(share)] << 24) | colour) >>> 0 : 0;
  }
}

/**
 * Draw lanes: [{ shares, y, height }, ...], all of as many columns.
 * @param {CanvasRenderingContext2D} context
 * @param {Timeline.Busy[]} lanes
 * @param {number} columns
 * @param {Timeline.Rgb} colour
 */
export function drawBusy(context, lanes, columns, colour) {
  const most = Math.max(1, Math.floor(MOST / columns));
  for (let first = 0; first < lanes.length; first += most) drawSome(context, lanes.slice(first, first + most), columns, colour);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Timeline.Busy[]} lanes
 * @param {number} columns
 * @param {Timeline.Rgb} colour
 */
function drawSome(context, lanes, columns, colour) {
  const kept = sheet || document.createElement("canvas");
  sheet = kept;
  if (kept.width !== columns || kept.height < lanes.length) {
    kept.width = columns;
    kept.height = lanes.length;
  }
  const image = new ImageData(columns, lanes.length);
  const pixels = new Uint32Array(image.data.buffer);
  lanes.forEach(({ shares }, row) => pixelsOf(shares, colour, pixels.subarray(row * columns, (row + 1) * columns)));
  penOf(kept).putImageData(image, 0, 0);
  const smoothing = context.imageSmoothingEnabled;
  context.imageSmoothingEnabled = false;
  lanes.forEach(({ y, height }, row) => context.drawImage(kept, 0, row, columns, 1, 0, y, columns, height));
  context.imageSmoothingEnabled = smoothing;
}

/**
 * The same as rectangles, neighbouring pixels of nearly one share as one: for drawings that have no pixels.
 * @param {Timeline.Pen} context
 * @param {Timeline.Busy} busy
 * @param {Timeline.Rgb} rgb
 */
export function shapeBusy(context, { shares, y, height }, [red, green, blue]) {
  let start = 0;
  let level = 0;
  for (let column = 0; column <= shares.length; column += 1) {
    const next = column < shares.length && shares[column] > 0 ? Math.max(1, Math.round(Math.min(1, shares[column]) * 15)) : 0;
    if (next === level) continue;
    if (level) {
      context.fillStyle = `rgba(${red}, ${green}, ${blue}, ${LEAST + (1 - LEAST) * (level / 15)})`;
      context.fillRect(start, y, column - start, height);
    }
    start = column;
    level = next;
  }
}
