// The chart of ranks on a canvas: rows with two lanes, joins between neighbours, a brush, keys, and a picture of it as a file.
// Times are ns on the axis of the server's answers.

import { setDescription } from "../../kit/alternatives.js";
import { penOf } from "../../kit/canvases.js";
import { make } from "../../kit/elements.js";
import { coloursAt, savePicture } from "../../kit/files.js";
import { setLabel, translate } from "../../kit/i18n.js";
import { notYet } from "../../kit/pages.js";
import { duration } from "../../profiles/axis.js";
import { FONT_PX, GAP, LINE_WIDTH, outline, render, themeNow } from "./drawing.js";
import * as parts from "./rank_rows.js";
import { count, percent } from "../../kit/units.js";

const DRAG = 4;
const FILE_RATIO = 2;

/**
 * @param {number} value
 * @param {number} low
 * @param {number} high
 */
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

export class Chart {
  /**
   * acts: look(window) when the window changes, pick({ rank, operator } or null), name(rank, operator) the name or "" while it
   * is on its way.
   * @param {HTMLElement} host
   * @param {Ranks.Acts} acts
   */
  constructor(host, acts) {
    this.host = host;
    this.acts = acts;
    /** @type {Ranks.Facts} */
    this.facts = notYet;
    /** @type {Ranks.View | null} */
    this.view = null;
    /** @type {Ranks.Span} */
    this.range = notYet;
    /** @type {Ranks.Grid} */
    this.grid = notYet;
    this.plot = { left: 0, width: 0 };
    this.width = 0;
    this.due = 0;
    this.row = 0;
    /** @type {Ranks.Point | null} */
    this.pointer = null;
    /** @type {{ x: number, to: number, moved: boolean } | null} */
    this.drag = null;
    /** @type {HTMLCanvasElement | null} */
    this.kept = null;
    /**
     * The operator that is picked, on all ranks that have it.
     * @type {Ranks.Picked | null}
     */
    this.picked = null;
    /**
     * Values beside the ranks.
     * @type {Ranks.Line | null}
     */
    this.line = null;
    /**
     * Memory below the rows.
     * @type {Ranks.Memory | null}
     */
    this.memory = null;
    /** Whether memory is shown; whether what is joined is faded. */
    this.under = false;
    this.alone = false;
    this.canvas = make("canvas", "ms-ranks-canvas", [], { tabindex: "0", role: "application" });
    setLabel(this.canvas, "aria-label", "ranks.canvas");
    this.tip = make("div", "ms-ranks-tip", [], { hidden: "" });
    this.told = make("div", "ms-silent", [], { role: "status" });
    host.replaceChildren(this.canvas, this.tip, this.told);
    new ResizeObserver(() => {
      if (this.width !== host.clientWidth) this.acts.look(this.range, true);
      this.later();
    }).observe(host);
    new MutationObserver(() => this.later()).observe(document.documentElement, {
      attributes: true, attributeFilter: ["lang", "data-mantine-color-scheme"],
    });
    this.listen();
  }

  /**
   * Show these ranks from now on: what the server tells of them.
   * @param {Ranks.Facts} facts
   */
  open(facts) {
    this.facts = facts;
    this.view = null;
    this.row = Math.min(this.row, Math.max(0, facts.ranks.length - 1));
    this.memory = null;
    setDescription(this.canvas, facts.alternative);
    this.place();
  }

  /** Give the rows their places. */
  place() {
    this.grid = parts.rowsOf(this.facts.ranks.map((one) => one.stage), this.room(), this.under);
    this.host.style.height = `${this.grid.height}px`;
    this.later();
  }

  room() {
    const card = this.host.closest(".ms-full");
    return card ? Math.max(560, card.clientHeight - 220) : undefined;
  }

  /** Width of the plot in pixels, of which the server makes columns. */
  get columns() {
    this.measure();
    return Math.max(50, Math.floor(this.plot.width));
  }

  measure() {
    const context = penOf(this.canvas);
    context.font = `${FONT_PX}px ${coloursAt(this.host).font}`;
    const names = (this.facts ? this.facts.ranks : []).map((one) => context.measureText(this.nameOf(one)).width);
    const left = Math.ceil(Math.max(30, ...names)) + GAP + 14;
    const right = this.line ? LINE_WIDTH : 0;
    this.width = this.host.clientWidth;
    this.plot = { left, width: Math.max(60, this.width - left - right - GAP) };
  }

