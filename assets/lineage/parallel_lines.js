// Lines over parallel axes on two canvases: all of them faintly, and above them those that brushes hold. Many lines are drawn
// over several frames, and the lines before stay on screen until the new ones are there. Paths of several lines were tried: a
// path per colour is no faster for thin lines, and up to twenty times slower for others.

import { penOf } from "../kit/canvases.js";
import { heldBy } from "./parallel_brushes.js";

const MANY = 1500;  // lines from which they are drawn thin and without hints of what is below
const FAINT = 0.35;  // opacity of lines that are not held
const FRAME_PX = 3_000_000;  // length of thin lines that a frame has time for: 10 to 20 ms without a graphics processor
const WIDE = 8;  // how many times as long as a thin line another one takes
const STUB = 24;  // px, the line of a run over one axis

/** @param {Lineage.ParallelPlot} plot */
export const dimensionsOf = (plot) => (plot.figure ? plot.figure.data[0].dimensions : []);

/** @param {Lineage.ParallelPlot} plot */
export const rowsOf = (plot) => (plot.figure ? plot.figure.layout.meta.keys.length : 0);

/**
 * @param {number} rows
 * @param {number} scale pixels per px
 */
export const lineWidth = (rows, scale) => (rows > MANY ? 1 / scale : 1.25);

/**
 * @param {Lineage.Pen} pen
 * @param {number[]} across
 * @param {ArrayLike<number>[]} heights
 * @param {number} row
 */
function strokeRow(pen, across, heights, row) {
  pen.beginPath();
  pen.moveTo(across[0], heights[0][row]);
  for (let i = 1; i < across.length; i += 1) pen.lineTo(across[i], heights[i][row]);
  if (across.length === 1) pen.lineTo(across[0] + STUB, heights[0][row]);
  pen.stroke();
}

/**
 * Draw some lines into a picture: first those that are not held, above them those that are.
 * @param {Lineage.Pen} pen
 * @param {Lineage.ParallelPlot} plot
 * @param {number} scale pixels of the picture per px
 */
export function drawPicture(pen, { across, heights, held, colours, css }, scale) {
  if (!across.length) return;
  pen.lineWidth = lineWidth(held.length, scale);
  const faint = css("--ms-line-strong");
  for (const kept of [0, 1]) {
    pen.globalAlpha = kept ? 1 : FAINT;
    for (let row = 0; row < held.length; row += 1) {
      if (held[row] !== kept) continue;
      pen.strokeStyle = kept ? colours[row] : faint;
      strokeRow(pen, across, heights, row);
    }
  }
  pen.globalAlpha = 1;
}

/**
 * Note which lines the brushes hold.
 * @param {Lineage.ParallelPlot} plot
 */
function hold(plot) {
  plot.held = heldBy(dimensionsOf(plot), plot.brushes, rowsOf(plot));
  plot.shown = plot.held.reduce((sum, one) => sum + one, 0);
  plot.host.dataset.shown = String(plot.shown);
  plot.host.dataset.lines = String(plot.held.length);
}

/**
 * What is to be drawn, as it is now: an axis or brush may move on before all of it is drawn.
 * @param {Lineage.ParallelPlot} plot
 * @param {boolean} all whether all lines are drawn, too
 * @returns {Lineage.ParallelJob}
 */
function jobOf(plot, all) {
  const { across, heights, width, height, colours, held, shown } = plot;
  const scale = window.devicePixelRatio || 1;
  const thin = lineWidth(held.length, scale);
  const length = across.length ? across[across.length - 1] - across[0] + (across.length - 1) * (height / 3) : 1;
  const every = Uint32Array.from(held.keys());
  /** @type {Lineage.LinesPart[]} */
  const parts = [{ canvas: plot.above, rows: every.filter((row) => held[row]), at: 0, colours, alpha: 1 }];
  if (all) parts.unshift({ canvas: plot.below, rows: every, at: 0, colours: plot.css("--ms-line-strong"), alpha: FAINT });
  const most = Math.max(1, Math.floor(FRAME_PX / (length * scale * (held.length > MANY ? 1 : WIDE))));
  const left = parts.reduce((sum, part) => sum + part.rows.length, 0);
  return { parts, across, heights, width, height, scale, thin, most, parted: left > most, whole: shown === held.length, at: 0 };
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Lineage.ParallelJob} job
 */
