// Where lines over parallel axes are: heights on axes, the line near a point, and the order of axes.

import { numbersOf } from "../kit/typed_arrays.js";

export const TOP = 40;
export const BOTTOM = 16;
const TICK_HEIGHT = 13;  // px between the middles of two texts

/**
 * Places of axes from left to right, in px.
 * @param {number} count
 * @param {number} width
 * @param {{ l: number, r: number }} margin
 */
export function acrossOf(count, width, margin) {
  const room = Math.max(0, width - margin.l - margin.r);
  return Array.from({ length: count }, (_, i) => margin.l + (count > 1 ? (room * i) / (count - 1) : room / 2));
}

/**
 * The height of a place on an axis, in px from above.
 * @param {Lineage.Stretch} range
 * @param {number} height of the drawing
 * @param {number} place
 */
export function heightOf([low, high], height, place) {
  return TOP + (1 - (place - low) / (high - low)) * (height - TOP - BOTTOM);
}

/**
 * Upper and lower end of a brush, within the axis.
 * @param {Lineage.Stretch} range
 * @param {number} height of the drawing
 * @param {Lineage.Stretch} part
 */
export function spanOf(range, height, [from, to]) {
  return [to, from].map((one) => heightOf(range, height, Math.min(range[1], Math.max(range[0], one))));
}

/**
 * The place at a height, within the axis.
 * @param {Lineage.Stretch} range
 * @param {number} height
 * @param {number} y
 */
export function placeAt([low, high], height, y) {
  const part = Math.min(1, Math.max(0, (y - TOP) / (height - TOP - BOTTOM)));
  return high - part * (high - low);
}

/**
 * Heights of all rows on an axis.
 * @param {Lineage.Dimension} dimension
 * @param {number} height
 */
export function heightsOf(dimension, height) {
  const places = numbersOf(dimension.values);
  const heights = new Float32Array(places.length);  // a loop takes a tenth of the time of Float32Array.from
  for (let row = 0; row < places.length; row += 1) heights[row] = heightOf(dimension.range, height, places[row]);
  return heights;
}

/**
 * The row whose line passes nearest to a point, -1 for none within reach.
 * @param {number[]} across of axes
 * @param {ArrayLike<number>[]} heights of rows, by axis
 * @param {ArrayLike<number>} held
 * @param {number[]} point x and y
 * @param {number} reach px
 */
export function nearest(across, heights, held, [x, y], reach) {
  const last = across.length - 1;
  if (last < 0 || x < across[0] - reach || x > across[last] + reach) return -1;
  const after = across.findIndex((one) => one >= x);
  const right = after < 0 ? last : Math.max(Math.min(1, last), after);
  const left = Math.max(0, right - 1);
  const part = right > left ? Math.min(1, Math.max(0, (x - across[left]) / (across[right] - across[left]))) : 0;
  let [best, distance] = [-1, reach];
  for (let row = 0; row < held.length; row += 1) {
    if (!held[row]) continue;
    const here = Math.abs(heights[left][row] + (heights[right][row] - heights[left][row]) * part - y);
    if (here <= distance) [best, distance] = [row, here];
  }
  return best;
}

/**
 * Ticks whose texts have room: those that would touch the one below are left out.
 * @template {{ y: number, text: string }} T
 * @param {T[]} ticks from below
 */
export function spaced(ticks) {
  let before = Infinity;
  return ticks.filter(({ y, text }) => {
    if (!text || before - y < TICK_HEIGHT) return false;
    before = y;
    return true;
  });
}

/**
 * The names of axes when one of them is dropped at a place.
 * @param {string[]} names
 * @param {number[]} across
 * @param {number} moved
 * @param {number} x
 */
export function reordered(names, across, moved, x) {
  const places = across.map((one, i) => (i === moved ? x : one));
  return names.map((name, i) => /** @type {const} */ ([name, places[i]])).sort((a, b) => a[1] - b[1]).map(([name]) => name);
}
