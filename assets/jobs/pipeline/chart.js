// The bands of a pipeline over time on a canvas: rows of ranks or folded stages, an axis, hover, keys, zoom, a picture of it.
// Each pixel of a row is a column of bands stacked by their shares of its time, so nothing that is short is lost.

import { setDescription } from "../../kit/alternatives.js";
import { penOf } from "../../kit/canvases.js";
import { make } from "../../kit/elements.js";
import { coloursAt, savePicture } from "../../kit/files.js";
import { setLabel, translate } from "../../kit/i18n.js";
import { atText, heightsOf, moved, rowHeight, sharesAt, ticksOf, zoomed } from "./bands.js";
import { percent } from "../../kit/units.js";
import { duration } from "../../profiles/axis.js";

const FONT_PX = 11;
const AXIS = 24;
const LABEL = 148;
const RIGHT = 10;
const STRIP = 3;
const DRAG = 4;
const FILE_RATIO = 2;
const ASK_MS = 120;
/** Bands from the bottom of a row to its top. */
const STACK = ["forward", "backward", "computing", "send", "receive", "exchange", "collective", "unknown", "idle"];

/**
 * @param {number} value
 * @param {number} low
 * @param {number} high
 */
const within = (value, low, high) => Math.min(Math.max(value, low), high);
/** @param {string} text */
const rgb = (text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16) || 0);

export class Chart {
  /** A chart in an element; tells: { window(view | null), fold(stage), moment(rank, time) -> promise }. */
  constructor(host, tells) {
    this.host = host;
    this.tells = tells;
    this.view = null;
    this.look = null;
    this.point = null;
    this.drag = null;
    this.turn = 0;
    this.canvas = make("canvas", "ms-pipeline-canvas", [], { tabindex: "0", role: "application" });
    setLabel(this.canvas, "aria-label", "pipeline.canvas");
    this.over = make("canvas", "ms-pipeline-over", [], { "aria-hidden": "true" });
    this.tip = make("div", "ms-pipeline-tip", [], { hidden: "" });
    this.said = make("div", "ms-silent", [], { role: "status" });
    host.replaceChildren(this.canvas, this.over, this.tip, this.said);
    new ResizeObserver(() => this.later()).observe(host);
    new MutationObserver(() => this.later()).observe(document.documentElement, {
      attributes: true, attributeFilter: ["lang", "data-mantine-color-scheme"],
    });
    this.listen();
  }

  /** The columns to ask for: as many as the plot has pixels. */
  get columns() {
    return Math.round(Math.max(this.host.clientWidth - LABEL - RIGHT, 50) * Math.min(window.devicePixelRatio || 1, 2));
  }

  /** Show an answer; look: { colours by band, said: [English, Chinese] }. */
  show(view, look) {
    this.view = view;
    this.look = look;
    this.host.hidden = !view || !view.rows.length;
    if (this.host.hidden) return;
    const { high, gap } = rowHeight(view.rows.length);
    this.host.style.height = `${AXIS + view.rows.length * (high + gap) + gap}px`;
    if (this.point) this.point.row = Math.min(this.point.row, view.rows.length - 1);
    setDescription(this.canvas, look.said);
    this.later();
  }

  later() {
    if (this.due) return;
    this.due = window.requestAnimationFrame(() => {
      this.due = 0;
      this.draw();
    });
  }

  // Drawing --------------------------------------------------------------------------------------------------------------

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {number} ratio
   */
  sized(canvas, ratio) {
    const [width, height] = [this.host.clientWidth, this.host.clientHeight];
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const context = penOf(canvas);
    context.scale(ratio, ratio);
    return context;
  }

  draw() {
    if (!this.view || !this.host.clientWidth) return;
    const ratio = window.devicePixelRatio || 1;
    this.render(this.sized(this.canvas, ratio), ratio);
    this.outline();
  }

