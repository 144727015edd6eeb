// Runs as lines over parallel axes: lines on two canvases, axes and brushes as SVG above them. All lines are drawn faintly
// once; while somebody brushes, only those that are held are drawn again.

import { setAlternative } from "../kit/alternatives.js";
import { penOf } from "../kit/canvases.js";
import { make } from "../kit/elements.js";
import { called, savePicture } from "../kit/files.js";
import { setLabel } from "../kit/i18n.js";
import { widthIn } from "../kit/name_elements.js";
import { CUT, fitted, Names } from "../kit/names.js";
import { coloursOf } from "./line_colours.js";
import {
  BOTTOM, TOP, acrossOf, heightOf, heightsOf, heldBy, joined, nearest, placeAt, reordered, shifted, spaced,
} from "./parallel_geometry.js";

const SVG = "http://www.w3.org/2000/svg";
const REACH = 8;
const CLICK = 4;
const GRIP = 24;  // px of an axis that takes the pointer
const BESIDE = 10;  // px from an axis to the texts of its ticks
const STEP = 0.02;  // of an axis, for a key
const TITLE = 26;
const MANY = 1500;  // lines from which they are drawn thin and without hints of what is below

/**
 * @param {string} name
 * @param {Record<string, string | number>} attributes
 * @param {(Node | string)[]} [children]
 */
function shape(name, attributes, children = []) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}

/**
 * Draw parallel axes into an element.
 * @param {HTMLElement} host
 * @param {Lineage.ParallelActs} acts
 */
