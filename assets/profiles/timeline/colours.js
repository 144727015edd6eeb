// Colours of slices, for both themes. Red is left out: it means wrong.

import { rgbOf } from "../../kit/hsl.js";

/** Twelve hues that differ in normal and red-green weak vision by lightness too: [hue, saturation, lightness light, dark]. */
const HUES = [
  [212, 62, 76, 38], [28, 78, 74, 37], [160, 44, 70, 31], [266, 56, 82, 45], [45, 74, 70, 33], [190, 56, 72, 34],
  [322, 46, 80, 43], [78, 42, 70, 31], [236, 54, 81, 46], [140, 34, 77, 36], [16, 40, 80, 41], [205, 26, 74, 42],
];
/** @type {Record<string, number>} */
const KINDS = {
  step: 8, scope: 3, python: 0, cann: 5, host: 11, host_queue: 9, device_stream: 1, communication: 3, overlap: 2, counter: 11,
  memory: 11, other: 11,
};
const AGGREGATED = { light: [215, 12, 52], dark: [215, 12, 62] };

/**
 * @param {number[]} colour
 * @param {Timeline.Theme} theme
 */
function css([hue, saturation, light, dark], theme) {
  return theme === "dark" ? `hsl(${hue} ${Math.round(saturation * 0.8)}% ${dark}%)` : `hsl(${hue} ${saturation}% ${light}%)`;
}

/**
 * The colours of a theme: fills, line and text on fills, and what several slices in one pixel look like.
 * @param {Timeline.Theme} theme
 * @returns {Timeline.Palette}
 */
export function paletteOf(theme) {
  const dark = theme === "dark";
  const [hue, saturation, lightness] = AGGREGATED[theme];
  return {
    fills: HUES.map((one) => css(one, theme)),
    edge: dark ? "rgba(0, 0, 0, 0.38)" : "rgba(255, 255, 255, 0.75)",
    text: dark ? "#f0f2f5" : "#14181d",
    several: rgbOf(hue, saturation, lightness),
    faint: dark ? "#33393f" : "#e3e6ea",
    pale: dark ? "#8b95a1" : "#656e7b",
  };
}

/**
 * A number from a text; names that differ in a number at their end alone (MatMul12, MatMul13) have the same.
 * @param {string} text
 */
export function hashOf(text) {
  const plain = text.replace(/[\d#]+$/, "");
  let hash = 2166136261;
  for (let i = 0; i < plain.length; i += 1) hash = Math.imul(hash ^ plain.charCodeAt(i), 16777619);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 2246822507);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/** @param {string} name */
export const fillOfName = (name) => hashOf(name) % HUES.length;
/** @param {string} kind */
export const fillOfKind = (kind) => KINDS[kind] ?? 11;

/**
 * How a duration compares with the median of its name: 0 (half or less) to 4 (double or more); 2 is about the median.
 * @param {number} duration
 * @param {number} median
 */
export function pace(duration, median) {
  if (!(median > 0)) return 2;
  const ratio = duration / median;
  return ratio <= 0.5 ? 0 : ratio < 0.8 ? 1 : ratio <= 1.25 ? 2 : ratio < 2 ? 3 : 4;
}

/**
 * Fills for `pace`: from blue (faster) through grey to orange (slower).
 * @param {Timeline.Theme} theme
 */
export function pacesOf(theme) {
  return theme === "dark"
    ? ["hsl(212 55% 45%)", "hsl(212 30% 40%)", "hsl(215 6% 36%)", "hsl(30 40% 38%)", "hsl(28 75% 42%)"]
    : ["hsl(212 70% 70%)", "hsl(212 45% 82%)", "hsl(215 10% 84%)", "hsl(32 65% 80%)", "hsl(28 85% 66%)"];
}