  get box() {
    const { high, gap } = rowHeight(this.view.rows.length);
    return { left: LABEL, wide: Math.max(this.host.clientWidth - LABEL - RIGHT, 50), top: AXIS + gap, high, gap };
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} ratio
   */
  render(context, ratio) {
    const { view, box } = this;
    const { colour, font } = coloursAt(this.host);
    context.clearRect(0, 0, this.host.clientWidth, this.host.clientHeight);
    context.font = `${FONT_PX}px ${font}`;
    context.textBaseline = "middle";
    this.axis(context, colour);
    const colours = Object.fromEntries(Object.entries(this.look.colours).map(([name, text]) => [name, rgb(text)]));
    colours.idle = rgb(colour("--ms-pipeline-idle"));
    colours.unknown = rgb(colour("--ms-pipeline-unknown"));
    colours.gaps = rgb(colour("--ms-card"));
    context.imageSmoothingEnabled = false;
    view.rows.forEach((row, at) => {
      const y = box.top + at * (box.high + box.gap);
      const picture = this.picture(at, Math.round(box.high * ratio), colours);
      context.drawImage(picture, box.left, y, box.wide, box.high);
      this.label(context, row, at, y, colour);
    });
  }

  /**
   * A row as a picture, one pixel wide for each column.
   * @param {number} height
   * @param {{ [k: string]: number[] }} colours
   */
  picture(row, height, colours) {
    const { columns, bands, shares } = this.view;
    const names = STACK.filter((name) => bands.includes(name));
    const strip = bands.includes("hidden") ? Math.max(1, Math.round(STRIP * height / this.box.high)) : 0;
    const image = new ImageData(columns, height);
    const pixels = image.data;
    /**
     * @param {number} x
     * @param {number} y
     * @param {number[]} options
     */
    const put = (x, y, [r, g, b]) => {
      const at = 4 * (y * columns + x);
      pixels[at] = r;
      pixels[at + 1] = g;
      pixels[at + 2] = b;
      pixels[at + 3] = 255;
    };
    const main = height - strip;
    for (let x = 0; x < columns; x += 1) {
      const at = row * columns + x;
      const heights = heightsOf(names.map((name) => shares.get(name)[at]), main);
      let y = main - 1;
      heights.forEach((count, place) => {
        const name = names[place];
        for (let left = count; left > 0 && y >= 0; left -= 1, y -= 1) {
          put(x, y, name === "unknown" && (x + y) % 8 < 3 ? colours.gaps : colours[name]);
        }
      });
      if (strip) {
        const share = shares.get("hidden")[at];
        if (share) for (let down = 0; down < strip; down += 1) put(x, height - 1 - down, colours.hidden);
      }
    }
    const canvas = make("canvas", "", [], { width: columns, height });
    penOf(canvas).putImageData(image, 0, 0);
    return canvas;
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {(name: string) => string} colour
   */
  axis(context, colour) {
    const { view, box } = this;
    const wide = view.end - view.begin;
    const ticks = ticksOf(view.begin, view.end, Math.floor(box.wide / 110));
    const step = ticks.length > 1 ? ticks[1] - ticks[0] : wide;
    context.textAlign = "center";
    for (const tick of ticks) {
      const x = box.left + ((tick - view.begin) / wide) * box.wide;
      const text = atText(tick, step);
      const half = context.measureText(text).width / 2;
      context.fillStyle = colour("--ms-muted");
      context.fillText(text, within(x, half, this.host.clientWidth - half), AXIS / 2);
      context.fillStyle = colour("--ms-line");
      context.fillRect(Math.round(x), AXIS - 4, 1, this.host.clientHeight - AXIS + 4);
    }
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} y
   * @param {(name: string) => string} colour
   */
  label(context, row, at, y, colour) {
    const { view, box } = this;
    const first = at === 0 || view.rows[at - 1].stage !== row.stage;
    const middle = y + box.high / 2 + 0.5;
    context.textAlign = "left";
    if (first) {
      const stage = row.stage < 0 ? translate("pipeline.no_stage") : translate("pipeline.stage", { n: row.stage });
      context.fillStyle = colour("--ms-text");
      context.fillText(`${this.foldable(row) ? (row.rank < 0 ? "▸ " : "▾ ") : ""}${stage}`, 0, middle);
      if (at) {
        context.fillStyle = colour("--ms-line-strong");
        context.fillRect(0, y - Math.ceil(box.gap / 2), this.host.clientWidth, 1);
      }
    }
    context.textAlign = "right";
    context.fillStyle = colour("--ms-muted");
    const text = row.rank < 0 ? `× ${row.ranks}` : translate("pipeline.rank", { n: row.rank });
    context.fillText(text, LABEL - 10, middle);
  }

  foldable(row) {
    return row.rank < 0 || this.view.rows.filter((one) => one.stage === row.stage).length > 1;
  }

  // The place pointed at, and what is being selected.
  outline() {
    const context = this.sized(this.over, window.devicePixelRatio || 1);
    const { box, point, drag, view } = this;
    const { colour } = coloursAt(this.host);
    if (drag && drag.moved) {
      const [low, high] = [Math.min(drag.from, drag.to), Math.max(drag.from, drag.to)];
      context.fillStyle = colour("--ms-accent");
      context.globalAlpha = 0.18;
      context.fillRect(low, AXIS, high - low, this.host.clientHeight);
    } else if (point) {
      const y = box.top + point.row * (box.high + box.gap);
      const x = box.left + ((point.column + 0.5) / view.columns) * box.wide;
      context.strokeStyle = colour("--ms-text");
      context.strokeRect(box.left - 0.5, y - 1.5, box.wide + 1, box.high + 3);
      context.fillStyle = colour("--ms-text");
      context.fillRect(Math.round(x), AXIS - 4, 1, this.host.clientHeight);
    }
  }

  // Pointing -------------------------------------------------------------------------------------------------------------

  /** @param {number} column */
  timeAt(column) {
    const { begin, end, columns } = this.view;
    return begin + Math.floor(((column + 0.5) * (end - begin)) / columns);
  }

  /**
   * Point at { row, column }, null for nothing; spoken: tell screen readers.
   * @param {boolean} [spoken]
   */
  pointAt(point, spoken = false) {
    this.point = point;
    this.turn += 1;
    this.tip.hidden = !point;
    this.later();
    if (!point) return;
    this.tell(this.linesOf(point), spoken);
    const row = this.view.rows[point.row];
    if (row.rank < 0) return;
    const { turn } = this;
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(async () => {
      const found = await this.tells.moment(row.rank, this.timeAt(point.column));
      if (turn === this.turn && found && found.band) this.tell([...this.linesOf(point), ...this.exact(found)], spoken);
    }, ASK_MS);
  }

  titleOf(row) {
    const stage = row.stage < 0 ? translate("pipeline.no_stage") : translate("pipeline.stage", { n: row.stage });
    const of = row.rank < 0 ? translate("pipeline.ranks_n", { n: row.ranks }) : translate("pipeline.rank", { n: row.rank });
    return `${stage}, ${of}`;
  }

  linesOf({ row, column }) {
    const { view } = this;
    const wide = (view.end - view.begin) / view.columns;
    const lines = sharesAt(view, row, column).map(([name, share]) => translate("pipeline.hover_share", {
      name: translate(`pipeline.band.${name}`), time: duration(share * wide), share: percent(share),
    }));
    const title = `${this.titleOf(view.rows[row])} · ${atText(this.timeAt(column), wide)}`;
    return [title, ...(lines.length ? lines : [translate("pipeline.nothing")])];
  }

  exact({ band, begin, end, number, operations }) {
    const name = translate(`pipeline.band.${band}`);
    const time = duration(end - begin);
    const first = translate(number ? "pipeline.hover_number" : "pipeline.hover", { name, n: number, time });
    const step = Math.max((end - begin) / 1000, 1);
    return [
      first, translate("pipeline.span", { begin: atText(begin, step), end: atText(end, step) }),
      ...operations.map((one) => translate("pipeline.operation", { name: one.name, time: duration(one.time) })),
    ];
  }

  /** @param {boolean} spoken */
  tell(lines, spoken) {
    const shown = lines.map((line, at) => make("div", at ? "" : "ms-pipeline-tip-title", line));
    this.tip.replaceChildren(...shown);
    if (spoken) this.said.textContent = lines.join(", ");
    const { box, point, view, tip } = this;
    const x = box.left + (point.column / view.columns) * box.wide;
    const y = box.top + point.row * (box.high + box.gap) + box.high + 8;
    const turned = x + tip.offsetWidth + 16 > this.host.clientWidth;
    const room = Math.max(0, this.host.clientWidth - tip.offsetWidth);
    tip.style.left = `${within(turned ? x - tip.offsetWidth - 8 : x + 8, 0, room)}px`;
    tip.style.top = `${y}px`;
  }

  /**
   * @param {PointerEvent | WheelEvent} event
   * @param {boolean} [inside]
   */
  placeOf(event, inside = false) {
    const { box, view } = this;
    const at = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - at.left, event.clientY - at.top];
    const row = Math.floor((y - box.top) / (box.high + box.gap));
    const column = Math.floor(((x - box.left) / box.wide) * view.columns);
    const known = row >= 0 && row < view.rows.length;
    if (!inside && (!known || column < 0 || column >= view.columns)) return { x, row: known ? row : -1, column: -1 };
    return { x, row: within(row, 0, view.rows.length - 1), column: within(column, 0, view.columns - 1) };
  }