  /** @param {{ rank: number }} one */
  nameOf({ rank }) {
    return translate("ranks.rank_n", { n: rank });
  }

  /** @param {number} time */
  xOf(time) {
    return this.plot.left + ((time - this.range.from) / (this.range.to - this.range.from)) * this.plot.width;
  }

  /** @param {number} x */
  timeAt(x) {
    return this.range.from + ((x - this.plot.left) / this.plot.width) * (this.range.to - this.range.from);
  }

  later() {
    if (this.due) return;
    this.due = window.requestAnimationFrame(() => {
      this.due = 0;
      this.draw();
    });
  }

  // Drawing --------------------------------------------------------------------------------------------------------------

  draw() {
    if (!this.facts || !this.range || !this.host.clientWidth) return;
    const ratio = window.devicePixelRatio || 1;
    this.measure();
    const { canvas, width } = this;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(this.grid.height * ratio);
    const context = penOf(canvas);
    // While something is dragged over, the picture stays the same: drawing it anew takes long with many ranks.
    let kept = this.drag && this.drag.moved ? this.kept : null;
    if (!kept || kept.width !== canvas.width) {
      kept = make("canvas", "", [], { width: canvas.width, height: canvas.height });
      const picture = penOf(kept);
      picture.scale(ratio, ratio);
      render(this, picture);
      this.kept = kept;
    }
    context.drawImage(kept, 0, 0);
    context.scale(ratio, ratio);
    context.font = `${FONT_PX}px ${coloursAt(this.host).font}`;
    outline(this, context);
  }

  /**
   * The place of a column of the view, which may be that of another window while the next one is on its way.
   * @param {Ranks.View} view
   */
  scale({ from, to, columns }) {
    const each = (to - from) / columns;
    return (/** @type {number} */ column) => this.xOf(from + column * each);
  }

  /** @param {number} rank */
  rowOf(rank) {
    return this.facts.ranks.findIndex((one) => one.rank === rank);
  }

  // Pointing ---------------------------------------------------------------------------------------------------------------

