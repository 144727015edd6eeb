// The bar of colours above the PNG of a painted graph.

import { penOf, pictureOf } from "../kit/canvases.js";
import { translate } from "../kit/i18n.js";

const [WIDTH, HIGH, STRIP, EDGE, SCALE] = [420, 72, 12, 16, 2];

/**
 * The picture of a painted graph with metric, step and bar above it.
 * @param {Blob} blob the picture as PNG
 * @param {Graphs.Painted} painted the answer of the server
 * @param {Graphs.Bar} bar of it
 * @param {string} back colour of the background
 * @param {string} text colour of the texts
 * @returns {Promise<Blob>}
 */
export async function withBar(blob, painted, bar, back, text) {
  const image = await createImageBitmap(blob);
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(image.width, (WIDTH + 2 * EDGE) * SCALE);
  canvas.height = image.height + HIGH * SCALE;
  const pen = penOf(canvas);
  pen.fillStyle = back;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(image, 0, HIGH * SCALE);
  pen.scale(SCALE, SCALE);
  const step = translate(painted.step < 0 ? "graph.paint.whole" : "graph.paint.at", { step: painted.step });
  pen.fillStyle = text;
  pen.font = "12px system-ui, sans-serif";
  pen.fillText(`${translate(`graph.paint.${painted.metric}`)}, ${step}`, EDGE, 22);
  const { colours, ticks } = bar;
  const gradient = pen.createLinearGradient(EDGE, 0, EDGE + WIDTH, 0);
  colours.forEach((colour, place) => gradient.addColorStop(place / (colours.length - 1), colour));
  pen.fillStyle = gradient;
  pen.fillRect(EDGE, 30, WIDTH, STRIP);
  pen.fillStyle = text;
  pen.font = "10.5px system-ui, sans-serif";
  for (const [share, said] of ticks) {
    pen.textAlign = share === 0 ? "left" : share === 1 ? "right" : "center";
    pen.fillText(said, EDGE + share * WIDTH, 30 + STRIP + 14);
  }
  return pictureOf(canvas);
}