export function parallelPlot(host, acts) {
  const [below, above] = ["all", "lines"].map((name) => make("canvas", `ms-parallel-${name}`, [], { "aria-hidden": "true" }));
  const svg = /** @type {SVGSVGElement} */ (shape("svg", { class: "ms-parallel-axes" }));
  const near = shape("path", { class: "ms-parallel-near" });
  const tip = make("div", "ms-lineage-tip");
  tip.hidden = true;
  host.classList.add("ms-parallel");
  host.replaceChildren(below, above, svg, tip);
  /** @type {Lineage.ParallelState} */
  const now = {
    figure: null, brushes: new Map(), across: [], heights: [], colours: [], held: new Uint8Array(0), width: 0, height: 0,
    dragged: null, ticks: [], titles: [], frame: 0,
  };

  /** @param {string} name */
  const css = (name) => window.getComputedStyle(host).getPropertyValue(name).trim();
  const dimensions = () => (now.figure ? now.figure.data[0].dimensions : []);
  const rows = () => (now.figure ? now.figure.layout.meta.keys.length : 0);

  /**
   * @param {CanvasRenderingContext2D} pen
   * @param {number} row
   */
  function trace(pen, row) {
    now.across.forEach((x, i) => (i ? pen.lineTo(x, now.heights[i][row]) : pen.moveTo(x, now.heights[i][row])));
    if (now.across.length === 1) pen.lineTo(now.across[0] + GRIP, now.heights[0][row]);
  }

  /** @param {HTMLCanvasElement} canvas */
  function cleared(canvas) {
    const scale = window.devicePixelRatio || 1;
    const [width, height] = [Math.round(now.width * scale), Math.round(now.height * scale)];
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const pen = penOf(canvas);
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, now.width, now.height);
    pen.lineWidth = rows() > MANY ? 1 / scale : 1.25;
    return pen;
  }

  function drawAll() {
    const pen = cleared(below);
    pen.strokeStyle = css("--ms-line-strong");
    pen.globalAlpha = 0.35;
    for (let row = 0; row < rows(); row += 1) {
      pen.beginPath();
      trace(pen, row);
      pen.stroke();
    }
  }

  function drawHeld() {
    now.held = heldBy(dimensions(), now.brushes, rows());
    const pen = cleared(above);
    let shown = 0;
    for (let row = 0; row < rows(); row += 1) {
      if (!now.held[row]) continue;
      shown += 1;
      pen.strokeStyle = now.colours[row];
      pen.beginPath();
      trace(pen, row);
      pen.stroke();
    }
    below.hidden = shown === rows();
    host.dataset.shown = String(shown);
    host.dataset.lines = String(rows());
  }

  function soon() {
    if (!now.frame) now.frame = window.requestAnimationFrame(() => { now.frame = 0; drawHeld(); });
  }

  function place() {
    now.across = acrossOf(dimensions().length, now.width, now.figure ? now.figure.layout.margin : { l: 0, r: 0 });
    const { dragged } = now;
    if (dragged && dragged.x !== null) now.across[dragged.axis] = dragged.x;
    now.heights = dimensions().map((dimension) => heightsOf(dimension, now.height));
  }

  /** Texts of titles and ticks as they fit. */
  function fit() {
    const family = css("--ms-font");
    const { l, r } = now.figure ? now.figure.layout.margin : { l: 0, r: 0 };
    const count = dimensions().length;
    const apart = count > 1 ? now.across[1] - now.across[0] : Infinity;
    const [large, small] = [widthIn(`500 12px ${family}`), widthIn(`11px ${family}`)];
    const titles = new Names(dimensions().map(({ label }) => label));
    now.titles = dimensions().map(({ label, scale = "" }, i) => {
      const beside = i === 0 ? 2 * l - 4 : i === count - 1 ? 2 * r - 4 : Infinity;
      const room = Math.min(apart - 10, beside);
      for (const after of [scale, ""]) {
        const text = `${titles.short(label, room - large(after), large)}${after}`;
        if (large(text) <= room) return text;
      }
      return fitted(label, room, large) || CUT;
    });
    now.ticks = dimensions().map(({ tickvals, ticktext, range }, i) => {
      const names = new Names(ticktext);
      const room = (i === 0 ? l : apart) - BESIDE - 4;
      return spaced(tickvals.map((at, tick) => {
        const short = names.short(ticktext[tick], room, small);
        const text = small(short) <= room ? short : fitted(ticktext[tick], room, small) || CUT;
        return { y: heightOf(range, now.height, at), text: ticktext[tick] ? text : "", whole: ticktext[tick] };
      }));
    });
  }

  /** @param {number} i */
  function parts(i) {
    const { name, range } = dimensions()[i];
    return (now.brushes.get(name) || []).map(([from, to]) => {
      const [top, bottom] = [to, from].map((one) => heightOf(range, now.height, Math.min(range[1], Math.max(range[0], one))));
      return shape("rect", { class: "highlight", x: -4, width: 8, y: top, height: Math.max(2, bottom - top) });
    });
  }

  function drawAxes() {
    const focused = document.activeElement instanceof SVGElement ? document.activeElement.dataset.axis : undefined;
    svg.setAttribute("width", String(now.width));
    svg.setAttribute("height", String(now.height));
    const groups = dimensions().map(({ name, label }, i) => {
      const ticks = now.ticks[i].map(({ y, text, whole }) => shape("g", { class: "tick" }, [
        shape("line", { x1: -4, x2: 0, y1: y, y2: y }),
        shape("text", { x: -BESIDE, y, dy: "0.32em", "text-anchor": "end" }, [shape("title", {}, [whole]), text]),
      ]));
      const inner = now.height - TOP - BOTTOM;
      const group = shape("g", { class: "y-axis", transform: `translate(${now.across[i]},0)`, tabindex: 0, role: "group" }, [
        shape("text", { class: "axis-title", y: TITLE, "text-anchor": "middle" }, [now.titles[i]]),
        shape("g", { class: "axis" }, [shape("line", { class: "domain", y1: TOP, y2: TOP + inner }), ...ticks]),
        shape("g", { class: "axis-brush" }, [
          shape("rect", { class: "background", x: -GRIP / 2, width: GRIP, y: TOP, height: inner }), ...parts(i),
        ]),
      ]);
      group.dataset.axis = name;
      setLabel(/** @type {any} */ (group), "aria-label", "lineage.axis_keys", { name: label });
      return group;
    });
    svg.replaceChildren(...groups, near);
    if (focused !== undefined) groups.find((group) => group.dataset.axis === focused)?.focus({ preventScroll: true });
  }

  function redraw() {
    if (!now.figure || !host.clientWidth || !host.clientHeight) return;
    Object.assign(now, { width: host.clientWidth, height: host.clientHeight });
    point(-1, [0, 0]);
    place();
    fit();
    drawAll();
    drawHeld();
    drawAxes();
  }

  /**
   * @param {number} row
   * @param {number[]} at
   */
  function point(row, [x, y]) {
    tip.hidden = row === -1;
    near.setAttribute("d", row === -1 ? "" : `M${now.across.map((one, i) => `${one},${now.heights[i][row]}`).join("L")}`);
    above.dataset.near = row === -1 || !now.figure ? "" : now.figure.layout.meta.keys[row];
    svg.style.cursor = row === -1 ? "" : "pointer";
    if (row === -1) return;
    near.setAttribute("stroke", now.colours[row]);
    tip.replaceChildren(...acts.tip(row, now.colours[row]));
    tip.style.left = `${Math.max(0, Math.min(x + 14, now.width - tip.offsetWidth))}px`;
    tip.style.top = `${Math.max(0, Math.min(y + 14, now.height - tip.offsetHeight))}px`;
  }

  /** @param {MouseEvent} event */
  function at(event) {
    const box = svg.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  /** @param {number[]} place */
  const rowAt = (place) => nearest(now.across, now.heights, now.held, place, REACH);

  /**
   * @param {string} name
   * @param {Lineage.Stretch[]} stretches
   */
  function brush(name, stretches) {
    if (stretches.length) now.brushes.set(name, joined(stretches));
    else now.brushes.delete(name);
  }

  svg.addEventListener("pointerdown", (event) => {
    const element = /** @type {Element} */ (event.target);
    const group = /** @type {SVGElement | null} */ (element.closest(".y-axis"));
    const axis = dimensions().findIndex(({ name }) => group && name === group.dataset.axis);
    if (event.button || axis === -1) return;
    const [x, y] = at(event);
    const { name, range } = dimensions()[axis];
    const here = placeAt(range, now.height, y);
    const before = now.brushes.get(name) || [];
    const held = element.matches(".axis-title") ? -1 : before.findIndex(([from, to]) => from <= here && here <= to);
    svg.setPointerCapture(event.pointerId);
    now.dragged = { axis, from: [x, y], place: here, before, held, x: element.matches(".axis-title") ? x : null, title:
      element.matches(".axis-title") };
    point(-1, [0, 0]);
  });

  svg.addEventListener("pointermove", (event) => {
    const [x, y] = at(event);
    const { dragged } = now;
    if (!dragged) {
      point(rowAt([x, y]), [x, y]);
      return;
    }
    const { name, range } = dimensions()[dragged.axis];
    if (dragged.title) {
      dragged.x = x;
      place();
      drawAll();
    } else {
      const here = placeAt(range, now.height, y);
      const rest = dragged.before.filter((_, i) => i !== dragged.held);
      const changed = dragged.held === -1 ? [dragged.place, here]
        : shifted(dragged.before[dragged.held], range, here - dragged.place);
      brush(name, [...rest, changed]);
    }
    drawAxes();
    soon();
  });

  svg.addEventListener("pointerup", (event) => {
    const { dragged } = now;
    const [x, y] = at(event);
    if (!dragged) {
      const row = rowAt([x, y]);
      if (row !== -1) acts.opened(row);
      return;
    }
    now.dragged = null;
    const names = dimensions().map(({ name }) => name);
    const still = Math.hypot(x - dragged.from[0], y - dragged.from[1]) < CLICK;
    if (dragged.title) {
      const order = still ? names : reordered(names, now.across, dragged.axis, x);
      arrange(order);
      return;
    }
    if (still) brush(names[dragged.axis], dragged.before.filter((_, i) => i !== dragged.held && dragged.held !== -1));
    drawAxes();
    drawHeld();
    acts.brushed(now.brushes);
  });
  svg.addEventListener("pointercancel", () => {
    if (now.dragged && !now.dragged.title) brush(dimensions()[now.dragged.axis].name, now.dragged.before);
    now.dragged = null;
    redraw();
  });
  svg.addEventListener("pointerleave", () => { if (!now.dragged) point(-1, [0, 0]); });

  /** @param {string[]} order */
  function arrange(order) {
    if (!now.figure) return;
    const changed = order.some((name, i) => name !== dimensions()[i].name);
    const [data, ...more] = now.figure.data;
    const sorted = order.flatMap((name) => data.dimensions.filter((one) => one.name === name));
    now.figure = { ...now.figure, data: [{ ...data, dimensions: sorted }, ...more] };
    redraw();
    if (changed) acts.reordered(order);
  }

  svg.addEventListener("keydown", (event) => {
    const axis = dimensions().findIndex(({ name }) => name === /** @type {SVGElement} */ (event.target).dataset.axis);
    if (axis === -1 || event.ctrlKey || event.metaKey || event.altKey) return;
    const { name, range } = dimensions()[axis];
    const before = now.brushes.get(name) || [];
    const step = (range[1] - range[0]) * STEP * (event.key === "ArrowUp" ? 1 : -1);
    if (["ArrowUp", "ArrowDown"].includes(event.key)) {
      const [from, to] = before[before.length - 1] || [range[0] + (range[1] - range[0]) / 2, range[1]];
      const grown = [from, Math.min(range[1], Math.max(from, to + step))];
      const next = !before.length ? [from, to] : event.shiftKey ? grown : shifted([from, to], range, step);
      brush(name, [...before.slice(0, -1), next]);
    } else if (["Delete", "Backspace"].includes(event.key)) brush(name, []);
    else if (["ArrowLeft", "ArrowRight"].includes(event.key)) {
      const names = dimensions().map((one) => one.name);
      const to = axis + (event.key === "ArrowLeft" ? -1 : 1);
      if (to < 0 || to >= names.length) return;
      [names[axis], names[to]] = [names[to], names[axis]];
      event.preventDefault();
      arrange(names);
      return;
    } else return;
    event.preventDefault();
    drawAxes();
    drawHeld();
    acts.brushed(now.brushes);
  });

  new ResizeObserver(redraw).observe(host);

  return {
    /**
     * Show a figure; brushes stay where it says nothing of them.
     * @param {Lineage.Figure} figure
     * @param {Map<string, Lineage.Stretch[]>} [brushes]
     */
    show(figure, brushes) {
      now.figure = figure;
      now.dragged = null;
      if (brushes) now.brushes = new Map(Array.from(brushes, ([name, stretches]) => [name, joined(stretches)]));
      now.colours = coloursOf(figure);
      setAlternative(svg, figure.layout.meta.alternative, "group");
      redraw();
    },

    /**
     * Save what is shown as PNG.
     * @param {string} subject
     */
    async save(subject) {
      const { name, title } = called(host, subject);
      const [scale, more] = [2, TITLE];
      const canvas = make("canvas", "", [], { width: now.width * scale, height: (now.height + more) * scale });
      const pen = penOf(canvas);
      pen.scale(scale, scale);
      pen.fillStyle = css("--ms-card");
      pen.fillRect(0, 0, now.width, now.height + more);
      pen.fillStyle = css("--ms-text");
      pen.font = `13px ${css("--ms-font")}`;
      pen.fillText(fitted(title, now.width - TITLE, widthIn(pen.font)) || title, 8, 18);
      pen.translate(0, more);
      pen.lineWidth = 1.25;
      for (const kept of [0, 1]) {
        pen.globalAlpha = kept ? 1 : 0.35;
        for (let row = 0; row < rows(); row += 1) {
          if (now.held[row] !== kept) continue;
          pen.strokeStyle = kept ? now.colours[row] : css("--ms-line-strong");
          pen.beginPath();
          trace(pen, row);
          pen.stroke();
        }
      }
      now.across.forEach((x, i) => writeAxis(pen, x, i));
      await savePicture(canvas, name);
    },
  };

  /**
   * @param {CanvasRenderingContext2D} pen
   * @param {number} x
   * @param {number} i
   */
  function writeAxis(pen, x, i) {
    const { name, range } = dimensions()[i];
    pen.strokeStyle = css("--ms-line-strong");
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(x, TOP);
    pen.lineTo(x, now.height - BOTTOM);
    pen.stroke();
    pen.strokeStyle = css("--ms-accent");
    for (const part of now.brushes.get(name) || []) {
      const [bottom, top] = part.map((one) => heightOf(range, now.height, Math.min(range[1], Math.max(range[0], one))));
      pen.strokeRect(x - 4, top, 8, bottom - top);
    }
    pen.fillStyle = css("--ms-text");
    pen.textAlign = "center";
    pen.textBaseline = "alphabetic";
    pen.font = `500 12px ${css("--ms-font")}`;
    pen.fillText(now.titles[i], x, TITLE);
    Object.assign(pen, { textAlign: "right", textBaseline: "middle", font: `11px ${css("--ms-font")}` });
    for (const { y, text } of now.ticks[i]) {
      pen.lineWidth = 3;
      pen.strokeStyle = css("--ms-card");
      pen.strokeText(text, x - BESIDE, y);
      pen.fillStyle = css("--ms-muted");
      pen.fillText(text, x - BESIDE, y);
    }
  }
}