function cleared(canvas, { width, height, scale, thin }) {
  const [across, down] = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== across || canvas.height !== down) Object.assign(canvas, { width: across, height: down });
  const pen = penOf(canvas);
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.lineWidth = thin;
  return pen;
}

/**
 * Where a part is drawn: on its canvas, or beside it while that shows the lines before.
 * @param {Lineage.ParallelPlot} plot
 * @param {Lineage.ParallelJob} job
 * @param {HTMLCanvasElement} canvas
 */
function sheetOf(plot, job, canvas) {
  if (!job.parted) return canvas;
  const found = plot.sheets.get(canvas) || document.createElement("canvas");
  plot.sheets.set(canvas, found);
  return found;
}

/**
 * Draw as many lines as a frame has time for.
 * @param {Lineage.ParallelPlot} plot
 * @param {Lineage.ParallelJob} job
 */
function advance(plot, job) {
  let left = job.most;
  while (job.at < job.parts.length && left > 0) {
    const part = job.parts[job.at];
    const sheet = sheetOf(plot, job, part.canvas);
    const pen = part.at ? penOf(sheet) : cleared(sheet, job);
    pen.globalAlpha = part.alpha;
    const end = Math.min(part.rows.length, part.at + left);
    left -= end - part.at;
    if (typeof part.colours === "string") pen.strokeStyle = part.colours;
    for (; part.at < end; part.at += 1) {
      const row = part.rows[part.at];
      if (typeof part.colours !== "string") pen.strokeStyle = part.colours[row];
      strokeRow(pen, job.across, job.heights, row);
    }
    if (part.at === part.rows.length) job.at += 1;
  }
  if (job.at === job.parts.length) finish(plot, job);
}

/**
 * @param {Lineage.ParallelPlot} plot
 * @param {Lineage.ParallelJob} job
 */
function finish(plot, job) {
  plot.job = null;
  plot.below.hidden = job.whole;
  if (!job.parted) return;
  for (const { canvas } of job.parts) {
    const pen = cleared(canvas, job);
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.globalAlpha = 1;
    pen.drawImage(sheetOf(plot, job, canvas), 0, 0);
  }
}

/** @param {Lineage.ParallelPlot} plot */
function begin(plot) {
  const all = plot.wanted === "all";
  plot.wanted = "";
  hold(plot);
  plot.job = jobOf(plot, all);
  advance(plot, plot.job);
}

/** @param {Lineage.ParallelPlot} plot */
function go(plot) {
  if (plot.job) plot.host.setAttribute("aria-busy", "true");
  else plot.host.removeAttribute("aria-busy");
  if (!(plot.job || plot.wanted) || plot.frame) return;
  plot.frame = window.requestAnimationFrame(() => {
    plot.frame = 0;
    if (plot.job) advance(plot, plot.job);
    else if (plot.wanted) begin(plot);
    go(plot);
  });
}

/**
 * Draw lines in the next frame, once what is being drawn is there.
 * @param {Lineage.ParallelPlot} plot
 * @param {"held" | "all"} what
 */
export function drawSoon(plot, what) {
  if (plot.wanted !== "all") plot.wanted = what;
  go(plot);
}

/**
 * Draw lines of another figure or size: what is being drawn is given up.
 * @param {Lineage.ParallelPlot} plot
 */
export function drawAnew(plot) {
  plot.wanted = "all";
  begin(plot);
  go(plot);
}

/**
 * Draw lines that are held at once, or once what is being drawn is there.
 * @param {Lineage.ParallelPlot} plot
 */
export function drawHeld(plot) {
  if (plot.wanted !== "all") plot.wanted = "held";
  hold(plot);
  if (!plot.job) begin(plot);
  go(plot);
}
