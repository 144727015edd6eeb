// The colours of lines and points of runs, as layouts/lineage/parallel.py sends them: numbers and a scale.

import { numbersOf } from "../kit/typed_arrays.js";

/** @param {string} colour */
function channels(colour) {
  if (colour.startsWith("#")) return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return (colour.match(/[\d.]+/g) || []).slice(0, 3).map(Number);
}

/**
 * The colour of each run of a figure.
 * @param {Lineage.Figure} figure
 */
export function coloursOf(figure) {
  const { keys } = figure.layout.meta;
  const { color, colorscale, cmin, cmax } = figure.data[0].line;
  if (typeof color === "string") return keys.map(() => color);
  return Array.from(numbersOf(color), (value) => {
    const part = Math.min(1, Math.max(0, (value - cmin) / (cmax - cmin)));
    const after = Math.max(1, colorscale.findIndex(([at]) => at >= part));
    const [[from, first], [to, second]] = [colorscale[after - 1], colorscale[after]];
    const share = to > from ? (part - from) / (to - from) : 0;
    const [a, b] = [channels(first), channels(second)];
    return `rgb(${a.map((one, i) => Math.round(one + (b[i] - one) * share)).join(",")})`;
  });
}