  /** @param {PointerEvent | WheelEvent} event */
  placeOf(event) {
    const box = this.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  /**
   * { row, bar } or { row, cell } under a pointer.
   * @param {{ x: number, y: number }} options
   */
  at({ x, y }) {
    if (!this.view || x < this.plot.left || x > this.plot.left + this.plot.width) return null;
    const row = parts.rowAt(this.grid, y);
    if (row < 0) return null;
    const { top, split, bottom } = this.grid.rows[row];
    const lane = y < top || y > bottom ? null : y < split ? 0 : 1;
    const { from, to, columns } = this.view;
    const column = ((this.timeAt(x) - from) / (to - from)) * columns;
    const found = parts.hit(this.view, row, lane, column);
    return found && /** @type {Ranks.Hit & { row: number }} */ ({ row, ...found });
  }

  /** @param {{ x: number, y: number } | null} place */
  hover(place) {
    const found = place && this.at(place);
    this.tip.hidden = !found;
    if (!found) return;
    const lines = this.linesOf(found);
    this.tip.replaceChildren(...lines.map((line, at) => make("div", at ? "" : "ms-ranks-tip-title", line)));
    const { width } = this;
    const turned = place.x + 14 + this.tip.offsetWidth > width;
    const left = turned ? place.x - 14 - this.tip.offsetWidth : place.x + 14;
    this.tip.style.left = `${clamp(left, 0, Math.max(0, width - this.tip.offsetWidth))}px`;
    this.tip.style.top = `${Math.max(0, place.y + 12)}px`;
  }

  /** @param {Ranks.Hit & { row: number }} found */
  linesOf({ row, bar, cell }) {
    const { rank } = this.facts.ranks[row];
    const name = this.nameOf({ rank });
    if (!this.view) return [name];
    const { bars, cells, from, to, columns } = this.view;
    if (bar === undefined) {
      const category = translate(`ranks.category.${parts.CATEGORIES[cells.category[cell]]}`);
      const share = percent(cells.share[cell] / parts.LEVELS);
      return [name, translate("ranks.band", { n: count(cells.count[cell]), category, share })];
    }
    const known = this.acts.name(rank, bars.operator[bar]);
    const each = (to - from) / columns;
    const times = known || { begin: from + bars.x0[bar] * each, duration: (bars.x1[bar] - bars.x0[bar]) * each };
    const category = translate(`ranks.category.${parts.CATEGORIES[bars.category[bar]]}`);
    const told = translate("ranks.at", { category, duration: duration(times.duration), begin: duration(times.begin) });
    return [known ? known.name : "…", `${name} · ${told}`, ...bars.joined[bar] ? [] : [translate("ranks.not_joined")]];
  }

  /** Something that was on its way has come: the name under the pointer, if it was that. */
  arrived() {
    if (this.pointer && !this.drag) this.hover(this.pointer);
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => {
      const place = this.placeOf(event);
      if (event.button !== 0 || !this.range || place.x < this.plot.left) return;
      canvas.setPointerCapture(event.pointerId);
      this.drag = { x: place.x, to: place.x, moved: false };
    });
    canvas.addEventListener("pointermove", (event) => {
      const place = this.placeOf(event);
      this.pointer = place;
      if (!this.drag) {
        this.hover(place);
        return;
      }
      this.drag.to = clamp(place.x, this.plot.left, this.plot.left + this.plot.width);
      this.drag.moved = this.drag.moved || Math.abs(place.x - this.drag.x) > DRAG;
      if (this.drag.moved) this.hover(null);
      this.later();
    });
    canvas.addEventListener("pointerup", (event) => {
      const { drag } = this;
      if (!drag) return;
      this.drag = null;
      const [from, to] = [drag.x, drag.to].sort((one, other) => one - other);
      if (drag.moved) this.look({ from: this.timeAt(from), to: this.timeAt(to) });
      else this.press(this.placeOf(event));
      this.later();
    });
    canvas.addEventListener("pointercancel", () => { this.drag = null; this.later(); });
    canvas.addEventListener("pointerleave", () => { this.pointer = null; this.hover(null); });
    canvas.addEventListener("dblclick", () => this.whole());
    canvas.addEventListener("wheel", (event) => {
      if (!this.range || !(event.ctrlKey || event.metaKey || event.shiftKey)) return;
      event.preventDefault();
      const along = event.deltaY || event.deltaX;
      if (event.shiftKey) this.move(along / this.plot.width);
      else this.zoom(Math.exp(clamp(along * 0.0025, -1, 1)), this.timeAt(this.placeOf(event).x));
    }, { passive: false });
    canvas.addEventListener("focus", () => this.later());
    canvas.addEventListener("blur", () => this.later());
    canvas.addEventListener("keydown", (event) => {
      if (!this.range || event.ctrlKey || event.metaKey || event.altKey || !this.key(event)) return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  /** @param {{ x: number, y: number }} place */
  press(place) {
    const found = this.at(place);
    if (found) this.row = found.row;
    if (this.view && found && found.bar !== undefined) {
      this.acts.pick({ rank: this.facts.ranks[found.row].rank, operator: this.view.bars.operator[found.bar] });
    } else if (found) this.zoom(0.25, this.timeAt(place.x));
    else this.acts.pick(null);
  }

  // The window ---------------------------------------------------------------------------------------------------------------

  /** @param {Ranks.Span} range */
  look(range) {
    this.range = parts.within(range, this.facts.length);
    this.acts.look(this.range);
    this.later();
  }

  whole() {
    this.look({ from: 0, to: this.facts.length });
  }

  get isWhole() {
    return this.range.from <= 0 && this.range.to >= this.facts.length;
  }

  /**
   * @param {number} factor
   * @param {number | null} [about]
   */
  zoom(factor, about = null) {
    this.look(parts.zoomed(this.range, factor, about ?? (this.range.from + this.range.to) / 2, this.facts.length));
  }

  /** @param {number} share */
  move(share) {
    const by = (this.range.to - this.range.from) * share;
    this.look({ from: this.range.from + by, to: this.range.to + by });
  }

  /**
   * Whether a key means something here.
   * @param {KeyboardEvent} event
   */
  key({ key, shiftKey }) {
    if (key === "ArrowUp" || key === "ArrowDown") this.choose(this.row + (key === "ArrowUp" ? -1 : 1));
    else if (key === "ArrowLeft" || key === "ArrowRight") {
      const way = key === "ArrowLeft" ? -1 : 1;
      if (shiftKey) this.move(way / 4);
      else this.next(way);
    } else if (key === "Home" || key === "End") {
      const span = this.range.to - this.range.from;
      this.look(key === "Home" ? { from: 0, to: span } : { from: this.facts.length - span, to: this.facts.length });
    } else if (key === "+" || key === "=") this.zoom(0.5, this.middle());
    else if (key === "-") this.zoom(2, this.middle());
    else if (key === "0" || (key === "Escape" && !this.isWhole)) this.whole();
    else if (key === "Escape" && this.picked) this.acts.pick(null);
    else return false;
    return true;
  }

  // The middle of the operator picked, if it is in view: zooming keeps it there.
  middle() {
    const { picked, range } = this;
    if (!picked || picked.begin === undefined) return null;
    const at = picked.begin + (picked.duration ?? 0) / 2;
    return at >= range.from && at <= range.to ? at : null;
  }

  /** @param {number} row */
  choose(row) {
    const { ranks } = this.facts;
    this.row = clamp(row, 0, ranks.length - 1);
    const { rank } = ranks[this.row] || {};
    if (rank !== undefined) this.say([this.nameOf({ rank })]);
    this.later();
  }

  /**
   * The next operator of the chosen rank: after the picked one, else the first bar in view.
   * @param {number} way
   */
  next(way) {
    const { rank } = this.facts.ranks[this.row] || {};
    if (rank === undefined || !this.view) return;
    const { picked } = this;
    if (picked && picked.rank === rank) {
      const operator = clamp(picked.operator + way, 0, picked.last ?? picked.operator + way);
      this.acts.pick({ rank, operator, spoken: true });
      return;
    }
    const { bars } = this.view;
    let best = -1;
    const same = picked && picked.same && picked.same.find((one) => one.rank === rank);
    if (same) {
      this.acts.pick({ rank, operator: same.operator, spoken: true });
      return;
    }
    for (let i = 0; i < bars.length; i += 1) {
      if (bars.row[i] === this.row && (best < 0 || bars.x0[i] < bars.x0[best])) best = i;
    }
    if (best >= 0) this.acts.pick({ rank, operator: bars.operator[best], spoken: true });
    else this.say([this.nameOf({ rank }), translate("ranks.no_operator")]);
  }

  /** @param {string[]} lines */
  say(lines) {
    this.told.textContent = lines.join(", ");
  }

  // A file -------------------------------------------------------------------------------------------------------------------

  /**
   * Save what is shown as PNG, with a title and a legend of [[category, text], ...].
   * @param {string} name
   * @param {string} title
   * @param {[number, string][]} legend
   */
  save(name, title, legend) {
    if (!this.view) return;
    const head = 2 * FONT_PX + 5 * GAP;
    const canvas = make("canvas", "", [], { width: this.width * FILE_RATIO, height: (this.grid.height + head) * FILE_RATIO });
    const context = penOf(canvas);
    const { colour, font } = coloursAt(this.host);
    context.scale(FILE_RATIO, FILE_RATIO);
    context.fillStyle = colour("--ms-card");
    context.fillRect(0, 0, this.width, this.grid.height + head);
    context.fillStyle = colour("--ms-text");
    context.font = `600 ${FONT_PX + 1}px ${font}`;
    context.textBaseline = "middle";
    context.fillText(title, GAP, GAP + FONT_PX);
    context.font = `${FONT_PX}px ${font}`;
    let x = GAP;
    for (const [category, text] of legend) {
      context.fillStyle = parts.colourOf(category, themeNow());
      context.fillRect(x, 2 * GAP + 1.5 * FONT_PX, FONT_PX, FONT_PX);
      context.fillStyle = colour("--ms-text");
      context.fillText(text, x + FONT_PX + GAP, 2 * GAP + 2 * FONT_PX);
      x += FONT_PX + 4 * GAP + context.measureText(text).width;
    }
    context.translate(0, head);
    render(this, context);
    void savePicture(canvas, name);
  }
}
