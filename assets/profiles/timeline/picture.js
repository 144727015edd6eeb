// The timeline as a file: a picture, or a drawing with shapes and texts.

import { penOf, pictureOf } from "../../kit/canvases.js";
import { make } from "../../kit/elements.js";
import { called } from "../../kit/files.js";
import { Vector } from "../../kit/vector.js";
import { FONT } from "./canvas.js";
import { rowsOnScreen } from "./geometry.js";
import { drawScene } from "./line.js";
import { drawGrid, drawOverlay, drawRuler } from "./overlay.js";

/**
 * @param {Blob} blob
 * @param {string} name
 */
function save(blob, name) {
  const link = make("a", "", [], { href: URL.createObjectURL(blob), download: name });
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/**
 * @param {Timeline.Page} page
 */
function nameOf(page) {
  const runs = page.parts.map(({ run, rank }) => `${run} ${rank}`).join(" ");
  return called(page.host.root, runs).name;
}

/**
 * The names beside the canvas: { text, x, y (middle), width } from its upper left corner.
 * @param {{ host: Timeline.Host }} options
 */
function namesOf({ host }) {
  const box = host.canvas.getBoundingClientRect();
  return Array.from(host.view.querySelectorAll(".ms-timeline-name"), (label) => {
    const place = label.getBoundingClientRect();
    return { text: label.textContent, x: place.left - box.left, y: place.top + place.height / 2 - box.top, place };
  }).filter(({ place }) => place.bottom >= box.top && place.top <= box.bottom);
}

/**
 * Save what is on screen, with axis and names of tracks, as PNG.
 * @param {Timeline.Page} page
 */
export async function savePicture(page) {
  const { host, line } = page;
  const { ratio } = line;
  const style = getComputedStyle(host.root);
  const [top, side] = [host.ruler.height, Math.round(host.labels.clientWidth * ratio)];
  const canvas = document.createElement("canvas");
  canvas.width = side + host.canvas.width;
  canvas.height = top + host.canvas.height;
  const context = penOf(canvas);
  context.fillStyle = style.getPropertyValue("--ms-card");
  context.fillRect(0, 0, canvas.width, canvas.height);
  for (const each of [host.canvas, host.overlay]) context.drawImage(each, side, top);
  context.drawImage(host.ruler, side, 0);
  context.scale(ratio, ratio);
  context.fillStyle = style.getPropertyValue("--ms-text");
  context.font = `12px ${style.fontFamily}`;
  context.textBaseline = "middle";
  context.beginPath();
  context.rect(0, top / ratio, side / ratio - 4, host.canvas.height / ratio);
  context.clip();
  for (const { text, x, y } of namesOf(page)) context.fillText(text, x + side / ratio, y + top / ratio);
  save(await pictureOf(canvas), `${nameOf(page)}.png`);
}

/**
 * Save the same as SVG: every rectangle, arrow and text is one of the file.
 * @param {Timeline.Page} page
 */
export function saveDrawing(page) {
  save(new Blob([drawingOf(page)], { type: "image/svg+xml" }), `${nameOf(page)}.svg`);
}

/**
 * What is on screen as the text of an SVG file.
 * @param {{ host: Timeline.Host, line: Timeline.Line }} options
 */
export function drawingOf({ host, line }) {
  const style = getComputedStyle(host.root);
  const side = host.labels.clientWidth;
  const top = host.ruler.height / line.ratio;
  const measuring = penOf(document.createElement("canvas"));
  const drawing = new Vector((text, font) => {
    measuring.font = font;
    return measuring.measureText(text).width;
  });
  drawing.font = FONT;
  /** @param {number} height */
  const sheet = (height) => ({ width: line.width, height, getContext: () => drawing });
  // The same line in pixels of css, whose canvases are the drawing.
  const copy = Object.assign(Object.create(line), {
    ratio: 1, pointer: null, hover: null,
    host: { ...host, canvas: sheet(line.height), overlay: sheet(line.height), ruler: sheet(top), base: { textContent: "" } },
  });
  drawing.fillStyle = style.getPropertyValue("--ms-card");
  drawing.fillRect(0, 0, side + line.width, top + line.height);
  /**
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {number} height
   * @param {() => void} draw
   */
  const within = (x, y, width, height, draw) => {
    drawing.save();
    drawing.translate(x, y);
    drawing.beginPath();
    drawing.rect(0, 0, width, height);
    drawing.clip();
    draw();
    drawing.restore();
  };
  within(side, top, line.width, line.height, () => {
    drawGrid(copy, drawing);
    drawScene(copy, rowsOnScreen(copy), drawing, { from: line.range.from, to: line.range.to, width: line.width, ratio: 1 });
    drawOverlay(copy);
  });
  within(side, 0, line.width, top, () => drawRuler(copy));
  within(0, top, side - 4, line.height, () => {
    drawing.fillStyle = style.getPropertyValue("--ms-text");
    drawing.font = `12px ${style.fontFamily}`;
    Object.assign(drawing, { textAlign: "left", textBaseline: "middle" });
    for (const { text, x, y } of namesOf({ host })) drawing.fillText(text, x + side, y);
  });
  return drawing.text(side + line.width, top + line.height, style.fontFamily);
}
