// A heat map on a canvas: axes, hover, keys, zoom, a scale of colours, and a picture of it as a file. For matrices of ranks and
// for ranks x steps; what is shown is `content`:
//   rows, columns, values (row by row, NaN for none)
//   rowName(i), columnName(i)      short texts for the axes
//   rowTitle, columnTitle, title   [English, Chinese]
//   none                           [English, Chinese]: what a cell without a value means
//   text(value)                    a value with its unit; short(value): the same without, written into large cells
//   about(row, column, value)      the lines of the hover
//   scale                          of heat_parts.scaleOf; keep: "min" or "max", what a pixel of several cells shows
//   square                         whether cells are as high as wide
//   said                           [English, Chinese]: the text alternative
//   press(row, column)             what a click or Enter does; may be missing

import { setDescription } from "../kit/alternatives.js";
import { penOf } from "../kit/canvases.js";
import { make } from "../kit/elements.js";
import { called, coloursAt, savePicture } from "../kit/files.js";
import { inLanguage, setLabel } from "../kit/i18n.js";
import { colourAt, holding, isBright, paint, pixelsOf, shareOf, stride, valueAt, zoomed } from "./heat_parts.js";

const FONT_PX = 11;
const GAP = 6;
const BAR = 12;
const LARGEST_CELL = 84;
const DRAG = 5;
const FILE_RATIO = 2;
const MOVES = {
  ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], PageUp: [-10, 0], PageDown: [10, 0],
  Home: [0, -Infinity], End: [0, Infinity],
};

const within = (value, low, high) => Math.min(Math.max(value, low), high);
const themeNow = () => (document.documentElement.dataset.mantineColorScheme === "dark" ? "dark" : "light");

export class Heat {
  /** A map in an element; label is the text key of its accessible name. */
  constructor(host, label) {
    this.host = host;
    this.content = null;
    this.cell = null;
    this.drag = null;
    this.canvas = make("canvas", "ms-heat-canvas", [], { tabindex: "0", role: "application" });
    setLabel(this.canvas, "aria-label", label);
    this.tip = make("div", "ms-heat-tip", [], { hidden: "" });
    this.told = make("div", "ms-silent", [], { role: "status" });
    host.classList.add("ms-heat");
    host.replaceChildren(this.canvas, this.tip, this.told);
    new ResizeObserver(() => this.later()).observe(host);
    new MutationObserver(() => this.later()).observe(document.documentElement, {
      attributes: true, attributeFilter: ["lang", "data-mantine-color-scheme"],
    });
    this.listen();
  }

  /** Show a map, from now on; null for none. The window is kept where the map has the same size. */
  show(content) {
    const same = content && this.content && content.rows === this.content.rows && content.columns === this.content.columns;
    this.content = content;
    this.canvas.hidden = !content;
    if (!content) {
      this.point(null);
      return;
    }
    if (!same) {
      this.part = this.whole();
      this.cell = null;
    }
    setDescription(this.canvas, content.said);
    this.point(this.cell);
  }

  whole() {
    return { top: 0, bottom: this.content.rows, left: 0, right: this.content.columns };
  }

  get isWhole() {
    const whole = this.whole();
    return Object.keys(whole).every((side) => whole[side] === this.part[side]);
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
    const [width, height] = [this.host.clientWidth, this.host.clientHeight];
    if (!this.content || !width || !height) return;
    const ratio = window.devicePixelRatio || 1;
    const { canvas } = this;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const context = penOf(canvas);
    context.scale(ratio, ratio);
    this.box = this.render(context, width, height, ratio);
    this.outline(context);
  }

  // The places of all parts, from the sizes of the texts.
  places(context, width, height) {
    const { content, part } = this;
    const widest = (count, first, name) => {
      const some = [first, first + count - 1, first + Math.floor(count / 2)];
      return Math.max(...some.map((one) => context.measureText(name(one)).width));
    };
    const [down, across] = [part.bottom - part.top, part.right - part.left];
    const left = FONT_PX + GAP + widest(down, part.top, content.rowName) + GAP;
    const top = 2 * FONT_PX + 3 * GAP;
    const scale = [0, 0.5, 1].map((share) => context.measureText(content.text(valueAt(share, content.scale))).width);
    const right = 2 * GAP + BAR + GAP + Math.max(...scale, context.measureText(inLanguage(content.none)).width) + GAP;
    let [wide, high] = [Math.max(40, width - left - right), Math.max(40, height - top - GAP)];
    if (content.square) {
      const each = Math.min(wide / across, high / down, LARGEST_CELL);
      [wide, high] = [each * across, each * down];
    } else high = Math.min(high, LARGEST_CELL * down);
    const columnRoom = widest(across, part.left, content.columnName) + GAP;
    return { left, top, wide, high, columnRoom, cellWide: wide / across, cellHigh: high / down, width, height };
  }

