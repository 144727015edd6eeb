// Save a pipeline as it is drawn, as SVG or PNG, in the colours of the page.

import { penOf, pictureOf } from "../../kit/canvases.js";
import { make } from "../../kit/elements.js";
import { fileName, saveBlob } from "../../kit/files.js";

const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-family", "font-size", "font-weight", "opacity"];
const SHARPER = 2;
const MOST_PIXELS = 16000;  // maximum edge of a canvas

/**
 * @param {Blob} blob
 * @param {string} name
 * @param {string} suffix
 */
function save(blob, name, suffix) {
  saveBlob(blob, `${fileName(name, "run", 60)}-dataset.${suffix}`);
}

/**
 * Inline the colours of css, so that the file has them.
 * @param {SVGElement} drawing
 */
function alone(drawing) {
  const copy = /** @type {SVGElement} */ (drawing.cloneNode(true));
  const given = [drawing, ...drawing.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((element, at) => {
    const style = getComputedStyle(given[at]);
    for (const name of STYLES) element.style.setProperty(name, style.getPropertyValue(name));
    for (const { name } of Array.from(element.attributes)) {
      if (/^(data-|aria-|class$|tabindex$|role$)/.test(name)) element.removeAttribute(name);
    }
  });
  const { width, height } = size(drawing);
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.style.background = getComputedStyle(drawing.closest(".ms-card")).backgroundColor;
  return new XMLSerializer().serializeToString(copy);
}

/** @param {SVGElement} drawing */
function size(drawing) {
  return { width: Number(drawing.dataset.width), height: Number(drawing.dataset.height) };
}

/**
 * @param {SVGElement} drawing
 * @param {string} name
 */
export function svg(drawing, name) {
  save(new Blob([alone(drawing)], { type: "image/svg+xml" }), name, "svg");
}

/**
 * @param {SVGElement} drawing
 * @param {string} name
 */
export async function png(drawing, name) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(alone(drawing))}`;
  await image.decode();
  const { width, height } = size(drawing);
  const scale = Math.min(SHARPER, MOST_PIXELS / Math.max(width, height));
  const canvas = make("canvas", "", [], { width: Math.round(width * scale), height: Math.round(height * scale) });
  const context = penOf(canvas);
  context.fillStyle = getComputedStyle(drawing.closest(".ms-card")).backgroundColor;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  save(await pictureOf(canvas), name, "png");
}
