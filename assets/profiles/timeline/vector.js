// A drawing context that writes SVG: what the timeline draws on a canvas becomes shapes and texts. It has the part of
// CanvasRenderingContext2D that this page uses.

import { rgbOf } from "./colours.js";

const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const ANCHORS = { left: "start", start: "start", center: "middle", right: "end", end: "end" };
/** How far below its middle the baseline of a text lies, as a share of its size. */
const MIDDLE = 0.35;

/** A text as XML has it: without characters that XML does not know. */
export function escaped(text) {
  // eslint-disable-next-line no-control-regex
  const known = String(text).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu, "\ufffd");
  return known.replace(/[&<>"]/g, (letter) => ESCAPES[letter]);
}

/** [colour that every program knows, opacity] of a colour in css. */
/** @returns {[string, number]} */
export function plainColour(css) {
  const found = /^(rgb|hsl)a?\(([^)]*)\)$/.exec(String(css).trim());
  if (!found) return [String(css).trim(), 1];
  const values = found[2].split(/[\s,/]+/).filter(Boolean).map((text) =>
    (text.endsWith("%") && found[1] === "rgb" ? Number.parseFloat(text) * 2.55 : Number.parseFloat(text)));
  const [red, green, blue] = found[1] === "hsl" ? rgbOf(values[0], values[1], values[2]) : values;
  const hex = [red, green, blue].map((value) => Math.round(value).toString(16).padStart(2, "0")).join("");
  return [`#${hex}`, values[3] ?? 1];
}

const short = (value) => String(Math.round(value * 100) / 100);

/** measure(text, font) returns the width of a text. */
export class Vector {
  constructor(measure) {
    this.measure = measure;
    this.parts = [];
    this.clips = 0;
    this.kept = [];
    this.path = [];
    this.box = null;
    this.opened = 0;
    this.fillStyle = "#000";
    this.strokeStyle = "#000";
    this.lineWidth = 1;
    this.globalAlpha = 1;
    this.font = "11px sans-serif";
    this.textAlign = "left";
    this.textBaseline = "alphabetic";
  }

  paint(name, css) {
    const [colour, opacity] = plainColour(css);
    const alpha = opacity * this.globalAlpha;
    return `${name}="${escaped(colour)}"${alpha < 1 ? ` ${name}-opacity="${short(alpha)}"` : ""}`;
  }

  fillRect(x, y, width, height) {
    if (!(width > 0 && height > 0)) return;
    const place = `x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}"`;
    this.parts.push(`<rect ${place} ${this.paint("fill", this.fillStyle)}/>`);
  }

  strokeRect(x, y, width, height) {
    const place = `x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}"`;
    this.parts.push(`<rect ${place} fill="none" ${this.line()}/>`);
  }

  line() {
    return `${this.paint("stroke", this.strokeStyle)} stroke-width="${short(this.lineWidth)}"`;
  }

  fillText(text, x, y) {
    const size = Number.parseFloat(/([\d.]+)px/.exec(this.font)?.[1] ?? "11");
    const base = this.textBaseline === "middle" ? y + size * MIDDLE : y;
    const anchor = ANCHORS[this.textAlign] || "start";
    const where = `x="${short(x)}" y="${short(base)}"${anchor === "start" ? "" : ` text-anchor="${anchor}"`}`;
    this.parts.push(`<text ${where} font-size="${size}" ${this.paint("fill", this.fillStyle)}>${escaped(text)}</text>`);
  }

  measureText(text) {
    return { width: this.measure(text, this.font) };
  }

  beginPath() {
    this.path = [];
    this.box = null;
  }

  moveTo(x, y) { this.path.push(`M${short(x)} ${short(y)}`); }

  lineTo(x, y) { this.path.push(`L${short(x)} ${short(y)}`); }

  bezierCurveTo(...points) { this.path.push(`C${points.map(short).join(" ")}`); }

  closePath() { this.path.push("Z"); }

  rect(x, y, width, height) {
    this.box = [x, y, width, height].map(short);
    this.path.push(`M${this.box[0]} ${this.box[1]}h${this.box[2]}v${this.box[3]}h${short(-width)}Z`);
  }

  fill() {
    if (this.path.length) this.parts.push(`<path d="${this.path.join("")}" ${this.paint("fill", this.fillStyle)}/>`);
  }

  stroke() {
    if (this.path.length) this.parts.push(`<path d="${this.path.join("")}" fill="none" ${this.line()}/>`);
  }

  clip() {
    const id = `clip${this.clips += 1}`;
    this.parts.push(`<clipPath id="${id}"><path d="${this.path.join("")}"/></clipPath><g clip-path="url(#${id})">`);
    this.opened += 1;
  }

  /** Move everything drawn until the matching restore. */
  translate(x, y) {
    this.parts.push(`<g transform="translate(${short(x)} ${short(y)})">`);
    this.opened += 1;
  }

  save() {
    const { fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, textBaseline, opened } = this;
    this.kept.push({ fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, textBaseline, opened });
    this.opened = 0;
  }

  restore() {
    this.parts.push("</g>".repeat(this.opened));
    Object.assign(this, this.kept.pop());
  }

  // A drawing in pixels of css, and of nothing that was there before.
  scale() {}

  setTransform() {}

  clearRect() {}

  /** The file. */
  text(width, height, family) {
    const size = `width="${short(width)}" height="${short(height)}" viewBox="0 0 ${short(width)} ${short(height)}"`;
    const font = `font-family="${escaped(family)}"`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${size} ${font}>\n${this.parts.join("\n")}\n</svg>\n`;
  }
}
