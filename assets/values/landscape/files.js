// Save the landscape: the plot as PNG or SVG, the data as CSV in full precision.

import * as files from "../../kit/files.js";

const HEADER = ["run", "tag", "kind", "unit", "at", "x", "y", "loss"];

/** @param {Landscape.Page} page */
const subject = (page) => page.figure.layout.meta.sheets.map(
  (/** @type {{ label: string, tag: string }} */ sheet) => `${sheet.label} ${sheet.tag}`).join(" ");

/**
 * @param {Landscape.Page} page
 * @param {string} format
 */
export async function image(page, format) {
  const plot = page.plot();
  if (plot && page.figure) await files.saveImage(plot, page.root, format, subject(page), plot);
}

function plain(value) {
  const number = Number(value);
  return Number.isNaN(number) ? "NaN" : Number.isFinite(number) ? number : number > 0 ? "+Inf" : "-Inf";
}

function rows(sheet, ground) {
  const name = [sheet.run, sheet.tag];
  const result = [];
  const losses = ground.meta.role === "line" ? { x: ground.x, y: [0], z: [ground.y] } : ground;
  losses.y.forEach((y, row) => losses.x.forEach((x, column) => {
    result.push([...name, "landscape", "", "", plain(x), plain(y), plain(losses.z[row][column])]);
  }));
  for (const point of sheet.path) result.push([...name, "path", sheet.unit, ...point]);
  if (sheet.convergence) result.push([...name, "convergence", "", "", ...sheet.convergence]);
  return result;
}

/** @param {Landscape.Page} page */
export function csv(page) {
  const plot = page.plot();
  if (!plot || !page.figure) return;
  const grounds = plot._fullData.filter((trace) => trace.meta && ["ground", "line"].includes(trace.meta.role));
  const { sheets } = page.figure.layout.meta;
  files.saveCsv([HEADER, ...grounds.flatMap((ground) => rows(sheets[ground.meta.sheet], ground))],
    files.called(page.root, subject(page)).name);
}
