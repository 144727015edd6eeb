// The lines of parallel coordinates in a page saved as a file. On the page plotly draws them with WebGL, whose programs a file
// has not; in the file they are SVG, below the axes and titles that plotly has drawn as SVG.

const SVG = "http://www.w3.org/2000/svg";
const LINE_PX = 0.75;  // about what WebGL draws, on a canvas of two pixels per px
const DECIMALS = 10;

/** @typedef {{ height: number, unitToColor: (unit: number) => number[], lines: { color: ArrayLike<number> } }} Model */
/**
 * What plotly keeps at a drawn axis. Colours of rows are fractions of the scale.
 * @typedef {object} Axis
 * @property {number} x px
 * @property {ArrayLike<number>} paddedUnitValues of each row, as a fraction of the height from below
 * @property {Model} model of the plot
 * @property {{ filter?: { specified?: boolean, getConsolidated: () => [number, number][] } }} [brush]
 */
/** @typedef {{ unselected: { line: { color: string, opacity: number } } }} Drawn */

/**
 * Whether a row is within what was brushed on every axis.
 * @param {Axis[]} axes
 * @param {number} row
 */
export function isBrushed(axes, row) {
  return axes.every(({ brush, paddedUnitValues }) => {
    const ranges = brush?.filter?.specified ? brush.filter.getConsolidated() : null;
    const value = paddedUnitValues[row];
    return !ranges || ranges.some(([low, high]) => value >= low && value <= high);
  });
}

/**
 * The way of a row from axis to axis.
 * @param {Axis[]} axes
 * @param {number} row
 */
export function wayOf(axes, row) {
  const points = axes.map(({ x, paddedUnitValues, model }) => [x, model.height * (1 - paddedUnitValues[row])]);
  return `M${points.map((point) => point.map((px) => Math.round(px * DECIMALS) / DECIMALS).join(",")).join("L")}`;
}

/**
 * The rows in the order in which they are drawn, with their stroke: what is not brushed first, then by the colour.
 * @param {Axis[]} axes
 * @param {Drawn} drawn
 * @returns {{ row: number, stroke: string, opacity: number }[]}
 */
export function strokes(axes, { unselected }) {
  const { lines: { color }, unitToColor } = axes[0].model;
  const rows = Array.from(axes[0].paddedUnitValues, (_, row) => row);
  const coloured = (/** @type {number} */ row) => `rgb(${unitToColor(color[row]).slice(0, 3).map(Math.round).join(",")})`;
  const brushed = rows.filter((row) => isBrushed(axes, row)).sort((one, other) => color[one] - color[other]);
  const { color: stroke, opacity } = unselected.line;
  return [
    ...(brushed.length < rows.length ? rows : []).map((row) => ({ row, stroke, opacity })),
    ...brushed.map((row) => ({ row, stroke: coloured(row), opacity: 1 })),
  ];
}

/**
 * The lines of parallel coordinates as SVG in the place of their canvases; null for any other plot.
 * @param {HTMLElement & { _fullData?: (Drawn & { type: string })[] }} plot
 * @returns {SVGElement | null}
 */
export function parallelLines(plot) {
  const drawn = plot._fullData?.[0];
  const view = plot.querySelector(".parcoords-control-view");
  const axes = Array.from(plot.querySelectorAll(".y-axis"), (one) => /** @type {any} */ (one).__data__)
    .filter((axis) => axis && axis.paddedUnitValues).sort((one, other) => one.x - other.x);
  if (!drawn || drawn.type !== "parcoords" || !view || axes.length < 2) return null;
  const picture = document.createElementNS(SVG, "svg");
  const { width, height } = plot.querySelector(".main-svg")?.getBoundingClientRect() || plot.getBoundingClientRect();
  for (const [name, value] of [["width", width], ["height", height]]) picture.setAttribute(String(name), String(value));
  picture.setAttribute("aria-hidden", "true");  // the plot has a text alternative
  picture.style.cssText = "position: absolute; top: 0; left: 0; pointer-events: none";
  const lines = document.createElementNS(SVG, "g");
  lines.setAttribute("class", "ms-file-lines");
  lines.setAttribute("transform", view.getAttribute("transform") || "");
  for (const [name, value] of [["fill", "none"], ["stroke-width", String(LINE_PX)]]) lines.setAttribute(name, value);
  for (const { row, stroke, opacity } of strokes(axes, drawn)) {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", wayOf(axes, row));
    path.setAttribute("stroke", stroke);
    if (opacity < 1) path.setAttribute("stroke-opacity", String(opacity));
    lines.append(path);
  }
  picture.append(lines);
  return picture;
}
