// A drawing context that writes SVG: what a page draws on a canvas becomes shapes and texts. It has the part of
// CanvasRenderingContext2D that these pages use.

import { rgbOf } from "./hsl.js";

/** @type {Record<string, string>} */
const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
/** @type {Record<string, string>} */
const ANCHORS = { left: "start", start: "start", center: "middle", right: "end", end: "end" };
/** How far below its middle the baseline of a text lies, as a share of its size. */
const MIDDLE = 0.35;

/**
 * A text as XML has it: without characters that XML does not know.
 * @param {string} text
 */
export function escaped(text) {
  // eslint-disable-next-line no-control-regex
  const known = String(text).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu, "\ufffd");
  return known.replace(/[&<>"]/g, (letter) => ESCAPES[letter]);
}

/**
 * [colour that every program knows, opacity] of a colour in css.
 * @param {string} css
 * @returns {[string, number]}
 */
export function plainColour(css) {
  const found = /^(rgb|hsl)a?\(([^)]*)\)$/.exec(String(css).trim());
  if (!found) return [String(css).trim(), 1];
  const values = found[2].split(/[\s,/]+/).filter(Boolean).map((text) =>
    (text.endsWith("%") && found[1] === "rgb" ? Number.parseFloat(text) * 2.55 : Number.parseFloat(text)));
  const [red, green, blue] = found[1] === "hsl" ? rgbOf(values[0], values[1], values[2]) : values;
  const hex = [red, green, blue].map((value) => Math.round(value).toString(16).padStart(2, "0")).join("");
  return [`#${hex}`, values[3] ?? 1];
}

/** @param {number} value */
const short = (value) => String(Math.round(value * 100) / 100);

/** measure(text, font) returns the width of a text. */
export class Vector {
  /** @param {(text: string, font: string) => number} measure */
  constructor(measure) {
    this.measure = measure;
    /** @type {string[]} */
    this.parts = [];
    this.clips = 0;
    /** @type {object[]} */
    this.kept = [];
    /** @type {string[]} */
    this.path = [];
    /** @type {string[] | null} */
    this.box = null;
    this.opened = 0;
    this.fillStyle = "#000";
    this.strokeStyle = "#000";
    this.lineWidth = 1;
    this.globalAlpha = 1;
    this.font = "11px sans-serif";
    this.textAlign = "left";
    this.textBaseline = "alphabetic";
    /** @type {number[]} */
    this.dashes = [];
    this.outline = "";
  }

  /**
   * @param {string} name
   * @param {string} css
   */
  paint(name, css) {
    const [colour, opacity] = plainColour(css);
    const alpha = opacity * this.globalAlpha;
    return `${name}="${escaped(colour)}"${alpha < 1 ? ` ${name}-opacity="${short(alpha)}"` : ""}`;
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {number} height
   */
  fillRect(x, y, width, height) {
    if (!(width > 0 && height > 0)) return;
    const place = `x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}"`;
    this.parts.push(`<rect ${place} ${this.paint("fill", this.fillStyle)}/>`);
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {number} height
   */
  strokeRect(x, y, width, height) {
    const place = `x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}"`;
    this.parts.push(`<rect ${place} fill="none" ${this.line()}/>`);
  }

  line() {
    const dashes = this.dashes.length ? ` stroke-dasharray="${this.dashes.map(short).join(" ")}"` : "";
    return `${this.paint("stroke", this.strokeStyle)} stroke-width="${short(this.lineWidth)}"${dashes}`;
  }

  /** @param {number[]} dashes */
  setLineDash(dashes) { this.dashes = dashes; }

  /** Outline the text that is filled next: one text in the file, so that it is found and read once. */
  strokeText() { this.outline = ` paint-order="stroke" stroke-linejoin="round" ${this.line()}`; }

  /**
   * @param {string} text
   * @param {number} x
   * @param {number} y
   */
  fillText(text, x, y) {
    const size = Number.parseFloat(/([\d.]+)px/.exec(this.font)?.[1] ?? "11");
    const base = this.textBaseline === "middle" ? y + size * MIDDLE : y;
    const anchor = ANCHORS[this.textAlign] || "start";
    const where = `x="${short(x)}" y="${short(base)}"${anchor === "start" ? "" : ` text-anchor="${anchor}"`}`;
    const [weight] = /^\d+(?= )/.exec(this.font) || [""];
    const font = `font-size="${size}"${weight ? ` font-weight="${weight}"` : ""}`;
    this.parts.push(`<text ${where} ${font} ${this.paint("fill", this.fillStyle)}${this.outline}>${escaped(text)}</text>`);
    this.outline = "";
  }

  /** @param {string} text */
  measureText(text) {
    return { width: this.measure(text, this.font) };
  }

  beginPath() {
    this.path = [];
    this.box = null;
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  moveTo(x, y) { this.path.push(`M${short(x)} ${short(y)}`); }

  /**
   * @param {number} x
   * @param {number} y
   */
  lineTo(x, y) { this.path.push(`L${short(x)} ${short(y)}`); }

  /** @param {...number} points */
  bezierCurveTo(...points) { this.path.push(`C${points.map(short).join(" ")}`); }

  closePath() { this.path.push("Z"); }

  /**
   * A whole circle.
   * @param {number} x
   * @param {number} y
   * @param {number} radius
   */
  arc(x, y, radius) {
    const [r, across] = [short(radius), short(2 * radius)];
    this.path.push(`M${short(x - radius)} ${short(y)}a${r} ${r} 0 1 0 ${across} 0a${r} ${r} 0 1 0 -${across} 0Z`);
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {number} height
   */
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

  /**
   * Move everything drawn until the matching restore.
   * @param {number} x
   * @param {number} y
   */
  translate(x, y) {
    this.parts.push(`<g transform="translate(${short(x)} ${short(y)})">`);
    this.opened += 1;
  }

  /**
   * Turn everything drawn until the matching restore.
   * @param {number} angle in radians
   */
  rotate(angle) {
    this.parts.push(`<g transform="rotate(${short((angle * 180) / Math.PI)})">`);
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

  /**
   * The file.
   * @param {number} width
   * @param {number} height
   * @param {string} family
   */
  text(width, height, family) {
    const size = `width="${short(width)}" height="${short(height)}" viewBox="0 0 ${short(width)} ${short(height)}"`;
    const font = `font-family="${escaped(family)}"`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${size} ${font}>\n${this.parts.join("\n")}\n</svg>\n`;
  }
}
