// Lines over parallel axes as a file: a picture, or a drawing of lines and texts.

import { penOf } from "../kit/canvases.js";
import { make } from "../kit/elements.js";
import { called, saveBlob, savePicture } from "../kit/files.js";
import { widthIn } from "../kit/name_elements.js";
import { fitted } from "../kit/names.js";
import { Vector } from "../kit/vector.js";
import { BESIDE, TITLE } from "./parallel_axes.js";
import { BOTTOM, TOP, spanOf } from "./parallel_geometry.js";
import { dimensionsOf, drawPicture } from "./parallel_lines.js";

const PNG_SCALE = 2;

/**
 * Save what is shown, "png" or "svg".
 * @param {Lineage.ParallelPlot} plot
 * @param {string} format
 * @param {string} subject
 */
export async function save(plot, format, subject) {
  const { name, title } = called(plot.host, subject);
  const { width, height } = plot;
  if (format === "svg") {
    const font = plot.css("--ms-font");
    const drawing = new Vector((text, css) => widthIn(css)(text));
    draw(drawing, plot, title, 1);
    saveBlob(new Blob([drawing.text(width, height + TITLE, font)], { type: "image/svg+xml" }), `${name}.svg`);
    return;
  }
  const canvas = make("canvas", "", [], { width: width * PNG_SCALE, height: (height + TITLE) * PNG_SCALE });
  const pen = penOf(canvas);
  pen.scale(PNG_SCALE, PNG_SCALE);
  draw(pen, plot, title, PNG_SCALE);
  await savePicture(canvas, name);
}

/**
 * @param {Lineage.Pen} pen
 * @param {Lineage.ParallelPlot} plot
 * @param {string} title above the axes
 * @param {number} scale pixels of the picture per px
 */
function draw(pen, plot, title, scale) {
  const { width, height, css } = plot;
  pen.fillStyle = css("--ms-card");
  pen.fillRect(0, 0, width, height + TITLE);
  pen.fillStyle = css("--ms-text");
  pen.font = `13px ${css("--ms-font")}`;
  pen.fillText(fitted(title, width - TITLE, widthIn(pen.font)) || title, 8, 18);
  pen.save();
  pen.translate(0, TITLE);
  drawPicture(pen, plot, scale);
  plot.across.forEach((x, i) => writeAxis(pen, plot, x, i));
  pen.restore();
}

/**
 * @param {Lineage.Pen} pen
 * @param {Lineage.ParallelPlot} plot
 * @param {number} x
 * @param {number} i
 */
function writeAxis(pen, plot, x, i) {
  const { css, height } = plot;
  const { name, range } = dimensionsOf(plot)[i];
  pen.strokeStyle = css("--ms-line-strong");
  pen.lineWidth = 1;
  pen.beginPath();
  pen.moveTo(x, TOP);
  pen.lineTo(x, height - BOTTOM);
  pen.stroke();
  pen.strokeStyle = css("--ms-accent");
  for (const part of plot.brushes.get(name) || []) {
    const [top, bottom] = spanOf(range, height, part);
    pen.strokeRect(x - 4, top, 8, bottom - top);
  }
  pen.fillStyle = css("--ms-text");
  Object.assign(pen, { textAlign: "center", textBaseline: "alphabetic", font: `500 12px ${css("--ms-font")}` });
  pen.fillText(plot.titles[i], x, TITLE);
  Object.assign(pen, { textAlign: "right", textBaseline: "middle", font: `11px ${css("--ms-font")}` });
  for (const { y, text } of plot.ticks[i]) {
    pen.lineWidth = 3;
    pen.strokeStyle = css("--ms-card");
    pen.strokeText(text, x - BESIDE, y);
    pen.fillStyle = css("--ms-muted");
    pen.fillText(text, x - BESIDE, y);
  }
}
