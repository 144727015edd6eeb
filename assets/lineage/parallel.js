// Runs as lines over parallel axes: lines on two canvases, axes and brushes as SVG above them.

import { setAlternative } from "../kit/alternatives.js";
import { make } from "../kit/elements.js";
import { coloursOf } from "./line_colours.js";
import { drawAxes, place, point, shape } from "./parallel_axes.js";
import { joined } from "./parallel_brushes.js";
import { attach } from "./parallel_events.js";
import { save } from "./parallel_files.js";
import { drawAnew } from "./parallel_lines.js";

/**
 * Draw parallel axes into an element.
 * @param {HTMLElement} host
 * @param {Lineage.ParallelActs} acts
 */
export function parallelPlot(host, acts) {
  const [below, above] = ["all", "lines"].map((name) => make("canvas", `ms-parallel-${name}`, [], { "aria-hidden": "true" }));
  const svg = /** @type {SVGSVGElement} */ (shape("svg", { class: "ms-parallel-axes" }));
  const tip = make("div", "ms-lineage-tip");
  tip.hidden = true;
  host.classList.add("ms-parallel");
  host.replaceChildren(below, above, svg, tip);
  /** @type {Lineage.ParallelPlot} */
  const plot = {
    host, acts, below, above, svg, tip, near: shape("path", { class: "ms-parallel-near" }), sheets: new Map(),
    css: (name) => window.getComputedStyle(host).getPropertyValue(name).trim(), redraw,
    figure: null, brushes: new Map(), across: [], heights: [], colours: [], held: new Uint8Array(0), shown: 0,
    width: 0, height: 0, dragged: null, ticks: [], titles: [], frame: 0, job: null, wanted: "",
  };

  function redraw() {
    if (!plot.figure || !host.clientWidth || !host.clientHeight) return;
    Object.assign(plot, { width: host.clientWidth, height: host.clientHeight });
    point(plot, -1, [0, 0]);
    place(plot);
    drawAnew(plot);
    drawAxes(plot);
  }

  attach(plot);
  new ResizeObserver(redraw).observe(host);

  return {
    /**
     * Show a figure; brushes stay where it says nothing of them.
     * @param {Lineage.Figure} figure
     * @param {Map<string, Lineage.Stretch[]>} [brushes]
     */
    show(figure, brushes) {
      plot.figure = figure;
      plot.dragged = null;
      if (brushes) plot.brushes = new Map(Array.from(brushes, ([name, stretches]) => [name, joined(stretches)]));
      plot.colours = coloursOf(figure);
      setAlternative(svg, figure.layout.meta.alternative, "group");
      redraw();
    },

    /**
     * Save what is shown, "png" or "svg".
     * @param {string} format
     * @param {string} subject
     */
    save: (format, subject) => save(plot, format, subject),
  };
}