  render(context, width, height, ratio) {
    const { content, part } = this;
    const { colour, font } = coloursAt(this.host);
    const theme = themeNow();
    context.font = `${FONT_PX}px ${font}`;
    const box = this.places(context, width, height);
    const none = this.noneOf(context, colour);
    const pixels = pixelsOf(content, part, box.wide * ratio, box.high * ratio, content.keep);
    const picture = new ImageData(pixels.width, pixels.height);
    picture.data.set(paint(pixels.values, content.scale, theme, none));
    const image = make("canvas", "", [], { width: pixels.width, height: pixels.height });
    penOf(image).putImageData(picture, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(image, box.left, box.top, box.wide, box.high);
    this.gaps(context, box, colour("--ms-card"));
    this.texts(context, box, theme);
    this.axes(context, box, colour);
    this.legend(context, box, theme, colour, none);
    return box;
  }

  // The colour of cells without a value, as [r, g, b].
  noneOf(context, colour) {
    context.fillStyle = colour("--ms-hover");
    return [1, 3, 5].map((at) => parseInt(String(context.fillStyle).slice(at, at + 2), 16) || 0);
  }

  gaps(context, { left, top, wide, high, cellWide, cellHigh }, card) {
    if (Math.min(cellWide, cellHigh) < 8) return;
    context.fillStyle = card;
    const { part } = this;
    for (let at = 1; at < part.right - part.left; at += 1) context.fillRect(left + at * cellWide - 0.5, top, 1, high);
    for (let at = 1; at < part.bottom - part.top; at += 1) context.fillRect(left, top + at * cellHigh - 0.5, wide, 1);
  }

  // Values in cells large enough for them.
  texts(context, { left, top, cellWide, cellHigh }, theme) {
    const { content, part } = this;
    if (!content.short || cellHigh < 16 || cellWide < 34) return;
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (let row = part.top; row < part.bottom; row += 1) {
      for (let column = part.left; column < part.right; column += 1) {
        const value = content.values[row * content.columns + column];
        if (Number.isNaN(value)) continue;
        const text = content.short(value);
        if (context.measureText(text).width > cellWide - 4) continue;
        const behind = colourAt(shareOf(value, content.scale), content.scale.kind, theme);
        context.fillStyle = isBright(behind) ? "#14181d" : "#f4f6f8";
        context.fillText(text, left + (column - part.left + 0.5) * cellWide, top + (row - part.top + 0.5) * cellHigh);
      }
    }
  }

  axes(context, box, colour) {
    const { content, part } = this;
    const { left, top, wide, high, cellWide, cellHigh, columnRoom } = box;
    context.fillStyle = colour("--ms-muted");
    context.textBaseline = "middle";
    context.textAlign = "right";
    const down = stride(part.bottom - part.top, high, FONT_PX + 4);
    for (let row = Math.ceil(part.top / down) * down; row < part.bottom; row += down) {
      context.fillText(content.rowName(row), left - GAP, top + (row - part.top + 0.5) * cellHigh);
    }
    context.textAlign = "center";
    const across = stride(part.right - part.left, wide, columnRoom);
    for (let column = Math.ceil(part.left / across) * across; column < part.right; column += across) {
      context.fillText(content.columnName(column), left + (column - part.left + 0.5) * cellWide, top - GAP - FONT_PX / 2);
    }
    context.textAlign = "left";
    context.fillText(inLanguage(content.columnTitle), left, GAP + FONT_PX / 2);
    context.save();
    context.translate(FONT_PX / 2, top);
    context.rotate(-Math.PI / 2);
    context.textAlign = "right";
    context.fillText(inLanguage(content.rowTitle), 0, 0);
    context.restore();
  }

  legend(context, { left, top, wide, height }, theme, colour, none) {
    const { scale } = this.content;
    const x = left + wide + 2 * GAP;
    const high = Math.min(160, height - top - 3 * FONT_PX - 3 * GAP);
    context.textAlign = "left";
    context.textBaseline = "middle";
    if (!scale.empty && high > 20) {
      for (let at = 0; at < high; at += 1) {
        context.fillStyle = `rgb(${colourAt(1 - at / high, scale.kind, theme).join(" ")})`;
        context.fillRect(x, top + at, BAR, 1.5);
      }
      context.fillStyle = colour("--ms-text");
      for (const share of [0, 0.5, 1]) {
        const y = within(top + (1 - share) * high, top + FONT_PX / 2, top + high - FONT_PX / 2);
        context.fillText(this.content.text(valueAt(share, scale)), x + BAR + GAP, y);
      }
    }
    const y = top + Math.max(high, 0) + 2 * GAP;
    context.fillStyle = `rgb(${none.join(" ")})`;
    context.fillRect(x, y, BAR, BAR);
    context.strokeStyle = colour("--ms-line-strong");
    context.lineWidth = 1;
    context.strokeRect(x + 0.5, y + 0.5, BAR - 1, BAR - 1);
    context.fillStyle = colour("--ms-muted");
    context.fillText(inLanguage(this.content.none), x + BAR + GAP, y + BAR / 2);
  }

  outline(context) {
    const { box, part, cell, drag } = this;
    const { colour } = coloursAt(this.host);
    const frame = (top, bottom, left, right) => {
      const [x, y] = [box.left + (left - part.left) * box.cellWide, box.top + (top - part.top) * box.cellHigh];
      const [wide, high] = [Math.max((right - left) * box.cellWide, 3), Math.max((bottom - top) * box.cellHigh, 3)];
      context.lineWidth = 3;
      context.strokeStyle = colour("--ms-card");
      context.strokeRect(x, y, wide, high);
      context.lineWidth = 1.5;
      context.strokeStyle = colour("--ms-text");
      context.strokeRect(x, y, wide, high);
    };
    if (drag && drag.moved) {
      const chosen = this.chosen();
      frame(chosen.top, chosen.bottom, chosen.left, chosen.right);
    } else if (cell) frame(cell.row, cell.row + 1, cell.column, cell.column + 1);
  }

  // Pointing ---------------------------------------------------------------------------------------------------------------

  /** Point at a cell ({ row, column }; null for none): outline and hover. spoken: tell screen readers. */
  point(cell, spoken = false) {
    const { content } = this;
    const inside = cell && content && cell.row < content.rows && cell.column < content.columns;
    this.cell = inside ? cell : null;
    this.tip.hidden = !this.cell;
    if (this.cell) {
      const value = content.values[cell.row * content.columns + cell.column];
      const lines = content.about(cell.row, cell.column, value);
      this.tip.replaceChildren(...lines.map((line, at) => make("div", at ? "" : "ms-heat-tip-title", line)));
      if (spoken) this.told.textContent = lines.join(", ");
    }
    this.later();
    if (this.cell) window.requestAnimationFrame(() => this.placeTip());
  }

  placeTip() {
    const { box, part, cell, tip } = this;
    if (!box || !cell) return;
    const x = box.left + (cell.column - part.left + 1) * box.cellWide + GAP;
    const y = box.top + (cell.row - part.top + 0.5) * box.cellHigh;
    const turned = x + tip.offsetWidth > box.width;
    const placed = turned ? x - 2 * GAP - box.cellWide - tip.offsetWidth : x;
    tip.style.left = `${within(placed, 0, Math.max(0, box.width - tip.offsetWidth))}px`;
    tip.style.top = `${within(y - tip.offsetHeight / 2, 0, Math.max(0, box.height - tip.offsetHeight))}px`;
  }

  cellAt(event, inside = false) {
    const { box, part } = this;
    if (!box) return null;
    const place = this.canvas.getBoundingClientRect();
    const row = part.top + Math.floor((event.clientY - place.top - box.top) / box.cellHigh);
    const column = part.left + Math.floor((event.clientX - place.left - box.left) / box.cellWide);
    if (inside) {
      return { row: within(row, part.top, part.bottom - 1), column: within(column, part.left, part.right - 1) };
    }
    return row >= part.top && row < part.bottom && column >= part.left && column < part.right ? { row, column } : null;
  }

  // The window that is being dragged.
  chosen() {
    const { from, to } = this.drag;
    return {
      top: Math.min(from.row, to.row), bottom: Math.max(from.row, to.row) + 1,
      left: Math.min(from.column, to.column), right: Math.max(from.column, to.column) + 1,
    };
  }

  look(part) {
    this.part = part;
    this.later();
    this.host.dispatchEvent(new CustomEvent("ms-heat-part", { bubbles: true }));
  }

  /** Zoom by a factor about the cell pointed at or the middle; 0 shows all. */
  zoom(factor) {
    if (!this.content) return;
    if (!factor) {
      this.look(this.whole());
      return;
    }
    const { part } = this;
    const middle = { row: (part.top + part.bottom) / 2, column: (part.left + part.right) / 2 };
    this.look(zoomed(part, this.content, this.cell || middle, factor));
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => {
      const from = event.button === 0 && this.content && this.cellAt(event);
      if (!from) return;
      canvas.setPointerCapture(event.pointerId);
      this.drag = { from, to: from, x: event.clientX, y: event.clientY, moved: false };
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!this.content) return;
      const { drag } = this;
      if (!drag) {
        const cell = this.cellAt(event);
        const { cell: now } = this;
        if (cell ? !now || cell.row !== now.row || cell.column !== now.column : now) this.point(cell);
        return;
      }
      drag.to = this.cellAt(event, true);
      drag.moved = drag.moved || Math.abs(event.clientX - drag.x) + Math.abs(event.clientY - drag.y) > DRAG;
      if (drag.moved) this.point(null);
    });
    canvas.addEventListener("pointerup", () => {
      const { drag } = this;
      if (!drag) return;
      const chosen = this.chosen();
      this.drag = null;
      if (drag.moved) this.look(chosen);
      else this.press(drag.from);
    });
    canvas.addEventListener("pointercancel", () => { this.drag = null; });
    canvas.addEventListener("pointerleave", () => { if (!this.drag) this.point(null); });
    canvas.addEventListener("dblclick", () => this.zoom(0));
    canvas.addEventListener("blur", () => this.point(null));
    canvas.addEventListener("keydown", (event) => {
      if (!this.content || event.ctrlKey || event.metaKey || event.altKey || !this.key(event)) return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  press(cell) {
    if (this.content.press) this.content.press(cell.row, cell.column);
  }

  // Whether a key means something here.
  key({ key, shiftKey }) {
    const { part, content } = this;
    const move = MOVES[key];
    if (move) {
      const now = this.cell || { row: part.top, column: part.left };
      const by = shiftKey ? 10 : 1;
      const [row, column] = this.cell ? [now.row + by * move[0], now.column + by * move[1]] : [now.row, now.column];
      const cell = { row: within(row, 0, content.rows - 1), column: within(column, 0, content.columns - 1) };
      const held = holding(part, cell);
      if (held.top !== part.top || held.left !== part.left) this.look(held);
      this.point(cell, true);
      return true;
    }
    if (key === "Enter" && this.cell) this.press(this.cell);
    else if (key === "+" || key === "=") this.zoom(2);
    else if (key === "-") this.zoom(0.5);
    else if (key === "0" || (key === "Escape" && !this.isWhole)) this.zoom(0);
    else return false;
    return true;
  }

  // A file ---------------------------------------------------------------------------------------------------------------

  /** Save what is shown of a run as PNG, with its title. */
  save(run) {
    if (!this.content) return;
    const [width, height] = [this.host.clientWidth, this.host.clientHeight];
    const head = FONT_PX + 3 * GAP;
    const canvas = make("canvas", "", [], { width: width * FILE_RATIO, height: (height + head) * FILE_RATIO });
    const context = penOf(canvas);
    const { colour, font } = coloursAt(this.host);
    context.scale(FILE_RATIO, FILE_RATIO);
    context.fillStyle = colour("--ms-card");
    context.fillRect(0, 0, width, height + head);
    context.fillStyle = colour("--ms-text");
    context.font = `600 ${FONT_PX + 1}px ${font}`;
    context.textBaseline = "middle";
    const { name, title } = called(this.host, run);
    const shown = inLanguage(this.content.title);
    context.fillText(title.endsWith(shown) ? title : `${title} · ${shown}`, GAP, head / 2);
    context.translate(0, head);
    this.render(context, width, height, FILE_RATIO);
    void savePicture(canvas, name);
  }
}