  /**
   * Zoom by a factor about the place pointed at or the middle; 0 shows the whole step.
   * @param {number} factor
   * @param {number} [column]
   */
  zoom(factor, column = this.point ? this.point.column : -1) {
    const { view } = this;
    if (!view) return;
    const at = column >= 0 ? this.timeAt(column) : (view.begin + view.end) / 2;
    this.tells.window(factor ? zoomed(view, view.length, at, factor) : null);
  }

  /** @param {number} share */
  pan(share) {
    const { view } = this;
    this.tells.window(moved(view, view.length, share * (view.end - view.begin)));
  }

  listen() {
    const { over } = this;
    over.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || !this.view) return;
      this.canvas.focus({ preventScroll: true });
      const { x, column } = this.placeOf(event);
      if (column < 0) return;
      over.setPointerCapture(event.pointerId);
      this.drag = { from: x, to: x, column, last: column, moved: false };
    });
    over.addEventListener("pointermove", (event) => {
      if (!this.view) return;
      if (!this.drag) {
        const place = this.placeOf(event);
        over.style.cursor = place.column < 0 && place.row >= 0 && this.foldable(this.view.rows[place.row]) ? "pointer" : "";
        const same = this.point && this.point.row === place.row && this.point.column === place.column;
        if (!same) this.pointAt(place.column < 0 ? null : { row: place.row, column: place.column });
        return;
      }
      const { x, column } = this.placeOf(event, true);
      Object.assign(this.drag, {
        to: within(x, this.box.left, this.box.left + this.box.wide), last: column,
        moved: this.drag.moved || Math.abs(x - this.drag.from) > DRAG,
      });
      if (this.drag.moved) this.pointAt(null);
    });
    over.addEventListener("pointerup", () => {
      const { drag, view } = this;
      this.drag = null;
      this.later();
      if (!drag || !drag.moved) return;
      const [low, high] = [Math.min(drag.column, drag.last), Math.max(drag.column, drag.last) + 1];
      const wide = view.end - view.begin;
      /** @param {number} column */
      const cut = (column) => Math.round(view.begin + (column * wide) / view.columns);
      if (cut(high) - cut(low) >= 1) this.tells.window({ begin: cut(low), end: cut(high) });
    });
    over.addEventListener("pointercancel", () => { this.drag = null; });
    over.addEventListener("pointerleave", () => { if (!this.drag) this.pointAt(null); });
    over.addEventListener("dblclick", () => this.zoom(0));
    over.addEventListener("click", (event) => {
      const { row, column } = this.placeOf(event);
      if (column < 0 && row >= 0 && this.foldable(this.view.rows[row])) this.tells.fold(this.view.rows[row].stage);
    });
    over.addEventListener("wheel", (event) => {
      if (!this.view || !(event.ctrlKey || event.metaKey || event.shiftKey)) return;
      event.preventDefault();
      if (event.shiftKey) this.pan(Math.sign(event.deltaY || event.deltaX) * 0.15);
      else this.zoom(event.deltaY < 0 ? 1.5 : 1 / 1.5, this.placeOf(event, true).column);
    }, { passive: false });
    this.canvas.addEventListener("blur", () => this.pointAt(null));
    this.canvas.addEventListener("keydown", (event) => {
      if (!this.view || event.ctrlKey || event.metaKey || event.altKey || !this.key(event)) return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  /**
   * Whether a key means something here.
   * @param {KeyboardEvent} event
   */
  key({ key, shiftKey }) {
    const { view, point } = this;
    const now = point || { row: 0, column: 0 };
    const by = shiftKey ? Math.ceil(view.columns / 10) : 1;
    const moves = {
      ArrowLeft: [0, -by], ArrowRight: [0, by], ArrowUp: [-1, 0], ArrowDown: [1, 0], Home: [0, -view.columns],
      End: [0, view.columns],
    };
    const isWhole = view.begin === 0 && view.end === view.length;
    if (moves[key]) {
      const [down, across] = point ? moves[key] : [0, 0];
      this.pointAt({
        row: within(now.row + down, 0, view.rows.length - 1), column: within(now.column + across, 0, view.columns - 1),
      }, true);
    } else if (key === "+" || key === "=") this.zoom(2);
    else if (key === "-") this.zoom(0.5);
    else if (key === "0" || (key === "Escape" && !isWhole)) this.zoom(0);
    else if (key === "PageUp" || key === "PageDown") this.pan(key === "PageUp" ? -0.5 : 0.5);
    else if (key === "Enter" && point && this.foldable(view.rows[point.row])) this.tells.fold(view.rows[point.row].stage);
    else return false;
    return true;
  }

  // A file ---------------------------------------------------------------------------------------------------------------

  /**
   * Save the chart as PNG, with a title and the names of its colours.
   * @param {string} name
   */
  save(name, title, legend) {
    if (!this.view) return;
    const [width, height] = [this.host.clientWidth, this.host.clientHeight];
    const head = 44;
    const canvas = make("canvas", "", [], { width: width * FILE_RATIO, height: (height + head) * FILE_RATIO });
    const context = penOf(canvas);
    const { colour, font } = coloursAt(this.host);
    const inner = make("canvas", "", [], {});
    this.render(this.sized(inner, FILE_RATIO), FILE_RATIO);
    context.scale(FILE_RATIO, FILE_RATIO);
    context.fillStyle = colour("--ms-card");
    context.fillRect(0, 0, width, height + head);
    context.textBaseline = "middle";
    context.fillStyle = colour("--ms-text");
    context.font = `600 ${FONT_PX + 1}px ${font}`;
    context.fillText(title, 4, 12);
    context.font = `${FONT_PX}px ${font}`;
    let x = 4;
    for (const [text, shade] of legend) {
      context.fillStyle = shade;
      context.fillRect(x, 27, 10, 10);
      context.fillStyle = colour("--ms-text");
      context.fillText(text, x + 15, 32);
      x += 15 + context.measureText(text).width + 16;
    }
    context.drawImage(inner, 0, head, width, height);
    void savePicture(canvas, name);
  }
}
